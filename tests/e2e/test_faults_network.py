"""Tests network faults: slow links, dead routes, and a cable that is unplugged and plugged in again."""
import contextlib
import subprocess
import threading

from client import ask
from faults import TWICE, Host, expect_failure, isolated, played
from harness import Reprise, equal, eventually, opened_after
from server import bound
from transfers import MIB, Transfers, download, upload
from upstream import Upstream

DEBUG = {"level": "debug"}
PATIENT = {"max_attempts": "unlimited", "deadline": "10m", "backoff": {"initial": "20ms", "maximum": "100ms"}}


@contextlib.contextmanager
def elsewhere(upstream, host):
    """Starts the upstream so that it listens on the other host."""
    with host.inside():
        upstream.__enter__()
    try:
        yield upstream
    finally:
        upstream.__exit__(None, None, None)


def listener_on(host):
    with host.inside():
        return bound(host.theirs)


def upstream_on(host):
    return elsewhere(Upstream(listener=listener_on(host)), host)


def transfers_on(host):
    return elsewhere(Transfers(listener=listener_on(host)), host)


def download_and_upload(reprise, upstream, size):
    response, checker = download(reprise, upstream.url(f"/{size}/down"), size)
    equal((response.status, checker.whole), (200, True), "the download")
    response = upload(reprise, upstream.url(f"/{size}/up"), size)
    equal((response.status, response.body), (200, b"%d bytes, right" % size), "the upload")


@isolated
def test_slow_link_causes_no_retries():
    with Host() as host, transfers_on(host) as upstream, Reprise() as reprise:
        host.slow_down("cable", "plug")
        download_and_upload(reprise, upstream, 3 * MIB)
        equal(reprise.metric("reprise_retries_total"), 0)
    played("slow link", 2)


@isolated
def test_unroutable_destinations_fail_with_destination_ip_unroutable():
    with Host() as host, Reprise(defaults=TWICE) as reprise:
        for number, kind in enumerate(("blackhole", "unreachable", "prohibit", "throw"), 1):
            host.ip("route", "add", kind, f"10.88.{number}.0/24")
            expect_failure(reprise, f"http://10.88.{number}.1/", 502, "destination_ip_unroutable")
            played(f"route: {kind}")
        reprise.expect_metric(8, "reprise_attempts_total", outcome="connect")


@isolated
def test_request_succeeds_when_a_missing_route_returns():
    with Host() as host, upstream_on(host) as upstream, Reprise(defaults={"retry": PATIENT}, log=DEBUG) as reprise:
        host.ip("route", "add", "unreachable", f"{host.theirs}/32")
        thread = opened_after(3, reprise, lambda: host.ip("route", "del", "unreachable", f"{host.theirs}/32"))
        response = ask(reprise, "POST", upstream.url("/x"), b"order")
        thread.join()
        equal(response.status, 200)
        assert response.attempts > 3, response.attempts
        equal(upstream.count(), 1)
    played("route comes back")


@isolated
def test_lost_return_packets_cause_a_connection_timeout():
    """The other host has no return route, so a connection attempt is neither accepted nor refused."""
    settings = {"connect_timeout": "100ms", **TWICE}
    with Host() as host, upstream_on(host) as upstream, Reprise(defaults=settings) as reprise:
        subprocess.run(["nsenter", "-t", str(host.holder.pid), "-n", "ip", "route", "add", "blackhole", f"{host.ours}/32"], check=True)
        expect_failure(reprise, upstream.url("/x"), 504, "connection_timeout")
        equal(upstream.count(), 0)
    played("blackhole on the way back")


class Pulled:
    """A thread that takes the link down after `threshold` bytes, and up again as soon as `until()` returns."""

    def __init__(self, host, threshold, until):
        self.host, self.threshold, self.until = host, threshold, until
        self.thread = threading.Thread(target=self._run)
        self.was_out = False

    def _bytes(self):
        total = 0
        for way in ("rx", "tx"):
            with open(f"/sys/class/net/cable/statistics/{way}_bytes", encoding="ascii") as file:
                total += int(file.read())
        return total

    def _run(self):
        eventually(lambda: self._bytes() > self.threshold, "bytes on the cable")
        self.host.ip("link", "set", "cable", "down")
        try:
            self.until()
            self.was_out = True
        finally:
            self.host.ip("link", "set", "cable", "up")

    def __enter__(self):
        subprocess.run(["mount", "-t", "sysfs", "none", "/sys"], check=True)  # the sysfs of this network namespace
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join()
        assert self.was_out, "the cable was never out for long enough"


def segments_are_lost():
    """Waits until the kernel has sent a segment again because no acknowledgement of the segment arrived."""

    def lost():
        told = subprocess.run(["ss", "-tinO"], capture_output=True, text=True, check=True).stdout
        return "backoff:" in told or "retrans:" in told

    eventually(lost, "a segment that is lost")


@isolated
def test_upload_survives_a_brief_link_outage_without_a_retry():
    size = 3 * MIB
    with Host() as host, transfers_on(host) as upstream, Reprise() as reprise:
        host.slow_down("cable")
        with Pulled(host, MIB, segments_are_lost):
            response = upload(reprise, upstream.url(f"/{size}/up"), size)
        equal((response.status, response.body), (200, b"%d bytes, right" % size))
        equal(reprise.metric("reprise_retries_total"), 0)
    played("cable pulled and put back")


@isolated
def test_download_resumes_after_a_long_link_outage():
    size = 3 * MIB
    settings = {"retry": PATIENT, "resume": {"stall": "300ms", "max_attempts": 1000000}, "connect_timeout": "300ms"}
    with Host() as host, transfers_on(host) as upstream, \
            Reprise(defaults=settings, log=DEBUG) as reprise:
        host.slow_down("plug")

        def until():
            opened_after(3, reprise, lambda: None).join()

        with Pulled(host, MIB, until):
            response, checker = download(reprise, upstream.url(f"/{size}/down"), size)
        equal((response.status, checker.whole), (200, True))
        reprise.expect_metric(1, "reprise_resumed_downloads_total")
    played("cable out for long")
