"""Tests that reprise handles signals at every moment, from the start of the process to its end."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

from client import Client, ask, head_of
from harness import LOOPBACK, PATIENCE, NotPlayed, Reprise, equal, eventually, options
from test_shutdown import Gate
from upstream import Say, Upstream

CONFIG = f"version: 1\nlisteners: [{{mode: forward, bind: {LOOPBACK}:0}}]\nadmin: {{bind: {LOOPBACK}:0}}\n"
TERM = 1 << (signal.SIGTERM - 1)


def obeys(pid):
    """Returns true if the process already executes reprise, and reprise catches or blocks SIGTERM, so that SIGTERM
    no longer kills the process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        if not os.path.samefile(f"/proc/{pid}/exe", options.binary):
            return False
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
        masks = {line.split(":")[0]: int(line.split()[1], 16) for line in lines if line.startswith("Sig") and "/" not in line}
        return (masks["SigCgt"] | masks["SigBlk"]) & TERM
    return False


@contextlib.contextmanager
def commands():
    """Yields three commands: one that reads its configuration from standard input until end of file, one that
    serves requests, and the demo."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(CONFIG)
        file.flush()
        yield ["run", "-c", "-"], ["run", "-c", file.name], ["demo"]


@contextlib.contextmanager
def started(words):
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def end_of(process):
    errors = process.communicate(timeout=PATIENCE)[1]
    return process.returncode, "Sanitizer" in errors


def test_N8_sigterm_and_sigint_exit_with_0_even_during_startup():
    with commands() as all_of_them:
        for words in all_of_them:
            for number in (signal.SIGTERM, signal.SIGINT):
                with started([options.binary, *words]) as process:
                    eventually(lambda: obeys(process.pid), f"{words} obeys signals")
                    process.send_signal(number)
                    equal(end_of(process), (0, False), f"{words} {number.name}")


def first_child(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(children[0]) if children else None


def test_N8_sigterm_during_startup_ends_the_first_process_of_a_container():
    alone = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False, capture_output=True).returncode != 0:
        raise NotPlayed("namespaces", "this machine allows no process namespace")
    with commands() as all_of_them:
        for words in all_of_them:
            with started([*alone, options.binary, *words]) as process:
                child = eventually(lambda: first_child(process.pid), "unshare has started it")
                eventually(lambda: obeys(child), f"{words} obeys signals")
                os.kill(child, signal.SIGTERM)
                equal(end_of(process), (0, False), str(words))


def test_N8_repeated_sigterm_exits_with_0():
    for threads in (1, 4):
        with Reprise(threads=threads) as reprise:
            over = threading.Event()
            def repeat(process=reprise.process, over=over):
                while not over.is_set():
                    process.send_signal(signal.SIGTERM)
            sender = threading.Thread(target=repeat, daemon=True)
            sender.start()
            equal(reprise.process.wait(PATIENCE), 0)
            over.set()
            sender.join()


def test_N8_sigusr1_sigusr2_and_sigwinch_are_ignored_with_a_log_line():
    with Upstream() as upstream, Reprise() as reprise:
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH):
            for _ in range(3):
                reprise.process.send_signal(number)
            reprise.expect_log(f"ignored {number.name}")
            equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        reprise.process.send_signal(signal.SIGHUP)
        reprise.expect_log("configuration")
        equal([reprise.text().count(f"ignored {name}") for name in ("SIGUSR1", "SIGUSR2", "SIGWINCH")], [1, 1, 1])


def test_N8_sigquit_drains_like_sigterm():
    gate = Gate(Say(200, b"whole"))
    with Upstream({"/x": [gate]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        assert gate.arrived.wait(PATIENCE)
        reprise.process.send_signal(signal.SIGQUIT)
        reprise.expect_log("shutting down")
        gate.opened.set()
        equal(client.read_response().body, b"whole")
        equal(reprise.process.wait(PATIENCE), 0)
