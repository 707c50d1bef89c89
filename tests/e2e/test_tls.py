"""Tests upstreams over TLS: the same retries as without TLS, and behaviour that only TLS has. The upstream uses
Python's ssl module."""
import hashlib
import http.client
import os
import re
import ssl
import subprocess
import tempfile
import threading
import urllib.request

from client import Client, Cut, ask, head_of
from harness import LOOPBACK, PATIENCE, Curl, Reprise, equal, eventually, options
from test_refusals import run_with
from test_resume import MIB, Breaking
from tls import TlsUpstream, authority, end_of, trusting
from upstream import Say, Upstream


def reasons(line):
    return [attempt["reason"] for attempt in line["attempts"]]


def test_get_is_retried_over_tls_until_it_succeeds():
    with TlsUpstream({"/x": [503, 503, Say(200, b"at last\n")]}) as upstream, Reprise(defaults=trusting()) as reprise:
        curl = Curl(reprise, upstream.url("/x"))
        equal((curl.code, curl.status, curl.body), (0, 200, b"at last\n"))
        equal(curl.field("Reprise-Attempts"), "3")
        line = reprise.requests(1)[0]
        equal(reasons(line), ["retryable_status", "retryable_status", "success"])
        equal(upstream.connections, 2, "no attempt rides the connection of the one before it, the third that of the first")
        equal({request.head for request in upstream.requests}, {upstream.requests[0].head})
        equal(upstream.requests[0].field("Host"), f"{LOOPBACK}:{upstream.port}")


def test_A16_https_target_uses_tls_and_is_retried():
    policy = {"tls": {"ca_file": authority().file}}
    with TlsUpstream({"/x": [503, "reset", 200]}) as upstream, Reprise(defaults=policy) as reprise:
        response = ask(reprise, "GET", upstream.https_url("/x?a=%20b"))
        equal((response.status, response.attempts), (200, 3))
        equal({request.target for request in upstream.requests}, {"/x?a=%20b"})
        equal(ask(reprise, "POST", upstream.https_url("/y"), b"x" * 100_000).status, 200)
        equal(upstream.requests[-1].body, b"x" * 100_000)


class PlainOnly(Upstream):
    """An upstream without TLS: it responds to a ClientHello with a plain HTTP response."""

    def serve_one(self, connection, number, reader):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        return False


def test_A16_https_target_is_never_sent_in_clear_text():
    with PlainOnly(record=True) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", f"https://{LOOPBACK}:{upstream.port}/secret")
        equal((response.status, response.field("Proxy-Status").split("; ")[1]), (502, "error=tls_protocol_error"))
        assert upstream.connections > 1, "a broken handshake is retried"
        assert not any(b"secret" in received for received in upstream.bytes_received())


def test_reset_after_the_request_is_retried_for_get_but_not_for_post():
    with TlsUpstream({"/get": ["execute_reset", 200], "/post": ["execute_reset", 200]}) as upstream, \
            Reprise(defaults=trusting()) as reprise:
        equal(ask(reprise, "GET", upstream.url("/get?id=1")).attempts, 2)
        response = ask(reprise, "POST", upstream.url("/post?id=2"), b"once")
        equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        equal(upstream.effects, {"1": 2, "2": 1})


def test_broken_handshake_is_retried_for_any_method_because_nothing_was_sent():
    with TlsUpstream(cuts=2) as upstream, Reprise(defaults=trusting()) as reprise:
        response = ask(reprise, "POST", upstream.url("/x?id=7"), b"once")
        equal((response.status, response.attempts), (200, 3))
        equal(upstream.effects, {"7": 1})
        line = reprise.requests(1)[0]
        assert {attempt.get("error") for attempt in line["attempts"][:2]} <= {"closed", "reset"}, line
        reprise.expect_metric(2, "reprise_attempts_total", outcome="tls")


def test_broken_handshake_is_not_retried_if_the_route_does_not_list_tls():
    with TlsUpstream(cuts=9) as upstream, Reprise(defaults=trusting(retry={"on": [503, "connect", "reset"]})) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts, response.reason), (502, 1, "not_retryable"))
        equal(response.field("Proxy-Status").split("; ")[1], "error=tls_protocol_error")
        assert b"in the TLS handshake" in response.body, response.body


def test_truncated_tls_download_is_resumed():
    script = Breaking(5 * MIB, [3, MIB + 1, 4 * MIB], resets=[1])
    with TlsUpstream({"/file": [script]}) as upstream, Reprise(defaults=trusting()) as reprise:
        curl = Curl(reprise, upstream.url("/file"))
        equal((curl.code, curl.status), (0, 200), curl.stderr)
        equal(hashlib.sha256(curl.body).hexdigest(), hashlib.sha256(script.file).hexdigest())
        equal(len(script.ranges), 4)


def until_close(notice):
    """Returns an upstream step that sends a body without a length. Only the end of the connection ends this
    body."""
    def step(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nthe beginning")
        if not notice:
            connection.close()
        return False
    return step


def test_B4_close_delimited_tls_body_is_complete_only_after_close_notify():
    with TlsUpstream({"/whole": [until_close(True)], "/cut": [until_close(False)]}) as upstream, \
            Reprise(defaults=trusting(resume={"enabled": False})) as reprise:
        equal(ask(reprise, "GET", upstream.url("/whole")).body, b"the beginning")
        with Client(reprise.forward) as client:
            try:
                response = client.ask("GET", upstream.url("/cut"))
                raise AssertionError(f"a cut body looks whole: {response.body!r}")
            except (Cut, ConnectionResetError):
                pass
        lines = reprise.requests(2)
        equal([line["ending"] for line in lines], ["complete", "cut"])


def test_F7_tls_connection_ends_with_close_notify():
    ends = []
    def listen(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=1\r\n\r\n")
        ends.append(end_of(connection))
        return False
    with TlsUpstream({"/x": [listen]}) as upstream, Reprise(defaults=trusting()) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        eventually(lambda: ends, "the connection ends")
        equal(ends, ["notice"])


def test_F8_early_data_field_and_425_responses_are_passed_on_unchanged():
    with TlsUpstream({"/x": [Say(425, b"too early")]}) as upstream, Reprise(defaults=trusting()) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"), fields=[("Early-Data", "1")])
        equal((response.status, response.body, response.attempts), (425, b"too early", 1))
        equal(upstream.requests[0].field("Early-Data"), "1")


def test_F8_resumed_session_sends_no_early_data():
    # The server resumes TLS sessions. reprise must not send early data: no request byte before the server's
    # reply. All requests use one client connection, because each I/O thread keeps its own TLS sessions.
    with TlsUpstream({"/x": [Say(200, b"a", close=True)]}) as upstream, Reprise(defaults=trusting()) as reprise, \
            Client(reprise.forward) as client:
        for _ in range(4):
            equal(client.ask("GET", upstream.url("/x")).status, 200)
        equal(upstream.resumed[0], False)
        equal(upstream.resumed[1:], [True] * 3, "sessions are resumed")


def test_tls_1_2_sessions_are_resumed():
    with TlsUpstream({"/x": [Say(200, b"a", close=True)]}, newest=ssl.TLSVersion.TLSv1_2) as upstream, \
            Reprise(defaults=trusting()) as reprise, Client(reprise.forward) as client:
        for _ in range(3):
            equal(client.ask("GET", upstream.url("/x")).status, 200)
        equal(upstream.resumed, [False, True, True])


def test_tls_connection_is_reused_despite_session_tickets():
    with TlsUpstream() as upstream, Reprise(defaults=trusting()) as reprise:
        with Client(reprise.forward) as client:
            for number in range(20):
                equal(client.ask("GET", upstream.url(f"/{number}")).status, 200)
        equal(upstream.connections, 1)


def test_sni_is_sent_for_names_but_not_for_addresses():
    with TlsUpstream() as upstream, Reprise(defaults=trusting()) as reprise:
        equal(ask(reprise, "GET", upstream.url("/")).status, 200)
        equal(ask(reprise, "GET", f"http://LOCALHOST:{upstream.port}/").status, 200)
        equal(upstream.sni, [None, "localhost"])


def test_configured_server_name_is_sent_and_verified():
    only_there = authority().issue(names=("DNS:payments.example",))
    with TlsUpstream(certificate=only_there) as upstream:
        defaults = trusting()
        with Reprise(defaults=defaults) as reprise:
            equal(ask(reprise, "GET", f"http://localhost:{upstream.port}/").status, 502)
        defaults["tls"] |= {"server_name": "payments.example"}
        with Reprise(defaults=defaults) as reprise:
            equal(ask(reprise, "GET", f"http://localhost:{upstream.port}/").status, 200)
            equal(upstream.sni[-1], "payments.example")
            equal(upstream.requests[-1].field("Host"), f"localhost:{upstream.port}", "the request is what it was")
        defaults["tls"] |= {"server_name": "other.example"}
        with Reprise(defaults=defaults) as reprise:
            response = ask(reprise, "GET", f"http://localhost:{upstream.port}/")
            equal((response.status, response.field("Proxy-Status").split("; ")[1]), (502, "error=tls_certificate_error"))


def test_encrypted_client_key_is_opened_with_its_passphrase():
    certificate, key = authority().issue("the client", names=(), usage="clientAuth")
    with TlsUpstream(asks_for=authority().file) as upstream, tempfile.TemporaryDirectory() as folder:
        locked, passphrase = f"{folder}/locked.pem", f"{folder}/passphrase"
        subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:se cret", "-out", locked], check=True)
        with open(passphrase, "w", encoding="ascii") as file:
            file.write("se cret\n")
        shown = trusting()
        shown["tls"] |= {"certificate": certificate, "key": locked, "key_passphrase": "${file:%s}" % passphrase}
        with Reprise(defaults=shown) as reprise:
            equal(ask(reprise, "GET", upstream.url("/")).status, 200)
            effective = subprocess.run([options.binary, "config", "--effective", "-c", reprise.config_file], check=True,
                                       capture_output=True, text=True).stdout
            assert "key_passphrase: \"***\"" in effective and "se cret" not in effective, effective
            with open(passphrase, "w", encoding="ascii") as file:
                file.write("wrong")
            checked = subprocess.run([options.binary, "check", reprise.config_file], check=False, capture_output=True, text=True)
            equal(checked.returncode, 78)
            assert "the passphrase in tls.key_passphrase is wrong" in checked.stderr, checked.stderr
            routes = "".join(f"  - {{name: {name}, match: {{host: {name}.test}}, tls: {{certificate: {certificate}, key: {locked}, "
                             f"key_passphrase: {words}}}}}\n" for name, words in (("right", "se cret"), ("wrong", "wrong")))
            code, told, _ = run_with("version: 1\nroutes:\n" + routes, "check")
            equal(code, 78, told)
            assert re.search(r"yaml:4:\d+: error: routes\[1\]\.tls\.key: .*the passphrase in tls.key_passphrase is wrong", told), told


def test_client_certificate_is_sent_if_the_upstream_requests_it():
    certificate, key = authority().issue("the client", names=(), usage="clientAuth")
    shown = trusting()
    shown["tls"] |= {"certificate": certificate, "key": key}
    with TlsUpstream(asks_for=authority().file) as upstream:
        with Reprise(defaults=shown) as reprise:
            equal(ask(reprise, "GET", upstream.url("/")).status, 200)
            equal(upstream.certificates_shown[0]["subject"], ((("commonName", "the client"),),))
        with Reprise(defaults=trusting()) as reprise:
            response = ask(reprise, "GET", upstream.url("/"))
            equal(response.status, 502)


def test_https_gateway_retries_and_sends_the_upstream_host_name():
    with TlsUpstream({"/base/x": [503, Say(302, b"", [("Location", "http://elsewhere/"), ("Set-Cookie", "a=b; Secure"),
                                                     ("Alt-Svc", 'h3=":443"')])]}) as upstream:
        listeners = [{"mode": "forward", "bind": "127.0.0.1:0"},
                     {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": f"https://localhost:{upstream.port}/base"}]
        with Reprise(listeners=listeners, defaults={"tls": {"ca_file": authority().file}}) as reprise:
            with Client(reprise.gateway) as client:
                client.send(head_of("GET", "/x", "whatever"))
                response = client.read_response()
            equal((response.status, response.attempts), (302, 2))
            equal((response.field("Location"), response.field("Set-Cookie")), ("http://elsewhere/", "a=b"))
            equal(response.field("Alt-Svc"), None)
            equal(upstream.requests[0].field("Host"), f"localhost:{upstream.port}")
            equal(upstream.sni, ["localhost"] * 2)


def test_gateway_that_keeps_the_clients_host_verifies_the_upstream_certificate_for_that_host():
    with TlsUpstream() as upstream:
        listeners = [{"mode": "forward", "bind": "127.0.0.1:0"},
                     {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": f"https://127.0.0.1:{upstream.port}", "host": "client"}]
        with Reprise(listeners=listeners, defaults={"tls": {"ca_file": authority().file}}) as reprise:
            for host, status in (("api.test", 200), ("other.test", 502), ("api.test", 200)):
                with Client(reprise.gateway) as client:
                    client.send(head_of("GET", "/x", host))
                    equal(client.read_response().status, status, host)
            equal(upstream.requests[0].field("Host"), "api.test")
            equal(upstream.sni[:2], ["api.test", "other.test"])


def test_gateway_listener_with_an_http_upstream_can_originate_tls():
    with TlsUpstream() as upstream:
        listeners = [{"mode": "forward", "bind": "127.0.0.1:0"},
                     {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": f"http://127.0.0.1:{upstream.port}"}]
        with Reprise(listeners=listeners, defaults=trusting()) as reprise:
            with Client(reprise.gateway) as client:
                client.send(head_of("GET", "/x", "whatever"))
                equal(client.read_response().status, 200)


def test_upgrade_over_tls_relays_both_directions():
    def switch(connection, _request):
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
        while data := connection.recv(65536):
            connection.sendall(data)
        return False
    with TlsUpstream({"/x": [switch]}) as upstream, Reprise(defaults=trusting()) as reprise:
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/x"), LOOPBACK, [("Connection", "upgrade"), ("Upgrade", "echo")]))
            client.read_head()
            for size in (1, 100_000):
                sender = threading.Thread(target=client.send, args=(b"e" * size,))
                sender.start()
                equal(client.read_bytes(size), b"e" * size)
                sender.join()
            client.finish()
            equal(client.read_to_end(), b"")


def test_large_upload_and_download_over_tls_arrive_whole():
    body = bytes(i % 251 for i in range(3 * MIB))
    with TlsUpstream({"/up": [503, 200], "/down": [Say(200, body)]}) as upstream, Reprise(defaults=trusting()) as reprise:
        response = ask(reprise, "PUT", upstream.url("/up"), body)
        equal((response.status, response.attempts), (200, 2))
        equal([request.body == body for request in upstream.seen(2, "/up")], [True, True])
        assert ask(reprise, "GET", upstream.url("/down")).body == body


def proxied_environment(reprise):
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return {**environment, "http_proxy": reprise.proxy_url, "HTTP_PROXY": reprise.proxy_url, "no_proxy": "", "NO_PROXY": ""}


def test_real_clients_reach_an_https_upstream_over_http():
    with TlsUpstream({"/x": [503, Say(200, b"hello\n"), 503, Say(200, b"hello\n"), 503, Say(200, b"hello\n")]}) as upstream, \
            Reprise(defaults=trusting()) as reprise:
        equal(Curl(reprise, upstream.url("/x")).body, b"hello\n")
        done = subprocess.run(["wget", "-q", "-O", "-", upstream.url("/x")], env=proxied_environment(reprise), capture_output=True,
                              timeout=PATIENCE, check=False)
        equal((done.returncode, done.stdout), (0, b"hello\n"), done.stderr.decode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": reprise.proxy_url}))
        with opener.open(upstream.url("/x"), timeout=PATIENCE) as response:
            equal((response.status, response.read()), (200, b"hello\n"))
        connection = http.client.HTTPConnection(*reprise.forward, timeout=PATIENCE)
        connection.request("GET", upstream.https_url("/x"))
        equal(connection.getresponse().read(), b"hello\n")
        equal(len(upstream.requests), 7)


def test_presets_work_with_tls_upstreams():
    scripts = {"/storage/v1/b": [503, Say(200, b"{}")], "/v1/messages": [529, Say(200, b"{}")]}
    with TlsUpstream(scripts) as upstream:
        presets = [{"name": "gcs", "hosts": ["localhost"], "tls": {"originate": True, "ca_file": authority().file},
                    "retry": {"backoff": {"initial": "5ms", "maximum": "20ms"}}}]
        with Reprise(presets=presets) as reprise:
            response = ask(reprise, "GET", f"http://localhost:{upstream.port}/storage/v1/b?project=p")
            equal((response.status, response.attempts), (200, 2))


def test_system_trust_store_is_used_if_no_ca_file_is_named():
    with TlsUpstream() as upstream:
        def trust():
            os.environ["SSL_CERT_FILE"] = authority().file
        with Reprise(defaults={"tls": "originate"}, prepare=trust) as reprise:
            equal(ask(reprise, "GET", upstream.url("/")).status, 200)
        with Reprise(defaults={"tls": "originate"}) as reprise:
            equal(ask(reprise, "GET", upstream.url("/")).status, 502)


def test_F2_authenticated_connection_is_used_only_by_its_client():
    challenge = Say(401, b"who?", [("WWW-Authenticate", "Negotiate, NTLM"), ("X-Kept", "1")])
    scripts = {"/x": [challenge, Say(401, b"", [("WWW-Authenticate", "NTLM TlRMTVNTUAAC")]), 200], "/y": [200], "/z": [503]}
    for make, defaults in ((Upstream, {}), (TlsUpstream, trusting())):
        with make(scripts) as upstream, Reprise(defaults=defaults) as reprise, Client(reprise.forward) as one, \
                Client(reprise.forward) as other:
            statuses = [one.ask("GET", upstream.url("/x"), fields=fields).status
                        for fields in ((), [("Authorization", "NTLM TlRMTVNTUAAB")], [("Authorization", "NTLM TlRMTVNTUAAD")])]
            equal(statuses, [401, 401, 200])
            equal(other.ask("GET", upstream.url("/y")).status, 200)
            equal(one.ask("GET", upstream.url("/y")).status, 200)
            response = one.ask("GET", upstream.url("/z"))
            equal((response.status, response.attempts, response.reason), (503, 1, "not_replayable"))
            equal([request.connection for request in upstream.requests], [1, 1, 1, 2, 1, 1])


def test_tls_through_a_parent_proxy_stays_encrypted_in_a_tunnel():
    with TlsUpstream({"/x": [503, 200]}) as upstream, Reprise() as parent, \
            Reprise(parent=parent.proxy_url, defaults=trusting()) as reprise:
        with Client(reprise.forward) as client:
            response = client.ask("GET", upstream.url("/x?secret=1"))
            equal((response.status, response.attempts), (200, 2))
        equal(upstream.connections, 2)
        reprise.terminate()
        reprise.wait()
        line = parent.requests(1)[0]
        equal((line["method"], line["tunnel"], line["status"]), ("CONNECT", True, 200))
        assert "secret" not in parent.text()
