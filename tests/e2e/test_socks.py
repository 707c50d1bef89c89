"""Tests the SOCKS5 listener: greetings, rejections and their replies. Also tests that the listener detects
the protocol in a tunnel, as a forward listener does after a CONNECT."""
import contextlib
import socket
import struct
import subprocess

from client import Client
from faults import isolated
from harness import LOOPBACK, PATIENCE, Reprise, closed_port, equal, without_proxies
from names import NameServer
from test_intercept import HOST, Intercepting, context_of, issuer_of
from tls import TlsUpstream, authority
from upstream import Upstream

SOCKS = {"listeners": [{"mode": "socks", "bind": f"{LOOPBACK}:0"}, {"mode": "forward", "bind": f"{LOOPBACK}:0"}]}
GREETING = b"\x05\x01\x00"
NO_ADDRESS = b"\x00\x01\x00\x00\x00\x00\x00\x00"


def reply(code):
    return bytes((5, code)) + NO_ADDRESS


def by_name(host, port):
    return b"\x05\x01\x00\x03" + bytes((len(host),)) + host.encode() + struct.pack(">H", port)


def by_address(port, address=LOOPBACK):
    return b"\x05\x01\x00\x01" + socket.inet_aton(address) + struct.pack(">H", port)


@contextlib.contextmanager
def connected(reprise):
    with socket.create_connection(reprise.addresses["socks"], PATIENCE) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield plain


def exactly(plain, count):
    got = b""
    while len(got) < count:
        piece = plain.recv(count - len(got))
        if not piece:
            break
        got += piece
    return got


def asked(plain, request):
    plain.sendall(GREETING + request)
    return exactly(plain, 12)


def get(plain, path="/x", host="h"):
    client = Client(None, connection=plain)
    client.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return client.read_response()


def rejected(reprise, cause):
    return reprise.metric("reprise_rejected_requests_total", cause=cause)


def test_http_over_socks_is_retried():
    with Upstream({"/x": [503, 503, 200]}) as upstream, Reprise(**SOCKS) as reprise, connected(reprise) as plain:
        equal(asked(plain, by_address(upstream.port)), b"\x05\x00" + reply(0))
        response = get(plain)
        equal((response.status, response.attempts), (200, 3))
        equal(get(plain, "/again").status, 200, "and the next one on that connection")
        equal(reprise.metric("reprise_streams_total", protocol="http"), 1)


def test_socks_handshake_works_pipelined_and_one_byte_at_a_time():
    with Upstream() as upstream, Reprise(**SOCKS) as reprise:
        request = f"GET /x HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode()
        with connected(reprise) as plain:
            plain.sendall(GREETING + by_address(upstream.port) + request)
            equal(exactly(plain, 12), b"\x05\x00" + reply(0))
            equal(Client(None, connection=plain).read_response().status, 200)
        with connected(reprise) as plain:
            for byte in GREETING + by_name(HOST, upstream.port):
                plain.sendall(bytes((byte,)))
            equal(exactly(plain, 12), b"\x05\x00" + reply(0))
            equal(get(plain).status, 200)


def test_tls_over_socks_is_tunnelled_or_intercepted():
    for hosts, issuer in ((["other.test"], "reprise test CA"), ([HOST], "reprise for localhost")):
        listeners = SOCKS["listeners"]
        with TlsUpstream({"/x": [503, 200]}) as upstream, Intercepting(hosts, listeners=listeners) as reprise, connected(reprise) as plain:
            equal(asked(plain, by_name(HOST, upstream.port)), b"\x05\x00" + reply(0))
            with open(reprise.bundle, "a", encoding="ascii") as bundle, open(authority().file, encoding="ascii") as root:
                bundle.write(root.read())
            with context_of(reprise.bundle).wrap_socket(plain, server_hostname=HOST) as wire:
                equal(issuer_of(wire), issuer)
                equal(get(wire).status, 200 if hosts == [HOST] else 503)


def test_socks_server_first_protocol_is_relayed():
    with Upstream(greeting=b"220 hello\r\n") as upstream, Reprise(**SOCKS) as reprise, connected(reprise) as plain:
        equal(asked(plain, by_address(upstream.port)), b"\x05\x00" + reply(0))
        equal(exactly(plain, 11), b"220 hello\r\n")
        reprise.expect_metric(1, "reprise_streams_total", protocol="server_first")


def test_failed_dial_gets_a_socks_reply_code_that_gives_the_reason():
    held, port = closed_port()
    with held, Reprise(**SOCKS, defaults={"retry": {"max_attempts": 2}}) as reprise:
        for request, code in ((by_address(port), 5), (by_address(80, "169.254.169.254"), 2), (by_address(reprise.addresses["admin"][1]), 2),
                              (by_name("no.such.invalid", 80), 4)):
            with connected(reprise) as plain:
                equal(asked(plain, request)[2:], reply(code), request)
                equal(plain.recv(1), b"", "and the end")
        equal(reprise.metric("reprise_attempts_total", outcome="connect") >= 2, True, "the refused dial was tried again")
    with Reprise(**SOCKS, security={"connect_ports": [443]}) as reprise, connected(reprise) as plain:
        equal(asked(plain, by_address(80))[2:], reply(2))
        equal(rejected(reprise, "connect_port_denied"), 1)
        reprise.expect_log("rejected 403 connect_port_denied")


def test_socks_malformed_input_is_rejected_with_a_counted_cause():
    bad = [
        (b"GET / HTTP/1.1\r\n\r\n", b"", "socks_version"),
        (b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00", b"", "socks_version"),
        (b"\x05\x00", b"", "socks_malformed"),
        (b"\x05\x02\x01\x02", b"\x05\xff", "socks_method"),
        (GREETING + b"\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", b"\x05\x00" + reply(7), "socks_command"),
        (GREETING + b"\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50", b"\x05\x00" + reply(7), "socks_command"),
        (GREETING + b"\x05\x01\x00\x02\x7f\x00\x00\x01\x00\x50", b"\x05\x00" + reply(8), "socks_address"),
        (GREETING + b"\x05\x01\x00\x03\x00\x00\x50", b"\x05\x00" + reply(1), "socks_malformed"),
        (GREETING + b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x00", b"\x05\x00" + reply(1), "socks_malformed"),
        (GREETING + b"\x05\x01\x01\x01\x7f\x00\x00\x01\x00\x50", b"\x05\x00" + reply(1), "socks_malformed"),
        (GREETING + by_name("a b", 80), b"\x05\x00" + reply(1), "socks_malformed"),
        (GREETING + by_name("a\r\nb", 80), b"\x05\x00" + reply(1), "socks_malformed"),
        (GREETING + b"\x04\x01\x00\x01", b"\x05\x00" + reply(1), "socks_malformed"),
    ]
    with Reprise(**SOCKS) as reprise:
        for sent, response, cause in bad:
            before = rejected(reprise, cause)
            with connected(reprise) as plain:
                plain.sendall(sent)
                equal(exactly(plain, 100), response, sent)
            reprise.expect_metric(before + 1, "reprise_rejected_requests_total", cause=cause)
        reprise.expect_log("write socks5h:// in the proxy's URL")


def test_socks_client_over_the_connection_limit_gets_a_socks_reply():
    with Upstream() as upstream, Reprise(**SOCKS, limits={"connections": 1}) as reprise, connected(reprise) as first:
        equal(asked(first, by_address(upstream.port)), b"\x05\x00" + reply(0))
        with connected(reprise) as plain:
            plain.sendall(GREETING)
            equal(exactly(plain, 100), b"\x05\xff", "no method is acceptable, and the end")
        reprise.expect_metric(1, "reprise_limits_hit_total", limit="connection_limit")


def test_socks_incomplete_greeting_is_closed_after_the_timeout():
    with Reprise(**SOCKS, timers={"handshake": "100ms"}) as reprise:
        for sent in (b"", b"\x05", GREETING, GREETING + b"\x05\x01\x00\x03\x0aabc"):
            with connected(reprise) as plain:
                plain.sendall(sent)
                equal(exactly(plain, 100), b"\x05\x00" if sent.startswith(GREETING) else b"", sent)
        reprise.expect_metric(4, "reprise_limits_hit_total", limit="handshake")


@isolated
def test_host_name_that_curl_sends_over_socks_is_resolved_by_the_proxy():
    with NameServer({}, hosts=f"{LOOPBACK} only-here.test\n"), Upstream({"/x": [503, 200]}) as upstream, Reprise(**SOCKS) as reprise:
        url = f"http://only-here.test:{upstream.port}/x"
        done = subprocess.run(["curl", "-sS", "-x", "socks5h://%s:%d" % reprise.addresses["socks"], url], env=without_proxies(),
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal((done.stdout, done.stderr), ("answer 2 to /x\n", ""))
