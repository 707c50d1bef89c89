"""Tests a wall clock that jumps by an hour while reprise runs. The jump may affect only dates, never waits,
deadlines or connections."""
import contextlib
import datetime
import email.utils
import os
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from client import Client
from faults import in_background, played
from grpc_calls import METHOD, OK, UNAVAILABLE, answer, call, calling, status_of, trailers_only
from harness import NotPlayed, Reprise, equal, eventually, is_sanitized
from http2_upstream import Http2Upstream
from upstream import Say, Upstream

HOUR = 3600
SOURCE = Path(__file__).with_name("stepping_wall_clock.cpp")


class WallClock:
    """Controls the wall clock of every reprise that starts inside the `with` block."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-clock-")
        library = os.path.join(self.folder.name, "stepping.so")
        self.file = os.path.join(self.folder.name, "offset")
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, str(SOURCE), "-ldl"],
                       check=True)
        self.step(0)
        os.environ.update(LD_PRELOAD=library, STEPPING_WALL_CLOCK=self.file)
        return self

    def __exit__(self, *_):
        del os.environ["LD_PRELOAD"], os.environ["STEPPING_WALL_CLOCK"]
        self.folder.cleanup()

    def step(self, seconds):
        """Sets the clock's offset from the true time, in seconds."""
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as file:
            file.write(struct.pack("=q", int(seconds * 1e9)))


@contextlib.contextmanager
def hours_off():
    """Yields two jumps of a controlled clock, as a list of (clock, seconds): an hour forward, and an hour
    back."""
    with WallClock() as clock:
        yield [(clock, HOUR), (clock, -HOUR)]


def wall_of(line):
    """Returns how many hours the time of a log line is ahead of the true time."""
    written = datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
    return round((written.timestamp() - time.time()) / HOUR)


def test_I8_wall_clock_jumps_do_not_change_wait_times():
    if is_sanitized():
        raise NotPlayed("sanitizer", "the library of a sanitizer has to be loaded first")
    retry = {"deadline": "60s", "backoff": {"initial": "400ms", "maximum": "400ms", "jitter": "none"}}
    with hours_off() as jumps, Upstream({"/ahead": [503, 200], "/back": [503, 200]}) as upstream, \
            Reprise(defaults={"retry": retry}) as reprise, Client(reprise.forward) as client:
        for count, ((clock, step), path) in enumerate(zip(jumps, ("/ahead", "/back")), 1):
            start = time.monotonic()
            thread, responses = in_background(lambda path=path: client.ask("GET", upstream.url(path)))
            upstream.seen(1, path)
            clock.step(step)
            thread.join()
            equal((responses[0].status, responses[0].attempts), (200, 2), path)
            assert time.monotonic() - start >= 0.4, "sooner than asked"
            equal(wall_of(reprise.requests(count)[-1]), step // HOUR, "the clock was set off")
            clock.step(0)
    played("wall clock jumps", 2)


def test_I8_M87_wall_clock_jumps_do_not_change_the_deadline_of_a_call():
    if is_sanitized():
        raise NotPlayed("sanitizer", "the library of a sanitizer has to be loaded first")
    retry = {"backoff": {"initial": "400ms", "maximum": "400ms", "jitter": "none"}}
    steps = [trailers_only(UNAVAILABLE), answer(b"item")] * 2
    with hours_off() as jumps, Http2Upstream({METHOD: steps}) as upstream, calling(upstream, {"idempotent": "always", "retry": retry}) as (client, _):
        for count, (clock, step) in enumerate(jumps, 1):
            thread, responses = in_background(lambda: call(client, b"id", fields=[("grpc-timeout", "60S")]))
            upstream.seen(2 * count - 1)
            clock.step(step)
            thread.join()
            equal((status_of(responses[0]), responses[0].attempts), (OK, 2))
            left = int(upstream.requests[-1].field("grpc-timeout").removesuffix("m"))
            assert 0 < left <= 60_000 - 400, left
            clock.step(0)
    played("wall clock jumps", 2)


def date_in(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def test_I8_retry_after_date_is_relative_to_the_response_date_or_the_local_clock():
    """A Retry-After date is compared with the Date field of the same response. If the response has no Date, the
    Retry-After date is compared with the local clock, even if that clock is wrong."""
    if is_sanitized():
        raise NotPlayed("sanitizer", "the library of a sanitizer has to be loaded first")
    with hours_off() as jumps, Upstream({}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        for clock, step in jumps:
            clock.step(step)
            name = "ahead" if step > 0 else "back"
            dated = Say(503, b"", [("Date", date_in(0)), ("Retry-After", date_in(1))])
            undated = Say(503, b"", [("Retry-After", date_in(30))])
            upstream.scripts.update({f"/{name}/dated": [dated, 200], f"/{name}/undated": [undated, 200]})
            equal(client.ask("GET", upstream.url(f"/{name}/dated")).status, 200)
            response = client.ask("GET", upstream.url(f"/{name}/undated"))
            # If the clock is one hour ahead, the Retry-After date is in the past. If the clock is one hour
            # back, the date is further away than any permitted wait.
            expected = (200, None, 2) if step > 0 else (503, "upstream_said_later", 1)
            equal((response.status, response.reason, response.attempts), expected, name)
        eventually(lambda: reprise.metric("reprise_requests_total") == 4, "one connection carried them all")
    played("dates under a wall clock that jumped", 4)
