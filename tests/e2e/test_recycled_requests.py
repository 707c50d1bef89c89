"""Tests memory that one request has used and a later request reuses: the later request must never show data
of the earlier request. Combines every kind of earlier request with every listener mode for the later
request."""
import contextlib
import socket

from client import Client
from harness import LOOPBACK, PATIENCE, Reprise, equal, eventually
from server import Server
from test_socks import GREETING, by_address, exactly, reply
from upstream import Upstream

BODY = b"a body of a certain length"
PAYLOAD = b"\x00\x01 neither TLS nor HTTP " + bytes(range(256)) * 4


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


def listeners(upstream):
    return [
        {"mode": "forward", "bind": f"{LOOPBACK}:0"},
        {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": f"http://{LOOPBACK}:{upstream.port}"},
        {"mode": "socks", "bind": f"{LOOPBACK}:0"},
    ]


def request(method, target, host, fields="", body=b""):
    return f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n".encode() + body


def earlier_requests(upstream):
    """Returns requests for the forward listener, by name. Each request leaves different data in the memory
    that the next request reuses."""
    host = f"{LOOPBACK}:{upstream.port}"

    def forward(method, path, fields="", body=b""):
        return request(method, f"http://{host}{path}", host, fields, body)

    length = f"Content-Length: {len(BODY)}\r\n"
    return {
        "get": forward("GET", "/plain"),
        "head": forward("HEAD", "/plain"),
        "post": forward("POST", "/plain", length, BODY),
        "long_post": forward("POST", "/plain", "Content-Length: 100000\r\n", b"x" * 100000),
        "chunked_put": forward("PUT", "/plain", "Transfer-Encoding: chunked\r\n", b"5\r\n" + BODY[:5] + b"\r\n0\r\nX-Sum: 1\r\n\r\n"),
        "empty_post": forward("POST", "/plain", "Content-Length: 0\r\n"),
        "expecting_put": forward("PUT", "/plain", length + "Expect: 100-continue\r\n", BODY),
        "old_version": forward("GET", "/plain").replace(b"HTTP/1.1", b"HTTP/1.0"),
        "retried": forward("PUT", "/failing", length, BODY),
        "upgrade": forward("GET", "/plain", "Connection: upgrade\r\nUpgrade: websocket\r\n"),
        "options_to_us": forward("OPTIONS", "/plain", "Max-Forwards: 0\r\n" + length, BODY),
        "refused_framing": forward("POST", "/plain", length + "Transfer-Encoding: chunked\r\n", BODY),
        "refused_length": forward("POST", "/plain", "Content-Length: 7x\r\n", BODY),
        "unfinished": forward("POST", "/plain", length, BODY[:3]),
        "unfinished_head": forward("POST", "/plain", length)[:-2],
    }


def play(reprise, data):
    with Client(reprise.forward) as client:
        client.send(data)
        client.finish()
        client.read_to_end()


@contextlib.contextmanager
def connected(address):
    with socket.create_connection(address, PATIENCE) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield plain


def by_connect(reprise, echoing, _upstream):
    authority = f"{LOOPBACK}:{echoing.port}"
    with connected(reprise.forward) as plain:
        plain.sendall(request("CONNECT", authority, authority) + PAYLOAD)
        client = Client(None, connection=plain)
        equal(client.read_final_head().status, 200)
        equal(client.read_bytes(len(PAYLOAD)), PAYLOAD)


def by_socks(reprise, echoing, _upstream):
    with connected(reprise.addresses["socks"]) as plain:
        plain.sendall(GREETING + by_address(echoing.port) + PAYLOAD)
        equal(exactly(plain, 12), b"\x05\x00" + reply(0))
        equal(exactly(plain, len(PAYLOAD)), PAYLOAD)


def http_by_socks(reprise, _echoing, upstream):
    with connected(reprise.addresses["socks"]) as plain:
        plain.sendall(GREETING + by_address(upstream.port) + request("POST", "/last", LOOPBACK, "Content-Length: 4\r\n", b"last"))
        equal(exactly(plain, 12), b"\x05\x00" + reply(0))
        equal(Client(None, connection=plain).read_response().status, 200)


def by_gateway(reprise, _echoing, _upstream):
    with Client(reprise.addresses["gateway"]) as client:
        client.send(request("POST", "/last", "gateway.test", "Content-Length: 4\r\n", b"last"))
        equal(client.read_response().status, 200)


def by_forward(reprise, _echoing, upstream):
    with Client(reprise.forward) as client:
        equal(client.ask("POST", upstream.url("/last"), b"last").status, 200)


def test_reused_request_memory_carries_no_data_into_later_requests():
    with Upstream({"/failing": [503, 200]}) as upstream, Server(echo) as echoing, Reprise(threads=1, listeners=listeners(upstream)) as reprise:
        for name, earlier in earlier_requests(upstream).items():
            for entrance in (by_connect, by_socks, http_by_socks, by_gateway, by_forward):
                play(reprise, earlier)
                try:
                    entrance(reprise, echoing, upstream)
                except Exception as error:
                    raise AssertionError(f"{entrance.__name__} after {name}") from error
                last = upstream.requests[-1]
                if entrance not in (by_connect, by_socks):
                    equal((last.path, last.body), ("/last", b"last"), f"{entrance.__name__} after {name}")
        eventually(lambda: reprise.metric("reprise_client_connections") == 0, "every connection has ended")
