"""What a newcomer types first: versions, help, words that are no command, files as arguments and on standard input."""
import subprocess

from harness import equal, options


def command(*arguments, given=None):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([options.binary, *arguments], input=given, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_version_is_a_command_and_an_option():
    code, out, err = command("version")
    equal((code, err), (0, ""))
    assert out.startswith("reprise ")
    equal(command("--version"), (0, out, ""))


def test_help_is_a_command_for_all_and_for_each():
    code, out, err = command("help")
    equal((code, err), (0, ""))
    for name in ("run", "check", "explain", "config", "demo", "help", "version"):
        assert f"\n  {name} " in out, out
    equal(command("--help"), (0, out, ""))
    code, out, err = command("help", "check")
    equal((code, err), (0, ""))
    assert "say everything that is wrong" in out and "--config" in out, out


def test_a_word_that_is_no_command_is_told_with_what_was_meant():
    code, out, err = command("exlpain", "GET", "http://h/")
    equal((code, out), (2, ""))
    assert err.startswith('reprise: unknown command "exlpain" (did you mean explain?); the commands are: run check'), err
    code, _, err = command("help", "chekc")
    equal(code, 2)
    assert '"chekc" (did you mean check?)' in err, err
    code, _, err = command("zzz")
    equal((code, "did you mean" in err), (2, False))


def test_a_configuration_comes_on_standard_input():
    equal(command("check", "-", given="version: 1\n"), (0, "-: good, 0 routes and the default\n", ""))
    code, out, err = command("check", "-", given="version: 1\nlimits: {haeder: 1KiB}\n")
    equal((code, out), (78, ""))
    assert err.startswith('-:2:10: error: limits: unknown key "haeder" (did you mean header?)'), err


def test_a_file_is_an_argument_of_run_as_of_check():
    code, out, err = command("run", "/nowhere/reprise.yaml")
    equal((code, out), (78, ""))
    assert err.startswith("/nowhere/reprise.yaml:"), err
