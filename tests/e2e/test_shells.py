"""Compares shell completions and man pages with --help. Completions and man pages must have every command, every
option, and an example."""
import re
import subprocess
import tempfile

from harness import PATIENCE, equal, needs, options


def printed(*arguments):
    done = subprocess.run([options.binary, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
    equal((done.returncode, done.stderr), (0, ""), arguments)
    return done.stdout


def below(*command):
    """Returns the subcommands that --help of `command` lists."""
    listed = printed(*command, "--help").partition("Subcommands:\n")[2]
    return re.findall(r"^  ([\w-]+)", listed, re.M)


def commands():
    for first in below():
        yield (first,)
        yield from ((first, second) for second in below(first))


def options_of(command):
    names = re.findall(r"^  (-\S+)", printed(*command, "--help").partition("Options:\n")[2], re.M)
    return {name for both in names for name in both.split(",") if name.startswith("-")}


def asked(shell, script):
    needs(shell)
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    equal((done.returncode, done.stderr), (0, ""), done.stdout[-300:])
    return done.stdout.split()


def test_every_help_text_contains_an_example():
    for command in commands():
        last = printed(*command, "--help").rstrip().splitlines()[-1]
        assert f"reprise {' '.join(command)}" in last, (command, last)


def completed_by_bash(*words):
    script = (f"source <({options.binary} completion bash); COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _reprise; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return asked("bash", script)


def test_bash_completes_commands_options_and_choices():
    equal(completed_by_bash("reprise", "''"), below())
    equal(completed_by_bash("reprise", "ex"), ["exec", "explain"])
    equal(completed_by_bash("reprise", "ca", "r"), ["renew"])
    equal(completed_by_bash("reprise", "env", "--format", "s"), ["sh", "systemd"])
    equal(completed_by_bash("reprise", "completion", "z"), ["zsh"])
    equal(completed_by_bash("reprise", "config", "--preset", "gc"), ["gcs", "gcs-metadata"])
    equal(completed_by_bash("reprise", "explain", "--failure", "c"), ["connect"])
    equal(completed_by_bash("reprise", "simulate", "--policy", "no-j"), ["no-jitter"])
    equal(completed_by_bash("reprise", "run", "--log-level", "w"), ["warn"])
    equal(completed_by_bash("reprise", "check", "''"), [], "a file, which bash finds by itself")
    for command in commands():
        missing = options_of(command) - set(completed_by_bash("reprise", *command, "-"))
        equal(missing, set(), command)


def test_fish_completes_commands_options_and_choices():
    def by_fish(line):
        out = asked("fish", f"{options.binary} completion fish | source; complete -C '{line}' | string split -f1 \\t")
        return sorted(set(out))

    equal(by_fish("reprise ex"), ["exec", "explain"])
    equal(by_fish("reprise ca r"), ["renew"])
    equal(by_fish("reprise env --format "), ["dotenv", "fish", "kubernetes", "sh", "systemd"])
    equal(by_fish("reprise exec --int"), ["--intercept"])


def test_zsh_loads_the_completion_script():
    with tempfile.NamedTemporaryFile("w", suffix=".zsh") as file:
        file.write(printed("completion", "zsh"))
        file.flush()
        asked("zsh", f"zsh -n {file.name}")
        equal(asked("zsh", f"autoload -U compinit; compinit -D -u; source {file.name}; print $_comps[reprise]"), ["_reprise"])
        text = printed("completion", "zsh")
        for command in commands():
            for option in options_of(command):
                assert f"'{option}[" in text, (command, option)


def test_manual_page_lists_every_command_and_option():
    page = printed("man")
    needs("groff")
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], input=page, capture_output=True, text=True, timeout=PATIENCE, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    shown = re.sub(r"\s+", " ", done.stdout.replace("\u2010", "-").replace("\u2212", "-"))
    for command in commands():
        assert f"reprise {' '.join(command)}" in shown, command
        for option in options_of(command):
            assert option in shown, (command, option)
    for words in ("EXIT STATUS", "reprise exec --intercept api.example.com -- curl"):
        assert words in shown, words
