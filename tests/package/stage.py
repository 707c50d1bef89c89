"""Shared parts of the package tests: the folder in memory, the Debian package, and a base system. Debian hosts and
images are copies of the base system."""
import contextlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from harness import NotPlayed, options

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "deploy/README.md"


def need(*programs):
    """Skips the case unless these programs are installed."""
    for program in programs:
        if shutil.which(program) is None:
            raise NotPlayed("client", f"there is no {program} here")


def run(*command, patience=300, **more):
    """Runs a command that must succeed within `patience` seconds. Returns its output."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=patience,
                          **more).stdout


def block(name):
    """Returns the commands in deploy/README.md that follow the mark <!-- package: NAME -->."""
    found = re.search(rf"<!-- package: {name} -->\n```sh\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)
    assert found, f"deploy/README.md has no block `package: {name}`"
    return found.group(1)


def patient(text):
    """Returns the commands of a block of deploy/README.md as a script. A command that ends with & is started in the
    background; if it ends with a port, the script waits until that port accepts connections."""
    lines = []
    for line in text.splitlines():
        words = line.split("#")[0].strip()
        lines.append(words[:-1] + ">/dev/null 2>&1 &" if words.endswith("&") else words)
        port = re.search(r":(\d+) &$", words)
        if port:
            lines.append(f"until (exec 3<>/dev/tcp/127.0.0.1/{port[1]}) 2>/dev/null; do sleep 0.05; done")
    return "\n".join(["trap 'kill $(jobs -p) 2>/dev/null' EXIT", *lines])


def retried(said):
    """Returns true if the output of `curl -i` shows status 200 after three attempts."""
    return re.findall(r"^HTTP/1\.1 (\d+)", said, re.M) == ["200"] and "Reprise-Attempts: 3" in said


class Stage(contextlib.ExitStack):
    """The state that the package tests share. When it is closed, all processes that were started end."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.deb = None  # path of the Debian package; None until it is packed
        self.base_folder = None
        self.missing = {}  # name of each part that could not be made, and the reason; no second try is made
        self.host = None  # the running Debian host
        self.before = None  # content of `host` before the package was installed
        self.root = None  # the image's files
        self.config = None  # the image's configuration

    def packed(self):
        if self.deb is None:
            raise NotPlayed("namespaces", "there is no package: it could not be packed")
        return self.deb

    def made(self, what, make):
        """Calls `make`, which makes the part named `what`, and returns its result. If this part could not be made
        before, skips the case without another try."""
        if what in self.missing:
            raise NotPlayed("namespaces", f"there is no {what}: {self.missing[what]}")
        try:
            return make()
        except NotPlayed as why:
            self.missing[what] = str(why)
            raise
        except Exception:
            self.missing[what] = "it could not be made"
            raise

    def depends(self):
        """Returns the names of the packages on which the reprise package depends."""
        return re.findall(r"(?:^|, )([^ ,]+)", run("dpkg-deb", "-f", self.packed(), "Depends"))

    def base(self):
        """Returns a folder with a Debian 12 in which the dependencies of the reprise package are installed, but not the
        package itself."""
        if self.base_folder is None:
            self.base_folder = self.made("Debian", self.make_base)
        return self.base_folder

    def make_base(self, name="base", more=()):
        need("mmdebstrap")
        folder = self.folder / name
        include = ",".join(["systemd", "systemd-sysv", "ca-certificates", "curl", "iproute2", "logrotate", "nftables", *self.depends(), *more])
        run("mmdebstrap", "--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Languages "none"',
            f"--include={include}", "bookworm", folder, env={**os.environ, "TMPDIR": str(self.folder)})
        return folder

    def copy_of_base(self, name):
        copy = self.folder / name
        run("cp", "-a", self.base(), copy)
        return copy


def shell(text):
    return ["bash", "-euo", "pipefail", "-c", text]


def quoted(words):
    return shlex.join(str(word) for word in words)


__all__ = ["ROOT", "Stage", "block", "need", "options", "patient", "quoted", "retried", "run", "shell"]
