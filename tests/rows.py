#!/usr/bin/env python3
"""Fails where a row of the robustness table has no unit test, or no end-to-end case, with its id in the name."""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# How many rows each group has.
GROUPS = {"A": 18, "B": 14, "C": 9, "D": 20, "E": 12, "F": 11, "G": 7, "H": 9, "I": 13, "J": 11, "K": 4, "L": 31}
# Rows of TLS that is ended here: they come with interception.
OF_TLS = {"F11"}
# Rows with tests at one level alone, and why.
UNIT_ALONE = {
    "I7": "nothing outside a process makes its n-th allocation fail",
    "I9": "how long one handler runs is seen inside the loop alone",
}
E2E_ALONE = {}
# Rows whose tests are still being written: tolerated, and told.
AWAITED = []

# Suites of the policy floor whose names carry other numbers: clauses of the retry rules.
OTHER_NUMBERS = re.compile(r"Clause|Rule|Preset\w*")
UNIT = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
E2E = re.compile(r"^def test_(\w+)\(", re.M)


def ids_of(name):
    """The ids that a name begins with: `A4_A18_never_...` has two."""
    ids = re.match(r"(?:[A-L]\d+_)*", name).group(0)
    return set(ids.rstrip("_").split("_")) - {""}


def unit_ids(root):
    found = set()
    for floor in ("policy", "http", "config", "observe", "net"):
        for file in sorted((root / "tests" / floor).glob("*_test.cpp")):
            for suite, name in UNIT.findall(file.read_text(encoding="utf-8")):
                if not OTHER_NUMBERS.fullmatch(suite):
                    found |= ids_of(name)
    return found


def e2e_ids(root):
    found = set()
    for file in sorted((root / "tests/e2e").glob("test_*.py")):
        for name in E2E.findall(file.read_text(encoding="utf-8")):
            found |= ids_of(name)
    return found


def rows():
    return [f"{group}{number}" for group, count in GROUPS.items() for number in range(1, count + 1)
            if f"{group}{number}" not in OF_TLS]


def problems(unit, e2e, all_rows):
    """What is missing, and what the tables above say that is not so."""
    found = []
    for row in all_rows:
        if row not in unit and row not in E2E_ALONE:
            found.append((row, "no unit test"))
        if row not in e2e and row not in UNIT_ALONE:
            found.append((row, "no end-to-end case"))
        if row in e2e and row in UNIT_ALONE:
            found.append((row, "has an end-to-end case: take it off UNIT_ALONE"))
        if row in unit and row in E2E_ALONE:
            found.append((row, "has a unit test: take it off E2E_ALONE"))
    return found + [(row, "is no row") for row in {**UNIT_ALONE, **E2E_ALONE} if row not in rows()]


def self_test():
    """The checks notice what they must."""
    assert ids_of("A4_A18_never_B1") == {"A4", "A18"} and ids_of("A421LosesAgainst") == set() == ids_of("a_B1_x")
    assert OTHER_NUMBERS.fullmatch("Clause") and not OTHER_NUMBERS.fullmatch("Guard")
    assert UNIT.findall("TEST_F(PoolTest, F1_x) {\n//TEST(A, B2_y)") == [("PoolTest", "F1_x")]
    assert problems({"A1"}, {"A1"}, ["A1"]) == []
    assert problems({"A1"}, set(), ["A1"]) == [("A1", "no end-to-end case")]
    assert problems(set(), {"A1"}, ["A1"]) == [("A1", "no unit test")]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--self-test", action="store_true", help="only check the checks")
    if arguments.parse_args().self_test:
        self_test()
        return 0
    unit, e2e, all_rows = unit_ids(ROOT), e2e_ids(ROOT), rows()
    found = problems(unit, e2e, all_rows)
    awaited = [f"{row} ({what})" for row, what in found if row in AWAITED]
    missing = [(row, what) for row, what in found if row not in AWAITED]
    there = [row for row in AWAITED if row not in {row for row, _ in found}]
    for row, what in missing:
        print(f"{row}: {what}")
    for row, why in {**UNIT_ALONE, **E2E_ALONE}.items():
        print(f"{row}, {'unit' if row in UNIT_ALONE else 'end to end'} alone: {why}")
    if awaited:
        print("awaited:", ", ".join(awaited))
    if there:
        print("awaited no longer:", ", ".join(there))
    print(f"rows: {len(all_rows)}, {len({row for row, _ in missing})} without their tests")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
