"""Tests rows G1 to G7: tunnels, and CONNECT requests that reprise must reject."""
import fcntl
import re
import signal
import socket
import struct
import termios
import threading

from client import Client, head_of
from exactly import counted
from harness import LOOPBACK, PATIENCE, Reprise, closed_port, equal, eventually, under_some_limit
from server import Server
from test_intercept import HOST, Intercepting
from test_tunnels import echo_backwards_at_the_end, open_tunnel
from upstream import Say, Upstream

TLS = b"\x16\x03\x01\x00\x05hello"  # not a valid TLS handshake: reprise examines only the first bytes


def tunnels(reprise, outcome):
    return reprise.metric("reprise_tunnels_total", outcome=outcome)


def served_inside(reprise, upstream, case):
    """Opens tunnels and sends an HTTP request in each, until reprise has recognized one of them as HTTP. Then
    calls `case(client, response)`. More than one tunnel may be necessary: if a client stalls for more than
    200 ms, reprise correctly forwards that client's bytes without examining them."""
    for _ in range(20):
        before = tunnels(reprise, "http")
        with Client(reprise.forward) as client:
            equal(open_tunnel(client, upstream.port).status, 200)
            client.send(f"GET /first HTTP/1.1\r\nHost: {LOOPBACK}:{upstream.port}\r\n\r\n".encode())
            response = client.read_response()
            if tunnels(reprise, "http") == before + 1:
                return case(client, response)
    raise AssertionError("the client is never heard in time")


def test_G1_bad_connect_authorities_get_400_without_dialling():
    with Upstream() as upstream, Reprise() as reprise:
        port = upstream.port
        authorities = {
            f"{LOOPBACK}:": "bad_authority", LOOPBACK: "bad_authority", f"{LOOPBACK}:0": "bad_authority",
            f"{LOOPBACK}:99999": "bad_authority", "[::1": "bad_authority", f"u@{LOOPBACK}:{port}": "userinfo_in_authority",
            f"http://{LOOPBACK}:{port}/": "bad_authority", f"{LOOPBACK}:{port}/": "bad_authority", f":{port}": "bad_authority",
            f"{LOOPBACK}:{port}:{port}": "bad_authority", f"{LOOPBACK}:+{port}": "bad_authority"}
        for authority, cause in authorities.items():
            before = reprise.metric("reprise_rejected_requests_total", cause=cause)
            with Client(reprise.forward) as client:
                client.send(head_of("CONNECT", authority, "h") + TLS)
                response = client.read_response("CONNECT")
                equal(response.status, 400, authority)
                assert re.fullmatch(r"reprise-\w+; error=http_request_error", response.field("Proxy-Status")), response.head
            counted(reprise, "reprise_rejected_requests_total", before + 1, cause=cause)
        equal(upstream.connections, 0)


def test_G1_rejected_connect_gives_a_reason():
    with Server(echo_backwards_at_the_end) as talker, Reprise(security={"connect_ports": [443]}) as reprise, \
            Client(reprise.forward) as client:
        response = open_tunnel(client, talker.port)
        equal((response.status, response.field("Reprise-Reason")), (403, "connect_port_denied"))
        assert re.fullmatch(r"reprise-\w+; error=http_request_denied", response.field("Proxy-Status")), response.head
        assert b"connect_port_denied" in response.body
        reprise.expect_metric(1, "reprise_rejected_requests_total", cause="connect_port_denied")
    once = {"retry": {"max_attempts": 3}}
    with Reprise(defaults=once) as reprise:
        for authority, status, error in (("169.254.169.254:80", 403, "destination_ip_prohibited"),
                                         ("%s:%d" % reprise.addresses["admin"], 508, "proxy_loop_detected"),
                                         ("%s:%d" % reprise.forward, 508, "proxy_loop_detected"),
                                         ("localhost:%d" % reprise.addresses["admin"][1], 508, "proxy_loop_detected")):
            before = reprise.metric("reprise_requests_total", code=str(status))
            with Client(reprise.forward) as client:
                client.send(head_of("CONNECT", authority, authority))
                response = client.read_response("CONNECT")
            equal((response.status, response.attempts), (status, 1), authority)
            assert response.reason in ("address_denied", "not_retryable"), response.head
            assert re.fullmatch(rf"reprise-\w+; error={error}", response.field("Proxy-Status")), response.head
            counted(reprise, "reprise_requests_total", before + 1, code=str(status))


def test_G2_bytes_sent_with_connect_are_discarded_if_no_upstream_connection_is_established():
    early = TLS + bytes(range(256)) * 40
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise:
        with Client(reprise.forward) as client:
            equal(open_tunnel(client, talker.port, early=early).status, 200)
            client.finish()
            equal(client.read_to_end() == early[::-1], True)
    held, port = closed_port()
    with held, Upstream() as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        response = open_tunnel(client, port, early=head_of("GET", upstream.url(), f"{LOOPBACK}:{upstream.port}"))
        equal((response.status, response.attempts), (502, 6))
        equal(client.read_to_end(), b"", "and the connection closes")
        equal((upstream.connections, len(reprise.requests(1))), (0, 1))


def test_G3_connect_200_response_has_no_framing_and_no_body():
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise, \
            Client(reprise.forward) as client:
        client.send(f"CONNECT {LOOPBACK}:{talker.port} HTTP/1.0\r\n\r\n".encode())  # a CONNECT as Python sends it
        response = client.read_response("CONNECT")
        equal((response.status, response.field("Content-Length"), response.field("Transfer-Encoding")), (200, None, None))
        client.send(TLS)
        client.finish()
        equal(client.read_to_end(), TLS[::-1])


def unacknowledged(connection):
    return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, b"\0\0\0\0"))[0]


def test_G4_bytes_sent_before_a_reset_are_delivered():
    """The client fills every buffer on the way and then resets its connection. After the reset, the server
    first writes, and only then reads."""
    reset, got, done = threading.Event(), bytearray(), threading.Event()

    def talk_then_read(connection):
        assert reset.wait(PATIENCE)
        try:
            for _ in range(50):
                connection.sendall(b"nobody hears this " * 100)
        except OSError:
            pass
        try:
            while data := connection.recv(65536):
                got.extend(data)
        except ConnectionResetError:
            pass
        done.set()

    block = bytes(range(256)) * 64
    with Server(talk_then_read) as talker, Reprise() as reprise:
        client = Client(reprise.forward)
        equal(open_tunnel(client, talker.port, early=TLS).status, 200)
        client.socket.settimeout(0.2)
        sent = 0
        try:
            while sent < 64 << 20:
                sent += client.socket.send(block[sent % len(block):])
        except (TimeoutError, socket.timeout):
            pass
        arrived = sent - unacknowledged(client.socket)
        assert arrived > 0
        client.reset()
        reset.set()
        assert done.wait(PATIENCE)
        whole = TLS + block * (sent // len(block) + 1)
        equal(bytes(got) == whole[:len(got)], True, "in order")
        assert len(TLS) + arrived <= len(got) <= len(TLS) + sent, (arrived, len(got), sent)
        reprise.expect_metric(1, "reprise_tunnels_total", outcome="broken")


def test_G4_client_fin_after_data_is_a_half_close_and_all_data_arrives():
    payload = bytes(range(256)) * 4000
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise, \
            Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        client.send(TLS + payload)
        client.finish()
        equal(client.read_to_end() == (TLS + payload)[::-1], True)
        reprise.expect_metric(1, "reprise_tunnels_total", outcome="closed")
        line = reprise.requests(1)[0]
        equal((line["method"], line["host"], line["status"]), ("CONNECT", LOOPBACK, 200))
        whole = len(TLS) + len(payload)
        equal((line["request_bytes"], line["response_bytes"]), (whole, whole))


def test_G5_all_of_a_thousand_tunnels_end_if_the_upstream_closes_them_at_once():
    with Server(lambda connection: None) as talker, Reprise() as reprise:
        for _ in range(1000):
            with Client(reprise.forward) as client:
                equal(open_tunnel(client, talker.port, early=TLS).status, 200)
                client.expect_end()
        eventually(lambda: tunnels(reprise, "closed") + tunnels(reprise, "broken") == 1000, "each tunnel ends")
        equal(talker.connections, 1000, "one dial each")
        reprise.expect_metric(1000, "reprise_attempts_total")
    with Upstream({"/first": ["close"]}) as upstream, Reprise() as reprise:
        def bounded(_, response):
            equal((response.status, response.reason, response.attempts), (502, "attempts_spent", 6))
        served_inside(reprise, upstream, bounded)


def test_G6_idle_tunnel_is_closed_and_one_way_traffic_keeps_it_open():
    def a_word_a_quarter(limit):
        def talk(connection):
            connection.settimeout(limit / 4000)
            for _ in range(8):
                connection.sendall(b"word")
                try:
                    connection.recv(1)
                except socket.timeout:
                    pass
            connection.settimeout(PATIENCE)
            connection.recv(1)
        with Server(talk) as talker, \
                Reprise(defaults={"idle_timeout": f"{limit}ms"}) as reprise, \
                Client(reprise.forward) as client:
            equal(open_tunnel(client, talker.port).status, 200)
            whole = client.read_to_end() == b"word" * 8
            reprise.expect_metric(1, "reprise_tunnels_total", outcome="idle")
            return whole
    under_some_limit(400, a_word_a_quarter)


def test_G6_draining_closes_an_idle_tunnel_after_the_linger():
    with Server(lambda connection: connection.sendall(connection.recv(99)) or connection.recv(1)) as talker, \
            Reprise(shutdown={"linger": "1s", "grace": "60s"}) as reprise, \
            Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        reprise.process.send_signal(signal.SIGTERM)
        eventually(lambda: reprise.admin("/readyz")[0] == 503, "not ready")
        client.send(TLS)
        equal(client.read_bytes(len(TLS)), TLS, "it still works")
        equal(client.read_to_end(), b"")
        equal(reprise.wait(), 0)
        equal(reprise.requests(1)[0]["response_bytes"], len(TLS))


def test_G7_http_in_a_tunnel_is_retried_and_logged():
    script = {"/first": [503, "reset", 200], "/second": [503, 200], "/third": [200]}
    with Upstream(script) as upstream, Reprise() as reprise:
        def whole_life(client, response):
            equal(response.status, 200)
            assert response.attempts in (1, 2, 3), response.head
            client.send(head_of("GET", "/second", "shop.test"))
            response = client.read_response()
            equal((response.status, response.attempts), (200, 2))
            equal(upstream.seen(1, "/second")[0].field("Host"), "shop.test", "the client's own")
            client.send(head_of("POST", f"http://{LOOPBACK}:{upstream.port}/third", "x", [("Content-Length", "1")]) + b"x")
            equal(client.read_response().status, 200)
            client.send(TLS + b"\r\n\r\n")
            equal(client.read_response().status, 400)
        served_inside(reprise, upstream, whole_life)
        second = [line for line in reprise.requests(3) if line.get("path") == "/second"][0]
        equal([step["status"] for step in second["attempts"]], [503, 200])


def test_G7_http_that_node_undici_sends_in_a_tunnel_is_retried():
    """Node's fetch sends a plain HTTP request in a tunnel if NODE_USE_ENV_PROXY=1 is set and the URL is
    http://."""
    with Upstream({"/x": [503, Say(200, b"fetched")]}) as upstream, Reprise() as reprise:
        for _ in range(20):
            before = tunnels(reprise, "http")
            authority = f"{LOOPBACK}:{upstream.port}"
            with Client(reprise.forward) as client:
                client.send(f"CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n"
                            f"proxy-connection: keep-alive\r\n\r\n".encode())
                equal(client.read_response("CONNECT").status, 200)
                client.send(f"GET /x HTTP/1.1\r\nhost: {authority}\r\nconnection: keep-alive\r\naccept: */*\r\n"
                            "accept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\n"
                            "accept-encoding: gzip, deflate\r\n\r\n".encode())
                response = client.read_response()
            if tunnels(reprise, "http") == before + 1:
                equal((response.status, response.body), (200, b"fetched"))
                return
        raise AssertionError("never heard in time")


def test_G7_stream_is_tunnelled_if_the_server_sends_first_or_the_request_line_is_incomplete():
    def greet(connection):
        connection.sendall(b"220 ready\r\n")
        echo_backwards_at_the_end(connection)
    with Server(greet) as talker, Reprise() as reprise, Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        equal(client.read_line(), b"220 ready")
        client.send(b"EHLO me\r\n")
        client.finish()
        equal(client.read_to_end(), b"EHLO me\r\n"[::-1])
        equal(tunnels(reprise, "http"), 0)

    def speak_last(connection):
        words = connection.recv(99)
        connection.sendall(b"got " + words)
        connection.recv(1)
    for words in (b"GET / HT", b"G", b"CONNECT h:443 HTTP/1.1\r\n\r\n", b"\x16"):
        with Server(speak_last) as talker, Reprise() as reprise, Client(reprise.forward) as client:
            equal(open_tunnel(client, talker.port).status, 200)
            client.send(words)
            equal(client.read_bytes(4 + len(words)), b"got " + words)
            equal(tunnels(reprise, "http"), 0)

    def speak_when_told(connection):
        assert told.wait(PATIENCE)
        connection.sendall(b"at last")
    told = threading.Event()
    with Server(speak_when_told) as talker, Reprise() as reprise, Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        told.set()
        equal(client.read_bytes(7), b"at last")


def test_G7_client_sees_at_once_that_the_upstream_closed_without_sending_a_byte():
    """After a CONNECT, reprise waits 200 ms for the client's first bytes, or the time of timers.handshake if
    it intercepts the host. Covers both waits."""
    def close(_connection):
        return None

    def cut(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for end in (close, cut):
        with Server(end) as talker, Intercepting(timers={"handshake": "1h"}) as reprise:
            for host in (HOST, LOOPBACK):
                with Client(reprise.forward) as client:
                    client.send(head_of("CONNECT", f"{host}:{talker.port}", host))
                    equal(client.read_final_head().status, 200)
                    client.expect_end()


def test_G7_tunnel_with_an_incomplete_client_hello_is_closed_after_idle_timeout():
    with Server(lambda connection: connection.recv(99) and connection.recv(1)) as talker, \
            Reprise(defaults={"idle_timeout": "300ms"}) as reprise, Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        client.expect_end()
        reprise.expect_metric(1, "reprise_tunnels_total", outcome="idle")


def test_G7_tunnel_is_not_inspected_if_the_mode_of_its_route_is_off():
    with Upstream({"/first": [503]}) as upstream, Reprise(defaults={"mode": "off"}) as reprise, \
            Client(reprise.forward) as client:
        equal(open_tunnel(client, upstream.port).status, 200)
        client.send(head_of("GET", "/first", "h"))
        response = client.read_response()
        equal((response.status, response.field("Via"), response.field("Reprise-Attempts")), (503, None, None))
        equal(tunnels(reprise, "http"), 0)
