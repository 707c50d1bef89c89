"""Tests rows M49 to M52 and M92 to M99 of docs/requirements/http2.md: malformed requests of HTTP/2 clients, floods and limits.
Nothing of a malformed request reaches an upstream."""
import contextlib

import http2_frames as h2
from harness import equal, eventually
from http2_client import Http2Client
from http2_upstream import Http2Upstream, Reply, hangs
from reader import Cut
from test_http2_client_messages import VERSIONS, asking
from transfers import MIB
from upstream import Upstream

HEAD = [(":method", "POST"), (":scheme", "http"), (":path", "/x"), (":authority", "{authority}")]
FIELDS = {  # fields that make a request malformed
    "CR in a value": ("x-a", "b\rc"), "LF in a value": ("x-a", "b\nc"), "NUL in a value": ("x-a", "b\0c"), "CR in a name": ("x-\ra", "b"),
    "a blank before a value": ("x-a", " b"), "a tab after a value": ("x-a", "b\t"), "an upper-case letter": ("X-a", "b"),
    "a blank in a name": ("x a", "b"), "a colon in a name": ("x:a", "b"), "a control byte in a name": ("x\x01a", "b"),
    "a byte above 127 in a name": ("x\xe9", "b"), "an empty name": ("", "b"), "a lookalike of Content-Length": ("content_length", "1"),
    "a lookalike of Transfer-Encoding": ("transfer_encoding", "chunked"), "transfer-encoding": ("transfer-encoding", "chunked"),
    "connection": ("connection", "close"), "keep-alive": ("keep-alive", "timeout=5"), "proxy-connection": ("proxy-connection", "close"),
    "upgrade": ("upgrade", "h2c"), "te": ("te", "gzip"), "a signed length": ("content-length", "+5"), "a list of lengths": ("content-length", "5, 5"),
    "another host": ("host", "other.test"), "an unknown pseudo-field": (":version", "2"), "a pseudo-field of responses": (":status", "200"),
    "a repeated pseudo-field": (":path", "/y"), ":protocol without CONNECT": (":protocol", "websocket"), "a pseudo-field after a field": None,
    "two lengths": None}
PSEUDO = {  # values that replace a pseudo-field; None: it is left out
    "no method": (":method", None), "no scheme": (":scheme", None), "no path": (":path", None), "a method that is no token": (":method", "GE T"),
    "an empty path": (":path", ""), "a path without a slash": (":path", "x"), "an asterisk": (":path", "*"), "a blank in the path": (":path", "/x y"),
    "a fragment": (":path", "/x#y"), "an absolute path": (":path", "http://other.test/x"), "CR in the path": (":path", "/x\r\ny"),
    "userinfo": (":authority", "u@other.test"), "a blank in the authority": (":authority", "other test"), "a slash in the authority": (":authority", "a/b"),
    "no authority": (":authority", None), "an odd scheme": (":scheme", "ftp"), "LF in the method": (":method", "POST\nX")}


def malformed_heads(authority):
    """Yields (what is wrong, fields of a request)."""
    head = [(name, value.format(authority=authority)) for name, value in HEAD]
    for what, field in FIELDS.items():
        if field is not None:
            yield what, [*head, field]
    yield "a pseudo-field after a field", [*head[:3], ("x-a", "b"), head[3]]
    yield "two lengths", [*head, ("content-length", "1"), ("content-length", "2")]
    for what, (name, value) in PSEUDO.items():
        yield what, [(key, value if key == name else old) for key, old in head if key != name or value is not None]


def rejections(reprise):
    return sum(float(line.rsplit(" ", 1)[1]) for line in reprise.admin("/metrics")[1].splitlines()
               if line.startswith("reprise_rejected_requests_total{"))


def test_M49_M50_M51_nothing_of_a_malformed_request_reaches_an_upstream():
    for kind, http2 in VERSIONS:
        with kind() as upstream, asking(upstream, http2) as (client, reprise):
            for number, (what, fields) in enumerate(malformed_heads(client.authority), 1):
                stream, data = client.frames_of(fields, end=False)
                client.send(data + h2.data_frame(stream, b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", end=True))
                response = client.response(stream)
                assert response.reset == h2.PROTOCOL_ERROR or response.status in (400, 431), f"{what}: {response.reset} {response.status}"
                eventually(lambda number=number: rejections(reprise) == number, f"{what} is counted")
            equal(client.ask(path="/good").status, 200, "the connection goes on")
            equal([request.path for request in upstream.requests], ["/good"])


def test_M51_malformed_trailers_reset_the_stream():
    for kind, http2 in VERSIONS:
        with kind() as upstream, asking(upstream, http2) as (client, _):
            for fields in ([(":path", "/y")], [("X-a", "b")], [("x-a", "b\nc")], [("connection", "close")]):
                stream = client.begin("POST", "/x", end=False)
                client.data(stream, b"body")
                client.trailers(stream, fields)
                response = client.response(stream)
                equal((response.status, response.reset), (None, h2.PROTOCOL_ERROR), f"{fields}")
            equal(client.ask(path="/good").status, 200)
            equal(upstream.count("/x"), 0)


def test_M52_messages_end_once():
    for kind, http2 in VERSIONS:
        with kind() as upstream, asking(upstream, http2) as (client, _):
            stream = client.begin("POST", "/x", [("content-length", "3")])
            equal(client.response(stream).reset, h2.PROTOCOL_ERROR, "a length, and no body")
            stream = client.begin("POST", "/x", end=False)
            client.trailers(stream, [("x-a", "b")], end=False)
            equal(client.response(stream).reset, h2.PROTOCOL_ERROR, "trailers that do not end the request")
            equal(client.ask(path="/good").status, 200)
            equal(upstream.count("/x"), 0)


def test_M52_body_that_spells_a_request_stays_a_body():
    smuggled = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    for kind, http2 in VERSIONS:
        with kind() as upstream, asking(upstream, http2) as (client, _):
            for fields in ([], [("content-length", str(len(smuggled)))]):
                equal(client.ask("POST", "/x", smuggled, fields).status, 200)
                equal((upstream.requests[-1].body, [request.path for request in upstream.requests if request.path != "/x"]), (smuggled, []))


def flooded(upstream, flood, kind, http2="never"):
    """Lets `flood(client)` send too many frames, which are counted as `kind`. Returns the code of the GOAWAY that ends
    the connection."""
    with asking(upstream, http2, client={"acknowledges": False}) as (client, reprise):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, Cut):
            flood(client)
        code = client.read_to_goaway()
        with Http2Client(reprise.gateway) as other:
            equal(other.ask(path="/other").status, 200, "another client is served")
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "no stream is left")
        # A flood of frames that are acknowledged may end with either limit.
        kinds = {"empty_frames", "unread_acks"} if kind == "empty_frames" else {kind}
        eventually(lambda: sum(reprise.metric("reprise_http2_floods_total", kind=each) for each in kinds) == 1, "the flood is counted")
        return code


def test_M92_rapid_reset_ends_the_connection_and_costs_the_upstream_nothing():
    with Upstream() as upstream:
        def flood(client):
            for _ in range(1100):
                stream, head = client.frames_of(client.head("GET", "/x"))
                client.send(head + h2.frame(h2.RST_STREAM, 0, stream, h2.number(h2.CANCEL)))
        equal(flooded(upstream, flood, "resets"), h2.ENHANCE_YOUR_CALM)
        assert upstream.count("/x") < 1000, upstream.count("/x")


def test_M92_streams_that_the_client_makes_reprise_reset_are_counted_too():
    with Upstream() as upstream:
        def flood(client):
            for _ in range(1100):
                client.begin(path="x")
        equal(flooded(upstream, flood, "resets"), h2.ENHANCE_YOUR_CALM)


def test_M92_bodies_of_a_wrong_length_are_counted_too():
    with Upstream() as upstream:
        def flood(client):
            for _ in range(1100):
                client.data(client.begin("POST", fields=[("content-length", "1")], end=False), b"ab", end=True)
        equal(flooded(upstream, flood, "resets"), h2.ENHANCE_YOUR_CALM)


def test_M93_client_that_floods_and_does_not_read_is_closed():
    with Http2Upstream({"/x": [Reply(200, bytes(64 * MIB))]}) as upstream, asking(upstream) as (client, reprise):
        client.open_window(client.begin(), 1 << 30)
        client.open_window(0, 1 << 30)
        upstream.heads_seen(1)
        client.socket.recv(1)
        for _ in range(25):
            client.send(h2.frame(h2.PRIORITY, 0, 1, bytes(5)) * 100)
        eventually(lambda: reprise.metric("reprise_http2_connections", side="client") == 0, "the connection is closed")
        equal(reprise.metric("reprise_http2_floods_total", kind="empty_frames"), 1)


def test_M93_frames_that_move_nothing_end_the_connection():
    floods = {"PING": h2.frame(h2.PING, 0, 0, b"12345678"), "SETTINGS": h2.settings_frame({}), "PRIORITY": h2.frame(h2.PRIORITY, 0, 1, bytes(5)),
              "unknown": h2.frame(99), "WINDOW_UPDATE": h2.frame(h2.WINDOW_UPDATE, 0, 0, h2.number(1))}
    for name, frame in floods.items():
        with Upstream() as upstream:
            def flood(client, frame=frame):
                for _ in range(25):
                    client.send(frame * 100)
            equal(flooded(upstream, flood, "empty_frames"), h2.ENHANCE_YOUR_CALM, name)


def test_M95_head_in_too_many_frames_ends_the_connection():
    with Upstream() as upstream:
        def flood(client):
            client.send(h2.frame(h2.HEADERS, 0, 1) + h2.frame(h2.CONTINUATION, 0, 1) * 20)
        equal(flooded(upstream, flood, "header_block"), h2.ENHANCE_YOUR_CALM)


def test_M96_head_above_the_limits_gets_431_and_the_connection_goes_on():
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        for fields in ([(f"x-{number}", "v") for number in range(300)], [("x-a", "v" * 60_000), ("x-b", "v" * 6_000)]):
            stream, head = client.frames_of(client.head("GET", "/x", fields), parts=6)
            client.send(head)
            equal(client.response(stream).status, 431)
        equal(client.ask(path="/good").status, 200)
        equal([request.path for request in upstream.requests], ["/good"])


def test_M96_single_field_that_the_library_cannot_decode_ends_the_connection():
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        client.send(client.frames_of(client.head("GET", "/x", [("x-a", "v" * 100_000)]), parts=8)[1])
        equal(client.read_to_goaway(), h2.COMPRESSION_ERROR)
        equal(upstream.requests, [])


def test_M97_table_of_headers_is_bounded():
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        client.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, 1, b"\x3f\xe1\xff\x03"))  # a table of 64 KiB
        client.responses[1] = None
        equal(client.read_to_goaway(), h2.COMPRESSION_ERROR)


def test_M98_windows_that_overflow_end_the_stream_or_the_connection():
    with Http2Upstream({"/x": [hangs]}) as upstream:
        with asking(upstream) as (client, _):
            stream = client.begin()
            client.open_window(stream, h2.MOST_STREAMS)
            equal(client.response(stream).reset, h2.FLOW_CONTROL_ERROR)
        with asking(upstream) as (client, _):
            client.open_window(0, h2.MOST_STREAMS)
            equal(client.read_to_goaway(), h2.FLOW_CONTROL_ERROR)


def test_M99_streams_over_the_limit_are_refused_and_the_connection_goes_on():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream) as (client, reprise):
        client.until(lambda: client.settings_seen == 1)
        equal(client.peer_settings[h2.MAX_CONCURRENT_STREAMS], 100)
        streams = [client.begin() for _ in range(103)]
        for stream in streams[100:]:
            response = client.response(stream)
            equal((response.status, response.reset), (None, h2.REFUSED_STREAM))
        for stream in streams[:100]:
            client.reset_stream(stream)
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the streams have ended")
        equal(client.ask(path="/good").status, 200, "the connection goes on")


def test_M45_frame_that_is_too_large_ends_the_connection():
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        client.send(b"\xff\xff\xff" + bytes([h2.DATA, 0]) + h2.number(1))
        equal(client.read_to_goaway(), h2.FRAME_SIZE_ERROR)
