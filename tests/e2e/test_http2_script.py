"""Tests the scripted HTTP/2 upstream itself, with curl, with nghttp, and with a raw client that violates HTTP/2."""
import contextlib
import hashlib
import os
import re
import socket
import subprocess
import tempfile

import http2_frames as h2
from harness import LOOPBACK, PATIENCE, equal, eventually, needs, without_proxies
from http2_upstream import Http2Upstream, Reply, TlsHttp2Upstream, aborts, closes, excludes, refuses, resets
from reader import Cut, Reader
from tls import authority

GET = [(":method", "GET"), (":scheme", "http"), (":path", "/x"), (":authority", "h")]
POST = [(":method", "POST"), *GET[1:]]


def output_of(*command):
    return subprocess.run(command, capture_output=True, env=without_proxies(), timeout=2 * PATIENCE, check=False)


def curl(url, *arguments):
    """Returns the exit code, the heads and the body that the real curl receives over HTTP/2."""
    with tempfile.NamedTemporaryFile() as head:
        done = output_of("curl", "-sS", "--http2-prior-knowledge", "--noproxy", "*", "--max-time", str(PATIENCE), "-D", head.name, *arguments, url)
        return done.returncode, head.read().decode(), done.stdout


def frames_at_nghttp(upstream, *arguments):
    """Returns the frames that nghttp receives, as nghttp prints them."""
    needs("nghttp")
    text = output_of("nghttp", "-v", "-n", "--no-dep", *arguments, upstream.url("/x")).stdout.decode()
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    frames = re.findall(r"recv (\w+) frame <length=(\d+), flags=0x(\w+), stream_id=(\d+)>\n((?: {10}.*\n)*)", text)
    return [(kind, int(length), int(flags, 16), re.sub(r"\s+", " ", more)) for kind, length, flags, _, more in frames if kind != "SETTINGS" or not int(flags, 16)]


class RawClient:
    """A client that sends single frames, and does not check what it receives."""

    def __init__(self, upstream, settings=None):
        compression = h2.compression()
        self.socket = socket.create_connection((LOOPBACK, upstream.port), PATIENCE)
        self.reader, self.encoder, self.decoder = Reader(self.socket), compression.Encoder(), compression.Decoder()
        self.socket.sendall(h2.PREFACE + h2.settings_frame(settings or {}))
        equal(self.read()[0], h2.SETTINGS)
        self.send(h2.frame(h2.SETTINGS, h2.ACK))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *frames):
        self.socket.sendall(b"".join(frames))

    def head(self, stream, fields, **how):
        self.send(*h2.head_frames(stream, self.encoder.encode(fields), **how))

    def read(self):
        """Returns type, flags, stream and payload of the next frame."""
        head = self.reader.read_bytes(9)
        return head[3], head[4], int.from_bytes(head[5:], "big"), self.reader.read_bytes(int.from_bytes(head[:3], "big"))

    def read_until(self, kind, stream):
        """Reads frames up to the first frame of this type on this stream, and returns its flags and payload."""
        while True:
            found, flags, of, payload = self.read()
            if (found, of) == (kind, stream) and not (kind == h2.SETTINGS and flags & h2.ACK):
                return flags, payload

    def expect_end(self):
        with contextlib.suppress(Cut, OSError):
            while True:
                self.read()


def test_http2_script_curl_gets_body_and_interim_responses():
    reply = Reply(200, b"hello", [("x-one", "1")], interim=[(103, [("link", "</a>")])])
    with Http2Upstream({"/x": [reply], "/redirect": [Reply(302, b"")]}, optimistic=True) as upstream:
        code, heads, body = curl(upstream.url("/x"))
        equal((code, body, re.findall(r"HTTP/2 (\d+)", heads)), (0, b"hello", ["103", "200"]))
        assert "x-one: 1" in heads and "link: </a>" in heads, heads
        equal(curl(upstream.url("/redirect"))[1].split()[:2], ["HTTP/2", "302"])
        equal(upstream.versions(), ["HTTP/2"] * 2)
        request = upstream.requests[0]
        equal((request.method, request.authority, request.field("Accept"), request.order), ("GET", f"{LOOPBACK}:{upstream.port}", "*/*", 0))


def test_http2_script_serves_http_1_on_the_same_port():
    with Http2Upstream({"/x": [Reply(200, b"hello")]}) as upstream:
        equal(output_of("curl", "-sS", "--noproxy", "*", "-d", "body", upstream.url("/x")).stdout, b"hello")
        equal(([request.body for request in upstream.requests], upstream.versions()), ([b"body"], ["HTTP/1.1"]))


def test_http2_script_bodies_of_5_mb_are_equal_to_the_byte():
    content = os.urandom(1 << 16) * 80
    with Http2Upstream({"/down": [Reply(200, content)], "/padded": [Reply(200, content[:300_000], padding=7, size=1000, empty=3)]},
                       optimistic=True) as upstream, tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        equal(curl(upstream.url("/up"), "--data-binary", f"@{file.name}")[0], 0)
        equal((upstream.requests[0].size, upstream.requests[0].digest), (len(content), hashlib.sha256(content).hexdigest()))
        assert curl(upstream.url("/down"))[2] == content
        assert curl(upstream.url("/padded"))[2] == content[:300_000]


def test_http2_script_curl_works_over_tls():
    with TlsHttp2Upstream({"/x": [Reply(200, b"hello")]}, optimistic=True) as upstream:
        done = output_of("curl", "-sS", "--noproxy", "*", "--cacert", authority().file, "-w", "%{http_version}", upstream.https_url("/x"))
        equal(done.stdout, b"hello2", done.stderr)


def test_http2_script_nghttp_receives_each_scripted_frame():
    def played(step, **more):
        with Http2Upstream({"/x": [step]}, optimistic=True, **more) as upstream:
            return frames_at_nghttp(upstream)
    settings = {h2.MAX_CONCURRENT_STREAMS: 3, h2.INITIAL_WINDOW_SIZE: 0, h2.MAX_FRAME_SIZE: 20000}
    first = played(200, settings=settings)[0]
    assert "SETTINGS_MAX_CONCURRENT_STREAMS(0x03):3" in first[3] and "SETTINGS_INITIAL_WINDOW_SIZE(0x04):0" in first[3], first
    codes = {h2.CANCEL: "CANCEL(0x08)", h2.REFUSED_STREAM: "REFUSED_STREAM(0x07)", h2.NO_ERROR: "NO_ERROR(0x00)"}
    for code, word in codes.items():
        kind, _, _, more = played(resets(code))[-1]
        assert kind == "RST_STREAM" and word in more, (kind, more)
    found = [more for kind, _, _, more in played(excludes(h2.ENHANCE_YOUR_CALM)) if kind == "GOAWAY"]
    assert len(found) == 1 and "last_stream_id=0, error_code=ENHANCE_YOUR_CALM(0x0b)" in found[0], found
    frames = played(Reply(200, b"abcdef", size=2, padding=3, empty=1, parts=3, trailers=[("x", "y")]))
    equal([(kind, length, flags) for kind, length, flags, _ in frames if kind == "DATA"],
          [("DATA", 4, h2.PADDED)] + [("DATA", 6, h2.PADDED)] * 3, "DATA")
    equal(frames[-1][0:3:2], ("HEADERS", h2.END_HEADERS | h2.END_STREAM), "trailers")


def test_http2_script_nghttp_sees_connections_end_without_goaway():
    for step in (closes, aborts):
        with Http2Upstream({"/x": [step]}, optimistic=True) as upstream:
            equal([kind for kind, *_ in frames_at_nghttp(upstream) if kind not in ("SETTINGS", "WINDOW_UPDATE")], [], step.__name__)
            equal((upstream.connections, len(upstream.requests)), (1, 1))


def test_http2_script_rotation_excludes_streams_above_the_last_id():
    for warns in (False, True):
        with Http2Upstream(rotate=2, warns=warns) as upstream, RawClient(upstream) as client:
            for stream in (1, 3, 5):
                client.head(stream, GET, end=stream != 3)
            last = int.from_bytes(client.read_until(h2.GOAWAY, 0)[1][:4], "big")
            equal(last, h2.MOST_STREAMS if warns else 3)
            if warns:  # stream 5 began before the client knew the GOAWAY
                client.read_until(h2.HEADERS, 5)
                client.send(h2.frame(h2.PING, h2.ACK, 0, b"goaway??"))
                equal(int.from_bytes(client.read_until(h2.GOAWAY, 0)[1][:4], "big"), 5)
            client.send(h2.data_frame(3, b"", True))
            client.read_until(h2.HEADERS, 3)
            client.expect_end()
            equal((len(upstream.requests), upstream.links[0].ignored), (3, 0) if warns else (2, 1))


def test_http2_script_responds_within_the_windows_of_the_client():
    with Http2Upstream({"/x": [Reply(200, b"0123456789", trailers=[("a", "b")])]}) as upstream, \
            RawClient(upstream, {h2.INITIAL_WINDOW_SIZE: 4}) as client:
        client.head(1, GET, end=True)
        equal(client.read_until(h2.DATA, 1)[1], b"0123")
        client.send(h2.frame(h2.WINDOW_UPDATE, 0, 1, h2.number(1)))
        equal(client.read_until(h2.DATA, 1)[1], b"4")
        client.send(h2.settings_frame({h2.INITIAL_WINDOW_SIZE: 2}), h2.frame(h2.WINDOW_UPDATE, 0, 1, h2.number(3)))
        equal(client.read_until(h2.DATA, 1)[1], b"5", "the window was -2")
        client.send(h2.settings_frame({h2.INITIAL_WINDOW_SIZE: 100}))
        equal(client.read_until(h2.DATA, 1), (0, b"6789"))
        equal(client.read_until(h2.HEADERS, 1)[0], h2.END_HEADERS | h2.END_STREAM)


def expects_violation(words, *violations, **more):
    """Checks that the upstream reports exactly these violations of a client. Each violation is a function of a RawClient."""
    with Http2Upstream(**more) as upstream, RawClient(upstream) as client:
        eventually(lambda: upstream.links[0].acknowledged, "the SETTINGS are acknowledged")
        for violate in violations:
            violate(client)
        eventually(lambda: upstream.violations, words)
        found, upstream.violations = upstream.violations, []
        assert all(words in one for one in found), (words, found)


def test_http2_script_reports_each_violation_of_a_client():
    def head(*more, fields=None, stream=1, end=True):
        return lambda client: client.head(stream, fields or [*GET, *more], end=end)
    def data(length, stream=1, end=False):
        return lambda client: client.send(h2.data_frame(stream, b"x" * length, end))
    for name in ("connection", "host", "transfer-encoding", "upgrade", "keep-alive"):
        expects_violation(f"a field of HTTP/1: {name}", head((name, "x")))
    expects_violation("bad name 'X-A'", head(("X-A", "1")))
    expects_violation("te: gzip", head(("te", "gzip")))
    expects_violation("bad value of x", head(("x", " 1")))
    expects_violation("after a field", head(fields=[*GET[1:], ("x", "1"), GET[0]]))
    expects_violation("the pseudo-fields are", head(fields=GET[1:]))
    expects_violation("stream 2 after", head(stream=2))
    expects_violation("stream 3 after stream 3", head(stream=3), head(stream=3))
    expects_violation("2 streams are open, 1 are allowed", head(end=False), head(stream=3), settings={h2.MAX_CONCURRENT_STREAMS: 1})
    expects_violation("beyond its window", head(fields=POST, end=False), data(11), settings={h2.INITIAL_WINDOW_SIZE: 10})
    expects_violation("a frame of 16385 bytes", head(fields=POST, end=False), data(16385))
    expects_violation("DATA on stream 1, which is closed", head(), data(1))
    expects_violation("1 bytes of 2", head(fields=[*POST, ("content-length", "2")], end=False), data(1, end=True))
    expects_violation("trailers that do not end", head(end=False), head(fields=[("a", "b")], end=False))
    expects_violation("bad name ':path'", head(end=False), head(fields=[(":path", "/")]))
    expects_violation("a frame of type 5", lambda client: client.send(h2.frame(h2.PUSH_PROMISE, 4, 1, h2.number(2))))
    expects_violation("WINDOW_UPDATE by 0", lambda client: client.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, h2.number(0))))
    expects_violation("DATA beyond the window of the connection", head(fields=POST, end=False), *[data(16384)] * 5,
                      settings={h2.INITIAL_WINDOW_SIZE: 1 << 20}, opens_windows=False, opens_connection_window=False)


def test_http2_script_reports_streams_before_settings_and_after_goaway():
    with Http2Upstream() as upstream, socket.create_connection((LOOPBACK, upstream.port)) as early:
        early.sendall(h2.PREFACE + h2.settings_frame({}) + b"".join(h2.head_frames(1, h2.compression().Encoder().encode(GET), end=True)))
        eventually(lambda: upstream.violations, "the early stream is reported")
        assert "before the client had acknowledged" in upstream.violations.pop()
    with Http2Upstream({"/x": [excludes()]}) as upstream, RawClient(upstream) as client:
        client.head(1, GET, end=True)
        client.read_until(h2.PING, 0)
        client.head(3, GET, end=True)  # began before the client knew the GOAWAY
        client.send(h2.frame(h2.PING, h2.ACK, 0, b"goaway??"))
        eventually(lambda: upstream.links[0].knows_goaway, "the PING is acknowledged")
        equal((upstream.violations, upstream.links[0].ignored), ([], 2))
        client.head(5, GET, end=True)
        eventually(lambda: upstream.violations, "the late stream is reported")
        assert "stream 5 began after GOAWAY" in upstream.violations.pop()


def test_http2_script_violation_fails_the_case():
    try:
        with Http2Upstream() as upstream, RawClient(upstream) as client:
            client.head(2, GET, end=True)
            eventually(lambda: upstream.violations, "the violation is reported")
    except AssertionError as error:
        assert "stream 2" in str(error), error
        return
    raise AssertionError("the violation was not reported")


def test_http2_script_refuses_after_the_body_and_counts_effects():
    with Http2Upstream({"/x": [refuses, resets(h2.INTERNAL_ERROR, effect=True), 200, 503]}) as upstream, RawClient(upstream) as client:
        for stream in (1, 3, 5, 7):
            client.head(stream, [*POST, ("x-id", "a")])
            client.send(h2.data_frame(stream, b"body", True))
            kind = h2.HEADERS if stream > 3 else h2.RST_STREAM
            payload = client.read_until(kind, stream)[1]
            if kind == h2.RST_STREAM:
                equal(payload, h2.number(h2.REFUSED_STREAM if stream == 1 else h2.INTERNAL_ERROR))
        equal((upstream.effects, [request.body for request in upstream.requests]), ({"a": 2}, [b"body"] * 4))
