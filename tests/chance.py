"""The only source of randomness of the Python tests: generators that depend on a printed seed and on a purpose."""
import argparse
import random
import secrets

FRESH = "fresh"


class source:
    """The seed of the run. The program that has the option --seed sets it once, before the first use."""

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
    """Returns a generator for one purpose. The same seed and names give the same numbers, whatever other generators
    are used."""
    return random.Random("/".join(map(str, (source.seed, *names))))


def content(name, size):
    """Returns that many random bytes."""
    return dice(name).randbytes(size)
