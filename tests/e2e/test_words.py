"""Tests the texts of every command: its help, and its messages after wrong use. Also tests the output of `check` for
many files: for people, for programs, and on a terminal."""
import json
import os
import pty
import re
import select
import subprocess
import tempfile
from pathlib import Path

from control import Controlled
from harness import PATIENCE, equal, options

GOOD, WARNED = "version: 1\n", 'version: 1\nsecurity: {deny: ["self"]}\n'
BAD = "version: 1\nlimits: {haeder: 1KiB}\nthreads: many\n"


def command(*arguments, given=None):
    """Runs reprise. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, *arguments], input=given, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def outline():
    """Returns every command with its options. Takes them from the manual page, which is generated from the same
    table as --help."""
    found, name = {}, None
    for line in command("man")[1].replace("\\-", "-").splitlines():
        if line.startswith(".SS reprise "):
            name = line.removeprefix(".SS reprise ")
            found[name] = set()
        elif line.startswith(".SH"):
            name = None
        elif name and line.startswith(("\\fB-", "\\fI")):
            found[name] |= set(re.findall(r"\\fB(-[-\w]+)\\fR", line))
    return found


def test_every_command_has_an_example_with_valid_options():
    commands = outline()
    assert len(commands) > 20 and "ca init" in commands and "log level" in commands, commands
    for name, taken in commands.items():
        code, said, errors = command("help", *name.split())
        equal((code, errors), (0, ""), name)
        equal(command(*name.split(), "--help")[:2], (0, said), name)
        example = said.rstrip("\n").splitlines()[-1].strip()
        assert re.search(rf"\breprise {name}\b", example), f"{name}: {example}"
        own = re.search(rf"reprise {name}(.*?)(?: -- .*)?(?:\||\)|>|$)", example)[1]
        for option in re.findall(r"(?<=\s)--?[a-z][-\w]*", own):
            # An option in the example of a command group belongs to one of the group's subcommands.
            below = set().union(*(options_of for other, options_of in commands.items() if other.startswith(name + " ")))
            assert option in taken | below, f"{name} takes no {option}: {example}"
        assert "\033" not in said, name


def test_wrong_arguments_of_every_command_point_to_its_help():
    for name in outline():
        code, said, errors = command(*name.split(), "--no-such-option")
        equal((code, said), (2, ""), name)
        assert errors.startswith(f"reprise {name}: ") and errors.endswith(f"; see reprise help {name}\n"), errors
        assert "\033" not in errors, errors
    code, _, errors = command("help", "ca", "inti")
    equal(code, 2)
    assert '"inti" (did you mean init?)' in errors, errors


def files_in(folder, **texts):
    names = []
    for name, text in texts.items():
        file = Path(folder) / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        names.append(str(file))
    return names


def test_check_of_several_files_prints_a_line_for_each_and_a_total():
    with tempfile.TemporaryDirectory() as folder:
        good, bad, warned = files_in(folder, good=GOOD, bad=BAD, warned=WARNED)
        code, said, errors = command("check", good, bad, warned, "/nowhere/x.yaml")
        equal(code, 78)
        equal(said, f"{good}: OK (0 routes)\n{warned}: OK (0 routes)\n4 files: 2 OK, 2 with errors\n")
        lines = errors.splitlines()
        assert lines[0].startswith(f'{bad}:2:10: error: limits: unknown key "haeder" (did you mean header?)'), lines
        equal(lines[2], f"{bad}: 2 errors")
        assert lines[3].startswith(f"{warned}:2:") and ": warning: security.deny: " in lines[3], lines
        equal(lines[4:], ["/nowhere/x.yaml: error: cannot read the file: No such file or directory", "/nowhere/x.yaml: 1 error"])
        equal(command("check", "-c", good, "-c", warned)[0], 0, "as options, too")
        equal(command("check", good, "-", given=GOOD)[0], 0, "and standard input among them")


def test_check_json_matches_the_text_output():
    with tempfile.TemporaryDirectory() as folder:
        good, bad, warned = files_in(folder, good=GOOD, bad=BAD, warned=WARNED)
        code, said, errors = command("check", "--format", "json", good, bad, warned, "/nowhere/\n\"x")
        equal((code, errors), (78, ""))
        told = json.loads(said)
        equal([one["file"] for one in told], [good, bad, warned, "/nowhere/\n\"x"])
        equal([one["ok"] for one in told], [True, False, True, False])
        equal([(len(one["errors"]), len(one["warnings"])) for one in told], [(0, 0), (2, 0), (0, 1), (1, 0)])
        first = told[1]["errors"][0]
        equal((first["line"], first["column"], first["path"]), (2, 10, "limits"))
        assert first["message"].startswith('unknown key "haeder"'), first
        equal((told[3]["errors"][0]["line"], told[3]["errors"][0]["path"]), (None, None))
        equal(told[2]["warnings"][0]["path"], "security.deny")
        code, said, _ = command("check", "--format", "json", good)
        equal((code, len(json.loads(said))), (0, 1), "one file is a list of one")


def on_a_terminal(*arguments):
    """Runs a command whose standard error is a terminal of 40 columns. Returns its output on the terminal, its
    standard output, and its exit code."""
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", "40"], stdin=theirs, check=True)
    with subprocess.Popen([options.binary, *arguments], stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL) as running:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux reports an error if the other side of the terminal has been closed
                break
            if not piece:
                break
            shown += piece
        output = running.communicate(timeout=PATIENCE)[0].decode()
    os.close(ours)
    return shown.decode(), output, running.returncode


def test_check_shows_progress_on_a_terminal_and_erases_it():
    with tempfile.TemporaryDirectory() as folder:
        names = files_in(folder, **{f"file-{number}-with-a-long-name-that-would-wrap": GOOD for number in range(5)})
        shown, output, code = on_a_terminal("check", *names)
        equal(code, 0)
        lines = re.findall(r"\r\033\[K([^\r]*)", shown)
        equal([line[:8] for line in lines[::2]], [f"{number} of 5: " for number in range(1, 6)], repr(shown))
        assert all(len(line) < 40 for line in lines), lines
        equal(set(lines[1::2]), {""}, "each is taken away again")
        equal(output.splitlines()[-1], "5 files: 5 OK, 0 with errors")
        equal(on_a_terminal("check", names[0])[0], "", "one file needs no such line")
        equal(command("check", *names)[2], "", "nor has anything that is no terminal one")


def test_ca_init_shows_progress_on_a_terminal():
    with tempfile.TemporaryDirectory() as folder:
        config, = files_in(folder, intercepting="version: 1\nintercept: {hosts: [api.example.com], ca: {certificate: %s/ca.pem, key: %s/ca.key}, bundle: %s/b.pem}\n"
                           % (folder, folder, folder))
        shown, output, code = on_a_terminal("ca", "init", "-c", config)
        equal(code, 0, shown)
        for number, begins in ((1, "creating the key"), (2, "writing the certificate"), (3, "writing the files")):
            assert f"{number} of 3: {begins}" in shown, repr(shown)
        assert "sha256" in output and "\033" not in output, output
        code, said, errors = command("ca", "show", "--format", "json", "-c", config)
        equal((code, errors), (0, ""))
        told = json.loads(said)
        equal((told["certificate"], told["hosts"], told["bundle"]), (f"{folder}/ca.pem", ["api.example.com"], f"{folder}/b.pem"))
        assert told["sha256"] in output and told["expires"] > 0, (told, output)


def test_control_commands_support_json_output():
    with Controlled() as reprise:
        for words in (("reload",), ("log", "level", "info"), ("pause", "a.test:80", "5"), ("drain",)):
            code, said, errors = reprise.tell(*words, "--format", "json")
            equal((code, errors), (0, ""), words)
            told = json.loads(said)
            equal(told["ok"], True, words)
            assert told["message"], told
        code, said, _ = reprise.tell("pause", "a.test", "5", "--format", "json")
        equal((code, json.loads(said)["ok"]), (1, False))
        equal(json.loads(reprise.tell("status", "--format", "json")[1])["ready"], True)
        code, said, _ = reprise.tell("status", "--format", "json", control=reprise.control_path + "x")
        equal((code, json.loads(said)["ok"]), (1, False))
    told = json.loads(command("reasons", "--format", "json")[1])
    equal({one["reason"]: one["retry"] for one in told}["stale_connection"], True)
    equal({one["reason"]: one["retry"] for one in told}["not_idempotent"], False)
