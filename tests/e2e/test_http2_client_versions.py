"""Tests rows M20 to M24, M30 and M53 of docs/requirements/http2.md: which version of HTTP a request of an HTTP/2 client is
sent in, and which connection carries it."""
import base64

import http2_frames as h2
from client import Client
from harness import LOOPBACK, Reprise, equal, eventually
from http2_client import Http2Client
from http2_upstream import Http2Upstream, TlsHttp2Upstream, excludes, hangs, refuses, resets
from test_http2_client_messages import asking
from parent import Parent
from tls import TlsUpstream, trusting
from upstream import Say, Upstream


def test_M20_version_is_chosen_in_one_handshake():
    for kind, alpn, version in ((TlsHttp2Upstream, ("h2", "http/1.1"), "HTTP/2"), (TlsUpstream, ("http/1.1",), "HTTP/1.1"), (TlsUpstream, (), "HTTP/1.1")):
        with kind(**({"alpn": alpn} if kind is TlsUpstream else {})) as upstream:
            listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": f"https://localhost:{upstream.port}"}]
            with Reprise(listeners=listeners, defaults=trusting()) as reprise, Http2Client(reprise.gateway) as client:
                equal([client.ask("POST", body=b"once").status for _ in range(3)], [200] * 3)
                equal([request.version for request in upstream.requests], [version] * 3, f"{alpn}")
                equal(upstream.connections, 1, f"{alpn}: the connection is used again")


def test_M20_HTTP_1_client_keeps_HTTP_1_over_tls():
    with TlsHttp2Upstream() as upstream:
        listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": f"https://localhost:{upstream.port}"}]
        with Reprise(listeners=listeners, defaults=trusting()) as reprise:
            with Client(reprise.gateway) as client:
                client.send(b"GET /old HTTP/1.1\r\nHost: x\r\n\r\n")
                equal(client.read_response().status, 200)
            with Http2Client(reprise.gateway) as client:
                equal(client.ask(path="/new").status, 200)
            equal((upstream.versions("/old"), upstream.versions("/new")), (["HTTP/1.1"], ["HTTP/2"]))


def test_M21_clear_text_upstream_is_asked_by_prior_knowledge():
    with Http2Upstream() as upstream, asking(upstream) as (client, _):
        equal([client.ask().status for _ in range(3)], [200] * 3)
        equal((upstream.versions(), upstream.connections), (["HTTP/2"] * 3, 1))


def test_M21_upstream_without_http_2_is_asked_once():
    with Upstream(record=True) as upstream, asking(upstream) as (client, reprise):
        equal([client.ask("POST", body=b"once").attempts for _ in range(3)], [1] * 3)
        equal([request.version for request in upstream.requests], ["HTTP/1.1"] * 3)
        equal([data.startswith(h2.PREFACE) for data in upstream.bytes_received()], [True, False])
        equal([len(line["attempts"]) for line in reprise.requests(3)], [1] * 3)


def test_M21_body_is_not_held_for_an_upstream_that_is_known_to_speak_http_1():
    with Upstream(record=True) as upstream, asking(upstream) as (client, reprise):
        equal(client.ask("POST", body=b"once").status, 200)
        stream = client.begin("POST", end=False)
        client.upload(stream, bytes(100_000), end=False)
        eventually(lambda: sum(map(len, upstream.bytes_received())) > 100_000, "the upstream has the bytes")
        equal(reprise.metric("reprise_replay_bytes"), 0)
        client.data(stream, end=True)
        equal(client.response(stream).status, 200)


def test_M21_A10_body_that_goes_over_http_2_is_not_counted_first():
    spoke_1_0 = Say(raw=b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", close=True)
    with Http2Upstream({"/old": [spoke_1_0]}) as upstream, asking(upstream) as (client, reprise):
        with Client(reprise.gateway) as old:
            old.send(b"GET /old HTTP/1.1\r\nHost: x\r\n\r\n")
            equal(old.read_response().status, 200)
        stream = client.begin("POST", "/new", end=False)
        client.data(stream, b"part")
        upstream.heads_seen(1, "/new")
        client.data(stream, end=True)
        equal(client.response(stream).status, 200)


class ClosesUnread(Upstream):
    """Closes a connection that begins with the preface, without a byte."""

    def serve_one(self, connection, number, reader):
        while len(reader.buffer) < 4:
            reader.more()
        return False if reader.buffer.startswith(b"PRI ") else super().serve_one(connection, number, reader)


def test_M21_second_close_without_a_byte_means_http_1():
    with ClosesUnread() as upstream, asking(upstream) as (client, reprise):
        response = client.ask("POST", body=b"once")
        equal((response.status, response.attempts), (200, 2), "the first close may be that of a restart")
        equal(client.ask("POST", body=b"once").attempts, 1)
        first, second = reprise.requests(2)
        equal([(attempt.get("stage"), attempt.get("error")) for attempt in first["attempts"]][0][0], "connect")
        equal(len(second["attempts"]), 1)


def test_M22_M23_M24_route_chooses_the_version():
    with Http2Upstream() as upstream:
        for http2, client_version, version in (("never", 2, "HTTP/1.1"), ("always", 1, "HTTP/2"), ("auto", 1, "HTTP/1.1"), ("always", 2, "HTTP/2")):
            before = len(upstream.requests)
            with asking(upstream, http2) as (client, reprise):
                if client_version == 2:
                    equal(client.ask().status, 200)
                else:
                    with Client(reprise.gateway) as old:
                        old.send(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                        equal(old.read_response().status, 200)
            equal([request.version for request in upstream.requests[before:]], [version], f"{http2} {client_version}")


def test_M23_always_fails_where_there_is_no_http_2():
    with Upstream() as upstream, asking(upstream, "always") as (client, reprise):
        equal(client.ask("POST", body=b"once").status, 502)
        equal({attempt["error"] for attempt in reprise.requests(1)[0]["attempts"]}, {"not_http2"})
        equal(upstream.count("/x"), 0)


def test_M28_requests_for_a_parent_proxy_go_over_http_1_and_calls_through_a_tunnel():
    with Http2Upstream() as upstream, Parent() as parent, Reprise(parent=parent.proxy_url()) as reprise, Http2Client(reprise.forward) as client:
        authority = f"{LOOPBACK}:{upstream.port}"
        equal(client.ask("POST", body=b"once", fields=[("content-length", "4")], authority=authority).attempts, 1)
        equal((parent.asked("POST"), parent.asked("CONNECT"), upstream.versions()), ([f"http://{authority}/x"], [], ["HTTP/1.1"]))
        equal(client.ask("POST", body=b"call", fields=[("content-type", "application/grpc")], authority=authority).attempts, 1)
        equal((parent.asked("CONNECT"), upstream.versions()[1:]), ([authority], ["HTTP/2"]))
        equal([request.version for request in parent.requests], ["HTTP/1.1"] * 2)


def test_M30_authentication_of_a_connection_goes_over_one_http_1_connection():
    token = base64.b64encode(b"NTLMSSP\0\1").decode()
    with Upstream({"/x": [Say(401, b"", [("WWW-Authenticate", "NTLM")]), Say(401, b"", [("WWW-Authenticate", f"NTLM {token}")]), 200]}) as upstream, \
            asking(upstream, "never") as (client, _):
        equal(client.ask().status, 401)
        for status in (401, 200, 200):
            equal(client.ask(fields=[("authorization", f"NTLM {token}")]).status, status)
        numbers = [request.connection for request in upstream.requests]
        equal(len(set(numbers[1:])), 1, f"{numbers}")


def test_M53_each_client_connection_has_its_own_upstream_connection():
    with Http2Upstream() as upstream, asking(upstream) as (one, reprise), Http2Client(reprise.gateway) as two:
        for _ in range(3):
            equal((one.ask(path="/one").status, two.ask(path="/two").status), (200, 200))
        first, second = ({request.connection for request in upstream.requests if request.path == path} for path in ("/one", "/two"))
        equal((len(first), len(second), first & second), (1, 1, set()))


def test_M53_burst_of_a_client_waits_for_the_first_connection_and_dials_only_what_it_needs():
    for most, dials in ((100, 1), (3, 7)):
        with Http2Upstream({"/x": [hangs]}, settings={h2.MAX_CONCURRENT_STREAMS: most}.items()) as upstream, asking(upstream) as (client, _):
            with client.one_write():
                for _ in range(20):
                    client.begin()
            connections = [request.connection for request in upstream.heads_seen(20)]
            equal(len(set(connections)), dials, f"{connections}")


def test_M53_burst_does_not_dial_one_by_one_if_the_upstream_refuses():
    once = {"retry": {"max_attempts": 1}}
    with Upstream() as closed:
        pass
    with asking(closed, **once) as (client, reprise):
        with client.one_write():
            streams = [client.begin() for _ in range(20)]
        equal([client.response(stream).status for stream in streams], [502] * 20)
        equal({tuple(attempt["error"] for attempt in line["attempts"]) for line in reprise.requests(20)}, {("refused",)})


def test_M54_retry_uses_another_connection():
    with Http2Upstream({"/x": [503, 200]}) as upstream, asking(upstream) as (client, _):
        equal(client.ask().attempts, 2)
        numbers = [request.connection for request in upstream.requests]
        equal(len(set(numbers)), 2, f"{numbers}")
        eventually(lambda: client.ask(path="/y").status == 200, "the connection goes on")


def test_M29_M68_M69_post_with_a_body_is_sent_again_if_it_was_not_processed():
    body = bytes(range(256)) * 1200  # above replay.memory, so that it is held on disk
    for step, versions in ((refuses, ["HTTP/2"]), (excludes(), ["HTTP/2"]), (resets(h2.HTTP_1_1_REQUIRED), ["HTTP/1.1"])):
        for sent in (b"small", body):
            with Http2Upstream({"/x": [step, 200]}) as upstream, asking(upstream) as (client, _):
                response = client.ask("POST", body=sent)
                equal((response.status, response.ended), (200, True), response.body)
                last = upstream.requests[-1]
                equal((last.body == sent, [last.version]), (True, versions))
