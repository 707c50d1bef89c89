#!/usr/bin/env python3
"""Fails where a comment, a message or a page cites what nobody can look up: a row or a clause that is in no rule book of
proxy/rules, an id without its word (`row C4`, `clauses R3 and R7`), an id in small letters in the name of a test, a decision or a document that is
not in the tree, in a page or in a comment of C++ a source (`pool.hpp`, `upstream/pool.hpp`, `upstream/pool`)."""
import re
import sys
import tempfile
from pathlib import Path

from checker import count_wrong, run
from floors import LINKS
from requirements import ENTRY, entries

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (".github", "config", "cmake", "deploy", "docs", "proxy", "tests")
SUFFIXES = (".cpp", ".hpp", ".c", ".py", ".sh", ".md", ".yaml", ".yml", ".cmake", ".js", ".css", ".html", ".service")
NAMES = ("CMakeLists.txt", "Dockerfile")
# What has ids as data, and what has plants.
WITH_IDS, WITH_PLANTS = "tests/requirements.py", "tests/citations.py"

# What is prose in C++, strings included; of other files all of it is.
PROSE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
LEADER = re.compile(r"\n\s*(?://[/!]?<?|#+(?= )|\*(?= ))?")
# Names of others that look like ids.
OTHERS = re.compile(r"gRPC A6|C1 controls?\b|RENAME \S+")
ID = r"(?<![\w%:.-])[A-LR][1-9]\d?[a-f]?(?![\w-]|:\w|\.\d)"
CITED = re.compile(rf"(?:\b([Rr]ows?|[Cc]lauses?)\s+`?)?({ID}(?:(?:,\s+(?:and|or)\s+|,\s+|\s+(?:and|or|nor|to)\s+){ID})*)")
# In names of tests ids have capitals, or nobody finds them: requirements.py looks for those.
NAMED = re.compile(r"^(?:TEST(?:_F|_P)?\(\s*\w+,\s*|def test_)(\w+)", re.M)
SMALL = re.compile(r"(?<![^_])(?:[a-l]\d+|r\d+[a-f]?)(?![^_])")
DECISION = re.compile(r"\bdecisions? (\d{4})\b", re.I)
DOCUMENT = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.md\b")
AWAY = re.compile(r"(?<![\w/.-])spec/[\w.-]+|\b(?:issue|ticket) #?\d+", re.I)

# A source by its name, or by its room's and its own; not FILE_test.cpp, which stands for many, nor what only looks like one.
SOURCE = re.compile(rf"(?<![\w/.*<>-])((?:[\w-]+/)*[a-z][\w-]*\.[ch]pp\b|(?:proxy/|config/)?(?:{'|'.join(LINKS)})/[a-z]\w+(?![\w/]|\.[a-z]))")
NO_SOURCE = {"message/http"}


def blank(match):
    return " " * len(match.group(0))


def prose_of(path, text):
    """The text with everything but prose blanked; a comment over several lines is one. No place is moved."""
    if path.endswith((".cpp", ".hpp", ".c")):
        kept, end = [], 0
        for match in PROSE.finditer(text):
            kept += [re.sub(r"[^\n]", " ", text[end:match.start()]), match.group(0)]
            end = match.end()
        text = "".join(kept) + re.sub(r"[^\n]", " ", text[end:])
    if path.startswith("proxy/rules/"):
        text = ENTRY.sub(lambda match: "| " + " " * len(match.group(1)) + match.group(0)[2 + len(match.group(1)):], text)
    return OTHERS.sub(blank, LEADER.sub(blank, text))


def citations(prose, known):
    for match in CITED.finditer(prose):
        word, ids = match.group(1), re.findall(ID, match.group(2))
        wanted = ("clause" if ids[0][0] == "R" else "row") + ("s" if len(ids) > 1 else "")
        if not word or word.lower() != wanted or len({each[0] == "R" for each in ids}) > 1:
            yield match.start(2), f"`{match.group(0)}`: say `{wanted} {match.group(2)}`"
        for each in ids:
            if each not in known:
                yield match.start(2), f"{each} is in no rule book"


def small_ids(text):
    for name in NAMED.finditer(text):
        for match in SMALL.finditer(name.group(1)):
            yield name.start(1) + match.start(), f"`{match.group(0)}` in the name of a test: an id of a rule book is first there, and in capitals"


def documents(root, path, prose, pages):
    for match in DECISION.finditer(prose):
        if not any((root / "proxy/decisions").glob(f"{match.group(1)}-*.md")):
            yield match.start(), f"there is no {match.group(0)}"
    for match in DOCUMENT.finditer(prose):
        named = match.group(0)
        if not any(f"/{page}".endswith(f"/{named}") for page in pages) and not ((root / path).parent / named).exists():
            yield match.start(), f"{named} is not in the tree"
    for match in AWAY.finditer(prose):
        yield match.start(), f"`{match.group(0)}` is not in the tree"


def sources(path, text, known):
    """Every source that a page or a comment names and that is not there, by a part of its path from some folder on."""
    told = [(0, text)] if path.endswith(".md") else [(each.start(), each.group(0)) for each in PROSE.finditer(text)
                                                     if each.group(0).startswith(("//", "/*"))]
    for at, prose in told:
        for match in SOURCE.finditer(prose):
            if match.group(1) not in known and match.group(1) not in NO_SOURCE:
                yield at + match.start(1), f"{match.group(1)} is not in the tree"


def parts_of_paths(paths):
    """Each path from the root or from any folder on, with the file's suffix and without it, and so are its folders."""
    known = set()
    for path in paths:
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            for begin in range(end):
                name = "/".join(parts[begin:end])
                known |= {name, name.rsplit(".", 1)[0]}
    return known


def files(root):
    yield from sorted(file for file in root.iterdir() if file.suffix == ".md" or file.name in NAMES)
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and (file.suffix in SUFFIXES or file.name in NAMES):
                yield file


def check_tree(root):
    """Every (path, line, message), and how many files were read."""
    known = {**entries(root, "robustness.md"), **entries(root, "retry.md")}
    found, tree = [], list(files(root))
    pages = [file.relative_to(root).as_posix() for file in tree if file.suffix == ".md"]
    there = parts_of_paths(file.relative_to(root).as_posix() for folder in FOLDERS for file in (root / folder).rglob("*") if file.is_file())
    for file in tree:
        path = file.relative_to(root).as_posix()
        if path == WITH_PLANTS:
            continue
        prose = prose_of(path, text := file.read_text(encoding="utf-8", errors="replace"))
        wrong = list(documents(root, path, prose, pages)) + ([] if path == WITH_IDS else list(citations(prose, known)))
        if path.startswith("tests/"):
            wrong += small_ids(text)
        if path.endswith((".md", ".hpp", ".cpp")):
            wrong += sources(path, text, there)
        found += [(path, text.count("\n", 0, at) + 1, message) for at, message in sorted(wrong)]
    return found, len(tree)


PLANTS = {  # path: (text, lines with something wrong)
    "proxy/rules/robustness.md": ("| A1 | x | row A2, clause R1 |\n| A2 | x |\n| C1 | x | A1 |\n", [3]),
    "proxy/rules/retry.md": ("| R1 | x |\n| R33a | as clause R1 |\n", []),
    "proxy/decisions/0001-one.md": ("One. See [the other](0002-two.md).\n", [1]),
    "proxy/a.hpp": ("// Opens (row A1).\n// Ends (rows A1 and\n// A2; clause R33a).\nint A9 = f(\"x\");  // C1 controls, gRPC A6, %A5\n", []),
    "proxy/b.cpp": ("// As A1 says.\nint b;  // row\n// A2, row R1\n// rows A1\n// row A1, A2\n// clause A1\n// row A1, clause R1\n",
                    [1, 3, 4, 5, 6]),
    "proxy/c.cpp": ("// row A3\n// clause R2\nTEST(A, A7_x) { e() << \"H9\" << \"row A1\"; }\n", [1, 2, 3, 3]),
    "tests/d.py": ("def test_A1_x():\n    \"\"\"Rows A1 to A2, clauses R1, R33a.\"\"\"\n    say(\"A1\")\n", [3]),
    "tests/e.sh": ("# row A1, decision 0001, docs/README.md\n# decision 0002\n# elsewhere.md, spec/rules.txt\n# issue 14\n", [1, 2, 3, 3, 4]),
    "config/f.yaml": ("# https://example.com/a/NOTES.md\nkey: row A1  # rules: retry.md, proxy/rules/retry.md\n", []),
    "README.md": ("# Rows\n", []),
    "Dockerfile": ("# decision 0002\n", [1]),
    "docs/guide.md": ("row A1, row A3, `io/gone`, L7.5\n", [1, 1]),
    ".github/workflows/g.yml": ("# row A3\n", [1]),
    "proxy/h.js": ("// row A1\n// As A1 says.\n", [2]),
    "tests/i_test.cpp": ("TEST(A, A1_h2c_g)\nTEST_F(A, as_c24_says)\nint x = a1_b(\"_a1_\");\n", [2]),
    "tests/j.py": ("def test_r33a_x():\n    x_a1_y()\n", [1]),
    "proxy/io/stream.hpp": ("// `stream.hpp`, io/stream.hpp (io/stream), `proxy/io/stream`, proxy/io.\n#include \"gone.hpp\"\n"
                            "const char* x = \"gone.cpp\";  // <x/gone.hpp> or\n// gone.hpp\n", [4]),
    "proxy/io/README.md": ("`stream.hpp`, `http/stream.hpp`\n`io/gone`, message/http\n*_test.cpp, FILE_test.cpp, io/x/y\n"
                           "(io/gone.hpp), tls/stream\n", [1, 2, 4, 4]),
}


def self_test():
    """Each plant is seen as it is, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, (text, _) in PLANTS.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found, _ = check_tree(root)
    return count_wrong([(path, lines, [line for at, line, _ in found if at == path]) for path, (_, lines) in PLANTS.items()])


def check(_):
    found, read = check_tree(ROOT)
    for path, line, message in found:
        print(f"{path}:{line}: {message}")
    print(f"citations: {read} files, {len(found)} that lead nowhere")
    return 1 if found or not read else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
