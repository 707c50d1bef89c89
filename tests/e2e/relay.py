"""A scripted relay between reprise and an upstream: delays, single-byte segments, and a reset or half-close at any
byte of either direction."""
import selectors
import socket
import time

from harness import LOOPBACK, PATIENCE
from reader import CRLF, Reader, reset
from server import Server


class Fault:
    """The fault of one connection. `up` is the direction of the request, `down` that of the response.

    reset: (direction, n): after n bytes of that direction were forwarded, the relay sends a RST to reprise and
    closes its connection to the upstream.
    finish: (direction, n): after n bytes of that direction were forwarded, the relay sends a FIN; the other
    direction continues.
    delay: seconds before the response is forwarded.
    dribble: every byte is sent as its own segment, in both directions."""

    def __init__(self, reset=None, finish=None, delay=0.0, dribble=False):
        self.reset, self.finish, self.delay, self.dribble = reset, finish, delay, dribble

    def limit(self, direction):
        """Returns how many bytes of the given direction are forwarded before the fault, or None if all are
        forwarded."""
        for told in (self.reset, self.finish):
            if told and told[0] == direction:
                return told[1]
        return None


class Relay(Server):
    """Listens on a free port. `script(path, order)` returns the Fault, or None, for the order-th connection that
    requests that path."""

    def __init__(self, upstream_port, script):
        super().__init__()
        self.upstream_port, self.script = upstream_port, script
        self.asked = {}  # number of connections so far, by path
        self.passed = {}  # bytes (up, down) that the last connection carried, by path

    def serve(self, connection, _number):
        connection.settimeout(PATIENCE)
        with socket.create_connection((LOOPBACK, self.upstream_port)) as far:
            far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = Reader(connection)
            first = reader.read_until(CRLF)
            path = first.split(b" ", 2)[1].decode()
            with self.lock:
                order = self.asked.get(path, 0)
                self.asked[path] = order + 1
            fault = self.script(path, order) or Fault()
            Passage(connection, far, fault).run(first + reader.buffer, lambda *sums: self._note(path, sums))

    def _note(self, path, sums):
        with self.lock:
            self.passed[path] = sums


class Passage:
    """Forwards the bytes of one connection."""

    def __init__(self, near, far, fault):
        self.near, self.far, self.fault = near, far, fault
        self.sums = {"up": 0, "down": 0}
        self.over = False

    def run(self, first, note):
        self._pass("up", first)
        with selectors.DefaultSelector() as selector:
            if not self.over:
                selector.register(self.near, selectors.EVENT_READ, "up")
                selector.register(self.far, selectors.EVENT_READ, "down")
            while not self.over and selector.get_map():
                for key, _ in selector.select(PATIENCE):
                    data = key.fileobj.recv(65536)
                    if not data:
                        selector.unregister(key.fileobj)
                    self._pass(key.data, data)
                    if self.over:
                        break
        note(self.sums["up"], self.sums["down"])

    def _pass(self, direction, data):
        to = self.far if direction == "up" else self.near
        limit = self.fault.limit(direction)
        before = self.sums[direction]
        if direction == "down" and before == 0:
            time.sleep(self.fault.delay)
        ended = limit is not None and before + len(data) >= limit
        if limit is not None:
            data, late = data[:max(0, limit - before)], before > limit
            if late:
                return
        for at in range(0, len(data), 1 if self.fault.dribble else 65536):
            to.sendall(data[at:at + (1 if self.fault.dribble else 65536)])
        self.sums[direction] = before + len(data)
        if ended and self.fault.reset:
            reset(self.near)
            self.over = True
        elif ended or (limit is None and not data):
            self.sums[direction] += 1 if ended else 0
            to.shutdown(socket.SHUT_WR)
            self.over = direction == "down" and not ended
