"""An HTTP client over a raw socket that shows every byte: interim answers, framing, cuts and resets."""
import socket

from reader import Answer, Cut, Reader, chunked, head_of, reset

__all__ = ["Answer", "Client", "Cut", "ask", "chunked", "head_of"]


class Client(Reader):
    """One connection. `connection`: a socket that is connected already."""

    def __init__(self, address, timeout=120, connection=None):
        super().__init__(connection or socket.create_connection(address, timeout))
        if connection is None:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

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
        reset(self.socket)

    def expect_end(self):
        """Not one more byte: a FIN, or a reset."""
        try:
            rest = self.read_to_end()
        except ConnectionResetError:
            return
        assert not rest, f"{rest[:80]!r} before the end"

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
        if answer.has_body(method):
            self.read_body(answer, until_end=True)
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
