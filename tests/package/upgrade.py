"""Tests an upgrade from the package of an earlier commit, with the configuration files that the earlier package
shipped.

The file `upgrade_from` names the earlier commit: the last release, if there is one. The earlier package is built from
the sources of that commit, only once for each commit."""
import re
import shutil
from pathlib import Path

from harness import equal
from host import Container
from hosted import OURS, SERVICE_FILE, asked, pid
from stage import ROOT, need, run

COMMIT = Path(__file__).with_name("upgrade_from").read_text(encoding="ascii").strip()
PATIENCE = 3600


def earlier_package():
    """Builds the earlier package with the preset `check`, which compiles faster than the release build: the test needs
    only the package's files and scripts, and a program that runs."""
    need("git", "cmake", "ninja")
    folder = ROOT / "build/upgrade" / COMMIT
    if not list(folder.glob("*.deb")):
        tree = folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        run("bash", "-euo", "pipefail", "-c", f"git archive {COMMIT} | tar -x -C {tree}", cwd=ROOT)
        run("cmake", "--preset", "check", "-DREPRISE_TESTS=OFF", "-DREPRISE_WERROR=OFF", cwd=tree)
        run("cmake", "--build", "build/check", "--target", "reprise", cwd=tree, patience=PATIENCE)
        run("cpack", "-B", folder, cwd=tree / "build/check")
        shutil.rmtree(tree)
    deb, = folder.glob("*.deb")
    return deb


def version(there):
    return there.must("dpkg-query -W -f '${Version}' reprise")


def test_earlier_package_is_upgraded_with_its_configuration_files(stage):
    need("systemd-nspawn", "nsenter")
    earlier = earlier_package()
    there = Container(stage.copy_of_base("upgraded"))
    for deb in (earlier, stage.packed()):
        run("cp", deb, there.root / "root")
    with there:
        there.must(f"dpkg -i {earlier.name}")
        asked(there)
        equal(there.must("dpkg -V reprise").strip(), "")
        # Copies the shipped files and adds a line to the service file, as an administrator may do.
        there.must(f"mkdir shipped; cp {SERVICE_FILE} shipped/service.yaml; cp /usr/share/doc/reprise/config/examples/*.yaml shipped\n"
                   f"echo '# ours' >>{SERVICE_FILE}")
        good = there.must("for file in shipped/*.yaml; do ! reprise check -c $file >/dev/null 2>&1 || echo $file; done").split()
        assert "shipped/service.yaml" in good and len(good) > 2, good
        enabled = there.ask(f"systemctl is-enabled {OURS}").text
        before, old = pid(there), version(there)

        there.must(f"apt install -y -o Dpkg::Options::=--force-confold ./{stage.packed().name}")
        assert version(there) != old, "it is an upgrade, not the same version"
        equal(there.must(f"dpkg --compare-versions {version(there)} gt {old} && echo newer").strip(), "newer")
        assert pid(there) not in (0, before), "the service was restarted"
        equal(there.must(f"tail -n 1 {SERVICE_FILE}"), "# ours\n")
        equal(there.ask(f"systemctl is-enabled {OURS}").text, enabled, "enabled or not, as it was")
        asked(there)
        there.must("systemctl reload reprise")
        asked(there)
        for file in good:
            said = there.ask(f"reprise check -c {file}")
            equal(said.code, 0, f"{file} of the earlier package can be used no more: {said.text}")
        there.must(f"cp shipped/service.yaml {SERVICE_FILE}; systemctl restart reprise")
        asked(there)
        equal(re.findall(r"error", there.must("journalctl --no-pager -p err -u reprise")), [])
        there.must("apt purge -y reprise")
