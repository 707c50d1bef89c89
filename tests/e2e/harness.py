"""Starts reprise on free ports with a configuration for one case, and reads its log, metrics and status."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from reader import CRLF, Response

LOOPBACK = "127.0.0.1"
PATIENCE = 120  # seconds: far longer than any wait of a test takes, on any machine
# SHIPPED sets the backoffs of the shipped configuration, because the harness uses shorter backoffs by
# default. The number of attempts and the jitter stay at the program's defaults. tests/config verifies that
# SHIPPED is up to date.
SHIPPED = {"retry": {"backoff": {"initial": "250ms", "maximum": "8s"}}}
SANITIZER = re.compile(r"(ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:)")


class NotPlayed(Exception):
    """Raised if the host or the build cannot run the case. `kind` is one of the kinds of skips that
    tests/junit.py lists."""

    def __init__(self, kind, why):
        super().__init__(f"{kind}: {why}")


def is_sanitized():
    """Returns true if reprise was built with a sanitizer. Such a build is slower and uses more memory."""
    text = Path(options.binary).read_bytes()
    return b"__asan_init" in text or b"__tsan_init" in text


def needs(*programs):
    """Skips the case unless these programs are installed."""
    for program in programs:
        if shutil.which(program) is None:
            raise NotPlayed("client", f"there is no {program} here")


def needs_client(program):
    """Skips the case unless this third-party client is installed and the build has no sanitizer."""
    if is_sanitized():
        raise NotPlayed("sanitizer", "what a client does is not the sanitizer's business")
    needs(program)


def part_not_played(part, kind, why):
    """Skips a part of a case. The rest of the case still runs and has its own result."""
    options.parts_not_played.append((part, f"{kind}: {why}"))


class options:
    """Options of the run. Set once by run.py."""

    binary = os.environ.get("REPRISE_BIN", "")
    threads = 1
    load = 10000
    night = os.environ.get("REPRISE_NIGHT") == "1"  # if true, measured times, CPU and memory are checked against their bounds
    parts_not_played = []  # skipped parts of the current case


def at_most(value, bound, what):
    """Checks a time, CPU or memory value against its bound. Only the nightly tests check it, because a busy machine
    may exceed the bound without a defect."""
    if options.night and value > bound:
        raise AssertionError(f"{what}: {value}, at most {bound}")


TcpSocket = collections.namedtuple("TcpSocket", "local remote state unsent unread inode")


def tcp_sockets():
    """Returns every TCP socket of IPv4 in this network namespace. `local`, `remote`: ports. `unsent`: bytes that the other host has
    not acknowledged. `unread`: bytes that the process has not read; of a listener, connections that it has not accepted."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file][1:]
    return [TcpSocket(*(int(row[at].split(":")[1], 16) for at in (1, 2)), row[3], *(int(part, 16) for part in row[4].split(":")), row[9])
            for row in rows]


def tcp_socket(local, remote):
    """Returns the TCP socket with these ports. The local port alone can belong to several connections."""
    return next(one for one in tcp_sockets() if (one.local, one.remote) == (local, remote))


def eventually(check, what):
    """Polls `check` until its result is true, and returns that result. Fails after PATIENCE."""
    limit = time.monotonic() + PATIENCE
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > limit:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.005)


def equal(actual, expected, what=""):
    """Asserts equality. The failure message has both values."""
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r:.400}, got {actual!r:.400}")


def yaml_flow(value):
    """Returns a value as YAML in flow style, with plain scalars where YAML allows them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {yaml_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(yaml_flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9/][A-Za-z0-9_./:%-]*", value):
        return json.dumps(value)
    return str(value)


def merge(base, over):
    """Returns a new dictionary: `base` merged with `over`, recursively. Values of `over` take precedence."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def under_some_limit(milliseconds, case):
    """Runs a case that depends on a time limit. Even without a defect, such a case fails if a busy machine
    stalls a process for longer than the limit. Calls `case(limit)` with growing limits, below 30 s, until a
    call returns a true value. A real defect makes the case fail under every limit."""
    while milliseconds < 30_000:
        if case(milliseconds):
            return
        milliseconds *= 4
    raise AssertionError("under none of the limits")


def opened_after(attempts, reprise, open_it):
    """Returns a thread that calls `open_it` when reprise has logged attempt number `attempts`. Precondition:
    the log level is debug."""
    def work():
        reprise.expect_log(f"attempt {attempts}: ")
        open_it()
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def closed_port():
    """Returns a socket that is bound but does not listen, and its port. Connections to the port are refused,
    and no other process can take the port."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, 0))
    return held, held.getsockname()[1]


def without_proxies(**more):
    """Returns the environment of this process without its proxy variables, and with the variables `more`."""
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return {**kept, **more}


def open_links(process):
    """Yields each open descriptor of a process: its link below /proc and the target of the link."""
    folder = f"/proc/{process.pid}/fd"
    for name in os.listdir(folder):
        link = os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):  # the process has closed the descriptor in the meantime
            yield link, os.readlink(link)


class Reprise:
    """A running reprise. The given keys are merged into a configuration with free ports and short backoffs. `prepare`
    is called in the child process before it executes reprise."""

    def __init__(self, threads=None, prepare=None, **configuration):
        base = {
            "version": 1,
            "listeners": [{"mode": "forward", "bind": "127.0.0.1:0"}],
            "admin": {"bind": "127.0.0.1:0"},
            "defaults": {"retry": {"backoff": {"initial": "5ms", "maximum": "20ms"}}},
            "shutdown": {"grace": "5s"},
            "threads": threads or options.threads,
        }
        self.folder = tempfile.mkdtemp(prefix="reprise-e2e-")
        self.config_file = os.path.join(self.folder, "reprise.yaml")
        with open(self.config_file, "w", encoding="utf-8") as file:
            for key, value in merge(base, configuration).items():
                file.write(f"{key}: {yaml_flow(value)}\n")
        self.log_file = os.path.join(self.folder, "log")
        self.addresses = {}
        self.process = None
        self.prepare = prepare

    def __enter__(self):
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=self.prepare)
        try:
            eventually(self._is_ready, "reprise says ready")
        except BaseException:
            self.process.kill()
            self.process.wait()
            print(self.text()[-4000:])
            raise
        return self

    def command(self):
        return [options.binary, "run", "-c", self.config_file]

    def _is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"reprise ended with {self.process.returncode} at start")
        text = self.text()  # the log as plain text, because its lines may have any format
        for name, host, port in re.findall(r"listening (\w+) (\S+):(\d+)\b.*\n", text):
            self.addresses[name] = (host, int(port))
        return re.search(r'[ "]ready"?\}?\n', text)

    def __exit__(self, kind, error, trace):
        try:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            text = self.text()
            if kind is None:
                report = SANITIZER.search(text)
                if report or self.process.returncode != 0:
                    print(text[-6000:])
                    raise AssertionError(f"reprise ended with {self.process.returncode}; {report and report.group(0)}")
            else:
                print(f"--- the log of reprise\n{text[-3000:]}")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def forward(self):
        return self.addresses["forward"]

    @property
    def gateway(self):
        return self.addresses["gateway"]

    @property
    def proxy_url(self):
        return "http://%s:%d" % self.forward

    def text(self):
        with open(self.log_file, encoding="utf-8", errors="replace") as file:
            return file.read()

    def expect_log(self, words):
        """Waits until the log contains `words`. Waiting is necessary because reprise writes a log line
        shortly after the event."""
        eventually(lambda: words in self.text(), f"the log says {words!r}")

    def log(self):
        """Returns every complete log line so far."""
        lines = []
        for line in self.text().split("\n")[:-1]:
            if line.startswith("{"):
                lines.append(json.loads(line))
        return lines

    def requests(self, count):
        """Waits until the log has at least `count` access lines. Returns all access lines."""
        def lines():
            found = [line for line in self.log() if "attempts" in line and line.get("level") != "error"]
            return found if len(found) >= count else None
        return eventually(lines, f"{count} access lines")

    def admin(self, path, method="GET"):
        """Returns status and body of a request to the admin listener."""
        request = urllib.request.Request("http://%s:%d%s" % (*self.addresses["admin"], path), method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=PATIENCE) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name, **labels):
        """Returns the sum of all samples that have the given metric name and the given labels."""
        status, text = self.admin("/metrics")
        equal(status, 200, "/metrics")
        total = 0.0
        for line in text.splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)(?: \d+)?", line)
            if match and match.group(1) == name:
                found = dict(re.findall(r'(\w+)="((?:\\.|[^"\\])*)"', match.group(2) or ""))
                if all(found.get(key) == value for key, value in labels.items()):
                    total += float(match.group(3))
        return total

    def expect_metric(self, value, name, **labels):
        """Waits until the metric has exactly this value. Waiting is necessary because reprise updates some
        metrics just after it has sent the response."""
        eventually(lambda: self.metric(name, **labels) == value, f"{name}{labels} is {value}")

    def descriptors(self):
        """Returns the number of open descriptors except pipes, which reprise keeps for its next long download."""
        return sum(1 for _, target in open_links(self.process) if not target.startswith("pipe:"))

    def cpu_seconds(self):
        """Returns the user and system CPU time that reprise has used so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def pipe_ends(self):
        return sum(1 for _, target in open_links(self.process) if target.startswith("pipe:"))

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        return self.process.wait(PATIENCE)


class Curl:
    """One run of the real curl through the proxy: its status, head and body."""

    def __init__(self, reprise, url, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            head, body = os.path.join(folder, "head"), os.path.join(folder, "body")
            command = ["curl", "-sS", "--max-time", str(PATIENCE), "-x", reprise.proxy_url, "--noproxy", "", "-D", head,
                       "-o", body, *arguments, url]
            environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
            done = subprocess.run(command, capture_output=True, env=environment, timeout=2 * PATIENCE, check=False)
            self.code, self.stderr = done.returncode, done.stderr.decode()
            heads = self._read(head).split(CRLF + CRLF)[:-1]
            self.body = self._read(body)
        responses = [Response(head + CRLF, []) for head in heads]
        self.interim, self.response = [response.status for response in responses[:-1]], responses[-1] if responses else None
        self.status = self.response.status if self.response else 0

    @staticmethod
    def _read(path):
        if not os.path.exists(path):
            return b""
        with open(path, "rb") as file:
            return file.read()

    def field(self, name):
        return self.response.field(name) if self.response else None
