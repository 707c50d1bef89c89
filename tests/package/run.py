#!/usr/bin/env python3
"""Packs the release build as a Debian package and as a container image, and tests what an operator does with the
package and the image.

    python3 tests/package/run.py [--bin build/release/reprise] [--only PATTERN]

All files are in memory, in a mount namespace that ends with this script. The test cases are the functions test_* of the modules that the
script imports. The cases run in order, because most cases continue from the state in which the previous case has left
the machine."""
import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent)]

import fresh  # noqa: E402
import hosted  # noqa: E402
import image  # noqa: E402
import package  # noqa: E402
import playbook  # noqa: E402
import tarball  # noqa: E402
import upgrade  # noqa: E402
from harness import NotPlayed, options, without_proxies  # noqa: E402
from stage import Stage  # noqa: E402
from junit import Suite  # noqa: E402

INSIDE = "REPRISE_PACKAGE_TESTS"
MEMORY = "4G"  # maximum size of the files in memory; at the end about half of it is used


def cases(only):
    for module in (package, tarball, fresh, hosted, upgrade, playbook, image):
        for name, case in list(vars(module).items()):
            if name.startswith("test_") and re.search(only, f"{module.__name__}.{name}"):
                yield f"{module.__name__}.{name}", case


def play(name, case, stage, suite):
    start, failure = time.monotonic(), None
    try:
        case(stage)
    except NotPlayed as why:
        suite.skips(name, str(why))
        return
    except subprocess.CalledProcessError as error:
        failure = f"{traceback.format_exc()}{error.stdout or ''}{error.stderr or ''}"
    except Exception:  # pylint: disable=broad-except
        failure = traceback.format_exc()
    suite.add(name, "failed" if failure else "passed", failure or "", time.monotonic() - start)


def inside(only):
    suite = Suite("package")
    folder = tempfile.mkdtemp(prefix="reprise-package-")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEMORY},mode=755", "tmpfs", folder], check=True)
        stack.callback(subprocess.run, ["umount", "-l", folder], check=False)
        stage = stack.enter_context(Stage(Path(folder)))
        for name, case in cases(only):
            play(name, case, stage, suite)
    return suite.end()


def why_not():
    """Returns why this machine cannot run the test cases. Returns a false value if the machine can run them."""
    if os.geteuid() != 0:
        return "a root of its own, a container and an image are made by root alone"
    done = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False)
    return done.returncode and f"mounts of its own are not to be had here: {done.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release/reprise"))
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over module.case; what these need must be among them")
    given = parser.parse_args()
    options.binary = os.path.abspath(given.bin)
    if os.environ.get(INSIDE):
        return inside(given.only)
    why = why_not()
    if why:
        suite = Suite("package")
        suite.skips("everything", f"namespaces: {why}")
        return suite.end()
    return subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv],
                          env={**without_proxies(), INSIDE: "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
