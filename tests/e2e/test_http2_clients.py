"""Tests rows M1 to M6, M10 and M15 of docs/requirements/http2.md: the ways in which HTTP/2 clients reach reprise."""
import contextlib
import socket
import struct
import subprocess

import http2_frames as h2
from client import Client, head_of
from harness import LOOPBACK, PATIENCE, Reprise, equal, eventually, merge, needs, under_some_limit, without_proxies
from http2_client import Http2Client
from http2_upstream import Http2Upstream
from reader import Cut
from server import Server
from test_tunnels import open_tunnel
from tls import TlsUpstream, authority
from upstream import Say, Upstream

OPENING = h2.PREFACE + h2.settings_frame({})


def reprise_for(upstream, listener=None, **configuration):
    """Returns a reprise with a forward listener, a gateway to `upstream` and a SOCKS listener."""
    listeners = [{"mode": "forward", "bind": f"{LOOPBACK}:0"},
                 {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url("")},
                 {"mode": "socks", "bind": f"{LOOPBACK}:0"}]
    return Reprise(listeners=[merge(each, listener or {}) for each in listeners], **configuration)


def trusts():
    return {"tls": {"ca_file": authority().file}}


def rejected(reprise, cause):
    return reprise.metric("reprise_rejected_requests_total", cause=cause)


def expect_505(address):
    with Client(address) as client:
        client.send(OPENING)
        response = client.read_response()
        equal((response.status, response.field("Connection")), (505, "close"))


def test_M1_settings_are_sent_before_the_client_sends_a_request():
    with Upstream() as upstream, reprise_for(upstream) as reprise:
        for address in (reprise.gateway, reprise.forward):
            with Http2Client(address, settings=None, acknowledges=False, authority=f"{LOOPBACK}:{upstream.port}") as client:
                client.until(lambda client=client: client.settings_seen == 1)
                client.send(h2.settings_frame({}) + h2.frame(h2.SETTINGS, h2.ACK))
                response = client.ask()
                equal((response.status, response.ended, response.attempts), (200, True, 1))
        equal([request.version for request in upstream.requests], ["HTTP/1.1"] * 2)


def test_M2_preface_may_arrive_in_pieces():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway, opening=b"", settings=None) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in h2.PREFACE:
            client.send(bytes([byte]))
        client.send(h2.settings_frame({}))
        equal(client.ask().status, 200)


def test_M2_preface_that_stops_is_closed_after_timers_header():
    with Upstream() as upstream, reprise_for(upstream, timers={"header": "50ms"}) as reprise, Client(reprise.gateway) as client:
        client.send(h2.PREFACE[:23])
        client.expect_end()
        equal(reprise.metric("reprise_limits_hit_total", limit="header"), 1)


def test_M2_preface_that_turns_wrong_gets_505():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Client(reprise.gateway) as client:
        client.send(h2.PREFACE[:20] + b"XX\r\n\r\n")
        equal(client.read_response().status, 505)
        equal((upstream.connections, rejected(reprise, "bad_version")), (0, 1))


def test_M3_preface_is_refused_where_http2_is_off():
    with Upstream() as upstream, reprise_for(upstream, {"http2": False}) as reprise:
        expect_505(reprise.gateway)
        expect_505(reprise.forward)
        equal((upstream.connections, rejected(reprise, "bad_version")), (0, 2))


def test_M3_preface_is_refused_on_the_admin_listener():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Client(reprise.addresses["admin"]) as client:
        client.send(OPENING)
        with contextlib.suppress(Cut, ConnectionResetError):
            equal(client.read_response().status // 100, 5 if b" 505 " in client.buffer else 4)


def test_M4_requests_of_a_forward_listener_name_their_upstream():
    with Upstream() as upstream, TlsUpstream() as secure, reprise_for(upstream, defaults=trusts()) as reprise, \
            Http2Client(reprise.forward) as client:
        equal(client.ask(authority=f"{LOOPBACK}:{upstream.port}").status, 200)
        equal(client.ask(authority=f"localhost:{secure.port}", scheme="https").status, 200)
        equal((upstream.count("/x"), secure.count("/x"), secure.sni[0]), (1, 1, "localhost"))
        response = client.ask(authority=f"{LOOPBACK}:{upstream.port}", scheme="ftp")
        equal((response.status, response.reset), (None, h2.PROTOCOL_ERROR))
        looped = client.ask(authority="%s:%d" % reprise.forward)
        equal(looped.status // 100, 5)
        equal(client.ask(authority=f"{LOOPBACK}:{upstream.port}").status, 200, "the connection goes on")


def test_M5_gateway_judges_the_authority():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Http2Client(reprise.gateway) as client:
        port = reprise.gateway[1]
        for name in (f"{LOOPBACK}:{port}", f"localhost:{port}", f"{LOOPBACK}:{upstream.port}"):
            equal(client.ask(authority=name).status, 200, name)
            equal(upstream.requests[-1].field("Host"), f"{LOOPBACK}:{upstream.port}")
        equal(client.ask(authority="other.test").status, 421)
        equal((upstream.count("/x"), rejected(reprise, "misdirected_request")), (3, 1))


def test_M5_gateway_with_the_clients_host_passes_every_authority():
    with Upstream() as upstream:
        listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url(""), "host": "client"}]
        with Reprise(listeners=listeners) as reprise, Http2Client(reprise.gateway) as client:
            equal(client.ask(authority="other.test:81").status, 200)
            equal(upstream.requests[-1].field("Host"), "other.test:81")


def inside_connect(reprise, upstream, **more):
    """Returns an HTTP/2 client inside a CONNECT tunnel. It sends its preface at once, as gRPC clients do."""
    carrier = Client(reprise.forward)
    name = f"{LOOPBACK}:{upstream.port}"
    carrier.send(head_of("CONNECT", name, name) + OPENING)
    equal(carrier.read_final_head().status, 200)
    client = Http2Client(connection=carrier.socket, settings=None, opening=b"", authority=name, **more)
    client.buffer += carrier.buffer
    return client


def inside_socks(reprise, upstream):
    carrier = socket.create_connection(reprise.addresses["socks"], PATIENCE)
    carrier.sendall(b"\5\1\0" + b"\5\1\0\1" + socket.inet_aton(LOOPBACK) + struct.pack(">H", upstream.port) + OPENING)
    client = Http2Client(connection=carrier, settings=None, opening=b"", authority=f"{LOOPBACK}:{upstream.port}")
    client.read_bytes(2 + 10)
    return client


def test_M6_http2_inside_connect_and_socks_is_served():
    for inside in (inside_connect, inside_socks):
        with Upstream({"/flaky": [503, 200]}) as upstream, reprise_for(upstream, defaults={"http2": "never"}) as reprise, \
                inside(reprise, upstream) as client:
            response = client.ask()
            equal((response.status, response.attempts), (200, 1))
            equal(upstream.connections, 1, "the connection that was dialled for the tunnel carries the first request")
            equal(client.ask(path="/flaky").attempts, 2)


def test_M6_first_stream_uses_the_dialled_connection_over_http2_too():
    with Http2Upstream() as upstream, reprise_for(upstream) as reprise, inside_connect(reprise, upstream) as client:
        equal((client.ask().status, client.ask().status), (200, 200))
        equal((upstream.connections, upstream.versions()), (1, ["HTTP/2"] * 2))


def relays(connection):
    """Sends back what it receives."""
    with contextlib.suppress(OSError):
        while data := connection.recv(4096):
            connection.sendall(data)


def test_M6_tunnels_pass_unseen_with_mode_off_or_http2_off():
    for listener, defaults in (({"http2": False}, {}), ({}, {"mode": "off"})):
        with Server(relays) as talker, Upstream() as upstream, reprise_for(upstream, listener, defaults=defaults) as reprise, Client(reprise.forward) as client:
            equal(open_tunnel(client, talker.port).status, 200)
            client.send(OPENING)
            equal(client.read_bytes(len(OPENING)), OPENING)


def test_M10_upgrade_to_h2c_is_not_answered():
    with Upstream() as upstream, reprise_for(upstream) as reprise, Client(reprise.forward) as client:
        fields = [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQCAAAAAAIAAAAA")]
        equal(client.ask("GET", upstream.url("/x"), fields=fields).status, 200)
        request = upstream.requests[-1]
        equal((request.field("Upgrade"), request.field("HTTP2-Settings")), (None, None))


def test_M15_everything_in_one_segment_is_answered():
    with Upstream() as upstream, reprise_for(upstream) as reprise, \
            Http2Client(reprise.gateway, opening=b"", settings=None, acknowledges=False, opens_windows=False) as client:
        stream, head = client.frames_of(client.head("POST", "/x"), end=False)
        client.send(OPENING + head + h2.data_frame(stream, b"body", end=True) + h2.goaway_frame(0))
        client.finish()
        response = client.response(stream)
        equal((response.status, response.ended, upstream.requests[-1].body), (200, True, b"body"))
        equal(client.read_to_goaway(), h2.NO_ERROR)


def test_M120_curl_and_h2load_are_served():
    needs("curl", "h2load")
    with Upstream({"/flaky": [503, 503, 200]}, otherwise=[Say(200, b"whole")]) as upstream, reprise_for(upstream) as reprise:
        url = "http://%s:%d" % reprise.gateway
        for arguments in ([f"{url}/flaky"], ["-d", "body", f"{url}/x"], ["-p", "-x", reprise.proxy_url, upstream.url("/x")]):
            done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "--max-time", str(PATIENCE), "-w", " %{http_version} %{http_code}", *arguments],
                                  capture_output=True, text=True, env=without_proxies(), timeout=2 * PATIENCE, check=False)
            assert done.stdout.endswith(" 2 200"), (arguments, done.stdout, done.stderr)
        done = subprocess.run(["h2load", "-n", "400", "-c", "4", "-m", "10", f"{url}/x"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert "400 succeeded" in done.stdout, done.stdout


def test_M107_access_line_names_the_version_of_both_sides():
    with Http2Upstream() as upstream, reprise_for(upstream, log={"access": True}) as reprise, Http2Client(reprise.gateway) as client:
        equal(client.ask().status, 200)
        line = reprise.requests(1)[0]
        equal((line["http"], line["attempts"][0]["http"]), ("2", "2"))
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 0, "the stream has ended")
        equal(reprise.metric("reprise_http2_connections", side="client"), 1)
