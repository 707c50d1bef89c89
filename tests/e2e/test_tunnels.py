"""Tests CONNECT: bytes pass unchanged in both directions, and only the dial is retried."""
import socket
import threading

from client import Client, head_of
from harness import LOOPBACK, PATIENCE, Reprise, closed_port, equal, opened_after
from server import Server



def echo_backwards_at_the_end(connection):
    """Reads until the client half-closes its connection, then sends back all bytes in reverse order. Works only if
    the tunnel passes the half-close on."""
    received = bytearray()
    while data := connection.recv(65536):
        received += data
    connection.sendall(bytes(reversed(received)))


def open_tunnel(client, port, early=b""):
    authority = f"{LOOPBACK}:{port}"
    client.send(head_of("CONNECT", authority, authority) + early)
    response = client.read_response("CONNECT")
    return response


def test_tunnel_passes_on_a_half_close_of_the_client():
    payload = bytes(range(256)) * 2000
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise:
        with Client(reprise.forward) as client:
            response = open_tunnel(client, talker.port)
            equal((response.status, response.field("Content-Length"), response.field("Transfer-Encoding")), (200, None, None))
            client.send(b"\x16\x03\x01" + payload)
            client.finish()
            equal(client.read_to_end() == bytes(reversed(b"\x16\x03\x01" + payload)), True)
        reprise.expect_metric(1, "reprise_tunnels_total", outcome="closed")


def test_tunnel_passes_on_a_half_close_of_the_upstream():
    got = []
    heard = threading.Event()

    def greet_then_listen(connection):
        connection.sendall(b"greeting")
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while data := connection.recv(65536):
            received += data
        got.append(received)
        heard.set()

    with Server(greet_then_listen) as talker, Reprise() as reprise, Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        equal(client.read_to_end(), b"greeting")
        client.send(b"still talking")
        client.finish()
        assert heard.wait(PATIENCE), "the upstream hears what follows its own FIN"
        equal(got, [b"still talking"])


def test_bytes_after_the_connect_request_are_delivered_once():
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise, \
            Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port, early=b"\x16early").status, 200)
        client.send(b" late")
        client.finish()
        equal(client.read_to_end(), b"\x16early late"[::-1])


def test_connect_without_any_header_is_accepted():
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise, \
            Client(reprise.forward) as client:
        client.send(f"CONNECT {LOOPBACK}:{talker.port} HTTP/1.0\r\n\r\n".encode())
        equal(client.read_response("CONNECT").status, 200)
        client.send(b"\x16abc")
        client.finish()
        equal(client.read_to_end(), b"cba\x16")


def test_refused_dial_is_retried_and_ends_with_502():
    held, port = closed_port()
    with held, Reprise() as reprise, Client(reprise.forward) as client:
        response = open_tunnel(client, port)
        equal((response.status, response.attempts, response.reason), (502, 6, "attempts_spent"))


def test_dial_succeeds_when_a_refusing_port_opens_later():
    listener, port = closed_port()
    retry = {"max_attempts": 1000000, "deadline": "unlimited", "backoff": {"initial": "50ms", "maximum": "50ms", "jitter": "none"}}
    talker = Server(echo_backwards_at_the_end, listener)
    with Reprise(defaults={"retry": retry, "budget": "off"}, log={"level": "debug"}) as reprise:
        opening = opened_after(2, reprise, talker.__enter__)
        with Client(reprise.forward) as client:
            try:
                equal(open_tunnel(client, port).status, 200)
                client.send(b"\x16abc")
                client.finish()
                equal(client.read_to_end(), b"cba\x16")
            finally:
                opening.join()
                talker.__exit__()
        assert len(reprise.requests(1)[0]["attempts"]) > 2


def test_connect_to_a_denied_port_gets_403():
    with Reprise(security={"connect_ports": [443]}) as reprise, Client(reprise.forward) as client:
        response = open_tunnel(client, 22)
        equal(response.status, 403)
        reprise.expect_metric(1, "reprise_rejected_requests_total", cause="connect_port_denied")


def test_upstream_reset_ends_the_tunnel():
    def reset_at_once(connection):
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    with Server(reset_at_once) as talker, Reprise() as reprise, Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        client.send(b"\x16")
        client.expect_end()
        client.socket.close()
        reprise.expect_metric(1, "reprise_tunnels_total", outcome="broken")
