#!/usr/bin/env python3
"""Warns of unclear English on changed lines: comments, messages and pages. The exit code is always 0.

    python3 tests/voice.py [BASE]       checks the lines that differ from the commit BASE (default: the previous commit)"""
import re
import subprocess
import sys

TEXT = (".cpp", ".hpp", ".py", ".md", ".yaml", ".sh")
WORDS = {  # pattern of an unclear word: words to use in place of it
    r"\b(told|tells?|telling)\b": "log, report, notify, pass",
    r"\b(heed|heeds|heeded|hears?|heard)\b": "apply, observe, receive",
    r"\banswers?\b": "response, responds",
    r"\b(at rest|resting|rests)\b": "idle",
    r"\b(forgets?|forgotten|lets? go of)\b": "evict, discard, release",
    r"\b(in force|of this moment)\b": "current",
    r"\b(takes? up|taken up)\b": "apply, account for",
    r"\b(anew|once more)\b": "again",
    r"\b(eldest)\b": "the first N",
    r"\b(nobody|nothing) (is|was|are|were)\b": "negate the verb",
    r"\bis no (?!longer\b)[a-z]": "is not a",
    r"\b(whoever|whatever|whosoever)\b": "name the thing",
    r"\b(lest|meanwhile|besides|likewise)\b": "so that ... not, while, in addition, also",
    r"\b(first words|stands)\b": "peek, detect; is established",
    r"\bsilence\b": "dead peer, no data",
    r"(?:^|[.:] )(Of|Whose|What of|That of|Where)\b": "a subject and a verb first",
    r"(?://+<?|\*|#) *(Of|Whose|What of|That of|Where) ": "a subject and a verb first",
}
LONGEST = 40  # maximum number of words in a sentence


def words_of(name, line):
    """Returns the part of a line that people read: a page's text, a comment, or a quoted text."""
    if name.endswith(".md"):
        return line
    comment = re.search(r"(?:///?<?|#) (.*)", line)
    quoted = re.findall(r'"([^"]{12,})"', line)
    return " ".join(([comment.group(0)] if comment else []) + quoted)


def warnings(diff):
    name, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[6:]
        elif line.startswith("@@"):
            number = int(re.search(r"\+(\d+)", line).group(1)) - 1
        elif line.startswith("+"):
            number += 1
            text = words_of(name, line[1:]) if name.endswith(TEXT) else ""
            for pattern, instead in WORDS.items():
                if found := re.search(pattern, text):
                    yield f"{name}:{number}: {found.group(0).strip()!r}: {instead}"
            if any(len(sentence.split()) > LONGEST for sentence in re.split(r"[.:;|]", text)):
                yield f"{name}:{number}: a sentence of more than {LONGEST} words"


if __name__ == "__main__":
    found = list(warnings(subprocess.run(["git", "diff", "-U0", *(sys.argv[1:] or ["HEAD~1"]), "--"], capture_output=True, text=True, errors="replace", check=False).stdout))
    print(*found, f"voice: {len(found)} warnings on changed lines", sep="\n")
