#!/usr/bin/env python3
"""Collects the results of several test programs as JUnit XML files in FOLDER, and prints how many tests passed, failed
and were skipped. NAME is the name of the test or suite in the results.

    junit.py command FOLDER NAME COMMAND...   runs COMMAND as one test; it passes if the exit code is 0
    junit.py suite FOLDER NAME COMMAND...     runs COMMAND, a program of many tests, which writes XML files to $REPRISE_RESULTS
    junit.py ctest FOLDER NAME CTEST...       runs CTEST, a ctest command whose tests are GoogleTest programs
    junit.py end FOLDER [--night]             ends a run: prints skipped, failed and flaky tests, and the line
                                              `N passed, N failed, N skipped`

The reason of a skipped test starts with a class from CLASSES (`namespaces: no veth`). In CI, a skip for any other
reason is a failure. A test is flaky if it fails in the run, but passes when it is run again alone. A run may have two
flaky tests; with --night (the nightly run), none."""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

# The allowed classes of skip reasons. The value of each class says where such tests are run instead of being skipped.
CLASSES = {
    "sanitizer": "group release and the end-to-end cases, whose programs have no sanitizer",
    "namespaces": "machines where root may make namespaces and control groups, such as CI",
    "client": "group interop of the night, which installs the clients",
    "kernel": "machines whose kernel has the module, and that have more than one address or user",
}
MOST_FLAKY = 2
KEPT_LINES = 60  # maximum number of lines of a failed test's output that are printed
NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Test:
    """One test. `outcome` is passed, failed, flaky or skipped; `text` is the reason or the output."""

    name: str
    outcome: str
    text: str = ""


def sum_line(passed, failed, skipped):
    return f"{passed} passed, {failed} failed, {skipped} skipped"


class Suite:
    """The results of one test program. Prints each result when it is added; end() writes all results to the folder
    $REPRISE_RESULTS."""

    def __init__(self, name):
        self.name, self.tests = name, []

    def add(self, name, outcome, text="", seconds=None):
        word = {"passed": "ok     ", "failed": "FAILED ", "flaky": "flaky  ", "skipped": "SKIPPED "}[outcome]
        took = "" if seconds is None else f"{seconds:7.2f} s  "
        self.tests.append(Test(name, outcome, text))
        print(f"{word}{took}{name}" + (f": {text}" if outcome == "skipped" else f"\n{text}" if text else ""), flush=True)

    def passes(self, name, seconds=None):
        self.add(name, "passed", seconds=seconds)

    def fails(self, name, text, seconds=None):
        self.add(name, "failed", text, seconds)

    def skips(self, name, why):
        self.add(name, "skipped", why)

    def plays(self, name, case, not_played=()):
        """Runs the function `case` as a test. An exception of the types `not_played` means that the test was skipped;
        any other exception, that it failed. If a program ended with an error, its output is part of the failure."""
        try:
            case()
        except not_played as why:
            self.skips(name, str(why))
        except Exception as error:  # any failure of this case, because the other cases must still run
            printed = (getattr(error, stream, None) or "" for stream in ("stdout", "stderr"))
            self.fails(name, traceback.format_exc() + "".join(map(str, printed)))
        else:
            self.passes(name)

    def count(self, outcome):
        return sum(test.outcome == outcome for test in self.tests)

    def end(self):
        """Writes the results and prints their sum. Returns the exit code."""
        folder = os.environ.get("REPRISE_RESULTS")
        if folder:
            write(Path(folder), self.name, self.tests)
        print(sum_line(self.count("passed") + self.count("flaky"), self.count("failed"), self.count("skipped")), flush=True)
        return 1 if self.count("failed") or not self.tests else 0


def write(folder, suite, tests):
    root = xml.Element("testsuite", name=suite, tests=str(len(tests)))
    for test in tests:
        case = xml.SubElement(root, "testcase", classname=suite, name=test.name)
        kind = {"failed": "failure", "flaky": "flakyFailure", "skipped": "skipped"}.get(test.outcome)
        if kind:
            text = NOT_XML.sub("?", "\n".join(test.text.splitlines()[-KEPT_LINES:]))
            xml.SubElement(case, kind, message=text.splitlines()[0] if text else "").text = text
    folder.mkdir(parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(suffix=".xml", dir=folder)
    with os.fdopen(handle, "wb") as file:
        xml.ElementTree(root).write(file, encoding="utf-8")
    return Path(path)


def skip_reason(element):
    """Returns the reason of a skip: the first line that is not a place in a source file, because GoogleTest writes such
    a place before the reason."""
    lines = [line for line in (element.text or element.get("message") or "").splitlines() if line.strip()]
    return next((line.strip() for line in lines if not re.match(r"\S+:\d+$|\S+:\d+: Skipped$", line.strip())), "no reason given")


def read(path):
    """Returns the tests of one XML file that Suite or GoogleTest has written. The name of a GoogleTest test starts with
    its suite: `SUITE.TEST`."""
    found = []
    root = xml.parse(path).getroot()
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}" if root.tag == "testsuites" else case.get("name")
        failure, flaky, skipped = case.find("failure"), case.find("flakyFailure"), case.find("skipped")
        if failure is not None:
            found.append(Test(name, "failed", "\n".join(one.text or one.get("message") or "" for one in case.iter("failure"))))
        elif flaky is not None:
            found.append(Test(name, "flaky", flaky.text or ""))
        elif skipped is not None:
            found.append(Test(name, "skipped", skip_reason(skipped)))
        elif case.get("status") == "notrun":
            found.append(Test(name, "skipped", "disabled"))
        else:
            found.append(Test(name, "passed"))
    return found


def play(command, environment=None):
    """Runs a command and shows its output. Returns the exit code and the output."""
    lines = collections.deque(maxlen=400)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **(environment or {})}) as process:
        for line in process.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
            lines.append(line.decode(errors="replace"))
    return process.returncode, "".join(lines)


def run_command(folder, name, command):
    status, output = play(command)
    write(folder, "run", [Test(name, "failed", output or f"exit code {status}") if status else Test(name, "passed")])
    print(f"{'FAILED' if status else 'ok'}: {name}", flush=True)
    return status


def verdict(name, status, tests, output):
    """Returns an additional failed test if the exit code `status` of a suite contradicts the results in `tests`, or if
    `tests` is empty. Otherwise a crash or an empty run would pass."""
    failures = [test for test in tests if test.outcome == "failed"]
    if status and not failures:
        return [Test(name, "failed", f"exit code {status}, and no test failed\n{output}")]
    if not status and failures:
        return [Test(name, "failed", f"exit code 0, though {len(failures)} tests failed")]
    return [] if tests else [Test(name, "failed", f"no test was played\n{output}")]


def run_suite(folder, name, command):
    with tempfile.TemporaryDirectory() as own:
        status, output = play(command, {"REPRISE_RESULTS": own})
        tests = [test for path in sorted(Path(own).glob("*.xml")) for test in read(path)]
    tests += verdict(name, status, tests, output)
    write(folder, name, named(name, tests))
    return 1 if any(test.outcome == "failed" for test in tests) else 0


def named(suite, tests):
    """Returns the tests, with the name of the suite before each test name."""
    return [Test(f"{suite}: {test.name}", test.outcome, test.text) for test in tests]


def of_ctest(report, results):
    """Returns the tests of each program that ctest ran. If ctest reports that a program failed, but the program's XML
    has no failed test, adds a failed test, because the program has crashed."""
    tests = []
    for case in xml.parse(report).getroot().iter("testcase"):
        file = results / f"{case.get('name')}.xml"
        inside = read(file) if file.exists() else []
        failed = case.get("status") == "fail" or case.find("failure") is not None
        output = case.findtext("system-out") or ""
        if failed and not any(test.outcome == "failed" for test in inside):
            inside.append(Test(f"{case.get('name')} ended badly", "failed", output))
        tests += inside or [Test(case.get("name"), "passed")]
    return tests


def run_ctest(folder, name, command):
    build = Path(command[command.index("--test-dir") + 1])
    results = build / "results"
    results.mkdir(exist_ok=True)
    for old in results.glob("*.xml"):
        old.unlink()
    report = results / "ctest.xml"
    status, output = play([*command, "--output-junit", str(report.resolve())])
    tests = of_ctest(report, results) if report.exists() else []
    tests += verdict(name, status, tests, output)
    write(folder, name, named(name, tests))
    return 1 if any(test.outcome == "failed" for test in tests) else 0


def judge(tests, is_ci, is_night):
    """Returns the lines to print at the end of a run, and true if the run passed."""
    by = collections.defaultdict(list)
    for test in tests:
        by[test.outcome].append(test)
    lines = []
    if by["skipped"]:
        lines += ["", "skipped:", *(f"  {test.name}: {test.text}" for test in by["skipped"])]
    failed = list(by["failed"])
    if is_ci:
        failed += [Test(f"{test.name} was skipped", "failed", f"CI allows skips of the classes {', '.join(CLASSES)} only: {test.text}")
                   for test in by["skipped"] if test.text.partition(":")[0] not in CLASSES]
    if len(by["flaky"]) > (0 if is_night else MOST_FLAKY):
        failed += [Test(f"{test.name} is flaky", "failed", test.text) for test in by["flaky"]]
    for test in failed:
        lines += ["", f"FAILED: {test.name}", *(f"  {line[:400]}" for line in test.text.splitlines()[-KEPT_LINES:])]
    if by["flaky"]:
        lines += ["", *(f"flaky: {test.name} (failed once, then passed alone)" for test in by["flaky"])]
    lines.append(sum_line(len(by["passed"]) + len(by["flaky"]), len(failed), len(by["skipped"])))
    return lines, not failed and bool(by["passed"])


GOOGLE_TEST = """<testsuites><testsuite name="A"><testcase name="passes" status="run" result="completed" classname="A"/>
<testcase name="fails" status="run" classname="A"><failure message="x.cpp:7&#x0A;no"/></testcase>
<testcase name="skips" status="run" result="skipped" classname="A"><skipped message="x.cpp:9&#x0A;kernel: no veth&#x0A;"/></testcase>
</testsuite></testsuites>"""


def self_test():
    """Checks that every outcome is counted correctly, and that a crash of a program counts as a failure."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "google.xml").write_text(GOOGLE_TEST, encoding="utf-8")
        assert [(test.outcome, test.text) for test in read(root / "google.xml")] == [
            ("passed", ""), ("failed", "x.cpp:7\nno"), ("skipped", "kernel: no veth")], read(root / "google.xml")
        mixed = [Test("a", "passed"), Test("b", "failed", "why\x01"), Test("c", "flaky", "once"), Test("d", "skipped", "client: none")]
        assert [test.outcome for test in read(write(root, "s", mixed))] == ["passed", "failed", "flaky", "skipped"]
        (root / "ctest.xml").write_text('<testsuite><testcase name="google" status="run"/><testcase name="dies" status="fail">'
                                        "<failure/><system-out>AddressSanitizer</system-out></testcase></testsuite>", encoding="utf-8")
        found = of_ctest(root / "ctest.xml", root)
        assert [test.outcome for test in found] == ["passed", "failed", "skipped", "failed"] and "Sanitizer" in found[-1].text, found
        silent = run_suite(root, "silent", ["true"]), run_suite(root, "dies", [sys.executable, "-c", "import os; os.abort()"])
        assert silent == (1, 1), silent
    for status, tests, added in ((0, mixed[:1], 0), (1, mixed[:1], 1), (1, mixed, 0), (0, mixed, 1), (0, [], 1)):
        assert len(verdict("v", status, tests, "")) == added, (status, tests)
    passed, flaky, reason = mixed[0], mixed[2], Test("e", "skipped", "it is Friday")
    for tests, is_ci, is_night, good in (([passed], True, True, True), ([passed, flaky, flaky], True, False, True),
                                         ([passed, flaky, flaky, flaky], True, False, False), ([passed, flaky], False, True, False),
                                         ([passed, mixed[3]], True, False, True), ([passed, reason], True, False, False),
                                         ([passed, reason], False, False, True), ([], False, False, False), (mixed, False, False, False)):
        lines, holds = judge(tests, is_ci, is_night)
        assert holds == good, lines
        assert re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", lines[-1]), lines


def main():
    if sys.argv[1:2] == ["--self-test"]:
        self_test()
        return 0
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("action", choices=("command", "suite", "ctest", "end"))
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("rest", nargs=argparse.REMAINDER, metavar="NAME COMMAND...")
    given = arguments.parse_args()
    if given.action != "end":
        run = {"command": run_command, "suite": run_suite, "ctest": run_ctest}[given.action]
        return run(given.folder, given.rest[0], given.rest[1:])
    tests = [test for path in sorted(given.folder.glob("*.xml")) for test in read(path)]
    lines, good = judge(tests, os.environ.get("CI") == "true", "--night" in given.rest)
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
