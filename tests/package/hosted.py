"""Tests the package on a Debian host: installation, first requests, later changes, and a purge that removes
everything."""
import itertools
import re

from harness import equal, eventually
from host import Container, Debian
from stage import block, need, patient, retried, run

SERVICE_FILE = "/etc/reprise/reprise.yaml"
OURS = "reprise.service reprise.socket"
# Script that sends requests without a pause while the command WHAT changes the service. Prints the statuses of these
# requests.
ASKING = """
reprise demo --bind 127.0.0.1:3190 --script 200 >/dev/null 2>&1 & demo=$!
until (exec 3<>/dev/tcp/127.0.0.1/3190) 2>/dev/null; do sleep 0.05; done
touch asking; : >codes
while [ -e asking ]; do curl -s -o /dev/null -w '%{http_code}:%{exitcode}\\n' --max-time 60 -x http://127.0.0.1:3128 http://127.0.0.1:3190/flaky?id=$RANDOM >>codes || true; done & asker=$!
WHAT
rm asking; wait $asker; kill $demo; sort codes | uniq -c
"""
# Script that runs the upstream of `reprise demo` in a network namespace, which has the role of another host, so that
# connections to this upstream can be redirected.
WORLD = """
cp -n /usr/bin/reprise world-demo
systemctl reset-failed world 2>/dev/null || true
systemd-run --quiet --unit=world -p PrivateNetwork=yes -p WorkingDirectory=/root bash -c 'until ip link set far up 2>/dev/null; do sleep 0.05; done
  ip addr add 10.99.0.2/24 dev far; exec ./world-demo demo --bind 10.99.0.2:8080'
until [ "$(readlink /proc/$(systemctl show -P MainPID world)/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add near type veth peer name far netns $(systemctl show -P MainPID world)
ip addr add 10.99.0.1/24 dev near; ip link set near up
until (exec 3<>/dev/tcp/10.99.0.2/8080) 2>/dev/null; do sleep 0.05; done
"""
ids = itertools.count()
RUNNING = "grep -lx reprise /proc/[0-9]*/comm || true"


def host(stage):
    """Returns the running host that the cases share. The package file is in the home folder of root."""
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
    """Returns the path of the running program. If the file was deleted, the kernel adds ` (deleted)` to the path."""
    return there.must(f"readlink /proc/{pid(there)}/exe").strip()


def next_package(stage, there, version, file_says):
    """Makes a package that differs only in its version, and in a configuration file that ends with the text
    `file_says`. Writes the package to the home folder of root on the host, and returns the file name."""
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
    """Sends the request of the block `try` in deploy/README.md, whose first two attempts fail, and checks that it was
    retried."""
    said = there.must(patient(block("try")))
    assert retried(said), said


def test_package_installation_starts_the_service(stage):
    there = host(stage)
    said = there.must(block("install"))
    equal(said.splitlines()[-1], "active", said)
    equal(there.must("systemctl is-enabled reprise.service || true; systemctl is-enabled reprise.socket || true").split(), ["enabled", "enabled"])
    equal(there.must(f"systemctl is-active {OURS}").split(), ["active"] * 2)
    equal(there.must("systemctl is-enabled reprise-redirect || true").strip(), "disabled")
    equal(there.must(f"stat -c %U /proc/{pid(there)}").strip(), "reprise")
    equal(there.must("systemctl --failed --no-legend --plain | grep reprise || true"), "")


def test_installed_proxy_retries_a_request_that_fails_twice(stage):
    asked(host(stage))


def test_changed_file_is_applied_by_a_reload_without_a_restart(stage):
    there = host(stage)
    before = pid(there)
    there.must(f"echo 'routes: [{{name: changed, match: {{host: nowhere}}, mode: off}}]' >>{SERVICE_FILE}")
    there.must(block("change"))
    eventually(lambda: '"changed"' in there.must("curl -sS http://127.0.0.1:3129/status"), "the new route is in force")
    equal(pid(there), before, "the process is the same")


def test_upgrade_keeps_the_changed_file_and_runs_the_new_program(stage):
    there = host(stage)
    ours, before = there.must(f"cat {SERVICE_FILE}"), pid(there)
    name = next_package(stage, there, "0.1.0-2", "# of a later version\n")
    said = there.must(f"apt install -y -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold ./{name}")
    equal(there.must(f"cat {SERVICE_FILE}"), ours, said)
    assert pid(there) not in (0, before), said
    equal(program(there), "/usr/bin/reprise")
    asked(there)


def test_upgrade_with_an_unusable_file_keeps_the_old_process_running(stage):
    there = host(stage)
    before = pid(there)
    there.must(f"cp {SERVICE_FILE} good; echo 'broken: [' >>{SERVICE_FILE}")
    name = next_package(stage, there, "0.1.0-3", "")
    said = there.must(f"dpkg --force-confold -i {name}")
    assert "cannot be used" in said and "systemctl restart reprise" in said, said
    equal(pid(there), before, "what ran goes on")
    asked(there)
    assert there.ask("systemctl reload reprise").code != 0, "the file cannot be used"
    assert f"{SERVICE_FILE}:" in there.must("journalctl --no-pager -p err -u reprise"), "what is wrong, and where, as an error"
    assert 'Status: "' in there.must("systemctl status --no-pager reprise"), "a line of what it does"
    equal(pid(there), before, "what ran goes on")
    asked(there)
    assert there.ask("systemctl restart reprise").code != 0, "the file cannot be used"
    equal(there.must("systemctl show --property=NRestarts,ExecMainStatus reprise").split(), ["NRestarts=0", "ExecMainStatus=78"],
          "it is started once")
    there.must(f"cp good {SERVICE_FILE}; systemctl reset-failed reprise; systemctl restart reprise")
    asked(there)


def test_port_in_use_does_not_break_an_installation(stage):
    there = host(stage)
    there.must(block("stop") + "systemd-run --quiet --unit=squatter reprise demo --bind 127.0.0.1:3128")
    there.must("until (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null; do sleep 0.05; done")
    said = there.must("dpkg -i reprise_0.1.0-3.deb")
    assert "journalctl -u reprise" in said, said
    equal(there.must("dpkg-query -W -f '${db:Status-Status}' reprise"), "installed")
    there.must(f"systemctl stop squatter {OURS}; systemctl reset-failed {OURS} 2>/dev/null || true\n" + block("start"))
    asked(there)


def test_restart_refuses_no_connection(stage):
    """Covers a restart, an upgrade, and a stop of only the service: none of them refuses a connection. A crash cuts
    pending requests, but refuses no connection either."""
    there = host(stage)
    for what in ("for i in 1 2 3; do systemctl restart reprise; done", "dpkg -i reprise_0.1.0-3.deb >/dev/null", "systemctl stop reprise 2>/dev/null"):
        codes = there.must(ASKING.replace("WHAT", what)).split()
        equal(codes[1:], ["200:0"], (what, codes))
    said = there.must(ASKING.replace("WHAT", """before=$(systemctl show -P MainPID reprise); kill -9 $before
until now=$(systemctl show -P MainPID reprise); [ $now != 0 ] && [ $now != $before ]; do sleep 0.05; done
count=$(wc -l <codes); until [ $(wc -l <codes) -gt $((count + 1)) ]; do sleep 0.05; done"""))
    assert "200:0" in said and ":7" not in said, said


def test_systemd_sockets_start_a_stopped_service(stage):
    """The first connection starts the stopped service. After the service and its sockets were both stopped, no
    connection starts it."""
    there = host(stage)
    there.must("systemctl stop reprise.service")
    asked(there)
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.must("systemctl is-active reprise.socket").strip(), "active")
    asked(there)
    there.must(block("stop"))
    equal(there.ask("curl -sS http://127.0.0.1:3129/livez").code, 7, "connection refused")
    there.must(block("start"))
    asked(there)


def test_service_works_without_systemd_sockets(stage):
    there = host(stage)
    there.must(block("without sockets"))
    equal(there.ask("systemctl is-active reprise.service reprise.socket").text.split(), ["active", "inactive"])
    asked(there)
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.ask("systemctl is-active reprise.service reprise.socket").text.split(), ["active", "inactive"], "an upgrade leaves it so")
    asked(there)
    there.must("systemctl stop reprise; systemctl enable reprise.socket\n" + block("start"))
    asked(there)


def test_service_with_an_unusable_file_refuses_clients_until_the_file_is_repaired(stage):
    """With an invalid configuration, each connection makes systemd try to start the service. After some failures,
    systemd closes the sockets. A restart opens the sockets again."""
    there = host(stage)
    there.must(f"cp {SERVICE_FILE} good; echo 'broken: [' >>{SERVICE_FILE}")
    assert there.ask("systemctl restart reprise").code != 0, "the file cannot be used"
    there.must("until [ \"$(curl -s --max-time 5 -w '%{exitcode}' http://127.0.0.1:3129/livez)\" = 7 ]; do sleep 0.05; done")
    equal(there.ask("systemctl is-active reprise.socket").text.strip(), "failed")
    there.must(f"cp good {SERVICE_FILE}; systemctl restart reprise")
    equal(there.must(f"systemctl is-active {OURS}").split(), ["active"] * 2)
    asked(there)


def test_log_rotation_loses_no_existing_line(stage):
    there = host(stage)
    there.must(block("log file"))
    asked(there)
    eventually(lambda: '"path":"/flaky"' in there.must("cat /var/log/reprise.log"), "the request is in the log")
    first = there.must("cat /var/log/reprise.log")
    there.must("logrotate --force /etc/logrotate.d/reprise")
    assert there.must("cat /var/log/reprise.log.1").startswith(first), "the old lines"
    asked(there)
    eventually(lambda: '"path":"/flaky"' in there.must("cat /var/log/reprise.log"), "the next request is in the new file")
    equal(there.must("grep -c . /var/log/reprise.log; tr -cd '\\0' </var/log/reprise.log | wc -c").split()[1], "0", "a file without a hole")
    there.must("rm -r /etc/systemd/system/reprise.service.d /etc/logrotate.d/reprise /var/log/reprise.log* /var/lib/logrotate/status; systemctl daemon-reload; systemctl restart reprise")


def test_https_of_an_application_is_intercepted_by_the_documented_commands(stage):
    """The CA certificates of the host trust the upstream's certificate. The application is a service that sends
    requests with curl."""
    there = host(stage)
    there.must(f"""cp {SERVICE_FILE} before-intercept
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=api.example.com' -addext 'subjectAltName=DNS:api.example.com' -keyout up.key -out up.crt 2>/dev/null
cp up.crt /usr/local/share/ca-certificates/up.crt; update-ca-certificates >/dev/null 2>&1
echo '127.0.0.1 api.example.com' >>/etc/hosts
systemd-run --quiet --unit=upstream -p WorkingDirectory=/root openssl s_server -accept 443 -cert up.crt -key up.key -www
until (exec 3<>/dev/tcp/127.0.0.1/443) 2>/dev/null; do sleep 0.05; done
printf '[Service]\\nType=oneshot\\nExecStart=/bin/sh -c "curl -sSi https://api.example.com/ >/root/said"\\n' >/etc/systemd/system/my-app.service""")
    said = there.must(block("intercept"))
    assert re.search(r"^owner +reprise$", said, re.M), said
    equal(there.must("stat -c %U:%a /etc/reprise/ca.key").strip(), "reprise:600")
    equal(there.must(f"systemctl is-active {OURS}").split(), ["active"] * 2)
    said_inside = there.must("cat said").lower()  # curl uses HTTP/2, whose field names are in lower case
    assert "reprise-attempts: 1" in said_inside, f"the request inside TLS was read: {said_inside}"
    # Imitates an installation of an earlier version, where the key belonged to root.
    there.must("chown root /etc/reprise/ca.key")
    warned = there.must(f"reprise check -c {SERVICE_FILE}")
    assert "chown reprise /etc/reprise/ca.key" in warned, warned
    assert there.ask("systemctl restart reprise").code != 0, "the key cannot be read"
    assert "reprise runs as reprise: run chown reprise /etc/reprise/ca.key" in there.must("journalctl --no-pager -u reprise"), "the command"
    there.must(f"chown reprise /etc/reprise/ca.key; systemctl stop {OURS}; systemctl reset-failed {OURS} 2>/dev/null || true\n" + block("start"))
    there.must("systemctl restart my-app; grep -qi Reprise-Attempts said")
    there.must(f"""systemctl stop upstream; rm -r /etc/systemd/system/my-app.service*; systemctl daemon-reload
rm /etc/reprise/ca.* /etc/reprise/bundle.*; rm /usr/local/share/ca-certificates/up.crt; update-ca-certificates --fresh >/dev/null 2>&1
sed -i '/api.example.com/d' /etc/hosts; [ -s /etc/hosts ] || rm /etc/hosts; cp before-intercept {SERVICE_FILE}; systemctl restart reprise""")


def way(there, user="app"):
    """Returns "by reprise" if a request of a program without proxy settings was redirected through reprise, otherwise
    "straight"."""
    said = there.must(f"setpriv --reuid={user} --clear-groups curl -sSi --max-time 60 http://10.99.0.2:8080/flaky?id={next(ids)}")
    if "Reprise-Attempts: 3" in said:
        return "by reprise"
    assert " 503 " in said.splitlines()[0] and "Reprise" not in said, said
    return "straight"


def is_redirected(there):
    return "table inet reprise" in there.must("nft list tables")


def comes_back(there):
    """Waits until the redirect rules are applied, and checks a request. A systemd unit applies the rules after the
    service is ready, so a start of the service ends before they are applied."""
    eventually(lambda: is_redirected(there), "the rules are applied")
    equal(way(there), "by reprise")


def test_user_is_redirected_by_the_documented_commands(stage):
    there = host(stage)
    there.must(f"cp {SERVICE_FILE} before-redirect; useradd --system app\n{WORLD}")
    equal(way(there), "straight")
    there.must(block("redirect"))
    equal((way(there), way(there, "root")), ("by reprise", "straight"))
    there.must("systemctl restart reprise")
    comes_back(there)


def test_redirect_rules_are_removed_and_restored_with_the_service(stage):
    there = host(stage)
    there.must(block("stop"))
    equal((is_redirected(there), way(there)), (False, "straight"))
    there.must(block("start"))
    comes_back(there)


def test_crash_leaves_no_redirect_rules_without_a_listener(stage):
    there = host(stage)
    before = pid(there)
    there.must(f"kill -9 {before}")
    eventually(lambda: pid(there) not in (0, before), "the service is back")
    comes_back(there)
    # Breaks the configuration and crashes the service, so that it cannot start again.
    there.must(f"cp {SERVICE_FILE} good; echo 'broken: [' >>{SERVICE_FILE}; kill -9 {pid(there)}")
    eventually(lambda: there.ask("systemctl is-failed reprise").text.strip() == "failed", "the service has given up")
    eventually(lambda: not is_redirected(there), "the rules are removed")
    equal(way(there), "straight")
    there.must(f"cp good {SERVICE_FILE}; systemctl stop {OURS}; systemctl reset-failed {OURS} 2>/dev/null || true\n" + block("start"))
    comes_back(there)


def test_redirect_rules_survive_an_upgrade_and_a_reboot(stage):
    there = host(stage)
    there.must("dpkg -i reprise_0.1.0-3.deb")
    comes_back(there)
    there.reboot()
    there.must(WORLD)
    comes_back(there)
    asked(there)


def test_redirect_rules_are_removed_even_if_the_program_is_missing(stage):
    there = host(stage)
    there.must("mv /usr/bin/reprise gone; systemctl stop reprise.socket reprise.service")
    equal((is_redirected(there), way(there)), (False, "straight"))
    there.must("mv gone /usr/bin/reprise\n" + block("start"))
    comes_back(there)


def test_manually_applied_redirect_rules_are_removed_with_the_package(stage):
    """Rules that were applied by a command, without the systemd unit, are removed too if the service stops or the
    package is removed, because no listener then accepts the redirected connections."""
    there = host(stage)
    there.must("systemctl disable --now reprise-redirect; rm -r /etc/systemd/system/reprise-redirect.service.d; systemctl daemon-reload")
    equal((is_redirected(there), way(there)), (False, "straight"))
    by_hand = f"reprise redirect --print nft --apply --only-user app -c {SERVICE_FILE}"
    there.must(by_hand)
    equal(way(there), "by reprise")
    there.must(block("stop"))
    equal((is_redirected(there), way(there)), (False, "straight"))
    assert "no process listens on port 3191" in there.must(by_hand)
    there.must("apt remove -y reprise")
    equal((is_redirected(there), way(there)), (False, "straight"))
    there.must(f"cp before-redirect {SERVICE_FILE}; dpkg -i reprise_0.1.0-3.deb; systemctl stop world; ip link delete near 2>/dev/null || true; userdel app")
    asked(there)


def test_reinstallation_after_a_removal_keeps_the_configuration(stage):
    there = host(stage)
    ours = there.must(f"cat {SERVICE_FILE}")
    there.must("apt remove -y reprise")
    equal(there.must(f"{RUNNING}; ls /usr/bin/reprise 2>/dev/null || true"), "", "nothing runs and nothing is there")
    equal(there.must(f"cat {SERVICE_FILE}"), ours)
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.must(f"cat {SERVICE_FILE}"), ours)
    asked(there)


def test_disabled_service_stays_disabled_after_an_upgrade(stage):
    there = host(stage)
    there.must("systemctl disable --now reprise.socket reprise.service")
    there.must("dpkg -i reprise_0.1.0-3.deb")
    equal(there.must(f"systemctl is-enabled {OURS} || true; systemctl is-active {OURS} || true").split(), ["disabled"] * 2 + ["inactive"] * 2)


def test_purge_leaves_nothing_behind(stage):
    """Covers a running service and an existing CA. A second purge is not an error."""
    there = host(stage)
    there.must("systemctl enable --now reprise.service")
    there.must(f"cat >>{SERVICE_FILE} <<'YAML'\nintercept:\n  hosts: [api.example.com]\n"
               "  ca: {certificate: /etc/reprise/ca.pem, key: /etc/reprise/ca.key}\n  bundle: /etc/reprise/bundle.pem\nYAML\n"
               f"reprise ca init -c {SERVICE_FILE} && test -f /etc/reprise/ca.key")
    said = there.must(block("remove"))
    equal(there.must(RUNNING), "")
    equal(sorted(there.holds() - stage.before), [], "what the package leaves")
    equal(sorted(path for path in stage.before - there.holds() if "reprise" in path), [])
    there.must("dpkg --purge reprise")


def test_installation_and_removal_without_systemd_succeed(stage):
    """Imitates a container build, where no service manager runs. An existing account of a person has the service's
    name, and is kept when the package is removed."""
    there = Debian(stage.copy_of_base("bare"))
    run("cp", stage.packed(), there.root / "root")
    there.must("useradd --create-home reprise")
    before = there.holds()
    name = next_package(stage, there, "0.1.0-9", "")
    there.must(f"dpkg -i reprise_0.1.0-2~*.deb; reprise check -c {SERVICE_FILE}; dpkg -i {name}; dpkg -r reprise; dpkg -i {name}")
    said = there.must("dpkg --purge reprise; dpkg --purge reprise")
    equal(sorted(there.holds() - before), [], said)
    there.must("id reprise && test -d /home/reprise")
    # A purge must also succeed if adduser, which has the tools to remove accounts, was removed before the package.
    there.must(f"userdel -r reprise 2>/dev/null; dpkg -i {name}; dpkg --force-depends --force-remove-protected -r adduser; dpkg --purge reprise")
