#!/usr/bin/env python3
"""Runs real clients through reprise in every way that each client supports, and compares the results with a table.

    python3 tests/interop/run.py [--bin build/release/reprise] [--only PATTERN] [--write]

Each case combines a client, a way into reprise and a scenario. All cases run in a separate network, where another host
is `app.test`. The table is in README.md beside this file. With --write, the script replaces the table. Otherwise the
script compares the table with the results, except for the versions of the clients. Clients that are not installed are
skipped, and their names are printed."""
import argparse
import concurrent.futures
import contextlib
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent)]

import chance  # noqa: E402
import faults  # noqa: E402
import harness  # noqa: E402
from clients import BY, CLIENTS, PORTS, Ask  # noqa: E402
from harness import LOOPBACK, NotPlayed, Reprise, equal  # noqa: E402
from isolated import play_isolated  # noqa: E402
from names import NameServer  # noqa: E402
from origin import HELLO, HOST, ORDER, Origin, blob, echo  # noqa: E402
from junit import Suite  # noqa: E402
from test_intercept import clean  # noqa: E402
from test_redirect import as_nobody, redirect  # noqa: E402
from upstream import Say, resumable  # noqa: E402

TIMEOUT = 90  # seconds that a client may take
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
COLUMNS = ("get", "post", "upload", "download", "https")
WORDS = {"get": "retried", "post": "once", "upload": "replayed", "download": "resumed", "websocket": "retried"}
# Scenarios that share a column of the table with another scenario.
COLUMN = {"websocket": "get", "secure websocket": "https"}


def outcome(way, scenario):
    """Returns the expected outcome of a case. TLS that reprise does not terminate is a tunnel."""
    if scenario in ("https", "secure websocket"):
        return "retried" if way in ("gateway", "exec --intercept") else "tunnelled"
    return WORDS[scenario]


def is_secure(way, scenario):
    """Returns true if the upstream is reached over TLS."""
    return way == "exec --intercept" or scenario in ("https", "secure websocket")


class Stage:
    """The running parts that all cases share."""

    def __init__(self, origin, folder):
        self.origin, self.folder = origin, folder
        self.count, self.lock = 0, threading.Lock()
        self.truststore = f"{folder}/truststore"
        self.transparent = "none played yet"  # reason why the transparent way is not available; empty if the way is available

    def next_path(self):
        with self.lock:
            self.count += 1
            return f"/case-{self.count}"


def readable(folder):
    """Makes everything in the folder readable for all users."""
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)


def prepare_programs(folder):
    """Copies the programs to a folder where every user can start them, and compiles them if needed."""
    shutil.copytree(HERE / "programs", folder / "programs")
    if shutil.which("go"):
        environment = {**os.environ, "HOME": str(folder), "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
        subprocess.run(["go", "build", "-o", "fetch", "fetch.go"], cwd=folder / "programs", env=environment, check=True, capture_output=True)
    if shutil.which("javac"):
        sources = [str(file) for file in (folder / "programs").glob("*.java")]
        subprocess.run(["javac", "-nowarn", "-d", str(folder / "programs"), *sources], check=True, capture_output=True)
    (folder / "chain").write_text(f"strict_chain\nproxy_dns\n[ProxyList]\nsocks5 127.0.0.1 {PORTS['socks']}\n", encoding="ascii")
    readable(folder)


def prepare_trust(stage):
    ca = f"{stage.folder}/ca.pem"
    shutil.copy(stage.origin.authority.file, ca)
    if shutil.which("keytool"):
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "origin", "-file", ca, "-keystore", stage.truststore, "-storetype",
                        "PKCS12", "-storepass", "changeit"], check=True, capture_output=True)
    readable(stage.folder)


def configuration(origin):
    def at(name):
        return f"{LOOPBACK}:{PORTS[name]}"
    return {"listeners": [{"mode": "forward", "bind": at("forward")}, {"mode": "gateway", "bind": at("gateway"), "upstream": f"http://{HOST}"},
                          {"mode": "gateway", "bind": at("tls_gateway"), "upstream": f"https://{HOST}"},
                          {"mode": "socks", "bind": at("socks")}, {"mode": "transparent", "bind": at("transparent")}],
            "defaults": {"budget": "off", "via": "true", "tls": {"ca_file": origin.authority.file}}}


def written(client, way, ask):
    """Returns (environment, command) of a case. The command is a list of words, or a text for a shell."""
    how = client.ways[way]
    environment, command = dict(how.get("environment", {})), client.command(ask)
    if ask.is_https and way not in ("gateway", "exec --intercept"):
        trust = client.trust(ask)
        both = [text["JAVA_TOOL_OPTIONS"] for text in (environment, trust) if "JAVA_TOOL_OPTIONS" in text]
        environment.update(trust)
        if both:
            environment["JAVA_TOOL_OPTIONS"] = " ".join(both)
    words = how.get("front", [])
    if way.startswith("exec"):
        words = ["reprise", "exec", *(["--intercept", HOST] if "intercept" in way else []), "--"]
    if words and isinstance(command, str):
        # Words before the command need a list: a text with shell syntax becomes an argument of `sh -c`.
        command = ["sh", "-c", command] if re.search(r"[$|&]", command) else shlex.split(command)
    return environment, [*words, *command] if isinstance(command, list) else command


def line(client, way):
    """Returns the command line with which the client sends a GET of URL in this way, as the table shows it."""
    if "line" in client.ways[way]:
        return client.ways[way]["line"]
    environment, command = written(client, way, Ask(way, "GET", "URL", path="/"))
    shown = command if isinstance(command, str) else shlex.join(command)
    front = " ".join(f"{name}={value}" if " " not in value else f'{name}="{value}"' for name, value in environment.items())
    shown = shown.replace("-f CHAIN ", "").replace("/usr/bin/python3", "python3")
    shown = re.sub(r"(?<!\S)\./(?=\w)", "", shown)
    if way == "gateway":
        shown = re.sub(r"\bURL\b", f"http://127.0.0.1:{PORTS['gateway']}/", shown)
    return f"{front} {shown}".strip()


def run(stage, client, ask):
    """Runs one call of a client. Returns (exit code, standard output, error output)."""
    environment, command = written(client, ask.way, ask)
    if isinstance(command, str):
        command = ["sh", "-c", command]
    places = {"reprise": harness.options.binary, "CHAIN": f"{stage.folder}/chain"}
    command = [places.get(word, word) for word in command]
    own = {"HOME": ask.folder, "NODE_PATH": "/usr/share/nodejs", "XDG_RUNTIME_DIR": ask.folder, "LC_ALL": "C.UTF-8"}
    if ask.way == "exec --intercept":
        own["SSL_CERT_FILE"] = f"{stage.folder}/ca.pem"
    with tempfile.TemporaryFile() as complaints:
        with subprocess.Popen(command, env=clean(**own, **environment), cwd=ask.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=complaints, start_new_session=True,
                              preexec_fn=as_nobody if ask.way == "transparent" else None) as process:
            try:
                said, _ = process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said, _ = process.communicate()
        complaints.seek(0)
        return process.returncode, said, complaints.read().decode(errors="replace")


def base_of(way, scenario, path):
    scheme = "ws" if "websocket" in scenario else "http"
    if way == "gateway":
        return f"{scheme}://{LOOPBACK}:{PORTS['tls_gateway' if is_secure(way, scenario) else 'gateway']}{path}"
    return f"{scheme}{'s' if is_secure(way, scenario) else ''}://{HOST}{path}"


def lay_out(stage, client, ask, scenario, path):
    """Scripts the upstream for this case. Returns what the client must print."""
    fails = 2 if outcome(ask.way, scenario) == "retried" else 0
    if client.tree:
        tree, big = client.tree(ask.base)
        stage.origin.lay(tree, path, fails, cut=big if scenario == "download" else None)
        return HELLO
    steps, expected = {
        "get": ([503, 503, Say(200, HELLO)], HELLO),
        "post": ([503], None),
        "upload": ([503, Say(200, HELLO)], HELLO),
        "download": ([resumable(blob(), 300_000)], blob()),
        "https": ([503] * fails + [Say(200, HELLO)], HELLO),
        "websocket": ([503] * fails + [echo], b"hello"),
        "secure websocket": ([503] * fails + [echo], b"hello"),
    }[scenario]
    stage.origin.scripts[path + ask.path] = steps
    return expected


def judge(stage, client, scenario, ask, path, got):
    """Checks the number and the content of the requests that the upstream received."""
    server = stage.origin.secure if is_secure(ask.way, scenario) else stage.origin.plain
    requests = stage.origin.asked(server, path)
    # Under exec, reprise adds no Via, so the count of requests in the last line of exec proves that the requests passed
    # through reprise. This count excludes a request that was upgraded to a tunnel (row N13). Then the repeated request
    # is the proof, because the client itself does not retry.
    repeated = "websocket" in scenario and len(requests) > 1
    counted = ask.way.startswith("exec") and (repeated or re.search(r"reprise: [1-9]\d* requests", str(got)))
    through = outcome(ask.way, scenario) == "tunnelled" or counted or any(request.field("Via") for request in requests)
    equal(bool(through), True, f"through reprise; {got}")
    if scenario == "download":
        ranges = [request.field("Range") for request in requests if request.field("Range")]
        equal(len(ranges), 1, f"one resume; {got}")
    elif client.tree:
        counts = [len([one for one in requests if one.target == target]) for target in {request.target for request in requests}]
        equal(max(counts), 3 if outcome(ask.way, scenario) == "retried" else 1, f"attempts of a file; {got}")
    else:
        attempts = {"retried": 3, "once": 1, "replayed": 2, "tunnelled": 1}[outcome(ask.way, scenario)]
        equal(len(requests), attempts, f"requests at the upstream; {got}")
    if scenario in ("post", "upload"):
        equal([request.body for request in requests], [ORDER] if scenario == "post" else [blob()] * 2, "bodies")


def play(stage, client, way, scenario):
    if way == "transparent" and stage.transparent:
        raise NotPlayed("kernel", stage.transparent)
    path = stage.next_path()
    folder = tempfile.mkdtemp(dir=stage.folder)
    os.chmod(folder, 0o777)
    ask = Ask(way, {"post": "POST", "upload": "PUT"}.get(scenario, "GET"), base_of(way, scenario, path), folder=folder,
              programs=f"{stage.folder}/programs", ca=f"{stage.folder}/ca.pem", truststore=stage.truststore)
    if way == "exec --intercept":
        ask.ca = "$SSL_CERT_FILE"
    if client.name == "openssl s_client":
        ask.path = path + ask.path
        path = ""
    if scenario in ("post", "upload"):
        ask.file = f"{folder}/body"
        Path(ask.file).write_bytes(ORDER if scenario == "post" else blob())
        os.chmod(ask.file, 0o644)
    expected = lay_out(stage, client, ask, scenario, path)
    code, said, complaints = run(stage, client, ask)
    got = f"exit {code}: {said[-300:]!r} {complaints[-1500:]}"
    if scenario == "post":
        assert code != 0, f"the client is told of the 503; {got}"
    else:
        equal(code, 0, got)
        response = client.response(ask, said)
        equal(response[-len(expected):] == expected, True, got)
    judge(stage, client, scenario, ask, path or ask.path, got)


@functools.cache
def is_there(need):
    if " " not in need:
        return shutil.which(need) is not None
    return subprocess.run(["sh", "-c", need], env={**os.environ, "NODE_PATH": "/usr/share/nodejs"}, capture_output=True, check=False).returncode == 0


def absent(client, way):
    """Returns the name of a program that a case needs but that is not installed. Returns None if all are installed."""
    needs = [*client.needs, *(front for front in client.ways[way].get("front", ()) if front.startswith("proxychains"))]
    return next((need for need in needs if not is_there(need)), None)


def cases(only):
    for client in CLIENTS:
        for way in BY:
            for scenario in client.scenarios if way in client.ways else ():
                name = f"{client.name}, {way}, {scenario}"
                if re.search(only, name):
                    yield name, client, way, scenario


def version_of(client):
    done = subprocess.run(["sh", "-c", client.version], env={**os.environ, "NODE_PATH": "/usr/share/nodejs"}, capture_output=True, text=True,
                          check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    return found.group(0) if found else "not here"


def table():
    lines = ["| client | version | way | line to write | GET that fails twice | POST | upload after a 503 | download that breaks | HTTPS |",
             "|---|---|---|---|---|---|---|---|---|"]
    for client in CLIENTS:
        version = version_of(client)
        for way in BY:
            if way not in client.ways:
                lines.append(f"| {client.name} | {version} | {way} | cannot: {client.why[way]} | | | | | |")
                continue
            done = {COLUMN.get(scenario, scenario): outcome(way, scenario) for scenario in client.scenarios}
            cells = " | ".join(done.get(column, "") for column in COLUMNS)
            text = line(client, way).replace("|", "\\|")
            lines.append(f"| {client.name} | {version} | {way} | `{text}` | {cells} |")
    return "\n".join(lines)


def without_versions(text):
    return [re.sub(r"^(\| [^|]+ \|)[^|]+\|", r"\1", row) for row in text.strip().splitlines()]


def compare_table(suite, write):
    file = HERE / "README.md"
    text = file.read_text(encoding="utf-8")
    above, rest = text.split(BEGIN)
    before, below = rest.split(END)
    now = table()
    if write:
        file.write_text(f"{above}{BEGIN}\n{now}\n{END}{below}", encoding="utf-8")
        return
    same = without_versions(before) == without_versions(now)
    suite.add("the table of README.md", "passed" if same else "failed", "" if same else "--write renews it")


def apply_redirect(stage, reprise):
    """Applies the redirect rules. If the transparent way is not available, returns the reason."""
    if shutil.which("nft") is None:
        return "there is no nft here"
    try:
        if subprocess.run(["true"], preexec_fn=as_nobody, check=False).returncode != 0:
            return "there are no other users here"
    except subprocess.SubprocessError:
        return "there are no other users here"
    code, _, complaints = redirect(reprise.config_file, "--print", "nft", "--apply", "--user", "root")
    equal(code, 0, complaints)
    return ""


def play_all(stage, only, suite):
    def one(case):
        name, *rest = case
        missing, start = absent(*rest[:2]), time.monotonic()
        told = None
        try:
            if missing:
                raise NotPlayed("client", f"not installed: {missing}")
            play(stage, *rest)
        except NotPlayed as why:
            return name, 0, None, str(why)
        except Exception as error:  # pylint: disable=broad-except
            told = f"{type(error).__name__}: {error}"
        return name, time.monotonic() - start, told, None

    # Twice as many cases as cores run at once, because a client uses CPU only while it starts, and then waits.
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        for name, seconds, failure, why in pool.map(one, list(cases(only))):
            if why:
                suite.skips(name, why)
                continue
            suite.add(name, "failed" if failure else "passed", failure or "", seconds)


def inside(given):
    """Runs the cases in a separate network with its own mounts."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    suite = Suite("interop")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reprise-interop-")))
        host = stack.enter_context(faults.Host())
        stack.enter_context(NameServer({}, hosts=f"{host.theirs} {HOST}\n"))
        origin = stack.enter_context(Origin(host))
        stage = Stage(origin, str(folder))
        prepare_programs(folder)
        prepare_trust(stage)
        reprise = stack.enter_context(Reprise(**configuration(origin)))
        stage.transparent = apply_redirect(stage, reprise)
        play_all(stage, given.only, suite)
    if not given.only:
        compare_table(suite, given.write)
    return suite.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release/reprise"))
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over `client, way, scenario`")
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    chance.add_option(parser)
    return play_isolated(parser.parse_args(), inside, "interop")


if __name__ == "__main__":
    sys.exit(main())
