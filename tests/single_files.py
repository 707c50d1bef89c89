#!/usr/bin/env python3
"""Compiles single files with both compilers and reads them with clang-tidy, because a unity build hides a missing include.

    python3 tests/single_files.py [--base COMMIT]    compiles the files that have changed since COMMIT (default: the newest commit that is over 24 hours old)
    python3 tests/single_files.py --all              compiles all files

Needs the build folders build/alone and build/alone-gcc, configured by their presets. A header is compiled too, with the flags of a source
that includes it, but without the precompiled headers of that source. GCC compiles sources as in a release, because some of its warnings
come from the optimizer; Clang, and GCC for a header, only check the syntax.
If more than 20 files have changed, those of the newest commits are compiled; the nightly run compiles the others."""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from junit import Suite

ROOT = Path(__file__).resolve().parent.parent
DATABASES = {"clang": ROOT / "build/alone", "gcc": ROOT / "build/alone-gcc"}
MOST = 20


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def base_of(given):
    """Returns the given commit, or else the newest one that is over 24 hours old. Empty if there is none."""
    base = given or "".join(git("rev-list", "-1", "--before=24 hours ago", "HEAD"))
    if base:
        print(f"files that differ from {base}", flush=True)
    return base


def changed_files(base):
    """Returns the files that differ from the commit `base`, and untracked files: uncommitted changes first, then those of the
    newest commits, then those of older ones. Files of one commit are ordered by a hash that depends on HEAD."""
    commits = f"{base}..HEAD" if base else "HEAD"
    changed = git("diff", "--name-only", "--diff-filter=d", base) if base else git("ls-files")
    seed = git("rev-parse", "HEAD")[0]
    ages = dict.fromkeys(git("diff", "--name-only", "HEAD"), 0)
    age = 0
    for word in git("log", "--format=tformat:@", "--name-only", commits):
        age += word == "@"
        ages.setdefault(word, age)
    return sorted({*changed, *git("ls-files", "--others", "--exclude-standard")},
                  key=lambda name: (ages.get(name, 0), hashlib.sha256(f"{seed} {name}".encode()).digest()))


def first(files, most=MOST):
    """Returns at most `most` of the files."""
    if len(files) > most:
        print(f"{len(files)} files differ: the {most} of the newest commits are compiled, and the night compiles all", flush=True)
    return files[:most]


def compile_commands(compiler):
    """Returns {path: command} of the sources in the tree. The command of GCC writes an object file, which is what makes the
    optimizer run. The command of Clang only checks the syntax."""
    database = DATABASES[compiler]
    found = {}
    for entry in json.loads((database / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            words = shlex.split(entry["command"])
            found.setdefault(str(path.relative_to(ROOT)), words if compiler == "gcc" else only_checked(words))
    return found


def only_checked(words):
    """Returns the compile command without its output, so that it only checks the syntax."""
    if "-o" not in words:
        return words
    at = words.index("-o")
    return [*words[:at], *words[at + 2:], "-fsyntax-only"]


def build_precompiled(database, commands):
    """Builds the precompiled headers that the commands name. The command of Clang names the precompiled file itself;
    the command of GCC names the header beside that file."""
    told = subprocess.run(["ninja", "-C", str(database), "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
    known = {str(database / name) for line in told.splitlines() for name in [line.partition(":")[0]] if name.endswith((".pch", ".gch"))}
    named = {word for command in commands for word in command}
    targets = [name for name in known if named & {name, name.removesuffix(".gch")}]
    if targets:
        subprocess.run(["ninja", "-C", str(database), *(str(Path(name).relative_to(database)) for name in targets)], check=True, stdout=subprocess.DEVNULL)


@functools.cache
def files_that_include(header):
    told = subprocess.run(["git", "grep", "-lF", f'#include "{header}"', "--", "*.cpp", "*.hpp"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return told.split()


def source_that_includes(header, commands):
    """Returns the source with the header's name, or the nearest source that includes the header directly or indirectly.
    Returns None if no source of the build includes the header."""
    headers = [header]
    for name in headers:  # the loop adds headers to this list
        near = [name.removesuffix(".hpp") + ".cpp", *files_that_include(name)]
        source = next((one for one in near if one in commands), None)
        if source is not None:
            return source
        headers += [one for one in near if one.endswith(".hpp") and one not in headers]
    return None


def without_precompiled(words):
    """Returns the compile command without precompiled headers, so that the source sees only its own includes."""
    kept = []
    for word in words:
        if "/cmake_pch." not in word:
            kept.append(word)
            continue
        while kept[-1] in ("-Xclang", "-include", "-include-pch"):
            kept.pop()
    return kept


def command_for(path, commands):
    """Returns the command that compiles a source, or a header with the flags of a source that includes it. Returns None
    if no source of the build includes the header."""
    if path in commands or not path.endswith(".hpp"):
        return commands.get(path)
    source = source_that_includes(path, commands)
    if source is None:
        return None
    words = [word for word in without_precompiled(only_checked(commands[source])) if word not in ("-c", str(ROOT / source))]
    return [*words, "-x", "c++", "-"]  # a source that only includes the header, from standard input


def compile_alone(compiler, path, commands):
    command = command_for(path, commands)
    if command is None:
        return "passed", ""
    if "-o" in command:
        (DATABASES[compiler] / command[command.index("-o") + 1]).parent.mkdir(parents=True, exist_ok=True)
    source = f'#include "{path}"\n' if command[-1] == "-" else ""
    done = subprocess.run(command, cwd=DATABASES[compiler], input=source, capture_output=True, text=True, check=False)
    return ("failed", done.stderr) if done.returncode else ("passed", "")


def read_with_tidy(path):
    done = subprocess.run(["clang-tidy", "--quiet", "-p", str(DATABASES["clang"]), str(ROOT / path)], cwd=ROOT, capture_output=True, text=True, check=False)
    return ("failed", done.stdout + done.stderr) if done.returncode else ("passed", "")


def check_files(files, suite, jobs):
    commands = {}
    for compiler, database in DATABASES.items():
        commands[compiler] = compile_commands(compiler)
        build_precompiled(database, filter(None, (command_for(path, commands[compiler]) for path in files)))
    tasks = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        for path in files:
            for compiler in DATABASES:
                tasks[workers.submit(compile_alone, compiler, path, commands[compiler])] = f"{path} with {compiler}"
            if path.startswith(("proxy/", "config/")) and path in commands["clang"]:
                tasks[workers.submit(read_with_tidy, path)] = f"{path} with clang-tidy"
        for done in concurrent.futures.as_completed(tasks):
            suite.add(tasks[done], *done.result())


def release_flags():
    """Returns the flags of GCC in the preset of single files."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    return next(preset for preset in presets if preset["name"] == DATABASES["gcc"].name)["cacheVariables"]["CMAKE_CXX_FLAGS_DEBUG"].split()


def self_test():
    """Checks that the script reports a file that lacks an include, even if another file has this include, a file for which
    only GCC's optimizer has a warning, and a file in which clang-tidy has a finding."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text, compiles in (("clean", "#include <string>\nstd::string clean() { return {}; }\n", True),
                                     ("leaning", "std::string leaning() { return {}; }\n", False)):
            file = Path(folder) / f"{name}.cpp"
            file.write_text(text, encoding="utf-8")
            for compiler, program in (("clang", "clang++"), ("gcc", "g++")):
                outcome, _ = compile_alone(compiler, name, {name: [program, "-std=c++20", "-fsyntax-only", str(file)]})
                assert (outcome == "passed") == compiles, (name, compiler, outcome)
        precompiled = f"{folder}/cmake_pch.hxx"  # a file that compiles only with this precompiled header lacks an include
        Path(precompiled).write_text("#include <string>\n", encoding="utf-8")
        leaning = str(Path(folder) / "leaning.cpp")
        for forced in (["g++", "-include", precompiled], ["clang++", "-Xclang", "-include", "-Xclang", precompiled]):
            command = [*forced, "-std=c++20", "-fsyntax-only", leaning]
            for words, outcome in ((command, "passed"), (without_precompiled(command), "failed")):
                assert compile_alone("clang", "leaning", {"leaning": words})[0] == outcome, words
        mixed = Path(folder) / "mixed.cpp"
        mixed.write_text("#include <cstdlib>\nstatic int* take() { return static_cast<int*>(std::malloc(4)); }\nvoid mixed() { delete take(); }\n",
                         encoding="utf-8")
        released = ["g++", "-std=c++20", *release_flags(), "-Wall", "-Werror", "-o", f"{folder}/objects/mixed.o", "-c", str(mixed)]
        for words, outcome in ((released, "failed"), (only_checked(released), "passed")):
            assert compile_alone("gcc", "mixed", {"mixed": words})[0] == outcome, words
        file = Path(folder) / "named.cpp"
        file.write_text("int twice(int Value) { return 2 * Value; }\n", encoding="utf-8")
        done = subprocess.run(["clang-tidy", "--quiet", f"--config-file={ROOT}/.clang-tidy", str(file), "--", "-std=c++20"], capture_output=True, text=True, check=False)
        assert done.returncode and "readability-identifier-naming" in done.stdout, done.stdout


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--base", default=os.environ.get("REPRISE_BASE", ""), help="compare with this commit (default: $REPRISE_BASE)")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    given = arguments.parse_args()
    self_test()
    suite = Suite("single files")
    suite.passes("a planted mistake is found")
    files = git("ls-files") if given.all else changed_files(base_of(given.base))
    sources = [path for path in files if path.endswith((".cpp", ".hpp")) and path.startswith(("proxy/", "config/", "tests/"))
               and not Path(path).name.startswith("precompiled")]  # the build itself compiles each precompiled header alone
    check_files(sources if given.all else first(sources), suite, given.jobs)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
