#!/usr/bin/env python3
"""Draws the life of one request. Prints SVG.

    python3 docs/pictures/life.py >docs/pictures/life.svg

The words in code font are names of the program. tests/docs.py checks that each name with an underscore is a reason that
the program can give."""
import sys

from drawing import Drawing

WIDTH, HEIGHT = 860, 546
BOX, ONE, OTHER = 250, 166, 444  # width of the boxes, and the left edges of both columns
IN, OUT = 112, 748  # edges of the application and the upstream


def words(line, kind="small"):
    """Returns the parts of a line as pairs of class and text. A word in backquotes gets the code font."""
    return [(f"code {kind}" if at % 2 else kind, text) for at, text in enumerate(line.split("`")) if text]


def step(drawing, x, y, title, lines, color="blue"):
    drawing.box(x, y, BOX, 34 + 17 * len(lines), color, f"{color}-pale")
    drawing.text(x + 13, y + 22, title, "bold")
    for at, line in enumerate(lines):
        drawing.text(x + 13, y + 42 + 17 * at, words(line))


def actor(drawing, x, title, lines):
    drawing.box(x, 24, 94, HEIGHT - 48, "edge", "plain", 10)
    drawing.text(x + 47, 48, title, "bold", "middle")
    for at, line in enumerate(lines):
        drawing.text(x + 47, 68 + 16 * at, line, "dim small", "middle")


def picture():
    drawing = Drawing(WIDTH, HEIGHT, "The life of one request",
                      "A request is read and checked, gets its route, and is attempted. One pure function decides what comes "
                      "of an attempt: its response is delivered, or the request is sent again after a wait, or not, "
                      "and the reason is told.")
    actor(drawing, IN - 94, "application", ["cannot retry"])
    actor(drawing, OUT, "upstream", ["fails at times"])
    drawing.box(150, 24, 560, HEIGHT - 48, "edge", "page", 10)
    drawing.text(ONE, 47, [("bold", "reprise"), ("dim small", "   beside the application, on loopback")])

    step(drawing, ONE, 60, "1  Read",
         ["one head, under limits and a timer;", "two parsers must agree on its framing"])
    step(drawing, OTHER, 60, "2  Route",
         ["the first that matches gives the policy;", "its rules say if a repeat is safe"])
    step(drawing, OTHER, 166, "3  Attempt",
         ["a connection from the pool, or dialled;", "the same bytes each time; the body is", "held while it streams"], "violet")
    step(drawing, OTHER, 294, "Outcome",
         ["a response: its status and hints;", "or a failure: its stage and cause"], "violet")
    step(drawing, ONE, 166, "Wait",
         ["exponential with jitter, or what", "`Retry-After` says, if it fits before the",
          "deadline; then the name is asked anew"], "amber")
    step(drawing, ONE, 294, "4  Decide",
         ["one pure function: no clock, no chance,", "no sockets; and why, in one word"])
    step(drawing, ONE, 404, "5  Deliver",
         ["the head, then the body as it comes;", "a download that breaks goes on where", "it stopped, or is cut for all to see"], "green")
    step(drawing, OTHER, 404, "Not again: the last response",
         ["`not_idempotent`  `not_replayable`", "`attempts_spent`  `deadline_too_near`", "`budget_spent`  `circuit_open`  ..."], "red")

    middle, right = ONE + BOX / 2, OTHER + BOX / 2
    drawing.line(f"M{IN} 86 H{ONE - 2}", "blue")
    drawing.text(IN - 8, 90, "request", "small", "end", "blue")
    drawing.line(f"M{ONE} 114 H{IN + 2}", "red", dashed=True)
    drawing.text(IN - 8, 118, "or 400", "small", "end", "red")
    drawing.line(f"M{ONE + BOX} 94 H{OTHER - 2}", "blue")
    drawing.line(f"M{right} 128 V164", "blue")
    drawing.line(f"M{OTHER + BOX} 208 H{OUT - 2}", "violet")
    drawing.text(OUT + 8, 212, "request", "small", color="violet")
    drawing.line(f"M{OUT} 328 H{OTHER + BOX + 2}", "violet")
    drawing.text(OUT + 8, 332, "response,", "small", color="violet")
    drawing.text(OUT + 8, 348, "or none", "small", color="violet")
    drawing.line(f"M{right} 251 V292", "violet")
    drawing.line(f"M{OTHER} 322 H{ONE + BOX + 2}", "violet")
    drawing.line(f"M{middle} 294 V253", "amber")
    drawing.text(middle + 9, 277, "again", "small", color="amber")
    drawing.line(f"M{ONE + BOX} 208 H{OTHER - 2}", "amber")
    drawing.line(f"M{middle} 362 V402", "green")
    drawing.text(middle + 9, 387, "good", "small", color="green")
    drawing.line(f"M{ONE + BOX - 50} 362 V382 H{right} V402", "red")
    drawing.text(right + 9, 387, "no", "small", color="red")
    drawing.line(f"M{OTHER} 446 H{ONE + BOX + 2}", "red")
    drawing.line(f"M{ONE} 446 H{IN + 2}", "green")
    drawing.text(IN - 8, 450, "response", "small", "end", "green")
    drawing.text(ONE, 510, words("Log line, metrics and `Reprise-Reason` are read from the ledger of its attempts.", "small dim"))
    return drawing.svg()


if __name__ == "__main__":
    sys.stdout.write(picture())
