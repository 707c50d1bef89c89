"""Tests faults of TLS: untrusted certificates, upstreams with another protocol, and settings that reprise rejects at
the start."""
import datetime
import os
import socket
import subprocess
import tempfile

from client import Client, ask, head_of
from harness import LOOPBACK, Reprise, equal, options
from tls import Authority, TlsUpstream, authority, good_certificate, stapling, trusting
from server import Server
from upstream import Upstream


def error_of(response):
    return response.field("Proxy-Status").split("; ")[1]


def refused(certificate, words, host=LOOPBACK, defaults=None):
    """Checks that an upstream with the given certificate leads to a 502 after one attempt. The response and
    the log must have the cause."""
    with TlsUpstream(certificate=certificate) as upstream, Reprise(defaults=defaults or trusting()) as reprise:
        response = ask(reprise, "GET", f"http://{host}:{upstream.port}/x")
        equal((response.status, response.attempts, response.reason, error_of(response)),
              (502, 1, "not_retryable", "error=tls_certificate_error"))
        assert f"({words})".encode() in response.body and b"tls.ca_file" in response.body, response.body
        equal(upstream.count(), 0, "nothing was sent")
        line = reprise.requests(1)[0]
        equal((line["attempts"][0]["stage"], line["attempts"][0]["error"]), ("tls", "tls_certificate_error"))
        reprise.expect_log(words)
        reprise.expect_metric(1, "reprise_attempts_total", outcome="tls")


def test_F5_expired_certificate_is_rejected():
    refused(authority().issue(starts=-20, ends=-1), "certificate has expired")


def test_F5_certificate_that_is_not_yet_valid_is_rejected():
    refused(authority().issue(starts=1, ends=10), "certificate is not yet valid")


def test_F5_self_signed_certificate_is_rejected():
    refused(authority().self_signed(), "self-signed certificate")


def test_F5_certificate_of_an_unknown_authority_is_rejected():
    refused(Authority("another CA").issue(), "unable to get local issuer certificate")


def test_F5_certificate_for_another_name_is_rejected():
    refused(authority().issue(names=("DNS:other.test",)), "hostname mismatch", host="localhost")


def test_F5_certificate_with_the_host_name_only_in_its_common_name_is_rejected():
    refused(authority().issue(common_name="localhost", names=()), "hostname mismatch", host="localhost")
    refused(authority().issue(common_name="localhost", names=("DNS:other.test",)), "hostname mismatch", host="localhost")


def test_F5_certificate_for_an_address_without_an_ip_subject_alternative_name_is_rejected():
    refused(authority().issue(common_name=LOOPBACK, names=("DNS:localhost", f"DNS:{LOOPBACK}")), "IP address mismatch")


def test_F5_wildcard_certificate_covers_exactly_one_whole_label():
    with TlsUpstream(certificate=authority().issue(names=("DNS:*.api.test", "DNS:f*.part.test"))) as upstream:
        listeners = [{"mode": "forward", "bind": "127.0.0.1:0"},
                     {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": f"https://127.0.0.1:{upstream.port}", "host": "client"}]
        with Reprise(listeners=listeners, defaults={"tls": {"ca_file": authority().file}}) as reprise:
            for host, status in (("a.api.test", 200), ("api.test", 502), ("b.a.api.test", 502), ("foo.part.test", 502)):
                with Client(reprise.gateway) as client:
                    client.send(head_of("GET", "/", host))
                    equal(client.read_response().status, status, host)


def test_F5_client_only_certificate_is_rejected():
    refused(authority().issue(usage="clientAuth"), "unsuitable certificate purpose")


def test_F5_certificate_revoked_by_a_crl_is_rejected():
    issuer = Authority("an authority with a list")
    revoked, good = issuer.issue(), issuer.issue()
    issuer.revoke(revoked[0])
    refused(revoked, "certificate revoked", defaults=trusting(issuer.with_list()))
    refused(good, "CRL has expired", defaults=trusting(issuer.with_list(
        "-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z")))
    with TlsUpstream(certificate=good) as upstream, Reprise(defaults=trusting(issuer.with_list())) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)


def test_F5_certificate_revoked_by_a_stapled_ocsp_response_is_rejected():
    issuer = Authority("an authority that answers")
    certificate = issuer.issue()
    good = issuer.response(certificate[0])
    issuer.revoke(certificate[0])
    revoked = issuer.response(certificate[0])
    forged = issuer.response(certificate[0], signer=Authority("somebody else"))
    for version in ("-tls1_2", "-tls1_3"):
        for staple, status in ((good, 200), (forged, 200), (revoked, 502)):
            with stapling(certificate, staple, version) as port, Reprise(defaults=trusting(issuer.file)) as reprise:
                response = ask(reprise, "GET", f"http://{LOOPBACK}:{port}/x")
                equal((response.status, response.attempts), (status, 1), f"{version} {staple}")
                if status == 502:
                    equal(error_of(response), "error=tls_certificate_error")
                    reprise.expect_log("certificate revoked")


def test_F5_certificate_error_is_not_retried_even_for_an_unsent_post():
    with TlsUpstream(certificate=authority().self_signed()) as upstream, Reprise(defaults=trusting()) as reprise:
        response = ask(reprise, "POST", upstream.url("/x"), b"x")
        equal((response.status, response.attempts, response.reason), (502, 1, "not_retryable"))


def test_openssl_messages_are_logged_at_most_once_a_second_per_upstream():
    with TlsUpstream(certificate=authority().self_signed()) as upstream, Reprise(defaults=trusting()) as reprise:
        for _ in range(30):
            equal(ask(reprise, "GET", upstream.url("/x")).status, 502)
        reprise.requests(30)
        told = [datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")) for line in reprise.log()
                if "failed: " in line.get("message", "")]
        assert told, "the words are in the log"
        # At most one log line is permitted for each second between the first and the last line. One more line
        # is accepted, because a busy machine may delay a line by a second.
        assert len(told) - 1 <= (told[-1] - told[0]).total_seconds() + 1, told


def answering(bytes_to_say):
    """Returns a server that waits for the first bytes of a connection and then sends `bytes_to_say`."""
    def work(connection):
        connection.recv(65536)
        connection.sendall(bytes_to_say)
    return Server(work)


def test_plain_http_on_a_tls_port_becomes_502():
    with answering(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as upstream, Reprise(defaults=trusting()) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, error_of(response), response.attempts), (502, "error=tls_protocol_error", 6))
        reprise.expect_log("wrong version number")


def test_tls_on_a_plain_http_port_becomes_502():
    # The TLS server responds to the plain request with a TLS alert, which is not HTTP.
    with TlsUpstream() as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal(response.status, 502)
        equal(upstream.count(), 0)


def test_upstream_that_selects_no_alpn_protocol_is_used_with_http_1_1():
    for offered in ((), ("h2",)):
        with TlsUpstream(alpn=offered) as upstream, Reprise(defaults=trusting()) as reprise:
            equal(ask(reprise, "GET", upstream.url("/x")).status, 200)


def test_tls_handshake_that_the_upstream_does_not_finish_is_a_connect_timeout():
    listener = socket.create_server((LOOPBACK, 0))
    policy = trusting(connect_timeout="100ms", retry={"max_attempts": 2, "backoff": {"initial": "1ms"}})
    with listener, Reprise(defaults=policy) as reprise:
        response = ask(reprise, "GET", f"http://{LOOPBACK}:{listener.getsockname()[1]}/x")
        equal((response.status, error_of(response), response.attempts), (504, "error=connection_timeout", 2))
        for attempt in reprise.requests(1)[0]["attempts"]:
            equal((attempt["stage"], attempt["error"]), ("tls", "connect_timeout"))
            assert attempt["ms"] >= 100, attempt


def test_D1_post_is_not_retried_if_its_tls_connection_dies_after_sending():
    # The upstream closes the connection at the second request. It may have read that request, even if reprise counts no
    # bytes as sent.
    def leave(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.")
        connection.recv(1)
        return False
    with TlsUpstream({"/warm": [leave], "/x": [200]}, notices=False) as upstream, Reprise(defaults=trusting()) as reprise:
        with Client(reprise.forward) as client:
            # The first POST of a client uses a fresh connection (row F10); only the second POST uses a reused one.
            equal(client.ask("POST", upstream.url("/warm"), b"first").status, 200)
            response = client.ask("POST", upstream.url("/x"), b"once")
            equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
        equal(upstream.count("/x"), 0)


def test_F1_tls_connections_are_not_shared_across_certificates_trust_or_names():
    other = Authority("a second CA")
    ones = {name: authority().issue(name, names=(), usage="clientAuth") for name in ("first", "second")}
    shown = {name: {"originate": True, "ca_file": authority().file, "certificate": files[0], "key": files[1]}
             for name, files in ones.items()}
    bundle = tempfile.NamedTemporaryFile("w", suffix=".pem")  # another file with the same trusted certificates
    with open(authority().file, encoding="ascii") as mine, open(other.file, encoding="ascii") as theirs:
        bundle.write(mine.read() + theirs.read())
    bundle.flush()
    with bundle, TlsUpstream(asks_for=authority().file, record=False) as upstream:
        gateway = {"mode": "gateway", "bind": "127.0.0.1:0", "upstream": f"https://127.0.0.1:{upstream.port}", "host": "client"}
        routes = [{"name": name, "match": {"path": f"/{name}"}, "tls": tls} for name, tls in shown.items()]
        routes.append({"name": "bundle", "match": {"path": "/bundle"}, "tls": {**shown["first"], "ca_file": bundle.name}})
        routes.append({"name": "same", "match": {"path": "/same"}, "tls": shown["first"]})
        with Reprise(listeners=[{"mode": "forward", "bind": "127.0.0.1:0"}, gateway], routes=routes) as reprise, \
                Client(reprise.forward) as client, Client(reprise.gateway) as through:
            for turn in range(3):
                for path in ("/first", "/second", "/bundle", "/same"):
                    equal(client.ask("GET", upstream.url(path)).status, 200)
                for host in ("api.test", "localhost"):
                    through.send(head_of("GET", "/first", host))
                    equal(through.read_response().status, 200)
                equal(upstream.connections, 5, f"one for each identity, in turn {turn}")
        by_connection = {}
        for request in upstream.requests:
            by_connection.setdefault(request.connection, set()).add((request.path, request.field("Host")))
        address = f"{LOOPBACK}:{upstream.port}"
        equal(sorted(map(sorted, by_connection.values())),
              sorted([[("/first", address), ("/same", address)], [("/second", address)], [("/bundle", address)],
                      [("/first", "api.test")], [("/first", "localhost")]]))
        names = [dict(pair for part in shown_["subject"] for pair in part)["commonName"] for shown_ in upstream.certificates_shown]
        equal(names, ["first", "second", "first", "first", "first"])


def test_F1_clear_text_and_tls_connections_to_one_port_are_kept_apart():
    with Upstream() as upstream, Reprise(routes=[{"name": "t", "match": {"path": "/t"}, "tls": "originate"}],
                                         defaults={"connect_timeout": "50ms", "retry": {"max_attempts": 1}}) as reprise:
        with Client(reprise.forward) as client:
            equal(client.ask("GET", upstream.url("/p")).status, 200)
            assert client.ask("GET", upstream.url("/t")).status in (502, 504)
            equal(client.ask("GET", upstream.url("/p")).status, 200)
        equal([request.path for request in upstream.requests], ["/p", "/p"])


def start(command, defaults):
    """Runs a reprise command with a configuration that has the given `defaults`. Returns its exit code and
    output."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "reprise.yaml")
        with open(file, "w", encoding="utf-8") as out:
            out.write("version: 1\nadmin: {bind: 127.0.0.1:0}\nlisteners: [{mode: forward, bind: 127.0.0.1:0}]\nroutes:\n"
                      f"  - {{name: billing, match: {{host: a.internal}}, tls: {defaults}}}\n")
        done = subprocess.run([options.binary, *command, file], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr


def test_unloadable_tls_files_are_reported_before_any_port_is_bound():
    certificate, key = good_certificate()
    other_key = authority().issue()[1]
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as junk, tempfile.NamedTemporaryFile("w", suffix=".pem") as lists:
        junk.write("this is no certificate\n")
        junk.flush()
        with open(authority().with_list(), encoding="ascii") as both:
            lists.write(both.read().split("-----END CERTIFICATE-----\n")[1])
        lists.flush()
        for tls, words in ((f"{{ca_file: {junk.name}}}", ("tls.ca_file", junk.name)),
                           (f"{{ca_file: {lists.name}}}", ("tls.ca_file", "it contains only revocation lists")),
                           ("{ca_file: /nowhere/ca.pem}", ("/nowhere/ca.pem", "No such file")),
                           (f"{{certificate: {junk.name}, key: {key}}}", ("tls.certificate", junk.name)),
                           (f"{{certificate: {certificate}, key: /nowhere/k.pem}}", ("tls.key", "/nowhere/k.pem")),
                           (f"{{certificate: {certificate}, key: {other_key}}}", ("tls.key", "does not belong to the certificate"))):
            for command in (("check",), ("run", "-c")):
                code, text = start(command, tls)
                equal(code, 78, text)
                for word in ("reprise.yaml:5:", ": error: routes[0].tls.", *words):
                    assert word in text, f"{word!r} is not in {text!r}"
    code, text = start(("check",), f"{{ca_file: {authority().file}, certificate: {certificate}, key: {key}}}")
    equal(code, 0, text)
