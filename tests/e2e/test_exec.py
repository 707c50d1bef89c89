"""Tests `reprise exec -- command` (a proxy for one command: environment, signals, terminal, end) and `reprise env`."""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import LOOPBACK, NotPlayed, PATIENCE, equal, eventually, needs, options, without_proxies
from upstream import Upstream

# A program that runs under `reprise exec`. It prints a line when it is ready, then one word for each signal.
# A SIGTERM ends the program with code 5. The program blocks the signals and waits for them with sigwait: with
# handlers and pause(), a signal that arrives just before pause() would not end the pause.
LISTENER = """
import os, signal
def say(word): os.write(1, (word + '\\n').encode())
signals = {signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
say('listening')
while (got := signal.sigwait(signals)) != signal.SIGTERM: say(got.name[3:])
say('TERM')
os._exit(5)
"""
METADATA = ("169.254.169.254,169.254.170.2,169.254.170.23,fd00:ec2::254,100.100.100.200,192.0.0.192,"
            "metadata.google.internal")
VARIABLES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ws_proxy", "WS_PROXY", "wss_proxy", "WSS_PROXY")


def clean(**more):
    environment = without_proxies()
    environment.pop("JAVA_TOOL_OPTIONS", None)
    return {**environment, **more}


def ran(*arguments, environment=None, given=None):
    """Runs reprise. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, *arguments], env=environment or clean(), input=given, capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def seen_by_child(**environment):
    """Returns the environment of a child of exec."""
    _, out, _ = ran("exec", "--quiet", "--", "env", "-0", environment=clean(**environment))
    return dict(entry.split("=", 1) for entry in out.split("\0") if entry)


def test_exec_retries_requests_of_a_command_and_prints_a_summary():
    with Upstream({"/x": [503, 503, 200], "/y": [503], "/z": [200]}) as upstream, tempfile.TemporaryDirectory() as folder:
        script = f"curl -s {upstream.url('/x')}; curl -s -d once {upstream.url('/y')}; curl -s {upstream.url('/z')}"
        code, out, err = ran("exec", "--report", f"{folder}/report", "--log", f"{folder}/log", "--", "sh", "-c", script)
        equal((code, out), (0, "answer 3 to /x\nanswer 1 to /y\nanswer 1 to /z\n"))
        equal(err, "reprise: 3 requests, 1 retried, 1 recovered, 1 given up: not_idempotent\n")
        with open(f"{folder}/report", encoding="utf-8") as file:
            equal(json.load(file), {"requests": 3, "retried": 1, "recovered": 1, "given_up": 1, "reasons": {"not_idempotent": 1},
                                    "tunnels": 0, "unread_tunnels": {}, "exit_code": 0})
        with open(f"{folder}/log", encoding="utf-8") as file:
            equal([json.loads(line)["path"] for line in file if '"attempts"' in line], ["/x", "/y", "/z"])


def test_exec_exits_with_the_exit_code_of_the_command():
    summary = "reprise: 0 requests, 0 retried, 0 recovered\n"
    for words, expected in ((("true",), (0, "", summary)), (("sh", "-c", "exit 7"), (7, "", summary)),
                            (("sh", "-c", "kill -9 $$"), (128 + 9, "", summary)),
                            (("sh", "-c", "kill -TERM $$"), (128 + 15, "", summary)),
                            (("no-such-program",), (127, "", "reprise exec: no-such-program cannot be run: No such file or directory\n")),
                            (("/etc/passwd",), (126, "", "reprise exec: /etc/passwd cannot be run: Permission denied\n"))):
        equal(ran("exec", "--", *words), expected, " ".join(words))
    equal(ran("exec", "--quiet", "--", "sh", "-c", "echo in; echo err >&2; exit 3"), (3, "in\n", "err\n"))
    equal(ran("exec", "--quiet", "--", "cat", given="through\n"), (0, "through\n", ""))
    equal(ran("exec", "--quiet", "--", "printf", "%s,", "--quiet", "--", "-c"), (0, "--quiet,--,-c,", ""), "all of it is the command's")


def test_exec_command_inherits_no_file_descriptors_of_the_proxy():
    folder = tempfile.mkdtemp(prefix="exec-")
    try:
        report, log = os.path.join(folder, "report.json"), os.path.join(folder, "log")
        done = subprocess.run([options.binary, "exec", "--quiet", "--report", report, "--log", log, "--", "sh", "-c", "ls -l /proc/$$/fd"],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        equal([line for line in done.stdout.splitlines() if folder in line or "socket:" in line], [])
        equal(json.loads(Path(report).read_text(encoding="utf-8"))["requests"], 0)
    finally:
        shutil.rmtree(folder)


def test_help_of_exec_names_its_own_default_of_the_admin_listener():
    for command, default in (("exec", "a free port"), ("run", "127.0.0.1:3129")):
        done = subprocess.run([options.binary, "help", command], capture_output=True, text=True, check=False)
        assert f"off (default {default});" in " ".join(done.stdout.split()), done.stdout


def test_exec_with_wrong_arguments_runs_no_command():
    missing = "reprise exec: a command is missing: write reprise exec [options] -- command args\n"
    equal(ran("exec"), (2, "", missing))
    equal(ran("exec", "--"), (2, "", missing))
    equal(ran("exec", "true"), (2, "", "reprise exec: write -- before the command: reprise exec [options] -- true; see reprise help exec\n"))
    equal(ran("exec", "--report", "/nowhere/report", "--", "true"), (2, "", "reprise exec: /nowhere/report cannot be written: name a file in an existing folder\n"))
    equal(ran("exec", "-c", "/nowhere/file", "--", "true")[0], 78)


def test_exec_exits_when_its_direct_child_exits():
    code, _, err = ran("exec", "--", "sh", "-c", "sleep 300 >/dev/null 2>&1 & exit 3")
    equal((code, err.count("\n")), (3, 1))


def test_N14_exec_as_process_1_reaps_orphans():
    """Starts orphans: processes whose parent shell has ended. The command then waits until no process is a
    zombie, so it hangs if exec does not reap the orphans."""
    command = ("for i in 1 2 3; do sh -c 'true & exit 0'; done; "
               "while grep -l '^State:.Z' /proc/[0-9]*/status >/dev/null 2>&1; do :; done; echo none")
    done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", options.binary, "exec", "--quiet", "--", "sh", "-c", command],
                          capture_output=True, text=True, timeout=PATIENCE, check=False, env=without_proxies())
    if "unshare" in done.stderr:
        raise NotPlayed("namespaces", done.stderr)
    equal((done.returncode, done.stdout), (0, "none\n"), done.stderr)


def test_N20_exec_sets_every_spelling_of_proxy_variables_and_keeps_existing_values():
    seen = seen_by_child()
    equal(len({seen[name] for name in VARIABLES}), 1)
    assert seen["http_proxy"].startswith(f"http://{LOOPBACK}:"), seen["http_proxy"]
    port = seen["http_proxy"].rsplit(":", 1)[1]
    equal((seen["no_proxy"], seen["NO_PROXY"], seen["NODE_USE_ENV_PROXY"]), (METADATA, METADATA, "1"))
    equal(("all_proxy" in seen, "ALL_PROXY" in seen), (False, False), "FTP and the like go where they went")
    equal(seen["JAVA_TOOL_OPTIONS"], f"-Dhttp.proxyHost={LOOPBACK} -Dhttp.proxyPort={port} -Dhttps.proxyHost={LOOPBACK} "
                                     f"-Dhttps.proxyPort={port} -Dhttp.nonProxyHosts={METADATA.replace(',', '|')}")
    seen = seen_by_child(no_proxy="a.test, .b.test", NO_PROXY=".b.test,c.test", JAVA_TOOL_OPTIONS="-Xmx1g", HTTP_PROXY="http://other:1")
    equal((seen["no_proxy"], seen["NO_PROXY"]), (f"a.test,.b.test,c.test,{METADATA}",) * 2)
    equal(len({seen[name] for name in VARIABLES}), 1, "another proxy's are replaced")
    assert seen["JAVA_TOOL_OPTIONS"].startswith("-Xmx1g -Dhttp.proxyHost="), seen
    assert seen["JAVA_TOOL_OPTIONS"].endswith(f" -Dhttp.nonProxyHosts=a.test|*.b.test|c.test|{METADATA.replace(',', '|')}"), seen


def test_exec_applies_the_policy_of_a_file_and_ignores_its_listeners():
    with Upstream({"/x": [503, 200]}) as upstream, tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\ndefaults: {retry: {max_attempts: 1}}\nlisteners: [{bind: 127.0.0.1:1}]\n")
        file.flush()
        code, out, err = ran("exec", "-c", file.name, "--", "curl", "-s", upstream.url("/x"))
        equal((code, out), (0, "answer 1 to /x\n"))
        equal(err, "reprise: 1 requests, 0 retried, 0 recovered, 1 given up: attempts_spent\n")


def test_exec_logs_warnings_and_reports_an_unwritable_report_file():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/reprise.yaml", "w", encoding="utf-8") as file:
            file.write("version: 1\nsecurity: {deny: [self]}\n")
        code, _, err = ran("exec", "-c", f"{folder}/reprise.yaml", "--log", f"{folder}/log", "--", "true")
        equal((code, err), (0, "reprise: 0 requests, 0 retried, 0 recovered\n"), "one line, and no other")
        with open(f"{folder}/log", encoding="utf-8") as file:
            assert "security.deny: this list replaces the default list" in file.readline()
    equal(ran("exec", "--quiet", "--report", "/dev/full", "--", "true"), (0, "", "reprise exec: /dev/full cannot be written\n"))


def test_exec_forwards_each_signal_to_the_command_once():
    process = subprocess.Popen([options.binary, "exec", "--quiet", "--", sys.executable, "-c", LISTENER], env=clean(),
                               stdout=subprocess.PIPE, text=True)
    with process:
        equal(process.stdout.readline(), "listening\n")
        for name in ("INT", "USR1", "HUP"):
            process.send_signal(getattr(signal, "SIG" + name))
            equal(process.stdout.readline(), name + "\n")
        process.send_signal(signal.SIGTERM)
        equal((process.stdout.read(), process.wait(PATIENCE)), ("TERM\n", 5))


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_exec_stops_and_continues_together_with_its_command():
    # exec runs in its own process group here. A test run without a terminal is in an orphaned process group,
    # which the kernel does not stop on SIGTSTP.
    process = subprocess.Popen([options.binary, "exec", "--quiet", "--", sys.executable, "-c", LISTENER], env=clean(),
                               stdout=subprocess.PIPE, text=True, process_group=0)
    with process:
        equal(process.stdout.readline(), "listening\n")
        process.send_signal(signal.SIGTSTP)
        eventually(lambda: state_of(process.pid) == "T", "exec is stopped with its child")
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        equal((process.stdout.read(), process.wait(PATIENCE)), ("TERM\n", 5))


def test_exec_command_gets_an_interrupt_from_the_terminal_exactly_once():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(options.binary, [options.binary, "exec", "--quiet", "--", sys.executable, "-c", LISTENER], clean())
    said = b""

    def until(words):
        nonlocal said
        while words not in said:
            assert select.select([terminal], [], [], PATIENCE)[0], f"{words} in {said}"
            said += os.read(terminal, 4096)

    try:
        until(b"listening")
        os.write(terminal, b"\x03")
        until(b"INT\r\n")
        os.kill(pid, signal.SIGTERM)
        until(b"TERM\r\n")
        equal(said.count(b"INT\r\n"), 1, "from the terminal, and not once more from exec")
    finally:
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
    equal(os.waitstatus_to_exitcode(status), 5)


def test_N20_env_output_is_valid_in_every_format():
    environment = clean(no_proxy="it's.test")
    code, out, err = ran("env", environment=environment)
    equal((code, err), (0, ""))
    shown = subprocess.run(["bash", "-c", out + "env -0"], env=clean(), capture_output=True, text=True, check=True).stdout
    seen = dict(entry.split("=", 1) for entry in shown.split("\0") if entry)
    equal({seen[name] for name in VARIABLES}, {"http://127.0.0.1:3128"})
    equal((seen["no_proxy"], seen["NO_PROXY"]), (f"it's.test,{METADATA}",) * 2)
    for form, line in (("fish", f"set -gx no_proxy 'it\\'s.test,{METADATA}';\n"), ("dotenv", f'no_proxy="it\'s.test,{METADATA}"\n'),
                       ("systemd", f'Environment="no_proxy=it\'s.test,{METADATA}"\n'), ("kubernetes", f'- {{name: no_proxy, value: "it\'s.test,{METADATA}"}}\n')):
        out = ran("env", "--format", form, environment=environment)[1]
        assert line in out and out.count("\n") == len(VARIABLES) + 4 + (form == "systemd"), out
        equal(out.startswith("[Service]\n"), form == "systemd", "a drop-in without its section says nothing")


def test_env_unset_removes_what_env_has_set():
    before = clean(no_proxy="it's.test,b.test", JAVA_TOOL_OPTIONS="-Xmx1g", SSL_CERT_FILE="/etc/own.pem")
    for kept in (before, clean()):
        script = 'eval "$("$0" env)"; eval "$("$0" env)"; env -0; echo; eval "$("$0" env --unset)"; env -0'
        done = subprocess.run(["bash", "-euc", script, options.binary], env=kept, capture_output=True, text=True, check=True)
        there, after = (dict(entry.split("=", 1) for entry in part.split("\0") if entry) for part in done.stdout.split("\0\n"))
        equal(there["http_proxy"], "http://127.0.0.1:3128")
        equal(sorted(set(there) - set(after) - set(kept)),
              sorted((*VARIABLES, "NODE_USE_ENV_PROXY", *(() if "no_proxy" in kept else ("no_proxy", "NO_PROXY", "JAVA_TOOL_OPTIONS")))))
        for name in kept:
            equal(after.get(name), kept[name] if name not in ("_", "SHLVL") else after.get(name), name)
        equal(after.get("NO_PROXY"), kept.get("no_proxy"))


def test_fish_accepts_the_output_of_env_and_env_unset():
    needs("fish")
    script = '$REPRISE env --format fish | source; env -0; echo; $REPRISE env --unset --format fish | source; env -0'
    environment = clean(REPRISE=options.binary, no_proxy="it's.test")
    done = subprocess.run(["fish", "--no-config", "-c", script], env=environment, capture_output=True, text=True, check=True)
    there, after = (dict(entry.split("=", 1) for entry in part.split("\0") if entry) for part in done.stdout.split("\0\n"))
    equal((there["https_proxy"], there["NO_PROXY"]), ("http://127.0.0.1:3128", f"it's.test,{METADATA}"), done.stderr)
    equal((sorted(set(there) - set(after)), done.stderr), (sorted((*VARIABLES, "NODE_USE_ENV_PROXY", "JAVA_TOOL_OPTIONS")), ""))
    equal((after["no_proxy"], after["NO_PROXY"]), ("it's.test",) * 2)


def test_env_unset_supports_every_format():
    own = ran("env")[1]
    code, out, err = ran("env", "--unset", environment=clean(JAVA_TOOL_OPTIONS="-Dother=1"))
    equal((code, err), (0, ""))
    equal("JAVA_TOOL_OPTIONS" in out, False, "it holds nothing of ours")
    equal(out, "".join(f"unset {name}\n" for name in (*VARIABLES, "no_proxy", "NO_PROXY", "NODE_USE_ENV_PROXY")))
    options_of_java = own.split("JAVA_TOOL_OPTIONS='", 1)[1].split("'", 1)[0]
    out = ran("env", "--unset", "--format", "fish", environment=clean(NO_PROXY=f"a.test,{METADATA}", JAVA_TOOL_OPTIONS=f"-Xmx1g {options_of_java} -Xms1m"))[1]
    equal(out, "".join(f"set -eg {name};\n" for name in VARIABLES) + "set -gx no_proxy 'a.test';\nset -gx NO_PROXY 'a.test';\n"
               "set -eg NODE_USE_ENV_PROXY;\nset -gx JAVA_TOOL_OPTIONS '-Xmx1g -Xms1m';\n")
    for form, head, removed, kept in (("dotenv", "", "{}=\n", 'no_proxy="a.test"\nNO_PROXY="a.test"\n'),
                                      ("systemd", "[Service]\n", "UnsetEnvironment={}\n",
                                       'Environment="no_proxy=a.test"\nEnvironment="NO_PROXY=a.test"\n'),
                                      ("kubernetes", "", "- {{name: {}, $patch: delete}}\n",
                                       '- {name: no_proxy, value: "a.test"}\n- {name: NO_PROXY, value: "a.test"}\n')):
        code, out, err = ran("env", "--unset", "--format", form, environment=clean(NO_PROXY=f"a.test,{METADATA}"))
        equal((code, err), (0, ""))
        equal(out, head + "".join(removed.format(name) for name in VARIABLES) + kept + removed.format("NODE_USE_ENV_PROXY"))


def test_env_derives_the_proxy_address_from_the_configuration():
    with tempfile.TemporaryDirectory() as folder:
        def of(listeners):
            with open(f"{folder}/reprise.yaml", "w", encoding="utf-8") as file:
                file.write(f"version: 1\nlisteners: {listeners}\n")
            code, out, err = ran("env", "-c", f"{folder}/reprise.yaml")
            return code, out.split("\n", 1)[0], err
        equal(of("[{bind: '[::1]:4000'}]"), (0, "export http_proxy='http://[::1]:4000'", ""))
        equal(of("[{bind: 0.0.0.0:4000, allow_remote: true}]"), (0, "export http_proxy='http://127.0.0.1:4000'", ""))
        code, _, err = of("[{mode: gateway, bind: 127.0.0.1:4000, upstream: http://h}]")
        assert code == 2 and "no listener has mode forward" in err, err
        code, _, err = of("[{bind: 127.0.0.1:0}]")
        assert code == 2 and "port 0" in err, err
