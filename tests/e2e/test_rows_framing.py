"""Tests rows A1 to A18: framing and target of requests."""
import threading

from client import Client
from exactly import (HOST, causes, counted, equal_causes, expected, normal, refused, refused_in_body, says, sent_upstream,
                     stage, to)
from harness import equal, eventually
from upstream import Say, Upstream

GET = b"GET http://h/ HTTP/1.1\r\n" + HOST
PUT = b"PUT http://h/ HTTP/1.1\r\n" + HOST
CHUNKED = b"Transfer-Encoding: chunked\r\n"
HELLO = b"5\r\nhello\r\n0\r\n\r\n"


def test_A1_leading_zeros_in_content_length_are_removed_up_to_a_limit():
    with stage() as (reprise, upstream):
        for written in (b"7", b"07", b"007", b"0" * 18 + b"7"):
            sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"Content-Length: %s\r\n" % written, b"seven b"))
            equal(sent, expected(upstream, "PUT", "/x", b"Content-Length: 7\r\n", b"seven b"), written)
        refused(reprise, upstream, PUT + b"Content-Length: %s7\r\n\r\nseven b" % (b"0" * 19), "bad_content_length")


def test_A2_lookalike_framing_fields_are_rejected():
    with stage() as (reprise, upstream):
        for name in (b"Content_Length", b"content_length", b"CONTENT_LENGTH", b"Transfer_Encoding", b"transfer_encoding"):
            refused(reprise, upstream, PUT + name + b": 3\r\n\r\nabc", "lookalike_framing_field")
        harmless = b"Content-Lengths: 3\r\nX_Content_Length: 3\r\nContent_Type: a/b\r\n"
        equal(sent_upstream(reprise, upstream, to(upstream, fields=harmless)), expected(upstream, fields=harmless))


def test_A3_transfer_encoding_with_odd_bytes_around_chunked_is_rejected():
    with stage() as (reprise, upstream):
        for value, cause in ((b"\x0bchunked", "bad_field_value"), (b"chunked\x0c", "bad_field_value"),
                             (b"\xa0chunked", "bad_transfer_encoding"), (b"chunked\x85", "bad_transfer_encoding"),
                             (b'"chunked"', "bad_transfer_encoding"), (b"'chunked'", "bad_transfer_encoding"),
                             (b"chunked\0", "bad_field_value"), (b"chun\x00ked", "bad_field_value"),
                             (b"\xc2\xa0chunked", "bad_transfer_encoding")):
            refused(reprise, upstream, PUT + b"Transfer-Encoding: " + value + b"\r\n\r\n" + HELLO, cause)


def each_body_is_refused(bodies, cause="bad_chunk"):
    with stage() as (reprise, upstream):
        for body in bodies:
            refused_in_body(reprise, upstream, to(upstream, "PUT", "/x", CHUNKED, body), cause)


def test_A4_chunk_size_with_a_wrong_line_end_is_rejected():
    each_body_is_refused([b"5\rXhello\r\n0\r\n\r\n", b"5\nhello\r\n0\r\n\r\n", b"5\r\rhello\r\n0\r\n\r\n", b"5\n\rhello\r\n0\r\n\r\n",
                          b"5;a\rb\r\nhello\r\n0\r\n\r\n", b"5;a\nhello\r\n0\r\n\r\n", b"0\n\r\n", b"0\rX\r\n"])


def test_A4_chunk_data_with_a_wrong_line_end_is_rejected():
    each_body_is_refused([b"5\r\nhello%s0\r\n\r\n" % end for end in (b"XX", b"\r", b"\n", b"\n\r", b"\rX", b"X\n", b"  ", b"\r\r")])


def test_A5_malformed_chunk_extensions_are_rejected_and_legal_ones_dropped():
    bad = [b'5;a="b\rc"', b'5;a="b\nc"', b"5;(=1", b"5;=1", b"5;", b"5; ;", b" 5", b"\t5", b'5;a="open', b"5;a=b c", b"5,a"]
    each_body_is_refused([line + b"\r\nhello\r\n0\r\n\r\n" for line in bad])
    with stage() as (reprise, upstream):
        for line in (b"5;a", b"5;a=b", b'5;a="b c"', b"5 ; a = b ;c", b'5;a="\\""'):
            sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", CHUNKED, line + b"\r\nhello\r\n0;last=1\r\n\r\n"))
            equal(sent, expected(upstream, "PUT", "/x", CHUNKED, HELLO), "legal extensions are dropped")


def test_A6_excessive_chunk_overhead_is_rejected():
    small = b"1;%s\r\nx\r\n" % (b"e" * 1000)
    lines = b"000000000000001\r\nx\r\n" * 1200
    each_body_is_refused([small * 18 + b"0\r\n\r\n", lines + b"0\r\n\r\n"])
    with stage() as (reprise, upstream):
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", CHUNKED, b"1\r\nx\r\n" * 20000 + b"0\r\n\r\n"))
        equal(sent.endswith(b"0\r\n\r\n"), True)
        equal(len(upstream.requests[-1].body), 20000, "one-byte chunks alone are no excess")


def test_A7_malformed_or_unfinished_trailers_abort_the_request():
    end = b"5\r\nhello\r\n0\r\n"
    each_body_is_refused([end + b"X: 1\n\r\n", end + b"\n", end + b"no colon\r\n\r\n", end + b": 1\r\n\r\n", end + b"X : 1\r\n\r\n",
                          end + b"X: a\0b\r\n\r\n", end + b" X: 1\r\n\r\n", end + b"X: 1\r\n\n"], "bad_trailer")
    with stage() as (reprise, upstream):
        with Client(reprise.forward) as client:
            client.send(to(upstream, "PUT", "/x", CHUNKED, end + b"X: 1\r\n"))
            eventually(lambda: upstream.bytes_received(), "the body is on its way")
            client.finish()
            equal(client.read_to_end(), b"", "an end inside the trailers gets no answer")
        upstream.all_closed()
        equal((upstream.count(), causes(reprise)), (0, {}))
        counted(reprise, "reprise_requests_total", code="client_gone")


def test_A8_space_before_the_first_field_or_malformed_end_of_head_is_rejected():
    with stage() as (reprise, upstream):
        for blank in (b" ", b"\t", b" X: 1"):
            refused(reprise, upstream, b"GET http://h/ HTTP/1.1\r\n" + blank + b"\r\n" + HOST + b"\r\n", "obs_fold")
        refused(reprise, upstream, GET + b"\rX", "bad_field_name")
        refused(reprise, upstream, GET + b"X: 1\r\n\r\r\n", "bad_field_name")
        refused(reprise, upstream, GET + b"\n", "bad_field_name")


def test_A9_bytes_after_an_http_1_0_request_without_a_length_are_ignored():
    for behind in (b"abc", b"GET http://h/smuggled HTTP/1.0\r\n\r\n"):
        with stage() as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, "POST", "/x", b"Connection: keep-alive\r\n", behind, version=b"1.0"))
            equal((client.read_response().status, client.read_to_end()), (200, b""), "answered, then closed")
            equal(normal(b"".join(upstream.bytes_received())), expected(upstream, "POST", "/x", via=b"1.0"))
            equal(causes(reprise), {})


def test_A10_chunked_upload_to_an_http_1_0_upstream_gets_a_content_length_if_the_body_is_held():
    old = Say(raw=b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", close=True)
    with stage({"/old": [old], "/x": [old]}, threads=1, defaults={"replay": {"memory": "1KiB", "disk": 0}}) as (reprise, upstream):
        equal(sent_upstream(reprise, upstream, to(upstream, path="/old")), expected(upstream, path="/old"))
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"A: 1\r\n" + CHUNKED + b"B: 2\r\n",
                                                   b"3\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n"))
        equal(sent, expected(upstream, "PUT", "/x", b"A: 1\r\nB: 2\r\nContent-Length: 5\r\n", b"hello"))
        content = b"l" * 2048  # above the replay limit, so reprise sends the request in chunks, and the upstream may accept or reject them
        for step, status in ((old, 200), (Say(raw=b"HTTP/1.0 411 Length Required\r\nContent-Length: 0\r\n\r\n", close=True), 411)):
            upstream.scripts["/large"] = [step]
            with Client(reprise.forward) as client:
                client.send(to(upstream, "PUT", "/large", CHUNKED, b"400\r\n" + content[:1024] + b"\r\n400\r\n" + content[1024:]
                               + b"\r\n0\r\nX-Trailer: 1\r\n\r\n"))
                equal(client.read_response().status, status)
            large = upstream.requests[-1]
            equal((large.field("Transfer-Encoding"), large.field("Content-Length"), large.body), ("chunked", None, content))
        equal(causes(reprise), {})


def test_L7_A10_single_http_1_0_error_page_does_not_mark_the_upstream_as_http_1_0():
    page = Say(raw=b"HTTP/1.0 503 Unavailable\r\nContent-Length: 4\r\n\r\nbusy", close=True)
    gate = threading.Event()
    def streams(connection, request, reader):
        """The client sends the second chunk only when this function has received the first chunk. So reprise
        must forward each chunk at once and not collect the body first."""
        while b"first" not in reader.buffer:
            reader.more()
        gate.set()
        reader.read_body(request)
        upstream.keep(request)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        return True
    with stage({"/page": [page]}, on_head={"/x": streams}, threads=1,
               defaults={"retry": {"max_attempts": 1}, "replay": {"memory": "1KiB", "disk": 0}}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream, path="/page"))
        equal(client.read_response().status, 503)
        client.send(to(upstream, "PUT", "/x", CHUNKED, b"5\r\nfirst\r\n"))
        equal(gate.wait(60), True)
        client.send(b"1000\r\n" + b"l" * 4096 + b"\r\n0\r\n\r\n")
        equal(client.read_response().status, 200)
        sent = upstream.requests[-1]
        equal((sent.field("Transfer-Encoding"), sent.field("Content-Length"), sent.body), ("chunked", None, b"first" + b"l" * 4096))
        equal(causes(reprise), {})


def test_A11_forbidden_bytes_in_a_request_target_are_rejected():
    with stage() as (reprise, upstream):
        for byte in (b"#", b"\x7f", b"\0", b"\x1f", b" ", b"\t", b"\x0b"):
            refused(reprise, upstream, b"GET http://h/a" + byte + b"b HTTP/1.1\r\n" + HOST + b"\r\n", "bad_target")
        for path in (b"/{a}|b", b"/\xc3\xa9\xff", b'/"<>\\^`', b"/?q={a|b}&\xe9", b"/;p=1"):
            equal(sent_upstream(reprise, upstream, to(upstream, path=path)), expected(upstream, path=path), "passes untouched")


def test_A12_malformed_authorities_are_rejected():
    with stage() as (reprise, upstream):
        for authority in (b"a,b", b"h%00", b"h:80:81", b"[::1", b"[::1]x", b"[fe80::1%25eth0]", b"[fe80::1%eth0]", b"h:80,81",
                          b"[v1.x]", b"::1", b"h\\x", b"[]"):
            refused(reprise, upstream, b"GET http://%s/ HTTP/1.1\r\n" % authority + HOST + b"\r\n", "bad_authority")
        refused(reprise, upstream, b"GET http://a@b/ HTTP/1.1\r\n" + HOST + b"\r\n", "userinfo_in_authority")
        refused(reprise, upstream, b"GET http://a b/ HTTP/1.1\r\n" + HOST + b"\r\n", "bad_target")


def test_A13_empty_and_overlong_hosts_are_rejected():
    with stage() as (reprise, upstream):
        for authority in (b"", b":80", b".", b"a..b", b"l" * 64, b"l" * 64 + b".x", b".".join([b"l" * 60] * 5)):
            refused(reprise, upstream, b"GET http://%s/x HTTP/1.1\r\n" % authority + HOST + b"\r\n", "bad_authority")


def test_A14_bodies_of_get_head_delete_and_options_are_forwarded():
    with stage() as (reprise, upstream):
        for method in ("GET", "HEAD", "DELETE", "OPTIONS"):
            for fields, body in ((b"Content-Length: 5\r\n", b"hello"), (CHUNKED, HELLO)):
                sent = sent_upstream(reprise, upstream, to(upstream, method, "/x", fields, body), method)
                equal(sent, expected(upstream, method, "/x", fields, body), "framed and forwarded whole")
        equal({request.body for request in upstream.requests}, {b"hello"})


def test_A15_method_longer_than_32_bytes_is_rejected():
    with stage() as (reprise, upstream):
        refused(reprise, upstream, b"M" * 33 + b" http://h/ HTTP/1.1\r\n" + HOST + b"\r\n", "method_too_long")
        refused(reprise, upstream, b"M" * 1000, "method_too_long")
        equal(sent_upstream(reprise, upstream, to(upstream, "M" * 32)), expected(upstream, "M" * 32))


def test_A16_https_is_never_sent_in_clear_text():
    with stage(greeting=b"HTTP/1.1 400 What\r\n\r\n") as (reprise, upstream):
        request = to(upstream, body=b"").replace(b"http://", b"https://")
        with Client(reprise.forward) as client:
            client.send(request)
            response = client.read_response()
        equal((response.status, response.field("Proxy-Status").split("; ")[1]), (502, "error=tls_protocol_error"))
        equal(upstream.count(), 0)


def test_A17_bytes_after_a_request_body_are_parsed_as_the_next_request():
    with stage() as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "POST", "/a", b"Content-Length: 3\r\n", b"abc") + to(upstream, path="/b"))
        equal([client.read_response().body for _ in range(2)], [b"answer 1 to /a\n", b"answer 1 to /b\n"])
        equal(normal(b"".join(upstream.bytes_received())),
              expected(upstream, "POST", "/a", b"Content-Length: 3\r\n", b"abc") + expected(upstream, path="/b"))
    with stage() as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "POST", "/a", b"Content-Length: 3\r\n", b"abcX\0YZ\r\n\r\n"))
        equal(client.read_response().status, 200)
        says(client.read_response(), 400, "bad_method")
        equal(client.read_to_end(), b"")
        equal(normal(b"".join(upstream.bytes_received())), expected(upstream, "POST", "/a", b"Content-Length: 3\r\n", b"abc"))
        equal_causes(reprise, {}, "bad_method")


def a_client_that_leaves(leave, fields, body, waits_for_100):
    """Runs a client that leaves during its upload. Checks that the upstream gets the bytes that were sent so far,
    but never a complete message, and that reprise does not retry."""
    def take(connection, request, reader):
        if waits_for_100:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        reader.read_body(request)
        upstream.keep(request)  # reached only if reprise completes the message, which would be a defect
        return False
    with Upstream(record=True, on_head={"/x": take}) as upstream, stage() as (reprise, _):
        client = Client(reprise.forward)
        client.send(to(upstream, "PUT", "/x", fields))
        if waits_for_100:
            equal(client.read_head()[:12], b"HTTP/1.1 100")
        client.send(body)
        eventually(lambda: upstream.bytes_received() and upstream.bytes_received()[0].endswith(b"some\r\n"), "the part arrived")
        if leave == "reset":
            client.reset()
        else:
            client.finish()
            equal(client.read_to_end(), b"", "no answer")
            client.socket.close()
        upstream.all_closed()
        counted(reprise, "reprise_requests_total", code="client_gone")
        equal((upstream.count(), upstream.connections), (0, 1), "never whole, and not tried again")
        counted(reprise, "reprise_retries_refused_total", reason="client_gone")


def test_A18_request_is_aborted_if_the_client_leaves_during_its_body():
    for leave in ("finish", "reset"):
        for expect in (b"", b"Expect: 100-continue\r\n"):
            a_client_that_leaves(leave, expect + b"Content-Length: 100\r\n", b"some\r\n", bool(expect))
            a_client_that_leaves(leave, expect + CHUNKED, b"4\r\nsome\r\n", bool(expect))
