"""Traffic that causes every event that the metrics count: successful and failed retries, every kind of
rejection, exhausted retry budgets, an open circuit, a full replay store, resumed downloads, tunnels, hedges,
reloads. Also calm traffic with none of these."""
import contextlib
import socket

from client import Client, ask, head_of
from control import Controlled
from grpc_calls import METHOD, OK, UNAVAILABLE, answer, call, status_of, trailers_only
from harness import LOOPBACK, Reprise, equal
from http2_client import Http2Client
from http2_frames import CANCEL, MAX_CONCURRENT_STREAMS
from http2_upstream import Gate, Http2Upstream, excludes, in_turns, resets
from server import Server
from tls import authority
from upstream import Say, Upstream, resumable

MIB = 1 << 20
# Sizes in bytes. Four uploads in memory and two on disk nearly fill the replay stores: only one more write
# block fits.
HELD_IN_MEMORY, HELD_ON_DISK = 240_000, 1_000_000
LIMITS = {"replay_memory": "1MiB", "replay_disk": "2MiB"}


def every_other(bad, good):
    """Returns an upstream step that alternates between the two given responses, `bad` first."""
    def step(connection, request):
        connection.sendall((bad if request.order % 2 == 0 else good).text(request, request.order + 1))
        return True
    return step


def slow_first(connection, request):
    """Never responds to the first, third, fifth ... request, so that the hedge of each of these requests
    wins."""
    if request.order % 2 == 0:
        connection.recv(1)
        return False
    connection.sendall(Say(200).text(request, 1))
    return True


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


class Trouble:
    """A reprise with upstreams that fail in every way that the metrics count. `play` runs one round of traffic.
    `threads` is the proxy's number of threads."""

    routes = ("shop", "hasty", "copied", "reports", "search", "uploads", "framed", "narrow", "called")

    def __init__(self, threads=2):
        self.shop = Upstream({
            "/down": [503], "/again": [every_other(Say(503), Say(200))], "/gone": [every_other(Say(503), Say(404))],
            "/file": [resumable(b"f" * 300_000, 100_000)], "/never": ["hang"], "/later": [Say(429, fields=[("Retry-After", "3600")])],
            "/soon": [every_other(Say(503, fields=[("Retry-After", "1")]), Say(200))],
        })
        self.hasty, self.copied = Upstream(otherwise=[503]), Upstream(otherwise=[slow_first])
        self.reports, self.search, self.uploads = Upstream(otherwise=[503]), Upstream(otherwise=[503]), Upstream(otherwise=["hang"])
        self.gate = Gate()
        self.framed = Http2Upstream(otherwise=[in_turns(resets(CANCEL), excludes(), 200)])
        self.narrow = Http2Upstream(otherwise=[self.gate], settings={MAX_CONCURRENT_STREAMS: 1})
        self.called = Http2Upstream({METHOD: [in_turns(trailers_only(UNAVAILABLE), answer(b"item"))]})
        self.talker = Server(echo)
        self.collector = Upstream(otherwise=[every_other(Say(400), Say(200, b"{}"))])
        certificate, key = authority().issue(names=(), ends=10, usage="clientAuth")
        hasty = {"deadline": "100ms", "backoff": {"initial": "60ms", "maximum": "1s", "jitter": "none"}}
        patient = {"max_attempts": 3, "backoff": {"initial": "5ms", "maximum": "20ms"}}
        self.reprise = Controlled(
            threads=threads, limits=LIMITS, trace={"otlp": f"http://127.0.0.1:{self.collector.port}"}, shutdown={"grace": "0s"}, timers={"header": "200ms"}, pool={"http2_connections": 1}, log={"access": False},
            defaults={"retry": patient, "replay": {"memory": "256KiB", "disk": "1MiB"}},
            routes=[
                self.route("shop", budget={"floor": "1000/s"}),
                self.route("hasty", retry={**patient, **hasty}),
                self.route("copied", hedge={"after": "10ms"}),
                self.route("reports", budget={"ratio": "0%", "floor": "1/s", "window": "5s"}),
                self.route("search", circuit={"failures": "50%", "window": "10s", "requests": 6, "open": "10m"}),
                self.route("uploads", idle_timeout="10m"),
                self.route("framed", http2="always"),
                self.route("narrow", http2="always"),
                self.route("called", idempotent="always"),
                {"name": "certified", "match": {"host": "certified.test"}, "tls": {"certificate": certificate, "key": key}},
            ])
        self.stack = contextlib.ExitStack()

    def route(self, name, **keys):
        return {"name": name, "match": {"port": getattr(self, name).port}, **keys}

    def __enter__(self):
        for server in (*(getattr(self, name) for name in self.routes), self.talker, self.collector):
            self.stack.enter_context(server)
        self.stack.enter_context(self.reprise)
        self.fill_the_store()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def fill_the_store(self):
        """Sends uploads to an upstream that never responds, so that the bytes of the uploads stay in the replay
        store."""
        for size, store, count in ((HELD_IN_MEMORY, "memory", 4), (HELD_ON_DISK, "disk", 2)):
            for _ in range(count):
                client = self.stack.enter_context(Client(self.reprise.forward))
                url = self.uploads.url("/held")
                client.send(head_of("PUT", url, url.split("/")[2], [("Content-Length", str(size))]) + b"u" * size)
            self.reprise.expect_metric(size * count, "reprise_replay_bytes", store=store)

    def play(self):
        self.what_is_retried()
        self.what_uses_http2()
        self.what_is_called()
        self.what_is_refused()
        self.what_is_no_plain_request()
        self.what_is_read_anew()

    def what_is_retried(self):
        for _ in range(12):
            equal(ask(self.reprise, "GET", self.shop.url("/again")).status, 200)
        for path in ("/fine", "/fine", "/file", "/soon"):
            equal(ask(self.reprise, "GET", self.shop.url(path)).status, 200)
        equal(ask(self.reprise, "GET", f"http://localhost:{self.shop.port}/fine").status, 200)
        equal(ask(self.reprise, "GET", self.copied.url("/slow")).status, 200)
        equal(ask(self.reprise, "DELETE", self.shop.url("/gone")).status, 404)

    def what_uses_http2(self):
        """Sends requests over HTTP/2 whose attempts are reset, excluded by GOAWAY, or wait for a stream."""
        equal(ask(self.reprise, "GET", self.framed.url("/")).status, 200)
        before = len(self.narrow.heads)
        self.gate.open.clear()
        with contextlib.ExitStack() as stack:
            # More requests than the proxy has threads, so that two of them need the same connection.
            clients = [stack.enter_context(Client(self.reprise.forward)) for _ in range(3)]
            for client in clients:
                url = self.narrow.url("/")
                client.send(head_of("GET", url, url.split("/")[2]))
            self.narrow.heads_seen(before + 1)
            for _ in range(4):
                equal(ask(self.reprise, "GET", self.shop.url("/fine")).status, 200)
            self.gate.open.set()
            for client in clients:
                equal(client.read_response("GET").status, 200)

    def what_is_called(self):
        """Sends gRPC calls whose first attempt fails."""
        with Http2Client(self.reprise.forward, authority=f"{LOOPBACK}:{self.called.port}") as client:
            for _ in range(3):
                equal(status_of(call(client, b"id")), OK)

    def what_is_refused(self):
        for _ in range(4):
            equal(ask(self.reprise, "GET", self.shop.url("/down")).reason, "attempts_spent")
            ask(self.reprise, "GET", self.reports.url("/"))
            ask(self.reprise, "GET", self.search.url("/"))
        equal(ask(self.reprise, "POST", self.shop.url("/down"), b"x").reason, "not_idempotent")
        equal(ask(self.reprise, "GET", self.shop.url("/later")).reason, "upstream_said_later")
        equal(ask(self.reprise, "GET", self.hasty.url("/")).reason, "deadline_too_near")
        for size in (HELD_IN_MEMORY, HELD_ON_DISK):
            equal(ask(self.reprise, "PUT", self.shop.url("/down"), b"x" * size).reason, "not_replayable")

    def what_is_no_plain_request(self):
        self.reset_in_the_middle()
        with Client(self.reprise.forward) as client:
            client.send(b"GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            equal(client.read_response().status, 400)
        with Client(self.reprise.forward) as client:
            client.send(b"GET http://a/ HT")
            equal(client.read_response().status, 408)
        for port, said in ((self.talker.port, b"\x16\x03\x01 no handshake"), (self.shop.port, b"")):
            with Client(self.reprise.forward) as client:
                authority = f"127.0.0.1:{port}"
                client.send(head_of("CONNECT", authority, authority))
                equal(client.read_response("CONNECT").status, 200)
                client.send(said or b"GET /fine HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % authority.encode())
                client.finish()
                assert client.read_to_end(), "what came through the tunnel"

    def reset_in_the_middle(self):
        """Closes a client connection while its request is pending at the upstream."""
        before = self.shop.count("/never")
        with Client(self.reprise.forward) as client:
            url = self.shop.url("/never")
            client.send(head_of("GET", url, url.split("/")[2]))
            self.shop.seen(before + 1, "/never")
            client.socket.shutdown(socket.SHUT_RD)
            client.reset()

    def what_is_read_anew(self):
        """Reloads twice: first a valid configuration, then an invalid one. The invalid file stays until the next
        round."""
        good = self.reprise.text_with()
        self.reprise.write(good)
        equal(self.reprise.tell("reload", "--wait")[0], 0)
        self.reprise.write("version: 1\nnonsense: true\n")
        equal(self.reprise.tell("reload", "--wait")[0], 1)


class Calm:
    """A reprise whose upstream always succeeds."""

    def __init__(self):
        self.shop, self.reprise = Upstream(), Reprise()
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.stack.enter_context(self.shop)
        self.stack.enter_context(self.reprise)
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def play(self):
        for _ in range(20):
            equal(ask(self.reprise, "GET", self.shop.url("/")).status, 200)
            equal(ask(self.reprise, "PUT", self.shop.url("/"), b"x" * 1000).status, 200)
