"""Tests long bodies: memory stays bounded, however many bodies stream at once, and however slow one side
is."""
import re
import socket
import threading

from client import Client, head_of
from harness import LOOPBACK, Reprise, at_most, equal
from server import Server
from upstream import Upstream

STREAMS, EACH = 64, 2 << 20
BLOCK = bytes(range(256)) * 1024
# Limit of reprise's memory for all streams together, in KiB. Each client reads only 2 MiB, but the upstream
# offers gigabytes to each client.
MOST_KIB = STREAMS * 512


def peak_kib(reprise):
    """Returns the peak resident memory of reprise in KiB."""
    with open(f"/proc/{reprise.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1))


def endless(framing):
    """Returns an upstream step that sends a response of 16 GiB as fast as the client reads it."""
    def step(connection, _):
        connection.sendall(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n")
        piece = BLOCK if framing.startswith(b"Content-Length") else b"%x\r\n%s\r\n" % (len(BLOCK), BLOCK)
        for _ in range((16 << 30) // len(BLOCK)):
            connection.sendall(piece)
    return step


def read_some(address, url, problems):
    """Runs a client that reads slowly and leaves early."""
    try:
        with Client(address, 60) as client:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.send(head_of("GET", url, LOOPBACK))
            head = client.read_head()
            taken = client.read_bytes(EACH)
            if b"chunked" not in head and taken != (BLOCK * (EACH // len(BLOCK) + 1))[:EACH]:
                problems.append("other bytes")
    except Exception as error:  # pylint: disable=broad-except
        problems.append(repr(error))


def stream(reprise, url):
    """Runs all clients at once. Returns the problems that they found."""
    problems = []
    clients = [threading.Thread(target=read_some, args=(reprise.forward, url, problems)) for _ in range(STREAMS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return problems


def check_memory(framing):
    with Upstream({"/endless": [endless(framing)]}) as upstream, Reprise(log={"access": False}) as reprise:
        read_some(reprise.forward, upstream.url("/endless"), [])
        before = peak_kib(reprise)
        equal(stream(reprise, upstream.url("/endless")), [], "64 downloads at once")
        grown = peak_kib(reprise) - before
        at_most(grown, MOST_KIB, f"KiB for {STREAMS} downloads of {EACH} bytes")
        print(f"note: {STREAMS} downloads at once: {grown} KiB more")


def test_memory_stays_bounded_during_64_long_downloads():
    check_memory(b"Content-Length: %d\r\n" % (16 << 30))


def test_memory_stays_bounded_during_64_long_chunked_downloads():
    check_memory(b"Transfer-Encoding: chunked\r\n")


def send_some(address, host, problems):
    """Runs a client that uploads to an upstream that reads little."""
    try:
        with Client(address, 60) as client:
            client.send(head_of("POST", f"http://{host}/slow", host, [("Content-Length", str(16 << 30))]))
            for _ in range(EACH // len(BLOCK)):
                client.send(BLOCK)
    except Exception as error:  # pylint: disable=broad-except
        problems.append(repr(error))


def swallow(connection):
    """Reads everything until the connection ends."""
    while connection.recv(65536):
        pass


def test_memory_stays_bounded_during_64_long_uploads():
    with Server(swallow) as upstream, Reprise(log={"access": False}) as reprise:
        host = f"{LOOPBACK}:{upstream.port}"
        send_some(reprise.forward, host, [])
        before, problems = peak_kib(reprise), []
        clients = [threading.Thread(target=send_some, args=(reprise.forward, host, problems)) for _ in range(STREAMS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        equal(problems, [], "64 uploads at once")
        grown = peak_kib(reprise) - before
        at_most(grown, MOST_KIB, f"KiB for {STREAMS} uploads of {EACH} bytes")
        print(f"note: {STREAMS} uploads at once: {grown} KiB more")
