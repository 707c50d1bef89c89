"""Tests group L, policy: which fields make a request idempotent, which attempts the budget and the circuit
count, and how backoffs are distributed."""
import json
import threading
import time

from client import Client, ask, head_of
from harness import LOOPBACK, PATIENCE, Reprise, at_most, closed_port, equal, is_sanitized, options, part_not_played
from parent import Parent
from test_explain import explain
from test_rows_limits import resident, settled
from upstream import Upstream


def test_L11_condition_on_a_field_is_not_met_if_connection_lists_that_field():
    rule = {"any": [{"header": "Idempotency-Key"}, {"header": "X-Token"}]}
    with Upstream({"/x": [503]}) as upstream, Reprise(defaults={"idempotent": rule}) as reprise:
        def asked(*fields):
            response = ask(reprise, "POST", upstream.url("/x"), b"1", fields)
            return response.attempts > 1, response.reason
        for name in ("Idempotency-Key", "X-Token"):
            equal(asked((name, "k")), (True, "attempts_spent"), name)
            equal(asked(("Connection", name), (name, "k")), (False, "not_idempotent"), name)
            equal(asked(("Connection", f"close, {name.lower()}"), (name, "k")), (False, "not_idempotent"), name)
        upstream.requests.clear()
        asked(("Connection", "X-Token"), ("X-Token", "k"))
        equal([request.field("X-Token") for request in upstream.seen(1)], [None], "it ended here")


def test_L12_requests_rejected_by_an_open_circuit_add_nothing_to_the_budget():
    broken = {"name": "broken", "match": {"path": "/broken"}, "retry": {"max_attempts": 1},
              "circuit": {"requests": 4, "window": "1h", "open": "1h"}}
    defaults = {"budget": {"ratio": "100%", "floor": "0/s", "window": "1h"}, "retry": {"max_attempts": 50}}
    with Upstream({"/broken": [500], "/x": [503]}) as upstream, Reprise(defaults=defaults, routes=[broken]) as reprise:
        with Client(reprise.forward) as client:
            for _ in range(4):
                equal(client.ask("GET", upstream.url("/broken")).status, 500)
            for _ in range(1000):
                equal(client.ask("GET", upstream.url("/broken")).reason, "circuit_open")
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.reason, response.attempts), ("budget_spent", 6), "five first attempts were sent: five retries")


def test_L16_connect_denied_by_a_parent_is_not_retried():
    def said(status):
        return b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % status
    with Upstream() as upstream:
        for status, again in ((401, False), (403, False), (407, False), (429, True), (500, True), (503, True)):
            with Parent({"up.test": (LOOPBACK, upstream.port)}, refuse=[said(status)]) as parent, \
                    Reprise(parent=parent.proxy_url()) as reprise, Client(reprise.forward) as client:
                client.send(head_of("CONNECT", "up.test:443", "up.test:443"))
                if again:
                    head = client.read_head()
                    assert head.startswith(b"HTTP/1.1 200 ") and b"\r\nReprise-Attempts: 2\r\n" in head, head
                    continue
                response = client.read_response("CONNECT")
                equal((response.status, response.attempts, response.reason), (502, 1, "not_retryable"), status)
                assert f"; received-status={status}" in response.field("Proxy-Status"), response.head


def test_L19_waits_with_decorrelated_jitter_reach_but_never_exceed_the_maximum():
    retry = {"max_attempts": 32, "backoff": {"initial": "5ms", "maximum": "10ms", "jitter": "decorrelated"}}
    with Upstream({"/x": [503]}) as upstream, Reprise(defaults={"retry": retry}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 32)
        waits = [attempt["wait_ms"] for attempt in reprise.requests(1)[0]["attempts"][1:]]
        equal(len(waits), 31)
        capped = sum(1 for wait in waits if wait == 10)
        assert capped > 10 and all(5 <= wait <= 10 for wait in waits), waits


def test_L20_explain_reports_every_limit():
    code, out = explain("GET", "http://api.example.com/v1/x")
    equal(code, 0)
    for words in ("\nbudget      100 retries left", "\nreplay      a body of up to 256KiB is held in memory, a longer one of up to 64MiB on disk",
                  "64MiB in memory and 1GiB on disk", "\nconnect     5s to connect to one address, 10s for all of them; resolving, connecting and TLS end at the deadline",
                  "\nresponse    as long as the upstream takes (response_timeout: none)",
                  "\nconnection  any idle connection; if it was stale, an immediate retry on a fresh one (stale_connection)"):
        assert words in out, (words, out)
    code, out = explain("POST", "http://api.example.com/v1/x")
    for words in ("\nreplay      the body is not held", "\nconnection  a fresh one for the first unrepeatable request"):
        assert words in out, (words, out)
    file = "tests/golden/explain/limits.yaml"
    code, out = explain("GET", "http://api.example.com/v1/x", "-c", file)
    for words in ("\ncircuit     opens if 50% of at least 20 attempts within 10s failed; nothing is sent for 5s after that (circuit_open)",
                  "\nhost pause  while the upstream has asked for a pause, every attempt waits until the pause ends, and up to ",
                  "\nhedge       a hedge after 200ms", "\nresponse    3s from the last request byte to the response head (attempt_timeout), or the deadline"):
        assert words in out, (words, out)
    code, out = explain("GET", "http://api.example.com/v1/x", "-c", file, "--format", "json")
    equal(sorted(json.loads(out)["limits"]), ["circuit", "connect", "connection", "host pause", "replay", "response"])
    code, out = explain("POST", "http://keyed.test/x", "-c", file, "--header", "X-Token: 1")
    assert "\nidempotent  yes: the request has `header: X-Token`" in out, out
    code, out = explain("POST", "http://keyed.test/x", "-c", file, "--header", "X-Token: 1", "--header", "Connection: X-Token")
    assert "\nidempotent  no" in out, "row L11"


def test_L21_all_threads_share_one_budget_per_host_even_with_many_other_hosts():
    three = {"ratio": "0%", "floor": "0.001/s", "window": "1h"}  # three retries in total, for the whole case
    held = [closed_port() for _ in range(40)]
    with Upstream({"/x": [503]}) as upstream, \
            Reprise(threads=4, limits={"upstreams": 4}, defaults={"budget": three}) as reprise:
        for _, port in held:
            response = ask(reprise, "GET", upstream.url("/x"))
            equal(response.status, 503)
            ask(reprise, "GET", f"http://{LOOPBACK}:{port}/")
        equal(upstream.count("/x"), len(held) + 3, "one budget for the host, however many threads and other hosts")
        equal(reprise.metric("reprise_budget_available_ratio", upstream=f"{LOOPBACK}:{upstream.port}") < 0.5, True, "the gauge follows the living one")
    for listener, _ in held:
        listener.close()


def test_L25_unlimited_attempts_are_counted_without_growing_memory():
    retry = {"max_attempts": "unlimited", "deadline": "2s", "backoff": {"initial": "0ms", "maximum": "1ms", "jitter": "none"}}
    held, port = closed_port()
    with held, Reprise(threads=1, defaults={"retry": retry, "budget": "off"}) as reprise:
        attempts = 0
        for count in (1, 2):
            # Checks how much the memory grows during the second request. The first request is not checked, because
            # it allocates memory that reprise keeps.
            before = settled(lambda: resident(reprise))
            response = ask(reprise, "GET", f"http://{LOOPBACK}:{port}/")
            attempts += response.attempts
            equal((response.status, response.reason), (502, "deadline_too_near"))
            assert response.attempts > 64, response.attempts
            line = reprise.requests(count)[-1]
            equal((len(line["attempts"]), line["attempts_left_out"]), (32, response.attempts - 32))
            reprise.expect_metric(attempts, "reprise_attempts_total", outcome="connect")
            equal(reprise.metric("reprise_retries_total"), attempts - count)
            equal(reprise.metric("reprise_backoff_seconds_count"), attempts - count)
        if is_sanitized():
            part_not_played("memory", "sanitizer", "it is not its own under a sanitizer")
            return
        grown = settled(lambda: resident(reprise)) - before
        at_most(grown, 128 * 1024 + 2 * response.attempts, f"bytes for {response.attempts} attempts")


def test_L27_local_and_parent_failures_never_open_the_circuit():
    circuit = {"circuit": {"requests": 2, "window": "1h", "open": "1h"}, "retry": {"max_attempts": 1}}
    held, port = closed_port()
    with held, Reprise(parent=f"http://{LOOPBACK}:{port}", defaults=circuit) as reprise:
        for _ in range(5):
            response = ask(reprise, "GET", "http://up.test/x")
            equal((response.status, response.attempts), (502, 1), "the parent is down, and it is asked each time")
        equal(reprise.metric("reprise_circuit_state"), 0, "of any upstream")
    with Reprise(defaults=circuit) as reprise:
        for _ in range(5):
            response = ask(reprise, "GET", "http://nobody.invalid/x")
            equal(response.attempts, 1, response.head)
            assert "error=dns_" in response.field("Proxy-Status"), response.head
        equal(reprise.metric("reprise_circuit_state"), 0, "of any upstream")


def test_L28_retries_that_wait_for_the_same_host_pause_start_at_different_times():
    arrivals, lock, all_here = [], threading.Lock(), threading.Barrier(30)

    def asks_all_at_once(connection, _):
        all_here.wait(PATIENCE)
        connection.sendall(b"HTTP/1.1 429 Later\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n")
        return True

    def notes(connection, _):
        with lock:
            arrivals.append(time.monotonic())
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        return True

    route = {"host_pause": "wait", "retry": {"backoff": {"initial": "1s", "maximum": "1s", "jitter": "none"}}}
    with Upstream({f"/{number}": [asks_all_at_once, notes] for number in range(30)}) as upstream, Reprise(defaults=route) as reprise:
        threads = [threading.Thread(target=ask, args=(reprise, "GET", upstream.url(f"/{number}"))) for number in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(len(arrivals), 30)
        arrivals.sort()
        middle = arrivals[23] - arrivals[6]
        # tests/policy checks the distribution of waits with virtual time. In this test, a busy machine may stall the
        # proxy, which then sends all retries together.
        assert middle > 0.1 or not options.night, f"half of them within {middle:.3f} s"
