"""Tests that the deadline ends a request at every stage if no byte moves, with the shipped defaults. Also tests the
attempt_timeout of each preset."""
import contextlib
import re
import socket
import subprocess
import tempfile
import threading
import time
import typing

from client import Client, ask, head_of
from faults import isolated
from harness import LOOPBACK, Reprise, at_most, equal, options
from server import black_hole, bound, fill_queue
from test_rows_silence import vanish
from upstream import Upstream

DEADLINE = 1.0
MUCH = 16 << 20  # bytes: more than all socket buffers on the way hold, and less than the replay limit
ONE_SECOND = {"retry": {"deadline": "1s"}}


@contextlib.contextmanager
def silent_port():
    """Yields a port whose connections are accepted by the kernel only: no process ever reads or sends a
    byte."""
    with socket.create_server((LOOPBACK, 0), backlog=64) as listener:
        yield listener.getsockname()[1]


@contextlib.contextmanager
def mute_resolver():
    """Runs a name server in this network namespace that receives every query and never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        server.bind((LOOPBACK, 53))
        file.write(f"nameserver {LOOPBACK}\noptions timeout:30\n")
        file.flush()
        subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", "/etc/resolv.conf"], check=True)


def ends_at_the_deadline(what, work, error, stage):
    """Runs `work`, which sends a request and returns the response. The reason in the response must show that
    the deadline ended the request. How soon the deadline ends a request is checked in tests/policy, with
    virtual time."""
    begun = time.monotonic()
    response = work()
    took = time.monotonic() - begun
    print(f"{what}: {took:.2f} s")
    equal((response.status, response.reason), (504, "deadline_too_near"), what)
    assert f"error={error}" in response.field("Proxy-Status"), (what, response.field("Proxy-Status"))
    assert stage in response.body, (what, response.body)
    assert took >= DEADLINE - 0.001, f"{what}: {took:.2f} s"
    at_most(took, 30, f"seconds until the end, {what}")


def connect(reprise, authority):
    with Client(reprise.forward) as client:
        client.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        return client.read_response("GET")


def upload(reprise, listener, size, serve):
    """Sends a PUT head, waits until the upstream has accepted the connection and received the head, then sends the
    body while `serve(connection)` runs. Returns the response."""
    authority = f"{LOOPBACK}:{listener.getsockname()[1]}"
    with Client(reprise.forward) as client:
        client.send(head_of("PUT", f"http://{authority}/x", authority, [("Content-Length", str(size))]))
        connection, _ = listener.accept()
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(1)
            served = threading.Thread(target=serve, args=(connection,))
            served.start()

            def send():
                with contextlib.suppress(OSError):
                    client.send(bytes(size))
            sender = threading.Thread(target=send)
            sender.start()
            response = client.read_response("PUT")
            with contextlib.suppress(OSError):
                client.socket.shutdown(socket.SHUT_RDWR)
            sender.join()
            served.join()
        return response


def test_L6_unresponsive_dial_ends_at_the_deadline():
    with black_hole() as port, Reprise(defaults=ONE_SECOND) as reprise:
        url = f"http://{LOOPBACK}:{port}/x"
        ends_at_the_deadline("GET", lambda: ask(reprise, "GET", url), "connection_timeout", b"while connecting")
        ends_at_the_deadline("POST", lambda: ask(reprise, "POST", url, b"order"), "connection_timeout", b"while connecting")
        ends_at_the_deadline("CONNECT", lambda: connect(reprise, f"{LOOPBACK}:{port}"), "connection_timeout", b"while connecting")
        reprise.expect_metric(3, "reprise_exhausted_total", reason="deadline_too_near")


@isolated
def test_L6_hanging_name_lookup_ends_at_the_deadline():
    with mute_resolver(), Reprise(defaults=ONE_SECOND) as reprise:
        ends_at_the_deadline("GET", lambda: ask(reprise, "GET", "http://silent.test/x"), "dns_timeout", b"while resolving")
        ends_at_the_deadline("CONNECT", lambda: connect(reprise, "other.test:443"), "dns_timeout", b"while resolving")


def test_L6_tls_handshake_without_a_response_ends_at_the_deadline():
    with silent_port() as port, Reprise(defaults={**ONE_SECOND, "tls": "originate"}) as reprise:
        url = f"http://{LOOPBACK}:{port}/x"
        ends_at_the_deadline("POST", lambda: ask(reprise, "POST", url, b"order"), "connection_timeout", b"in the TLS handshake")


def test_L6_connect_to_a_parent_that_does_not_respond_ends_at_the_deadline():
    with silent_port() as port, Reprise(defaults=ONE_SECOND, parent=f"http://{LOOPBACK}:{port}") as reprise:
        ends_at_the_deadline("CONNECT", lambda: connect(reprise, "up.test:443"), "connection_timeout", b"while connecting")


def test_L6_unacknowledged_upload_ends_at_the_deadline():
    with bound() as listener, Reprise(defaults=ONE_SECOND) as reprise:
        listener.listen()
        for size in (MUCH, 512 << 10):
            ends_at_the_deadline(f"PUT of {size}", lambda size=size: upload(reprise, listener, size, vanish), "http_response_timeout",
                                 b"while sending the request")


def test_L6_upload_that_progressed_and_pauses_past_the_deadline_completes():
    def pauses(connection):
        left = MUCH - len(connection.recv(1000))
        time.sleep(DEADLINE + 1.5)  # longer than the deadline plus the one second after which reprise ends an upload without any progress
        while left > 0:
            left -= len(connection.recv(1 << 20))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with bound() as listener, Reprise(defaults=ONE_SECOND) as reprise:
        listener.listen()
        response = upload(reprise, listener, MUCH, pauses)
        equal((response.status, response.body, response.attempts), (200, b"ok", 1))


def test_L6_later_attempt_also_ends_at_the_deadline():
    """Attempt 1 gets a 503. Attempt 2 dials a listener whose accept queue is full. The setting `out_of_time` decides
    whether the client gets the 503 or a 504."""
    for out_of_time, status in (("last", 503), ("504", 504)):
        retry = {"deadline": "1s", "out_of_time": out_of_time, "backoff": {"initial": "1ms", "maximum": "1ms"}}
        with bound() as listener, contextlib.ExitStack() as fillers:
            listener.listen(0)

            def serve(listener=listener, fillers=fillers):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    fill_queue(listener, fillers)
                    connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy")
            server = threading.Thread(target=serve)
            server.start()
            with Reprise(defaults={"retry": retry}) as reprise:
                begun = time.monotonic()
                response = ask(reprise, "GET", f"http://{LOOPBACK}:{listener.getsockname()[1]}/x")
                assert time.monotonic() - begun >= DEADLINE - 0.001
                equal((response.status, response.reason, response.attempts), (status, "deadline_too_near", 2), out_of_time)
            server.join()


def test_response_timeout_of_an_idempotent_request_is_retried():
    with Upstream({"/x": ["hang", 200]}) as upstream, Reprise(defaults={"response_timeout": "300ms"}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))
        reprise.expect_metric(1, "reprise_retries_total", reason="retryable_failure")


class Hung(typing.NamedTuple):
    """A request to an upstream that does not respond, for one preset. `seconds`: the attempt_timeout of the shipped
    preset, or None if the preset has none. The other members describe the request and the expected outcome."""

    target: str
    seconds: int
    method: str = "GET"
    fields: tuple = ()
    is_played_again: bool = True  # true if the preset lists `timeout`; otherwise the preset's file has the reason for the omission
    retries_503: bool = True


FETCH = (("Content-Type", "application/x-git-upload-pack-request"),)
PRESETS = {
    "aws": Hung("pail.s3.eu-west-1.amazonaws.com/key", 60),
    "consul": Hung("localhost/v1/kv/a", None, is_played_again=False),
    "gcs": Hung("storage.googleapis.com/storage/v1/b/pail/o/key", 60),
    "gcs-metadata": Hung("storage.googleapis.com/storage/v1/b/pail", 60),
    "git": Hung("github.com/a/b.git/git-upload-pack", None, "POST", FETCH, is_played_again=False),
    "gsutil": Hung("storage.googleapis.com/storage/v1/b/pail/o/key", 60),
    "health": Hung("any.host/readyz", None, is_played_again=False, retries_503=False),
    "llm": Hung("api.openai.com/v1/responses", 600, "POST", is_played_again=False),
    "memorystore": Hung("redis.googleapis.com/v1/projects/p/locations/l/instances", 600),
    "oci": Hung("ghcr.io/v2/a/manifests/1", None, is_played_again=False),
    "vault": Hung("localhost/v1/secret/data/a", None, is_played_again=False),
}
# These presets match only gRPC calls, and have no time limit but the deadline of the call.
OF_CALLS = ["google-grpc", "grpc"]


def reprise_says(*words):
    return subprocess.run([options.binary, *words], capture_output=True, text=True, check=False)


def explained(hung, *words):
    fields = [word for name, value in hung.fields for word in ("--header", f"{name}: {value}")]
    return reprise_says("explain", hung.method, f"http://{hung.target}", *fields, *words)


def test_every_preset_has_a_hung_upstream_test_case():
    said = reprise_says("config", "--preset", "none-of-this-name")
    names = re.search(r"the presets are: (.+)", said.stderr)
    assert names, said.stderr
    equal(sorted([*PRESETS, *OF_CALLS]), sorted(names[1].split()))


@contextlib.contextmanager
def file_of(text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\n" + text)
        file.flush()
        yield file.name


def test_L8_explain_states_timeout_and_retry_of_a_hung_attempt_for_each_preset():
    """`explain` must make the same decision as the running proxy, with the values of the preset."""
    for preset, hung in PRESETS.items():
        with file_of(f"presets: [{preset}]\n") as file:
            said = explained(hung, "--failure", "timeout", "-c", file)
        equal((said.returncode, said.stderr), (0, ""), preset)
        final = "ends +nothing ends attempt 1" if hung.seconds is None else "ends +not_retryable after attempt 1"
        then = "attempt 1 +retryable_failure" if hung.is_played_again else final
        waits = "as long as the upstream takes" if hung.seconds is None else f"{hung.seconds // 60}m from the last request byte"
        for told in (f"response +{waits}", then):
            assert re.search(f"^{told}", said.stdout, re.M), f"{told}\n{said.stdout}"


def test_L8_each_preset_ends_a_hung_upstream_at_its_attempt_timeout():
    """Sends real requests under each shipped preset. Only response_timeout, attempt_timeout and the backoffs
    are shortened."""
    for preset, hung in PRESETS.items():
        retry = {"attempt_timeout": "400ms", "backoff": {"initial": "1ms", "maximum": "1ms"}}
        path = "/" + hung.target.split("/", 1)[1]
        with Upstream({path: ["hang", 503, 200]}) as upstream, \
                Reprise(presets=[{"name": preset, "hosts": [LOOPBACK], "retry": retry, "response_timeout": "400ms"}]) as reprise:
            def asked(upstream=upstream, reprise=reprise, path=path, hung=hung):
                response = ask(reprise, hung.method, upstream.url(path), b"body" if hung.method == "POST" else None, hung.fields)
                return response.status, response.attempts, response.reason
            begun = time.monotonic()
            equal(asked(), (200, 3, None) if hung.is_played_again else (504, 1, "not_retryable"), preset)
            assert time.monotonic() - begun >= 0.4, preset
            if hung.is_played_again:
                reprise.expect_metric(1, "reprise_retries_total", reason="retryable_failure")
            else:
                after_503 = (200, 2, None) if hung.retries_503 else (503, 1, "not_retryable")
                equal(asked(), after_503, f"{preset}: the same request after a 503")
            reprise.expect_metric(1, "reprise_attempts_total", outcome="timeout")


def warnings_of(text):
    with file_of(text) as file:
        said = reprise_says("check", file)
        equal(said.returncode, 0, said.stderr)
        return said.stderr.replace(file, "F").splitlines()


def test_retry_on_timeout_without_a_timeout_setting_causes_a_warning():
    lines = warnings_of("defaults:\n  retry: {on: [503, timeout]}\n")
    equal([line.split(": ")[0:3] for line in lines], [["F:3:15", "warning", "defaults.retry.on"]], lines)
    assert "attempt_timeout" in lines[0]
    equal(warnings_of("defaults: {retry: {on: [503, timeout], attempt_timeout: 10s}}\n"), [])
    equal(warnings_of("defaults: {response_timeout: 20s, retry: {on: [503, timeout]}}\n"), [])
    equal(warnings_of("defaults: {retry: {on: [503, timeout], deadline: unlimited}}\n"), [])
    equal(warnings_of("defaults: {retry: {deadline: 30s}}\n"), [], "the shipped list says nothing of the author's intent")
    assert "presets[0].retry.attempt_timeout" in warnings_of("presets: [{name: gcs-metadata, retry: {attempt_timeout: none}}]\n")[0]
    for preset in [*PRESETS, *OF_CALLS]:
        equal(warnings_of(f"presets: [{preset}]\n"), [], preset)


def test_L14_deny_list_that_omits_default_denied_networks_causes_a_warning():
    everything = "169.254.0.0/16, 100.64.0.0/10, 192.0.0.0/24, 'fe80::/10', 'fd00:ec2::254', self"
    equal(warnings_of(f"security: {{deny: [10.0.0.0/8, {everything}]}}\n"), [])
    equal(warnings_of("security: {deny: [0.0.0.0/0, '::/0', self]}\n"), [])
    line, = warnings_of("security:\n  deny: [10.0.0.0/8]\n")
    assert line.startswith("F:3:9: warning: security.deny: "), line
    for open_now in ("169.254.0.0/16", "100.100.100.200", "192.0.0.192", "fe80::/10", "fd00:ec2::254", "self"):
        assert open_now in line, line
    line, = warnings_of("security: {deny: [169.254.169.254, 'fe80::/10', 'fd00::/8', self]}\n")
    assert "169.254.0.0/16" in line and "fe80" not in line and "self" not in line, line
    with silent_port(), Reprise(security={"deny": ["10.0.0.0/8"]}) as reprise:
        reprise.expect_log(": security.deny: this list replaces the default list")


def test_L26_clear_text_credentials_cause_a_warning():
    line, = warnings_of("presets:\n  - {name: aws, tls: off}\n")
    assert line.startswith("F:3:22: warning: presets[0].tls: ") and "clear text" in line and "tls: originate" in line, line
    line, = warnings_of("presets: [{name: gcs, hosts: [store.example]}]\n")
    assert "presets[0].hosts" in line and "clear text" in line, line
    for quiet in ("hosts: [127.0.0.1, localhost]", "hosts: [store.example], tls: originate", "hosts: [emulator], tls: off"):
        equal(warnings_of(f"presets: [{{name: gcs, {quiet}}}]\n"), [], quiet)
    line, = warnings_of("routes: [{name: mine, match: {host: api.openai.com}}]\n")
    assert "routes[0]" in line and "clear text" in line, line
    equal(warnings_of("routes: [{name: mine, match: {host: api.openai.com}, tls: originate}]\n"), [])
    for preset, hung in PRESETS.items():
        with file_of(f"presets: [{preset}]\n") as file:
            said = explained(hung, "-c", file).stdout
            own_server = preset in ("consul", "health", "vault")  # the preset's file says how to reach this upstream
            assert own_server or "over TLS, on port 443" in said and "clear text" not in said, said
    said = reprise_says("explain", "POST", "http://api.anthropic.com/v1/messages").stdout
    assert "Clear text" in said, said
    said = reprise_says("explain", "GET", "http://api.internal/x", "--header", "Authorization: Bearer x").stdout
    assert "Clear text" in said, said
    said = reprise_says("explain", "GET", "http://api.internal/x").stdout
    assert "Clear text" not in said, said
