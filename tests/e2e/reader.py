"""Reads HTTP messages from a socket. Used by all clients, upstreams and proxies of the tests."""
import socket
import struct
import urllib.parse

CRLF = b"\r\n"
ROOM = 262144  # bytes requested from a socket at once


class Cut(Exception):
    """Raised if the connection ended before the message was complete."""


class Message:
    """One HTTP message: its head, and the part of its body and trailers that was read so far. `head` includes
    all line ends."""

    def __init__(self, head):
        self.head = head
        self.start, *lines = head.decode("latin-1").split("\r\n")
        self.fields = [(line.split(":", 1)[0], line.split(":", 1)[1].strip()) for line in lines if line]
        self.body = self.trailers = b""

    def field(self, name):
        """Returns the value of the last field that has the given name, or None."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return values[-1] if values else None

    @property
    def is_chunked(self):
        return (self.field("Transfer-Encoding") or "").lower() == "chunked"

    @property
    def length(self):
        """Returns the value of Content-Length, or None."""
        value = self.field("Content-Length")
        return None if value is None else int(value)


class FromReprise:
    """What reprise tells in the fields of a response, over any version of HTTP."""

    def field(self, name):
        raise NotImplementedError

    @property
    def attempts(self):
        return int(self.field("Reprise-Attempts") or 0)

    @property
    def reason(self):
        return self.field("Reprise-Reason")


class Response(Message, FromReprise):
    """One final response, with the interim responses before it."""

    def __init__(self, head, interim):
        super().__init__(head)
        self.version, status, *_ = self.start.split(" ", 2)
        self.status = int(status)
        self.interim = interim

    def has_body(self, method):
        return method != "HEAD" and self.status not in (101, 204, 304) and not (method == "CONNECT" and self.status == 200)


class Request(Message):
    """One received request. Also has the number of its connection, and the number of earlier requests with
    the same path."""

    def __init__(self, head, connection=0):
        super().__init__(head)
        self.method, self.target, self.version = self.start.split(" ", 2)
        self.path, _, self.query = self.target.partition("?")
        self.connection, self.order = connection, 0

    @property
    def id(self):
        return urllib.parse.parse_qs(self.query).get("id", [self.field("X-Id") or ""])[0]


class Reader:
    """Reads messages from a socket. `buffer` has the bytes that were received but not yet returned."""

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
        """Returns the received bytes up to and including `mark`."""
        while (at := self.buffer.find(mark)) < 0:
            self.more()
        return self._take(at + len(mark))

    def read_line(self):
        return self.read_until(CRLF)[:-2]

    def read_head(self):
        """Returns the start line and the fields, without the final empty line."""
        return self.read_until(CRLF + CRLF)[:-2]

    def read_bytes(self, count):
        while len(self.buffer) < count:
            self.more()
        return self._take(count)

    def read_some(self, most):
        """Returns buffered or newly received bytes: at least one, at most `most`."""
        if self.buffer:
            return self._take(min(most, len(self.buffer)))
        data = self.socket.recv(min(most, ROOM))
        if not data:
            raise Cut(f"the connection ended {most} bytes early")
        return data

    def read_to_end(self):
        """Returns all bytes that arrive until the FIN."""
        try:
            while True:
                self.more()
        except Cut:
            return self._take(len(self.buffer))

    def pieces(self, message, until_end=False):
        """Yields the body's data as it arrives, without storing it. Stores the trailers in the message. A
        message without a length has an empty body, or with `until_end` a body that ends with the
        connection."""
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
    """Closes the connection with a RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def head_of(method, target, host, fields=(), version="1.1"):
    lines = [f"{method} {target} HTTP/{version}", f"Host: {host}", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunked(body, size=1000):
    """Returns the body in chunked coding: chunks of `size` bytes, then the last chunk."""
    return in_chunks(body[i:i + size] for i in range(0, len(body), size))


def in_chunks(parts):
    """Returns a chunked body with one chunk for each part."""
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
