"""An HTTP client over a raw socket that exposes every byte: interim responses, framing, cuts and resets."""
import socket

from reader import Response, Cut, Reader, chunked, head_of, reset

__all__ = ["Client", "Cut", "ask", "chunked", "head_of"]


class Client(Reader):
    """One client connection. If `connection` is given, it is a socket that is already connected."""

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
        """Closes the sending side with a FIN."""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        reset(self.socket)

    def expect_end(self):
        """Expects the end of the connection (FIN or reset) with no further byte."""
        try:
            rest = self.read_to_end()
        except ConnectionResetError:
            return
        assert not rest, f"{rest[:80]!r} before the end"

    def read_final_head(self):
        """Returns the next final response, whose body is not read yet."""
        interim = []
        while True:
            response = Response(self.read_head(), interim)
            if response.status >= 200 or response.status == 101:
                return response
            interim.append(response)

    def read_response(self, method="GET"):
        """Returns the next final response with its whole body."""
        response = self.read_final_head()
        if response.has_body(method):
            self.read_body(response, until_end=True)
        return response

    def ask(self, method, url, body=None, fields=(), version="1.1"):
        """Sends one request in absolute-form and returns the response. A body gets a Content-Length."""
        host = url.split("/")[2]
        if body is not None:
            fields = [*fields, ("Content-Length", str(len(body)))]
        self.send(head_of(method, url, host, fields, version) + (body or b""))
        return self.read_response(method)


def ask(reprise, method, url, body=None, fields=()):
    """Sends one request on a new connection and returns the response."""
    with Client(reprise.forward) as client:
        return client.ask(method, url, body, fields)
