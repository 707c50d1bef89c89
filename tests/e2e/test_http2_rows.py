"""Tests rows M13 and M21 to M67 of docs/requirements/http2.md: the choice of the version, connections to upstreams,
their SETTINGS, and which connection a request uses. The upstream fails each case in which the proxy violates HTTP/2."""
import socket
import time

import http2_frames as h2
from client import ask as ask_forward
from exactly import normal
from harness import at_most, equal, eventually
from http2_stage import (ONCE, ONE_CONNECTION, UNLIMITED, GatewayClient, ask, attempts_of, causes_of, clients, http2_proxy, proxy_status,
                         waits_of)
from http2_upstream import Http2Upstream, Reply, TlsHttp2Upstream, closes, excludes, hangs, resets
from server import Server
from test_retries import reasons
from test_rows_silence import vanish
from tls import trusting
from upstream import Say

H2_ALONE, HTTP1_ALONE = b"\x00\x10\x00\x05\x00\x03\x02h2", b"\x00\x10\x00\x0b\x00\x09\x08http/1.1"  # ALPN in a ClientHello
ONE_STREAM = {h2.MAX_CONCURRENT_STREAMS: 1}


class PeekingUpstream(TlsHttp2Upstream):
    """Keeps the beginning of each ClientHello in `hellos`."""

    def __init__(self, *scripts, **more):
        super().__init__(*scripts, **more)
        self.hellos = []

    def secure(self, connection):
        def hello():
            data = connection.recv(65536, socket.MSG_PEEK)
            return data if len(data) >= 5 + int.from_bytes(data[3:5], "big") else None
        self.hellos.append(eventually(hello, "the ClientHello is complete"))
        return super().secure(connection)


def websocket(connection, request):
    equal((request.version, request.field("Upgrade")), ("HTTP/1.1", "websocket"))
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello")
    return False


def test_M13_upgrade_request_is_sent_over_http_1_although_http2_is_always():
    with Http2Upstream({"/socket": [websocket]}) as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        equal(client.ask("GET", "/x").status, 200)
        client.begin("GET", "/socket", fields=[("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "eA=="), ("Sec-WebSocket-Version", "13")])
        equal((client.read_final_head().status, client.read_bytes(5)), (101, b"hello"))
        equal(upstream.versions(), ["HTTP/2", "HTTP/1.1"])


def test_M20_M22_M24_requests_of_http_1_clients_are_sent_over_http_1_unless_http2_is_always():
    for http2, version in (("auto", "HTTP/1.1"), ("never", "HTTP/1.1"), ("always", "HTTP/2")):
        with Http2Upstream() as upstream, http2_proxy(upstream, defaults={"http2": http2}) as reprise:
            for method in ("GET", "POST"):
                equal(ask(reprise, method, "/x", b"body" if method == "POST" else None).status, 200)
            equal(upstream.versions(), [version] * 2, http2)
        with PeekingUpstream() as upstream, \
                http2_proxy(upstream, f"https://localhost:{upstream.port}", trusting(http2=http2)) as reprise:
            equal(ask(reprise, "GET").status, 200)
            equal((upstream.versions(), upstream.connections), ([version], 1), http2)
            equal((H2_ALONE in upstream.hellos[0], HTTP1_ALONE in upstream.hellos[0]), (version == "HTTP/2", version == "HTTP/1.1"), http2)


def test_M23_forward_listener_also_uses_http_2():
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as gateway:
        equal(gateway.ask("GET", "/one").body, b"answer 1 to /one\n")
        response = ask_forward(reprise, "POST", upstream.url("/two?a=%20"), b"body")
        equal((response.status, response.body), (200, b"answer 1 to /two\n"))
        request = upstream.seen(1, "/two")[0]
        equal((request.version, request.target, request.body, request.authority), ("HTTP/2", "/two?a=%20", b"body", f"127.0.0.1:{upstream.port}"))


def test_M23_upstream_over_tls_that_does_not_select_http2_is_not_http2():
    for alpn in (("http/1.1",), ()):
        with TlsHttp2Upstream(alpn=alpn) as upstream, \
                http2_proxy(upstream, f"https://localhost:{upstream.port}", trusting(http2="always", **UNLIMITED)) as reprise:
            response = ask(reprise, "POST", "/x", b"body")
            line = reprise.requests(1)[0]
            equal((response.status, proxy_status(response)), (502, "http_protocol_error"))
            equal((set(attempts_of(line)), upstream.count()), ({("tls", "not_http2")}, 0), "no part of the request was sent")
            assert response.attempts > 1, "no part of it was sent, so a POST is retried"


def frames_in(data):
    """Returns the frame types in the bytes that follow the preface."""
    kinds, data = [], data[len(h2.PREFACE):]
    while len(data) >= 9:
        kinds.append(data[3])
        data = data[9 + int.from_bytes(data[:3], "big"):]
    return kinds


def test_M21_M23_upstream_that_speaks_http_1_in_clear_text_is_not_http2_and_gets_no_part_of_the_request():
    received = []
    def refuse(connection):
        data = bytearray(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        try:
            while more := connection.recv(65536):
                data += more
        finally:
            received.append(bytes(data))
    for greeting in (refuse, lambda connection: (connection.sendall(b"220 smtp.test ESMTP\r\n"), received.append(connection.recv(65536)))):
        with Server(greeting) as upstream, http2_proxy(upstream, defaults=UNLIMITED) as reprise:
            response = ask(reprise, "POST", "/x", b"body")
            line = reprise.requests(1)[0]
            equal((response.status, proxy_status(response), set(attempts_of(line))), (502, "http_protocol_error", {("connect", "not_http2")}))
            assert response.attempts > 1, "no part of it was sent, so a POST is retried"
            upstream.all_closed()
    assert received and all(h2.HEADERS not in frames_in(data) for data in received), received


def test_M25_request_waits_for_settings_that_arrive_late():
    def late(_):  # the upstream fails the case if a request comes before the SETTINGS are acknowledged
        upstream.closing.wait(0.4)
    with Http2Upstream(at_start=late) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "POST", "/x", b"body")
        equal((response.status, response.attempts, len(upstream.heads)), (200, 1, 1))


def test_M25_settings_that_never_arrive_are_a_failure_to_connect():
    with Http2Upstream(settings=None) as upstream, http2_proxy(upstream, defaults={"connect_timeout": "200ms", **UNLIMITED}) as reprise:
        response = ask(reprise, "POST", "/x", b"body")
        equal((response.status // 100, set(attempts_of(reprise.requests(1)[0])), upstream.heads), (5, {("connect", "connect_timeout")}, []))
        assert response.attempts > 1, "no part of it was sent, so a POST is retried"


def test_M25_post_is_retried_if_the_connection_ends_before_settings_or_with_goaway_after_them():
    def fin(link):
        link.close()
        return False
    def rst(link):
        link.abort()
        return False
    def goaway_first(link):
        with link.one_write():
            link.send_settings({})
            link.goaway(0, watch=False)
        return False
    def other_frames_first(link):
        link.ping()
        link.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, h2.number(5)) + h2.frame(0xfa, 0, 0, b"x"))
    for start in (fin, rst, goaway_first, other_frames_first):
        def first(link, start=start):
            return start(link) if link.number == 1 else None
        with Http2Upstream(at_start=first) as upstream, http2_proxy(upstream) as reprise:
            response = ask(reprise, "POST", "/x", b"body", [("X-Id", "a")])
            line = reprise.requests(1)[0]
            equal((response.status, upstream.effects, [head.body for head in upstream.heads]), (200, {"a": 1}, [b"body"]), start.__name__)
            assert all(stage == "connect" for stage, _ in attempts_of(line)), line
            assert start in (goaway_first, other_frames_first) or response.attempts == 2, line


def test_M26_limit_of_streams_is_never_exceeded_and_requests_wait():
    for limit in (1, 3):
        with Http2Upstream({"/x": [hangs]}, {h2.MAX_CONCURRENT_STREAMS: limit}) as upstream, \
                http2_proxy(upstream, threads=1, pool={"http2_connections": 2}) as reprise, clients(reprise, 2 * limit + 3) as asking:
            for client in asking:
                client.begin("POST", body=b"body")
            for done in range(len(asking)):  # each response makes room for one request that waits
                heads = upstream.heads_seen(min(done + 2 * limit, len(asking)))
                eventually(lambda request=heads[done]: request.ended, "the request is complete")
                heads[done].link.respond(heads[done], Reply(200))
            equal([client.read_response().status for client in asking], [200] * len(asking))
            equal((upstream.connections, {link.most_open for link in upstream.links}, len(upstream.heads)), (2, {limit}, len(asking)))


def test_M26_limit_of_0_is_obeyed_until_it_is_raised():
    with Http2Upstream(settings={h2.MAX_CONCURRENT_STREAMS: 0}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, \
            GatewayClient(reprise) as client:
        client.begin("POST", body=b"body")
        eventually(lambda: upstream.links and upstream.links[0].acknowledged, "the SETTINGS are acknowledged")
        upstream.links[0].send_settings(ONE_STREAM)
        response = client.read_response()
        equal((response.status, response.attempts, upstream.connections), (200, 1, 1))


def test_M26_limit_that_is_lowered_or_raised_while_streams_run_is_obeyed():
    with Http2Upstream({"/x": [hangs]}, {h2.MAX_CONCURRENT_STREAMS: 3}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, \
            clients(reprise, 7) as asking:
        def change(limit):
            before = link.acknowledged
            link.send_settings({h2.MAX_CONCURRENT_STREAMS: limit})
            eventually(lambda: link.acknowledged > before, "the SETTINGS are acknowledged")
        for client in asking[:3]:
            client.begin("GET")
        link = upstream.heads_seen(3)[0].link
        for client in asking[3:]:
            client.begin("GET")
            client.is_read(reprise)
        change(1)
        for at in range(3):  # the upstream fails the case if a stream begins before the third response
            link.respond(upstream.heads[at], Reply(200))
        upstream.heads_seen(4)
        change(3)
        upstream.heads_seen(6)
        equal(len(link.streams), 3)
        for at in range(3, 7):
            link.respond(upstream.heads_seen(at + 1)[at], Reply(200))
        equal([client.read_response().status for client in asking], [200] * 7)
        equal((upstream.connections, len(upstream.heads)), (1, 7))


def test_M27_request_body_obeys_windows_that_open_close_and_become_negative():
    body = bytes(range(250)) * 240
    with Http2Upstream(settings={h2.INITIAL_WINDOW_SIZE: 0}, opens_windows=False) as upstream, http2_proxy(upstream) as reprise, \
            GatewayClient(reprise) as client:
        client.begin("PUT", body=body)
        request = upstream.heads_seen(1)[0]
        def opens(by, size):
            request.link.open_window(request.stream, by)
            eventually(lambda: request.size == size, f"{size} bytes of the body, not {request.size}")
        def changes(window, size):
            request.link.send_settings({h2.INITIAL_WINDOW_SIZE: window})
            eventually(lambda: request.size == size, f"{size} bytes of the body, not {request.size}")
        opens(1, 1)
        changes(5000, 5001)
        changes(100, 5001)  # the window is -4900
        opens(4000, 5001)
        opens(1000, 5101)
        changes(0, 5101)
        changes(70000, len(body))
        equal((client.read_response().status, upstream.seen(1)[0].body == body), (200, True))


def test_M27_M97_header_table_sizes_of_the_upstream_are_obeyed():
    for size in (0, 100, 65536):
        with Http2Upstream(settings={h2.HEADER_TABLE_SIZE: size, h2.MAX_FRAME_SIZE: 1 << 20}) as upstream, http2_proxy(upstream) as reprise, \
                GatewayClient(reprise) as client:
            for number in range(20):
                fields = [(f"X-{i}", "v" * 200 + str(number % 3)) for i in range(20)]
                equal(client.ask("PUT", f"/{number}", b"x" * 40000, fields).status, 200)
            for number, request in enumerate(upstream.seen(20)):
                equal([request.field(f"x-{i}") for i in range(20)], ["v" * 200 + str(number % 3)] * 20)
            assert upstream.links[0].largest_table <= 4096, upstream.links[0].largest_table


def test_M29_http_1_1_required_sends_the_request_once_more_over_http_1_and_is_remembered():
    for step in (resets(h2.HTTP_1_1_REQUIRED), excludes(h2.HTTP_1_1_REQUIRED)):
        with Http2Upstream({"/x": [step, Say(200, b"over one")]}) as upstream, http2_proxy(upstream, threads=1) as reprise:
            response = ask(reprise, "POST", "/x", b"body")
            equal((response.status, response.body, response.attempts), (200, b"over one", 2))
            equal((upstream.versions("/x"), [request.body for request in upstream.requests]), (["HTTP/2", "HTTP/1.1"], [b"body"] * 2))
            line = reprise.requests(1)[0]
            equal((causes_of(line), waits_of(line)), (["http_1_1_required"], [0, 0]), "at once")
            equal([ask(reprise, "POST", "/y", b"body").attempts for _ in range(3)], [1] * 3)
            equal(upstream.versions("/y"), ["HTTP/1.1"] * 3, "it is remembered")


def test_M29_request_whose_body_is_no_longer_held_is_not_sent_over_http_1():
    with Http2Upstream({"/x": [resets(h2.HTTP_1_1_REQUIRED), Say(200)]}) as upstream, \
            http2_proxy(upstream, defaults={"replay": {"memory": "1KiB", "disk": "0"}}) as reprise:
        response = ask(reprise, "POST", "/x", b"x" * 30_000)
        equal((response.status, response.attempts, response.reason, upstream.count()), (502, 1, "not_replayable", 1))


def test_M53_client_connection_uses_its_own_upstream_connection():
    with Http2Upstream() as upstream, http2_proxy(upstream, threads=1) as reprise, clients(reprise, 3) as asking:
        for _ in range(2):
            for client in asking:
                equal(client.ask("POST", body=b"body").status, 200)
        first, second = ([request.connection for request in upstream.requests[at:at + 3]] for at in (0, 3))
        equal((first, len(set(first))), (second, 3))


def test_M53_requests_beyond_the_limits_wait_in_order():
    paths = [f"/{number}" for number in range(6)]
    with Http2Upstream({path: [hangs] for path in paths}, ONE_STREAM) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, \
            clients(reprise, len(paths)) as asking:
        for client, path in zip(asking, paths):
            client.begin("POST", path, b"body")
            client.is_read(reprise)
        for number, path in enumerate(paths):
            request = upstream.seen(number + 1)[number]
            equal(request.path, path)
            request.link.respond(request, Reply(200))
        equal([client.read_response().status for client in asking], [200] * len(paths))


def test_M53_request_that_waits_until_its_deadline_is_never_sent():
    with Http2Upstream({"/first": [hangs]}, ONE_STREAM) as upstream, \
            http2_proxy(upstream, routes=[{"name": "short", "match": {"path": "/late"}, "retry": {"deadline": "300ms"}}], **ONE_CONNECTION) as reprise, \
            clients(reprise, 2) as (first, late):
        first.begin("POST", "/first", b"body")
        request = upstream.seen(1)[0]
        response = late.ask("POST", "/late", b"body")
        equal((response.status // 100, response.reason), (5, "deadline_too_near"))
        request.link.respond(request, Reply(200))
        equal(first.read_response().status, 200)
        equal((ask(reprise, "GET", "/after").status, [head.path for head in upstream.heads]), (200, ["/first", "/after"]), "/late was not sent")


def test_M53_client_that_leaves_while_it_waits_takes_no_stream():
    with Http2Upstream({"/first": [hangs]}, ONE_STREAM) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, \
            clients(reprise, 3) as (first, gone, last):
        first.begin("GET", "/first")
        request = upstream.seen(1)[0]
        gone.begin("POST", "/gone", b"body").is_read(reprise)
        last.begin("POST", "/last", b"body").is_read(reprise)
        gone.reset()
        reprise.expect_metric(1, "reprise_requests_total", code="client_gone")
        request.link.respond(request, Reply(200))
        equal((first.read_response().status, last.read_response().status), (200, 200))
        equal([head.path for head in upstream.heads], ["/first", "/last"])


def test_M54_retry_uses_another_connection():
    with Http2Upstream({"/x": [resets(h2.INTERNAL_ERROR), resets(h2.INTERNAL_ERROR), 200]}) as upstream, http2_proxy(upstream) as reprise, \
            GatewayClient(reprise) as client:
        equal(client.ask("GET", "/warm").status, 200)
        response = client.ask("GET")
        used = [request.connection for request in upstream.seen(3, "/x")]
        equal((response.status, response.attempts, used[0]), (200, 3, 1))
        assert used[0] != used[1] != used[2], used


def test_M55_end_of_an_idle_connection_is_noticed_before_the_next_request():
    for end in (lambda link: link.close(), lambda link: link.goaway(), lambda link: link.goaway(h2.MOST_STREAMS), lambda link: link.abort()):
        with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
            equal(client.ask("POST", body=b"1").status, 200)
            link = upstream.links[0]
            end(link)
            reprise.expect_metric(0, "reprise_upstream_connections")
            response = client.ask("POST", body=b"2")
            equal((response.status, response.attempts, [request.connection for request in upstream.requests]), (200, 1, [1, 2]))


def held_streams(upstream, asking, path="/x"):
    """Sends one POST from each client over the same connection. Returns the requests, none of which has a response."""
    for number, client in enumerate(asking):
        client.begin("POST", path, b"%d" % number, [("X-Id", str(number))])
        upstream.seen(number + 1, path)
    return upstream.seen(len(asking), path)


def test_M56_streams_up_to_the_last_id_finish_and_streams_above_it_move():
    with Http2Upstream({"/x": [hangs, hangs, hangs, 200], "/new": [200]}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, \
            clients(reprise, 4) as asking:
        requests = held_streams(upstream, asking[:3])
        link = requests[0].link
        equal({request.connection for request in requests}, {1})
        link.goaway(h2.MOST_STREAMS)
        eventually(lambda: link.knows_goaway, "the first GOAWAY is known")
        equal(asking[3].ask("POST", "/new", b"new").status, 200, "no stream begins on the connection that is going away")
        link.goaway(requests[1].stream)
        moved = asking[2].read_response()
        equal((moved.status, moved.attempts, upstream.seen(5)[4].body), (200, 2, b"2"))
        for request in requests[:2]:
            link.respond(request, Reply(200))
        equal([client.read_response().attempts for client in asking[:2]], [1, 1])
        equal(([request.connection == 1 for request in upstream.requests], link.ignored), ([True] * 3 + [False] * 2, 1))
        line = [line for line in reprise.requests(4) if len(line["attempts"]) == 2][0]
        equal((reasons(line), causes_of(line), waits_of(line)), (["stale_connection", "success"], ["goaway"], [0, 0]))


def test_M56_goaway_with_an_error_code_and_a_fin():
    """The request above the last id moves. The one at the last id may have been processed, so a POST is not repeated."""
    with Http2Upstream({"/x": [hangs, hangs, 200]}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, clients(reprise, 2) as asking:
        requests = held_streams(upstream, asking)
        with requests[0].link.one_write():
            requests[0].link.goaway(requests[0].stream, h2.INTERNAL_ERROR, b"debug", watch=False)
        requests[0].link.close()
        lost, moved = (client.read_response() for client in asking)
        equal((lost.status, lost.attempts, lost.reason), (502, 1, "not_idempotent"))
        equal((moved.status, moved.attempts, [request.body for request in upstream.requests]), (200, 2, [b"0", b"1", b"1"]))


def test_M56_upstream_that_serves_streams_although_its_goaway_excludes_them():
    """GOAWAY with last id 0 says that no stream was processed. A response that arrives all the same is not delivered twice."""
    def responds_all_the_same(link, request):
        frames = link.head_frames(request.stream, [(":status", "200")])
        link.send(h2.goaway_frame(0) + frames[0] + h2.data_frame(request.stream, b"late", True))
        link.streams.pop(request.stream)
        link.dropped.add(request.stream)
    with Http2Upstream({"/x": [responds_all_the_same, Reply(200, b"second")]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "POST", "/x", b"body")
        equal((response.status, response.body, response.attempts, upstream.count()), (200, b"second", 2, 2))


def test_M56_goaway_inside_a_header_block_is_a_connection_error():
    def torn(link, request):
        frames = link.head_frames(request.stream, [(":status", "200"), ("x-a", "b" * 100)], parts=2)
        link.send(frames[0] + h2.goaway_frame(request.stream) + frames[1] + h2.data_frame(request.stream, b"body", True))
    with Http2Upstream({"/x": [torn], "/y": [torn, 200]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "POST", "/x", b"body")
        equal((response.status, response.attempts), (502, 1))
        equal(eventually(lambda: upstream.links[0].goaways, "the proxy reports the error")[0][1], h2.PROTOCOL_ERROR)
        equal(ask(reprise, "GET", "/after").status, 200)


def test_M56_goaway_between_head_and_data_does_not_stop_the_response():
    def goaway_between(link, request):
        link.headers(request.stream, [(":status", "200"), ("content-length", "8")])
        link.data(request.stream, b"half")
        link.goaway()
        link.data(request.stream, b"rest", end=True)
        link.close()
    with Http2Upstream({"/x": [goaway_between]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "POST", "/x", b"body")
        equal((response.status, response.body, response.attempts), (200, b"halfrest", 1))


def test_M58_connection_that_ends_without_goaway_may_have_processed_its_requests():
    for step in (closes, lambda link, _: link.abort()):
        with Http2Upstream({"/post": [step], "/get": [step, 200]}) as upstream, http2_proxy(upstream) as reprise:
            response = ask(reprise, "POST", "/post", b"body")
            equal((response.status, response.attempts, response.reason, upstream.count("/post")), (502, 1, "not_idempotent", 1))
            response = ask(reprise, "GET", "/get")
            equal((response.status, response.attempts), (200, 2))


def test_M59_requests_on_a_silently_dead_connection_are_repeated_elsewhere_except_a_post():
    routes = [{"name": "orders", "match": {"path": "/post"}, "response_timeout": "3s"}]
    with Http2Upstream() as upstream, http2_proxy(upstream, routes=routes, **ONE_CONNECTION) as reprise, clients(reprise, 4) as asking:
        equal([client.ask("GET", "/warm").status for client in asking], [200] * 4)
        equal(upstream.connections, 1)
        vanish(upstream.links[0].wire)
        start = time.monotonic()
        for client in asking[:3]:
            client.begin("GET", "/get")
        asking[3].begin("POST", "/post", b"body")
        for client in asking[:3]:
            response = client.read_response()
            equal((response.status, response.attempts), (200, 2))
        at_most(time.monotonic() - start, 15, "seconds until the dead connection was noticed")
        response = asking[3].read_response()
        equal((response.status // 100, response.attempts, upstream.count("/post")), (5, 1, 0))
        equal({request.connection == 1 for request in upstream.seen(3, "/get")}, {False})
        equal([cause for line in reprise.requests(8) if line["path"] == "/get" for cause in causes_of(line)], ["unacknowledged"] * 3)


def test_M63_idle_connection_is_closed_with_goaway():
    with Http2Upstream() as upstream, http2_proxy(upstream, pool={"idle_timeout": "100ms"}) as reprise, GatewayClient(reprise) as client:
        equal(client.ask("GET").status, 200)
        link = upstream.links[0]
        equal((eventually(lambda: link.ended, "the connection is closed"), link.goaways), ("fin", [(0, h2.NO_ERROR)]))
        equal((client.ask("GET").status, upstream.connections), (200, 2))


def test_M65_M66_request_of_a_client_that_has_gone_is_cancelled_and_the_connection_stays():
    with Http2Upstream({"/x": [hangs]}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, clients(reprise, 2) as (gone, other):
        gone.begin("GET")
        request = upstream.seen(1)[0]
        gone.reset()
        equal(eventually(lambda: request.reset, "the stream is reset"), h2.CANCEL)
        request.link.data(request.stream, b"late" * 1000)  # may already have been on its way
        equal((other.ask("GET", "/y").status, upstream.connections, request.link.goaways), (200, 1, []))
        reprise.expect_metric(1, "reprise_requests_total", code="client_gone")


def test_M67_log_says_whether_the_connection_had_carried_a_stream():
    with Http2Upstream() as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, GatewayClient(reprise) as client:
        equal([client.ask("GET").status for _ in range(2)], [200, 200])
        equal([line["attempts"][0].get("reused", False) for line in reprise.requests(2)], [False, True])
        equal((upstream.connections, normal(b"Via: " + upstream.requests[0].field("via").encode())), (1, b"Via: 1.1 reprise-?"))
