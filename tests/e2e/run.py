#!/usr/bin/env python3
"""Runs the end-to-end cases: every function test_* of every tests/e2e/test_*.py, one line each, then the sum."""
import argparse
import contextlib
import importlib
import io
import os
import re
import signal
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import chance  # noqa: E402
import faults  # noqa: E402
import harness  # noqa: E402
from tally import Tally, sum_line  # noqa: E402

TIMEOUT = 480  # seconds a case may take, unless it says otherwise in `timeout`


class OutOfTime(Exception):
    """The case took longer than it may."""


def on_alarm(*_):
    raise OutOfTime()


def cases(only):
    for file in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(file.stem)
        for name, case in list(vars(module).items()):
            if name.startswith("test_") and callable(case) and re.search(only, f"{file.stem}.{name}"):
                yield f"{file.stem}.{name}", case


def run_case(name, case, tally):
    """Runs one case and prints its line."""
    output, start, failure, why = io.StringIO(), time.monotonic(), None, None
    harness.options.parts_not_played = []
    signal.alarm(getattr(case, "timeout", TIMEOUT))
    try:
        with contextlib.redirect_stdout(output):
            case()
    except KeyboardInterrupt:
        raise
    except harness.NotPlayed as reason:
        why = str(reason)
    except BaseException:  # pylint: disable=broad-except
        failure = traceback.format_exc()
    finally:
        signal.alarm(0)
    if why is not None:
        tally.skip(name, why)
    else:
        print(f"{'ok    ' if failure is None else 'FAILED'} {time.monotonic() - start:6.2f} s  {name}", flush=True)
        tally.passed += failure is None
        tally.failed += failure is not None
    for part, reason in harness.options.parts_not_played:
        tally.skip(f"{name}, {part}", reason)
    if failure is not None or output.getvalue().startswith("note"):
        again = f"again: --seed {chance.source.seed} --only '{name}'\n" if failure else ""
        print(output.getvalue() + (failure or "") + again, flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", default=os.environ.get("REPRISE_BIN", str(HERE.parent.parent / "build/release/reprise")))
    arguments.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over module.case")
    arguments.add_argument("--threads", type=int, default=1, help="io threads of reprise")
    arguments.add_argument("--load", type=int, default=10000, help="requests of the load case")
    arguments.add_argument("--fault-figures", metavar="FILE", help="where to tell which faults the kernel played, JSON")
    chance.add_option(arguments)
    given = arguments.parse_args()
    harness.options.binary = os.path.abspath(given.bin)
    harness.options.threads, harness.options.load = given.threads, given.load
    if not os.access(harness.options.binary, os.X_OK):
        print(f"there is no program {harness.options.binary}")
        print(sum_line(0, 1, 0))
        return 1
    signal.signal(signal.SIGALRM, on_alarm)
    chance.use(given.seed)
    tally = Tally()
    for name, case in cases(given.only):
        run_case(name, case, tally)
    if given.fault_figures:
        faults.write_figures(given.fault_figures)
    faults.tell_played()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
