#!/usr/bin/env python3
"""Runs the end-to-end cases: every function test_* of every tests/e2e/test_*.py. Prints one line for each case, then the
totals.

A case that fails is run once more, alone, after all others. If it passes then, it is reported as flaky.

Cases mostly wait, so several run at once. Each case has its own ports and folders. A case that changes the host itself,
such as its network, is `isolated`.

A file with `ALONE = True` runs real client programs through tunnels. Its cases run one after another when all
others have ended: if a busy machine stalls a client for 200 ms after its CONNECT, reprise no longer examines
what the client sends in the tunnel."""
import argparse
import collections
import concurrent.futures
import concurrent.futures.process
import contextlib
import importlib
import io
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import chance  # noqa: E402
import faults  # noqa: E402
import harness  # noqa: E402
from junit import Suite  # noqa: E402

TIMEOUT = 480  # seconds that a case may take, unless its `timeout` says otherwise


class OutOfTime(Exception):
    """The case exceeded its time limit."""


def on_alarm(*_):
    raise OutOfTime()


def cases(only):
    for file in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(file.stem)
        for name, case in list(vars(module).items()):
            if name.startswith("test_") and callable(case) and re.search(only, f"{file.stem}.{name}"):
                yield f"{file.stem}.{name}", case


class Played:
    """The outcome of one case: its failure, its output, and the faults that the kernel produced in it."""

    def __init__(self, name):
        self.name, self.failure, self.output, self.seconds = name, "", "", 0.0
        self.skipped = []  # (name of the skipped case or part, reason)
        self.stories = {}

    @property
    def passed(self):
        return not self.failure and all(name != self.name for name, _ in self.skipped)

    def report(self, suite, first_failure=""):
        """Reports the outcome. `first_failure`: the failure of the first run, if this is the outcome of the
        second run."""
        if self.output.startswith("note"):
            print(self.output, end="", flush=True)
        if self.failure or first_failure and not self.passed:
            suite.fails(self.name, first_failure or self.failure, self.seconds)
        elif self.passed:
            suite.add(self.name, "flaky" if first_failure else "passed", first_failure, self.seconds)
        for name, why in self.skipped:
            suite.skips(name, why)


def run_case(name, case):
    """Runs one case and returns its outcome."""
    played, output, start, failure = Played(name), io.StringIO(), time.monotonic(), ""
    harness.options.parts_not_played = []
    faults.stories.clear()
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(getattr(case, "timeout", TIMEOUT))
    try:
        with contextlib.redirect_stdout(output):
            case()
    except KeyboardInterrupt:
        raise
    except harness.NotPlayed as reason:
        played.skipped.append((name, str(reason)))
    except BaseException:  # pylint: disable=broad-except
        failure = traceback.format_exc()
    finally:
        signal.alarm(0)
    played.seconds, played.output = time.monotonic() - start, output.getvalue()
    if failure:
        played.failure = f"{played.output}{failure}again: --seed {chance.source.seed} --only '{name}$'"
    played.skipped += [(f"{name}, {part}", reason) for part, reason in harness.options.parts_not_played]
    played.stories = dict(faults.stories)
    return played


def play_by_name(name):
    """Runs one case by name. Called in a forked process, which has the same modules."""
    return run_case(name, dict(cases(f"^{re.escape(name)}$"))[name])


def play_at_once(names, jobs):
    """Runs these cases in `jobs` parallel processes. Yields each outcome when the case ends."""
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as players:
        running = {players.submit(play_by_name, name): name for name in names}
        for done in concurrent.futures.as_completed(running):
            try:
                yield done.result()
            except concurrent.futures.process.BrokenProcessPool as error:
                lost = Played(running[done])
                lost.failure = str(error)
                yield lost


def is_alone(name):
    return getattr(sys.modules[name.partition(".")[0]], "ALONE", False)


def play_again(first, suite):
    """Runs a failed case once more, alone, because other cases may have disturbed its first run."""
    print(f"failed once, runs again alone: {first.name}\n{first.failure}", flush=True)
    for again in play_at_once([first.name], 1):
        again.report(suite, first.failure)
        return again.stories


def play(chosen, jobs):
    """Runs every chosen case. Yields outcomes as the cases end."""
    together = [name for name in chosen if not is_alone(name)] if jobs > 1 else []
    if together:
        yield from play_at_once(together, jobs)
    yield from (run_case(name, case) for name, case in chosen.items() if name not in together)


def play_and_report(chosen, jobs, suite):
    """Runs every case, and each failed case once more. Returns the number of faults that the kernel produced, by
    kind."""
    stories, failed = collections.Counter(), []
    for played in play(chosen, jobs):
        stories.update(played.stories)
        if played.failure and faults.INSIDE not in os.environ:
            failed.append(played)
        else:
            played.report(suite)
    for played in failed:
        stories.update(play_again(played, suite))
    return stories


def self_test():
    """Checks three things: a case that fails once is reported as flaky, a case that always fails is reported as
    failed, and both reports have the first failure."""
    def passes():
        pass

    def fails_once():
        try:
            os.mkdir(os.path.join(tempfile.gettempdir(), "failed"))
        except FileExistsError:
            return
        raise AssertionError("the first time")

    def fails():
        raise AssertionError("every time")

    planted = {f"harness.{case.__name__}": case for case in (passes, fails_once, fails)}
    globals()["cases"] = lambda only: ((name, case) for name, case in planted.items() if re.search(only, name))
    suite = Suite("planted cases")
    with folder_of_this_run(), contextlib.redirect_stdout(io.StringIO()):
        play_and_report(planted, 2, suite)
    outcomes = {test.name.removeprefix("harness."): (test.outcome, "time" in test.text) for test in suite.tests}
    assert outcomes == {"passes": ("passed", False), "fails_once": ("flaky", True), "fails": ("failed", True)}, outcomes
    return 0


def trust_one_authority():
    """Sets a trust store with only one CA for reprise and its clients, unless a case sets another store.
    Without this trust store, four fifths of reprise's start-up time are spent on reading all system roots."""
    os.environ["SSL_CERT_FILE"] = str(HERE.parent / "support/one_authority.pem")


@contextlib.contextmanager
def folder_of_this_run():
    """Creates the folder for temporary files of this run, writable by all users. It is removed when the run ends: a
    worker process does not remove its own files."""
    with tempfile.TemporaryDirectory(prefix="reprise-e2e-run-") as folder:
        os.chmod(folder, 0o1777)
        tempfile.tempdir = folder
        yield
        tempfile.tempdir = None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", default=os.environ.get("REPRISE_BIN", str(HERE.parent.parent / "build/release/reprise")))
    arguments.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over module.case")
    arguments.add_argument("--threads", type=int, default=1, help="io threads of reprise")
    arguments.add_argument("--jobs", type=int, default=2 * os.cpu_count(), metavar="N", help="cases at once (default: %(default)s)")
    arguments.add_argument("--load", type=int, default=10000, help="requests of the load case")
    arguments.add_argument("--fault-figures", metavar="FILE", help="where to tell which faults the kernel played, JSON")
    arguments.add_argument("--self-test", action="store_true", help="only check that a failed case is played again")
    chance.add_option(arguments)
    given = arguments.parse_args()
    if given.self_test:
        return self_test()
    harness.options.binary = os.path.abspath(given.bin)
    harness.options.threads, harness.options.load = given.threads, given.load
    if not os.access(harness.options.binary, os.X_OK):
        print(f"there is no program {harness.options.binary}")
        return 1
    chance.use(given.seed)
    trust_one_authority()
    suite = Suite("end to end")
    with folder_of_this_run():
        stories = play_and_report(dict(cases(given.only)), given.jobs, suite)
    faults.stories = dict(stories)
    if given.fault_figures:
        faults.write_figures(given.fault_figures)
    faults.tell_played()
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
