#!/usr/bin/env python3
"""clang-tidy over proxy and config, a room at a time: files that are compiled as one unit are read as one, so that what they all include is read once.

    python3 tests/tidy.py              every unit of build/asan, which must be configured; the last line is `N passed, N failed, N skipped`
    python3 tests/tidy.py --self-test  planted findings are seen, and what is remembered is forgotten when it has changed

A unit without findings is remembered in ~/.cache/reprise/tidy with a hash of each file of ours that it reads, and is not looked
at again before one of them, the checks, its flags or clang-tidy has changed. In a unit, one file's `using` may make up for
another's that nothing uses: that alone is seen less well than file by file. And one file's includes make up for another's: of rooms that
every build compiles as units, each file is compiled alone, too."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from tally import Tally

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/asan"
CHECKS = ROOT / ".clang-tidy"
REMEMBERED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reprise/tidy"
# In a unit a source is an included file, too.
OURS = r"/(proxy|config)/.*\.[ch]pp$"
INCLUDED = re.compile(r'^#include "(.*)"', re.M)
# What a compiler is told of its output, its speed and its instruments, and how many words that is.
NOT_FOR_READING = {"-c": 2, "-o": 2, "-MD": 1, "-MT": 2, "-MF": 2, "-Winvalid-pch": 1}


def reading_flags(words):
    """The flags of a compile command without what only its output needs; a precompiled header is read as text."""
    flags, at = [], words.index(next(word for word in words if word.endswith("clang++"))) + 1
    while at < len(words):
        word = words[at]
        if word == "-Xclang":
            if words[at + 1] == "-include" and not words[at + 3].endswith(".pch"):
                # What it includes: of itself the compiler would take the precompiled form, which is made for other flags.
                flags += [word for name in INCLUDED.findall(Path(words[at + 3]).read_text(encoding="utf-8")) for word in ("-include", name)]
            at += 4 if words[at + 1] in ("-include", "-include-pch") else 2
        elif word in NOT_FOR_READING:
            at += NOT_FOR_READING[word]
        else:
            if not re.match(r"-(O|g\d|fsanitize|fno-sanitize|fprofile|fcoverage|fpch)", word):
                flags.append(word)
            at += 1
    return flags


def sources_of(unit):
    """The files of ours that a unit is made of."""
    if unit.suffix == ".cpp":
        names = [unit]
    else:
        names = [Path(name) for name in INCLUDED.findall(unit.read_text(encoding="utf-8"))]
    return [name for name in names if name.is_relative_to(ROOT / "proxy") or name.is_relative_to(ROOT / "config")]


def units():
    """Every unit of the build that has sources of proxy or config, with its flags."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["file"])
        if "cmake_pch" not in path.name and path.exists() and sources_of(path):
            found[path] = reading_flags(shlex.split(entry["command"]))
    return found


def digest(*texts):
    whole = hashlib.sha256()
    for text in texts:
        whole.update(text if isinstance(text, bytes) else text.encode())
        whole.update(b"\0")
    return whole.hexdigest()


class Memory:
    """What had no findings when it was last looked at."""

    def __init__(self, folder):
        self.folder = folder
        version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
        self.judge = digest(version, CHECKS.read_bytes(), Path(__file__).read_bytes())

    def place(self, unit, flags):
        return self.folder / digest(self.judge, str(unit), *flags)

    def knows(self, unit, flags):
        try:
            hashes = json.loads(self.place(unit, flags).read_text(encoding="utf-8"))
            return bool(hashes) and all(digest(Path(name).read_bytes()) == value for name, value in hashes.items())
        except (OSError, ValueError):
            return False

    def keep(self, unit, flags, hashes):
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as file:
            json.dump(hashes, file)
        os.replace(file.name, self.place(unit, flags))


def hashes_of(unit, flags):
    """Of each file that the unit reads, but for the system's, as they are now."""
    told = subprocess.run(["clang++", *flags, "-MM", str(unit)], cwd=BUILD, capture_output=True, text=True, check=True).stdout
    names = shlex.split(told.replace("\\\n", " ").partition(":")[2])
    return {str(BUILD / name): digest((BUILD / name).read_bytes()) for name in names}


def is_always_a_unit(source):
    """Whether its room is compiled as units where others are not."""
    for folder in source.parents:
        if (folder / "CMakeLists.txt").exists():
            return "reprise_as_units(" in (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    return False


def misses_alone(sources, flags):
    """What the compiler says of each file by itself; empty: nothing."""
    for source in sources:
        done = subprocess.run(["clang++", *flags, "-Wshadow", "-fsyntax-only", str(source)], cwd=BUILD, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"compiled alone:\n{done.stderr.strip()}"
    return ""


def findings(unit, flags, memory):
    """What clang-tidy finds in one unit, and the compiler in its files; empty: nothing."""
    if memory.knows(unit, flags):
        return ""
    try:
        # Taken before the look: what is changed meanwhile is looked at again.
        hashes = hashes_of(unit, flags)
    except subprocess.CalledProcessError as failure:
        return failure.stderr or "its includes could not be told"
    done = subprocess.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", f"--config-file={CHECKS}", f"--header-filter={OURS}",
                           # A unit includes sources; that is what it is for.
                           "--checks=-bugprone-suspicious-include", str(unit), "--", *flags], cwd=BUILD, capture_output=True, text=True, check=False)
    if done.returncode == 0 and "warning:" not in done.stdout and "error:" not in done.stdout:
        sources = sources_of(unit)
        missing = misses_alone(filter(is_always_a_unit, sources), flags) if len(sources) > 1 else ""
        if not missing:
            memory.keep(unit, flags, hashes)
        return missing
    return done.stdout.strip() or done.stderr.strip() or f"clang-tidy ended with {done.returncode}"


def unread(found):
    """Sources that are in no unit."""
    read = {source for unit in found for source in sources_of(unit)}
    return sorted(str(path.relative_to(ROOT)) for folder in ("proxy", "config") for path in (ROOT / folder).rglob("*.cpp") if path not in read)


def look_at_all(jobs, only):
    found, memory, tally = units(), Memory(REMEMBERED), Tally()
    for name in unread(found):
        print(f"FAILED {name}: in no unit of build/asan")
        tally.failed += 1
    if only:
        found = {unit: flags for unit, flags in found.items() if only in str(unit)}
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        # The largest first, so that no core waits for one.
        order = sorted(found, key=lambda unit: -sum(source.stat().st_size for source in sources_of(unit)))
        for unit, said in zip(order, workers.map(lambda unit: findings(unit, found[unit], memory), order)):
            tally.passed += not said
            tally.failed += bool(said)
            if said:
                print(f"FAILED clang-tidy of {', '.join(str(source.relative_to(ROOT)) for source in sources_of(unit))}\n{said}", flush=True)
    return tally.end()


PLANTS = {
    "clean": ("int twice(int value);\n", "int twice(int value) { return 2 * value; }\n", ()),
    "in a source": ("int twice(int value);\n", "int twice(int Value) { return 2 * Value; }\n", ("plant.cpp:", "readability-identifier-naming")),
    "in a header": ("struct Plant { Plant(int) {} };\nint twice(int value);\n", "int twice(int value) { return 2 * value; }\n",
                    ("plant.hpp:", "google-explicit-constructor")),
    "broken": ("int twice(int value);\n", "int twice(int value) { return nothing; }\n", ("plant.cpp:", "nothing")),
}


def wrong_alone():
    """What is not seen of files that lean on another's includes."""
    with tempfile.TemporaryDirectory() as folder:
        clean, leaning = Path(folder) / "clean.cpp", Path(folder) / "leaning.cpp"
        clean.write_text("#include <string>\nstd::string clean() { return {}; }\n", encoding="utf-8")
        leaning.write_text("std::string leaning() { return {}; }\n", encoding="utf-8")
        seen = [bool(misses_alone([source], ["-std=c++20"])) for source in (clean, leaning)]
    return [] if seen == [False, True] else [f"a file that leans on another's includes: {seen}"]


def self_test():
    wrong = wrong_alone()
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder) / "proxy"
        room.mkdir()
        unit, flags, memory = Path(folder) / "unit.cxx", ["-std=c++20", f"-I{folder}"], Memory(Path(folder) / "remembered")
        unit.write_text(f'#include "{room}/plant.cpp"\n', encoding="utf-8")
        # The clean one first and last: what is remembered of it must not hide the others, nor be lost with them.
        for name in (*PLANTS, "clean"):
            header, source, words = PLANTS[name]
            (room / "plant.hpp").write_text("#pragma once\n" + header, encoding="utf-8")
            (room / "plant.cpp").write_text('#include "proxy/plant.hpp"\n' + source, encoding="utf-8")
            said = findings(unit, flags, memory)
            if any(word not in said for word in words) or bool(said) != bool(words):
                wrong.append(f"{name}: {said or 'nothing was found'}")
            if memory.knows(unit, flags) == bool(words):
                wrong.append(f"{name}: remembered as what it is not")
    print("\n".join(wrong) or "every plant was seen")
    return 1 if wrong else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--only", metavar="PART", default="", help="units whose path has this in it")
    given = arguments.parse_args()
    return self_test() if given.self_test else look_at_all(given.jobs, given.only)


if __name__ == "__main__":
    sys.exit(main())
