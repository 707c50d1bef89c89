"""Tools for tests that produce kernel faults: network namespaces, mount namespaces, and processes that can be
stopped. Also counts the tested faults by kind."""
import contextlib
import ctypes
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import chance
from client import ask
from harness import PATIENCE, NotPlayed, equal, options, part_not_played

INSIDE = "REPRISE_E2E_INSIDE"  # environment variable that is set if the run already has its own namespaces
CLONE_NEWNET = 0x40000000
TWICE = {"retry": {"max_attempts": 2}}
PLAYED = "played "  # prefix of the line in which a nested run reports its counts of tested faults

stories = {}  # number of tested faults, by kind of fault


def played(kind, count=1):
    """Counts tested faults of one kind. Call this after the checks for these faults have passed."""
    stories[kind] = stories.get(kind, 0) + count


def expect_failure(reprise, url, status, error):
    """Checks that a POST fails with this status and error after two attempts. Precondition: reprise runs with
    the settings TWICE."""
    response = ask(reprise, "POST", url, b"order")
    equal((response.status, response.reason, response.attempts), (status, "attempts_spent", 2), url)
    assert f"error={error}" in response.field("Proxy-Status"), response.field("Proxy-Status")


def write_figures(file):
    """Writes the number of tested faults by kind to a JSON file."""
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    figures = {"fault kinds played by the kernel": len(stories), "kernel stories": sum(stories.values()), "kinds": stories}
    Path(file).write_text(json.dumps(figures, sort_keys=True) + "\n", encoding="utf-8")


@functools.cache
def unshare_command():
    """Returns the command that starts a program in its own network and mount namespaces, or None if the host
    does not permit such namespaces."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return None
    ways = [["unshare", "-n", "-m"], ["sudo", "-n", "-E", "unshare", "-n", "-m"], ["unshare", "-r", "-n", "-m"]]
    for way in ways[0 if os.geteuid() == 0 else 1:]:
        probe = "ip link set lo up && mount -t tmpfs -o size=64k none /mnt"
        if shutil.which(way[0]) and subprocess.run([*way, "sh", "-c", probe], capture_output=True, check=False).returncode == 0:
            return way
    return None


def without_results():
    """Returns the environment for a nested run of the tests. A nested run must not write a results file,
    because the outer run reports the results."""
    return {name: value for name, value in os.environ.items() if name != "REPRISE_RESULTS"}


def isolated(case=None, *, without=None):
    """Runs a case in its own network and mount namespaces. The namespaces disappear when the case ends, so
    the case need not clean up.

    If the host does not permit namespaces, runs `without` instead. If `without` is None, the case is
    skipped."""
    if case is None:
        return functools.partial(isolated, without=without)

    @functools.wraps(case)
    def run():
        if os.environ.get(INSIDE):
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            case()
            return
        way = unshare_command()
        if way is None:
            if without is None:
                raise NotPlayed("namespaces", "no namespaces here")
            part_not_played("the kernel's own part", "namespaces", "no namespaces here; played by other means")
            without()
            return
        command = [*way, sys.executable, str(Path(__file__).with_name("run.py")), "--bin", options.binary, "--threads",
                   str(options.threads), "--load", str(options.load), "--seed", str(chance.source.seed),
                   "--only", f"{case.__module__}\\.{case.__name__}$"]
        with subprocess.Popen(command, env={**without_results(), INSIDE: "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, start_new_session=True) as inside:
            try:
                output, _ = inside.communicate(timeout=3 * PATIENCE)
            except BaseException:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(inside.pid, signal.SIGKILL)
                raise
        for line in output.splitlines():
            if line.startswith(PLAYED):
                for kind, count in json.loads(line.removeprefix(PLAYED)).items():
                    played(kind, count)
        if inside.returncode != 0:
            raise AssertionError("in a namespace:\n" + textwrap.indent(output[-6000:], "  "))
        name = f"{case.__module__}.{case.__name__}"
        for what, why in re.findall(rf"^SKIPPED {re.escape(name)}(?:, (.+?))?: (.+)$", output, re.M):
            if not what:
                raise NotPlayed(*why.split(": ", 1))
            part_not_played(what, *why.split(": ", 1))

    return run


def tell_played():
    """Prints the number of tested faults by kind, if this is a nested run. The outer run reads the printed
    line."""
    if os.environ.get(INSIDE):
        print(PLAYED + json.dumps(stories))


class Host:
    """Imitates another host with a second network namespace, which a virtual cable connects to the current
    namespace. The second namespace ends with the process that holds it."""

    def __init__(self, ours="10.77.0.1", theirs="10.77.0.2"):
        self.ours, self.theirs = ours, theirs

    def __enter__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "ip link set lo up && echo up && exec sleep 100000"],
                                       stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "up\n", "a namespace for the upstream"
        pid = str(self.holder.pid)
        cable = ["ip", "link", "add", "cable", "type", "veth", "peer", "name", "plug", "netns", pid]
        if subprocess.run(cable, check=False).returncode != 0:
            self.__exit__()
            raise NotPlayed("kernel", "no veth")
        self.ip("addr", "add", f"{self.ours}/24", "dev", "cable")
        self.ip("link", "set", "cable", "up")
        for command in (["addr", "add", f"{self.theirs}/24", "dev", "plug"], ["link", "set", "plug", "up"]):
            subprocess.run(["nsenter", "-t", pid, "-n", "ip", *command], check=True)
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()
        subprocess.run(["ip", "link", "del", "cable"], check=False, capture_output=True)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    def slow_down(self, *ways):
        """Limits traffic to 24 Mbit/s. `ways` lists directions: `cable` is towards the other host, `plug` is
        from the other host."""
        for way in ways:
            enter = [] if way == "cable" else ["nsenter", "-t", str(self.holder.pid), "-n"]
            shape = ["tc", "qdisc", "add", "dev", way, "root", "tbf", "rate", "24mbit", "burst", "32kbit", "latency", "100ms"]
            if subprocess.run([*enter, *shape], check=False).returncode != 0:
                raise NotPlayed("kernel", "no tbf")

    @contextlib.contextmanager
    def inside(self):
        """Until the `with` block ends, sockets that this thread creates belong to the other host."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/thread-self/ns/net", "rb") as home, open(f"/proc/{self.holder.pid}/ns/net", "rb") as there:
            if libc.setns(there.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            try:
                yield
            finally:
                libc.setns(home.fileno(), CLONE_NEWNET)


@contextlib.contextmanager
def small_disk(size):
    """Yields a folder on a file system of `size` bytes. Only for cases that are `isolated`."""
    folder = tempfile.mkdtemp(prefix="reprise-disk-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)


class StoppableUpstream:
    """An `Upstream` that responds with 200 to every request, in a process that can be stopped."""

    def __enter__(self):
        script = Path(__file__).with_name("stoppable_upstream.py")
        self.process = subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def effects(self):
        """Returns how often each request took effect, by request id."""
        self.process.stdin.write("effects\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def in_background(work):
    """Runs `work` in a thread. Returns the thread, and a list that receives the result of `work`."""
    results = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    return thread, results
