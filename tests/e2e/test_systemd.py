"""Tests the protocol between systemd and reprise: the notifications ready and stopping, the watchdog, and sockets
that systemd passes at the start."""
import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from client import ask
from harness import LOOPBACK, PATIENCE, Reprise, equal, eventually, needs, options
from reader import head_of
from upstream import Upstream

UNITS = Path(__file__).resolve().parent.parent.parent / "deploy/systemd"


class Notified:
    """Imitates the service manager: receives from NOTIFY_SOCKET and keeps all notifications in order."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0", 1))
        self.told = []
        self.statuses = []  # STATUS lines; all other notifications are in `told`

    def hear(self):
        while select.select([self.socket], [], [], 0)[0]:
            lines = self.socket.recv(4096).decode().splitlines()
            self.statuses += [line[len("STATUS="):] for line in lines if line.startswith("STATUS=")]
            states = [line for line in lines if not line.startswith("STATUS=")]
            if states:
                self.told.append("\n".join(states))
        return self.told

    def status(self):
        """Returns the newest STATUS line, or an empty text."""
        self.hear()
        return self.statuses[-1] if self.statuses else ""

    def expect(self, state, count=1):
        eventually(lambda: self.hear().count(state) >= count, f"{state}, {count} times")


class Serviced(Reprise):
    """A reprise with the variables that a service manager sets. Each variable in `pid_of` is set to the process id
    of reprise. `sockets` are passed as descriptors 3, 4 and so on."""

    def __init__(self, variables, pid_of=(), sockets=(), **configuration):
        self.variables, self.pid_of, self.sockets = variables, pid_of, sockets
        super().__init__(prepare=self.become, **configuration)

    def become(self):
        """Runs in the child process, and executes reprise there."""
        os.environ.update(self.variables)
        for name in self.pid_of:
            os.environ[name] = str(os.getpid())
        held = [os.dup(one.fileno()) for one in self.sockets]  # copies the sockets to higher descriptors, so that 3, 4 and so on can be replaced
        held = [os.dup2(one, 100 + place) for place, one in enumerate(held)]
        for place, one in enumerate(held):
            os.dup2(one, 3 + place, inheritable=True)
        os.execve(options.binary, self.command(), os.environ)


@contextlib.contextmanager
def notified(by_path=True):
    """Yields the receiver of the notifications, and the value for NOTIFY_SOCKET."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/notify" if by_path else f"@reprise-{os.getpid()}-{os.path.basename(folder)}"
        listener = Notified(address)
        try:
            yield listener, address
        finally:
            listener.socket.close()


def test_systemd_is_notified_of_ready_and_stopping():
    for by_path in (True, False):
        with notified(by_path) as (manager, address):
            with Serviced({"NOTIFY_SOCKET": address}) as reprise:
                manager.expect("READY=1")
                equal(ask(reprise, "GET", f"http://{LOOPBACK}:1/").status >= 500, True, "it works")
                equal(manager.hear(), ["READY=1"])
            manager.expect("STOPPING=1")
            equal(manager.hear(), ["READY=1", "STOPPING=1"])


def test_systemd_is_notified_of_successful_and_failed_reloads():
    with notified() as (manager, address):
        with Serviced({"NOTIFY_SOCKET": address}) as reprise:
            manager.expect("READY=1")
            for count, outcome in ((2, "success"), (3, "failed")):
                if outcome == "failed":
                    with open(reprise.config_file, "a", encoding="ascii") as file:
                        file.write("unknown: 1\n")
                    reprise.expect_metric(1, "reprise_config_reloads_total", outcome="failed")
                else:
                    reprise.process.send_signal(signal.SIGHUP)
                manager.expect("READY=1", count)
                reloading, ready = manager.hear()[-2:]
                assert re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*", reloading), reloading
                equal(ready, "READY=1", outcome)


def test_watchdog_is_notified_while_all_threads_are_running():
    with notified() as (manager, address):
        variables = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "60000"}
        with Serviced(variables, pid_of=["WATCHDOG_PID"], threads=4) as reprise:
            manager.expect("WATCHDOG=1", 3)
            reprise.process.send_signal(signal.SIGSTOP)
            eventually(lambda: len(manager.hear()) == len(manager.hear()) and quiet(manager), "no sign of a process that hangs")
            reprise.process.send_signal(signal.SIGCONT)
            before = manager.hear().count("WATCHDOG=1")
            manager.expect("WATCHDOG=1", before + 2)


def quiet(manager):
    """Returns true if no notification arrives within 0.18 s. This is three times the watchdog interval."""
    manager.hear()
    return not select.select([manager.socket], [], [], 0.18)[0]


def test_watchdog_variables_for_another_process_are_ignored():
    with notified() as (manager, address):
        with Serviced({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}):
            manager.expect("READY=1")
        manager.expect("STOPPING=1")
        equal(manager.hear(), ["READY=1", "STOPPING=1"])


def listener():
    made = socket.create_server((LOOPBACK, 0))
    made.set_inheritable(True)
    return made, made.getsockname()[1]


def test_client_that_connects_before_reprise_starts_is_served_through_the_systemd_socket():
    """The service manager owns the sockets. So they accept connections even while reprise does not run, and
    stay open after reprise has ended."""
    (forward, port), (admin, admin_port) = listener(), listener()
    configuration = {"listeners": [{"mode": "forward", "bind": f"{LOOPBACK}:{port}"}], "admin": {"bind": f"{LOOPBACK}:{admin_port}"}}
    with forward, admin, Upstream() as upstream:
        for _ in range(2):
            with socket.create_connection((LOOPBACK, port), PATIENCE) as early:
                early.sendall(head_of("GET", upstream.url("/x"), LOOPBACK))
                with Serviced({"LISTEN_FDS": "2"}, pid_of=["LISTEN_PID"], sockets=(admin, forward), threads=2, **configuration) as reprise:
                    assert b" 200 " in early.recv(4096), "who came before it was there"
                    equal(ask(reprise, "GET", upstream.url("/y")).status, 200)
                    equal(reprise.admin("/readyz")[0], 200)
        with socket.create_connection((LOOPBACK, port), PATIENCE):
            pass  # the connection is accepted, because the ended reprise has not shut down the listening socket


def test_systemd_sockets_of_another_process_or_without_a_matching_listener_are_not_used():
    passed, port = listener()
    with passed:
        with Serviced({"LISTEN_FDS": "1", "LISTEN_PID": "1"}, sockets=[passed]) as reprise:
            assert reprise.forward[1] != port
        with Serviced({"LISTEN_FDS": "1"}, pid_of=["LISTEN_PID"], sockets=[passed]) as reprise:
            reprise.expect_log(f"closed a socket from the service manager, because no listener uses its address: {LOOPBACK}:{port}")


def test_exec_passes_the_variable_notify_socket_to_its_command():
    done = subprocess.run([options.binary, "exec", "--quiet", "--", "env"], env={**os.environ, "NOTIFY_SOCKET": "@of-the-command"},
                          capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "NOTIFY_SOCKET=@of-the-command" in done.stdout, done.stdout


def test_systemd_units_are_valid_and_the_service_is_restricted():
    """Uses the checks of systemd-analyze. Its threshold for the exposure is given in tenths: 12 means 1.2 of 10."""
    needs("systemd-analyze")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("reprise.service", "reprise.socket"):
            text = (UNITS / name).read_text(encoding="utf-8").replace("/usr/local/bin/reprise", options.binary)
            Path(folder, name).write_text(text, encoding="utf-8")
        for command in (["verify", f"{folder}/reprise.service", f"{folder}/reprise.socket"],
                        ["security", "--offline=true", "--threshold=12", f"{folder}/reprise.service"]):
            done = subprocess.run(["systemd-analyze", *command], capture_output=True, text=True, timeout=PATIENCE, check=False)
            equal((done.returncode, done.stderr), (0, ""), done.stdout[-500:])


def test_socket_unit_lists_the_listeners_of_the_example():
    unit = (UNITS / "reprise.socket").read_text(encoding="utf-8")
    example = UNITS.parent.parent / "config/examples/legacy-daemon.yaml"
    done = subprocess.run([options.binary, "config", "--effective", "-c", str(example)], capture_output=True, text=True, timeout=PATIENCE,
                          check=True)
    equal(sorted(re.findall(r"^ListenStream=(.+)$", unit, re.M)), sorted(re.findall(r"\bbind: \"?([\d.]+:\d+)", done.stdout)))


def journal_of(descriptor):
    """Returns the value of JOURNAL_STREAM that systemd would set if the given descriptor were connected to
    the journal."""
    status = os.fstat(descriptor)
    return f"{status.st_dev}:{status.st_ino}"


class Journaled(Serviced):
    """A reprise whose JOURNAL_STREAM names its standard error, as if systemd had connected standard error to the journal."""

    def __init__(self, **configuration):
        super().__init__({}, **configuration)

    def become(self):
        self.variables = {"JOURNAL_STREAM": journal_of(2)}
        super().become()


def test_journal_lines_have_a_priority_and_no_duplicate_timestamp():
    script = {"/x": [503, 503]}
    for form in ("text", "json"):
        with Upstream(script) as upstream, Journaled(log={"format": form}, defaults={"retry": {"max_attempts": 2}}) as reprise:
            equal(ask(reprise, "GET", upstream.url("/x")).status, 503)
            reprise.expect_log("retries exhausted")
            with open(reprise.config_file, "a", encoding="ascii") as file:
                file.write("unknown: 1\n")
            reprise.process.send_signal(signal.SIGHUP)
            reprise.expect_log("reload failed, keeping the previous configuration")
            lines = reprise.text().splitlines()
            equal([line for line in lines if not re.match("<[3467]>", line)], [], "each line has a priority")
            levels = {words: line[:3] for line in lines for words in ("retries exhausted", "reload failed", "listening forward")
                      if words in line}
            equal(levels, {"retries exhausted": "<3>", "reload failed": "<3>", "listening forward": "<6>"})
            clocks = [line for line in lines if re.match(r"<\d>(\S+ )?\d\d:\d\d:\d\d", line)]
            equal(clocks, [], "the journal has a clock of its own")
            if form == "json":
                assert all("time" in json.loads(line[3:]) for line in lines), lines


def test_startup_errors_have_a_priority_only_in_the_journal():
    with tempfile.TemporaryDirectory() as folder:
        bad = Path(folder, "bad.yaml")
        bad.write_text("version: 1\nunknown: 1\ndefauts: {}\n", encoding="ascii")
        plain, broken = Path(folder, "plain.yaml"), Path(folder, "broken.yaml")
        plain.write_text("version: 1\n", encoding="ascii")
        broken.write_text("a: [\n", encoding="ascii")
        commands = (["run", "-c", bad], ["check", bad], ["run", "--forwrad", "1"], ["exec", "--", "/nowhere/command"], ["ca", "init", plain],
                    ["redirect", "-c", plain], ["redirect", "-c", plain, "--print", "nft"], ["inject", "-f", broken])
        for command in commands:
            for into_journal in (True, False):
                with open(f"{folder}/said", "wb") as said:
                    variables = {**os.environ, "JOURNAL_STREAM": journal_of(said.fileno()) if into_journal else "8:1"}
                    ended = subprocess.run([options.binary, *command], env=variables, stdout=subprocess.DEVNULL, stderr=said, check=False)
                assert ended.returncode in (1, 2, 78, 127), ended
                lines = Path(folder, "said").read_text(encoding="utf-8").splitlines()
                assert lines, "says why"
                equal({line.startswith("<3>") for line in lines}, {into_journal}, f"{command} {lines}")


def test_systemd_status_line_follows_reloads_and_draining():
    with notified() as (manager, address), tempfile.TemporaryDirectory() as folder:
        control = f"{folder}/control"
        routes = [{"name": "one", "match": {"host": "one.test"}}, {"name": "two", "match": {"host": "two.test"}}]
        with Serviced({"NOTIFY_SOCKET": address}, routes=routes, admin={"bind": f"{LOOPBACK}:0", "control": control}) as reprise:
            manager.expect("READY=1")
            served = "serving 2 routes and the default route on forward %s:%d, admin %s:%d" % (*reprise.forward, *reprise.addresses["admin"])
            equal(manager.status(), served)
            reprise.process.send_signal(signal.SIGHUP)
            manager.expect("READY=1", 2)
            assert re.fullmatch(re.escape(served) + r"; reloaded at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", manager.status()), manager.status()
            good = Path(reprise.config_file).read_text(encoding="ascii")
            Path(reprise.config_file).write_text(good + "unknown: 1\n", encoding="ascii")
            reprise.process.send_signal(signal.SIGHUP)
            eventually(lambda: manager.status().startswith("reload failed at 2"), "a failed reload is said first")
            assert f"keeping the previous configuration: {reprise.config_file}:" in manager.status(), manager.status()
            assert manager.status().endswith(served), manager.status()
            Path(reprise.config_file).write_text(good, encoding="ascii")
            reprise.process.send_signal(signal.SIGHUP)
            eventually(lambda: manager.status().startswith(served + "; reloaded at"), "a good reload takes it back")
            subprocess.run([options.binary, "drain", "--control", control], check=True, stdout=subprocess.DEVNULL)
            eventually(lambda: manager.status().startswith("draining: not ready"), "draining")
        manager.expect("STOPPING=1")
        assert re.fullmatch(r"shutting down: \d+ open client connections", manager.status()), manager.status()
