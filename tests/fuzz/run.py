#!/usr/bin/env python3
"""Runs the fuzz targets, several at once. Each target ends after --runs inputs or --seconds seconds.

    python3 tests/fuzz/run.py                            all, half a million inputs or 13 seconds each
    python3 tests/fuzz/run.py --runs 100000 --seconds 4  the short form of the gate
    python3 tests/fuzz/run.py --only framing --seed fresh --keep --runs 100000000 --seconds 3600

Each run starts from the corpus in the repository, so the same random seed gives the same inputs on every machine. With
--keep, a run also starts from the inputs that earlier runs with --keep have found (build/fuzz/corpus), and adds new
ones. Inputs that broke a law (an invariant) are written to build/fuzz/found. Speed is measured in CPU time, so that a
busy machine causes no failure. The figures go to build/figures/fuzz.json; the last line is `N passed, N failed, N
skipped`.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import chance  # noqa: E402
from junit import Suite  # noqa: E402

# For each fuzz target: (maximum length of an input, dictionary, expected inputs per CPU second, further folders with
# initial inputs)
TARGETS = {
    "request_head": (512, "http", 50_000, ()),
    "request_body": (256, "http", 50_000, ()),
    "response_head": (512, "http", 50_000, ()),
    "response_body": (512, "http", 50_000, ()),
    "target": (192, "http", 50_000, ()),
    "tunnel": (384, "http", 20_000, ()),
    "socks": (280, None, 20_000, ()),
    "log_line": (2048, "json", 5_000, ()),
    "fields": (512, "http", 50_000, ()),
    "dates_and_hints": (192, "http", 50_000, ()),
    "range": (512, "http", 50_000, ()),
    "framing": (512, "http", 20_000, ()),
    "grpc": (512, "grpc", 10_000, ()),
    "http2_fields": (256, "http2", 10_000, ()),
    "http2_request": (256, "http2_request", 10_000, ()),
    "http2_session": (256, None, 2_000, ()),
    "http2_client_session": (256, None, 2_000, ()),
    "json_probe": (256, "json", 50_000, ()),
    "xml_probe": (256, "xml", 20_000, ()),
    "route_match": (192, None, 50_000, ()),
    "decide": (256, None, 50_000, ()),
    "exchange": (192, None, 20_000, ()),
    "scalars": (64, "yaml", 20_000, ()),
    "net_story": (512, None, 300, ()),
    "inject": (1024, "kubernetes", 2_000, ()),
    "config": (1024, "yaml", 300, ("tests/golden/config", "config/examples")),
}
TOLERANCE = 20  # fails only below a twentieth of the expected speed: machines differ, and other processes use the caches too
LEAST = 200  # a run with fewer inputs proves nothing


def play(name, given):
    """Runs one target. Returns its figures, and its output if it failed."""
    if given.keep:
        return play_from(name, given, ROOT / "build/fuzz/corpus" / name)
    with tempfile.TemporaryDirectory() as nothing:
        return play_from(name, given, Path(nothing))


def play_from(name, given, found):
    """Runs one target. Also uses the inputs in the folder `found`, and adds new inputs to that folder. If the target
    has run too few inputs within the time limit, runs it again without a time limit."""
    figures, why, readings = run_target(name, given.runs, given.seconds, found)
    if why is None and figures["executions"] < min(LEAST, given.runs):
        figures, why, readings = run_target(name, LEAST, 0, found)
    return figures, why, readings


def run_target(name, runs, seconds, found):
    """Runs one process of a target until it reaches that many inputs or seconds. 0 seconds means no time limit."""
    longest, words, speed, seeds = TARGETS[name]
    build, broken = ROOT / "build/asan", ROOT / "build/fuzz/found"
    broken.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    command = [str(build / "tests" / f"{name}_fuzz"), f"-runs={runs}", f"-max_total_time={seconds}",
               f"-max_len={longest}", f"-seed={chance.source.seed % (1 << 32) or 1}", "-entropic=0", "-timeout=120", "-print_final_stats=1",
               f"-artifact_prefix={broken}/{name}-"]
    if words:
        command.append(f"-dict={ROOT}/tests/fuzz/{words}.dict")
    command += [str(found), f"{ROOT}/tests/fuzz/corpus/{name}", *(f"{ROOT}/{seed}" for seed in seeds)]
    # `setarch -R` disables address randomization, because with it the sanitizer of clang 14 sometimes cannot map its
    # shadow memory.
    environment = {**os.environ, "ASAN_OPTIONS": "malloc_context_size=3:quarantine_size_mb=16"}
    with tempfile.TemporaryFile(mode="w+", errors="replace") as log:
        process = subprocess.Popen(["setarch", "-R", *command], stdout=log, stderr=log, env=environment)  # pylint: disable=R1732
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        said = log.read()
    executions = int((re.findall(r"stat::number_of_executed_units: +(\d+)", said) or ["0"])[-1])
    figures = {"executions": executions,
               "per_cpu_second": int(executions / max(usage.ru_utime + usage.ru_stime, 0.01)),
               "edges": int((re.findall(r" cov: (\d+) ", said) or ["0"])[-1])}
    why = None
    if process.returncode != 0:
        # Repeats the broken invariant and its input before the end of the log, because a long log is shortened.
        told = re.findall(r"^(?:not so: |Base64: |SUMMARY: ).*", said, re.M)
        why = "\n".join([*told, *said.splitlines()[-60:]])
    elif os.environ.get("REPRISE_NIGHT") == "1" and figures["per_cpu_second"] * TOLERANCE < speed:
        why = f"{figures['per_cpu_second']} inputs a CPU second; {speed} are to be expected"
    return figures, why, re.findall(r"^readings: .*", said, re.M)


def write_figures(played, crashes):
    folder = ROOT / "build" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"fuzz targets": len(played), "fuzz executions": sum(one["executions"] for one in played.values()),
               "crashes": crashes, "targets": played}
    (folder / "fuzz.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", action="append", choices=TARGETS)
    arguments.add_argument("--runs", type=int, default=500_000)
    arguments.add_argument("--seconds", type=int, default=13)
    arguments.add_argument("--keep", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    chance.add_option(arguments)
    given = arguments.parse_args()
    chance.use(given.seed)
    suite, played = Suite("fuzz"), {}
    names = given.only or list(TARGETS)
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as workers:
        for name, (figures, why, lines) in zip(names, workers.map(lambda one: play(one, given), names)):
            played[name] = figures
            print("\n".join([f"fuzz {name}: {figures['executions']} inputs, {figures['per_cpu_second']} a CPU second, {figures['edges']} edges",
                             *(f"  {line}" for line in lines)]), flush=True)
            suite.add(f"{name}, seed {chance.source.seed}" if why else name, "failed" if why else "passed", why or "")
    if not given.only:
        write_figures(played, suite.count("failed"))
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
