"""The package on a Debian host: installed, started and asked, then what happens to it in years, to the purge that leaves nothing."""
import re

from harness import equal, eventually
from host import Container, Debian
from stage import block, need, patient, retried, run

SERVICE_FILE = "/etc/reprise/reprise.yaml"
RUNNING = "grep -lx reprise /proc/[0-9]*/comm || true"


def host(stage):
    """The running host that the cases below go on with; the package lies in its root's home."""
    if stage.host is None:
        stage.host = stage.made("host", lambda: started(stage))
        stage.before = stage.host.holds()
    return stage.host


def started(stage):
    need("systemd-nspawn", "nsenter")
    root = stage.copy_of_base("host")
    run("cp", stage.packed(), root / "root")
    return stage.enter_context(Container(root))


def pid(there):
    return int(there.must("systemctl show --property=MainPID --value reprise"))


def program(there):
    """What the process runs; the kernel tells where the file of it is gone."""
    return there.must(f"readlink /proc/{pid(there)}/exe").strip()


def next_package(stage, there, version, file_says):
    """The same package as it would be in another version, with another configuration file, in the home of the host's root."""
    tree = stage.folder / f"next-{version}"
    run("dpkg-deb", "-R", stage.packed(), tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")
    with open(tree / "etc/reprise/reprise.yaml", "a", encoding="utf-8") as file:
        file.write(file_says)
    name = f"reprise_{version}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, there.root / "root" / name)
    return name


def asked(there):
    """The page's request that fails twice."""
    said = there.must(patient(block("try")))
    assert retried(said), said


def test_it_is_installed_and_started(stage):
    there = host(stage)
    said = there.must(block("install"))
    equal(said.splitlines()[-1], "active", said)
    equal(there.must("systemctl is-enabled reprise.service || true; systemctl is-enabled reprise.socket || true").split(), ["enabled", "disabled"])
    equal(there.must(f"stat -c %U /proc/{pid(there)}").strip(), "reprise")
    equal(there.must("systemctl --failed --no-legend --plain | grep reprise || true"), "")


def test_a_request_that_fails_twice_is_retried(stage):
    asked(host(stage))


def test_a_changed_file_is_in_force_after_a_reload_and_nothing_restarts(stage):
    there = host(stage)
    before = pid(there)
    there.must(f"echo 'routes: [{{name: changed, match: {{host: nowhere}}, mode: off}}]' >>{SERVICE_FILE}")
    there.must(block("change"))
    eventually(lambda: '"changed"' in there.must("curl -sS http://127.0.0.1:3129/status"), "the new route is in force")
    equal(pid(there), before, "the process is the same")


def test_an_upgrade_keeps_the_changed_file_and_runs_the_new_program(stage):
    there = host(stage)
    ours, before = there.must(f"cat {SERVICE_FILE}"), pid(there)
    name = next_package(stage, there, "0.1.0-2", "# of a later version\n")
    said = there.must(f"apt install -y -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold ./{name}")
    equal(there.must(f"cat {SERVICE_FILE}"), ours, said)
    assert pid(there) not in (0, before), said
    equal(program(there), "/usr/bin/reprise")
    asked(there)


def test_a_file_that_a_new_version_cannot_use_does_not_end_the_old_one(stage):
    there = host(stage)
    before = pid(there)
    there.must(f"cp {SERVICE_FILE} good; echo 'broken: [' >>{SERVICE_FILE}")
    name = next_package(stage, there, "0.1.0-3", "")
    said = there.must(f"dpkg --force-confold -i {name}")
    assert "cannot be used" in said and "systemctl restart reprise" in said, said
    equal(pid(there), before, "what ran goes on")
    asked(there)
    assert there.ask("systemctl reload reprise").code != 0, "the file cannot be used"
    assert f"{SERVICE_FILE}:" in there.must("journalctl --no-pager -u reprise"), "what is wrong, and where"
    equal(pid(there), before, "what ran goes on")
    asked(there)
    assert there.ask("systemctl restart reprise").code != 0, "the file cannot be used"
    equal(there.must("systemctl show --property=NRestarts,ExecMainStatus reprise").split(), ["NRestarts=0", "ExecMainStatus=78"],
          "it is started once")
    there.must(f"cp good {SERVICE_FILE}; systemctl reset-failed reprise; systemctl restart reprise")
    asked(there)


def test_a_port_that_is_taken_does_not_break_an_installation(stage):
    there = host(stage)
    there.must("systemctl stop reprise; systemd-run --quiet --unit=squatter reprise demo --bind 127.0.0.1:3128")
    there.must("until (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null; do sleep 0.05; done")
    said = there.must("dpkg -i reprise_0.1.0-3.deb")
    assert "journalctl -u reprise" in said, said
    equal(there.must("dpkg-query -W -f '${db:Status-Status}' reprise"), "installed")
    there.must("systemctl stop squatter; systemctl reset-failed reprise; systemctl restart reprise")
    asked(there)


def test_sockets_of_systemd_serve_and_survive_an_upgrade(stage):
    """The first connection starts the service; one that comes while it is down is served by the next."""
    there = host(stage)
    there.must(block("socket"))
    equal(there.ask("systemctl is-active reprise.service").text.strip(), "inactive")
    asked(there)
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.must("systemctl is-active reprise.socket").strip(), "active")
    asked(there)


def test_what_was_removed_comes_back_as_it_was(stage):
    there = host(stage)
    ours = there.must(f"cat {SERVICE_FILE}")
    there.must("apt remove -y reprise")
    equal(there.must(f"{RUNNING}; ls /usr/bin/reprise 2>/dev/null || true"), "", "nothing runs and nothing is there")
    equal(there.must(f"cat {SERVICE_FILE}"), ours)
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.must(f"cat {SERVICE_FILE}"), ours)
    asked(there)


def test_a_service_that_was_disabled_stays_so(stage):
    there = host(stage)
    there.must("systemctl disable --now reprise.service reprise.socket")
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.must("systemctl is-enabled reprise.service || true; systemctl is-active reprise.service || true").split(), ["disabled", "inactive"])


def test_a_purge_leaves_nothing(stage):
    """Neither while the service runs, nor where an authority was made; and twice is no error."""
    there = host(stage)
    there.must("systemctl enable --now reprise.service")
    there.must(f"cat >>{SERVICE_FILE} <<'YAML'\nintercept:\n  hosts: [api.example.com]\n"
               "  ca: {certificate: /etc/reprise/ca.pem, key: /etc/reprise/ca.key}\n  bundle: /etc/reprise/bundle.pem\nYAML\n"
               f"reprise ca init -c {SERVICE_FILE} && test -f /etc/reprise/ca.key")
    said = there.must(block("remove"))
    equal(there.must(RUNNING), "")
    equal(sorted(there.holds() - stage.before), [], said)
    equal(sorted(path for path in stage.before - there.holds() if "reprise" in path), [])
    there.must("dpkg --purge reprise")


def test_without_systemd_nothing_fails(stage):
    """As in a container that is built: no service manager runs, and a person's account has the name. It stays when the package goes."""
    there = Debian(stage.copy_of_base("bare"))
    run("cp", stage.packed(), there.root / "root")
    there.must("useradd --create-home reprise")
    before = there.holds()
    name = next_package(stage, there, "0.1.0-9", "")
    there.must(f"dpkg -i reprise_0.1.0-1_*.deb; reprise check -c {SERVICE_FILE}; dpkg -i {name}; dpkg -r reprise; dpkg -i {name}")
    said = there.must("dpkg --purge reprise; dpkg --purge reprise")
    equal(sorted(there.holds() - before), [], said)
    there.must("id reprise && test -d /home/reprise")
    # And where the tools that make and remove accounts went before the package did.
    there.must(f"userdel -r reprise 2>/dev/null; dpkg -i {name}; dpkg --force-depends --force-remove-protected -r adduser; dpkg --purge reprise")
