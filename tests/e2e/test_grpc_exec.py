"""Tests `reprise exec` with a real gRPC client (grpcio) and a gRPC server that fails: every call ends without an error."""
import contextlib
import subprocess
import tempfile
from pathlib import Path

from harness import LOOPBACK, NotPlayed, PATIENCE, equal
from test_exec import clean, ran

ALONE = True  # the client must send within 200 ms after its CONNECT
PYTHON = "/usr/bin/python3"  # has the modules of Debian's packages
PROGRAMS = Path(__file__).resolve().parent.parent / "interop/programs/grpc"
CALLS = 20  # that the client makes. Each fails twice
POLICY = """\
version: 1
defaults: {retry: {backoff: {initial: 5ms, maximum: 20ms}}, budget: off}
routes: [{name: probe, match: {grpc: ["probe.Probe/Unary", "probe.Probe/*Stream", probe.Probe/Bidi]}, idempotent: always}]
presets: [grpc]
"""


@contextlib.contextmanager
def flaky_server(*arguments):
    """Yields the ports of the server."""
    if subprocess.run([PYTHON, "-c", "import grpc"], capture_output=True, check=False).returncode != 0:
        raise NotPlayed("client", "python3-grpcio is not installed")
    with subprocess.Popen([PYTHON, str(PROGRAMS / "server.py"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean()) as server:
        try:
            yield [int(port) for port in server.stdout.readline().split()]
        finally:
            server.stdin.close()


def client_of(port):
    return PYTHON, str(PROGRAMS / "with_grpcio.py"), f"{LOOPBACK}:{port}", "plain", "calls"


def test_M120_exec_hides_the_failures_of_a_server_from_a_grpc_client():
    with flaky_server() as (port,), tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        direct = subprocess.run(client_of(port), capture_output=True, text=True, timeout=PATIENCE, check=False, env=clean())
        assert direct.returncode != 0 and "StatusCode.UNAVAILABLE" in direct.stderr, direct
        file.write(POLICY)
        file.flush()
        code, out, err = ran("exec", "-c", file.name, "--", *client_of(port))
        equal((code, out), (0, "ok\n"), err)
        equal(err, f"reprise: {CALLS} requests, {CALLS} retried, {CALLS} recovered\n")
