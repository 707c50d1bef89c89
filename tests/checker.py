"""What the scripts have in common that check the tree: a command line, and a self-test of what they must notice."""
import argparse


def run(description, self_test, check, options=()):
    """The exit code: of `self_test` where that is asked for, whose result is how much was wrong; else of `check`, which is given
    the arguments. `options`: (flag, help) of each of its own."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--self-test", action="store_true", help="only check the checks")
    for flag, help_text in options:
        arguments.add_argument(flag, action="store_true", help=help_text)
    given = arguments.parse_args()
    if given.self_test:
        return 1 if self_test() else 0
    return check(given)


def count_wrong(plants):
    """How many of [(name, expected, found)] are not as expected; tells each, and the sum."""
    wrong = [(name, expected, found) for name, expected, found in plants if found != expected]
    for name, expected, found in wrong:
        print(f"self-test: {name}: expected {expected}, found {found}")
    print(f"self-test: {len(plants)} plants, {len(wrong)} not seen as they are")
    return len(wrong)
