"""Tests bad input, forbidden access and wrong configuration: each is rejected with its own message, and counted."""
import json
import os
import socket
import subprocess
import tempfile

from client import Client, ask, head_of
from harness import LOOPBACK, Reprise, equal, options
from upstream import Say, Upstream

HOST = b"Host: h\r\n"
MALFORMED = [  # (request, expected status, expected cause)
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", 400, "length_and_chunked"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400, "conflicting_content_length"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"Content-Length: +3\r\n\r\nabc", 400, "bad_content_length"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"Content_Length: 3\r\n\r\n", 400, "lookalike_framing_field"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n", 400, "bad_transfer_encoding"),
    (b"GET http://h/ HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "chunked_in_http_1_0"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n", 400, "obs_fold"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"X : a\r\n\r\n", 400, "bad_field_name"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n", 400, "bad_field_value"),
    (b"GET http://h/ HTTP/1.1\r\n\r\n", 400, "missing_host"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400, "repeated_host"),
    (b"GET http://u:p@h/ HTTP/1.1\r\n" + HOST + b"\r\n", 400, "userinfo_in_authority"),
    (b"GET http://h:99999/ HTTP/1.1\r\n" + HOST + b"\r\n", 400, "bad_authority"),
    (b"GET ftp://h/ HTTP/1.1\r\n" + HOST + b"\r\n", 400, "bad_scheme"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", 400, "not_a_proxy_request"),
    (b"GET http://h/ HTTP/2.0\r\n" + HOST + b"\r\n", 505, "bad_version"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"Expect: more\r\n\r\n", 417, "bad_expect"),
    (b"GET http://h/" + b"a" * 66000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "target_too_long"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"X: 1\r\n" * 256 + b"\r\n", 431, "too_many_fields"),
    (b"GET http://h/ HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 70000 + b"\r\n\r\n", 431, "header_too_large"),
    (b"CONNECT h HTTP/1.1\r\n" + HOST + b"\r\n", 400, "bad_authority"),
]


def test_malformed_requests_are_rejected_counted_and_closed():
    with Reprise() as reprise:
        expected = {}
        for request, status, cause in MALFORMED:
            with Client(reprise.forward) as client:
                client.send(request)
                response = client.read_response()
                equal((response.status, response.field("Connection")), (status, "close"), cause)
                assert response.body.strip(), f"{cause}: the body says why"
                equal(response.field("Content-Type").split(";")[0], "text/plain", cause)
                equal(client.read_to_end(), b"", f"{cause}: the connection is closed")
            expected[cause] = expected.get(cause, 0) + 1
            reprise.expect_metric(expected[cause], "reprise_rejected_requests_total", cause=cause)
        equal(reprise.metric("reprise_requests_total"), 0)


def test_malformed_chunk_of_a_request_body_aborts_the_attempt():
    with Upstream() as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("PUT", upstream.url("/x"), LOOPBACK, [("Transfer-Encoding", "chunked")]) + b"5\r\nhelloXX0\r\n\r\n")
        response = client.read_response()
        equal(response.status, 400)
        equal(upstream.count(), 0, "the upstream saw no whole request")
        reprise.expect_metric(1, "reprise_rejected_requests_total", cause="bad_chunk")


def test_slow_request_head_gets_408():
    with Reprise(timers={"header": "200ms"}) as reprise, Client(reprise.forward) as client:
        client.send(b"GET http://h/ HT")
        equal(client.read_response().status, 408)
        reprise.expect_metric(1, "reprise_rejected_requests_total", cause="header_timeout")


def test_metadata_address_is_denied_without_dialling():
    with Reprise(defaults={"connect_timeout": "10m"}) as reprise:  # if reprise dialled the address, the client would time out before the response
        for host in ("169.254.169.254", "[::ffff:169.254.169.254]", "[fe80::1]"):
            response = ask(reprise, "GET", f"http://{host}/latest/meta-data/")
            equal((response.status, response.reason, response.attempts), (403, "address_denied", 1), host)
        reprise.expect_metric(3, "reprise_retries_refused_total", reason="address_denied")


def test_request_to_an_own_listener_is_rejected_as_a_loop():
    with Reprise() as reprise:
        equal(ask(reprise, "GET", reprise.proxy_url + "/").status, 508)
        equal(ask(reprise, "GET", "http://%s:%d/metrics" % reprise.addresses["admin"]).status, 508)


def test_request_with_the_proxys_own_via_is_rejected_as_a_loop():
    with Reprise() as outer, Upstream({"/x": [Say(200)]}) as upstream:
        ask(outer, "GET", upstream.url("/x"))
        via = upstream.requests[0].field("Via")
        equal(ask(outer, "GET", upstream.url("/x"), fields=[("Via", via)]).status, 508)
        equal(upstream.count(), 1)


def test_malformed_responses_become_502():
    broken = {"/status": b"HTTP/1.1 099 No\r\n\r\n", "/te": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
              "/two": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "/junk": b"SSH-2.0-x\r\n\r\n"}
    scripts = {path: [Say(raw=raw, close=True)] for path, raw in broken.items()}
    with Upstream(scripts) as upstream, Reprise(defaults={"retry": {"max_attempts": 2}}) as reprise:
        for path in broken:
            response = ask(reprise, "GET", upstream.url(path))
            equal(response.status, 502, path)
            assert "reprise-" in response.field("Proxy-Status"), response.field("Proxy-Status")


def test_admin_endpoints_respond_and_reject_other_methods():
    with Upstream() as upstream, Reprise() as reprise:
        ask(reprise, "GET", upstream.url("/x"))
        equal(reprise.admin("/livez")[0], 200)
        equal(reprise.admin("/readyz")[0], 200)
        status, text = reprise.admin("/metrics")
        equal(status, 200)
        assert "# TYPE reprise_requests_total counter" in text, text[:300]
        status, text = reprise.admin("/status")
        equal(status, 200)
        assert isinstance(json.loads(text), dict)
        equal(reprise.admin("/nothing-here")[0], 404)
        for path in ("/metrics", "/status", "/livez"):
            equal(reprise.admin(path, "POST")[0], 405, path)


def run_with(text, command="run"):
    """Runs one reprise command with the given configuration. Returns its exit code and its output."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([options.binary, command, "-c", file.name], capture_output=True, timeout=60, check=False)
        return done.returncode, (done.stdout + done.stderr).decode(), os.path.basename(file.name)


WRONG = """version: 1
defaults:
  retry:
    max_atempts: 3
    deadline: 60
  mode: sometimes
listeners:
  - {mode: forward, bind: 0.0.0.0:3128}
"""


def test_wrong_configuration_names_every_problem():
    for command in ("run", "check"):
        code, output, name = run_with(WRONG, command)
        equal(code, 78, command)
        for where, word in ((f"{name}:4:", "max_attempts"), (f"{name}:5:", "deadline"), (f"{name}:6:", "mode"),
                            (f"{name}:8:", "bind")):
            assert any(where in line and word in line for line in output.splitlines()), f"{where} {word} not in:\n{output}"


def test_check_accepts_a_valid_configuration():
    code, output, _ = run_with("version: 1\n", "check")
    equal(code, 0, output)


def test_port_in_use_exits_with_69_and_names_the_listener():
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        code, output, _ = run_with(f"version: 1\nlisteners:\n  - {{mode: forward, bind: 127.0.0.1:{port}}}\n"
                                   "admin: {bind: 127.0.0.1:0}\n")
        equal(code, 69)
        assert f"127.0.0.1:{port}" in output and "forward" in output, output


def test_wrong_command_exits_with_2_and_version_with_0():
    equal(subprocess.run([options.binary, "no-such-command"], capture_output=True, check=False).returncode, 2)
    done = subprocess.run([options.binary, "version"], capture_output=True, check=False)
    equal(done.returncode, 0)
    assert b"0.1.0" in done.stdout, done.stdout
