"""A client of /events that parses the event stream as a browser's EventSource does."""
import json
import socket

from harness import PATIENCE


class Events:
    """One connection to /events. `next` returns (name, value) of the next event."""

    def __init__(self, reprise, path="/events", version="1.1", fields=()):
        self.socket = socket.create_connection(reprise.addresses["admin"], PATIENCE)
        lines = [f"GET {path} HTTP/{version}", "Host: localhost", *(f"{name}: {value}" for name, value in fields)]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.rest = b""
        head, self.rest = self._until(b"\r\n\r\n")
        self.head = head.decode()
        self.status = int(self.head.split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _until(self, end):
        while end not in self.rest:
            piece = self.socket.recv(65536)
            if not piece:
                raise EOFError(f"the stream has ended, with {self.rest[:200]!r}")
            self.rest += piece
        text, _, rest = self.rest.partition(end)
        return text, rest

    def next(self):
        text, self.rest = self._until(b"\n\n")
        lines = [line.partition(": ")[::2] for line in text.decode().split("\n")]
        name = next(value for field, value in lines if field == "event")
        return name, json.loads("\n".join(value for field, value in lines if field == "data"))

    def until(self, wanted):
        """Waits for the next event that has the given name, and returns its value."""
        while True:
            name, value = self.next()
            if name == wanted:
                return value

    def to_end(self):
        """Returns all remaining events when the connection has ended."""
        events = []
        try:
            while True:
                events.append(self.next())
        except (EOFError, ConnectionResetError):
            return events
