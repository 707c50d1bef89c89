#!/usr/bin/env python3
"""Runs real HTTP/2 clients through reprise, and reprise in front of real HTTP/2 servers.

    python3 tests/interop/run_http2.py [--bin build/release/reprise] [--only PATTERN]

The clients curl, nghttp, h2load, Go, Node and httpx reach a scripted HTTP/2 upstream through a gateway, through CONNECT in
clear text, through CONNECT with their own TLS, and through interception. The servers nghttpd, nginx, Go, Node and grpcio are
upstreams of curl and nghttp, in clear text and over TLS. Each client and each server is asked for

- get: a response,
- post: 4 MiB in both directions, equal to the byte,
- trailers: of the response, and of the request if the client can send them,
- flaky: a 503 that reprise hides with one retry,
- many: 100 requests at once.

Clients also download 50 MiB (download). Every request and every attempt must use HTTP/2. The library of Go comes from the Go module proxy, everything else from Debian. A
client or server that is not installed is skipped."""
import argparse
import contextlib
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent)]

import chance  # noqa: E402
from harness import LOOPBACK, PATIENCE, NotPlayed, Reprise, equal, needs  # noqa: E402
from http2_servers import nghttpd, nginx  # noqa: E402
from http2_upstream import Http2Upstream, Reply, TlsHttp2Upstream  # noqa: E402
from isolated import play_isolated  # noqa: E402
from junit import Suite  # noqa: E402
from names import Answer, NameServer  # noqa: E402
from run_grpc import PROBE  # noqa: E402
from test_grpc_exec import PYTHON, flaky_server  # noqa: E402
from test_intercept import Intercepting, clean  # noqa: E402
from tls import authority, good_certificate  # noqa: E402

READ_HOST, TUNNEL_HOST = "read.test", "tunnel.test"  # reprise intercepts only the TLS of the first
HELLO = b"hello\n"
MIB = 1 << 20
SIZES = {"post": 4 * MIB, "download": 50 * MIB}
MANY = 100
TRAILER = b"x-trailer: 7"
CHECKS = ("get", "post", "trailers", "flaky", "many")  # of clients and servers
CLIENT_CHECKS = (*CHECKS, "download")
WAYS = ("gateway", "CONNECT", "CONNECT with TLS", "intercept")
PROGRAMS = {"Go": ["FOLDER/probe"], "Node": ["node", "FOLDER/probe.js"], "httpx": [PYTHON, "FOLDER/with_httpx.py"]}
CHAINED = ("nghttp", "h2load")  # clients that know no proxy
# CLIENT: checks and ways that it cannot do. curl 7.88 fails if a process sends more than one request with prior knowledge, also
# without a proxy.
CLIENTS = {"curl": (("gateway", "many"), ("CONNECT", "many")), "nghttp": (), "h2load": ("trailers",), "Go": (), "Node": (), "httpx": ("trailers", "CONNECT")}
# SERVER: checks that it cannot do.
SERVERS = {"nghttpd": ("flaky",), "nginx": (), "Go": (), "Node": (), "grpcio": ()}


def build(folder):
    """Builds the programs. Returns {client or server: why it is missing}."""
    shutil.copytree(HERE / "programs/http2", folder, dirs_exist_ok=True)
    missing = {}
    for name, command in {"Go": "GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o probe probe.go", "Node": "node --version",
                          "httpx": f"{PYTHON} -c 'import httpx, h2'"}.items():
        done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            missing[name] = " ".join((done.stdout + done.stderr).split())[-200:]
    return missing


@functools.cache
def content(check="post"):
    """Returns what is sent for a check."""
    return chance.content("interop HTTP/2", SIZES[check]) if check in SIZES else HELLO * (MANY if check == "many" else 1)


def output_of(command, folder=None, environment=None):
    """Runs a command, which must succeed. Returns its output."""
    done = subprocess.run(command, env=clean(**(environment or {})), cwd=folder, capture_output=True, timeout=2 * PATIENCE, check=False)
    equal(done.returncode, 0, f"{command}: {done.stdout[-300:]!r} {done.stderr[-1000:]!r}")
    return done.stdout


class Ask:
    """One call of a client. `proxy`: host:port of the proxy that the client asks for a tunnel, or None."""

    def __init__(self, folder, check, url, proxy=None, trust=""):
        self.folder, self.check, self.url, self.proxy, self.trust = folder, check, url, proxy, trust
        self.file = f"{folder}/content"

    def curl(self):
        words = {"post": ["--data-binary", f"@{self.file}"], "trailers": ["-D", "-"], "many": ["--parallel", "--parallel-max", str(MANY)]}
        version = "--http2" if self.url.startswith("https:") else "--http2-prior-knowledge"
        proxy = ["--proxytunnel", "--proxy", f"http://{self.proxy}", "--noproxy", ""] if self.proxy else []
        url = f"{self.url}?[1-{MANY}]" if self.check == "many" else self.url
        return ["curl", "-sSf", version, "--max-time", str(PATIENCE), *(["--cacert", self.trust] if self.trust else []), *proxy,
                *words.get(self.check, []), url]

    def nghttp(self):
        words = {"post": ["-d", self.file], "trailers": ["-nv", "-d", self.file, "--trailer", "x-sum: 7"], "many": ["-m", str(MANY)]}
        return ["nghttp", "-y", *words.get(self.check, []), self.url]

    def h2load(self):
        count = str(MANY if self.check == "many" else 1)
        return ["h2load", "-n", count, "-c", "1", "-m", count, *(["-d", self.file] if self.check == "post" else []), self.url]

    def program(self, words):
        what = {"post": "POST", "trailers": "TRAILERS", "many": "MANY"}.get(self.check, "GET")
        sent = [self.file] if self.check in ("post", "trailers") else []
        return [*(word.replace("FOLDER", self.folder) for word in words), *([] if "httpx" in words[-1] else ["ask"]), what, self.url, *sent]

    def run(self, client):
        """Runs the client, which must succeed. Returns its output."""
        command = self.program(PROGRAMS[client]) if client in PROGRAMS else getattr(self, client)()
        if self.proxy and client in CHAINED:
            needs("proxychains4")
            Path(f"{self.folder}/chain").write_text("strict_chain\nproxy_dns\n[ProxyList]\nhttp %s %s\n" % tuple(self.proxy.split(":")), encoding="ascii")
            command = ["proxychains4", "-q", "-f", f"{self.folder}/chain", *command]
        more = {**({"PROXY": self.proxy} if self.proxy else {}), **({"CA": self.trust} if self.trust else {})}
        return output_of(command, self.folder, more)


def judge(client, check, output):
    """Checks what the client has printed."""
    if client == "h2load":
        assert b"status codes: %d 2xx" % (MANY if check == "many" else 1) in output, output
    elif check == "trailers":
        assert TRAILER in output.lower(), output[-1000:]
    else:
        equal(output == content(check), True, f"{len(output)} bytes: {output[:200]!r}")


def steps(check):
    """Returns the script of the upstream for a check."""
    # curl does not read trailers behind a Content-Length.
    hello = Reply(200, HELLO, trailers=[("x-trailer", "7")] if check == "trailers" else (), length=check != "trailers")
    return [Reply(200, content(check))] if check in SIZES else [503, hello] if check == "flaky" else [hello]


class Stage:
    """The scripted upstreams, in clear text and over TLS, and the reprise that all clients share."""

    def __init__(self, folder, reprise, plain, secure):
        self.folder, self.reprise, self.plain, self.secure = folder, reprise, plain, secure

    def play(self, client, way, check):
        path = f"/{client}/{way}/{check}".replace(" ", "-")
        upstream = self.secure if way in ("CONNECT with TLS", "intercept") else self.plain
        upstream.scripts[path] = steps(check)
        base, trust = {"gateway": ("http://%s:%d" % self.reprise.gateway, ""), "CONNECT": (f"http://{TUNNEL_HOST}:{self.plain.port}", ""),
                       "CONNECT with TLS": (f"https://{TUNNEL_HOST}:{self.secure.port}", authority().file),
                       "intercept": (f"https://{READ_HOST}:{self.secure.port}", self.reprise.bundle)}[way]
        ask = Ask(self.folder, check, base + path, None if way == "gateway" else "%s:%d" % self.reprise.forward, trust)
        before = self.reprise.interceptions("intercepted")
        judge(client, check, ask.run(client))
        equal(self.reprise.interceptions("intercepted") > before, way == "intercept", "the TLS of the client was intercepted")
        count = {"flaky": 2, "many": MANY}.get(check, 1)
        equal(upstream.versions(path), ["HTTP/2"] * count, "versions of the requests at the upstream")
        request = upstream.seen(count, path)[-1] if count == 1 else None
        if check == "post":
            equal(request.digest, hashlib.sha256(content()).hexdigest(), "the body at the upstream")
        if check == "trailers" and client != "curl":
            equal(request.trailers, [("x-sum", "7")])


def play_clients(folder, missing, only, suite):
    names = (READ_HOST, TUNNEL_HOST)
    certificate = authority().issue(names=[f"DNS:{name}" for name in names])
    with contextlib.ExitStack() as stack:
        stack.enter_context(NameServer({name: [Answer(LOOPBACK)] for name in names}))
        plain = stack.enter_context(Http2Upstream())
        secure = stack.enter_context(TlsHttp2Upstream(certificate=certificate, optimistic=True))
        listeners = [{"mode": "forward", "bind": f"{LOOPBACK}:0"}, {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": plain.url("")}]
        reprise = stack.enter_context(Intercepting((READ_HOST,), listeners=listeners, log={"level": "info"}))
        stage = Stage(folder, reprise, plain, secure)
        for client, cannot in CLIENTS.items():
            for way in WAYS:
                for check in CLIENT_CHECKS:
                    name = f"client {client}, {way}, {check}"
                    if {way, check, (way, check)} & {*cannot} or (way, check) == ("CONNECT with TLS", "flaky") or not re.search(only, name):
                        continue
                    if client in missing or client not in PROGRAMS and shutil.which(client) is None:
                        suite.skips(name, f"client: {missing.get(client, 'not installed')}")
                        continue
                    suite.plays(name, lambda: stage.play(client, way, check), NotPlayed)  # pylint: disable=cell-var-from-loop


@contextlib.contextmanager
def program_server(words):
    """Yields the ports of a server of Go or Node."""
    with subprocess.Popen([*words, "serve", *good_certificate()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean()) as server:
        try:
            yield [int(port) for port in server.stdout.readline().split()]
        finally:
            server.stdin.close()


@contextlib.contextmanager
def served(name, folder, over_tls):
    """Yields the URL of a server."""
    if name == "nghttpd":
        with nghttpd(HELLO, over_tls, ("--trailer", TRAILER.decode())) as url:
            yield url
    elif name == "nginx":
        with nginx(HELLO, over_tls) as (url, stored):
            os.mkdir(f"{stored}/stored")
            yield url
    else:
        words = [word.replace("FOLDER", folder) for word in PROGRAMS.get(name, ())]
        with flaky_server(*good_certificate()) if name == "grpcio" else program_server(words) as ports:
            yield f"https://localhost:{ports[1]}" if over_tls else f"http://{LOOPBACK}:{ports[0]}"


def play_server(name, ask):
    """Asks a server. The programs respond with the trailer that they have received, nghttpd and nginx with their own."""
    client = "nghttp" if ask.check in ("trailers", "many") else "curl"
    ask.url += {"post": "/echo", "flaky": "/flaky", "trailers": "/trailers" if name == "nginx" else "/content"}.get(ask.check, "/content")
    is_static = ask.check == "trailers" and name not in PROGRAMS
    judge(client, ask.check, output_of(["nghttp", "-nv", ask.url]) if is_static else ask.run(client))


def play_nginx_post(ask):
    """nginx echoes nothing, so curl stores a file there and fetches it."""
    words = ["-sSf", "--http2-prior-knowledge", f"{ask.url}/stored/content"]
    judge("curl", "post", output_of(["curl", "-T", ask.file, *words]) + output_of(["curl", *words]))


def play_grpcio(ask):
    """curl and nghttp make calls whose message is a text, or 4 MiB."""
    message = content() if ask.check == "post" else HELLO
    framed = b"\0" + len(message).to_bytes(4, "big") + message
    Path(f"{ask.folder}/framed").write_bytes(framed)
    file, url = f"{ask.folder}/framed", f"{ask.url}/probe.Probe/Unary"
    fields = ["content-type: application/grpc", "te: trailers", *(["x-call: flaky", "x-fail: 1"] if ask.check == "flaky" else [])]
    words = [word for field in fields for word in ("-H", field)]
    if ask.check == "many":
        output = output_of(["nghttp", "-m", str(MANY), "-d", file, *words, url])
        equal(output == framed * MANY, True, f"{len(output)} bytes: {output[:200]!r}")
        return
    output = output_of(["curl", "-sS", "--http2-prior-knowledge", "-D", f"{ask.folder}/head", "--data-binary", f"@{file}", *words, url])
    equal(output == framed, True, f"{len(output)} bytes: {output[:200]!r}")
    assert "grpc-status: 0" in Path(f"{ask.folder}/head").read_text(encoding="ascii"), "the trailers"


def expect_attempts(reprise, check):
    attempts = [attempt.get("http") for line in reprise.requests(MANY if check == "many" else 1) for attempt in line["attempts"]]
    equal(set(attempts), {"2"}, "versions of the attempts")
    if check == "flaky":
        equal(len(attempts), 2, "attempts")


def play_servers(folder, missing, only, suite):
    def play(name, check, over_tls):
        with served(name, folder, over_tls) as url:
            listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": url}]
            with Reprise(listeners=listeners, log={"access": True}, routes=[PROBE], defaults={"attempt_header": True, "tls": {"ca_file": authority().file}}) as reprise:
                ask = Ask(folder, check, "http://%s:%d" % reprise.gateway)
                if name == "grpcio":
                    play_grpcio(ask)
                elif (name, check) == ("nginx", "post"):
                    play_nginx_post(ask)
                else:
                    play_server(name, ask)
                expect_attempts(reprise, check)
    for name, cannot in SERVERS.items():
        for over_tls in (False, True):
            for check in CHECKS:
                full = f"server {name}{' over TLS' if over_tls else ''}, {check}"
                if check in cannot or not re.search(only, full):
                    continue
                if name in missing:
                    suite.skips(full, f"client: {missing[name]}")
                    continue
                suite.plays(full, lambda: play(name, check, over_tls), NotPlayed)  # pylint: disable=cell-var-from-loop


def inside(given):
    """Runs in its own network."""
    suite = Suite("interop HTTP/2")
    missing = dict(line.split("\t", 1) for line in os.environ["MISSING"].splitlines())
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path(f"{given.folder}/content").write_bytes(content())
    play_clients(given.folder, missing, given.only, suite)
    play_servers(given.folder, missing, given.only, suite)
    return suite.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release/reprise"))
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over `client NAME, WAY, CHECK` and `server NAME, CHECK`")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    chance.add_option(parser)
    with tempfile.TemporaryDirectory(prefix="reprise-http2-") as folder:
        def prepare():
            return ["--folder", folder], {"MISSING": "\n".join(f"{name}\t{why}" for name, why in build(folder).items())}
        return play_isolated(parser.parse_args(), inside, "interop HTTP/2", prepare)


if __name__ == "__main__":
    sys.exit(main())
