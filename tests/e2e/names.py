"""A name server that answers each name as told, for a process whose resolver file points to it."""
import contextlib
import socket
import struct
import subprocess
import tempfile
import threading

from harness import LOOPBACK

A_RECORD, CNAME = 1, 5
NO_ERROR, SERVFAIL, NXDOMAIN = 0, 2, 3


def encoded(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(name, kind, content):
    return encoded(name) + struct.pack(">HHIH", kind, 1, 0, len(content)) + content


class Answer:
    """What is said to a question for an IPv4 address; a question for IPv6 gets the same without addresses."""

    def __init__(self, *addresses, code=NO_ERROR, records=(), silent=False):
        self.code, self.silent = code, silent
        self.addresses, self.records = addresses, tuple(records)

    def message(self, question, name, kind):
        records = list(self.records)
        if kind == A_RECORD:
            records += [record(name, A_RECORD, socket.inet_aton(address)) for address in self.addresses]
        flags = 0x8180 | self.code
        return question[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question[12:] + b"".join(records)


class NameServer:
    """Port 53 on loopback, so for isolated cases only. `script[name]` is a list of answers, the last is repeated."""

    def __init__(self, script):
        self.script = script
        self.asked = {}  # by name, questions for IPv4 addresses

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((LOOPBACK, 53))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        with tempfile.NamedTemporaryFile("w", prefix="resolv-", delete=False) as file:
            file.write(f"nameserver {LOOPBACK}\noptions timeout:1 attempts:2\n")
        self.file = file.name
        subprocess.run(["mount", "--bind", self.file, "/etc/resolv.conf"], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", "/etc/resolv.conf"], check=True)
        subprocess.run(["rm", "-f", self.file], check=True)
        self.socket.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                packet, sender = self.socket.recvfrom(4096)
                name, at = [], 12
                while packet[at]:
                    name.append(packet[at + 1:at + 1 + packet[at]].decode())
                    at += 1 + packet[at]
                kind = struct.unpack(">H", packet[at + 1:at + 3])[0]
                question = packet[:at + 5]
                self._answer(question, ".".join(name).lower(), kind, sender)

    def _answer(self, question, name, kind, sender):
        steps = self.script.get(name, [Answer(code=NXDOMAIN)])
        count = self.asked.get(name, 0)
        if kind == A_RECORD:
            self.asked[name] = count + 1
        step = steps[min(count, len(steps) - 1)]
        if not step.silent:
            self.socket.sendto(step.message(question, name, kind), sender)
