#!/usr/bin/env python3
"""Draws the rooms of the proxy and their links, as tests/floors.py reads them from CMake. Prints SVG.

    python3 docs/pictures/rooms.py >docs/pictures/rooms.svg

Each room is drawn above all rooms that it links. A line that crosses a level has a place of its own in that level, so
that it passes between the boxes. The order within a level follows the mean position of the linked rooms in the levels
above and below. The script tries many random starting orders and keeps the best result."""
import sys
from pathlib import Path
from zlib import crc32

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from drawing import Drawing  # noqa: E402
from floors import LINKS, PURE, STOREY_OF  # noqa: E402

WIDTH, MARGIN, TOP = 1120, 26, 30
BOX_HEIGHT, PITCH, PASSAGE = 28, 58, 6
GAPS = (14, 8, 3)  # minimum gaps: between two rooms, between a room and a line that passes beside it, between two lines
ATTEMPTS, SWEEPS, STEPS, STEEPEST = 60, 12, 100, 0.7


def levels():
    """Returns the level of each room: the length of the longest chain of links that starts at this room."""
    found = {}

    def level(room):
        if room not in found:
            found[room] = 1 + max(map(level, LINKS[room]), default=-1)
        return found[room]
    for room in LINKS:
        level(room)
    return found


def direct():
    """Yields (room, linked room). Omits a link if the linked room is also reached through another linked room."""
    def seen(room):
        return {room}.union(*map(seen, LINKS[room]))
    for room, linked in LINKS.items():
        for below in linked:
            if not any(below in seen(other) for other in linked if other != below):
                yield room, below


class Layout:
    """The place of each room in the picture. A line that crosses levels has one passage in each of these levels: (upper
    room, lower room, level)."""

    def __init__(self):
        self.level = levels()
        self.rows = [[] for _ in range(1 + max(self.level.values()))]
        self.chains, self.up, self.down = [], {}, {}
        for room in LINKS:
            self.rows[self.level[room]].append(room)
        for room, below in direct():
            passages = [(room, below, at) for at in range(self.level[room] - 1, self.level[below], -1)]
            for passage in passages:
                self.rows[passage[2]].append(passage)
            chain = [room, *passages, below]
            self.chains.append(chain)
            for over, under in zip(chain, chain[1:]):
                self.down.setdefault(over, []).append(under)
                self.up.setdefault(under, []).append(over)
        self.x = {}
        self.order()
        self.place()

    @staticmethod
    def width(node):
        return PASSAGE if isinstance(node, tuple) else 22 + 7.4 * len(node)

    @staticmethod
    def gap(one, other):
        return GAPS[isinstance(one, tuple) + isinstance(other, tuple)]

    def crossings(self):
        total = 0
        for at in range(1, len(self.rows)):
            place = {node: number for number, node in enumerate(self.rows[at - 1])}
            ends = [place[under] for over in self.rows[at] for under in sorted(self.down.get(over, []), key=place.get)]
            total += sum(one > other for number, one in enumerate(ends) for other in ends[number + 1:])
        return total

    def order(self):
        """Orders the rooms from many random starts and keeps the best order: the one with the fewest crossings of
        lines, and among equals the one whose lines move least sideways."""
        best = None
        for attempt in range(ATTEMPTS):
            for row in self.rows:
                row.sort(key=lambda node, attempt=attempt: crc32(f"{attempt} {node}".encode()))
            self.sweep()
            self.place()
            aside = sum(abs(self.x[over] - self.x[under]) for over, all_under in self.down.items() for under in all_under)
            found = (self.crossings(), round(aside), [list(row) for row in self.rows])
            best = min(best or found, found, key=lambda each: each[:2])
        self.rows = best[2]

    def sweep(self):
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(SWEEPS):
            upward = sweep % 2 == 0
            neighbours = self.down if upward else self.up
            for at in range(1, len(self.rows)) if upward else range(len(self.rows) - 2, -1, -1):
                place = self.places()

                def middle(node, place=place):
                    found = [place[other] for other in neighbours.get(node, [])]
                    return sum(found) / len(found) if found else place[node]
                self.rows[at].sort(key=middle)
            self.swap()
            now = self.crossings()
            if now < fewest:
                best, fewest = [list(row) for row in self.rows], now
        self.rows = best

    def places(self):
        return {node: number for row in self.rows for number, node in enumerate(row)}

    def swap(self):
        """Swaps two adjacent nodes of a level if fewer lines cross after the swap."""
        place = self.places()
        for row in self.rows:
            for at in range(len(row) - 1):
                one, other = row[at], row[at + 1]
                over = sum((place[a] > place[b]) - (place[a] < place[b]) for near in (self.up, self.down)
                           for a in near.get(one, []) for b in near.get(other, []))
                if over > 0:
                    row[at], row[at + 1] = other, one
                    place[one], place[other] = at + 1, at

    def place(self):
        """Moves each node sideways towards the mean position of the nodes that are linked with it, without overlaps."""
        room = WIDTH - 2 * MARGIN
        self.x.clear()
        for row in self.rows:
            left = (room - sum(map(self.width, row)) - sum(map(self.gap, row, row[1:]))) / 2
            if left < 0:
                sys.exit(f"a row is wider than the picture, by {-2 * left:.0f}: {' '.join(map(str, row))}")
            for node, after in zip(row, [*row[1:], None]):
                self.x[node] = left + self.width(node) / 2
                left += self.width(node) + (0 if after is None else self.gap(node, after))
        for step in range(STEPS):
            for row in self.rows if step % 2 == 0 else reversed(self.rows):
                wanted = []
                for node in row:
                    near = [self.x[other] for other in (*self.up.get(node, []), *self.down.get(node, []))]
                    wanted.append((self.x[node] + sum(near) / len(near)) / 2 if near else self.x[node])
                self.settle(row, wanted, room)

    def settle(self, row, wanted, room):
        """Moves the nodes of a row close to the `wanted` places, in their order and without overlaps. Each place is the
        mean of the results of a pass from the left and a pass from the right."""
        apart = [(self.width(a) + self.width(b)) / 2 + self.gap(a, b) for a, b in zip(row, row[1:])]
        from_left, from_right = list(wanted), list(wanted)
        for at in range(1, len(row)):
            from_left[at] = max(wanted[at], from_left[at - 1] + apart[at - 1])
        for at in range(len(row) - 2, -1, -1):
            from_right[at] = min(wanted[at], from_right[at + 1] - apart[at])
        places = [(a + b) / 2 for a, b in zip(from_left, from_right)]
        for at, node in enumerate(row):
            least = self.width(node) / 2 if at == 0 else places[at - 1] + apart[at - 1]
            places[at] = max(places[at], least)
        for at in range(len(row) - 1, -1, -1):
            most = room - self.width(row[at]) / 2 if at == len(row) - 1 else places[at + 1] - apart[at]
            places[at] = min(places[at], most)
        self.x.update(zip(row, places))

    def y(self, node):
        level = node[2] if isinstance(node, tuple) else self.level[node]
        return TOP + (len(self.rows) - 1 - level) * PITCH


def kind(room):
    if STOREY_OF[room] in PURE:
        return "blue"
    return "amber" if STOREY_OF[room] == "cli" else "violet"


LEGEND = [("amber", "the program and its commands"), ("violet", "sockets, files and time"),
          ("blue", "pure: no clock, no chance, no sockets")]


def point(layout, node, at, length):
    """Returns the point where a line leaves a box, passes a level, or enters a box."""
    down = BOX_HEIGHT if at == 0 else 0 if at == length - 1 else BOX_HEIGHT / 2
    return MARGIN + layout.x[node], layout.y(node) + down


def curve(points):
    """Returns an SVG path through all points. The path is vertical at the boxes and never runs upwards."""
    slopes = [(x2 - x1) / (y2 - y1) for (x1, y1), (x2, y2) in zip(points, points[1:])]
    # Limits the slope at a level, so that the curve does not touch the box beside it.
    leans = [0, *(max(-STEEPEST, min(STEEPEST, 2 * a * b / (a + b))) if a * b > 0 else 0 for a, b in zip(slopes, slopes[1:])), 0]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for at, ((x1, y1), (x2, y2)) in enumerate(zip(points, points[1:])):
        reach = (y2 - y1) * (0.5 if len(points) == 2 else 0.4)
        path += (f" C{x1 + leans[at] * reach:.1f} {y1 + reach:.1f} {x2 - leans[at + 1] * reach:.1f} {y2 - reach:.1f}"
                 f" {x2:.1f} {y2:.1f}")
    return path


def picture():
    layout = Layout()
    height = TOP + (len(layout.rows) - 1) * PITCH + BOX_HEIGHT + 24
    said = "; ".join(f"{room} on {', '.join(linked)}" for room, linked in LINKS.items() if linked)
    drawing = Drawing(WIDTH, height, "The rooms of reprise", "Each room stands above those that it links: " + said)
    for at, (color, words) in enumerate(LEGEND):
        drawing.box(MARGIN, TOP + 24 * at, 14, 14, color, f"{color}-pale", 4)
        drawing.text(MARGIN + 22, TOP + 24 * at + 11.5, words, "dim")
    drawing.line(f"M{MARGIN + 7} {TOP + 71} v17", head=False)
    drawing.text(MARGIN + 22, TOP + 84.5, "down to what is linked, and no other way", "dim")
    for chain in layout.chains:
        points = [point(layout, node, at, len(chain)) for at, node in enumerate(chain)]
        drawing.line(curve(points), kind(chain[0]), head=False, opacity="0.6")
    for row in layout.rows:
        for node in row:
            if isinstance(node, tuple):
                continue
            x, y, width = MARGIN + layout.x[node], layout.y(node), layout.width(node)
            drawing.box(x - width / 2, y, width, BOX_HEIGHT, kind(node), f"{kind(node)}-pale",
                        title=f"{node} links {', '.join(LINKS[node]) or 'nothing'}")
            drawing.text(x, y + 18.5, node, "code", "middle")
    return drawing.svg()


if __name__ == "__main__":
    sys.stdout.write(picture())
