"""HTTP messages as they come over a socket: the one reader of heads and bodies for clients, upstreams and proxies of the tests."""
import socket
import struct
import urllib.parse

CRLF = b"\r\n"
ROOM = 262144  # bytes asked of a socket at once


class Cut(Exception):
    """The connection ended before the message did."""


class Message:
    """A head, and what was read of the body and trailers behind it. `head` is kept with all its line ends."""

    def __init__(self, head):
        self.head = head
        self.start, *lines = head.decode("latin-1").split("\r\n")
        self.fields = [(line.split(":", 1)[0], line.split(":", 1)[1].strip()) for line in lines if line]
        self.body = self.trailers = b""

    def field(self, name):
        """The value of the last field of that name, or None."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return values[-1] if values else None

    @property
    def is_chunked(self):
        return (self.field("Transfer-Encoding") or "").lower() == "chunked"

    @property
    def length(self):
        """What Content-Length says, or None."""
        value = self.field("Content-Length")
        return None if value is None else int(value)


class Response(Message):
    """One final response, with the interim ones that came before it."""

    def __init__(self, head, interim):
        super().__init__(head)
        self.version, status, *_ = self.start.split(" ", 2)
        self.status = int(status)
        self.interim = interim

    @property
    def attempts(self):
        return int(self.field("Reprise-Attempts") or 0)

    @property
    def reason(self):
        return self.field("Reprise-Reason")

    def has_body(self, method):
        return method != "HEAD" and self.status not in (101, 204, 304) and not (method == "CONNECT" and self.status == 200)


class Request(Message):
    """One request as it came: on which connection, and how many of its path came before it."""

    def __init__(self, head, connection=0):
        super().__init__(head)
        self.method, self.target, self.version = self.start.split(" ", 2)
        self.path, _, self.query = self.target.partition("?")
        self.connection, self.order = connection, 0

    @property
    def id(self):
        return urllib.parse.parse_qs(self.query).get("id", [self.field("X-Id") or ""])[0]


class Reader:
    """Takes messages from a socket. What has come and was not asked for yet is in `buffer`."""

    def __init__(self, connection):
        self.socket, self.buffer = connection, bytearray()

    def more(self):
        data = self.socket.recv(ROOM)
        if not data:
            raise Cut(f"the connection ended; unread: {bytes(self.buffer[:200])!r}")
        self.buffer += data

    def _take(self, count):
        taken = bytes(memoryview(self.buffer)[:count])
        del self.buffer[:count]
        return taken

    def read_until(self, mark):
        """Everything to the end of that mark."""
        while (at := self.buffer.find(mark)) < 0:
            self.more()
        return self._take(at + len(mark))

    def read_line(self):
        return self.read_until(CRLF)[:-2]

    def read_head(self):
        """A start line and its fields, without the empty line behind them."""
        return self.read_until(CRLF + CRLF)[:-2]

    def read_bytes(self, count):
        while len(self.buffer) < count:
            self.more()
        return self._take(count)

    def read_some(self, most):
        """What is there, or comes next: at least a byte, and no more than that many."""
        if self.buffer:
            return self._take(min(most, len(self.buffer)))
        data = self.socket.recv(min(most, ROOM))
        if not data:
            raise Cut(f"the connection ended {most} bytes early")
        return data

    def read_to_end(self):
        """Everything up to the FIN."""
        try:
            while True:
                self.more()
        except Cut:
            return self._take(len(self.buffer))

    def pieces(self, message, until_end=False):
        """The data of the body as it comes, none of it stored; the trailers go to the message. Without a length there is no body,
        or one that lasts `until_end` of the connection."""
        if message.is_chunked:
            while size := int(self.read_line().split(b";")[0], 16):
                yield from self._counted(size)
                if self.read_bytes(2) != CRLF:
                    raise AssertionError("no CRLF behind a chunk")
            while line := self.read_line():
                message.trailers += line + b"\n"
        elif message.length is not None:
            yield from self._counted(message.length)
        elif until_end:
            yield self.read_to_end()

    def _counted(self, left):
        while left:
            data = self.read_some(left)
            left -= len(data)
            yield data

    def read_body(self, message, until_end=False):
        message.body = b"".join(self.pieces(message, until_end))
        return message.body


def reset(connection):
    """Closes with a RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def head_of(method, target, host, fields=(), version="1.1"):
    lines = [f"{method} {target} HTTP/{version}", f"Host: {host}", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunked(body, size=1000):
    """The body in chunks of `size` bytes, with the last chunk."""
    return in_chunks(body[i:i + size] for i in range(0, len(body), size))


def in_chunks(parts):
    """Each of the parts as a chunk, and the last chunk."""
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
