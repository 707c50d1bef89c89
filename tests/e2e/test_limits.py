"""Tests limits of the control group: reprise reads them at start-up, reports them, and derives the defaults of
limits.replay_memory and limits.stream_memory from them. Uses real control groups of the kernel, and files that imitate another host."""
import contextlib
import json
import os
import re
import shlex
import subprocess
import tempfile
import uuid
from pathlib import Path

from control import Controlled
from faults import isolated
from harness import PATIENCE, NotPlayed, equal, eventually, options

MIB = 1 << 20


class Inside(Controlled):
    """A reprise that is started by a shell. The shell first runs `before`, which moves the shell into a
    control group."""

    def __init__(self, before, **configuration):
        super().__init__(**configuration)
        self.before = before

    def command(self):
        return run_inside(self.before, *super().command())


def run_inside(before, *command):
    return ["sh", "-ec", f'{before}; exec "$@"', "sh", *command]


def told_inside(before, *arguments):
    """Runs a reprise command in a control group that `before` enters. Returns (exit code, standard output, standard
    error)."""
    done = subprocess.run(run_inside(before, options.binary, *arguments), capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def without_comments(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def limits_of(reprise):
    return json.loads(reprise.admin("/status")[1])["limits"]


def stream_memory_of(reprise):
    """Returns `limits.stream_memory` in the configuration that the running reprise uses."""
    return re.search(r"^  stream_memory: (.+)$", reprise.admin("/config")[1], re.M)[1]


def group_mounts():
    """Returns the mounted cgroup hierarchies as (mount point, controllers). The controllers are None for version 2."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, behind = line.partition(" - ")
        kind, _, control = behind.split()[:3]
        if kind == "cgroup2":
            found.append((before.split()[4], None))
        elif kind == "cgroup":
            found.append((before.split()[4], set(control.split(","))))
    return found


def own_group(controllers):
    """Returns the path of this process's control group in a cgroup hierarchy."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        if (controllers is None and not names) or (controllers and names and set(names.split(",")) & controllers & {"memory", "cpu"}):
            return path
    return None


@contextlib.contextmanager
def groups_with(memory, quota):
    """Makes control groups with these limits: bytes of memory, and microseconds of CPU time per 100,000. Yields
    shell commands that enter the groups, and removes the groups afterwards."""
    entries, made = [], []

    def make(mount, controllers, limits):
        folder = Path(mount) / (own_group(controllers) or "").lstrip("/") / f"reprise-{uuid.uuid4().hex}"
        folder.mkdir()
        made.append(folder)
        for name, value in limits.items():
            (folder / name).write_text(value, encoding="ascii")
        entries.append(f"echo $$ >{shlex.quote(str(folder))}/cgroup.procs")
    try:
        for mount, controllers in group_mounts():
            if controllers is None and {"memory", "cpu"} <= set((Path(mount) / "cgroup.controllers").read_text(encoding="ascii").split()):
                make(mount, None, {"memory.max": str(memory), "cpu.max": f"{quota} 100000"})
            elif controllers and "memory" in controllers:
                make(mount, controllers, {"memory.limit_in_bytes": str(memory)})
            elif controllers and "cpu" in controllers:
                make(mount, controllers, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(quota)})
        if not entries:
            raise NotPlayed("namespaces", "there is no control group with memory and cpu here")
        yield "; ".join(entries)
    except OSError as error:
        raise NotPlayed("namespaces", f"this machine lets nobody make control groups: {error}") from error
    finally:
        for folder in made:
            eventually(lambda folder=folder: is_removed(folder), f"{folder} is empty")


def is_removed(folder):
    try:
        folder.rmdir()
    except OSError:
        return not folder.exists()
    return True


def test_cgroup_limits_lower_the_memory_defaults_and_are_logged():
    with groups_with(96 * MIB, 150_000) as enter, Inside(enter, threads=4) as reprise:
        limits = limits_of(reprise)
        equal((limits["memory_bytes"], limits["cpus"], limits["replay_memory_bytes"]), (96 * MIB, 1.5, 24 * MIB))
        assert os.path.isfile(limits["memory_file"]) and os.path.isfile(limits["cpu_file"]), limits
        for key in ("limits.replay_memory", "limits.stream_memory"):
            reprise.expect_log(key + " is 24MiB instead of 64MiB: a quarter of 96MiB of memory (" + limits["memory_file"])
        equal(stream_memory_of(reprise), "24MiB")
        reprise.expect_log("4 threads share 1.5 CPUs")
        code, text, _ = reprise.tell("status")
        equal(code, 0)
        assert re.search(r"^limits +memory 96MiB \(/.*\), 1\.5 CPUs \(/.*\); held request bodies 24MiB$", text, re.M), text
        reprise.change(log={"level": "debug"})
        reprise.expect_reload("success")
        equal((limits_of(reprise)["replay_memory_bytes"], stream_memory_of(reprise)), (24 * MIB, "24MiB"), "after a reload")
        assert "can only change at a restart" not in reprise.text(), "the default is what it was"


class Elsewhere:
    """Imitates the cgroup files of another host. Mounts the imitated tree over /sys/fs/cgroup. `enter` has shell
    commands that also mount the imitated files cgroup and mountinfo in /proc, for the process that runs the
    commands."""

    def __init__(self, cgroup, mountinfo, files):
        self.folder = tempfile.mkdtemp(prefix="reprise-cgroup-")
        self.write("cgroup", cgroup)
        self.write("mountinfo", mountinfo)
        for path, text in files.items():
            self.write("tree/" + path, text)
        subprocess.run(["mount", "--bind", f"{self.folder}/tree", "/sys/fs/cgroup"], check=True)
        self.enter = "; ".join(f"mount --bind {self.folder}/{name} /proc/$$/{name}" for name in ("cgroup", "mountinfo"))

    def write(self, path, text):
        file = Path(self.folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")


def container(**files):
    """Returns the cgroup files of a container in Kubernetes: version 2, with a cgroup namespace of the container."""
    return Elsewhere("0::/\n", "29 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
                     {name.replace("_", "."): text for name, text in files.items()})


@isolated
def test_container_of_64_mib_lowers_the_memory_defaults_to_16_mib():
    there = container(memory_max=f"{64 * MIB}\n", memory_high="max\n", cpu_max="50000 100000\n")
    with Inside(there.enter) as reprise:
        equal(limits_of(reprise), {"memory_bytes": 64 * MIB, "memory_file": "/sys/fs/cgroup/memory.max", "cpus": 0.5,
                                   "cpu_file": "/sys/fs/cgroup/cpu.max", "replay_memory_bytes": 16 * MIB})
        warned = [line["message"] for line in reprise.log() if line["level"] == "warn"]
        equal([line for line in warned if "threads" in line or "_memory" in line], [], "nothing is wrong")
        code, _, said = told_inside(there.enter, "check", reprise.config_file)
        equal(code, 0)
        equal(re.findall(r"note: .*(limits\.\w+) is 16MiB instead of 64MiB", said), ["limits.replay_memory", "limits.stream_memory"], said)
        code, explained, _ = told_inside(there.enter, "explain", "POST", "http://x.example/", "--body", reprise.config_file, "-c", reprise.config_file)
        equal((code, re.findall(r"(limits\.\w+) is 16MiB instead of 64MiB", explained)), (0, ["limits.replay_memory"]), explained)
        code, effective, _ = told_inside(there.enter, "config", "--effective", "-c", reprise.config_file)
        equal(code, 0)
        assert effective.startswith("# limits: memory 64MiB (/sys/fs/cgroup/memory.max), 0.5 CPUs (/sys/fs/cgroup/cpu.max)\n"), effective
        assert "\n  replay_memory: 16MiB\n  stream_memory: 16MiB\n" in effective, effective
        again = os.path.join(reprise.folder, "again.yaml")
        Path(again).write_text(effective, encoding="utf-8")
        code, printed, _ = told_inside(there.enter, "config", "--effective", "-c", again)
        equal((code, without_comments(printed)), (0, without_comments(effective)), "what is printed loads again")


@isolated
def test_explicit_memory_limits_are_kept_and_a_warning_names_the_line_of_each():
    there = container(memory_max=f"{64 * MIB}\n", cpu_max="100000 100000\n")
    with Inside(there.enter, limits={"replay_memory": "32MiB", "stream_memory": "24MiB"}, threads=3) as reprise:
        equal((limits_of(reprise)["replay_memory_bytes"], stream_memory_of(reprise)), (32 * MIB, "24MiB"))
        code, _, said = told_inside(there.enter, "check", reprise.config_file)
        equal(code, 0, "a warning is no error")
        assert re.search(r":\d+:\d+: warning: limits\.replay_memory: 32MiB for held request bodies .* write 16MiB or less", said), said
        assert re.search(r":\d+:\d+: warning: limits\.stream_memory: 24MiB for the streams of HTTP/2 .* write 16MiB or less", said), said
        assert re.search(r":\d+:\d+: warning: threads: 3 threads share 1 CPU ", said), said
        reprise.expect_log("limits.replay_memory: 32MiB for held request bodies")
        reprise.change(limits={"replay_memory": "48MiB"})
        reprise.expect_log("limits.replay_memory: 48MiB for held request bodies")
        eventually(lambda: limits_of(reprise)["replay_memory_bytes"] == 48 * MIB, "a reload allows more")


@isolated
def test_invalid_cgroup_files_mean_no_limit():
    there = Elsewhere("0::/../..\nnonsense\n4:memory:/x\n",
                      "29 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n\n30 - cgroup x memory\n31 23 0:1 / /sys/fs/cgroup/m rw - cgroup c rw,memory\n",
                      {"memory.max": "12", "m/x/memory.limit_in_bytes": "9223372036854771712\n", "m/memory.limit_in_bytes": "lots\n"})
    with Inside(there.enter) as reprise:
        limits = limits_of(reprise)
        equal((limits["memory_bytes"], limits["cpus"], limits["replay_memory_bytes"]), (None, None, 64 * MIB))
        assert re.search(r"^limits +none known; held request bodies 64MiB$", reprise.tell("status")[1], re.M)


@isolated
def test_exec_applies_cgroup_limits_like_run():
    there = container(memory_max=f"{32 * MIB}\n")
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        code, _, said = told_inside(there.enter, "exec", "--log", log, "--", "true")
        equal(code, 0, said)
        text = Path(log).read_text(encoding="utf-8")
        assert "limits.replay_memory is 8MiB instead of 64MiB" in text, text
