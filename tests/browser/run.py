#!/usr/bin/env python3
"""Tests the status page in Debian's Chromium, with a reprise that has traffic: runs every function test_* of every test_*.py in this
folder. Screenshots of the page go to build/screenshots; --pictures updates the screenshot in docs/pictures."""
import argparse
import importlib
import os
import re
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent)]

import chance  # noqa: E402
import chromium  # noqa: E402
import harness  # noqa: E402
import pictures  # noqa: E402
from junit import Suite  # noqa: E402


def cases(only):
    for file in sorted(HERE.glob("test_*.py")):
        module = importlib.import_module(file.stem)
        for name, case in list(vars(module).items()):
            if name.startswith("test_") and callable(case) and re.search(only, f"{file.stem}.{name}"):
                yield f"{file.stem}.{name}", case


def play(name, case, browser, suite):
    start = time.monotonic()
    try:
        case(browser)
        failure = ""
    except Exception:  # pylint: disable=broad-except
        failure = traceback.format_exc()
    suite.add(name, "failed" if failure else "passed", failure, time.monotonic() - start)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", default=os.environ.get("REPRISE_BIN", str(ROOT / "build/release/reprise")))
    arguments.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over module.case")
    arguments.add_argument("--pictures", action="store_true", help="make docs/pictures/status-page.png again, and nothing else")
    chance.add_option(arguments)
    given = arguments.parse_args()
    harness.options.binary = os.path.abspath(given.bin)
    chance.use(given.seed)
    suite = Suite("browser")
    if chromium.program() is None:
        suite.skips("the status page", "client: there is no chromium")
        return suite.end()
    with chromium.Chromium() as browser:
        if given.pictures:
            pictures.renew(browser, ROOT / "docs/pictures")
            return 0
        for name, case in cases(given.only):
            play(name, case, browser, suite)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
