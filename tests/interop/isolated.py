"""Plays a suite of real clients in a network namespace of its own, so that they meet no other program."""
import os
import subprocess
import sys

import chance
import faults
import harness
from harness import without_proxies
from junit import Suite


def play_isolated(given, inside, name, prepare=None):
    """Starts this program again in the namespace, where it calls `inside`. `given`: the parsed command line, with `bin` and
    `seed`. `name`: of the suite. `prepare`: called before the start; returns more arguments and variables for the program.
    Returns the exit code."""
    harness.options.binary = os.path.abspath(given.bin)
    if os.environ.get(faults.INSIDE):
        chance.use(given.seed)
        return inside(given)
    way = faults.unshare_command()
    if way is None:
        suite = Suite(name)
        suite.skips("every client", "namespaces: it needs a namespace of its own")
        return suite.end()
    arguments, variables = prepare() if prepare else ([], {})
    return subprocess.run([*way, sys.executable, *sys.argv, *arguments], check=False,
                          env={**without_proxies(), faults.INSIDE: "1", **variables}).returncode
