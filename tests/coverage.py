#!/usr/bin/env python3
"""Measures how much of proxy/policy, proxy/http and the rooms (modules) above the sockets is covered by their unit
tests and by the simulation: lines and branches. Needs a build with the preset `coverage`.

    python3 tests/coverage.py              runs all tests and prints the coverage of each storey (layer); the last line is `N passed, N failed, N skipped`
    python3 tests/coverage.py --gaps NAME  uses the last run: prints lines and branches of matching files that no test ran

The tests of a storey also count for the storeys below. A `switch` over every enumerator has one branch that is never
taken, which counts as missed."""
import argparse
import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from floors import LINKS, STOREY_OF, floor_of, rooms_seen_by
from junit import Suite

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
COUNTS = BUILD / "counts"
MERGED = COUNTS / "all.profdata"
FIGURES = ROOT / "build/figures"
# Minimum line and branch coverage in percent.
BOUNDS = {"policy": (100, 98), "http": (100, 98), "simulate": (95, 85), "top": (95, 85), "sockets": (95, 85)}
# The rooms above the sockets, except those of the commands, and the room that reads control groups.
SOCKETS = (*(room for room in LINKS if "io" in rooms_seen_by(room) and room not in ("startup", "commands")), "cgroup")
# Test programs that use sockets or threads: of the rooms in SOCKETS, and of the whole proxy.
SOCKET_TESTS = [f"{room}_test" for room in (*SOCKETS, "whole", "metrics", "history") if (ROOT / "tests" / room).is_dir()]
# Files that are not judged: the output of a command, which golden files and end-to-end cases test, and code that runs
# only at compile time.
NOT_JUDGED = r"^proxy/tools/explain/explain_report|^proxy/policy/match/enumerators"
# Each test program and its arguments.
PROGRAMS = {**{f"{room}_test": () for room in ("policy", "http", "http2", "grpc", "config", "explain", "simulate", "report", "top", *SOCKETS, "whole")
               if (ROOT / "tests" / room).is_dir()},
            "net_stories": ("--stories", "30000", "--threads", "1"),
            "simulation/policy/policy_stories": ("--random", "100000", "--threads", "1")}
# Lines that no test can run: each entry maps a file to texts that occur in such lines. A comment gives the reason.
NEVER_RUN = {
    # Functions that Beast's parser and Boost.JSON require but never call, because only heads without a body are parsed,
    # and JSON has no comments.
    "proxy/http/http1/beast_check.cpp": ("on_body_init_impl", "on_body_impl", "on_chunk_header_impl", "on_chunk_body_impl"),
    "proxy/http/body_rules/json_probe.cpp": ("on_comment_part", "on_comment("),
}


def play(program):
    """Runs one test program, which writes its counts to a file. Ends the script if the program fails."""
    name, arguments = program
    counts = COUNTS / f"{Path(name).name}.profraw"
    done = subprocess.run([BUILD / "tests" / name, *arguments], env={**os.environ, "LLVM_PROFILE_FILE": str(counts)},
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def play_all():
    shutil.rmtree(COUNTS, ignore_errors=True)
    COUNTS.mkdir(parents=True)
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(play, PROGRAMS.items()))


def add_up():
    counts = sorted(map(str, COUNTS.glob("*.profraw")))
    if not counts:
        sys.exit(f"nothing was counted in {COUNTS}")
    subprocess.run(["llvm-profdata-14", "merge", "-o", str(MERGED), *counts], check=True)


class File:
    """Coverage of one file: how often each line with code ran, and how often each branch went each way (true or
    false)."""

    def __init__(self, path):
        self.path = path
        self.text = (ROOT / path).read_text(encoding="utf-8").splitlines()
        self.lines = {}
        self.ways = collections.defaultdict(list)  # line number: for every branch in that line, how often it was true and how often false

    def cannot_run(self, line):
        return self.follows_assert(line) or any(part in self.text[line - 1] for part in NEVER_RUN.get(self.path, ()))

    def follows_assert(self, line):
        """Returns true for a line after an assert that ran. clang 14 does not count such a line, because it treats the
        function that reports a failed assertion as the end of the path."""
        return line > 1 and self.text[line - 2].lstrip().startswith("assert(") and self.lines.get(line - 1, 0) > 0

    def missed_lines(self):
        return [line for line, count in sorted(self.lines.items()) if count == 0 and not self.cannot_run(line)]

    def missed_ways(self):
        return {line: ways for line, ways in sorted(self.ways.items()) if 0 in ways}


def part_of(name):
    """Returns the key in BOUNDS for the part of the program to which a file belongs, or None if the file is not
    judged."""
    room = floor_of(name) if name.startswith("proxy/") else None
    if room not in LINKS or re.search(NOT_JUDGED, name):
        return None
    parts = {"explain": "policy", "model": "simulate", "report": "simulate", **dict.fromkeys(SOCKETS, "sockets")}
    if STOREY_OF[room] in ("policy", "http"):
        return STOREY_OF[room]
    name = parts.get(room, room)
    return name if name in BOUNDS else None


def read_counts():
    """Returns every judged file by its path in the repository."""
    programs = [str(BUILD / "tests" / name) for name in PROGRAMS]
    told = subprocess.run(["llvm-cov-14", "export", "-format=lcov", f"-instr-profile={MERGED}", programs[0],
                           *(f"-object={program}" for program in programs[1:]), "-ignore-filename-regex=^/usr/"], check=True, capture_output=True, text=True,
                          cwd=BUILD).stdout
    files, file = {}, None
    for line in told.splitlines():
        key, _, rest = line.partition(":")
        if key == "SF":
            path = (BUILD / rest).resolve()  # resolves the symbolic links through which the build finds the headers of a room
            name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
            file = files.setdefault(name, File(name)) if part_of(name) else None
        elif file is not None and key == "DA":
            number, count = map(int, rest.split(",")[:2])
            file.lines[number] = max(count, file.lines.get(number, 0))
        elif file is not None and key == "BRDA":
            number, *_, count = rest.split(",")
            file.ways[int(number)].append(0 if count == "-" else int(count))
    return files


def judge(files):
    """Prints the coverage. Returns how many bounds are met, how many are not, and each coverage in percent."""
    suite = Suite("coverage")
    shares = {}
    for floor, bounds in BOUNDS.items():
        mine = [file for path, file in sorted(files.items()) if part_of(path) == floor]
        figures = (("lines", sum(len(file.lines) for file in mine), {file.path: len(file.missed_lines()) for file in mine}),
                   ("branches", sum(len(ways) for file in mine for ways in file.ways.values()),
                    {file.path: sum(ways.count(0) for ways in file.ways.values()) for file in mine}))
        for bound, (kind, count, missed) in zip(bounds, figures):
            share = 100 * (count - sum(missed.values())) / count
            holds = share >= bound
            # Rounds down, so that 100 means complete.
            shares[f"{floor} {kind} percent"] = math.floor(10 * share) / 10
            missing = [f"  {number:4} missed in {path}" for path, number in sorted(missed.items(), key=lambda one: -one[1]) if number and not holds]
            suite.add(f"{floor}: {share:.1f} % of {count} {kind}; at least {bound} %", "passed" if holds else "failed", "\n".join(missing))
    return suite, shares


def tell_gaps(files, name):
    for path, file in sorted(files.items()):
        if name not in path:
            continue
        for line in file.missed_lines():
            print(f"{path}:{line}: never run: {file.text[line - 1].strip()}")
        for line, ways in file.missed_ways().items():
            print(f"{path}:{line}: {ways.count(0)} of {len(ways)} ways never taken: {file.text[line - 1].strip()}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--gaps", metavar="NAME", help="show what was never run")
    given = arguments.parse_args()
    if given.gaps:
        tell_gaps(read_counts(), given.gaps)
        return 0
    play_all()
    add_up()
    suite, shares = judge(read_counts())
    FIGURES.mkdir(parents=True, exist_ok=True)
    (FIGURES / "coverage.json").write_text(json.dumps(shares, indent=1) + "\n", encoding="utf-8")
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
