#!/usr/bin/env python3
"""Fails where what tests/run.sh lists by hand is told otherwise elsewhere: its groups in the table of tests/README.md, and the rooms
whose tests run over sockets in tests/coverage.py."""
import re
import sys
from pathlib import Path

from checker import run
from coverage import SOCKETS

TESTS = Path(__file__).resolve().parent
# The whole proxy in a test program is the test of rooms that have no folder of their own.
WHOLE = "whole"
HEAD = "| group | is |\n|---|---|\n"


def listed(script, name):
    """The words of a bash list, `name=(one two)`."""
    return re.search(rf"^{name}=\(([^)]*)\)", script, re.M).group(1).split()


def told(page):
    """The first cells of the table of groups."""
    rows = page.split(HEAD, 1)[1].split("\n\n", 1)[0].split("\n")
    return [cell for row in rows for cell in re.findall(r"^\| `(\w+)` \|", row)]


def differences(what, left, right):
    for name in sorted({*left, *right}):
        if left.count(name) != 1 or right.count(name) != 1:
            yield f"{what} `{name}`: {left.count(name)} times here, {right.count(name)} times there"


def problems(script, page, rooms):
    groups = [*listed(script, "all_groups"), *listed(script, "named_groups")]
    yield from differences("tests/run.sh and the table of tests/README.md, group", groups, told(page))
    yield from differences("socket_rooms of tests/run.sh and SOCKETS of tests/coverage.py, room", listed(script, "socket_rooms"), rooms)


def self_test():
    script = "all_groups=(a b)\nnamed_groups=(c)   # (x)\nsocket_rooms=(io whole)\n"
    page = f"| `x` |\n\n{HEAD}| `a` | `z` |\n| `b` | |\n| `c` | |\n\n| `y` |\n"
    assert not list(problems(script, page, ["whole", "io"]))
    assert len(list(problems(script, page, ["whole"]))) == 1
    assert len(list(problems(script, page, ["whole", "io", "tls"]))) == 1
    assert len(list(problems(script.replace("a b", "a b d"), page, ["whole", "io"]))) == 1
    assert len(list(problems(script, page.replace("| `c` | |\n", ""), ["whole", "io"]))) == 1
    assert len(list(problems(script, page.replace("`c`", "`b`"), ["whole", "io"]))) == 2


def check(_):
    rooms = [room for room in (*SOCKETS, WHOLE) if (TESTS / room).is_dir()]
    found = list(problems((TESTS / "run.sh").read_text(encoding="utf-8"), (TESTS / "README.md").read_text(encoding="utf-8"), rooms))
    for each in found:
        print(each)
    print(f"groups: {len(found)} lists that differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
