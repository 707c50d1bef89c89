"""A small forward proxy that serves as reprise's parent."""
import base64
import select
import socket
import ssl

from client import Client
from harness import LOOPBACK
from reader import CRLF, Reader, Request
from server import Server, carry_both


class Parent(Server):
    """Forwards requests in absolute-form, and opens tunnels. `names` maps names to addresses, so that no resolver is
    needed.

    `refuse` is a list of complete responses to the first requests, whatever their method; b"" stands for a
    FIN. With `login` (user, password), a request without these credentials gets 407."""

    def __init__(self, names=None, refuse=(), login=None):
        super().__init__()
        self.names, self.refuse = names or {}, list(refuse)
        token = base64.b64encode(":".join(login).encode()).decode() if login else None
        self.authorization = f"Basic {token}" if token else None
        self.established = b"HTTP/1.1 200 Connection established\r\n\r\n"
        self.requests = []

    def proxy_url(self, login=""):
        return f"http://{login}{LOOPBACK}:{self.port}"

    def asked(self, method):
        """Returns the targets of all received requests that have the given method."""
        with self.lock:
            return [request.target for request in self.requests if request.method == method]

    def serve(self, connection, number):
        connection = self.secure(connection)
        reader = Reader(connection)
        while True:
            request = Request(reader.read_head() + CRLF, number)
            reader.read_body(request)
            with self.lock:
                self.requests.append(request)
                response = self.refuse.pop(0) if self.refuse else None
            if response is None and self.authorization and request.field("Proxy-Authorization") != self.authorization:
                response = b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"parent\"\r\nContent-Length: 0\r\n\r\n"
            if response is not None:
                connection.sendall(response)
                if not response.endswith(b"Content-Length: 0\r\n\r\n"):
                    return
            elif request.method == "CONNECT":
                with socket.create_connection(self._address(request.target, 443)) as upstream:
                    connection.sendall(self.established)
                    upstream.sendall(reader.buffer)
                    self.carry(connection, upstream)
                return
            else:
                connection.sendall(self._passed_on(request))

    def carry(self, connection, upstream):
        carry_both(connection, upstream)

    def secure(self, connection):
        """Returns the connection to read from. Here, this is `connection` itself; in a subclass, it is a TLS
        connection over `connection`."""
        return connection

    def _address(self, authority, port):
        host, _, written = authority.partition(":")
        address = self.names.get(host, host)
        return address if isinstance(address, tuple) else (address, int(written or port))

    def _passed_on(self, request):
        """Sends the request to its upstream on a new connection and returns the response unchanged. Precondition:
        the response has a Content-Length."""
        authority, slash, path = request.target.removeprefix("http://").partition("/")
        lines = [line for line in request.head.split(CRLF)[1:] if not line.lower().startswith(b"proxy-authorization:")]
        with Client(self._address(authority, 80)) as upstream:
            upstream.send(f"{request.method} {slash}{path} HTTP/1.1\r\n".encode() + CRLF.join(lines) + request.body)
            response = upstream.read_response(request.method)
        return response.head + CRLF + response.body


class TlsParent(Parent):
    """A parent proxy that its clients reach over TLS. `certificate` is its certificate."""

    def __init__(self, certificate, **more):
        super().__init__(**more)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*certificate)
        self.handshakes = self.resumed = 0

    def proxy_url(self, login=""):
        return f"https://{login}localhost:{self.port}"

    def secure(self, connection):
        wire = self.context.wrap_socket(connection, server_side=True)
        with self.lock:
            self.open.discard(connection)
            self.open.add(wire)
            self.handshakes += 1
            self.resumed += wire.session_reused
        return wire

    def carry(self, connection, upstream):
        """Copies both directions of a tunnel on one thread, because OpenSSL's connection objects are not
        thread-safe."""
        other = {connection: upstream, upstream: connection}
        while True:
            ready = [connection] if connection.pending() else select.select(list(other), [], [])[0]
            for end in ready:
                piece = end.recv(65536)
                if not piece:
                    return
                other[end].sendall(piece)
