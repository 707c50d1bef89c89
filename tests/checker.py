"""Shared parts of the scripts that check the source tree: a command line, and a self-test with planted
faults."""
import argparse


def run(description, self_test, check, options=()):
    """Runs a checking script and returns its exit code. With --self-test, calls `self_test`, which returns the number
    of wrong results; otherwise calls `check` with the parsed arguments. `options` has a pair (flag, help) for each
    further flag of the script."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--self-test", action="store_true", help="only check the checks")
    for flag, help_text in options:
        arguments.add_argument(flag, action="store_true", help=help_text)
    given = arguments.parse_args()
    if given.self_test:
        return 1 if self_test() else 0
    return check(given)


def count_wrong(plants):
    """Returns the number of items (name, expected, found) in which `expected` and `found` differ. Prints each of these
    items, then the number of all items and the number of wrong ones."""
    wrong = [(name, expected, found) for name, expected, found in plants if found != expected]
    for name, expected, found in wrong:
        print(f"self-test: {name}: expected {expected}, found {found}")
    print(f"self-test: {len(plants)} plants, {len(wrong)} not seen as they are")
    return len(wrong)
