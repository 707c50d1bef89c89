"""Tests transparent listeners with the redirect rules that reprise prints, in a separate network. The clients have
no proxy settings."""
import contextlib
import functools
import json
import os
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

from client import Client
from faults import Host, isolated
from harness import LOOPBACK, PATIENCE, NotPlayed, Reprise, at_most, equal, needs, opened_after, options, without_proxies
from parent import Parent
from server import Server
from test_faults_network import elsewhere, listener_on, upstream_on
from test_intercept import Intercepting
from tls import Authority, TlsUpstream
from upstream import Upstream

NOBODY = 65534
PORT = 3190  # this port is free, because the network namespace is private
THEIRS_V6, OURS_V6 = "fd77::2", "fd77::1"


def listeners(*addresses):
    return [{"mode": "transparent", "bind": address} for address in addresses]


BOTH = listeners(f"{LOOPBACK}:{PORT}", f"[::1]:{PORT}")


def as_nobody():
    """Makes a child process run as a user whose connections are redirected. reprise itself runs as root, whose
    connections are not redirected."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


@functools.cache
def good_names():
    """Returns a CA file, and a certificate from that CA for the host names that the cases use."""
    made = Authority("names CA")
    return made.file, made.issue(names=("DNS:listed.test", "DNS:other.test"))


def redirect(config, *arguments):
    done = subprocess.run([options.binary, "redirect", *arguments, "-c", config], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def proxied(dialect, reprise=Reprise, **configuration):
    """Yields a reprise whose redirect rules are active for IPv4 and IPv6."""
    if subprocess.run(["true"], preexec_fn=as_nobody, check=False).returncode != 0:
        raise NotPlayed("namespaces", "there are no other users here")
    with reprise(**{"listeners": BOTH, **configuration}) as running:
        code, _, err = redirect(running.config_file, "--print", dialect, "--apply", "--user", "root")
        equal(code, 0, err)
        yield running


class HostWithV6(Host):
    def __enter__(self):
        super().__enter__()
        self.ip("-6", "addr", "add", f"{OURS_V6}/64", "dev", "cable", "nodad")
        subprocess.run(["nsenter", "-t", str(self.holder.pid), "-n", "ip", "-6", "addr", "add", f"{THEIRS_V6}/64", "dev", "plug", "nodad"],
                       check=True)
        return self


def v6_listener_on(host):
    with host.inside():
        return socket.create_server((THEIRS_V6, 0), family=socket.AF_INET6)


def curl(url, *arguments):
    done = subprocess.run(["curl", "-sS", "--max-time", "60", *arguments, url], env=without_proxies(), capture_output=True, text=True,
                          timeout=PATIENCE, preexec_fn=as_nobody, check=False)
    return done.stdout, done.stderr


def plain_http_is_retried(dialect):
    with HostWithV6() as host, upstream_on(host) as upstream, proxied(dialect) as reprise:
        upstream.scripts = {"/x": [503, 503, 200]}
        out, err = curl(f"http://{host.theirs}:{upstream.port}/x", "-i", "-H", "Host: shop.test")
        assert "answer 3 to /x" in out and "Reprise-Attempts: 3" in out, (out, err)
        equal([request.field("Host") for request in upstream.requests], ["shop.test"] * 3)
        line = reprise.requests(1)[0]
        equal((line["host"], line["port"]), ("shop.test", upstream.port))
        equal(redirect(reprise.config_file, "--print", dialect, "--apply", "--user", "root")[0], 0, "again changes nothing")
        assert "answer 4 to /x" in curl(f"http://{host.theirs}:{upstream.port}/x")[0]
        before = len(reprise.requests(2))
        equal(redirect(reprise.config_file, "--print", dialect, "--remove")[0], 0)
        assert "answer 5 to /x" in curl(f"http://{host.theirs}:{upstream.port}/x")[0]
        equal(redirect(reprise.config_file, "--print", dialect, "--remove")[0], 0, "nothing is there any more")
        equal(len(reprise.requests(before)), before, "it went straight")


@isolated
def test_transparent_plain_http_is_retried_with_nft_rules():
    needs("nft")
    plain_http_is_retried("nft")


@isolated
def test_transparent_plain_http_is_retried_with_iptables_rules():
    needs("iptables")
    plain_http_is_retried("iptables")


@isolated
def test_transparent_request_naming_a_denied_host_never_reaches_the_parent():
    """The Host field of the request names a denied host. If reprise forwarded the request to a parent proxy,
    the parent would dial the denied host."""
    needs("nft")
    with Host() as host, upstream_on(host) as upstream, Parent({"shop.test": (host.theirs, upstream.port)}) as parent, \
            proxied("nft", parent=parent.proxy_url()) as reprise:
        url = f"http://{host.theirs}:{upstream.port}/x"
        out, err = curl(url, "-i", "-H", "Host: shop.test")
        assert " 200 " in out, (out, err)
        equal(parent.asked("GET"), [f"http://shop.test:{upstream.port}/x"])
        for named in ("169.254.169.254", "2852039166", "[::ffff:a9fe:a9fe]", "169.254.169.254:80", "100.100.100.200"):
            out, err = curl(url, "-i", "-H", f"Host: {named}")
            assert " 403 " in out and "address_denied" in out, (named, out, err)
        equal(len(parent.requests), 1)
        reprise.expect_log("169.254.169.254")


@isolated
def test_G7_undecidable_first_bytes_are_forwarded():
    """The first bytes do not show which protocol the client uses. reprise forwards them, because the route of
    the stream does not depend on a host name and TLS is not intercepted here."""
    needs("nft")
    script = """
import socket, sys
wire = socket.create_connection((sys.argv[1], int(sys.argv[2])))
said = bytes.fromhex(sys.argv[3])
wire.sendall(said)
got = b""
while len(got) < 4 + len(said):
    got += wire.recv(100)
print(got.hex(), end="")
"""
    def speak_last(connection):
        words = connection.recv(99)
        connection.sendall(b"got " + words)
        connection.recv(1)
    with Host() as host, elsewhere(Server(speak_last, listener=listener_on(host)), host) as talker, \
            proxied("nft", timers={"handshake": "1h"}):
        for said in (b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HT", b"\x05"):
            done = subprocess.run(["python3", "-c", script, host.theirs, str(talker.port), said.hex()], capture_output=True, text=True,
                                  timeout=PATIENCE, preexec_fn=as_nobody, check=False)
            equal(done.stdout, (b"got " + said).hex(), done.stderr)


def ipv6(dialect):
    with HostWithV6() as host, elsewhere(Upstream({"/x": [503, 200]}, listener=v6_listener_on(host)), host) as upstream, \
            proxied(dialect):
        out, err = curl(f"http://[{THEIRS_V6}]:{upstream.port}/x", "-i")
        assert "answer 2 to /x" in out and "Reprise-Attempts: 2" in out, (out, err)


@isolated
def test_transparent_ipv6_is_retried_with_nft_rules():
    needs("nft")
    ipv6("nft")


@isolated
def test_transparent_ipv6_is_retried_with_iptables_rules():
    needs("ip6tables")
    ipv6("iptables")


def tls(host, port, server_name, trusted, path="/x"):
    """Connects with TLS as another user. Returns the issuer of the server's certificate, the status, and the number
    of attempts that the response reports."""
    script = """
import json, os, socket, ssl, sys
host, port, name, trusted, path = sys.argv[1:6]
context = ssl.create_default_context(cafile=trusted)
context.check_hostname = False
with context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=name or None) as wire:
    wire.sendall(f"GET {path} HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    got = b""
    while not (b"\\r\\n\\r\\n" in got and got.endswith(b"\\n")):
        got += wire.recv(65536)
    issuer = dict(pair[0] for pair in wire.getpeercert()["issuer"])["commonName"]
print(json.dumps([issuer, got.decode()]))
"""
    done = subprocess.run(["python3", "-c", script, host, str(port), server_name, trusted, path], env=without_proxies(), capture_output=True,
                          text=True, timeout=PATIENCE, preexec_fn=as_nobody, check=False)
    equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


@contextlib.contextmanager
def readable(file):
    """Yields a copy of a file. All users can read the copy."""
    with tempfile.NamedTemporaryFile(prefix="reprise-trusted-") as copy, open(file, "rb") as original:
        copy.write(original.read())
        copy.flush()
        os.chmod(copy.name, 0o644)
        yield copy.name


@isolated
def test_transparent_https_to_listed_hosts_is_retried_and_to_other_hosts_passed_through():
    needs("nft")
    with Host() as host, elsewhere(TlsUpstream({"/x": [503, 200], "/y": [503]}, listener=listener_on(host)), host) as upstream, \
            proxied("nft", lambda **more: Intercepting(["listed.test"], **more),
                    defaults={"tls": {"ca_file": good_names()[0]}}) as reprise:
        upstream.context.load_cert_chain(*good_names()[1])
        with readable(good_names()[0]) as own, readable(reprise.bundle) as bundle:
            issuer, got = tls(host.theirs, upstream.port, "other.test", own, "/y")
            equal((issuer, got[:12]), ("names CA", "HTTP/1.1 503"), "not listed: as it is")
            issuer, got = tls(host.theirs, upstream.port, "listed.test", bundle)
            equal((issuer, got[:12]), ("reprise for listed.test", "HTTP/1.1 200"))
            assert "Reprise-Attempts: 2" in got, got
            issuer, _ = tls(host.theirs, upstream.port, "", own, "/y")
            equal(issuer, "names CA", "no name at all")
        equal(upstream.sni[-2:], ["listed.test", None], "the upstream is asked for whom the client wanted")
        equal(reprise.metric("reprise_streams_total", protocol="tls"), 3)
        equal(reprise.interceptions("intercepted"), 1)


@isolated
def test_transparent_tls_dial_is_retried():
    needs("nft")
    retry = {"max_attempts": "unlimited", "deadline": "5m", "backoff": {"initial": "10ms", "maximum": "50ms"}}
    with Host() as host, proxied("nft", defaults={"retry": retry}, log={"level": "debug"}) as reprise:
        listener = listener_on(host)
        upstream = TlsUpstream(listener=listener, certificate=good_names()[1])
        with readable(good_names()[0]) as own, contextlib.ExitStack() as stack:
            thread = opened_after(3, reprise, lambda: stack.enter_context(elsewhere(upstream, host)))
            issuer, got = tls(host.theirs, upstream.port, "other.test", own)
            thread.join()
        equal((issuer, got[:12]), ("names CA", "HTTP/1.1 200"))


@isolated
def test_transparent_listener_relays_a_server_first_protocol():
    needs("nft")
    with Host() as host, elsewhere(Upstream(greeting=b"220 hello\r\n", listener=listener_on(host)), host) as upstream, proxied("nft") as reprise:
        script = "import socket, sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2]))).recv(100).decode(), end='')"
        done = subprocess.run(["python3", "-c", script, host.theirs, str(upstream.port)], capture_output=True, text=True, timeout=PATIENCE,
                              preexec_fn=as_nobody, check=False)
        equal(done.stdout.splitlines(), ["220 hello"], done.stderr)
        reprise.expect_metric(1, "reprise_streams_total", protocol="server_first")


@isolated
def test_transparent_client_that_leaves_without_sending_anything_ends_its_upstream_connection():
    """A port scanner connects and closes without sending a byte. reprise must then not wait for further
    bytes."""
    needs("nft")
    script = """
import socket, sys
wires = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(10)]
for wire in wires:
    wire.shutdown(socket.SHUT_WR)
for wire in wires:
    assert wire.recv(100) == b""
"""
    with Host() as host, upstream_on(host) as upstream, proxied("nft", timers={"handshake": "10m"}) as reprise:
        done = subprocess.run(["python3", "-c", script, host.theirs, str(upstream.port)], timeout=PATIENCE, preexec_fn=as_nobody, check=False)
        equal(done.returncode, 0)
        reprise.expect_metric(10, "reprise_streams_total", protocol="silence")
        upstream.all_closed()


@isolated
def test_redirect_rules_without_an_exception_for_the_proxy_cause_no_endless_loop():
    """If the redirect rules do not exempt reprise, they redirect its own connections back to reprise. reprise
    must recognize such a loop and end the connection. Covers clients that send HTTP, TLS, unknown bytes, or
    nothing."""
    needs("nft")
    with Host() as host, upstream_on(host) as upstream, Reprise(listeners=BOTH, defaults={"retry": {"max_attempts": 2}}) as reprise:
        code, rules, _ = redirect(reprise.config_file, "--print", "nft", "--user", "nobody")  # reprise runs as root
        equal(code, 0)
        subprocess.run(["nft", "-f", "-"], input=rules.encode(), check=True)
        with socket.create_connection((host.theirs, upstream.port)) as plain:
            client = Client(None, connection=plain)
            client.send(b"GET /x HTTP/1.1\r\nHost: shop.test\r\n\r\n")
            equal(client.read_response().status, 502)
        for said in (b"\x16\x03\x01\x00\x05hello", b"", b"what is this"):
            with socket.create_connection((host.theirs, upstream.port)) as plain:
                plain.sendall(said)
                plain.settimeout(PATIENCE)
                with contextlib.suppress(ConnectionResetError):
                    equal(plain.recv(100), b"", said)
        equal(upstream.connections, 0)
        assert reprise.metric("reprise_rejected_requests_total", cause="loop") >= 4
        assert reprise.metric("reprise_rejected_requests_total", cause="loop") <= 12, "and no more than there were dials"
        reprise.expect_log("rejected 508 loop")
        at_most(reprise.cpu_seconds(), 5, "CPU seconds")


@isolated
def test_client_with_the_same_local_port_as_an_unrelated_dial_is_not_taken_for_a_loop():
    """The kernel may use the same local port for connections to different addresses, especially if few ports are
    free."""
    needs("nft")
    script = """
import socket, sys
host, port, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
wires = []
while not wires or wires[-1].getsockname()[1] != wanted:
    wires.append(socket.create_connection((host, port)))
wires[-1].sendall(b"GET /y HTTP/1.1\\r\\nHost: shop.test\\r\\nConnection: close\\r\\n\\r\\n")
for wire in wires[:-1]:
    wire.close()
print(wires[-1].recv(100).decode())
"""
    ports = []
    with Host() as host, upstream_on(host) as first, upstream_on(host) as second, proxied("nft"):
        Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("61000 61031", encoding="ascii")
        first.scripts = {"/x": [lambda connection, request: ports.append(connection.getpeername()[1]) or connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") or True]}
        out, err = curl(f"http://{host.theirs}:{first.port}/x", "-i")
        assert " 200 " in out, (out, err)
        done = subprocess.run(["python3", "-c", script, host.theirs, str(second.port), str(ports[0])], capture_output=True, text=True,
                              timeout=PATIENCE, preexec_fn=as_nobody, check=False)
        equal(done.stdout[:12], "HTTP/1.1 200", done.stderr)
        equal(first.connections, 1, "the dial's connection is kept meanwhile")


@isolated
def test_transparent_routes_in_off_and_observe_mode_do_not_retry():
    for mode, wanted in (("off", "retries_off"), ("observe", "observe_only")):
        with Host() as host, upstream_on(host) as upstream, proxied("nft", defaults={"mode": mode}) as reprise:
            upstream.scripts = {"/x": [503, 200]}
            out, err = curl(f"http://{host.theirs}:{upstream.port}/x", "-i")
            assert " 503 " in out, (mode, out, err)
            equal(upstream.count(), 1, mode)
            equal(reprise.requests(1)[0]["reason"], wanted, mode)


@isolated
def test_transparent_client_over_the_connection_limit_gets_a_503_only_if_it_speaks_http():
    held = threading.Event()
    with Host() as host, upstream_on(host) as upstream, proxied("nft", limits={"connections": 1}) as reprise:
        upstream.scripts = {"/held": [lambda connection, request: held.wait() and False]}
        with subprocess.Popen(["curl", "-s", f"http://{host.theirs}:{upstream.port}/held"], preexec_fn=as_nobody) as busy:
            upstream.seen(1)
            out, _ = curl(f"http://{host.theirs}:{upstream.port}/x", "-i")
            assert "503" in out and "connection_limit" in out, out
            out, err = curl(f"https://{host.theirs}:{upstream.port}/x")
            assert out == "" and "SSL" in err and "wrong version" not in err, (out, err)
            held.set()
            busy.wait()
        reprise.expect_metric(2, "reprise_limits_hit_total", limit="connection_limit")


@isolated
def test_transparent_listener_rejects_a_connection_that_was_not_redirected():
    with Reprise(listeners=BOTH):
        with Client((LOOPBACK, PORT)) as client:
            client.send(b"GET /x HTTP/1.1\r\nHost: shop.test\r\n\r\n")
            response = client.read_response()
            equal(response.status, 508)
            assert b"listener of this proxy" in response.body, response.body


def test_redirect_prints_rules_for_each_transparent_listener():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\nlisteners: [{mode: transparent, bind: \"127.0.0.1:3190\"}, {mode: transparent, bind: \"[::1]:3190\"}]\n"
                   "security: {deny: [10.9.0.0/16, \"fd00:ec2::254\", self]}\n")
        file.flush()
        code, out, err = redirect(file.name, "--print", "nft", "--user", "1337")
        equal(code, 0, err)
        for line in ("meta skuid 1337 return", 'oifname "lo" return', "ip daddr { 127.0.0.0/8, 169.254.0.0/16, 10.9.0.0/16 } return",
                     "ip6 daddr { ::1/128, fe80::/10, fd00:ec2::254/128 } return", "redirect to :3190"):
            assert line in out, (line, out)
        code, out, _ = redirect(file.name, "--print", "iptables")
        assert "iptables -w -t nat -A REPRISE -m owner --uid-owner reprise -j RETURN" in out, out
        assert "ip6tables -w -t nat -A REPRISE -d fd00:ec2::254/128 -j RETURN" in out, out
        equal(redirect(file.name, "--print", "nft", "--user", "x; reboot")[0], 2, "no text that is more than a name")
        equal(redirect(file.name, "--print", "pf")[0], 2)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\n")
        file.flush()
        code, _, err = redirect(file.name, "--print", "nft")
        equal(code, 78, err)
        assert "no listener is transparent" in err, err


@contextlib.contextmanager
def a_file_with(listeners):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(f"version: 1\nlisteners: [{listeners}]\n")
        file.flush()
        yield file.name


def test_redirect_rules_cover_only_the_named_users_and_ports():
    with a_file_with('{mode: transparent, bind: "127.0.0.1:3190"}') as file:
        chosen = ["--only-user", "app", "--only-user", "1337", "--ports", "443,80,8000-8099,81"]
        code, out, err = redirect(file, "--print", "nft", *chosen)
        equal((code, err), (0, ""))
        assert "meta nfproto ipv4 meta skuid { app, 1337 } tcp dport { 80-81, 443, 8000-8099 } redirect to :3190" in out, out
        code, out, err = redirect(file, "--print", "iptables", *chosen)
        equal((code, err), (0, ""))
        for user in ("app", "1337"):
            for ports in ("80:81", "443", "8000:8099"):
                line = f"-A REPRISE -m owner --uid-owner {user} -p tcp --dport {ports} -j REDIRECT --to-ports 3190"
                assert line in out, (line, out)
        for alone in (["--only-user", "app"], ["--ports", "80"]):
            equal(redirect(file, "--print", "nft", *alone)[::2], (0, ""), alone)
        for bad in ("", "0", "80,", "90-80", "65536", "http", "1-", "-1", "80;reboot"):
            equal(redirect(file, "--print", "nft", f"--ports={bad}")[0], 2, bad)
        equal(redirect(file, "--print", "nft", "--only-user", "x; reboot")[0], 2, "no text that is more than a name")


def test_redirect_of_the_whole_host_causes_a_warning():
    with a_file_with('{mode: transparent, bind: "127.0.0.1:3190"}') as file:
        code, out, err = redirect(file, "--print", "nft")
        equal(code, 0, err)
        assert "every user of this host" in err and "--only-user NAME" in err and "--ports" in err, err
        assert "warning" not in out, out


def test_redirect_names_users_that_cannot_be_redirected():
    with a_file_with('{mode: transparent, bind: "127.0.0.1:3190"}') as file:
        code, _, err = redirect(file, "--print", "nft", "--only-user", "reprise")
        equal(code, 2)
        assert "never redirected" in err, err
        code, _, err = redirect(file, "--print", "nft", "--apply", "--user", "root", "--only-user", "no-such-user")
        equal(code, 2)
        assert "--only-user no-such-user: this host has no such user" in err, err
        code, _, err = redirect(file, "--print", "nft", "--apply", "--user", "no-such-user")
        equal(code, 2)
        assert "--user no-such-user: this host has no such user" in err, err


def test_redirect_without_a_required_option_names_that_option():
    done = subprocess.run([options.binary, "redirect", "--print", "nft"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    equal(done.returncode, 2)
    assert "-c is required" in done.stderr, done.stderr
    with a_file_with('{mode: transparent, bind: "127.0.0.1:3190"}') as file:
        code, _, err = redirect(file)
        equal(code, 2)
        assert "--print is required" in err, err


def only_the_named_user_is_redirected(dialect):
    """Checks `--only-user` and `--ports`: connections of other users and to other ports are not redirected."""
    with Host() as host, upstream_on(host) as upstream, Reprise(listeners=listeners(f"{LOOPBACK}:{PORT}")) as reprise:
        upstream.scripts = {"/x": [503, 503, 200]}
        url = f"http://{host.theirs}:{upstream.port}/x"

        def apply(*chosen):
            code, _, err = redirect(reprise.config_file, "--print", dialect, "--apply", "--user", "root", *chosen)
            equal((code, err), (0, ""))

        apply("--only-user", str(NOBODY - 1))
        assert "503" in curl(url, "-i")[0].splitlines()[0], "another user goes straight"
        apply("--only-user", str(NOBODY))
        assert "Reprise-Attempts: 2" in curl(url, "-i")[0]
        apply("--ports", str(upstream.port + 1))
        assert "Reprise-Attempts" not in curl(url, "-i")[0], "another port goes straight"
        apply("--only-user", str(NOBODY), "--ports", f"{upstream.port}-{upstream.port + 1}")
        count = len(upstream.requests)
        assert "Via: " in curl(url, "-i")[0]
        equal(len(upstream.requests), count + 1)
        equal(subprocess.run([options.binary, "redirect", "--remove"], capture_output=True, text=True, check=False).returncode, 0)
        assert "Via: " not in curl(url, "-i")[0], "without --print, --remove removes the rules of either"
        equal(subprocess.run([options.binary, "redirect", "--remove"], capture_output=True, text=True, check=False).returncode, 0)


@isolated
def test_only_the_named_user_is_redirected_by_nft():
    needs("nft")
    only_the_named_user_is_redirected("nft")


@isolated
def test_only_the_named_user_is_redirected_by_iptables():
    needs("iptables")
    only_the_named_user_is_redirected("iptables")


def test_redirect_remove_fails_without_root():
    if subprocess.run(["true"], preexec_fn=as_nobody, check=False).returncode != 0:
        raise NotPlayed("namespaces", "there are no other users here")
    done = subprocess.run([options.binary, "redirect", "--remove"], preexec_fn=as_nobody, capture_output=True, text=True, timeout=PATIENCE, check=False)
    equal((done.returncode, done.stderr), (1, "reprise redirect: only root can remove rules\n"))


@isolated
def test_redirect_warns_if_no_listener_is_running():
    needs("nft")
    with Host(), a_file_with('{mode: transparent, bind: "127.0.0.1:3191"}') as file:
        code, _, err = redirect(file, "--print", "nft", "--apply", "--user", "root", "--ports", "1")
        equal(code, 0, err)
        assert "no process listens on port 3191 yet" in err, err
