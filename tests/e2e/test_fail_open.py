"""Tests the recipes of docs/runtimes. Each recipe uses the proxy while the proxy runs. If the proxy's port refuses the
connection, the recipe connects directly."""
import contextlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from faults import Host, isolated
from harness import LOOPBACK, PATIENCE, NotPlayed, Reprise, closed_port, equal, needs_client, options, without_proxies

PAGES = Path(__file__).resolve().parent.parent.parent / "docs/runtimes"
MARK = re.compile(r"<!-- fail-open: (\w+) -->\n```\w+\n(.*?)^```$", re.M | re.S)
NODE_MODULES = "/usr/share/nodejs"
# For each recipe: its file name, and the command that runs it. The file name and a URL are appended to the command.
WAYS = {
    "sh": ("recipe.sh", ["sh"]),
    "urllib": ("recipe.py", ["python3"]),
    "requests": ("recipe.py", ["/usr/bin/python3"]),
    "java": ("FailOpen.java", ["java"]),
    "node": ("recipe.js", ["node"]),
    "go": ("main.go", ["go", "run"]),
    "php": ("recipe.php", ["php"]),
    "ruby": ("recipe.rb", ["ruby"]),
    "perl": ("recipe.pl", ["perl"]),
}
NEEDS = {"requests": ["/usr/bin/python3", "-c", "import requests"], "perl": ["perl", "-MLWP", "-e", "1"], "node": ["test", "-e", f"{NODE_MODULES}/undici"],
         "java": ["sh", "-c", "command -v javac"]}


def recipes():
    return dict(found for page in sorted(PAGES.glob("*.md")) for found in MARK.findall(page.read_text(encoding="utf-8")))


def played(name, url, proxy):
    """Runs a recipe whose proxy variables are set to `proxy`. Returns the output of the recipe."""
    file, command = WAYS[name]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, file).write_text(recipes()[name], encoding="utf-8")
        variables = {"http_proxy": proxy, "HTTP_PROXY": proxy, "NODE_PATH": NODE_MODULES, "GOCACHE": f"{tempfile.gettempdir()}/go-cache", "GO111MODULE": "off",
                     "HOME": folder}
        host, port = proxy.removeprefix("http://").rsplit(":", 1)
        if name == "java":
            command = [*command, f"-Dhttp.proxyHost={host}", f"-Dhttp.proxyPort={port}", "-Dhttp.nonProxyHosts="]
        done = subprocess.run([*command, file, url], cwd=folder, env=without_proxies(**variables), capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal(done.returncode, 0, done.stderr)
        return done.stdout.split()[-1]  # curl also prints 000, the status of its failed first try


def fails_open(name):
    command = WAYS[name][1]
    needs_client(command[0])
    if name in NEEDS and subprocess.run(NEEDS[name], capture_output=True, check=False).returncode != 0:
        raise NotPlayed("client", f"what the recipe for {name} imports is not here")
    if name == "go" and not os.environ.get("REPRISE_NIGHT"):
        raise NotPlayed("client", "compiling net/http takes a minute: the night plays it")
    # The upstream is on another host, because Go and Ruby never send loopback requests to a proxy. The
    # upstream responds to the first request with 503, so the first run of the client gets a 200 only through
    # the proxy, which retries.
    with Host() as host, Reprise() as reprise, demo(host) as port:
        url = f"http://{host.theirs}:{port}/flaky?id={name}"
        equal(played(name, url, reprise.proxy_url), "200", f"{name} by the proxy")
        held, closed = closed_port()
        with held:
            equal(played(name, url, f"http://{LOOPBACK}:{closed}"), "200", f"{name} without it")


@contextlib.contextmanager
def demo(host):
    """Yields the port of a demo upstream on the other host."""
    command = ["nsenter", "-t", str(host.holder.pid), "-n", options.binary, "demo", "--bind", f"{host.theirs}:0", "--script", "503,200"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield int(re.search(r"listening on \S+:(\d+)", process.stdout.readline())[1])
        finally:
            process.kill()


def test_every_fail_open_recipe_has_a_test():
    equal(sorted(recipes()), sorted(WAYS))
    end = "_connects_directly_if_the_proxy_refuses_connections"
    equal(sorted(WAYS), sorted(name.removeprefix("test_fail_open_recipe_named_").removesuffix(end) for name in globals() if name.endswith(end)))


@isolated
def test_fail_open_recipe_named_sh_connects_directly_if_the_proxy_refuses_connections():
    fails_open("sh")


@isolated
def test_fail_open_recipe_named_urllib_connects_directly_if_the_proxy_refuses_connections():
    fails_open("urllib")


@isolated
def test_fail_open_recipe_named_requests_connects_directly_if_the_proxy_refuses_connections():
    fails_open("requests")


@isolated
def test_fail_open_recipe_named_java_connects_directly_if_the_proxy_refuses_connections():
    fails_open("java")


@isolated
def test_fail_open_recipe_named_node_connects_directly_if_the_proxy_refuses_connections():
    fails_open("node")


@isolated
def test_fail_open_recipe_named_go_connects_directly_if_the_proxy_refuses_connections():
    fails_open("go")


@isolated
def test_fail_open_recipe_named_php_connects_directly_if_the_proxy_refuses_connections():
    fails_open("php")


@isolated
def test_fail_open_recipe_named_ruby_connects_directly_if_the_proxy_refuses_connections():
    fails_open("ruby")


@isolated
def test_fail_open_recipe_named_perl_connects_directly_if_the_proxy_refuses_connections():
    fails_open("perl")
