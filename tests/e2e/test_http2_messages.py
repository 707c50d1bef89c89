"""Tests rows M33 to M47, M82, M96, M98 and M104 of docs/requirements/http2.md: how requests of HTTP/1 clients
and responses of HTTP/2 upstreams are translated, framed and limited."""
import re

import http2_frames as h2
from client import chunked
from harness import LOOPBACK, equal, eventually
from http2_stage import ONCE, ONE_CONNECTION, CutClient, GatewayClient, ask, causes_of, clients, expect_own_502, http2_proxy, outcome_of
from http2_upstream import Http2Upstream, Reply, hangs

CHUNKED = ("Transfer-Encoding", "chunked")
LARGE = 20 << 20


def without_pseudonym(fields):
    return [(name, re.sub(r"reprise-\w+", "reprise-?", value)) for name, value in fields]


def test_M33_fields_of_the_request_are_translated():
    fields = [("X-Odd", "A a"), ("Connection", "X-Hop, Keep-Alive"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "keep-alive"),
              ("Cookie", "a=b"), ("X-Same", "1"), ("x-same", "2"), ("Cookie", "c=d"), ("X-Empty", "")]
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise:
        equal(ask(reprise, "PUT", "/a/b?c=%20d&e", b"body", fields).status, 200)
        request = upstream.seen(1)[0]
        equal((request.method, request.scheme, request.authority, request.target, request.body),
              ("PUT", "http", f"{LOOPBACK}:{upstream.port}", "/a/b?c=%20d&e", b"body"))
        equal(without_pseudonym(request.fields), [("x-odd", "A a"), ("cookie", "a=b"), ("x-same", "1"), ("x-same", "2"), ("cookie", "c=d"),
                                                  ("x-empty", ""), ("content-length", "4"), ("via", "1.1 reprise-?")])


def test_M33_every_method_and_asterisk_form_is_translated():
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "FROB"):
            client.ask(method, "/x", b"" if method in ("POST", "PUT", "PATCH") else None)
        client.ask("OPTIONS", "*")
        equal([(request.method, request.target) for request in upstream.requests][-2:], [("FROB", "/x"), ("OPTIONS", "*")])
        for request in upstream.requests:
            length = "0" if request.method in ("POST", "PUT", "PATCH") else None
            equal((request.field("content-length"), request.size, request.frames), (length, 0, []), request.method)


def test_M33_response_gets_a_reason_phrase_and_separate_set_cookie_fields():
    cookies = [("set-cookie", f"c{number}={number}; Path=/") for number in range(60)]
    with Http2Upstream({"/x": [Reply(404, b"no", [*cookies, ("x-a", "1"), ("x-a", "2")])]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "GET")
        equal(response.start, "HTTP/1.1 404 Not Found")
        equal(re.sub(r"reprise-\w+", "reprise-?", response.field("Via")), "2.0 reprise-?")
        equal([(name.lower(), value) for name, value in response.fields if name.lower() in ("set-cookie", "x-a")], [*cookies, ("x-a", "1"), ("x-a", "2")])
        equal(response.body, b"no")


def test_M34_te_is_sent_only_as_trailers():
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise:
        for value, sent in (("trailers", "trailers"), ("trailers, deflate", "trailers"), ("gzip", None), ("", None)):
            equal(ask(reprise, "GET", "/x", fields=[("TE", value), ("Connection", "TE")]).status, 200)
            equal(upstream.requests[-1].field("te"), sent, value)
            equal(upstream.requests[-1].field("connection"), None)


def test_M36_trailers_of_a_request_are_passed_also_after_an_empty_body():
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        for body in (b"hello", b""):
            client.begin("POST", fields=[CHUNKED])
            client.send((b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\nX-Sum: 1\r\nX-Other: b\r\n\r\n")
            equal(client.read_response().status, 200)
            request = upstream.requests[-1]
            equal((request.body, request.trailers, request.field("content-length")), (body, [("x-sum", "1"), ("x-other", "b")], None))


def test_M36_trailers_of_a_repeated_request_are_the_same():
    with Http2Upstream({"/x": [503, lambda link, request: link.reset_stream(request.stream, h2.REFUSED_STREAM), 200]}) as upstream, \
            http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        client.begin("PUT", fields=[CHUNKED])
        client.send(b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n")
        equal((client.read_response().status, [(request.body, request.trailers) for request in upstream.requests]),
              (200, [(b"hello", [("x-sum", "1")])] * 3))


def test_M36_trailers_of_a_response_are_passed_and_dropped_beside_content_length():
    trailers = [("x-sum", "1"), ("x-other", "b")]
    steps = {"/body": Reply(200, b"hello", trailers=trailers, length=False), "/empty": Reply(200, b"", trailers=trailers, length=False),
             "/length": Reply(200, b"hello", trailers=trailers)}
    with Http2Upstream({path: [reply] for path, reply in steps.items()}) as upstream, http2_proxy(upstream) as reprise, \
            GatewayClient(reprise) as client:
        for path, body, length, expected in (("/body", b"hello", None, b"x-sum: 1\nx-other: b\n"), ("/empty", b"", None, b"x-sum: 1\nx-other: b\n"),
                                             ("/length", b"hello", 5, b"")):
            response = client.ask("GET", path, fields=[("TE", "trailers"), ("Connection", "TE")])
            equal((response.body, response.length, response.trailers.lower()), (body, length, expected), path)
        equal((client.ask("GET", "/after").status, upstream.connections), (200, 1))


def test_M37_interim_responses_are_passed_in_order():
    interim = [(100, []), (103, [("link", "</a>")]), (199, []), (103, [("link", "</b>")])]
    with Http2Upstream({"/x": [Reply(200, b"hello", interim=interim)]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "PUT", "/x", b"body")
        equal([(one.status, one.field("Link")) for one in response.interim], [(100, None), (103, "</a>"), (199, None), (103, "</b>")])
        equal((response.status, response.body), (200, b"hello"))


def test_M37_expect_100_continue_reaches_the_upstream_before_the_body():
    def at_head(link, request):
        equal((request.field("expect"), request.size), ("100-continue", 0))
        link.headers(request.stream, [(":status", "100")])
        return True
    with Http2Upstream(at_head={"/x": at_head}) as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        client.begin("PUT", fields=[("Expect", "100-continue"), ("Content-Length", "4")])
        assert client.read_head().startswith(b"HTTP/1.1 100"), client.buffer
        client.send(b"body")
        response = client.read_response()
        equal((response.status, response.interim, upstream.requests[0].body), (200, [], b"body"))


def test_M45_empty_padded_and_tiny_data_frames_are_read():
    body = bytes(range(251)) * 30
    replies = [Reply(200, body, empty=50), Reply(200, body, padding=0), Reply(200, body, padding=255, size=500), Reply(200, body, size=1),
               Reply(200, body, [("x", "y" * 300)], parts=6), Reply(200, body, length=False, padding=9, empty=3, trailers=[("x-sum", "1")])]
    with Http2Upstream({"/x": replies}) as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        for number, _ in enumerate(replies):
            response = client.ask("GET")
            equal((response.status, response.body == body), (200, True), number)
        equal(upstream.connections, 1)


def test_M43_M44_frames_of_extensions_are_ignored_and_the_field_priority_is_passed():
    def extends(link, request):
        link.send(h2.frame(0x0a, 0, 0, b"\0\4http" + b'h2=":1"') + h2.frame(0x0c, 0, 0, b"\0\1x") + h2.frame(0xf0, 0xff, request.stream, b"abc")
                  + h2.frame(h2.PRIORITY, 0, request.stream, h2.number(0) + b"\x10"))
        link.respond(request, Reply(200, b"hello", [("priority", "u=2")]))
    with Http2Upstream({"/x": [extends]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "GET", "/x", fields=[("Priority", "u=1, i")])
        equal((response.status, response.body, response.field("priority"), upstream.requests[0].field("priority")), (200, b"hello", "u=2", "u=1, i"))


def test_M45_padding_counts_for_the_windows():
    """The proxy opens its window also for padding: otherwise a response of much padding stops."""
    with Http2Upstream({"/x": [Reply(200, b"x" * 40_000, padding=255, size=20)]}) as upstream, http2_proxy(upstream) as reprise:
        equal(len(ask(reprise, "GET").body), 40_000)  # 552,000 bytes of DATA frames, the window of a stream is 262,144


def test_M45_frame_above_the_limit_ends_the_connection():
    def oversized(link, request):
        link.headers(request.stream, [(":status", "200")])
        link.send((1 << 20).to_bytes(3, "big") + h2.data_frame(request.stream, b"x")[3:])
    with Http2Upstream({"/x": [oversized]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, CutClient(reprise) as client:
        client.begin("GET")
        assert outcome_of(client) != "whole"
        equal(eventually(lambda: upstream.links[0].goaways, "the proxy reports the error")[0][1], h2.FRAME_SIZE_ERROR)
        equal(ask(reprise, "GET", "/after").status, 200)


def test_M47_unusual_values_pass_unchanged():
    values = ["\u00e9\u00ff\u0080", "", "x" * 8192, "a  b", "\"quoted, comma\"", "=?utf-8?q?x?="]
    named = [(f"x-{number}", value) for number, value in enumerate(values)]
    with Http2Upstream({"/x": [Reply(200, b"", named)]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "GET", "/x", fields=named)
        equal([upstream.requests[0].field(name) for name, _ in named], values)
        equal([response.field(name) for name, _ in named], values)


def test_M47_credentials_are_never_indexed():
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        for _ in range(2):
            fields = [("Authorization", "Bearer abc"), ("Cookie", "id=1"), ("X-Plain", "v"), ("Cookie", "long=" + "x" * 40)]
            equal(client.ask("GET", fields=fields).status, 200)
        for request in upstream.requests:
            equal(request.never_indexed, {"authorization", "cookie"})
            equal([value for name, value in request.fields if name == "cookie"], ["id=1", "long=" + "x" * 40])


def test_M82_end_of_a_body_that_comes_alone_is_one_empty_data_frame():
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        client.begin("POST", fields=[CHUNKED]).send(b"5\r\nhello\r\n")
        request = upstream.heads_seen(1)[0]
        eventually(lambda: request.size == 5, "the data has arrived")
        client.send(b"0\r\n\r\n")
        equal((client.read_response().status, request.frames), (200, [(5, False), (0, True)]))


def test_M82_chunked_body_arrives_whole_without_content_length():
    body = bytes(range(256)) * 1000
    with Http2Upstream() as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        client.begin("POST", fields=[CHUNKED]).send(chunked(body))
        equal(client.read_response().status, 200)
        request = upstream.requests[0]
        equal((request.body == body, request.field("content-length"), [end for _, end in request.frames].count(True)), (True, None, 1))


def responses_after(reply):
    """Returns a response to `reply`, the access line, and the number of connections after one more request."""
    with Http2Upstream({"/x": [reply]}) as upstream, http2_proxy(upstream, defaults=ONCE, **ONE_CONNECTION) as reprise, \
            GatewayClient(reprise) as client:
        response, line = client.ask("GET"), reprise.requests(1)[0]
        equal(client.ask("GET", "/after").body, b"answer 1 to /after\n")
        return response, line, upstream.connections


OVERSIZED = {"fields": [("x", "1")] * 300, "bytes": [(f"x-{i}", "b" * 3000) for i in range(40)], "value": [("x", "a" * 70_000)]}


def test_M96_response_head_over_the_limits_fails_only_its_stream():
    for name, fields in OVERSIZED.items():
        response, _, connections = responses_after(Reply(200, b"", fields, parts=6))
        equal((response.status, connections), (502, 1), name)


def test_M96_response_head_over_the_limits_is_header_too_large():
    for fields in OVERSIZED.values():
        response, line, _ = responses_after(Reply(200, b"", fields, parts=6))
        expect_own_502(response, "header_too_large", line, "http_response_header_section_size")


def test_M96_response_head_within_the_limits_is_delivered():
    fields = [(f"x-{number}", "v" * 400) for number in range(100)]
    with Http2Upstream({"/x": [Reply(200, b"hello", fields, parts=4)]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "GET")
        equal((response.status, response.body, [response.field(name) for name, _ in fields]), (200, b"hello", ["v" * 400] * 100))


def test_M98_window_that_stays_closed_ends_the_request_after_the_idle_timeout():
    with Http2Upstream(opens_windows=False) as upstream, http2_proxy(upstream, defaults={"idle_timeout": "400ms", **ONCE}, **ONE_CONNECTION) as reprise, \
            clients(reprise, 2) as (stuck, other):
        stuck.begin("POST", body=b"x" * 200_000)
        request = upstream.heads_seen(1)[0]
        equal(other.ask("GET", "/other").status, 200, "another stream goes on")
        response = stuck.read_response()
        equal((response.status // 100, response.attempts, request.size), (5, 1, 65535))
        equal((eventually(lambda: request.reset, "the stream is reset"), upstream.connections), (h2.CANCEL, 1))
        assert causes_of([line for line in reprise.requests(2) if line["method"] == "POST"][0]), reprise.log()


def test_M104_stalled_downloads_do_not_stop_other_streams_of_the_connection():
    content = b"x" * LARGE
    with Http2Upstream({"/large": [Reply(200, content)]}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, \
            clients(reprise, 4) as (*stalled, other):
        for client in stalled:
            client.begin("GET", "/large")
        requests = upstream.seen(len(stalled))
        eventually(lambda: all(request.send_window <= 0 for request in requests), "every window is used up")
        for _ in range(20):
            equal(other.ask("PUT", "/small", b"y" * 100_000).status, 200)
        equal(upstream.connections, 1)
        sent = [LARGE - len(request.unsent) for request in requests]
        assert all(size < LARGE for size in sent), sent
        for client in stalled:
            equal(len(client.read_response().body), LARGE)


def test_M104_windows_are_not_lost_with_streams_that_end_early():
    """Bytes that no client reads would use up the window of the connection, if it were not opened again for them."""
    with Http2Upstream({"/large": [Reply(200, b"x" * LARGE)]}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise:
        for number in range(80):  # 80 streams of at least 256 KiB. The window of the connection is 16 MiB
            with GatewayClient(reprise) as client:
                client.begin("GET", "/large").read_final_head()
                request = upstream.seen(number + 1)[number]
                eventually(lambda request=request: request.send_window <= 0, "the window of the stream is used up")
                client.reset()
            eventually(lambda request=request: request.reset == h2.CANCEL, "the stream is cancelled")
        equal((len(ask(reprise, "GET", "/large").body), upstream.connections), (LARGE, 1))


def test_M104_upload_goes_on_while_its_response_arrives():
    def echo(link, request):
        if len(request.frames) == 1:
            link.headers(request.stream, [(":status", "200")])
        link.data(request.stream, request.pieces[-1])
        return True
    with Http2Upstream({"/x": [lambda link, request: link.data(request.stream, end=True)]}, at_data={"/x": echo}) as upstream, \
            http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        client.begin("POST", fields=[("Content-Length", "100")]).send(b"a" * 10)
        head = client.read_final_head()
        body = client.pieces(head)
        equal((head.status, next(body)), (200, b"a" * 10))
        for piece in (b"b" * 60, b"c" * 30):
            client.send(piece)
            equal(next(body), piece)
        equal((b"".join(body), client.ask("GET", "/after").status, upstream.connections), (b"", 200, 1))
