"""A strict parser of OpenMetrics 1.0. Returns the metric families, or raises NotOpenMetrics with the invalid line."""
import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
DESCRIPTOR = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"')
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]Inf|NaN")
SUFFIXES = {"counter": ("_total", "_created"), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum", "_created"), "info": ("_info",),
            "unknown": ("",)}


class NotOpenMetrics(AssertionError):
    """The text is not valid OpenMetrics. The exception's message has the fault and the invalid line."""


def need(right, line, what):
    if not right:
        raise NotOpenMetrics(f"{what}: {line!r:.200}")


class Family:
    """One metric family: its name, type, unit and help, and its samples as (suffix, labels, value)."""

    def __init__(self, name):
        self.name, self.type, self.unit, self.help = name, "unknown", None, None
        self.samples = []

    def check(self):
        """Checks the rules that apply to a metric family as a whole."""
        need(self.unit is None or self.name.endswith(f"_{self.unit}"), self.name, f"its name does not end with its unit {self.unit}")
        need(self.unit is None or self.type != "info", self.name, "an info has no unit")
        seen = [(suffix, tuple(sorted(labels.items()))) for suffix, labels, _ in self.samples]
        need(len(seen) == len(set(seen)), self.name, "a series twice")
        if self.type == "histogram":
            self.check_histograms()
        for suffix, _, value in self.samples:
            need(self.type != "info" or value == 1, self.name, "an info is 1")
            need(suffix != "_total" or (value >= 0 and not math.isnan(value)), self.name, "a counter below 0")

    def check_histograms(self):
        series = {}
        for suffix, labels, value in self.samples:
            others = tuple(sorted((name, text) for name, text in labels.items() if name != "le"))
            series.setdefault(others, {}).setdefault(suffix, []).append((labels.get("le"), value))
        for others, parts in series.items():
            bounds = [float(bound.replace("Inf", "inf")) for bound, _ in parts["_bucket"]]
            counts = [value for _, value in parts["_bucket"]]
            need(bounds == sorted(bounds) and bounds[-1] == math.inf, f"{self.name}{others}", "its buckets are not in order up to +Inf")
            need(counts == sorted(counts), f"{self.name}{others}", "its buckets do not add up")
            need(parts["_count"][0][1] == counts[-1], f"{self.name}{others}", "its count is not that of its last bucket")
            need("_sum" in parts, f"{self.name}{others}", "no sum")


def labels_of(text, line):
    """Parses the labels of a sample, which are between braces."""
    labels, rest = {}, text or ""
    while rest:
        match = LABEL.match(rest)
        need(match, line, "no label")
        need(match.group(1) not in labels, line, "a label twice")
        labels[match.group(1)] = re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape.group(1), escape.group(1)), match.group(2))
        rest = rest[match.end():]
        need(not rest or (rest.startswith(",") and len(rest) > 1), line, "no comma between labels")
        rest = rest[1:]
    return labels


def add_sample(family, line):
    match = SAMPLE.fullmatch(line)
    need(match, line, "no sample")
    name, braces, value = match.groups()
    need(family is not None and name.startswith(family.name), line, "a sample of no family")
    suffix = name[len(family.name):]
    need(suffix in SUFFIXES[family.type], line, f"no suffix of a {family.type}")
    need(NUMBER.fullmatch(value), line, "no number")
    labels = labels_of(braces, line)
    need(("le" in labels) == (suffix == "_bucket"), line, "le belongs to buckets")
    if "le" in labels:
        need(re.fullmatch(r"\+Inf|-?\d+\.\d+(e[+-]\d+)?", labels["le"]), line, "a bound is no canonical number")
    family.samples.append((suffix, labels, float(value.replace("Inf", "inf"))))


def read(text):
    """Parses an exposition. Returns its metric families as {name: Family}."""
    need(text.endswith("\n# EOF\n"), text[-40:], "it does not end with # EOF")
    families, family = {}, None
    for line in text[:-len("# EOF\n")].split("\n")[:-1]:
        match = DESCRIPTOR.fullmatch(line)
        if not match:
            need(line and not line.startswith("#"), line, "no line of the format")
            add_sample(family, line)
            continue
        kind, name, value = match.groups()
        if family is None or family.name != name:
            need(name not in families, line, "a family in two parts")
            family = families[name] = Family(name)
        need(not family.samples, line, "a descriptor behind samples")
        if kind == "TYPE":
            need(value in SUFFIXES, line, "no type")
            family.type = value
        elif kind == "UNIT":
            family.unit = value
        else:
            family.help = value
    sample_names = {}
    for each in families.values():
        each.check()
        for suffix in ("", *SUFFIXES[each.type]):
            other = sample_names.setdefault(each.name + suffix, each.name)
            need(other == each.name, each.name, f"its name clashes with {other}")
    return families
