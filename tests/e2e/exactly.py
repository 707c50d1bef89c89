"""Helpers for tests of docs/requirements/robustness.md. They send a message to reprise, and check the text of
the response, the counter of rejections, and the exact bytes that reached the upstream."""
import contextlib
import re
from pathlib import Path

from client import Client
from harness import LOOPBACK, Reprise, equal, eventually
from upstream import Upstream, reset

HOST = b"Host: h\r\n"
REJECTIONS = Path(__file__).resolve().parent.parent.parent / "proxy/http/message/rejection.cpp"


def closed_list():
    """Returns the program's list of rejections, read from its source code, as {cause: (status, sentence)}."""
    rows = re.findall(r'\{Rejection::(\w+), (\d+), "\w+",\s*((?:"[^"]*"\s*)+)[,}]', REJECTIONS.read_text(encoding="utf-8"))
    return {cause: (int(status), "".join(re.findall(r'"([^"]*)"', text))) for cause, status, text in rows}


CLOSED_LIST = closed_list()


@contextlib.contextmanager
def stage(scripts=None, on_head=None, greeting=b"", **configuration):
    """Yields a reprise, and an upstream that records all received bytes."""
    with Upstream(scripts, record=True, on_head=on_head, greeting=greeting) as upstream, \
            Reprise(**configuration) as reprise:
        yield reprise, upstream


def causes(reprise):
    """Returns {cause: count} of the requests rejected so far."""
    found = re.findall(r'^reprise_rejected_requests_total\{cause="(\w+)"\} (\S+)', reprise.admin("/metrics")[1], re.M)
    return {cause: int(float(count)) for cause, count in found if float(count)}


def equal_causes(reprise, before, cause, count=1):
    expected = dict(before)
    if count:
        expected[cause] = expected.get(cause, 0) + count
    equal(causes(reprise), expected, "rejections by cause")


def says(response, status, cause, what=""):
    """Checks that the response rejects the request for the given cause. The response must have the status and
    the sentence that closed_list() has for this cause."""
    if isinstance(what, bytes):
        what = repr(what[:300])
    equal(CLOSED_LIST[cause][0], status, f"{cause} in the closed list")
    equal((response.status, response.field("Connection"), response.field("Reprise-Reason")), (status, "close", cause), f"for {what}")
    equal(response.body.decode(), f"reprise: request rejected: {cause}\n{CLOSED_LIST[cause][1]}\n", str(what))
    equal((response.field("Content-Type"), response.field("X-Content-Type-Options")), ("text/plain", "nosniff"), str(what))
    assert re.fullmatch(r"reprise-\w+; error=(http_request_error|http_request_denied|proxy_loop_detected)",
                        response.field("Proxy-Status")), response.field("Proxy-Status")


def refused(reprise, upstream, request, cause, address=None):
    """Sends `request` on a new connection. Checks that reprise rejects it, counts one rejection and closes the
    connection, and that no byte reaches the upstream."""
    before, received = causes(reprise), upstream.bytes_received()
    with Client(address or reprise.forward) as client:
        client.send(request)
        says(client.read_response("HEAD" if request.startswith(b"HEAD ") else "GET"), CLOSED_LIST[cause][0], cause, request)
        equal(client.read_to_end(), b"", f"{cause}: the connection is closed")
    equal_causes(reprise, before, cause)
    equal(upstream.bytes_received(), received, f"{cause}: the upstream received nothing")


def refused_in_body(reprise, upstream, request, cause):
    """Sends a request whose fault shows only in the body. Checks that reprise rejects the request, counts one
    rejection and closes the connection. The upstream must receive the beginning of the request, and never a
    complete request."""
    before, count = causes(reprise), upstream.count()
    with Client(reprise.forward) as client:
        client.send(request)
        says(client.read_response(), CLOSED_LIST[cause][0], cause, request)
        equal(client.read_to_end(), b"", f"{cause}: the connection is closed")
    equal_causes(reprise, before, cause)
    eventually(upstream.bytes_received, "the upstream has noticed that it was asked")
    upstream.all_closed()
    equal(upstream.count(), count, f"the upstream saw no whole message for {request[:200]!r}")
    assert not upstream.bytes_received()[-1].endswith(b"0\r\n\r\n"), upstream.bytes_received()[-1][-200:]


def normal(text):
    """Replaces the Date, and reprise's pseudonym in Via, with fixed text. The pseudonym is different in each
    process."""
    text = re.sub(rb"reprise-\w+", b"reprise-?", text)
    return re.sub(rb"\r\nDate: \w{3}, [^\r]* GMT\r\n", b"\r\nDate: ?\r\n", text)


def sent_upstream(reprise, upstream, request, method="GET", status=200):
    """Sends a request to reprise. Returns exactly the bytes that then reached the upstream. The pseudonym in
    Via is replaced with fixed text."""
    before = upstream.bytes_received()
    with Client(reprise.forward) as client:
        client.send(request)
        response = client.read_response(method)
        equal(response.status, status, repr(request[:200]))
    after = upstream.bytes_received()
    parts = [new[len(before[i]) if i < len(before) else 0:] for i, new in enumerate(after)]
    return normal(b"".join(parts))


def to(upstream, method="GET", path="/x", fields=b"", body=b"", version=b"1.1"):
    """Returns the bytes of a request in absolute-form with the matching Host."""
    if isinstance(path, str):
        path = path.encode()
    authority = b"%s:%d" % (LOOPBACK.encode(), upstream.port)
    return b"%s http://%s%s HTTP/%s\r\nHost: %s\r\n%s\r\n%s" % (method.encode(), authority, path, version, authority,
                                                               fields, body)


def expected(upstream, method="GET", path="/x", fields=b"", body=b"", via=b"1.1"):
    """Returns the bytes that the upstream must receive for the request that to() returns: a request line in
    origin-form, Host, the forwarded fields and Via."""
    if isinstance(path, str):
        path = path.encode()
    return b"%s %s HTTP/1.1\r\nHost: %s:%d\r\n%sVia: %s reprise-?\r\n\r\n%s" % (
        method.encode(), path, LOOPBACK.encode(), upstream.port, fields, via, body)


def raw(message, then="stay"):
    """Returns an upstream step that sends the given bytes. `then`: whether the connection stays open, is
    closed (FIN) or is reset afterwards."""
    def play(connection, _):
        connection.sendall(message)
        if then == "reset":
            reset(connection)
        return then == "stay"
    return play


def is_cut(client, what=""):
    """Reads all bytes up to the FIN, chunk framing included, and returns them. Checks that the last chunk is
    missing, so that the body is visibly cut."""
    text = client.read_to_end()
    assert not text.endswith(b"0\r\n\r\n"), f"a cut answer with a terminator: {text[-100:]!r} {what}"
    return text


def counted(reprise, name, value=1, **labels):
    eventually(lambda: reprise.metric(name, **labels) == value, f"{name}{labels} is {value}")
