"""Runs the Job of deploy/kubernetes that needs no native sidecars. Its two containers run as two processes that
share a folder. The Job must complete because the work container tells reprise to quit, and no request of the work
may be lost."""
import os
import re
import subprocess
import tempfile
import threading
from pathlib import Path

from faults import isolated
from harness import PATIENCE, equal, eventually, options, without_proxies
from test_manifests import manifest
from upstream import Upstream

ORDERS = 8
SHARED = "/run/reprise"

# The work sends POSTs that must not be sent twice, GETs that need a retry, and one request that is still pending when
# the work ends.
WORK = """\
#!/bin/sh
set -e
ask() { curl -sS --fail --noproxy '' --max-time 100 "$@"; }
ask "$UPSTREAM/slow" >"$RESULTS/slow" 2>"$RESULTS/slow.error" &
until [ -e "$RESULTS/slow-is-there" ]; do :; done
for number in $(seq %d); do
  ask -X POST -d order "$UPSTREAM/orders/$number" >>"$RESULTS/orders"
  ask "$UPSTREAM/questions/$number" >>"$RESULTS/answers"
done
exit "$ENDS_WITH"
""" % ORDERS


class Pod:
    """The two containers of the manifest, with a network and a /run folder of their own."""

    def __init__(self, upstream, ends_with):
        config, job = manifest("job-old-layout.yaml")
        pod = job["spec"]["template"]["spec"]
        self.containers = {container["name"]: container for container in pod["containers"]}
        self.folder = Path(tempfile.mkdtemp(prefix="reprise-job-"))
        (self.folder / "reprise.yaml").write_text(config["data"]["reprise.yaml"], encoding="utf-8")
        self.program("work", WORK)
        self.program("reprise", f'#!/bin/sh\nexec {options.binary} "$@"\n')
        self.upstream, self.ends_with = upstream, ends_with
        for name in ("work", "reprise"):
            mounts = {mount["mountPath"] for mount in self.containers[name]["volumeMounts"]}
            assert SHARED in mounts, f"{name} sees the socket"
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        os.mkdir(SHARED)

    def program(self, name, text):
        file = self.folder / name
        file.write_text(text, encoding="ascii")
        file.chmod(0o755)

    def start_reprise(self):
        arguments = [word.replace("/etc/reprise/reprise.yaml", str(self.folder / "reprise.yaml")) for word in self.containers["reprise"]["args"]]
        log = open(self.folder / "log", "wb")  # pylint: disable=consider-using-with
        with log:
            started = subprocess.Popen([options.binary, *arguments], stdout=log, stderr=log, env=without_proxies())
        eventually(lambda: '"message":"ready"' in self.log(), "reprise is ready")
        return started

    def start_work(self):
        work = self.containers["work"]
        script = work["args"][0].replace("/usr/local/bin/work", str(self.folder / "work"))
        given = {variable["name"]: variable["value"] for variable in work["env"] if variable["name"].lower() != "no_proxy"}
        environment = {**without_proxies(), **given, "PATH": f"{self.folder}:{os.environ['PATH']}", "UPSTREAM": self.upstream,
                       "RESULTS": str(self.folder), "ENDS_WITH": str(self.ends_with)}
        # The output goes to a file: with a pipe, a background process that still runs would keep the pipe open.
        with open(self.folder / "output", "wb") as output:
            return subprocess.Popen([*work["command"], script], env=environment, stdout=output, stderr=output)

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8")

    def result(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def play_job(ends_with):
    gate = threading.Event()
    pod = None

    def held(connection, _request):
        (pod.folder / "slow-is-there").write_text("", encoding="ascii")
        gate.wait(PATIENCE)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
        return True
    scripts = {"/slow": [held], **{f"/questions/{number}": [503, "reset", 200] for number in range(1, ORDERS + 1)}}
    with Upstream(scripts) as upstream:
        pod = Pod(upstream.url(""), ends_with)
        reprise = pod.start_reprise()
        with pod.start_work() as work:
            try:
                equal(work.wait(PATIENCE), ends_with)
                equal(pod.result("output"), "shutting down: open requests may finish within shutdown.grace\n",
                      "what quit was told")
                eventually(lambda: "shutting down" in pod.log(), "reprise was told")
                equal(reprise.poll(), None, "it waits for the last answer")
            finally:
                gate.set()
                code = reprise.wait(PATIENCE)
        equal(code, 0, pod.log()[-2000:])
        eventually(lambda: pod.result("slow") == "slow", "what was under way was answered")
        equal(pod.result("orders").count("answer 1 to /orders/"), ORDERS)
        equal(pod.result("answers").count("answer 3 to /questions/"), ORDERS)
        equal({path: count for path, count in upstream.orders.items() if path.startswith("/orders/") and count != 1}, {}, "sent once each")
        assert not os.listdir(SHARED), "the socket is gone"
        assert not re.search(r'"level":"error"', pod.log()), pod.log()[-2000:]


@isolated
def test_job_with_an_ordinary_sidecar_container_completes_without_losing_requests():
    play_job(ends_with=0)


@isolated
def test_failed_job_with_an_ordinary_sidecar_container_keeps_the_exit_code_of_the_job():
    play_job(ends_with=3)


@isolated
def test_quit_command_always_gets_a_reply_before_the_process_ends():
    """No request is pending, so the process ends at once. Nevertheless the caller of `quit` must get its reply."""
    with Upstream() as upstream:
        pod = Pod(upstream.url(""), 0)
        for _ in range(20):
            reprise = pod.start_reprise()
            done = subprocess.run([options.binary, "quit", "--control", f"{SHARED}/control.sock"], capture_output=True, text=True,
                                  timeout=PATIENCE, check=False)
            equal((done.returncode, done.stdout, done.stderr),
                  (0, "shutting down: open requests may finish within shutdown.grace\n", ""))
            equal(reprise.wait(PATIENCE), 0)
