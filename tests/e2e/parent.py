"""A small forward proxy: what reprise has behind it where everything must leave by one."""
import base64
import contextlib
import re
import socket
import threading

from harness import LOOPBACK, accept_each


class Parent:
    """Passes requests in absolute-form on, and opens tunnels. `names` resolves here, so that nobody else has to.

    `refuse` is a list of whole answers (b"": a FIN) given to the first CONNECTs or requests in place of what they ask for.
    With `login` (user, password), whoever does not prove it gets 407."""

    def __init__(self, names=None, refuse=(), login=None):
        self.names, self.refuse = names or {}, list(refuse)
        token = base64.b64encode(":".join(login).encode()).decode() if login else None
        self.authorization = f"Basic {token}" if token else None
        self.established = b"HTTP/1.1 200 Connection established\r\n\r\n"
        self.lock = threading.Lock()
        self.heads = []
        self.connections = 0
        self.listener = socket.create_server((LOOPBACK, 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.open = set()

    def __enter__(self):
        accept_each(self.listener, self._serve)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for connection in self.open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def url(self, login=""):
        return f"http://{login}{LOOPBACK}:{self.port}"

    def asked(self, method):
        """The targets of the requests with that method."""
        with self.lock:
            return [head.split()[1].decode() for head in self.heads if head.startswith(method.encode() + b" ")]

    def _serve(self, client):
        with self.lock:
            self.connections += 1
            self.open.add(client)
        with client, contextlib.suppress(OSError, ValueError):
            buffer = b""
            while True:
                while b"\r\n\r\n" not in buffer:
                    data = client.recv(65536)
                    if not data:
                        return
                    buffer += data
                head, buffer = buffer.split(b"\r\n\r\n", 1)
                with self.lock:
                    self.heads.append(head)
                    answer = self.refuse.pop(0) if self.refuse else None
                length = self._length(head)
                while len(buffer) < length:
                    buffer += client.recv(65536)
                body, buffer = buffer[:length], buffer[length:]
                if answer is None and self.authorization and f"\r\nProxy-Authorization: {self.authorization}".encode() not in head:
                    answer = b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"parent\"\r\nContent-Length: 0\r\n\r\n"
                if answer is not None:
                    client.sendall(answer)
                    if not answer.endswith(b"Content-Length: 0\r\n\r\n"):
                        return
                elif head.startswith(b"CONNECT "):
                    return self._tunnel(client, head.split()[1].decode())
                else:
                    self._pass_on(client, head, body)

    def _connect(self, authority, port):
        host, _, written = authority.partition(":")
        address = self.names.get(host, host)
        return socket.create_connection(address if isinstance(address, tuple) else (address, int(written or port)))

    def _tunnel(self, client, authority):
        with self._connect(authority, 443) as upstream:
            client.sendall(self.established)
            back = threading.Thread(target=self._carry, args=(upstream, client), daemon=True)
            back.start()
            self._carry(client, upstream)
            back.join()

    @staticmethod
    def _carry(source, sink):
        with contextlib.suppress(OSError):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
            finally:  # a reset, too, ends what the other side waits for
                sink.shutdown(socket.SHUT_WR)

    def _pass_on(self, client, head, body):
        """One connection to the upstream for each request, whose answer has a length."""
        line, rest = head.split(b"\r\n", 1)
        method, target, _ = line.split(b" ")
        authority, slash, path = target.removeprefix(b"http://").partition(b"/")
        lines = [entry for entry in rest.split(b"\r\n") if not entry.lower().startswith(b"proxy-authorization:")]
        with self._connect(authority.decode(), 80) as upstream:
            upstream.sendall(b"%s %s HTTP/1.1\r\n" % (method, slash + path) + b"\r\n".join(lines) + b"\r\n\r\n" + body)
            answer = b""
            while b"\r\n\r\n" not in answer or len(answer) < answer.index(b"\r\n\r\n") + 4 + self._length(answer):
                data = upstream.recv(65536)
                if not data:
                    raise OSError("the upstream broke off")
                answer += data
        client.sendall(answer)

    @staticmethod
    def _length(head):
        return int((re.search(rb"(?i)\r\nContent-Length: *(\d+)", head) or [b"", b"0"])[1])
