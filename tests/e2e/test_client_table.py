"""Checks README's table of clients against the installed clients. Each client is configured with one
environment variable, or with the client's own setting."""
import contextlib
import os
import subprocess
import tempfile

from client_table import row_of
from harness import LOOPBACK, Reprise, equal, eventually, needs_client, without_proxies
from upstream import Upstream

JAVA = """
import java.net.*;
class Fetch {
  public static void main(String[] arguments) throws Exception {
    ((HttpURLConnection) new URL(arguments[0]).openConnection()).getResponseCode();
  }
}
"""
GO = """
package main

import (
	"net/http"
	"os"
)

func main() { http.Get(os.Args[1]) }
"""
PHP = """
$through = getenv('THROUGH');
$options = ['ignore_errors' => true] + ($through ? ['proxy' => $through, 'request_fulluri' => true] : []);
@fopen($argv[1], 'r', false, stream_context_create(['http' => $options]));
"""


class Stage:
    """A reprise and an upstream on loopback. reprise fails a request at once if the host name does not
    resolve."""

    def __init__(self, reprise, upstream):
        self.reprise, self.upstream, self.asked = reprise, upstream, 0

    def went_through(self, command, variables, loopback):
        """Runs a command with a URL as its last argument. Returns whether the request for the URL came through the
        proxy.

        With `loopback`, the request reaches the upstream with or without the proxy: the Via field of the
        received request shows which. Without `loopback`, the URL has a host name that does not resolve, so
        only the proxy can receive the request. Then the proxy's log must have the request."""
        self.asked += 1
        path = f"/seen-{self.asked}"
        host = f"{LOOPBACK}:{self.upstream.port}" if loopback else "app.test"
        subprocess.run([*command, f"http://{host}{path}"], env=without_proxies(**variables), stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=120, check=False)
        if loopback:
            return "reprise-" in (next(one for one in self.upstream.requests if one.target == path).field("Via") or "")
        return eventually(lambda: any(line.get("path") == path for line in self.reprise.log()), f"{path} came")


@contextlib.contextmanager
def stage():
    once = {"retry": {"max_attempts": 1}, "connect_timeout": "200ms"}
    with Upstream(otherwise=[200]) as upstream, Reprise(defaults=once) as reprise:
        yield Stage(reprise, upstream)


def played(client, command, more=None):
    """Tests a client that reads proxy variables: first with only http_proxy or only HTTP_PROXY, then with
    both and a request to loopback. `more`: additional variables."""
    row, more = row_of(client), more or {}
    with stage() as here:
        for name, expected in (("http_proxy", row.lower), ("HTTP_PROXY", row.upper)):
            # If the client is expected to bypass the proxy, the URL has an IP address. With a name, the
            # client would query a name server that does not exist.
            by_name = expected or not row.loopback
            seen = here.went_through(command, {**more, name: here.reprise.proxy_url}, loopback=not by_name)
            equal(seen, expected, f"{client} with {name}")
        both = {"http_proxy": here.reprise.proxy_url, "HTTP_PROXY": here.reprise.proxy_url, **more}
        equal(here.went_through(command, both, loopback=True), row.loopback, f"{client} and an address of this host")


def test_curl_matches_the_readme_client_table():
    needs_client("curl")
    played("curl", ["curl", "-s", "-o", "/dev/null"])
    with stage() as here:
        equal(here.went_through(["curl", "-s", "-o", "/dev/null", "-x", here.reprise.proxy_url], {}, loopback=True), True)


def test_wget_matches_the_readme_client_table():
    needs_client("wget")
    played("wget", ["wget", "-q", "-t", "1", "-O", "/dev/null"])


def test_python_matches_the_readme_client_table():
    needs_client("python3")
    played("Python", ["python3", "-c", "import sys, urllib.request as r; r.urlopen(sys.argv[1])"])


def test_java_matches_the_readme_client_table():
    needs_client("javac")
    with tempfile.TemporaryDirectory() as folder, stage() as here:
        with open(f"{folder}/Fetch.java", "w", encoding="ascii") as file:
            file.write(JAVA)
        subprocess.run(["javac", "-d", folder, file.name], check=True, capture_output=True)
        port = here.reprise.forward[1]
        command = ["java", "-cp", folder, "-Xshare:auto", "Fetch"]
        variables = {"http_proxy": here.reprise.proxy_url, "HTTP_PROXY": here.reprise.proxy_url}
        own = f"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={port}"
        equal(here.went_through(command, {"JAVA_TOOL_OPTIONS": own}, loopback=False), True, "its own words")
        equal(here.went_through(command, {"JAVA_TOOL_OPTIONS": own}, loopback=True), row_of("Java").loopback)
        equal(here.went_through(command, {"JAVA_TOOL_OPTIONS": own + " -Dhttp.nonProxyHosts="}, loopback=True), True)
        only = {**variables, "JAVA_TOOL_OPTIONS": "-Dhttp.nonProxyHosts="}
        equal(here.went_through(command, only, loopback=True), row_of("Java").lower, "it reads no variables")


def test_node_matches_the_readme_client_table():
    needs_client("node")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip().lstrip("v")
    knows = tuple(map(int, version.split(".")[:2])) >= (22, 21)
    command = ["node", "-e", "fetch(process.argv[1]).catch(() => 0)", "--"]
    with stage() as here:
        variables = {"http_proxy": here.reprise.proxy_url, "HTTP_PROXY": here.reprise.proxy_url}
        equal(here.went_through(command, variables, loopback=True), False, "without its switch it reads no variables")
        equal(here.went_through(command, {**variables, "NODE_USE_ENV_PROXY": "1"}, loopback=True), knows, version)


def test_go_matches_the_readme_client_table():
    needs_client("go")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/fetch.go", "w", encoding="ascii") as file:
            file.write(GO)
        environment = {"HOME": folder, **os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", f"{folder}/fetch", file.name], check=True, capture_output=True, env=environment, cwd=folder)
        played("Go", [f"{folder}/fetch"])


def test_php_matches_the_readme_client_table():
    needs_client("php")
    command = ["php", "-r", PHP, "--"]
    with stage() as here:
        variables = {"http_proxy": here.reprise.proxy_url, "HTTP_PROXY": here.reprise.proxy_url}
        equal(here.went_through(command, variables, loopback=True), row_of("PHP").lower, "it reads no variables")
        through = {"THROUGH": "tcp://%s:%d" % here.reprise.forward}
        equal(here.went_through(command, through, loopback=True), row_of("PHP").loopback, "its own words")


def test_ruby_matches_the_readme_client_table():
    needs_client("ruby")
    played("Ruby", ["ruby", "-rnet/http", "-e", "Net::HTTP.get(URI(ARGV[0]))", "--"])
