#!/usr/bin/env python3
"""Checks that tests and requirements match. Fails if a row of docs/requirements/robustness.md has no test, that is, if
its id is in no test name. Also fails if a test name has an unknown id, or if a row of the specification has changed
since docs/requirements adopted it.

The specification is beside the repository (../shared/spec). If the specification is absent, rows are not compared with
it. docs/requirements/adopted.txt has, for each row of the specification, a digest of the adopted text, or `awaited` if
the row is not built yet. After you have adopted changed rows in docs/requirements, run `requirements.py --adopt ID...`
with their ids."""
import collections
import hashlib
import re
import sys
from pathlib import Path

from checker import run

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT.parent / "shared/spec"
ADOPTED = ROOT / "docs/requirements/adopted.txt"
AWAITED = "awaited"
ENTRY = re.compile(r"^\| ([A-N]\d+|R\d+[a-f]?) \| ([^|]*)", re.M)
SPEC_ROW = re.compile(r"^\| ([A-N]\d+) (\|.*)$|^(R\d+[a-f]?) +(.*(?:\n +.*)*)", re.M)
NOT_BUILT = "not built:"
UNIT = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
E2E = re.compile(r"^def test_(\w+)\(", re.M)
SMALL = re.compile(r"(?<![^_])(?:[a-l]\d+|r\d+[a-f]?)(?![^_])")


def entries(root, book):
    """Returns {id: rest of the row} for each row of one file of docs/requirements."""
    return dict(ENTRY.findall((root / "docs/requirements" / book).read_text(encoding="utf-8")))


def rows_to_test(book):
    return [row for row, situation in book.items() if not situation.startswith(NOT_BUILT)]


def ids_of(name):
    """Returns the ids at the start of a test name, for example A4 and A18 for `A4_A18_never_...`. Returns only R15 for
    `R15AndR17TheCap...`, because a capital letter follows R15."""
    ids = re.match(r"(?:(?:[A-N]\d+|R\d+[a-f]?)_)*", name).group(0)
    clause = re.match(r"R\d+(?=[A-Z])", name)
    return set(ids.rstrip("_").split("_")) - {""} | ({clause.group(0)} if clause else set())


def names_of_tests(root):
    for file in sorted((root / "tests").rglob("*_test.cpp")):
        yield from (name for _, name in UNIT.findall(file.read_text(encoding="utf-8")))
    for file in sorted((root / "tests").rglob("test_*.py")):
        yield from E2E.findall(file.read_text(encoding="utf-8"))


def problems(names, rows, known):
    """Returns (id or test name, problem) for rows without a test, for unknown ids in test names, and for names with a
    lower-case id."""
    tested = {found for name in names for found in ids_of(name)}
    found = [(row, "has no test with its id in the name") for row in rows if row not in tested]
    found += [(row, "is in no rule book") for row in sorted(tested - known)]
    return found + [(name, "has an id in small letters") for name in names if SMALL.search(name)]


def spec_rows(texts):
    """Returns {id: digest of the text} for the rows of the specification."""
    return {match[1] or match[3]: hashlib.sha256((match[2] or match[4]).encode()).hexdigest()[:12]
            for text in texts for match in SPEC_ROW.finditer(text)}


def changed(spec, adopted):
    """Yields (id, problem) for each row of the specification that is new, was removed, or differs from its adopted
    text. Rows that are marked `awaited` are not compared."""
    for row in sorted({*spec, *adopted}):
        if row not in adopted:
            yield row, "is new in the specification: add it to docs/requirements, or to adopted.txt as awaited"
        elif row not in spec:
            yield row, "is no longer in the specification"
        elif adopted[row] not in (AWAITED, spec[row]):
            yield row, "has changed in the specification: read it again, then --adopt it"


def read_spec():
    return spec_rows(file.read_text(encoding="utf-8") for file in sorted(SPEC.glob("*.md")) if file.name not in ("peers.md", "proof.md"))


def read_adopted():
    return dict(line.split() for line in ADOPTED.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))


def adopt(rows):
    spec, adopted = read_spec(), read_adopted()
    adopted.update({row: spec[row] for row in rows})
    head = [line for line in ADOPTED.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    order = sorted(adopted, key=lambda row: (row[0], int(re.search(r"\d+", row)[0]), row))
    ADOPTED.write_text("\n".join([*head, *(f"{row} {adopted[row]}" for row in order)]) + "\n", encoding="utf-8")


def self_test():
    """Checks that this script finds each kind of problem."""
    assert ids_of("A4_A18_never_B1") == {"A4", "A18"} and ids_of("A421LosesAgainst") == set() == ids_of("a_B1_x")
    assert ids_of("R33a_to_R33f_each_conditional_operation_is_retryable_with_its_precondition") == {"R33a"} and ids_of("R15AndR17TheCap") == {"R15"} and ids_of("M103_N7_x") == {"M103", "N7"}
    assert UNIT.findall("TEST_F(PoolTest, F1_x) {\n//TEST(A, B2_y)") == [("PoolTest", "F1_x")]
    book = dict(ENTRY.findall("| id | situation |\n| A1 | x | y |\n| A2 | not built: x | y |\n| R33a | z |\n| N3 | w |\n|A3| w |\n"))
    assert list(book) == ["A1", "A2", "R33a", "N3"] and rows_to_test(book) == ["A1", "R33a", "N3"]
    assert problems(["A1_x"], ["A1"], {"A1"}) == []
    assert [row for row, _ in problems(["A9_x", "a1_y"], ["A1"], {"A1"})] == ["A1", "A9", "a1_y"]
    spec = spec_rows(["| A1 | x | y |\n| M2 | z |\n", "R3  first (S1).   Test: x\n    second\nR4  other\n"])
    assert list(spec) == ["A1", "M2", "R3", "R4"], spec
    assert spec["R3"] != spec_rows(["R3  first (S1).   Test: x\n    another\n"])["R3"]
    adopted = {**spec, "M2": AWAITED}
    assert not list(changed(spec, adopted))
    assert [row for row, _ in changed({**spec, "A1": "0"}, adopted)] == ["A1"]
    assert [row for row, _ in changed({**spec, "N9": "0"}, adopted)] == ["N9"] == [row for row, _ in changed(spec, {**adopted, "N9": "0"})]


def check(_):
    book = entries(ROOT, "robustness.md")
    rows, names = rows_to_test(book), list(names_of_tests(ROOT))
    found = problems(names, rows, {*book, *entries(ROOT, "retry.md"), *entries(ROOT, "http2.md")})
    adopted = read_adopted()
    if SPEC.is_dir():
        found += changed(read_spec(), adopted)
    for row, what in found:
        print(f"{row}: {what}")
    awaited = collections.Counter(row[0] for row, digest in adopted.items() if digest == AWAITED)
    print("awaited rows:", ", ".join(f"{letter}: {count}" for letter, count in sorted(awaited.items())))
    print("not built:", ", ".join(sorted(set(book) - set(rows))))
    print(f"requirements: {len(rows)} rows, {len(found)} problems; {'' if SPEC.is_dir() else 'no '}specification beside the repository")
    return 1 if found or not rows else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--adopt"]:
        sys.exit(adopt(sys.argv[2:]))
    sys.exit(run(__doc__, self_test, check))
