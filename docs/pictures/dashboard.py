#!/usr/bin/env python3
"""Draws the first rows of the Grafana dashboard with data that a real Prometheus scrapes from a running reprise. Prints
SVG. Takes about four minutes.

    python3 docs/pictures/dashboard.py --bin build/release/reprise >docs/pictures/dashboard.svg

Clients send 160 requests a second to one upstream. In four phases it fails none of them, then 12 %, then 60 %, then
none again. Panels, queries, places and units come from the dashboard's file. This script draws the lines itself,
because Debian has no Grafana."""
import argparse
import contextlib
import json
import math
import re
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))

from client import Client  # noqa: E402
from drawing import Drawing  # noqa: E402
from harness import Reprise, options  # noqa: E402
from reader import Cut  # noqa: E402
from scraping import Prometheus  # noqa: E402
from upstream import Say, Upstream  # noqa: E402

PHASES = [(45, 0), (60, 12), (45, 60), (45, 0)]  # (seconds, failing requests in percent)
CLIENTS, PERIOD = 40, 0.25  # number of clients, and seconds between two requests of each
CHOSEN = {"$namespace": ".*", "$job": ".*", "$route": ".*", "$__rate_interval": "5s"}
WIDTH, MARGIN, LINE, PANELS = 860, 12, 24, 17  # PANELS: number of panels shown; a row's title counts as one
PALETTE = ["green", "blue", "amber", "red", "violet", "teal", "pink", "brown"]
LINE_COLORS = {"200": "green", "503": "red", "with reprise": "green", "without": "red"}


class Ailing(Upstream):
    """An upstream that fails `percent` percent of its requests, evenly distributed over all requests. Its response
    times differ."""

    def __init__(self):
        super().__init__(otherwise=[self.respond])
        self.percent = self.count = 0

    def respond(self, connection, request):
        with self.lock:
            self.count += 1
            turn = self.count
        time.sleep(0.004 + 0.02 * (turn * 37 % 101 / 101) ** 4)
        fails = turn * 61 % 100 < self.percent
        connection.sendall((Say(503) if fails else Say(200, body=b"ok\n")).text(request, turn))
        return True


def ask_on(reprise, url, ended, offset):
    """Runs one client until `ended` is set. The client sends a request every PERIOD seconds, first after `offset`
    seconds, and does not retry."""
    due = time.monotonic() + offset
    while not ended.is_set():
        with contextlib.suppress(OSError, Cut), Client(reprise.forward) as client:
            while not ended.is_set():
                ended.wait(max(0, due - time.monotonic()))
                due = max(due + PERIOD, time.monotonic())
                client.ask("GET", url)


def played(dashboard, binary):
    """Returns the series of each panel over the whole run, and the time span of the run."""
    options.binary = binary
    usual = {"retry": {"backoff": {"initial": "250ms", "maximum": "8s"}}}
    with Ailing() as upstream, Reprise(defaults=usual, log={"access": False}) as reprise, \
            Prometheus({"reprise": reprise}, interval="1s") as prometheus:
        ended, start = threading.Event(), time.time()
        clients = [threading.Thread(target=ask_on, args=(reprise, upstream.url("/"), ended, PERIOD * at / CLIENTS))
                   for at in range(CLIENTS)]
        for client in clients:
            client.start()
        for seconds, upstream.percent in PHASES:
            time.sleep(seconds)
        end = time.time()
        found = {}
        for panel in dashboard["panels"][:PANELS]:
            for target in panel.get("targets", []):
                expression = target["expr"]
                for name, value in CHOSEN.items():
                    expression = expression.replace(name, value)
                for labels, values in prometheus.history(expression, start + 6, end, 1):
                    called = re.sub(r"\{\{(\w+)\}\}", lambda match, of=labels: of.get(match.group(1), ""),
                                    target["legendFormat"])
                    known = [(at - start - 6, value) for at, value in values if not math.isnan(value)]
                    if known:
                        found.setdefault(panel["id"], []).append((called, known))
        ended.set()
        for client in clients:
            client.join()
        return found, end - start - 6


def in_words(value, unit, decimals=None):
    if unit == "percentunit":
        return f"{value * 100:.{2 if decimals else 0}f} %".replace(".00", "")
    if unit == "s":
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.3g} s"
    text = f"{value:.{decimals}f}" if decimals is not None else f"{value:.3g}"
    return text + ("/s" if unit in ("reqps", "ops") else "")


def steps(least, most):
    """Returns three or four round numbers in the range."""
    span = (most - least) or 1
    unit = 10 ** math.floor(math.log10(span / 3))
    each = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= span / 4)
    first = math.ceil(least / each - 1e-9)
    return [number * each for number in range(first, math.floor(most / each + 1e-9) + 1)]


def stacked(series):
    """Yields each series of a stacked panel with the lower and upper edge of its area. A missing value counts as 0."""
    below = {at: 0.0 for _, values in series for at, _ in values}
    for name, values in series:
        own = dict(values)
        above = {at: under + own.get(at, 0.0) for at, under in below.items()}
        yield name, [(at, below[at], above[at]) for at in sorted(below)]
        below = above


class Panel:
    """One panel of the dashboard, at its place."""

    def __init__(self, drawing, panel, series, span, place):
        self.drawing, self.panel, self.series, self.span = drawing, panel, series, span
        self.x, self.y, self.width, self.height = place
        self.unit = panel["fieldConfig"]["defaults"]["unit"]
        self.limits = panel["fieldConfig"]["defaults"]

    def draw(self):
        self.drawing.box(self.x, self.y, self.width, self.height, "edge", "plain", 5)
        self.drawing.text(self.x + 10, self.y + 18, self.panel["title"], "bold small")
        if self.panel["type"] == "stat":
            self.draw_stat()
        else:
            self.draw_lines()

    def draw_stat(self):
        value = self.series[0][1][-1][1]
        color = [step["color"] for step in self.limits["thresholds"]["steps"] if step["value"] is None or value >= step["value"]][-1]
        color = {"orange": "amber"}.get(color, color)
        words = in_words(value, self.unit, self.limits.get("decimals"))
        self.drawing.add(f'<text x="{self.x + self.width / 2:.0f}" y="{self.y + 50:.0f}" text-anchor="middle" '
                         f'style="font-size: 21px; font-weight: 600; fill: var(--{color})">{words}</text>')
        values = self.series[0][1]
        least, most = min(value for _, value in values), max(value for _, value in values)
        place = (self.x + 8, self.y + 62, self.width - 16, self.height - 70)
        self.curve([(at, value) for at, value in values], place, least, most if most > least else least + 1, color)

    def curve(self, values, place, least, most, color):
        x, y, width, height = place
        points = " L".join(f"{x + width * at / self.span:.1f} {y + height * (1 - (value - least) / (most - least)):.1f}"
                           for at, value in values)
        self.drawing.line(f"M{points}", color, head=False, width=1.3)

    def draw_lines(self):
        stack = self.limits["custom"]["stacking"]["mode"] == "normal"
        bands = stacked(self.series) if stack else ((name, [(at, 0, value) for at, value in values]) for name, values in self.series)
        bands = list(bands)
        values = [above for _, band in bands for _, _, above in band]
        least = self.limits.get("min", min(values) if self.unit == "percentunit" else 0)
        most = max(self.limits.get("max", max(values)), least + 1e-9)
        room = 0.04 * (most - least)
        least, most = least - room if "min" not in self.limits and least > 0 else least, most + room
        x, y, width, height = self.x + 52, self.y + 30, self.width - 64, self.height - 72
        for value in steps(least, most):
            at = y + height * (1 - (value - least) / (most - least))
            self.drawing.add(f'<path d="M{x} {at:.1f} h{width}" stroke="var(--grid)"/>')
            self.drawing.text(x - 6, at + 4, in_words(value, self.unit), "dim tick", "end")
        for minute in range(0, int(self.span // 60) + 1):
            self.drawing.text(x + width * 60 * minute / self.span, y + height + 14, f"{minute}:00", "dim tick", "middle")
        left = self.x + 12
        for number, (name, band) in enumerate(bands):
            color = LINE_COLORS.get(name, PALETTE[number % len(PALETTE)])
            if stack:
                self.fill(band, (x, y, width, height), least, most, color)
            self.curve([(at, above) for at, _, above in band], (x, y, width, height), least, most, color)
            if left + 16 + 6.3 * len(name) < self.x + self.width:
                self.drawing.box(left, self.y + self.height - 20, 9, 9, color, color, 2)
                self.drawing.text(left + 14, self.y + self.height - 11.5, name, "dim tick")
                left += 26 + 6.2 * len(name)

    def fill(self, band, place, least, most, color):
        x, y, width, height = place

        def points(values):
            return " L".join(f"{x + width * at / self.span:.1f} {y + height * (1 - (value - least) / (most - least)):.1f}"
                             for at, value in values)
        over, under = points([(at, above) for at, _, above in band]), points([(at, below) for at, below, _ in reversed(band)])
        self.drawing.add(f'<path d="M{over} L{under} z" fill="var(--{color})" opacity="0.25"/>')


def picture(dashboard, found, span):
    panels = dashboard["panels"][:PANELS]
    height = MARGIN * 2 + 24 + LINE * max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    drawing = Drawing(WIDTH, height, "The dashboard of reprise",
                      "An upstream that fails one request in eight, then three in five: what clients saw, and would have seen without.")
    column = (WIDTH - 2 * MARGIN) / 24
    for panel in panels:
        place = panel["gridPos"]
        x, y = MARGIN + place["x"] * column, MARGIN + place["y"] * LINE
        if panel["type"] == "row":
            drawing.text(x + 4, y + 18, panel["title"], "bold")
        else:
            Panel(drawing, panel, found[panel["id"]], span, (x + 2, y + 2, place["w"] * column - 4, place["h"] * LINE - 4)).draw()
    drawing.text(MARGIN + 4, height - 14, "Drawn from what Prometheus had scraped of a running reprise; Grafana draws its own lines.",
                 "dim tick")
    return drawing.svg()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    dashboard = json.loads((ROOT / "deploy/grafana/reprise.json").read_text(encoding="utf-8"))
    found, span = played(dashboard, str(Path(arguments.parse_args().bin).resolve()))
    sys.stdout.write(picture(dashboard, found, span))


if __name__ == "__main__":
    main()
