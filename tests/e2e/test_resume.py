"""Tests resumed downloads with a real curl and an upstream that breaks its responses. The file must be complete, or
the client must see that it is cut."""
import hashlib

import chance
from client import ask
from harness import Curl, Reprise, equal
from upstream import Upstream, reset

MIB = 1 << 20


class Breaking:
    """One file with a strong ETag and support for ranges. Response n breaks at byte `places[n]`; later responses are
    complete."""

    def __init__(self, size, places, tags=('"v1"',), resets=()):
        self.file = chance.content("file", size)
        self.places, self.tags, self.resets = list(places), list(tags), set(resets)
        self.ranges = []

    def __call__(self, connection, request):
        turn = len(self.ranges)
        self.ranges.append((request.field("Range"), request.field("If-Range")))
        tag = self.tags[min(turn, len(self.tags) - 1)]
        first = int((request.field("Range") or "bytes=0-")[6:-1])
        honours = first > 0 and request.field("If-Range") == tag
        start = first if honours else 0
        end = self.places[turn] if turn < len(self.places) else len(self.file)
        lines = [f"HTTP/1.1 {206 if honours else 200} Told", f"ETag: {tag}", f"Content-Length: {len(self.file) - start}"]
        if honours:
            lines += [f"Content-Range: bytes {start}-{len(self.file) - 1}/{len(self.file)}", "X-Only: 206"]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        connection.sendall(memoryview(self.file)[start:end])
        if turn in self.resets:
            reset(connection)
        return turn >= len(self.places)


def test_large_download_survives_five_breaks():
    script = Breaking(100 * MIB, [3, 10 * MIB + 1, 31 * MIB, 77 * MIB + 12345, 100 * MIB - 1])
    with Upstream({"/file": [script]}) as upstream, Reprise() as reprise:
        curl = Curl(reprise, upstream.url("/file"))
        equal((curl.code, curl.status), (0, 200), curl.stderr)
        equal(hashlib.sha256(curl.body).hexdigest(), hashlib.sha256(script.file).hexdigest())
        equal((curl.field("Reprise-Attempts"), curl.field("Reprise-Reason"), curl.field("X-Only")), ("1", None, None))
        equal(script.ranges[0], (None, None))
        equal(script.ranges[1:], [(f"bytes={place}-", '"v1"') for place in script.places])
        reprise.expect_metric(1, "reprise_resumed_downloads_total", route="default")
        reprise.expect_metric(1, "reprise_recovered_total", route="default")
        reprise.expect_metric(5, "reprise_retries_total", reason="resumed")
        reprise.expect_metric(5, "reprise_attempts_total", outcome="truncated")
        line = reprise.requests(1)[0]
        equal((line["status"], line["ending"], line["reason"], line["response_bytes"]),
              (200, "complete", "success", 100 * MIB))
        equal([attempt["reason"] for attempt in line["attempts"]][-1], "success")
        equal({attempt["reason"] for attempt in line["attempts"][:-1]}, {"resumed"})
        equal([attempt.get("error") for attempt in line["attempts"]][0], "truncated")


def test_download_survives_upstream_resets():
    script = Breaking(5 * MIB, [MIB, 2 * MIB], resets=[0, 1])
    with Upstream({"/file": [script]}) as upstream, Reprise() as reprise:
        curl = Curl(reprise, upstream.url("/file"))
        equal((curl.code, curl.status), (0, 200), curl.stderr)
        equal(curl.body == script.file, True)


def test_download_after_a_declined_upgrade_is_resumed():
    """Apache HttpClient 5.4 offers an upgrade to TLS with every request, and the upstream declines the offer."""
    script = Breaking(MIB, [1000, 50_000])
    offers = [("Connection", "Upgrade"), ("Upgrade", "TLS/1.2")]
    with Upstream({"/file": [script]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/file"), fields=offers)
        equal((response.status, response.body == script.file), (200, True))
        first, *rest = upstream.seen(3, "/file")
        equal((first.field("Upgrade"), first.field("Connection")), ("TLS/1.2", "upgrade"))
        equal([(request.field("Upgrade"), request.field("Connection")) for request in rest], [(None, None)] * 2)
        reprise.expect_metric(2, "reprise_retries_total", reason="resumed")


def test_download_is_cut_when_the_file_changes():
    script = Breaking(MIB, [MIB // 2], tags=['"v1"', '"v2"'])
    with Upstream({"/file": [script]}) as upstream, Reprise() as reprise:
        curl = Curl(reprise, upstream.url("/file"))
        equal((curl.code in (18, 56), curl.status), (True, 200), curl.stderr)
        # When reprise cuts the response, bytes that are still in transit are lost. So curl may have received
        # fewer bytes than reprise has sent.
        equal(script.file[:MIB // 2].startswith(curl.body), True)
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="resume_mismatch")
        reprise.expect_metric(1, "reprise_requests_total", code="cut")
        line = reprise.requests(1)[0]
        equal((line["status"], line["ending"], line["reason"]), (200, "cut", "resume_mismatch"))


def test_broken_download_is_cut_if_resume_is_disabled():
    script = Breaking(MIB, [MIB // 2])
    off = {"resume": {"enabled": False}}
    with Upstream({"/file": [script]}) as upstream, Reprise(defaults=off) as reprise:
        curl = Curl(reprise, upstream.url("/file"))
        equal((curl.code in (18, 56), curl.status, len(script.ranges)), (True, 200, 1), curl.stderr)
        reprise.expect_metric(1, "reprise_retries_refused_total", reason="response_started")
