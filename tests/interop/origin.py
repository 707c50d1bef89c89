"""The upstream for the tests with real clients, in a separate network. For each case, it has a script of responses. It
also has the files that package tools fetch."""
import base64
import contextlib
import hashlib
import io
import json
import socket
import struct
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

import chance
from reader import Reader
from tls import Authority, TlsUpstream
from upstream import Say, Upstream, resumable

HOST = "app.test"
HELLO = b"hello from the upstream\n"
ORDER = b"order=1"
NAME = "probe"  # name of the package in every repository of this origin
WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3


def blob():
    """Returns the content of uploads and downloads, which is larger than the buffers of a connection."""
    return chance.content("blob", 1 << 20)


def echo(connection, request):
    """Serves a WebSocket: echoes the first message, which must be short, and closes the connection."""
    accept = base64.b64encode(hashlib.sha1((request.field("Sec-WebSocket-Key") + WEBSOCKET).encode()).digest()).decode()
    connection.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
    reader = Reader(connection)
    head = reader.read_bytes(6)
    word = bytes(byte ^ head[2 + at % 4] for at, byte in enumerate(reader.read_bytes(head[1] & 0x7F)))
    connection.sendall(bytes((0x81, len(word))) + word + struct.pack(">BBH", 0x88, 2, 1000))
    with contextlib.suppress(OSError):
        connection.recv(100)
    return False


def git_tree(_):
    """Returns the files of a git repository that contains the file `hello`."""
    with tempfile.TemporaryDirectory() as folder:
        def git(*words, where="work"):
            identity = ["-c", "user.name=n", "-c", "user.email=e@app.test", "-c", "init.defaultBranch=main"]
            subprocess.run(["git", *identity, *words], cwd=f"{folder}/{where}", check=True, capture_output=True)
        Path(folder, "work").mkdir()
        git("init")
        Path(folder, "work/hello").write_bytes(HELLO)
        git("add", "hello")
        git("commit", "-m", "hello")
        git("clone", "--bare", f"{folder}/work", f"{folder}/bare")
        git("update-server-info", where="bare")
        return files_below(Path(folder, "bare")), None


def apt_tree(_):
    """Returns the files of an unsigned apt repository with one package."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "package/DEBIAN/control")
        made.parent.mkdir(parents=True)
        made.parent.chmod(0o755)
        made.write_text(f"Package: {NAME}\nVersion: 1\nArchitecture: all\nMaintainer: n <e@app.test>\nDescription: a probe\n", encoding="ascii")
        Path(folder, "package/filling").write_bytes(blob())
        subprocess.run(["dpkg-deb", "-Znone", "--build", f"{folder}/package", f"{folder}/out.deb"], check=True, capture_output=True)
        package = Path(folder, "out.deb").read_bytes()
        entry = made.read_text(encoding="ascii") + f"Filename: ./{NAME}.deb\nSize: {len(package)}\nSHA256: {sha256(package)}\n"
    index = entry.encode()
    release = f"Date: Sat, 01 Jan 2022 00:00:00 UTC\nSHA256:\n {sha256(index)} {len(index)} Packages\n".encode()
    return {"./Release": release, "./Packages": index, f"./{NAME}.deb": package}, f"./{NAME}.deb"


def pip_tree(_):
    wheel = io.BytesIO()
    about = f"{NAME}-1.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"{NAME}/filling", blob())
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: n\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    name = f"{NAME}-1-py3-none-any.whl"
    page = f'<!DOCTYPE html><html><body><a href="../../{name}">{name}</a></body></html>'.encode()
    return {f"simple/{NAME}/": page, name: wheel.getvalue()}, name


def npm_tree(base):
    made = io.BytesIO()
    package = json.dumps({"name": NAME, "version": "1.0.0"}).encode()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as file:
        for name, content in (("package/package.json", package), ("package/filling", blob())):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            file.addfile(entry, io.BytesIO(content))
    tarball = f"{NAME}-1.0.0.tgz"
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(made.getvalue()).digest()).decode()
    one = {"name": NAME, "version": "1.0.0", "dist": {"tarball": f"{base}/{tarball}", "integrity": integrity}}
    about = {"name": NAME, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": one}}
    return {NAME: json.dumps(about).encode(), tarball: made.getvalue()}, tarball


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def files_below(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def served(content, path):
    kind = "text/html" if path.endswith("/") else "application/octet-stream"
    return Say(200, content, (("Content-Type", kind), ("ETag", f'"{sha256(content)[:8]}"')))


class Closing:
    """An upstream that closes a connection if the request has `Connection: close` (RFC 9112, section 9.6), because some
    clients read until the connection is closed."""

    def _play(self, connection, request, step):
        return super()._play(connection, request, step) and (request.field("Connection") or "").lower() != "close"


class Plain(Closing, Upstream):
    """The upstream over TCP."""


class Secure(Closing, TlsUpstream):
    """The upstream over TLS."""


class Origin:
    """The server `app.test`, on ports 80 and 443 of `host`. Both ports use the same scripts."""

    def __init__(self, host):
        self.host = host
        self.authority = Authority("the origin's CA")
        certificate = self.authority.issue(names=(f"DNS:{HOST}",))
        with host.inside():
            plain, secure = (socket.create_server((host.theirs, port)) for port in (80, 443))
        self.scripts = {"/": [404]}
        self.plain = Plain(self.scripts, listener=plain, otherwise=[404])
        self.secure = Secure(self.scripts, listener=secure, otherwise=[404], certificate=certificate)

    def __enter__(self):
        with self.host.inside():
            for server in (self.plain, self.secure):
                server.__enter__()
        return self

    def __exit__(self, *error):
        for server in (self.plain, self.secure):
            server.__exit__(*error)

    def lay(self, tree, below, fails, cut=None):
        """Serves each file of a tree below the path `below`, after `fails` responses with 503. The first download of
        the file `cut` breaks in the middle."""
        for name, content in tree.items():
            last = resumable(content, len(content) // 2) if name == cut else served(content, name)
            self.scripts[f"{below}/{name}"] = [503] * fails + [last]

    def asked(self, server, below):
        """Returns the requests for that path and for everything below it."""
        with server.lock:
            return [request for request in server.requests if request.path.startswith(below)]
