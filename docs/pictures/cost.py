#!/usr/bin/env python3
"""Draws the cost of a request compared with other proxies, from tests/bench/results.json. Prints SVG.

    python3 docs/pictures/cost.py >docs/pictures/cost.svg

Each scenario is a group of bars, one for each proxy. A bar shows the ratio to HAProxy. A bar for a ratio above 2 is
cut, and its number is written at its end."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/bench")]

import results  # noqa: E402
from drawing import Drawing  # noqa: E402

SCENARIOS = {"get_c64": "small GET", "post_c64": "POST of 1 KB", "hdr20_c64": "GET, 20 request fields", "get10k_c64": "GET, 10 KB back",
             "flaky_c64": "every tenth a 503", "down64m_c4": "a GiB down", "up64m_c4": "a GiB up"}
TARGETS = {"dumbpipe": ("byte pipe, the floor", "dim"), "reprise": ("reprise", "green"), "nginx": ("nginx", "teal"),
           "haproxy": ("HAProxy", "blue"), "envoy": ("Envoy", "amber")}
LEFT, UNIT, BAR, GAP, TOP, MOST = 176, 250, 13, 12, 62, 2.0
WIDTH = 760


def main():
    kept = results.read()
    groups = [(words, {target: kept[name]["ratios"][target] for target in TARGETS if target in kept[name]["ratios"]})
              for name, words in SCENARIOS.items() if "reprise" in kept.get(name, {}).get("ratios", {})]
    height = TOP + sum(BAR * len(ratios) + GAP for _, ratios in groups) + 22
    says = "; ".join(f"{words}: " + ", ".join(f"{TARGETS[target][0]} {ratio:.2f}" for target, ratio in ratios.items()) for words, ratios in groups)
    drawing = Drawing(WIDTH, height, "What a request costs", f"CPU of the proxy, its ratio to HAProxy's. {says}")
    drawing.text(24, 27, "CPU of the proxy for the same work, HAProxy = 1: less is better", "bold")
    at = LEFT
    for name, color in TARGETS.values():
        drawing.box(at, 38, 10, 10, color, color, 2)
        drawing.text(at + 15, 47, name, "small")
        at += 34 + 7 * len(name)
    for tick in (0.5, 1.0, 1.5, 2.0):
        x = LEFT + tick * UNIT
        drawing.line(f"M{x} {TOP - 4} L{x} {height - 24}", "dim" if tick == 1.0 else "grid", head=False)
        drawing.text(x, height - 10, f"{tick:g}", "small dim", "middle")
    y = TOP
    for words, ratios in groups:
        drawing.text(LEFT - 12, y + BAR * len(ratios) / 2 + 4, words, "small", "end")
        for target, ratio in ratios.items():
            length = min(ratio, MOST) * UNIT
            color = TARGETS[target][1]
            drawing.box(LEFT, y, length, BAR - 2, color, color, 2, f"{words}, {TARGETS[target][0]}: {ratio:.2f}")
            drawing.text(LEFT + length + 6, y + BAR - 3, f"{ratio:.2f}", "small bold" if target == "reprise" else "small dim")
            y += BAR
        y += GAP
    print(drawing.svg(), end="")


if __name__ == "__main__":
    main()
