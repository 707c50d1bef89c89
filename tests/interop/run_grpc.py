#!/usr/bin/env python3
"""Runs real gRPC clients through reprise: grpcio, grpc-go, grpc-js and grpc-java, each through gateway, CONNECT and interception.

    python3 tests/interop/run_grpc.py [--bin build/release/reprise] [--only PATTERN] [--pings SECONDS]

Each client makes calls of all four kinds to a server that fails two of three attempts, and no error may be visible. Then it
tests a deadline, a cancel, binary metadata in both directions and messages of 4 MiB. grpc-go also sends 20,000 messages, each
after the response to the previous one, because it pings whenever a message arrives. With --pings, it also keeps a call open
for so long, with a ping every 10 s. The libraries come from their registries; a client that cannot be built is skipped."""
import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent)]

import chance  # noqa: E402
import harness  # noqa: E402
from harness import LOOPBACK, PATIENCE, Reprise, equal  # noqa: E402
from isolated import play_isolated  # noqa: E402
from junit import Suite  # noqa: E402
from names import NameServer  # noqa: E402
from test_exec import clean  # noqa: E402
from test_grpc_exec import POLICY, PYTHON, flaky_server  # noqa: E402
from tls import authority  # noqa: E402

HOST = "app.test"
WAYS = ("gateway", "CONNECT", "exec --intercept")
PROBE = {"name": "probe", "match": {"grpc": ["probe.Probe/Unary", "probe.Probe/*Stream", "probe.Probe/Bidi"]}, "idempotent": "always"}
# CLIENT: commands that build it, and the command that runs it. FOLDER: the folder of the programs.
CLIENTS = {
    "grpcio": ((f"{PYTHON} -c 'import grpc'",), (PYTHON, "FOLDER/with_grpcio.py")),
    "grpc-go": (("GOFLAGS=-mod=mod CGO_ENABLED=0 go build -o with_grpc_go with_grpc_go.go",), ("FOLDER/with_grpc_go",)),
    "grpc-js": (("npm install --no-audit --no-fund",), ("node", "FOLDER/with_grpc_js.js")),
    "grpc-java": (("mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib", "javac -cp 'lib/*' -d . WithGrpcJava.java"),
                  ("java", "-cp", "FOLDER:FOLDER/lib/*", "WithGrpcJava")),
}
JAVA_PROXY = "-Dhttps.proxyHost={0} -Dhttps.proxyPort={1}"


def build(folder):
    """Builds every client. Returns {client: why it cannot be built}."""
    shutil.copytree(HERE / "programs/grpc", folder, dirs_exist_ok=True)
    missing = {}
    for client, (commands, _) in CLIENTS.items():
        for command in commands:
            done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                missing.setdefault(client, (done.stdout + done.stderr)[-200:])
    return missing


class Stage:
    """The server and the reprise that all cases share."""

    def __init__(self, folder, reprise, ports):
        self.folder, self.reprise, (self.plain, self.secure) = folder, reprise, ports
        self.java_trust = f"{folder}/truststore"
        if shutil.which("keytool"):
            subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", authority().file, "-keystore", self.java_trust,
                            "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True)
        Path(f"{folder}/policy.yaml").write_text(POLICY, encoding="ascii")

    def command(self, client, target, *words):
        return [*(word.replace("FOLDER", self.folder) for word in CLIENTS[client][1]), target, *words]

    def run(self, command, **environment):
        return subprocess.run(command, env=clean(**environment), cwd=self.folder, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)

    def play(self, client, way, names, *seconds):
        """Runs a client in this way. Returns its exit code, its output and its error output."""
        checks = (names + (",dialog" if client == "grpc-go" else ""), *seconds)
        proxy_host, proxy_port = self.reprise.forward
        if way == "gateway":
            done = self.run(self.command(client, "%s:%d" % self.reprise.gateway, "plain", *checks))
        elif way == "CONNECT":
            proxy = self.reprise.proxy_url
            done = self.run(self.command(client, f"{HOST}:{self.plain}", "plain", *checks), http_proxy=proxy, https_proxy=proxy,
                            HTTPS_PROXY=proxy, JAVA_TOOL_OPTIONS=JAVA_PROXY.format(proxy_host, proxy_port))
        else:
            command = self.command(client, f"{HOST}:{self.secure}", "tls", *checks)
            done = self.run([harness.options.binary, "exec", "--intercept", HOST, "-c", f"{self.folder}/policy.yaml", "--", *command],
                            SSL_CERT_FILE=authority().file)
        return done.returncode, done.stdout, done.stderr

    def direct(self, client):
        return self.run(self.command(client, f"{HOST}:{self.plain}", "plain", "calls")).returncode


def play(stage, client, way, checks):
    code, said, complaints = stage.play(client, way, *checks)
    equal((code, said[-3:]), (0, "ok\n"), complaints[-1500:])
    if way == "exec --intercept":
        assert re.search(r"reprise: [0-9]+ requests, 20 retried, 20 recovered", complaints), complaints[-500:]


def play_and_report(name, case, suite):
    start = time.monotonic()
    try:
        case()
        suite.add(name, "passed", "", time.monotonic() - start)
    except Exception as error:  # pylint: disable=broad-except
        suite.fails(name, str(error), time.monotonic() - start)


def play_all(stage, given, missing, suite):
    checks = ["calls,rest,pings", str(given.pings)] if given.pings else ["calls,rest"]
    for client in CLIENTS:
        if client in missing:
            suite.skips(client, f"client: {missing[client]}")
            continue
        if re.search(given.only, f"{client}, direct"):
            # The server really fails: without reprise, the client sees an error.
            play_and_report(f"{client}, direct", lambda: equal(stage.direct(client) != 0, True), suite)  # pylint: disable=cell-var-from-loop
        for way in WAYS:
            if re.search(given.only, f"{client}, {way}"):
                play_and_report(f"{client}, {way}", lambda: play(stage, client, way, checks), suite)  # pylint: disable=cell-var-from-loop


def inside(given):
    """Runs in its own network, in which HOST is this host."""
    suite = Suite("interop gRPC")
    missing = dict(line.split("\t", 1) for line in os.environ["MISSING"].splitlines())
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(NameServer({}, hosts=f"{LOOPBACK} {HOST}\n"))
        ports = stack.enter_context(flaky_server(*authority().issue(names=(f"DNS:{HOST}",))))
        listeners = [{"mode": "forward", "bind": f"{LOOPBACK}:0"}, {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": f"http://{HOST}:{ports[0]}"}]
        reprise = stack.enter_context(Reprise(listeners=listeners, routes=[PROBE], defaults={"budget": "off"}))
        play_all(Stage(given.folder, reprise, ports), given, missing, suite)
    return suite.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(HERE.parent.parent / "build/release/reprise"))
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over `client, way`")
    parser.add_argument("--pings", type=int, default=0, metavar="SECONDS", help="also keeps each client connected for so long")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    chance.add_option(parser)
    with tempfile.TemporaryDirectory(prefix="reprise-grpc-") as folder:
        def prepare():
            missing = "\n".join(f"{client}\t{' '.join(why.split())}" for client, why in build(folder).items())
            return ["--folder", folder], {"MISSING": missing}
        return play_isolated(parser.parse_args(), inside, "interop gRPC", prepare)


if __name__ == "__main__":
    sys.exit(main())
