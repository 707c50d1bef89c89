#!/usr/bin/env python3
"""Fails where the Dockerfile leaves out what it builds from: what CMake installs and packs, and what unit tests read, is copied there."""
import re
import sys
from pathlib import Path

from checker import count_wrong, run

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = re.compile(r"\binstall\((?:FILES|PROGRAMS|DIRECTORY)\s+([^)]*?)\s+(?:DESTINATION|TYPE)\b")
NAMED = re.compile(r"(?:(?<=[\s/(])|^)deploy/[\w./-]+", re.M)  # of what lies in deploy, CMake reads more than it installs
READ = re.compile(r'(?:\bin_source\(|\bREPRISE_SOURCE_DIR\)?\s*\+?\s*)"/?([\w.-]+/[\w./-]+|[\w-]+\.\w+)"')


def stages_of(dockerfile):
    """Of each stage: the one it begins from, what it copies of the tree, and its commands."""
    stages = {}
    for line in re.sub(r"\\\n", " ", dockerfile).split("\n"):
        first, *words = line.split() or [""]
        if first == "FROM":
            stage = stages[words[2] if len(words) > 2 else ""] = {"from": words[0], "copies": [], "runs": []}
        elif first == "COPY" and not words[0].startswith("--from="):
            stage["copies"] += [word for word in words[:-1] if not word.startswith("--")]
        elif first == "RUN":
            stage["runs"].append(line)
    return stages


def copies_of(stages, name):
    copies = []
    while name in stages:
        copies += stages[name]["copies"]
        name = stages[name]["from"]
    return copies


def lacking(dockerfile, scripts, tests):
    """(stage, path) of what a stage needs and does not copy; `scripts` and `tests` are texts."""
    stages = stages_of(dockerfile)
    code = [re.sub(r"#.*", "", text) for text in scripts]
    packed = {word for text in code for words in INSTALLED.findall(text) for word in words.split() if "$" not in word}
    packed |= {path for text in code for path in NAMED.findall(text)}
    read = {path for text in tests for path in READ.findall(text)}
    packs, = (name for name, stage in stages.items() if any("cpack" in run for run in stage["runs"]))
    for name, paths in ((packs, packed), ("tests", read)):
        if not paths:
            yield name, "anything: nothing was found that it needs"
        copies = copies_of(stages, name)
        for path in sorted(paths):
            if not any(path.startswith(f"{copy.rstrip('/')}/") or path == copy for copy in copies):
                yield name, path


def found():
    scripts = [*sorted((ROOT / "cmake").rglob("*.cmake")), ROOT / "CMakeLists.txt"]
    tests = sorted([*(ROOT / "tests").rglob("*.cpp"), *(ROOT / "tests").rglob("*.hpp")])
    return list(lacking((ROOT / "Dockerfile").read_text(encoding="utf-8"),
                        *([file.read_text(encoding="utf-8") for file in files] for files in (scripts, tests))))


DOCKERFILE = "FROM base AS source\nCOPY CHANGELOG.md README.md ./\nCOPY config \\\n  config\nFROM source AS build\nCOPY --from=x deploy/far /\nRUN make && cpack\n" \
             "FROM source AS tests\nCOPY tests tests\nFROM scratch\nCOPY deploy deploy\n"
PLANTS = {  # a script, a test, what must be found beside what both need in any case
    "clean": ("install(FILES CHANGELOG.md config/s.json ${b}/x DESTINATION d)", 'in_source("config/a.yaml")', []),
    "of no copy": ("install(FILES config/s.json deploy/a.yaml DESTINATION d)", "", [("build", "deploy/a.yaml")]),
    "of a name that begins alike": ("install(DIRECTORY configs/x DESTINATION d)", "", [("build", "configs/x")]),
    "of another stage": ("file(READ deploy/far t)", "", [("build", "deploy/far")]),
    "in a variable's folder": ("${CMAKE_SOURCE_DIR}/deploy/postinst", "", [("build", "deploy/postinst")]),
    "in a comment": ("# deploy/postinst", "", []),
    "read": ("", 'read(std::string(REPRISE_SOURCE_DIR) + "/deploy/r.json")', [("tests", "deploy/r.json")]),
    "read by one literal": ("", 'open(REPRISE_SOURCE_DIR "/docs/a.txt")', [("tests", "docs/a.txt")]),
    "at the top": ("install(FILES SECURITY.md DESTINATION d)", 'in_source("SECURITY.md")', [("build", "SECURITY.md"), ("tests", "SECURITY.md")]),
}


def self_test():
    return count_wrong([(name, expected, list(lacking(DOCKERFILE, ["install(FILES CHANGELOG.md DESTINATION d)\n", script],
                                                      ['in_source("README.md")', test])))
                        for name, (script, test, expected) in PLANTS.items()])


def check(_):
    left_out = found()
    for stage, path in left_out:
        print(f"Dockerfile: stage `{stage}` does not copy {path}")
    print(f"copied: {len(left_out)} left out")
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, self_test, check))
