#!/usr/bin/env python3
"""Fails where a row of proxy/rules/robustness.md has no unit test, or no end-to-end case, with its id in the name; and where
a test is named after a row or a clause that no rule book has."""
import re
import sys
from pathlib import Path

from checker import run

ROOT = Path(__file__).resolve().parent.parent

# Rows with tests at one level alone, and why.
UNIT_ALONE = {
    "I7": "nothing outside a process makes its n-th allocation fail",
    "I9": "how long one handler runs is seen inside the loop alone",
}
E2E_ALONE = {}
# Rows whose tests are still being written: tolerated, and told.
AWAITED = []

ENTRY = re.compile(r"^\| ([A-L]\d+|R\d+[a-f]?) \| ([^|]*)", re.M)
NOT_BUILT = "not built:"
UNIT = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
E2E = re.compile(r"^def test_(\w+)\(", re.M)


def entries(root, book):
    """{id: what stands behind it} of one rule book."""
    return dict(ENTRY.findall((root / "proxy/rules" / book).read_text(encoding="utf-8")))


def rows_to_test(book):
    return [row for row, situation in book.items() if not situation.startswith(NOT_BUILT)]


def ids_of(name):
    """The ids that a name begins with: `A4_A18_never_...` has two. In `R15AndR17TheCap...` a capital ends the first."""
    ids = re.match(r"(?:(?:[A-L]\d+|R\d+[a-f]?)_)*", name).group(0)
    clause = re.match(r"R\d+(?=[A-Z])", name)
    return set(ids.rstrip("_").split("_")) - {""} | ({clause.group(0)} if clause else set())


def unit_ids(root):
    return {found for file in sorted((root / "tests").rglob("*_test.cpp"))
            for _, name in UNIT.findall(file.read_text(encoding="utf-8")) for found in ids_of(name)}


def e2e_ids(root):
    return {found for file in sorted((root / "tests/e2e").glob("test_*.py"))
            for name in E2E.findall(file.read_text(encoding="utf-8")) for found in ids_of(name)}


def problems(unit, e2e, rows, known):
    """What is missing, and what the tables above or the names of tests say that is not so."""
    found = []
    for row in rows:
        if row not in unit and row not in E2E_ALONE:
            found.append((row, "no unit test"))
        if row not in e2e and row not in UNIT_ALONE:
            found.append((row, "no end-to-end case"))
        if row in e2e and row in UNIT_ALONE:
            found.append((row, "has an end-to-end case: take it off UNIT_ALONE"))
        if row in unit and row in E2E_ALONE:
            found.append((row, "has a unit test: take it off E2E_ALONE"))
    return found + [(row, "is in no rule book") for row in sorted({*UNIT_ALONE, *E2E_ALONE, *unit, *e2e} - known)]


def self_test():
    """The checks notice what they must."""
    assert ids_of("A4_A18_never_B1") == {"A4", "A18"} and ids_of("A421LosesAgainst") == set() == ids_of("a_B1_x")
    assert ids_of("R33a_to_R33f_by_name") == {"R33a"} and ids_of("R15AndR17TheCap") == {"R15"}
    assert UNIT.findall("TEST_F(PoolTest, F1_x) {\n//TEST(A, B2_y)") == [("PoolTest", "F1_x")]
    book = dict(ENTRY.findall("| id | situation |\n| A1 | x | y |\n| A2 | not built: x | y |\n| R33a | z |\n|A3| w |\n"))
    assert list(book) == ["A1", "A2", "R33a"] and rows_to_test(book) == ["A1", "R33a"]
    known = {"A1", *UNIT_ALONE}
    assert problems({"A1"}, {"A1"}, ["A1"], known) == []
    assert problems({"A1"}, set(), ["A1"], known) == [("A1", "no end-to-end case")]
    assert problems(set(), {"A1"}, ["A1"], known) == [("A1", "no unit test")]
    assert problems({"A1", "A9"}, {"A1"}, ["A1"], known) == [("A9", "is in no rule book")]


def check(_):
    book = entries(ROOT, "robustness.md")
    rows = rows_to_test(book)
    found = problems(unit_ids(ROOT), e2e_ids(ROOT), rows, {*book, *entries(ROOT, "retry.md")})
    awaited = [f"{row} ({what})" for row, what in found if row in AWAITED]
    missing = [(row, what) for row, what in found if row not in AWAITED]
    there = [row for row in AWAITED if row not in {row for row, _ in found}]
    for row, what in missing:
        print(f"{row}: {what}")
    for row, why in {**UNIT_ALONE, **E2E_ALONE}.items():
        print(f"{row}, {'unit' if row in UNIT_ALONE else 'end to end'} alone: {why}")
    print("not built:", ", ".join(sorted(set(book) - set(rows))))
    if awaited:
        print("awaited:", ", ".join(awaited))
    if there:
        print("awaited no longer:", ", ".join(there))
    print(f"rows: {len(rows)}, {len({row for row, _ in missing})} without their tests")
    return 1 if missing or not rows else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
