"""Tests rows M24 and M72 to M91 of docs/requirements/http2.md: gRPC calls, which outcomes are retried, and what the client gets."""
import base64
import json
import resource
import socket

import http2_frames as h2
from client import ask
from grpc_calls import (CALL, DEADLINE_EXCEEDED, METHOD, NOT_FOUND, OK, REPEATABLE, UNAVAILABLE, UNKNOWN, answer, begin, begins, call, calling, ends,
                        is_one_block, message, status_of, trailers_only)
from harness import LOOPBACK, closed_port, equal, eventually, merge
from http2_client import Http2Client
from http2_stage import BACKOFF_MS, attempts_of, http2_proxy, proxy_status, waits_of
from http2_upstream import Http2Upstream, hangs, in_turns, resets
from upstream import Upstream


def scripted(*steps):
    return Http2Upstream({METHOD: list(steps)})


def expect(response, status, attempts, reason=None):
    equal((status_of(response), response.attempts, response.reason), (status, attempts, reason))


def test_M73_M74_listed_status_in_the_head_is_retried():
    with scripted(trailers_only(UNAVAILABLE), trailers_only(UNAVAILABLE), answer(b"item")) as upstream, calling(upstream, REPEATABLE) as (client, reprise):
        response = call(client, b"id")
        expect(response, OK, 3)
        equal(response.body, message(b"item"))
        equal([request.body for request in upstream.requests], [message(b"id")] * 3)
        line, = reprise.requests(1)
        equal([attempt["reason"] for attempt in line["attempts"]], ["retryable_status", "retryable_status", "success"])
        equal([attempt.get("grpc") for attempt in line["attempts"]], ["unavailable", "unavailable", None])
        equal(line["grpc"], {"service": "shop.Catalog", "method": "GetItem", "status": "ok"})
        equal(reprise.metric("reprise_grpc_requests_total", status="ok"), 1)
        equal(reprise.metric("reprise_attempts_total", outcome="grpc"), 2)
        equal(reprise.metric("reprise_recovered_total"), 1)


def test_M72_status_in_trailers_that_follow_the_head_is_retried():
    def fails(link, request):
        begins(link, request)
        ends(link, request, UNAVAILABLE)
    with scripted(fails, answer(b"item")) as upstream, calling(upstream, REPEATABLE) as (client, _):
        expect(call(client, b"id"), OK, 2)


def test_M72_head_waits_for_trailers_that_come_later_only_if_the_call_may_be_repeated():
    gate = []
    def fails(link, request):
        begins(link, request)
        gate.append((link, request))
    with scripted(fails, answer(b"item")) as upstream, calling(upstream, merge(REPEATABLE, {"hold": {"time": "60s"}})) as (client, _):
        stream = begin(client)
        client.data(stream, message(b"id"), end=True)
        eventually(lambda: gate, "the head was sent")
        client.send(h2.frame(h2.PING, 0, 0, b"12345678"))
        client.until(lambda: client.pongs)
        equal(client.responses[stream].status, None, "the head waits")
        ends(*gate[0], UNAVAILABLE)
        expect(client.response(stream), OK, 2)
    gate.clear()
    with scripted(fails) as upstream, calling(upstream, {"hold": {"time": "60s"}}) as (client, _):
        stream = begin(client)
        client.data(stream, message(b"id"), end=True)
        client.until(lambda: client.responses[stream].status == 200)
        eventually(lambda: gate, "the head was sent")
        ends(*gate[0], UNAVAILABLE)
        expect(client.response(stream), UNAVAILABLE, 1)


def test_M72_head_is_delivered_at_once_while_the_client_sends():
    gate = []
    with Http2Upstream(at_head={METHOD: lambda link, request: begins(link, request) is None}) as upstream, \
            calling(upstream, merge(REPEATABLE, {"hold": {"time": "60s"}})) as (client, _):
        upstream.at_data[METHOD] = lambda link, request: gate.append(link.data(request.stream, message(b"answer")))
        stream = begin(client)
        client.until(lambda: client.responses[stream].status == 200)
        client.data(stream, message(b"one"))
        client.until(lambda: client.responses[stream].pieces)
        equal(client.responses[stream].body, message(b"answer"))
        ends(upstream.links[0], upstream.heads[0])
        client.data(stream, end=True)
        expect(client.response(stream), OK, 1)


def test_M73_M79_last_response_keeps_its_frames_and_fields():
    refusal = trailers_only(UNAVAILABLE, [("grpc-message", "no"), ("x-trace-bin", "AAE=")])
    policy = merge(REPEATABLE, {"retry": {"max_attempts": 2}})
    with scripted(refusal) as upstream, calling(upstream, policy) as (client, _):
        response = call(client, b"id")
        expect(response, UNAVAILABLE, 2, "attempts_spent")
        assert is_one_block(response), response.pieces
        equal((response.field("grpc-message"), response.field("x-trace-bin")), ("no", "AAE="))


def test_M73_M75_message_that_came_with_its_trailers_is_delivered_first_and_never_repeated():
    large = [("x-large", "a" * 4000), ("x-larger", "b" * 8000)]
    with scripted(answer(b"item", status=UNAVAILABLE, fields=large)) as upstream, calling(upstream, REPEATABLE) as (client, reprise):
        response = call(client, b"id")
        expect(response, UNAVAILABLE, 1)
        equal(response.body, message(b"item"))
        equal(response.trailers, [("grpc-status", "14"), *large])
        equal(reprise.metric("reprise_grpc_requests_total", status="unavailable"), 1)


def test_M74_status_that_is_not_listed_missing_or_no_number_is_delivered():
    for status, word in ((NOT_FOUND, "not_found"), (17, "unknown"), ("x", "unknown"), ("014", "unknown")):
        with scripted(trailers_only(status)) as upstream, calling(upstream, REPEATABLE) as (client, reprise):
            response = call(client, b"id")
            equal((response.attempts, response.reason, response.field("grpc-status")), (1, "not_retryable", str(status)))
            equal(reprise.requests(1)[0]["attempts"][0]["grpc"], word)
    with scripted(trailers_only(17)) as upstream, \
            calling(upstream, merge(REPEATABLE, {"retry": {"on": ["grpc-unknown"], "max_attempts": 2}})) as (client, _):
        equal(call(client, b"id").attempts, 2)


def test_M74_call_that_must_not_be_repeated_keeps_its_status():
    with scripted(trailers_only(UNAVAILABLE)) as upstream, calling(upstream) as (client, _):
        response = call(client, b"id")
        expect(response, UNAVAILABLE, 1, "not_idempotent")
        assert is_one_block(response), response.pieces


def test_M68_M69_call_that_was_refused_is_sent_again_whatever_the_rule():
    with scripted(resets(h2.REFUSED_STREAM), answer(b"item")) as upstream, calling(upstream) as (client, _):
        expect(call(client, b"id"), OK, 2)
        equal([request.body for request in upstream.requests], [message(b"id")] * 2)


def retry_info(milliseconds):
    """Returns a google.rpc.Status whose details are a RetryInfo."""
    def part(number, data):
        return bytes([number << 3 | 2, len(data)]) + data
    nanos, varint = milliseconds * 1_000_000, b""
    while nanos > 127:
        varint, nanos = varint + bytes([nanos & 127 | 128]), nanos >> 7
    duration = bytes([2 << 3]) + varint + bytes([nanos])
    value = part(1, b"type.googleapis.com/google.rpc.RetryInfo") + part(2, part(1, duration))
    return base64.b64encode(part(3, value)).decode().rstrip("=")


def test_M76_M77_pushback_decides_on_the_retry():
    delay = 150  # ms
    for field in (("grpc-retry-pushback-ms", str(delay)), ("grpc-status-details-bin", retry_info(delay))):
        with scripted(trailers_only(UNAVAILABLE, [field]), answer(b"item")) as upstream, calling(upstream, REPEATABLE) as (client, reprise):
            expect(call(client, b"id"), OK, 2)
            equal(waits_of(reprise.requests(1)[0]), [0, delay])
    for pushback in ("-1", "+5", "05", "5.0", "soon"):
        with scripted(answer(status=UNAVAILABLE, fields=[("grpc-retry-pushback-ms", pushback)])) as upstream, \
                calling(upstream, REPEATABLE) as (client, _):
            expect(call(client, b"id"), UNAVAILABLE, 1, "upstream_said_no")
    with scripted(trailers_only(UNAVAILABLE, [("grpc-retry-pushback-ms", "61000")])) as upstream, calling(upstream, REPEATABLE) as (client, _):
        expect(call(client, b"id"), UNAVAILABLE, 1, "upstream_said_later")
    with scripted(trailers_only(UNAVAILABLE, [("grpc-retry-pushback-ms", "0")]), answer(b"item")) as upstream, \
            calling(upstream, REPEATABLE) as (client, reprise):
        expect(call(client, b"id"), OK, 2)
        equal(waits_of(reprise.requests(1)[0]), [0, BACKOFF_MS])


def test_M78_upstream_that_resets_a_call_resets_it_for_the_client():
    for code, expected in ((h2.CANCEL, h2.CANCEL), (h2.ENHANCE_YOUR_CALM, h2.ENHANCE_YOUR_CALM), (h2.NO_ERROR, h2.INTERNAL_ERROR),
                           (h2.REFUSED_STREAM, h2.INTERNAL_ERROR)):
        def fails(link, request, code=code):
            begins(link, request, b"one")
            link.reset_stream(request.stream, code)
        with scripted(fails) as upstream, calling(upstream, REPEATABLE) as (client, reprise):
            response = call(client, b"id")
            equal((response.body, response.reset, response.was_complete), (message(b"one"), expected, False))
            line, = reprise.requests(1)
            equal((line["reason"], line["ending"], "status" in line["grpc"]), ("response_started", "cut", False))
            equal(reprise.metric("reprise_grpc_requests_total", status="none"), 1)


def test_M78_call_whose_connection_is_lost_between_messages_is_unavailable():
    def fails(link, request):
        begins(link, request, b"one", b"two")
        link.close()
    with scripted(fails) as upstream, calling(upstream, REPEATABLE) as (client, reprise):
        response = call(client, b"id")
        equal((status_of(response), response.body, response.ended), (UNAVAILABLE, message(b"one") + message(b"two"), True))
        line, = reprise.requests(1)
        equal((line["reason"], line["grpc"]["status"]), ("response_started", "unavailable"))


def test_M78_message_cut_short_never_looks_whole():
    def fails(link, request):
        begins(link, request)
        link.data(request.stream, message(b"one") + message(b"two")[:-1])
        link.close()
    with scripted(fails) as upstream, calling(upstream, REPEATABLE) as (client, _):
        response = call(client, b"id")
        equal((status_of(response), response.reset, response.ended), (None, h2.INTERNAL_ERROR, False))


def test_M80_own_failure_is_the_status_of_the_call():
    held, port = closed_port()
    with held, calling(None, merge(REPEATABLE, {"retry": {"max_attempts": 2}}), f"http://{LOOPBACK}:{port}") as (client, reprise):
        response = call(client, b"id")
        assert is_one_block(response), response.pieces
        equal((response.status, response.field("content-type"), response.field("content-length")), (200, "application/grpc", None))
        expect(response, UNAVAILABLE, 2, "attempts_spent")
        equal(proxy_status(response), "connection_refused")
        equal(response.field("grpc-message"), "reprise: attempt 2 of 2 failed while connecting to the upstream: connection refused; not retried: "
              "attempts_spent (the route's max_attempts is reached)")
        line, = reprise.requests(1)
        equal((line["status"], line["grpc"]["status"]), (200, "unavailable"))


def test_M21_M24_call_never_goes_over_http_1():
    with Upstream() as upstream, calling(upstream, merge(REPEATABLE, {"retry": {"max_attempts": 1}})) as (client, _):
        response = call(client, b"id")
        expect(response, UNAVAILABLE, 1, "attempts_spent")
        equal((proxy_status(response), upstream.requests), ("http_protocol_error", []))
        # The next call within a second fails without another connection.
        expect(call(client, b"id"), UNAVAILABLE, 1, "attempts_spent")
        equal(upstream.connections, 1)
    with Http2Upstream() as upstream, calling(upstream, merge(REPEATABLE, {"http2": "never"})) as (client, reprise):
        expect(call(client, b"id"), UNAVAILABLE, 1, "not_retryable")
        equal(attempts_of(reprise.requests(1)[0]), [("connect", "not_http2")])
        equal(upstream.requests, [])


def test_M80_request_that_is_rejected_is_a_failed_call():
    with Http2Upstream() as upstream, calling(upstream, limits={"request_body": "10B"}) as (client, _):
        response = call(client, b"far too long", fields=[("content-length", "17")])
        equal((response.status, status_of(response), response.reason), (200, 8, "content_too_large"))
    with Http2Upstream() as upstream, calling(upstream, limits={"header": "4KiB"}) as (client, _):
        response = call(client, b"id", fields=[("x-large", "a" * 5000)])
        equal((response.status, status_of(response), response.reason), (200, 8, "header_too_large"))


def test_M81_M82_messages_of_a_stream_are_sent_again_in_order_and_then_go_on():
    failed = []
    def reset_after_two(link, request):
        if request.order == 0 and len(request.body) >= len(message(b"one") + message(b"two")):
            link.reset_stream(request.stream, h2.CANCEL)
            failed.append(request)
        return True
    with Http2Upstream({METHOD: [answer(b"sum")]}, at_data={METHOD: reset_after_two}) as upstream, calling(upstream, REPEATABLE) as (client, _):
        stream = begin(client)
        for data in (b"one", b"two"):
            client.data(stream, message(data))
        eventually(lambda: failed, "the first attempt failed")
        eventually(lambda: len(upstream.heads) == 2, "the second attempt has begun")
        client.data(stream, message(b"three"))
        client.data(stream, end=True)
        expect(client.response(stream), OK, 2)
        equal(upstream.requests[-1].body, message(b"one") + message(b"two") + message(b"three"))


def test_M72_wait_for_trailers_ends_at_the_deadline():
    policy = merge(REPEATABLE, {"hold": {"time": "1h"}, "retry": {"deadline": "500ms"}})
    with scripted(begins) as upstream, calling(upstream, policy) as (client, _):
        stream = begin(client)
        client.data(stream, message(b"id"), end=True)
        client.until(lambda: client.responses[stream].status == 200)
        ends(upstream.links[0], upstream.heads[0], UNAVAILABLE)
        expect(client.response(stream), UNAVAILABLE, 1)


def test_M81_messages_on_disk_are_released_while_the_client_sends_nothing():
    length = 100_000
    policy = merge(REPEATABLE, {"replay": {"memory": "1KiB"}})
    arrived = []
    def gathers(link, request):
        if len(request.body) < length:
            return True
        arrived.append((link, request))
        return False
    with Http2Upstream(at_data={METHOD: gathers}) as upstream, calling(upstream, policy) as (client, reprise):
        stream = begin(client)
        client.upload(stream, message(bytes(length)), end=False)
        eventually(lambda: arrived, "the first message has arrived")
        eventually(lambda: reprise.metric("reprise_replay_bytes", store="disk") > length, "it is held on disk")
        begins(*arrived[0], b"answer")
        client.until(lambda: client.responses[stream].pieces)
        eventually(lambda: reprise.metric("reprise_replay_bytes") == 0, "nothing is held")
        client.data(stream, message(b"last"), end=True)
        eventually(lambda: arrived[0][1].body.endswith(message(b"last")), "the last message has arrived")
        ends(*arrived[0])
        expect(client.response(stream), OK, 1)


def test_M81_stream_goes_on_when_the_disk_is_full_but_is_not_sent_again():
    with scripted(answer(b"sum"), trailers_only(UNAVAILABLE)) as upstream, calling(upstream, merge(REPEATABLE, {"replay": {"memory": "1KiB"}})) as (client, reprise):
        full = 100_000  # imitates a disk that is full after so many bytes
        resource.prlimit(reprise.process.pid, resource.RLIMIT_FSIZE, (full, full))
        for status, reason in ((OK, None), (UNAVAILABLE, "not_replayable")):
            stream = begin(client)
            for _ in range(10):
                client.upload(stream, message(bytes(50_000)), end=False)
            client.data(stream, end=True)
            expect(client.response(stream), status, 1, reason)
        equal([request.body == message(bytes(50_000)) * 10 for request in upstream.requests], [True] * 2)
        equal(reprise.metric("reprise_replay_bytes"), 0)


def test_M86_M87_later_attempts_say_so_and_send_the_time_that_is_left():
    with scripted(trailers_only(UNAVAILABLE), trailers_only(UNAVAILABLE), answer(b"item")) as upstream, \
            calling(upstream, merge(REPEATABLE, {"attempt_header": True})) as (client, _):
        expect(call(client, b"id", fields=[("grpc-timeout", "60S")]), OK, 3)
        requests = upstream.requests
        equal([request.field("grpc-previous-rpc-attempts") for request in requests], [None, "1", "2"])
        equal(requests[0].field("grpc-timeout"), "60S")
        left = [int(request.field("grpc-timeout").removesuffix("m")) for request in requests[1:]]
        assert 60_000 - BACKOFF_MS >= left[0] >= left[1] + BACKOFF_MS > 0, left
        for request in requests:
            equal(len([name for name, _ in request.fields if name == "grpc-timeout"]), 1)


def test_M87_deadline_of_the_call_ends_its_retries():
    with scripted(trailers_only(UNAVAILABLE, [("grpc-retry-pushback-ms", "5000")])) as upstream, calling(upstream, REPEATABLE) as (client, _):
        expect(call(client, b"id", fields=[("grpc-timeout", "4S")]), UNAVAILABLE, 1, "upstream_said_later")


def test_M80_M87_call_whose_deadline_ends_before_a_connection_is_established_has_exceeded_it():
    with Http2Upstream(settings=None) as upstream, calling(upstream, REPEATABLE) as (client, _):
        response = call(client, b"id", fields=[("grpc-timeout", "300m")])
        expect(response, DEADLINE_EXCEEDED, 1, "deadline_too_near")


def test_M88_deadline_that_is_malformed_passes_unchanged():
    for value in ("123456789S", "5", "S", "-1S", "1 S", "1s"):
        with scripted(trailers_only(UNAVAILABLE), answer(b"item")) as upstream, calling(upstream, REPEATABLE) as (client, _):
            expect(call(client, b"id", fields=[("grpc-timeout", value)]), OK, 2)
            equal([request.field("grpc-timeout") for request in upstream.requests], [value] * 2)


def test_M85_call_that_is_a_retry_of_the_client_is_nested():
    with scripted(trailers_only(UNAVAILABLE)) as upstream, calling(upstream, merge(REPEATABLE, {"retry": {"nested": "refuse"}})) as (client, _):
        expect(call(client, b"id", fields=[("grpc-previous-rpc-attempts", "1")]), UNAVAILABLE, 1, "nested_retry")


def test_M90_status_that_our_own_repeat_may_have_caused_is_marked():
    with scripted(resets(h2.CANCEL, effect=True), trailers_only(NOT_FOUND)) as upstream, calling(upstream, REPEATABLE) as (client, _):
        response = call(client, b"id")
        expect(response, NOT_FOUND, 2, "not_retryable")
        equal(response.field("Reprise-Ambiguous"), "true")


def test_M113_status_counts_a_call_as_failed_if_its_status_reports_a_failure_of_the_server():
    with scripted(trailers_only(UNAVAILABLE), trailers_only(NOT_FOUND), answer(b"item")) as upstream, calling(upstream) as (client, reprise):
        equal([status_of(call(client, b"id")) for _ in range(3)], [UNAVAILABLE, NOT_FOUND, OK])
        reprise.requests(3)
        def route():
            return json.loads(reprise.admin("/status")[1])["routes"][-1]
        eventually(lambda: route()["requests"] == 3, "the calls are counted")
        equal(route()["responses"], {"2xx": 2, "grpc": 1})


def test_M84_hedged_call_takes_the_first_ok():
    policy = {"idempotent": "always", "hedge": {"after": "30ms"}}
    with scripted(hangs, answer(b"item")) as upstream, calling(upstream, policy) as (client, reprise):
        expect(call(client, b"id"), OK, 2)  # on a slow machine the hedge may arrive first
        assert reprise.requests(1)[0]["hedge"] in ("won", "lost"), reprise.requests(1)
        eventually(lambda: upstream.heads[0].reset == h2.CANCEL, "the slow copy is cancelled")


def test_M84_hedge_of_a_call_waits_for_its_last_message():
    policy = {"idempotent": "always", "hedge": {"after": "30ms"}}
    other = "/shop.Catalog/FindItem"
    with Http2Upstream({METHOD: [hangs, answer(b"item")], other: [hangs, answer(b"found")]}) as upstream, calling(upstream, policy) as (client, reprise):
        slow = begin(client)
        client.data(slow, message(b"i"))
        upstream.heads_seen(1, METHOD)
        expect(call(client, b"id", path=other), OK, 2)  # a hedge of the first call would have been due before
        equal(len(upstream.heads_seen(1, METHOD)), 1, "no copy of an incomplete call")
        client.data(slow, message(b"d"), end=True)
        expect(client.response(slow), OK, 2)
        equal([request.body for request in upstream.heads_seen(2, METHOD)], [message(b"i") + message(b"d")] * 2)
        assert reprise.requests(2)[1]["hedge"] in ("won", "lost"), reprise.requests(2)


def test_M84_hedge_of_a_call_waits_for_the_settings_of_the_upstream():
    policy = {"idempotent": "always", "hedge": {"after": "30ms"}}
    with scripted(hangs, answer(b"item")) as upstream, Http2Upstream({"/y": [hangs, 200]}) as other, \
            http2_proxy(upstream, defaults=policy) as reprise, Http2Client(reprise.gateway) as client:
        upstream.at_start = lambda link: link is not upstream.links[0]
        with client.one_write():
            stream = begin(client)
            client.data(stream, message(b"id"), end=True)
        eventually(lambda: upstream.links, "the connection is established")
        equal(ask(reprise, "GET", other.url("/y")).attempts, 2, "a hedge of the call would have been due before")
        equal(len(upstream.links), 1, "no copy of a call that was not sent")
        upstream.links[0].send_settings({})
        expect(client.response(stream), OK, 2)


def test_route_matches_calls_by_service_and_method():
    routes = [{"name": "reads", "match": {"grpc": ["shop.Catalog/Get*"]}, "idempotent": "always"}]
    with Http2Upstream({METHOD: [trailers_only(UNAVAILABLE), answer(b"item")]}, otherwise=[trailers_only(UNAVAILABLE)]) as upstream, \
            calling(upstream, routes=routes) as (client, reprise):
        expect(call(client, b"id"), OK, 2)
        expect(call(client, b"id", path="/shop.Catalog/Put"), UNAVAILABLE, 1, "not_idempotent")
        equal(client.ask("POST", METHOD, b"id", [("content-type", "application/grpc-web")]).status, 200)
        equal([line["route"] for line in reprise.requests(3)], ["reads", "default", "default"])


def test_M74_flaky_upstream_is_invisible_to_calls_that_may_be_repeated():
    with scripted(in_turns(trailers_only(UNAVAILABLE), resets(h2.CANCEL), answer(b"item"))) as upstream, calling(upstream, merge(REPEATABLE, {"budget": "off"})) as (client, _):
        for _ in range(20):
            expect(call(client, b"id"), OK, 3)


def test_M93_client_that_pings_whenever_a_message_arrives_is_served():
    messages = 2500  # more than the pings that a client may send without a message
    def echoes(link, request):
        if not request.pieces[1:]:
            begins(link, request)
        link.data(request.stream, request.pieces[-1])
    with Http2Upstream(at_head={METHOD: hangs}) as upstream, calling(upstream) as (client, reprise):
        upstream.take_data = echoes
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = begin(client)
        for number in range(messages):
            client.send(h2.data_frame(stream, message(b"m")) + h2.frame(h2.PING, 0, 0, b"12345678"))
            client.until(lambda: client.responses[stream].size >= (number + 1) * len(message(b"m")))  # pylint: disable=cell-var-from-loop
        ends(upstream.links[0], upstream.heads[0])
        client.data(stream, end=True)
        expect(client.response(stream), OK, 1)
        equal(reprise.metric("reprise_http2_floods_total"), 0)
