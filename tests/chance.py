"""The one source of chance of the tests in Python: dice that hang on a seed, which is told, and on what they are thrown for."""
import argparse
import random
import secrets

FRESH = "fresh"


class source:
    """Set once, before the first throw, by whoever has the option."""

    seed = 1


def seed_of(word):
    """A number as it stands, or a new one for `fresh`."""
    if word == FRESH:
        return secrets.randbelow(1 << 31)
    if not word.isdigit():
        raise argparse.ArgumentTypeError(f"a seed is a number, or `{FRESH}`: {word}")
    return int(word)


def add_option(parser, default="1"):
    parser.add_argument("--seed", type=seed_of, default=default, metavar="N", help=f"of all chance; `{FRESH}`: a new one (default: {default})")


def use(seed):
    """From now on; told, so that a run can be had again."""
    source.seed = seed
    print(f"seed {seed}", flush=True)


def dice(*names):
    """Dice for one purpose: the same throws for the same seed and names, whatever else is thrown meanwhile."""
    return random.Random("/".join(map(str, (source.seed, *names))))


def content(name, size):
    """That many bytes."""
    return dice(name).randbytes(size)
