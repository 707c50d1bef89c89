#!/usr/bin/env python3
"""The alert rules: promtool reads them, plays alerts_test.yaml, and a running reprise exports what they ask for.

    python3 tests/alerts.py --bin build/release/reprise
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
FOLDER = ROOT / "deploy/prometheus"
ANNOTATIONS = re.compile(r"\n {8}annotations:\n(?: {10}.*\n)+")


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, check=False)


def rules_fire_as_told():
    """Without annotations, so that the cases need not repeat every runbook."""
    with tempfile.TemporaryDirectory() as folder:
        bare = ANNOTATIONS.sub("\n", (FOLDER / "alerts.yaml").read_text(encoding="utf-8"))
        (Path(folder) / "alerts.yaml").write_text(bare, encoding="utf-8")
        cases = Path(folder) / "alerts_test.yaml"
        cases.write_text((FOLDER / "alerts_test.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        yield from failures(promtool("test", "rules", str(cases)))
        # A rule that asks for more than there is must be noticed by its cases.
        (Path(folder) / "alerts.yaml").write_text(bare.replace("> 0.25", "> 0.75"), encoding="utf-8")
        if promtool("test", "rules", str(cases)).returncode == 0:
            yield "the cases do not notice a threshold that is three times as high"


def failures(done):
    if done.returncode != 0 or done.stderr.strip():
        yield done.stdout + done.stderr


def live_metrics(binary):
    """Of a reprise that has retried, given up, resolved an ambiguity and kept a circuit."""
    from client import ask
    from harness import Reprise, options
    from upstream import Upstream
    options.binary = str(Path(binary).resolve())
    defaults = {"circuit": {"failures": "50%", "window": "10s", "requests": 20, "open": "5s"}}
    with Upstream({"/again": [503, 200], "/never": [503], "/gone": [503, 404]}) as upstream, Reprise(defaults=defaults) as reprise:
        ask(reprise, "GET", upstream.url("/again"))
        ask(reprise, "DELETE", upstream.url("/gone"))
        ask(reprise, "GET", upstream.url("/never"))
        ask(reprise, "POST", upstream.url("/never"))
        reprise.expect_metric(1, "reprise_ambiguous_total")
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="not_idempotent")
        return reprise.admin("/metrics")[1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", required=True)
    rules = FOLDER / "alerts.yaml"
    found = [*failures(promtool("check", "rules", str(rules))), *rules_fire_as_told()]
    text = live_metrics(arguments.parse_args().bin)
    found += failures(promtool("check", "metrics", text=text))
    bare = ANNOTATIONS.sub("\n", rules.read_text(encoding="utf-8"))
    expressions = "\n".join(re.findall(r"expr: (?:\|\n(?: {10}.*\n)+|.*)", bare))
    asked = set(re.findall(r"\breprise_\w+", expressions))
    exported = set(re.findall(r"^(reprise_\w+)[{ ]", text, re.M))
    if len(asked) < 7:
        found.append(f"only {sorted(asked)} were found in the rules")
    found += [f"nobody exports {name}, which a rule asks for" for name in sorted(asked - exported)]
    print("\n".join(found))
    print(f"alerts: {len(asked)} metrics asked for, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
