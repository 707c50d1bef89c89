"""The only source of randomness of the Python tests: generators that depend on a printed seed and on a purpose."""
import argparse
import random
import secrets

FRESH = "fresh"


class source:
    """Holds the seed of the run. The script that has the option --seed sets the seed once, before its first use."""

    seed = 1


def seed_of(word):
    """Parses a seed: a number, or `fresh` for a new one."""
    if word == FRESH:
        return secrets.randbelow(1 << 31)
    if not word.isdigit():
        raise argparse.ArgumentTypeError(f"a seed is a number, or `{FRESH}`: {word}")
    return int(word)


def add_option(parser, default="1"):
    parser.add_argument("--seed", type=seed_of, default=default, metavar="N", help=f"of all chance; `{FRESH}`: a new one (default: {default})")


def use(seed):
    """Sets the seed and prints it, so that a run can be repeated."""
    source.seed = seed
    print(f"seed {seed}", flush=True)


def dice(*names):
    """Returns the random generator for the purpose that `names` describes. The same seed and names always give the same
    numbers, even if other generators are used in between."""
    return random.Random("/".join(map(str, (source.seed, *names))))


def content(name, size):
    """Returns `size` random bytes, which depend on the seed and on `name`."""
    return dice(name).randbytes(size)
