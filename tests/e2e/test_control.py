"""Tests the control socket: its commands, who may use it, and how misuse is handled."""
import json
import os
import socket
import stat
import subprocess
import threading

from client import Client, ask
from control import Controlled
from harness import PATIENCE, Reprise, equal, eventually, options
from upstream import Upstream


def started_with(control):
    """Starts reprise with the given path as its control socket. Returns its exit code and standard error."""
    reprise = Reprise(admin={"control": control})
    done = subprocess.run(reprise.command(), capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stderr


def test_status_command_reports_state_routes_and_budgets():
    with Upstream({"/x": [503, 200], "/down": [503]}) as upstream, Controlled() as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        equal(ask(reprise, "POST", upstream.url("/down"), b"x").reason, "not_idempotent")
        reprise.requests(2)
        code, said, _ = reprise.tell("status")
        equal(code, 0)
        for words in ("state       ready", "listening   forward 127.0.0.1:", "config      ", "reload      none", "not_idempotent 1"):
            assert words in said, said
        code, said, _ = reprise.tell("status", "--format", "json")
        equal(code, 0)
        status = json.loads(said)
        route = status["routes"][0]
        equal((route["name"], route["requests"], route["recovered"], route["refused"]), ("default", 2, 1, {"not_idempotent": 1}))
        assert 0 < status["budgets"][f"127.0.0.1:{upstream.port}"] < 1, status


def test_control_command_finds_the_socket_through_the_configuration():
    with Controlled() as reprise:
        done = subprocess.run([options.binary, "status", "-c", reprise.config_file], capture_output=True, text=True, check=False)
        equal(done.returncode, 0, done.stderr)
    with Reprise() as reprise:
        done = subprocess.run([options.binary, "status", "-c", reprise.config_file], capture_output=True, text=True, check=False)
        equal(done.returncode, 78)
        assert "admin.control: is not set" in done.stderr, done.stderr


def test_drain_makes_readyz_fail_and_closes_connections_after_a_response():
    with Upstream({"/x": [200]}) as upstream, Controlled() as reprise, Client(reprise.forward) as client:
        equal(client.ask("GET", upstream.url("/x")).status, 200)
        equal(reprise.admin("/readyz")[0], 200)
        equal(reprise.tell("drain")[0], 0)
        equal(reprise.admin("/readyz")[0], 503)
        response = client.ask("GET", upstream.url("/x"))
        equal((response.status, response.field("Connection")), (200, "close"))
        client.expect_end()
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200, "who comes all the same is served")
        equal(json.loads(reprise.admin("/status")[1])["draining"], True)


def test_quit_waits_for_requests_in_progress():
    gate = threading.Event()

    def held(connection, _request):
        gate.wait(PATIENCE)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        return True
    with Upstream({"/held": [held]}) as upstream, Controlled(shutdown={"grace": "2m"}) as reprise:
        responses = []
        thread = threading.Thread(target=lambda: responses.append(ask(reprise, "GET", upstream.url("/held")).body))
        thread.start()
        upstream.seen(1)
        equal(reprise.tell("quit")[0], 0)
        reprise.expect_log("shutting down")
        gate.set()
        thread.join()
        equal(responses, [b"ok"])
        equal(reprise.process.wait(PATIENCE), 0)
        assert not os.path.exists(reprise.control_path), "its file is gone"


def test_log_level_command_changes_the_level_and_rejects_unknown_levels():
    with Upstream({"/x": [503, 200]}) as upstream, Controlled() as reprise:
        equal(reprise.tell("log", "level", "debug")[0], 0)
        ask(reprise, "GET", upstream.url("/x"))
        reprise.expect_log("attempt 1: 503")
        equal(reprise.tell("log", "level", "loud")[0], 2)


def test_pause_command_pauses_a_host():
    with Upstream({"/x": [200]}) as upstream, Controlled(defaults={"host_pause": "fail"}) as reprise:
        equal(reprise.tell("pause", f"127.0.0.1:{upstream.port}", "3600")[0], 0)
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.reason, upstream.count()), (503, "host_paused", 0))
        code, said, _ = reprise.tell("pause", "a.test:80", "1m30s")
        equal((code, said), (0, "a.test:80 is paused for 1m30s\n"))
        for wrong in ("999ms", "25h", "5x"):
            code, _, errors = reprise.tell("pause", "a.test:80", wrong)
            assert code == 1 and "write a duration from 1s to 24h" in errors, errors
        code, _, errors = reprise.tell("pause", "no-port", "5")
        assert code == 1 and "HOST:PORT" in errors, errors
        code, _, errors = reprise.tell("pause", "a.test:80", "-5")
        assert code != 0, errors


def test_control_socket_is_accessible_only_to_its_owner():
    with Controlled() as reprise:
        mode = os.stat(reprise.control_path).st_mode
        assert stat.S_ISSOCK(mode), mode
        equal(stat.S_IMODE(mode), 0o600)


def test_stale_control_socket_is_replaced_at_startup():
    reprise = Controlled()
    left = socket.socket(socket.AF_UNIX)
    left.bind(reprise.control_path)
    left.close()
    with reprise:
        equal(reprise.tell("status")[0], 0)


def test_startup_fails_if_the_control_path_is_a_socket_in_use_or_a_plain_file():
    with Controlled() as reprise:
        code, errors = started_with(reprise.control_path)
        equal(code, 69)
        assert "another process listens there" in errors, errors
        equal(reprise.tell("status")[0], 0, "the first one is untouched")
        plain = os.path.join(reprise.control_folder, "plain")
        with open(plain, "w", encoding="ascii") as file:
            file.write("mine")
        code, errors = started_with(plain)
        equal(code, 69)
        assert "the file exists and is not a socket" in errors, errors
        with open(plain, encoding="ascii") as file:
            equal(file.read(), "mine")
        code, errors = started_with("/nowhere/at/all.sock")
        equal(code, 69)
        assert "the folder does not exist" in errors, errors
        code, errors = started_with("/" + "long/" * 40 + "c.sock")
        equal(code, 69)
        assert "at most 107 bytes" in errors, errors


def test_socket_of_another_process_at_the_control_path_is_not_removed_at_shutdown():
    with Controlled() as reprise:
        os.unlink(reprise.control_path)
        other = socket.socket(socket.AF_UNIX)
        other.bind(reprise.control_path)
        reprise.process.terminate()
        equal(reprise.process.wait(PATIENCE), 0)
        assert os.path.exists(reprise.control_path), "not ours"
        other.close()


def test_invalid_control_commands_and_hanging_callers_do_no_harm():
    with Controlled() as reprise:
        for data in (b"\n", b"reload now\n", b"log level\n", b"\xff\x00\xfe\n", b"pause\n", b"pause : 5\n"):
            assert reprise.raw(data).startswith(b"error\n"), data
        assert b"at most 1024 bytes" in reprise.raw(b"x" * 5000, finish=False)
        equal(reprise.raw(b"no line end"), b"")
        hung = []
        for _ in range(40):
            line = socket.socket(socket.AF_UNIX)
            line.connect(reprise.control_path)
            hung.append(line)
        eventually(lambda: reprise.tell("status")[0] == 0, "those who hang are let go")
        for line in hung:
            line.close()


def test_control_command_fails_with_a_reason_if_no_proxy_responds():
    with Controlled() as reprise:
        code, _, errors = reprise.tell("status", control=reprise.control_path + "x")
        equal(code, 1)
        assert "no process listens" in errors and "admin.control" in errors, errors
        deaf = socket.socket(socket.AF_UNIX)
        path = os.path.join(reprise.control_folder, "d.sock")
        deaf.bind(path)
        deaf.listen(5)

        def babble():
            caller, _ = deaf.accept()
            caller.recv(100)
            caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            caller.close()
        thread = threading.Thread(target=babble)
        thread.start()
        code, _, errors = reprise.tell("status", control=path)
        equal(code, 1)
        assert "does not come from reprise" in errors, errors
        thread.join()
        deaf.close()
