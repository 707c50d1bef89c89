"""Tests rows M32 to M48 and M83 of docs/requirements/http2.md for HTTP/2 clients: how their requests and the responses to them are
translated, framed and cut. Every case runs with upstreams of both versions."""
import contextlib
import hashlib
import re

import http2_frames as h2
from client import chunked
from harness import LOOPBACK, Reprise, equal, eventually, merge
from http2_client import Http2Client
from http2_stage import ONCE
from http2_upstream import Http2Upstream, Reply, aborts, closes, resets
from transfers import MIB
from upstream import Say, Upstream

VERSIONS = ((Upstream, "never"), (Http2Upstream, "always"))
SIZE = 50 * MIB


@contextlib.contextmanager
def asking(upstream, http2="auto", client=None, configuration=None, **defaults):
    """Yields an HTTP/2 client of a gateway to `upstream`, and the reprise. `client`: arguments of Http2Client. `configuration`:
    keys of the file besides `defaults`."""
    listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url("")}]
    policy = merge({"http2": http2}, defaults)
    with Reprise(listeners=listeners, defaults=policy, **(configuration or {})) as reprise, Http2Client(reprise.gateway, **(client or {})) as one:
        yield one, reprise


def said(kind, status=200, body=b"answer", fields=(), **more):
    """Returns a response of an upstream of that kind."""
    return Reply(status, body, [(name.lower(), value) for name, value in fields], **more) if kind is Http2Upstream else Say(status, body, fields)


def plain(fields):
    return [(name.lower(), re.sub(r"reprise-\w+", "reprise-?", value)) for name, value in fields]


def test_M32_request_is_written_as_http_1():
    fields = [("x-odd", "A a"), ("cookie", "a=b"), ("x-same", "1"), ("cookie", "c=d"), ("x-same", "2"), ("te", "trailers"), ("x-empty", "")]
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        equal(client.ask("PUT", "/a/b?c=%20d&e", b"body", [*fields, ("content-length", "4")]).status, 200)
        request = upstream.requests[-1]
        equal(request.start, "PUT /a/b?c=%20d&e HTTP/1.1")
        equal(plain(request.fields), [("host", f"{LOOPBACK}:{upstream.port}"), ("x-odd", "A a"), ("cookie", "a=b; c=d"), ("x-same", "1"),
                                      ("x-same", "2"), ("x-empty", ""), ("content-length", "4"), ("te", "trailers"), ("connection", "TE"),
                                      ("via", "2.0 reprise-?")])
        equal(request.body, b"body")


def test_M34_te_trailers_reaches_an_http_2_upstream():
    with Http2Upstream() as upstream, asking(upstream) as (client, _):
        equal(client.ask(fields=[("te", "trailers")]).status, 200)
        equal(upstream.requests[-1].field("te"), "trailers")


def test_M35_framing_of_request_bodies():
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        for method, body, fields, expected in (
                ("POST", b"abc", [("content-length", "3")], ("3", None)), ("POST", b"abc", [], (None, "chunked")), ("POST", None, [], ("0", None)),
                ("PUT", None, [], ("0", None)), ("GET", None, [], (None, None)), ("DELETE", None, [], (None, None)), ("GET", b"q", [], (None, "chunked"))):
            equal(client.ask(method, "/x", body, fields).status, 200, method)
            request = upstream.requests[-1]
            equal((request.field("Content-Length"), request.field("Transfer-Encoding"), request.body), (*expected, body or b""), method)


def test_M36_trailers_are_carried_both_ways():
    with Http2Upstream({"/x": [Reply(200, b"answer", trailers=[("x-sum", "7")], length=False)]}) as upstream, asking(upstream) as (client, _):
        response = client.ask("POST", body=b"abc", trailers=[("x-check", "9"), ("authorization", "x")])
        equal((response.status, response.body, response.trailers), (200, b"answer", [("x-sum", "7")]))
        equal(upstream.requests[-1].trailers, [("x-check", "9")])
    body_and_trailer = chunked(b"answer", 4).removesuffix(b"\r\n") + b"X-Sum: 7\r\n\r\n"
    with_trailer = Say(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body_and_trailer)
    with Upstream({"/x": [with_trailer]}) as upstream, asking(upstream, "never") as (client, _):
        response = client.ask("POST", body=b"abc", trailers=[("x-check", "9")])
        equal((response.status, response.body, response.trailers), (200, b"answer", [("x-sum", "7")]))
        assert upstream.requests[-1].trailers.lower().startswith(b"x-check: 9"), upstream.requests[-1].trailers


def test_M36_trailers_of_a_request_with_content_length_reach_an_http_2_upstream():
    def ask_with_trailers(client):
        return client.ask("POST", body=b"abc", fields=[("content-length", "3"), ("trailer", "x-check")], trailers=[("x-check", "9")])
    with Http2Upstream({"/x": [Reply(200, b"answer", [("trailer", "x-sum")], trailers=[("x-sum", "7")])]}) as upstream, asking(upstream) as (client, _):
        response = ask_with_trailers(client)
        equal((response.field("content-length"), response.field("trailer"), response.trailers), ("6", "x-sum", [("x-sum", "7")]))
        request = upstream.requests[-1]
        equal((request.field("content-length"), request.field("trailer"), request.trailers), ("3", "x-check", [("x-check", "9")]))
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        equal([ask_with_trailers(client).status for _ in range(2)], [200, 200], "a length ends the body of HTTP/1, so the trailers are dropped")
        equal([(request.field("Content-Length"), request.body) for request in upstream.requests], [("3", b"abc")] * 2)


def test_M37_interim_responses_are_passed_in_order():
    with Http2Upstream({"/x": [Reply(200, b"answer", interim=[(103, [("link", "</a>")]), (103, [("link", "</b>")])])]}) as upstream, \
            asking(upstream) as (client, _):
        response = client.ask()
        equal([(status, fields[0]) for status, fields in response.interim], [(103, ("link", "</a>")), (103, ("link", "</b>"))])
        equal(response.body, b"answer")


def test_M37_client_that_expects_100_gets_it():
    def encourages(link, request):
        link.headers(request.stream, [(":status", "100")])
        return True
    for kind, http2 in VERSIONS:
        with kind(**({"at_head": {"/x": encourages}} if kind is Http2Upstream else {})) as upstream, asking(upstream, http2) as (client, _):
            stream = client.begin("POST", "/x", [("expect", "100-continue"), ("content-length", "4")], end=False)
            client.until(lambda stream=stream, client=client: client.responses[stream].interim)
            equal(client.responses[stream].interim[0][0], 100)
            client.data(stream, b"body", end=True)
            equal((client.response(stream).status, upstream.requests[-1].body), (200, b"body"))


def test_M38_responses_without_a_body_end_with_their_head():
    for kind, http2 in VERSIONS:
        scripts = {"/204": [said(kind, 204, b"")], "/304": [said(kind, 304, b"", [("ETag", '"a"')])], "/x": [said(kind)]}
        with kind(scripts) as upstream, asking(upstream, http2) as (client, _):
            for method, path, status in (("HEAD", "/x", 200), ("GET", "/204", 204), ("GET", "/304", 304)):
                response = client.ask(method, path)
                equal((response.status, response.body, response.ended), (status, b"", True), f"{http2} {method} {path}")


def test_M39_framing_of_response_bodies():
    bodies = {"/length": Say(200, b"whole"), "/chunked": Say(200, chunks=[b"who", b"le"]), "/close": Say(raw=b"HTTP/1.1 200 OK\r\n\r\nwhole", close=True)}
    with Upstream({path: [step] for path, step in bodies.items()}) as upstream, asking(upstream, "never") as (client, _):
        for path in bodies:
            response = client.ask(path=path)
            equal((response.status, response.body, response.ended, response.reset), (200, b"whole", True, None), path)


def test_M40_broken_response_is_reset_and_never_ends():
    cuts = {"/length": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwho", "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nwho\r\n"}
    with Upstream({path: [Say(raw=raw, close=True)] for path, raw in cuts.items()}) as upstream, asking(upstream, "never", **ONCE) as (client, _):
        for path in cuts:
            response = client.ask(path=path)
            equal((response.status, response.body, response.ended, response.reset), (200, b"who", False, h2.INTERNAL_ERROR), path)
        equal(client.ask(path="/x").status, 200, "the connection goes on")


def test_M40_reset_of_the_upstream_reaches_the_client():
    def breaks(link, request):
        link.headers(request.stream, [(":status", "200")])
        link.data(request.stream, b"who")
        resets(h2.ENHANCE_YOUR_CALM)(link, request)
    with Http2Upstream({"/x": [breaks]}) as upstream, asking(upstream, **ONCE) as (client, _):
        response = client.ask()
        equal((response.status, response.body, response.ended), (200, b"who", False))
        assert response.reset not in (None, h2.NO_ERROR), response.reset


def test_M41_response_before_the_end_of_the_request_ends_whole():
    def early(connection, request, reader):
        connection.sendall(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
        return False
    with Upstream(on_head={"/x": early}) as upstream, asking(upstream, "never") as (client, _):
        stream = client.begin("POST", "/x", end=False)
        client.data(stream, b"a part")
        response = client.response(stream)
        equal((response.status, response.body, response.ended), (413, b"no", True))
        client.until(lambda: response.reset is not None)
        equal(response.reset, h2.NO_ERROR)
        equal(client.ask(path="/y").status, 200)


def test_M41_upload_ends_if_the_upstream_connection_ends_after_the_response():
    for leaves in (closes, aborts):
        def early(link, request, leaves=leaves):
            link.respond(request, Reply(200, b"whole"))
            leaves(link, request)
        with Http2Upstream(at_head={"/x": early}) as upstream, asking(upstream) as (client, reprise):
            stream = client.begin("POST", "/x", end=False)
            client.data(stream, b"a part")
            response = client.responses[stream]
            client.until(lambda response=response: response.reset is not None)
            equal((response.status, response.body, response.was_complete, response.reset), (200, b"whole", True, h2.NO_ERROR), leaves.__name__)
            equal(reprise.requests(1)[0]["ending"], "complete")
            eventually(lambda reprise=reprise: reprise.metric("reprise_http2_connections", side="upstream") == 0, "the connection is gone")


def test_M107_client_that_resets_its_upload_after_the_whole_response_has_got_it():
    with Http2Upstream(at_head={"/x": lambda link, request: link.respond(request, Reply(200, b"whole"))}) as upstream, asking(upstream) as (client, reprise):
        stream = client.begin("POST", "/x", end=False)
        client.data(stream, b"a part")
        client.until(lambda: client.responses[stream].ended)
        client.reset_stream(stream)
        line = reprise.requests(1)[0]
        equal((line["status"], line["ending"], line["reason"]), (200, "complete", "success"))


def test_M107_status_of_a_head_without_body_is_logged_if_the_client_leaves_after_it():
    def head(link, request):
        link.headers(request.stream, [(":status", "200")])
    with Http2Upstream(at_head={"/x": head}) as upstream, asking(upstream) as (client, reprise):
        stream = client.begin()
        client.until(lambda: client.responses[stream].status)
        client.reset_stream(stream)
        line = reprise.requests(1)[0]
        equal((line["status"], line["ending"]), (200, "client_gone"))


def test_M42_body_of_a_wrong_length_is_reset_and_never_complete_at_the_upstream():
    for kind, http2 in VERSIONS:
        with kind() as upstream, asking(upstream, http2) as (client, _):
            for length, body in (("2", b"abc"), ("9", b"abc")):
                stream = client.begin("POST", "/x", [("content-length", length)], end=False)
                client.data(stream, body, end=True)
                response = client.response(stream)
                equal((response.status, response.reset), (None, h2.PROTOCOL_ERROR), f"{http2} {length}")
            equal(client.ask(path="/y").status, 200)
            equal(upstream.count("/x"), 0)


def test_M45_frames_of_odd_sizes_are_read():
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        stream = client.begin("POST", "/x", end=False)
        client.data(stream)
        client.data(stream, b"a", padding=200)
        for byte in b"bcdefgh":
            client.data(stream, bytes([byte]))
        client.data(stream, end=True)
        equal((client.response(stream).status, upstream.requests[-1].body), (200, b"abcdefgh"))


def test_M46_many_cookie_crumbs_become_one_field():
    crumbs = [("cookie", f"c{number}={number}") for number in range(90)]
    others = [(f"x-{number}", "v") for number in range(15)]
    for kind, http2 in VERSIONS:
        with kind() as upstream, asking(upstream, http2) as (client, _):
            equal(client.ask(fields=[*crumbs, *others]).status, 200)
            equal(upstream.requests[-1].field("Cookie"), "; ".join(value for _, value in crumbs))


def test_M47_values_pass_unchanged_both_ways():
    cookies = [("set-cookie", f"c{number}={number}") for number in range(60)]
    odd = [("x-empty", ""), ("x-long", "v" * 8000), ("x-text", "caf\xe9")]
    for kind, http2 in VERSIONS:
        with kind({"/x": [said(kind, fields=[*cookies, *odd])]}) as upstream, asking(upstream, http2) as (client, _):
            response = client.ask(fields=odd)
            equal([field for field in response.fields if field[0] == "set-cookie" or field[0].startswith("x-")], [*cookies, *odd], http2)
            equal([(name, value) for name, value in plain(upstream.requests[-1].fields) if name.startswith("x-")], odd, http2)


def test_M47_field_that_is_never_indexed_stays_so():
    with Http2Upstream() as upstream, asking(upstream) as (client, _):
        hidden = h2.compression().struct.NeverIndexedHeaderTuple(b"x-secret", b"key")
        fields = [(name.encode(), value.encode()) for name, value in client.head("GET", "/x", [("x-plain", "v")])]
        stream = client.new_stream()
        client.send(b"".join(h2.head_frames(stream, client.encoder.encode([*fields, hidden]), end=True)))
        equal(client.response(stream).status, 200)
        equal((upstream.requests[-1].field("x-secret"), upstream.requests[-1].never_indexed), ("key", {"x-secret"}))


def test_M48_first_request_may_fill_its_window_before_the_settings_arrive():
    body = bytes(range(256)) * 1000
    with Upstream() as upstream, asking(upstream, "never") as (client, _):
        equal(client.settings_seen, 0)
        stream = client.begin("POST", "/x", [("content-length", str(len(body)))], end=False)
        client.send(b"".join(h2.data_frame(stream, body[at:at + 13_107]) for at in range(0, 65_535, 13_107)))
        client.send_window -= 65_535
        client.stream_windows[stream] -= 65_535
        client.upload(stream, body[65_535:])
        equal((client.response(stream).status, upstream.requests[-1].body == body), (200, True))


def test_M48_large_bodies_are_equal_to_the_byte():
    block = bytes(range(256)) * 4096
    count = SIZE // len(block)
    digest = hashlib.sha256(block * count).hexdigest().encode()
    def swallow(connection, request, reader):
        reader.read_body(request)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n" + hashlib.sha256(request.body).hexdigest().encode())
        return True
    def give(connection, _request, _reader):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(block) * count))
        for _ in range(count):
            connection.sendall(block)
        return True
    with Upstream(on_head={"/up": swallow, "/down": give}) as upstream, asking(upstream, "never") as (client, reprise):
        equal(client.ask("POST", "/up", block * count).body, digest)
        response = client.ask(path="/down")
        equal((response.size, hashlib.sha256(response.body).hexdigest().encode(), response.ended), (SIZE, digest, True))
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the streams have ended")


def test_M83_body_that_is_sent_again_has_the_same_bytes_and_trailers():
    block = bytes(range(256)) * 40
    retries = {"idempotent": "always", "retry": {"backoff": {"initial": "1ms", "maximum": "1ms"}}}
    with Http2Upstream({"/x": [resets(h2.INTERNAL_ERROR), 503, 200]}) as upstream, asking(upstream, **retries) as (client, _):
        stream = client.begin("POST", "/x", [("trailer", "x-sum")], end=False)
        for size in (1, 999, 9240):
            client.data(stream, block[:size])
        client.trailers(stream, [("x-sum", "10240")])
        response = client.response(stream)
        equal((response.status, response.attempts), (200, 3))
        equal({(request.body, tuple(request.trailers)) for request in upstream.requests}, {(block[:1] + block[:999] + block[:9240], (("x-sum", "10240"),))})
        equal(len(upstream.requests), 3)


def test_own_failures_name_their_reason():
    with Upstream({"/x": [Say(close=True, raw=b"")]}) as upstream, asking(upstream, "never") as (client, reprise):
        response = client.ask("POST", body=b"once")
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        assert b"reprise" in response.body, response.body
        equal(reprise.requests(1)[0]["http"], "2")
