"""Tests rows D1 to D18 except row D12: retries and replay, over raw sockets."""
import os
import socket
import threading
import time

from client import Client, ask, chunked
from exactly import counted, expected, normal, raw, sent_upstream, stage, to
from harness import Reprise, at_most, equal, eventually, open_links, under_some_limit
from test_retries import reasons
from upstream import Say, Upstream, reset

CHUNKED = b"Transfer-Encoding: chunked\r\n"
SLOW = {"initial": "30s", "maximum": "30s", "jitter": "none"}
# Every time limit is longer than a test client waits, so no limit ends a request.
PATIENT = {
    "response_timeout": "1h",
    "retry": {"attempt_timeout": "1h", "deadline": "unlimited", "backoff": {"initial": "1h", "maximum": "1h", "jitter": "none"}},
}


def backoff(milliseconds):
    return {"initial": f"{milliseconds}ms", "maximum": f"{milliseconds}ms", "jitter": "none"}


def test_D1_non_idempotent_request_that_may_have_been_processed_is_sent_once():
    words = b"the upstream's own words"
    kinds = [(f"/{status}", Say(status, words, [("X-Own", "1")]), status) for status in (408, 429, 500, 502, 503, 504)]
    kinds += [("/reset", "execute_reset", 502), ("/close", "close", 502), ("/part", raw(b"HTTP/1.1 200 OK\r\nX: 1\r\n", "close"), 502),
              ("/part-reset", raw(b"HTTP/1.1 200", "reset"), 502), ("/junk", raw(b"SSH-2.0-x\r\n\r\n"), 502), ("/hang", "hang", 504)]
    routes = [{"name": "quiet", "match": {"path": "/hang"}, "response_timeout": "200ms"}]
    with stage({path: [step] for path, step, _ in kinds}, routes=routes) as (reprise, upstream):
        for method in ("POST", "PATCH", "FROB"):
            for path, _, status in kinds:
                response = ask(reprise, method, upstream.url(path), b"payload")
                # A malformed response is not a retryable failure on any route, so the method of the request does not matter.
                reason = "not_retryable" if path == "/junk" else "not_idempotent"
                equal((response.status, response.attempts, response.reason), (status, 1, reason), f"{method} {path}")
                if status != 502 or path == "/502":
                    equal(response.body == words, path != "/hang", f"{method} {path}: {response.body}")
        equal(upstream.count(), 3 * len(kinds), "one attempt each")
        equal(reprise.metric("reprise_retries_total"), 0)


def parts(upstream):
    """Returns the bytes that each upstream connection received. The pseudonym in Via is replaced with fixed
    text."""
    return [normal(received) for received in upstream.bytes_received()]


def test_D2_every_attempt_sends_the_same_bytes():
    fail = Say(503, close=True)
    for fields, body, sent in ((b"Content-Length: 5\r\n", b"hello", b"hello"), (CHUNKED, b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", None)):
        with stage({"/x": [fail, "reset", "close", 200]}) as (reprise, upstream):
            sent_upstream(reprise, upstream, to(upstream, "PUT", "/x?a=%20", b"x-Odd:  a \r\n" + fields, body))
            bodies = {request.body for request in upstream.seen(4)}
            equal((bodies, len({request.head for request in upstream.requests})), ({b"hello"}, 1))
            if sent:
                equal(parts(upstream), [expected(upstream, "PUT", "/x?a=%20", b"x-Odd:  a \r\n" + fields, sent)] * 4)
    with stage({"/x": [fail, fail, 200]}, defaults={"attempt_header": True}) as (reprise, upstream):
        ask(reprise, "GET", upstream.url("/x"))
        plain = expected(upstream)[:-2]
        equal(parts(upstream), [plain + b"Reprise-Attempt: %d\r\n\r\n" % n for n in (1, 2, 3)], "and nothing else differs")


def test_D3_added_and_removed_fields_are_the_same_in_all_four_attempts():
    gone = b"Connection: X-Hop\r\nX-Hop: 1\r\nProxy-Authorization: Basic eA==\r\nKeep-Alive: timeout=5\r\n"
    stays = b"Authorization: Bearer a\r\nCookie: a=b\r\nVia: 1.1 other\r\n"
    with stage({"/x": [Say(503, close=True), "reset", "close", 200]}) as (reprise, upstream):
        sent_upstream(reprise, upstream, to(upstream, fields=gone + stays))
        equal(parts(upstream), [expected(upstream, fields=stays)] * 4)


def test_D4_body_bytes_that_arrive_during_the_backoff_wait_are_sent_with_the_retry():
    def refuse(connection, request, reader):
        if not refused:
            refused.append(bytes(reader.buffer))
            connection.sendall(b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n")
            connection.recv(1)
            return False
        reader.read_body(request)
        upstream.keep(request)
        connection.sendall(Say(200).text(request, 1))
        return True
    refused = []
    with stage(on_head={"/x": refuse}, log={"level": "debug"}, defaults={"retry": {"backoff": backoff(100)}}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream, "PUT", "/x", b"Content-Length: 10\r\n"))
        reprise.expect_log("attempt 1: 503")
        client.send(b"01234")
        client.send(b"56789")
        response = client.read_response()
        equal((response.status, response.attempts, refused, [request.body for request in upstream.requests]),
              (200, 2, [b""], [b"0123456789"]))


def test_D5_request_bodies_are_replayed_up_to_the_memory_and_disk_limits_and_not_above():
    memory, disk = 1024, 4096
    sizes = [(size, True) for size in (memory - 1, memory, memory + 1, disk - 1, disk)] + [(disk + 1, False)]
    with stage({f"/{form}{size}": [503, 200] for form in "lc" for size, _ in sizes},
               defaults={"replay": {"memory": f"{memory}B", "disk": f"{disk}B"}}) as (reprise, upstream):
        for form in "lc":
            for size, held in sizes:
                body = bytes(i % 251 for i in range(size))
                fields = b"Content-Length: %d\r\n" % size if form == "l" else CHUNKED
                with Client(reprise.forward) as client:
                    client.send(to(upstream, "PUT", f"/{form}{size}", fields))
                    client.send(body if form == "l" else chunked(body, 500))
                    response = client.read_response()
                equal((response.status, response.attempts, response.reason), (200, 2, None) if held else (503, 1, "not_replayable"), size)
                equal([request.body == body for request in upstream.seen(1, f"/{form}{size}")], [True] * (2 if held else 1), "never a part")
        eventually(lambda: reprise.metric("reprise_replay_bytes") == 0, "what was held is given back")


def test_D6_refused_connection_after_a_503_is_recorded_as_a_failure_and_the_503_is_delivered():
    upstream = Upstream()
    def refuse_and_stop(connection, request):
        upstream.listener.shutdown(socket.SHUT_RDWR)
        connection.sendall(Say(503, b"the last answer", close=True).text(request, 1))
        return False
    upstream.scripts = {"/x": [refuse_and_stop]}
    with upstream, Reprise(defaults={"retry": {"max_attempts": 3}}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body, response.attempts, response.reason), (503, b"the last answer", 3, "attempts_spent"))
        attempts = reprise.requests(1)[0]["attempts"]
        equal([(one.get("status"), one.get("error"), one.get("stage")) for one in attempts],
              [(503, None, attempts[0].get("stage")), (None, "refused", "connect"), (None, "refused", "connect")])
        counted(reprise, "reprise_attempts_total", 2, outcome="connect")
        counted(reprise, "reprise_attempts_total", 1, outcome="5xx")


def test_D7_reset_of_the_old_connection_during_the_wait_does_not_affect_the_retry():
    def answer_then_reset(connection, request):
        connection.sendall(Say(503, b"no").text(request, 1))
        waits.wait(60)
        reset(connection)
        was_reset.set()
        return False
    waits, was_reset = threading.Event(), threading.Event()
    with stage({"/x": [answer_then_reset, 200]}, log={"level": "debug"}, defaults={"retry": {"backoff": backoff(700)}}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        reprise.expect_log("attempt 1: 503")
        before = reprise.cpu_seconds()
        waits.set()
        equal(was_reset.wait(60), True)
        response = client.read_response()
        equal((response.status, response.attempts), (200, 2))
        at_most(reprise.cpu_seconds() - before, 0.4, "CPU seconds of the wait")


def dies_when_reused(connection, request, seen=None):
    """An upstream step that responds to the first request of each connection, and resets the connection at
    the second request."""
    return raw(b"", "reset")(connection, request) if request.connection in seen else seen.add(request.connection) or raw(
        Say(200, b"fresh").text(request, 1))(connection, request)


def test_D8_client_gets_502_if_the_last_attempt_fails_on_a_reused_connection():
    with stage({"/x": ["reset"]}, defaults={"retry": {"max_attempts": 1}}) as (reprise, upstream):
        for method, attempts, reason in (("POST", 1, "not_idempotent"), ("GET", 2, "attempts_spent")):
            with Client(reprise.forward) as client:
                equal(client.ask("GET", upstream.url("/warm")).status, 200)
                response = client.ask(method, upstream.url("/x"), b"x" if method == "POST" else None)
                equal((response.status, response.attempts, response.reason), (502, attempts, reason), "never a bare close")
                assert "error=connection_terminated" in response.field("Proxy-Status")


def test_D8_client_connection_ends_like_the_upstream_connection_if_on_broken_is_close():
    with stage({"/fin": ["close"], "/rst": ["reset"], "/busy": [503, "close"], "/slow": ["hang"]}, limits={"header": "8KiB"},
               defaults={"on_broken": "close", "response_timeout": "200ms"}) as (reprise, upstream):
        for path, ending in (("/fin", "FIN"), ("/rst", "RST")):
            with Client(reprise.forward) as client:
                client.send(to(upstream, "POST", path, b"Content-Length: 4\r\n", b"once"))
                try:
                    equal((client.read_to_end(), ending), (b"", "FIN"))
                except ConnectionResetError:
                    equal(ending, "RST")
            equal(upstream.count(path), 1, "never sent twice")
        line = reprise.requests(2)[0]
        equal((line["ending"], line["reason"], line["attempts"][0]["error"]), ("cut", "not_idempotent", "closed"))
        equal(reprise.metric("reprise_requests_total", code="cut"), 2)
        response = ask(reprise, "POST", upstream.url("/slow"), b"x")
        equal((response.status, response.reason), (504, "not_idempotent"), "a time-out is no broken connection")
        response = ask(reprise, "DELETE", upstream.url("/busy"))
        equal(response.status, 503, "after a repeat always a response")


def test_D9_connection_of_a_timed_out_attempt_is_closed_before_the_next_attempt():
    def hang(connection, _):
        first.append(connection)
        done.wait(60)
        return False
    def look(connection, request):
        try:
            closed.append(first[0].recv(1, socket.MSG_DONTWAIT) == b"")
        except ConnectionResetError:
            closed.append(True)
        except BlockingIOError:
            closed.append(False)
        connection.sendall(Say(200).text(request, 1))
        return True
    first, closed, done = [], [], threading.Event()
    retry = {"attempt_timeout": "200ms", "max_attempts": 20}
    with stage({"/x": [hang, look]}, defaults={"retry": retry}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        done.set()
        equal((response.status, closed[0]), (200, True))
        counted(reprise, "reprise_attempts_total", response.attempts - 1, outcome="timeout")


def test_D10_stale_connection_costs_one_retry_on_a_fresh_connection():
    seen = set()
    with stage({"/x": [lambda connection, request: dies_when_reused(connection, request, seen)],
                "/y": ["reset", "reset", 200]}, defaults={"retry": {"max_attempts": 3}, "budget": "off"}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        equal(client.ask("GET", upstream.url("/x")).body, b"fresh")
        # If a connection dies after an idle time T, reprise then reuses only connections that were idle for
        # less than T/2 (row L5). T is two seconds here, so that the next connection is idle for less than
        # T/2.
        rested = time.monotonic() + 2
        eventually(lambda: time.monotonic() > rested, "the connection has rested")
        equal(client.ask("GET", upstream.url("/x")).body, b"fresh")
        equal(client.ask("GET", upstream.url("/y")).status, 200)
        line = reprise.requests(2)[1]
        equal((reasons(line), line["attempts"][0].get("wait_ms", 0)), (["stale_connection", "success"], 0))
        equal(reasons(reprise.requests(3)[2]), ["stale_connection", "retryable_failure", "success"], "a second goes through the policy")


def test_D10_retry_of_a_stale_connection_exceeds_max_attempts_only_if_max_attempts_is_1():
    for limit, attempts in ((1, 2), (2, 2), (3, 3), (4, 4), (6, 6)):
        retry = {"max_attempts": limit, "backoff": {"initial": "1ms", "maximum": "1ms"}}
        for script in (["reset", 503], ["reset"], [503, "reset"]):
            with stage({"/x": script}, defaults={"retry": retry, "budget": "off"}) as (reprise, upstream), Client(reprise.forward) as client:
                equal(client.ask("GET", upstream.url("/warm")).status, 200)
                response = client.ask("GET", upstream.url("/x"))
                made = attempts if script[0] == "reset" else limit
                equal((response.attempts, len(upstream.seen(made, "/x")), response.reason), (made, made, "attempts_spent"), f"{limit}: {script}")


def test_D11_421_on_a_reused_connection_is_retried_on_a_fresh_connection():
    with stage({"/x": [Say(421, b"elsewhere"), Say(200, b"here")], "/y": [Say(421, b"elsewhere")]}) as (reprise, upstream):
        with Client(reprise.forward) as client:
            equal(client.ask("POST", upstream.url("/warm"), b"first").status, 200)
            response = client.ask("POST", upstream.url("/x"), b"held")
            equal((response.status, response.body, response.attempts), (200, b"here", 2))
            equal(([request.body for request in upstream.seen(2, "/x")], upstream.connections), ([b"held"] * 2, 2))
        with Client(reprise.forward) as client:
            response = client.ask("POST", upstream.url("/y"), b"held")
            again = client.ask("POST", upstream.url("/y"), b"held")
        equal(({response.status, again.status}, upstream.count("/y") <= 4), ({421}, True), "once, and never of our own making")


def test_D13_pipelined_requests_wait_while_the_first_is_retried():
    with stage({"/a": [503, "reset", 200]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, path="/a") + to(upstream, "POST", "/b", b"Content-Length: 1\r\n", b"b") + to(upstream, path="/c"))
        equal([client.read_response().body for _ in range(3)], [b"answer 3 to /a\n", b"answer 1 to /b\n", b"answer 1 to /c\n"])
        equal([request.path for request in upstream.requests], ["/a", "/a", "/a", "/b", "/c"], "none before the one ahead has ended")


def test_D14_half_closed_client_gets_the_response_of_the_current_attempt():
    def wait(connection, request):
        asked.set()
        go.wait(60)
        connection.sendall(Say(503, b"the only one").text(request, 1))
        return True
    asked, go = threading.Event(), threading.Event()
    with stage({"/x": [wait]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(asked.wait(60), True)
        client.finish()
        go.set()
        response = client.read_response()
        equal((response.status, response.body, response.attempts, response.reason), (503, b"the only one", 1, "client_gone"))
        equal(upstream.count(), 1, "no further attempt")


def test_D14_half_closed_client_ends_the_retry_wait():
    with stage({"/x": [Say(503, b"the only one")]}, log={"level": "debug"}, defaults=PATIENT) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        reprise.expect_log("attempt 1: 503")
        client.finish()
        response = client.read_response()
        equal((response.status, response.body, response.reason), (503, b"the only one", "client_gone"))
        equal((response.attempts, upstream.count()), (1, 1), "no further attempt")


def test_D14_client_reset_cancels_the_request():
    for step in ("hang", Say(503, b"no")):
        with stage({"/x": [step]}, log={"level": "debug"}, defaults=PATIENT) as (reprise, upstream):
            client = Client(reprise.forward)
            client.send(to(upstream))
            if step == "hang":
                upstream.seen(1)
            else:
                reprise.expect_log("attempt 1: 503")
            client.reset()
            counted(reprise, "reprise_requests_total", code="client_gone")
            if step == "hang":
                counted(reprise, "reprise_upstream_connections", 0, state="active")
            equal(upstream.count(), 1)


def test_D15_shutdown_ends_the_retry_wait_with_the_last_response():
    with stage({"/x": [Say(503, b"the last one")]}, log={"level": "debug"}, defaults={"retry": {"backoff": SLOW}}) as (reprise, upstream), \
            Client(reprise.forward) as client:
        client.send(to(upstream))
        reprise.expect_log("attempt 1: 503")
        reprise.terminate()
        response = client.read_response()
        equal((response.status, response.body, response.reason, response.field("Connection")), (503, b"the last one", "shutting_down", "close"))
        equal((client.read_to_end(), reprise.wait()), (b"", 0))


def test_D16_request_with_cache_control_no_store_is_not_written_to_disk():
    with stage({"/small": [503, 200], "/large": [503, 200]}, defaults={"replay": {"memory": "1KiB"}}) as (reprise, upstream):
        fields = [("Cache-Control", "max-age=0, no-store")]
        equal(ask(reprise, "PUT", upstream.url("/small"), b"x" * 1024, fields).attempts, 2)
        response = ask(reprise, "PUT", upstream.url("/large"), b"x" * 300_000, fields)
        equal((response.status, response.attempts, response.reason), (503, 1, "not_replayable"))
        equal(reprise.metric("reprise_replay_bytes", store="disk"), 0)


def test_D17_unusable_replay_folder_disables_replay_and_is_logged():
    body = bytes(range(256)) * 1000
    with stage({"/x": [503, 200]}, defaults={"replay": {"memory": "1KiB"}}, limits={"replay_folder": "/proc/self"}) as (reprise, upstream):
        response = ask(reprise, "PUT", upstream.url("/x"), body)
        equal((response.status, response.attempts, response.reason), (503, 1, "not_replayable"))
        equal([request.body == body for request in upstream.requests], [True], "the streaming goes on")
        eventually(lambda: any(line["level"] == "warn" for line in reprise.log()), "it is said")


def test_D17_unreadable_replay_data_aborts_the_attempt():
    body = bytes(range(256)) * 1000
    def lost_during_the_wait(milliseconds):
        with stage({"/x": [503, 200]}, log={"level": "debug"}, pool={"idle": 0},
                   defaults={"replay": {"memory": "1KiB"}, "retry": {"backoff": backoff(milliseconds)}}) as (reprise, upstream), \
                Client(reprise.forward) as client:
            client.send(to(upstream, "PUT", "/x", b"Content-Length: %d\r\n" % len(body), body))
            reprise.expect_log("attempt 1: 503")
            for link, target in open_links(reprise.process):
                if "(deleted)" in target:
                    os.truncate(link, 1000)
            response = client.read_response()
            if response.status == 200:
                return False  # the retry was sent before the data was lost: the case runs again with a longer backoff
            equal((response.status, response.attempts, response.reason), (503, 2, "not_replayable"), "the earlier answer is the better one")
            equal(upstream.count(), 1, "the second never became a whole message")
            upstream.all_closed()
            assert len(b"".join(upstream.bytes_received())) < 2 * len(body)
            return True
    under_some_limit(500, lost_during_the_wait)


def test_D18_budget_limits_retries_when_everything_fails_at_once():
    clients, each = 100, 10
    budget = {"ratio": "20%", "floor": "1/s", "window": "60s"}
    def work():
        with Client(reprise.forward) as client:
            for _ in range(each):
                client.send(to(upstream))
                statuses.append(client.read_response().status)
    statuses = []
    with stage({"/x": [503]}, defaults={"budget": budget, "retry": {"max_attempts": 10}}) as (reprise, upstream):
        threads = [threading.Thread(target=work) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal((len(statuses), set(statuses)), (clients * each, {503}))
        retries = upstream.count() - clients * each
        counted(reprise, "reprise_retries_total", retries)
        assert 0 < retries <= 0.2 * clients * each + 60, retries
        assert reprise.metric("reprise_retries_refused_total", reason="budget_spent") > 0
