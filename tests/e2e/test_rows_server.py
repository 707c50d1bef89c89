"""Tests how reprise behaves towards clients, operators and the kernel: rows L9, L10, L13, L15, L17, L18, L23, L29,
L30, L31."""
import contextlib
import re
import resource
import signal
import socket
import threading
import time

from client import Client, Cut, ask, head_of
from exactly import says, stage, to
from harness import LOOPBACK, PATIENCE, Reprise, at_most, equal, eventually, tcp_sockets, under_some_limit
from test_rows_access import ONCE, is_denied
from test_rows_limits import few_files
from upstream import Say, Upstream

ENDLESS = {"retry": {"backoff": {"initial": "1h", "maximum": "1h"}, "deadline": "unlimited", "max_attempts": 3}}
SWITCH = b"HTTP/1.1 101 Switching\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"
UPGRADE = b"Connection: upgrade\r\nUpgrade: echo\r\n"


def visit(reprise):
    return Client(reprise.addresses["admin"])


def livez(client):
    client.send(head_of("GET", "/livez", "localhost"))
    return client.read_response()


@contextlib.contextmanager
def deaf_visitors(reprise, count, path, times):
    """Opens connections to the admin listener. Each connection requests a path many times, and reads only one byte
    of the responses."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            visitor = stack.enter_context(socket.socket())
            visitor.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            visitor.settimeout(PATIENCE)
            visitor.connect(reprise.addresses["admin"])
            visitor.sendall(head_of("GET", path, "localhost") * times)
            equal(visitor.recv(1), b"H", "a response has begun")
        port = reprise.addresses["admin"][1]
        seen = [unsent_to_visitors(port)]

        def nothing_moves():
            seen.append(unsent_to_visitors(port))
            return len(seen) > 20 and len(set(map(str, seen[-20:]))) == 1
        eventually(nothing_moves, "every buffer is full")
        yield


def unsent_to_visitors(port):
    """Returns the number of unsent response bytes for each connection from the given local port."""
    return sorted((one.remote, one.unsent) for one in tcp_sockets() if one.local == port)


def test_L9_64_clients_that_do_not_read_block_neither_probes_nor_metrics():
    for path, times in (("/", 60), ("/livez", 3000)):
        with Reprise() as reprise, deaf_visitors(reprise, 64, path, times):
            for probe in ("/livez", "/readyz"):
                equal(reprise.admin(probe)[0], 200, f"{probe} beside unread responses to {path}")
            eventually(lambda: reprise.admin("/metrics")[0] == 200, "a response that does not move makes room for a page")
            assert reprise.metric("reprise_limits_hit_total", limit="room") > 0


def is_open(client):
    """Returns true unless the connection has ended."""
    client.socket.setblocking(False)
    try:
        return client.socket.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        client.socket.settimeout(120)


def test_L9_300_silent_admin_connections_evict_the_oldest_and_block_no_probe():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    # An older version did not limit the admin connections: its admin listener responded only after silent
    # connections were closed. The header timer of one hour ensures that no connection is closed because it is
    # silent.
    with Upstream() as upstream, Reprise(prepare=few_files, log={"access": False}, timers={"header": "1h"}) as reprise, \
            contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(visit(reprise)) for _ in range(300)]
        with visit(reprise) as client:
            equal(livez(client).status, 200)
            # An older version, which did not limit the admin connections, had too few descriptors left for
            # this many clients.
            waiting = [stack.enter_context(Client(reprise.forward)) for _ in range(60)]
            for one in waiting:
                one.send(head_of("GET", upstream.url("/x"), LOOPBACK))
            equal([one.read_response().status for one in waiting], [200] * 60, "the traffic is unaffected")
            eventually(lambda: sum(map(is_open, crowd)) < 64, "at most limits.admin_connections are open")
            standing = [is_open(one) for one in crowd]
            equal(standing, sorted(standing), "the eldest ones went first")
            assert sum(standing) > 8, f"as many as may be stand: {sum(standing)}"
            equal(reprise.admin("/livez")[0], 200)


def test_L9_admin_connections_key_sets_the_connection_limit():
    with Reprise(limits={"admin_connections": 3}, timers={"header": "300ms"}) as reprise, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(visit(reprise)) for _ in range(8)]
        equal(reprise.admin("/livez")[0], 200)
        equal([is_open(one) for one in crowd], [False] * 6 + [True] * 2)
        slow = stack.enter_context(visit(reprise))
        slow.send(b"GET /livez HT")
        slow.expect_end()
        equal(livez(crowd[7]).status, 200, "who has sent nothing is not slow")


def test_L10_slow_request_head_that_outgrew_its_first_buffer_gets_408():
    with stage(timers={"header": "1s"}) as (reprise, upstream), contextlib.ExitStack() as stack:
        slow = stack.enter_context(Client(reprise.forward))
        slow.send(b"POST http://h/ HTTP/1.1\r\nHost: h\r\n")
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)  # by now reprise has read the first piece of the slow head
        slow.send(b"X-Long: " + b"x" * 40_000)
        others = [stack.enter_context(Client(reprise.forward)) for _ in range(20)]
        for other in others:
            other.send(to(upstream, "HEAD"))
        equal([other.read_response("HEAD").status for other in others], [200] * 20)
        says(slow.read_response(), 408, "header_timeout")
        equal(slow.read_to_end(), b"")


def listed(name, members):
    return b"%s: %secho\r\n" % (name, b"a," * members)


def test_L13_connection_and_upgrade_lists_of_30000_members_cost_no_quadratic_time():
    def long_lists(connection, request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + listed(b"Connection", 30_000) + b"\r\n")
        return True

    def switch(connection, request):
        connection.sendall(SWITCH[:-2] + listed(b"Upgrade", 30_000) + b"\r\n")
        return False
    with stage({"/c": [long_lists], "/u": [switch]}) as (reprise, upstream):
        before = reprise.cpu_seconds()
        for _ in range(3):
            with Client(reprise.forward) as client:
                client.send(to(upstream, path="/c", fields=listed(b"Connection", 30_000)))
                equal(client.read_response().status, 200)
            with Client(reprise.forward) as client:
                client.send(to(upstream, path="/u", fields=b"Connection: upgrade\r\n" + listed(b"Upgrade", 30_000)))
                equal(client.read_final_head().status, 101)
        # If a list field were parsed in quadratic time, one request would take seconds.
        at_most(reprise.cpu_seconds() - before, 3, "CPU seconds")


def test_L15_exhausted_request_is_logged_even_without_an_access_log():
    with Upstream({"/v1/x": [503]}) as upstream, Reprise(log={"access": False}, defaults={"retry": {"max_attempts": 2}}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/y")).status, 200)
        equal(ask(reprise, "GET", upstream.url("/v1/x?secret=1")).attempts, 2)
        reprise.expect_log("attempts_spent")
        records = [line for line in reprise.log() if line.get("level") == "error"]
        equal(len(records), 1)
        told = str(records[0])
        for word in ("GET", "/v1/x", "503", "attempts_spent"):
            assert word in told, f"{word} in {told}"
        assert "secret" not in reprise.text(), "no query"
        equal([line for line in reprise.log() if "attempts" in line and line.get("level") != "error"], [], "no access line")


def test_L17_client_gets_a_response_if_it_half_closes_or_reprise_stops_while_a_503_is_read():
    for leave in ("FIN", "SIGTERM"):
        for sent in (b"ha", b"half"):
            def refuse(connection, request, sent=sent):
                connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\n" + sent)
                upstream.closing.wait()
                return False
            with Upstream({"/x": [refuse]}) as upstream, Reprise(defaults=ENDLESS, log={"level": "debug"}) as reprise, \
                    Client(reprise.forward) as client:
                client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
                reprise.expect_log("attempt 1: 503")
                if leave == "FIN":
                    client.finish()
                else:
                    reprise.terminate()
                response = client.read_response()
                whole = sent == b"half"
                equal(response.status, 503 if whole else 502, f"{leave} after {sent}")
                equal(response.reason, "client_gone" if leave == "FIN" else "shutting_down")
                if whole:
                    equal(response.body, b"half")
                else:
                    assert "received-status=503" in response.field("Proxy-Status"), response.fields


def test_L18_sighup_never_stops_the_proxy():
    held = threading.Event()

    def wait(connection, request):
        held.wait(120)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return True
    with Upstream({"/held": [wait]}) as upstream, Reprise(shutdown={"grace": "2m"}) as reprise:
        for count in range(1, 4):
            reprise.process.send_signal(signal.SIGHUP)
            eventually(lambda count=count: reprise.text().count("configuration reloaded") == count, f"line {count}")
            equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/held"), LOOPBACK))
            upstream.seen(1, "/held")
            reprise.terminate()
            reprise.expect_log("shutting down")
            reprise.process.send_signal(signal.SIGHUP)
            held.set()
            equal(client.read_response().body, b"ok", "nor while it ends")
        equal(reprise.wait(), 0)


def test_L23_loopback_admin_listener_rejects_foreign_host_names_with_421():
    paths = ("/metrics", "/livez", "/readyz")
    for bind, foreign in (({}, 421), ({"bind": "0.0.0.0:0", "allow_remote": True}, 200)):
        with Reprise(admin=bind) as reprise:
            port = reprise.addresses["admin"][1]
            for path in paths:
                for host, status in ((f"{LOOPBACK}:{port}", 200), (f"localhost:{port}", 200), ("LOCALHOST", 200), ("[::1]", 200),
                                     ("192.0.2.1", 200), (f"evil.example:{port}", foreign), ("localhost.evil.example", foreign),
                                     ("127.0.0.1.evil.example", foreign)):
                    with Client((LOOPBACK, port)) as client:
                        client.send(head_of("GET", path, host))
                        response = client.read_response()
                        equal(response.status, status, f"{path} for {host}")
                        equal(b"reprise_" in response.body, status == 200 and path == "/metrics", host)


class SlowClient(Client):
    """A client with a small receive buffer, so that unsent bytes stay in reprise."""

    def __init__(self, address):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 200)
        connection.settimeout(120)
        connection.connect(address)
        super().__init__(address, connection=connection)


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: <" + b"/hint" * 12_000 + b">\r\n\r\n"
SMALL = Say(200, body=b"s" * 3000)
SMALL_ONES = 20


def read_until(client, condition):
    """Reads small amounts until `condition()` is true, so that no kernel buffer on the way has more free
    space than one of these amounts."""
    while not condition():
        client.socket.settimeout(0.02)
        with contextlib.suppress(TimeoutError):
            client.buffer += client.socket.recv(1000)
    client.socket.settimeout(120)


def hints_beside_a_copy(milliseconds):
    """The first attempt's 103 waits for a client that does not read. Meanwhile the upstream rejects the hedge, whose
    body reprise is still sending."""
    asked, hinted, failed = threading.Event(), threading.Event(), threading.Event()

    def on_head(connection, request, reader):
        if asked.is_set():
            hinted.wait(120)  # this request is the hedge: the upstream never reads its body
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")
            failed.wait(120)
            return False
        asked.set()
        reader.read_body(request)
        connection.sendall(HINT)
        hinted.set()
        failed.wait(120)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
        return False
    defaults = {"hedge": {"after": f"{milliseconds}ms"}, "replay": {"memory": "16MiB"}, "retry": {"max_attempts": 2}}
    with stage({"/small": [SMALL]}, on_head={"/x": on_head}, defaults=defaults, log={"level": "debug"}) as (reprise, upstream), \
            SlowClient(reprise.forward) as client:
        body = b"b" * 8_000_000
        requests = to(upstream, path="/small") * SMALL_ONES + to(upstream, "PUT", "/x", b"Content-Length: %d\r\n" % len(body)) + body
        sender = threading.Thread(target=client.send, args=(requests,))
        sender.start()
        read_until(client, asked.is_set)
        before = upstream.connections
        limit = time.monotonic() + milliseconds / 1000 + 5
        while upstream.connections == before and time.monotonic() < limit:
            time.sleep(0.01)
        copied = upstream.connections > before
        if copied:
            eventually(lambda: re.search("attempt 2: |client_gone", reprise.text()), "the end of the copy")
        failed.set()
        for _ in range(SMALL_ONES):
            equal(client.read_response().body, SMALL.body)
        response = client.read_response()
        sender.join()
        equal([one.status for one in response.interim], [103])
        equal(len(response.interim[0].field("Link")), 60_002, "the whole of it")
        equal((response.status, response.body), (200, b"good"))
        return copied  # if no hedge was sent, the body arrived too late for a hedge


def test_L29_interim_response_is_delivered_intact_when_the_hedged_copy_is_ended():
    under_some_limit(500, hints_beside_a_copy)


def test_L30_bytes_after_the_body_of_an_upgrade_request_reach_the_upstream():
    def on_head(connection, request, reader):
        heard.append(reader.read_body(request))
        connection.sendall(SWITCH)
        while not reader.buffer.endswith(b"third"):
            reader.more()
        heard.append(bytes(reader.buffer))
        return False
    for pause in (True, False):
        heard = []
        with stage(on_head={"/x": on_head}) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, "POST", "/x", UPGRADE + b"Transfer-Encoding: chunked\r\n"))
            if pause:
                eventually(lambda: b"".join(upstream.bytes_received()), "the head is at the upstream")
            client.send(b"5\r\nhello\r\n0\r\n\r\nfirst ")
            equal(client.read_final_head().status, 101)
            client.send(b"second third")
            with contextlib.suppress(Cut):
                client.read_to_end()
            equal(heard, [b"hello", b"first second third"])


def test_L31_further_ipv6_forms_that_embed_a_denied_address_are_rejected():
    with Reprise(defaults=ONCE) as reprise:
        for host in ("[64:ff9b:1::a9fe:a9fe]", "[64:ff9b:1:2:3:4:169.254.169.254]", "[::ffff:0:a9fe:a9fe]", "[::ffff:0:169.254.169.254]",
                     "[2001:db8::5efe:a9fe:a9fe]", "[2001:db8::200:5efe:169.254.169.254]", "[2001:0:c000:201::5601:5601]",
                     "[64:ff9b:1:a9fe:a9:fe00::]", "[64:ff9b:1:a9:fe:a9fe::]", "[64:ff9b:1:7:a9:fea9:fe00:0]"):
            is_denied(reprise, host)
    with Reprise(defaults={**ONCE, "connect_timeout": "200ms"}) as reprise:
        for host in ("[64:ff9b:1::c000:201]", "[64:ff9b::c000:201]", "[2001:db8::5efe:c000:201]", "[2001:0:c000:201::3fff:fdfe]"):
            response = ask(reprise, "GET", f"http://{host}/")  # an address in TEST-NET-1: reprise dials it, but no host has it
            equal(response.status in (502, 504), True, f"{host}: {response.head}")
