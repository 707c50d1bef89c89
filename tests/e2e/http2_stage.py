"""What the tests of HTTP/2 share: a reprise whose upstream is reached over HTTP/2, and its HTTP/1 clients."""
import contextlib
import re

from client import Client, head_of
from harness import LOOPBACK, Reprise, equal, eventually, merge, tcp_sockets
from reader import Cut

# No retry and no resumed download hides a failure.
ONCE = {"retry": {"max_attempts": 1}, "resume": {"enabled": False}}
BACKOFF_MS = 20
# Backoffs that differ from a retry at once.
PACED = {"retry": {"backoff": {"initial": f"{BACKOFF_MS}ms", "maximum": f"{BACKOFF_MS}ms", "jitter": "none"}}}
# A retry budget that never refuses a retry, for cases with more retries than requests.
UNLIMITED = {"budget": "off"}
ONE_CONNECTION = {"threads": 1, "pool": {"http2_connections": 1}}


def http2_proxy(upstream, url=None, defaults=None, **configuration):
    """Returns a reprise with a forward listener and with a gateway to `upstream`. Requests go to upstreams over HTTP/2
    unless `defaults` says otherwise."""
    listeners = [{"mode": "forward", "bind": f"{LOOPBACK}:0"}, {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": url or upstream.url("")}]
    return Reprise(listeners=listeners, defaults=merge({"http2": "always"}, defaults or {}), **configuration)


class GatewayClient(Client):
    """An HTTP/1.1 client of the gateway."""

    def __init__(self, reprise):
        super().__init__(reprise.gateway)
        self.host = "%s:%d" % reprise.gateway

    def begin(self, method, path="/x", body=None, fields=()):
        """Sends a request. A body gets a Content-Length."""
        if body is not None:
            fields = [*fields, ("Content-Length", str(len(body)))]
        self.send(head_of(method, path, self.host, fields) + (body or b""))
        return self

    def ask(self, method, path="/x", body=None, fields=()):  # pylint: disable=arguments-differ,arguments-renamed
        self.begin(method, path, body, fields)
        return self.read_response(method)

    def is_read(self, reprise):
        """Waits until reprise has read everything that was sent. Precondition: reprise has one io thread."""
        theirs, ours = reprise.gateway[1], self.socket.getsockname()[1]
        def is_empty():
            found = {(one.local, one.remote): one for one in tcp_sockets()}
            return found[theirs, ours].unread == 0 == found[ours, theirs].unsent
        eventually(is_empty, "reprise has read the request")


def ask(reprise, method, path="/x", body=None, fields=()):
    """Sends one request to the gateway on a new connection and returns the response."""
    with GatewayClient(reprise) as client:
        return client.ask(method, path, body, fields)


def attempts_of(line):
    """Returns (stage, cause) of each failed attempt of an access line."""
    return [(attempt["stage"], attempt["error"]) for attempt in line["attempts"] if "error" in attempt]


def causes_of(line):
    return [cause for _, cause in attempts_of(line)]


def waits_of(line):
    """Returns the wait before each attempt, in milliseconds."""
    return [attempt.get("wait_ms", 0) for attempt in line["attempts"]]


def proxy_status(response):
    """Returns the error word of the field Proxy-Status."""
    return re.search(r"error=(\w+)", response.field("Proxy-Status") or "error=none").group(1)


def expect_own_502(response, cause, line, error="http_protocol_error", attempts=1):
    """Checks reprise's own 502 and the cause in the log."""
    equal((response.status, response.attempts, proxy_status(response)), (502, attempts, error), cause)
    equal({found for _, found in attempts_of(line)}, {cause}, f"{line}")


def expect_cut(client, expected=None):
    """Reads the rest of a response whose head was read. Checks that the response is visibly incomplete: its length is
    not reached, or its last chunk is missing. Returns the bytes of the body that arrived."""
    head = client.head_read
    try:
        rest = client.read_to_end()
    except ConnectionResetError:
        rest = bytes(client.buffer)
    if head.is_chunked:
        assert not rest.endswith(b"0\r\n\r\n") and b"\r\n0\r\n" not in rest, f"a cut response with its last chunk: {rest[-100:]!r}"
        rest = re.sub(rb"[0-9a-f]+\r\n|\r\n", b"", rest)
    else:
        assert head.length is not None, f"only the close ends the body: {head.fields}"
        assert len(rest) < head.length, f"a response that was to be cut is complete: {len(rest)} of {head.length}"
    if expected is not None:
        equal(rest, expected, "the part of the body")
    return rest


class CutClient(GatewayClient):
    """A client of responses that break after their head."""

    head_read = None

    def read_final_head(self):
        self.head_read = super().read_final_head()
        return self.head_read


@contextlib.contextmanager
def clients(reprise, count):
    """Yields `count` clients of the gateway."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(GatewayClient(reprise)) for _ in range(count)]


def outcome_of(client):
    """Reads a response. Returns `502`, `cut`, or `whole` for a response that has no body. Fails if the response has a
    body that looks complete."""
    try:
        client.read_final_head()
    except (Cut, ConnectionResetError):
        return "cut"
    if client.head_read.status == 502:
        client.read_body(client.head_read)
        return "502"
    if client.head_read.status in (204, 304):
        return "whole"
    expect_cut(client)
    return "cut"
