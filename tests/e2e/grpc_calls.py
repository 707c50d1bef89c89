"""gRPC calls in single frames: what the tests of calls share."""
import contextlib

import http2_frames as h2
from harness import LOOPBACK, Reprise, merge
from http2_client import Http2Client
from http2_stage import BACKOFF_MS
from http2_upstream import Reply

OK, UNKNOWN, DEADLINE_EXCEEDED, NOT_FOUND, UNAVAILABLE = 0, 2, 4, 5, 14
CALL = [("content-type", "application/grpc"), ("te", "trailers")]
METHOD = "/shop.Catalog/GetItem"
# Calls that may be repeated, with the same wait before each retry.
REPEATABLE = {"idempotent": "always", "retry": {"backoff": {"initial": f"{BACKOFF_MS}ms", "maximum": f"{BACKOFF_MS}ms", "jitter": "none"}}}


def message(data):
    """Returns a message with its prefix."""
    return b"\0" + len(data).to_bytes(4, "big") + data


def trailers_only(status, fields=()):
    """Returns a response that is one HEADERS frame."""
    return Reply(200, b"", [("content-type", "application/grpc"), ("grpc-status", str(status)), *fields], length=False)


def answer(*messages, status=OK, fields=(), **more):
    """Returns a response of messages and trailers."""
    return Reply(200, b"".join(map(message, messages)), [("content-type", "application/grpc")],
                 trailers=[("grpc-status", str(status)), *fields], length=False, **more)


def begins(link, request, *messages):
    """Sends the head of a response, and messages, but not its end."""
    link.headers(request.stream, [(":status", "200"), ("content-type", "application/grpc")])
    if messages:
        link.data(request.stream, b"".join(map(message, messages)))


def ends(link, request, status=OK, fields=()):
    """Sends the trailers of a response that has begun."""
    link.headers(request.stream, [("grpc-status", str(status)), *fields], end=True)


@contextlib.contextmanager
def calling(upstream, policy=None, url=None, **configuration):
    """Yields an HTTP/2 client of a gateway to `upstream`, and the reprise. `policy`: keys of `defaults`."""
    listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": url or upstream.url("")}]
    with Reprise(listeners=listeners, defaults=merge({}, policy or {}), **configuration) as reprise, Http2Client(reprise.gateway) as client:
        yield client, reprise


def begin(client, fields=(), path=METHOD, authority=None):
    """Sends the head of a call, and returns its stream."""
    return client.begin("POST", path, [*CALL, *fields], end=False, authority=authority)


def call(client, *messages, **head):
    """Sends a whole call in one segment, so that a busy machine never sees a part of it. Returns its response."""
    with client.one_write():
        stream = begin(client, **head)
        client.upload(stream, b"".join(map(message, messages or (b"",))))
    return client.response(stream)


def status_of(response):
    """Returns the status of a call, from its trailers or else from its head."""
    for fields in (response.trailers, response.fields):
        for name, value in fields:
            if name == "grpc-status":
                return int(value)
    return None


def is_one_block(response):
    """Returns whether the response was one HEADERS frame."""
    return response.ended and not response.trailers and not response.pieces
