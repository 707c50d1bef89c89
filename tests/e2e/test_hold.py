"""Tests errors in a response with status 200: as long as a retry is possible, the client gets no byte of the
response."""
from harness import Curl, Reprise, equal
from upstream import Say, Upstream

OVERLOADED = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
JSON = [("Content-Type", "application/json")]
HOLD = {"time": "1h", "body": {"json": "error.type", "equals": "overloaded_error"}}


def test_overloaded_body_in_a_200_is_retried_until_a_good_response():
    good = b'{"type":"message","content":"hello"}'
    says = [Say(200, OVERLOADED, JSON), Say(200, OVERLOADED, JSON), Say(200, good, JSON)]
    with Upstream({"/v1/messages": says}) as upstream, Reprise(defaults={"hold": HOLD, "idempotent": "always"}) as reprise:
        curl = Curl(reprise, upstream.url("/v1/messages"), "-d", "{}")
        equal((curl.code, curl.status, curl.body), (0, 200, good))
        equal(curl.field("Reprise-Attempts"), "3")
        equal(upstream.count("/v1/messages"), 3)
        line = reprise.requests(1)[0]
        equal([attempt["reason"] for attempt in line["attempts"]], ["retryable_body", "retryable_body", "success"])
        reprise.expect_metric(2, "reprise_retries_total", reason="retryable_body")
        reprise.expect_metric(1, "reprise_recovered_total")


def test_overloaded_body_in_a_200_is_delivered_unchanged_after_all_attempts():
    with Upstream({"/x": [Say(200, OVERLOADED, JSON)]}) as upstream, Reprise(defaults={"hold": HOLD}) as reprise:
        curl = Curl(reprise, upstream.url("/x"))
        equal((curl.status, curl.body), (200, OVERLOADED))
        equal((curl.field("Reprise-Attempts"), curl.field("Reprise-Reason")), ("6", "attempts_spent"))
        equal(upstream.count("/x"), 6)
        reprise.expect_metric(1, "reprise_exhausted_total", reason="attempts_spent")
        equal(reprise.metric("reprise_recovered_total"), 0)
