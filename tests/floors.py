#!/usr/bin/env python3
"""Fails if code breaks the rules of its storey (layer) or its room (module): includes that are not allowed, a clock or
randomness in code that must get them as arguments, names that are forbidden, files that are too long."""
import re
import sys
import tempfile
from pathlib import Path

from checker import count_wrong, run

ROOT = Path(__file__).resolve().parent.parent
# The calls in a CMakeLists.txt that declare a storey (STOREY) and a room (LINKED).
STOREY = re.compile(r"^reprise_storey\((\w+)(?: USES ([^)]*))?\)", re.M)
LINKED = re.compile(r"reprise_(?:io_)?room\(([\w/.]+)([^)]*)\)|target_link_libraries\(reprise_(settings) INTERFACE([^)]*)\)"
                    r"|target_link_libraries\(reprise PRIVATE([^)]*)\)")
NO_ROOM = {"asio", "boost_json", "switches", "whole_program", "whole_program_link"}


def cmake_files(root):
    """Yields every CMakeLists.txt of the proxy, from the lowest storey up."""
    order = re.findall(r"add_subdirectory\((\w[\w/]*)\)|foreach\(storey ([^)]*)\)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))
    folders = [folder for one, several in order for folder in ([one] if one else [f"proxy/{name}" for name in several.split()])]
    for folder in folders:
        if folder == "tests":
            continue
        yield root / folder / "CMakeLists.txt"
        if folder == "config":
            yield from sorted((root / folder).glob("*/CMakeLists.txt"))


def read_rooms(root):
    """Returns ({storey: storeys that it uses}, {room: rooms that it links}, {room: its storey}), from the
    CMakeLists.txt files. The configuration values (settings) are a storey of their own."""
    storeys, links, places, storey = {"settings": ("policy",)}, {}, {}, None
    for file in cmake_files(root):
        text = file.read_text(encoding="utf-8")
        for name, uses in STOREY.findall(text):
            storey, storeys[name] = name, tuple(uses.split())
        for folder, linked, settings, of_settings, of_program in LINKED.findall(text):
            name = settings or (folder.rsplit("/", 1)[-1] if folder != "." else file.parent.name) or "commands"
            links[name] = tuple(room for room in re.findall(r"\breprise_(\w+)", linked or of_settings or of_program) if room not in NO_ROOM)
            places[name] = "settings" if settings else "cli" if of_program else storey
    return storeys, links, places


# LINKS has the links of each room. A room may include headers of the rooms that it links directly or indirectly, if
# they are in storeys that its own storey uses.
STOREYS, LINKS, STOREY_OF = read_rooms(ROOT)
# Third-party headers that a room may include, as a pattern for the whole name. Standard headers are allowed
# everywhere.
POSIX = r"(sys/)?[a-z_0-9]+\.h|arpa/inet\.h|(netinet|net|linux)/[a-z_0-9]+\.h"
SOCKETS = r"boost/.*|openssl/.*\.h|fmt/.*\.h|" + POSIX
THIRD = {
    "message": r"fmt/.*\.h",
    "http1": r"boost/(beast/(http|core)/(?!.*stream).*\.hpp|beast/(http|core/string|version)\.hpp|json(/.*)?\.hpp|json/src\.hpp"
            r"|asio/buffers?(_iterator|s_iterator)?\.hpp|system/.*\.hpp|version\.hpp)|fmt/.*\.h",
    "grpc": r"openssl/evp\.h",
    "http2": r"nghttp2/nghttp2\.h|openssl/evp\.h",  # SHA-1 and base64 of the keys of WebSockets
    "retry_hints": None,
    "body_rules": r"boost/json(/.*)?\.hpp|fmt/.*\.h",
    "yaml": r"yaml-cpp/.*\.h|fcntl\.h|unistd\.h|sys/stat\.h",
    "presets": None,
    "keys": r"arpa/inet\.h",
    "config": r"arpa/inet\.h",
    "reference": None,
    "redirect": None,
    "log": r"boost/json\.hpp|fmt/.*\.h|arpa/inet\.h|(sys/)?[a-z_0-9]+\.h",
    "metrics": r"prometheus/.*\.h|fmt/.*\.h|(sys/)?[a-z_0-9]+\.h",
    "history": None,
    "tracing": r"sys/eventfd\.h|unistd\.h",
    "environment": None,
    "top": r"boost/json(/.*)?\.hpp|fmt/.*\.h",
    "explain": r"fmt/.*\.h",
    "model": None,
    "simulate": r"boost/json(/.*)?\.hpp",
    "report": r"fmt/.*\.h",
    "startup": r"CLI/.*\.hpp|" + SOCKETS,
    "line": r"CLI/.*\.hpp",
    "inject": r"yaml-cpp/.*\.h",
    "exec": r"fmt/.*\.h|" + POSIX,
    "cgroup": r"fcntl\.h|unistd\.h|sys/stat\.h",
    "io": SOCKETS + r"|sanitizer/asan_interface\.h",
    "commands": r"CLI/.*\.hpp|" + SOCKETS,
}
SOCKET_HEADERS = {"sys/socket.h", "poll.h", "netdb.h", "sys/epoll.h"}
# Storeys that use only the standard library.
BARE = {"policy", "settings"}
# Storeys whose code uses no clock, no randomness and no sockets: callers pass times and random numbers as arguments.
PURE = {"policy", "http", "settings", "config", "telemetry", "tools"}
FORBIDDEN_TOKENS = ("::now(", "random_device", "awaitable")
FORBIDDEN_WORDS = {"Manager", "Helper", "Helpers", "Util", "Utils", "Common", "Impl", "Data", "Info", "Context"}
SOURCE_LINES, TEST_LINES = 500, 600
SEEDED = "tests/chance.py"  # the only source of randomness in Python code

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
TYPE = re.compile(r"\b(?:class|struct|union|enum\s+class|enum\s+struct|enum|concept|using|typename)\s+"
                  r"(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)?([A-Za-z_]\w*)")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)


def floor_of(path):
    """Returns the room of a source file, or None for tests and for the Boost file that is compiled once."""
    if path == "config/settings.hpp":
        return "settings"
    parts = path.split("/")
    if parts[0] in ("config", "proxy"):
        return parts[-2] if path != "proxy/main.cpp" else "commands"
    return None


def is_room(path, room):
    """Returns true if the room exists and is in the folder of its storey."""
    parts = path.split("/")
    return room in LINKS and (parts[0] != "proxy" or len(parts) == 2 or parts[1] == STOREY_OF[room])


def rooms_seen_by(room):
    """Returns the room itself and all rooms that it links directly or indirectly."""
    return {room}.union(*map(rooms_seen_by, LINKS[room]))


def is_seen_by(room, name):
    """Returns true if `room` links the room of the header directly or indirectly, and its storey may use the storey of
    the header."""
    other = floor_of(name)
    return other in rooms_seen_by(room) and STOREY_OF[other] in (STOREY_OF[room], *STOREYS[STOREY_OF[room]])


def check_storeys(storeys=None):
    """Yields a violation if storeys use each other in a cycle, or if a storey uses one that does not exist."""
    storeys, below = storeys or STOREYS, set()
    while len(below) < len(storeys):
        free = [name for name, uses in storeys.items() if name not in below and below.issuperset(uses)]
        if not free:
            yield "CMakeLists.txt", 1, "storey", f"these use each other, or a storey that does not exist: {sorted(set(storeys) - below)}"
            return
        below.update(free)


def check_pages(root):
    """Checks that each storey, and each room of config, has a README.md that says what it is for and where to start."""
    folders = [root / "proxy" / name for name in STOREYS if name not in ("settings", "config")]
    for folder in [*folders, root / "config", *(root / "config").glob("*/")]:
        if any(folder.rglob("*.[ch]pp")) and not (folder / "README.md").is_file():
            yield folder.relative_to(root).as_posix(), 1, "readme", "no README.md says what it is for and where to start reading"


def blank(match):
    """Replaces removed text but keeps its line breaks, so that line numbers stay correct."""
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
            allowed = None if STOREY_OF[floor] in BARE else THIRD.get(floor, SOCKETS)
            if not allowed or not re.fullmatch(allowed, name):
                yield line, "library", f"{floor} must not include <{name}>"
            elif STOREY_OF[floor] in PURE and name in SOCKET_HEADERS and not (floor == "log" and name == "poll.h"):
                yield line, "library", f"{floor} has no sockets: <{name}>"


def check_tokens(floor, code):
    if STOREY_OF.get(floor) not in PURE:
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


def is_command(root, path):
    """Returns true for a file that needs no header of the same name: main, and each file that adds a command, because
    commands.hpp declares all commands."""
    folder, _, name = path.rpartition("/")
    declared = root / folder / "commands.hpp"
    return path == "proxy/main.cpp" or (declared.is_file() and f" add_{name.removesuffix('.cpp')}(" in declared.read_text(encoding="utf-8"))


def check_own_header(root, path):
    if path.startswith(("proxy/", "config/")) and not (root / path).with_suffix(".hpp").is_file() and not is_command(root, path):
        yield 1, "header", "no header of the same name says what it is"


def check_file(root, path):
    """Yields every violation in one file: (line, kind, message)."""
    text = (root / path).read_text(encoding="utf-8")
    floor = floor_of(path) if path.endswith((".hpp", ".cpp")) else None
    if floor is not None and not is_room(path, floor):
        yield 1, "floor", f"no such room: {path.rpartition('/')[0]}"
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
    yield from check_header(text) if path.endswith(".hpp") else check_own_header(root, path)


def check_tree(root):
    """Prints every violation below `root`. Returns the number of files and the set of kinds per file."""
    files, found = 0, [*check_storeys(), *check_pages(root)]
    for folder in ("proxy", "config", "tests"):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if not file.is_file() or not path.endswith((".hpp", ".cpp", ".py", ".sh")) or "/fuzz/corpus/" in path:
                continue
            files += 1
            found += [(path, line, kind, message) for line, kind, message in check_file(root, path)]
    return files, found


OPENING = "// A planted file.\n#pragma once\n"
PLANTS = {  # name: (path, text, expected kind; None if nothing may be found)
    "up": ("proxy/policy/decision/up.hpp", OPENING + '#include "proxy/http/http1/clean.hpp"\n', "floor"),
    "sideways": ("proxy/telemetry/metrics/side.cpp", '#include "config/load.hpp"\n', "floor"),
    "loader": ("proxy/net/io/loader.cpp", '#include "config/load.hpp"\n', "floor"),
    "values": ("config/settings.hpp", OPENING + '#include "config/load.hpp"\n', "floor"),
    "unknown": ("proxy/net/attic/x.cpp", "int x;\n", "floor"),
    "elsewhere": ("proxy/forward/io/x.cpp", "int x;\n", "floor"),
    "lost": ("proxy/net/io/lost.cpp", '#include "lost.hpp"\n', "include"),
    "boost": ("proxy/policy/decision/boost.cpp", "#include <boost/json.hpp>\n", "library"),
    "sockets": ("proxy/http/http1/sockets.cpp", "#include <boost/asio/ip/tcp.hpp>\n", "library"),
    "streams": ("proxy/http/http1/streams.cpp", "#include <boost/beast/core/tcp_stream.hpp>\n", "library"),
    "yaml": ("proxy/telemetry/metrics/yaml.cpp", "#include <yaml-cpp/yaml.h>\n", "library"),
    "metrics": ("proxy/net/io/metrics.cpp", "#include <prometheus/counter.h>\n", "library"),
    "posix": ("config/dial.cpp", "#include <sys/socket.h>\n", "library"),
    "now": ("proxy/policy/decision/now.cpp", "auto t = std::chrono::steady_clock::now();\n", "token"),
    "chance": ("config/chance.cpp", "std::random_device dice;\n", "token"),
    "coroutine": ("proxy/http/message/wait.cpp", "awaitable<void> wait();\n", "token"),
    "name": ("proxy/net/io/name.cpp", "class RetryManager {};\n", "name"),
    "alias": ("proxy/net/io/alias.cpp", "using RouteInfo = int;\n", "name"),
    "file": ("proxy/net/io/string_utils.cpp", "int x;\n", "name"),
    "opening": ("proxy/net/io/opening.hpp", "#pragma once\nint x;\n", "opening"),
    "run-on": ("proxy/net/io/run_on.hpp", "// A sentence that does not\n// end\n#pragma once\n", "opening"),
    "pragma": ("proxy/net/io/pragma.hpp", "// A header without a guard.\nint x;\n", "pragma"),
    "long": ("proxy/net/io/long.cpp", "int x;\n" * 501, "size"),
    "long test": ("tests/io/long_test.cpp", "int x;\n" * 601, "size"),
    "dice": ("tests/e2e/dice.py", "import random\n", "chance"),
    "seeded": (SEEDED, "import random\n", None),
    "clean": ("proxy/http/http1/clean.hpp", OPENING + "#include <boost/beast/http/message.hpp>\n#include <string>\n"
              '#include "proxy/policy/decision/clean.hpp"\n// an awaitable in words, and "::now(" too\n', None),
    "clean policy": ("proxy/policy/decision/clean.hpp", "// A sentence over\n// two lines.\n#pragma once\n#include <chrono>\nconst char* s = \"random_device\";\n", None),
    "clean config": ("config/load.hpp", OPENING + '#include "config/settings.hpp"\n', None),
    "clean io": ("proxy/net/io/clean.cpp", '#include <boost/asio/awaitable.hpp>\n'
                  "awaitable<void> a(); auto t = Clock::now(); struct Contextual {}; struct Database {};\n", None),
    "arrow up": ("proxy/net/tls/up.cpp", '#include "proxy/net/dial/clean.hpp"\n', "floor"),
    "arrow aside": ("proxy/net/resolve/aside.cpp", '#include "proxy/net/tls/clean.hpp"\n', "floor"),
    "clean arrow": ("proxy/net/dial/clean.hpp", OPENING + '#include "proxy/net/tls/clean.hpp"\n#include "config/settings.hpp"\n', None),
    "below": ("proxy/net/tls/clean.hpp", OPENING, None),
    "no readme": ("proxy/net", None, "readme"),
    "a readme": ("proxy/http", {"proxy/http/README.md": "Words.\n"}, None),
    "headless": ("proxy/net/io/headless.cpp", "int x;\n", "header"),
    "no command": ("proxy/cli/commands/no_command.cpp", "int x;\n", "header"),
    "a command": ("proxy/cli/commands/one.cpp", {"proxy/cli/commands/one.cpp": "int x;\n",
                                                 "proxy/cli/commands/commands.hpp": OPENING + "void add_one(int);\n"}, None),
    "clean main": ("proxy/main.cpp", '#include "config/load.hpp"\n#include <CLI/CLI.hpp>\n', None),
    "clean test": ("tests/io/clean_test.cpp", "int x;\n" * 600, None),
}


def self_test():
    """Plants every kind of violation in a temporary tree. The script must find each of them and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, planted, kind in PLANTS.values():
            if path.endswith(".cpp") and kind != "header" and not path.startswith(("tests/", "proxy/cli/", "proxy/main")):
                header = (root / path).with_suffix(".hpp")
                header.parent.mkdir(parents=True, exist_ok=True)
                header.write_text(OPENING, encoding="utf-8")
            for name, text in (planted if isinstance(planted, dict) else {path: planted} if planted else {}).items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
        _, found = check_tree(root)
    storeys = [("a ring of storeys", {"storey"}, {"a": ("b",), "b": ("a",)}), ("no ring", set(), {"a": (), "b": ("a",)})]
    return count_wrong([(name, wanted, {kind for *_, kind, _ in check_storeys(planted)}) for name, wanted, planted in storeys]
                       + [(f"{name} ({path})", {kind} if kind else set(), {k for p, _, k, _ in found if p == path})
                        for name, (path, _, kind) in PLANTS.items()])


def check(_):
    files, found = check_tree(ROOT)
    for path, line, kind, message in found:
        print(f"{path}:{line}: {kind}: {message}")
    print(f"floors: {files} files, {len(found)} violations")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
