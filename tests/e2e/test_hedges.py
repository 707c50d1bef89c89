"""Tests hedges: a second copy of a slow request."""
import contextlib
import threading

from client import Client, ask, head_of
from harness import PATIENCE, Reprise, equal, eventually
from upstream import Say, Upstream, reset


def first_hangs(connection, request):
    """Never responds on the first connection. Counts connections and not requests, because the upstream
    may read the hedge before the first request."""
    if request.connection == 1:
        connection.recv(1)
        return False
    connection.sendall(Say(200).text(request, 1))
    return True


def test_hedged_copy_responds_when_the_first_request_hangs():
    with Upstream({"/x": [first_hangs]}) as upstream, Reprise(defaults={"hedge": {"after": "20ms"}}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))
        line = reprise.requests(1)[0]
        equal((line["hedge"], line["reason"]), ("won", "success"))
        equal([attempt["reason"] for attempt in line["attempts"]], ["hedged", "success"])
        reprise.expect_metric(1, "reprise_hedges_total", outcome="won")
        reprise.expect_metric(1, "reprise_retries_total", reason="hedged")


def test_upgrade_to_tls_is_hedged_and_other_upgrades_are_not():
    with Upstream({"/x": [first_hangs], "/chat": [first_hangs]}) as upstream, Reprise(defaults={"hedge": {"after": "20ms"}}) as reprise:
        offers_tls = [("Connection", "Upgrade"), ("Upgrade", "TLS/1.2")]
        response = ask(reprise, "GET", upstream.url("/x"), fields=offers_tls)
        equal((response.status, response.attempts), (200, 2))
        asks_for_chat = [("Connection", "Upgrade"), ("Upgrade", "chat")]
        equal(ask(reprise, "GET", upstream.url("/chat"), fields=asks_for_chat).status, 200)
        reprise.expect_metric(1, "reprise_hedges_total", outcome="won")


def test_hedge_starts_after_the_observed_p95():
    script = {"/x": [200] * 20 + ["hang", 200]}
    with Upstream(script) as upstream, Reprise(defaults={"hedge": {"after": "p95"}}) as reprise:
        for _ in range(20):
            equal(ask(reprise, "GET", upstream.url("/x")).attempts, 1, "nobody knows yet what is slow")
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))


@contextlib.contextmanager
def slow_upload(step=200, on_head=None):
    """Sends the head and a part of the body of a request that may be hedged. Yields client, upstream and reprise when a hedge
    of the request would have been due, because one of a later request has arrived."""
    with Upstream({"/x": [step]}, on_head=on_head) as upstream, Upstream({"/y": [first_hangs]}) as other, \
            Reprise(defaults={"idempotent": "always", "hedge": {"after": "20ms"}}) as reprise, Client(reprise.forward) as client:
        client.send(head_of("POST", upstream.url("/x"), "x", [("Content-Length", "5")]) + b"sl")
        eventually(lambda: upstream.connections, "the head was sent")
        equal(ask(reprise, "GET", other.url("/y")).attempts, 2)
        equal(upstream.connections, 1, "no copy of half a body")
        yield client, upstream, reprise


def test_hedge_waits_for_a_body_that_is_sent_slowly():
    with slow_upload(first_hangs) as (client, upstream, reprise):
        client.send(b"owl")
        response = client.read_response("POST")
        equal((response.status, response.attempts), (200, 2))
        equal([request.body for request in upstream.seen(2)], [b"slowl"] * 2)
        line = reprise.requests(2)[1]
        equal((line["hedge"], [attempt["reason"] for attempt in line["attempts"]]), ("won", ["hedged", "success"]))
        reprise.expect_metric(2, "reprise_hedges_total", outcome="won")
        reprise.expect_metric(2, "reprise_retries_total", reason="hedged")


def test_hedge_that_waits_for_a_body_is_dropped_when_the_client_leaves():
    with slow_upload(first_hangs) as (client, upstream, reprise):
        client.reset()
        upstream.all_closed()
        line = reprise.requests(2)[1]
        equal((line["reason"], len(line["attempts"]), line.get("hedge")), ("client_gone", 1, None))
        equal(upstream.connections, 1)


def test_hedge_that_waits_for_a_body_is_dropped_when_the_attempt_fails():
    lost = threading.Event()
    def loses_the_first(connection, request, reader):
        if request.connection == 1:
            lost.wait(PATIENCE)
            reset(connection)
            return False
        reader.read_body(request)
        connection.sendall(Say(200).text(request, 1))
        return True
    with slow_upload(on_head={"/x": loses_the_first}) as (client, upstream, reprise):
        lost.set()
        eventually(lambda: upstream.connections == 2, "the request is retried")
        client.send(b"owl")
        response = client.read_response("POST")
        equal((response.status, response.attempts), (200, 2))
        line = reprise.requests(2)[1]
        equal((line["attempts"][0]["reason"], line.get("hedge")), ("retryable_failure", None))


def test_hedge_that_waits_for_a_body_is_not_sent_during_a_shutdown():
    drained = threading.Event()
    def waits(connection, request):
        drained.wait(PATIENCE)
        connection.sendall(Say(200).text(request, 1))
        return True
    with slow_upload(waits) as (client, upstream, reprise):
        reprise.terminate()
        eventually(lambda: "shutting down" in [line.get("message") for line in reprise.log()], "reprise shuts down")
        client.send(b"owl")
        upstream.seen(1)
        drained.set()
        equal(client.read_response("POST").status, 200)
        equal(reprise.wait(), 0)
        line = reprise.requests(2)[1]
        equal((line["hedge"], line["hedge_refused"], upstream.connections), ("refused", "shutting_down", 1))


def test_post_is_never_hedged():
    with Upstream({"/x": [200]}) as upstream, Reprise(defaults={"hedge": {"after": "1ms"}}) as reprise:
        for _ in range(20):
            equal(ask(reprise, "POST", upstream.url("/x"), body=b"x").attempts, 1)
        equal(upstream.count("/x"), 20)
