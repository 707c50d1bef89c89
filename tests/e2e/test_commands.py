"""Tests what a new user types first: versions, help, unknown commands, files as arguments and on standard input."""
import json
import os
import re
import subprocess
import tempfile

from client import Client, ask, head_of
from harness import Reprise, equal, needs, options
from tls import authority
from upstream import Upstream


def command(*arguments, given=None):
    """Runs reprise. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, *arguments], input=given, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_version_is_both_a_command_and_an_option():
    code, out, err = command("version")
    equal((code, err), (0, ""))
    assert out.startswith("reprise ")
    equal(command("--version"), (0, out, ""))


def test_help_lists_all_commands_and_describes_each_command():
    code, out, err = command("help")
    equal((code, err), (0, ""))
    for name in ("run", "check", "explain", "config", "demo", "help", "version"):
        assert f"\n  {name} " in out, out
    equal(command("--help"), (0, out, ""))
    code, out, err = command("help", "check")
    equal((code, err), (0, ""))
    assert "report every problem in configuration files" in out and "--config" in out, out


def test_unknown_command_is_rejected_with_a_suggestion():
    code, out, err = command("exlpain", "GET", "http://h/")
    equal((code, out), (2, ""))
    assert err.startswith('reprise: unknown command "exlpain" (did you mean explain?); the commands are: run exec env ca redirect inject reload status drain quit log pause top check'), err
    code, _, err = command("help", "chekc")
    equal(code, 2)
    assert '"chekc" (did you mean check?)' in err, err
    code, _, err = command("zzz")
    equal((code, "did you mean" in err), (2, False))


def test_command_names_of_other_programs_get_a_suggestion():
    for word, meant in (("serve", "run"), ("start", "run"), ("validate", "check"), ("stop", "quit"), ("restart", "reload"),
                        ("metrics", "top"), ("wrap", "exec"), ("init", "ca init"), ("reprise.yaml", "run reprise.yaml")):
        code, out, err = command(word)
        equal((code, out), (2, ""))
        assert err.startswith(f'reprise: unknown command "{word}" (did you mean {meant}?); '), err


def test_check_reports_warnings_and_treats_them_as_errors_if_strict_is_given():
    post = "version: 1\nroutes: [{name: r, match: {host: h, methods: [POST]}, retry: {max_attempts: 8}}]\n"
    code, out, err = command("check", "-", given=post)
    equal((code, out), (0, "-: OK (1 route)\n"))
    assert err.startswith("-:2:77: warning: routes[0].retry.max_attempts: POST is not idempotent by its method"), err
    equal(err.count("\n"), 1)
    code, out, err = command("check", "--strict", "-", given=post)
    equal((code, out), (78, ""))
    assert err.endswith("\n-: 1 warning, which --strict treats as errors\n"), err
    code, out, _ = command("check", "--strict", "--format", "json", "-", given=post)
    equal((code, '"ok":false' in out), (78, True))
    equal(command("check", "--strict", "-", given="version: 1\n"), (0, "-: OK (0 routes)\n", ""))


def test_check_reads_a_configuration_from_standard_input():
    equal(command("check", "-", given="version: 1\n"), (0, "-: OK (0 routes)\n", ""))
    code, out, err = command("check", "-", given="version: 1\nlimits: {haeder: 1KiB}\n")
    equal((code, out), (78, ""))
    assert err.startswith('-:2:10: error: limits: unknown key "haeder" (did you mean header?)'), err


def test_run_takes_the_configuration_file_as_an_argument():
    code, out, err = command("run", "/nowhere/reprise.yaml")
    equal((code, out), (78, ""))
    assert err.startswith("/nowhere/reprise.yaml:"), err


def test_unknown_arguments_are_reported_as_typed():
    failures = re.search(r"--failure WORD:\{([^}]+)\}", command("explain", "--help")[1]).group(1).replace(",", ", ")
    for arguments, told in (
            (("run", "a", "b", "c"), 'reprise run: "b", "c" are not understood; see reprise help run\n'),
            (("ca", "shwo"), 'reprise ca: "shwo" is not understood (did you mean show?); see reprise help ca\n'),
            (("ca",), "reprise ca: a subcommand is missing; the subcommands are: init show renew; see reprise help ca\n"),
            (("ca", "init", "--fromat", "json"), 'reprise ca init: "--fromat" is not understood (did you mean --format?); see reprise help ca init\n'),
            (("check", "-", "-"), "reprise check: - is given twice: standard input can be read only once; see reprise help check\n"),
            (("explain", "--hedaer", "x", "GET", "http://h/", "more"),
             'reprise explain: "--hedaer", "http://h/", "more" are not understood (did you mean --header?); see reprise help explain\n'),
            (("run", "--cofnig", "x"), 'reprise run: "--cofnig" is not understood (did you mean --config?); see reprise help run\n'),
            (("explain", "GET"), "reprise explain: url is missing; see reprise help explain\n"),
            (("check", "-c"), "reprise check: --config needs a value; see reprise help check\n"),
            (("explain", "GET", "http://h/", "--status", "abc"),
             'reprise explain: "abc" is not a valid value for --status; see reprise help explain\n'),
            (("run", "--forward", "1", "x.yaml"),
             "reprise run: --config and --forward cannot be combined; see reprise help run\n"),
            (("--verbose",), 'reprise: "--verbose" is not understood; see reprise help\n'),
            (("-c", "x.yaml"), "reprise: a command is missing (did you mean run -c x.yaml?); see reprise help\n"),
            (("-t",), "reprise: a command is missing (did you mean check -c FILE?); see reprise help\n"),
            (("-v",), 'reprise: "-v" is not understood (did you mean --version?); see reprise help\n'),
            (("exec", "--quiet", "curl", "-s", "http://h/"),
             "reprise exec: write -- before the command: reprise exec [options] -- curl -s http://h/; see reprise help exec\n"),
            (("explain", "http://h/"), "reprise explain: the method is missing (did you mean reprise explain GET http://h/?)\n"),
            (("explain", "GET", "h/x"), "reprise explain: h/x: The request target must be an http or https URI (did you mean http://h/x?)\n"),
            (("explain", "GET", "http://h/", "-H", "A: 1"),
             'reprise explain: "-H", "A: 1" are not understood (did you mean --header?); see reprise help explain\n'),
            (("explain", "GET", "http://h/", "--failure", "conn-failure"), "reprise explain: unknown failure conn-failure (did you mean "
                                                                           f"connect?); the failures are {failures}\n"),
            (("run", "--retries", "3"), 'reprise run: "--retries" is not understood (did you mean --max-attempts?); see reprise help run\n'),
            (("run", "--port=3128"), 'reprise run: "--port=3128" is not understood (did you mean --forward?); see reprise help run\n'),
            (("env", "--format", "bash"), 'reprise env: "bash" is not a valid value for --format: write sh, fish, dotenv, systemd or kubernetes (did you '
                                          'mean sh?); see reprise help env\n'),
            (("log", "level", "warning"), 'reprise log level: "warning" is not a valid value for level: write error, warn, info or debug (did you mean '
                                          'warn?); see reprise help log level\n'),
            (("log", "debug"), 'reprise log: "debug" is not understood (did you mean level?); see reprise help log\n'),
            (("ca", "create"), 'reprise ca: "create" is not understood (did you mean init?); see reprise help ca\n'),
            (("simulate", "--policy", "no-jiter"), 'reprise simulate: --policy: unknown policy "no-jiter": write none, immediate, '
                                                   'no-jitter, no-budget, config, or a configuration file (did you mean no-jitter?)\n'),
            (("exec", "--intercept", "https://h.test/x", "--", "true"),
             "reprise exec: --intercept https://h.test/x is a URL: write only the host name (did you mean h.test?)\n"),
            (("config",), "reprise config: name what to print: --effective, --preset NAME, --reference or --schema; see reprise help config\n"),
            (("config", "--preset", "s3"), "reprise config: unknown preset s3 (did you mean aws?); the presets are: aws consul gcs "
                                           "gcs-metadata git google-grpc grpc gsutil health llm memorystore oci vault\n"),
            ((), "reprise: a command is missing; see reprise help\n")):
        equal(command(*arguments), (2, "", told), " ".join(arguments))


def test_invalid_listener_options_are_rejected_with_the_correct_form():
    for arguments, told in (
            (("--gateway", "3180"), "--gateway 3180: write --gateway PORT=URL, such as --gateway 3180=https://api.example.com"),
            (("--gateway", "3180="), "--gateway 3180=: write --gateway PORT=URL, such as --gateway 3180=https://api.example.com"),
            (("--gateway", "0=ftp://h"), '--gateway 0=ftp://h: "ftp://h" is not an upstream URL: write http://host, '
                                         "https://host:8443 or http://host/prefix"),
            (("--forward", "65536"), "--forward 65536: write --forward PORT, such as --forward 3128"),
            (("--forward", "3129"), "--forward 3129: binds the same address and port as admin.bind (its default): choose another port")):
        equal(command("run", *arguments), (2, "", f"reprise run: {told}\n"), " ".join(arguments))


class FromTheCommandLine(Reprise):
    """A reprise that starts without a configuration file."""

    def __init__(self, *arguments):
        super().__init__()
        self.arguments = arguments

    def command(self):
        return [options.binary, "run", *self.arguments]


def test_gateway_and_forward_proxy_run_without_a_configuration_file():
    with Upstream({"/base/x": ["close", 200]}) as upstream:
        with FromTheCommandLine("--admin", "0", "--gateway", f"0={upstream.url('/base')}", "--forward", "0") as reprise:
            with Client(reprise.gateway) as client:
                client.send(head_of("GET", "/x", "whoever"))
                response = client.read_response()
                equal((response.status, response.attempts), (200, 2))
            equal(ask(reprise, "GET", upstream.url("/y")).status, 200)


def test_startup_warnings_are_log_lines():
    with Reprise(security={"deny": ["self"]}) as reprise:
        lines = reprise.log()
        equal([line["level"] for line in lines[:2]], ["warn", "info"])
        assert "security.deny: this list replaces the default list" in lines[0]["message"], lines
        assert lines[0]["message"].startswith(reprise.config_file + ":"), lines


def test_check_validates_the_files_named_in_a_configuration():
    with tempfile.TemporaryDirectory() as folder:
        names = {name: f"{folder}/{name}.pem" for name in ("certificate", "key", "other", "locked", "junk", "missing")}
        issued = authority().issue()
        names["certificate"], names["key"] = issued[0], issued[1]
        names["other"] = authority().issue()[1]
        subprocess.run(["openssl", "pkey", "-in", names["key"], "-aes256", "-passout", "pass:x", "-out", names["locked"]], check=True)
        with open(names["junk"], "w", encoding="ascii") as file:
            file.write("junk\n")
        for tls, told in (
                (("certificate", "key"), None),
                (("certificate", "other"), f"it does not belong to the certificate {names['certificate']}: use the private key for which that certificate was issued"),
                (("certificate", "locked"), "the key is encrypted: write its passphrase in tls.key_passphrase"),
                (("certificate", "junk"), "it contains no private key: the file must be PEM, with a line -----BEGIN PRIVATE KEY-----"),
                (("certificate", "missing"), "No such file or directory"),
                (("junk", "key"), "it contains no certificate: the file must be PEM"),
                (("key", "key"), "this file contains a private key")):
            text = "version: 1\ndefaults: {tls: {certificate: %s, key: %s}}\n" % tuple(names[name] for name in tls)
            code, _, err = command("check", "-", given=text)
            equal(code, 0 if told is None else 78, err)
            assert told is None or (re.match(r"-:2:\d+: error: defaults\.tls\.(certificate|key): /", err) and told in err), (told, err)
            assert "routines" not in err and "error:0" not in err, err
        for value, told in ((folder, "it is a folder"), (names["junk"], "it contains no certificate"), (names["missing"], "No such")):
            code, _, err = command("check", "-", given="version: 1\ndefaults: {tls: {ca_file: %s}}\n" % value)
            assert code == 78 and err.startswith(f"-:2:27: error: defaults.tls.ca_file: {value} cannot be used: {told}"), err
        folder_of = "version: 1\nlimits: {replay_folder: /nowhere%s}\n"
        equal(command("check", "-", given=folder_of % ""),
              (78, "", "-:2:25: error: limits.replay_folder: /nowhere cannot be used: No such file or directory; name a folder that reprise may write to\n"
               "-: 1 error\n"))
        equal(command("check", "-", given=folder_of % ", replay_disk: 0")[0], 0)


def test_check_reports_every_unusable_file_with_the_position_of_its_key_in_one_run():
    text = """version: 1
parent: {url: "https://proxy.test:3129", ca_file: /nowhere/parent.pem}
defaults:
  tls:
    ca_file: /nowhere/ca.pem
routes:
  - name: own
    match: {host: own.test}
    tls: {certificate: /nowhere/client.pem, key: /nowhere/client.key}
intercept:
  hosts: [api.test]
  ca: {certificate: /nowhere/authority.pem, key: /nowhere/authority.key}
limits: {replay_folder: /nowhere}
"""
    places = [
        "2:51: error: parent.ca_file: /nowhere/parent.pem",
        "5:14: error: defaults.tls.ca_file: /nowhere/ca.pem",
        "9:24: error: routes[0].tls.certificate: /nowhere/client.pem",
        "9:50: error: routes[0].tls.key: /nowhere/client.key",
        "12:21: error: intercept.ca.certificate: /nowhere/authority.pem",
        "12:50: error: intercept.ca.key: /nowhere/authority.key",
        "13:25: error: limits.replay_folder: /nowhere",
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        for words in (("check", file.name), ("run", file.name), ("exec", "-c", file.name, "--", "true")):
            code, _, err = command(*words)
            lines = [line for line in err.splitlines() if " error: " in line]
            equal((code, [line.split(" cannot be ")[0] for line in lines]), (78, [f"{file.name}:{place}" for place in places]), err)


def test_manual_pages_have_every_section_and_groff_reports_no_warning():
    sections = {"reprise": ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SIGNALS", "SEE ALSO"],
                "reprise.yaml": ["NAME", "SYNOPSIS", "DESCRIPTION", "FILES", "SEE ALSO"]}
    needs("man", "groff")
    for page, wanted in sections.items():
        code, text, err = command("man", page)
        equal((code, err), (0, ""))
        found = re.findall(r"^\.SH (.*)$", text, re.M)
        equal([title for title in found if title in wanted], wanted, page)
        with tempfile.NamedTemporaryFile("w", suffix=".page", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", file.name], env={**os.environ, "MANWIDTH": "100", "MANROFFOPT": ""},
                                   capture_output=True, text=True, check=False)
            equal((shown.returncode, shown.stderr), (0, ""), f"man --warnings of {page}")
            strict = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", file.name], capture_output=True, text=True, check=False)
            equal((strict.returncode, strict.stderr), (0, ""), f"groff -ww of {page}")
        # The whole text is shown: roff has taken no line of text for a roff request, and no Markdown markup is left.
        assert not re.search(r"\*\*\w[^*]*\*\*|\]\(", shown.stdout), page
    equal(command("man"), command("man", "reprise"))
    equal(command("man", "nothing")[0], 2)


def test_manual_pages_list_every_configuration_key_and_every_command():
    page = command("man", "reprise.yaml")[1].replace("\\-", "-")
    keys = re.findall(r"^\| `([^`]+)` \|.*\| `?.*\| .* \|$", command("config", "--reference")[1], re.M)
    assert len(keys) > 100, keys
    for key in keys:
        assert f"\\fB{key}\\fR" in page, key
    page = command("man")[1].replace("\\-", "-")
    for name in ("run", "exec", "log-format", "man", "ca init"):
        assert f".SS reprise {name}\n" in page, name
    for name in ("OTEL_SERVICE_NAME", "JOURNAL_STREAM", "SIGHUP", "/etc/reprise/reprise.yaml", "78"):
        assert name in page, name


def test_log_format_command_lists_the_json_and_opentelemetry_name_of_each_field():
    code, out, err = command("log-format")
    equal((code, err), (0, ""))
    assert "| `status` | `http.response.status_code` | integer |  |" in out, out
    code, text, err = command("log-format", "--format", "json")
    equal((code, err), (0, ""))
    rows = json.loads(text)
    equal(len(rows), sum(1 for line in out.splitlines() if line.startswith("| ") and "`json`" not in line))
    equal({row["otel_unit"] for row in rows if row["otel"] == "http.server.request.duration"}, {"s"})


def test_access_log_line_uses_opentelemetry_names():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise(log={"format": "otel"}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x?secret=1"), fields=[("X-Request-Id", "abc")]).status, 200)
        reprise.expect_log("http.request.method")
        line = next(line for line in reprise.log() if "http.request.method" in line)
        known = {row["otel"]: row for row in json.loads(command("log-format", "--format", "json")[1])}
        equal(set(line) - set(known), set(), "every name is in the table")
        wanted = {"http.request.method": "GET", "server.address": "127.0.0.1", "server.port": upstream.port, "url.path": "/x", "url.scheme": "http",
                  "http.response.status_code": 200, "client.address": "127.0.0.1", "reprise.attempts": 2, "reprise.reason": "success",
                  "http.request.id": "abc", "log.level": "info"}
        equal({name: line.get(name) for name in wanted}, wanted)
        first, second = line["reprise.attempt_list"]
        equal((first["http.response.status_code"], second["http.request.resend_count"]), (503, 1))
        equal((first["network.peer.address"], first["network.peer.port"]), ("127.0.0.1", upstream.port))
        assert 0 < line["http.server.request.duration"] < 3600, "in seconds"
        messages = [each for each in reprise.log() if "message" in each]
        assert messages and all(set(each) == {"@timestamp", "log.level", "message"} for each in messages), messages
