"""Stores the results of the last run of each scenario in results.json, and generates parts of README.md and
tests/bench/README.md from that file."""
import json
from pathlib import Path

FILE = Path(__file__).resolve().parent / "results.json"
BASELINE = "haproxy"
ABSOLUTE = {  # metric: (format, divisor)
    "p50_added": ("added at 2,000 requests a second, p50, us", 1), "p99_added": ("... p99, us", 1), "rss_kib": ("resident with nobody, MB", 1024),
    "kib_a_client_1000": ("KiB for each of 1,000 idle clients", 1), "kib_a_client_10000": ("... of 10,000", 1),
    "start_ms": ("from its start to the first connection, ms", 1)}
SHOWN = ("get_c64", "post_c64", "hdr20_c64", "tls", "intercept", "down64m_c4", "up64m_c4")  # scenarios shown in README.md


def read():
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def keep(summary, when, rounds, machine):
    """Stores the results of a run. Scenarios that the run did not measure keep their stored results."""
    kept = read()
    for scenario, figures in summary.items():
        kept[scenario] = {"when": when, "rounds": rounds, "machine": machine, **figures}
    FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")


def problems():
    """Returns a message for each scenario that README.md shows and for which results.json has no ratio of reprise to HAProxy."""
    kept = read()
    return [f"{scenario} has no ratio of reprise in {FILE.name}" for scenario in SHOWN if "reprise" not in kept.get(scenario, {}).get("ratios", {})]


def ratio(scenario, target="reprise"):
    found = read()[scenario]["ratios"].get(target)
    return "-" if found is None else f"{found:.2f}x"


def sentence():
    """Returns the sentence about the benchmark in README.md."""
    get, post, headers, tls, intercept, down, up = (ratio(scenario) for scenario in SHOWN)
    return (f"CPU per request beside HAProxy with its layer-7 retries armed: {get} for small GETs, {post} for 1 KB POSTs, {headers} with\n"
            f"20 request headers, {tls} for GETs that go out over verified TLS, {intercept} for those that come in over TLS, too (interception;\n"
            f"HAProxy has the upstream's own certificate). CPU per GiB: {down} down, {up} up.\n")


def row(cells):
    return f"| {' | '.join(cells)} |"


def table():
    """Returns the table for tests/bench/README.md: every scenario in results.json, with ratios and absolute values."""
    kept = read()
    told = [*(figures.get("ratios", {}) for figures in kept.values()),
            *(medians for figures in kept.values() for medians in figures.get("absolutes", {}).values())]
    names = ["reprise", *sorted({name for group in told for name in group} - {"reprise", BASELINE, "direct"})]
    lines = [row(["scenario", *names, "CPU of reprise", "measured"]), "|---" * (3 + len(names)) + "|"]
    for scenario, figures in kept.items():
        if "ratios" not in figures:
            continue
        median = figures.get("medians", {}).get("reprise")
        lines.append(row([scenario, *(ratio(scenario, name) for name in names), "-" if median is None else f"{median:,.6g} {figures['unit']}", when(figures)]))
    names = ["reprise", BASELINE, *names[1:]]
    lines += ["", row(["as it is", *names, "measured"]), "|---" * (2 + len(names)) + "|"]
    for figures in kept.values():
        for metric, medians in figures.get("absolutes", {}).items():
            words, by = ABSOLUTE[metric]
            lines.append(row([words, *(f"{medians[name] / by:.1f}" if name in medians else "-" for name in names), when(figures)]))
    return "\n".join(lines) + "\n"


def when(figures):
    return f"{figures['when']}, rounds: {figures['rounds']}, {figures['machine']}"
