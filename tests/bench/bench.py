#!/usr/bin/env python3
"""Compares reprise with other HTTP/1.1 proxies on one machine, over loopback: CPU per request, throughput, latency,
memory.

    python3 tests/bench/bench.py                                                reprise, haproxy, nginx and dumbpipe, three scenarios
    python3 tests/bench/bench.py --peers '' --baseline old --proxy 'old=./old run -c old.yaml,3128,forward'
    python3 tests/bench/bench.py --scenarios instr --peers haproxy              instructions per request: exact, but slow
    python3 tests/bench/bench.py --report bench.json --baseline dumbpipe        prints the tables of an earlier run

The main figure is the CPU time of a proxy's processes for each finished request. Every round measures every proxy, in random order. The
tables show medians over the rounds. A ratio is computed within each round; the table shows the median of these ratios. The script starts
and ends the origin and every proxy itself."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import chance  # noqa: E402
import processes  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import scenarios  # noqa: E402
import targets  # noqa: E402

NEEDS = {"wrk": scenarios.REQUESTS, "strace": ["syscalls"], "valgrind": ["instr"]}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(targets.ROOT / "build/release/reprise"), help="the reprise to measure; '' for none")
    parser.add_argument("--logged", action="store_true", help="reprise with its access log, too: reprise-log")
    parser.add_argument("--peers", default="haproxy,nginx,dumbpipe", help="of " + ",".join(targets.PEERS))
    parser.add_argument("--proxy", action="append", default=[], metavar="NAME=COMMAND,PORT[,forward|reverse]",
                        help="another one; PORT may be auto; {port} {upstream} {dir} {tools} are filled in")
    parser.add_argument("--baseline", default=results.BASELINE, help="what ratios are to")
    parser.add_argument("--scenarios", default="get_c64,post_c64,hdr20_c64", help="'all', or of " + ",".join(scenarios.ALL))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=int, default=2, help="of each sample")
    parser.add_argument("--rate", type=float, default=2000, help="requests a second in lat and lat_post")
    parser.add_argument("--idle", default="1000,10000", help="idle clients in rss")
    parser.add_argument("--pin", default="0:1", help="core of the proxy : core of load and origin, or none")
    parser.add_argument("--halt", action="store_true", help="let idle cores halt")
    parser.add_argument("--direct", action="store_true", help="measure the origin without a proxy, too")
    parser.add_argument("--tries", type=int, default=3, help="for a sample that nobody disturbed")
    parser.add_argument("--max-foreign", type=float, default=0.10, help="cores that others may use before a sample counts as disturbed")
    parser.add_argument("--quiet-wait", type=float, default=0, help="seconds to wait for others before each sample")
    chance.add_option(parser)
    parser.add_argument("--json", metavar="FILE", help="every sample goes there")
    parser.add_argument("--keep", action="store_true", help="write the ratios into tests/bench/results.json, from which the docs are written")
    parser.add_argument("--report", metavar="FILE", help="only print the tables of such a file")
    given = parser.parse_args()
    given.idle = [int(number) for number in given.idle.split(",")]
    given.scenarios = scenarios.ALL if given.scenarios == "all" else [name for name in given.scenarios.split(",") if name]
    for name in given.scenarios:
        if name not in scenarios.ALL:
            sys.exit(f"no scenario '{name}'; there are: {' '.join(scenarios.ALL)}")
    return given


def check_programs(given):
    for program, names in NEEDS.items():
        if not shutil.which(program) and set(names) & set(given.scenarios):
            sys.exit(targets.not_installed(program))
    if given.pin != "none" and (os.cpu_count() or 1) < 2:
        sys.exit("two cores are needed, one for the proxy and one for the load; or --pin none")


def build_tools(folder):
    """Compiles the load generator, the origin and dumbpipe from the sources beside this file."""
    folder.mkdir()
    for name in ("loadgen", "upstream", "dumbpipe"):
        compiler = os.environ.get("CC", "cc")
        if not shutil.which(compiler):
            sys.exit(f"there is no C compiler '{compiler}': apt-get install gcc libc6-dev")
        built = subprocess.run([compiler, "-O2", "-o", str(folder / name), str(targets.HERE / "tools" / f"{name}.c")], capture_output=True,
                               text=True, check=False)
        if built.returncode:
            sys.exit(built.stderr)
    return folder


def chosen(given, taken):
    """Returns the proxies to measure (targets), as the options name them."""
    found = [targets.reprise(given.bin, processes.free_port(taken))] if given.bin else []
    found += [targets.reprise(given.bin, processes.free_port(taken), logged=True)] if given.logged else []
    found += [targets.peer(name, processes.free_port(taken)) for name in given.peers.split(",") if name]
    found += [targets.other(text, taken) for text in given.proxy]
    names = [target.name for target in found]
    if len(set(names)) < len(names):
        sys.exit(f"two targets have one name: {' '.join(names)}")
    if given.baseline not in names:
        print(f"no target is called '{given.baseline}', so there are no ratios; choose one with --baseline", file=sys.stderr)
    return found


def measure(given):
    """Returns the samples, the names of the targets, and the failures."""
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = Path(place)
        folder.chmod(0o755)
        bench = scenarios.Bench(given, folder, build_tools(folder / "tools"))
        measured = chosen(given, bench.taken_ports)
        direct = targets.Target("direct", "reverse", bench.upstream_port)
        polling = processes.IdlePolling(not given.halt)
        try:
            bench.start_upstream()
            bench.run(measured, direct)
        except KeyboardInterrupt:
            bench.notes.append("interrupted")
        finally:
            for target in measured:
                target.stop()
            if bench.upstream:
                processes.stop(bench.upstream)
        machine = f"{os.cpu_count()} cores" + ("" if polling.held() else ", which halt when idle")
        return bench.samples, [target.name for target in measured], bench.notes, machine


def main():
    given = options()
    if given.report:
        earlier = json.loads(Path(given.report).read_text(encoding="utf-8"))
        print(report.tables(earlier["samples"], given.baseline, earlier["targets"]))
        return 0
    chance.use(given.seed)
    check_programs(given)
    when = time.strftime("%Y-%m-%d")
    samples, names, notes, machine = measure(given)
    print(f"{when}, {machine}, rounds: {given.rounds}, seconds: {given.secs}\n{report.tables(samples, given.baseline, names)}")
    for note in notes:
        print(f"note: {note}")
    if given.json:
        told = {"when": when, "machine": machine, "options": vars(given), "targets": names, "samples": samples, "notes": notes}
        Path(given.json).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if given.keep and given.baseline != results.BASELINE:
        sys.exit(f"not kept: the docs tell ratios to {results.BASELINE}")
    if given.keep:
        results.keep(report.summary(samples, given.baseline), when, given.rounds, machine)
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())
