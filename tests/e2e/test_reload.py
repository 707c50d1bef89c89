"""Tests reloads while requests run. Covers every way in which a file changes or can be invalid. No request may be
lost, and each request must use only one configuration."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import chance
from client import Client, ask, head_of
from control import Controlled
from harness import LOOPBACK, PATIENCE, Reprise, closed_port, equal, eventually, options
from server import bound
from upstream import Say, Upstream

TWICE = {"retry": {"max_attempts": 2, "backoff": {"initial": "0ms", "maximum": "0ms"}}}
THRICE = {"retry": {"max_attempts": 3, "backoff": {"initial": "0ms", "maximum": "0ms"}}}


def attempts(reprise, upstream, path="/down"):
    """Sends a request to an upstream that always responds with 503. Returns the number of attempts."""
    return ask(reprise, "GET", upstream.url(path)).attempts


def failing():
    return Upstream({"/down": [503]})


def test_configuration_file_written_in_place_is_applied():
    with failing() as upstream, Controlled(defaults=TWICE) as reprise:
        equal(attempts(reprise, upstream), 2)
        before = json.loads(reprise.admin("/status")[1])["config"]["hash"]
        reprise.change(defaults=THRICE)
        reprise.expect_reload("success")
        equal(attempts(reprise, upstream), 3)
        status = json.loads(reprise.admin("/status")[1])
        assert status["config"]["hash"] != before, status
        equal(status["reload"]["outcome"], "success")
        equal(reprise.metric("reprise_config_info"), 1, "one hash")
        equal(reprise.metric("reprise_config_info", hash=status["config"]["hash"]), 1)
        equal(reprise.metric("reprise_requests_total"), 2, "counted before and after")


def test_failed_reload_reports_every_unusable_file_with_the_position_of_its_key():
    with failing() as upstream, Controlled(defaults=TWICE) as reprise:
        reprise.change(defaults={"tls": {"ca_file": "/nowhere/ca.pem"}},
                       routes=[{"name": "own", "match": {"host": "own.test"}, "tls": {"ca_file": "/nowhere/own.pem"}}])
        code, _, errors = reprise.tell("reload", "--wait")
        equal(code != 0, True)
        for key in ("defaults.tls.ca_file: /nowhere/ca.pem", "routes[0].tls.ca_file: /nowhere/own.pem"):
            assert re.search(rf"reprise\.yaml:\d+:\d+: error: {re.escape(key)} cannot be used", errors), errors
        equal(attempts(reprise, upstream), 2)


def test_configuration_file_replaced_by_rename_is_applied():
    with failing() as upstream, Controlled(defaults=TWICE) as reprise:
        fresh = reprise.config_file + ".new"
        Path(fresh).write_text(reprise.text_with(defaults=THRICE), encoding="utf-8")
        os.rename(fresh, reprise.config_file)
        reprise.expect_reload("success")
        equal(attempts(reprise, upstream), 3)


def test_config_map_update_is_applied():
    """Imitates the kubelet: writes a new folder and renames the link `..data` to it."""
    with failing() as upstream:
        reprise = Controlled(defaults=TWICE)
        volume = Path(reprise.folder) / "volume"
        for name, limits in (("..2026_1", TWICE), ("..2026_2", THRICE)):
            (volume / name).mkdir(parents=True)
            (volume / name / "reprise.yaml").write_text(reprise.text_with(defaults=limits), encoding="utf-8")
        (volume / "..data").symlink_to("..2026_1")
        (volume / "reprise.yaml").symlink_to("..data/reprise.yaml")
        reprise.config_file = str(volume / "reprise.yaml")
        with reprise:
            equal(attempts(reprise, upstream), 2)
            (volume / "..data_tmp").symlink_to("..2026_2")
            os.rename(volume / "..data_tmp", volume / "..data")
            shutil.rmtree(volume / "..2026_1")
            reprise.expect_reload("success")
            equal(attempts(reprise, upstream), 3)


def test_file_referenced_by_a_value_is_watched():
    folder = Path(tempfile.mkdtemp(prefix="reprise-e2e-"))
    try:
        (folder / "limit").write_text("2\n", encoding="ascii")
        limit = "${file:%s}" % (folder / "limit")
        with failing() as upstream, Controlled(
                defaults={"retry": {"max_attempts": limit, "backoff": {"initial": "0ms", "maximum": "0ms"}}}) as reprise:
            equal(attempts(reprise, upstream), 2)
            (folder / "limit").write_text("3\n", encoding="ascii")
            reprise.expect_reload("success")
            equal(attempts(reprise, upstream), 3)
    finally:
        shutil.rmtree(folder)


def test_sighup_reloads_and_keeps_connections_open():
    with Upstream({"/x": [200]}) as upstream, Controlled() as reprise, Client(reprise.forward) as client:
        for count in range(1, 4):
            equal(client.ask("GET", upstream.url("/x")).status, 200)
            reprise.process.send_signal(signal.SIGHUP)
            reprise.expect_reload("success", count)
        equal(client.ask("GET", upstream.url("/x")).status, 200)
        equal(upstream.connections, 1, "the pool is the same, and so is the client's connection")


def test_reload_reports_keys_that_only_a_restart_applies():
    with Controlled() as reprise:
        reprise.change(threads=options.threads + 1, limits={"upstreams": 77})
        code, said, _ = reprise.tell("reload", "--wait")
        equal(code, 0)
        for key in ("threads", "limits.upstreams"):
            assert f"{key} can only change at a restart" in said, said
            reprise.expect_log(f"{key} can only change at a restart")


def test_reload_applies_replay_limits():
    body = b"x" * 200_000
    with Upstream({"/down": [503]}) as upstream, Controlled(defaults=TWICE, limits={"replay_memory": "10KiB"}) as reprise:
        limit = "reprise_replay_limit_bytes"
        equal(reprise.metric(limit, store="memory"), 10 << 10)
        equal(ask(reprise, "PUT", upstream.url("/down"), body).field("Reprise-Reason"), "not_replayable")
        reprise.change(limits={"replay_memory": "10MiB", "replay_disk": "3GiB"})
        reprise.expect_reload("success")
        equal((reprise.metric(limit, store="memory"), reprise.metric(limit, store="disk")), (10 << 20, 3 << 30))
        equal(ask(reprise, "PUT", upstream.url("/down"), body).attempts, 2)


def broken_files(reprise):
    """Returns a list of (name, function that breaks the configuration file, expected words of the error
    message). The caller restores the file."""
    path = Path(reprise.config_file)

    def swap_for_folder():
        path.unlink()
        path.mkdir()

    def swap_for_dangling_link():
        path.unlink()
        path.symlink_to("nowhere")

    def swap_for(make):
        def swap():
            path.unlink()
            make(path)
        return swap
    return [
        ("garbage", lambda: path.write_bytes(b"\xff" + chance.content("garbage", 3000)), "reprise.yaml:1:"),
        ("half a file", lambda: path.write_text("version: 1\nlisteners: [{mode: forw", encoding="ascii"), "reprise.yaml:2:"),
        ("empty", lambda: path.write_text("", encoding="ascii"), "version: 1 is missing"),
        ("an unknown key", lambda: path.write_text("version: 1\nretries: 3\n", encoding="ascii"), "reprise.yaml:2:1: error: "),
        ("a folder", swap_for_folder, "cannot read the file"),
        ("deleted", path.unlink, "cannot read the file"),
        ("a link to nowhere", swap_for_dangling_link, "cannot read the file"),
        ("a pipe that nobody writes to", swap_for(os.mkfifo), "cannot read the file: it is a pipe"),
        ("a device that never ends", swap_for(lambda path: path.symlink_to("/dev/zero")), "cannot read the file: it is not a regular file"),
        ("ten gigabytes", lambda: os.truncate(path, 10_000_000_000), "the file is larger than 1 MiB"),
    ]


def make_whole(reprise):
    path = Path(reprise.config_file)
    if path.is_dir():
        path.rmdir()
    if path.is_symlink() or path.is_fifo():
        path.unlink()
    reprise.change()


def test_reload_of_an_invalid_file_changes_nothing_and_is_reported():
    with failing() as upstream, Controlled(defaults=TWICE) as reprise:
        whole = 0
        for number, (name, spoil, words) in enumerate(broken_files(reprise)):
            failed = reprise.reloads("failed")
            spoil()
            eventually(lambda failed=failed: reprise.reloads("failed") > failed, f"{name} is told")
            equal(attempts(reprise, upstream), 2, name)
            reprise.expect_log(words)
            status = json.loads(reprise.admin("/status")[1])
            equal(status["reload"]["outcome"], "failed", name)
            assert words in "".join(status["reload"]["errors"]), (name, status)
            code, said, _ = reprise.tell("status")
            equal(code, 0)
            assert "FAILED" in said and words in said, said
            code, _, errors = reprise.tell("reload")
            assert code != 0 and words in errors, (name, code, errors)
            # The appended comment with a number makes the content of the file different from all earlier
            # contents.
            make_whole(reprise)
            with open(reprise.config_file, "a", encoding="ascii") as file:
                file.write(f"# {number}\n")
            eventually(lambda whole=whole: reprise.reloads("success") > whole, f"after {name} it is whole again")
            whole = reprise.reloads("success")
        equal(attempts(reprise, upstream), 2)


def waits_in(process, call):
    """Returns true if the process waits in a kernel function whose name contains `call`."""
    with open(f"/proc/{process.pid}/wchan", encoding="ascii") as file:
        return call in file.read()


def test_file_change_during_startup_is_detected_even_if_watching_has_not_begun():
    """The start-up blocks between reading the configuration file and watching it: reprise tries to connect to
    an existing control socket, and the owner of that socket does not accept."""
    with failing() as upstream:
        reprise = Controlled(defaults=TWICE)
        deaf = socket.socket(socket.AF_UNIX)
        deaf.bind(reprise.control_path)
        deaf.listen(0)
        callers = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for caller in callers:
            caller.setblocking(False)
            caller.connect_ex(reprise.control_path)

        def change_meanwhile():
            eventually(lambda: reprise.process is not None and waits_in(reprise.process, "unix_"), "it waits for the socket")
            reprise.change(defaults=THRICE)
            deaf.close()
        changer = threading.Thread(target=change_meanwhile)
        changer.start()
        with reprise:
            changer.join()
            reprise.expect_reload("success")
            equal(attempts(reprise, upstream), 3)
        for caller in callers:
            caller.close()


def test_start_rejects_paths_that_are_not_regular_files():
    with tempfile.TemporaryDirectory() as folder:
        pipe, large = os.path.join(folder, "pipe"), os.path.join(folder, "large")
        os.mkfifo(pipe)
        with open(large, "wb") as file:
            file.truncate(10_000_000_000)
        named = os.path.join(folder, "named.yaml")
        for key in ("ca_file", "certificate"):
            more = f", key: {pipe}" if key == "certificate" else ""
            Path(named).write_text(f"version: 1\ndefaults: {{tls: {{originate: true, {key}: {pipe}{more}}}}}\n", encoding="ascii")
            for command in ("check", "run"):
                done = subprocess.run([options.binary, command, named], capture_output=True, text=True, timeout=PATIENCE, check=False)
                equal(done.returncode, 78, done.stderr)
                assert f"tls.{key}: {pipe} cannot be used: it is a pipe" in done.stderr, done.stderr
        for file, words in ((pipe, "it is a pipe"), ("/dev/zero", "it is not a regular file"), (large, "the file is larger than 1 MiB"),
                            (folder, "Is a directory")):
            for command in ("check", "run"):
                done = subprocess.run([options.binary, command, file], capture_output=True, text=True, timeout=PATIENCE, check=False)
                equal((done.returncode, words in done.stderr), (78, True), f"{command} {file}: {done.stderr}")


def test_continuously_changing_file_is_still_reloaded():
    with failing() as upstream, Controlled(defaults=TWICE) as reprise:
        ended = threading.Event()

        def scribble():
            count = 0
            while not ended.wait(0.01):
                count += 1
                fresh = reprise.config_file + ".new"
                Path(fresh).write_text(text + f"# {count}\n", encoding="utf-8")
                os.rename(fresh, reprise.config_file)
        text = reprise.text_with(defaults=THRICE)
        writer = threading.Thread(target=scribble)
        writer.start()
        try:
            reprise.expect_reload("success", 2)
            equal(attempts(reprise, upstream), 3)
        finally:
            ended.set()
            writer.join()
        equal(reprise.reloads("failed"), 0)


def test_reload_adds_and_removes_listeners():
    with Upstream({"/x": [200]}) as upstream, Controlled() as reprise, Client(reprise.forward) as client:
        equal(client.ask("GET", upstream.url("/x")).status, 200)
        first = reprise.forward
        port = bound()
        number = port.getsockname()[1]
        port.close()
        reprise.change(listeners=[{"mode": "forward", "bind": f"{LOOPBACK}:{number}"}])
        reprise.expect_reload("success")
        response = client.ask("GET", upstream.url("/x"))
        equal((response.status, response.field("Connection")), (200, "close"), "who is there is answered, and told to go")
        client.expect_end()
        with Client((LOOPBACK, number)) as other:
            equal(other.ask("GET", upstream.url("/x")).status, 200)
        try:
            Client(first).socket.close()
            raise AssertionError("the old port is still listened at")
        except ConnectionRefusedError:
            pass
        listeners = json.loads(reprise.admin("/status")[1])["listeners"]
        equal(listeners[0], f"forward {LOOPBACK}:{number}")


def listeners_told(reprise):
    return json.loads(reprise.tell("status", "--format", "json")[1])["listeners"]


def test_reload_moves_a_listener_to_all_addresses_and_back_on_the_same_port():
    """Two sockets cannot be bound to one port on 0.0.0.0 and on 127.0.0.1 at the same time, unless both
    sockets permit it."""
    with Upstream({"/x": [200]}) as upstream, Controlled() as reprise:
        number, admin = reprise.forward[1], reprise.addresses["admin"][1]
        for address in ("0.0.0.0", LOOPBACK):
            wanted = [f"forward {address}:{number}", f"admin {address}:{admin}"]
            with Client(reprise.forward) as client:
                equal(client.ask("GET", upstream.url("/x")).status, 200)
                reprise.change(listeners=[{"mode": "forward", "bind": f"{address}:{number}", "allow_remote": True}],
                               admin={"bind": f"{address}:{admin}", "allow_remote": True})
                # The addresses of the listeners are read over the control socket, because the admin listener
                # moves, too.
                eventually(lambda wanted=wanted: listeners_told(reprise) == wanted, f"{wanted}")
                equal(client.ask("GET", upstream.url("/x")).field("Connection"), "close", "who is there is told to go")
            with Client(reprise.forward) as client:
                equal(client.ask("GET", upstream.url("/x")).status, 200)
            equal(reprise.admin("/readyz")[0], 200)
        second = Reprise(listeners=[{"mode": "forward", "bind": f"{LOOPBACK}:{number}"}])
        done = subprocess.run(second.command(), capture_output=True, text=True, timeout=PATIENCE, check=False)
        shutil.rmtree(second.folder)
        equal(done.returncode, 69, "it is nobody else's")
        assert f"cannot listen on {wanted[0]}" in done.stderr + done.stdout, done


def test_reload_with_a_port_in_use_changes_nothing():
    held, port = closed_port()
    held.listen(1)
    with held, failing() as upstream, Controlled(defaults=TWICE) as reprise:
        reprise.change(defaults=THRICE, listeners=[{"mode": "forward", "bind": f"{LOOPBACK}:0"},
                                                   {"mode": "socks", "bind": f"{LOOPBACK}:{port}"}])
        reprise.expect_reload("failed")
        reprise.expect_log(f"cannot listen on socks {LOOPBACK}:{port}")
        equal(attempts(reprise, upstream), 2)


def test_gateway_upstream_changes_with_the_next_request_after_a_reload():
    with Upstream({"/x": [Say(200, b"one")]}) as one, Upstream({"/x": [Say(200, b"two")]}) as two:
        def listeners(to):
            return [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": f"http://{LOOPBACK}:{to.port}"}]
        with Controlled(listeners=listeners(one)) as reprise, Client(reprise.gateway) as client:
            for upstream, body in ((one, b"one"), (two, b"two")):
                reprise.change(listeners=listeners(upstream))
                if upstream is two:
                    reprise.expect_reload("success")
                client.send(b"GET /x HTTP/1.1\r\nHost: gateway\r\n\r\n")
                equal(client.read_response().body, body)


def test_reload_never_changes_the_protocol_of_an_open_connection():
    """Covers idle connections and connections with a pending request."""
    port = bound()
    number = port.getsockname()[1]
    port.close()

    def listener(mode):
        return [{"mode": mode, "bind": f"{LOOPBACK}:{number}"}]
    with Upstream({"/x": [200]}) as upstream, Controlled(listeners=listener("forward")) as reprise, \
            Client((LOOPBACK, number)) as client:
        equal(client.ask("GET", upstream.url("/x")).status, 200)
        for times, mode in enumerate(("socks", "transparent"), 1):
            reprise.change(listeners=listener(mode))
            reprise.expect_reload("success", times)
            equal(client.ask("GET", upstream.url("/x")).status, 200, mode)


def test_request_keeps_the_configuration_it_started_with():
    """A new configuration with `mode: off` is applied while the request waits. The new configuration must not end
    the request."""
    gate = threading.Event()

    def held(connection, request):
        gate.wait(PATIENCE)
        connection.sendall(Say(503).text(request, 1))
        return True
    with Upstream({"/held": [held, 503, 200], "/down": [503]}) as upstream, Controlled(defaults=THRICE) as reprise, \
            Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/held"), LOOPBACK))
        upstream.seen(1, "/held")
        reprise.change(defaults={"mode": "off"})
        reprise.expect_reload("success")
        equal(ask(reprise, "GET", upstream.url("/down")).attempts, 1, "who comes now")
        gate.set()
        response = client.read_response()
        equal((response.status, response.attempts), (200, 3))


class Counting(Upstream):
    """Records the Reprise-Attempt field of every request, by path."""

    def __init__(self):
        super().__init__(otherwise=(503,))
        self.came = {}

    def keep(self, request):
        with self.lock:
            request.order = 0
            self.came.setdefault(request.path, []).append(request.field("Reprise-Attempt"))


def test_reload_under_load_loses_no_request_and_mixes_no_configurations():
    """One configuration sends each request twice, without the field Reprise-Attempt. The other sends it three times,
    with the field."""
    total, clients = options.load, 8
    reloads = max(10, total // 100)
    one, other = {**TWICE, "attempt_header": False, "budget": "off"}, {**THRICE, "attempt_header": True, "budget": "off"}
    with Counting() as upstream, Controlled(defaults=one, log={"access": False}) as reprise:
        failures = []

        def work(which):
            with Client(reprise.forward) as client:
                for number in range(which, total, clients):
                    response = client.ask("GET", upstream.url(f"/{number}"))
                    if response.status != 503 or response.attempts not in (2, 3):
                        failures.append((number, response.status, response.attempts))
        threads = [threading.Thread(target=work, args=(which,)) for which in range(clients)]
        for thread in threads:
            thread.start()
        done = 0
        while done < reloads or any(thread.is_alive() for thread in threads):
            # A rename replaces the file, because the file must be complete whenever reprise reads it.
            fresh = reprise.config_file + ".new"
            Path(fresh).write_text(reprise.text_with(defaults=other if done % 2 == 0 else one), encoding="utf-8")
            os.rename(fresh, reprise.config_file)
            code, said, errors = reprise.tell("reload", "--wait")
            equal(code, 0, said + errors)
            done += 1
            if done > 100 * reloads:
                raise AssertionError("the requests do not end")
        for thread in threads:
            thread.join()
        equal(failures, [])
        equal(len(upstream.came), total)
        wholes = {(None, None): 0, ("1", "2", "3"): 0}
        for path, marks in upstream.came.items():
            assert tuple(marks) in wholes, (path, marks)
            wholes[tuple(marks)] += 1
        assert all(count > 0 for count in wholes.values()), wholes
        assert reprise.reloads("success") >= reloads
        equal(reprise.reloads("failed"), 0)


def test_reload_without_a_configuration_file_is_logged_and_changes_nothing():
    class Defaults(Reprise):
        def command(self):
            return [options.binary, "run", "--forward", "0", "--admin", "0"]
    with Defaults() as reprise, Upstream({"/x": [200]}) as upstream:
        reprise.process.send_signal(signal.SIGHUP)
        reprise.expect_log("cannot reload: reprise was started without a configuration file")
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
