#!/usr/bin/env python3
"""The upstream of the load case, in its own process: fails at random, checks every body, counts every effect.

Its argument is the seed of the random numbers. Prints its port. Paths: /r/ID?size=N&form=length|chunked and
/report."""
import functools
import json
import sys
import threading
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import chance  # noqa: E402
from upstream import Say, Upstream, reset  # noqa: E402

SPAN = 1 << 20
FATES = {"unavailable": 10, "broken": 4, "reset": 5, "close": 4, "lost": 3, "leave": 5, "fine": 69}


@functools.cache
def pattern():
    return chance.content("load", SPAN + (1 << 17))


def body_of(number, size):
    """Returns the body of one request or response: byte i is a function of the request's number and i."""
    start = number * 7919 % SPAN
    return pattern()[start:start + size]


def fate_of(number, attempt):
    """Returns the outcome of one attempt of a request. The same seed always gives the same outcomes."""
    return chance.dice("fate", number, attempt).choices(tuple(FATES), FATES.values())[0]


class Ledger:
    """Counts attempts and effects of every request, over all connections. An instance is also an upstream
    step: it is called for each request and responds."""

    def __init__(self):
        self.lock = threading.Lock()
        self.attempts, self.effects, self.mixed = {}, {}, 0

    def __call__(self, connection, request):
        if request.path == "/report":
            connection.sendall(Say(200, self._report()).text(request, 1))
            return True
        number = int(request.path.rsplit("/", 1)[1])
        fate = fate_of(number, self._attempt(number))
        if fate in ("unavailable", "broken"):
            say = Say(503 if fate == "unavailable" else 500, b"no %d" % number)
        elif fate not in ("reset", "close"):
            say = self._effect(request, number)  # the request takes effect even if its response is lost
        request.body = b""  # the test upstream stores every request, so the body is dropped to save memory
        if fate in ("reset", "lost"):
            reset(connection)
        if fate in ("reset", "lost", "close"):
            return False
        connection.sendall(say.text(request, 1))
        return fate != "leave"  # "leave" closes the connection after a response that promised to keep it open

    def _attempt(self, number):
        with self.lock:
            self.attempts[number] = self.attempts.get(number, 0) + 1
            return self.attempts[number]

    def _effect(self, request, number):
        """Applies the effect of the request and returns the response of an upstream that works."""
        query = dict(pair.split("=") for pair in request.query.split("&"))
        body = body_of(number, int(query["size"]))
        with self.lock:
            self.effects[number] = self.effects.get(number, 0) + 1
        if request.method in ("PUT", "POST"):
            if request.body != body:
                with self.lock:
                    self.mixed += 1
                return Say(400, b"these are not the bytes of this request")
            return Say(200, b"%d %d" % (number, zlib.crc32(request.body)))
        if request.method == "DELETE":
            return Say(204)
        middle = len(body) // 2
        parts = [part for part in (body[:middle], body[middle:]) if part]
        return Say(200, body, chunks=parts if query["form"] == "chunked" and request.method != "HEAD" else None)

    def _report(self):
        with self.lock:
            return json.dumps({"attempts": sum(self.attempts.values()), "mixed": self.mixed,
                               "effects": self.effects}).encode()


def main():
    chance.source.seed = int(sys.argv[1])
    sys.setswitchinterval(0.001)
    with Upstream(otherwise=[Ledger()]) as upstream:
        print(upstream.port, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
