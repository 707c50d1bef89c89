"""Tests rows J1 to J11 of docs/requirements/robustness.md, and its section on hop-by-hop fields."""
import re

from client import Client, ask
from exactly import HOST, causes, counted, expected, normal, raw, refused, sent_upstream, stage, to
from harness import Reprise, equal
from test_resume import Breaking
from upstream import Say, Upstream


def fields_back(reprise, upstream, fields, path="/x", request_fields=b"", **say):
    """Sends a request to which the upstream responds with the given fields. Returns the response that the
    client gets."""
    upstream.scripts[path] = [Say(200, fields=fields, **say)]
    with Client(reprise.forward) as client:
        client.send(to(upstream, path=path, fields=request_fields))
        return client.read_response()


def test_hop_by_hop_fields_of_requests_are_removed():
    gone = (b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
            b"Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Authenticate: Basic\r\nTE: gzip\r\nTrailer: X-T\r\nUpgrade: h2c\r\n")
    stays = b"x-lower: a  b\r\nX-Twice: 1\r\nX-TWICE: 2\r\nX-Empty:\r\nX-Latin: caf\xe9\r\nX-Tab:\ta\tb\t\r\n"
    with stage() as (reprise, upstream):
        equal(sent_upstream(reprise, upstream, to(upstream, fields=gone + stays)), expected(upstream, fields=stays))
        equal(sent_upstream(reprise, upstream, to(upstream, fields=stays + gone)), expected(upstream, fields=stays))
        via = b"Via: 1.0 one, 1.1 two (a, b)\r\n"
        equal(sent_upstream(reprise, upstream, to(upstream, fields=via)), expected(upstream, fields=via))


def test_hop_by_hop_upgrade_is_kept_only_if_connection_lists_it():
    with stage({"/x": [200]}) as (reprise, upstream):
        asked = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
        equal(sent_upstream(reprise, upstream, to(upstream, fields=asked)),
              expected(upstream, fields=b"Upgrade: websocket\r\nConnection: upgrade\r\n"))
        equal(sent_upstream(reprise, upstream, to(upstream, fields=b"Upgrade: websocket\r\n")), expected(upstream))


def test_hop_by_hop_fields_of_responses_are_removed():
    gone = [("Connection", "X-Back"), ("X-Back", "1"), ("Keep-Alive", "timeout=9"), ("Proxy-Connection", "keep-alive"),
            ("Proxy-Authenticate", "Basic"), ("Proxy-Authorization", "x"), ("TE", "trailers"), ("Trailer", "X-T")]
    stays = [("Set-Cookie", "a=1"), ("set-cookie", "b=2; Path=/"), ("X-Empty", ""), ("X-Odd", "\xe9 a  b"), ("Set-Cookie", "a=3")]
    with stage() as (reprise, upstream):
        response = fields_back(reprise, upstream, stays[:2] + gone + stays[2:])
        names = [name for name, _ in response.fields]
        for name, _ in gone:
            equal(name in names, False, name)
        equal([field for field in response.fields if field in stays], stays, "order and spelling")
        assert re.fullmatch(r"1\.1 reprise-\w+", response.field("Via")), response.field("Via")


def test_hop_by_hop_trailers_of_a_response_are_removed():
    chunked = (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: X-Named\r\n\r\n5\r\nhello\r\n0\r\n"
               b"X-Sum: 1\r\nX-Named: 2\r\nContent-Length: 9\r\nSet-Cookie: a=b\r\n\r\n")
    with stage({"/x": [raw(chunked)]}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.field("Trailer"), response.body, response.trailers), ("X-Sum", b"hello", b"X-Sum: 1\n"))


def test_J1_trailers_listed_in_connection_are_removed_and_end_to_end_fields_kept():
    with stage() as (reprise, upstream):
        chunked = b"Transfer-Encoding: chunked\r\n"
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"Connection: X-T, connection\r\n" + chunked,
                                                   b"1\r\nx\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n"))
        equal(sent, expected(upstream, "PUT", "/x", chunked, b"1\r\nx\r\n0\r\nX-U: 2\r\n\r\n"), "a named trailer is dropped")
        stays = (b"Authorization: Bearer x\r\nCookie: a=b\r\nCache-Control: no-cache\r\nRange: bytes=0-1\r\nIf-Match: *\r\n"
                 b"X-Forwarded-For: 1.1.1.1\r\nIdempotency-Key: k\r\nForwarded: for=x\r\nOrigin: o\r\nReferer: r\r\n")
        names = b", ".join(line.split(b":")[0] for line in stays.split(b"\r\n") if line)
        listed = b"Connection: Host, Content-Length, Transfer-Encoding, Via, Expect, %s\r\n" % names
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", listed + stays + b"Content-Length: 1\r\n", b"x"))
        equal(sent, expected(upstream, "PUT", "/x", stays + b"Content-Length: 1\r\n", b"x"), "end-to-end fields stay")
        with Client(reprise.forward) as client:
            client.send(to(upstream, fields=b"Connection: close, close\r\n"))
            response = client.read_response()
            equal((response.status, response.field("Connection"), client.read_to_end()), (200, "close", b""))
        equal(causes(reprise), {})


def test_J2_odd_and_long_connection_lists_are_parsed_and_oversized_lists_rejected():
    with stage() as (reprise, upstream):
        with Client(reprise.forward) as client:
            client.send(to(upstream, fields=b"Connection: ,,close, ,\r\n"))
            equal((client.read_response().field("Connection"), client.read_to_end()), ("close", b""))
        equal(normal(upstream.bytes_received()[-1]), expected(upstream))
        many = b"Connection: " + b",".join(b"m%d" % i for i in range(8000)) + b",x-hop\r\nX-Hop: 1\r\nX-Stays: 1\r\n"
        equal(sent_upstream(reprise, upstream, to(upstream, fields=many)), expected(upstream, fields=b"X-Stays: 1\r\n"))
        more = b"Connection: " + b",".join(b"member%d" % i for i in range(10000)) + b"\r\n\r\n"
        refused(reprise, upstream, b"GET http://h/ HTTP/1.1\r\n" + HOST + more, "header_too_large")


def test_J3_missing_date_is_added_and_an_invalid_date_is_kept():
    with stage() as (reprise, upstream):
        assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", fields_back(reprise, upstream, []).field("Date"))
        response = fields_back(reprise, upstream, [("Date", "yesterday")], "/bad")
        equal([value for name, value in response.fields if name == "Date"], ["yesterday"])


def test_J4_max_forwards_is_validated_only_for_options_and_trace():
    with stage() as (reprise, upstream):
        for method in ("GET", "POST"):
            for value in (b"0", b"7", b"x", b"18446744073709551616"):
                fields = b"Max-Forwards: %s\r\n" % value
                equal(sent_upstream(reprise, upstream, to(upstream, method, "/x", fields)), expected(upstream, method, "/x", fields))
        for method in ("OPTIONS", "TRACE"):
            for value in (b"x", b"", b"-1", b"1.0", b"18446744073709551616", b"1\r\nMax-Forwards: 1"):
                refused(reprise, upstream, to(upstream, method, "/x", b"Max-Forwards: %s\r\n" % value), "bad_max_forwards")


def test_J5_trace_response_contains_no_secrets():
    secret = b"".join(name + b": 5ecret\r\n" for name in (
        b"Authorization", b"Cookie", b"Proxy-Authorization", b"Proxy-Anything", b"X-Api-Key", b"X-Goog-Api-Key", b"X-Auth-Token",
        b"X-Amz-Security-Token"))
    with stage() as (reprise, upstream), Client(reprise.forward) as client:
        request = to(upstream, "TRACE", "/x", b"Max-Forwards: 0\r\nX-Plain: 1\r\n" + secret)
        client.send(request)
        response = client.read_response()
        equal((response.status, response.field("Content-Type")), (200, "message/http"))
        equal(response.body, request.replace(secret, b""))
        refused(reprise, upstream, to(upstream, "TRACE", "/x", b"Content-Length: 1\r\n", b"x"), "trace_with_body")
        refused(reprise, upstream, to(upstream, "TRACE", "/x", b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n"), "trace_with_body")


def test_J6_response_fields_are_forwarded_byte_for_byte():
    lines = (b"Allow: GET,HEAD\r\nWWW-Authenticate: Basic realm=\"a, b\", Digest  qop=\"auth\"\r\nVary: a,  b\r\nETag: W/\"x,y\"\r\n"
             b"Content-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==\r\nDigest: sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=\r\n"
             b"Server-Timing: db;dur=53, app;desc=\"a;b\"\r\nX-Odd:   two  blanks \t\r\n")
    with stage({"/x": [raw(b"HTTP/1.1 200 Fine  So Far\r\n" + lines + b"Content-Length: 0\r\n\r\n")]}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        head = normal(client.read_head())
        equal(head, b"HTTP/1.1 200 Fine  So Far\r\n" + lines + b"Content-Length: 0\r\nDate: ?\r\nVia: 1.1 reprise-?\r\n"
              b"Reprise-Attempts: 1\r\n")


def test_J7_field_values_are_compared_trimmed_and_forwarded_unchanged():
    rule = {"any": [{"header": "Idempotency-Key=abc"}]}
    with stage({"/x": [503, 200, 503]}, defaults={"idempotent": rule}) as (reprise, upstream):
        padded = b"Idempotency-Key: \t abc \t \r\nContent-Length: 1\r\n"
        sent = sent_upstream(reprise, upstream, to(upstream, "POST", "/x", padded, b"x"))
        equal(sent, expected(upstream, "POST", "/x", padded, b"x") * 2, "compared trimmed, sent as it came")
        other = b"Idempotency-Key: abc d\r\nContent-Length: 1\r\n"
        equal(sent_upstream(reprise, upstream, to(upstream, "POST", "/x", other, b"x"), status=503),
              expected(upstream, "POST", "/x", other, b"x"))


def test_J8_proxy_authentication_challenge_of_an_upstream_becomes_502():
    with stage({"/x": [Say(407, b"password?", [("Proxy-Authenticate", "Basic")])]}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.field("Proxy-Authenticate"), b"password?" in response.body), (502, None, False))
        assert re.fullmatch(r"reprise-\w+; error=http_protocol_error; received-status=407", response.field("Proxy-Status"))


def test_J9_te_is_reduced_to_trailers():
    with stage() as (reprise, upstream):
        for value in (b"trailers, deflate, chunked", b"trailers", b"gzip\r\nTE: trailers"):
            equal(sent_upstream(reprise, upstream, to(upstream, fields=b"TE: %s\r\nConnection: TE\r\n" % value)),
                  expected(upstream, fields=b"TE: trailers\r\nConnection: TE\r\n"))
        equal(sent_upstream(reprise, upstream, to(upstream, fields=b"TE: deflate, chunked\r\n")), expected(upstream))
        equal(sent_upstream(reprise, upstream, to(upstream, fields=b"TE: trailers\r\n", version=b"1.0")), expected(upstream, via=b"1.0"))


def test_J10_alt_svc_is_kept_only_in_forward_mode():
    hint = [("Alt-Svc", 'h3=":443"; ma=3600')]
    with Upstream({"/x": [Say(200, fields=hint)]}) as upstream:
        listeners = [{"mode": "forward", "bind": "127.0.0.1:0"},
                     {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("")}]
        with Reprise(listeners=listeners) as reprise, Client(reprise.gateway) as client:
            equal(ask(reprise, "GET", upstream.url("/x")).field("Alt-Svc"), hint[0][1])
            client.send(b"GET /x HTTP/1.1\r\n" + HOST + b"\r\n")
            response = client.read_response()
            equal((response.status, response.field("Alt-Svc")), (200, None))


def test_J11_range_request_of_a_resume_has_range_and_if_range_and_no_conditions_of_the_client():
    script = Breaking(10_000, [4_000])
    with stage({"/x": [script]}) as (reprise, upstream):
        fields = b"If-None-Match: \"other\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\nA: 1\r\n"
        with Client(reprise.forward) as client:
            client.send(to(upstream, fields=fields))
            equal(client.read_response().body == script.file, True)
        equal(normal(b"".join(upstream.bytes_received())), expected(upstream, fields=fields) + expected(
            upstream, fields=b"A: 1\r\n").replace(b"\r\n\r\n", b"\r\nRange: bytes=4000-\r\nIf-Range: \"v1\"\r\n\r\n"))
        counted(reprise, "reprise_resumed_downloads_total")
