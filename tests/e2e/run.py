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
sys.path.insert(0, str(HERE))

import faults  # noqa: E402
import harness  # noqa: E402

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


def run_case(name, case):
    """Runs one case and prints its line; True if it passed."""
    output, start = io.StringIO(), time.monotonic()
    signal.alarm(getattr(case, "timeout", TIMEOUT))
    try:
        with contextlib.redirect_stdout(output):
            case()
        failure = None
    except KeyboardInterrupt:
        raise
    except BaseException:  # pylint: disable=broad-except
        failure = traceback.format_exc()
    finally:
        signal.alarm(0)
    print(f"{'ok    ' if failure is None else 'FAILED'} {time.monotonic() - start:6.2f} s  {name}", flush=True)
    if failure is not None or output.getvalue().startswith("note"):
        print(output.getvalue() + (failure or ""), flush=True)
    return failure is None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", default=os.environ.get("REPRISE_BIN", str(HERE.parent.parent / "build/release/reprise")))
    arguments.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over module.case")
    arguments.add_argument("--threads", type=int, default=1, help="io threads of reprise")
    arguments.add_argument("--load", type=int, default=10000, help="requests of the load case")
    arguments.add_argument("--fault-figures", metavar="FILE", help="where to tell which faults the kernel played, JSON")
    given = arguments.parse_args()
    harness.options.binary = os.path.abspath(given.bin)
    harness.options.threads, harness.options.load = given.threads, given.load
    if not os.access(harness.options.binary, os.X_OK):
        print(f"there is no program {harness.options.binary}")
        print("0 passed, 1 failed")
        return 1
    signal.signal(signal.SIGALRM, on_alarm)
    results = [run_case(name, case) for name, case in cases(given.only)]
    if given.fault_figures:
        faults.write_figures(given.fault_figures)
    faults.tell_played()
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
