"""Tests rows C1 to C9 (Expect, interim and early responses, upgrades), and rows K1 to K4 (how reprise's own
responses describe a failure)."""
import re
import socket

from client import Client, ask, chunked
from exactly import HOST, causes, expected, normal, raw, refused, sent_upstream, stage, to
from harness import LOOPBACK, Reprise, closed_port, equal, eventually
from server import black_hole
from upstream import Say, Upstream, reset

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
FINAL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def expect(length):
    return b"Expect: 100-continue\r\nContent-Length: %d\r\n" % length


def rest_of(reader):
    """Returns all bytes that arrive until the connection ends."""
    try:
        return reader.read_to_end()
    except OSError:
        return bytes(reader.buffer)


def take(upstream, connection, request, reader, response=FINAL):
    """Reads the body of the request, records the request, and responds."""
    reader.read_body(request)
    upstream.keep(request)
    connection.sendall(response)
    return True


def test_C1_head_with_expect_is_sent_before_the_body_and_the_client_gets_one_100_response():
    def on_head(connection, request, reader):
        equal(reader.buffer, b"", "the head was sent at once, before any body")
        connection.sendall(CONTINUE * 2)
        return take(upstream, connection, request, reader)
    with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "PUT", "/x", expect(4)))
        equal(client.read_head(), b"HTTP/1.1 100 Continue\r\nVia: 1.1 reprise-%s\r\n" % client_pseudonym(upstream))
        client.send(b"body")
        response = client.read_response()
        equal((response.status, response.interim), (200, []), "one 100, not two")
        equal(normal(upstream.bytes_received()[0]), expected(upstream, "PUT", "/x", expect(4), b"body"))


def client_pseudonym(upstream):
    return re.search(rb"Via: 1\.1 reprise-(\w+)", upstream.bytes_received()[0]).group(1)


def test_C1_proxy_generates_a_100_only_for_a_known_http_1_0_upstream():
    old = Say(raw=b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ndone", close=True)
    def on_head(connection, request, reader):
        return take(upstream, connection, request, reader, old.raw) and False
    with stage({"/old": [old]}, on_head={"/x": on_head}, threads=1) as (reprise, upstream):
        equal(ask(reprise, "GET", upstream.url("/old")).status, 200)
        with Client(reprise.forward) as client:
            client.send(to(upstream, "PUT", "/x", expect(4)))
            equal(client.read_head(), b"HTTP/1.1 100 Continue\r\n", "ours: the upstream will never send one")
            client.send(b"body")
            equal((client.read_response().status, upstream.requests[-1].body), (200, b"body"))


def test_C2_each_kind_of_expect_value_is_ignored_stripped_or_rejected():
    with stage() as (reprise, upstream):
        sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", expect(4), b"body", version=b"1.0"))
        equal(sent, expected(upstream, "PUT", "/x", b"Content-Length: 4\r\n", b"body", via=b"1.0"), "ignored on 1.0")
        equal(sent_upstream(reprise, upstream, to(upstream, fields=b"Expect: 100-continue\r\n")), expected(upstream))
        equal(sent_upstream(reprise, upstream, to(upstream, fields=b"Expect: more\r\n", version=b"1.0")), expected(upstream, via=b"1.0"))
        twice = b"Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 4\r\n"
        refused(reprise, upstream, to(upstream, "PUT", "/x", twice), "bad_field_value")
        refused(reprise, upstream, to(upstream, "PUT", "/x", b"Expect:\r\n 100-continue\r\nContent-Length: 4\r\n"), "obs_fold")
        for value in (b"100-continue, more", b"more", b"100-continue;q=1", b"100-continue, 100-continue"):
            refused(reprise, upstream, to(upstream, "PUT", "/x", b"Expect: %s\r\nContent-Length: 4\r\n" % value), "bad_expect")


def refusing(status, bodies):
    """Returns a function for the upstream that responds with `status` in place of a 100. The function adds
    the bytes that arrive afterwards to `bodies`."""
    def on_head(connection, _, reader):
        connection.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\nno" % status)
        bodies.append(rest_of(reader))
        return False
    return on_head


def test_C3_N23_final_response_instead_of_100_keeps_the_client_connection_open():
    for status in (417, 401, 413, 200):
        bodies = []
        with stage(on_head={"/x": refusing(status, bodies)}) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, "PUT", "/x", expect(4)))
            response = client.read_response()
            equal((response.status, response.body, response.field("Connection")), (status, b"no", None))
            client.send(b"body" + to(upstream, path="/next"))
            equal(client.read_response().body, b"answer 1 to /next\n", "the body was read and thrown away")
            upstream.seen(1, "/next")
            eventually(lambda: len(bodies) == 1, "the connection is closed")
            equal((bodies, upstream.connections, causes(reprise)), ([b""], 2, {}), "the body is not sent, its connection is closed")


def test_N23_connection_closes_if_the_client_repeats_its_request_instead_of_the_refused_body():
    """After a 417, curl 7.88 sends the whole request again, although reprise still expects the refused body.
    reprise must neither serve the repeated request nor wait for more of the body."""
    bodies = []
    with stage(on_head={"/x": refusing(417, bodies)}) as (reprise, upstream), Client(reprise.forward) as client:
        again = to(upstream, "PUT", "/x", b"Content-Length: 2000000\r\n", b"x" * 2_000_000)
        client.send(to(upstream, "PUT", "/x", expect(2_000_000)))
        equal(client.read_response().status, 417)
        client.send(again)  # reprise must read all these bytes: curl retries after a FIN, but not after a failed write
        equal(client.read_to_end(), b"")
        equal((upstream.count(), causes(reprise)), (0, {}), "nothing of it was served")


def test_C4_retry_after_a_forwarded_100_sends_no_second_100():
    bodies = []
    def on_head(connection, request, reader):
        if len(bodies) == 0:
            connection.sendall(CONTINUE)
            bodies.append(reader.read_body(request))
            reset(connection)
            return False
        bodies.append(reader.read_body(request))  # the client sends the body without waiting for a 100
        connection.sendall(CONTINUE)
        connection.sendall(FINAL)
        return True
    with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "PUT", "/x", expect(4)))
        equal(client.read_head()[:12], b"HTTP/1.1 100")
        client.send(b"body")
        response = client.read_response()
        equal((response.status, response.attempts, response.interim, bodies), (200, 2, [], [b"body"] * 2), "at most one 100")


def test_C4_interim_response_does_not_prevent_a_retry():
    with stage({"/x": [raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "close"), 200]}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts, [one.status for one in response.interim]), (200, 2, [103]))


def echoing(length):
    """Returns a function for the upstream that starts its response before the request's body arrives, and
    echoes `length` bytes of the body."""
    def on_head(connection, _, reader):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
        left = length
        while left > 0:
            data = reader.read_some(left)
            connection.sendall(data)
            left -= len(data)
        return True
    return on_head


def test_C5_upload_continues_while_its_response_is_delivered():
    """The server echoes each piece of the body before the client sends the next piece, as Node's
    `req.pipe(res)` and aiohttp do."""
    for defaults in ({}, {"mode": "off"}, {"hold": {"bytes": "16KiB", "time": "50ms"}}, {"hedge": {"after": "10s"}},
                     {"replay": {"memory": "16B", "disk": "32B"}}):
        with stage(on_head={"/x": echoing(100)}, defaults=defaults) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, "POST", "/x", b"Content-Length: 100\r\n"))
            head = client.read_final_head()
            equal((head.status, head.field("Connection")), (200, None), defaults)
            for piece in (b"a" * 10, b"b" * 60, b"c" * 30):
                client.send(piece)
                equal(client.read_bytes(len(piece)), piece)
            client.send(to(upstream, path="/next"))
            equal(client.read_response().body, b"answer 1 to /next\n")
            equal(upstream.connections, 1, "both sides have ended: the connection is used again")


def test_C5_upload_continues_after_its_complete_response():
    """piping-server and similar programs send a complete 200 at once, and still read the body afterwards."""
    bodies = []
    def on_head(connection, request, reader):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        bodies.append(reader.read_body(request))
        return True
    with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "POST", "/x", CHUNKED))
        equal(client.read_response().body, b"ok")
        for _ in range(50):
            client.send(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
        client.send(b"0\r\n\r\n" + to(upstream, path="/next"))
        equal(client.read_response().body, b"answer 1 to /next\n")
        equal(([len(body) for body in bodies], upstream.connections), ([50_000], 1))


def test_C5_upload_ends_when_the_upstream_closes_after_its_response():
    def on_head(connection, *_):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return False
    with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "POST", "/x", b"Content-Length: 100000\r\n", b"some"))
        equal(client.read_response().body, b"ok")
        upstream.all_closed()
        client.send(b"x" * 99_996 + to(upstream, path="/next"))
        equal(client.read_response().body, b"answer 1 to /next\n", "the rest was read, and thrown away")


def test_C5_upload_ends_when_the_upstream_sends_an_error():
    """If the error response has `Connection: close`, the upload to the upstream ends at once; otherwise the
    upload ends with the body. reprise reads the rest of the body from the client and discards it."""
    for close in (b"Connection: close\r\n", b""):
        sent = []
        def on_head(connection, _, reader):
            connection.sendall(b"HTTP/1.1 413 Too Much\r\n%sContent-Length: 3\r\n\r\nbig" % close)
            sent.append(rest_of(reader))
            return False
        with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, "PUT", "/x", b"Content-Length: 1000004\r\n", b"some"))
            equal(client.read_response().status, 413)
            client.send(b"x" * 1_000_000 + to(upstream, path="/next"))
            equal(client.read_response().body, b"answer 1 to /next\n")
            upstream.seen(1, "/next")
            eventually(lambda: sent, "the upstream reads to the end of the connection")
            equal((sent, upstream.connections), ([b"some"], 2), "its connection is never used again")


def test_C5_download_with_an_unfinished_upload_is_never_resumed():
    def on_head(connection, *_):
        connection.sendall(b"HTTP/1.1 200 OK\r\nETag: \"v\"\r\nContent-Length: 10\r\n\r\nhalf.")
        reset(connection)
        return False
    with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, "GET", "/x", b"Content-Length: 10\r\n", b"some"))
        equal(client.read_final_head().status, 200)
        equal(client.read_to_end(), b"half.")
        equal(upstream.connections, 1, "no range is asked for")


def test_I4_client_that_writes_everything_before_reading_gets_the_error():
    def on_head(connection, _, reader):
        connection.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno")
        rest_of(reader)
        return False
    with stage(on_head={"/x": on_head}) as (reprise, upstream):
        for connection in (b"", b"Connection: close\r\n"):
            with Client(reprise.forward) as client:
                client.send(to(upstream, "POST", "/x", connection + b"Content-Length: 6000000\r\n", b"x" * 6_000_000))
                response = client.read_response()
                equal((response.status, response.body), (401, b"no"), connection)
        with Client(reprise.forward) as client:  # the response comes from reprise itself
            client.send(b"POST http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\nContent-Length: 6000000\r\n\r\n" + b"x" * 6_000_000)
            equal(client.read_response().status, 403)


def test_C6_body_after_a_local_error_response_is_never_parsed_as_a_request():
    smuggled = b"GET http://h/smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
    length = b"Content-Length: %d\r\n" % len(smuggled)
    with stage(limits={"header": "4KiB"}) as (reprise, upstream):
        for head, status in ((to(upstream, "PUT", "/x", b"Content-Length: 9\r\n" + CHUNKED), "length_and_chunked"),
                             (to(upstream, "PUT", "/x", b"Expect: more\r\n" + length), "bad_expect"),
                             (to(upstream, "PUT", "/x", b"Connection : close\r\n" + length), "bad_field_name"),
                             (to(upstream, "PUT", "/x", b"X: %s\r\n" % (b"x" * 5000) + length), "header_too_large")):
            refused(reprise, upstream, head + smuggled, status)
        denied = b"PUT http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n" + length + b"\r\n"
        with Client(reprise.forward) as client:  # the whole body has arrived, so reprise reads it and keeps the connection open
            client.send(denied + smuggled)
            equal(client.read_response().status, 403)
            client.send(to(upstream, path="/next"))
            equal(client.read_response().body, b"answer 1 to /next\n")
        with Client(reprise.forward) as client:  # the body has not arrived yet, so reprise closes the connection
            client.send(denied)
            response = client.read_response()
            equal((response.status, response.field("Connection")), (403, "close"))
            client.send(smuggled)
            equal(client.read_to_end(), b"", "never a request")
        equal(normal(b"".join(upstream.bytes_received())), expected(upstream, path="/next"))


def early_503(memory):
    """Sends an upload to an upstream that first responds with 503 before the body is complete, and then
    accepts the retry. Returns the response, the bodies that the upstream received, and the sent body."""
    def on_head(connection, request, reader):
        if not refusals:
            refusals.append(1)
            connection.sendall(b"HTTP/1.1 503 Later\r\nContent-Length: 5\r\n\r\nlater")
            rest_of(reader)
            return False
        return take(upstream, connection, request, reader)
    refusals, body = [], bytes(range(256)) * 16
    with stage(on_head={"/x": on_head}, defaults={"replay": {"memory": memory, "disk": 0}}, log={"level": "debug"}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream, "PUT", "/x", CHUNKED, b"%x\r\n" % 2048 + body[:2048] + b"\r\n"))
        if memory == "64KiB":
            reprise.expect_log("attempt 1: 503")
            client.send(chunked(body[2048:]))
        response = client.read_response()
        return response, [request.body for request in upstream.requests], body


def test_C7_early_503_to_an_unfinished_upload_is_retried_if_the_body_is_replayable():
    response, bodies, body = early_503("64KiB")
    equal((response.status, response.attempts, bodies), (200, 2, [body]), "what was held, and the rest in order")
    response, bodies, _ = early_503("1KiB")
    equal((response.status, response.body, response.reason, bodies), (503, b"later", "not_replayable", []))


UPGRADE = b"Connection: Upgrade\r\nUpgrade: echo\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"


def test_C8_bytes_after_an_upgrade_request_wait_for_the_101():
    first = []
    def on_head(connection, _, reader):
        first.append(bytes(reader.buffer))
        connection.settimeout(0.3)
        try:
            first.append(connection.recv(100))
        except socket.timeout:
            first.append(b"")
        connection.settimeout(None)
        connection.sendall(SWITCH)
        first.append(connection.recv(100))
        return False
    with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, fields=UPGRADE, body=b"early bytes"))
        equal(client.read_final_head().status, 101)
        client.read_to_end()
        equal(first, [b"", b"", b"early bytes"])
        equal(upstream.connections, 1, "never retried after 101")


def test_C8_bytes_after_a_declined_upgrade_are_the_next_request():
    with stage() as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, path="/a", fields=UPGRADE) + to(upstream, path="/b"))
        equal([client.read_response().body for _ in range(2)], [b"answer 1 to /a\n", b"answer 1 to /b\n"])
        equal(normal(b"".join(upstream.bytes_received())),
              expected(upstream, path="/a", fields=b"Upgrade: echo\r\nConnection: upgrade\r\n") + expected(upstream, path="/b"))


def test_C9_unsupported_upgrades_are_stripped_and_unrequested_upgrades_become_502():
    with stage() as (reprise, upstream):
        equal(sent_upstream(reprise, upstream, to(upstream, fields=UPGRADE, version=b"1.0")), expected(upstream, via=b"1.0"))
        h2c = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"
        equal(sent_upstream(reprise, upstream, to(upstream, fields=h2c)), expected(upstream))
    other = SWITCH.replace(b"echo", b"other")
    # Docker BuildKit opens its session with an upgrade to h2c. HTTP/2 with prior knowledge would not work,
    # because a gateway does not accept it.
    to_h2c = b"POST /session HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nX-Docker-Expose-Session-Uuid: u\r\n\r\n"
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    def session(connection, request):
        equal((request.field("Upgrade"), request.field("Connection")), ("h2c", "upgrade"))
        connection.sendall(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        connection.sendall(connection.recv(1000)[::-1])
        return False
    with Upstream({"/session": [session]}) as upstream, \
            Reprise(listeners=[{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url("")}]) as reprise, Client(reprise.gateway) as client:
        client.send(to_h2c)
        equal(client.read_final_head().status, 101)
        client.send(preface)
        equal(client.read_to_end(), preface[::-1])
    with stage({"/x": [raw(other), raw(SWITCH)]}, defaults={"retry": {"max_attempts": 1}}) as (reprise, upstream):
        for fields in (UPGRADE, b""):
            with Client(reprise.forward) as client:
                client.send(to(upstream, fields=fields))
                response = client.read_response()
                equal((response.status, response.interim), (502, []))
                assert "error=http_protocol_error" in response.field("Proxy-Status")
        equal(upstream.count(), 2)


def test_K1_upstream_proxy_status_precedes_the_entry_added_by_reprise():
    inner = Say(503, b"no", [("Proxy-Status", "inner; error=destination_unavailable"), ("Proxy-Status", "second")])
    with stage({"/x": [inner]}, defaults={"retry": {"max_attempts": 2}}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        told = [value for name, value in response.fields if name == "Proxy-Status"]
        equal(told[:2], ["inner; error=destination_unavailable", "second"])
        assert re.fullmatch(r"reprise-\w+; received-status=503", told[2]), told
        equal((len(told), response.status), (3, 503))


def fails_with(reprise, url, status, error, words):
    response = ask(reprise, "GET", url)
    equal(response.status, status, error)
    assert re.fullmatch(rf"reprise-\w+; error={error}", response.field("Proxy-Status")), (response.field("Proxy-Status"), error)
    assert words.encode() in response.body, (words, response.body)
    return response


def test_K2_each_failure_has_its_proxy_status_error_and_status_code():
    held, port = closed_port()
    quiet = {"name": "quiet", "match": {"path": "/hang"}, "response_timeout": "300ms"}
    scripts = {"/hang": ["hang"], "/bad": [raw(b"junk\r\n\r\n")], "/large": [raw(b"HTTP/1.1 200 OK\r\nX: %s" % (b"x" * 70000))],
               "/close": ["close"], "/reset": ["reset"]}
    with held, black_hole() as full, stage(scripts, defaults={"retry": {"max_attempts": 1}}, routes=[
            {"name": "full", "match": {"port": full}, "connect_timeout": "300ms"}, quiet]) as (reprise, upstream):
        fails_with(reprise, f"http://{LOOPBACK}:{port}/", 502, "connection_refused", "while connecting to the upstream: connection refused")
        fails_with(reprise, f"http://{LOOPBACK}:{full}/", 504, "connection_timeout", "no connection was established within connect_timeout")
        fails_with(reprise, upstream.url("/hang"), 504, "http_response_timeout", "no response within response_timeout")
        fails_with(reprise, upstream.url("/bad"), 502, "http_protocol_error", "the response is malformed or ambiguous (bad_status_line)\n")
        fails_with(reprise, upstream.url("/large"), 502, "http_response_header_section_size", "larger than limits.header or limits.header_fields")
        fails_with(reprise, upstream.url("/close"), 502, "connection_terminated", "the upstream closed the connection")
        fails_with(reprise, upstream.url("/reset"), 502, "connection_terminated", "the connection was reset")
        fails_with(reprise, "http://169.254.169.254/", 403, "destination_ip_prohibited", "security.deny")
        fails_with(reprise, reprise.proxy_url + "/", 508, "proxy_loop_detected", "a listener of this proxy")
        response = ask(reprise, "GET", "http://no-such-host.invalid/")  # without a network, the resolver may need a long time to fail
        equal((response.status, response.field("Proxy-Status").split("=")[1]) in ((502, "dns_error"), (504, "dns_timeout")), True)
        refused(reprise, upstream, b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", "not_a_proxy_request")


def test_K3_proxy_status_contains_no_details_and_no_next_hop():
    secret = "/reset?token=5ecret"
    with stage({"/reset": ["reset"], "/busy": [503]}, defaults={"retry": {"max_attempts": 2}}) as (reprise, upstream):
        for path in (secret, "/busy"):
            with Client(reprise.forward) as client:
                client.send(to(upstream, path=path, fields=b"X-Secret: 5ecret\r\n"))
                head = client.read_head()
            status = re.search(rb"Proxy-Status: ([^\r]*)", head).group(1)
            assert re.fullmatch(rb"reprise-\w+; (error=connection_terminated|received-status=503)", status), status
            for word in (b"next-hop", b"details", b"5ecret", LOOPBACK.encode(), b"%d" % upstream.port):
                equal(word in head, False, f"{word} in {head}")


def test_K4_upstream_error_after_retries_keeps_its_body_and_gets_a_proxy_status():
    with stage({"/x": [Say(503, b"the upstream's own words", [("X-Own", "1")])]}, defaults={"retry": {"max_attempts": 3}}) \
            as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body, response.field("X-Own")), (503, b"the upstream's own words", "1"))
        equal((response.attempts, response.reason), (3, "attempts_spent"))
        assert re.fullmatch(r"reprise-\w+; received-status=503", response.field("Proxy-Status"))
        first = ask(reprise, "POST", upstream.url("/x"), b"x")
        equal((first.status, first.attempts, first.field("Proxy-Status")), (503, 1, None), "not retried: it is the upstream's alone")
