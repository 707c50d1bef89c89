"""A scripted upstream: what it answers on each path is a list of steps, one a request; it keeps every request it saw."""
import contextlib
import socket
import struct
import threading
import urllib.parse

from harness import LOOPBACK, eventually


class Say:
    """An answer. `fields` are added as they are; `raw` replaces the whole message; `close` ends the connection behind it."""

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
            body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in self.chunks) + b"0\r\n\r\n"
        elif self.status != 204:
            lines.append(f"Content-Length: {len(body)}")
        if self.close:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (b"" if bodiless else body)


class Request:
    """One request as it came."""

    def __init__(self, head, connection, order):
        self.head = head
        self.method, self.target, self.version = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        self.path, _, self.query = self.target.partition("?")
        lines = head.decode("latin-1").split("\r\n")[1:]
        self.fields = [(line.split(":", 1)[0], line.split(":", 1)[1].strip()) for line in lines if line]
        self.connection, self.order = connection, order
        self.body = b""

    def field(self, name):
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return values[-1] if values else None

    @property
    def id(self):
        return urllib.parse.parse_qs(self.query).get("id", [self.field("X-Id") or ""])[0]


class Gone(Exception):
    """The other side left."""


class Recorded:
    """A socket whose received bytes are kept."""

    def __init__(self, connection, record):
        self.connection, self.record = connection, record

    def recv(self, count, flags=0):
        data = self.connection.recv(count, flags)
        self.record += data
        return data

    def __getattr__(self, name):
        return getattr(self.connection, name)


class Upstream:
    """Listens on a free port. Steps: a status, a Say, a function (connection, request), or one of the words below.

    reset: RST instead of an answer. close: FIN instead of an answer. execute_reset: the request takes effect, then RST.
    hang: no answer until the upstream is closed. The last step of a script is repeated.
    `record` keeps every byte of each connection in `received`. `on_head`: functions (connection, request, buffer) by
    path that take over once a head is there, before its body is read. `greeting` is sent unasked to who connects."""

    def __init__(self, scripts=None, listener=None, record=False, on_head=None, greeting=b""):
        self.scripts = scripts or {}
        self.record, self.on_head, self.greeting = record, on_head or {}, greeting
        self.received = []  # of each connection in turn
        self.lock = threading.Lock()
        self.requests = []
        self.connections = 0
        self.effects = {}
        self.open = set()
        self.closing = threading.Event()
        self.listener = listener or socket.socket()
        if listener is None:
            self.listener.bind((LOOPBACK, 0))
        self.address, self.port = self.listener.getsockname()[:2]

    def __enter__(self):
        self.listener.listen(256)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        with contextlib.suppress(OSError):  # a script may have done it
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes the accept
        self.listener.close()
        with self.lock:
            for connection in self.open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def url(self, path="/"):
        return f"http://{self.address}:{self.port}{path}"

    def seen(self, count, path=None):
        """The requests so far (of one path), once there are at least `count`."""
        def found():
            with self.lock:
                matching = [request for request in self.requests if path in (None, request.path)]
            return matching if len(matching) >= count else None
        return eventually(found, f"{count} requests at the upstream")

    def count(self, path=None):
        with self.lock:
            return sum(1 for request in self.requests if path in (None, request.path))

    def bytes_received(self):
        """Everything that came so far, one item a connection."""
        with self.lock:
            return [bytes(received) for received in self.received]

    def all_closed(self):
        """Waits until no connection is open any more."""
        def closed():
            with self.lock:
                return not self.open
        eventually(closed, "every connection to the upstream is closed")

    def _accept(self):
        while not self.closing.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.open.add(connection)
                number = self.connections
                self.received.append(bytearray())
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection, number):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire = connection
        buffer = bytearray()
        try:
            wire = self.secure(connection)
            if self.record:
                wire = Recorded(wire, self.received[number - 1])
            if self.greeting:
                connection.sendall(self.greeting)
            while self._serve_one(wire, number, buffer):
                pass
            self.part(wire)
        except (OSError, Gone):
            pass
        finally:
            with self.lock:
                self.open.discard(connection)
            wire.close()

    def secure(self, connection):
        """What is spoken over: the connection itself, or what is made of it."""
        return connection

    def part(self, wire):
        """Before a connection that was served is closed."""

    def _serve_one(self, connection, number, buffer):
        head = take_until(connection, buffer, b"\r\n\r\n")
        request = Request(head, number, 0)
        if request.path in self.on_head:
            return self.on_head[request.path](connection, request, buffer)
        if (request.field("Expect") or "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.body = read_body(connection, buffer, request)
        with self.lock:
            request.order = sum(1 for other in self.requests if other.path == request.path)
            self.requests.append(request)
        steps = self.scripts.get(request.path, [200])
        return self._play(connection, request, steps[min(request.order, len(steps) - 1)])

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
                self._count_effect(request)
            reset(connection)
            return False
        say = Say(step) if isinstance(step, int) else step
        if say.status < 400:
            self._count_effect(request)
        connection.sendall(say.text(request, request.order + 1))
        return not say.close

    def _count_effect(self, request):
        with self.lock:
            self.effects[request.id] = self.effects.get(request.id, 0) + 1


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def more(connection, buffer):
    data = connection.recv(262144)
    if not data:
        raise Gone()
    buffer += data


def take_until(connection, buffer, mark):
    while (at := buffer.find(mark)) < 0:
        more(connection, buffer)
    taken = bytes(buffer[:at + len(mark)])
    del buffer[:at + len(mark)]
    return taken


def take(connection, buffer, count):
    while len(buffer) < count:
        more(connection, buffer)
    taken = bytes(buffer[:count])
    del buffer[:count]
    return taken


def read_body(connection, buffer, request):
    if (request.field("Transfer-Encoding") or "").lower() == "chunked":
        body = bytearray()
        while size := int(take_until(connection, buffer, b"\r\n").split(b";")[0], 16):
            body += take(connection, buffer, size)
            take(connection, buffer, 2)
        while take_until(connection, buffer, b"\r\n") != b"\r\n":
            pass
        return bytes(body)
    return take(connection, buffer, int(request.field("Content-Length") or 0))
