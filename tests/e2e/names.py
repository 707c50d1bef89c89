"""A scripted name server (DNS) for processes whose resolv.conf names this server."""
import contextlib
import os
import socket
import struct
import subprocess
import tempfile
import threading

from harness import LOOPBACK
from server import Server, bound

A_RECORD, CNAME, AAAA_RECORD = 1, 5, 28
TRUNCATED = 0x0200
NO_ERROR, SERVFAIL, NXDOMAIN = 0, 2, 3


def encoded(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(name, kind, content, ttl=0):
    return encoded(name) + struct.pack(">HHIH", kind, 1, ttl, len(content)) + content


class Answer:
    """The answer to a query. An IPv4 query gets the IPv4 addresses, an IPv6 query the IPv6 addresses. `alias`:
    canonical name to which the addresses belong. `truncated`: the answer is truncated over UDP and complete over
    TCP. `tcp_only`: UDP queries get no answer. `ipv6_code`: response code for IPv6 queries, in place of `code`."""

    def __init__(self, *addresses, code=NO_ERROR, records=(), silent=False, ttl=0, alias=None, truncated=False, tcp_only=False,
                 ipv6_code=NO_ERROR):
        self.code, self.silent, self.ttl, self.alias, self.truncated = code, silent, ttl, alias, truncated
        self.tcp_only, self.ipv6_code = tcp_only, ipv6_code
        self.addresses, self.records = addresses, tuple(records)

    def message(self, question, name, kind, is_udp=True):
        if self.tcp_only and is_udp:
            return b""
        if self.truncated and is_udp:
            return question[:2] + struct.pack(">HHHHH", 0x8180 | TRUNCATED, 1, 0, 0, 0) + question[12:]
        records = list(self.records)
        if self.alias:
            records.append(record(name, CNAME, encoded(self.alias), self.ttl))
        for address in self.addresses:
            of_kind, family = (AAAA_RECORD, socket.AF_INET6) if ":" in address else (A_RECORD, socket.AF_INET)
            if of_kind == kind:
                records.append(record(self.alias or name, kind, socket.inet_pton(family, address), self.ttl))
        flags = 0x8180 | (self.ipv6_code or self.code if kind == AAAA_RECORD else self.code)
        return question[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question[12:] + b"".join(records)


class NameServer:
    """A name server on port 53 of loopback, only for cases that are `isolated`. `script[name]` is a list of answers;
    the last one repeats. `options`: lines for resolv.conf. `hosts`: additional lines for /etc/hosts."""

    def __init__(self, script, options="options timeout:1 attempts:2", hosts=""):
        self.script, self.options, self.hosts = script, options, hosts
        self.asked = {}  # number of IPv4 queries, by name
        self.over_tcp = 0
        self.mounted = []

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((LOOPBACK, 53))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        self.tcp = Server(self._serve_tcp, bound(LOOPBACK, 53)).__enter__()
        self._lay_over_files()
        if self.hosts:
            with open("/etc/hosts", encoding="utf-8") as file:
                self._lay_over("/etc/hosts", file.read() + self.hosts)
        return self

    def __exit__(self, *_):
        self._uncover()
        self.socket.close()
        self.tcp.__exit__()

    def _lay_over_files(self):
        self._lay_over("/etc/nsswitch.conf", "hosts: files dns\n")  # excludes the other sources from which this machine resolves names, such as mDNS
        self._lay_over("/etc/resolv.conf", f"nameserver {LOOPBACK}\n{self.options}\n")

    def _lay_over(self, path, text):
        with tempfile.NamedTemporaryFile("w", prefix="laid-over-", delete=False) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        subprocess.run(["mount", "--bind", file.name, path], check=True)
        self.mounted.append((path, file.name))

    def _uncover(self):
        for path, file in self.mounted:
            subprocess.run(["umount", "-l", path], check=True)
            subprocess.run(["rm", "-f", file], check=True)

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                packet, sender = self.socket.recvfrom(4096)
                answer = self._answer(packet)
                if answer:
                    self.socket.sendto(answer, sender)

    def _serve_tcp(self, connection):
        with contextlib.suppress(struct.error):
            while True:
                size = struct.unpack(">H", connection.recv(2, socket.MSG_WAITALL))[0]
                self.over_tcp += 1
                answer = self._answer(connection.recv(size, socket.MSG_WAITALL), is_udp=False)
                connection.sendall(struct.pack(">H", len(answer)) + answer)

    def _answer(self, packet, is_udp=True):
        """Returns the answer to a query, or no bytes if the script says that the server stays silent."""
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1:at + 1 + packet[at]].decode())
            at += 1 + packet[at]
        kind = struct.unpack(">H", packet[at + 1:at + 3])[0]
        question, name = packet[:at + 5], ".".join(labels).lower()
        steps = self.script.get(name, [Answer(code=NXDOMAIN)])
        count = self.asked.get(name, 0)
        if kind == A_RECORD:
            self.asked[name] = count + 1
        step = steps[min(count, len(steps) - 1)]
        return b"" if step.silent else step.message(question, name, kind, is_udp)


class RefusingNameServer(NameServer):
    """A resolv.conf whose name server does not run: no process listens on the port."""

    def __init__(self, options):
        super().__init__({}, options)

    def __enter__(self):
        self._lay_over_files()
        return self

    def __exit__(self, *_):
        self._uncover()
