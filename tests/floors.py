#!/usr/bin/env python3
"""Fails where code leaves its floor: includes from above, clocks and chance below net, names and sizes we do not allow."""
import argparse
import re
import sys
import tempfile
from pathlib import Path

# What a floor may include of our own code, by path prefix.
OWN = {
    "policy": ("proxy/policy/",),
    "http": ("proxy/policy/", "proxy/http/"),
    "settings": ("proxy/policy/",),
    "config": ("proxy/policy/", "config/"),
    "observe": ("proxy/policy/", "proxy/observe/", "config/settings.hpp"),
    "simulate": ("proxy/policy/", "proxy/simulate/"),
    "net": ("proxy/policy/", "proxy/http/", "proxy/observe/", "proxy/net/", "config/settings.hpp"),
    "cli": ("proxy/", "config/"),
}
# What it may include of others', as a pattern over the whole name; standard headers are allowed everywhere.
POSIX = r"(sys/)?[a-z_0-9]+\.h|arpa/inet\.h"
THIRD = {
    "policy": None,
    "http": r"boost/(beast/(http|core)/(?!.*stream).*\.hpp|beast/(http|core/string|version)\.hpp|json(/.*)?\.hpp|json/src\.hpp"
            r"|asio/buffers?(_iterator|s_iterator)?\.hpp|system/.*\.hpp|version\.hpp)|fmt/.*\.h",
    "settings": None,
    "config": r"yaml-cpp/.*\.h|fmt/.*\.h|" + POSIX,
    "observe": r"prometheus/.*\.h|fmt/.*\.h|" + POSIX,
    "simulate": r"fmt/.*\.h",
    "net": r"boost/.*|openssl/.*\.h|sanitizer/asan_interface\.h|fmt/.*\.h|(netinet|net|linux)/[a-z_0-9]+\.h|" + POSIX,
    "cli": r"CLI/.*\.hpp|boost/.*|openssl/.*\.h|fmt/.*\.h|(netinet|net|linux)/[a-z_0-9]+\.h|" + POSIX,
}
SOCKET_HEADERS = {"sys/socket.h", "poll.h", "netdb.h", "sys/epoll.h"}
BELOW_NET = {"policy", "http", "settings", "config", "observe", "simulate"}
FORBIDDEN_TOKENS = ("::now(", "random_device", "awaitable")
FORBIDDEN_WORDS = {"Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Impl", "Data", "Info", "Context"}
SOURCE_LINES, TEST_LINES = 300, 600

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
TYPE = re.compile(r"\b(?:class|struct|union|enum\s+class|enum\s+struct|enum|concept|using|typename)\s+"
                  r"(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)?([A-Za-z_]\w*)")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)


def floor_of(path):
    """The floor that a source file lives on, or None for tests and the compiled-once Boost file."""
    if path == "config/settings.hpp":
        return "settings"
    parts = path.split("/")
    if parts[0] == "config":
        return "config"
    if parts[0] == "proxy":
        return parts[1] if len(parts) > 2 else "cli"
    return None


def blank(match):
    """Keeps the lines of what is taken away, so that line numbers stay true."""
    return " " + "\n" * match.group(0).count("\n")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def check_includes(root, path, floor, text):
    for match in INCLUDE.finditer(text):
        kind, name, line = match.group(1), match.group(2), line_of(text, match.start())
        if kind == '"':
            if not (root / name).is_file():
                yield line, "include", f'"{name}" is no file under the root of the repository'
            elif floor and not name.startswith(OWN[floor]):
                yield line, "floor", f'{floor} must not include "{name}"'
        elif floor and not re.fullmatch(r"[a-z_0-9]+", name):
            allowed = THIRD[floor]
            if not allowed or not re.fullmatch(allowed, name):
                yield line, "library", f"{floor} must not include <{name}>"
            elif floor in BELOW_NET and name in SOCKET_HEADERS and not (floor == "observe" and name == "poll.h"):
                yield line, "library", f"{floor} has no sockets: <{name}>"


def check_tokens(floor, code):
    if floor not in BELOW_NET:
        return
    for token in FORBIDDEN_TOKENS:
        at = code.find(token)
        while at >= 0:
            yield line_of(code, at), "token", f"`{token}` below net: time, chance and waiting are arguments there"
            at = code.find(token, at + 1)


def check_names(path, code):
    words = {word.capitalize() for word in re.split(r"[_\W]+", Path(path).stem)}
    if words & FORBIDDEN_WORDS:
        yield 1, "name", f"file name says nothing: {Path(path).name}"
    for match in TYPE.finditer(code):
        if set(re.findall(r"[A-Z][a-z0-9]*", match.group(1))) & FORBIDDEN_WORDS:
            yield line_of(code, match.start()), "name", f"type name says nothing: {match.group(1)}"


def check_header(text):
    opening = []
    for line in text.split("\n"):
        if not line.startswith("// "):
            break
        opening.append(line[3:])
    sentence = " ".join(opening)
    if not re.match(r"[A-Z`]", sentence) or not sentence.endswith("."):
        yield 1, "opening", "a header opens with a sentence that says what it is, from the first line on"
    if "#pragma once" not in text.split("\n")[: len(opening) + 2]:
        yield len(opening) + 1, "pragma", "#pragma once is missing after the opening comment"


def check_file(root, path):
    """Every violation in one file: (line, kind, message)."""
    text = (root / path).read_text(encoding="utf-8")
    floor = floor_of(path) if path.endswith((".hpp", ".cpp")) else None
    if floor is not None and floor not in OWN:
        yield 1, "floor", f"no such floor: {floor}"
        return
    limit = SOURCE_LINES if path.startswith(("proxy/", "config/")) else TEST_LINES
    lines = text.count("\n")
    if lines > limit:
        yield limit + 1, "size", f"{lines} lines; the limit is {limit}"
    if not path.endswith((".hpp", ".cpp")):
        return
    code = NOISE.sub(blank, text)
    yield from check_includes(root, path, floor, text)
    yield from check_tokens(floor, code)
    yield from check_names(path, code)
    if path.endswith(".hpp"):
        yield from check_header(text)


def check_tree(root):
    """Prints every violation under `root`; returns the number of files and the set of kinds per file."""
    files, found = 0, []
    for folder in ("proxy", "config", "tests"):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if not file.is_file() or not path.endswith((".hpp", ".cpp", ".py", ".sh")) or "/fuzz/corpus/" in path:
                continue
            files += 1
            found += [(path, line, kind, message) for line, kind, message in check_file(root, path)]
    return files, found


OPENING = "// A planted file.\n#pragma once\n"
PLANTS = {  # path, text, the kind that must be found; None: nothing may be found
    "up": ("proxy/policy/up.hpp", OPENING + '#include "proxy/http/clean.hpp"\n', "floor"),
    "sideways": ("proxy/observe/side.cpp", '#include "config/load.hpp"\n', "floor"),
    "loader": ("proxy/net/loader.cpp", '#include "config/load.hpp"\n', "floor"),
    "values": ("config/settings.hpp", OPENING + '#include "config/load.hpp"\n', "floor"),
    "unknown": ("proxy/attic/x.cpp", "int x;\n", "floor"),
    "lost": ("proxy/net/lost.cpp", '#include "lost.hpp"\n', "include"),
    "boost": ("proxy/policy/boost.cpp", "#include <boost/json.hpp>\n", "library"),
    "sockets": ("proxy/http/sockets.cpp", "#include <boost/asio/ip/tcp.hpp>\n", "library"),
    "streams": ("proxy/http/streams.cpp", "#include <boost/beast/core/tcp_stream.hpp>\n", "library"),
    "yaml": ("proxy/observe/yaml.cpp", "#include <yaml-cpp/yaml.h>\n", "library"),
    "metrics": ("proxy/net/metrics.cpp", "#include <prometheus/counter.h>\n", "library"),
    "posix": ("config/dial.cpp", "#include <sys/socket.h>\n", "library"),
    "now": ("proxy/policy/now.cpp", "auto t = std::chrono::steady_clock::now();\n", "token"),
    "chance": ("config/chance.cpp", "std::random_device dice;\n", "token"),
    "coroutine": ("proxy/http/wait.cpp", "awaitable<void> wait();\n", "token"),
    "name": ("proxy/net/name.cpp", "class RetryManager {};\n", "name"),
    "alias": ("proxy/net/alias.cpp", "using RouteInfo = int;\n", "name"),
    "file": ("proxy/net/string_utils.cpp", "int x;\n", "name"),
    "opening": ("proxy/net/opening.hpp", "#pragma once\nint x;\n", "opening"),
    "run-on": ("proxy/net/run_on.hpp", "// A sentence that does not\n// end\n#pragma once\n", "opening"),
    "pragma": ("proxy/net/pragma.hpp", "// A header without a guard.\nint x;\n", "pragma"),
    "long": ("proxy/net/long.cpp", "int x;\n" * 301, "size"),
    "long test": ("tests/net/long_test.cpp", "int x;\n" * 601, "size"),
    "clean": ("proxy/http/clean.hpp", OPENING + "#include <boost/beast/http/message.hpp>\n#include <string>\n"
              '#include "proxy/policy/clean.hpp"\n// an awaitable in words, and "::now(" too\n', None),
    "clean policy": ("proxy/policy/clean.hpp", "// A sentence over\n// two lines.\n#pragma once\n#include <chrono>\nconst char* s = \"random_device\";\n", None),
    "clean config": ("config/load.hpp", OPENING + '#include "config/settings.hpp"\n', None),
    "clean net": ("proxy/net/clean.cpp", '#include "config/settings.hpp"\n#include <boost/asio/awaitable.hpp>\n'
                  "awaitable<void> a(); auto t = Clock::now(); struct Contextual {}; struct Database {};\n", None),
    "clean main": ("proxy/main.cpp", '#include "config/load.hpp"\n#include <CLI/CLI.hpp>\n', None),
    "clean test": ("tests/net/clean_test.cpp", "int x;\n" * 600, None),
}


def self_test():
    """Plants every kind of violation in a tree of its own; each must be found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text, _ in PLANTS.values():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        _, found = check_tree(root)
    wrong = 0
    for name, (path, _, kind) in PLANTS.items():
        kinds = {k for p, _, k, _ in found if p == path}
        if kinds != ({kind} if kind else set()):
            wrong += 1
            print(f"self-test: {name} ({path}): expected {kind}, found {sorted(kinds)}")
    print(f"self-test: {len(PLANTS)} plants, {wrong} not seen as they are")
    return wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--self-test", action="store_true")
    if arguments.parse_args().self_test:
        return 1 if self_test() else 0
    files, found = check_tree(Path(__file__).resolve().parent.parent)
    for path, line, kind, message in found:
        print(f"{path}:{line}: {kind}: {message}")
    print(f"floors: {files} files, {len(found)} violations")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
