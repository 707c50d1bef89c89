"""Formats the samples of a run as tables: medians, and ratios to the baseline. A ratio is computed within each round;
the tables show the median of these ratios."""
import json
import re
import statistics

import results
import scenarios

COLUMNS = {  # kind of scenario: [(metric, title, format, whether a column with its ratio follows)]
    "requests": [("rps", "req/s", "{:.0f}", True), ("cpu_us", "CPU us/req", "{:.2f}", True), ("user_share", "user share", "{:.2f}", False),
                 ("busy", "core busy", "{:.2f}", False), ("bad", "non-2xx", "{:.4f}", False), ("foreign", "foreign", "{:.2f}", False)],
    "stream": [("gib_s", "GiB/s", "{:.2f}", True), ("cpu_ms_gib", "CPU ms/GiB", "{:.0f}", True), ("user_share", "user share", "{:.2f}", False),
               ("foreign", "foreign", "{:.2f}", False)],
    "rate": [("p50", "p50 us", "{:.1f}", False), ("p50_added", "+p50", "{:.1f}", False), ("p99", "p99 us", "{:.1f}", False),
             ("p99_added", "+p99", "{:.1f}", False), ("cpu_us", "CPU us/req", "{:.2f}", True), ("foreign", "foreign", "{:.2f}", False)],
    "instr": [("instructions", "user instructions/req", "{:.0f}", True)],
}
HEADLINE = {  # kind of scenario: (metric whose ratios are kept in results.json, its unit)
    "requests": ("cpu_us", "us a request"), "stream": ("cpu_ms_gib", "ms a GiB"), "rate": ("cpu_us", "us a request"),
    "instr": ("instructions", "instructions a request")}


def kind_of(scenario):
    for kind, names in (("requests", scenarios.REQUESTS), ("stream", scenarios.STREAMS), ("rate", scenarios.RATES)):
        if scenario in names:
            return kind
    return scenario


def ratio(mine, base, metric):
    """Returns the median of the ratios of `mine` to `base` for this metric, or None if one of the two was not
    measured."""
    pairs = list(zip(mine.get(metric, ()), (base or {}).get(metric, ())))
    return statistics.median(own / other for own, other in pairs if other) if any(other for _, other in pairs) else None


def with_added_latency(metrics, direct):
    added = {f"{name}_added": [mine - floor for mine, floor in zip(metrics[name], direct[name])]
             for name in ("p50", "p99") if name in metrics and name in direct}
    return {**metrics, **added}


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(row):
        return "| " + " | ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))) + " |"

    return [line(rows[0]), "|" + "|".join("-" * (width + 2) for width in widths) + "|", *map(line, rows[1:])]


def rows_of(kind, by_target, names, baseline):
    """Returns the table of one scenario: the header, and a row for each target."""
    if kind == "syscalls":
        return [["target", "per request, 1 client", "64 clients", "most of the latter"],
                *([name, *(f"{statistics.median(by_target[name].get(metric, [float('nan')])):.2f}" for metric in ("per_req_c1", "per_req_c64")),
                   json.dumps(by_target[name].get("most_c64", ["-"])[0])] for name in names)]
    if kind == "rss":
        keys = sorted({key for name in names for key in by_target[name]}, key=lambda key: (int((re.findall(r"\d+", key) or [0])[0]), key))
        return [["target", *keys], *([name, *(f"{statistics.median(by_target[name].get(key, [float('nan')])):.2f}" for key in keys)]
                                     for name in names)]
    head, rows = ["target"], [[name] for name in names]
    for metric, title, form, has_ratio in COLUMNS[kind]:
        head += [title, "ratio"] if has_ratio else [title]
        for name, row in zip(names, rows):
            values = by_target[name].get(metric)
            row.append(form.format(statistics.median(values)) if values else "-")
            if has_ratio:
                found = ratio(by_target[name], by_target.get(baseline), metric)
                row.append("-" if found is None else f"{found:.2f}x")
    return [head, *rows]


def tables(samples, baseline, order):
    """Returns the tables of all scenarios."""
    lines = []
    for scenario, by_target in samples.items():
        kind = kind_of(scenario)
        if kind == "rate" and "direct" in by_target:
            by_target = {name: with_added_latency(metrics, by_target["direct"]) for name, metrics in by_target.items()}
        names = [name for name in ["direct", *order] if name in by_target]
        lines += ["", f"{scenario} (ratio to {baseline})", *aligned(rows_of(kind, by_target, names, baseline))]
    return "\n".join(lines)


def absolutes(by_target):
    """Returns the medians of each target, for the metrics that are kept as absolute values."""
    kept = {}
    for metric in results.ABSOLUTE:
        medians = {name: round(statistics.median(metrics[metric]), 2) for name, metrics in by_target.items() if metrics.get(metric)}
        if medians:
            kept[metric] = medians
    return kept


def summary(samples, baseline):
    """Returns what results.py stores for each scenario: the ratios and medians of the headline metric, and absolute
    values."""
    kept = {}
    for scenario, by_target in samples.items():
        if kind_of(scenario) == "rate" and "direct" in by_target:
            by_target = {name: with_added_latency(metrics, by_target["direct"]) for name, metrics in by_target.items() if name != "direct"}
        if told := absolutes(by_target):
            kept[scenario] = {"absolutes": told}
        if kind_of(scenario) not in HEADLINE or baseline not in by_target:
            continue
        metric, unit = HEADLINE[kind_of(scenario)]
        kept[scenario] = {
            **kept.get(scenario, {}), "unit": unit,
            "ratios": {name: round(found, 2) for name in by_target if (found := ratio(by_target[name], by_target[baseline], metric)) is not None},
            "medians": {name: round(statistics.median(metrics[metric]), 2) for name, metrics in by_target.items() if metrics.get(metric)}}
    return kept
