#!/usr/bin/env python3
"""Builds the package for other Debian releases and for arm64, each in a separate chroot, and installs and runs it
there.

    python3 tests/package/releases.py [--made FOLDER] [--only PATTERN]

A package that is already in FOLDER is not built again: a build takes a quarter of an hour on two cores. The program for arm64 runs under
qemu-user, with the libraries of an arm64 Debian. That Debian is only unpacked; no other program of it runs."""
import argparse
import functools
import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent)]

from harness import NotPlayed, equal  # noqa: E402
from host import Debian  # noqa: E402
from stage import ROOT, need, run  # noqa: E402
from junit import Suite  # noqa: E402

HOURS = 7200
PLAYED_EMULATED = r"test_(retries|reload)\."
ASK = """reprise check -c /etc/reprise/reprise.yaml
ip link set lo up
reprise demo --bind 127.0.0.1:3190 >/dev/null 2>&1 & trap 'kill $!' EXIT
until (exec 3<>/dev/tcp/127.0.0.1/3190) 2>/dev/null; do sleep 0.05; done
reprise exec -- curl -s --noproxy '' -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:3190/flaky?id=1"""


class Builds:
    def __init__(self, made, work):
        self.made, self.work = made, work

    def package(self, release, architecture, suffix):
        need("mmdebstrap", "unshare")
        pattern = f"reprise_*{suffix}_{architecture}.deb"
        if not list(self.made.glob(pattern)):
            print(f"building for {release} {architecture}: a quarter of an hour", flush=True)
            # Warnings are errors only on Debian 13, because its compiler has warnings that the older compiler of the
            # gate lacks.
            run("bash", ROOT / "deploy/release/build.sh", release, architecture, self.made, patience=HOURS,
                env={**os.environ, "REPRISE_WERROR": "ON" if release == "debian-13" else "OFF"})
        found, = self.made.glob(pattern)
        return found

    def debian(self, suite, *options, include):
        folder = self.work / f"{suite}{len(list(self.work.iterdir()))}"
        run("mmdebstrap", "--quiet", "--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Languages "none"', f"--include={','.join(include)}", *options, suite, folder,
            patience=HOURS, env={**os.environ, "TMPDIR": str(self.work)})
        return folder


def depends_of(deb):
    return re.findall(r"(?:^|, )([^ ,]+)", run("dpkg-deb", "-f", deb, "Depends"))


def test_debian_13_package_is_built_and_works(builds):
    deb = builds.package("debian-13", "amd64", "~deb13")
    there = Debian(builds.debian("trixie", "--variant=minbase", include=["ca-certificates", "curl", "iproute2", *depends_of(deb)]))
    run("cp", deb, there.root / "root")
    there.must(f"dpkg -i {deb.name}")
    said = there.must(ASK)
    assert "200" in said and "1 recovered" in said, said
    equal(there.must("dpkg-query -W -f '${Version}' reprise").rpartition("~")[2], "deb13")
    newest = there.must("zcat /usr/share/doc/reprise/changelog.Debian.gz").splitlines()[0] if (there.root / "usr/share/doc/reprise/changelog.Debian.gz").exists() else ""
    assert not newest or "~deb13) trixie;" in newest, newest
    there.must("dpkg --purge reprise")


def test_arm64_package_is_cross_compiled_and_runs_under_qemu(builds):
    need("qemu-aarch64-static")
    deb = builds.package("debian-12", "arm64", "~deb12")
    equal(run("dpkg-deb", "-f", deb, "Architecture").strip(), "arm64")
    root = builds.debian("bookworm", "--variant=extract", "--architectures=arm64", include=["libc6", *(name for name in depends_of(deb) if name != "adduser")])
    run("dpkg-deb", "-x", deb, root)
    program = builds.work / "reprise-arm64"
    program.write_text(f'#!/bin/sh\nexec qemu-aarch64-static -L {root} {root}/usr/bin/reprise "$@"\n', encoding="ascii")
    program.chmod(0o755)
    assert re.match(r"reprise [0-9.]+$", run(program, "version").strip())
    assert "forward" in run(program, "config", "--effective", "-c", root / "etc/reprise/reprise.yaml")
    run(sys.executable, ROOT / "tests/e2e/run.py", "--bin", program, "--jobs", "2", "--only", PLAYED_EMULATED, patience=HOURS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--made", type=Path, help="a folder of packages that are there already, and for those that are built")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    suite = Suite("releases")
    if os.geteuid() != 0:
        suite.skips("everything", "namespaces: chroots are made by root alone")
        return suite.end()
    with tempfile.TemporaryDirectory(prefix="reprise-releases-") as work:
        made = given.made or Path(work, "made")
        made.mkdir(exist_ok=True)
        builds = Builds(made.resolve(), Path(work))
        for name, case in list(globals().items()):
            if name.startswith("test_") and re.search(given.only, name):
                suite.plays(name, functools.partial(case, builds), NotPlayed)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
