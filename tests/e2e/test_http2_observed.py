"""Tests what the program shows about requests that go to an upstream over HTTP/2: log, metrics, pages and `explain`."""
import json

import http2_frames as h2
from client import ask
from harness import Reprise, equal
from http2_upstream import Http2Upstream, excludes, refuses, resets
from server import Server
from test_commands import command
from upstream import Upstream

FAST = {"max_attempts": 3, "backoff": {"initial": "1ms"}}


def greet(connection):
    """Sends what is not HTTP/2, and reads until the other side closes."""
    connection.sendall(b"220 mail.example.com ESMTP\r\n")
    while connection.recv(4096):
        pass


def http2(**keys):
    return {"http2": "always", "retry": FAST, **keys}


def attempts_of(reprise, *names):
    """Returns these members of each attempt of the first log line; None for a member that is absent."""
    return [tuple(attempt.get(name) for name in names) for attempt in reprise.requests(1)[0]["attempts"]]


def test_M107_M108_M113_request_that_a_goaway_excludes_is_shown_everywhere_as_http2():
    with Http2Upstream({"/x": [excludes(), 200]}) as upstream, Reprise(defaults=http2()) as reprise:
        response = ask(reprise, "POST", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))
        equal(attempts_of(reprise, "http", "error", "status", "reason"),
              [("2", "goaway", None, "stale_connection"), ("2", None, 200, "success")])
        reprise.expect_metric(1, "reprise_http2_goaways_total", side="upstream", code="no_error")
        reprise.expect_metric(1, "reprise_http2_connections", side="upstream")
        reprise.expect_metric(0, "reprise_http2_streams", side="upstream")
        equal(json.loads(reprise.admin("/status")[1])["totals"]["upstream_http2"], {"connections": 1, "streams": 0})
        [story] = json.loads(reprise.admin("/stories")[1])
        equal([attempt["http"] for attempt in story["attempts"]], ["2", "2"])
        exit_code, out, err = command("explain", "--request-id", story["id"], "--admin", "%s:%d" % reprise.addresses["admin"])
        equal((exit_code, out.count(", HTTP/2"), "the upstream processed nothing" in out), (0, 2, True), out + err)


def test_M68_M69_body_of_a_post_is_sent_again_after_a_refused_stream_and_a_goaway():
    body = bytes(range(256)) * 1200  # above replay.memory, so that it is held on disk
    with Http2Upstream({"/x": [refuses, excludes(), 200]}) as upstream, Reprise(defaults=http2()) as reprise:
        response = ask(reprise, "POST", upstream.url("/x"), body)
        equal((response.status, response.attempts), (200, 3))
        equal([request.body for request in upstream.requests], [body] * 3)


def test_M107_M108_log_and_metrics_have_the_code_of_a_reset():
    with Http2Upstream({"/x": [resets(h2.CANCEL), resets(99)]}) as upstream, Reprise(defaults=http2()) as reprise:
        response = ask(reprise, "POST", upstream.url("/x"))
        equal((response.status, response.reason), (502, "not_idempotent"))
        assert b"(cancel)" in response.body, response.body
        equal(attempts_of(reprise, "http", "error", "reset_code"), [("2", "stream_reset", "cancel")])
        ask(reprise, "POST", upstream.url("/x"))
        assert not any("TLS" in line.get("message", "") for line in reprise.log()), "a reset stream is not a TLS alert"
        for each in ("cancel", "other"):
            reprise.expect_metric(1, "reprise_http2_resets_total", side="upstream", code=each)


def test_M107_attempts_over_http1_have_no_members_about_http2():
    with Upstream() as upstream, Reprise() as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        equal(attempts_of(reprise, "http", "reset_code", "queued_ms"), [(None, None, None)])


def test_M109_upstream_without_http2_is_named_as_the_cause():
    with Server(greet) as upstream, Reprise(defaults=http2()) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.reason), (502, "attempts_spent"))
        assert "http_protocol_error" in response.field("Proxy-Status"), response.field("Proxy-Status")
        equal(attempts_of(reprise, "stage", "error"), [("connect", "not_http2")] * 3)


def test_M110_explain_predicts_what_follows_when_a_stream_ends():
    """For each way in which a stream can end, `explain` must predict the number of attempts and the reason of the
    running proxy."""
    endings = [(excludes(), ["--goaway"])]
    endings += [(resets(number), ["--reset", word]) for number, word in
                ((h2.REFUSED_STREAM, "REFUSED_STREAM"), (h2.CANCEL, "cancel"), (h2.ENHANCE_YOUR_CALM, "enhance_your_calm"))]
    for refused_stream in ("trust", "doubt"):
        for step, assumed in endings:
            with Http2Upstream({"/x": [step]}) as upstream, Reprise(defaults=http2(refused_stream=refused_stream)) as reprise:
                for method in ("GET", "POST"):
                    response = ask(reprise, method, upstream.url("/x"))
                    exit_code, out, err = command("explain", method, upstream.url("/x"), "-c", reprise.config_file, *assumed, "--format", "json")
                    equal(exit_code, 0, out + err)
                    course = json.loads(out)["courses"]["longest_waits"]
                    equal((response.attempts, response.reason), (course["last_attempt"], course["last"]["reason"]),
                          f"{method}, {refused_stream}, {assumed}")
