"""An HTTP client over a raw socket that shows every byte: interim answers, framing, cuts and resets."""
import socket
import struct


class Cut(Exception):
    """The connection ended before the message did."""


class Answer:
    """One final response, with the interim ones that came before it."""

    def __init__(self, head, interim):
        self.head = head
        lines = head.decode("latin-1").split("\r\n")
        self.version, status, *_ = lines[0].split(" ", 2)
        self.status = int(status)
        self.fields = [(line.split(":", 1)[0], line.split(":", 1)[1].strip()) for line in lines[1:] if line]
        self.interim = interim
        self.body = b""
        self.trailers = b""

    def field(self, name):
        """The value of the last field of that name, or None."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return values[-1] if values else None

    @property
    def attempts(self):
        return int(self.field("Reprise-Attempts") or 0)

    @property
    def reason(self):
        return self.field("Reprise-Reason")


def head_of(method, target, host, fields=(), version="1.1"):
    lines = [f"{method} {target} HTTP/{version}", f"Host: {host}", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunked(body, size=1000):
    """The body in chunks of `size` bytes, with the last chunk."""
    parts = [b"%x\r\n%s\r\n" % (len(body[i:i + size]), body[i:i + size]) for i in range(0, len(body), size)]
    return b"".join(parts) + b"0\r\n\r\n"


class Client:
    """One connection."""

    def __init__(self, address, timeout=120):
        self.socket = socket.create_connection(address, timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def finish(self):
        """Closes the sending side: a FIN."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Closes with a RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _more(self):
        data = self.socket.recv(262144)
        if not data:
            raise Cut(f"the connection ended; unread: {self.buffer[:200]!r}")
        self.buffer += data

    def read_line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def read_bytes(self, count):
        parts, have = [self.buffer], len(self.buffer)
        while have < count:
            data = self.socket.recv(262144)
            if not data:
                raise Cut(f"the connection ended {count - have} bytes early")
            parts.append(data)
            have += len(data)
        whole = b"".join(parts)
        self.buffer = whole[count:]
        return whole[:count]

    def read_to_end(self):
        """Everything up to the FIN."""
        try:
            while True:
                self._more()
        except Cut:
            rest, self.buffer = self.buffer, b""
            return rest

    def expect_end(self):
        """Not one more byte: a FIN, or a reset."""
        try:
            rest = self.read_to_end()
        except ConnectionResetError:
            return
        assert not rest, f"{rest[:80]!r} before the end"

    def read_head(self):
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head + b"\r\n"

    def read_final_head(self):
        """The next final answer, its body not yet read."""
        interim = []
        while True:
            answer = Answer(self.read_head(), interim)
            if answer.status >= 200 or answer.status == 101:
                return answer
            interim.append(answer)

    def read_answer(self, method="GET"):
        """The next final answer with its whole body."""
        answer = self.read_final_head()
        if method == "HEAD" or answer.status in (204, 304, 101):
            return answer
        if method == "CONNECT" and answer.status == 200:
            return answer
        if (answer.field("Transfer-Encoding") or "").lower() == "chunked":
            parts = []
            while True:
                size = int(self.read_line().split(b";")[0], 16)
                if size == 0:
                    break
                parts.append(self.read_bytes(size))
                if self.read_bytes(2) != b"\r\n":
                    raise AssertionError("no CRLF behind a chunk")
            while line := self.read_line():
                answer.trailers += line + b"\n"
            answer.body = b"".join(parts)
        elif answer.field("Content-Length") is not None:
            answer.body = self.read_bytes(int(answer.field("Content-Length")))
        else:
            answer.body = self.read_to_end()
        return answer

    def ask(self, method, url, body=None, fields=(), version="1.1"):
        """Sends one request in absolute-form, the body with a Content-Length, and reads its answer."""
        host = url.split("/")[2]
        if body is not None:
            fields = [*fields, ("Content-Length", str(len(body)))]
        self.send(head_of(method, url, host, fields, version) + (body or b""))
        return self.read_answer(method)


def ask(reprise, method, url, body=None, fields=()):
    """One request on a connection of its own."""
    with Client(reprise.forward) as client:
        return client.ask(method, url, body, fields)
