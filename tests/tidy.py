#!/usr/bin/env python3
"""clang-tidy over proxy and config, some rooms at a time: what all of them include is most of what there is to read, and is read once.

    python3 tests/tidy.py              every unit of build/asan, which must be configured; the last line is `N passed, N failed, N skipped`
    python3 tests/tidy.py --self-test  planted findings are seen, and what is remembered is forgotten when it has changed

What has no findings is remembered in ~/.cache/reprise/tidy with a hash of each file of ours that it reads, and is not looked
at again before one of them, the checks, its flags or clang-tidy has changed. Where files are read as one, one's `using` may make up for
another's that nothing uses: that alone is seen less well than file by file. And one file's includes make up for another's: of rooms that
every build compiles as units, each file is compiled alone, too. Rooms that cannot be one, for they give one name to two things, are read
one by one."""
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
import threading
from dataclasses import dataclass
from pathlib import Path

from tally import Tally

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/asan"
CHECKS = ROOT / ".clang-tidy"
REMEMBERED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reprise/tidy"
# In a unit a source is an included file, too.
OURS = r"/(proxy|config)/.*\.[ch]pp$"
INCLUDED = re.compile(r'^#include "(.*)"', re.M)
LIBRARY = re.compile(r"^#include <([\w-]+)/", re.M)
AS_UNITS = re.compile(r"^reprise_(as_units|off_the_data_path)\(", re.M)
# Those whose headers are much to read.
LIBRARIES = ("CLI", "boost", "fmt", "prometheus", "yaml-cpp")
# How many units are read as one. More take as much memory as a small machine has for two of them.
UNITS_AT_ONCE = 4
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
            if not re.match(r"-(O|g\d|fsanitize|fno-sanitize|fprofile|fcoverage|ffp-contract|fpch)", word):
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


@dataclass(frozen=True)
class Reading:
    """What is read at once: a unit of the build, or a file that includes some."""
    file: Path
    flags: tuple[str, ...]
    parts: tuple["Reading", ...] = ()   # each unit by itself, where it is several

    def sources(self):
        return [source for part in self.parts or (self,) for source in sources_of(part.file)]


def units():
    """Every unit of the build that has sources of proxy or config."""
    found = []
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["file"])
        if "cmake_pch" not in path.name and path.exists() and sources_of(path):
            found.append(Reading(path, tuple(reading_flags(shlex.split(entry["command"])))))
    return found


def flag_groups(flags):
    """Flags with their values, where those are words of their own."""
    groups, words = [], iter(flags)
    for word in words:
        groups.append((word, next(words)) if word in ("-isystem", "-include") else (word,))
    return groups


def as_one(file, parts):
    """Several units as one file, which is written, and sees what any of them sees."""
    flags = dict.fromkeys(group for part in parts for group in flag_groups(part.flags))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f'#include "{part.file}"\n' for part in parts), encoding="utf-8")
    return Reading(file, tuple(word for group in flags for word in group), tuple(parts))


def libraries(unit):
    """The libraries whose headers are named by its sources, by the headers of those, and by what is put before them."""
    files = [BUILD / group[1] for group in flag_groups(unit.flags) if group[0] == "-include"]
    files += [file for source in unit.sources() for file in (source, source.with_suffix(".hpp")) if file.exists()]
    return sorted({name for file in files for name in LIBRARY.findall(file.read_text(encoding="utf-8"))} & set(LIBRARIES))


def readings(found, folder):
    """The units as they are read: those that include the same libraries together, for each library is looked at as often as it is
    read. A file that is a unit stays alone: what it includes may exclude others'."""
    alone, rooms = [], []
    for unit in found:
        (alone if unit.file.suffix == ".cpp" else rooms).append(unit)
    rooms.sort(key=lambda unit: (libraries(unit)[:1], -len(libraries(unit))))
    several = [rooms[at:at + UNITS_AT_ONCE] for at in range(0, len(rooms), UNITS_AT_ONCE)]
    return alone + [as_one(folder / f"{number}.cxx", parts) if len(parts) > 1 else parts[0] for number, parts in enumerate(several)]


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

    def place(self, reading):
        return self.folder / digest(self.judge, str(reading.file), *reading.flags)

    def knows(self, reading):
        try:
            hashes = json.loads(self.place(reading).read_text(encoding="utf-8"))
            return bool(hashes) and all(digest(Path(name).read_bytes()) == value for name, value in hashes.items())
        except (OSError, ValueError):
            return False

    def keep(self, reading, hashes):
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False, encoding="utf-8") as file:
            json.dump(hashes, file)
        os.replace(file.name, self.place(reading))


def hashes_of(reading):
    """Of each file that is read, but for the system's, as they are now."""
    told = subprocess.run(["clang++", *reading.flags, "-MM", str(reading.file)], cwd=BUILD, capture_output=True, text=True, check=True).stdout
    names = shlex.split(told.replace("\\\n", " ").partition(":")[2])
    return {str(BUILD / name): digest((BUILD / name).read_bytes()) for name in names}


def is_always_a_unit(source):
    """Whether its room is compiled as units where others are not."""
    for folder in source.parents:
        if (folder / "CMakeLists.txt").exists():
            return bool(AS_UNITS.search((folder / "CMakeLists.txt").read_text(encoding="utf-8")))
    return False


class CompiledFirst:
    """Headers that are put before many files, compiled once for each kind of flags."""

    def __init__(self, folder):
        self.folder = folder
        self.made = {}
        self.lock = threading.Lock()   # one thread makes it, and others wait

    def flags(self, flags):
        """The same flags, with the compiled form of what they put before a file."""
        groups = flag_groups(flags)
        names = [group[1] for group in groups if group[0] == "-include"]
        if not names:
            return flags
        others = [word for group in groups if group[0] != "-include" for word in group]
        kind = (*names, *(word for word in others if not word.startswith("-I")))
        with self.lock:
            if kind not in self.made:
                self.made[kind] = self.compiled(names, others)
        return [*others, "-include-pch", str(self.made[kind])] if self.made[kind] else flags

    def compiled(self, names, flags):
        """Nothing, where it does not compile: whoever includes it tells why."""
        header = self.folder / f"first-{len(self.made)}.hpp"
        self.folder.mkdir(parents=True, exist_ok=True)
        header.write_text("".join(f'#include "{name}"\n' for name in names), encoding="utf-8")
        done = subprocess.run(["clang++", *flags, "-x", "c++-header", str(header), "-o", f"{header}.pch"], cwd=BUILD, capture_output=True, check=False)
        return Path(f"{header}.pch") if done.returncode == 0 else None


def misses_alone(sources, flags, first):
    """What the compiler says of each file by itself; empty: nothing."""
    for source in sources:
        done = subprocess.run(["clang++", *first.flags(flags), "-Wshadow", "-fsyntax-only", str(source)], cwd=BUILD, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"compiled alone:\n{done.stderr.strip()}"
    return ""


def one_by_one(reading, said, memory, first):
    """What is found in each of several units that cannot be read as one."""
    error = next(line for line in said.splitlines() if "error:" in line)
    print(f"the units of {reading.file} are read one by one, for they cannot be one: {error}", flush=True)
    return "\n".join(filter(None, (findings(part, memory, first) for part in reading.parts)))


def findings(reading, memory, first):
    """What clang-tidy finds, and the compiler in each file; empty: nothing."""
    if memory.knows(reading):
        return ""
    try:
        # Taken before the look: what is changed meanwhile is looked at again.
        hashes = hashes_of(reading)
    except subprocess.CalledProcessError as failure:
        return failure.stderr or "its includes could not be told"
    done = subprocess.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", f"--config-file={CHECKS}", f"--header-filter={OURS}",
                           # A unit includes sources; that is what it is for.
                           "--checks=-bugprone-suspicious-include", str(reading.file), "--", *reading.flags],
                          cwd=BUILD, capture_output=True, text=True, check=False)
    if reading.parts and "clang-diagnostic-" in done.stdout:
        return one_by_one(reading, done.stdout, memory, first)
    if done.returncode == 0 and "warning:" not in done.stdout and "error:" not in done.stdout:
        missing = ""
        for part in reading.parts or (reading,):
            sources = part.sources()
            missing += misses_alone(filter(is_always_a_unit, sources), part.flags, first) if len(sources) > 1 else ""
        if not missing:
            memory.keep(reading, hashes)
        return missing
    return done.stdout.strip() or done.stderr.strip() or f"clang-tidy ended with {done.returncode}"


def unread(found):
    """Sources that are in no unit."""
    read = {source for unit in found for source in unit.sources()}
    return sorted(str(path.relative_to(ROOT)) for folder in ("proxy", "config") for path in (ROOT / folder).rglob("*.cpp") if path not in read)


def look_at_all(jobs, only):
    found, memory, first, tally = units(), Memory(REMEMBERED), CompiledFirst(BUILD / "tidy"), Tally()
    for name in unread(found):
        print(f"FAILED {name}: in no unit of build/asan")
        tally.failed += 1
    found = readings([unit for unit in found if only in str(unit.file)], BUILD / "tidy")
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        # The largest first, so that no core waits for one.
        order = sorted(found, key=lambda reading: -sum(source.stat().st_size for source in reading.sources()))
        for reading, said in zip(order, workers.map(lambda reading: findings(reading, memory, first), order)):
            tally.passed += not said
            tally.failed += bool(said)
            if said:
                print(f"FAILED clang-tidy of {', '.join(str(source.relative_to(ROOT)) for source in reading.sources())}\n{said}", flush=True)
    return tally.end()


PLANTS = {
    "clean": ("int twice(int value);\n", "int twice(int value) { return 2 * value; }\n", ()),
    "in a source": ("int twice(int value);\n", "int twice(int Value) { return 2 * Value; }\n", ("plant.cpp:", "readability-identifier-naming")),
    "in a header": ("struct Plant { Plant(int) {} };\nint twice(int value);\n", "int twice(int value) { return 2 * value; }\n",
                    ("plant.hpp:", "google-explicit-constructor")),
    "broken": ("int twice(int value);\n", "int twice(int value) { return nothing; }\n", ("plant.cpp:", "nothing")),
}


def wrong_alone():
    """What is not seen of files that lean on another's includes, or on what is put before them."""
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        first, before = CompiledFirst(Path(folder)), Path(folder) / "before.hpp"
        before.write_text("#include <string>\n", encoding="utf-8")
        for name, source in (("clean", "#include <string>\nstd::string clean() { return {}; }\n"), ("leaning", "std::string leaning() { return {}; }\n")):
            file = Path(folder) / f"{name}.cpp"
            file.write_text(source, encoding="utf-8")
            for flags in (["-std=c++20"], ["-std=c++20", "-include", str(before)]):
                seen[name, len(flags)] = bool(misses_alone([file], flags, first))
    right = {("clean", 1): False, ("clean", 3): False, ("leaning", 1): True, ("leaning", 3): False}
    return [] if seen == right else [f"files that lean on another's includes: {seen}"]


def written(folder, room, name, header, source):
    """A unit of a room that is one source and its header."""
    (folder / room).mkdir(parents=True, exist_ok=True)
    (folder / room / f"{name}.hpp").write_text("#pragma once\n" + header, encoding="utf-8")
    (folder / room / f"{name}.cpp").write_text(f'#include "{room}/{name}.hpp"\n' + source, encoding="utf-8")
    (folder / room / "unit.cxx").write_text(f'#include "{folder}/{room}/{name}.cpp"\n', encoding="utf-8")
    return Reading(folder / room / "unit.cxx", ("-std=c++20", f"-I{folder}"))


def wrong_together():
    """What is not seen of two rooms that are read as one, or that give one name to two things."""
    wrong = []
    two_names = ("namespace { int two = 2; }\nint twice(int value) { return two * value; }\n", "namespace { long two = 2; }\nlong much(int Value) { return two * Value; }\n")
    with tempfile.TemporaryDirectory() as folder:
        for kind, other in (("one", two_names[1].replace("two", "many")), ("two", two_names[1])):
            for name, source in (("clean", other.replace("Value", "value")), ("planted", other)):
                home = Path(folder) / kind / name
                parts = [written(home, "proxy", "plant", "int twice(int value);\n", two_names[0]),
                         written(home, "proxy/far", "other", "long much(int value);\n", source)]
                said = findings(as_one(home / "together.cxx", parts), Memory(home / "remembered"), CompiledFirst(home))
                if ("other.cpp:" in said and "readability-identifier-naming" in said) != (name == "planted") or bool(said) != (name == "planted"):
                    wrong.append(f"rooms with {kind} name(s), {name}: {said or 'nothing was found'}")
    return wrong


def self_test():
    wrong = wrong_alone() + wrong_together()
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder) / "remembered")
        # The clean one first and last: what is remembered of it must not hide the others, nor be lost with them.
        for name in (*PLANTS, "clean"):
            header, source, words = PLANTS[name]
            unit = written(Path(folder), "proxy", "plant", header, source)
            said = findings(unit, memory, CompiledFirst(Path(folder)))
            if any(word not in said for word in words) or bool(said) != bool(words):
                wrong.append(f"{name}: {said or 'nothing was found'}")
            if memory.knows(unit) == bool(words):
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
