#!/usr/bin/env python3
"""Tests the Grafana dashboard: its file equals the output of deploy/grafana/make.py, Grafana can lay out its panels,
and each query has a result after Prometheus has scraped a reprise with traffic of every kind.

    python3 tests/dashboard.py --bin build/release/reprise [--write]
"""
import argparse
import copy
import itertools
import json
import math
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "deploy/grafana")]

import make  # noqa: E402
from harness import eventually, options  # noqa: E402
from mixed_traffic import Trouble  # noqa: E402
from scraping import Prometheus, QueryError, complaints, promtool  # noqa: E402

FILE = ROOT / "deploy/grafana/reprise.json"
SELECTED = re.compile(r"\b((?:reprise|process)_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:\\.|[^"\\])*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
OF_TARGETS = {"namespace", "job", "instance"}  # labels that Prometheus adds to every series
KINDS = {"row", "stat", "table", "timeseries"}  # panel types built into Grafana 10 and 11
UNITS = {"Bps", "bytes", "ops", "percentunit", "reqps", "s", "short"}
# Values of the variables in a query. Grafana uses `.*` if a user selects All.
CHOSEN = {"$namespace": ".*", "$job": ".*", "$route": ".*", "$__rate_interval": "1m", "$__interval": "1m"}


def chosen(expression):
    for name, value in CHOSEN.items():
        expression = expression.replace(name, value)
    return expression


def shown(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions(dashboard):
    """Yields (place, query, legend format) for each query of the dashboard; the place names a panel or an annotation.
    The format `__auto` shows all labels."""
    for panel in shown(dashboard):
        for target in panel["targets"]:
            yield f"{panel['title']}, {target['refId']}", target["expr"], target["legendFormat"]
    for note in dashboard["annotations"]["list"]:
        yield f"annotation {note['name']}", note["expr"], note["titleFormat"] + note["textFormat"]


def layout_faults(dashboard):
    """Yields faults in the layout: panels that Grafana would move, take for another panel, or not show."""
    panels = dashboard["panels"]
    if dashboard["schemaVersion"] != 39:
        yield "schemaVersion 39 is what 10.4 and 11 take without a migration"
    if dashboard["id"] is not None or not dashboard["uid"] or len(dashboard["uid"]) > 40:
        yield "a dashboard that is imported has a uid, and no id yet"
    ids = [panel["id"] for panel in panels]
    if len(set(ids)) != len(ids):
        yield f"ids come twice: {ids}"
    for panel in panels:
        place = panel["gridPos"]
        if panel["type"] not in KINDS:
            yield f"{panel['title']}: no panel of Grafana's own: {panel['type']}"
        if min(place.values()) < 0 or place["w"] < 1 or place["h"] < 1 or place["x"] + place["w"] > 24:
            yield f"{panel['title']}: outside of the 24 columns: {place}"
        if panel["type"] == "row" and (place["w"], place["h"], panel["panels"], panel["collapsed"]) != (24, 1, [], False):
            yield f"{panel['title']}: an open row is a line of its own"
    for one, other in itertools.combinations(panels, 2):
        a, b = one["gridPos"], other["gridPos"]
        if a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]:
            yield f"{one['title']} lies over {other['title']}"
    for panel in shown(dashboard):
        if [target["refId"] for target in panel["targets"]] != list("ABCDEFGH"[:len(panel["targets"])]) or not panel["targets"]:
            yield f"{panel['title']}: queries are called A, B, C"
        if panel["fieldConfig"]["defaults"]["unit"] not in UNITS:
            yield f"{panel['title']}: unit {panel['fieldConfig']['defaults']['unit']}"
        if not panel["description"].endswith("."):
            yield f"{panel['title']}: it does not say what it shows"
        if any(source != make.SOURCE for source in [panel["datasource"], *(target["datasource"] for target in panel["targets"])]):
            yield f"{panel['title']}: asks another data source than the chosen one"
    known = {variable["name"] for variable in dashboard["templating"]["list"]} | {"__rate_interval", "__interval"}
    for name in sorted(set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard))) - known - {"__all"}):
        yield f"no variable is called {name}"


def series_of(text):
    """Returns the label sets of each metric name on a page of metrics."""
    found = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M):
        found.setdefault(name, []).append({key: value for key, _, value in MATCHER.findall(labels)})
    return found


def naming_faults(dashboard, series):
    """Yields metrics, labels and label values in the queries that a running reprise does not export."""
    for where, expression, _ in expressions(dashboard):
        named = SELECTED.findall(expression)
        if not named:
            yield f"{where}: asks for no metric of reprise"
        common = None
        for metric, matchers in named:
            if metric not in series:
                yield f"{where}: nobody exports {metric}"
                continue
            labels = set.union(*map(set, series[metric])) | OF_TARGETS
            common = labels if common is None else common & labels
            for label, operator, wanted in MATCHER.findall(matchers):
                if label not in labels:
                    yield f"{where}: {metric} has no label {label}"
                elif label not in OF_TARGETS and not wanted.startswith("$"):
                    values = {each.get(label, "") for each in series[metric]}
                    if not any(re.fullmatch(wanted, value) for value in values):
                        yield f"{where}: {metric} has no {label} {operator} {wanted}; it has {sorted(values)}"
        for label in {label.strip() for group in GROUPED.findall(expression) for label in group.split(",")} - (common or set()):
            yield f"{where}: it groups by {label}, which is no label there"


def promtool_faults(dashboard):
    """Yields queries that promtool rejects. Each query is written as a recording rule, because promtool only checks
    queries in rules."""
    rules = [{"record": f"query:{at}", "expr": chosen(expression)} for at, (_, expression, _) in enumerate(expressions(dashboard))]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        yield from complaints(promtool("check", "rules", file.name))


def live_faults(dashboard, prometheus, play):
    """Calls `play`, which sends traffic of every kind. Then yields queries without a result, and queries whose legend
    uses a label that the result lacks."""
    waiting = list(expressions(dashboard))
    faults = []

    def nothing_is_empty():
        play()
        for each in list(waiting):
            where, expression, legend = each
            try:
                found = prometheus.query(chosen(expression))
            except QueryError as error:
                faults.append(f"{where}: {error}")
                found = [({}, 0)]
            if all(math.isnan(value) for _, value in found):
                continue
            waiting.remove(each)
            for labels, _ in found:
                lost = set(re.findall(r"\{\{(\w+)\}\}", legend)) - set(labels)
                if lost:
                    faults.append(f"{where}: a series has no {sorted(lost)} to be called by: {labels}")
                    break
        return not waiting
    try:
        eventually(nothing_is_empty, "each query comes to something")
    except AssertionError as error:
        faults += [f"{error}, but {where}: {expression}" for where, expression, _ in waiting]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
            if not prometheus.query(f"count by ({label}) ({chosen(selector)}) > 0"):
                faults.append(f"variable {variable['name']} has no values")
    return faults


def planted(dashboard):
    """Yields dashboards with one fault each, and the check that must detect it."""
    def with_fault(change):
        other = copy.deepcopy(dashboard)
        change(other, shown(other)[0])
        return other

    def query(expression):
        return with_fault(lambda _, panel: panel["targets"][0].update(expr=expression))
    yield "an id twice", layout_faults, with_fault(lambda whole, _: whole["panels"][1].update(id=1))
    yield "two at one place", layout_faults, with_fault(lambda _, panel: panel["gridPos"].update(x=1))
    yield "past the edge", layout_faults, with_fault(lambda _, panel: panel["gridPos"].update(y=900, x=23))
    yield "a plugin", layout_faults, with_fault(lambda _, panel: panel.update(type="graph"))
    yield "another source", layout_faults, with_fault(lambda _, panel: panel.update(datasource={"type": "prometheus", "uid": "x"}))
    yield "a lost variable", layout_faults, query('reprise_requests_total{route="$way"}')
    yield "a misspelt metric", naming_faults, query("sum(rate(reprise_request_total[5m]))")
    yield "a label of another", naming_faults, query('sum(reprise_replay_bytes{route="x"})')
    yield "a value that is none", naming_faults, query('reprise_config_reloads_total{outcome="lost"}')
    yield "a group of none", naming_faults, query("sum by (store) (reprise_requests_total)")
    yield "no query", promtool_faults, query("sum(rate(reprise_requests_total[5m])")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--write", action="store_true", help="write the file anew instead of comparing it")
    given = arguments.parse_args()
    options.binary = str(Path(given.bin).resolve())
    if given.write:
        FILE.write_text(make.text(), encoding="utf-8")
    dashboard = json.loads(FILE.read_text(encoding="utf-8"))
    found = [] if FILE.read_text(encoding="utf-8") == make.text() else ["it is not what make.py makes; --write"]
    found += [*layout_faults(dashboard), *promtool_faults(dashboard)]
    with Trouble() as trouble, Prometheus({"trouble": trouble.reprise}) as prometheus:
        found += live_faults(dashboard, prometheus, trouble.play)
        series = series_of(trouble.reprise.admin("/metrics")[1])
    found += naming_faults(dashboard, series)
    for name, judge, other in planted(dashboard):
        if not list(judge(other, series) if judge is naming_faults else judge(other)):
            found.append(f"{judge.__name__} does not notice {name}")
    print("\n".join(found))
    print(f"dashboard: {len(shown(dashboard))} panels, {len(list(expressions(dashboard)))} queries, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
