"""Tests retries of HTTPS requests. For hosts that `--intercept` or the configuration lists, reprise terminates the
client's TLS with a certificate that only the environment of the client trusts."""
import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile

from client import Client
from faults import isolated
from harness import LOOPBACK, PATIENCE, Reprise, equal, eventually, merge, needs_client, options, without_proxies
from names import NameServer
from tls import Authority, TlsUpstream, authority
from upstream import Say, Upstream, resumable

ALONE = True  # one case at a time: clients start slowly, and must send within 200 ms after their CONNECT
SUMMARY = "reprise: 1 requests, 1 retried, 1 recovered\n"
HOST = "localhost"


def trusting():
    """Returns `defaults` with which reprise trusts upstreams whose certificates the test's CA has issued."""
    return {"tls": {"ca_file": authority().file}}


TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT",
         "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "PERL_LWP_SSL_CA_FILE")


def clean(**more):
    """Returns this process's environment without proxy and trust variables."""
    kept = {name: value for name, value in without_proxies().items() if name not in (*TRUST, "JAVA_TOOL_OPTIONS")}
    return {**kept, **more}


def ran(*arguments, environment=None):
    """Runs reprise. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, *arguments], env=clean(**(environment or {})), capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Intercepting(Reprise):
    """A reprise with its own CA, which `reprise ca init` has made."""

    def __init__(self, hosts=(HOST,), **configuration):
        self.own = tempfile.TemporaryDirectory(prefix="reprise-own-ca-")
        files = {"ca": {"certificate": f"{self.own.name}/ca.pem", "key": f"{self.own.name}/ca.key"}, "bundle": f"{self.own.name}/bundle.pem"}
        super().__init__(**merge({"intercept": {"hosts": list(hosts), **files}, "defaults": trusting(), "log": {"level": "debug"}},
                                 configuration))
        code, out, err = ran("ca", "init", "-c", self.config_file)
        equal((code, err), (0, ""), out)

    def __exit__(self, *error):
        super().__exit__(*error)
        self.own.cleanup()

    @property
    def bundle(self):
        return f"{self.own.name}/bundle.pem"

    def interceptions(self, outcome):
        return self.metric("reprise_interceptions_total", outcome=outcome)

    def curl(self, *arguments):
        """Runs a curl that trusts only reprise's bundle of certificates. Returns standard output, standard error and
        the exit code."""
        done = subprocess.run(["curl", "-sS", "-x", self.proxy_url, "--noproxy", "", "--cacert", self.bundle, *arguments],
                              env=clean(), capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.stdout, done.stderr, done.returncode


def asked_for(reprise, authority_of_connect):
    """Sends a CONNECT, and returns the socket after the 200 response to it."""
    client = Client(reprise.forward)
    client.send(f"CONNECT {authority_of_connect} HTTP/1.1\r\nHost: {authority_of_connect}\r\n\r\n".encode())
    equal(client.read_final_head().status, 200)
    return client.socket


def context_of(trusted, alpn=(), newest=None, oldest=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(trusted)
    context.check_hostname = False
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if newest:
        context.maximum_version = newest
    if oldest:
        context.minimum_version = oldest
    return context


def issuer_of(wire):
    """Returns the common name of the CA that issued the peer's certificate."""
    return dict(pair[0] for pair in wire.getpeercert()["issuer"]).get("commonName")


@contextlib.contextmanager
def handshake(reprise, port, trusted, server_name, host=HOST, **more):
    """Yields a TLS connection to the given host and port, through a CONNECT. Reads the CA certificates first, because
    reprise waits only a short time for the ClientHello before it dials."""
    context = context_of(trusted, **more)
    with asked_for(reprise, f"{host}:{port}") as plain, context.wrap_socket(plain, server_hostname=server_name) as wire:
        yield wire


def test_exec_retries_https_requests_of_a_command():
    with TlsUpstream({"/x": [503, 503, 200]}) as upstream:
        with tempfile.TemporaryDirectory() as folder:
            environment = {"SSL_CERT_FILE": authority().file, "XDG_RUNTIME_DIR": folder}
            url = f"https://{HOST}:{upstream.port}/x"
            got = ran("exec", "--report", f"{folder}/report", "--intercept", HOST, "--", "curl", "-sS", "-i", "--http1.1", url, environment=environment)
            equal((got[0], got[2]), (0, SUMMARY), got[1])
            assert "Reprise-Attempts: 3" in got[1] and got[1].endswith("answer 3 to /x\n"), got[1]
            with open(f"{folder}/report", encoding="utf-8") as file:
                equal(json.load(file)["recovered"], 1)
            equal(os.listdir(folder), ["report"], "the folder of the authority is gone")
        equal([request.path for request in upstream.requests], ["/x"] * 3)


PYTHON = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode(), end='')"
# This version of Node does not support proxies itself: the script sends the CONNECT itself, as the usual
# proxy agents for Node do.
NODE = """
const http = require('http'), https = require('https'), url = new URL(process.argv[1]), proxy = new URL(process.env.https_proxy);
http.request({host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: url.host}).on('connect', (_, socket) =>
  https.get(url, {socket, agent: false, servername: url.hostname}, answer => answer.pipe(process.stdout))).end();
"""
JAVA = """
import java.net.URI;
import java.net.http.*;
class Fetch {
  public static void main(String[] arguments) throws Exception {
    var client = HttpClient.newBuilder().proxy(java.net.ProxySelector.getDefault()).build();
    System.out.print(client.send(HttpRequest.newBuilder(URI.create(arguments[0])).build(), HttpResponse.BodyHandlers.ofString()).body());
  }
}
"""
JAVA_OLD = """
import java.net.URL;
class Fetch {
  public static void main(String[] arguments) throws Exception {
    System.out.write(new URL(arguments[0]).openStream().readAllBytes());
    System.out.flush();
  }
}
"""
GO = """
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, answer.Body)
}
"""


def recovered(command, host=HOST, certificate=None, comes_late=False, **environment):
    """Runs the command with a URL as its last argument. Checks that the command gets a 200 after two 503
    responses. `comes_late`: on a busy machine, the command may send its first bytes too late for reprise to
    examine them (row G7). The summary may then count additional requests."""
    with TlsUpstream({"/x": [503, 503, 200]}, certificate=certificate) as upstream:
        code, out, err = ran("exec", "--intercept", host, "--", *command, f"https://{host}:{upstream.port}/x",
                             environment={"SSL_CERT_FILE": authority().file, **environment})
        equal((code, out.removeprefix("\n")), (0, "answer 3 to /x\n"), err)
        assert re.search(r"reprise: [0-9]+ requests?, 1 retried, 1 recovered\n$" if comes_late else re.escape(SUMMARY) + "$", err), err


def test_exec_retries_https_requests_of_python():
    needs_client("python3")
    recovered(["python3", "-c", PYTHON])


def test_exec_retries_https_requests_of_node():
    needs_client("node")
    recovered(["node", "-e", NODE, "--"])


@isolated
def test_exec_retries_https_requests_of_java():
    needs_client("javac")
    # HttpURLConnection sends no SNI for a name without a dot.
    with NameServer({}, hosts=f"{LOOPBACK} api.test\n"):
        for source in (JAVA, JAVA_OLD):
            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/Fetch.java", "w", encoding="ascii") as file:
                    file.write(source)
                subprocess.run(["javac", "-d", folder, file.name], check=True, capture_output=True)
                recovered(["java", "-cp", folder, "Fetch"], host="api.test", comes_late=True)


@isolated
def test_exec_retries_https_requests_of_go():
    needs_client("go")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/fetch.go", "w", encoding="ascii") as file:
            file.write(GO)
        environment = {"HOME": folder, **os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", f"{folder}/fetch", file.name], check=True, capture_output=True, env=environment, cwd=folder)
        # Go never uses a proxy for loopback addresses or the name localhost.
        with NameServer({}, hosts=f"{LOOPBACK} api.test\n"):
            recovered([f"{folder}/fetch"], host="api.test")


def test_intercepted_https_is_retried_and_replayed_and_resumed_like_plain_http():
    """Covers one request of each kind: a POST is sent once, an upload is replayed, a download is resumed, and
    several requests use one client connection."""
    blob = bytes(range(256)) * 2000
    fields = (("ETag", '"v1"'), ("Accept-Ranges", "bytes"))
    scripts = {"/post": [503], "/put": [503, 200], "/down": [resumable(blob, 100_000)], "/again": [Say(200, b"x", fields)]}
    with TlsUpstream(scripts) as upstream, Intercepting() as reprise:
        with handshake(reprise, upstream.port, reprise.bundle, HOST, alpn=("http/1.1",)) as wire:
            equal(wire.selected_alpn_protocol(), "http/1.1")
            client = Client(None, connection=wire)
            host = f"{HOST}:{upstream.port}"

            def ask(method, path, body=None):
                fields = f"Content-Length: {len(body)}\r\n" if body is not None else ""
                client.send(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n".encode() + (body or b""))
                return client.read_response(method)

            response = ask("POST", "/post", b"order")
            equal((response.status, response.reason), (503, "not_idempotent"))
            equal(upstream.count("/post"), 1)
            equal(ask("PUT", "/put", blob).status, 200)
            equal([request.body for request in upstream.requests if request.path == "/put"], [blob, blob])
            response = ask("GET", "/down")
            equal((response.status, response.body), (200, blob))
            equal(ask("GET", f"https://{host}/again").status, 200, "absolute-form of its own origin")
            client.send(f"GET https://other.test/again HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            equal(client.read_response().status, 400, "and of no other")
        equal(upstream.sni, [HOST] * len(upstream.sni))
        equal(reprise.interceptions("intercepted"), 1)


def test_D8_failed_intercepted_request_closes_the_connection_if_first_and_gets_502_otherwise():
    """If the first request on a client connection fails, reprise closes the connection. If a later request fails on
    a fresh upstream connection, the client gets a 502, because a JDK would resend the request after a close."""
    with TlsUpstream({"/post": ["close"], "/last": [Say(close=True)]}) as upstream, Intercepting() as reprise:
        post = f"POST /post HTTP/1.1\r\nHost: {HOST}:{upstream.port}\r\nContent-Length: 4\r\n\r\nonce".encode()
        with handshake(reprise, upstream.port, reprise.bundle, HOST) as wire:
            client = Client(None, connection=wire)
            client.send(post)
            equal(client.read_to_end(), b"")
        with handshake(reprise, upstream.port, reprise.bundle, HOST) as wire:
            client = Client(None, connection=wire)
            client.send(post.replace(b"/post", b"/last"))
            equal(client.read_response().status, 200)
            client.send(post)
            response = client.read_response()
            equal((response.status, response.reason), (502, "not_idempotent"))
        equal(upstream.count("/post"), 2, "each was sent once")


def test_observe_mode_intercepts_without_retrying_and_off_mode_does_not_intercept():
    for mode, outcome in (("observe", 1), ("off", 0)):
        with TlsUpstream({"/x": [503, 200]}) as upstream, Intercepting(defaults={"mode": mode}) as reprise:
            trusted = reprise.bundle if outcome else authority().file
            with handshake(reprise, upstream.port, trusted, HOST) as wire:
                client = Client(None, connection=wire)
                client.send(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                equal(client.read_response().status, 503, mode)
            equal(reprise.interceptions("intercepted"), outcome, mode)


def test_intercepted_requests_fail_with_502_if_the_upstream_certificate_is_invalid():
    revoked = authority().issue()
    authority().revoke(revoked[0])
    bad = {"expired": authority().issue(ends=-0.5, starts=-2), "self-signed": authority().self_signed(),
           "unable to get local issuer": Authority("another").issue(), "mismatch": authority().issue(names=("DNS:other.test",))}
    for words, certificate in bad.items():
        with TlsUpstream(certificate=certificate) as upstream, Intercepting() as reprise:
            out, err, code = reprise.curl("-i", "--http1.1", f"https://{HOST}:{upstream.port}/")
            equal(code, 0, err)
            assert "HTTP/1.1 502 " in out and "error=tls_certificate_error" in out, out
            assert words in out, (words, out)
            equal((upstream.connections, upstream.count()), (1, 0), "one dial, and no request")
    with TlsUpstream(certificate=revoked) as upstream, Intercepting(defaults={"tls": {"ca_file": authority().with_list()}}) as reprise:
        out, _, _ = reprise.curl("-i", "--http1.1", f"https://{HOST}:{upstream.port}/")
        assert "HTTP/1.1 502 " in out and "revoked" in out, out


def test_F11_only_listed_hosts_requested_by_their_own_name_are_intercepted():
    """The client gets the upstream's own certificate in four cases: the client sends another name as SNI,
    sends no SNI, or offers no version of HTTP, or the host is not listed."""
    with TlsUpstream(alpn=("acme-tls/1", "http/1.1")) as upstream, Intercepting(hosts=[HOST, "*.api.test"]) as reprise:
        own = authority().file
        for outcome, name, alpn in (("other_server_name", "api.test", ()), ("no_server_name", None, ()), ("no_http_1_1", HOST, ("acme-tls/1",))):
            with handshake(reprise, upstream.port, own, name, alpn=alpn) as wire:
                equal(issuer_of(wire), "reprise test CA", outcome)
            equal(reprise.interceptions(outcome), 1, outcome)
            reprise.expect_log(f": {outcome}: tunnelled without interception")
        with handshake(reprise, upstream.port, own, HOST, host=LOOPBACK) as wire:
            equal(issuer_of(wire), "reprise test CA", "an address is never listed")
        equal(reprise.interceptions("intercepted"), 0)
        for name in ("LocalHost", "LOCALHOST"):
            with handshake(reprise, upstream.port, reprise.bundle, name) as wire:
                assert issuer_of(wire).startswith("reprise for localhost"), wire.getpeercert()
        equal(reprise.interceptions("intercepted"), 2)


def test_intercepted_clients_may_use_only_tls_1_2_and_1_3():
    with TlsUpstream() as upstream, Intercepting() as reprise:
        for version, word in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")):
            with handshake(reprise, upstream.port, reprise.bundle, HOST, newest=version) as wire:
                equal(wire.version(), word)
        old = subprocess.run(["openssl", "s_client", "-connect", f"{HOST}:{upstream.port}", "-proxy", "%s:%d" % reprise.forward, "-tls1_1",
                              "-cipher", "DEFAULT@SECLEVEL=0", "-servername", HOST], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=PATIENCE, check=False)
        assert "alert protocol version" in old.stderr, old.stderr
        equal(upstream.requests, [], "nothing is sent for it")
        reprise.expect_metric(1, "reprise_interceptions_total", outcome="handshake_failed")
        reprise.expect_log("handshake_failed: closed: the TLS handshake failed: ")


def test_client_that_distrusts_the_ca_is_logged():
    with TlsUpstream() as upstream, Intercepting() as reprise:
        _, err, code = reprise.curl("--cacert", authority().file, f"https://{HOST}:{upstream.port}/")
        equal(code, 60, err)
        reprise.expect_log("unknown ca")
        reprise.expect_log("intercept.bundle")


def test_incomplete_tls_handshake_is_closed_after_the_timeout():
    with TlsUpstream() as upstream, Intercepting(timers={"handshake": "100ms"}) as reprise:
        hello = bytes.fromhex("16030100c8010000c4")
        for sent in (hello, b"\x16\x03\x01"):
            with asked_for(reprise, f"{HOST}:{upstream.port}") as plain:
                plain.sendall(sent)
                equal(plain.recv(100), b"", "closed")
        reprise.expect_metric(2, "reprise_interceptions_total", outcome="handshake_timeout")
        reprise.expect_metric(2, "reprise_limits_hit_total", limit="handshake")
        equal(upstream.connections, 0)


def test_slow_client_hello_to_a_listed_host_is_still_intercepted():
    """After a CONNECT to a listed host, reprise waits longer than the usual short time for the ClientHello.
    Meanwhile the upstream may send first."""
    with TlsUpstream({"/x": [503, 200]}) as upstream, Intercepting() as reprise:
        with asked_for(reprise, f"{HOST}:{upstream.port}") as plain:
            eventually(lambda: upstream.connections == 1, "the upstream is dialled, in case it speaks first")
            with context_of(reprise.bundle).wrap_socket(plain, server_hostname=HOST) as wire:
                client = Client(None, connection=wire)
                client.send(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                equal(client.read_response().status, 200)
    with Upstream(greeting=b"220 hello\r\n") as upstream, Intercepting() as reprise:
        with asked_for(reprise, f"{HOST}:{upstream.port}") as plain:
            equal(plain.recv(100), b"220 hello\r\n")
        reprise.expect_metric(1, "reprise_streams_total", protocol="server_first")


def test_client_idle_with_half_a_tls_record_is_closed_after_the_keep_alive_time():
    with TlsUpstream() as upstream, Intercepting(timers={"keep_alive": "300ms"}) as reprise:
        context = context_of(reprise.bundle)
        with asked_for(reprise, f"{HOST}:{upstream.port}") as plain:
            plain.settimeout(PATIENCE)
            below = os.dup(plain.fileno())
            with context.wrap_socket(plain, server_hostname=HOST) as wire, socket.socket(fileno=below) as raw:
                client = Client(None, connection=wire)
                client.send(b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
                equal(client.read_response().status, 200)
                raw.sendall(b"\x17\x03\x03\x40\x00")

                def closed():
                    with contextlib.suppress(OSError):
                        raw.send(b"\0")
                    return reprise.metric("reprise_limits_hit_total", limit="keep_alive") == 1
                eventually(closed, "it is no request, whatever comes of it")


def test_plain_http_after_connect_to_a_listed_host_is_retried():
    with Upstream({"/x": [503, 200]}) as upstream, Intercepting() as reprise, asked_for(reprise, f"{HOST}:{upstream.port}") as plain:
        client = Client(None, connection=plain)
        client.send(f"GET /x HTTP/1.1\r\nHost: {HOST}:{upstream.port}\r\n\r\n".encode())
        equal(client.read_response().status, 200)
        equal(upstream.count(), 2)


def test_intercepted_requests_cannot_reach_the_listeners_of_the_proxy():
    with Intercepting() as reprise:
        port = reprise.addresses["admin"][1]
        with handshake(reprise, port, reprise.bundle, HOST) as wire:
            client = Client(None, connection=wire)
            client.send(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
            equal(client.read_response().status, 508)
        out, _, code = reprise.curl(f"http://{HOST}:{port}/metrics")
        equal((code, "address is a listener" in out), (0, True), out)
