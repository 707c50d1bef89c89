#!/usr/bin/env python3
"""The upstream of the load case, a process of its own: fails at random, checks every body, counts every effect.

Prints its port. Paths: /r/ID?size=N&form=length|chunked and /report."""
import json
import random
import socket
import sys
import threading
import zlib

from upstream import Gone, Request, read_body, reset, take_until

SPAN = 1 << 20
PATTERN = random.Random(7).randbytes(SPAN + (1 << 17))


def body_of(number, size):
    """The body of one request or answer: byte i is a function of the request's number and i."""
    start = number * 7919 % SPAN
    return PATTERN[start:start + size]


def fate_of(number, attempt):
    """What the upstream does on that attempt: the same on every run."""
    draw = zlib.crc32(b"%d/%d" % (number, attempt)) % 100
    return ("unavailable" if draw < 10 else "broken" if draw < 14 else "reset" if draw < 19 else
            "close" if draw < 23 else "lost" if draw < 26 else "leave" if draw < 31 else "fine")


class Ledger:
    """What every request came to, over all connections."""

    def __init__(self):
        self.lock = threading.Lock()
        self.attempts, self.effects, self.mixed = {}, {}, 0

    def next_attempt(self, number):
        with self.lock:
            self.attempts[number] = self.attempts.get(number, 0) + 1
            return self.attempts[number]

    def effect(self, number):
        with self.lock:
            self.effects[number] = self.effects.get(number, 0) + 1

    def report(self):
        with self.lock:
            return json.dumps({"attempts": sum(self.attempts.values()), "mixed": self.mixed,
                               "effects": self.effects}).encode()


def message(status, body, form="length", bodiless=False):
    head = b"HTTP/1.1 %d Scripted\r\n" % status
    if form == "chunked" and not bodiless:
        middle = len(body) // 2
        parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:middle], body[middle:]) if part)
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\n\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + (b"" if bodiless else body)


def answer_for(request, number, size, form, ledger):
    """The right answer, after the request took effect."""
    ledger.effect(number)
    if request.method in ("PUT", "POST"):
        if request.body != body_of(number, size):
            with ledger.lock:
                ledger.mixed += 1
            return message(400, b"these are not the bytes of this request")
        return message(200, b"%d %d" % (number, zlib.crc32(request.body)))
    if request.method == "DELETE":
        return b"HTTP/1.1 204 Gone\r\n\r\n"
    return message(200, body_of(number, size), form, request.method == "HEAD")


def serve(connection, ledger):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer = bytearray()
    try:
        while True:
            request = Request(take_until(connection, buffer, b"\r\n\r\n"), 0, 0)
            request.body = read_body(connection, buffer, request)
            if request.path == "/report":
                connection.sendall(message(200, ledger.report()))
                continue
            number = int(request.path.rsplit("/", 1)[1])
            query = dict(pair.split("=") for pair in request.query.split("&"))
            fate = fate_of(number, ledger.next_attempt(number))
            if fate in ("unavailable", "broken"):
                status = 503 if fate == "unavailable" else 500
                connection.sendall(message(status, b"no %d" % number, bodiless=request.method == "HEAD"))
                continue
            if fate == "close":
                return
            if fate == "lost":  # it takes effect, and nobody hears of it
                answer_for(request, number, int(query["size"]), query["form"], ledger)
            if fate in ("reset", "lost"):
                reset(connection)
                return
            connection.sendall(answer_for(request, number, int(query["size"]), query["form"], ledger))
            if fate == "leave":  # closes a connection that it had promised to keep
                return
    except (OSError, Gone):
        pass
    finally:
        connection.close()


def main():
    sys.setswitchinterval(0.001)
    ledger = Ledger()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, ledger), daemon=True).start()


if __name__ == "__main__":
    main()
