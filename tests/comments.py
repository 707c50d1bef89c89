#!/usr/bin/env python3
"""Fails where a comment of C++ is not filled: a line that ends early, or a last line with a word or two. `--write` fills it."""
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from checker import run

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("proxy", "config", "tests", "deploy", "cmake")
FEW_CHARACTERS = 14  # a last line below it is an orphan; one of a single word always is
PAUSE = 6  # so much less even two lines may be if the first then ends where a reader pauses

# What is no comment although it may look like one comes first.
TOKEN = re.compile(r'R"([^\s()\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.[^\'\n]*|[^\'\\\n])\'|/\*.*?\*/|(?P<comment>//[^\n]*)', re.S)
COMMENT = re.compile(r"(//[/!]?<?)(.*)")
# Lines that stand as they are: items of lists, tags, tables, what is said to a tool, addresses, and any other indentation than one.
TO_A_TOOL = r"NOLINT|IWYU|clang-format |SPDX"
VERBATIM = re.compile(r"[-*+|>#](?: |$)|(?:\d{1,2}|[a-z])[.)] |[@\\](?:param|tparam|returns?|throws|brief|note|see) |\w+://\S+$|"
                      + TO_A_TOOL + r"|.*(?:\S  +\S|\\$|NOLINT)")
# What would be taken for the beginning of such a line stays behind the word before it.
BOUND = re.compile(r"[-*+|>#]$|(?:\d{1,2}|[a-z])[.)]$|[@\\]\w+$|\w+://|clang-format$|" + TO_A_TOOL)
# What is one with the word behind it.
KEEPS = re.compile(r"\b(?:RFC|gRPC|C\d)$")
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!\.)[.!?][)\"'`\]]*$")
BEGINS = re.compile(r"[A-Z`\"'({<\d]")


class Line(NamedTuple):
    """A comment on a line: where, what stands before it, and its text, which is None where it stands as it is."""
    number: int
    before: str
    marker: str
    text: str | None


def column_limit():
    return int(re.search(r"^ColumnLimit: (\d+)", (ROOT / ".clang-format").read_text(encoding="utf-8"), re.M).group(1))


def comments_of(text):
    """Every `//` comment, from the first line (0) on; none of a region that clang-format leaves alone."""
    is_off = False
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    number = 0
    for match in TOKEN.finditer(text):
        if not match["comment"]:
            continue
        while number + 1 < len(starts) and starts[number + 1] <= match.start():
            number += 1
        marker, rest = COMMENT.fullmatch(match["comment"]).groups()
        is_off = {" clang-format off": True, " clang-format on": False}.get(rest.rstrip(), is_off)
        is_plain = not is_off and re.match(r" \S", rest) and not VERBATIM.match(rest[1:])
        yield Line(number, text[starts[number]:match.start()], marker, rest[1:] if is_plain else None)


def continues(line, last):
    return (line.number == last.number + 1 and line.marker == last.marker and not line.before.strip()
            and len(line.before) == len(last.before) and line.text is not None and last.text is not None)


def paragraphs_of(text):
    """Lists of lines that a writer would fill as one."""
    paragraph = []
    for line in comments_of(text):
        if paragraph and not continues(line, paragraph[-1]):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def words_of(lines):
    """The words; those that may not begin a line, or that belong to the one before, with it."""
    words = []
    for word in " ".join(lines).split():
        if words and (BOUND.match(word) or KEEPS.search(words[-1])):
            words[-1] += " " + word
        else:
            words.append(word)
    return words


def fill(words, width):
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def is_few(line):
    return len(line) < FEW_CHARACTERS or " " not in line


def has_orphan(lines):
    return len(lines) > 1 and is_few(lines[-1])


def unevenness(lines):
    return max(map(len, lines)) - PAUSE * (lines[0][-1] in ",;:.")


def filled(lines, width):
    """To the width; or, where that leaves an orphan, to a smaller one that needs no more lines: two become about even, of more the
    last gets a third of the width."""
    words = words_of(lines)
    full = fill(words, width)
    if not has_orphan(full):
        return full
    others = [other for narrower in range(width - 1, max(map(len, words)) - 1, -1)
              if len(other := fill(words, narrower)) == len(full) and not has_orphan(other)]
    if len(full) == 2:
        return min(others, key=unevenness, default=full)
    return next((other for other in others if len(other[-1]) >= width / 3), others[0] if others else full)


def may_part(lines, at):
    """Whether a writer may have begun this line on purpose: with a sentence, but for a last one of a word or two."""
    ends = SENTENCE_END.search(lines[at - 1]) or (lines[at - 1].endswith(":") and BEGINS.match(lines[at]))
    return bool(ends) and not (at == len(lines) - 1 and is_few(lines[at]))


def is_as_written(lines, width):
    """Whether it falls into parts that begin on purpose and are filled."""
    good = [True]  # up to each line
    for end in range(1, len(lines) + 1):
        good.append(any(good[begin] and (begin == 0 or may_part(lines, begin)) and filled(lines[begin:end], width) == lines[begin:end]
                        for begin in range(end)))
    return good[-1]


def ends_early(lines, at, width):
    return len(lines[at - 1]) + 1 + len(words_of(lines[at:])[0]) <= width


def refilled(lines, width):
    """The lines as they are where they are well filled, and otherwise better ones."""
    if is_as_written(lines, width):
        return lines
    breaks = range(1, len(lines))
    # A paragraph that was filled to a smaller width does not break on purpose where that width ends.
    if any(ends_early(lines, at, width) and not may_part(lines, at) for at in breaks):
        written_width = max(map(len, lines))
    else:
        written_width = width
    parts = [0, *(at for at in breaks if may_part(lines, at) and ends_early(lines, at, written_width)
                  and not has_orphan(lines[:at])), len(lines)]
    better = [line for begin, end in zip(parts, parts[1:]) for line in filled(lines[begin:end], width)]
    return better if is_as_written(better, width) else filled(lines, width)


def refill(text, limit):
    """The text with every paragraph filled, and (number, before, after) of those that were not, numbers from 1."""
    lines, changes = text.split("\n"), []
    for paragraph in paragraphs_of(text):
        first = paragraph[0]
        prefix = f"{' ' * len(first.before)}{first.marker} "
        before = [line.text for line in paragraph]
        if len(before) < 2 or (after := refilled(before, limit - len(prefix))) == before:
            continue
        changes.append((first.number + 1, before, after))
        first_prefix = f"{first.before}{first.marker} "
        lines[first.number:first.number + len(before)] = [first_prefix + f"\n{prefix}".join(after), *[None] * (len(before) - 1)]
    return "\n".join(line for line in lines if line is not None), changes


def but_for_breaks(text):
    """What `--write` must leave as it is."""
    return re.sub(r"\s*\n *//[/!]?<? ?", " ", text)


def check_tree(is_to_write):
    """Prints what is not filled, and fills it if that is wanted; returns the numbers of files and of paragraphs that were not."""
    limit, files, found = column_limit(), 0, 0
    for file in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.[ch]*")):
        if file.suffix not in (".hpp", ".cpp", ".h", ".c"):
            continue
        text = file.read_text(encoding="utf-8")
        new, changes = refill(text, limit)
        assert but_for_breaks(new) == but_for_breaks(text), file
        files, found = files + 1, found + len(changes)
        for number, _, after in changes:
            print(f"{file.relative_to(ROOT)}:{number}: comment: filled, it begins `{after[0]}`")
        while is_to_write and changes:  # shorter trailing comments may stand in another column, where their lines are narrower
            file.write_text(new, encoding="utf-8")
            subprocess.run(["clang-format", "-i", file], check=True)
            new, changes = refill(file.read_text(encoding="utf-8"), limit)
    return files, found


PLANTS = {  # text of 40 columns, and what becomes of it; None: nothing
    "early": ("// Words that end here although\n// more of them would have their place,\n// and would have it easily.\n",
              "// Words that end here although more of\n// them would have their place, and\n// would have it easily.\n"),
    "orphan": ("// One two three four five six seven ten\n// end.\n", "// One two three four five\n// six seven ten end.\n"),
    "pause": ("/// One two, three four five six seven t\n/// end.\n", "/// One two, three four\n/// five six seven t end.\n"),
    "orphan of three": ("// One two three four five six seven ten\n// one two three four five six seven ten\n// end.\n",
                        "// One two three four five six seven\n// ten one two three four five six\n// seven ten end.\n"),
    "small line": ("// A sentence.\n// Why.\n", "// A sentence. Why.\n"),
    "one too many": ("// A line that\n// could be one.\n", "// A line that could be one.\n"),
    "trailing": ("int x;  // words that end\n        // early on each of them\n",
                 "int x;  // words that end early\n        // on each of them\n"),
    "member": ("int x;  ///< one two three four five six\n        ///< seven\n",
               "int x;  ///< one two three four\n        ///< five six seven\n"),
    "number": ("// Words are here, the grammar of (RFC\n// 9110 5.6) is all of them, and nothing.\n",
               "// Words are here, the grammar\n// of (RFC 9110 5.6) is all of\n// them, and nothing.\n"),
    "colon": ("// What is known of it:\n// the words.\n", "// What is known of it: the words.\n"),
    "filled": ("// One two three four five six seven ten\n// one two three four.\n", None),
    "sentence": ("// A sentence of its own.\n// Another one that begins on purpose.\n", None),
    "announced": ("// What is known of it:\n// `a` or `b` or something else.\n", None),
    "nothing else": ("// One-word-that-is-as-long-as-the-line-is\n// one.\n", None),
    "apart": ("// One.\n//\n// Two.\n\n// Three.\nint x;  // four\n// five\n/// six\n", None),
    "list": ("// These:\n// - one\n// - two\n//   of them\n// 1. three\n// 2. four\n", None),
    "table": ("// state   event\n// idle    begin\n// | a | b |\n// | c | d |\n//   [a]->[b]\n", None),
    "tools": ("// NOLINTNEXTLINE(x): for this\n// reason\nint x;  // NOLINT\n// https://example.org/\n// here\n", None),
    "left alone": ("// clang-format off\n// a\n// b c\n// clang-format on\n", None),
    "strings": ('auto x = R"(\n// one\n// two three\n)", y = "// one";\n/* a\n// b\n// c d e */\n', None),
}


def self_test():
    """Each plant must become what it is to become, and must then stay so."""
    wrong = 0
    for name, (text, expected) in PLANTS.items():
        wanted = expected or text
        new = refill(text, 40)[0]
        if new != wanted or refill(wanted, 40)[1] or but_for_breaks(new) != but_for_breaks(text):
            wrong += 1
            print(f"self-test: {name}: expected\n{wanted}not\n{new}")
    print(f"self-test: {len(PLANTS)} plants, {wrong} not seen as they are")
    return wrong


def check(given):
    files, found = check_tree(given.write)
    print(f"comments: {files} files, {found} comments {'filled' if given.write else 'that are not filled'}")
    return 1 if not files or (found and not given.write) else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check, [("--write", "fill them")]))
