#!/usr/bin/env python3
"""Makes the table in tests/README.md that shows how much the tests tried, and checks the numbers against their bounds.
The numbers are in build/figures/*.json.

Without an option: prints the table with the numbers of the last runs. With --write, writes the table into tests/README.md. With --check
GROUP..., fails if a number of these test groups is missing or out of its bound. With --docs, fails if rows, bounds or numbers of the
table in tests/README.md are wrong. With --add FILE, writes FILE.json with the sums of the numbers in FILE.*.part. Each
process of a test writes one such part."""
import argparse
import json
import re
import sys
import time
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "build/figures"
PAGE = ROOT / "tests/README.md"
TABLE = re.compile(r"(<!-- figures -->\n)(.*?)(<!-- /figures -->)", re.S)


class Row:
    """One row of the table: its name, the file and key of its number, and the lower or upper bound of that number."""

    def __init__(self, name, group, file, key, least=None, most=None):
        self.name, self.group, self.file, self.key = name, group, file, key
        self.least, self.most = least, most

    def value(self, folder):
        """Returns the number, or None if its file or key does not exist."""
        path = folder / f"{self.file}.json"
        if not path.exists():
            return None
        return json.loads(path.read_text(encoding="utf-8")).get(self.key)

    @property
    def bound(self):
        if self.most is not None:
            return f"{self.most:,}" if self.most == 0 else f"at most {self.most:,}"
        return f"at least {self.least:,}"

    def holds(self, value):
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


def lost(name, group, file, key):
    return Row(name, group, file, key, most=0)


ROWS = [
    Row("policy stories, every one up to five attempts", "stories_night", "policy_stories", "policy stories enumerated", 2_171_616),
    Row("policy stories at random", "stories_night", "policy_stories", "policy stories random", 1_000_000),
    lost("... that broke a law", "stories_night", "policy_stories", "laws broken"),
    # The simulated upstream refuses all connections for 60 s. A refused attempt causes no load, so it is refunded to
    # the budget, and every waiting request survives the outage. But each waiting request holds a part of the budget.
    # Therefore the budget still limits the retries in any 10 s.
    Row("an outage of 60 s: attempts in any 10 s, % of the requests", "stories_night", "policy_stories", "outage load percent", most=130),
    Row("... in any second after the return, %", "stories_night", "policy_stories", "load percent after an outage", most=250),
    Row("... new requests succeed after the return, ms", "stories_night", "policy_stories", "outage recovery milliseconds", most=50),
    Row("net stories, in memory and virtual time", "stories_night", "net_stories", "net stories", 200_000),
    Row("... kinds of faults in them", "stories_night", "net_stories", "fault kinds simulated", 40),
    lost("... that broke a law", "stories_night", "net_stories", "laws broken"),
    Row("fuzz targets", "fuzz_night", "fuzz", "fuzz targets", 12),
    # A million is the sum over all targets: each target also ends after a time limit, so a slow machine runs fewer
    # inputs.
    Row("fuzz executions", "fuzz_night", "fuzz", "fuzz executions", 1_000_000),
    lost("... that crashed or broke a law", "fuzz_night", "fuzz", "crashes"),
    *(Row(name, "coverage", "coverage", f"{floor} {kind} percent", bound) for floor, bounds in coverage.BOUNDS.items()
      for kind, name, bound in zip(("lines", "branches"), (f"lines of `{floor}` that tests run, %", "... branches, %"), bounds)),
    Row("bad inputs over raw sockets", "e2e_release", "bad_inputs", "bad inputs over raw sockets", 2_000),
    lost("... with another verdict than theirs", "e2e_release", "bad_inputs", "wrong verdicts"),
    # The bound allows a machine that cannot create a separate network, on which some kinds of faults are skipped.
    Row("kinds of faults played by the kernel", "e2e_release", "faults", "fault kinds played by the kernel", 10),
    Row("... stories of them", "e2e_release", "faults", "kernel stories", 500),
    Row("POSTs that took effect and were never answered", "soak", "lost_posts", "executed-but-lost POSTs", 10_000),
    lost("... effects duplicated", "soak", "lost_posts", "duplicated effects"),
    Row("soak, minutes", "soak", "soak", "soak minutes", 2),
    # A fast machine sends 240,000 requests.
    Row("... requests", "soak", "soak", "soak requests", 5_000),
    Row("... kinds of faults", "soak", "soak", "soak fault kinds", 35),
    lost("... effects duplicated", "soak", "soak", "duplicated effects"),
    lost("... requests lost", "soak", "soak", "lost"),
    lost("... responses or bodies corrupted", "soak", "soak", "corrupted"),
]


def shown(value):
    if value is None:
        return "not run"
    return f"{value:,}"


def table(folder):
    lines = ["| what was tried | how many | must be |", "|---|---|---|"]
    lines += [f"| {row.name} | {shown(row.value(folder))} | {row.bound} |" for row in ROWS]
    return "\n".join(lines) + "\n"


def problems(folder, groups):
    """Yields a message for each number of those test groups that is missing or out of its bound."""
    for row in ROWS:
        if row.group not in groups:
            continue
        value = row.value(folder)
        if value is None:
            yield f"{row.name}: no figure; group {row.group} writes {row.file}.json with '{row.key}'"
        elif not row.holds(value):
            yield f"{row.name}: {shown(value)}; it must be {row.bound}"


def written():
    """Returns the rows of the table in tests/README.md: (name, value, bound)."""
    found = TABLE.search(PAGE.read_text(encoding="utf-8"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in (found.group(2) if found else "").splitlines()]
    return [tuple(row) for row in cells if len(row) == 3][2:]


def paper_problems():
    """Yields a message for each fault of the table in tests/README.md: its rows and bounds must equal those of ROWS,
    and its values, which come from an earlier run, must be within the bounds."""
    rows = written()
    if not rows:
        print("tests/README.md has no table yet: python3 tests/figures.py --write after a night")
        return
    if [(name, bound) for name, _, bound in rows] != [(row.name, row.bound) for row in ROWS]:
        yield "the table in tests/README.md has other rows or bounds; python3 tests/figures.py --write after a night"
        return
    for row, (_, value, _) in zip(ROWS, rows):
        if not re.fullmatch(r"[\d,]+(\.\d+)?", value) or not row.holds(float(value.replace(",", ""))):
            yield f"{row.name}: {value} is written there; it must be {row.bound}"


def add_up(file, folder=FIGURES):
    """Adds up the numbers of several processes. If a number counts kinds, takes the maximum instead, because the
    processes may have tried the same kinds."""
    parts = sorted(folder.glob(f"{file}.*.part"))
    told = [json.loads(part.read_text(encoding="utf-8")) for part in parts]
    if not told:
        raise SystemExit(f"figures: there is no {folder}/{file}.*.part to add up")
    total = {key: (max if "kinds" in key else sum)(one[key] for one in told) for key in told[0]}
    (folder / f"{file}.json").write_text(json.dumps(total) + "\n", encoding="utf-8")
    for part in parts:
        part.unlink()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="write the table into tests/README.md")
    arguments.add_argument("--check", nargs="+", metavar="GROUP", help="groups that were run")
    arguments.add_argument("--docs", action="store_true", help="check the table in tests/README.md")
    arguments.add_argument("--add", metavar="FILE", help="add up what processes have told")
    given = arguments.parse_args()
    if given.add:
        add_up(given.add)
        return 0
    found = []
    if given.docs:
        found = list(paper_problems())
    else:
        print(table(FIGURES), end="")
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        date = time.strftime("Run of %Y-%m-%d.\n\n", time.gmtime())
        PAGE.write_text(TABLE.sub(lambda match: match.group(1) + date + table(FIGURES) + match.group(3), text), encoding="utf-8")
    if given.check:
        found += problems(FIGURES, given.check)
    for problem in found:
        print(f"figures: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
