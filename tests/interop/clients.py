"""Defines the real clients. For each client: its command, the ways in which it can send requests through reprise, and
how it is made to trust a CA."""
import shutil
from dataclasses import dataclass, field
from typing import Callable, Optional

from origin import HELLO, HOST, NAME, apt_tree, git_tree, npm_tree, pip_tree

PORTS = {"forward": 3128, "gateway": 3180, "tls_gateway": 3181, "socks": 1080, "transparent": 3190}
PROXY = f"127.0.0.1:{PORTS['forward']}"
SOCKS = f"127.0.0.1:{PORTS['socks']}"
BY = ("variable", "gateway", "exec", "exec --intercept", "transparent", "SOCKS")
VARIABLES = {"http_proxy": f"http://{PROXY}", "https_proxy": f"http://{PROXY}"}
WS_VARIABLES = {"ws_proxy": f"http://{PROXY}", "wss_proxy": f"http://{PROXY}"}
TRUST = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT", "PERL_LWP_SSL_CA_FILE")
JAVA_PROXY = "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={0} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort={0}".format(PORTS["forward"])
# Prefers Debian's Python, which has the modules of Debian's packages.
PYTHON = "/usr/bin/python3" if shutil.which("/usr/bin/python3") else "python3"


@dataclass
class Ask:
    """One call of a client. `base`: URL under which the server has the files of this case. `ca`: file of the trusted
    CA; `truststore`: the same CA for Java. `folder`: working folder of the client. `programs`: folder of the test
    programs."""

    way: str
    method: str
    base: str
    folder: str = "."
    programs: str = "."
    file: Optional[str] = None
    ca: str = "$SSL_CERT_FILE"
    truststore: str = ""
    path: str = "/x"

    @property
    def url(self):
        return "URL" if self.base == "URL" else self.base + self.path

    @property
    def is_https(self):
        return self.base.startswith(("https", "wss"))

    @property
    def words(self):
        return [self.method, self.url, *([self.file] if self.file else [])]


@dataclass
class Client:
    """A client. `command(ask)`: the command as a list of words, or as a text for a shell. `ways`: for each supported
    way into reprise, the environment variables or the words before the command. `scenarios`: the scenarios that the
    client supports. `tree(base)`: the files that the client fetches, and the name of the file whose download breaks
    once. `why`: for each unsupported way, the reason."""

    name: str
    command: Callable
    version: str
    ways: dict
    needs: tuple
    scenarios: tuple = ("get", "post", "upload", "download", "https")
    tree: Optional[Callable] = None
    response: Callable = staticmethod(lambda ask, said: said)
    trust: Callable = staticmethod(lambda ask: {name: ask.ca for name in TRUST})
    why: dict = field(default_factory=dict)


def front(*words):
    return {"front": list(words)}


def variables(**more):
    return {"environment": {**VARIABLES, **more}}


PLAIN = {"gateway": {}, "transparent": {}}
EXEC = {"exec": {}, "exec --intercept": {}}
PROXYCHAINS = {"SOCKS": front("proxychains4", "-q", "-f", "CHAIN")}
EVERY = {"variable": variables(), **PLAIN, **EXEC}


def program(*interpreter):
    """Returns a function that gives the command for a script in tests/interop/programs, with the arguments METHOD URL
    [FILE]."""
    *words, script = interpreter
    return lambda ask: [*words, f"{ask.programs}/{script}", *ask.words]


def java(name):
    return lambda ask: ["java", "-cp", ask.programs, name, *ask.words]


def java_trust(ask):
    return {"JAVA_TOOL_OPTIONS": f"-Djavax.net.ssl.trustStore={ask.truststore} -Djavax.net.ssl.trustStorePassword=changeit"}


def curl(ask):
    body = ["--data-binary" if ask.method == "POST" else "-T", ("@" if ask.method == "POST" else "") + ask.file] if ask.file else []
    return ["curl", "-sSf", *body, ask.url]


def bundle_of(ask):
    """Returns the CA file for a client that does not read a CA variable from its environment. Under `exec --intercept`,
    returns `$SSL_CERT_FILE`, which the shell that starts the client expands."""
    return "$SSL_CERT_FILE" if ask.way == "exec --intercept" else ask.ca


def wget(ask):
    body = f" --method={ask.method} --body-file={ask.file}" if ask.file else ""
    trust = f" --ca-certificate={bundle_of(ask)}" if ask.is_https or ask.way == "exec --intercept" else ""
    return f"wget -q -O - --tries=1{trust}{body} {ask.url}"


def aria2(ask):
    trust = f" --ca-certificate={bundle_of(ask)}" if ask.is_https or ask.way == "exec --intercept" else ""
    return f"aria2c -q --max-tries=1{trust} --allow-overwrite=true -d {ask.folder} -o fetched {ask.url}"


def read(name):
    def response(ask, _):
        with open(f"{ask.folder}/{name}", "rb") as file:
            return file.read()
    return response


def succeeded(*_):
    """The expected body, for a client that itself checks whether it has received everything."""
    return HELLO


def s_client(ask):
    where = f"-connect {HOST}:443" + (f" -proxy {PROXY}" if ask.way == "variable" else "") + \
        (" -proxy ${https_proxy#http://}" if ask.way == "exec --intercept" else "")
    request = rf"GET {ask.path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"
    return f"printf '{request}' | openssl s_client -quiet -verify_return_error -servername {HOST} {where}"


def apt(ask):
    folder = ask.folder
    own = [f"Dir::State={folder}/state", f"Dir::Cache={folder}/cache", f"Dir::Etc::SourceList={folder}/list", "Dir::Etc::SourceParts=-",
           "Dir::Etc::Parts=-", "Dir::State::Status=/dev/null", "APT::Sandbox::User=", "Debug::NoLocking=1", "Acquire::Retries=0",
           "Acquire::Languages=none", "APT::Architecture=amd64"]
    proxy = [f"Acquire::{scheme}::Proxy=socks5h://{SOCKS}" for scheme in ("http", "https")] if ask.way == "SOCKS" else []
    trust = [f"Acquire::https::CAInfo={bundle_of(ask)}"] if ask.is_https or ask.way == "exec --intercept" else []
    if ask.base == "URL":
        source = "echo 'deb [trusted=yes] URL ./' > /etc/apt/sources.list.d/own.list && " if ask.way == "gateway" else ""
        options = "".join(f"-o {word} " for word in (*proxy, *trust))
        return f"{source}apt-get {options}update && apt-get {options}download {NAME}"
    options = " ".join(f"-o {word}" for word in (*own, *proxy, *trust))
    return (f"cd {folder} && mkdir -p state/lists/partial cache/archives/partial && echo 'deb [trusted=yes] {ask.base} ./' > list && "
            f"apt-get -q {options} update && apt-get -q {options} download {NAME} && test -s {NAME}_1_all.deb")


def pip(ask):
    where = f"{ask.base}/simple" if ask.base != "URL" else "URL"
    trusted = f"--trusted-host {HOST} " if ask.base.startswith("http:") else ""
    return f"{PYTHON} -m pip download -q --no-deps --retries 0 --no-cache-dir --disable-pip-version-check {trusted}-d {ask.folder} -i {where} {NAME}"


def npm(ask):
    own = "" if ask.base == "URL" else f"--cache {ask.folder}/cache --prefix {ask.folder} --no-audit --no-fund --no-update-notifier --loglevel error "
    return f"npm install {own}--fetch-retries 0 --registry {ask.base} {NAME}"


def git(ask):
    return f"git clone -q {'URL' if ask.base == 'URL' else ask.base} {ask.folder}/clone"


NO_PROXY_KNOWN = "it knows no proxy"
NODE_OLD = "reads no variable before 22.21 (`NODE_USE_ENV_PROXY`)"
PACKAGES = ("get", "download", "https")
WEBSOCKET = ("websocket", "secure websocket")

CLIENTS = (
    Client("curl", curl, "curl --version", {**EVERY, "SOCKS": {"environment": {"ALL_PROXY": f"socks5h://{SOCKS}"}}}, ("curl",)),
    Client("wget", wget, "wget --version", {**EVERY, **PROXYCHAINS}, ("wget",)),
    Client("aria2", aria2, "aria2c --version", EVERY, ("aria2c",), ("get", "download", "https"), response=read("fetched"),
           why={"SOCKS": "it knows none"}),
    Client("git", git, "git --version", {**EVERY, "SOCKS": {"environment": {"ALL_PROXY": f"socks5h://{SOCKS}"}}}, ("git",),
           ("get", "https"), git_tree, read("clone/hello")),
    Client("apt", apt, "apt-get --version", {**EVERY, "SOCKS": {}}, ("apt-get", "dpkg-deb"), PACKAGES, apt_tree, succeeded),
    Client("pip", pip, f"{PYTHON} -m pip --version", {**EVERY, **PROXYCHAINS}, (f"{PYTHON} -m pip --version",), PACKAGES, pip_tree, succeeded),
    Client("npm", npm, "npm --version", {**EVERY, **PROXYCHAINS}, ("npm",), PACKAGES, npm_tree, succeeded),
    Client("Python urllib", program(PYTHON, "with_urllib.py"), f"{PYTHON} --version", {**EVERY, **PROXYCHAINS}, (PYTHON,)),
    Client("Python requests", program(PYTHON, "with_requests.py"), f"{PYTHON} -c 'import requests; print(requests.__version__)'",
           {**EVERY, **PROXYCHAINS}, (f"{PYTHON} -c 'import requests'",)),
    Client("Python httpx", program(PYTHON, "with_httpx.py"), f"{PYTHON} -c 'import httpx; print(httpx.__version__)'",
           {**EVERY, **PROXYCHAINS}, (f"{PYTHON} -c 'import httpx'",)),
    Client("Python aiohttp", program(PYTHON, "with_aiohttp.py"), f"{PYTHON} -c 'import aiohttp; print(aiohttp.__version__)'",
           {**EVERY, **PROXYCHAINS}, (f"{PYTHON} -c 'import aiohttp'",)),
    Client("Go net/http", lambda ask: [f"{ask.programs}/fetch", *ask.words], "go version",
           {**EVERY, "SOCKS": {"environment": {"http_proxy": f"socks5://{SOCKS}", "https_proxy": f"socks5://{SOCKS}"}}}, ("go",)),
    Client("Java HttpClient", java("WithHttpClient"), "java --version",
           {"variable": {"environment": {"JAVA_TOOL_OPTIONS": JAVA_PROXY}}, **PLAIN, **EXEC}, ("javac", "keytool"), trust=java_trust,
           why={"SOCKS": "it knows none"}),
    Client("Java HttpURLConnection", java("WithUrlConnection"), "java --version",
           {"variable": {"environment": {"JAVA_TOOL_OPTIONS": JAVA_PROXY}}, **PLAIN, **EXEC,
            "SOCKS": {"environment": {"JAVA_TOOL_OPTIONS": f"-DsocksProxyHost=127.0.0.1 -DsocksProxyPort={PORTS['socks']}"}}},
           ("javac", "keytool"), trust=java_trust),
    Client("Node http", program("node", "with_http.js"), "node --version", {**PLAIN, **PROXYCHAINS}, ("node",),
           why={"variable": NODE_OLD, "exec": NODE_OLD, "exec --intercept": NODE_OLD}),
    Client("Node fetch", program("node", "with_fetch.js"), "node --version", {**PLAIN, **PROXYCHAINS}, ("node", "node -e 'fetch'"),
           why={"variable": NODE_OLD, "exec": NODE_OLD, "exec --intercept": NODE_OLD}),
    Client("Node undici", program("node", "with_undici.js"), "node -p \"require('undici/package.json').version\"",
           {**EVERY, "variable": {**variables(), "line": f"setGlobalDispatcher(new ProxyAgent('http://{PROXY}'))"}, **PROXYCHAINS},
           ("node -e \"require('undici')\"",)),
    Client("PHP streams", program("php", "fetch.php"), "php --version",
           {"variable": {"environment": {"PROXY_OF_THE_CONTEXT": f"tcp://{PROXY}"},
                         "line": f"stream_context_create(['http' => ['proxy' => 'tcp://{PROXY}', 'request_fulluri' => true]])"}, **PLAIN, **PROXYCHAINS}, ("php",),
           why={"exec": "it reads no variable", "exec --intercept": "it reads no variable"}),
    Client("Ruby net/http", program("ruby", "fetch.rb"), "ruby --version", {**EVERY, **PROXYCHAINS}, ("ruby",)),
    Client("Perl LWP", program("perl", "fetch.pl"), "perl -MLWP -e 'print LWP->VERSION'", {**EVERY, **PROXYCHAINS},
           ("perl -MLWP::Protocol::https -e 1",)),
    Client("openssl s_client", s_client, "openssl version", {"variable": {}, "transparent": {}, "exec --intercept": {}, **PROXYCHAINS},
           ("openssl",), ("https",), why={"gateway": "it speaks TLS alone", "exec": "it takes its proxy as an option"}),
    Client("Python aiohttp, WebSocket", program(PYTHON, "with_aiohttp.py"), f"{PYTHON} -c 'import aiohttp; print(aiohttp.__version__)'",
           {**EVERY, "variable": {"environment": WS_VARIABLES}}, (f"{PYTHON} -c 'import aiohttp'",), WEBSOCKET, why={"SOCKS": "not played: as without WebSocket"}),
    Client("Python websockets", program(PYTHON, "with_websockets.py"), f"{PYTHON} -c 'import websockets.version as v; print(v.version)'",
           {**PLAIN, **PROXYCHAINS}, (f"{PYTHON} -c 'import websockets'",), WEBSOCKET,
           why={"variable": NO_PROXY_KNOWN, "exec": NO_PROXY_KNOWN, "exec --intercept": NO_PROXY_KNOWN}),
    Client("Node ws", program("node", "with_ws.js"), "node -p \"require('ws/package.json').version\"", {**PLAIN, **PROXYCHAINS},
           ("node -e \"require('ws')\"",), WEBSOCKET,
           why={"variable": NO_PROXY_KNOWN, "exec": NO_PROXY_KNOWN, "exec --intercept": NO_PROXY_KNOWN}),
)
