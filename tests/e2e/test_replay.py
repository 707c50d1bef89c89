"""Large uploads: played again from disk byte for byte, in constant memory, and past a disk that will not take them."""
import contextlib
import hashlib
import os
import resource
import socket
import threading
from pathlib import Path

from client import Client, head_of
from harness import LOOPBACK, Reprise, equal, eventually, open_links, options
from upstream import Upstream

MIB = 1 << 20
BLOCK = bytes(range(251)) * 4177  # about a mebibyte, and no power of two


def is_sanitized():
    """A build under a sanitizer is slow, and its memory is not its own."""
    text = Path(options.binary).read_bytes()
    return b"__asan_init" in text or b"__tsan_init" in text


def peak_memory(reprise):
    """The most resident memory so far, in bytes."""
    status = Path(f"/proc/{reprise.process.pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


class Sink:
    """An upstream that hashes (or only counts) counted bodies of any length, and answers the n-th with the n-th status."""

    def __init__(self, statuses, hashed=True):
        self.statuses, self.hashed, self.seen = statuses, hashed, []
        self.listener = socket.create_server((LOOPBACK, 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def url(self, path):
        return f"http://{LOOPBACK}:{self.port}{path}"

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection:
                    while self._serve(connection):
                        pass

    def _serve(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            data = connection.recv(65536)
            if not data:
                return False
            head += data
        head, body = head.split(b"\r\n\r\n", 1)
        left = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        digest, count, room = hashlib.sha256(body), len(body), bytearray(MIB)
        left -= len(body)
        while left > 0:
            # The kernel drops what nobody wants to look at.
            flags = 0 if self.hashed else socket.MSG_TRUNC
            got = connection.recv_into(room, min(left, MIB), flags)
            if got == 0:
                return False
            if self.hashed:
                digest.update(memoryview(room)[:got])
            left, count = left - got, count + got
        self.seen.append((count, digest.hexdigest()))
        status = self.statuses[min(len(self.seen), len(self.statuses)) - 1]
        connection.sendall(b"HTTP/1.1 %d Told\r\nContent-Length: 4\r\n\r\ntold" % status)
        return True


def upload(reprise, url, size):
    """PUTs that many bytes of a pattern; the answer, and the digest of what was sent."""
    digest, left = hashlib.sha256(), size
    with Client(reprise.forward, 120) as client:
        client.send(head_of("PUT", url, LOOPBACK, [("Content-Length", str(size))]))
        while left > 0:
            part = BLOCK[:left]
            client.send(part)
            digest.update(part)
            left -= len(part)
        return client.read_answer(), digest.hexdigest()


def test_a_long_upload_is_played_again_in_constant_memory():
    sanitized = is_sanitized()
    size = 32 * MIB if sanitized else 256 * MIB
    with Sink([503, 200]) as sink, Reprise(defaults={"replay": {"disk": "512MiB"}}) as reprise:
        answer, sent = upload(reprise, sink.url("/x"), size)
        equal((answer.status, answer.attempts), (200, 2))
        equal(sink.seen, [(size, sent)] * 2)
        peak = peak_memory(reprise)
        print(f"note: {size // MIB} MiB twice, {peak / MIB:.1f} MiB resident at most")
        assert sanitized or peak < 40 * MIB, peak
        eventually(lambda: reprise.metric("reprise_replay_bytes") == 0, "what was held is given back")


test_a_long_upload_is_played_again_in_constant_memory.timeout = 120


def test_an_upload_of_four_gibibytes_streams_through_64_mebibytes():
    sanitized = is_sanitized()
    size = 256 * MIB if sanitized else 4096 * MIB + 1
    with Sink([200], hashed=False) as sink, Reprise() as reprise, Client(reprise.forward, 120) as client:
        zeros = os.memfd_create("zeros")
        try:
            os.ftruncate(zeros, 64 * MIB)
            client.send(head_of("PUT", sink.url("/x"), LOOPBACK, [("Content-Length", str(size))]))
            left = size
            client.socket.settimeout(None)  # sendfile knows no other waiting
            while left > 0:
                left -= os.sendfile(client.socket.fileno(), zeros, 0, min(left, 64 * MIB))
        finally:
            os.close(zeros)
        equal(client.read_answer().status, 200)
        equal([count for count, _ in sink.seen], [size])
        peak = peak_memory(reprise)
        print(f"note: {size // MIB} MiB, {peak / MIB:.1f} MiB resident at most")
        assert sanitized or peak < 64 * MIB, peak


test_an_upload_of_four_gibibytes_streams_through_64_mebibytes.timeout = 120


def test_a_disk_that_will_not_take_it_is_said_once_and_the_upload_goes_on():
    body = bytes(range(256)) * 8192
    with Upstream({"/small": [503, 200], "/large": [503, 200, 503, 200]}) as upstream, Reprise() as reprise:
        limit = MIB  # as if the disk were full after a mebibyte: EFBIG, and no SIGXFSZ that kills
        resource.prlimit(reprise.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        for path, part, expected in (("/large", body, (503, 1, "not_replayable")), ("/large", body, (200, 1, None)),
                                     ("/large", body, (503, 1, "not_replayable")), ("/small", body[:limit], (200, 2, None))):
            with Client(reprise.forward) as client:
                answer = client.ask("PUT", upstream.url(path), part)
            equal((answer.status, answer.attempts, answer.reason), expected, path)
        equal({request.body == body for request in upstream.seen(3, "/large")}, {True})
        reprise.expect_log("not held for replay")
        told = [line["message"] for line in reprise.log() if "not held for replay" in line.get("message", "")]
        assert told and "File too large" in told[0], told


def test_temporary_files_are_nameless_and_gone_with_the_process():
    with Upstream({"/x": [503, 200]}) as upstream, \
            Reprise(defaults={"retry": {"backoff": {"initial": "30s", "maximum": "30s", "jitter": "none"}}}) as reprise:
        with Client(reprise.forward) as client:
            url = upstream.url("/x")
            client.send(head_of("PUT", url, LOOPBACK, [("Content-Length", str(MIB))]) + b"x" * MIB)
            eventually(lambda: reprise.metric("reprise_replay_bytes", store="disk") == MIB, "the body is on disk")
            files = [target for _, target in open_links(reprise.process)]
            equal(len([name for name in files if "(deleted)" in name and name.startswith("/tmp/")]), 1, str(files))
            reprise.terminate()
            equal(client.read_answer().reason, "shutting_down")
