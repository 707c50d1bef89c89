"""Tests rows B1 to B14 (responses, without TLS), and row F1 for upstreams without TLS. A broken message must never
look complete to the client, and a doubtful connection must never be reused."""
import fcntl
import re
import struct
import termios
import threading

from client import Client
from exactly import counted, is_cut, normal, raw, stage, to
from harness import equal, eventually
from upstream import Say, reset

ONCE = {"retry": {"max_attempts": 1}, "resume": {"enabled": False}}
OK = b"HTTP/1.1 200 OK\r\n"


def becomes_502(heads, error="http_protocol_error", **configuration):
    """Checks that reprise turns each of the given response heads of an upstream into its own 502, after one
    attempt. The connection to the client must stay open. The connection to the upstream must be closed."""
    with stage({"/x": [raw(head, then) for head, then in heads]}, defaults=ONCE, **configuration) as (reprise, upstream), \
            Client(reprise.forward) as client:
        for number, (head, _) in enumerate(heads):
            client.send(to(upstream))
            response = client.read_response()
            equal((response.status, response.attempts), (502, 1), repr(head[:100]))
            assert re.fullmatch(rf"reprise-\w+; error={error}", response.field("Proxy-Status")), (response.field("Proxy-Status"), head)
            assert response.body.startswith(b"reprise: attempt 1 of 1 failed while "), response.body
            equal((response.field("Content-Type"), response.field("X-Content-Type-Options")), ("text/plain", "nosniff"))
            equal((upstream.count(), upstream.connections), (number + 1, number + 1), repr(head[:100]))
        counted(reprise, "reprise_attempts_total", len(heads), outcome="reset")
        counted(reprise, "reprise_requests_total", len(heads), code="502")
        client.send(to(upstream, path="/next"))
        equal(client.read_response().body, b"answer 1 to /next\n")
        equal(upstream.connections, len(heads) + 1)


def is_cut_after(bodies):
    """Checks that the client gets the beginning of each response. The response must end with a FIN after the last
    received byte, without a terminator, and be counted as cut."""
    with stage({"/x": [raw(head + body, then) for head, body, then, _ in bodies]}, defaults=ONCE) as (reprise, upstream):
        for number, (head, body, then, most) in enumerate(bodies):
            with Client(reprise.forward) as client:
                client.send(to(upstream))
                equal(client.read_final_head().status, 200, repr(body[:100]))
                got = is_cut(client, repr(body[:100]))
                data = re.sub(rb"[0-9a-f]+\r\n|\r\n", b"", got)
                assert data == most or (then == "stay" and most.startswith(data)), (most, data)
            counted(reprise, "reprise_requests_total", number + 1, code="cut")
        counted(reprise, "reprise_attempts_total", len(bodies), outcome="truncated")
        equal(upstream.connections, len(bodies), "none is used again")


def discards(message, method="GET", status=200, body=b"hello"):
    """Checks that the client gets the response, that the upstream connection is not reused, and that the bytes after
    the response do not become another response."""
    with stage({"/x": [raw(message)]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, method))
        response = client.read_response(method)
        equal((response.status, response.body), (status, body), repr(message))
        client.send(to(upstream, path="/next"))
        equal(client.read_response().body, b"answer 1 to /next\n", repr(message))
        equal(upstream.connections, 2, f"the connection is not used again: {message!r}")
        return response


def test_responses_with_both_content_length_and_chunked_are_read_as_chunked():
    response = discards(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    equal((response.field("Content-Length"), response.field("Transfer-Encoding")), (None, "chunked"))


def test_responses_with_bad_heads_become_502():
    heads = [OK + fields + b"\r\n\r\n" for fields in (
        b"Content-Length: 1\r\nContent-Length: 2", b"Content-Length: 1, 2", b"Content-Length: x", b"Content-Length: -1",
        b"Content-Length: " + b"9" * 20, b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: xchunked", b"X: a\0b",
        b"X: a\x01b", b"X: a\rb", b"X: a\nb", b"no colon", b": x", b"X(: y")]
    heads += [b"HTTP/1.1 200 O\0K\r\n\r\n", b"HTTP/1.1  200 OK\r\n\r\n",
              b"http/1.1 200 OK\r\n\r\n", b"\r\nHTTP/1.1 200 OK\r\n\r\n", b"SSH-2.0-x\r\n\r\n"]
    becomes_502([(head, "stay") for head in heads])


def test_responses_with_heads_over_the_limits_become_502():
    becomes_502([(OK + b"X: " + b"a" * 70000 + b"\r\n\r\n", "stay"), (OK + b"X: 1\r\n" * 257 + b"\r\n", "stay")],
                "http_response_header_section_size")


def test_responses_with_bad_chunks_are_cut():
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    good = b"5\r\nhello\r\n"
    is_cut_after([(chunked, good + bad, "stay", b"hello" + more) for bad, more in (
        (b"x\r\n", b""), (b"10000000000000005\r\nabcde", b""), (b"5 5\r\nabcde\r\n", b""), (b"\n5\nabcde\r\n", b""),
        (b"5\r\nabcdeXX", b"abcde"), (b"5\r\nabcde0\r\n\r\n", b"abcde"), (b"-5\r\n", b""), (b"5;\x01\r\nabcde\r\n", b""),
        (b"5;a=\"\n\"\r\nabcde\r\n", b""), (b"0\r\nno colon\r\n\r\n", b""), (b"0\nno colon\n\n", b""), (b"0;\n\n", b""),
        (b"0" * 4097 + b"5\r\nabcde\r\n", b""))])


def test_responses_with_truncated_bodies_are_cut():
    length, chunked = OK + b"Content-Length: 10\r\n\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"
    is_cut_after([(length, b"hello", "close", b"hello"), (length, b"hello", "reset", b"hello"), (length, b"", "close", b""),
                  (chunked, b"5\r\nhello\r\n", "close", b"hello"), (chunked, b"5\r\nhel", "close", b"hel"),
                  (chunked, b"5\r\nhello\r\n", "reset", b"hello"), (chunked, b"", "close", b""), (chunked, b"5", "close", b"")])


def test_responses_that_are_interim_are_passed_on_but_an_unrequested_101_becomes_502():
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n"
    with stage({"/x": [raw(b"HTTP/1.1 100 Continue\r\n\r\n" + hints + b"HTTP/1.1 102 Processing\r\n\r\n" +
                           OK + b"Content-Length: 5\r\n\r\nhello")]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        response = client.read_response()
        equal([one.status for one in response.interim], [100, 103, 102])
        equal((response.interim[1].field("Link"), response.body), ("</s.css>", b"hello"))
    becomes_502([(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "stay")])


def test_responses_without_a_body_do_not_wait_for_one():
    for status, method in ((204, "GET"), (304, "GET"), (200, "HEAD")):
        head = b"HTTP/1.1 %d Told\r\nETag: \"a\"\r\n" % status
        with stage({"/x": [raw(head + (b"" if status == 204 else b"Content-Length: 5\r\n") + b"\r\n")]}) as (reprise, upstream), \
                Client(reprise.forward) as client:
            client.send(to(upstream, method))
            response = client.read_response("HEAD")
            equal((response.status, response.field("Content-Length")), (status, None if status == 204 else "5"))
            client.send(to(upstream, path="/next"))
            equal(client.read_response().body, b"answer 1 to /next\n", "no body is waited for")
            equal(upstream.connections, 1)


def test_responses_are_never_taken_from_unrequested_bytes_on_an_idle_connection():
    for junk in (b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", b"\r\n", b"x"):
        asked, sent = threading.Event(), threading.Event()
        def answer_and_more(connection, request, junk=junk, asked=asked, sent=sent):
            connection.sendall(Say(200, b"hello").text(request, 1))
            asked.wait(60)
            connection.sendall(junk)
            sent.set()
            return True
        with stage({"/x": [answer_and_more]}) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream))
            equal(client.read_response().body, b"hello")
            asked.set()
            equal(sent.wait(60), True)
            client.send(to(upstream, "POST", "/next"))
            response = client.read_response()
            equal((response.body, response.attempts, upstream.connections), (b"answer 1 to /next\n", 1, 2), repr(junk))


def test_B1_framing_fields_of_interim_and_204_responses_are_removed():
    for fields in (b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"):
        response = discards(b"HTTP/1.1 204 None\r\n" + fields + b"\r\n", "GET", 204, b"")
        equal((response.field("Content-Length"), response.field("Transfer-Encoding")), (None, None))
        response = discards(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n" + fields + b"\r\n" + OK + b"Content-Length: 5\r\n\r\nhello")
        interim = response.interim[0]
        equal((interim.field("Link"), interim.field("Content-Length"), interim.field("Transfer-Encoding")), ("x", None, None))


def test_B2_chunked_response_is_unchunked_for_an_http_1_0_client():
    with stage({"/x": [Say(chunks=[b"he", b"llo"])]}) as (reprise, upstream):
        for fields in (b"", b"Connection: keep-alive\r\n"):
            with Client(reprise.forward) as client:
                client.send(to(upstream, fields=fields, version=b"1.0"))
                equal(normal(client.read_to_end()), b"HTTP/1.1 200 Scripted\r\nDate: ?\r\nVia: 1.1 reprise-?\r\nConnection: close\r\n"
                      b"Reprise-Attempts: 1\r\n\r\nhello")


def test_B3_close_delimited_response_is_forwarded_chunked():
    with stage({"/x": [raw(OK + b"\r\nhello", "close")]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        response = client.read_response()
        equal((response.field("Transfer-Encoding"), response.body), ("chunked", b"hello"))
        client.send(to(upstream, path="/next"))
        equal(client.read_response().body, b"answer 1 to /next\n", "the client's connection goes on")


def test_B4_reset_in_a_close_delimited_response_cuts_the_client_response():
    is_cut_after([(OK + b"\r\n", b"hello", "reset", b"hello"),
                  (b"HTTP/1.0 200 OK\r\n\r\n", b"hello", "reset", b"hello")])


def test_B5_end_inside_the_last_chunk_or_the_trailers_cuts_the_client_response():
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    is_cut_after([(chunked, b"5\r\nhello\r\n" + end, "close", b"hello") for end in (b"0", b"0\r", b"0\r\n", b"0\r\nX: 1",
                                                                                  b"0\r\nX: 1\r\n", b"0\r\n\r")])


def test_B6_stalled_body_is_cut_after_the_idle_timeout():
    quiet = {"idle_timeout": "250ms", **ONCE}
    for head in (b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", b"Content-Length: 10\r\n\r\nhello", b"\r\nhello"):
        with stage({"/x": [raw(OK + head)]}, defaults=quiet) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream))
            equal(client.read_final_head().status, 200)
            is_cut(client)
            counted(reprise, "reprise_requests_total", code="cut")
            upstream.all_closed()


def sends_and_breaks(head, body):
    """Returns an upstream step that sends bytes, and resets the connection after the kernel of the other side
    has acknowledged all of them."""
    def play(connection, _):
        connection.sendall(OK + head + body)
        eventually(lambda: unsent(connection) == 0, "all is acknowledged")
        reset(connection)
    return play


def unsent(connection):
    return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"0000"))[0]


def test_B6_client_that_reads_slowly_gets_every_byte_received_before_a_break():
    """curl and wget resume after the last received byte. So none of the 4 MB that arrived before a RST may be lost
    in reprise's send queue."""
    sent = b"x" * 4_000_000
    for head, version, end in ((b"Content-Length: 5000000\r\n\r\n", b"1.1", "FIN"), (b"\r\n", b"1.0", "RST"),
                               (b"Transfer-Encoding: chunked\r\n\r\n3d0901\r\n", b"1.0", "RST")):
        with stage({"/x": [sends_and_breaks(head, sent)]}, defaults=ONCE) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, version=version))
            client.read_final_head()
            got, ended = len(client.buffer), "FIN"
            try:
                while data := client.socket.recv(4096):
                    got += len(data)
            except ConnectionResetError:
                ended = "RST"
            equal((got, ended), (len(sent), end), head)


def test_B7_blank_before_a_colon_is_removed_but_rejected_in_framing_fields():
    with stage({"/x": [raw(OK + b"X-A : 1\r\nX-B\t:2\r\nContent-Length: 5\r\n\r\nhello")]}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(normal(client.read_head()), OK + b"X-A: 1\r\nX-B: 2\r\nContent-Length: 5\r\nDate: ?\r\nVia: 1.1 reprise-?\r\n"
              b"Reprise-Attempts: 1\r\n")
    becomes_502([(OK + b"Content-Length : 5\r\n\r\nhello", "stay"), (OK + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "stay")])


def test_B8_missing_reason_is_accepted_and_bad_status_lines_become_502():
    with stage({"/x": [raw(b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello")]}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        head = client.read_head()
        equal((head.startswith(b"HTTP/1.1 200 \r\n"), client.read_bytes(5)), (True, b"hello"))
    lines = (b"HTTP/1.1 099 Low", b"HTTP/1.1 1000 High", b"HTTP/1.1 2xx Odd", b"HTTP/2.0 200 OK",
             b"HTTP/1.10 200 OK", b"HTTP/1.1 20", b"HTTP/1.1200 OK", b"ICY 200 OK", b"<html>no head at all</html>")
    becomes_502([(line + b"\r\nContent-Length: 0\r\n\r\n", "stay") for line in lines])


def test_B9_sizes_above_4_gib_are_not_truncated_to_32_bits():
    with stage({"/x": [raw(OK + b"Transfer-Encoding: chunked\r\n\r\n000000000000000000005\r\nhello\r\n00000000000000000000\r\n\r\n")]}) \
            as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(client.read_response().body, b"hello", "leading zeros are stepped over")
    large = (1 << 32) + 5
    # If a length were truncated to 32 bits, each of the following bodies would be complete after five bytes.
    is_cut_after([(OK + b"Content-Length: %d\r\n\r\n" % large, b"hello", "close", b"hello"),
                  (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\nhello" % large, "close", b"hello"),
                  (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\nhello\r\n0\r\n\r\n" % large, "close", b"hello")])


def test_B10_too_many_interim_responses_become_502():
    hint, final = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK + b"Content-Length: 5\r\n\r\nhello"
    with stage({"/x": [raw(hint * 100 + final)]}, defaults=ONCE) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        response = client.read_response()
        equal((len(response.interim), response.body), (100, b"hello"))
    large = b"HTTP/1.1 103 Early Hints\r\nLink: %s\r\n\r\n" % (b"l" * 30000)
    becomes_502([(hint * 101 + final, "stay"), (large * 3 + final, "stay")])


def test_B11_bytes_after_a_response_are_discarded():
    first = OK + b"Content-Length: 5\r\n\r\nhello"
    discards(first + OK + b"Content-Length: 5\r\n\r\nwrong")
    discards(first + b"x")
    discards(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + first)


def test_B11_response_sent_before_the_request_is_delivered_and_its_connection_not_reused():
    told = threading.Event()
    def response(connection, request):
        connection.sendall(Say(200, b"late").text(request, 1))
        told.set()
        return True
    greeting = OK + b"Content-Length: 5\r\n\r\nearly"
    with stage({"/x": [response]}, greeting=greeting) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(client.read_response().body, b"early", "the first is delivered")
        equal(told.wait(60), True)
        client.send(to(upstream, path="/next"))
        equal((client.read_response().body, upstream.connections), (b"early", 2), "and its connection is not used again")


def test_B11_body_where_none_is_allowed_is_discarded():
    discards(OK + b"Content-Length: 5\r\n\r\nhello", "HEAD", 200, b"")
    discards(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", "GET", 304, b"")
    discards(b"HTTP/1.1 204 None\r\n\r\nhello", "GET", 204, b"")


def test_B12_response_head_without_its_end_becomes_502():
    becomes_502([(head, "close") for head in (OK, OK + b"Content-Length: 5\r\n", OK + b"X: y", b"HTTP/1.1 200", OK + b"X: y\r\n\r")],
                "connection_terminated")


def test_B13_body_shorter_than_content_length_is_cut():
    is_cut_after([(OK + b"Connection: close\r\nContent-Length: 100\r\n\r\n", b"hello", "close", b"hello")])


def test_B14_many_fields_and_long_lists_pass_only_within_the_limits():
    cookies = b"".join(b"Set-Cookie: c%d=%d\r\n" % (i, i) for i in range(1000))
    warning = b"Warning: " + b", ".join(b"199 a \"b\"" for _ in range(40000)) + b"\r\n"
    old = b"Set-Cookie2: a=b; Version=1\r\n"
    becomes_502([(OK + cookies + b"\r\n", "stay"), (OK + warning + b"\r\n", "stay")], "http_response_header_section_size")
    wide = {"header": "1MiB", "header_fields": 2000}
    with stage({"/x": [raw(OK + old + cookies + warning + b"Content-Length: 5\r\n\r\nhello")]}, limits=wide) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        head = client.read_head()
        equal((head.startswith(OK + old + cookies + warning), client.read_bytes(5)), (True, b"hello"))


def test_F1_connections_are_never_shared_between_authorities():
    with stage(threads=1) as (reprise, upstream):  # one I/O thread, because each thread has its own connection pool
        def ask(host):
            with Client(reprise.forward) as client:
                client.send(b"GET http://%s:%d/x HTTP/1.1\r\nHost: h\r\n\r\n" % (host, upstream.port))
                equal(client.read_response().status, 200)
            return upstream.connections
        equal([ask(host) for host in (b"127.0.0.1", b"localhost", b"127.1", b"127.0.0.1", b"LOCALHOST")], [1, 2, 3, 3, 3])


def test_unsupported_transfer_coding_of_a_response_is_named():
    """The sentence about the transfer coding comes from a fixed list and contains no byte of the upstream's
    message (row H9)."""
    for value, words in ((b"chunked, deflate", b"the transfer coding deflate is not supported"), (b"GZIP, chunked", b"the transfer coding gzip is"),
                         (b"chunked\r\nTransfer-Encoding: x-compress", b"the transfer coding x-compress is"),
                         (b"<b>br</b>", b"only the transfer coding chunked is supported"), (b"chunked, chunked", b"the transfer coding chunked occurs twice")):
        answer = OK + b"Transfer-Encoding: " + value + b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        with stage({"/x": [raw(answer)]}, defaults=ONCE) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream))
            response = client.read_response()
            equal((response.status, response.attempts, b"(" + words in response.body), (502, 1, True), response.body)
            equal(b"<b>" in response.body, False)
