"""Tests objects that outlive one request: pooled connections, tunnels, and requests whose clients have left (rows
N3, N5, N6)."""
import contextlib
import threading

from client import Client, ask, head_of
from control import Controlled
from harness import LOOPBACK, PATIENCE, Reprise, equal, eventually
from server import Server, bound
from test_shutdown import Gate
from test_socks import GREETING, by_address, exactly
from upstream import Say, Upstream

DENIED = "127.0.0.71"
UPGRADE = [("Connection", "Upgrade"), ("Upgrade", "lines"), ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg==")]


class Asked:
    """A server that echoes all bytes. If the connection begins with a GET, it first switches protocols. If it
    receives `late?`, it responds with `late` when the case permits the response."""

    def __init__(self):
        self.heard, self.told = threading.Semaphore(0), threading.Event()

    def __call__(self, connection):
        with contextlib.suppress(OSError):
            while piece := connection.recv(4096):
                if piece.startswith(b"GET "):
                    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n")
                elif piece == b"\0late?":
                    self.heard.release()
                    self.told.wait(PATIENCE)
                    connection.sendall(b"late")
                else:
                    connection.sendall(piece)


def through_connect(reprise, server):
    client = Client(reprise.forward)
    client.send(head_of("CONNECT", f"{LOOPBACK}:{server.port}", f"{LOOPBACK}:{server.port}"))
    equal(client.read_final_head().status, 200)
    return client


def through_socks(reprise, server):
    client = Client(reprise.addresses["socks"])
    client.send(GREETING + by_address(server.port))
    equal(exactly(client.socket, 12)[:4], b"\x05\x00\x05\x00")
    return client


def through_an_upgrade(reprise, server):
    client = Client(reprise.forward)
    client.send(head_of("GET", f"http://{LOOPBACK}:{server.port}/", f"{LOOPBACK}:{server.port}", UPGRADE))
    equal(client.read_final_head().status, 101)
    return client


WAYS = (through_connect, through_socks, through_an_upgrade)
LISTENERS = [{"mode": mode, "bind": f"{LOOPBACK}:0"} for mode in ("forward", "socks")]


def says(client, question, words):
    client.send(question)
    equal(exactly(client.socket, len(words)), words)


def test_N3_pooled_connection_to_a_newly_denied_address_is_not_used_after_a_reload():
    with Upstream(listener=bound(DENIED)) as upstream, Controlled() as reprise:
        url = f"http://{DENIED}:{upstream.port}/"
        equal(ask(reprise, "GET", url).status, 200)
        reprise.change(security={"deny": [f"{DENIED}/32", "self"]})
        reprise.expect_reload("success")
        response = ask(reprise, "GET", url)
        equal((response.status, response.reason), (403, "address_denied"), response.head)
        equal((upstream.connections, upstream.count()), (1, 1))


def test_N3_tunnel_to_an_address_denied_by_a_reload_is_closed_and_logged():
    asked = Asked()
    with Server(asked) as server, Controlled(listeners=LISTENERS) as reprise, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(way(reprise, server)) for way in WAYS]
        for client in clients:
            says(client, b"\0here", b"\0here")
        reprise.change(security={"deny": [f"{LOOPBACK}/32", "self"]}, listeners=LISTENERS)
        reprise.expect_reload("success")
        for client in clients:
            equal(client.read_to_end(), b"")
        reprise.expect_metric(len(WAYS), "reprise_tunnels_total", outcome="denied")
        words = f"the tunnel to {LOOPBACK}:{server.port} is closed: since the reload, security.deny lists its address"
        eventually(lambda: reprise.text().count(words) == len(WAYS), "each is told")


def test_N5_tunnel_that_awaits_a_response_may_continue_for_the_shutdown_grace_period():
    asked = Asked()
    with Server(asked) as server, Reprise(listeners=LISTENERS, shutdown={"grace": "1h"}) as reprise, \
            contextlib.ExitStack() as stack:
        answered, *clients = [stack.enter_context(way(reprise, server)) for way in (through_connect, *WAYS)]
        says(answered, b"\0here", b"\0here")
        for client in clients:
            client.send(b"\0late?")
            assert asked.heard.acquire(timeout=PATIENCE)
        reprise.terminate()
        equal(answered.read_to_end(), b"", "nothing is under way in it: it ends after its second of silence")
        asked.told.set()
        for client in clients:
            equal(client.read_to_end(), b"late")
        equal(reprise.wait(), 0)


def test_N6_connections_of_clients_that_have_left_are_evicted_first():
    hung = Gate(Say(200))
    asked = Asked()
    with Upstream({"/hangs": [hung]}) as upstream, Server(asked) as server, \
            Reprise(limits={"connections": 4}, threads=1) as reprise, Client(reprise.forward) as resting:
        equal(resting.ask("GET", upstream.url("/well")).status, 200)
        for _ in range(6):
            with Client(reprise.forward) as client:
                client.send(head_of("GET", upstream.url("/hangs"), LOOPBACK))
                eventually(lambda: reprise.metric("reprise_upstream_connections", state="active") >= 1, "it is under way")
        eventually(lambda: ask(reprise, "GET", upstream.url("/well")).status == 200, "there is room")
        for _ in range(6):
            with through_connect(reprise, server) as client:
                client.send(b"\0late?")
                assert asked.heard.acquire(timeout=PATIENCE)
        eventually(lambda: ask(reprise, "GET", upstream.url("/well")).status == 200, "there is room")
        equal(resting.ask("GET", upstream.url("/well")).status, 200, "who rests is asked after who left")
        assert reprise.metric("reprise_limits_hit_total", limit="room") >= 2
        hung.opened.set()
        asked.told.set()
