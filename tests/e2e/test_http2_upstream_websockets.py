"""Tests row M12 of docs/requirements/http2.md: WebSockets of HTTP/2 clients over an upstream that speaks HTTP/2."""
import contextlib

import http2_frames as h2
from control import Controlled
from grpc_calls import REPEATABLE
from harness import LOOPBACK, equal, eventually
from http2_client import Http2Client
from http2_stage import UNLIMITED, GatewayClient, http2_proxy
from http2_upstream import Http2Upstream, Reply, TlsHttp2Upstream, aborts, closes, excludes, hangs, refuses, resets
from test_http2_client_intercept import http2_inside
from test_http2_client_versions import ClosesUnread
from test_http2_client_websockets import begun, echo, echoes, opened
from test_http2_clients import reprise_for, trusts
from test_intercept import HOST, Intercepting
from upstream import Upstream

PERMITTED = {h2.ENABLE_CONNECT_PROTOCOL: 1}
ACCEPTED = [(":status", "200"), ("sec-websocket-protocol", "chat")]
VERSIONS = ("auto", "always")


def accepts(link, request):
    link.headers(request.stream, ACCEPTED)
    return True


def echoes_data(link, request):
    """Sends the newest DATA frame back, with its END_STREAM."""
    size, end = request.frames[-1]
    link.data(request.stream, request.body[request.size - size:], end)
    return True


def in_turn(*steps):
    """Returns a step for heads. The nth request of a path uses the nth step, and the last step is used again."""
    return lambda link, request: steps[min(request.order, len(steps) - 1)](link, request)


def offering(kind=Http2Upstream, head=accepts, data=echoes_data, settings=(), **more):
    """Returns an upstream that permits WebSockets over HTTP/2. By default it echoes their DATA on the path /socket."""
    return kind({"/socket": [hangs]}, settings={**PERMITTED, **dict(settings)}, at_head={"/socket": head}, at_data={"/socket": data}, **more)


@contextlib.contextmanager
def asking(upstream, http2="auto", scheme="http", defaults=(), **configuration):
    """Yields an HTTP/2 client of a forward listener, and its reprise."""
    policy = {"http2": http2, **trusts(), **dict(defaults)}
    with reprise_for(upstream, defaults=policy, **configuration) as reprise:
        with Http2Client(reprise.forward, authority=f"localhost:{upstream.port}", scheme=scheme) as client:
            yield client, reprise


def all_streams_end(reprise):
    for side in ("client", "upstream"):
        eventually(lambda side=side: reprise.metric("reprise_http2_streams", side=side) == 0, f"the streams have ended: {side}")


def expect_extended_connect(request, scheme, port):
    equal((request.version, request.method, request.protocol, request.scheme, request.target, request.authority),
          ("HTTP/2", "CONNECT", "websocket", scheme, "/socket?a=1", f"localhost:{port}"))
    order = [field for field in request.fields if field[0].startswith("sec-websocket") or field[0] in ("origin", "cookie")]
    equal(order, [("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat"), ("origin", "https://a.test"), ("cookie", "a=1; b=2")])


def test_M12_websocket_stays_over_http_2_if_the_upstream_permits_it():
    for kind, scheme in ((Http2Upstream, "http"), (TlsHttp2Upstream, "https")):
        for http2 in VERSIONS:
            with offering(kind) as upstream:
                with asking(upstream, http2, scheme) as (client, reprise):
                    equal(client.ask().status, 200)
                    for _ in range(2):
                        stream = opened(client, "/socket?a=1", fields=[("sec-websocket-key", "b3RoZXI=")])
                        equal((client.responses[stream].attempts, client.ask().status), (1, 200))
                        echo(client, stream)
                    equal(upstream.connections, 1, "the client has one connection")
                    sockets = [line for line in reprise.requests(5) if line.get("carried")]
                    equal([(line["carried"], line["request_bytes"], line["response_bytes"], line["attempts"][0]["http"]) for line in sockets],
                          [("upgraded", 11, 11, "2")] * 2)
                    all_streams_end(reprise)
                for request in upstream.heads_seen(2, "/socket"):
                    expect_extended_connect(request, scheme, upstream.port)
                    equal((request.ended, request.reset), (True, None))


def test_M12_websocket_goes_over_a_fresh_http_1_connection_if_the_upstream_does_not_permit_it():
    for kind, scheme in ((Http2Upstream, "http"), (TlsHttp2Upstream, "https")):
        for http2 in VERSIONS:
            for settings in ({}, {h2.ENABLE_CONNECT_PROTOCOL: 0}):
                with kind({"/socket": [echoes]}, settings=settings) as upstream, asking(upstream, http2, scheme) as (client, _):
                    for connections in (2, 3):
                        stream = opened(client)
                        equal(client.responses[stream].attempts, 1)
                        echo(client, stream)
                        equal((client.ask().status, upstream.connections), (200, connections))
                    equal((upstream.versions("/socket"), upstream.versions("/x")), (["HTTP/1.1"] * 2, ["HTTP/2"] * 2))


def test_M12_upstream_without_websockets_over_http_2_is_asked_once_by_all_clients():
    with Http2Upstream({"/socket": [echoes]}) as upstream, reprise_for(upstream, threads=1) as reprise:
        for connections in (2, 3, 4):
            with Http2Client(reprise.gateway) as client:
                echo(client, opened(client))
            equal(upstream.connections, connections)
        equal(len(upstream.links), 1)


def test_M12_M13_upstream_without_http_2_gets_the_upgrade_at_the_first_attempt():
    for kind in (Upstream, ClosesUnread):
        for http2 in VERSIONS:
            with kind({"/socket": [echoes]}) as upstream, asking(upstream, http2) as (client, _):
                stream = opened(client)
                equal(client.responses[stream].attempts, 1, (kind, http2))
                echo(client, stream)
    for http2 in VERSIONS:
        with TlsHttp2Upstream({"/socket": [echoes]}, alpn=("http/1.1",)) as upstream, asking(upstream, http2, "https") as (client, _):
            stream = opened(client)
            equal((client.responses[stream].attempts, upstream.connections), (1, 1))
            echo(client, stream)


def test_M12_M24_route_with_never_upgrades_over_http_1():
    with Http2Upstream({"/socket": [echoes]}, settings=PERMITTED) as upstream, asking(upstream, "never") as (client, _):
        echo(client, opened(client))
        equal((upstream.versions(), len(upstream.links)), (["HTTP/1.1"], 0))


def test_M12_M13_upgrade_of_an_http_1_client_goes_over_http_1():
    with Http2Upstream({"/socket": [echoes]}, settings=PERMITTED) as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        equal(client.ask("GET").status, 200)
        client.begin("GET", "/socket", fields=[("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "eA==")])
        equal(client.read_final_head().status, 101)
        equal(upstream.versions(), ["HTTP/2", "HTTP/1.1"])


def test_M12_websocket_inside_intercepted_tls_over_http_2():
    with offering(TlsHttp2Upstream) as upstream, Intercepting() as reprise, http2_inside(reprise, upstream.port) as client:
        echo(client, opened(client))
        request, = upstream.heads_seen(1)
        equal((request.protocol, request.authority), ("websocket", f"{HOST}:{upstream.port}"))


def test_M12_M26_websocket_counts_towards_the_stream_limit_of_the_upstream():
    with offering(settings={h2.MAX_CONCURRENT_STREAMS: 1}) as upstream, asking(upstream) as (client, _):
        stream = opened(client)
        equal((client.ask().status, upstream.connections), (200, 2))
        echo(client, stream)


def test_M12_data_that_arrives_with_the_head_is_delivered():
    def greets(link, request):
        with link.one_write():
            link.headers(request.stream, [*ACCEPTED, ("content-length", "3")])
            link.data(request.stream, b"hello ")
            link.data(request.stream, b"you", end=True)
        return True
    with offering(head=greets, data=lambda *_: True) as upstream, asking(upstream) as (client, reprise):
        stream = opened(client)
        response = client.response(stream)
        equal((response.body, response.field("content-length"), response.ended), (b"hello you", None, True))
        client.data(stream, b"the other half", end=True)
        request, = upstream.heads_seen(1)
        eventually(lambda: request.ended, "the end arrives")
        equal((request.body, request.reset), (b"the other half", None))
        all_streams_end(reprise)


def test_M12_head_that_ends_the_stream_is_the_half_close():
    def ends(link, request):
        link.headers(request.stream, ACCEPTED, end=True)
        return True
    with offering(head=ends, data=lambda *_: True) as upstream, asking(upstream) as (client, _):
        stream = begun(client)
        client.data(stream, b"one way")
        response = client.response(stream)
        equal((response.status, response.body, response.ended, response.reset), (200, b"", True, None))
        client.data(stream, b" only", end=True)
        request, = upstream.heads_seen(1)
        eventually(lambda: request.ended, "the end arrives")
        equal((request.body, request.reset), (b"one way only", None))


def test_M12_end_of_the_client_is_the_half_close_of_the_upstream_stream():
    def answers_at_the_end(link, request):
        if request.frames[-1][1]:
            link.data(request.stream, request.body[::-1], end=True)
        return True
    with offering(data=answers_at_the_end) as upstream, asking(upstream) as (client, _):
        stream = begun(client)
        client.data(stream, b"for")
        client.data(stream, b"wards", end=True)
        response = client.response(stream)
        equal((response.status, response.body, response.ended), (200, b"sdrawrof", True))


def test_M12_one_megabyte_goes_both_ways_over_http_2():
    large = bytes(range(256)) * 4096
    def sends(link, request):
        link.respond(request, Reply(200, large[::-1], fields=ACCEPTED[1:], length=False))
        return True
    for settings in ({}, {h2.INITIAL_WINDOW_SIZE: 100}):
        with offering(head=sends, data=lambda *_: True, settings=settings) as upstream, asking(upstream) as (client, _):
            stream = opened(client)
            client.upload(stream, large)
            response = client.response(stream)
            equal((response.body == large[::-1], response.ended, response.reset), (True, True, None))
            request, = upstream.heads_seen(1)
            eventually(lambda request=request: request.ended, "the end arrives")
            equal((request.body == large, request.reset), (True, None))


def test_M12_closed_window_of_the_upstream_pauses_the_client():
    settings = {h2.INITIAL_WINDOW_SIZE: 10}
    with offering(data=lambda *_: True, settings=settings, opens_windows=False) as upstream, asking(upstream) as (client, reprise):
        stream, sent = opened(client), 0
        for _ in range(4):
            room = client.stream_windows[stream]
            client.upload(stream, bytes(room), end=False)
            sent += room
            equal(client.ask().status, 200)
        assert sent <= 1 << 18, f"the client may send {sent} bytes"
        request, = upstream.heads_seen(1, "/socket")
        eventually(lambda: request.size == 10, "the window is full")
        request.link.open_window(request.stream, 1 << 20)
        client.upload(stream, b"end")
        eventually(lambda: request.ended, "the rest arrives")
        equal(request.size, sent + 3)
        request.link.data(request.stream, b"whole", end=True)
        equal((client.response(stream).body, client.response(stream).ended), (b"whole", True))
        all_streams_end(reprise)


def test_M12_websocket_whose_window_stays_closed_ends_after_the_idle_timeout():
    routes = [{"name": "sockets", "match": {"path": "/socket"}, "idle_timeout": "100ms"}]
    with offering(data=lambda *_: True, settings={h2.INITIAL_WINDOW_SIZE: 10}, opens_windows=False) as upstream:
        with asking(upstream, routes=routes) as (client, reprise):
            client.until(lambda: client.settings_seen)
            with client.one_write():
                stream = begun(client)
                client.data(stream, bytes(1000))
            client.response(stream)
            request, = upstream.heads_seen(1)
            eventually(lambda: request.reset == h2.CANCEL, "the upstream stream is reset")
            request.link.open_window(request.stream, 1000)
            equal((client.ask().status, request.size, upstream.connections), (200, 10, 1))
            all_streams_end(reprise)


def test_M12_closed_window_of_the_client_pauses_the_upstream():
    reply = Reply(200, bytes(1 << 20), fields=ACCEPTED[1:], length=False)
    def sends(link, request):
        link.respond(request, reply)
        return True
    with offering(head=sends) as upstream, reprise_for(upstream) as reprise:
        with Http2Client(reprise.gateway, opens_windows=False, settings={h2.INITIAL_WINDOW_SIZE: 100}) as client:
            stream = opened(client)
            response = client.responses[stream]
            client.until(lambda: response.size == 100)
            equal(client.ask().body[:6], b"answer")
            request, = upstream.heads_seen(1, "/socket")
            assert len(request.unsent) > 1 << 19, "the upstream waits"
            client.open_window(0, 2 << 20)
            client.open_window(stream, 2 << 20)
            client.response(stream)
            equal((response.size, response.ended, response.reset), (1 << 20, True, None))


def test_M12_other_responses_of_an_http_2_upstream_pass_with_their_body():
    large = b"not you" * 30000
    for reply in (Reply(403, b"no"), Reply(404, large, length=False), Reply(403, b"with", trailers=[("x-sum", "1")], length=False), Reply(304, b""),
                  Reply(403, b"late", interim=[(103, [("link", "</x>")])])):
        def responds(link, request, reply=reply):
            link.respond(request, reply)
            return True
        with offering(head=responds, data=lambda *_: True) as upstream, asking(upstream) as (client, reprise):
            stream = begun(client)
            client.data(stream, b"GET /hidden HTTP/1.1\r\nHost: a.test\r\n\r\n")
            response = client.response(stream)
            equal((response.status, response.body, response.ended, response.attempts), (reply.status, reply.body, True, 1))
            equal([status for status, _ in response.interim], [status for status, _ in reply.interim])
            equal(client.ask().status, 200)
            all_streams_end(reprise)
            equal(upstream.connections, 1)


def test_M12_interim_response_precedes_an_open_websocket():
    def hints(link, request):
        link.headers(request.stream, [(":status", "103"), ("link", "</x>")])
        return accepts(link, request)
    with offering(head=hints) as upstream, asking(upstream) as (client, _):
        stream = opened(client)
        equal([status for status, _ in client.responses[stream].interim], [103])
        echo(client, stream)


def test_M12_status_101_over_http_2_is_malformed():
    def switches(link, request):
        link.headers(request.stream, [(":status", "101")])
        return True
    with offering(head=switches) as upstream, asking(upstream) as (client, reprise):
        equal(client.response(begun(client)).status, 502)
        equal(len(upstream.heads), 1)
        all_streams_end(reprise)


def test_M12_attempts_before_a_2xx_are_repeated_if_nothing_was_done():
    def busy(link, request):
        link.respond(request, Reply(503))
        return True
    for failure in (busy, refuses, excludes()):
        for http2 in VERSIONS:
            with offering(head=in_turn(failure, accepts)) as upstream, asking(upstream, http2) as (client, _):
                stream = opened(client)
                equal(client.responses[stream].attempts, 2)
                echo(client, stream)
                equal(len(upstream.heads), 2)


def test_M12_M29_upstream_that_requires_http_1_gets_the_upgrade():
    with Http2Upstream({"/socket": [echoes]}, settings=PERMITTED, at_head={"/socket": resets(h2.HTTP_1_1_REQUIRED)}) as upstream:
        with asking(upstream, "always") as (client, _):
            stream = opened(client)
            equal(client.responses[stream].attempts, 2)
            echo(client, stream)
            equal((len(upstream.heads), upstream.versions()), (1, ["HTTP/1.1"]))


def test_M12_lost_attempt_is_not_repeated_because_it_may_have_opened_the_websocket():
    for failure in (resets(h2.INTERNAL_ERROR), closes, aborts):
        with offering(head=failure) as upstream, asking(upstream) as (client, reprise):
            response = client.response(begun(client))
            equal((response.status, response.ended, response.attempts), (502, True, 1))
            equal((len(upstream.heads), client.ask().status), (1, 200))
            all_streams_end(reprise)


def test_M12_nothing_is_retried_after_the_2xx():
    def then(step):
        def broken(link, request):
            link.headers(request.stream, ACCEPTED)
            link.data(request.stream, b"part")
            step(link, request)
            return True
        return broken
    for failure in (resets(h2.INTERNAL_ERROR), resets(h2.CANCEL), resets(h2.NO_ERROR), refuses, closes, aborts, excludes(closes=True)):
        with offering(head=then(failure)) as upstream, asking(upstream, defaults={**REPEATABLE, **UNLIMITED}) as (client, reprise):
            response = client.response(begun(client))
            equal((response.ended, response.reset, len(upstream.heads)), (False, h2.CONNECT_ERROR, 1))
            assert (response.status, response.body) in ((200, b"part"), (None, b"")), response.body
            equal(client.ask().status, 200)
            all_streams_end(reprise)


def test_M12_goaway_that_includes_the_stream_leaves_the_websocket_open():
    def goes_away(link, request):
        accepts(link, request)
        link.goaway()
        return True
    with offering(head=goes_away) as upstream, asking(upstream) as (client, _):
        stream = opened(client)
        equal(client.ask().status, 200)
        echo(client, stream)
        equal(upstream.connections, 2)


def test_M12_M65_reset_of_the_client_cancels_the_upstream_stream():
    waits = {"open": accepts, "waiting": lambda *_: True}
    for head in waits.values():
        with offering(head=head) as upstream, asking(upstream) as (client, reprise):
            stream = opened(client) if head is accepts else begun(client)
            request, = upstream.heads_seen(1)
            client.reset_stream(stream)
            eventually(lambda request=request: request.reset == h2.CANCEL, "the upstream stream is reset")
            equal((client.ask().status, upstream.connections), (200, 1))
            all_streams_end(reprise)


def test_M12_M65_end_of_the_client_connection_cancels_the_upstream_stream():
    with offering() as upstream, asking(upstream) as (client, reprise):
        opened(client)
        request, = upstream.heads_seen(1)
        client.abort()
        eventually(lambda: request.reset == h2.CANCEL, "the upstream stream is reset")
        all_streams_end(reprise)


def test_M12_M64_drain_ends_an_idle_websocket():
    with offering() as upstream, asking(upstream) as (client, reprise):
        stream = opened(client)
        client.data(stream, b"hello ")
        client.until(lambda: client.responses[stream].size == 6)
        reprise.terminate()
        equal((client.response(stream).body, client.response(stream).ended), (b"hello ", True))
        request, = upstream.heads_seen(1)
        eventually(lambda: request.reset == h2.CANCEL, "the upstream stream is reset")
        client.read_to_goaway()
        equal(reprise.wait(), 0)


def test_M12_M64_websocket_that_outlasts_the_grace_is_reset():
    def talks(link, request):
        accepts(link, request)
        link.data(request.stream, b"now")
        return True
    def goes_on(link, request):
        link.data(request.stream, b"more")
        return True
    with offering(head=talks, data=goes_on) as upstream, asking(upstream, shutdown={"grace": "50ms"}) as (client, reprise):
        stream = opened(client)
        client.data(stream, b"hello")
        client.until(lambda: client.responses[stream].size == 7)
        reprise.terminate()
        client.read_to_goaway()
        request, = upstream.heads_seen(1)
        eventually(lambda: request.reset == h2.CANCEL or request.link.ended, "the upstream stream has ended")
        equal(reprise.wait(), 0)


def test_M12_N3_websocket_to_an_address_denied_by_a_reload_is_closed():
    listeners = [{"mode": "forward", "bind": f"{LOOPBACK}:0"}]
    with offering() as upstream, Controlled(listeners=listeners) as reprise:
        with Http2Client(reprise.forward, authority=f"localhost:{upstream.port}") as client:
            stream = opened(client)
            reprise.change(security={"deny": [f"{LOOPBACK}/32", "self"]}, listeners=listeners)
            reprise.expect_reload("success")
            client.response(stream)
            request, = upstream.heads_seen(1)
            eventually(lambda: request.reset == h2.CANCEL, "the upstream stream is reset")
            reprise.expect_metric(1, "reprise_tunnels_total", outcome="denied")
