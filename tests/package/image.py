"""Tests the container image and its bill of materials. Builds the image with the unchanged Dockerfile. The image must
be small and have no unneeded files. Containers run in namespaces like those of a container runtime."""
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

import materials
from harness import NotPlayed, equal
from stage import ROOT, block, need, options, quoted, retried, run, shell

MOST_COMPRESSED = 15 << 20  # maximum size of the compressed image in bytes
USER = "65532:65532"
CONTAIN = Path(__file__).with_name("contain.py")


def buildah(stage, storage=None):
    folder = storage or stage.folder
    return with_storage(folder, driver_for(folder))


def with_storage(folder, driver):
    return ["buildah", "--root", str(folder / "storage"), "--runroot", str(folder / "runroot"), "--storage-driver", driver]


@functools.cache
def driver_for(folder):
    """Returns the storage driver for buildah. `overlay` stacks the layers of an image. If `overlay` does not work on
    this machine, returns `vfs`, which copies each layer. In a container, `overlay` often fails, because the container's
    own files are overlay layers already."""
    done = subprocess.run([*with_storage(folder, "overlay"), "info"], capture_output=True, check=False)
    if done.returncode == 0:
        return "overlay"
    for left in "storage", "runroot":
        shutil.rmtree(folder / left, ignore_errors=True)
    return "vfs"


def import_base(stage, storage=None):
    """Imports the Debian made by mmdebstrap; it becomes the base image."""
    made = run(*buildah(stage, storage), "from", "scratch").strip()
    tar = (storage or stage.folder) / "base.tar"
    run("tar", "-C", stage.base(), "-cf", tar, ".")
    run(*buildah(stage, storage), "add", "-q", made, tar, "/")
    run(*buildah(stage, storage), "commit", "-q", "--rm", made, "localhost/base")
    tar.unlink()


def test_image_is_built_by_the_documented_command(stage):
    """Builds the image with buildah in place of `docker`, from the package of the release build. The base image is a
    Debian made by mmdebstrap. Compiles nothing."""
    need("buildah")
    import_base(stage)
    packages = stage.folder / "packages"
    packages.mkdir()
    run("cp", stage.packed(), packages)
    stand_ins = ["--isolation", "chroot", "--build-arg", "BASE=localhost/base", "--build-context", f"package={packages}"]
    materials_folder = ROOT / "build/image"
    run("rm", "-rf", materials_folder)
    for line in block("image").splitlines():
        words = shlex.split(line)
        equal(words[:2], ["docker", "build"], line)
        said = run(*buildah(stage), "build", *stand_ins, *words[2:], cwd=ROOT)
        assert "cmake" not in said, said
    made = run(*buildah(stage), "from", "localhost/reprise:0.1.0").strip()
    stage.root = Path(run(*buildah(stage), "mount", made).strip())
    stage.config = json.loads(run(*buildah(stage), "inspect", "--type", "image", "localhost/reprise:0.1.0"))["OCIv1"]["config"]


def test_image_with_nftables_runs_the_program(stage):
    """Runs the program and nft in the image of deploy/kubernetes/transparent.yaml."""
    built(stage)
    made = run(*buildah(stage), "from", "localhost/reprise-redirect:0.1.0").strip()
    root = run(*buildah(stage), "mount", made).strip()
    equal(run("unshare", "--mount", "chroot", root, "/usr/bin/reprise", "version"), run(options.binary, "version"))
    assert "nftables" in run("unshare", "--mount", "chroot", root, "nft", "--version")


def built(stage):
    if stage.root is None:
        raise NotPlayed("namespaces", "there is no image: it could not be built")
    return stage.root


def test_image_is_small_and_has_the_expected_user_entrypoint_and_labels(stage):
    built(stage)
    layout = stage.folder / "layout"
    run(*buildah(stage), "push", "-q", "--compression-format", "gzip", "localhost/reprise:0.1.0", f"oci:{layout}")
    size = sum(file.stat().st_size for file in (layout / "blobs/sha256").iterdir())
    print(f"image: {size / 1e6:.1f} MB compressed", flush=True)
    assert size <= MOST_COMPRESSED, size
    equal(stage.config["User"], USER, "a number: Kubernetes' runAsNonRoot can see that it is not root")
    equal(stage.config["Entrypoint"] + stage.config["Cmd"], ["/usr/bin/reprise", "run", "-c", "/etc/reprise/reprise.yaml"])
    labels = {key.removeprefix("org.opencontainers.image."): value for key, value in stage.config["Labels"].items()}
    equal("reprise " + labels["version"], run(options.binary, "version").strip())
    equal((labels["title"], labels["licenses"]), ("reprise", "Apache-2.0"))
    assert labels["description"] and "revision" in labels, labels


def regular_files(root):
    return {f"/{path.relative_to(root)}" for path in root.rglob("*") if path.is_file() and not path.is_symlink()}


def test_image_contains_only_what_the_program_needs(stage):
    """Uses the dynamic loader inside the image to check that the program uses every library in the image, and that the
    image has every library that the program uses."""
    root = built(stage)
    files = regular_files(root)
    loader, = (path for path in files if "/ld-linux" in path)
    listed = run("unshare", "--mount", "chroot", root, loader, "--list", "/usr/bin/reprise")
    used = {os.path.normpath(os.path.join("/", os.path.realpath(f"{root}{path}").removeprefix(os.path.realpath(root))))
            for path in re.findall(r"(?:=> )?(/\S+) \(0x", listed)}
    there = {path for path in files if ".so" in path}
    equal((sorted(used - there), sorted(there - used - {loader})), ([], []))
    rest = {path for path in files - there if not path.startswith(("/usr/share/doc/", "/usr/share/common-licenses/"))}
    equal(sorted(rest), ["/etc/group", "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/reprise/reprise.yaml",
                         "/etc/ssl/certs/ca-certificates.crt", "/usr/bin/reprise", "/var/lib/dpkg/status"])
    for path in root.rglob("*"):
        state = path.lstat()
        assert (state.st_uid, state.st_gid) == (0, 0) and not state.st_mode & 0o6000, f"{path} belongs to another, or lends its owner"
        if not path.is_symlink() and path != root / "tmp":
            assert not state.st_mode & 0o022, f"{path} can be written by others"
    equal((root / "tmp").stat().st_mode & 0o7777, 0o1777)


class Container:
    """A container of the image with separate network, mounts and processes. In a script, `container COMMAND...` runs
    COMMAND as a container runtime does: with a read-only root, `files` mounted over files of the image, /tmp in memory
    if `has_tmp`, and an unprivileged user."""

    def __init__(self, stage, user=USER, files=None, has_tmp=True):
        self.root, self.place, self.user = built(stage), stage.folder / "run", user
        self.place.mkdir(exist_ok=True)
        lines = ["ip link set lo up", f"mount --bind {self.root} {self.place}", f"mkdir -p {self.place}/proc {self.place}/dev", "made=()"]
        for number, (path, content) in enumerate((files or {}).items()):
            over = stage.folder / f"over-{number}"
            over.write_text(content, encoding="utf-8")
            # A file can be mounted only over an existing file. If the image lacks that file, creates an empty file, as
            # a container runtime does.
            lines += [f"[ -e {self.place}{path} ] || {{ touch {self.place}{path}; made+=({self.root}{path}); }}", f"mount --bind {over} {self.place}{path}"]
        lines += [f"mount -o remount,bind,ro {self.place}", f"mount -t proc proc {self.place}/proc", f"mount -t tmpfs none {self.place}/dev",
                  f"touch {self.place}/dev/null; mount --bind /dev/null {self.place}/dev/null"]
        if has_tmp:
            lines.append(f"mount -t tmpfs -o mode=1777 none {self.place}/tmp")
        lines += [f"container() {{ exec {sys.executable} {CONTAIN} {self.place} {user} \"$@\"; }}", "port() { until (exec 3<>/dev/tcp/127.0.0.1/$1) "
                  "2>/dev/null; do kill -0 $container 2>/dev/null || { wait $container; exit; }; sleep 0.05; done; }",
                  f"leave() {{ local code=$?; set +e; kill $(jobs -p) 2>/dev/null; umount -R {self.place}; rm -f \"${{made[@]}}\"; rmdir {self.root}/proc {self.root}/dev; exit $code; }}",
                  "trap leave EXIT"]
        self.opening = "\n".join(lines)

    def play(self, text):
        """Runs a script. Returns (exit code, output)."""
        done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", *shell(f"{self.opening}\n{text}")], timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def must(self, text):
        code, said = self.play(text)
        equal(code, 0, said[-2000:])
        return said


def starting(stage):
    """Returns a script that starts an upstream whose first two responses are failures, then starts the image's command
    and waits until its listener accepts connections."""
    command = quoted(stage.config["Entrypoint"] + stage.config["Cmd"])
    return f"""{options.binary} demo --bind 127.0.0.1:3190 >/dev/null 2>&1 & container=$!
port 3190
container {command} >log 2>&1 & container=$!
port 3128; port 3129"""


ASK = "curl -sS -i -x http://127.0.0.1:3128 'http://%s:3190/flaky?id=1'"
ENDED = "kill -TERM $container; wait $container"


def served(stage, container, host="127.0.0.1"):
    """Starts the container, sends a request that is retried, reads the status of the process from /proc, and stops the
    container as a container runtime does. Returns the output."""
    script = f"cd {tempfile.mkdtemp(dir=stage.folder)}\n{starting(stage)}\n{ASK % host}; cat /proc/$container/status; {ENDED}; cat log"
    said = container.must(script)
    assert retried(said), said
    return said


def test_image_runs_without_privileges_and_with_a_read_only_root(stage):
    """Covers the image's own user, and an arbitrary user such as OpenShift assigns; /tmp in memory, and a read-only
    /tmp."""
    for user, has_tmp in ((USER, True), ("1234567:0", True), (USER, False)):
        said = served(stage, Container(stage, user, has_tmp=has_tmp))
        state = dict(re.findall(r"^(\w+):\s+(.*)$", said, re.M))
        uid, gid = user.split(":")
        equal((state["Uid"].split(), state["Gid"].split(), state["NoNewPrivs"]), ([uid] * 4, [gid] * 4, "1"))
        equal({int(state[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, {0})


def test_image_resolves_names_despite_unknown_nsswitch_modules(stage):
    """Mounts the nsswitch.conf of a desktop, which names modules that the image does not have. The C library would load
    these modules to resolve names."""
    files = {"/etc/hosts": "127.0.0.1 upstream.test\n", "/etc/nsswitch.conf": "hosts: files mdns4_minimal [NOTFOUND=return] dns myhostname\n"}
    served(stage, Container(stage, files=files), "upstream.test")


def test_image_uses_the_system_certificate_authorities(stage):
    """Reads the trusted CAs from the bundle that `ca init` writes. A mounted CA file replaces the CA file of the
    image."""
    text = "version: 1\nintercept:\n  hosts: [a.test]\n  ca: {certificate: /tmp/ca.pem, key: /tmp/ca.key}\n  bundle: /tmp/bundle.pem\n"
    bundle = (built(stage) / "etc/ssl/certs/ca-certificates.crt").read_text(encoding="utf-8")
    one = bundle[:bundle.index("-----END CERTIFICATE-----")] + "-----END CERTIFICATE-----\n"
    for mounted, least in ({}, 100), ({"/etc/ssl/certs/ca-certificates.crt": one}, 2):
        container = Container(stage, files={"/etc/reprise/reprise.yaml": text, **mounted})
        said = container.must("(container /usr/bin/reprise ca init -c /etc/reprise/reprise.yaml) >&2\n"
                              f"grep -c 'BEGIN CERTIFICATE' {container.place}/tmp/bundle.pem")
        count = int(said.splitlines()[-1])
        assert count >= least and (count == least or not mounted), said


def test_image_reports_an_invalid_configuration_file(stage):
    code, said = Container(stage, files={"/etc/reprise/reprise.yaml": "listeners: 7\n"}).play(
        "(container " + quoted(stage.config["Entrypoint"] + stage.config["Cmd"]) + ")")
    equal(code, 78, said)
    assert "/etc/reprise/reprise.yaml:" in said, said


COMPOSE = ROOT / "deploy/compose/compose.yaml"


def test_compose_file_is_valid_and_its_services_retry(stage):
    """Docker Compose validates the file, if it is installed. The test starts each service by its command line, with the
    image and mounts that the file names."""
    if shutil.which("docker-compose"):
        run("docker-compose", "-f", COMPOSE, "config", "-q")
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    proxy, app, flaky = (services[name] for name in ("reprise", "app", "flaky"))
    equal((proxy["image"], flaky["image"]), ("reprise:0.1.0",) * 2, "the image that the page builds")
    equal((proxy["read_only"], proxy["cap_drop"], app["network_mode"]), (True, ["ALL"], "service:reprise"))
    files = {"/etc/hosts": "127.0.0.1 localhost flaky\n"}
    for volume in proxy["volumes"]:
        source, target, _ = volume.split(":")
        files[target] = (COMPOSE.parent / source).read_text(encoding="utf-8")
    refused = dict(line.replace('"', "").split("=", 1) for line in run(options.binary, "env", "--format", "dotenv").splitlines())["no_proxy"]
    assert set(refused.split(",")) <= set(app["environment"]["no_proxy"].split(",")), "no credentials of a cloud come by the proxy"
    variables = quoted(f"{name}={value}" for name, value in app["environment"].items())
    container = Container(stage, files=files)
    said = container.must(f"""cd {tempfile.mkdtemp(dir=stage.folder)}
container {quoted(["/usr/bin/reprise", *flaky["command"]])} >/dev/null 2>&1 & container=$!
port 8080
container {quoted(stage.config["Entrypoint"] + stage.config["Cmd"])} >log 2>&1 & container=$!
until (container {quoted(proxy["healthcheck"]["test"][1:])}) >/dev/null 2>&1; do kill -0 $container; sleep 0.05; done
env {variables} curl {quoted(app["command"])}; {ENDED}""")
    assert retried(said), said


def test_image_bill_of_materials_is_correct(stage):
    materials.check(stage, built(stage), ROOT / "build/image/reprise.spdx.json", regular_files(built(stage)))


def test_release_script_creates_the_image_archive_and_its_bill_of_materials(stage):
    """Uses buildah, and the Debian made by mmdebstrap as the base image. Also runs the release steps that list every
    file."""
    built(stage)
    folder = stage.folder / "release"
    folder.mkdir()
    run("cp", stage.packed(), folder)
    variables = {**os.environ, "BUILDAH_OPTIONS": quoted(buildah(stage)[1:]), "BASE": "localhost/base"}
    for step in ("image", "sums", "provenance", "verify"):
        run("bash", ROOT / "deploy/release/release.sh", step, folder, env=variables, patience=900)
    archive, = folder.glob("reprise-*-image-*.oci.tar")
    assert "index.json" in run("tar", "-tf", archive)
    bill, = folder.glob("reprise-*-image-*.spdx.json")
    equal(json.loads(bill.read_text(encoding="utf-8"))["spdxVersion"], "SPDX-2.3")
    sums = (folder / "SHA256SUMS").read_text(encoding="utf-8")
    equal(sorted(line.split("  ")[1] for line in sums.splitlines()), sorted([archive.name, bill.name, stage.packed().name]))


# Rooms (modules) whose tests run in the Dockerfile's stage `tests`. `metrics` is one of them because its tests read
# files of deploy/. The other rooms are omitted, because test group `release` compiles and tests all rooms already.
ROOMS_OF_THE_STAGE = "cgroup metrics"


def test_dockerfile_test_stage_runs_the_tests(stage):
    """The image of the stage `tests` contains the sources and a compiler. It is stored on disk, because it is too large
    for the folder in memory."""
    need("buildah")
    with tempfile.TemporaryDirectory(prefix="reprise-stage-", dir="/var/tmp") as folder:
        storage = Path(folder)
        import_base(stage, storage)
        said = run(*buildah(stage, storage), "build", "--isolation", "chroot", "--build-arg", "BASE=localhost/base", "--target", "tests",
                   "--build-arg", f"ROOMS={ROOMS_OF_THE_STAGE}", ".", cwd=ROOT, patience=900)
    played = set(re.findall(r" (\w+)_test\.\d+ \.+ +Passed", said))
    assert played == set(ROOMS_OF_THE_STAGE.split()) and "100% tests passed" in said, said[-3000:]
