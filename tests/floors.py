#!/usr/bin/env python3
"""Fails where code leaves its room: includes from above, clocks and chance where they are arguments, names and sizes we do not allow."""
import re
import sys
import tempfile
from pathlib import Path

from checker import count_wrong, run

ROOT = Path(__file__).resolve().parent.parent
LINKED = re.compile(r"reprise_(?:io_)?room\((\w+)([^)]*)\)|target_link_libraries\(reprise_(settings) INTERFACE([^)]*)\)"
                    r"|target_link_libraries\(reprise PRIVATE([^)]*)\)")
NO_ROOM = {"asio", "switches", "whole_program", "whole_program_link"}


def read_links(root):
    """{room: the rooms that it links}, as the CMakeLists.txt files say."""
    loops = re.findall(r"foreach\(room ([^)]*)\)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))
    order = {room: number for number, room in enumerate(" ".join(loops).split())}
    found = {}
    for file in [*(root / "proxy").rglob("CMakeLists.txt"), *(root / "config").rglob("CMakeLists.txt")]:
        for name, linked, settings, of_settings, of_program in LINKED.findall(file.read_text(encoding="utf-8")):
            rooms = re.findall(r"\breprise_(\w+)", linked or of_settings or of_program)
            found[name or settings or "cli"] = tuple(room for room in rooms if room not in NO_ROOM)
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))


# What each room links. A room may include from these, and from what these link in turn.
LINKS = read_links(ROOT)
# What it may include of others', as a pattern over the whole name; standard headers are allowed everywhere.
POSIX = r"(sys/)?[a-z_0-9]+\.h|arpa/inet\.h|(netinet|net|linux)/[a-z_0-9]+\.h"
SOCKETS = r"boost/.*|openssl/.*\.h|fmt/.*\.h|" + POSIX
THIRD = {
    "match": None,
    "pacing": None,
    "verdict": None,
    "policy": None,
    "http": r"fmt/.*\.h",
    "http1": r"boost/(beast/(http|core)/(?!.*stream).*\.hpp|beast/(http|core/string|version)\.hpp|json(/.*)?\.hpp|json/src\.hpp"
            r"|asio/buffers?(_iterator|s_iterator)?\.hpp|system/.*\.hpp|version\.hpp)|fmt/.*\.h",
    "repeat": None,
    "probe": r"boost/json(/.*)?\.hpp|fmt/.*\.h",
    "settings": None,
    "yaml": r"yaml-cpp/.*\.h|fcntl\.h|unistd\.h|sys/stat\.h",
    "presets": None,
    "keys": r"arpa/inet\.h",
    "config": r"arpa/inet\.h",
    "reference": None,
    "redirect": None,
    "log": r"fmt/.*\.h|arpa/inet\.h|(sys/)?[a-z_0-9]+\.h",
    "observe": r"prometheus/.*\.h|fmt/.*\.h|(sys/)?[a-z_0-9]+\.h",
    "stories": None,
    "screen": r"fmt/.*\.h",
    "top": r"boost/json(/.*)?\.hpp|fmt/.*\.h",
    "explain": r"fmt/.*\.h",
    "model": None,
    "simulate": r"boost/json(/.*)?\.hpp",
    "comparison": r"fmt/.*\.h",
    "terminal": r"fmt/.*\.h|sys/ioctl\.h|unistd\.h",
    "startup": r"CLI/.*\.hpp|" + SOCKETS,
    "command_line": r"CLI/.*\.hpp|fmt/.*\.h",
    "inject": r"yaml-cpp/.*\.h",
    "child": r"fmt/.*\.h|" + POSIX,
    "cgroup": r"fcntl\.h|unistd\.h|sys/stat\.h",
    "io": SOCKETS + r"|sanitizer/asan_interface\.h",
    "cli": r"CLI/.*\.hpp|" + SOCKETS,
}
SOCKET_HEADERS = {"sys/socket.h", "poll.h", "netdb.h", "sys/epoll.h"}
# No clock, no chance, no sockets: they are arguments here.
PURE = {"match", "pacing", "verdict", "policy", "http", "repeat", "http1", "probe", "settings", "yaml", "presets", "keys", "config", "reference",
        "log", "observe", "stories", "explain", "model", "simulate", "comparison", "screen", "top"}
# A room with more is two.
MOST_FILES = 30
FORBIDDEN_TOKENS = ("::now(", "random_device", "awaitable")
FORBIDDEN_WORDS = {"Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Impl", "Data", "Info", "Context"}
SOURCE_LINES, TEST_LINES = 500, 600
SEEDED = "tests/chance.py"  # the one source of chance of everything in Python

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
        return parts[1] if len(parts) > 2 else "config"
    if parts[0] == "proxy":
        return parts[1] if len(parts) > 2 else "cli"
    return None


def rooms_seen_by(room):
    """The room itself, what it links, and what these link."""
    return {room}.union(*map(rooms_seen_by, LINKS[room]))


def is_seen_by(room, name):
    return floor_of(name) in rooms_seen_by(room)


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
            elif floor and not is_seen_by(floor, name):
                yield line, "floor", f'{floor} must not include "{name}"'
        elif floor and not re.fullmatch(r"[a-z_0-9]+", name):
            allowed = THIRD.get(floor, SOCKETS)
            if not allowed or not re.fullmatch(allowed, name):
                yield line, "library", f"{floor} must not include <{name}>"
            elif floor in PURE and name in SOCKET_HEADERS and not (floor == "log" and name == "poll.h"):
                yield line, "library", f"{floor} has no sockets: <{name}>"


def check_tokens(floor, code):
    if floor not in PURE:
        return
    for token in FORBIDDEN_TOKENS:
        at = code.find(token)
        while at >= 0:
            yield line_of(code, at), "token", f"`{token}` in a pure room: time, chance and waiting are arguments there"
            at = code.find(token, at + 1)


def check_names(path, code):
    words = {word.capitalize() for word in re.split(r"[_\W]+", Path(path).stem)}
    if words & FORBIDDEN_WORDS:
        yield 1, "name", f"file name says nothing: {Path(path).name}"
    for match in TYPE.finditer(code):
        if set(re.findall(r"[A-Z][a-z0-9]*", match.group(1))) & FORBIDDEN_WORDS:
            yield line_of(code, match.start()), "name", f"type name says nothing: {match.group(1)}"


def check_seed(text):
    for match in re.finditer(r"^\s*(?:import|from) (?:random|secrets)\b", text, re.M):
        yield line_of(text, match.start()), "chance", f"chance comes from {SEEDED}, so that its seed is told"


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
    if floor is not None and floor not in LINKS:
        yield 1, "floor", f"no such floor: {floor}"
        return
    limit = SOURCE_LINES if path.startswith(("proxy/", "config/")) else TEST_LINES
    lines = text.count("\n")
    if lines > limit:
        yield limit + 1, "size", f"{lines} lines; the limit is {limit}"
    if path.endswith(".py") and path != SEEDED:
        yield from check_seed(text)
    if not path.endswith((".hpp", ".cpp")):
        return
    code = NOISE.sub(blank, text)
    yield from check_includes(root, path, floor, text)
    yield from check_tokens(floor, code)
    yield from check_names(path, code)
    if path.endswith(".hpp"):
        yield from check_header(text)


def check_rooms(root):
    """Each room has a README, and not too many files."""
    above = [root / name for name in ("proxy", "config") if (root / name).is_dir()]
    for folder in sorted([*(room for folder in above for room in folder.iterdir()), root / "config"]):
        sources = [file for file in folder.glob("*.[ch]pp")] if folder.is_dir() else []
        if not sources:
            continue
        path = folder.relative_to(root).as_posix()
        if len(sources) > MOST_FILES:
            yield path, 1, "room", f"{len(sources)} files; the limit is {MOST_FILES}: is it one room?"
        if not (folder / "README.md").is_file():
            yield path, 1, "readme", "no README.md says what the room does and where to start reading"


def check_tree(root):
    """Prints every violation under `root`; returns the number of files and the set of kinds per file."""
    files, found = 0, [*check_rooms(root)]
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
    "up": ("proxy/policy/up.hpp", OPENING + '#include "proxy/http1/clean.hpp"\n', "floor"),
    "sideways": ("proxy/observe/side.cpp", '#include "config/load.hpp"\n', "floor"),
    "loader": ("proxy/io/loader.cpp", '#include "config/load.hpp"\n', "floor"),
    "values": ("config/settings.hpp", OPENING + '#include "config/load.hpp"\n', "floor"),
    "unknown": ("proxy/attic/x.cpp", "int x;\n", "floor"),
    "lost": ("proxy/io/lost.cpp", '#include "lost.hpp"\n', "include"),
    "boost": ("proxy/policy/boost.cpp", "#include <boost/json.hpp>\n", "library"),
    "sockets": ("proxy/http1/sockets.cpp", "#include <boost/asio/ip/tcp.hpp>\n", "library"),
    "streams": ("proxy/http1/streams.cpp", "#include <boost/beast/core/tcp_stream.hpp>\n", "library"),
    "yaml": ("proxy/observe/yaml.cpp", "#include <yaml-cpp/yaml.h>\n", "library"),
    "metrics": ("proxy/io/metrics.cpp", "#include <prometheus/counter.h>\n", "library"),
    "posix": ("config/dial.cpp", "#include <sys/socket.h>\n", "library"),
    "now": ("proxy/policy/now.cpp", "auto t = std::chrono::steady_clock::now();\n", "token"),
    "chance": ("config/chance.cpp", "std::random_device dice;\n", "token"),
    "coroutine": ("proxy/http/wait.cpp", "awaitable<void> wait();\n", "token"),
    "name": ("proxy/io/name.cpp", "class RetryManager {};\n", "name"),
    "alias": ("proxy/io/alias.cpp", "using RouteInfo = int;\n", "name"),
    "file": ("proxy/io/string_utils.cpp", "int x;\n", "name"),
    "opening": ("proxy/io/opening.hpp", "#pragma once\nint x;\n", "opening"),
    "run-on": ("proxy/io/run_on.hpp", "// A sentence that does not\n// end\n#pragma once\n", "opening"),
    "pragma": ("proxy/io/pragma.hpp", "// A header without a guard.\nint x;\n", "pragma"),
    "long": ("proxy/io/long.cpp", "int x;\n" * 501, "size"),
    "long test": ("tests/io/long_test.cpp", "int x;\n" * 601, "size"),
    "dice": ("tests/e2e/dice.py", "import random\n", "chance"),
    "seeded": (SEEDED, "import random\n", None),
    "clean": ("proxy/http1/clean.hpp", OPENING + "#include <boost/beast/http/message.hpp>\n#include <string>\n"
              '#include "proxy/policy/clean.hpp"\n// an awaitable in words, and "::now(" too\n', None),
    "clean policy": ("proxy/policy/clean.hpp", "// A sentence over\n// two lines.\n#pragma once\n#include <chrono>\nconst char* s = \"random_device\";\n", None),
    "clean config": ("config/load.hpp", OPENING + '#include "config/settings.hpp"\n', None),
    "clean io": ("proxy/io/clean.cpp", '#include <boost/asio/awaitable.hpp>\n'
                  "awaitable<void> a(); auto t = Clock::now(); struct Contextual {}; struct Database {};\n", None),
    "arrow up": ("proxy/tls/up.cpp", '#include "proxy/dial/clean.hpp"\n', "floor"),
    "arrow aside": ("proxy/resolve/aside.cpp", '#include "proxy/tls/clean.hpp"\n', "floor"),
    "clean arrow": ("proxy/dial/clean.hpp", OPENING + '#include "proxy/tls/clean.hpp"\n#include "config/settings.hpp"\n', None),
    "below": ("proxy/tls/clean.hpp", OPENING, None),
    "no readme": ("proxy/resolve", None, "readme"),
    "crowded": ("proxy/replay", {"proxy/replay/README.md": "Words.\n",
                                   **{f"proxy/replay/part{i}.cpp": "int x;\n" for i in range(31)}}, "room"),
    "clean main": ("proxy/main.cpp", '#include "config/load.hpp"\n#include <CLI/CLI.hpp>\n', None),
    "clean test": ("tests/io/clean_test.cpp", "int x;\n" * 600, None),
}


def self_test():
    """Plants every kind of violation in a tree of its own; each must be found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, planted, _ in PLANTS.values():
            for name, text in (planted if isinstance(planted, dict) else {path: planted} if planted else {}).items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
        _, found = check_tree(root)
    return count_wrong([(f"{name} ({path})", {kind} if kind else set(), {k for p, _, k, _ in found if p == path})
                        for name, (path, _, kind) in PLANTS.items()])


def check(_):
    files, found = check_tree(ROOT)
    for path, line, kind, message in found:
        print(f"{path}:{line}: {kind}: {message}")
    print(f"floors: {files} files, {len(found)} violations")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
