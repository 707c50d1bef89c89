#!/usr/bin/env python3
"""Counts what a run has played, and what it has not: `N passed, N failed, N skipped` is the last line of everything that counts.

A program that plays tests prints `FAILED NAME` or `SKIPPED NAME: WHY` for each that did not pass, and the sum last (`Tally` does it).
tests/run.sh gives the output of each command to this one, which keeps the sum in a journal:

    tally.py --journal FILE check|counted NAME STATUS LOG           adds a command that has ended with STATUS; 3 if that is a failure
    tally.py --journal FILE failures                                how many there are so far
    tally.py --journal FILE end                                     tells it all; fails unless something passed and nothing failed

What was skipped and is not in tests/allowed_skips.txt is a failure where CI=true, and told elsewhere."""
import argparse
import fnmatch
import json
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tests/allowed_skips.txt"
SUM = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")
SKIPPED = re.compile(r"SKIPPED (.+?): (.+)")
TOLD_LINES, TOLD_FAILURES = 48, 9
FAILED = 3  # the exit code; 1 and 2 are what a Python that breaks ends with


def sum_line(passed, failed, skipped):
    return f"{passed} passed, {failed} failed, {skipped} skipped"


class Tally:
    """What one program has played."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def skip(self, name, why):
        self.skipped += 1
        print(f"SKIPPED {name}: {why}", flush=True)

    def end(self):
        """Prints the sum; the exit code."""
        print(sum_line(self.passed, self.failed, self.skipped), flush=True)
        return 1 if self.failed or not self.passed + self.skipped else 0


class Entry:
    """What one command has come to: counts, each skipped test with its reason, each failure with what it said."""

    def __init__(self, passed=0, failed=0, skipped=(), failures=()):
        self.passed, self.failed, self.skipped, self.failures = passed, failed, list(skipped), list(failures)

    def fail(self, title, lines):
        self.failed += 1
        self.failures.append((title, lines))


def parts(lines, begins, ends):
    """[(first line, the lines behind it)] of each part from a line that `begins` to one that `ends` it."""
    found, inside = [], False
    for line in lines:
        if begins(line):
            found.append((line, []))
            inside = True
        elif ends(line):
            inside = False
        elif inside:
            found[-1][1].append(line)
    return found


def of_check(name, status, lines):
    """One test that is a command."""
    return Entry(passed=1) if status == 0 else Entry(failed=1, failures=[(name, lines)])


def of_counted(name, status, lines):
    """A command that counts for itself."""
    told = SUM.fullmatch(lines[-1]) if lines else None
    if told is None:
        return Entry(failed=1, failures=[(f"{name} ended with {status} and without a count", lines[-20:])])
    passed, failed, skipped = map(int, told.groups())
    entry = Entry(passed, failed, [(f"{name}: {match[1]}", match[2]) for match in map(SKIPPED.fullmatch, lines) if match])
    found = parts(lines, lambda line: line.startswith("FAILED"), lambda line: re.match(r"ok |SKIPPED |\d+ passed, ", line))
    entry.failures = [(f"{name}: {first.removeprefix('FAILED').strip(': ')}", rest) for first, rest in found]
    if len(entry.skipped) != skipped:
        entry.fail(f"{name} says {skipped} skipped, and names {len(entry.skipped)}", [])
    if status != 0 and failed == 0:
        entry.fail(f"{name} ended with {status}", lines[-20:])
    if status == 0 and failed > 0:
        entry.fail(f"{name} ended with 0, though {failed} failed", [])
    return entry


def patterns(text):
    """[(pattern, why that may be)] of a list of what may be skipped."""
    found = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, bar, why = line.partition(" | ")
            if not (bar and why.strip()):
                raise ValueError(f"a pattern, ` | ` and the reason: {line}")
            found.append((pattern.strip(), why.strip()))
    return found


def unlisted(skipped, allowed):
    """Those that no pattern knows, or for another reason than it has."""
    return [(name, why) for name, why in skipped if not any(fnmatch.fnmatchcase(f"{name}: {why}", pattern) for pattern, _ in allowed)]


def summed(entries):
    total = Entry()
    for entry in entries:
        total.passed += entry.passed
        total.failed += entry.failed
        total.skipped += entry.skipped
        total.failures += entry.failures
    return total


def tell(total, is_ci, allowed):
    """The lines that end a run, and whether it is good: what was not played, the ends of what failed, the sum."""
    lines, unknown = [], unlisted(total.skipped, allowed)
    if is_ci:
        for name, why in unknown:
            total.fail(f"skipped, and not in tests/allowed_skips.txt: {name}", [why])
    if total.skipped:
        lines += ["", "not played:"]
        lines += [f"  {name}: {why}{' (not in tests/allowed_skips.txt)' if (name, why) in unknown else ''}" for name, why in total.skipped]
    each = max(5, TOLD_LINES // max(1, len(total.failures)))
    for title, said in total.failures[:TOLD_FAILURES]:
        lines += ["", f"FAILED: {title}"]
        lines += [f"  {line[:400]}" for line in [line for line in said if line.strip()][-(each - 1):]]
    if len(total.failures) > TOLD_FAILURES:
        lines.append(f"and {len(total.failures) - TOLD_FAILURES} more")
    lines.append(sum_line(total.passed, total.failed, len(total.skipped)))
    return lines, total.failed == 0 and total.passed > 0


class Journal:
    """The entries of a run, in a file."""

    def __init__(self, path):
        self.path = path

    def add(self, entry):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(vars(entry)) + "\n")

    def entries(self):
        if not self.path.exists():
            return []
        return [Entry(**json.loads(line)) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def total(self):
        total = summed(self.entries())
        total.skipped = [tuple(one) for one in total.skipped]
        return total


def self_test():
    """Each kind of output is counted for what it is."""
    one = of_counted("unit", 1, ["ok  net.Block.kept", "FAILED net.Pool.full", "  pool_test.cpp:7: Failure", "FAILED net.Pool.gone",
                                 "SKIPPED net.Block.lent: views are watched", "SKIPPED net.Pool.old: disabled", "1 passed, 2 failed, 2 skipped"])
    assert (one.passed, one.failed) == (1, 2), vars(one)
    assert one.skipped == [("unit: net.Block.lent", "views are watched"), ("unit: net.Pool.old", "disabled")], one.skipped
    assert one.failures == [("unit: net.Pool.full", ["  pool_test.cpp:7: Failure"]), ("unit: net.Pool.gone", [])], one.failures
    said = ["ok  a", "FAILED  0.1 s  b", "why", "SKIPPED c.d: no: namespaces", "2 passed, 1 failed, 1 skipped"]
    two = of_counted("e2e", 1, said)
    assert (two.passed, two.failed, two.skipped) == (2, 1, [("e2e: c.d", "no: namespaces")]), vars(two)
    assert two.failures == [("e2e: 0.1 s  b", ["why"])], two.failures
    for status, lines, failed in ((0, ["3 passed, 0 failed, 0 skipped"], 0), (1, ["3 passed, 0 failed, 0 skipped"], 1),
                                  (0, ["3 passed, 0 failed, 1 skipped"], 1), (0, ["3 passed, 0 failed"], 1), (0, [], 1),
                                  (0, ["3 passed, 1 failed, 0 skipped"], 2)):
        assert of_counted("x", status, lines).failed == failed, (status, lines)
    assert (of_check("x", 0, []).passed, of_check("x", 3, ["no"]).failed) == (1, 1)

    allowed = patterns("# a comment\n\nunit: *.Block.*: views are watched | by the sanitizer\n")
    for_another_reason = [(one.skipped[0][0], "nobody knows why")]
    for is_ci, skipped, good in ((True, one.skipped[:1], True), (True, one.skipped, False), (True, for_another_reason, False),
                                 (False, one.skipped, True)):
        lines, holds = tell(Entry(5, 0, skipped), is_ci, allowed)
        assert holds == good, lines
        assert lines[-1] == sum_line(5, 0 if good else 1, len(skipped)), lines
    assert "(not in" in "".join(tell(Entry(5, 0, one.skipped), False, allowed)[0])
    assert not tell(Entry(), False, [])[1] and not tell(Entry(3, 1), False, [])[1]
    for text in ("unit: *", "unit: * | "):
        try:
            patterns(text)
            raise AssertionError(f"a list without reasons: {text}")
        except ValueError:
            pass
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal")
        assert journal.total().passed == 0
        journal.add(one)
        journal.add(two)
        total = journal.total()
        assert (total.passed, total.failed, len(total.skipped), len(total.failures)) == (3, 3, 3, 3), vars(total)
    patterns(ALLOWED.read_text(encoding="utf-8"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--self-test", action="store_true", help="only check the counting")
    arguments.add_argument("--journal", type=Path, metavar="FILE")
    arguments.add_argument("action", nargs="?", choices=("check", "counted", "failures", "end"))
    arguments.add_argument("command", nargs="*", metavar="NAME STATUS LOG")
    given = arguments.parse_args()
    if given.self_test:
        self_test()
        return 0
    if not given.journal or not given.action:
        arguments.error("it needs a journal and an action")
    journal = Journal(given.journal)
    if given.action == "failures":
        print(journal.total().failed)
        return 0
    if given.action == "end":
        allowed = patterns(ALLOWED.read_text(encoding="utf-8"))
        lines, good = tell(journal.total(), os.environ.get("CI") == "true", allowed)
        print("\n".join(lines))
        return 0 if good else FAILED
    name, status, log = given.command
    lines = Path(log).read_text(encoding="utf-8", errors="replace").splitlines() if Path(log).exists() else []
    if given.action == "check":
        entry = of_check(name, int(status), lines)
    else:
        entry = of_counted(name, int(status), lines)
    journal.add(entry)
    return FAILED if entry.failed else 0


if __name__ == "__main__":
    sys.exit(main())
