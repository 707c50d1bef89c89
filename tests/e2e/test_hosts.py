"""Tests what all requests to one host share: the circuit, and the pause that the host requested with
Retry-After."""
import time

from client import ask
from faults import isolated
from harness import LOOPBACK, Reprise, equal, eventually
from names import Answer, NameServer
from upstream import Say, Upstream


def circuit(opened):
    return {"retry": {"max_attempts": 1}, "circuit": {"requests": 4, "window": "1h", "open": opened}}


def test_open_circuit_rejects_requests():
    with Upstream({"/x": [500, 500, 500, 500, 200]}) as upstream, Reprise(defaults=circuit("1h")) as reprise:
        for _ in range(4):
            equal(ask(reprise, "GET", upstream.url("/x")).status, 500)
        turned_away = ask(reprise, "GET", upstream.url("/x"))
        equal((turned_away.status, turned_away.reason, turned_away.attempts), (503, "circuit_open", 0))
        equal(upstream.count("/x"), 4, "nothing was sent")
        reprise.expect_metric(2, "reprise_circuit_state", upstream=f"{LOOPBACK}:{upstream.port}")
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="circuit_open")


@isolated
def test_trailing_dot_in_a_host_name_does_not_create_another_host():
    with NameServer({"dotted.test": [Answer(LOOPBACK)]}), Upstream({"/x": [500, 500, 500, 500, 200]}) as upstream, \
            Reprise(defaults=circuit("1h")) as reprise:
        for host in ("dotted.test", "dotted.test.", "DOTTED.test.", "dotted.test"):
            equal(ask(reprise, "GET", f"http://{host}:{upstream.port}/x").status, 500)
        equal(ask(reprise, "GET", f"http://dotted.test.:{upstream.port}/x").reason, "circuit_open")
        label = f"dotted.test:{upstream.port}"
        reprise.expect_metric(2, "reprise_circuit_state", upstream=label)
        equal(reprise.metric("reprise_upstream_attempts_total", upstream=label, outcome="5xx"), 4)
        equal("dotted.test.:" in reprise.admin("/metrics")[1].lower(), False)


def test_circuit_closes_after_a_successful_probe():
    with Upstream({"/x": [500, 500, 500, 500, 200]}) as upstream, Reprise(defaults=circuit("100ms")) as reprise:
        for _ in range(4):
            equal(ask(reprise, "GET", upstream.url("/x")).status, 500)
        eventually(lambda: ask(reprise, "GET", upstream.url("/x")).status == 200, "a probe closes the circuit")
        equal(reprise.metric("reprise_circuit_state", upstream=f"{LOOPBACK}:{upstream.port}"), 0)


def test_host_pause_fails_other_requests_at_once():
    route = {"host_pause": "fail", "retry": {"max_attempts": 1}}
    with Upstream({"/x": [Say(429, b"slow down", [("Retry-After", "60")])], "/y": [200]}) as upstream, \
            Reprise(defaults=route) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 429)
        response = ask(reprise, "GET", upstream.url("/y"))
        equal((response.status, response.reason, response.attempts), (503, "host_paused", 0))
        equal(upstream.count("/y"), 0)


def test_request_waits_until_the_host_pause_ends():
    route = {"host_pause": "wait", "retry": {"max_attempts": 1}}
    with Upstream({"/x": [Say(503, b"a moment", [("Retry-After", "1")])], "/y": [200]}) as upstream, \
            Reprise(defaults=route) as reprise:
        start = time.monotonic()
        equal(ask(reprise, "GET", upstream.url("/x")).status, 503)
        response = ask(reprise, "GET", upstream.url("/y"))
        equal((response.status, response.attempts), (200, 1))
        assert time.monotonic() - start >= 1.0, "not before the pause is over"


def test_server_retry_hints_and_expired_signatures_are_respected():
    hints = [("retry-after-ms", "400")]
    with Upstream({"/x": [Say(429, b"", hints), 200], "/no": [Say(503, b"", [("x-should-retry", "false")])],
                   "/signed": [503, 200]}) as upstream, \
            Reprise(defaults={"signature": {"sigv4": True}}) as reprise:
        start = time.monotonic()
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 2)
        assert time.monotonic() - start >= 0.4, "retry-after-ms"
        refused = ask(reprise, "GET", upstream.url("/no"))
        equal((refused.status, refused.reason, refused.attempts), (503, "upstream_said_no", 1))
        old = "/signed?X-Amz-Date=20200101T000000Z&X-Amz-Expires=60&X-Amz-Signature=00"
        expired = ask(reprise, "GET", upstream.url(old))
        equal((expired.status, expired.reason, expired.attempts), (503, "signature_expired", 1))
