#!/usr/bin/env python3
"""Tests the fast steps of deploy/release/release.sh, and checks that the release workflow runs the steps of that
script.

    python3 tests/release.py

The slow steps, packages and image, are tested by tests/package in the nightly test group `releases`."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))

from harness import equal  # noqa: E402
from junit import Suite  # noqa: E402

VERSION = re.search(r"^project\(reprise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]


class Tree:
    """A temporary repository that has only the files that release.sh reads."""

    FILES = ("CMakeLists.txt", "CHANGELOG.md", "Dockerfile", "deploy/debian/changelog", "deploy/packages.sh", "deploy/release/release.sh")

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-release-")
        self.root = Path(self.folder.name, "tree")
        for name in self.FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.commit()
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def commit(self):
        git = ["git", "-C", str(self.root), "-c", "user.name=test", "-c", "user.email=test@example.com"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "test"]):
            subprocess.run([*git, *words], check=True, capture_output=True)

    def change(self, name, old, new):
        file = self.root / name
        text = file.read_text(encoding="utf-8")
        assert old in text, (name, old)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        self.commit()

    def step(self, *words, rehearsal=False):
        environment = {**os.environ, "REPRISE_REHEARSAL": "1" if rehearsal else "0"}
        done = subprocess.run(["bash", str(self.root / "deploy/release/release.sh"), *map(str, words)], capture_output=True, text=True, env=environment,
                              timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    def must(self, *words, **more):
        code, out, err = self.step(*words, **more)
        equal((code, err), (0, ""), words)
        return out

    def refuses(self, words, *step, **more):
        code, _, err = self.step(*step, **more)
        assert code == 1 and words in err, (step, code, err)

    def release_the_changelog(self):
        self.change("CHANGELOG.md", f"## Unreleased ({VERSION})", f"## {VERSION} (2026-11-30)")


def test_release_check_rejects_an_unreleased_version_unless_rehearsed():
    with Tree() as tree:
        tree.refuses(f"no heading '## {VERSION}'", "check", f"v{VERSION}")
        tree.must("check", f"v{VERSION}", rehearsal=True)
        tree.release_the_changelog()
        tree.must("check", f"v{VERSION}")


def test_release_check_compares_every_place_of_the_version():
    with Tree() as tree:
        tree.release_the_changelog()
        tree.refuses(f"the tag is v9.9.9, and CMakeLists.txt says {VERSION}", "check", "v9.9.9")
        for name, old, new in (("Dockerfile", f"ARG VERSION={VERSION}", "ARG VERSION=9.9.9"), ("deploy/debian/changelog", f"reprise ({VERSION}-", "reprise (9.9.9-")):
            tree.change(name, old, new)
            tree.refuses("9.9.9", "check", f"v{VERSION}")
            tree.change(name, new, old)
        (tree.root / "stray").touch()
        tree.refuses("files differ from the commit", "check", f"v{VERSION}")


def test_release_notes_are_the_changelog_section_of_the_version():
    with Tree() as tree:
        text = "# Changelog\n\n## 0.10.0\n\nother\n\n## " + VERSION + "0\n\nlonger\n\n## " + VERSION + " (2026-11-30)\n\n- one\n\n### Sub\n- two\n\n## 0.0.9\n\n- old\n"
        (tree.root / "CHANGELOG.md").write_text(text, encoding="utf-8")
        equal(tree.must("notes"), "- one\n\n### Sub\n- two\n")
        (tree.root / "CHANGELOG.md").write_text(f"## {VERSION}\n\n## 0.0.9\n- old\n", encoding="utf-8")
        tree.refuses("is empty", "check")


def test_checksums_and_provenance_name_every_file_and_detect_changes():
    with Tree() as tree:
        into = Path(tree.folder.name, "files")
        into.mkdir()
        tree.refuses("nothing is in", "sums", into)
        for name in ("reprise_1_amd64.deb", "a b.tar.xz"):
            (into / name).write_text(name, encoding="utf-8")
        (into / "NOTES.md").write_text("notes", encoding="utf-8")
        tree.refuses("run sums before", "provenance", into)
        for step in ("sums", "provenance", "verify"):
            tree.must(step, into)
        statement = json.loads((into / f"reprise-{VERSION}.intoto.json").read_text(encoding="utf-8"))
        equal([part["name"] for part in statement["subject"]], ["a b.tar.xz", "reprise_1_amd64.deb"])
        commit = subprocess.run(["git", "-C", str(tree.root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        equal(statement["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"]["gitCommit"], commit)
        (into / "more").touch()
        tree.refuses("does not name exactly the files", "verify", into)
        (into / "more").unlink()
        (into / "a b.tar.xz").write_text("other", encoding="utf-8")
        tree.refuses("differs from SHA256SUMS", "verify", into)
        tree.must("sums", into)
        tree.refuses("the provenance does not name", "verify", into)


def test_build_dependencies_are_known_for_each_supported_release():
    names = {}
    with tempfile.TemporaryDirectory() as folder:
        for release in ("debian-12", "debian-13", "ubuntu-24.04"):
            about = Path(folder, "os-release")
            system, version = release.split("-")
            about.write_text(f'ID={system}\nVERSION_ID="{version}"\n', encoding="utf-8")
            names[release] = subprocess.run(["bash", "-euo", "pipefail", "-c", 'source deploy/packages.sh; echo "${build_packages[@]}" "${test_packages[@]}"'], cwd=ROOT, text=True,
                                            env={**os.environ, "OS_RELEASE": str(about)}, capture_output=True, check=True).stdout
        for release, boost, llvm in (("debian-12", "1.81", "14"), ("debian-13", "1.83", "19"), ("ubuntu-24.04", "1.83", "18")):
            assert f" libboost{boost}-dev " in names[release] and f" llvm-{llvm} " in names[release], (release, names[release])
        about.write_text("ID=plan9\n", encoding="utf-8")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", "source deploy/packages.sh"], cwd=ROOT, env={**os.environ, "OS_RELEASE": str(about)}, text=True,
                              capture_output=True, check=True)
        assert "plan9-unstable is not known here" in done.stderr, done.stderr


def workflow(name):
    found = yaml.safe_load((ROOT / ".github/workflows" / name).read_text(encoding="utf-8"))
    return found, found[True]  # YAML 1.1 reads the key `on` as true


def needs_of(jobs, name):
    """Returns every job that must succeed before the job `name` starts."""
    needs = jobs[name].get("needs", [])
    needs = [needs] if isinstance(needs, str) else needs
    return set(needs).union(*(needs_of(jobs, other) for other in needs))


def test_nothing_is_published_before_gate_and_night_pass():
    release, begins = workflow("release.yml")
    equal(begins, {"push": {"tags": ["v*"]}})
    jobs = release["jobs"]
    for name in ("gate", "night"):
        file = jobs[name]["uses"].rpartition("/")[2]
        assert "workflow_call" in workflow(file)[1], file
        for later in ("packages", "image", "publish"):
            assert name in needs_of(jobs, later), (later, name)
    equal(needs_of(jobs, "publish"), {"check", "gate", "night", "packages", "image"})
    for name, job in jobs.items():
        assert "if" not in job and not job.get("continue-on-error"), f"{name} could be skipped, and what needs it would go on"
    equal([name for name, job in jobs.items() if "write" in (job.get("permissions") or {}).values()], ["publish"], "what may change anything outside")
    equal(release["permissions"], {"contents": "read"})


def test_tag_does_not_start_the_gate_twice():
    """A tag must not start the gate workflow directly, because the release workflow starts it too. Both runs would have
    the same concurrency group, so one would cancel the other."""
    equal(workflow("ci.yml")[1]["push"], {"branches": ["**"]})


def test_release_workflow_runs_every_step_of_the_release_script():
    jobs = workflow("release.yml")[0]["jobs"]
    script = (ROOT / "deploy/release/release.sh").read_text(encoding="utf-8")
    text = "\n".join(step.get("run", "") for job in jobs.values() for step in job.get("steps", []))
    for step in ("check", "notes", "image", "sums", "provenance", "verify"):
        assert f"deploy/release/release.sh {step}" in text, step
    targets = re.search(r"REPRISE_TARGETS:-([^}]*)\}", script)[1].split()
    matrix = jobs["packages"]["strategy"]["matrix"]
    equal(sorted(targets), sorted(f"{release}:{architecture}" for release in matrix["release"] for architecture in matrix["architecture"]))
    equal(jobs["image"]["strategy"]["matrix"]["architecture"], matrix["architecture"])
    for used in re.findall(r"uses: (\S+)", (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")):
        assert used.startswith("./") or re.search(r"@v\d", used), used


def main():
    suite = Suite("release")
    for name, case in list(globals().items()):
        if name.startswith("test_"):
            suite.plays(name, case)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
