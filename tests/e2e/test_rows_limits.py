"""Tests what happens when connections or descriptors run out, and when clients or upstreams stall: which connections
are evicted, and which response each client gets."""
import contextlib
import itertools
import os
import resource
import threading
import time

from client import Client, Cut, head_of
from harness import LOOPBACK, NotPlayed, Reprise, at_most, equal, eventually, is_sanitized, options, part_not_played
from test_replay import MIB
from server import Server
from upstream import Say, Upstream

CROWD = 4096
LIMIT = "reprise_limits_hit_total"


class Held:
    """An upstream step that sends its response only when the case sets `open`. Until then, the client's
    connection is busy."""

    def __init__(self):
        self.open = threading.Event()

    def __call__(self, connection, request):
        self.open.wait(300)
        connection.sendall(Say(200, body=b"held", close=True).text(request, 1))
        return False


def descriptors_left(reprise, more):
    """Limits reprise to `more` descriptors in addition to those that are already open."""
    taken = {int(name) for name in os.listdir(f"/proc/{reprise.process.pid}/fd")}
    lowest = next(number for number in itertools.count() if number not in taken)
    _, hard = resource.prlimit(reprise.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(reprise.process.pid, resource.RLIMIT_NOFILE, (lowest + more, hard))


def descriptors_back(reprise):
    _, hard = resource.prlimit(reprise.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(reprise.process.pid, resource.RLIMIT_NOFILE, (hard, hard))


def share_of_a_core(reprise, work, seconds):
    """Runs `work`, and waits until `seconds` seconds have passed since its start. Returns the CPU time of reprise in
    these seconds, as a share of one core."""
    cpu, start = reprise.cpu_seconds(), time.monotonic()
    work()
    time.sleep(max(0.0, seconds - (time.monotonic() - start)))
    return (reprise.cpu_seconds() - cpu) / (time.monotonic() - start)


class Crowd:
    """Clients that each send one request and keep their connection."""

    def __init__(self, reprise, url):
        self.address, self.request = reprise.forward, head_of("GET", url, LOOPBACK)
        self.clients, self.responses = [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.socket.close()

    def ask(self, count):
        for _ in range(count):
            self.clients.append(self._asking())
        for place, client in enumerate(self.clients):
            self.responses.append(self._response(place, client))

    def _asking(self):
        client = Client(self.address)
        with contextlib.suppress(OSError):  # reprise may have evicted the connection already
            client.send(self.request)
        return client

    def _response(self, place, client):
        # reprise may evict a client that needs more than a second to send its request. Such a client connects
        # again.
        while True:
            with contextlib.suppress(Cut, OSError):
                return client.read_response()
            client.socket.close()
            self.clients[place] = client = self._asking()


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


class Tunnels:
    """Open tunnels to a server that echoes all bytes."""

    def __init__(self, reprise, count):
        self.server = Server(echo).__enter__()
        self.clients = [Client(reprise.forward) for _ in range(count)]
        for client in self.clients:
            client.send(head_of("CONNECT", f"{LOOPBACK}:{self.server.port}", LOOPBACK))
            equal(client.read_response("CONNECT").status, 200, "CONNECT")
        self.rounds = 0

    def talk(self):
        self.rounds += 1
        for number, client in enumerate(self.clients):
            word = b"word %d to %d" % (self.rounds, number)
            client.send(word)
            equal(client.read_bytes(len(word)), word, "through a held tunnel")

    def close(self):
        for client in self.clients:
            client.socket.close()
        self.server.__exit__()


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def test_I6_4096_clients_with_256_descriptors_are_served_or_rejected_and_tunnels_survive():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    crowd_size = min(CROWD, hard - 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, crowd_size + 1000), hard))
    with Upstream() as upstream, Reprise(prepare=few_files,
                                         log={"access": False}) as reprise:
        lowered = [line["message"] for line in reprise.log() if "limits.connections is lowered" in line.get("message", "")]
        assert lowered and "from 4096 to 96" in lowered[0], lowered
        tunnels = Tunnels(reprise, 20)
        over = threading.Event()
        broken = []

        def talk():
            try:
                while not over.is_set():
                    tunnels.talk()
                    over.wait(0.05)
            except (AssertionError, Cut, OSError) as error:
                broken.append(error)

        talking = threading.Thread(target=talk)
        talking.start()
        with Crowd(reprise, upstream.url()) as crowd:
            share = share_of_a_core(reprise, lambda: crowd.ask(crowd_size), 10 if options.night else 0)
            over.set()
            talking.join()
            equal(broken, [], "the held tunnels")
            tunnels.talk()
            served = [response for response in crowd.responses if response.status == 200]
            refused = [response for response in crowd.responses if response.status == 503]
            equal(len(served) + len(refused), crowd_size, "answers")
            assert len(served) >= 76, len(served)
            equal({(response.field("Retry-After"), response.reason) for response in refused}, {("1", "no_descriptor")})
            print(f"note: {len(served)} served, {len(refused)} turned away, {share:.1%} of a core, "
                  f"{tunnels.rounds} rounds through 20 tunnels")
            if is_sanitized():
                part_not_played("the share of a core", "sanitizer", "a sanitizer is slow")
            else:
                at_most(share, 0.2, "share of a core")
            assert reprise.descriptors() <= 256
        tunnels.close()
        eventually(lambda: reprise.descriptors() < 100, "the clients are gone")
        assert reprise.metric(LIMIT, limit="no_descriptor") >= len(refused)


def test_I6_client_is_rejected_without_a_busy_loop_if_no_descriptor_is_left():
    if is_sanitized():
        raise NotPlayed("sanitizer", "sanitizers need descriptors of their own")
    held = Held()
    with Upstream({"/held": [held], "/": [Say(200, close=True)]}) as upstream, Reprise() as reprise:
        with Client(reprise.forward) as busy:
            busy.send(head_of("GET", upstream.url("/held"), LOOPBACK))
            upstream.seen(1)
            descriptors_left(reprise, 0)
            with Client(reprise.forward) as newcomer:
                response = newcomer.ask("GET", upstream.url())
                equal((response.status, response.reason, response.field("Retry-After")), (503, "no_descriptor", "1"))
            share = share_of_a_core(reprise, lambda: None, 2 if options.night else 0.1)
            at_most(share, 0.2, "share of a core while no client comes")
            for _ in range(20):
                with Client(reprise.forward) as newcomer:
                    equal(newcomer.ask("GET", upstream.url()).status, 503)
            descriptors_back(reprise)
            with Client(reprise.forward) as newcomer:
                equal(newcomer.ask("GET", upstream.url()).status, 200)
            held.open.set()
            equal(busy.read_response().body, b"held")
        reprise.expect_metric(21, LIMIT, limit="no_descriptor")


def test_I6_lack_of_a_descriptor_for_disk_or_resolver_or_upstream_fails_only_that_step():
    if is_sanitized():
        raise NotPlayed("sanitizer", "sanitizers need descriptors of their own")
    steps = {"/spill": [200, Say(503, close=True)], "/": [Say(200, close=True)]}
    with Upstream(steps) as upstream, Reprise(defaults={"retry": {"max_attempts": 3}}) as reprise:
        with Client(reprise.forward) as client:
            equal(client.ask("GET", upstream.url("/spill")).status, 200)  # the request leaves an idle connection to the upstream
            before = reprise.descriptors()
            descriptors_left(reprise, 0)
            # No descriptor is free for the spill file: the upload continues, but its body is not kept for a replay.
            response = client.ask("PUT", upstream.url("/spill"), b"x" * MIB)
            equal((response.status, response.reason, response.attempts), (503, "not_replayable", 1))
            eventually(lambda: reprise.descriptors() == before - 1, "the upstream's connection is closed")
            descriptors_left(reprise, 0)
            # No descriptor is free for the upstream: reprise itself responds with 503. Each attempt is counted, and a
            # backoff follows it.
            response = client.ask("GET", upstream.url())
            equal((response.status, response.reason, response.attempts), (503, "attempts_spent", 3))
            assert "error=connection_limit_reached" in response.field("Proxy-Status"), response.fields
            # No descriptor is free for the resolver: the look-up fails.
            name = upstream.url().replace(LOOPBACK, "localhost")
            response = client.ask("GET", name)
            equal(response.status, 502, response.body)
            assert "error=dns_error" in response.field("Proxy-Status"), response.fields
            descriptors_back(reprise)
            eventually(lambda: client.ask("GET", name).status == 200, "the name resolves again")
            equal(client.ask("GET", upstream.url()).status, 200)
        assert len(reprise.requests(6)) >= 6  # each request has its log line
        assert any("Too many open files" in line.get("message", "") for line in reprise.log())
        reprise.expect_metric(3, "reprise_attempts_total", outcome="connect")
        assert reprise.metric("reprise_log_dropped_total") == 0


def test_I6_idle_client_is_evicted_for_a_new_client():
    with Upstream() as upstream, Reprise(limits={"connections": 2}) as reprise:
        first, second = Client(reprise.forward), Client(reprise.forward)
        with first, second:
            equal(first.ask("GET", upstream.url()).status, 200)
            equal(second.ask("GET", upstream.url()).status, 200)

            def gets_in():
                with Client(reprise.forward) as newcomer:
                    response = newcomer.ask("GET", upstream.url())
                    assert response.status == 200 or response.reason == "connection_limit", response.reason
                    return response.status == 200
            eventually(gets_in, "a resting client makes room")
            equal(first.read_to_end(), b"", "the one that rests longest")
        assert reprise.metric(LIMIT, limit="room") >= 1


def test_connection_limit_rejects_clients_with_a_reason():
    held = Held()
    with Upstream({"/held": [held]}) as upstream, Reprise(limits={"connections": 1}) as reprise:
        with Client(reprise.forward) as busy:
            busy.send(head_of("GET", upstream.url("/held"), LOOPBACK))
            upstream.seen(1)
            with Client(reprise.forward) as newcomer:
                response = newcomer.ask("PUT", upstream.url(), b"body")
                equal((response.status, response.reason, response.field("Retry-After")), (503, "connection_limit", "1"))
                assert "error=connection_limit_reached" in response.field("Proxy-Status")
                equal(newcomer.read_to_end(), b"")
            held.open.set()
            equal(busy.read_response().status, 200)
        reprise.expect_metric(1, LIMIT, limit="connection_limit")


def test_idle_client_is_closed_after_the_keep_alive_time():
    with Upstream() as upstream, Reprise(timers={"keep_alive": "100ms"}) as reprise:
        with Client(reprise.forward) as client:
            equal(client.ask("GET", upstream.url()).status, 200)
            equal(client.read_to_end(), b"")
        reprise.expect_metric(1, LIMIT, limit="keep_alive")


def test_slow_request_head_gets_408_and_is_counted():
    with Reprise(timers={"header": "200ms"}) as reprise:
        with Client(reprise.forward) as client:
            client.send(b"GET http://example.com/ HTTP/1.1\r\nHo")
            equal(client.read_response().status, 408)
            equal(client.read_to_end(), b"")
        reprise.expect_metric(1, LIMIT, limit="header")


def test_stalled_bodies_are_cut_and_counted():
    def never_whole(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome")
        with contextlib.suppress(OSError):
            connection.recv(1)
        return False

    def endless(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"%x\r\n%s\r\n" % (MIB, b"x" * MIB)
        while True:
            connection.sendall(piece)

    with Upstream({"/stall": [never_whole], "/endless": [endless]}) as upstream, \
            Reprise(defaults={"idle_timeout": "300ms", "resume": {"enabled": False}}) as reprise:
        with Client(reprise.forward) as client:
            client.send(head_of("PUT", upstream.url(), LOOPBACK, [("Content-Length", "100")]) + b"ten bytes.")
            equal(client.read_to_end(), b"")
        reprise.expect_metric(1, LIMIT, limit="request_idle")
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/stall"), LOOPBACK))
            with contextlib.suppress(ConnectionResetError):
                assert len(client.read_to_end()) < 1000
        reprise.expect_metric(1, LIMIT, limit="response_idle")
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/endless"), LOOPBACK))
            reprise.expect_metric(1, LIMIT, limit="response_unread")
        equal(upstream.count("/"), 0, "half an upload is no request")


def resident(reprise):
    """Returns the resident memory of reprise in bytes."""
    with open(f"/proc/{reprise.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


CONNECTIONS = 200


def settled(value, seconds=0.3):
    """Waits until several samples of a value within `seconds` are equal, and returns the value. Two equal
    samples would not be enough, because the host may have stalled between them."""
    looks = max(6, round(seconds / 0.05))

    def stands():
        first = value()
        for _ in range(looks):
            time.sleep(seconds / looks)
            if value() != first:
                return None
        return first
    return eventually(stands, "the value stands still")


def growth_per_connection(reprise, sent, stays=None):
    """Returns how much the resident memory grows per connection. Opens many connections that send the given
    bytes and then stay silent."""
    before, clients = settled(lambda: resident(reprise)), []
    for _ in range(CONNECTIONS):
        client = Client(reprise.forward)
        client.send(sent)
        clients.append(client)
    reprise.expect_metric(CONNECTIONS, "reprise_client_connections")
    if stays is not None:
        stays()
    grown = settled(lambda: resident(reprise)) - before
    for client in clients:
        client.reset()
    reprise.expect_metric(0, "reprise_client_connections")
    return grown / CONNECTIONS


def test_I2_memory_per_connection_is_bounded_by_the_bytes_received():
    if is_sanitized():
        raise NotPlayed("sanitizer", "memory is not its own under a sanitizer")

    def never(connection, _):
        with contextlib.suppress(OSError):
            connection.recv(1)
        return False

    def head(fields, method="PUT"):
        return head_of(method, url, LOOPBACK, fields)

    with Upstream({"/x": [never]}) as upstream:
        url = upstream.url("/x")
        pressures = {
            "nothing": b"",
            "half a head": b"GET http://a.test/ HTTP/1.1\r\nX: y",
            "half a long head": b"GET http://a.test/ HTTP/1.1\r\nX: " + b"y" * 60_000,
            "a head of many fields": head([(f"X-{number}", "y" * 100) for number in range(120)]),
            "half a body": head([("Content-Length", "200000")]) + b"x" * 2_000,
            "half a longer body": head([("Content-Length", "200000")]) + b"x" * 100_000,
            "half a body for the disk": head([("Content-Length", "2000000")]) + b"x" * 1_000_000,
            "half a chunked body": head([("Transfer-Encoding", "chunked")]) + b"1\r\nx\r\n" * 5_000,
            "a chunk without end": head([("Transfer-Encoding", "chunked")]) + b"fffffff\r\n" + b"x" * 50_000,
            "an extension without end": head([("Transfer-Encoding", "chunked")]) + b"1;" + b"x" * 4_000,
            "pipelined requests": head([], "GET") * 100,
        }
        told = []
        for name, sent in pressures.items():
            with Reprise(threads=1, log={"access": False}) as reprise:
                each = growth_per_connection(reprise, sent)
                bound = 4 * len(sent) + 64 * 1024
                told.append(f"{name}: {len(sent)} bytes sent, {each / 1024:.1f} KiB resident, bound {bound / 1024:.0f} KiB")
                at_most(each, bound, told[-1])
        print("note: " + "\n".join(told))


def test_I1_tiny_chunks_cost_at_most_ten_times_a_plain_body_of_equal_bytes():
    tiny = b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n"
    plain = b"x" * len(tiny)
    down = {"/plain": [Say(200, chunks=[plain])], "/tiny": [Say(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + tiny)]}
    with Upstream(down) as upstream, Reprise(threads=1) as reprise, Client(reprise.forward) as client:
        def cpu(method, path, body, fields):
            before = reprise.cpu_seconds()
            for _ in range(5):
                client.send(head_of(method, upstream.url(path), LOOPBACK, fields) + body)
                equal(client.read_response().status, 200)
            return reprise.cpu_seconds() - before

        def ratios():
            length, chunks = [("Content-Length", str(len(plain)))], [("Transfer-Encoding", "chunked")]
            up = cpu("PUT", "/", tiny, chunks) / max(0.01, cpu("PUT", "/", plain, length))
            return up, cpu("GET", "/tiny", b"", []) / max(0.01, cpu("GET", "/plain", b"", []))
        up, down = ratios()
        print(f"note: {up:.1f} times a plain upload, {down:.1f} times a plain download")
        at_most(max(up, down), 10, "times the CPU of a plain transfer")


def test_I3_pipelined_requests_are_not_forwarded_while_the_client_reads_no_responses():
    with Upstream({"/x": [Say(200, body=b"x" * 4_000_000)]}) as upstream, Reprise() as reprise:
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/x"), LOOPBACK) * 50)
            settled(lambda: upstream.count("/x"))
            assert upstream.count("/x") < 45, "answers are held by kernels alone"
            for _ in range(50):
                equal(len(client.read_response().body), 4_000_000)
        equal(upstream.count("/x"), 50)


def test_I4_client_that_is_still_sending_receives_the_rejection():
    with Reprise() as reprise:
        with Client(reprise.forward) as client:
            client.send(b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: x\r\n\r\n" + b"x" * 200_000)
            equal(client.read_response().status, 400)
            equal(client.read_to_end(), b"")
        with Client(reprise.forward) as client:  # this client never stops sending
            client.send(b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: x\r\n\r\n")
            with contextlib.suppress(OSError):
                while True:
                    client.send(b"x" * 100_000)
            reprise.expect_metric(0, "reprise_client_connections")
        reprise.expect_metric(2, "reprise_rejected_requests_total", cause="bad_content_length")


def test_I5_client_that_does_not_read_uses_at_most_two_buffers():
    if is_sanitized():
        raise NotPlayed("sanitizer", "memory is not its own under a sanitizer")
    over = threading.Event()

    def endless(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"%x\r\n%s\r\n" % (MIB, b"x" * MIB)
        with contextlib.suppress(OSError):
            while not over.is_set():
                connection.sendall(piece)
        return False

    with Upstream({"/x": [endless]}) as upstream, Reprise(threads=1, log={"access": False}) as reprise:
        each = growth_per_connection(reprise, head_of("GET", upstream.url("/x"), LOOPBACK), lambda: upstream.seen(CONNECTIONS))
        print(f"note: {each / 1024:.1f} KiB resident for each of {CONNECTIONS} clients that do not read")
        at_most(each, 2 * 256 * 1024 + 64 * 1024, "bytes resident for each client")
        over.set()
