#!/usr/bin/env python3
"""Tests the tests: plants one-line defects in the program, one at a time. With each defect, the test program of the
changed part must fail.

The defects are in tests/planted/FLOOR.json, where FLOOR is the part of the program: policy, explain, http, http2, grpc,
net or replay. The test program of a part is FLOOR_test; for `net`, it is the simulation (net_stories).

    python3 tests/mutate.py                 plants every defect; the last line is `N passed, N failed, N skipped`
    python3 tests/mutate.py --floor http    plants only the defects of tests/planted/http.json, which http_test must detect
    python3 tests/mutate.py --only 7        plants only the defect with number 7 in the output of --list
    python3 tests/mutate.py --check         plants nothing: checks that the text of every defect occurs exactly once in its file

The source files are not changed: a changed copy of a file is compiled in a temporary folder, into a copy of its library.
"""
import argparse
import concurrent.futures
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import chance
from junit import Suite

ROOT = Path(__file__).resolve().parent.parent
# Time limits of the test programs in seconds. If a program runs longer, the defect counts as detected. On an idle
# machine, 200,000 stories of the simulation take a minute.
LIMITS = {"policy_test": 120, "explain_test": 120, "http_test": 120, "http2_test": 120, "grpc_test": 120, "replay_test": 120, "net_stories": 600}

# All defects of tests/planted: (part of the program, file, text, replacement of the text). The number of a defect is
# its position in this list, from 1.
PLANTED = [(floor, *planted) for floor in ("policy", "explain", "http", "http2", "grpc", "net", "replay")
           for planted in json.loads((ROOT / f"tests/planted/{floor}.json").read_text(encoding="utf-8"))]

# For each part of the program (floor): the test program that must detect the defects of this part, and the arguments
# of that test program.
UNIT_TEST = ("--gtest_brief=1", "--gtest_fail_fast")
JUDGES = {"policy": ("policy_test", UNIT_TEST), "explain": ("explain_test", UNIT_TEST), "http": ("http_test", UNIT_TEST),
          "http2": ("http2_test", UNIT_TEST), "grpc": ("grpc_test", UNIT_TEST),
          "replay": ("replay_test", UNIT_TEST), "net": ("net_stories", ("--stories", "200000", "--unshrunk"))}


# For each part of the program: the folders (rooms) that its test program tests, if there are several.
ROOMS = {"policy": ("decision", "match", "pacing"), "http": ("message", "retry_hints", "http1", "body_rules", "tunnel", "request")}


def path_of(room, file):
    """Returns the path of a file. A name without an extension is that of a .cpp file."""
    return folder_of(room) / (file if "." in file else f"{file}.cpp")


def folder_of(room):
    """Returns the folder of a room, which is below its storey."""
    return next((ROOT / "proxy").glob(f"*/{room}"))


def room_and_file(mutant):
    """Returns the room and the file of a defect. The defects of `net` name their room, because the simulation tests all
    rooms above the sockets."""
    floor, file = mutant[:2]
    if "/" in file:
        return file.split("/")
    rooms = [room for room in ROOMS.get(floor, (floor,)) if path_of(room, file).is_file()]
    return (rooms[0] if rooms else floor), file


def source(mutant):
    room, file = room_and_file(mutant)
    return path_of(room, file)


def occurs_once(mutant):
    return source(mutant).read_text(encoding="utf-8").count(mutant[2]) == 1


def name(number):
    floor, file, text, instead = PLANTED[number - 1]
    return f"{number:3} {source(PLANTED[number - 1]).relative_to(ROOT / 'proxy')}: {text.strip()!r} -> {instead.strip()!r}"


class Build:
    """The unchanged test program of a floor, and the commands that built it."""

    def __init__(self, folder, floor):
        self.folder = folder
        self.test, self.arguments = JUDGES[floor]
        flags = ["-G", "Ninja", "-DREPRISE_TESTS=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g0 -w"]
        self.run("cmake", "-S", str(ROOT), "-B", str(folder), *flags)
        self.run("ninja", "-C", str(folder), "-j2", self.test)
        listed = self.run("ninja", "-C", str(folder), "-t", "commands", self.test).splitlines()
        self.compile = {}
        for line in listed:
            found = re.search(r" -o \S*reprise_(\w+)\.dir/\1/(\w+)\.cpp\.o ", line)
            if found:
                self.compile[path_of(*found.groups())] = shlex.split(line)
        self.link = [word for word in shlex.split(listed[-1]) if word not in (":", "&&")]

    @staticmethod
    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def plant(self, mutant, place):
        """Plants one defect. Returns true if the test program detected the defect. Returns a text with the reason if
        the defect could not be planted."""
        file, program = source(mutant), place / self.test
        changed = place / file.relative_to(ROOT)
        changed.parent.mkdir(parents=True)
        changed.write_text(file.read_text(encoding="utf-8").replace(mutant[2], mutant[3]), encoding="utf-8")
        built = {}  # source: its object file
        for path in self.sources_with(file):
            built[path] = place / path.parent.name / f"{path.name}.o"
            built[path].parent.mkdir(exist_ok=True)
            command = list(self.compile[path])
            for option, value in (("-o", built[path]), ("-c", changed if path == file else path), ("-MF", place / "changed.d")):
                command[command.index(option) + 1] = str(value)
            # A changed header is found before the original one.
            done = subprocess.run([*command, "-w", "-iquote", str(place)], cwd=self.folder, capture_output=True, text=True, check=False)
            if done.returncode:
                return f"does not compile\n{done.stderr}"
        command = self.link_with(built, place)
        command[command.index("-o") + 1] = str(program)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"does not link\n{done.stderr}"
        return self.notices(program)

    def sources_with(self, file):
        """Returns the file itself, or if it is a header, the sources of the test program's rooms that include it directly."""
        if file.suffix == ".cpp":
            return [file]
        include = f'#include "{file.relative_to(ROOT)}"'
        return [path for path in self.compile if include in path.read_text(encoding="utf-8")]

    def link_with(self, built, place):
        """Returns the command that links the test program with copies of the rooms' libraries, in which the object files
        `built` replace the original ones."""
        link = self.link
        for room in {path.parent.name for path in built}:
            library, copy = f"{folder_of(room).parent.relative_to(ROOT)}/libreprise_{room}.a", place / f"{room}.a"
            shutil.copy(self.folder / library, copy)
            self.run("ar", "r", str(copy), *(str(object_file) for path, object_file in built.items() if path.parent.name == room))
            link = [re.sub(rf"(?:{re.escape(str(self.folder))}/)?{re.escape(library)}", str(copy), word) for word in link]
        return link

    def notices(self, program):
        try:
            done = subprocess.run([program, *self.arguments], capture_output=True, timeout=LIMITS[self.test], check=False)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def check():
    wrong = [number for number, mutant in enumerate(PLANTED, 1) if not occurs_once(mutant)]
    for number in wrong:
        print(f"the text is not there exactly once: {name(number)}")
    return len(wrong)


def judge(builds, number):
    mutant = PLANTED[number - 1]
    if not occurs_once(mutant):
        return "the text is not there exactly once"
    with tempfile.TemporaryDirectory() as place:
        noticed = builds[mutant[0]].plant(mutant, Path(place))
    return {True: "killed", False: "SURVIVED"}.get(noticed, noticed)


def build_all(folder, floors):
    builds = {floor: Build(folder, floor) for floor in floors}
    for build in builds.values():
        if build.notices(folder / "tests" / build.test):
            sys.exit(f"{build.test} fails without any defect")
    return builds


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", type=int, action="append", metavar="N")
    arguments.add_argument("--floor", choices=tuple(JUDGES))
    arguments.add_argument("--sample", type=int, metavar="N", help="plant so many, drawn by --seed")
    chance.add_option(arguments)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--build", type=Path, default=ROOT / "build" / "mutants", help="build folder of its own")
    given = arguments.parse_args()
    numbers = given.only or list(range(1, len(PLANTED) + 1))
    if min(numbers) < 1 or max(numbers) > len(PLANTED):
        arguments.error(f"there are mutants 1 to {len(PLANTED)}")
    numbers = [number for number in numbers if given.floor in (None, PLANTED[number - 1][0])]
    if given.list:
        print("\n".join(name(number) for number in numbers))
        return 0
    if given.check:
        wrong = check()
        print(f"mutants: {len(PLANTED)} texts, {wrong} not found exactly once")
        return 1 if wrong else 0
    if given.sample:
        chance.use(given.seed)
        numbers = sorted(chance.dice("mutants").sample(numbers, min(given.sample, len(numbers))))
    builds = build_all(given.build, {PLANTED[number - 1][0] for number in numbers})
    suite = Suite("planted defects")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as workers:
        for number, result in zip(numbers, workers.map(lambda n: judge(builds, n), numbers)):
            killed = result == "killed"
            suite.add(name(number), "passed" if killed else "failed", "" if killed else result)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
