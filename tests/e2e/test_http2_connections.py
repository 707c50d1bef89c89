"""Tests what surrounds HTTP/2 connections to upstreams: authentication of the connection, hedges, and the end of the
process."""
import http2_frames as h2
from harness import equal, eventually
from http2_stage import GatewayClient, ONE_CONNECTION, ask, http2_proxy
from http2_upstream import Http2Upstream, Reply, hangs


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


def test_copy_of_a_slow_request_uses_another_connection():
    with Http2Upstream({"/x": [hangs, 200]}) as upstream, http2_proxy(upstream, defaults={"hedge": {"after": "30ms"}}) as reprise:
        response = ask(reprise, "GET")
        equal((response.status, response.attempts), (200, 2))
        first, copy = upstream.heads_seen(2)
        assert first.connection != copy.connection
        eventually(lambda: first.reset == h2.CANCEL, "the slow stream is cancelled")


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
