"""Tests what surrounds HTTP/2 connections to upstreams: a parent proxy, authentication of the connection, dead peers,
hedges, resumed downloads, and the end of the process."""
import http2_frames as h2
from client import Client
from harness import LOOPBACK, equal, eventually
from http2_stage import GatewayClient, ONE_CONNECTION, ask, http2_proxy
from http2_upstream import Http2Upstream, Reply, hangs
from parent import Parent
from test_rows_silence import vanish


def test_M28_http_2_is_spoken_inside_a_tunnel_of_the_parent():
    with Http2Upstream() as upstream, Parent({"up.test": (LOOPBACK, upstream.port)}) as parent, \
            http2_proxy(upstream, "http://up.test:80", parent=parent.proxy_url()) as reprise:
        with Client(reprise.forward) as client:
            equal([client.ask("POST", "http://up.test/x", b"one").status for _ in range(2)], [200, 200])
        equal(ask(reprise, "GET", "/y").status, 200)
        equal(upstream.versions(), ["HTTP/2"] * 3)
        equal({target for target in parent.asked("CONNECT")}, {"up.test:80"})
        equal(parent.asked("POST") + parent.asked("GET"), [], "the parent reads no request")


def test_M30_client_that_authenticates_its_connection_goes_over_http_1_from_the_challenge_on():
    challenge = Reply(401, b"who?", [("www-authenticate", "NTLM")])
    again = Reply(401, b"", [("www-authenticate", "NTLM TlRMTVNTUAAC")])
    with Http2Upstream({"/x": [challenge, again, 200, 200]}) as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        equal(client.ask("GET").status, 401)
        for token, status in (("TlRMTVNTUAAB", 401), ("TlRMTVNTUAAD", 200)):
            equal(client.ask("GET", fields=[("Authorization", f"NTLM {token}")]).status, status)
        equal(client.ask("GET").status, 200)
        equal(upstream.versions(), ["HTTP/2", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1"])
        equal(len({request.connection for request in upstream.seen(4)[1:]}), 1, "the pinned connection carries them")
        equal(ask(reprise, "GET", "/other").status, 200)
        equal(upstream.versions("/other"), ["HTTP/2"], "other clients are not concerned")


def test_M59_get_on_a_dead_connection_is_repeated_and_no_stream_begins_on_it():
    """All settings are the shipped defaults, except `http2` and the ports of the listeners."""
    with Http2Upstream() as upstream, http2_proxy(upstream, threads=1) as reprise, GatewayClient(reprise) as client:
        equal(client.ask("GET", "/before").status, 200)
        vanish(upstream.links[0].wire)
        response = client.ask("GET", "/x")
        equal((response.status, response.attempts), (200, 2))
        attempts = reprise.requests(2)[1]["attempts"]
        equal([attempt["reason"] for attempt in attempts], ["stale_connection", "success"])
        equal(attempts[0]["error"], "unacknowledged")
        equal(client.ask("GET", "/after").attempts, 1, "no further stream begins on the dead connection")
        equal(upstream.connections, 2)


def test_M59_post_on_a_dead_connection_is_never_sent_twice():
    with Http2Upstream() as upstream, http2_proxy(upstream, threads=1, defaults={"response_timeout": "2s"}) as reprise, \
            GatewayClient(reprise) as client:
        equal(client.ask("GET", "/before").status, 200)
        vanish(upstream.links[0].wire)
        response = client.ask("POST", "/x", b"once")
        equal((response.status, response.attempts), (504, 1))
        equal(upstream.count("/x"), 0)


def test_copy_of_a_slow_request_uses_another_connection():
    with Http2Upstream({"/x": [hangs, 200]}) as upstream, http2_proxy(upstream, defaults={"hedge": {"after": "30ms"}}) as reprise:
        response = ask(reprise, "GET")
        equal((response.status, response.attempts), (200, 2))
        first, copy = upstream.heads_seen(2)
        assert first.connection != copy.connection
        eventually(lambda: first.reset == h2.CANCEL, "the slow stream is cancelled")


def test_download_that_breaks_is_resumed_over_http_2():
    body = bytes(range(256)) * 400
    etag = ("etag", '"v1"')

    def breaks(link, request):
        link.headers(request.stream, [(":status", "200"), etag, ("content-length", str(len(body)))])
        for at in range(0, 48000, 16000):
            link.data(request.stream, body[at:at + 16000])
        link.reset_stream(request.stream, h2.INTERNAL_ERROR)

    rest = Reply(206, body[48000:], [etag, ("content-range", f"bytes 48000-{len(body) - 1}/{len(body)}")])
    with Http2Upstream({"/x": [breaks, rest]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "GET")
        equal((response.status, response.body == body), (200, True))
        equal(upstream.heads[1].field("range"), "bytes=48000-")


def test_request_under_way_ends_before_the_process_does():
    with Http2Upstream({"/x": [hangs]}) as upstream, http2_proxy(upstream, **ONE_CONNECTION) as reprise, GatewayClient(reprise) as client:
        client.begin("POST", "/x", b"once")
        request = upstream.heads_seen(1, "/x")[0]
        link = upstream.links[0]
        reprise.terminate()
        link.respond(request, Reply(200, b"late"))
        equal(client.read_response("POST").body, b"late")
        equal(reprise.wait(), 0)
        eventually(lambda: link.goaways, "the connection ends with GOAWAY")
