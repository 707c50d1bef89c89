#!/usr/bin/env python3
"""Counts the errors that clients see while their upstream restarts, without reprise and with it.

    python3 tests/e2e/restart_load.py --bin build/release/reprise

Eight clients send GETs over persistent connections, and pause for 50 ms after each GET. The upstream is killed and
started again three times. Each time, its port refuses connections for a second. Between two restarts, each client gets
a dozen responses. Reprise runs with its defaults."""
import argparse
import http.client
import subprocess
import sys
import time
from pathlib import Path

import harness
from client_threads import ClientThreads

CLIENTS, PAUSE = 8, 0.05
SERVER = r"""
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # Head and body leave in one write. A kill between two writes cuts a response that the client already has in part.
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")
    def log_message(self, *_): pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True
print("started", flush=True)
sys.stdin.readline()
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Upstream:
    """A server in its own process, so that a kill ends its connections as a crash does. The successor process
    starts before the kill and then only has to listen. So the outage has exactly the requested length, even
    if a loaded machine starts processes slowly."""

    def __init__(self):
        self.port = 0
        self.process = self.started()
        self.listen()

    def started(self):
        process = subprocess.Popen([sys.executable, "-c", SERVER, str(self.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "started\n"
        return process

    def listen(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.port = int(self.process.stdout.readline())

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def restart(self, away):
        """Kills the server; its port refuses connections for `away` seconds."""
        successor = self.started()
        self.kill()
        self.process = successor
        time.sleep(away)
        self.listen()


class Load(ClientThreads):
    """Clients that count responses and errors."""

    def __init__(self, upstream, proxy_port=None):
        self.host = (harness.LOOPBACK, proxy_port or upstream.port)
        self.target = f"http://{harness.LOOPBACK}:{upstream.port}/" if proxy_port else "/"
        super().__init__(CLIENTS)

    def work(self, which):
        connection = None
        while not self.ended.wait(PAUSE):
            try:
                connection = connection or http.client.HTTPConnection(*self.host, timeout=harness.PATIENCE)
                connection.request("GET", self.target)
                response = connection.getresponse()
                body = response.read()
                good = response.status == 200 and body == b"ok\n"
                self.count(which, None if good else response.status)
            except (OSError, http.client.HTTPException) as error:
                connection = None
                self.count(which, error)


def restarts(reprise=None, number=3, away=1.0):
    """Returns the numbers of requests and of errors over `number` restarts. If `reprise` is None, the clients
    connect directly."""
    upstream = Upstream()
    try:
        with Load(upstream, reprise and reprise.forward[1]) as load:
            for _ in range(number):
                load.expect_of_each(12)  # each client must finish requests between two restarts, so that no request meets two outages
                upstream.restart(away)
            load.expect_of_each(12)
        return load.sent, len(load.failures)
    finally:
        upstream.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(Path(__file__).resolve().parent.parent.parent / "build/release/reprise"))
    harness.options.binary = parser.parse_args().bin
    harness.options.threads = 1
    print("without reprise: {1} errors in {0} requests".format(*restarts()))
    with harness.Reprise(defaults=harness.SHIPPED) as reprise:
        print("with reprise:    {1} errors in {0} requests".format(*restarts(reprise)))


if __name__ == "__main__":
    main()
