"""Runs the playbook of deploy/ansible on a Debian with systemd: the first run installs reprise, the second run changes
nothing."""
import re
import shutil

from harness import NotPlayed, equal
from host import Container
from hosted import SERVICE_FILE, asked, pid
from stage import ROOT, need, run

PLAY = "ansible-playbook -i localhost, -c local reprise.yaml -e proxy_package=/root/reprise.deb -e '{\"proxy_clients\": [\"my-app\"]}'"


def changes(said):
    """Returns how many tasks of a playbook run changed something. Fails if a task failed."""
    changed, failed = re.search(r"changed=(\d+) .*failed=(\d+)", said).groups()
    equal(failed, "0", said)
    return int(changed)


def test_ansible_playbook_installs_and_a_second_run_changes_nothing(stage):
    need("systemd-nspawn", "nsenter", "mmdebstrap")
    try:
        base = stage.make_base("with-ansible", ["ansible-core", "python3-apt"])
    except Exception as why:
        raise NotPlayed("client", "no Debian with Ansible could be made") from why
    there = Container(base)
    run("cp", stage.packed(), there.root / "root/reprise.deb")
    shutil.copy(ROOT / "deploy/ansible/reprise.yaml", there.root / "root/reprise.yaml")
    (there.root / "etc/systemd/system/my-app.service").write_text("[Service]\nExecStart=/bin/sh -c 'echo $http_proxy >/root/said; exec sleep 100000'\n", encoding="ascii")
    with there:
        assert changes(there.must(PLAY)) > 3
        equal(there.must("systemctl is-active reprise.service reprise.socket").split(), ["active"] * 2)
        asked(there)
        equal(there.must("until [ -s said ]; do sleep 0.05; done; cat said").strip(), "http://127.0.0.1:3128")
        before = pid(there)
        equal(changes(there.must(PLAY)), 0, "again changes nothing")
        # The playbook applies a new configuration by a reload. An invalid configuration changes nothing.
        assert changes(there.must(PLAY + " -e '{\"proxy_config\": {\"version\": 1, \"routes\": [{\"name\": \"other\", \"retry\": {\"on\": [503]}}]}}'")) > 0
        assert '"other"' in there.must("until curl -sS http://127.0.0.1:3129/status | grep -q other; do sleep 0.05; done; curl -sS http://127.0.0.1:3129/status")
        equal(pid(there), before, "no restart")
        kept = there.must(f"cat {SERVICE_FILE}")
        refused = there.ask(PLAY + " -e '{\"proxy_config\": {\"version\": 1, \"listeners\": 7}}'")
        assert refused.code != 0 and "listeners" in refused.text, refused
        equal(there.must(f"cat {SERVICE_FILE}"), kept)
    shutil.rmtree(base, ignore_errors=True)
