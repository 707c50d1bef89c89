"""Sends thousands of different malformed messages over raw sockets and checks that each is rejected as
expected. After each message, a valid request on a new connection must succeed. Writes the number of messages
and of wrong results to build/figures/bad_inputs.json."""
import collections
import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bad_inputs
from client import Client
from exactly import CLOSED_LIST, causes, counted, expected, normal, raw, stage, to
from harness import Reprise, equal
from upstream import Say, Upstream

FIGURES = Path(__file__).resolve().parent.parent.parent / "build/figures/bad_inputs.json"
CLIENTS = 32  # parallel clients
ONCE = {"retry": {"max_attempts": 1}, "resume": {"enabled": False}}


def distinct(pairs):
    """Returns a dictionary of (message, expected result) pairs. Fails if one message occurs with two
    different results."""
    verdicts = {}
    for message, verdict in pairs:
        equal(verdicts.setdefault(message, verdict), verdict, repr(message[:200]))
    return verdicts


def all_bytes(address, *pieces):
    """Sends the pieces on one connection. Returns the bytes that were received until the connection ended, and
    whether a FIN ended it."""
    with Client(address, 60) as client:
        try:
            for piece in pieces:
                client.send(piece)
            return client.read_to_end(), True
        except OSError:  # the connection ended with a reset or by a timeout, not with a FIN
            return bytes(client.buffer), False


def is_refused(got, request, cause):
    """Returns true if the response rejects the request for the given cause. Compares the whole response
    except its Date and reprise's pseudonym."""
    status, sentence = CLOSED_LIST[cause]
    head, _, body = got.partition(b"\r\n\r\n")
    words = b"reprise: request rejected: %s\n%s\n" % (cause.encode(), sentence.encode())
    shown = b"" if request.startswith((b"HEAD ", b"HEAD\r")) else words
    return (head.startswith(b"HTTP/1.1 %d " % status) and body == shown and head.endswith(b"\r\nConnection: close")
            and b"\r\nContent-Length: %d\r\n" % len(words) in head and b"\r\nReprise-Reason: %s\r\n" % cause.encode() in head)


def each(cases, judge, good):
    """Calls `judge` for each case, and sends a valid request after each. Returns the failed cases."""
    def one(case):
        verdict = judge(*case)
        return None if verdict and good() else case
    with ThreadPoolExecutor(CLIENTS) as pool:
        wrong = [case for case in pool.map(one, cases) if case is not None]
    for case in wrong[:100]:
        print(f"wrong: {str(case):.300}")
    return wrong


def good_request(reprise, upstream):
    def ask():
        with Client(reprise.forward) as client:
            client.send(to(upstream, path="/good"))
            response = client.read_response()
            return (response.status, response.body) == (200, b"good")
    return ask


def heads():
    cases = distinct(bad_inputs.bad_heads())
    closed_ports = {"connect_ports": [443, 80, 8443]}
    with stage({"/good": [Say(200, b"good")]}, security=closed_ports) as (reprise, upstream):
        def judge(request, cause):
            place = 1 + zlib.crc32(request) % (len(request) - 1)
            # The request is sent whole, then in two pieces. Both must be rejected for the same cause.
            for pieces in ((request,), (request[:place], request[place:])):
                got, finished = all_bytes(reprise.forward, *pieces)
                if not (finished and is_refused(got, request, cause)):
                    print(f"got: {got[:400]!r} for {pieces}")
                    return False
            return True
        wrong = each(cases.items(), judge, good_request(reprise, upstream))
        counts = collections.Counter(cases.values())
        equal(causes(reprise), {cause: 2 * count for cause, count in counts.items()}, "each counted once, by its cause")
        received = [normal(one) for one in upstream.bytes_received()]
        good = expected(upstream, path="/good")
        equal(b"".join(received), good * len(cases), "the upstream got the good requests, and not one other byte")
    return len(cases), len(wrong)


def gateway_heads():
    cases = distinct(bad_inputs.bad_gateway_heads())
    with Upstream({"/good": [Say(200, b"good")]}, record=True) as upstream:
        listeners = [{"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("")}]
        with Reprise(listeners=listeners) as reprise:
            def judge(request, cause):
                got, finished = all_bytes(reprise.gateway, request)
                if not (finished and is_refused(got, request, cause)):
                    print(f"got: {got[:400]!r}")
                    return False
                return True
            def good():
                with Client(reprise.gateway) as client:
                    client.send(b"GET /good HTTP/1.1\r\nHost: h\r\n\r\n")
                    response = client.read_response()
                    return (response.status, response.body) == (200, b"good")
            wrong = each(cases.items(), judge, good)
            equal(causes(reprise), dict(collections.Counter(cases.values())), "each counted once, by its cause")
            equal(normal(b"".join(upstream.bytes_received())), expected(upstream, path="/good") * len(cases))
    return len(cases), len(wrong)


def bodies():
    cases = distinct(bad_inputs.bad_bodies())
    with stage({"/good": [Say(200, b"good")]}) as (reprise, upstream), stage() as (_, aborted):
        def judge(body, cause):
            request = to(aborted, "PUT", "/bad", bad_inputs.CHUNKED, body)
            got, finished = all_bytes(reprise.forward, request)
            return finished and is_refused(got, request, cause)
        wrong = each(cases.items(), judge, good_request(reprise, upstream))
        equal(causes(reprise), dict(collections.Counter(cases.values())), "each counted once, by its cause")
        aborted.all_closed()
        equal(aborted.count(), 0, "never a whole message")
        head = expected(aborted, "PUT", "/bad", bad_inputs.CHUNKED)
        for received in aborted.bytes_received():
            sent = normal(received)
            equal((sent[:len(head)], sent.endswith(b"0\r\n\r\n")), (head[:len(sent)], False))
    return len(cases), len(wrong)


def responses(messages, judge_response, code, outcome):
    messages = list(dict.fromkeys(messages))
    scripts = {f"/{number}": [raw(message, "close")] for number, message in enumerate(messages)}
    with stage({**scripts, "/good": [Say(200, b"good")]}, defaults=ONCE) as (reprise, upstream):
        def judge(number, _):
            got, finished = all_bytes(reprise.forward, to(upstream, path=f"/{number}", fields=b"Connection: close\r\n"))
            if not judge_response(got, finished):
                print(f"got: {got[:400]!r}")
                return False
            return True
        wrong = each(enumerate(messages), judge, good_request(reprise, upstream))
        counted(reprise, "reprise_requests_total", len(messages), code=code)
        counted(reprise, "reprise_attempts_total", len(messages), outcome=outcome)
        equal(causes(reprise), {})
    return len(messages), len(wrong)


def is_502(got, finished):
    return finished and got.startswith(b"HTTP/1.1 502 ") and b"; error=http_protocol_error\r\n" in got and got.endswith(
        b"not retried: not_retryable (the route does not list this status or failure)\n")


def is_cut(got, finished):
    return finished and (got == b"" or got.startswith(b"HTTP/1.1 200 ")) and not got.endswith(b"0\r\n\r\n")


def test_every_bad_input_gets_the_expected_verdict_and_causes_no_harm():
    counts = {"request heads": heads(), "gateway heads": gateway_heads(), "request bodies": bodies(),
              "response heads": responses(bad_inputs.bad_responses(), is_502, "502", "reset"),
              "response bodies": responses(bad_inputs.broken_responses(), is_cut, "cut", "truncated")}
    total, wrong = (sum(pair[at] for pair in counts.values()) for at in (0, 1))
    print(f"note: {total} bad inputs, {wrong} wrong verdicts:", ", ".join(f"{pair[0]} {name}" for name, pair in counts.items()))
    FIGURES.parent.mkdir(parents=True, exist_ok=True)
    FIGURES.write_text(json.dumps({"bad inputs over raw sockets": total, "wrong verdicts": wrong}) + "\n", encoding="utf-8")
    equal(wrong, 0, "wrong verdicts")
    assert total >= 2000, total


# timeout in seconds: long enough for a sanitizer build on a busy machine
test_every_bad_input_gets_the_expected_verdict_and_causes_no_harm.timeout = 1200
