"""Sends thousands of mixed requests to an upstream that fails at random. Every response must be correct, no effect
may occur twice, and no resource may remain in use."""
import json
import queue
import subprocess
import sys
import threading
import time
import urllib.request
import zlib
from pathlib import Path

import chance
from client import Client, Cut, chunked, head_of
from harness import LOOPBACK, Reprise, equal, eventually, options
from load_upstream import body_of

CLIENTS = 64
POLICY = {"retry": {"max_attempts": 20, "on": [500, 503, "connect", "reset"],
                    "backoff": {"initial": "1ms", "maximum": "10ms"}}, "budget": "off"}
NO_ANSWER = (500, 502, 503)  # possible statuses if a POST failed and was not repeated


class Plan:
    """A request of the test, with its expected response. The number of the request determines everything
    else."""

    def __init__(self, number):
        dice = chance.dice("plan", number)
        self.number = number
        self.method = dice.choices(("GET", "HEAD", "PUT", "DELETE", "POST"), (40, 10, 30, 10, 10))[0]
        self.size = dice.choice((0, 1, 100, 1000, 4096, dice.randrange(20000), dice.randrange(100 * 1024)))
        self.form = dice.choice(("length", "chunked"))

    def request(self, port):
        url = f"http://{LOOPBACK}:{port}/r/{self.number}?size={self.size}&form={self.form}"
        host = f"{LOOPBACK}:{port}"
        if self.method not in ("PUT", "POST"):
            return head_of(self.method, url, host)
        body = body_of(self.number, self.size)
        if self.form == "chunked":
            return head_of(self.method, url, host, [("Transfer-Encoding", "chunked")]) + chunked(body, 8000)
        return head_of(self.method, url, host, [("Content-Length", str(len(body)))]) + body

    def problem(self, response):
        """Returns a description of the fault in the response, or None if the response is correct."""
        if self.method == "POST" and response.status in NO_ANSWER:
            return None if response.reason == "not_idempotent" else f"{response.status} with {response.reason}"
        if self.method == "DELETE":
            return None if response.status == 204 else f"status {response.status}"
        if response.status != 200:
            return f"status {response.status} {response.reason}"
        if self.method == "HEAD":
            return None if response.field("Content-Length") == str(self.size) else "wrong length"
        expected = body_of(self.number, self.size)
        if self.method != "GET":
            expected = b"%d %d" % (self.number, zlib.crc32(expected))
        return None if response.body == expected else f"{len(response.body)} bytes of another request"


def work(numbers, reprise, port, problems):
    """Runs one client: takes numbers from a queue until the queue is empty, and sends the request with each
    number. Keeps one connection for as long as it stays open."""
    client = None
    while True:
        try:
            plan = Plan(numbers.get_nowait())
        except queue.Empty:
            break
        try:
            client = client or Client(reprise.forward)
            client.send(plan.request(port))
            response = client.read_response(plan.method)
            problem = plan.problem(response)
            if (response.field("Connection") or "").lower() == "close":
                client.socket.close()
                client = None
        except (OSError, Cut) as error:
            problem, client = repr(error), None
        if problem:
            problems.append(f"{plan.number} {plan.method} {plan.size} {plan.form}: {problem}")
    if client:
        client.socket.close()


def run_load(reprise, port, count, first=0):
    """Sends `count` requests, numbered from `first`. Returns descriptions of the wrong responses."""
    numbers, problems = queue.SimpleQueue(), []
    for number in range(first, first + count):
        numbers.put(number)
    clients = [threading.Thread(target=work, args=(numbers, reprise, port, problems)) for _ in range(CLIENTS)]
    start = time.monotonic()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    print(f"note: {count} requests in {time.monotonic() - start:.1f} s")
    return problems


def test_mixed_requests_through_a_failing_upstream_get_correct_responses():
    count = options.load
    script = Path(__file__).with_name("load_upstream.py")
    with subprocess.Popen([sys.executable, str(script), str(chance.source.seed)], stdout=subprocess.PIPE, text=True) as upstream:
        try:
            port = int(upstream.stdout.readline())
            settings = {"defaults": POLICY, "pool": {"idle_timeout": "1s"}, "log": {"access": False}}
            with Reprise(**settings) as reprise:
                equal(run_load(reprise, port, 1, first=count), [], "the first request")  # `count` is a number that none of the requests below uses
                eventually(lambda: reprise.metric("reprise_upstream_connections") == 0, "the pool is empty")
                before = reprise.descriptors()
                problems = run_load(reprise, port, count)
                assert not problems, f"{len(problems)} wrong answers: " + "; ".join(problems[:5])
                opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
                with opener.open(f"http://{LOOPBACK}:{port}/report", timeout=60) as response:
                    report = json.load(response)
                equal(report["mixed"], 0, "bodies with bytes of another request")
                repeated = [number for number, times in report["effects"].items()
                            if times > 1 and Plan(int(number)).method == "POST"]
                equal(repeated, [], "requests that must not be repeated and were")
                assert report["attempts"] > count * 1.1, f"only {report['attempts']} attempts: nothing was retried"
                reprise.expect_metric(count + 1, "reprise_requests_total")
                # reprise also counts an attempt whose connection died before the upstream read the request, so the
                # upstream may count fewer attempts.
                assert reprise.metric("reprise_attempts_total") >= report["attempts"]
                eventually(lambda: reprise.descriptors() <= before, "every descriptor is closed again")
                assert reprise.pipe_ends() <= 16 * options.threads, f"{reprise.pipe_ends()} ends of pipes rest"
                reprise.expect_metric(0, "reprise_client_connections")
        finally:
            upstream.kill()


test_mixed_requests_through_a_failing_upstream_get_correct_responses.timeout = 900
