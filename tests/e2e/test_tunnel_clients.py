"""Tests real clients with https_proxy: Python's urllib and http.client, curl and wget, with a TLS server of the tests."""
import http.client
import socket
import ssl
import subprocess
import urllib.request

from harness import LOOPBACK, PATIENCE, Curl, Reprise, equal, opened_after, without_proxies
from tls import TlsUpstream, authority
from upstream import Say, Upstream, reset

ALONE = True  # one case at a time: clients start slowly, and must send within 200 ms after their CONNECT
BODY = b"over TLS\n" * 1000


class TlsServer(TlsUpstream):
    """A TLS server that serves BODY on every path. The next `deaths` connections end after their ClientHello,
    alternately by FIN and by RST."""

    def __init__(self):
        super().__init__(otherwise=[Say(200, BODY)])
        self.ca_file = authority().file
        self.deaths = 0
        self.hellos = []

    def secure(self, connection):
        self.hellos.append(connection.recv(65536, socket.MSG_PEEK))
        if self.deaths > 0:
            self.deaths -= 1
            connection.recv(65536)
            if self.deaths % 2 == 0:
                reset(connection)
            raise OSError("the handshake is over")
        return super().secure(connection)

    def trust(self):
        return ssl.create_default_context(cafile=self.ca_file)


def clean_environment(reprise):
    return without_proxies(https_proxy=reprise.proxy_url, http_proxy=reprise.proxy_url)


def urllib_get(reprise, server):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"https": reprise.proxy_url}),
                                         urllib.request.HTTPSHandler(context=server.trust()))
    with opener.open(server.https_url(), timeout=PATIENCE) as response:
        return response.status, response.read()


def http_client_get(reprise, server):
    connection = http.client.HTTPSConnection(*reprise.forward, context=server.trust(), timeout=PATIENCE)
    connection.set_tunnel(LOOPBACK, server.port)
    try:
        connection.request("GET", "/")
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def curl_get(reprise, server):
    done = Curl(reprise, server.https_url(), "--cacert", server.ca_file)
    return int(done.code == 0 and 200), done.body


def wget_get(reprise, server):
    done = subprocess.run(["wget", "-q", "-O", "-", "--ca-certificate", server.ca_file, server.https_url()],
                          env=clean_environment(reprise), capture_output=True, timeout=PATIENCE, check=False)
    return int(done.returncode == 0 and 200), done.stdout


def test_https_proxy_clients_reach_a_tls_server():
    with TlsServer() as server, Reprise() as reprise:
        for get in (urllib_get, http_client_get, curl_get, wget_get):
            status, body = get(reprise, server)
            equal((status, body == BODY), (200, True), get.__name__)
        equal(reprise.metric("reprise_tunnels_total", outcome="http"), 0)


def test_G2_https_proxy_clients_get_a_tunnel_after_two_refused_dials():
    retry = {"max_attempts": 1000000, "deadline": "unlimited",
             "backoff": {"initial": "20ms", "maximum": "20ms", "jitter": "none"}}
    for get in (urllib_get, http_client_get, curl_get):
        server = TlsServer()  # the server is not started yet, so its port refuses connections
        with Reprise(defaults={"retry": retry, "budget": "off"}, log={"level": "debug"}) as reprise:
            opening = opened_after(2, reprise, server.__enter__)
            try:
                status, body = get(reprise, server)
            finally:
                opening.join()
                server.__exit__()
            equal((status, body == BODY), (200, True), get.__name__)
            attempts = reprise.requests(1)[0]["attempts"]
            assert len(attempts) > 2 and attempts[0]["error"] == "refused", attempts


def test_G7_plain_http_through_a_curl_tunnel_is_retried():
    with Upstream({"/": [503, 503, Say(200, BODY)]}) as upstream, Reprise() as reprise:
        for _ in range(20):  # several tries, because curl may send its first bytes too late
            done = Curl(reprise, upstream.url(), "--proxytunnel")
            if reprise.metric("reprise_tunnels_total", outcome="http") > 0:
                equal((done.code, done.body == BODY), (0, True))
                return
        raise AssertionError("never heard in time")


def test_G2_client_hello_without_a_response_is_sent_again_if_configured():
    """Tries several times: if the ClientHello arrives too late, reprise forwards it and cannot send it again."""
    defaults = {"tunnel": {"replay_client_hello": True}}
    for get in (urllib_get, curl_get):
        with TlsServer() as server, Reprise(defaults=defaults) as reprise:
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


def test_G2_client_hello_is_sent_once_by_default():
    with TlsServer() as server, Reprise() as reprise:
        server.deaths = 1
        try:
            urllib_get(reprise, server)
            raise AssertionError("it must fail")
        except OSError:
            pass
        equal(len(server.hellos), 1)
