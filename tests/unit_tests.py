#!/usr/bin/env python3
"""Plays the unit tests of a build as ctest lists them, several in one process: starting a process costs more than most tests do.

    python3 tests/unit_tests.py build/asan [--rooms PATTERN] [--each] [--jobs N]

Each test is told and counted by itself. One that ends its process has failed; those behind it are played in the next. --each gives
every test a process of its own, which tells whether one leans on what another has left, and whose leak it was."""
import argparse
import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tally import Tally  # noqa: E402

MOST_TOGETHER = 16
PATIENCE = 900  # seconds that one process may take
FILTER = "--gtest_filter="
BEGUN = re.compile(r"\[ RUN +\] (\S+)$")
# What a test prints may stand before it in the line.
ENDED = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .+)? \((\d+) ms\)$")
SKIPPED_AT = re.compile(r"\S+:\d+: Skipped$")


@dataclass(frozen=True)
class Outcome:
    """Of one test, by the name that its program knows: how it ended, or None where its process ended first; and what it said."""

    test: str
    how: str | None
    seconds: float
    said: tuple


def outcomes(lines):
    """[Outcome] of what a program of tests has printed."""
    found, test, said = [], None, []
    for line in lines:
        begun, ended = BEGUN.search(line), ENDED.search(line)
        if begun:
            test, said = begun[1], []
        elif ended and ended[2] == test:
            said.append(line[:ended.start()])
            found.append(Outcome(test, ended[1], int(ended[3]) / 1000, tuple(filter(None, said))))
            test = None
        elif test:
            said.append(line)
    if test:
        found.append(Outcome(test, None, 0.0, tuple(said)))
    return found


def last_words(lines):
    """What was said behind the last test: a report of the sanitizer's, if there is one."""
    ends = [number for number, line in enumerate(lines) if ENDED.search(line)]
    return [line for line in lines[ends[-1] + 1 if ends else 0:] if line and not line.startswith("[")]


def why_skipped(said):
    places = [number for number, line in enumerate(said) if SKIPPED_AT.match(line)]
    return said[places[0] + 1].strip() if places and places[0] + 1 < len(said) else "it says no reason"


def way_of_ending(status):
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"


@dataclass
class Program:
    """One program of tests; or one that is a test itself."""

    command: tuple
    folder: str  # where its tests are run
    environment: dict  # what ctest adds to its own
    names: dict  # of ctest, by those that the program knows; of one that is a test itself the only one
    is_test: bool = False


def listed(build, rooms):
    """([Program], [name of a disabled test]) of a build, as ctest finds them."""
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", rooms or "."], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"ctest cannot tell the tests of {build}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    programs, disabled = {}, []
    for test in json.loads(done.stdout)["tests"]:
        properties = {one["name"]: one["value"] for one in test.get("properties", ())}
        if properties.get("DISABLED"):
            disabled.append(test["name"])
            continue
        command, folder = test["command"], properties.get("WORKING_DIRECTORY", build)
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", ()))
        inside = [word.removeprefix(FILTER) for word in command if word.startswith(FILTER)]
        key = tuple(command[:1] if inside else command)
        program = programs.setdefault(key, Program(key, folder, environment, {}, not inside))
        program.names[inside[0] if inside else test["name"]] = test["name"].split("  # ")[0]
    return list(programs.values()), disabled


def parts(tests, most):
    """The tests in parts of at most so many. Neighbours, which often take as long as each other, are in different ones."""
    count = -(-len(tests) // most)
    return [tests[first::count] for first in range(count)]


class Play:
    """All parts of a run: threads take them, and put back what a process that ended early has left."""

    def __init__(self, programs, most, tally):
        # The larger a program is, the longer its tests take: it comes first.
        by_size = sorted(programs, key=lambda program: -os.path.getsize(program.command[0]))
        self.waiting = deque((program, part) for program in by_size for part in parts(list(program.names), most))
        self.lock = threading.Lock()
        self.tally = tally

    def run(self, jobs):
        threads = [threading.Thread(target=self.work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self):
        while True:
            with self.lock:
                if not self.waiting:
                    return
                program, tests = self.waiting.popleft()
            status, lines = self.play(program, tests)
            with self.lock:
                self.judge(program, tests, status, lines)

    @staticmethod
    def play(program, tests):
        """(exit code, lines) of a process; killed, it has a negative code."""
        with tempfile.TemporaryFile(mode="w+", errors="replace") as log:
            more = [] if program.is_test else [FILTER + ":".join(tests), "--gtest_color=no"]
            with subprocess.Popen([*program.command, *more], cwd=program.folder, env={**os.environ, **program.environment},
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
            log.seek(0)
            return process.returncode, log.read().splitlines()

    def judge(self, program, tests, status, lines):
        """Tells what came of a process."""
        if program.is_test:
            self.tell(tests[0], Outcome(tests[0], "OK" if status == 0 else None, 0.0, tuple(lines)), status)
            return
        found = outcomes(lines)
        for one in found:
            self.tell(program.names.get(one.test, one.test), one, status)
        left = [test for test in tests if test not in {one.test for one in found}]
        if left and found and found[-1].how is None:
            self.waiting.appendleft((program, left))
        elif left:
            for test in left:
                self.fail(f"{program.names[test]}: not played, {way_of_ending(status)}", last_words(lines))
        elif status != 0 and all(one.how in ("OK", "SKIPPED") for one in found):
            names = [program.names[test] for test in tests]
            self.fail(f"after {', '.join(names)}: {way_of_ending(status)}", last_words(lines))

    def tell(self, name, one, status):
        if one.how == "OK":
            self.tally.passed += 1
            print(f"ok     {one.seconds:7.2f} s  {name}", flush=True)
        elif one.how == "SKIPPED":
            self.tally.skip(name, why_skipped(one.said))
        else:
            self.fail(name if one.how else f"{name}: {way_of_ending(status)}", one.said)

    def fail(self, title, said):
        self.tally.failed += 1
        print("\n".join([f"FAILED {title}", *(f"  {line}" for line in said)]), flush=True)


SAID = """\
Note: Google Test filter = A.*
[==========] Running 5 tests from 2 test suites.
[ RUN      ] A.passes
one word[       OK ] A.passes (12 ms)
[ RUN      ] A.fails
x.cpp:7: Failure
[  FAILED  ] A.fails (1 ms)
[ RUN      ] P/A.fails/0
[  FAILED  ] P/A.fails/0, where GetParam() = 8-byte object <07-00> (0 ms)
[ RUN      ] A.skips
/x/a_test.cpp:26: Skipped
there is no disk
[  SKIPPED ] A.skips (0 ms)
[ RUN      ] A.dies
==7==ERROR: AddressSanitizer
""".splitlines()


def self_test():
    """Each way in which a test can end is told apart, and none is lost."""
    found = outcomes(SAID)
    assert [(one.test, one.how) for one in found] == [("A.passes", "OK"), ("A.fails", "FAILED"), ("P/A.fails/0", "FAILED"), ("A.skips", "SKIPPED"),
                                                      ("A.dies", None)], found
    assert found[0].seconds == 0.012 and found[0].said == ("one word",) and found[1].said == ("x.cpp:7: Failure",), found
    assert why_skipped(found[3].said) == "there is no disk" and why_skipped(()) == "it says no reason"
    assert last_words(SAID[:4] + ["", "[  PASSED  ] 1 test.", "leak"]) == ["leak"]
    assert sorted(sum(parts(list(range(33)), 16), [])) == list(range(33)) and max(map(len, parts(list(range(33)), 16))) <= 16
    assert parts([], 16) == []

    program = Program(("/x/a_test",), "/x", {}, {test: f"a.{test}" for test in ("A.passes", "A.dies", "A.waits")})
    for tests, status, lines, counts, left in (
            (["A.passes", "A.dies", "A.waits"], -6, SAID[2:4] + SAID[-2:], (1, 1), ["A.waits"]),
            (["A.passes"], 0, SAID[2:4], (1, 0), None), (["A.passes"], 23, SAID[2:4] + ["a leak"], (1, 1), None),
            (["A.passes", "A.waits"], 0, SAID[2:4], (1, 1), None), (["A.passes", "A.waits"], 127, [], (0, 2), None)):
        play = Play([], 16, Tally())
        play.judge(program, tests, status, lines)
        assert (play.tally.passed, play.tally.failed) == counts, (tests, status, vars(play.tally))
        assert [rest for _, rest in play.waiting] == ([left] if left else []), play.waiting
    for status, counts in ((0, (1, 0)), (1, (0, 1))):
        play = Play([], 16, Tally())
        play.judge(Program(("/x/stories", "--canary"), "/x", {}, {"x.canary": "x.canary"}, True), ["x.canary"], status, ["told"])
        assert (play.tally.passed, play.tally.failed) == counts, (status, vars(play.tally))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", nargs="?", help="the folder of the build")
    arguments.add_argument("--rooms", default="", metavar="PATTERN", help="a regular expression over ROOM.SUITE.TEST")
    arguments.add_argument("--each", action="store_true", help="a process for each test")
    arguments.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    arguments.add_argument("--self-test", action="store_true", help="only check the counting")
    given = arguments.parse_args()
    if given.self_test:
        with contextlib.redirect_stdout(io.StringIO()):   # what it tells is not so
            self_test()
        return 0
    if not given.build:
        arguments.error("it needs the folder of a build")
    tally, start = Tally(), time.monotonic()
    programs, disabled = listed(given.build, given.rooms)
    for name in disabled:
        tally.skip(name, "disabled")
    Play(programs, 1 if given.each else MOST_TOGETHER, tally).run(given.jobs)
    print(f"unit tests of {given.build}: {time.monotonic() - start:.0f} s", flush=True)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
