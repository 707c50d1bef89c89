"""Runs a proxy under callgrind, and counts by source file the user-mode instructions that the proxy executes for some
requests."""
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass

WARM = 300  # number of requests before the count starts: they establish connections and allocate memory

# The start of a cost line in callgrind's output: a line number, absolute or relative to the previous cost line.
COST = re.compile(r"[+\-*\d]\S* \d")
NAMED = re.compile(r"\((\d+)\)(?: (.*))?")


@dataclass
class Count:
    """The counts of callgrind between two dumps: events by name, in total and for each (object, source file)."""
    total: Counter
    by_file: dict


def read(text):
    """Returns the counts of one dump. Skips the line after each `calls=`: it repeats the costs that the dump lists
    for the called function."""
    events, total, by_file = [], Counter(), {}
    names = {"ob": {}, "file": {}}
    binary = file = ""
    skipped = False

    def named(kind, value):
        number, name = NAMED.match(value).groups()
        return names[kind].setdefault(number, name or "")

    for line in text.splitlines():
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith("ob="):
            binary = named("ob", line[3:])
        elif line.startswith(("fl=", "fi=", "fe=")):
            file = named("file", line[3:])
        elif line.startswith(("cfi=", "cfl=")):
            named("file", line[4:])
        elif line.startswith("cob="):
            named("ob", line[4:])
        elif line.startswith("calls="):
            skipped = True
        elif COST.match(line):
            if not skipped:
                row = by_file.setdefault((binary, file), Counter())
                for event, cost in zip(events, line.split()[1:]):
                    row[event] += int(cost)
                    total[event] += int(cost)
            skipped = False
    return Count(total, by_file)


class Callgrind:
    """One target that runs under callgrind from the constructor until stop(). stop() also restores `target.command`."""

    def __init__(self, bench, target, *options):
        if not shutil.which("valgrind"):
            sys.exit("valgrind is not installed: apt-get install valgrind")
        self.bench, self.target, self.plain = bench, target, target.command
        self.folder = bench.folder / "callgrind"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        target.command = " ".join(["valgrind --tool=callgrind", *options, f"--callgrind-out-file={self.folder}/out", target.command])
        if not target.start(bench, 60):
            sys.exit(f"{target.name} does not run under valgrind")
        self.dumps = 0

    def count(self, requests, path, *options):
        """Sends `requests` requests one after the other on one connection, and returns their costs."""
        self._play(WARM, path, options)
        self._dump()
        self._play(requests, path, options)
        return read(self._dump())

    def stop(self):
        self.target.stop(15)
        self.target.command = self.plain

    def _play(self, requests, path, options):
        told = subprocess.run(self.bench.loadgen("closed", self.target, path, "--secs", 120, "--warm", 0, "--count", requests, *options),
                              capture_output=True, text=True, check=True).stdout
        if f'"requests": {requests},' not in told:
            sys.exit(f"of {requests} requests for {path}: {told}")

    def _dump(self):
        self.dumps += 1
        subprocess.run(["callgrind_control", "--dump", str(self.target.process.pid)], capture_output=True, check=True)
        return (self.folder / f"out.{self.dumps}").read_text(encoding="utf-8", errors="replace")
