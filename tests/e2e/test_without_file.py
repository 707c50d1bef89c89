"""Tests settings without a configuration file: flags and variables of `run`, `exec` and other commands that read a
configuration, and which of them take precedence."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile

from client import Client, ask
from control import Controlled
from harness import Reprise, closed_port, equal, eventually, options, without_proxies
from upstream import Upstream

FLAGS = ("max-attempts", "deadline", "attempt-timeout", "retry-on", "idempotency-header", "parent", "admin", "control",
         "log-format", "log-level")


def environment(**more):
    """Returns this process's environment without proxy variables and without reprise's variables, plus the variables
    `more`."""
    own = {name: value for name, value in without_proxies().items() if not name.startswith("REPRISE_")}
    return {**own, **more}


def ran(*words, given=None, **variables):
    """Runs reprise. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, *words], input=given, env=environment(**variables), capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def in_force(key, *words, given=None, **variables):
    """Returns the value of `key` in `defaults`, as `config --effective` prints it."""
    file = ("-c", "-") if given else ()
    code, out, err = ran("config", "--effective", *file, *words, given=given, **variables)
    equal((code, err), (0, ""))
    return re.search(rf"\n    {key}: (.*)", out.split("\ndefaults:\n", 1)[1]).group(1)


class Flagged(Controlled):
    """A reprise whose settings are given as flags."""

    def __init__(self, *flags, **configuration):
        super().__init__(**configuration)
        self.flags = flags

    def command(self):
        return [*super().command(), *self.flags]


def test_help_and_reference_name_every_flag_with_its_variable():
    _, reference, _ = ran("config", "--reference")
    _, page, _ = ran("man")
    for command in ("run", "exec", "check", "config"):
        _, out, _ = ran(command, "--help")
        for flag in FLAGS:
            assert f"--{flag} " in out and "REPRISE_" + flag.upper().replace("-", "_") in out, (command, flag)
    for flag in FLAGS:
        variable = "REPRISE_" + flag.upper().replace("-", "_")
        assert f"| `--{flag} " in reference and f"| `{variable}` |" in reference, flag
        assert variable in page, flag


def test_invalid_flag_exits_with_2_and_an_invalid_variable_with_78():
    for words, said in ((("--max-attempts", "0"), '--max-attempts: "0" is out of range'),
                        (("--deadline", "30"), '--deadline: "30" has no unit'),
                        (("--attempt-timeout", "x"), '--attempt-timeout: "x" is not a duration'),
                        (("--retry-on", "503,conect"), '--retry-on: "conect" is not a status'),
                        (("--idempotency-header", "a b"), "--idempotency-header: "),
                        (("--parent", "ftp://u:secret@x:1"), "--parent: the value is not a proxy URL"),
                        (("--admin", "zzz"), '--admin: "zzz" is not an endpoint'),
                        (("--admin", "0.0.0.0:1"), '--admin: "0.0.0.0:1" can be reached from other machines'),
                        (("--control", "x"), '--control: "x" is not an absolute path'),
                        (("--log-format", "xml"), '--log-format: "xml" is not a known word'),
                        (("--log-level", "warning"), "(did you mean warn?)"),
                        (("--deadline", "1ms"), "--deadline: the deadline is shorter than the shortest first wait")):
        for command in (("run",), ("exec",)):
            code, out, err = ran(*command, *words, *(("--", "true") if command == ("exec",) else ()))
            equal((code, out), (2, ""), err)
            assert err.startswith("reprise: error: ") and said in err and "secret" not in err, err
        variable = "REPRISE_" + words[0][2:].upper().replace("-", "_")
        code, out, err = ran("run", **{variable: words[1]})
        equal((code, out), (78, ""), err)
        assert f"reprise: error: {variable}: " in err and "secret" not in err, err
    code, _, err = ran("run", REPRISE_DEADLINE="1s", REPRISE_RETRY_DEADLINE="2s")
    equal(code, 78)
    assert "REPRISE_RETRY_DEADLINE: differs from REPRISE_DEADLINE" in err, err


def test_file_overrides_a_variable_and_a_flag_overrides_both():
    file = "version: 1\ndefaults: {retry: {max_attempts: 4}}\n"
    equal(in_force("max_attempts"), "6")
    equal(in_force("max_attempts", REPRISE_MAX_ATTEMPTS="7"), "7")
    equal(in_force("max_attempts", REPRISE_MAX_ATTEMPTS=""), "6", "an empty variable is none")
    equal(in_force("max_attempts", given=file, REPRISE_MAX_ATTEMPTS="7"), "4")
    equal(in_force("max_attempts", "--max-attempts", "2", given=file, REPRISE_MAX_ATTEMPTS="7"), "2")
    equal(in_force("deadline", REPRISE_RETRY_DEADLINE="5s"), "5s")
    equal(in_force("on", "--retry-on", "5xx", "--retry-on", "connect"), "[5xx, connect]")
    equal(in_force("max_attempts", "--max-attempts", "2", "--max-attempts", "3"), "3", "the last one counts")
    for flag, value in (("--retry-on", "503"), ("--idempotency-header", "A-B"), ("--deadline", "9s")):
        for words in (("check", flag, value, "/nowhere/x.yaml"), ("run", flag, value, "/nowhere/x.yaml"),
                      ("config", "--effective", flag, value, "/nowhere/x.yaml")):
            code, _, err = ran(*words)
            equal((code, err.split(":", 1)[0]), (78, "/nowhere/x.yaml"), "a flag takes one word")


def test_check_and_the_effective_configuration_list_the_flags_and_variables():
    file = "version: 1\nlog: {level: warn}\n"
    words = ("-c", "-", "--deadline", "9s", "--parent", "http://u:secret@p:1")
    _, out, _ = ran("config", "--effective", *words, given=file, REPRISE_LOG_LEVEL="debug")
    code, _, err = ran("check", *words, given=file, REPRISE_LOG_LEVEL="debug")
    equal(code, 0)
    for note in ("--deadline 9s sets defaults.retry.deadline", "--parent *** sets parent",
                 "REPRISE_LOG_LEVEL=debug is not used: log.level is set by the file or a flag"):
        assert f"# {note}\n" in out and f"note: {note}\n" in err, (out, err)
    equal("secret" in out + err, False)
    code, _, err = ran("check", "-", "--max-attempts", "x", given=file)
    equal(code, 2, err)


def test_misspelt_variable_causes_a_warning_and_kubernetes_variables_do_not():
    code, _, err = ran("check", "-", given="version: 1\n", REPRISE_MAX_ATEMPTS="3")
    equal((code, err), (0, "reprise: warning: REPRISE_MAX_ATEMPTS is ignored: unknown variable (did you mean REPRISE_MAX_ATTEMPTS?)\n"))
    _, _, err = ran("check", "-", given="version: 1\n", REPRISE_PORT="tcp://10.0.0.1:3128", REPRISE_SERVICE_HOST="10.0.0.1",
                    REPRISE_PORT_3128_TCP_ADDR="10.0.0.1", REPRISE_HOME="/x")
    equal(err, "")


def test_exec_applies_flags_and_variables():
    with Upstream({}, otherwise=[503]) as upstream:
        curl = ("--", "curl", "-s", "-o", "/dev/null", "--noproxy", "", upstream.url("/x"))
        for words, variables, attempts in ((("--max-attempts", "2"), {}, 2), ((), {"REPRISE_MAX_ATTEMPTS": "1"}, 1),
                                           (("--max-attempts", "2"), {"REPRISE_MAX_ATTEMPTS": "1"}, 2),
                                           (("--retry-on", "connect"), {}, 1)):
            before = len(upstream.requests)
            code, _, err = ran("exec", *words, *curl, **variables)
            equal(code, 0, err)
            equal(len(upstream.requests) - before, attempts, f"{words} {variables}")
        with tempfile.TemporaryDirectory() as folder:
            ran("exec", "--log-format", "text", "--log-level", "warn", "--log", f"{folder}/log", *curl, "--max-time", "20")
            with open(f"{folder}/log", encoding="utf-8") as file:
                text = file.read()
            assert "{" not in text and "ready" not in text and "503" in text, text


def test_exec_prefers_its_flag_or_variable_for_the_parent_proxy_over_the_callers_proxy_variables():
    held, port = closed_port()
    with Upstream({"/x": [200]}) as upstream, held:
        curl = ("--", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--noproxy", "", upstream.url("/x"))
        nobody = f"http://127.0.0.1:{port}"
        code, out, err = ran("exec", "--parent", "none", *curl, http_proxy=nobody)
        equal((code, out, "parent" in err), (0, "200", False))
        _, _, err = ran("exec", "--", "true", http_proxy="http://127.0.0.1:9", REPRISE_PARENT="127.0.0.1:8")
        assert "(through the parent proxy http://127.0.0.1:8)" in err, err


def test_exec_opens_the_requested_control_socket_but_no_admin_listener_if_admin_is_off():
    with tempfile.TemporaryDirectory(prefix="rp-") as folder:
        path = f"{folder}/c.sock"
        code, out, err = ran("exec", "--quiet", "--control", path, "--admin", "off", "--", options.binary, "status",
                             "--control", path)
        equal((code, err), (0, ""))
        assert "ready" in out and "listening   forward" in out and "admin" not in out, out
        equal(os.path.exists(path), False)


def test_exec_ignores_listener_variables_if_another_proxy_uses_their_addresses():
    with Controlled() as reprise, tempfile.TemporaryDirectory() as folder:
        taken = {"REPRISE_ADMIN": "%s:%d" % reprise.addresses["admin"], "REPRISE_CONTROL": reprise.control_path}
        code, _, err = ran("exec", "--log", f"{folder}/log", "--", "true", **taken)
        equal(code, 0, err)
        with open(f"{folder}/log", encoding="utf-8") as file:
            text = file.read()
        for name, value in taken.items():
            assert f"{name}={value} is ignored: another process already uses that address" in text, text
        code, _, err = ran("exec", "--admin", taken["REPRISE_ADMIN"], "--", "true")
        equal(code, 69, err)


def test_idempotency_header_flag_makes_a_post_retryable():
    with Upstream({}, otherwise=["reset"]) as upstream, Flagged("--idempotency-header", "Idempotency-Key", "--max-attempts", "3") as reprise:
        for method, fields, attempts in (("POST", [], 1), ("POST", [("Idempotency-Key", "1")], 3), ("PUT", [], 3)):
            response = ask(reprise, method, upstream.url("/x"), b"x", fields=fields)
            equal((response.status, response.attempts), (502, attempts), f"{method} {fields}")


def test_reload_keeps_flags_and_variables():
    with Upstream({}, otherwise=[503]) as upstream, Flagged("--max-attempts", "2") as reprise:
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 2)
        reprise.change(defaults={"retry": {"max_attempts": 4, "backoff": {"initial": "5ms", "maximum": "20ms"}}}, log={"level": "debug"})
        reprise.process.send_signal(signal.SIGHUP)
        reprise.expect_reload("success")
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 2)
        reprise.expect_log("--max-attempts 2 sets defaults.retry.max_attempts")


def test_run_with_command_line_listeners_reports_a_port_in_use_and_invalid_settings():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = ran("run", "--forward", "0", "--admin", str(port))
        equal(code, 69)
        assert f"cannot listen on admin 127.0.0.1:{port}" in err and f"(pid {os.getpid()}: " in err, err
    code, _, err = ran("run", "--forward", "0", "--max-attempts", "x")
    equal(code, 2)
    assert "--max-attempts: " in err, err
    code, _, err = ran("run", "--forward", "0", REPRISE_MAX_ATTEMPTS="x")
    equal(code, 78)


def test_control_socket_works_with_the_admin_listener_off():
    with Controlled(admin={"bind": "off"}) as reprise:
        equal("admin" in reprise.addresses, False)
        code, out, _ = reprise.tell("status")
        equal((code, "admin" in out), (0, False))
        reprise.change(admin={"bind": "127.0.0.1:0", "control": reprise.control_path})
        equal(reprise.tell("reload")[0], 0)
        assert "admin 127.0.0.1:" in reprise.tell("status")[1]
        reprise.change(admin={"bind": "off", "control": reprise.control_path})
        equal(reprise.tell("reload")[0], 0)
        equal("admin 127.0.0.1:" in reprise.tell("status")[1], False)
    code, _, err = ran("top", "-c", "-", given="version: 1\nadmin: off\n")
    equal(code, 2)
    assert "admin is off" in err, err


def test_changed_file_is_loaded_only_by_the_reload_command_if_reload_watch_is_off():
    with Upstream({}, otherwise=[503]) as upstream, Controlled(reload={"watch": False}) as reprise:
        retry = {"max_attempts": 2, "backoff": {"initial": "5ms", "maximum": "20ms"}}
        reprise.change(defaults={"retry": retry})
        equal(reprise.tell("status")[1].count("reload      none"), 1)
        equal(reprise.tell("reload")[0], 0)
        equal(ask(reprise, "GET", upstream.url("/x")).attempts, 2)
        reprise.change(reload={"watch": True}, defaults={"retry": {**retry, "max_attempts": 3}})
        equal(reprise.tell("reload")[0], 0)
        reprise.change(defaults={"retry": {**retry, "max_attempts": 4}})
        reprise.expect_reload("success", 3)
        eventually(lambda: ask(reprise, "GET", upstream.url("/x")).attempts == 4, "the file is watched again")


def test_drain_can_be_undone():
    with Upstream({"/x": [200]}) as upstream, Controlled() as reprise:
        equal(reprise.tell("drain", "--undo"), (0, "reprise was not draining: nothing has changed\n", ""))
        equal(reprise.tell("drain")[0], 0)
        equal(reprise.admin("/readyz")[0], 503)
        equal(reprise.tell("drain", "--undo"), (0, "ready again: /readyz returns 200, and connections stay open\n", ""))
        equal(reprise.admin("/readyz")[0], 200)
        with Client(reprise.forward) as client:
            for _ in range(2):
                equal(client.ask("GET", upstream.url("/x")).field("Connection"), None)
        equal(reprise.tell("drain")[0], 0)
        equal(reprise.admin("/readyz")[0], 503, "and again")


def test_commands_find_a_running_proxy_through_variables():
    with Controlled() as reprise:
        code, out, _ = ran("status", REPRISE_CONTROL=reprise.control_path)
        equal((code, "ready" in out), (0, True))
        where = "%s:%d" % reprise.addresses["admin"]
        code, out, _ = ran("top", "--format", "json", "--count", "1", "--interval", "100ms", REPRISE_ADMIN=where)
        equal(code, 0, out)


def test_explain_uses_the_configuration_of_the_running_proxy():
    routes = [{"name": "own", "match": {"host": "a.test"}, "retry": {"max_attempts": 9}}]
    parent = "http://u:secret@127.0.0.1:9"
    with Controlled(routes=routes, parent=parent, presets=["git"]) as reprise:
        with open(reprise.config_file, encoding="utf-8") as file:
            line = 1 + file.read().split("routes:")[0].count("\n")
        where = "%s:%d" % reprise.addresses["admin"]
        for words, variables in ((("--admin", where), {}), (("--control", reprise.control_path), {}),
                                 ((), {"REPRISE_CONTROL": reprise.control_path}),
                                 ((), {"REPRISE_CONTROL": "none", "REPRISE_ADMIN": where})):
            code, out, err = ran("explain", "GET", "http://a.test/", *words, **variables)
            equal((code, err), (0, ""))
            assert f"route       own ({reprise.config_file}:{line})" in out, out
            assert f"({reprise.config_file}, hash " in out and "attempt 9" in out, out
        _, out, _ = ran("explain", "GET", "http://github.com/x/info/refs?service=git-upload-pack", "--admin", where)
        assert "route       git/rest (preset git:" in out, out
        _, out, _ = ran("explain", "GET", "http://a.test/", "--admin", where, "--max-attempts", "2")
        assert "attempts_spent after attempt 2" in out, out
        equal("secret" in reprise.admin("/config")[1], False)
        code, out, _ = ran("explain", "GET", "http://a.test/", "--format", "json", "--admin", where)
        assert json.loads(out)["settings"].startswith(f"current settings of the proxy at {where} ("), out
    _, out, _ = ran("explain", "GET", "http://a.test/", REPRISE_CONTROL="none", REPRISE_ADMIN="off")
    assert out.startswith("settings    built-in defaults\n"), out
    held, port = closed_port()
    with held:
        _, out, _ = ran("explain", "GET", "http://a.test/", REPRISE_CONTROL="none", REPRISE_ADMIN=str(port))
        assert out.startswith(f"settings    built-in defaults (no reprise responds at 127.0.0.1:{port})\n"), out
        code, out, err = ran("explain", "GET", "http://a.test/", "--admin", f"127.0.0.1:{port}")
        equal((code, out), (1, ""))
        assert "no response from the admin listener" in err, err


def test_explain_does_not_mistake_another_program_for_reprise():
    with Upstream({}, otherwise=[200]) as upstream:
        code, out, err = ran("explain", "GET", "http://a.test/", "--admin", f"127.0.0.1:{upstream.port}")
        equal((code, out), (1, ""))
        assert "does not report a configuration" in err, err
        code, out, _ = ran("explain", "GET", "http://a.test/", REPRISE_CONTROL="none", REPRISE_ADMIN=str(upstream.port))
        equal((code, out.startswith("settings    built-in defaults (no reprise responds")), (0, True))


def test_second_proxy_names_the_process_that_uses_its_port():
    with Reprise() as reprise:
        for name, flag in (("admin", "--admin"), ("forward", "--forward")):
            port = str(reprise.addresses[name][1])
            code, _, err = ran("run", *(("--forward", "0") if name == "admin" else ()), flag, port)
            equal(code, 69)
            assert f"(pid {reprise.process.pid}: {options.binary} run -c {reprise.config_file})"[:110] in err and f"{flag} PORT" in err, err


def test_configuration_endpoint_rejects_foreign_host_names():
    with Reprise() as reprise, Client(reprise.addresses["admin"]) as client:
        client.send(b"GET /config HTTP/1.1\r\nHost: evil.test\r\n\r\n")
        equal(client.read_response().status, 403)
        status, text = reprise.admin("/config")
        equal((status, text.startswith("# current configuration\n")), (200, True))
