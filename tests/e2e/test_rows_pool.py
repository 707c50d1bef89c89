"""Tests upstream connections: which connections are reused, and how the end of a connection affects a retry."""
import contextlib
import socket
import threading
import time

import chance
from client import Client, ask, head_of
from harness import LOOPBACK, NotPlayed, Reprise, at_most, equal, eventually
from upstream import Say, Upstream, reset

WAIT = {"initial": "300ms", "maximum": "300ms", "jitter": "none"}


def connections_of(upstream, count, path=None):
    """Returns the number of the upstream connection of each request."""
    return [request.connection for request in upstream.seen(count, path)]


def test_D7_old_connection_failure_during_the_backoff_does_not_affect_the_retry():
    def whole_then_reset(connection, request):
        connection.sendall(Say(503, body=b"busy").text(request, 1))
        reset(connection)
        return False

    def half_then_reset(connection, _):
        connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nhalf")
        reset(connection)
        return False

    def endless(connection, _):
        connection.sendall(b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")

    for first in (whole_then_reset, half_then_reset, endless):
        with Upstream({"/x": [first, 200]}) as upstream, Reprise(defaults={"retry": {"backoff": WAIT}}) as reprise:
            with Client(reprise.forward) as client:
                cpu, start = reprise.cpu_seconds(), time.monotonic()
                response = client.ask("GET", upstream.url("/x"))
                share = (reprise.cpu_seconds() - cpu) / (time.monotonic() - start)
            equal((response.status, response.attempts), (200, 2), first.__name__)
            equal(len(set(connections_of(upstream, 2))), 2, "a fresh connection")
            at_most(share, 0.9, f"share of a core during the wait, {first.__name__}")


def test_D8_client_gets_502_if_the_last_attempt_fails_on_a_reused_connection():
    def die_when_reused(connection, request):
        if request.order > 0:
            reset(connection)
            return False
        connection.sendall(Say(200).text(request, 1))
        return True

    with Upstream({"/x": [die_when_reused]}) as upstream, Reprise(threads=1, defaults={"retry": {"max_attempts": 1}}) as reprise:
        with Client(reprise.forward) as client:
            # The first POST of a client never uses a reused upstream connection; the second POST does.
            equal(client.ask("POST", upstream.url("/x"), b"first").status, 200)
            response = client.ask("POST", upstream.url("/x"), b"once")
            equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
            assert "error=connection_terminated" in response.field("Proxy-Status"), response.fields
            # The client's connection stays open. The GET uses a reused upstream connection, which is stale. The limit
            # of one attempt then ends the request.
            response = client.ask("GET", upstream.url("/x"))
            equal((response.status, response.reason), (502, "attempts_spent"))
        equal(connections_of(upstream, 3)[:2], [1, 1], "the POST came on the reused connection")


def test_D12_next_address_is_tried_within_the_same_attempt():
    families = {entry[0] for entry in socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)}
    with Upstream() as upstream, Reprise() as reprise:
        response = ask(reprise, "PUT", upstream.url().replace(LOOPBACK, "localhost"), b"body")
        equal((response.status, response.attempts), (200, 1))
        equal([request.body for request in upstream.seen(1)], [b"body"], "sent once")
        if socket.AF_INET6 not in families:
            raise NotPlayed("kernel", "localhost has one address here")


def test_D19_attempts_are_never_closer_together_than_the_wait():
    times = []

    def busy(connection, request):
        times.append(time.monotonic())
        connection.sendall(Say(503, close=True).text(request, 1))
        return False

    def cut(connection, _):
        times.append(time.monotonic())
        reset(connection)
        return False

    with Upstream({"/x": [busy, cut, busy, cut]}) as upstream, \
            Reprise(defaults={"retry": {"max_attempts": 4, "backoff": WAIT}}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 4)
    gaps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert len(gaps) == 3 and min(gaps) >= 0.3, gaps


def test_D20_outer_reprise_does_not_retry_a_response_that_an_inner_reprise_already_retried():
    """By default, the outer proxy retries only failures that have no response. With `inner: allow`, it retries all
    failures."""
    defaults = {"retry": {"max_attempts": 3, "backoff": {"initial": "0ms"}}}
    outer_too = {"retry": {**defaults["retry"], "inner": "allow"}}
    with Upstream({"/x": [503]}) as upstream, Reprise(defaults=defaults) as outer, Reprise(defaults=outer_too) as both:
        gateway = {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("")}
        with Reprise(listeners=[gateway], defaults=defaults) as inner:
            url = "http://%s:%d/x" % inner.gateway
            response = ask(outer, "GET", url)
            equal((response.status, response.reason, response.attempts, upstream.count()), (503, "nested_retry", 1, 3))
            outer.expect_metric(1, "reprise_retries_refused_total", reason="nested_retry")
            response = ask(both, "GET", url)
            equal((response.status, response.reason, response.attempts, upstream.count()), (503, "attempts_spent", 3, 12))
        response = ask(outer, "GET", url)
        equal((response.status, response.reason, response.attempts), (502, "attempts_spent", 3))


def test_D20_two_chained_proxies_multiply_requests_only_within_their_budgets():
    defaults = {"retry": {"backoff": {"initial": "0ms"}, "inner": "allow"}, "budget": {"ratio": "20%", "floor": "0.001/s", "window": "1000s"}}
    with Upstream({"/x": [503]}) as upstream:
        gateway = {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("")}
        with Reprise(threads=1, listeners=[gateway], defaults=defaults) as inner, \
                Reprise(threads=1, defaults=defaults) as outer:
            url = "http://%s:%d/x" % inner.gateway

            def work():
                with Client(outer.forward) as client:
                    for _ in range(125):
                        equal(client.ask("GET", url).status, 503)

            workers = [threading.Thread(target=work) for _ in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            passed_on = sum(1 for line in inner.log() if "attempts" in line and line["level"] == "info")
            assert 1000 < upstream.count() <= 1450, (passed_on, upstream.count())


def test_F3_upstream_connection_is_not_reused_after_a_response_that_makes_reuse_unsafe():
    def early(connection, request):
        """Responds before the body arrives, and never reads the body."""
        connection.sendall(Say(200).text(request, 1))
        return True

    length_and_chunked = Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    old = Say(raw=b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    surplus = Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    head = Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    plain = Say(200)
    cases = {
        "/close": ("GET", Say(200, fields=[("Connection", "close")])), "/old": ("GET", old),
        "/both": ("GET", length_and_chunked), "/surplus": ("GET", surplus), "/head": ("HEAD", head),
        "/no-content": ("GET", Say(raw=b"HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nevil")),
    }
    with Upstream({path: [step, plain] for path, (_, step) in cases.items()}) as upstream, Reprise(threads=1) as reprise:
        for path, (method, _) in cases.items():
            with Client(reprise.forward) as client:
                first = client.ask(method, upstream.url(path))
                assert b"evil" not in first.body, path
                second = client.ask("GET", upstream.url(path))
                equal(second.body, b"answer 2 to " + path.encode() + b"\n", path)
            one, two = connections_of(upstream, 2, path)
            assert one != two, path
        # After an ordinary response, the upstream connection must be reused. Otherwise the checks for unsafe
        # responses would prove nothing.
        with Client(reprise.forward) as client:
            for _ in range(2):
                client.ask("GET", upstream.url("/good"))
        one, two = connections_of(upstream, 2, "/good")
        equal(one, two, "/good")


def test_F3_unread_response_closes_its_upstream_connection():
    large = Say(200, body=b"x" * 50_000_000)
    with Upstream({"/x": [large, 200]}) as upstream, Reprise(threads=1) as reprise:
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
            client.read_bytes(1000)
            client.reset()
        reprise.expect_metric(0, "reprise_upstream_connections", state="active")
        equal(reprise.metric("reprise_upstream_connections", state="idle"), 0)
        equal(ask(reprise, "GET", upstream.url("/x")).body, b"answer 2 to /x\n")


def test_F4_responses_and_cookies_never_reach_another_request():
    def talk(connection, request):
        dice = chance.dice("fate", request.id)
        fate = dice.random()
        if request.field("X-Try") is None and fate < 0.15:
            reset(connection)
            return False
        body = b"for %s %s\n" % (request.id.encode(), b"x" * dice.randrange(3000))
        say = Say(503 if fate < 0.3 else 200, body=body, fields=[("Set-Cookie", f"id={request.id}")], close=fate > 0.9)
        connection.sendall(say.text(request, 1))
        return not say.close

    with Upstream({"/x": [talk]}) as upstream, Reprise(defaults={"retry": {"max_attempts": 2}, "budget": "off"}) as reprise:
        wrong = []

        def work(worker):
            with contextlib.ExitStack() as stack:
                client = stack.enter_context(Client(reprise.forward))
                for number in range(100):
                    mine = f"{worker}-{number}"
                    method, body = ("PUT", mine.encode() * 50) if number % 3 == 0 else ("GET", None)
                    response = client.ask(method, upstream.url(f"/x?id={mine}"), body, [("Cookie", f"id={mine}")])
                    of_upstream = response.field("Set-Cookie") is not None
                    if of_upstream and (response.field("Set-Cookie") != f"id={mine}" or
                                        not response.body.startswith(b"for %s " % mine.encode())):
                        wrong.append((mine, response.fields, response.body[:80]))

        workers = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        equal(wrong, [])
        for request in upstream.seen(1200):
            equal(request.field("Cookie"), f"id={request.id}")
            if request.method == "PUT":
                equal(request.body, request.id.encode() * 50)


def test_F6_bytes_on_an_idle_connection_are_discarded():
    said = threading.Event()
    unasked = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    def answer_then(afterwards):
        def step(connection, request):
            connection.sendall(Say(200).text(request, 1))
            afterwards(connection)
            said.set()
            return False
        return step

    def keep_open(connection):
        connection.sendall(unasked)
        held_open.append(connection.dup())

    held_open = []
    endings = {"/408": keep_open, "/fin": lambda connection: None, "/rst": reset}
    with Upstream({path: [answer_then(end), 200] for path, end in endings.items()}) as upstream, \
            Reprise(threads=1) as reprise:
        for path in endings:
            said.clear()
            with Client(reprise.forward) as client:
                equal(client.ask("GET", upstream.url(path)).status, 200)
                said.wait(120)
                response = client.ask("GET", upstream.url(path))
                equal((response.status, response.body), (200, b"answer 2 to " + path.encode() + b"\n"), path)
            one, two = connections_of(upstream, 2, path)
            assert one != two, path


def test_F9_keep_alive_field_of_the_upstream_shortens_the_idle_time():
    steps = {f"/{seconds}": [Say(200, fields=[("Keep-Alive", f"timeout={seconds}, max=9")]), 200]
             for seconds in ("0", "1", "100")}
    with Upstream(steps) as upstream, Reprise(threads=1) as reprise:
        for path in steps:
            with Client(reprise.forward) as client:
                for _ in range(2):
                    equal(client.ask("GET", upstream.url(path)).status, 200)
            one, two = connections_of(upstream, 2, path)
            equal(one == two, path == "/100", path)


def test_F10_non_idempotent_request_never_uses_a_long_idle_connection():
    with Upstream() as upstream, Reprise(threads=1) as reprise:
        with Client(reprise.forward) as client:
            client.ask("GET", upstream.url("/x"))
            rested = time.monotonic() + 1.2
            eventually(lambda: time.monotonic() > rested, "the connection has rested for a second")
            equal(client.ask("POST", upstream.url("/x"), b"once").status, 200)
            client.ask("GET", upstream.url("/x"))
        get, post, again = connections_of(upstream, 3)
        assert get != post, "the POST took the connection that rested"
        assert again in (get, post), "the GET took one that was there"


def test_I13_unresolvable_name_gets_502_and_an_overlong_name_gets_400():
    with Reprise(defaults={"retry": {"max_attempts": 1}}) as reprise:
        response = ask(reprise, "GET", "http://no-such-name.invalid/")
        equal(response.status, 502)
        assert "error=dns_error" in response.field("Proxy-Status")
        equal(ask(reprise, "GET", f"http://{'x' * 64}.test/").status, 400, "a label over 63")
        equal(ask(reprise, "GET", f"http://{'.'.join(['x' * 60] * 5)}.test/").status, 400, "a name over 253")
