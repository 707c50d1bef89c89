#!/usr/bin/env python3
"""Compares the names that docs/stability.md promises to keep with the names that the program has.

    python3 tests/stable_names.py --bin build/check/reprise            fails if a name of tests/golden/stable_names.txt is gone
    python3 tests/stable_names.py --bin build/check/reprise --write    writes the current names to that file

A name may be added at any time. The removal of a name breaks the files or dashboards of users, so the name must be
deprecated first."""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests/golden/stable_names.txt"


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def keys(page):
    """Returns `key SECTION KEY` for each row of the reference page that has a kind and a default."""
    section = ""
    for line in page.splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ").replace("`", "")
        row = re.match(r"\| `([a-z_0-9.]+)` \| [^|]* \| [^|]* \| ", line)
        if row:
            yield f"key {section} {row[1]}"


def metrics():
    for name, labels in re.findall(r"^\| `(reprise_[a-z0-9_]+)` \| ([^|]*) \|", text_of("proxy/telemetry/metrics/README.md"), re.M):
        yield f"metric {name} {labels.replace(',', '').strip()}".rstrip()


def fields_of_lines(kind, name):
    fields = set()
    for line in text_of(name).splitlines():
        record = json.loads(line)
        fields.update(record)
        attempts = record.get("attempts")
        for attempt in attempts if isinstance(attempts, list) else []:
            fields.update(f"attempts[].{field}" for field in attempt)
        fields.update(f"grpc.{field}" for field in record.get("grpc", {}))
    return (f"{kind} {field}" for field in fields)


def words(source, constant):
    """Returns the words of the list `constant` in a C++ source. The program prints this list for an unknown command."""
    found = re.search(rf"{constant} =\s*((?:\"[^\"]*\"\s*)+);", text_of(source))
    return re.split(r", (?:and )?", "".join(re.findall(r'"([^"]*)"', found[1])))


def names(binary):
    def printed(*arguments):
        return subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout

    yield from keys(printed("config", "--reference"))
    yield from metrics()
    yield from fields_of_lines("log", "tests/golden/observe/access.jsonl")
    yield from (f"status {field}" for field in json.loads(text_of("tests/golden/observe/status.json")))
    yield from (f"reason {word}" for word in re.findall(r"^\| `(\w+)` \|", printed("reasons"), re.M))
    yield from (f"control {word}" for word in words("proxy/server/process/control_commands.cpp", "known_commands"))
    yield from (f"command {word}" for word in re.findall(r"^  ([a-z-]+) {2,}", printed("--help").partition("Subcommands:")[2], re.M))
    yield from (f"exit {code}" for code in re.findall(r"(?:^|, |codes: )(\d+)\b", re.search(r"Exit codes: ([^.]*)\.", text_of("deploy/README.md"))[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    there = sorted(set(names(given.bin)))
    counts = {kind: sum(name.split()[0] == kind for name in there) for kind in sorted({name.split()[0] for name in there})}
    if given.write:
        KEPT.write_text("\n".join(there) + "\n", encoding="utf-8")
    gone = [name for name in KEPT.read_text(encoding="utf-8").splitlines() if name not in set(there)]
    few = [kind for kind in ("key", "metric", "log", "status", "reason", "control", "command", "exit") if counts.get(kind, 0) < 4]
    for name in gone:
        print(f"gone: {name}: deprecate it first (docs/stability.md), or while nothing is frozen, run with --write and say so in CHANGELOG.md")
    for kind in few:
        print(f"hardly a name was found of kind {kind}: it is read from elsewhere now?")
    print(f"stable names: {counts}, {len(gone)} gone")
    return 1 if gone or few else 0


if __name__ == "__main__":
    sys.exit(main())
