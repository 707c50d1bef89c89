"""Tests which requests are retried, which are not, when retries stop, and which reasons are reported."""
import time

from client import Client, ask, chunked, head_of
from harness import LOOPBACK, PATIENCE, Curl, Reprise, closed_port, equal, eventually, opened_after, tcp_sockets, under_some_limit
from upstream import Say, Upstream, reset


def reasons(line):
    """Returns the reason of each attempt in an access line."""
    return [attempt["reason"] for attempt in line["attempts"]]


def test_get_is_retried_until_it_succeeds():
    with Upstream({"/x": [503, 503, Say(200, b"at last\n")]}) as upstream, Reprise() as reprise:
        curl = Curl(reprise, upstream.url("/x"))
        equal((curl.code, curl.status, curl.body), (0, 200, b"at last\n"))
        equal(curl.field("Reprise-Attempts"), "3")
        equal(upstream.count("/x"), 3)
        line = reprise.requests(1)[0]
        equal(line["status"], 200)
        equal([attempt.get("status") for attempt in line["attempts"]], [503, 503, 200])
        equal(reasons(line), ["retryable_status", "retryable_status", "success"])
        reprise.expect_metric(3, "reprise_attempts_total")
        reprise.expect_metric(2, "reprise_attempts_total", outcome="5xx")
        reprise.expect_metric(2, "reprise_retries_total", reason="retryable_status")
        reprise.expect_metric(1, "reprise_requests_total", code="200")
        reprise.expect_metric(1, "reprise_recovered_total")


def test_post_is_sent_once_and_its_503_arrives_unchanged():
    body = b'{"error": "try later"}\n'
    with Upstream({"/x": [Say(503, body, [("X-Upstream", "Kept As It Is")]), 200]}) as upstream, Reprise() as reprise:
        curl = Curl(reprise, upstream.url("/x"), "-d", "amount=1")
        equal((curl.status, curl.body), (503, body))
        equal(curl.field("X-Upstream"), "Kept As It Is")
        equal((curl.field("Reprise-Attempts"), curl.field("Reprise-Reason")), ("1", "not_idempotent"))
        equal(upstream.count(), 1)
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="not_idempotent")
        equal(reprise.metric("reprise_retries_total"), 0)


def test_post_that_took_effect_before_a_reset_is_not_repeated():
    with Upstream({"/x": ["execute_reset", 200]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "POST", upstream.url("/x?id=7"), b"once")
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        assert response.field("Proxy-Status"), "Proxy-Status says why"
        equal(upstream.effects, {"7": 1})


def test_post_to_a_refusing_port_is_retried_because_nothing_was_sent():
    held, port = closed_port()
    with held, Reprise() as reprise:
        response = ask(reprise, "POST", f"http://{LOOPBACK}:{port}/x", b"payload")
        equal((response.status, response.attempts, response.reason), (502, 6, "attempts_spent"))
        assert "connection_refused" in response.field("Proxy-Status"), response.field("Proxy-Status")
        reprise.expect_metric(1, "reprise_exhausted_total", reason="attempts_spent")
        reprise.expect_metric(6, "reprise_attempts_total", outcome="connect")


def test_post_succeeds_when_a_refusing_port_opens_later():
    listener, port = closed_port()
    retry = {"max_attempts": 1000000, "deadline": "unlimited", "backoff": {"initial": "50ms", "maximum": "50ms", "jitter": "none"}}
    upstream = Upstream({"/x": [Say(200, b"taken")]}, listener=listener)
    with Reprise(defaults={"retry": retry, "budget": "off"}, log={"level": "debug"}) as reprise:
        opening = opened_after(2, reprise, upstream.__enter__)
        try:
            response = ask(reprise, "POST", f"http://{LOOPBACK}:{port}/x?id=1", b"payload")
        finally:
            opening.join()
            upstream.__exit__()
        equal((response.status, response.body), (200, b"taken"))
        assert response.attempts > 2, response.attempts
        equal([request.body for request in upstream.requests], [b"payload"])


def test_put_body_is_replayed_byte_for_byte():
    body = bytes(range(256)) * 300
    with Upstream({"/x": ["reset", 503, "close", 200]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "PUT", upstream.url("/x"), body)
        equal((response.status, response.attempts), (200, 4))
        seen = upstream.seen(4)
        equal([request.body == body for request in seen], [True] * 4)
        equal(len({request.head for request in seen}), 1, "every attempt sends the same head")


def test_body_over_the_replay_limit_is_not_retried():
    limit = 64 * 1024
    for form in ("length", "chunked"):
        with Upstream({path: [503, 200] for path in ("/below", "/at", "/above")}) as upstream, \
                Reprise(defaults={"replay": {"memory": "64KiB", "disk": 0}}) as reprise:
            for path, size, status, attempts in (("/below", limit - 1, 200, 2), ("/at", limit, 200, 2), ("/above", limit + 1, 503, 1)):
                body = bytes(i % 251 for i in range(size))
                with Client(reprise.forward) as client:
                    fields = [("Content-Length", str(size))] if form == "length" else [("Transfer-Encoding", "chunked")]
                    client.send(head_of("PUT", upstream.url(path), LOOPBACK, fields))
                    client.send(body if form == "length" else chunked(body, 5000))
                    response = client.read_response()
                equal((response.status, response.attempts), (status, attempts), f"{form} {path}")
                equal(response.reason, "not_replayable" if path == "/above" else None)
                equal([request.body == body for request in upstream.seen(attempts, path)], [True] * attempts)
            eventually(lambda: reprise.metric("reprise_replay_bytes") == 0, "what was held is given back")


def test_replay_limit_applies_to_a_body_sent_with_its_head():
    with Upstream({path: [503, 200] for path in ("/at", "/above")}) as upstream, \
            Reprise(defaults={"replay": {"memory": "1KiB", "disk": 0}}) as reprise:
        equal(ask(reprise, "PUT", upstream.url("/at"), b"x" * 1024).attempts, 2)
        response = ask(reprise, "PUT", upstream.url("/above"), b"x" * 1025)
        equal((response.status, response.reason, response.attempts), (503, "not_replayable", 1))
        held, port = closed_port()
        with held:
            refused = ask(reprise, "PUT", f"http://{LOOPBACK}:{port}/", b"x" * 1025)
        equal((refused.status, refused.attempts), (502, 6), "while nothing was sent the body is still there")


def test_attempts_are_logged_as_they_happen_at_level_debug():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise(log={"level": "debug"}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x?secret=1")).status, 200)
        def debug_lines():
            lines = [line["message"] for line in reprise.log() if line["level"] == "debug"]
            return lines if len(lines) >= 2 else None
        told = eventually(debug_lines, "two debug lines")
        assert "attempt 1: 503, retryable_status, retry in " in told[0], told
        assert told[1].endswith("attempt 2: 200, success"), told
        assert "secret" not in "".join(told), "no query in the log"


def test_last_response_is_delivered_despite_later_failures():
    body = b"the only answer there was\n"
    with Upstream({"/x": [Say(503, body, close=True), "reset", "reset"]}) as upstream, \
            Reprise(defaults={"retry": {"max_attempts": 3}}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body), (503, body))
        equal((response.attempts, response.reason), (3, "attempts_spent"))
        equal(upstream.count(), 3)


def test_idempotent_request_is_retried_even_if_it_took_effect_before_a_reset():
    with Upstream({"/x": ["execute_reset", 200]}) as upstream, Reprise() as reprise:
        equal(ask(reprise, "DELETE", upstream.url("/x?id=9")).attempts, 2)
        equal(upstream.effects, {"9": 2})


def test_retry_after_delay_is_respected():
    with Upstream({"/x": [Say(429, fields=[("Retry-After", "1")]), 200]}) as upstream, Reprise() as reprise:
        start = time.monotonic()
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))
        assert time.monotonic() - start >= 1.0, "the pause that the upstream asked for was cut"


def test_retry_after_above_the_limit_ends_the_retries():
    with Upstream({"/x": [Say(503, b"later", [("Retry-After", "61")])]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.reason, response.field("Retry-After")), (503, "upstream_said_later", "61"))
        equal(upstream.count(), 1)


def test_retry_wait_never_crosses_the_deadline():
    def case(deadline):
        wait = f"{deadline // 4}ms"
        retry = {"deadline": f"{deadline}ms", "max_attempts": 10, "backoff": {"initial": wait, "maximum": wait, "jitter": "none"}}
        with Upstream({"/x": [503]}) as upstream, Reprise(defaults={"retry": retry, "budget": "off"}) as reprise:
            response = ask(reprise, "GET", upstream.url("/x"))
            equal((response.status, response.reason), (503, "deadline_too_near"))
            assert response.attempts <= 5, response.attempts
            equal(upstream.count(), response.attempts)
            return response.attempts > 1
    under_some_limit(400, case)


def test_exceeded_deadline_returns_504_if_configured():
    def case(deadline):
        retry = {"deadline": f"{deadline}ms", "backoff": {"initial": f"{deadline // 2}ms", "maximum": f"{deadline}ms", "jitter": "none"},
                 "out_of_time": 504}
        with Upstream({"/x": [503]}) as upstream, Reprise(defaults={"retry": retry}) as reprise:
            response = ask(reprise, "GET", upstream.url("/x"))
            equal((response.status, response.reason), (504, "deadline_too_near"))
            assert b" got status 503; out_of_time of the route asks for a 504 in place of that response\n" in response.body, response.body
            return response.attempts == 2
    under_some_limit(200, case)


def test_attempt_timeout_is_retried_and_ends_as_504():
    def given_up(connection, _):
        """Does not respond, and waits until reprise closes the connection."""
        connection.settimeout(PATIENCE)
        connection.recv(1)
        return False
    retry = {"attempt_timeout": "200ms", "max_attempts": 2}
    routes = [{"name": "slow", "match": {"path": "/slow"}, "retry": {"max_attempts": 1000000, "deadline": "unlimited"}, "budget": "off"}]
    # On a busy machine the second attempt may also be slower than attempt_timeout, so the request to /slow
    # may need more than two attempts.
    with Upstream({"/dead": [given_up], "/slow": [given_up, 200]}) as upstream, \
            Reprise(defaults={"retry": retry}, routes=routes) as reprise:
        response = ask(reprise, "GET", upstream.url("/slow"))
        equal(response.status, 200)
        assert response.attempts >= 2, response.attempts
        response = ask(reprise, "GET", upstream.url("/dead"))
        equal((response.status, response.attempts, response.reason), (504, 2, "attempts_spent"))
        reprise.expect_metric(2, "reprise_attempts_total", route="default", outcome="timeout")


def test_attempt_timeout_does_not_cut_a_post():
    def late(connection, request):
        time.sleep(0.4)  # the upstream is slower than attempt_timeout
        connection.sendall(Say(200, b"late but whole").text(request, 1))
        return True
    with Upstream({"/x": [late]}) as upstream, Reprise(defaults={"retry": {"attempt_timeout": "50ms"}}) as reprise:
        equal(ask(reprise, "POST", upstream.url("/x"), b"1").body, b"late but whole")


def test_unresolvable_name_gets_502_after_all_attempts():
    # If no name server is reachable, the system's resolver may need a long time to fail.
    patient = {"connect_timeout": "1m", "retry": {"max_attempts": 3, "deadline": "unlimited"}}
    with Reprise(defaults=patient) as reprise:
        response = ask(reprise, "GET", "http://nosuch.invalid/")
        equal((response.status, response.attempts, response.reason), (502, 3, "attempts_spent"))
        assert "dns_error" in response.field("Proxy-Status"), response.field("Proxy-Status")
        reprise.expect_metric(3, "reprise_attempts_total", outcome="resolve")


def test_header_condition_makes_a_post_repeatable():
    rule = {"any": [{"header": "Idempotency-Key"}]}
    with Upstream({"/x": [503, 200], "/y": [503, 200]}) as upstream, Reprise(defaults={"idempotent": rule}) as reprise:
        equal(ask(reprise, "POST", upstream.url("/x"), b"1", [("Idempotency-Key", "a1")]).attempts, 2)
        equal(ask(reprise, "POST", upstream.url("/y"), b"1", [("Idempotency-Key", "")]).reason, "not_idempotent")


def test_query_condition_makes_a_post_repeatable():
    rule = {"any": [{"query": "request_id"}]}
    with Upstream({"/x": [503, 200], "/y": [503, 200]}) as upstream, Reprise(defaults={"idempotent": rule}) as reprise:
        equal(ask(reprise, "POST", upstream.url("/x?request_id=5"), b"1").attempts, 2)
        equal(ask(reprise, "POST", upstream.url("/y?request_id="), b"1").reason, "not_idempotent")


def test_json_condition_makes_a_post_repeatable():
    rule = {"any": [{"json": "etag"}]}
    scripts = {path: [503, 200] for path in ("/with", "/without", "/null", "/nested")}
    with Upstream(scripts) as upstream, Reprise(defaults={"idempotent": rule}) as reprise:
        response = ask(reprise, "POST", upstream.url("/with"), b'{"size": 2, "etag": "abc"}')
        equal((response.status, response.attempts), (200, 2))
        for path, body in (("/without", b'{"size": 2}'), ("/null", b'{"etag": null}'), ("/nested", b'{"a": {"etag": "x"}}')):
            equal(ask(reprise, "POST", upstream.url(path), body).reason, "not_idempotent", path)


def test_routes_apply_different_policies():
    routes = [{"name": "hands-off", "match": {"path": "/raw/**"}, "mode": "off"},
              {"name": "writes", "match": {"path": "/orders/**", "methods": ["POST"]}, "idempotent": "always"}]
    with Upstream({path: [503, 200] for path in ("/raw/x", "/orders/x", "/other")}) as upstream, Reprise(routes=routes) as reprise:
        equal((ask(reprise, "GET", upstream.url("/raw/x")).status, upstream.count("/raw/x")), (503, 1))
        equal(ask(reprise, "POST", upstream.url("/orders/x"), b"1").status, 200)
        equal(ask(reprise, "GET", upstream.url("/other")).status, 200)
        equal([line["route"] for line in reprise.requests(3)][:2], ["hands-off", "writes"])
        reprise.expect_metric(1, "reprise_retries_refused_total", route="hands-off", reason="retries_off")
        reprise.expect_metric(1, "reprise_retries_total", route="writes", reason="retryable_status")


def test_observe_mode_counts_and_does_not_retry():
    retry = {"backoff": {"initial": "40ms", "maximum": "40ms", "jitter": "none"}}
    with Upstream({"/x": [503, 200]}) as upstream, \
            Reprise(defaults={"mode": "observe", "retry": retry}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, upstream.count()), (503, 1))
        equal(reprise.requests(1)[0]["attempts"][0]["would_wait_ms"], 40, "what it would have done")
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="observe_only")


def test_spent_budget_ends_the_retries():
    budget = {"ratio": "0%", "floor": "0.001/s", "window": "2000s"}
    with Upstream({"/x": [503]}) as upstream, \
            Reprise(defaults={"retry": {"max_attempts": 10}, "budget": budget}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts, response.reason), (503, 3, "budget_spent"))
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="budget_spent")


def test_attempt_header_is_sent_if_configured():
    with Upstream({"/x": [503, 503, 200]}) as upstream, Reprise(defaults={"attempt_header": True}) as reprise:
        ask(reprise, "GET", upstream.url("/x"))
        equal([request.field("Reprise-Attempt") for request in upstream.seen(3)], ["1", "2", "3"])


def test_nested_retries_are_rejected_if_configured():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise(defaults={"retry": {"nested": "refuse"}}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"), fields=[("Reprise-Attempt", "2")])
        equal((response.status, response.reason), (503, "nested_retry"))


def test_reprise_response_fields_are_omitted_if_configured():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise(defaults={"response_headers": False}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.field("Reprise-Attempts"), upstream.count()), (200, None, 2))


def test_stale_connection_is_replaced_at_once():
    def stale(connection, request):
        """Responds to the first request. Resets the connection at the second request."""
        if request.order == 1:
            reset(connection)
            return False
        connection.sendall(Say(200).text(request, request.order + 1))
        return True
    with Upstream({"/x": [stale]}) as upstream, Reprise(threads=1) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 1)
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))
        seen = upstream.seen(3)
        equal((seen[0].connection == seen[1].connection, seen[1].connection == seen[2].connection), (True, False))
        equal(reasons(reprise.requests(2)[1])[0], "stale_connection")
        reprise.expect_metric(1, "reprise_retries_total", reason="stale_connection")


def established(ports):
    """Returns those of the given local ports that have an established connection."""
    return [one.local for one in tcp_sockets() if one.state == "01" and one.local in ports]


def test_post_never_uses_a_connection_closed_while_idle():
    with Upstream({"/x": [Say(200, close=False)]}) as upstream, Reprise() as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        closed = [connection.getpeername()[1] for connection in list(upstream.open)]
        for connection in list(upstream.open):
            connection.shutdown(2)
        eventually(lambda: not established(closed), "reprise has the FIN of its idle connection")
        response = ask(reprise, "POST", upstream.url("/x"), b"not idempotent")
        equal((response.status, upstream.count()), (200, 2))


def test_exhausted_retries_log_exactly_one_error():
    with Upstream({"/x": [503]}) as upstream, Reprise(defaults={"retry": {"max_attempts": 2}}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x?secret=1")).reason, "attempts_spent")
        errors = eventually(lambda: [line for line in reprise.log() if line["level"] == "error"] if reprise.log() else [],
                            "an error record")
        equal(len(errors), 1)
        assert "secret" not in reprise.text(), "query strings are not logged"
