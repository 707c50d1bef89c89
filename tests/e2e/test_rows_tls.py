"""Tests TLS to upstreams: replaced root certificates, trust files without a root, and client certificates that the
upstream requests late or rejects."""
import contextlib
import os
import select
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading

from client import ask
from harness import LOOPBACK, PATIENCE, NotPlayed, Reprise, equal, eventually, is_sanitized
from test_faults_clock import WallClock
from test_intercept import Intercepting
from tls import Authority, TlsUpstream, authority, trusting

ONCE = {"retry": {"max_attempts": 1}}


def identified(pair, ca_file=None, **policy):
    """Returns `defaults` that make reprise present a client certificate."""
    defaults = trusting(ca_file, **policy)
    defaults["tls"] |= {"certificate": pair[0], "key": pair[1]}
    return defaults


@contextlib.contextmanager
def own_roots(*files):
    """Yields (folder, set_roots, trust). `trust()` makes reprise use a file and the folder `hashed` in place of the
    host's root certificates. `set_roots(*files)` replaces the content of the file."""
    with tempfile.TemporaryDirectory(prefix="reprise-roots-") as folder:
        os.mkdir(f"{folder}/hashed")

        def set_roots(*files):
            with open(f"{folder}/next", "w", encoding="ascii") as out:
                for name in files:
                    with open(name, encoding="ascii") as part:
                        out.write(part.read())
            os.rename(f"{folder}/next", f"{folder}/roots.pem")
        set_roots(*files)

        def trust():
            os.environ["SSL_CERT_FILE"], os.environ["SSL_CERT_DIR"] = f"{folder}/roots.pem", f"{folder}/hashed"
        yield folder, set_roots, trust


def test_N4_replaced_root_certificates_apply_after_a_reload():
    other = Authority("another CA")
    with TlsUpstream() as upstream, own_roots(other.file) as (_, set_roots, trust), \
            Reprise(defaults={"tls": "originate", **ONCE}, prepare=trust) as reprise:
        def status():
            return ask(reprise, "GET", upstream.url("/")).status
        equal(status(), 502)
        set_roots(other.file, authority().file)
        reprise.process.send_signal(signal.SIGHUP)
        eventually(lambda: status() == 200, "the new root counts")
        reprise.expect_log("the trusted roots of this host have changed")
        set_roots(other.file)
        reprise.process.send_signal(signal.SIGHUP)
        eventually(lambda: status() == 502, "a root that was removed counts no more")
        set_roots(authority().file)
        eventually(lambda: status() == 200, "without a signal, too")


def test_N4_root_certificates_added_to_or_removed_from_the_folder_take_effect():
    hashed = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", authority().file], capture_output=True, text=True, check=True).stdout
    with TlsUpstream() as upstream, own_roots(Authority("another CA").file) as (folder, _, trust), \
            Reprise(defaults={"tls": "originate", **ONCE}, prepare=trust) as reprise:
        root = f"{folder}/hashed/{hashed.strip()}.0"
        shutil.copy(authority().file, root)
        eventually(lambda: ask(reprise, "GET", upstream.url("/")).status == 200, "the new root counts")
        os.unlink(root)
        eventually(lambda: ask(reprise, "GET", upstream.url("/")).status == 502, "a root that was removed counts no more")


def test_N4_ca_bundle_contains_new_root_certificates_after_a_reload():
    first, second = Authority("first CA"), Authority("second CA")
    with open(second.file, encoding="ascii") as file:
        wanted = file.read().split("-----BEGIN CERTIFICATE-----")[1].split()[0]
    with own_roots(first.file) as (_, set_roots, trust), Intercepting(prepare=trust) as reprise:
        def bundle():
            with open(reprise.bundle, encoding="ascii") as file:
                return file.read()
        equal(wanted in bundle(), False)
        set_roots(second.file)
        reprise.process.send_signal(signal.SIGHUP)
        eventually(lambda: wanted in bundle(), "the bundle has the new root")


def chain_of_three(folder):
    """Returns the files of a root CA, an intermediate CA and a server certificate. Also returns the pair
    (certificate chain, key) that the server uses."""
    root = Authority("the root")
    script = f"""
openssl req -newkey rsa:2048 -nodes -keyout i.key -out i.csr -subj /CN=mid
printf 'basicConstraints=critical,CA:TRUE\\nkeyUsage=keyCertSign\\n' >i.ext
openssl x509 -req -in i.csr -CA {root.file} -CAkey {root.folder}/ca.key -set_serial 77 -days 9 -extfile i.ext -out i.pem
openssl req -newkey rsa:2048 -nodes -keyout s.key -out s.csr -subj /CN=s
printf 'subjectAltName=DNS:localhost,IP:{LOOPBACK}\\n' >s.ext
openssl x509 -req -in s.csr -CA i.pem -CAkey i.key -set_serial 78 -days 9 -extfile s.ext -out s.pem
cat s.pem i.pem >chain.pem"""
    subprocess.run(["sh", "-ec", script], cwd=folder, capture_output=True, check=True)
    return root.file, f"{folder}/i.pem", f"{folder}/s.pem", (f"{folder}/chain.pem", f"{folder}/s.key")


def test_N10_ca_file_with_only_the_issuing_ca_or_the_server_certificate_is_sufficient():
    with tempfile.TemporaryDirectory(prefix="reprise-chain-") as folder:
        root, issuing, own, served = chain_of_three(folder)
        with TlsUpstream(certificate=served) as upstream:
            for trusted in (root, issuing, own):
                with Reprise(defaults=trusting(trusted, **ONCE)) as reprise:
                    equal(ask(reprise, "GET", upstream.url("/")).status, 200, trusted)
            with Reprise(defaults=trusting(authority().issue()[0], **ONCE)) as reprise:
                equal(ask(reprise, "GET", upstream.url("/")).status, 502, "the certificate of another server")
        expired = authority().issue(ends=-0.5)
        with TlsUpstream(certificate=expired) as upstream, Reprise(defaults=trusting(expired[0], **ONCE)) as reprise:
            equal(ask(reprise, "GET", upstream.url("/")).status, 502, "an expired one is not trusted by its file either")


def ask_for_certificate(connection, _request):
    """Asks for a client certificate after the request was read (RFC 8446 4.6.2). Completes the response only when
    the certificate has arrived."""
    connection.verify_client_post_handshake()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
    connection.setblocking(False)
    while not connection.getpeercert():
        select.select([connection], [], [], 1)
        with contextlib.suppress(ssl.SSLWantReadError):
            connection.recv(1)
    connection.setblocking(True)
    connection.sendall(b"ok")
    return True


def test_N9_client_certificate_is_sent_if_the_upstream_asks_for_it_only_after_the_request():
    client = authority().issue("the client", names=(), usage="clientAuth")
    with TlsUpstream({"/x": [ask_for_certificate, 200]}) as upstream, Reprise(defaults=identified(client, **ONCE)) as reprise:
        upstream.context.post_handshake_auth = True
        upstream.context.verify_mode = ssl.CERT_REQUIRED
        upstream.context.load_verify_locations(authority().file)
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body), (200, b"ok"))


def test_N9_tls_1_2_renegotiation_request_is_rejected_with_an_error_that_names_it():
    client = authority().issue("the client", names=(), usage="clientAuth")
    certificate, key = authority().issue()
    command = ["openssl", "s_server", "-accept", f"{LOOPBACK}:0", "-cert", certificate, "-key", key, "-tls1_2", "-CAfile", authority().file]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        port = next(line for line in server.stdout if line.startswith("ACCEPT ")).rsplit(":", 1)[1].strip()
        with Reprise(defaults=identified(client, retry={"max_attempts": 3})) as reprise:
            responses = []
            asking = threading.Thread(target=lambda: responses.append(ask(reprise, "GET", f"http://localhost:{port}/x")))
            asking.start()
            next(line for line in server.stdout if line.startswith("GET /x"))
            server.stdin.write("R\n")
            server.stdin.flush()
            asking.join(PATIENCE)
            response = responses[0]
            equal((response.status, response.attempts, response.reason), (502, 1, "not_retryable"), response.head)
            assert b"renegotiation" in response.body, response.body
            reprise.expect_log("renegotiation")
        server.kill()


def test_N11_tls_alert_about_the_client_certificate_is_named_in_the_502_and_not_retried():
    unknown, expired = Authority("another CA").issue(names=(), usage="clientAuth"), authority().issue(names=(), ends=-0.5, usage="clientAuth")
    cases = [(ssl.TLSVersion.TLSv1_3, None, b"certificate required"), (ssl.TLSVersion.TLSv1_3, unknown, b"unknown CA"),
             (ssl.TLSVersion.TLSv1_3, expired, b"certificate expired"), (ssl.TLSVersion.TLSv1_2, None, b"handshake failure"),
             (ssl.TLSVersion.TLSv1_2, unknown, b"unknown CA"), (ssl.TLSVersion.TLSv1_2, expired, b"certificate expired")]
    for newest, pair, alert in cases:
        defaults = identified(pair) if pair else trusting()
        with TlsUpstream(newest=newest, asks_for=authority().file) as upstream, Reprise(defaults=defaults) as reprise:
            for method, body in (("GET", b""), ("POST", b"order")):
                before = upstream.connections
                response = ask(reprise, method, upstream.url("/"), body)
                case = (newest.name, alert, method, response.head, response.body)
                equal((response.status, response.attempts, response.reason), (502, 1, "not_retryable"), case)
                assert "error=tls_alert_received" in response.field("Proxy-Status"), case
                assert alert in response.body and b"tls.certificate" in response.body, case
                equal(upstream.connections - before, 1, case)
            reprise.expect_log(alert.decode())
            line = reprise.requests(2)[0]["attempts"][0]
            equal((line["stage"], line["error"]), ("tls", "tls_alert_received"), alert)


def test_N12_expiry_of_the_ca_and_of_a_client_certificate_is_logged_without_a_reload():
    if is_sanitized():
        raise NotPlayed("sanitizer", "the library of a sanitizer has to be loaded first")
    client = authority().issue("the client", names=(), ends=200, usage="clientAuth")
    with WallClock() as clock, Intercepting(defaults=identified(client)) as reprise:
        def left(which):
            return reprise.metric("reprise_certificate_expires_seconds", certificate=which) / 86400
        def step(days):
            clock.step(days * 86400)
        equal((round(left("client")), left("authority") > 300), (200, True))
        equal("expire" in reprise.text(), False)
        step(180)
        reprise.expect_log(f"the certificate of tls.certificate {client[0]} expires in 19 days: ")
        equal(round(left("client")), 20)
        step(205)
        reprise.expect_log(f"the certificate of tls.certificate {client[0]} expired 5 days ago: ")
        equal("intercept.ca expires" in reprise.text(), False)
        step(205 + round(left("authority")) - 10)
        reprise.expect_log("the certificate of intercept.ca expires in ")
        equal(reprise.text().count("intercept.ca expires"), 1, "once a day")
        equal(reprise.metric("reprise_config_reloads_total"), 0)
