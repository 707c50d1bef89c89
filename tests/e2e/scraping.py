"""Runs Debian's Prometheus, which scrapes running proxies, and evaluates queries and alerts with it."""
import json
import re
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from harness import LOOPBACK, PATIENCE, eventually

LISTENS = re.compile(r'msg="Listening on" address=\S+:(\d+)')


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, check=False)


def complaints(done):
    """Yields the output of a finished program such as promtool, but only if the program failed or printed an
    error."""
    if done.returncode != 0 or done.stderr.strip():
        yield done.stdout + done.stderr


class QueryError(Exception):
    """Prometheus rejected the query. The exception has the message of Prometheus."""


class Prometheus:
    """A Prometheus server. Scrapes the `Reprise` of each job, adds the labels that a cluster would add, and
    evaluates the rule files."""

    def __init__(self, jobs, rules=(), interval="250ms"):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-prometheus-")  # pylint: disable=consider-using-with
        self.process = self.port = None
        self.log = Path(self.folder.name) / "log"
        self.file = Path(self.folder.name) / "prometheus.yml"
        self.file.write_text(json.dumps({  # JSON is valid YAML
            "global": {"scrape_interval": interval, "evaluation_interval": interval},
            "rule_files": [str(rule) for rule in rules],
            "scrape_configs": [{"job_name": job, "static_configs": [{
                "targets": ["%s:%d" % reprise.addresses["admin"]], "labels": {"namespace": "played"}}]} for job, reprise in jobs.items()],
        }), encoding="utf-8")

    def __enter__(self):
        with open(self.log, "wb") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.file}", f"--storage.tsdb.path={self.folder.name}/series",
                 f"--web.listen-address={LOOPBACK}:0"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.port = int(eventually(self.listens, "Prometheus listens").group(1))
            eventually(self.is_ready, "Prometheus is ready")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def listens(self):
        text = self.log.read_text(encoding="utf-8", errors="replace")
        if self.process.poll() is not None:
            raise AssertionError(f"Prometheus ended with {self.process.returncode}\n{text[-2000:]}")
        return LISTENS.search(text)

    def is_ready(self):
        try:
            return self.get("/-/ready")
        except urllib.error.URLError:
            return False

    def get(self, path):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{LOOPBACK}:{self.port}{path}", timeout=PATIENCE) as response:
            return response.read().decode()

    def api(self, what, **parameters):
        try:
            return json.loads(self.get(f"/api/v1/{what}?{urllib.parse.urlencode(parameters)}"))["data"]
        except urllib.error.HTTPError as error:
            raise QueryError(json.loads(error.read())["error"]) from error

    def query(self, expression):
        """Evaluates a query. Returns the labels and the current value of each series."""
        return [(row["metric"], float(row["value"][1])) for row in self.api("query", query=expression)["result"]]

    def history(self, expression, start, end, step):
        """Evaluates a query over a time range. Returns the labels of each series, and its (time, value) pairs."""
        found = self.api("query_range", query=expression, start=start, end=end, step=step)["result"]
        return [(row["metric"], [(float(at), float(value)) for at, value in row["values"]]) for row in found]

    def alerts(self):
        """Returns the labels of all pending and firing alerts."""
        return [alert["labels"] for alert in self.api("alerts")["alerts"]]
