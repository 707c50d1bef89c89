"""Tests rows of docs/requirements/http2.md about requests that wait because the upstream's host takes no more bytes: a process that
hangs while an upload with large windows is under way."""
import contextlib
import select
import socket
import threading

import http2_frames as h2
from harness import PATIENCE, equal, eventually, tcp_socket
from http2_client import Http2Client
from http2_stage import attempts_of
from http2_upstream import Http2Upstream
from test_http2_client_messages import asking

LARGE = 1 << 30


class HangingUpstream(Http2Upstream):
    """An upstream that grants large windows and stops reading its first connection at the head of /big, until `wakes` is set.
    `then`: a function (link) that is called after that."""

    def __init__(self, settings=(), then=lambda link: None):
        super().__init__(settings=None, at_start=self.begin, at_head={"/big": self.hang})
        self.first_settings = {h2.INITIAL_WINDOW_SIZE: LARGE, **dict(settings)}
        self.wakes, self.then = threading.Event(), then

    def begin(self, link):
        link.wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        link.send_settings(self.first_settings)
        link.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, h2.number(LARGE)))

    def hang(self, link, _):
        self.wakes.wait(PATIENCE)
        self.then(link)

    def __exit__(self, *error):
        self.wakes.set()
        super().__exit__(*error)


def waits_in_the_kernel(upstream):
    """Returns how many bytes the upstream's host has not taken from the first connection."""
    return tcp_socket(upstream.links[0].wire.getpeername()[1], upstream.port).unsent


def upload_until_stuck(client, upstream, most=64 << 20):
    """Uploads to /big until the windows of reprise stay closed and the bytes that wait in the kernel stay the same: then the
    sockets to the upstream are full."""
    stream, piece, waiting = client.begin("POST", "/big", end=False), bytes(16384), 0
    for _ in range(most // len(piece)):
        client.data(stream, piece)
        while min(client.send_window, client.stream_windows[stream]) < len(piece):
            if client.buffer or select.select([client.socket], [], [], 0.5)[0]:
                client.take_frame()
                continue
            before, waiting = waiting, waits_in_the_kernel(upstream)
            if 0 < waiting == before:
                return stream
    raise AssertionError("the upstream takes everything")


@contextlib.contextmanager
def behind_an_upload(upstream, **defaults):
    """Yields a client whose upload fills the sockets to the upstream, the stream of the upload, and the reprise. The upload is not
    held on disk, so that it waits for the upstream alone."""
    with asking(upstream, configuration={"threads": 1}, replay={"disk": 0}, **defaults) as (client, reprise):
        yield client, upload_until_stuck(client, upstream), reprise


def begin_behind(client, reprise, method="POST"):
    """Begins a request whose HEADERS wait behind the upload."""
    stream = client.begin(method, "/second")
    eventually(lambda: reprise.metric("reprise_http2_streams", side="upstream") == 2, "two streams of the connection to the upstream")
    return stream


def test_M56_request_that_waits_behind_an_upload_moves_to_another_connection_at_a_goaway():
    for last in (h2.MOST_STREAMS, 1):
        def rotate(link, last=last):
            link.goaway(last, watch=False)
            link.upstream.heads_seen(1, "/second")  # until then, this connection reads nothing
        with HangingUpstream(then=rotate) as upstream, behind_an_upload(upstream) as (client, _, reprise):
            second = begin_behind(client, reprise)
            upstream.wakes.set()
            response = client.response(second)
            equal((response.status, response.attempts), (200, 2), f"last id {last}")
            line = reprise.requests(1)[0]
            equal(attempts_of(line)[0][1], "goaway", f"{line}")


def test_M67_attempt_timeout_ends_a_request_that_waits_behind_an_upload():
    retry = {"attempt_timeout": "300ms", "backoff": {"initial": "10ms", "maximum": "10ms"}}
    with HangingUpstream() as upstream, behind_an_upload(upstream, retry=retry) as (client, _, reprise):
        response = client.response(begin_behind(client, reprise, "GET"))
        equal((response.status, response.attempts), (200, 2))
        equal(attempts_of(reprise.requests(1)[0]), [("send", "attempt_timeout")])


def test_M67_deadline_ends_a_request_that_waits_behind_an_upload():
    for method in ("GET", "POST"):
        with HangingUpstream() as upstream, behind_an_upload(upstream, retry={"deadline": "1s"}) as (client, _, reprise):
            response = client.response(begin_behind(client, reprise, method))
            equal((response.status, response.attempts), (504, 1), method)
            equal(attempts_of(reprise.requests(1)[0]), [("send", "attempt_timeout")], method)


def test_M53_connection_whose_resets_wait_to_be_sent_does_not_stop_dials():
    with HangingUpstream({h2.MAX_CONCURRENT_STREAMS: 1}.items()) as upstream, behind_an_upload(upstream) as (client, big, reprise):
        client.reset_stream(big)
        eventually(lambda: reprise.metric("reprise_http2_streams", side="upstream") == 0, "the stream is given back")
        with Http2Client(reprise.gateway) as other:
            equal(other.ask("GET", "/second").status, 200)
        equal(upstream.connections, 2)
