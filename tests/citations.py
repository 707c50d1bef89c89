#!/usr/bin/env python3
"""Fails if a comment, a message or a page cites a row, a clause or a decision of the documents that does not exist.
Also fails if a citation of a row or clause lacks the word `row` or `clause` (right: `row C4`, `clauses R3 and R7`)."""
import re
import sys
import tempfile
from pathlib import Path

from checker import count_wrong, run
from requirements import ENTRY, entries

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (".github", "config", "cmake", "deploy", "docs", "proxy", "tests")
SUFFIXES = (".cpp", ".hpp", ".c", ".py", ".sh", ".md", ".yaml", ".yml", ".cmake", ".js", ".css", ".html", ".service", ".txt")
# Files that are not checked: they contain ids as values, or wrong citations that test this script.
SKIPPED = ("tests/requirements.py", "tests/citations.py")
# C++ strings count as prose, because messages cite rows too. In other files all text is prose.
PROSE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
LEADER = re.compile(r"\n\s*(?://[/!]?<?|#+(?= )|\*(?= ))?")
OTHERS = re.compile(r"gRPC A6|C1 controls?\b|RENAME \S+|\bd=\S+ ?\S*")  # other names that look like ids
ID = r"(?<![\w%:.-])(?:[A-LNR][1-9]\d?[a-f]?|M[1-9]\d{0,2})(?![\w-]|:\w|\.\d)"
CITED = re.compile(rf"(?:\b([Rr]ows?|[Cc]lauses?)\s+`?)?({ID}(?:(?:,\s+(?:and|or)\s+|,\s+|\s+(?:and|or|nor|to)\s+){ID})*)")
DECISION = re.compile(r"\bdecisions? (\d{4})\b", re.I)


def blank(match):
    return " " * len(match.group(0))


def prose_of(path, text):
    """Returns the text with everything except prose replaced by blanks. Joins the lines of a comment. Offsets do not
    change."""
    if path.endswith((".cpp", ".hpp", ".c")):
        kept, end = [], 0
        for match in PROSE.finditer(text):
            kept += [re.sub(r"[^\n]", " ", text[end:match.start()]), match.group(0)]
            end = match.end()
        text = "".join(kept) + re.sub(r"[^\n]", " ", text[end:])
    if path.startswith("docs/requirements/"):
        text = ENTRY.sub(lambda match: "| " + " " * len(match.group(1)) + match.group(0)[2 + len(match.group(1)):], text)
    return OTHERS.sub(blank, LEADER.sub(blank, text))


def problems(root, prose, known):
    for match in CITED.finditer(prose):
        word, ids = match.group(1), re.findall(ID, match.group(2))
        wanted = ("clause" if ids[0][0] == "R" else "row") + ("s" if len(ids) > 1 else "")
        if not word or word.lower() != wanted or len({each[0] == "R" for each in ids}) > 1:
            yield match.start(2), f"`{match.group(0)}`: write `{wanted} {match.group(2)}`"
        for each in ids:
            if each not in known:
                yield match.start(2), f"{each} is in no rule book"
    for match in DECISION.finditer(prose):
        if not any((root / "docs/decisions").glob(f"{match.group(1)}-*.md")):
            yield match.start(), f"{match.group(0)} does not exist"


def check_tree(root):
    """Returns all problems as (path, line, message), and the number of checked files."""
    known = {row: text for book in ("robustness.md", "retry.md", "http2.md") if (root / "docs/requirements" / book).is_file() for row, text in entries(root, book).items()}
    found, count = [], 0
    for file in sorted([*root.glob("*.md"), *(file for folder in FOLDERS for file in (root / folder).rglob("*"))]):
        path = file.relative_to(root).as_posix()
        if not file.is_file() or file.suffix not in SUFFIXES or path in SKIPPED or path == "docs/requirements/adopted.txt":
            continue
        count += 1
        text = file.read_text(encoding="utf-8", errors="replace")
        found += [(path, text.count("\n", 0, at) + 1, message) for at, message in sorted(problems(root, prose_of(path, text), known))]
    return found, count


PLANTS = {  # path: (text, lines with a problem)
    "docs/requirements/robustness.md": ("| A1 | x | row A2, clause R1 |\n| A2 | x |\n| C1 | x | A1 |\n", [3]),
    "docs/requirements/retry.md": ("| R1 | x |\n| R33a | as clause R1 |\n", []),
    "docs/decisions/0001-one.md": ("One: decision 0002.\n", [1]),
    "proxy/a.hpp": ("// Opens (row A1).\n// Ends (rows A1 and\n// A2; clause R33a).\nint A9 = f(\"x\");  // C1 controls, gRPC A6, %A5\n", []),
    "proxy/b.cpp": ("// As A1 says.\nint b;  // row\n// A2, row R1\n// rows A1\n// row A1, A2\n// clause A1\n// row A1, clause R1\n", [1, 3, 4, 5, 6]),
    "tests/d.py": ("def test_A1_x():\n    \"\"\"Rows A1 to A2, clauses R1, R33a.\"\"\"\n    say(\"A1\")\n", [3]),
    "tests/e.sh": ("# row A1, decision 0001\n# decision 0002\n# row M7\n", [2, 3]),
}


def self_test():
    """Checks that this script finds each planted fault and reports nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, (text, _) in PLANTS.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found, _ = check_tree(root)
    return count_wrong([(path, lines, [line for at, line, _ in found if at == path]) for path, (_, lines) in PLANTS.items()])


def check(_):
    found, count = check_tree(ROOT)
    for path, line, message in found:
        print(f"{path}:{line}: {message}")
    print(f"citations: {count} files, {len(found)} problems")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
