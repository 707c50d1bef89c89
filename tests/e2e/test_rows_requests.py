"""Tests the table on request framing in docs/requirements/robustness.md, whose rows have no ids. reprise must
reject each malformed request with its own message, count one rejection, and send no byte upstream. It must
forward any other request byte for byte."""
from client import Client
from exactly import CLOSED_LIST, HOST, expected, refused, refused_in_body, sent_upstream, stage, to
from harness import LOOPBACK, equal

GET = b"GET http://h/ HTTP/1.1\r\n" + HOST
PUT = b"PUT http://h/ HTTP/1.1\r\n" + HOST


def each_is_refused(rows, **configuration):
    with stage(**configuration) as (reprise, upstream):
        for request, cause in rows:
            refused(reprise, upstream, request, cause)


def test_content_length_together_with_transfer_encoding_is_rejected():
    each_is_refused([(PUT + fields + b"\r\n5\r\nhello\r\n0\r\n\r\n", "length_and_chunked") for fields in (
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"content-length: 0\r\nX: 1\r\ntransfer-encoding: chunked\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: identity\r\n")])


def test_transfer_codings_other_than_a_single_chunked_are_rejected():
    bad = (b"xchunked", b"chunked, chunked", b"chunked,", b",chunked", b"chunked;q=1", b"identity",
           b"chunked, gzip", b"", b"chunked, identity", b"gzip chunked", b"chunked\r\nTransfer-Encoding: chunked",
           b"chunked\r\nTransfer-Encoding: identity", b"identity\r\nTransfer-Encoding: chunked")
    known = (b"gzip", b"gzip, chunked", b"deflate", b"compress", b"x-gzip, deflate, chunked")
    each_is_refused([(PUT + b"Transfer-Encoding: " + value + b"\r\n\r\n0\r\n\r\n", cause)
                     for values, cause in ((bad, "bad_transfer_encoding"), (known, "unsupported_transfer_encoding"))
                     for value in values])


def test_transfer_coding_chunked_in_any_case_is_forwarded_in_lower_case():
    with stage() as (reprise, upstream):
        for value in (b"Chunked", b"CHUNKED", b"chunkeD"):
            sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"Transfer-Encoding: %s\r\n" % value, b"2\r\nab\r\n0\r\n\r\n"))
            equal(sent, expected(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", b"2\r\nab\r\n0\r\n\r\n"))


def test_newer_minor_http_versions_are_treated_as_http_1_1():
    with stage() as (reprise, upstream), Client(reprise.forward) as client:
        for version in (b"1.2", b"1.9"):
            client.send(to(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", b"2\r\nab\r\n0\r\n\r\n", version=version))
            equal(client.read_response().status, 200, "and the connection stays")
            equal((upstream.requests[-1].version, upstream.requests[-1].body), ("HTTP/1.1", b"ab"))


def test_chunked_body_in_an_http_1_0_request_is_rejected():
    each_is_refused([(b"PUT http://h/ HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: %s\r\n\r\n0\r\n\r\n" % value,
                      "chunked_in_http_1_0") for value in (b"chunked", b"gzip", b"identity")])


def test_invalid_or_conflicting_content_length_is_rejected():
    bad = (b"+3", b"-3", b"0x3", b"", b"3 3", b"3,3", b"3, 3", b"3;", b"1e1", b"9" * 20, b"18446744073709551616", b"3.0",
           b"\xb3")
    with stage() as (reprise, upstream):
        for value in bad:
            refused(reprise, upstream, PUT + b"Content-Length: %s\r\n\r\nabc" % value, "bad_content_length")
        for one, two in ((b"3", b"4"), (b"3", b"0"), (b"03", b"4")):
            refused(reprise, upstream, PUT + b"Content-Length: %s\r\nContent-Length: %s\r\n\r\nabc" % (one, two),
                    "conflicting_content_length")
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"Content-Length: 3\r\nX: y\r\nContent-Length: 3\r\n",
                                                   b"abc"))
        equal(sent, expected(upstream, "PUT", "/x", b"X: y\r\nContent-Length: 3\r\n", b"abc"), "one value is forwarded")


def test_malformed_chunks_are_rejected():
    bodies = [size + b"\r\nhello\r\n0\r\n\r\n" for size in (
        b"10000000000000005", b"+5", b"-5", b"0x5", b"", b" 5", b"5 5", b"g", b"5;\x01", b"5;a=\x7f", b"5;a=\xff\x00", b"5\t\x0b")]
    bodies += [b"5\r\nhello0\r\n\r\n", b"5\r\nhelloXX0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\nhello\r\n0\r\n\r\n",
               b"5\r\nhello\r\n0\n\r\n", b"5\r\nhello\r\n" + b"0;" + b"e" * 4097 + b"\r\n\r\n", b"5\r\nhello\r\nX: 1\r\n\r\n"]
    with stage() as (reprise, upstream):
        for body in bodies:
            refused_in_body(reprise, upstream, to(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", body), "bad_chunk")


def test_sensitive_trailers_are_dropped_and_malformed_trailers_rejected():
    dropped = [b"Content-Length: 9", b"Transfer-Encoding: chunked", b"Host: evil", b"Authorization: Basic eA==", b"Cookie: a=b",
               b"Proxy-Authorization: x", b"Connection: close", b"Via: 1.1 other", b"Content-Encoding: gzip", b"Set-Cookie: a=b",
               b"X-Forwarded-For: 1.1.1.1", b"If-Match: *", b"Cache-Control: no-store", b"Reprise-Attempt: 3"]
    kept = [b"X-Checksum: abc", b"Content-Digest: sha-256=:AA==:", b"Server-Timing: db;dur=53"]
    lines = b"".join(line + b"\r\n" for line in [dropped[0], kept[0], *dropped[1:], *kept[1:]])
    with stage() as (reprise, upstream):
        chunks = b"5\r\nhello\r\n0\r\n"
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", chunks + lines + b"\r\n"))
        equal(sent, expected(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n",
                             chunks + b"".join(line + b"\r\n" for line in kept) + b"\r\n"))
        large = b"".join(b"X-%d: %s\r\n" % (i, b"t" * 90) for i in range(100))
        refused_in_body(reprise, upstream, to(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", chunks + large + b"\r\n"),
                        "bad_trailer")


def test_malformed_field_lines_are_rejected():
    rows = [(GET + b"X: a" + byte + b"b\r\n\r\n", "bad_field_value") for byte in (b"\0", b"\r", b"\n", b"\x01", b"\x7f", b"\x1b")]
    rows += [(GET + b": a\r\n\r\n", "bad_field_name"), (GET + b"X : a\r\n\r\n", "bad_field_name"),
             (GET + b"X\t: a\r\n\r\n", "bad_field_name"), (GET + b"X\r\n\r\n", "bad_field_name"),
             (GET + b"X(: a\r\n\r\n", "bad_field_name"), (GET + b"X\xe9: a\r\n\r\n", "bad_field_name"),
             (GET + b"X: a\r\n b\r\n\r\n", "obs_fold"), (GET + b"X: a\r\n\tb: c\r\n\r\n", "obs_fold")]
    rows += [(b"GET http://h/a" + byte + b"b HTTP/1.1\r\n" + HOST + b"\r\n", "bad_target") for byte in (b"\0", b"\x01", b"\x7f", b"\t")]
    each_is_refused(rows)


def test_missing_or_repeated_or_bad_host_is_rejected():
    each_is_refused([
        (b"GET http://h/ HTTP/1.1\r\n\r\n", "missing_host"),
        (b"GET http://h/ HTTP/1.1\r\nX: 1\r\n\r\n", "missing_host"),
        (GET + HOST + b"\r\n", "repeated_host"),
        (GET + b"host: other\r\n\r\n", "repeated_host"),
        *((b"GET http://h/ HTTP/1.1\r\nHost: %s\r\n\r\n" % value, "bad_host") for value in (
            b"", b"a b", b"h/", b"h:99999", b"h:0", b"u@h", b"h,h", b"[::1", b"h:80:80", b"http://h"))])
    with stage() as (reprise, upstream):
        request = to(upstream).replace(b"Host: 127.0.0.1:%d" % upstream.port, b"X: 1\r\nHost: elsewhere.example")
        equal(sent_upstream(reprise, upstream, request), expected(upstream, fields=b"X: 1\r\n"), "absolute-form wins")


def test_at_most_four_empty_lines_may_precede_the_request_line():
    with stage() as (reprise, upstream):
        for count in range(1, 5):
            equal(sent_upstream(reprise, upstream, b"\r\n" * count + to(upstream)), expected(upstream))
        refused(reprise, upstream, b"\r\n" * 5 + GET + b"\r\n", "bad_request_line")
        refused(reprise, upstream, b"\r\n\rX" + GET + b"\r\n", "bad_request_line")
        refused(reprise, upstream, b"\n" + GET + b"\r\n", "bad_method")


def test_malformed_request_lines_are_rejected():
    each_is_refused([(line + b"\r\n" + HOST + b"\r\n", cause) for line, cause in (
        (b"GET http://h/ HTTP/2.0", "bad_version"), (b"GET http://h/ HTTP/3.1", "bad_version"),
        (b"GET http://h/ HTTP/0.9", "bad_version"), (b"PRI * HTTP/2.0", "bad_version"), (b"GET http://h/", "bad_request_line"),
        (b"GET http://h/ http/1.1", "bad_request_line"), (b"GET http://h/ HTTP/1", "bad_request_line"),
        (b"GET http://h/ HTTP/2", "bad_request_line"), (b"GET http://h/ HTTP/1.12", "bad_request_line"),
        (b"GET http://h/ HTTP/1.1 ", "bad_request_line"), (b"GET http://h/ HTTP/1.10", "bad_request_line"),
        (b"GET", "bad_request_line"), (b"G(T http://h/ HTTP/1.1", "bad_method"), (b"\x80 http://h/ HTTP/1.1", "bad_method"),
        (b"GET\thttp://h/ HTTP/1.1", "bad_method"), (b" GET http://h/ HTTP/1.1", "bad_method"),
        (b"GET  HTTP/1.1", "bad_target"), (b"GET  http://h/ HTTP/1.1", "bad_target"),
        (b"GET http://h/a b HTTP/1.1", "bad_target"), (b"GET http://h/ \tHTTP/1.1", "bad_request_line"))])
    equal((CLOSED_LIST["bad_version"][0], CLOSED_LIST["bad_request_line"][0]), (505, 400))


def test_heads_over_the_limits_are_rejected():
    with stage() as (reprise, upstream):
        refused(reprise, upstream, b"GET http://h/" + b"a" * 66000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", "target_too_long")
        refused(reprise, upstream, GET + b"X: 1\r\n" * 256 + b"\r\n", "too_many_fields")
        refused(reprise, upstream, GET + b"X: " + b"a" * 70000 + b"\r\n\r\n", "header_too_large")
        refused(reprise, upstream, GET + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 700) for i in range(100)) + b"\r\n",
                "header_too_large")
        long_path = b"/" + b"a" * 64000
        equal(sent_upstream(reprise, upstream, to(upstream, path=long_path)), expected(upstream, path=long_path))
        many = b"".join(b"X-%d: 1\r\n" % i for i in range(255))
        equal(sent_upstream(reprise, upstream, to(upstream, fields=many)), expected(upstream, fields=many))


def test_invalid_targets_are_rejected():
    each_is_refused([(b"GET %s HTTP/1.1\r\n" % target + HOST + b"\r\n", cause) for target, cause in (
        (b"ftp://h/", "bad_scheme"), (b"h/x", "bad_scheme"), (b"http:/h/", "bad_scheme"), (b"http:h", "bad_scheme"),
        (b"http://h:0/", "bad_authority"), (b"http://h:65536/", "bad_authority"), (b"http://h:x/", "bad_authority"),
        (b"http://u@h/", "userinfo_in_authority"), (b"http://u:p@h/", "userinfo_in_authority"),
        (b"http://@h/", "userinfo_in_authority"), (b"/", "not_a_proxy_request"), (b"*", "not_a_proxy_request"))])


def test_path_and_query_are_forwarded_byte_for_byte():
    with stage({path: [200] for path in ("/", "/a/../b%2f%zz", "//", "/%c3%a9")}) as (reprise, upstream):
        for asked, sent in ((b"", b"/"), (b"?q", b"/?q"), (b"?", b"/?"), (b"/", b"/"), (b"/a/../b%2f%zz?x=%20+&y", None),
                            (b"//", None), (b"/%c3%a9", None), (b"/a?b?c", None)):
            equal(sent_upstream(reprise, upstream, to(upstream, path=asked)), expected(upstream, path=sent or asked))
        refused(reprise, upstream, to(upstream, path=b"/x#part"), "bad_target")


def test_max_forwards_of_options_and_trace_is_decremented_and_zero_is_not_forwarded():
    with stage() as (reprise, upstream):
        equal(sent_upstream(reprise, upstream, to(upstream, "OPTIONS", b"", b"Max-Forwards: 7\r\n")),
              expected(upstream, "OPTIONS", "*", b"Max-Forwards: 6\r\n"))
        equal(sent_upstream(reprise, upstream, to(upstream, "OPTIONS", b"")), expected(upstream, "OPTIONS", "*"))
        equal(sent_upstream(reprise, upstream, to(upstream, "TRACE", "/t", b"Max-Forwards: 1\r\n")),
              expected(upstream, "TRACE", "/t", b"Max-Forwards: 0\r\n"))
        for method in ("OPTIONS", "TRACE"):
            equal(sent_upstream(reprise, upstream, to(upstream, method, "/x", b"Max-Forwards: 0\r\n")), b"", f"{method} ends here")


def test_connect_with_a_body_or_a_bad_authority_is_rejected():
    with stage(security={"connect_ports": [443, 80, 8443]}) as (reprise, upstream):
        authority = b"%s:%d" % (LOOPBACK.encode(), upstream.port)
        for fields in (b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n"):
            refused(reprise, upstream, b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (authority, authority, fields),
                    "connect_with_body")
        refused(reprise, upstream, b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (authority, authority), "connect_port_denied")
        for target, cause in ((b"h", "bad_authority"), (b"h:", "bad_authority"), (b"h:0", "bad_authority"),
                              (b"h:99999", "bad_authority"), (b"[::1", "bad_authority"), (b"u@h:443", "userinfo_in_authority"),
                              (b"http://h/", "bad_authority")):
            refused(reprise, upstream, b"CONNECT %s HTTP/1.1\r\n" % target + HOST + b"\r\n", cause)


def test_client_connection_stays_open_after_valid_chunked_requests():
    with stage() as (reprise, upstream), Client(reprise.forward) as client:
        for _ in range(3):
            client.send(to(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", b"1;a=b\r\nx\r\n0\r\n\r\n"))
            equal(client.read_response().status, 200)
        equal(upstream.connections, 1)
