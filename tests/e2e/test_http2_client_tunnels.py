"""Tests row M11 of docs/requirements/http2.md: CONNECT over HTTP/2, and what is inside such tunnels."""
import contextlib
import os
import signal
import ssl
import threading

import http2_frames as h2
from client import Client
from grpc_calls import REPEATABLE, UNAVAILABLE, answer, call, status_of, trailers_only
from harness import LOOPBACK, PATIENCE, Reprise, closed_port, equal, eventually, merge, tcp_sockets
from http2_client import Http2Client
from http2_upstream import Http2Upstream, Reply, hangs
from reader import CRLF, reset
from server import Server
from test_http2_clients import relays, reprise_for
from test_intercept import HOST, Intercepting
from test_tunnels import echo_backwards_at_the_end, open_tunnel
from tls import TlsUpstream
from upstream import Upstream


def opened(client, port, host=LOOPBACK):
    """Opens a tunnel on a new stream, and returns the stream."""
    stream = client.begin("CONNECT", None, end=False, authority=f"{host}:{port}")
    client.until(lambda: client.responses[stream].status is not None or client.responses[stream].reset is not None)
    equal((client.responses[stream].status, client.responses[stream].ended), (200, False))
    return stream


def received(client, stream, count):
    """Waits for `count` bytes of a tunnel. Returns all that have arrived."""
    client.until(lambda: client.responses[stream].size >= count)
    return client.responses[stream].body


def test_M11_tunnel_carries_bytes_both_ways_beside_other_streams():
    with Server(relays) as talker, Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, talker.port)
        for number in range(5):
            client.data(stream, b"hello")
            received(client, stream, 5 * (number + 1))
            equal(client.ask(authority=f"{LOOPBACK}:{upstream.port}").status, 200)
        large = bytes(range(256)) * 4000
        client.upload(stream, large)
        response = client.response(stream)
        equal((response.body, response.ended, response.reset), (b"hello" * 5 + large, True, None))
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the streams have ended")


def test_M11_end_of_stream_is_the_half_close():
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, talker.port)
        client.data(stream, b"forwards", end=True)
        response = client.response(stream)
        equal((response.body, response.ended), (b"sdrawrof", True))


def test_M11_broken_upstream_resets_the_stream_with_connect_error():
    def breaks(connection):
        connection.recv(4096)
        reset(connection)
    with Server(breaks) as talker, Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, talker.port)
        client.data(stream, b"\0hello")
        response = client.response(stream)
        equal((response.ended, response.reset), (False, h2.CONNECT_ERROR))
        equal(client.ask(authority=f"{LOOPBACK}:{upstream.port}").status, 200)


def test_M11_refused_and_failed_tunnels_get_a_response():
    held, port = closed_port()
    with held, Reprise(security={"connect_ports": [443, port]}, defaults={"retry": {"max_attempts": 2}}) as reprise, \
            Http2Client(reprise.forward) as client:
        for authority, status in ((f"{LOOPBACK}:1", 403), (f"{LOOPBACK}:{port}", 502)):
            response = client.response(client.begin("CONNECT", None, end=False, authority=authority))
            equal((response.status, response.ended, bool(response.body)), (status, True, True), authority)
            equal(int(response.field("content-length")), response.size)
        equal(response.attempts, 2)


def test_M11_connect_on_a_gateway_gets_501():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        equal(client.response(client.begin("CONNECT", None, end=False, authority="other.test:443")).status, 501)
        equal(client.ask().status, 200)


def narrow(reprise):
    """Returns a client of the forward listener whose streams get 100 bytes."""
    return Http2Client(reprise.forward, opens_windows=False, settings={h2.INITIAL_WINDOW_SIZE: 100})


def test_M11_bytes_that_the_window_holds_back_arrive_after_the_tunnel_has_ended():
    def responds_at_the_end(connection):
        while connection.recv(4096):
            pass
        connection.sendall(bytes(10000))
    with Server(responds_at_the_end) as talker, Reprise() as reprise, narrow(reprise) as client:
        stream = opened(client, talker.port)
        client.data(stream, b"\0", end=True)
        received(client, stream, 100)
        equal(reprise.requests(1)[0]["response_bytes"], 10000)
        client.open_window(stream, 20000)
        response = client.response(stream)
        equal((response.size, response.ended, response.reset), (10000, True, None))


def test_M64_drain_ends_although_bytes_of_a_tunnel_wait_for_the_window():
    def responds_at_the_end(connection):
        while connection.recv(4096):
            pass
        connection.sendall(bytes(10000))
    with Server(responds_at_the_end) as talker, Reprise(shutdown={"grace": "100ms"}) as reprise, narrow(reprise) as client:
        stream = opened(client, talker.port)
        client.data(stream, b"\0", end=True)
        received(client, stream, 100)
        reprise.requests(1)
        os.kill(reprise.process.pid, signal.SIGTERM)
        client.read_to_goaway()
        equal((client.responses[stream].size, client.responses[stream].ended), (100, False))
        reprise.process.wait(PATIENCE)


def test_M11_client_learns_that_the_upstream_broke_once_it_has_all_bytes():
    seen = threading.Event()
    def breaks(connection):
        connection.recv(4096)
        connection.sendall(bytes(10000))
        seen.wait(PATIENCE)
        reset(connection)
    with Server(breaks) as talker, Reprise() as reprise, narrow(reprise) as client:
        stream = opened(client, talker.port)
        client.data(stream, b"\0")
        received(client, stream, 100)
        seen.set()
        client.open_window(stream, 20000)
        response = client.response(stream)
        equal((response.size, response.ended, response.reset), (10000, False, h2.CONNECT_ERROR))


def test_M11_last_response_inside_the_tunnel_ends_the_stream_in_order():
    with Upstream() as upstream, Reprise() as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, upstream.port)
        client.data(stream, f"GET /x HTTP/1.1\r\nHost: {LOOPBACK}:{upstream.port}\r\nConnection: close\r\n\r\n".encode())
        response = client.response(stream)
        assert response.body.startswith(b"HTTP/1.1 200"), response.body
        equal((response.ended, response.reset), (True, None))


def test_M11_client_that_resets_the_tunnel_ends_it_at_the_upstream():
    ended = []
    def waits(connection):
        with contextlib.suppress(OSError):
            while connection.recv(4096):
                pass
        ended.append(True)
    with Server(waits) as talker, Reprise() as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, talker.port)
        client.data(stream, b"\0hello")
        client.reset_stream(stream)
        eventually(lambda: ended, "the upstream's connection has ended")
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the stream has ended")


def test_M11_requests_inside_the_tunnel_are_served_and_retried():
    with Upstream({"/flaky": [503, 200]}) as upstream, Reprise() as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, upstream.port)
        client.data(stream, f"GET /flaky HTTP/1.1\r\nHost: {LOOPBACK}:{upstream.port}\r\n\r\n".encode())
        client.until(lambda: b"answer 2" in client.responses[stream].body)
        body = client.responses[stream].body
        assert body.startswith(b"HTTP/1.1 200") and b"Reprise-Attempts: 2" in body, body


class Inside:
    """A stream of an Http2Client as the socket of another Http2Client."""

    def __init__(self, client, stream):
        self.client, self.stream, self.read_up_to = client, stream, 0

    def settimeout(self, _):
        pass

    def close(self):
        pass

    def sendall(self, data):
        self.client.data(self.stream, data)

    def recv(self, _):
        response = self.client.responses[self.stream]
        self.client.until(lambda: response.size > self.read_up_to or response.ended or response.reset is not None)
        piece, self.read_up_to = response.body[self.read_up_to:], response.size
        return piece


def test_M11_connection_goes_on_while_http2_inside_its_tunnel_is_served():
    keep_alive = {"timers": {"keep_alive": "100ms"}}
    with Http2Upstream({"/x": [hangs]}) as upstream, reprise_for(upstream, **keep_alive) as reprise, Http2Client(reprise.forward) as client:
        tunnel = opened(client, upstream.port)
        inside = Http2Client(connection=Inside(client, tunnel), authority=f"{LOOPBACK}:{upstream.port}")
        stream = inside.begin()
        request = upstream.heads_seen(1)[0]
        with Http2Client(reprise.forward) as idle:
            idle.read_to_goaway()  # longer than `client` has been without another request
        upstream.links[0].respond(request, Reply(200))
        equal((inside.response(stream).status, client.goaways), (200, []))
        equal(inside.read_to_goaway(), h2.NO_ERROR)
        client.data(tunnel, end=True)
        equal(client.read_to_goaway(), h2.NO_ERROR)


class TlsInside:
    """TLS over a stream of an Http2Client."""

    def __init__(self, client, stream, cafile, alpn=()):
        context = ssl.create_default_context(cafile=cafile)
        if alpn:
            context.set_alpn_protocols(list(alpn))
        self.client, self.stream, self.read_up_to = client, stream, 0
        self.to, self.out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.to, self.out, server_hostname=HOST)
        self.call(self.tls.do_handshake)

    def call(self, function, *arguments):
        while True:
            try:
                result = function(*arguments)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                response = self.client.responses[self.stream]
                self.client.until(lambda: response.size > self.read_up_to)
                self.to.write(response.body[self.read_up_to:])
                self.read_up_to = response.size

    def flush(self):
        if data := self.out.read():
            self.client.data(self.stream, data)


def test_M11_intercepted_tls_inside_the_tunnel():
    with TlsUpstream({"/flaky": [503, 200]}) as upstream, Intercepting() as reprise, Http2Client(reprise.forward) as client:
        inside = TlsInside(client, opened(client, upstream.port, HOST), reprise.bundle)
        inside.call(inside.tls.write, f"GET /flaky HTTP/1.1\r\nHost: {HOST}:{upstream.port}\r\n\r\n".encode())
        answer = b""
        while not answer.endswith(CRLF) and b"answer 2" not in answer:
            answer += inside.call(inside.tls.read, 4096)
        assert answer.startswith(b"HTTP/1.1 200") and b"Reprise-Attempts: 2" in answer, answer


def test_M65_reset_tunnel_ends_the_request_inside_its_intercepted_tls():
    seen = threading.Event()
    def holds(connection, _request, _reader):
        seen.set()
        while connection.recv(4096):
            pass
        return False
    with TlsUpstream(on_head={"/x": holds}) as upstream, Intercepting() as reprise, Http2Client(reprise.forward) as client:
        tunnel = opened(client, upstream.port, HOST)
        inside = TlsInside(client, tunnel, reprise.bundle)
        inside.call(inside.tls.write, f"GET /x HTTP/1.1\r\nHost: {HOST}:{upstream.port}\r\n\r\n".encode())
        seen.wait(PATIENCE)
        client.reset_stream(tunnel)
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the stream has ended")
        eventually(lambda: [line for line in reprise.log() if line.get("ending") == "client_gone" and line.get("path") == "/x"], "the request has ended")


def test_N6_tunnel_of_an_http2_client_is_not_closed_to_make_room():
    with Upstream() as upstream, Reprise(threads=1, limits={"connections": 2}) as reprise, Http2Client(reprise.forward) as client:
        stream = opened(client, upstream.port)
        request = f"GET /x HTTP/1.1\r\nHost: {LOOPBACK}:{upstream.port}\r\n\r\n".encode()
        client.data(stream, request)
        client.until(lambda: b"answer 1" in client.responses[stream].body)
        with Client(reprise.forward) as idle:
            equal(idle.ask("GET", upstream.url("/y")).status, 200)
            def gets_in():
                with Client(reprise.forward) as newcomer:
                    return newcomer.ask("GET", upstream.url("/z")).status == 200
            eventually(gets_in, "an idle client makes room")
            equal(idle.read_to_end(), b"")
        client.data(stream, request)
        client.until(lambda: b"answer 2" in client.responses[stream].body or client.responses[stream].reset is not None)
        equal((client.responses[stream].reset, client.goaways), (None, []))


def waits_unread(upstream, client):
    """Returns whether bytes of the upstream wait in the proxy, or have passed it and wait at the client: a tunnel that passes unread hides
    them from the proxy at once."""
    own = client.socket.getsockname()[1]
    return any(one.unread > 0 and (one.remote == upstream.port or one.local == own) for one in tcp_sockets())


def call_inside(reprise, upstream):
    """Opens a tunnel with HTTP/1, and sends a call through it once the upstream's greeting waits in the proxy. The call
    follows the client's acknowledgement of SETTINGS, because the upstream accepts none before it if the tunnel passes
    unread. Returns the response."""
    with Client(reprise.forward) as plain:
        equal(open_tunnel(plain, upstream.port).status, 200)
        eventually(lambda: waits_unread(upstream, plain), "the greeting has arrived")
        with Http2Client(connection=plain.socket, authority=f"{LOOPBACK}:{upstream.port}") as client:
            client.until(lambda: client.settings_seen)
            return call(client, b"id")


def test_M6_http_2_inside_a_tunnel_is_served_although_the_upstream_sends_its_settings_first():
    # A C-core server of gRPC does so. A client that stalls for 200 ms after its CONNECT is not examined, so the case tries again.
    def fails_at_first(link, request):
        reply = answer(b"item") if request.field("grpc-previous-rpc-attempts") else trailers_only(UNAVAILABLE)
        link.upstream.play_http2(link, request, reply)
    greeting = h2.settings_frame({h2.MAX_CONCURRENT_STREAMS: 100})
    with Http2Upstream(otherwise=[fails_at_first], greeting=greeting, at_start=lambda link: link.unacknowledged.append({})) as upstream, \
            Reprise(defaults=merge(REPEATABLE, {"budget": "off", "attempt_header": True})) as reprise:
        for _ in range(20):
            response = call_inside(reprise, upstream)
            if reprise.metric("reprise_streams_total", protocol="http2"):
                break
        equal((status_of(response), response.attempts), (0, 2))
        # The connection that was dialled for the tunnel has carried the first attempt.
        equal(len({request.connection for request in upstream.requests[-2:]}), 2)
