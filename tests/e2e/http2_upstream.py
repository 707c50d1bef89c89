"""The scripted HTTP/2 upstream. Scripts choose single frames, so it can violate every rule of HTTP/2."""
import threading

import http2_frames as h2
from harness import PATIENCE, eventually
from http2_link import Link
from tls import TlsUpstream
from upstream import Say, Upstream


class Reply(Say):
    """A response over HTTP/2, or over HTTP/1 if the request arrived over HTTP/1.

    `trailers`: fields after the body. `interim`: (status, fields) of each interim response. `length`: whether the
    head has the right Content-Length, or the value that it has. `end`: whether the response ends. `parts`: number of
    frames of the head. `size`: the most bytes in a DATA frame. `padding`: padding bytes of each frame, or None.
    `empty`: number of empty DATA frames before the body. `forced`: whether a response that must not have a body has
    one."""

    def __init__(self, status=200, body=None, fields=(), trailers=(), interim=(), length=True, end=True, parts=1, size=16384,
                 padding=None, empty=0, forced=False):
        super().__init__(status, body, fields)
        self.trailers, self.interim, self.length, self.end = list(trailers), interim, length, end
        self.parts, self.size, self.padding, self.empty, self.forced = parts, size, padding, empty, forced

    def content(self, request):
        if (request.method == "HEAD" or self.status in (204, 304)) and not self.forced:
            return b""
        return self.body if self.body is not None else b"answer %d to %s\n" % (request.order + 1, request.path.encode())

    def head(self, request, body):
        fields = [(":status", str(self.status)), *self.fields]
        if self.length is not False and (self.status != 204 or self.forced) and request.method != "HEAD":
            fields.append(("content-length", str(len(body) if self.length is True else self.length)))
        return fields


def resets(code, effect=False):
    """Returns a step that resets the stream. `effect`: whether the request takes effect before."""
    def step(link, request):
        if effect:
            link.upstream.count_effect(request)
        link.reset_stream(request.stream, code)
    return step


def refuses(link, request):
    link.reset_stream(request.stream, h2.REFUSED_STREAM)


def excludes(code=h2.NO_ERROR, closes=False):
    """Returns a step that sends GOAWAY with a last id below the request's stream."""
    def step(link, request):
        link.goaway(request.stream - 2 if request.stream > 1 else 0, code, watch=not closes)
        if closes:
            link.close()
    return step


def closes(link, _):
    link.close()


def aborts(link, _):
    link.abort()


def in_turns(*steps):
    """Returns a step that uses the steps in turns, again and again."""
    def step(link, request):
        link.upstream.play_http2(link, request, steps[request.order % len(steps)])
    return step


class Gate:
    """A step that responds with `reply` while the gate is open, and otherwise once it opens. Closing it lets the frames of
    the connection wait as well."""

    def __init__(self, reply=None):
        self.reply = reply or Reply(200)
        self.open = threading.Event()
        self.open.set()

    def __call__(self, link, request):
        self.open.wait(PATIENCE)
        link.respond(request, self.reply)


def hangs(_link, _request):
    """Never responds. The case may respond later."""


class Http2Upstream(Upstream):
    """An upstream that supports HTTP/2 and HTTP/1 on the same port. `scripts` is that of Upstream. Over HTTP/2, a
    step is a status, a Reply or a function (link, request). It is used when the request is complete.

    `at_head` and `at_data`: for a path, a function (link, request) that is called after the head of the request, or
    after each of its DATA frames. Unless the function returns True, the case itself responds.
    `at_start`: a function (link) that is called on a new connection before SETTINGS are sent. If it returns False,
    no SETTINGS are sent.
    `settings`: the first SETTINGS. None: they are never sent.
    `rotate`: sends GOAWAY after so many streams, and closes when the streams up to the last id have ended.
    `warns`: such a rotation begins with a GOAWAY that excludes no stream.
    `opens_windows`, `opens_connection_window`: whether these windows are opened again for each DATA frame.
    `optimistic`: whether a client may send requests before it has received our SETTINGS."""

    def __init__(self, scripts=None, settings=(), at_head=None, at_data=None, at_start=None, rotate=0, warns=False, opens_windows=True,
                 opens_connection_window=True, optimistic=False, **more):
        super().__init__(scripts, **more)
        h2.compression()
        self.settings = None if settings is None else dict(settings)
        self.at_head, self.at_data, self.at_start = at_head or {}, at_data or {}, at_start
        self.rotate, self.warns, self.optimistic = rotate, warns, optimistic
        self.opens_windows, self.opens_connection_window = opens_windows, opens_connection_window
        self.links = []
        self.heads = []  # every request whose head has arrived over HTTP/2
        self.violations = []  # of RFC 9113, by the client

    def __exit__(self, kind, *error):
        super().__exit__(kind, *error)
        if kind is None and self.violations:
            raise AssertionError("; ".join(self.violations[:5]))

    def heads_seen(self, count, path=None):
        """Waits until at least `count` heads have arrived over HTTP/2, for `path` if it is given. Returns all these
        requests."""
        def found():
            with self.lock:
                matching = [request for request in self.heads if path in (None, request.path)]
            return matching if len(matching) >= count else None
        return eventually(found, f"{count} heads at the upstream")

    def versions(self, path=None):
        """Returns the HTTP version of each complete request, in the order of arrival."""
        with self.lock:
            return [request.version for request in self.requests if path in (None, request.path)]

    def serve_one(self, connection, number, reader):
        while len(reader.buffer) < len(h2.PREFACE) and h2.PREFACE.startswith(reader.buffer):
            reader.more()
        if not reader.buffer.startswith(h2.PREFACE):
            return super().serve_one(connection, number, reader)
        reader.read_bytes(len(h2.PREFACE))
        link = Link(self, connection, number, reader)
        with self.lock:
            self.links.append(link)
        speaks = self.at_start is None or self.at_start(link) is not False
        if speaks and self.settings is not None:
            link.send_settings(self.settings)
        try:
            link.serve()
        except Exception as error:  # pylint: disable=broad-except
            if not self.closing.is_set():
                link.wrong(f"the script failed: {error!r}")
        return False

    def take_head(self, link, request):
        with self.lock:
            request.order = self.orders.get(request.path, 0)
            self.orders[request.path] = request.order + 1
            self.heads.append(request)
        if self.rotate and link.begun == self.rotate:
            self.begin_rotation(link)
        self.call(self.at_head, link, request)

    def begin_rotation(self, link):
        if not self.warns:
            link.goaway()
            link.closes_when_done = True
            return
        def end():
            link.goaway(watch=False)
            link.closes_when_done = True
            link.close_when_done()
        link.on_goaway_known = end
        link.goaway(h2.MOST_STREAMS)

    def take_data(self, link, request):
        if not request.taken_over:
            self.call(self.at_data, link, request)

    @staticmethod
    def call(steps, link, request):
        if request.path in steps and steps[request.path](link, request) is not True:
            request.taken_over = True

    def take_end(self, link, request):
        with self.lock:
            self.requests.append(request)
        if request.taken_over:
            return
        steps = self.scripts.get(request.path, self.otherwise)
        self.play_http2(link, request, steps[min(request.order, len(steps) - 1)])

    def play_http2(self, link, request, step):
        if callable(step):
            step(link, request)
            return
        reply = Reply(step) if isinstance(step, int) else step
        if reply.status < 400:
            self.count_effect(request)
        link.respond(request, reply)


class TlsHttp2Upstream(Http2Upstream, TlsUpstream):
    """The scripted HTTP/2 upstream over TLS. `alpn`: the protocols that it accepts."""

    def __init__(self, scripts=None, alpn=("h2", "http/1.1"), **more):
        super().__init__(scripts, alpn=alpn, **more)
