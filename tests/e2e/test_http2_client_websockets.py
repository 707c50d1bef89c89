"""Tests row M12 of docs/requirements/http2.md: WebSockets over HTTP/2 (extended CONNECT)."""
import base64
import contextlib
import hashlib
import threading

import http2_frames as h2
from grpc_calls import REPEATABLE
from harness import LOOPBACK, PATIENCE, Reprise, equal, eventually
from http2_client import Http2Client
from reader import reset
from test_http2_client_intercept import http2_inside
from test_http2_clients import inside_connect, inside_socks, rejected, reprise_for
from test_intercept import HOST, Intercepting
from tls import TlsUpstream
from upstream import Say, Upstream

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ASKED = [("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat"), ("origin", "https://a.test"), ("cookie", "a=1"), ("cookie", "b=2")]


def accept_of(request):
    return base64.b64encode(hashlib.sha1(request.field("Sec-WebSocket-Key").encode() + GUID).digest())


def switch(connection, *fields):
    connection.sendall(b"".join([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", *fields, b"\r\n"]))


def opens(connection, request):
    switch(connection, b"Sec-WebSocket-Accept: " + accept_of(request) + b"\r\nSec-WebSocket-Protocol: chat\r\n")


def echoes(connection, request):
    opens(connection, request)
    with contextlib.suppress(OSError):
        while data := connection.recv(65536):
            connection.sendall(data)
    return False


def begun(client, path="/socket", protocol="websocket", fields=(), authority=None):
    """Sends an extended CONNECT on a new stream, and returns the stream."""
    client.until(lambda: client.settings_seen)
    equal(client.peer_settings.get(8), 1)
    stream, head = client.frames_of([(":method", "CONNECT"), (":protocol", protocol), (":scheme", client.scheme), (":path", path),
                                     (":authority", authority or client.authority), *ASKED, *fields], end=False)
    client.send(head)
    return stream


def opened(client, path="/socket", **more):
    """Opens a WebSocket, and returns its stream."""
    stream = begun(client, path, **more)
    response = client.responses[stream]
    client.until(lambda: response.status is not None or response.reset is not None)
    equal((response.status, response.ended, response.reset), (200, False, None))
    equal([response.field(name) for name in ("connection", "upgrade", "sec-websocket-accept", "sec-websocket-protocol")], [None, None, None, "chat"])
    return stream


def echo(client, stream):
    """Sends two messages and the end, and compares what comes back."""
    client.data(stream, b"hello ")
    client.until(lambda: client.responses[stream].size == 6)
    client.data(stream, b"world", end=True)
    response = client.response(stream)
    equal((response.body, response.ended, response.reset), (b"hello world", True, None))


def ways(upstream, reprise):
    """Yields a client of the gateway and one of the forward listener."""
    yield Http2Client(reprise.gateway)
    yield Http2Client(reprise.forward, authority=f"{LOOPBACK}:{upstream.port}")


def test_M12_websocket_through_a_gateway_and_a_forward_listener():
    with Upstream({"/socket": [echoes]}) as upstream, reprise_for(upstream) as reprise:
        for client in ways(upstream, reprise):
            with client:
                stream = opened(client, "/socket?a=1", fields=[("sec-websocket-key", "b3RoZXI=")])
                equal(client.ask().status, 200)  # beside the WebSocket
                echo(client, stream)
        sockets = [request for request in upstream.requests if request.target == "/socket?a=1"]
        equal(len(sockets), 2)
        for request in sockets:
            equal((request.method, request.field("Host"), request.field("Upgrade")), ("GET", f"{LOOPBACK}:{upstream.port}", "websocket"))
            equal(request.field("Connection").lower(), "upgrade")
            names = [name.lower() for name, _ in request.fields]
            equal([names.count(name) for name in ("sec-websocket-key", "transfer-encoding", "content-length")], [1, 0, 0])
            equal(len(base64.b64decode(request.field("Sec-WebSocket-Key"))), 16)
            order = [name for name in names if name in ("sec-websocket-version", "sec-websocket-protocol", "origin", "cookie")]
            equal(order, ["sec-websocket-version", "sec-websocket-protocol", "origin", "cookie"])
            equal(request.field("Cookie"), "a=1; b=2")
        keys = {request.field("Sec-WebSocket-Key") for request in sockets}
        equal(len(keys), 2)
        eventually(lambda: [line.get("carried") for line in reprise.log()].count("upgraded") == 2, "both are logged")
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the streams have ended")


def test_M12_websocket_inside_intercepted_tls():
    with TlsUpstream({"/socket": [echoes]}) as upstream, Intercepting() as reprise, http2_inside(reprise, upstream.port) as client:
        echo(client, opened(client))
        equal(upstream.requests[0].field("Host"), f"{HOST}:{upstream.port}")
        equal(client.response(begun(client, authority="other.test")).status, 421)
        equal(upstream.count("/socket"), 1)


def test_M12_websocket_over_http2_inside_connect_and_socks():
    for inside in (inside_connect, inside_socks):
        with Upstream({"/socket": [503, echoes]}) as upstream, reprise_for(upstream) as reprise, inside(reprise, upstream) as client:
            stream = opened(client)
            equal(client.responses[stream].attempts, 2)
            echo(client, stream)
            equal(client.ask().status, 200)


def test_M12_one_megabyte_goes_both_ways():
    large = bytes(range(256)) * 4096
    def exchanges(connection, request):
        opens(connection, request)
        sender = threading.Thread(target=connection.sendall, args=(large[::-1],))
        sender.start()
        size = 0
        while size < len(large) and (data := connection.recv(65536)):
            size += len(data)
        sender.join(PATIENCE)
        connection.sendall(b"%d" % size)
        return False
    with Upstream({"/socket": [exchanges]}) as upstream, reprise_for(upstream) as reprise:
        for client in ways(upstream, reprise):
            with client:
                stream = opened(client)
                client.upload(stream, large, end=False)
                response = client.response(stream)
                equal((response.body == large[::-1] + b"%d" % len(large), response.ended, response.reset), (True, True, None))


def test_M12_end_of_stream_is_the_half_close():
    def answers_at_the_end(connection, request):
        opens(connection, request)
        data = b""
        while piece := connection.recv(4096):
            data += piece
        connection.sendall(data[::-1])
        return False
    with Upstream({"/socket": [answers_at_the_end]}) as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        stream = opened(client)
        client.data(stream, b"forwards", end=True)
        response = client.response(stream)
        equal((response.body, response.ended), (b"sdrawrof", True))


def test_M12_bytes_before_the_response_belong_to_the_websocket():
    with Upstream({"/socket": [echoes]}) as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        stream = begun(client)
        client.data(stream, b"early ")
        client.data(stream, b"bird", end=True)
        response = client.response(stream)
        equal((response.status, response.body, response.ended), (200, b"early bird", True))


def test_M12_wrong_or_missing_accept_gets_502_and_is_not_retried():
    ended = []
    def lies(*fields):
        def step(connection, _request):
            switch(connection, *fields)
            with contextlib.suppress(OSError):
                ended.append(connection.recv(4096))
            return False
        return step
    paths = {"/none": [lies()], "/wrong": [lies(b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n")], "/page": [Say(200, b"a page")]}
    with Upstream(paths) as upstream, reprise_for(upstream, defaults=REPEATABLE) as reprise, Http2Client(reprise.gateway) as client:
        for path, words in (("/none", b"Sec-WebSocket-Accept"), ("/wrong", b"Sec-WebSocket-Accept"), ("/page", b"did not switch")):
            response = client.response(begun(client, path))
            equal((response.status, response.ended), (502, True), path)
            assert words in response.body, response.body
            equal(upstream.count(path), 1)
        eventually(lambda: ended == [b"", b""], "the connections are closed")


def test_M12_other_responses_pass_with_their_body():
    chunked = Say(403, chunks=[b"not ", b"you" * 30000], fields=[("X-Reason", "none")])
    paths = {"/length": [Say(403, b"no", fields=[("X-Reason", "none")])], "/chunks": [chunked], "/none": [Say(304, fields=[("X-Reason", "none")])],
             "/close": [Say(raw=b"HTTP/1.1 403 No\r\nX-Reason: none\r\n\r\nto the end", close=True)],
             "/hints": [Say(raw=b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 403 No\r\nX-Reason: none\r\nContent-Length: 2\r\n\r\nno")]}
    expected = {"/length": b"no", "/chunks": b"not " + b"you" * 30000, "/none": b"", "/close": b"to the end", "/hints": b"no"}
    with Upstream(paths) as upstream, reprise_for(upstream) as reprise:
        for client in ways(upstream, reprise):
            with client:
                for path, body in expected.items():
                    stream = begun(client, path)
                    # The bytes that follow are no request, although they look like one.
                    client.data(stream, b"GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n")
                    response = client.response(stream)
                    equal((response.status, response.body, response.ended), (304 if path == "/none" else 403, body, True), path)
                    equal((response.field("x-reason"), response.field("transfer-encoding")), ("none", None))
                    equal([status for status, _ in response.interim], [103] if path == "/hints" else [])
                equal(client.ask().status, 200)
        equal(upstream.count("/hidden"), 0)


def test_M12_incomplete_response_is_cut():
    paths = {"/length": [Say(raw=b"HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\npart", close=True)],
             "/chunks": [Say(raw=b"HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n", close=True)]}
    with Upstream(paths) as upstream, reprise_for(upstream, defaults={"resume": "off"}) as reprise, Http2Client(reprise.gateway) as client:
        for path in paths:
            response = client.response(begun(client, path))
            equal((response.status, response.body, response.ended, response.reset), (403, b"part", False, h2.INTERNAL_ERROR), path)


def test_M12_another_protocol_gets_501():
    with Upstream() as upstream, reprise_for(upstream) as reprise:
        for client in ways(upstream, reprise):
            with client:
                response = client.response(begun(client, protocol="connect-udp"))
                equal((response.status, response.ended), (501, True))
                equal(client.ask().status, 200)
        equal(upstream.count("/socket"), 0)
        equal(rejected(reprise, "connect_protocol"), 2)


def test_M12_malformed_extended_connect_is_reset():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        whole = {":method": "CONNECT", ":protocol": "websocket", ":scheme": "http", ":path": "/socket", ":authority": client.authority}
        changes = {"without a path": {":path": None}, "without a scheme": {":scheme": None}, "without an authority": {":authority": None},
                   "another method": {":method": "GET"}, "a line end": {":path": "/x\r\ny: z"}, "a length": {"content-length": "5"}}
        for name, change in changes.items():
            fields = [(key, value) for key, value in {**whole, **change}.items() if value is not None]
            stream, head = client.frames_of(fields, end=False)
            client.send(head)
            equal(client.response(stream).reset, h2.PROTOCOL_ERROR, name)
        equal(client.ask().status, 200)
        equal(len(upstream.requests), 1)


def test_M12_response_503_is_retried_before_the_101():
    with Upstream({"/socket": [503, echoes]}) as upstream, reprise_for(upstream) as reprise:
        with Http2Client(reprise.gateway) as client:
            stream = opened(client)
            equal(client.responses[stream].attempts, 2)
            echo(client, stream)
        equal(upstream.count("/socket"), 2)
        first, second = upstream.requests
        equal(first.field("Sec-WebSocket-Key"), second.field("Sec-WebSocket-Key"))


def test_M12_broken_upstream_resets_the_stream_and_is_not_retried():
    def breaks(connection, request):
        opens(connection, request)
        connection.recv(4096)
        reset(connection)
        return False
    with Upstream({"/socket": [breaks]}) as upstream, reprise_for(upstream, defaults=REPEATABLE) as reprise, Http2Client(reprise.gateway) as client:
        stream = opened(client)
        client.data(stream, b"hello")
        response = client.response(stream)
        equal((response.ended, response.reset), (False, h2.CONNECT_ERROR))
        equal(client.ask().status, 200)
        equal(upstream.count("/socket"), 1)


def test_M12_reset_of_the_client_ends_the_upstream_connection():
    ended, waiting = [], threading.Event()
    def waits(connection, request):
        if request.path == "/open":
            opens(connection, request)
        waiting.set()
        with contextlib.suppress(OSError):
            while connection.recv(4096):
                pass
        ended.append(request.path)
        return False
    with Upstream({"/open": [waits], "/wait": [waits]}) as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        client.reset_stream(opened(client, "/open"))
        eventually(lambda: ended == ["/open"], "the open WebSocket has ended")
        waiting.clear()
        stream = begun(client, "/wait")
        waiting.wait(PATIENCE)
        client.reset_stream(stream)
        eventually(lambda: ended == ["/open", "/wait"], "the attempt has ended")
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the streams have ended")
        equal(client.ask().status, 200)


def test_M12_upgrade_goes_over_http_1_although_http2_is_always():
    with Upstream({"/socket": [echoes]}) as upstream, reprise_for(upstream, defaults={"http2": "always"}) as reprise, Http2Client(reprise.gateway) as client:
        echo(client, opened(client))
        equal(upstream.requests[0].version, "HTTP/1.1")


def test_M12_authority_of_another_host_gets_421_on_a_gateway():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        equal(client.response(begun(client, authority="other.test")).status, 421)
        equal(len(upstream.requests), 0)


def test_M12_failed_websocket_gets_a_response():
    with Reprise(defaults={"retry": {"max_attempts": 1}}) as reprise, Http2Client(reprise.forward, authority=f"{LOOPBACK}:1") as client:
        response = client.response(begun(client))
        equal((response.status, response.ended, response.attempts), (502, True, 1))
