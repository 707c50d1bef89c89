#!/usr/bin/env python3
"""Compares the documentation with the program: examples must load, tables and pages must equal the output of the binary, and each link must
have a target.

With --write, generated parts of the pages are updated and not compared."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import plain_svg
from bench import results
from e2e import client_table
from junit import Suite

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
QUOTED_FILE = re.compile(r"(<!-- file: (\S+) -->\n```\w*\n)(.*?)(^```$)", re.M | re.S)
COSTS = re.compile(r"(<!-- costs -->\n)(.*?)(<!-- /costs -->)", re.S)
MEASURED = re.compile(r"(<!-- measured -->\n)(.*?)(<!-- /measured -->)", re.S)
CLIENTS = re.compile(r"(<!-- clients -->\n)(.*?)(<!-- /clients -->)", re.S)
FIELDS = re.compile(r"(<!-- fields -->\n)(.*?)(<!-- /fields -->)", re.S)
REASONS = re.compile(r"(<!-- reasons -->\n)(.*?)(<!-- /reasons -->)", re.S)
EXPLAINED = re.compile(r"(<!-- explain: (.+?) -->\n```\w*\n)(.*?)(^```$)", re.M | re.S)
RUNNABLE = re.compile(r"<!-- run -->\n```\w*\n(.*?)^```$", re.M | re.S)
SHELL = re.compile(r"^([^\n]*)\n```sh\n(.*?)^```$", re.M | re.S)
TRY_OUT = re.compile(r"<!-- try -->\n```\w*\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
METRIC = re.compile(r"\breprise_[a-z0-9_]+[a-z]\b")
COMMAND = re.compile(r"(?:^|\$ |/| )reprise ([a-z][a-z-]+)([^\n]*)", re.M)
INLINE = re.compile(r"`(reprise [^`\n]+)`")
FLAG = re.compile(r"(?<=\s)--[a-z-]+")
MEASURED_PICTURES = {"dashboard"}  # pictures that show measurements, so each run of their script draws a different one
SHIPPED = "build/release/reprise"
DRAWN_BY_HAND = f"python3 docs/pictures/dashboard.py --bin {SHIPPED} >docs/pictures/dashboard.svg"
FOLDERS = [".", "config", "proxy", "proxy/cli/commands", "docs/decisions", "docs/requirements", "tests", "tests/bench", "deploy",
           "deploy/kubernetes", "deploy/systemd", "docs", "docs/pictures"]


def pages():
    """Returns every page of the tree, except build output."""
    return [page for page in sorted(ROOT.rglob("*.md")) if "build" not in page.relative_to(ROOT).parts]


def guides():
    """Returns the pages for users."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


class Docs:
    """All checks of the documentation with one binary. Counts passed and failed checks."""

    def __init__(self, binary, write):
        self.binary, self.write = binary, write
        self.suite = Suite("docs")

    def result(self, what, problem):
        """Counts and prints the result of one check. The check passed if `problem` is empty; otherwise `problem` is the
        reason of the failure."""
        self.suite.add(what, "failed" if problem else "passed", str(problem or ""))

    def run(self, *arguments):
        """Returns the exit code and both outputs of the binary."""
        # With these variables, the binary does not query another proxy that runs on this host.
        alone = {**os.environ, "REPRISE_ADMIN": "off", "REPRISE_CONTROL": "none"}
        done = subprocess.run([self.binary, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT, env=alone)
        return done.returncode, done.stdout, done.stderr

    def load(self, what, text):
        """Checks that `reprise check` accepts the text. If the text has a section `intercept`, creates the CA files
        first."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "reprise.yaml"
            file.write_text(text.replace("/etc/reprise/", f"{folder}/"), encoding="utf-8")
            code, out, err = self.run("ca", "init", "-c", str(file)) if re.search(r"^intercept:", text, re.M) else (0, "", "")
            if code == 0:
                code, out, err = self.run("check", "-c", str(file))
        self.result(f"{what} loads", code and f"exit {code}\n{out}{err}")

    def printed(self, path, *arguments):
        """Checks that a file of the tree equals the output of the binary."""
        code, out, err = self.run(*arguments)
        file = ROOT / path
        if self.write and code == 0:
            file.write_text(out, encoding="utf-8")
        text = file.read_text(encoding="utf-8") if file.exists() else None
        problem = f"exit {code}\n{err}" if code else text != out and f"it differs from `reprise {' '.join(arguments)}`"
        self.result(f"{path} is printed by the binary", problem)

    def picture(self):
        """Checks that the chart in docs/explain.md equals the chart that the binary draws for the default
        configuration."""
        with tempfile.TemporaryDirectory() as folder:
            code, _, err = self.run("simulate", "--svg", f"{folder}/chart.svg")
            drawn = None if code else Path(f"{folder}/chart.svg").read_text(encoding="utf-8")
        file = ROOT / "docs/pictures/simulation.svg"
        if self.write and drawn is not None:
            file.write_text(drawn, encoding="utf-8")
        kept = file.read_text(encoding="utf-8") if file.exists() else None
        self.result("docs/pictures/simulation.svg is drawn by `reprise simulate --svg`",
                    f"exit {code}\n{err}" if code else kept != drawn and "it has drifted; python3 tests/docs.py --write")

    def model(self):
        """Checks that the model in docs/simulate.md runs."""
        text = (ROOT / "docs/simulate.md").read_text(encoding="utf-8")
        for number, (language, block) in enumerate(FENCE.findall(text), 1):
            if language != "yaml":
                continue
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "model.yaml"
                file.write_text(block, encoding="utf-8")
                code, _, err = self.run("simulate", "--model", str(file), "--policy", "config")
            self.result(f"docs/simulate.md block {number} is a model", code and f"exit {code}\n{err}")

    def replace(self, pattern, wanted, what):
        """Checks that every part of a page that matches `pattern` equals `wanted(match)`."""
        total = 0
        for file in pages():
            text = file.read_text(encoding="utf-8")
            found = len(pattern.findall(text))
            if not found:
                continue
            total += found
            renewed = pattern.sub(lambda match: match.group(1) + wanted(match) + match.groups()[-1], text)
            if self.write and renewed != text:
                file.write_text(renewed, encoding="utf-8")
                text = renewed
            self.result(f"{what} in {file.relative_to(ROOT)}: {found} of them",
                        renewed != text and "they have drifted; python3 tests/docs.py --write")
        self.result(f"{what}: {total} in all", not total and "none is there")

    def examples(self):
        self.replace(QUOTED_FILE, lambda match: (ROOT / match.group(2)).read_text(encoding="utf-8"), "quoted files")
        for page in guides():
            if page.name == "simulate.md":  # the YAML blocks of this page are models for `reprise simulate`, not configurations
                continue
            for number, (language, block) in enumerate(FENCE.findall(page.read_text(encoding="utf-8")), 1):
                if language == "yaml" and re.search(r"^version:", block, re.M):
                    self.load(f"{page.relative_to(ROOT)} block {number}", block)
        for file in sorted((ROOT / "config").rglob("*.yaml")):
            self.load(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))
        manifest = (ROOT / "deploy/kubernetes/sidecar.yaml").read_text(encoding="utf-8")
        inner = re.search(r"^( +)reprise\.yaml: \|\n((?:\1  .*\n|\n)+)", manifest, re.M)
        self.load("the ConfigMap of deploy/kubernetes/sidecar.yaml",
                  inner and re.sub(rf"^{inner.group(1)}  ", "", inner.group(2), flags=re.M) or "missing")

    def commands(self):
        """Runs the blocks marked with <!-- run --> from the root, with the binary in PATH."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "reprise").symlink_to(self.binary)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            for page, block in [(page.relative_to(ROOT), block) for page in pages() for block in RUNNABLE.findall(page.read_text(encoding="utf-8"))]:
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=ROOT, timeout=120, env=environment,
                                      capture_output=True, text=True, check=False)
                self.result(f"{page}: {block.strip().splitlines()[0]} ...", done.returncode and done.stdout + done.stderr)

    def pictures(self):
        """Checks that each picture equals the output of its script, and that each word with an underscore in life.svg
        is a reason that the program knows."""
        for script in sorted((ROOT / "docs/pictures").glob("*.py")):
            file = script.with_suffix(".svg")
            if script.name == "drawing.py" or script.stem in MEASURED_PICTURES:
                continue
            done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
            if self.write and done.returncode == 0:
                file.write_text(done.stdout, encoding="utf-8")
            problem = done.returncode and done.stderr or (not file.exists() or file.read_text(encoding="utf-8") != done.stdout) and \
                "it is not what its script draws; python3 tests/docs.py --write"
            self.result(f"docs/pictures/{file.name} is what {script.name} draws", problem)
        for file in sorted((ROOT / "docs/pictures").glob("*.svg")):
            wrong = plain_svg.problems(file.read_text(encoding="utf-8"))
            self.result(f"docs/pictures/{file.name} is shown alike without its style sheet", "\n".join(wrong[:5]))
        panels = json.loads((ROOT / "deploy/grafana/reprise.json").read_text(encoding="utf-8"))["panels"]
        drawn = re.findall(r'class="bold(?: small)? f-text"[^>]*>([^<]+)</text>', (ROOT / "docs/pictures/dashboard.svg").read_text(encoding="utf-8"))
        self.result(f"panels in docs/pictures/dashboard.svg: {len(drawn)}", (not drawn or drawn != [panel["title"] for panel in panels[:len(drawn)]])
                    and f"the dashboard has others; {DRAWN_BY_HAND}")
        known = set(re.findall(r"^\| `(\w+)` \|", self.run("reasons")[1], re.M))
        life = re.sub(r"<style>.*?</style>", "", (ROOT / "docs/pictures/life.svg").read_text(encoding="utf-8"), flags=re.S)
        shown = set(re.findall(r"\b[a-z]+_[a-z_]+\b", life))
        self.result(f"reasons in docs/pictures/life.svg: {len(shown)}",
                    (not shown or shown - known) and f"no reasons: {sorted(shown - known)}")

    def opening(self):
        """Checks that README says before its first example that https:// is not retried by default, and links to the
        ways in which https:// can be retried."""
        first = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n```")[0]
        links = [link for link in ("#1-a-gateway", "#2-origination", "#3-interception") if f"docs/https.md{link}" not in first]
        self.result("the opening of README.md names the three ways to have https:// retried",
                    ("`https://` request is not retried unless" not in first or links) and f"missing: {links}")

    def command_lines(self):
        """Checks that the program has every command and flag that a page for users names."""
        helps = {}
        for page in guides():
            text = page.read_text(encoding="utf-8")
            quoted = [block for language, block in FENCE.findall(text) if language == "sh"] + INLINE.findall(text)
            shown = COMMAND.findall("\n".join(quoted))
            unknown = []
            for command, rest in shown:
                if command not in helps:
                    code, out, _ = self.run(command, "--help")
                    helps[command] = "" if code else out
                flags = FLAG.findall(rest.split(" -- ")[0].split("#")[0])
                unknown += [f"reprise {command} {flag}" for flag in ("", *flags) if flag not in helps[command] or not helps[command]]
            if shown:
                self.result(f"commands of {page.relative_to(ROOT)}: {len(shown)}", unknown and f"there are none of these: {unknown}")

    def plays(self):
        """Checks that each block of commands in deploy/README.md names its test, and that this test exists. A block
        without a test must give the reason."""
        text = (ROOT / "deploy/README.md").read_text(encoding="utf-8")
        cases = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests/package").glob("*.py"))
        for mark, block in SHELL.findall(text):
            how = re.fullmatch(r"<!-- (?:(run)|package: (.+)|not run: (.+)) -->", mark)
            problem = not how and f"it says not how it is played: {mark}"
            if how and how.group(2) and f'block("{how.group(2)}")' not in cases:
                problem = f"nothing in tests/package plays the block {how.group(2)}"
            lost = [path for path in re.findall(r"\b(?:deploy|config|tests)/[\w./-]+", block) if not (ROOT / path).exists()]
            parsed = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
            problem = problem or lost and f"it names what is not there: {lost}" or parsed.stderr
            self.result(f"deploy/README.md: {block.strip().splitlines()[0]} ...: {mark}", problem)

    def reasons(self):
        code, out, err = self.run("reasons")
        if code:
            self.result("reprise reasons", f"exit {code}\n{err}")
            return
        self.replace(REASONS, lambda _: out, "the table of reasons")

    def fields(self):
        code, out, err = self.run("log-format")
        if code:
            self.result("reprise log-format", f"exit {code}\n{err}")
            return
        self.replace(FIELDS, lambda _: out, "the tables of fields")

    def clients(self):
        self.replace(CLIENTS, lambda _: client_table.markdown(), "the table of clients")

    def try_out(self):
        """Runs the commands of the block marked with <!-- try --> in a separate network: first the commands that start
        a process, then the requests. The tested binary replaces the program that the block names."""
        alone = ["unshare", "--map-root-user", "--net"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
            self.suite.skips("the try-out of README.md", "namespaces: no network of its own is to be had here")
            return
        block = TRY_OUT.search((ROOT / "README.md").read_text(encoding="utf-8")).group(1).replace(SHIPPED, shlex.quote(self.binary))
        lines = [line.split("#")[0].strip() for line in block.splitlines()]
        starts, asks = ([line for line in lines if line.endswith("&") == wanted] for wanted in (True, False))
        one_runs = '[ -n "$(jobs -pr)" ] || { echo "what was started has ended"; exit 1; }'
        ready = [f"until (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; do {one_runs}; sleep 0.05; done" for port in (3190, 3128)]
        script = "\n".join(["ip link set lo up", "trap 'kill $(jobs -p)' EXIT", *(f"{line[:-1]} >/dev/null 2>&1 &" for line in starts),
                            *ready, *asks])
        kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        done = subprocess.run([*alone, "bash", "-euc", script], cwd=ROOT, env=kept, timeout=120,
                              capture_output=True, text=True, check=False)
        statuses = re.findall(r"^HTTP/1\.1 (\d+)", done.stdout, re.M)
        right = statuses == ["503", "200"] and done.stdout.count("Reprise-Attempts: 3") == 1
        self.result("the try-out of README.md", not right and done.stdout + done.stderr)

    def costs(self):
        """Checks that the measured costs on the pages equal tests/bench/results.json."""
        missing = results.problems()
        self.result("the benchmark's results", missing and "\n".join(missing))
        if not missing:
            self.replace(COSTS, lambda _: results.sentence(), "the costs")
            self.replace(MEASURED, lambda _: results.table(), "the table of measurements")

    def explanations(self):
        """Checks that blocks marked with <!-- explain: ARGUMENTS --> are the output of `reprise explain ARGUMENTS`
        after its command line."""
        def said(match):
            code, out, err = self.run("explain", *shlex.split(match.group(2)))
            return f"$ reprise explain {match.group(2)}\n{out}{err}" + (f"exit {code}\n" if code else "")

        self.replace(EXPLAINED, said, "responses of `explain`")

    def links(self):
        for page in pages():
            dead = [target for target in LINK.findall(page.read_text(encoding="utf-8"))
                    if "://" not in target and not (page.parent / target).exists()]
            self.result(f"links of {page.relative_to(ROOT)}", dead and f"they lead nowhere: {dead}")
        odd = [str(page.relative_to(ROOT)) for page in pages() for text in [page.read_text(encoding="utf-8")]
               if not re.match("# \\S", text) or len(re.findall("^ *```", text, re.M)) % 2]
        self.result("every page begins with its title, and closes what it quotes", odd and f"not so: {odd}")
        self.result("every folder explains itself",
                    [folder for folder in FOLDERS if not (ROOT / folder / "README.md").exists()])

    def metrics(self):
        """Checks that the code exports every metric that a page names."""
        source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "proxy/telemetry/metrics").glob("*.cpp"))
        for page in (*guides(), *sorted((ROOT / "deploy").rglob("*.md")), ROOT / "proxy/README.md"):
            named = set(METRIC.findall(page.read_text(encoding="utf-8")))
            unknown = sorted(name for name in named if f'"{name}"' not in source)
            if named:
                self.result(f"metrics named in {page.relative_to(ROOT)}: {len(named)}", unknown and f"nothing exports {unknown}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bin", default=str(ROOT / SHIPPED))
    arguments.add_argument("--write", action="store_true", help="write the generated parts anew")
    given = arguments.parse_args()
    docs = Docs(str(Path(given.bin).resolve()), given.write)
    docs.printed("config/README.md", "config", "--reference")
    docs.printed("config/schema.json", "config", "--schema")
    docs.picture()
    docs.model()
    docs.reasons()
    docs.fields()
    docs.clients()
    docs.costs()
    docs.examples()
    docs.commands()
    docs.pictures()
    docs.opening()
    docs.command_lines()
    docs.plays()
    docs.try_out()
    docs.explanations()
    docs.links()
    docs.metrics()
    return docs.suite.end()


if __name__ == "__main__":
    sys.exit(main())
