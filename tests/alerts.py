#!/usr/bin/env python3
"""Tests the alert rules of Prometheus. promtool validates them and runs the cases of alerts_test.yaml. A real
Prometheus then evaluates the alert conditions: for a reprise with trouble, each condition must be true; for a reprise
without trouble, each must be false.

    python3 tests/alerts.py --bin build/release/reprise
"""
import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))

from harness import Reprise, eventually, options  # noqa: E402
from mixed_traffic import Calm, Trouble  # noqa: E402
from scraping import Prometheus, complaints, promtool  # noqa: E402

FOLDER = ROOT / "deploy/prometheus"
RULES = FOLDER / "alerts.yaml"
ALERT = re.compile(r"^ +- alert: (\w+)$", re.M)
RULE = re.compile(r"^ *- (?:alert|record): ", re.M)
FIRES = re.compile(r"alertname: (\w+), exp_alerts: \[\{")
# Planted defects: pairs of a text in the alert rules and a wrong replacement. With each defect, the cases of
# alerts_test.yaml must fail.
DEFECTS = ("> 0.25", "> 0.75"), ("> 0.9\n", "> 0.99\n"), ("humanizePercentage", "humanize"), ("$labels.upstream", "$labels.upstreams")


def rules_fire_as_told():
    """Runs the cases of alerts_test.yaml, which also compare annotations. Every alert must fire in at least one case.
    No other folder below deploy may have alert rules, because such rules would have no cases."""
    yield from complaints(promtool("test", "rules", str(FOLDER / "alerts_test.yaml")))
    folders = {file.parent for file in (ROOT / "deploy").rglob("*.y*ml") if RULE.search(file.read_text(encoding="utf-8"))}
    if folders != {FOLDER}:
        yield f"rules are shipped in {sorted(map(str, folders))}, and played in {FOLDER}"
    fires = FIRES.findall((FOLDER / "alerts_test.yaml").read_text(encoding="utf-8"))
    yield from (f"{alert} fires in no case" for alert in ALERT.findall(RULES.read_text(encoding="utf-8")) if alert not in fires)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(FOLDER / "alerts_test.yaml", folder)
        rules = RULES.read_text(encoding="utf-8")
        for there, other in DEFECTS:
            (Path(folder) / "alerts.yaml").write_text(rules.replace(there, other), encoding="utf-8")
            if promtool("test", "rules", str(Path(folder) / "alerts_test.yaml")).returncode == 0:
                yield f"the cases do not notice {other.strip()} in the place of {there.strip()}"


def seen_by_prometheus():
    """Yields the alerts whose condition a real Prometheus evaluates to a wrong result. Does not wait for the duration
    in the field `for` of an alert, which is minutes. promtool tests this field."""
    wanted = set(ALERT.findall(RULES.read_text(encoding="utf-8")))
    if len(wanted) < 9:
        yield f"only {sorted(wanted)} were found in the rules"
    with Trouble() as trouble, Calm() as calm, Reprise() as gone:
        for played in (trouble, calm):
            yield from complaints(promtool("check", "metrics", text=played.reprise.admin("/metrics")[1]))
        with Prometheus({"trouble": trouble.reprise, "calm": calm.reprise, "gone": gone}, [RULES]) as prometheus:
            eventually(lambda: prometheus.query('up{job="gone"} == 1 and on (job, instance) reprise_build_info'), "it was scraped")
            gone.terminate()
            seen, alarms = set(), []

            def all_are_seen():
                trouble.play()
                calm.play()
                alerts = prometheus.alerts()
                meant = [alert for alert in alerts if (alert["job"] == "gone") == (alert["alertname"] == "RepriseDown") and alert["job"] != "calm"]
                seen.update(alert["alertname"] for alert in meant)
                alarms.extend(alert for alert in alerts if alert not in meant)
                return seen == wanted
            try:
                eventually(all_are_seen, "every condition holds")
            except AssertionError as error:
                yield f"{error}, but for {sorted(wanted - seen)}"
            yield from (f"a false alarm: {alarm}" for alarm in alarms)
            if not prometheus.query('sum(rate(reprise_requests_total{job="calm"}[1m])) > 0'):
                yield "the calm proxy was not looked at"
        for played in (trouble, calm):
            yield from complaints(promtool("check", "metrics", text=played.reprise.admin("/metrics")[1]))


def the_page_says_how():
    """Checks that promtool accepts the configuration of Prometheus in deploy/README.md. First replaces the path of the
    rules in this configuration by their path in the repository."""
    page = (ROOT / "deploy/README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- prometheus -->\n```yaml\n(.*?)^```$", page, re.M | re.S)
    if not shown or "/etc/prometheus/alerts.yaml" not in shown.group(1):
        yield "deploy/README.md does not show a configuration of Prometheus with the rules"
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(shown.group(1).replace("/etc/prometheus/alerts.yaml", str(RULES)))
        file.flush()
        yield from complaints(promtool("check", "config", file.name))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    options.binary = str(Path(arguments.parse_args().bin).resolve())
    found = [*complaints(promtool("check", "rules", str(RULES))), *the_page_says_how(), *rules_fire_as_told(), *seen_by_prometheus()]
    print("\n".join(found))
    print(f"alerts: {len(ALERT.findall(RULES.read_text(encoding='utf-8')))} rules, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
