"""Tests group N of docs/requirements/robustness.md: situations in which a client did better without a proxy. Uses
the shipped defaults unless a case sets a key."""
import os
import pathlib
import re
import socket
import subprocess
import threading
import time

from client import Client, ask, head_of
from faults import isolated
from harness import LOOPBACK, Reprise, equal, options
from names import NXDOMAIN, Answer, NameServer
from server import Server, bound
from test_explain import explain
from upstream import Say, Upstream

UPGRADE = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg==")]
OAUTH_1 = [("Authorization", 'OAuth oauth_consumer_key="k", oauth_nonce="n1", oauth_timestamp="1", oauth_signature="s"')]
LOST = "execute_reset"


def test_N15_upgrade_request_is_sent_once_if_its_response_is_lost():
    """`kubectl exec`, `attach` and `port-forward` send upgrade requests with a query. Covers the forward listener
    and CONNECT."""
    with Upstream({"/exec": [LOST]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/exec?command=id"), None, UPGRADE)
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        with Client(reprise.forward) as client:
            authority = f"{LOOPBACK}:{upstream.port}"
            client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
            equal(client.read_final_head().status, 200)
            client.send(head_of("GET", "/exec?command=id", authority, UPGRADE))
            response = client.read_response("GET")
            equal((response.status, response.reason), (502, "not_idempotent"))
        equal(upstream.count("/exec"), 2, "each was sent once")


def test_N15_upgrade_request_is_retried_after_503_but_not_after_500():
    with Upstream({"/busy": [503, 404], "/broken": [500]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/busy"), None, UPGRADE)
        equal((response.status, response.attempts), (404, 2))
        response = ask(reprise, "GET", upstream.url("/broken"), None, UPGRADE)
        equal((response.status, response.attempts, response.reason), (500, 1, "not_idempotent"))
    _, out = explain("GET", "http://api.test/exec", "--header", "Connection: upgrade", "--header", "Upgrade: websocket",
                     "--failure", "reset")
    assert "\nends        not_idempotent" in out and "or a 429 or 503 in `retry.on`" in out, out


def test_N16_later_error_after_a_lost_response_is_reported_as_ambiguous():
    for method, status in (("DELETE", 404), ("PUT", 409), ("PUT", 412), ("PUT", 401)):
        with Upstream({"/x": [LOST, status]}) as upstream, Reprise() as reprise:
            response = ask(reprise, method, upstream.url("/x?id=9"), b"body" if method == "PUT" else None)
            equal((response.status, response.reason, response.attempts), (502, "ambiguous_outcome", 2), (method, status))
            assert "error=connection_terminated" in response.field("Proxy-Status"), response.head
            assert b"attempt 1 of 2 failed" in response.body and f"attempt 2 got status {status}".encode() in response.body, response.body
            equal(reprise.requests(1)[0]["reason"], "ambiguous_outcome")
            reprise.expect_metric(1, "reprise_ambiguous_total")
            reprise.expect_metric(1, "reprise_retries_refused_total", reason="ambiguous_outcome")


def test_N16_request_idempotent_by_rule_gets_the_later_response_marked_ambiguous():
    keyed = [{"name": "keyed", "match": {"path": "/keyed"}, "idempotent": {"any": [{"header": "Idempotency-Key"}]}},
             {"name": "asked", "match": {"path": "/asked"}, "ambiguous": "response"}]
    with Upstream({"/keyed": [LOST, 409], "/asked": [LOST, 404], "/busy": [503, 409]}) as upstream, Reprise(routes=keyed) as reprise:
        response = ask(reprise, "POST", upstream.url("/keyed"), b"order", [("Idempotency-Key", "k")])
        equal((response.status, response.field("Reprise-Ambiguous")), (409, "true"))
        response = ask(reprise, "DELETE", upstream.url("/asked"))
        equal((response.status, response.field("Reprise-Ambiguous")), (404, "true"))
        response = ask(reprise, "PUT", upstream.url("/busy"), b"body")
        equal((response.status, response.field("Reprise-Ambiguous")), (409, "true"), "after a 503 the later response is given")
        reprise.expect_metric(3, "reprise_ambiguous_total")


def test_N16_create_only_put_is_not_retried_after_a_lost_response():
    only_new = [("If-None-Match", "*")]
    rule = [{"name": "rule", "match": {"path": "/rule"}, "idempotent": {"any": [{"header": "If-None-Match"}]}}]
    with Upstream({"/x": [LOST], "/busy": [503, 201], "/rule": [LOST, 412]}) as upstream, Reprise(routes=rule) as reprise:
        response = ask(reprise, "PUT", upstream.url("/x"), b"lock", only_new)
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        response = ask(reprise, "PUT", upstream.url("/busy"), b"lock", only_new)
        equal((response.status, response.attempts), (201, 2))
        response = ask(reprise, "PUT", upstream.url("/rule"), b"lock", only_new)
        equal((response.status, response.attempts, response.field("Reprise-Ambiguous")), (412, 2, "true"))


def test_N17_one_time_credentials_are_sent_once():
    with Upstream({"/busy": [503, 401], "/lost": [LOST, 401], "/dpop": [503, 401]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/busy"), None, OAUTH_1)
        equal((response.status, response.reason, response.attempts), (503, "signature_expired", 1))
        response = ask(reprise, "GET", upstream.url("/lost"), None, OAUTH_1)
        equal((response.status, response.reason, response.attempts), (502, "signature_expired", 1))
        response = ask(reprise, "GET", upstream.url("/dpop"), None, [("DPoP", "eyJ0eXAiOiJkcG9wK2p3dCJ9.e30.c2ln")])
        equal((response.status, response.reason, response.attempts), (503, "signature_expired", 1))
    with Upstream({"/x": [503, 200]}) as upstream, Reprise(defaults={"signature": {"one_time": False}}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x"), None, OAUTH_1).attempts, 2, "where the file says that the upstream takes them twice")


def test_N18_request_of_any_method_is_retried_after_a_status_listed_in_retry_refused():
    retry = {"refused": [429], "backoff": {"initial": "1ms", "maximum": "1ms"}}
    with Upstream({"/busy": [429, 200], "/lost": [LOST], "/broken": [500]}) as upstream, Reprise(defaults={"retry": retry}) as reprise:
        response = ask(reprise, "POST", upstream.url("/busy"), b"order")
        equal((response.status, response.attempts), (200, 2))
        equal([request.body for request in upstream.seen(2)], [b"order", b"order"])
        response = ask(reprise, "POST", upstream.url("/lost"), b"order")
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        response = ask(reprise, "POST", upstream.url("/broken"), b"order")
        equal((response.status, response.reason, response.attempts), (500, "not_idempotent", 1))
    with Upstream({"/busy": [429]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "POST", upstream.url("/busy"), b"order")
        equal((response.status, response.reason), (429, "not_idempotent"), "the shipped list is empty")
    _, out = explain("POST", "http://api.test/v1/x", "--status", "429")
    assert "give the route `retry: {refused: [429]}`" in out, out


def test_N18_body_over_the_replay_memory_is_sent_again_after_a_status_listed_in_retry_refused():
    defaults = {"retry": {"refused": [429], "backoff": {"initial": "1ms", "maximum": "1ms"}}, "replay": {"memory": "1KiB"}}
    body = b"x" * 100_000
    with Upstream({"/x": [429, 200]}) as upstream, Reprise(defaults=defaults) as reprise:
        response = ask(reprise, "POST", upstream.url("/x"), body)
        equal((response.status, response.attempts), (200, 2))
        equal([request.body for request in upstream.seen(2)], [body, body])


def test_N19_default_timeouts_never_cut_a_connection_that_is_silent_for_310_seconds():
    """The connection stays silent for 310 s in the nightly tests, and for 1 s in all other test runs."""
    silence = 310 if options.night else 1
    gone_on, failures = [], []

    def silent_before_the_head(connection, _):
        time.sleep(silence)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return True

    def silent_within_the_body(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\no")
        time.sleep(silence)
        connection.sendall(b"k")
        return True

    def echo(connection):
        while data := connection.recv(65536):
            connection.sendall(data)

    def patient(reprise):
        return Client(reprise.forward, timeout=silence + 120)

    def long_poll(reprise, url):
        with patient(reprise) as client:
            equal(client.ask("GET", url("/poll")).body, b"ok")

    def post(reprise, url):
        with patient(reprise) as client:
            equal(client.ask("POST", url("/poll"), b"order").body, b"ok")

    def events(reprise, url):
        with patient(reprise) as client:
            equal(client.ask("GET", url("/events")).body, b"ok")

    def upload(reprise, url):
        with patient(reprise) as client:
            client.send(head_of("PUT", url("/up"), url("").split("/")[2], [("Content-Length", "4")]) + b"da")
            time.sleep(silence)
            client.send(b"ta")
            equal(client.read_response("PUT").status, 200)

    def tunnel(reprise, _):
        with Server(echo) as server, patient(reprise) as client:
            authority = f"{LOOPBACK}:{server.port}"
            client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
            equal(client.read_final_head().status, 200)
            for word in (b"SSH-2.0-one\r\n", b"two"):
                client.send(word)
                equal(client.socket.recv(len(word), socket.MSG_WAITALL), word)
                time.sleep(silence)

    def play(what, reprise, url):
        try:
            what(reprise, url)
            gone_on.append(what.__name__)
        except BaseException as error:  # pylint: disable=broad-except
            failures.append((what.__name__, repr(error)))

    scripts = {"/poll": [silent_before_the_head], "/events": [silent_within_the_body]}
    with Upstream(scripts) as upstream, Reprise() as reprise:
        plays = [threading.Thread(target=play, args=(what, reprise, upstream.url)) for what in (long_poll, post, events, upload, tunnel)]
        for one in plays:
            one.start()
        for one in plays:
            one.join()
    equal((sorted(gone_on), failures), (["events", "long_poll", "post", "tunnel", "upload"], []))


test_N19_default_timeouts_never_cut_a_connection_that_is_silent_for_310_seconds.timeout = 900


def test_N20_every_file_that_sets_proxy_variables_exempts_all_metadata_services():
    """The list of metadata services is taken from the output of `reprise env`. Documents, manifests and the policy
    must contain the whole list."""
    listed = subprocess.run([options.binary, "env", "--format", "dotenv"], capture_output=True, text=True, check=True,
                            env={"PATH": os.environ["PATH"]}).stdout
    exempt = re.search('^no_proxy="(.+)"$', listed, re.M)[1]
    equal(exempt.split(","), ["169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "100.100.100.200", "192.0.0.192",
                              "metadata.google.internal"])
    equal("all_proxy" in listed.lower(), False)
    root = pathlib.Path(__file__).parents[2]
    for file in ("docs/clients.md", "deploy/quickstart.sh", "deploy/kubernetes/sidecar.yaml", "deploy/kubernetes/job.yaml",
                 "deploy/kubernetes/job-old-layout.yaml", "deploy/kubernetes/policy.yaml", "deploy/kubernetes/component/environment.yaml"):
        text = (root / file).read_text(encoding="utf-8")
        assert exempt in text, file
        assert not re.search(r"\ball_proxy\b.*3128", text, re.I), file
    for file in sorted((root / "deploy").rglob("*.yaml")):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert "kubernetes.default.svc," not in line or exempt in line, (file, line)


def test_N20_explain_advises_direct_access_for_metadata_urls():
    for host in ("169.254.169.254", "169.254.170.2", "169.254.170.23", "[fd00:ec2::254]", "100.100.100.200", "192.0.0.192"):
        _, out = explain("GET", f"http://{host}/latest/meta-data/")
        assert "ends        address_denied" in out and "send requests to the cloud's metadata service directly" in out, (host, out)


def test_N22_get_on_a_stale_connection_is_retried_in_off_and_observe_mode():
    for mode in ("off", "observe"):
        with Upstream({"/x": [200, "reset", 200]}) as upstream, Reprise(defaults={"mode": mode}) as reprise, Client(reprise.forward) as client:
            equal(client.ask("GET", upstream.url("/x")).status, 200, mode)
            equal(client.ask("GET", upstream.url("/x")).status, 200, mode)
            reprise.expect_metric(1, "reprise_retries_total", reason="stale_connection")


def test_preset_oci_repeats_no_upload_step_after_a_lost_response():
    preset = [{"name": "oci", "hosts": [LOOPBACK], "tls": "off", "retry": {"backoff": {"initial": "1ms", "maximum": "1ms"}}}]
    scripts = {"/v2/a/b/blobs/uploads/u": [LOST], "/v2/a/b/blobs/uploads/": [429, 202], "/v2/a/b/manifests/1": [LOST, 201]}
    with Upstream(scripts) as upstream, Reprise(presets=preset) as reprise:
        response = ask(reprise, "PUT", upstream.url("/v2/a/b/blobs/uploads/u?digest=sha256:1"), b"layer")
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        response = ask(reprise, "POST", upstream.url("/v2/a/b/blobs/uploads/"), b"")
        equal((response.status, response.attempts), (202, 2))
        response = ask(reprise, "PUT", upstream.url("/v2/a/b/manifests/1"), b"{}")
        equal((response.status, response.attempts), (201, 2))


def test_preset_consul_sends_writes_once_if_a_retry_would_hide_their_outcome():
    preset = [{"name": "consul", "hosts": [LOOPBACK], "retry": {"backoff": {"initial": "1ms", "maximum": "1ms"}}}]
    once = ["/v1/kv/a?cas=3", "/v1/event/fire/deploy", "/v1/session/create", "/v1/txn"]
    scripts = {path.split("?", 1)[0]: [LOST] for path in once} | {"/v1/kv/b": [LOST, 200], "/v1/agent/health/service/id/x": [503]}
    with Upstream(scripts) as upstream, Reprise(presets=preset) as reprise:
        for path in once:
            response = ask(reprise, "PUT", upstream.url(path), b"{}")
            equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1), path)
        equal(ask(reprise, "PUT", upstream.url("/v1/kv/b"), b"1").attempts, 2)
        response = ask(reprise, "GET", upstream.url("/v1/agent/health/service/id/x"))
        equal((response.status, response.reason, response.attempts), (503, "not_retryable", 1), "critical is an answer")


def test_preset_vault_sends_writes_and_credential_reads_once():
    preset = [{"name": "vault", "hosts": [LOOPBACK], "retry": {"backoff": {"initial": "1ms", "maximum": "1ms"}}}]
    scripts = {"/v1/database/creds/app": [LOST], "/v1/auth/approle/login": [LOST], "/v1/secret/data/a": [412, 200], "/v1/sys/health": [429]}
    with Upstream(scripts) as upstream, Reprise(presets=preset) as reprise:
        for method, path in (("GET", "/v1/database/creds/app"), ("PUT", "/v1/auth/approle/login")):
            response = ask(reprise, method, upstream.url(path), b"{}" if method == "PUT" else None)
            equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1), path)
        equal(ask(reprise, "GET", upstream.url("/v1/secret/data/a")).attempts, 2)
        response = ask(reprise, "GET", upstream.url("/v1/sys/health"))
        equal((response.status, response.reason, response.attempts), (429, "not_retryable", 1), "a standby says so")


def test_preset_health_returns_the_status_of_a_check_without_retrying():
    with Upstream({"/readyz": [503], "/health/live": [LOST, 200], "/x": [503, 200]}) as upstream, Reprise(presets=["health"]) as reprise:
        response = ask(reprise, "GET", upstream.url("/readyz"))
        equal((response.status, response.reason, response.attempts), (503, "not_retryable", 1))
        equal(ask(reprise, "GET", upstream.url("/health/live")).attempts, 2, "a failure without a response says nothing")
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 2, "other paths are retried as ever")


@isolated
def test_H5_via_is_added_to_a_request_only_if_no_other_loop_detection_works():
    """By default, nginx does not compress the response if the request has Via (see its directive gzip_proxied).
    So reprise adds no Via to a request that goes to another host."""
    subprocess.run(["ip", "addr", "add", "10.77.0.1/32", "dev", "lo"], check=True)
    with NameServer({"up.test": [Answer("10.77.0.1")], "near.test": [Answer("127.0.0.2")]}), \
            Upstream(listener=bound("0.0.0.0")) as upstream, Reprise() as reprise:
        for host, via in (("up.test", False), ("10.77.0.1", False), ("near.test", True), (LOOPBACK, True)):
            response = ask(reprise, "GET", f"http://{host}:{upstream.port}/{host}")
            equal(response.status, 200, host)
            assert "reprise-" in response.field("Via"), "responses always have it"
            seen = upstream.seen(1, f"/{host}")[0].field("Via")
            equal(seen is not None, via, host)
        for word, via in (("true", True), ("false", False)):
            with Reprise(defaults={"via": word == "true"}) as other:
                ask(other, "GET", f"http://up.test:{upstream.port}/{word}")
                equal(upstream.seen(1, f"/{word}")[0].field("Via") is not None, via, word)
                ask(other, "GET", f"http://{LOOPBACK}:{upstream.port}/near/{word}")
                equal(upstream.seen(1, f"/near/{word}")[0].field("Via") is not None, via, word)


def test_N21_statuses_above_599_are_passed_on():
    with Upstream({"/linkedin": [999], "/listed": [783, 200]}) as upstream, \
            Reprise(routes=[{"name": "listed", "match": {"path": "/listed"}, "retry": {"on": [783]}}]) as reprise:
        response = ask(reprise, "GET", upstream.url("/linkedin"))
        equal((response.status, response.reason, response.attempts), (999, "not_retryable", 1))
        response = ask(reprise, "GET", upstream.url("/listed"))
        equal((response.status, response.attempts), (200, 2))
        reprise.expect_metric(1, "reprise_requests_total", code="999")
        reprise.expect_metric(2, "reprise_attempts_total", outcome="other")


def test_N21_target_of_64_kib_is_accepted_with_a_full_header():
    with Upstream() as upstream, Reprise() as reprise:
        url = upstream.url("/")
        target = url + "a" * (64 * 1024 - len(url))
        fields = [(f"X-{i}", "v" * 500) for i in range(120)]
        equal(ask(reprise, "GET", target, None, fields).status, 200)
        equal(ask(reprise, "GET", target + "a").status, 414)


def test_N24_chunked_http_1_0_response_is_accepted_and_its_connection_not_reused():
    old = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    with Upstream({"/old": [Say(raw=old)]}) as upstream, Reprise() as reprise:
        for _ in range(2):
            equal(ask(reprise, "GET", upstream.url("/old")).body, b"hello")
        equal(upstream.connections, 2)


def test_N24_426_response_keeps_its_upgrade_field():
    asks = [("Upgrade", "TLS/1.2"), ("Connection", "Upgrade")]
    with Upstream({"/x": [Say(426, fields=asks)], "/offer": [Say(200, fields=asks)]}) as upstream, Reprise() as reprise:
        for path, status in (("/x", 426), ("/offer", 200)):
            response = ask(reprise, "GET", upstream.url(path))
            equal((response.status, response.field("Upgrade"), response.field("Connection")), (status, "TLS/1.2", "upgrade"))


def test_N24_unrequested_100_is_passed_on_once():
    twice = b"HTTP/1.1 100 Continue\r\n\r\n" * 2 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    with Upstream({"/x": [Say(raw=twice)]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body, len(response.interim)), (200, b"ok", 1))


def test_registered_methods_are_retried_by_their_registered_idempotency():
    with Upstream(otherwise=(LOST, 207)) as upstream, Reprise() as reprise:
        for method, attempts in (("PROPFIND", 2), ("REPORT", 2), ("SEARCH", 2), ("QUERY", 2), ("MKCOL", 2), ("MOVE", 2), ("LOCK", 1), ("PATCH", 1)):
            equal(ask(reprise, method, upstream.url("/" + method)).attempts, attempts, method)


@isolated
def test_name_that_resolved_before_gets_all_attempts_and_one_that_never_did_gets_three():
    slow = {"retry": {"backoff": {"initial": "1ms", "jitter": "none"}, "max_attempts": 6}}
    once = {"moving.test": [Answer(LOOPBACK), Answer(code=NXDOMAIN)]}
    with NameServer(once) as names, Upstream({"/last": [Say(close=True)]}) as upstream, Reprise(defaults=slow) as reprise:
        response = ask(reprise, "GET", f"http://misspelled.test:{upstream.port}/")
        equal((response.status, response.reason, response.attempts), (502, "attempts_spent", 3))
        equal(names.asked["misspelled.test"], 3)
        equal(ask(reprise, "GET", f"http://moving.test:{upstream.port}/last").status, 200)
        response = ask(reprise, "GET", f"http://moving.test:{upstream.port}/")
        equal((response.status, response.reason, response.attempts), (502, "attempts_spent", 6))


def test_explain_names_an_unrecognized_retry_hint():
    _, out = explain("GET", "http://api.test/", "--status", "503", "--header", "Retry-After: soon")
    assert '"Retry-After: soon" is malformed, so only the backoff applies' in out, out
    _, out = explain("GET", "http://api.test/", "--status", "503", "--header", "Retry-After: 3.0")
    assert "is malformed" not in out, out
