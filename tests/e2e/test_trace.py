"""Tests spans: what a collector receives for each request, and that no collector can slow a request down."""
import os
import signal
import subprocess
import time

from client import Client, ask, head_of
from control import Controlled
from harness import LOOPBACK, PATIENCE, Reprise, at_most, closed_port, equal, eventually, is_sanitized, options, part_not_played
from otlp import CLIENT, SERVER, TAKEN, Collector, MESSAGES, NotOtlp, hold, spans_of
from server import bound
from tls import TlsUpstream, authority
from upstream import Say, Upstream

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
QUICK = {"retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}}


def traced(collector, **more):
    return {"otlp": collector if isinstance(collector, str) else collector.otlp, **more}


def tree(spans):
    """Returns the request's span and the spans of its attempts. Precondition: `spans` has the spans of one request."""
    (request,) = [span for span in spans if span.kind == SERVER]
    return request, [span for span in spans if span.kind == CLIENT]


def test_retried_request_produces_a_request_span_with_one_child_span_per_attempt():
    with Upstream({"/x": [Say(503, fields=[("Retry-After", "0")]), "reset", 200]}) as upstream, Collector() as collector:
        with Reprise(trace=traced(collector)) as reprise:
            before = time.time_ns()
            answer = ask(reprise, "GET", upstream.url("/x?secret=1"), fields=[("traceparent", f"00-{TRACE}-{PARENT}-01")])
            equal((answer.status, answer.attempts), (200, 3))
            request, attempts = tree(collector.spans(4))
            equal([span.trace for span in collector.all()], [TRACE] * 4)
            equal((request.parent, request.flags), (PARENT, 0x301))
            equal([span.parent for span in attempts], [request.id] * 3)
            equal(len({span.id for span in [request, *attempts]}), 4)
            equal((request.name, request.status, request["http.response.status_code"]), ("GET", 0, 200))
            equal((request["reprise.route"], request["reprise.reason"], request["reprise.attempts"]), ("default", "success", 3))
            assert request["reprise.recovered"] is True
            equal((request["server.address"], request["server.port"], request["url.path"]), (LOOPBACK, upstream.port, "/x"))
            equal((request["url.scheme"], request["client.address"]), ("http", LOOPBACK))
            equal([span.get("http.request.resend_count") for span in attempts], [None, 1, 2])
            equal([span.get("error.type") for span in attempts], ["503", "reset", None])
            equal([span.status for span in attempts], [2, 2, 0])
            equal([span["reprise.reason"] for span in attempts], ["retryable_status", "retryable_failure", "success"])
            equal([span["reprise.retry"] for span in attempts], [True, True, False])
            equal([span["url.full"] for span in attempts], [upstream.url("/x")] * 3, "no query")
            equal([(span["network.peer.address"], span["network.peer.port"]) for span in attempts], [(LOOPBACK, upstream.port)] * 3)
            assert attempts[1]["reprise.wait_ms"] > 0, attempts[1].attributes
            assert before <= request.start <= attempts[0].start <= attempts[0].end <= attempts[1].start, "in order"
            assert attempts[2].end <= request.end <= time.time_ns(), "in order"
            equal((request.resource["service.name"], request.resource["process.pid"]), ("reprise", reprise.process.pid))
            # The upstream must receive the traceparent of the client unchanged.
            equal(upstream.seen(3)[2].field("traceparent"), f"00-{TRACE}-{PARENT}-01")
            reprise.expect_metric(4, "reprise_trace_spans_total")
            equal(reprise.metric("reprise_trace_dropped_total"), 0)


def test_log_line_and_span_of_a_request_share_one_id():
    with Upstream() as upstream, Collector() as collector, Reprise(trace=traced(collector)) as reprise:
        ask(reprise, "GET", upstream.url("/x"))
        (line,) = reprise.requests(1)
        request, _ = tree(collector.spans(2))
        equal(request["reprise.id"], line["id"])


def test_caller_decides_sampling_of_ordinary_requests_and_failures_are_always_traced():
    with Upstream({"/down": [503]}) as upstream, Collector() as collector, Reprise(defaults=QUICK, trace=traced(collector, sample="0%")) as reprise:
        def get(path, flags=None, parent=None):
            parent = parent or f"00-{TRACE}-{PARENT}-{flags}"
            return ask(reprise, "GET", upstream.url(path), fields=[("traceparent", parent)] if flags or parent != "none" else [])
        get("/down", "00")
        get("/x", "00")
        get("/quiet", parent="none")
        get("/down", parent="none")
        get("/marked", "01")
        # reprise ignores an invalid traceparent.
        get("/junk", parent="00-zz-01")
        spans = collector.spans(9)
        equal(sorted(span["url.path"] for span in spans if span.kind == SERVER), ["/down", "/marked"])
        down = [span for span in spans if span.kind == SERVER and span["url.path"] == "/down"]
        assert down[0].parent is None and down[0].trace != TRACE, "a trace of its own"
        equal((down[0].status, down[0]["error.type"]), (2, "503"))
        ask(reprise, "GET", upstream.url("/last"), fields=[("traceparent", f"00-{TRACE}-{PARENT}-01")])
        equal([span["url.path"] for span in collector.spans(11) if span.kind == SERVER].count("/junk"), 0)


def test_about_half_of_the_ordinary_requests_are_traced_if_sample_is_50_percent():
    with Upstream() as upstream, Collector() as collector, Reprise(trace=traced(collector, sample="50%")) as reprise:
        for _ in range(200):
            ask(reprise, "GET", upstream.url("/x"))
        reprise.process.send_signal(signal.SIGTERM)
        reprise.process.wait(PATIENCE)
        requests = len(collector.all()) / 2
        assert 50 < requests < 150, requests  # the bounds are 7 standard deviations away from the mean


def test_spans_contain_no_path_if_the_log_is_configured_to_hide_paths():
    with Upstream() as upstream, Collector() as collector, Reprise(trace=traced(collector), log={"path": "route"}) as reprise:
        ask(reprise, "GET", upstream.url("/secret"))
        collector.spans(2)
        assert all(b"secret" not in request.body for request in collector.posts())


def test_failed_tunnel_produces_spans():
    held, port = closed_port()
    with Collector() as collector, Reprise(defaults={"retry": {"max_attempts": 1}}, trace=traced(collector)) as reprise:
        with Client(reprise.forward) as client:
            client.send(head_of("CONNECT", f"{LOOPBACK}:{port}", f"{LOOPBACK}:{port}"))
            equal(client.read_response("CONNECT").status, 502)
        request, attempts = tree(collector.spans(2))
        equal((request.name, request.get("url.scheme"), request.get("url.path")), ("CONNECT", None, None))
        equal((attempts[0]["error.type"], attempts[0]["reprise.stage"]), ("refused", "connect"))
        equal(request["server.port"], port)
    held.close()


def test_client_supplied_bytes_produce_valid_json_spans():
    with Upstream() as upstream, Collector() as collector, Reprise(trace=traced(collector)) as reprise:
        ask(reprise, "M-SEARCH", upstream.url("/\"\\%00'"), fields=[("X-Request-Id", "\"\\\xff\t")])
        request, _ = tree(collector.spans(2))
        equal((request.name, request["http.request.method"], request["http.request.method_original"]), ("HTTP", "_OTHER", "M-SEARCH"))


def serving(reprise, upstream, requests=30):
    """Sends requests and checks that each gets a 200, no matter whether spans can be delivered."""
    for _ in range(requests):
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)


def dropped(reprise, **labels):
    return reprise.metric("reprise_trace_dropped_total", **labels)


def test_unreachable_collector_fails_no_request():
    held, port = closed_port()
    with Upstream() as upstream, Reprise(trace=traced(f"http://{LOOPBACK}:{port}")) as reprise:
        serving(reprise, upstream)
        reprise.expect_log("spans are not delivered: the connection to the collector failed")
        serving(reprise, upstream)
        # The collector starts only now, and must get the spans that reprise still holds.
        held.listen(8)
        with Collector(listener=held) as collector:
            collector.spans(120)
            reprise.expect_log("the collector accepts spans again")
            reprise.expect_metric(120, "reprise_trace_spans_total")
            equal(dropped(reprise), 0)


def test_unresponsive_collector_delays_neither_requests_nor_shutdown():
    silent = bound()
    silent.listen(16)
    with Upstream() as upstream, Reprise(trace=traced("http://%s:%d" % silent.getsockname())) as reprise:
        serving(reprise, upstream)
        reprise.process.send_signal(signal.SIGTERM)
        equal(reprise.process.wait(PATIENCE), 0)
    silent.close()


def test_spans_rejected_by_the_collector_are_counted_and_logged():
    with Upstream() as upstream, Collector([Say(400, body=b"no such field"), Say(413, body=b""), TAKEN]) as collector:
        with Reprise(trace=traced(collector)) as reprise:
            ask(reprise, "GET", upstream.url("/x"))
            eventually(lambda: dropped(reprise, cause="refused") == 2, "the first are refused")
            reprise.expect_log("the collector responded with status 400: no such field")
            ask(reprise, "GET", upstream.url("/x"))
            eventually(lambda: dropped(reprise, cause="refused") == 4, "and the second")
            ask(reprise, "GET", upstream.url("/x"))
            reprise.expect_metric(2, "reprise_trace_spans_total")
            equal(len(collector.posts()), 3, "none was sent twice")


def test_spans_are_sent_again_to_a_busy_collector():
    busy = Say(503, body=b"", fields=[("Retry-After", "1")])
    with Upstream() as upstream, Collector([busy, Say(429, body=b""), "reset", TAKEN]) as collector, Reprise(trace=traced(collector)) as reprise:
        ask(reprise, "GET", upstream.url("/x"))
        reprise.expect_metric(2, "reprise_trace_spans_total")
        bodies = {request.body for request in collector.posts(4)}
        equal(len(bodies), 1, "the same spans each time")
        equal(dropped(reprise), 0)


def test_full_span_queue_is_counted_and_its_memory_bounded():
    """Sends about a thousand requests. Each has 32 recorded attempts, and the collector never responds."""
    silent = bound()
    silent.listen(16)
    many = {"retry": {"max_attempts": 40, "backoff": {"initial": "0ms", "maximum": "0ms"}}, "budget": "off"}
    with Upstream({"/down": [503]}) as upstream:
        with Reprise(threads=1, defaults=many, trace=traced("http://%s:%d" % silent.getsockname()), log={"access": False}) as reprise:
            def full():
                equal(ask(reprise, "GET", upstream.url("/down")).attempts, 40)
                return dropped(reprise, cause="queue_full") > 100
            eventually(full, "the queue is full")
            before = memory(reprise)
            for _ in range(200):
                full()
            grown = memory(reprise) - before
            if is_sanitized():
                part_not_played("memory", "sanitizer", "it is not its own under a sanitizer")
            else:
                at_most(grown, 2 * 1024, "KiB more")
            reprise.process.send_signal(signal.SIGTERM)
            equal(reprise.process.wait(PATIENCE), 0)
    silent.close()


def memory(reprise):
    with open(f"/proc/{reprise.process.pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


def test_shutdown_sends_the_remaining_spans():
    with Upstream() as upstream, Collector() as collector, Reprise(trace=traced(collector)) as reprise:
        serving(reprise, upstream, 20)
        reprise.process.send_signal(signal.SIGTERM)
        equal(reprise.process.wait(PATIENCE), 0)
        equal(len(collector.all()), 40)


def test_reload_can_start_tracing_and_change_the_collector_and_stop_tracing():
    with Upstream() as upstream, Collector() as one, Collector(path="/two") as two, Controlled() as reprise:
        ask(reprise, "GET", upstream.url("/before"))
        threads = reprise.metric("process_threads")
        reprise.change(trace=traced(one))
        reprise.expect_reload("success")
        ask(reprise, "GET", upstream.url("/one"))
        equal(sorted(span["url.path"] for span in one.spans(2) if span.kind == SERVER), ["/one"])
        assert reprise.metric("process_threads") == threads + 1
        reprise.change(trace=traced(two))
        equal(reprise.tell("reload")[0], 0)
        ask(reprise, "GET", upstream.url("/two"))
        equal(sorted(span["url.path"] for span in two.spans(2) if span.kind == SERVER), ["/two"])
        reprise.change(trace={"otlp": "none"})
        equal(reprise.tell("reload")[0], 0)
        ask(reprise, "GET", upstream.url("/off"))
        reprise.requests(4)
        equal((len(one.all()), len(two.all())), (2, 2))


def test_export_of_spans_through_the_same_proxy_produces_no_further_spans():
    """The spans go to the collector through a gateway of the same proxy. The gateway is named by another address, so
    that reprise cannot detect the loop in its configuration."""
    with Upstream() as upstream, Collector() as collector:
        listeners = [{"mode": "forward", "bind": "127.0.0.1:0"},
                     {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": collector.url().rstrip("/")}]
        with Controlled(listeners=listeners) as reprise:
            reprise.change(trace=traced("http://%s:%d" % reprise.gateway))
            equal(reprise.tell("reload")[0], 0)
            ask(reprise, "GET", upstream.url("/x"))
            eventually(lambda: dropped(reprise, cause="refused") == 2, "what comes back is a loop")
            reprise.expect_log("the collector responded with status 508")
            equal(len(reprise.requests(1)), 1)
            equal(collector.connections, 0)


def test_collector_of_the_tests_detects_invalid_spans():
    """The collector must reject every message that is not valid OTLP/JSON."""
    good = {"traceId": TRACE, "spanId": PARENT, "name": "GET", "kind": 2, "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    hold("Span", good, "good")
    wrong = [{"trace_id": TRACE}, {"kind": "SPAN_KIND_SERVER"}, {"startTimeUnixNano": 1}, {"spanId": "S/BnqgupArc="}, {"traceId": "0" * 32},
             {"endTimeUnixNano": "0"}, {"flags": "1"}, {"status": {"code": 3}}, {"name": ""}, {"parentSpanId": ""},
             {"attributes": [{"key": "a", "value": {"intValue": 1}}]}, {"attributes": [{"key": "a", "value": {}}]},
             {"attributes": [{"key": "a", "value": {"stringValue": "b"}}] * 2}]
    for change in wrong:
        try:
            hold("Span", {**good, **change}, "wrong")
        except NotOtlp:
            continue
        raise AssertionError(f"taken: {change}")
    assert "Span" in MESSAGES and callable(spans_of)


class OverTls(Collector, TlsUpstream):
    """A collector over TLS, with a certificate of the test's CA."""

    @property
    def base(self):
        return f"https://{LOOPBACK}:{self.port}"


def with_variables(variables, **configuration):
    """Starts a proxy that has the given environment variables and no other OpenTelemetry variables."""
    def prepare():
        for name in [name for name in os.environ if name.startswith("OTEL_")]:
            del os.environ[name]
        os.environ.update(variables)
        os.execve(options.binary, reprise.command(), os.environ)
    reprise = Reprise(prepare=prepare, **configuration)  # `prepare` calls command() of this object after the assignment
    return reprise


def one_request(reprise):
    with Upstream() as upstream:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)


def test_opentelemetry_variables_set_the_collector_and_the_resource():
    with Collector(path="/base/v1/traces") as collector:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url("/base/"), "OTEL_SERVICE_NAME": "shop",
                     "OTEL_RESOURCE_ATTRIBUTES": "service.name=other, deployment.environment=a%20b%2Cc,host.name=mine",
                     "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=se%3Dcret,x-other=1"}
        with with_variables(variables) as reprise:
            one_request(reprise)
            request, _ = tree(collector.spans(2))
            wanted = {"service.name": "shop", "deployment.environment": "a b,c", "host.name": "mine"}
            equal({name: request.resource[name] for name in wanted}, wanted)
            (post,) = collector.posts(1)
            equal((post.field("x-api-key"), post.field("x-other")), ("se=cret", "1"))
            assert "cret" not in reprise.text() + reprise.admin("/status")[1], "a header's value is a secret"
            # reprise must keep the collector after a reload.
            reprise.process.send_signal(signal.SIGHUP)
            reprise.expect_log("configuration reloaded")
            one_request(reprise)
            collector.spans(4)


def test_traces_endpoint_variable_is_used_as_is_and_takes_precedence():
    with Collector(path="/t") as collector:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{LOOPBACK}:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.otlp}
        with with_variables(variables) as reprise:
            one_request(reprise)
            equal(tree(collector.spans(2))[0].resource["service.name"], "reprise")


def test_configuration_file_overrides_opentelemetry_variables():
    with Collector() as of_file, Collector() as of_variable:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{LOOPBACK}:{of_variable.port}", "OTEL_SERVICE_NAME": "shop"}
        with with_variables(variables, trace=traced(of_file)) as reprise:
            one_request(reprise)
            equal(tree(of_file.spans(2))[0].resource["service.name"], "shop")
        with with_variables(variables, trace=traced("none")) as reprise:
            one_request(reprise)
            reprise.requests(1)
        equal(of_variable.all(), [], "trace.otlp: none is a word of the file, too")


def test_tls_collector_must_present_a_trusted_certificate():
    with OverTls() as collector:
        trusted = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.base, "OTEL_EXPORTER_OTLP_CERTIFICATE": authority().file}
        with with_variables(trusted) as reprise:
            one_request(reprise)
            collector.spans(2)
            one_request(reprise)
            collector.spans(4)
            reprise.expect_metric(4, "reprise_trace_spans_total")
        with with_variables({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.base}) as reprise:
            one_request(reprise)
            reprise.expect_log("spans are not delivered: TLS with the collector failed")
            reprise.expect_log("certificate")
        equal(len(collector.all()), 4)


def test_disabled_opentelemetry_sends_nothing():
    with Collector() as collector:
        for more in ({"OTEL_SDK_DISABLED": "TRUE"}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}):
            with with_variables({"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{LOOPBACK}:{collector.port}", **more}) as reprise:
                one_request(reprise)
                reprise.requests(1)
                equal("OTEL_EXPORTER_OTLP_PROTOCOL is not http/json" in reprise.text(), "OTEL_EXPORTER_OTLP_PROTOCOL" in more)
        equal(collector.all(), [])


def test_invalid_opentelemetry_variables_are_named_and_not_fatal():
    bad = {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz", "OTEL_SDK_DISABLED": "perhaps",
           "OTEL_EXPORTER_OTLP_HEADERS": "secret-without-equals"}
    with with_variables(bad) as reprise:
        one_request(reprise)
        warnings = [line["message"] for line in reprise.log() if line["level"] == "warn"]
        for name in bad:
            assert any(warning.startswith(name) for warning in warnings), (name, warnings)
        assert "without-equals" not in reprise.text(), "a header may be a secret"


def test_exec_ignores_opentelemetry_variables():
    with Collector() as collector, Upstream() as upstream:
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{LOOPBACK}:{collector.port}", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz"}
        done = subprocess.run([options.binary, "exec", "--log", "/dev/stderr", "--", "curl", "-s", upstream.url("/x")], env=environment,
                              capture_output=True, text=True, check=False)
        equal((done.returncode, done.stdout), (0, "answer 1 to /x\n"))
        assert "OTEL" not in done.stderr, done.stderr
        equal(collector.all(), [])
