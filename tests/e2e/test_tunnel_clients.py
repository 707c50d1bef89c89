"""Real clients behind https_proxy: Python's urllib and http.client, curl and wget, to a TLS server of the test's own."""
import contextlib
import http.client
import http.server
import os
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.request

from harness import LOOPBACK, PATIENCE, Curl, Reprise, accept_each, closed_port, equal, opened_after
from test_tunnels import ANY_PORT
from upstream import Say, Upstream

BODY = b"over TLS\n" * 1000


def make_certificate(folder):
    """A key and a certificate for 127.0.0.1, which its holder signs."""
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=reprise tests",
                    "-addext", f"subjectAltName=IP:{LOOPBACK}"], check=True, capture_output=True, timeout=PATIENCE)
    return key, certificate


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


class TlsServer:
    """Serves BODY on every path. Its port is bound at once, and refuses until `listen`."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-tls-")
        self.key, self.certificate = make_certificate(self.folder.name)
        self.server = http.server.ThreadingHTTPServer((LOOPBACK, 0), Answering, bind_and_activate=False)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.server.socket.close()
        held, self.port = closed_port()
        self.server.socket = context.wrap_socket(held, server_side=True, do_handshake_on_connect=False)
        self.server.server_address = (LOOPBACK, self.port)
        self.server.server_name, self.server.server_port = "tls.test", self.port
        self.listening = False

    def listen(self):
        self.server.socket.listen(64)
        self.listening = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.listening:
            self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def url(self):
        return f"https://{LOOPBACK}:{self.port}/"

    def trust(self):
        return ssl.create_default_context(cafile=self.certificate)


def clean_environment(reprise):
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return {**kept, "https_proxy": reprise.proxy_url, "http_proxy": reprise.proxy_url}


def urllib_get(reprise, server):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"https": reprise.proxy_url}),
                                         urllib.request.HTTPSHandler(context=server.trust()))
    with opener.open(server.url(), timeout=PATIENCE) as answer:
        return answer.status, answer.read()


def http_client_get(reprise, server):
    connection = http.client.HTTPSConnection(*reprise.forward, context=server.trust(), timeout=PATIENCE)
    connection.set_tunnel(LOOPBACK, server.port)
    try:
        connection.request("GET", "/")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def curl_get(reprise, server):
    done = Curl(reprise, server.url(), "--cacert", server.certificate)
    return int(done.code == 0 and 200), done.body


def wget_get(reprise, server):
    done = subprocess.run(["wget", "-q", "-O", "-", "--ca-certificate", server.certificate, server.url()],
                          env=clean_environment(reprise), capture_output=True, timeout=PATIENCE, check=False)
    return int(done.returncode == 0 and 200), done.stdout


def test_clients_of_https_proxy_reach_a_tls_server():
    with TlsServer() as server, Reprise(security=ANY_PORT) as reprise:
        server.listen()
        for get in (urllib_get, http_client_get, curl_get, wget_get):
            status, body = get(reprise, server)
            equal((status, body == BODY), (200, True), get.__name__)
        equal(reprise.metric("reprise_tunnels_total", outcome="http"), 0)


def test_G2_a_dial_that_was_refused_twice_is_a_tunnel_for_https_proxy_clients():
    retry = {"max_attempts": 1000000, "deadline": "unlimited",
             "backoff": {"initial": "20ms", "maximum": "20ms", "jitter": "none"}}
    for get in (urllib_get, http_client_get, curl_get):
        with TlsServer() as server, \
                Reprise(security=ANY_PORT, defaults={"retry": retry, "budget": "off"}, log={"level": "debug"}) as reprise:
            opening = opened_after(2, reprise, server.listen)
            try:
                status, body = get(reprise, server)
            finally:
                opening.join()
            equal((status, body == BODY), (200, True), get.__name__)
            attempts = reprise.requests(1)[0]["attempts"]
            assert len(attempts) > 2 and attempts[0]["error"] == "refused", attempts


def test_G7_curl_with_a_tunnel_for_plain_http_gets_its_retries():
    with Upstream({"/": [503, 503, Say(200, BODY)]}) as upstream, Reprise(security=ANY_PORT) as reprise:
        for _ in range(20):  # curl may be slower than the first words are waited for
            done = Curl(reprise, upstream.url(), "--proxytunnel")
            if reprise.metric("reprise_tunnels_total", outcome="http") > 0:
                equal((done.code, done.body == BODY), (0, True))
                return
        raise AssertionError("never heard in time")


class DyingTlsServer:
    """Speaks TLS, but ends the next `deaths` connections when their ClientHello has come: by FIN and by RST in turn."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-tls-")
        self.key, self.certificate = make_certificate(self.folder.name)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, self.key)
        self.listener = socket.create_server((LOOPBACK, 0))
        self.port = self.listener.getsockname()[1]
        self.deaths = 0
        self.hellos = []

    def __enter__(self):
        accept_each(self.listener, self._serve)
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.folder.cleanup()

    def _serve(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE)
            self.hellos.append(connection.recv(65536, socket.MSG_PEEK))
            if self.deaths > 0:
                self.deaths -= 1
                connection.recv(65536)
                if self.deaths % 2 == 0:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return
            with self.context.wrap_socket(connection, server_side=True) as tls:
                tls.recv(65536)
                tls.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)

    def url(self):
        return f"https://{LOOPBACK}:{self.port}/"

    def trust(self):
        return ssl.create_default_context(cafile=self.certificate)


def test_G2_a_client_hello_that_nobody_answered_is_sent_again():
    """A client whose hello comes later than first words are waited for is tunnelled: some tries are allowed."""
    defaults = {"tunnel": {"replay_client_hello": True}}
    for get in (urllib_get, curl_get):
        with DyingTlsServer() as server, Reprise(security=ANY_PORT, defaults=defaults) as reprise:
            for number in range(1, 21):
                server.hellos.clear()
                server.deaths = 2
                try:
                    status, body = get(reprise, server)
                except OSError:
                    status, body = 0, b""
                line = reprise.requests(number)[number - 1]
                if status == 200:
                    break
            equal((status, body == BODY), (200, True), get.__name__)
            equal([step["stage"] for step in line["attempts"][:2]], ["tls", "tls"])
            equal([step["reason"] for step in line["attempts"]], ["retryable_failure"] * 2 + ["success"])
            equal(len(server.hellos) == 3 and len(set(server.hellos)) == 1, True, "three times the same bytes")


def test_G2_without_the_key_a_client_hello_is_sent_once():
    with DyingTlsServer() as server, Reprise(security=ANY_PORT) as reprise:
        server.deaths = 1
        try:
            urllib_get(reprise, server)
            raise AssertionError("it must fail")
        except OSError:
            pass
        equal(len(server.hellos), 1)
