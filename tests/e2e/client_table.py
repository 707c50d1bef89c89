"""The rows of the README's table of clients: what to configure in each client, and how the client behaves.
test_client_table.py verifies the rows."""
from dataclasses import dataclass
from typing import Optional

PROXY = "http://127.0.0.1:3128"


@dataclass
class Row:
    """One row of the table. `lower`: whether the client uses the proxy if only http_proxy is set. `upper`:
    whether the client uses the proxy if only HTTP_PROXY is set. `loopback`: whether the client also sends
    requests to 127.0.0.1 through the proxy. Each value is None if no test has verified it."""
    client: str
    write: str
    lower: Optional[bool]
    upper: Optional[bool]
    loopback: Optional[bool]
    exception: str = ""  # text for the last column of the README's table


ROWS = (
    Row("curl", f"`curl -x {PROXY} URL`, or the variables", True, False, True),
    Row("wget", "the variables", True, False, True),
    Row("Python: urllib, requests, httpx", "the variables; aiohttp: `ClientSession(trust_env=True)`", True, True, True),
    Row("Java", "`JAVA_TOOL_OPTIONS=\"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1 "
                "-Dhttps.proxyPort=3128\"`, or a gateway", False, False, False, " unless `-Dhttp.nonProxyHosts=` is there, empty"),
    Row("Node `fetch`", "from 22.21 and 24 on `NODE_USE_ENV_PROXY=1` and the variables; before, a gateway", False, False, True, " with that switch"),
    Row("Go", "the variables", True, True, False),
    Row("PHP streams", "`stream_context_create(['http' => ['proxy' => 'tcp://127.0.0.1:3128', 'request_fulluri' => true]])`, "
                       "or a gateway", False, False, True, " with that context"),
    Row("Ruby net/http", "the variables", True, True, False),
    Row(".NET HttpClient", "the variables (as its documents say)", None, None, None),
    Row("anything else", "a gateway: `reprise run --gateway 3180=https://api.example.com`, and `http://127.0.0.1:3180` as the "
                         "base URL", None, None, None),
)


def reads(row):
    if row.lower is None:
        return "lower case first, then upper" if "NET" in row.client else ""
    return {(True, True): "either", (True, False): "`http_proxy`, not `HTTP_PROXY`", (False, False): "none"}[(row.lower, row.upper)]


def passes_loopback(row):
    if row.loopback is None:
        return ""
    return ("yes" if row.loopback else "**no**") + row.exception


def markdown():
    lines = ["| client | write | variables it reads | 127.0.0.1 through the proxy, without `no_proxy` |", "|---|---|---|---|"]
    lines += [f"| {row.client} | {row.write} | {reads(row)} | {passes_loopback(row)} |" for row in ROWS]
    return "\n".join(lines) + "\n"


def row_of(client):
    return next(row for row in ROWS if row.client.startswith(client))
