"""Defines the scenarios of the benchmark, and measures a target in a scenario."""
import glob
import json
import re
import resource
import signal
import statistics
import subprocess
import sys
import time

import chance
import processes

REQUESTS = {  # run by wrk: (connections, path, method, body bytes, extra request headers)
    "get_c1": (1, "/", "GET", 0, 0),
    "get_c64": (64, "/", "GET", 0, 0),
    "get_c256": (256, "/", "GET", 0, 0),
    "get_c1024": (1024, "/", "GET", 0, 0),
    "get_c4096": (4096, "/", "GET", 0, 0),
    "path2k_c64": (64, "/?" + 2000 * "q", "GET", 0, 0),
    "hdr20_c64": (64, "/", "GET", 0, 20),
    "post_c64": (64, "/", "POST", 1024, 0),
    "get10k_c64": (64, "/10k", "GET", 0, 0),
    "get1m_c8": (8, "/1m", "GET", 0, 0),
    "flaky_c64": (64, "/flaky", "GET", 0, 0),
    "post_flaky_c64": (64, "/flaky", "POST", 1024, 0),
}
STREAMS = {"down64m_c4": ("/64m", 0, 4), "up64m_c4": ("/", 64 << 20, 4)}  # (path, body bytes, connections)
RATES = {"lat": (16, "/", 0), "lat_post": (16, "/", 1024)}  # (connections, path, body bytes)
ALONE = ("syscalls", "instr", "rss")  # scenarios for which only one target runs at a time
ALL = [*REQUESTS, *STREAMS, *RATES, *ALONE]
STARTS = 5
WARM = 0.2  # seconds at the start of a stream or rate scenario that do not count


class Bench:
    """One run of the benchmark: its origin, targets, options and samples."""

    def __init__(self, options, folder, tools):
        self.options, self.folder, self.tools = options, folder, tools
        self.taken_ports = set()
        self.upstream_port = processes.free_port(self.taken_ports)
        self.upstream = None
        self.cores = None if options.pin == "none" else options.pin.split(":")
        self.samples = {}  # scenario: {target: {metric: values}}
        self.notes = []

    # Unless --pin is `none`, the proxy and the load generator run on different cores.
    def on_proxy_core(self, argv):
        return ["taskset", "-c", self.cores[0], *argv] if self.cores else argv

    def on_load_core(self, argv):
        return ["taskset", "-c", self.cores[1], *argv] if self.cores else argv

    def start_upstream(self):
        self.upstream = processes.start(self.on_load_core([str(self.tools / "upstream"), str(self.upstream_port)]))
        if not processes.listens(self.upstream_port, self.upstream):
            sys.exit("the upstream does not listen")

    def keep(self, scenario, target, sample):
        metrics = self.samples.setdefault(scenario, {}).setdefault(target.name, {})
        for name, value in sample.items():
            metrics.setdefault(name, []).append(value)

    def measured(self, target, argv, timeout):
        """Runs a load generator. Returns its output, the proxy's CPU in microseconds, wall time in seconds, and the
        sample's quality: `foreign` is the number of cores that other processes used, `steal` the fraction of CPU time
        that the host of this virtual machine took."""
        upstream = processes.tree(self.upstream.pid)

        def clocks():
            children = resource.getrusage(resource.RUSAGE_CHILDREN)
            return {"wall": time.monotonic(), "proxy": processes.cpu_nanoseconds(target.pids), "split": processes.user_and_system(target.pids),
                    "ours": processes.cpu_nanoseconds(upstream) / 1e9 + children.ru_utime + children.ru_stime,
                    "machine": processes.machine_ticks()}

        before = clocks()
        said = subprocess.run(self.on_load_core(argv), capture_output=True, text=True, timeout=timeout, check=False).stdout
        after = clocks()
        wall = after["wall"] - before["wall"]
        cpu = (after["proxy"] - before["proxy"]) / 1e3
        user, system = (new - old for new, old in zip(after["split"], before["split"]))
        stolen, passed, busy = (new - old for new, old in zip(after["machine"], before["machine"]))
        ours = after["ours"] - before["ours"] + cpu / 1e6
        return said, cpu, wall, {"user_share": user / (user + system) if user + system else 0, "steal": stolen / max(1, passed),
                                 "foreign": max(0.0, (busy / processes.TICKS_PER_SECOND - ours) / wall)}

    def wait_for_quiet(self):
        """Waits until the machine is almost idle for a quarter of a second, or until `quiet_wait` seconds have passed.
        Call while the targets are idle."""
        due = time.monotonic() + self.options.quiet_wait
        while time.monotonic() < due:
            busy, begin = processes.machine_ticks()[2], time.monotonic()
            time.sleep(0.25)
            used = (processes.machine_ticks()[2] - busy) / processes.TICKS_PER_SECOND / (time.monotonic() - begin)
            if used < self.options.max_foreign:
                return
            time.sleep(0.5)

    def take_sample(self, scenario, target):
        """Takes samples until one is undisturbed, at most `tries` times. Keeps the least disturbed sample."""
        best = None
        for _ in range(self.options.tries):
            self.wait_for_quiet()
            sample = self.sample(scenario, target)
            if sample and (best is None or sample["foreign"] + sample["steal"] < best["foreign"] + best["steal"]):
                best = sample
            if sample and sample["foreign"] < self.options.max_foreign and sample["steal"] < 0.03:
                break
        if best:
            self.keep(scenario, target, best)

    def sample(self, scenario, target):
        if scenario in REQUESTS:
            return self.of_requests(scenario, target)
        return self.of_stream(scenario, target) if scenario in STREAMS else self.of_rate(scenario, target)

    def wrk_script(self, target, scenario):
        _, path, method, body, headers = REQUESTS[scenario]
        lines = [f'wrk.method = "{method}"', f'wrk.path = "{target.url(self, path)}"',
                 f'wrk.headers["Host"] = "127.0.0.1:{self.upstream_port}"']
        lines += [f'wrk.body = string.rep("x", {body})'] if body else []
        lines += [f'wrk.headers["X-Bench-Header-{i:02d}"] = "some-typical-value-{i * 2654435761 & 0xffffffff:08x}"' for i in range(headers)]
        file = self.folder / "wrk.lua"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(file)

    def of_requests(self, scenario, target):
        connections = REQUESTS[scenario][0]
        seconds = max(self.options.secs, connections // 1000)  # longer for many connections, so that connecting does not dominate
        said, cpu, wall, quality = self.measured(
            target, ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s",
                     self.wrk_script(target, scenario), f"http://127.0.0.1:{target.port}/"], seconds + 40)
        found = re.search(r"(\d+) requests in ([\d.]+)(ms|s)", said)
        if not found or found[1] == "0":
            self.notes.append(f"{scenario} {target.name}: {said[-200:].strip()}")
            return None
        requests, took = int(found[1]), float(found[2]) / (1000 if found[3] == "ms" else 1)
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
        return {**quality, "rps": requests / took, "cpu_us": cpu / requests, "busy": cpu / 1e6 / wall,
                "bad": int(refused[1]) / requests if refused else 0}

    def loadgen(self, mode, target, path, *options):
        return [str(self.tools / "loadgen"), mode, "--port", str(target.port), "--host", f"127.0.0.1:{self.upstream_port}",
                "--path", target.url(self, path), *map(str, options)]

    def loaded(self, mode, target, connections, path, body, *options, seconds=None):
        """Returns a sample of the benchmark's own load generator."""
        seconds = seconds or self.options.secs
        said, cpu, _, quality = self.measured(target, self.loadgen(mode, target, path, "--conns", connections, "--secs", seconds, "--body",
                                                                   body, "--warm", WARM, *options), seconds + 60)
        return json.loads(said.strip().splitlines()[-1]), cpu, quality

    def of_stream(self, scenario, target):
        path, body, connections = STREAMS[scenario]
        told, cpu, quality = self.loaded("closed", target, connections, path, body)
        moved = told["requests"] * body if body else told["bytes"]
        if not moved:
            self.notes.append(f"{scenario} {target.name}: {told}")
            return None
        rate = moved / told["secs"] / 2**30
        # The CPU time includes the warm-up.
        return {**quality, "gib_s": rate, "cpu_ms_gib": cpu / 1e3 / (rate * (told["secs"] + WARM)), "bad": told["bad"], "err": told["err"]}

    def of_rate(self, scenario, target):
        connections, path, body = RATES[scenario]
        told, cpu, quality = self.loaded("rate", target, connections, path, body, "--rate", self.options.rate)
        if not told["requests"]:
            self.notes.append(f"{scenario} {target.name}: {told}")
            return None
        requests = told["requests"] * (told["secs"] + WARM) / told["secs"]
        return {**quality, "p50": told["p50_us"], "p90": told["p90_us"], "p99": told["p99_us"], "p999": told["p999_us"],
                "cpu_us": cpu / requests, "bad": told["bad"], "err": told["err"]}

    def memory_of(self, target):
        """Measures the memory of a target without clients, and then with idle clients that have sent one request each.
        Also measures its start-up time."""
        starts = []
        for _ in range(STARTS):
            target.stop()
            if not target.start(self):
                return
            starts.append(target.start_milliseconds)
        rss, before = processes.memory(target.pids)
        sample = {"rss_kib": rss, "pss_kib": before, "start_ms": statistics.median(starts)}
        for clients in self.options.idle:
            with subprocess.Popen(self.on_load_core(self.loadgen("idle", target, "/", "--conns", clients)), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as load:
                ready = json.loads(load.stdout.readline() or '{"ready": 0}')["ready"]
                time.sleep(2.0)  # time for the target to release the memory of a burst
                target.pids = processes.tree(target.process.pid)
                pss = processes.memory(target.pids)[1]
                load.stdin.close()
                closed = json.loads(load.stdout.readline() or '{"closed_meanwhile": -1}')["closed_meanwhile"]
            sample |= {f"pss_{clients}_kib": pss, f"ready_{clients}": ready, f"closed_{clients}": closed,
                       f"kib_a_client_{clients}": (pss - before) / clients}
            time.sleep(0.5)
        self.keep("rss", target, sample)
        target.stop()

    def system_calls_of(self, target):
        for connections in (1, 64):
            file = self.folder / "strace"
            tracer = processes.start(["strace", "-c", "-f", "-U", "calls,name", "-o", str(file), *(f"-p{pid}" for pid in target.pids)],
                                     stderr=subprocess.DEVNULL)
            time.sleep(0.7)
            said = subprocess.run(self.on_load_core(self.loadgen("closed", target, "/", "--conns", connections, "--secs", 1.5, "--warm", 0)),
                                  capture_output=True, text=True, check=True).stdout
            tracer.send_signal(signal.SIGINT)
            tracer.wait(10)
            requests = json.loads(said)["requests"]
            rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
            calls = {row[1]: int(row[0]) for row in rows if len(row) == 2 and row[0].isdigit() and row[1] != "total"}
            if requests:
                most = sorted(calls.items(), key=lambda call: -call[1])[:8]
                self.keep("syscalls", target, {f"per_req_c{connections}": sum(calls.values()) / requests,
                                               f"most_c{connections}": {name: round(number / requests, 3) for name, number in most}})
        target.stop()
        target.start(self)

    def instructions_of(self, target):
        """Counts user-mode instructions per request under callgrind. Uses the difference of two runs, so that the
        start is not included."""
        target.stop()
        if target.command is None or target.name == "caddy":  # callgrind cannot run caddy, or a target that is already running
            return
        folder = self.folder / "callgrind"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)  # worker processes that drop root also write there
        command, cores = target.command, self.cores
        target.command = f"valgrind --tool=callgrind --trace-children=yes --callgrind-out-file={folder}/%p {command}"
        self.cores = None

        def total(requests):
            if not target.start(self, 60):
                raise RuntimeError("it does not run under valgrind")
            subprocess.run(self.loadgen("closed", target, "/", "--secs", 120, "--warm", 0, "--count", requests), capture_output=True, check=True)
            time.sleep(0.3)
            target.stop(15)
            found = 0
            for name in glob.glob(f"{folder}/*"):
                with open(name, encoding="utf-8", errors="replace") as file:
                    found += next((int(line.split()[1]) for line in file if line.startswith("totals:")), 0)
            for name in glob.glob(f"{folder}/*"):
                (folder / name).unlink()
            return found

        try:
            few = total(1000)
            self.keep("instr", target, {"instructions": (total(5000) - few) / 4000})
        finally:
            target.stop()
            target.command, self.cores = command, cores

    def try_to(self, what, target, action, *arguments):
        """Runs an action. If it fails, records the failure and continues: the target still takes part in the next
        scenario."""
        try:
            action(*arguments)
        except Exception as error:   # pylint: disable=broad-exception-caught
            self.notes.append(f"{what} {target.name}: {error!r}")

    def run(self, targets, direct):
        """Measures every target in each round, in random order. Scenarios for one target at a time come last."""
        begin = time.monotonic()

        def progress(text):
            print(f"{time.monotonic() - begin:6.0f} s  {text}", file=sys.stderr, flush=True)

        alive = [target for target in targets if target.start(self)]
        self.notes += [f"{target.name}: it did not start" for target in targets if target not in alive]
        for target in alive:
            told = self.loaded("closed", target, 8, "/", 0, seconds=0.3)[0]
            if not told["ok"] or told["bad"]:  # tinyproxy closes its connections without notice, which counts as err
                sys.exit(f"{target.name} does not pass small GETs on: {told}")
        for scenario in [name for name in self.options.scenarios if name not in ALONE]:
            visited = ([direct] if scenario in RATES or self.options.direct else []) + alive
            for number in range(self.options.rounds):
                for target in chance.dice("order", scenario, number).sample(visited, len(visited)):
                    self.try_to(scenario, target, self.take_sample, scenario, target)
                progress(f"{scenario} round {number + 1} of {self.options.rounds}")
        for scenario, action in (("syscalls", self.system_calls_of), ("instr", self.instructions_of), ("rss", self.memory_of)):
            if scenario not in self.options.scenarios:
                continue
            if scenario != "syscalls":
                for target in alive:
                    target.stop()
            for target in alive:
                self.try_to(scenario, target, action, target)
                progress(f"{scenario} {target.name}")
