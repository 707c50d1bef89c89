"""The scripted upstream: each path has a list of steps, one for each request. Keeps every request."""
from harness import eventually
from reader import CRLF, Reader, Request, in_chunks, reset
from server import Server

__all__ = ["Request", "Say", "Upstream", "reset", "resumable"]


class Say:
    """A response. `fields` are added unchanged. `raw` replaces the whole message. If `close` is true, the connection
    is closed after the response."""

    def __init__(self, status=200, body=None, fields=(), chunks=None, raw=None, close=False):
        self.status, self.body, self.fields = status, body, tuple(fields)
        self.chunks, self.raw, self.close = chunks, raw, close

    def text(self, request, number):
        if self.raw is not None:
            return self.raw
        body = self.body if self.body is not None else b"answer %d to %s\n" % (number, request.path.encode())
        lines = [f"HTTP/1.1 {self.status} Scripted", *(f"{name}: {value}" for name, value in self.fields)]
        bodiless = request.method == "HEAD" or self.status in (204, 304)
        if self.chunks is not None:
            lines.append("Transfer-Encoding: chunked")
            body = in_chunks(self.chunks)
        elif self.status != 204:
            lines.append(f"Content-Length: {len(body)}")
        if self.close:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (b"" if bodiless else body)


class Recorded:
    """A socket wrapper that also records all received bytes."""

    def __init__(self, connection, record):
        self.connection, self.record = connection, record

    def recv(self, count, flags=0):
        data = self.connection.recv(count, flags)
        self.record += data
        return data

    def __getattr__(self, name):
        return getattr(self.connection, name)


class Upstream(Server):
    """The scripted upstream. `scripts` has a list of steps for each path. Request n of a path gets step n; the last
    step repeats. All other paths use the list `otherwise`. A step is a status, a Say, one of the words below, or a
    function (connection, request) that returns whether the connection stays open.

    reset: a RST in place of a response. close: a FIN in place of a response. execute_reset: the request takes
    effect, then a RST follows. hang: no response until the upstream is closed.

    `record`: whether every byte of each connection is kept in `received`. `on_head`: for a path, a function
    (connection, request, reader) that takes over after the head, before the body is read. `greeting`: bytes that the
    upstream sends on each new connection, before any request."""

    def __init__(self, scripts=None, listener=None, record=False, on_head=None, greeting=b"", otherwise=(200,)):
        super().__init__(listener=listener)
        self.scripts, self.otherwise = scripts or {}, otherwise
        self.record, self.on_head, self.greeting = record, on_head or {}, greeting
        self.received = {}  # received bytes, by connection
        self.requests = []
        self.orders = {}  # number of requests by path
        self.effects = {}

    def seen(self, count, path=None):
        """Waits until at least `count` requests have arrived, for `path` if it is given. Returns all these
        requests."""
        def found():
            with self.lock:
                matching = [request for request in self.requests if path in (None, request.path)]
            return matching if len(matching) >= count else None
        return eventually(found, f"{count} requests at the upstream")

    def count(self, path=None):
        with self.lock:
            return sum(1 for request in self.requests if path in (None, request.path))

    def bytes_received(self):
        """Returns all received bytes as a list with one item for each connection, in the order of the connections."""
        with self.lock:
            return [bytes(self.received.get(number, b"")) for number in range(1, self.connections + 1)]

    def serve(self, connection, number):
        wire = self.secure(connection)
        try:
            if self.record:
                with self.lock:
                    record = self.received.setdefault(number, bytearray())
                wire = Recorded(wire, record)
            if self.greeting:
                wire.sendall(self.greeting)
            reader = Reader(wire)
            while self.serve_one(wire, number, reader):
                pass
            self.part(wire)
        finally:
            with self.lock:
                self.open.discard(getattr(wire, "connection", wire))
            wire.close()

    def secure(self, connection):
        """Returns the connection to read from. Here, this is `connection` itself; in a subclass, it is a TLS
        connection over `connection`."""
        return connection

    def part(self, wire):
        """Called before a connection is closed. A subclass may override it."""

    def serve_one(self, connection, number, reader):
        """Serves one request. Returns whether the connection stays open."""
        request = Request(reader.read_head() + CRLF, number)
        if request.version == "HTTP/2.0":  # the preface of HTTP/2
            connection.sendall(b"HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return False
        take_over = self.taking_over(request)
        if take_over:
            return take_over(connection, request, reader)
        if (request.field("Expect") or "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        reader.read_body(request)
        self.keep(request)
        steps = self.scripts.get(request.path, self.otherwise)
        return self._play(connection, request, steps[min(request.order, len(steps) - 1)])

    def taking_over(self, request):
        """Returns the function of `on_head` that handles the request before its body is read, or None."""
        return self.on_head.get(request.path)

    def keep(self, request):
        """Adds a request to the list of received requests."""
        with self.lock:
            request.order = self.orders.get(request.path, 0)
            self.orders[request.path] = request.order + 1
            self.requests.append(request)

    def _play(self, connection, request, step):
        if callable(step):
            return step(connection, request)
        if step == "hang":
            self.closing.wait()
            return False
        if step == "close":
            return False
        if step in ("reset", "execute_reset"):
            if step == "execute_reset":
                self.count_effect(request)
            reset(connection)
            return False
        say = Say(step) if isinstance(step, int) else step
        if say.status < 400:
            self.count_effect(request)
        connection.sendall(say.text(request, request.order + 1))
        return not say.close

    def count_effect(self, request):
        with self.lock:
            self.effects[request.id] = self.effects.get(request.id, 0) + 1


def resumable(content, cut_at):
    """Returns an upstream step that serves `content`. Without a Range field, it cuts the response after
    `cut_at` bytes; with a Range field, it sends the rest."""
    def step(connection, request):
        offset = int((request.field("Range") or "bytes=0-")[6:].split("-")[0])
        if offset == 0:
            connection.sendall(b'HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Length: %d\r\n\r\n' % len(content) + content[:cut_at])
            return False
        rest = content[offset:]
        connection.sendall(b'HTTP/1.1 206 Partial\r\nETag: "v1"\r\nContent-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n\r\n'
                           % (offset, len(content) - 1, len(content), len(rest)) + rest)
        return True
    return step
