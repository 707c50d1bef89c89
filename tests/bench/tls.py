#!/usr/bin/env python3
"""Compares reprise with HAProxy and nginx: CPU of a GET that arrives in clear text and is forwarded over verified TLS.

    python3 tests/bench/tls.py [--rounds 5] [--seconds 4] [--connections 64] [--seed N] [--keep]
    unshare -n python3 tests/bench/tls.py --intercept      the client uses TLS too; needs root and a network namespace

The upstream is an nginx with TLS. Its certificate for localhost is signed by a CA that this script creates. Every round measures every
proxy, in random order. The figure is the CPU time of the proxy's processes per request that wrk has finished. Its ratio to HAProxy is
computed within each round, and the median of these ratios is printed. The proxy runs on CPU 0, wrk and the upstream on CPU 1. The script
needs haproxy, nginx, wrk, openssl and taskset.

With --intercept, HAProxy and nginx show their clients the upstream's certificate, and reprise shows a certificate of its local authority.
For reprise, wrk runs as another user and connects to the upstream; a rule redirects its connections to a transparent listener. This needs
nft too."""
import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import chance  # noqa: E402
import processes  # noqa: E402
import results  # noqa: E402
import targets  # noqa: E402

PATIENCE = 10

UPSTREAM = """daemon off; pid {folder}/upstream.pid; error_log {folder}/upstream.log; worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 300s;
  server {{
    listen 127.0.0.1:{upstream} ssl backlog=4096; server_name localhost;
    ssl_certificate {folder}/leaf.pem; ssl_certificate_key {folder}/leaf.key;
    location / {{ return 200 "hello\\n"; }}
  }}
}}
"""
NGINX = """daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 300s;
  upstream origin {{ server 127.0.0.1:{upstream}; keepalive 256; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass https://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host localhost;
      proxy_ssl_verify on; proxy_ssl_trusted_certificate {folder}/ca.pem; proxy_ssl_name localhost; proxy_ssl_server_name on;
    }}
  }}
}}
"""
HAPROXY = """global
    nbthread 1
    maxconn 12000
    no strict-limits
defaults
    mode http
    option redispatch
    retries 3
    retry-on all-retryable-errors
    timeout connect 5s
    timeout client 300s
    timeout server 60s
    timeout http-keep-alive 300s
    http-reuse always
frontend f
    bind 127.0.0.1:{port} backlog 4096
    default_backend b
backend b
    server s1 127.0.0.1:{upstream} pool-max-conn 1024 ssl verify required ca-file {folder}/ca.pem sni str(localhost) verifyhost localhost
"""
INTERCEPTING = """version: 1
listeners:
  - {{mode: transparent, bind: "127.0.0.1:{port}"}}
admin: {{bind: 127.0.0.1:0}}
defaults: {{tls: {{ca_file: {folder}/ca.pem}}}}
intercept: {{hosts: [localhost], ca: {{certificate: {folder}/own.pem, key: {folder}/own.key}}}}
log: {{access: false}}
"""
REDIRECTED = """table ip bench {{
  chain output {{
    type nat hook output priority -100;
    meta skuid {user} tcp dport {upstream} redirect to :{port}
  }}
}}
"""
CLIENT = 54321  # a user id that no other process here has; nginx's workers run as nobody
REPRISE = """version: 1
listeners:
  - {{mode: gateway, bind: "127.0.0.1:{port}", upstream: "https://localhost:{upstream}"}}
admin: {{bind: 127.0.0.1:0}}
defaults: {{tls: {{originate: true, ca_file: {folder}/ca.pem}}}}
log: {{access: false}}
"""


def make_certificates(folder):
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
            "-days", "2", "-subj", "/CN=bench CA")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr",
            "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n", encoding="utf-8")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names",
            "-out", "leaf.pem")


@contextlib.contextmanager
def running(command, cpu, port, folder):
    """Starts a process, and yields it when its port accepts connections. Ends the process afterwards."""
    with open(folder / f"{Path(command[0]).name}.out", "ab") as log, \
            subprocess.Popen(["taskset", "-c", str(cpu), *command], stdout=log, stderr=log, start_new_session=True) as process:
        try:
            due = time.monotonic() + PATIENCE
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > due:
                        sys.exit(f"{command[0]} does not listen:\n{Path(log.name).read_text(encoding='utf-8')}")
                    time.sleep(0.02)
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def cpu_nanoseconds(session):
    """Returns the CPU time of all processes in that session, in nanoseconds."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            if int(status.read_text(encoding="utf-8").rpartition(")")[2].split()[3]) == session:
                total += sum(int(thread.read_text(encoding="utf-8").split()[0]) for thread in status.parent.glob("task/*/schedstat"))
    return total


def load(url, seconds, given):
    """Runs wrk and returns the number of finished requests. Ends the script if a request failed."""
    wrk = ["wrk", "-t1", f"-c{given.connections}", f"-d{seconds}s", url]
    who = ["setpriv", f"--reuid={CLIENT}", "--clear-groups"] if given.intercept else []
    said = subprocess.run([*who, "taskset", "-c", "1", *wrk], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    return int(re.search(r"(\d+) requests in", said).group(1))


def measure(name, command, port, url, folder, given):
    """Returns CPU microseconds per request, and requests per second."""
    with running(command, 0, port, folder) as process:
        load(url, 1, given)
        before, began = cpu_nanoseconds(process.pid), time.monotonic()
        requests = load(url, given.seconds, given)
        spent = cpu_nanoseconds(process.pid) - before
        print(f"  {name:8} {spent / requests / 1000:7.1f} us/request {requests / (time.monotonic() - began):9.0f} requests/s", flush=True)
        return spent / requests / 1000


def prepare_interception(folder, texts, ports):
    """Prepares a run with --intercept. HAProxy and nginx get the upstream's certificate. A firewall rule redirects the
    client's connections to reprise."""
    both = (folder / "leaf.pem").read_text(encoding="utf-8") + (folder / "leaf.key").read_text(encoding="utf-8")
    (folder / "both.pem").write_text(both, encoding="utf-8")
    texts["haproxy"] = texts["haproxy"].replace("{port} backlog 4096", "{port} backlog 4096 ssl crt {folder}/both.pem")
    texts["nginx"] = texts["nginx"].replace(
        "{port} backlog=4096;", "{port} ssl backlog=4096; ssl_certificate {folder}/leaf.pem; ssl_certificate_key {folder}/leaf.key;")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["nft", "-f", "-"], input=REDIRECTED.format(user=CLIENT, **ports), text=True, check=True)
    folder.chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--reprise", default=str(ROOT / "build/release/reprise"))
    parser.add_argument("--intercept", action="store_true", help="the client speaks TLS, too")
    parser.add_argument("--keep", action="store_true", help="write the ratios into tests/bench/results.json")
    chance.add_option(parser, default=chance.FRESH)
    given = parser.parse_args()
    chance.use(given.seed)
    dice = chance.dice("order")
    for program in ("haproxy", "nginx", "wrk", "openssl", "taskset"):
        if not shutil.which(program):
            sys.exit(targets.not_installed(program))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_certificates(folder)
        taken = set()
        ports = {"folder": folder, "upstream": processes.free_port(taken), "port": processes.free_port(taken)}
        texts = {"upstream": UPSTREAM, "nginx": NGINX, "haproxy": HAPROXY, "reprise": INTERCEPTING if given.intercept else REPRISE}
        if given.intercept:
            prepare_interception(folder, texts, ports)
        for name, text in texts.items():
            (folder / f"{name}.conf").write_text(text.format(**ports), encoding="utf-8")
        commands = {"haproxy": ["haproxy", "-f", f"{folder}/haproxy.conf"], "nginx": ["nginx", "-p", place, "-c", f"{folder}/nginx.conf"],
                    "reprise": [given.reprise, "run", "-c", f"{folder}/reprise.conf"]}
        costs = {name: [] for name in commands}
        clear = f"http://127.0.0.1:{ports['port']}/"
        urls = {name: clear.replace("http://127.0.0.1", "https://localhost") if given.intercept else clear for name in commands}
        if given.intercept:
            subprocess.run([given.reprise, "ca", "init", "-c", f"{folder}/reprise.conf"], check=True, capture_output=True)
            urls["reprise"] = f"https://localhost:{ports['upstream']}/"
        with running(["nginx", "-p", place, "-c", f"{folder}/upstream.conf"], 1, ports["upstream"], folder):
            for number in range(given.rounds):
                print(f"round {number + 1}", flush=True)
                for name in dice.sample(sorted(commands), len(commands)):
                    costs[name].append(measure(name, commands[name], ports["port"], urls[name], folder, given))
    print(f"CPU per request at {given.connections} connections, ratio to HAProxy (median of {given.rounds} rounds)")
    ratios = {name: round(statistics.median(cost / base for cost, base in zip(mine, costs["haproxy"])), 2) for name, mine in costs.items()}
    for name, ratio in ratios.items():
        print(f"  {name:8} {ratio:.2f}x")
    if given.keep:
        medians = {name: round(statistics.median(mine), 2) for name, mine in costs.items()}
        results.keep({"intercept" if given.intercept else "tls": {"unit": "us a request", "ratios": ratios, "medians": medians}}, time.strftime("%Y-%m-%d"), given.rounds,
                     f"{os.cpu_count()} cores")


if __name__ == "__main__":
    main()
