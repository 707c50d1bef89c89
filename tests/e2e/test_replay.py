"""Tests large uploads: replayed from disk byte for byte, in constant memory, and forwarded without replay if the
disk fails."""
import contextlib
import hashlib
import os
import re
import resource
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

from client import Client, head_of
from harness import LOOPBACK, NotPlayed, Reprise, at_most, equal, eventually, is_sanitized, open_links, part_not_played
from upstream import Say, Upstream

MIB = 1 << 20
BLOCK = bytes(range(251)) * 4177  # bytes: about 1 MiB, and not a power of two


def peak_memory(reprise):
    """Returns the peak resident memory of reprise in bytes."""
    status = Path(f"/proc/{reprise.process.pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def is_small(peak, most, sanitized):
    if sanitized:
        part_not_played("memory", "sanitizer", "it is not its own under a sanitizer")
    else:
        at_most(peak, most, "bytes resident")


class Sink(Upstream):
    """An upstream for requests with a Content-Length. It computes a hash of each request body, or with
    `hashed=False` only counts the bytes. Its response to request n has status n of the given list."""

    def __init__(self, statuses, hashed=True):
        super().__init__()
        self.statuses, self.hashed, self.taken = statuses, hashed, []

    def taking_over(self, request):
        return self._take

    def _take(self, connection, request, reader):
        digest, left, room = hashlib.sha256(), request.length, bytearray(MIB)
        if self.hashed:
            for data in reader.pieces(request):
                digest.update(data)
        else:  # MSG_TRUNC: the kernel discards the bytes without copying them
            left -= len(reader.buffer)
            reader.buffer.clear()
            while left > 0:
                got = connection.recv_into(room, min(left, MIB), socket.MSG_TRUNC)
                if got == 0:
                    return False
                left -= got
        self.taken.append((request.length, digest.hexdigest()))
        status = self.statuses[min(len(self.taken), len(self.statuses)) - 1]
        connection.sendall(Say(status, b"told").text(request, 1))
        return True


def upload(reprise, url, size):
    """Sends a PUT with `size` bytes of a pattern. Returns the response, and the digest of the sent bytes."""
    digest, left = hashlib.sha256(), size
    with Client(reprise.forward, 120) as client:
        client.send(head_of("PUT", url, LOOPBACK, [("Content-Length", str(size))]))
        while left > 0:
            part = BLOCK[:left]
            client.send(part)
            digest.update(part)
            left -= len(part)
        return client.read_response(), digest.hexdigest()


def test_large_upload_is_replayed_in_constant_memory():
    sanitized = is_sanitized()
    size = 32 * MIB if sanitized else 256 * MIB
    with Sink([503, 200]) as sink, Reprise(defaults={"replay": {"disk": "512MiB"}}) as reprise:
        response, sent = upload(reprise, sink.url("/x"), size)
        equal((response.status, response.attempts), (200, 2))
        equal(sink.taken, [(size, sent)] * 2)
        peak = peak_memory(reprise)
        print(f"note: {size // MIB} MiB twice, {peak / MIB:.1f} MiB resident at most")
        is_small(peak, 40 * MIB, sanitized)
        eventually(lambda: reprise.metric("reprise_replay_bytes") == 0, "what was held is given back")


test_large_upload_is_replayed_in_constant_memory.timeout = 120


def test_upload_of_4_gib_streams_within_64_mib_of_memory():
    sanitized = is_sanitized()
    size = 256 * MIB if sanitized else 4096 * MIB + 1
    with Sink([200], hashed=False) as sink, Reprise() as reprise, Client(reprise.forward, 120) as client:
        zeros = os.memfd_create("zeros")
        try:
            os.ftruncate(zeros, 64 * MIB)
            client.send(head_of("PUT", sink.url("/x"), LOOPBACK, [("Content-Length", str(size))]))
            left = size
            client.socket.settimeout(None)  # sendfile needs a blocking socket
            while left > 0:
                left -= os.sendfile(client.socket.fileno(), zeros, 0, min(left, 64 * MIB))
        finally:
            os.close(zeros)
        equal(client.read_response().status, 200)
        equal([count for count, _ in sink.taken], [size])
        peak = peak_memory(reprise)
        print(f"note: {size // MIB} MiB, {peak / MIB:.1f} MiB resident at most")
        is_small(peak, 64 * MIB, sanitized)


test_upload_of_4_gib_streams_within_64_mib_of_memory.timeout = 120


def test_unwritable_replay_disk_is_logged_and_the_upload_continues():
    body = bytes(range(256)) * 8192
    with Upstream({"/small": [503, 200], "/large": [503, 200, 503, 200]}) as upstream, Reprise() as reprise:
        limit = MIB  # imitates a disk that is full after 1 MiB: a longer write fails with EFBIG, as SIGXFSZ is ignored
        resource.prlimit(reprise.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        for path, part, expected in (("/large", body, (503, 1, "not_replayable")), ("/large", body, (200, 1, None)),
                                     ("/large", body, (503, 1, "not_replayable")), ("/small", body[:limit], (200, 2, None))):
            with Client(reprise.forward) as client:
                response = client.ask("PUT", upstream.url(path), part)
            equal((response.status, response.attempts, response.reason), expected, path)
        equal({request.body == body for request in upstream.seen(3, "/large")}, {True})
        reprise.expect_log("a request body is not held")
        told = [line["message"] for line in reprise.log() if "a request body is not held" in line.get("message", "")]
        assert told and "File too large" in told[0], told


def test_replay_files_are_unnamed_and_disappear_with_the_process():
    with Upstream({"/x": [503, 200]}) as upstream, \
            Reprise(defaults={"retry": {"backoff": {"initial": "30s", "maximum": "30s", "jitter": "none"}}}) as reprise:
        with Client(reprise.forward) as client:
            url = upstream.url("/x")
            client.send(head_of("PUT", url, LOOPBACK, [("Content-Length", str(MIB))]) + b"x" * MIB)
            eventually(lambda: reprise.metric("reprise_replay_bytes", store="disk") == MIB, "the body is on disk")
            files = [target for _, target in open_links(reprise.process)]
            equal(len([name for name in files if "(deleted)" in name and name.startswith("/tmp/")]), 1, str(files))
            reprise.terminate()
            equal(client.read_response().reason, "shutting_down")


@contextlib.contextmanager
def slow_disk():
    """Delays each write to a file by 100 ms, for every reprise that starts inside the `with` block."""
    with tempfile.TemporaryDirectory(prefix="reprise-disk-") as folder:
        library = os.path.join(folder, "slow.so")
        source = Path(__file__).with_name("slow_disk.cpp")
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, str(source), "-ldl"], check=True)
        os.environ["LD_PRELOAD"] = library
        try:
            yield
        finally:
            del os.environ["LD_PRELOAD"]


def without_sanitizer():
    if is_sanitized():
        raise NotPlayed("sanitizer", "a preloaded library must not come before a sanitizer")


def test_D17_slow_disk_does_not_slow_an_upload():
    without_sanitizer()
    with slow_disk(), Sink([200]) as upstream, Reprise() as reprise:
        response, digest = upload(reprise, upstream.url("/x"), 8 * MIB)
        equal((response.status, upstream.taken), (200, [(8 * MIB, digest)]))
        reprise.expect_log("a request body is not held, so its request cannot be retried: the disk is too slow")
    with slow_disk(), Sink([503]) as upstream, Reprise() as reprise:
        response, _ = upload(reprise, upstream.url("/x"), 8 * MIB)
        equal((response.status, response.field("Reprise-Reason")), (503, "not_replayable"))
        equal(len(upstream.taken), 1)


def test_D17_wait_for_a_slow_disk_ends_at_the_deadline():
    without_sanitizer()
    retry = {"deadline": "300ms", "max_attempts": 2}
    with slow_disk(), Sink([503]) as upstream, Reprise(defaults={"retry": retry}) as reprise:
        response, digest = upload(reprise, upstream.url("/x"), 8 * MIB)
        equal((response.status, upstream.taken), (503, [(8 * MIB, digest)]), "the upload streams on")
        reprise.expect_log("a request body is not held, so its request cannot be retried: the disk is too slow")


def test_D17_data_pending_for_a_slow_disk_is_bounded_by_the_memory_limit():
    without_sanitizer()
    count = 60
    with slow_disk(), Upstream({}, otherwise=[Say(200, b"told")]) as upstream, \
            Reprise(limits={"replay_memory": "1MiB"}) as reprise, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(reprise.forward)) for _ in range(count)]
        for client in clients:
            client.send(head_of("PUT", upstream.url("/x"), LOOPBACK, [("Content-Length", str(MIB))]))
        for _ in range(16):
            for client in clients:
                client.send(bytes(MIB // 16))
            is_bounded(reprise)
        equal([client.read_response().status for client in clients], [200] * count)
        eventually(lambda: reprise.metric("reprise_replay_bytes", store="memory") == 0, "it is given back")


def is_bounded(reprise):
    held = reprise.metric("reprise_replay_bytes", store="memory")
    if held > MIB:
        raise AssertionError(f"{held} bytes are held in memory, at most {MIB} may be")


def sidecars_configuration():
    """Returns the settings of the shipped sidecar with free ports. replay_memory is the share of the sidecar's
    memory limit that replay may use."""
    text = (Path(__file__).resolve().parent.parent.parent / "deploy/kubernetes/sidecar.yaml").read_text(encoding="utf-8")
    assert "limits: {memory: 192Mi}" in text and "defaults:\n      retry: {deadline: 30s}" in text, "see the figures in deploy/kubernetes/README.md"
    return {"defaults": {"retry": {"deadline": "30s"}}, "limits": {"replay_memory": "48MiB"}}


def resident(reprise):
    status = Path(f"/proc/{reprise.process.pid}/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"^VmRSS:\s+(\d+)", status, re.M).group(1))


def burst(reprise, requests):
    """Sends all requests at once, each on its own connection, and reads all responses."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(reprise.forward)) for _ in requests]
        senders = [threading.Thread(target=client.send, args=(request,)) for client, request in zip(clients, requests)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        equal([client.read_response().status for client in clients], [200] * len(clients))
    eventually(lambda: reprise.metric("reprise_client_connections") == 0, "every client has left")


def test_sidecar_memory_stays_bounded_with_300_uploads_and_300_long_heads_at_once():
    """The sidecar's memory limit is 192 MiB. An older version did not free the buffers and heads of finished
    requests. Its memory use reached 103 MB with the uploads and 79 MB with the long heads, and was still 57
    MB afterwards. Now it reaches 48 MB and 62 MB, and is 26 MB afterwards."""
    without_sanitizer()
    big = ("X-Big", "y" * 50_000)
    for name, body, fields, most_after in (("uploads", 2_000_000, [], 40 << 20), ("heads", 0, [big], 48 << 20)):
        with Upstream({}, otherwise=[Say(200, b"x", fields=fields)]) as upstream, Reprise(**sidecars_configuration()) as reprise:
            head = head_of("POST", upstream.url("/x"), LOOPBACK, [("Content-Length", str(body)), *fields])
            burst(reprise, [head + bytes(body)] * 300)
            eventually(lambda: resident(reprise) <= most_after, f"at most {most_after} bytes are resident after the {name}")
            if peak_memory(reprise) > 128_000_000:
                raise AssertionError(f"{name}: {peak_memory(reprise)} bytes at the peak")
