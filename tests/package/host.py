"""A separate Debian system in a root folder, usually a copy of the base system of stage.py: a container with systemd as
first process, or a chroot without services."""
import os
import re
import subprocess
from pathlib import Path

from harness import NotPlayed, eventually
from stage import shell

ENVIRONMENT = ["/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
# Files that a running system, apt or dpkg writes. Changes in these files are not caused by the package.
OF_OTHERS = re.compile(r"/(proc|sys|dev|run|tmp|root|var/(log|cache|tmp|lib/(dpkg|apt|systemd/(catalog|random-seed|timers|linger)))|etc/(machine-id|\.updated)"
                       r"|var/\.updated|etc/(passwd|group|shadow|gshadow|subuid|subgid)-?|etc/\.pwd\.lock)(/|$)")
ACCOUNTS = ("passwd", "group", "shadow", "gshadow", "subuid", "subgid")


class Said:
    """The result of a command inside the host."""

    def __init__(self, done):
        self.code, self.text = done.returncode, done.stdout

    def __str__(self):
        return f"exit {self.code}\n{self.text}"


class Debian:
    """A root folder in which commands run, without systemd."""

    def __init__(self, root):
        self.root = Path(root)
        # The commands need only a home folder for root; they run in an empty network.
        (self.root / "root").mkdir(exist_ok=True)

    def way_in(self):
        return ["unshare", "--net", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc", "chroot", str(self.root)]

    def ask(self, text):
        """Runs a bash script inside the host, in the home folder of root. Returns its result."""
        done = subprocess.run([*self.way_in(), *ENVIRONMENT, *shell(f"cd /root\n{text}")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        return Said(done)

    def must(self, text):
        """Runs a script that must succeed. Returns its output."""
        said = self.ask(text)
        if said.code != 0:
            raise AssertionError(f"{text}\n{said}")
        return said.text

    def holds(self):
        """Returns all accounts and paths of the host, except the files that a running system, apt and dpkg write."""
        paths = set()
        for folder, folders, files in os.walk(self.root):
            inside = folder.removeprefix(str(self.root)) or ""
            folders[:] = [name for name in folders if not OF_OTHERS.match(f"{inside}/{name}")]
            paths.update(f"{inside}/{name}" for name in [*folders, *files] if not OF_OTHERS.match(f"{inside}/{name}"))
        for name in ACCOUNTS:
            file = self.root / "etc" / name
            if file.is_file():
                paths.update(f"{name}: {line.split(':')[0]}" for line in file.read_text(encoding="utf-8").splitlines())
        return paths


class Container(Debian):
    """A Debian in a container with systemd and its own network. Leaving `with` stops it."""

    def __init__(self, root):
        super().__init__(root)
        self.process = self.first = None

    def __enter__(self):
        (self.root / "etc/hostname").write_text("host\n", encoding="ascii")
        command = ["systemd-nspawn", "--quiet", "--boot", "--private-network", "--register=no", "--keep-unit", f"--directory={self.root}"]
        log = open(self.root.parent / "console", "w+", encoding="utf-8", errors="replace")  # pylint: disable=consider-using-with
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            eventually(lambda: self.process.poll() is not None or self.booted(), "systemd of the container is up")
            if self.process.poll() is not None:
                log.seek(0)
                raise NotPlayed("namespaces", f"no container can be started here: {' '.join(log.read()[-300:].split())}")
            # Waits until the system has started, because later steps expect its ports to respond at once.
            self.must("ip link set lo up 2>/dev/null || true; systemctl is-system-running --wait || true")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()  # shuts down the system inside
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def reboot(self):
        """Shuts the system down and starts it again, with the same files."""
        self.__exit__()
        self.__enter__()

    def booted(self):
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split()
        for child in children:
            if Path(f"/proc/{child}/comm").read_text(encoding="ascii").strip() == "systemd":
                self.first = child
                return self.ask("test -S /run/systemd/private").code == 0
        return False

    def way_in(self):
        return ["nsenter", "--target", self.first, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd"]
