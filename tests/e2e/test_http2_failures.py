"""Tests rows M14, M37 to M42, M49 to M52 and M68 to M71 of docs/requirements/http2.md: responses that break or are malformed,
and which failures of a stream are retried. A broken response must never look complete to the client."""
import http2_frames as h2
from client import Cut
from exactly import counted
from harness import equal, eventually
from http2_stage import (BACKOFF_MS, ONCE, ONE_CONNECTION, PACED, UNLIMITED, CutClient, GatewayClient, ask, attempts_of, causes_of,
                         clients, expect_cut, expect_own_502, http2_proxy, outcome_of, proxy_status, waits_of)
from http2_upstream import Http2Upstream, Reply, aborts, closes, excludes, hangs, refuses, resets
from test_retries import reasons

OK = [(":status", "200")]
LONG = [*OK, ("content-length", "10")]
UNKNOWN = 0x99
RESETS = {"no_error": h2.NO_ERROR, "protocol_error": h2.PROTOCOL_ERROR, "internal_error": h2.INTERNAL_ERROR, "cancel": h2.CANCEL,
          "stream_closed": h2.STREAM_CLOSED, "other": UNKNOWN}


def sends(*frames, then=None, one_write=True):
    """Returns a step that sends a head and other frames. A list is the fields of a head, or of trailers if a head came
    before. Bytes are the data of a DATA frame. A tuple (list or bytes, END_STREAM) ends the stream if the second item
    is true. `then`: a step that follows. `one_write`: all frames are sent in one write."""
    def send(link, request):
        for item in frames:
            item, end = item if isinstance(item, tuple) else (item, False)
            if isinstance(item, list):
                link.headers(request.stream, item, end=end)
            else:
                link.data(request.stream, item, end)
    def step(link, request):
        if one_write:
            with link.one_write():
                send(link, request)
        else:
            send(link, request)
        if then:
            then(link, request)
    return step


def test_M68_M69_unprocessed_post_is_repeated_at_once_and_then_by_the_policy():
    for step, cause in ((excludes(), "goaway"), (refuses, "stream_refused"), (excludes(h2.ENHANCE_YOUR_CALM, closes=True), "goaway")):
        with Http2Upstream({"/x": [step, 200], "/y": [step, step, 200], "/z": [step]}) as upstream, \
                http2_proxy(upstream, defaults={**PACED, **UNLIMITED}) as reprise:
            response = ask(reprise, "POST", "/x", b"body")
            equal((response.status, response.attempts), (200, 2), cause)
            line = reprise.requests(1)[0]
            equal((reasons(line), causes_of(line), waits_of(line)), (["stale_connection", "success"], [cause], [0, 0]))
            response = ask(reprise, "POST", "/y", b"body")
            line = reprise.requests(2)[1]
            equal((response.status, reasons(line)), (200, ["stale_connection", "retryable_failure", "success"]), cause)
            equal((waits_of(line)[1], waits_of(line)[2] >= BACKOFF_MS), (0, True), cause)
            response = ask(reprise, "POST", "/z", b"body")
            line = reprise.requests(3)[2]
            equal((response.status, response.reason, set(causes_of(line)), len(upstream.seen(response.attempts, "/z"))),
                  (502, "attempts_spent", {cause}, response.attempts))
            equal(proxy_status(response), "connection_refused" if cause == "stream_refused" else "connection_terminated")
            used = [request.connection for request in upstream.requests if request.path == "/z"]
            assert all(one != two for one, two in zip(used, used[1:])), f"a retry used the same connection: {used}"
            equal({request.body for request in upstream.requests}, {b"body"})


def test_M68_M69_second_repeat_needs_connect_in_the_list():
    for step in (excludes(), refuses):
        with Http2Upstream({"/x": [step, 200], "/y": [step, step, 200]}) as upstream, \
                http2_proxy(upstream, defaults={"retry": {"on": [503, "reset", "tls"]}}) as reprise:
            equal([ask(reprise, "POST", "/x", b"body").status, ask(reprise, "GET", "/x").status], [200, 200], "the first repeat needs no list")
            response = ask(reprise, "POST", "/y", b"body")
            equal((response.status, response.attempts, response.reason), (502, 2, "not_retryable"))


def test_M68_unprocessed_requests_do_not_use_up_the_budget_when_they_are_repeated_at_once():
    paths = [f"/{number}" for number in range(100)]
    with Http2Upstream({path: [refuses, 200] for path in paths}) as upstream, \
            http2_proxy(upstream, defaults={"budget": {"ratio": "1%", "floor": "0/s"}}) as reprise:
        equal({ask(reprise, "POST", path, b"body").status for path in paths}, {200})
        equal(len(upstream.requests), 200)


def test_M69_stream_refused_in_the_middle_of_the_body_is_repeated_with_the_whole_body():
    def at_data(link, request):
        if request.order == 0 and request.size >= 20_000:
            link.reset_stream(request.stream, h2.REFUSED_STREAM)
            return False
        return True
    body = bytes(range(256)) * 200
    with Http2Upstream(at_data={"/x": at_data}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "POST", "/x", body)
        equal((response.status, response.attempts, [request.body == body for request in upstream.requests]), (200, 2, [True]))


def test_M69_doubt_makes_a_refused_stream_a_reset():
    with Http2Upstream({"/x": [refuses, 200], "/get": [refuses, 200]}) as upstream, \
            http2_proxy(upstream, defaults={"refused_stream": "doubt", **PACED}) as reprise:
        response = ask(reprise, "POST", "/x", b"body")
        line = reprise.requests(1)[0]
        equal((response.status, response.attempts, response.reason, causes_of(line)), (502, 1, "not_idempotent", ["stream_refused"]))
        equal(proxy_status(response), "connection_refused")
        response = ask(reprise, "GET", "/get")
        line = reprise.requests(2)[1]
        equal((response.status, reasons(line), causes_of(line)), (200, ["retryable_failure", "success"], ["stream_refused"]))
        assert waits_of(line)[1] >= BACKOFF_MS, line
    with Http2Upstream({"/get": [refuses, 200]}) as upstream, \
            http2_proxy(upstream, defaults={"refused_stream": "doubt", "retry": {"on": ["connect", 503]}}) as reprise:
        response = ask(reprise, "GET", "/get")
        equal((response.status, response.attempts, response.reason), (502, 1, "not_retryable"), "it is listed by reset")


def test_M69_doubt_does_not_concern_goaway():
    with Http2Upstream({"/x": [excludes(), 200]}) as upstream, http2_proxy(upstream, defaults={"refused_stream": "doubt"}) as reprise:
        equal(ask(reprise, "POST", "/x", b"body").status, 200)


def test_M70_reset_with_another_code_may_have_been_processed():
    for word, code in RESETS.items():
        with Http2Upstream({"/post": [resets(code)], "/get": [resets(code), 200]}) as upstream, http2_proxy(upstream, defaults=PACED) as reprise:
            response = ask(reprise, "POST", "/post", b"body")
            line = reprise.requests(1)[0]
            equal((response.status, response.attempts, response.reason, causes_of(line)), (502, 1, "not_idempotent", ["stream_reset"]), word)
            equal(proxy_status(response), "connection_terminated")
            response = ask(reprise, "GET", "/get")
            line = reprise.requests(2)[1]
            equal((response.status, reasons(line), causes_of(line)), (200, ["retryable_failure", "success"], ["stream_reset"]), word)
            equal(upstream.count("/post"), 1)


def test_M70_the_code_of_the_reset_is_in_the_text_of_the_response():
    for word, code in RESETS.items():
        with Http2Upstream({"/x": [resets(code)]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise:
            text = ask(reprise, "POST", "/x", b"body").body.decode()
            assert word in text, (word, text)


def test_M70_enhance_your_calm_is_never_retried_at_once_and_its_connection_not_used_again():
    with Http2Upstream({"/x": [resets(h2.ENHANCE_YOUR_CALM), 200]}) as upstream, http2_proxy(upstream, defaults=PACED) as reprise, \
            GatewayClient(reprise) as client:
        equal([client.ask("GET", "/warm").status, client.ask("GET").status, client.ask("GET", "/after").status], [200] * 3)
        line = reprise.requests(2)[1]
        equal((causes_of(line), reasons(line)), (["stream_reset"], ["retryable_failure", "success"]))
        assert waits_of(line)[1] >= BACKOFF_MS, line
        equal([request.connection == 1 for request in upstream.requests], [True, True, False, False])


def test_M70_connection_that_ends_over_an_accepted_stream_is_a_reset():
    def accepts_and_ends(link, _):
        link.goaway(watch=False)
        link.close()
    with Http2Upstream({"/post": [accepts_and_ends], "/get": [accepts_and_ends, 200]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "POST", "/post", b"body")
        equal((response.status, response.attempts, response.reason), (502, 1, "not_idempotent"))
        equal(ask(reprise, "GET", "/get").attempts, 2)


def unreadable_head(link, request):
    """Sends a header block that cannot be decoded: a reference to an entry that does not exist."""
    link.send(h2.frame(h2.HEADERS, h2.END_HEADERS, request.stream, b"\xff\xff\xff\x7f"))


def torn_head(link, request):
    link.send(link.head_frames(request.stream, OK, parts=2)[0])
    link.close()


# (name, step after the first bytes of the body, status, reason)
AFTER_THE_FIRST_BYTE = [
    *((f"reset {word}", resets(code), 502, "not_idempotent") for word, code in RESETS.items()),
    ("reset enhance_your_calm", resets(h2.ENHANCE_YOUR_CALM), 502, "not_idempotent"),
    ("fin", closes, 502, "not_idempotent"),
    ("rst", aborts, 502, "not_idempotent"),
    ("goaway that accepts the stream, and fin", lambda link, _: (link.goaway(watch=False), link.close()), 502, "not_idempotent"),
    ("head torn by fin", torn_head, 502, "not_idempotent"),
    ("head that cannot be decoded", unreadable_head, 502, "not_retryable"),
    ("malformed head", sends([(":status", "abc")]), 502, "not_retryable"),
    ("no response", hangs, 504, "not_idempotent"),
    *((str(status), sends([(":status", str(status))], (b"own words", True)), status, "not_idempotent") for status in (408, 429, 500, 502, 503, 504)),
]


def test_M71_post_that_may_have_been_processed_is_sent_once():
    routes = [{"name": "quiet", "match": {"path": "/no_response"}, "response_timeout": "300ms"}]
    steps = {"/" + name.replace(" ", "_"): step for name, step, _, _ in AFTER_THE_FIRST_BYTE}
    for early in (True, False):  # after the first byte of the body, or after the whole request
        with Http2Upstream({} if early else {path: [step] for path, step in steps.items()}, at_data=steps if early else None) as upstream, \
                http2_proxy(upstream, routes=routes) as reprise:
            for (name, _, status, reason), path in zip(AFTER_THE_FIRST_BYTE, steps):
                if early and name == "no response":
                    continue  # no limit of the upstream runs while the client does not send
                with GatewayClient(reprise) as client:
                    if early:
                        client.begin("POST", path, fields=[("Content-Length", "7")]).send(b"p")
                    else:
                        client.begin("POST", path, b"payload")
                    response = client.read_response()
                equal((response.status, response.attempts, response.reason), (status, 1, reason), name)
                equal(len([head for head in upstream.heads if head.path == path]), 1, name)
            equal(reprise.metric("reprise_retries_total"), 0)
            equal(upstream.effects, {})


def malformed(fields):
    """Returns the fields of a malformed response."""
    return fields if any(name == ":status" for name, _ in fields) else [*OK, *fields]


MALFORMED = {
    "names and values": [[("x", "a\rb")], [("x", "a\nb")], [("x", "a\0b")], [("X-Upper", "1")], [("x y", "1")], [("x:y", "1")], [("", "1")], [("x\u00e9", "1")],
            [("x", " a")], [("x", "a\t")], [("content_length", "5")]],
    "fields of the connection and lengths": [[("connection", "close")], [("transfer-encoding", "chunked")], [("keep-alive", "x")], [("proxy-connection", "x")], [("upgrade", "h2c")],
            [("te", "gzip")], [("content-length", "1"), ("content-length", "2")], [("content-length", "1,1")], [("content-length", "+1")],
            [("content-length", "-1")], [("content-length", "x")], [("content-length", "9" * 20)]],
    "pseudo-fields": [[("x", "1"), (":status", "200")], [(":status", "200"), (":status", "200")], [(":status", "200"), (":path", "/")],
            [(":status", "200"), (":other", "x")], *([(":status", status)] for status in ("99", "600", "abc", "2000", "20", "", "+20", "101"))],
}


def test_M49_M50_M51_malformed_head_becomes_a_502():
    for kind, heads in MALFORMED.items():
        with Http2Upstream({"/x": [sends(malformed(fields), (b"body", True)) for fields in heads]}) as upstream, \
                http2_proxy(upstream, defaults=ONCE) as reprise:
            for number, fields in enumerate(heads):
                with CutClient(reprise) as client:
                    client.begin("GET")
                    response = client.read_response()
                expect_own_502(response, "malformed_response", reprise.requests(number + 1)[number])
                equal(upstream.count(), number + 1, f"{kind} {fields}: {response.body}")
            counted(reprise, "reprise_attempts_total", len(heads), outcome="reset")
            equal(ask(reprise, "GET", "/after").body, b"answer 1 to /after\n")


def test_M51_head_without_status_becomes_a_502():
    with Http2Upstream({"/x": [sends([("x", "1")], (b"body", True))]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise:
        expect_own_502(ask(reprise, "GET"), "malformed_response", reprise.requests(1)[0])
        equal(upstream.count(), 1)


def test_M37_101_from_an_upstream_becomes_a_502():
    with Http2Upstream({"/x": [sends([(":status", "101")], [*OK], (b"body", True))]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise:
        expect_own_502(ask(reprise, "GET"), "malformed_response", reprise.requests(1)[0])
        equal(upstream.count(), 1)


# Frames after a good head. If they come with the head, the response must become a 502. If they come later, it must be cut.
BAD_BODIES = {
    "shorter": (LONG, (b"hello", True)),
    "longer": (LONG, b"hello", b"hello world"),
    "no data": (LONG, (b"", True)),
    "pseudo-field in trailers": (OK, b"hello", ([(":status", "200")], True)),
    "connection in trailers": (OK, b"hello", ([("connection", "x")], True)),
    "bad name in trailers": (OK, b"hello", ([("X-A", "x")], True)),
    "trailers that do not end": (OK, b"hello", [("x-a", "x")]),
}
NO_BODIES = {"204": ("GET", [(":status", "204")], (b"hello", True)), "304": ("GET", [(":status", "304")], (b"hello", True)),
             "HEAD": ("HEAD", LONG, (b"0123456789", True))}


def test_M42_M49_M52_bad_body_in_the_same_write_as_its_head_never_looks_complete():
    for name, frames in BAD_BODIES.items():
        with Http2Upstream({"/x": [sends(*frames)]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, CutClient(reprise) as client:
            client.begin("GET")
            assert outcome_of(client) in ("502", "cut"), name
            equal(causes_of(reprise.requests(1)[0]), ["malformed_response"], name)
            equal((ask(reprise, "GET", "/after").status, upstream.count("/x")), (200, 1), name)


def test_M42_M49_M52_bad_body_that_is_known_before_the_head_is_sent_becomes_a_502():
    for name, frames in BAD_BODIES.items():
        with Http2Upstream({"/x": [sends(*frames)]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, CutClient(reprise) as client:
            client.begin("GET")
            equal(outcome_of(client), "502", name)
            expect_own_502(client.head_read, "malformed_response", reprise.requests(1)[0])
            equal(upstream.count(), 1, name)


def test_M38_data_of_a_response_without_body_that_is_known_before_the_head_is_sent_becomes_a_502():
    for name, (method, *frames) in NO_BODIES.items():
        with Http2Upstream({"/x": [sends(*frames)]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, GatewayClient(reprise) as client:
            equal((client.ask(method).status, upstream.count()), (502, 1), name)


def test_M38_data_of_a_response_without_body_is_never_delivered():
    for name, (method, *frames) in NO_BODIES.items():
        for one_write in (True, False):
            with Http2Upstream({"/x": [sends(*frames, one_write=one_write)]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, \
                    GatewayClient(reprise) as client:
                response = client.begin(method).read_final_head()
                if response.status == 502 and method == "GET":
                    client.read_body(response)
                try:
                    equal(client.ask("GET", "/after").body, b"answer 1 to /after\n", name)
                except (Cut, ConnectionError):  # the proxy may also close the connection
                    equal(bytes(client.buffer), b"", name)
                equal(upstream.count("/x"), 1, name)


def test_M40_M42_M49_M52_bad_body_after_its_head_is_cut():
    for name, (head, *frames) in BAD_BODIES.items():
        with Http2Upstream({"/x": [hangs]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, CutClient(reprise) as client:
            client.begin("GET")
            request = upstream.seen(1)[0]
            request.link.headers(request.stream, head)
            equal(client.read_final_head().status, 200, name)
            sends(*frames)(request.link, request)
            assert b"hello world".startswith(expect_cut(client)), name
            counted(reprise, "reprise_requests_total", 1, code="cut")
            counted(reprise, "reprise_attempts_total", 1, outcome="truncated")
            equal((ask(reprise, "GET", "/after").status, upstream.count("/x")), (200, 1), name)


def test_M38_response_to_head_is_not_left_waiting():
    """The stream of such a response may also end with an empty DATA frame."""
    steps = {"/alone": sends(([*LONG], True)), "/empty": sends(LONG, (b"", True)), "/trailers": sends(LONG, ([("x", "1")], True))}
    with Http2Upstream({path: [step] for path, step in steps.items()}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, \
            GatewayClient(reprise) as client:
        for path in steps:
            response = client.ask("HEAD", path)
            equal((response.status, response.field("Content-Length")), (200, "10"), path)
        equal(client.ask("GET", "/after").body, b"answer 1 to /after\n")
        equal(upstream.connections, 1)


def test_M40_response_that_breaks_after_its_head_is_cut():
    breaks = {**{f"reset {word}": resets(code) for word, code in RESETS.items()}, "fin": closes, "rst": aborts,
              "refused": refuses, "excluded": excludes(), "needs 1.1": resets(h2.HTTP_1_1_REQUIRED),
              "garbage": lambda link, _: link.send(h2.data_frame(0, b"x"))}
    for head in (LONG, OK):
        for name, step in breaks.items():
            with Http2Upstream({"/x": [hangs]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, CutClient(reprise) as client:
                client.begin("GET")
                request = upstream.seen(1)[0]
                request.link.headers(request.stream, head)
                request.link.data(request.stream, b"hello")
                equal((client.read_final_head().status, name), (200, name))
                if client.head_read.is_chunked:
                    equal(client.read_bytes(10), b"5\r\nhello\r\n", name)
                else:
                    equal(client.read_bytes(5), b"hello", name)
                step(request.link, request)
                expect_cut(client)
                counted(reprise, "reprise_requests_total", 1, code="cut")
                equal((upstream.count(), ask(reprise, "GET", "/after").status), (1, 200), name)


def test_M40_broken_response_in_one_write_is_never_complete():
    for step in (resets(h2.NO_ERROR), resets(h2.CANCEL), excludes()):
        for head in (LONG, OK):
            with Http2Upstream({"/x": [sends(head, b"hello", then=step)]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, \
                    CutClient(reprise) as client:
                client.begin("POST", body=b"body")
                assert outcome_of(client) in ("502", "cut")
                equal(upstream.count(), 1)


def test_M41_response_is_complete_although_a_reset_follows():
    def early(code):
        def step(link, request):
            with link.one_write():
                link.respond(request, Reply(200, b"whole", trailers=[("x-sum", "1")], length=False))
                link.reset_stream(request.stream, code)
        return step
    for word, code in {**RESETS, "refused_stream": h2.REFUSED_STREAM}.items():
        with Http2Upstream(at_head={"/x": early(code)}) as upstream, http2_proxy(upstream, defaults=ONCE, **ONE_CONNECTION) as reprise, \
                GatewayClient(reprise) as client:
            response = client.ask("POST", body=b"x" * 200_000)
            equal((response.status, response.body, response.trailers.strip().lower()), (200, b"whole", b"x-sum: 1"), word)
            equal((client.ask("GET", "/after").status, upstream.connections, attempts_of(reprise.requests(1)[0])), (200, 1, []), word)


def test_M14_push_promise_is_a_connection_error():
    def pushes(link, request):
        promised = link.encoder.encode([(":method", "GET"), (":path", "/")])
        with link.one_write():
            link.send(h2.frame(h2.PUSH_PROMISE, h2.END_HEADERS, request.stream, h2.number(2) + promised))
            link.respond(request, Reply(200))
    with Http2Upstream({"/x": [pushes]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise:
        equal((ask(reprise, "POST", "/x", b"body").status, upstream.links[0].client_settings[h2.ENABLE_PUSH]), (502, 0))
        equal(eventually(lambda: upstream.links[0].goaways, "the proxy reports the error")[0][1], h2.PROTOCOL_ERROR)
        equal((ask(reprise, "GET", "/after").status, upstream.connections), (200, 2))


def test_M52_frames_after_the_end_of_a_response_change_nothing():
    def more(link, request):
        with link.one_write():
            link.respond(request, Reply(200, b"whole"))
            link.send(h2.data_frame(request.stream, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake"))
    with Http2Upstream({"/x": [more]}) as upstream, http2_proxy(upstream, defaults=ONCE) as reprise, GatewayClient(reprise) as client:
        equal((client.ask("GET").body, client.ask("GET", "/after").body), (b"whole", b"answer 1 to /after\n"))
        equal(upstream.count(), 2)


def test_M70_reset_of_one_stream_does_not_concern_the_others():
    with Http2Upstream({"/a": [hangs], "/b": [hangs]}) as upstream, http2_proxy(upstream, defaults=ONCE, **ONE_CONNECTION) as reprise, \
            clients(reprise, 2) as (one, two):
        one.begin("POST", "/a", b"a")
        two.begin("POST", "/b", b"b")
        first, second = sorted(upstream.seen(2), key=lambda request: request.path)
        equal(first.connection, second.connection)
        first.link.reset_stream(first.stream, h2.INTERNAL_ERROR)
        equal(one.read_response().status, 502)
        eventually(lambda: second.link.streams, "the other stream is open")
        second.link.respond(second, Reply(200, b"fine"))
        equal(two.read_response().body, b"fine")
