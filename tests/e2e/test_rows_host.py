"""Tests faults of reprise's own host: no free local port, a log whose reader has stopped, a full disk for the log,
and an abrupt end of the process."""
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from client import Client, ask, head_of
from harness import LOOPBACK, PATIENCE, NotPlayed, Reprise, at_most, equal, eventually, merge, open_links, options, tcp_sockets, yaml_flow
from server import bound
from test_replay import MIB
from upstream import Say, Upstream

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP_AND_RUNNING = 0x41


def in_a_network_of_its_own(case, ports):
    """Runs `case` on a thread with a network namespace of its own. The namespace has only loopback and only
    the local ports `ports`; child processes use the namespace, too. Returns false if the host does not permit
    such a namespace."""
    outcome = []

    def work():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET) != 0:
            return
        try:
            with socket.socket() as any_socket:
                fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP_AND_RUNNING))
            Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(ports, encoding="ascii")
        except OSError:
            return
        try:
            case()
            outcome.append(None)
        except BaseException as error:  # pylint: disable=broad-except
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if outcome and outcome[0] is not None:
        raise outcome[0]
    return bool(outcome)


class ClientFrom(Client):
    """A client that connects from a given local port."""

    def __init__(self, address, port):
        connection = bound(LOOPBACK, port)
        connection.settimeout(PATIENCE)
        connection.connect(address)
        super().__init__(address, connection=connection)


def test_I10_attempt_without_a_free_local_port_fails_at_connect_and_is_retried_after_a_backoff():
    release = threading.Event()

    def held(connection, request):
        release.wait(300)
        connection.sendall(Say(200).text(request, 1))
        return False

    def case():
        listener = socket.socket()
        listener.bind((LOOPBACK, 20000))
        wait = {"initial": "100ms", "maximum": "100ms", "jitter": "none"}
        with Upstream({"/held": [held]}, listener=listener) as upstream, \
                Reprise(listeners=[{"mode": "forward", "bind": "127.0.0.1:20001"}], admin={"bind": "127.0.0.1:20002"},
                        defaults={"retry": {"max_attempts": 3, "backoff": wait}}) as reprise:
            with contextlib.ExitStack() as stack:
                busy = [stack.enter_context(ClientFrom(reprise.forward, 30000 + number)) for number in range(2)]
                for client in busy:  # uses up both local ports for connections to the upstream
                    client.send(head_of("GET", upstream.url("/held"), LOOPBACK))
                upstream_connections = lambda: upstream.connections == 2  # noqa: E731
                eventually(upstream_connections, "two connections to the upstream")
                client = stack.enter_context(ClientFrom(reprise.forward, 30010))
                cpu, start = reprise.cpu_seconds(), time.monotonic()
                response = client.ask("POST", upstream.url("/x"), b"never sent")
                took = time.monotonic() - start
                equal((response.status, response.attempts, response.reason), (503, 3, "attempts_spent"))
                assert "error=connection_limit_reached" in response.field("Proxy-Status"), response.fields
                assert took >= 0.2, "attempts are backed off"
                at_most(reprise.cpu_seconds() - cpu, 0.5 * took + 0.1, "CPU seconds of the loop")
                release.set()
                for client in busy:
                    equal(client.read_response().status, 200)
                # The connections of the earlier clients have closed, so a local port is free again.
                response = stack.enter_context(ClientFrom(reprise.forward, 30011)).ask("GET", upstream.url("/x"))
                equal(response.status, 200)
            attempts = reprise.requests(4)[0]["attempts"]
            equal([(attempt["stage"], attempt["error"]) for attempt in attempts], [("connect", "no_local_port")] * 3)

    if not in_a_network_of_its_own(case, "61000 61001"):
        raise NotPlayed("namespaces", "a network of its own is not permitted here")


class Bare:
    """A reprise on ports that the kernel chooses. The case decides where the log goes, and this class never reads
    it."""

    def __init__(self, log, **configuration):
        self.log, self.configuration = log, configuration
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-e2e-")
        self.process = None

    def __enter__(self):
        base = {"version": 1, "listeners": [{"mode": "forward", "bind": "127.0.0.1:0"}], "admin": {"bind": "127.0.0.1:0"},
                "threads": options.threads}
        path = os.path.join(self.folder.name, "reprise.yaml")
        with open(path, "w", encoding="utf-8") as file:
            for key, value in merge(base, self.configuration).items():
                file.write(f"{key}: {yaml_flow(value)}\n")
        self.process = subprocess.Popen([options.binary, "run", "-c", path], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        self.forward, self.admin = eventually(self._ports, "reprise listens")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def _ports(self):
        """Returns the two ports on which reprise listens, as found in /proc. The port that responds to /livez is the
        admin listener's."""
        assert self.process.poll() is None, "reprise ended at start"
        inodes = {target for _, target in open_links(self.process)}
        ports = set()
        for one in tcp_sockets():
            if one.state == "0A" and f"socket:[{one.inode}]" in inodes:
                ports.add(one.local)
        if len(ports) != 2:
            return None
        for port in ports:
            with Client((LOOPBACK, port)) as client:
                client.send(head_of("GET", "/livez", "localhost"))
                if client.read_response().status == 200:
                    return (LOOPBACK, (ports - {port}).pop()), (LOOPBACK, port)
        return None

    def dropped(self):
        with Client(self.admin) as client:
            client.send(head_of("GET", "/metrics", "localhost"))
            page = client.read_response().body.decode()
        return next(float(line.split()[1]) for line in page.splitlines() if line.startswith("reprise_log_dropped_total "))


def ask_until_dropped(reprise, upstream):
    """Sends requests until reprise drops log lines. Each response must be complete."""
    with Client(reprise.forward) as client:
        for number in range(100_000):
            equal(client.ask("GET", upstream.url(f"/{'x' * 100}")).status, 200)
            if number % 500 == 499 and reprise.dropped() > 0:
                return
    raise AssertionError("no line was dropped")


def test_I11_unread_log_pipe_drops_lines_without_affecting_traffic():
    read, write = os.pipe()
    with Upstream() as upstream, Bare(write) as reprise:
        os.close(write)
        ask_until_dropped(reprise, upstream)
        equal(reprise.process.poll(), None)
        reprise.process.send_signal(signal.SIGTERM)
        equal(reprise.process.wait(120), 0, "it ends though nobody reads its last words")
    with os.fdopen(read, "rb") as pipe:
        lines = pipe.read().split(b"\n")
    for line in lines[:-1]:
        assert line.startswith(b"{") and json.loads(line), line[:200]


def test_I11_closed_log_pipe_drops_lines_without_affecting_traffic():
    read, write = os.pipe()
    with Upstream() as upstream, Bare(write) as reprise:
        os.close(write)
        os.close(read)
        ask_until_dropped(reprise, upstream)


def test_I11_full_log_disk_drops_lines_without_affecting_traffic():
    with open("/dev/full", "wb") as full, Upstream() as upstream, Bare(full) as reprise:
        ask_until_dropped(reprise, upstream)


def test_I12_killed_proxy_leaves_no_file_and_does_not_block_the_next_start():
    wait = {"initial": "30s", "maximum": "30s", "jitter": "none"}
    with tempfile.TemporaryDirectory(prefix="reprise-replay-") as folder, Upstream({"/x": [503, 200]}) as upstream:
        keys = {"defaults": {"retry": {"backoff": wait}}, "limits": {"replay_folder": folder}}
        with Bare(subprocess.DEVNULL, **keys) as reprise:
            with Client(reprise.forward) as client:
                client.send(head_of("PUT", upstream.url("/x"), LOOPBACK, [("Content-Length", str(MIB))]) + b"x" * MIB)
                upstream.seen(1)

                def on_disk():
                    return any(target.startswith(folder) for _, target in open_links(reprise.process))
                eventually(on_disk, "the body is on disk")
                equal(os.listdir(folder), [], "its file has no name")
                reprise.process.kill()
                reprise.process.wait()
            equal(os.listdir(folder), [])
            bind = "%s:%d" % reprise.forward
        with Reprise(listeners=[{"mode": "forward", "bind": bind}], **keys) as again:
            equal(ask(again, "PUT", upstream.url("/x"), b"x").status, 200)
