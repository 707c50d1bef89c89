"""One HTTP/2 connection of the scripted upstream: reads and checks the frames of the client, and sends single frames."""
import contextlib
import fcntl
import hashlib
import socket
import struct
import termios
import threading
import urllib.parse

import http2_frames as h2
from harness import eventually
from reader import Cut, reset

WATCH = b"goaway??"  # payload of the PING that follows a GOAWAY
KEPT = 1 << 20  # a longer request body is not kept. Its digest is


class Http2Request:
    """One request, as far as it has arrived. It has the same properties as a Request of HTTP/1, so the same checks
    apply to both."""

    version = "HTTP/2"

    def __init__(self, link, stream, fields, window):
        self.link, self.stream, self.connection = link, stream, link.number
        pseudo = {name: value for name, value in fields if name.startswith(":")}
        self.method, self.target, self.authority, self.scheme = (pseudo.get(f":{name}") for name in ("method", "path", "authority", "scheme"))
        self.protocol = pseudo.get(":protocol")  # of an extended CONNECT
        self.path, _, self.query = (self.target or "").partition("?")
        self.fields = [(name, value) for name, value in fields if not name.startswith(":")]
        self.never_indexed = {}  # fields that the client sent as never indexed
        self.trailers, self.order = [], 0
        self.pieces, self.size, self.hash = [], 0, hashlib.sha256()
        self.frames = []  # (length of the DATA, whether END_STREAM is set) for each DATA frame
        self.ended = False  # the request is complete
        self.reset = None  # code of the client's RST_STREAM
        self.taken_over = False  # the case itself responds
        self.receive_window = window
        self.send_window = link.client_settings[h2.INITIAL_WINDOW_SIZE]
        self.unsent, self.reply = memoryview(b""), None  # the part of the response body that waits for the window

    @property
    def body(self):
        return b"".join(self.pieces)

    @property
    def digest(self):
        return self.hash.hexdigest()

    def field(self, name):
        """Returns the value of the last field that has the given name, or None."""
        values = [value for key, value in self.fields if key == name.lower()]
        return values[-1] if values else None

    @property
    def id(self):
        return urllib.parse.parse_qs(self.query).get("id", [self.field("X-Id") or ""])[0]


def unsent(wire):
    """Returns the number of bytes that the other side has not acknowledged."""
    return struct.unpack("i", fcntl.ioctl(wire, termios.TIOCOUTQ, b"0000"))[0]


class Link:
    """One connection. The thread of the connection reads, and calls `take_head`, `take_data` and `take_end` of the upstream.
    In clear text, any thread may send. Python's TLS permits only the thread that reads."""

    def __init__(self, upstream, wire, number, reader):
        self.upstream, self.wire, self.number, self.reader = upstream, wire, number, reader
        self.lock = threading.RLock()
        compression = h2.compression()
        self.encoder, self.decoder = compression.Encoder(), compression.Decoder(max_header_list_size=1 << 24)
        self.streams = {}  # open streams
        self.client_settings, self.settings = dict(h2.DEFAULTS), dict(h2.DEFAULTS)  # `settings`: ours, as far as acknowledged
        self.unacknowledged = []
        self.settings_sent = False
        self.acknowledged = 0  # how many of our SETTINGS frames the client has acknowledged
        self.receive_window, self.send_window = 65535, 65535
        self.highest, self.begun, self.most_open = 0, 0, 0
        self.last_id = h2.MOST_STREAMS  # of our GOAWAY
        self.ignored = 0  # number of streams above the last id of our GOAWAY
        self.dropped = set()  # streams that we have reset or ignored: frames of them may still be on their way
        self.knows_goaway = False  # the client has acknowledged a PING that came after our GOAWAY
        self.on_goaway_known = None
        self.closes_when_done = False
        self.pings, self.goaways = [], []  # payloads of acknowledged PINGs; (last id, code) of the client's GOAWAY
        self.pinged = 0  # number of PINGs of the client
        self.largest_table = 0  # of the client's encoder
        self.held = None
        self.ended = None  # how the client ended the connection: fin or reset

    def wrong(self, what):
        self.upstream.violations.append(f"connection {self.number}: {what}")

    # Sending

    def send(self, data):
        with self.lock:
            if self.held is not None:
                self.held += data
            else:
                self.write(data)

    def write(self, data):
        """Writes to the socket. If the client has closed the connection, what it sent before is still read."""
        with contextlib.suppress(OSError):
            self.wire.sendall(data)

    @contextlib.contextmanager
    def one_write(self):
        """Sends all frames of the block in one write."""
        with self.lock:
            self.held = bytearray()
            try:
                yield
            finally:
                data, self.held = self.held, None
            self.write(data)

    def send_settings(self, values):
        with self.lock:
            self.unacknowledged.append(dict(values))
            self.settings_sent = True
            self.send(h2.settings_frame(values))

    def head_frames(self, stream, fields, **how):
        """Returns the frames of a head. Every block must be sent, in the order of the calls."""
        return h2.head_frames(stream, self.encoder.encode([(one.encode("latin-1"), two.encode("latin-1")) for one, two in fields]), **how)

    def headers(self, stream, fields, **how):
        with self.lock:
            self.send(b"".join(self.head_frames(stream, fields, **how)))
            if how.get("end"):
                self.finish(stream)

    def data(self, stream, data=b"", end=False, padding=None):
        """Sends one DATA frame, even if the window is closed."""
        with self.lock:
            length = len(data) + (0 if padding is None else padding + 1)
            self.send_window -= length
            if stream in self.streams:
                self.streams[stream].send_window -= length
            self.send(h2.data_frame(stream, data, end, padding))
            if end:
                self.finish(stream)

    def reset_stream(self, stream, code):
        with self.lock:
            self.send(h2.frame(h2.RST_STREAM, 0, stream, h2.number(code)))
            self.streams.pop(stream, None)
            self.dropped.add(stream)
            self.close_when_done()

    def goaway(self, last=None, code=h2.NO_ERROR, debug=b"", watch=True):
        """Sends GOAWAY. `last`: the last stream id, by default that of the newest stream. Streams above it are ignored
        from now on. `watch`: a PING follows. After its acknowledgement no new stream may arrive."""
        with self.lock:
            self.last_id = self.highest if last is None else last
            self.send(h2.goaway_frame(self.last_id, code, debug))
            for excluded in [stream for stream in self.streams if stream > self.last_id]:
                del self.streams[excluded]
                self.ignore(excluded)
            if watch:
                self.ping(WATCH)

    def ignore(self, stream):
        self.dropped.add(stream)
        self.ignored += 1

    def ping(self, payload=b"12345678"):
        self.send(h2.frame(h2.PING, 0, 0, payload))

    def open_window(self, stream, by):
        with self.lock:
            if stream == 0:
                self.receive_window += by
            elif stream in self.streams:
                self.streams[stream].receive_window += by
            self.send(h2.frame(h2.WINDOW_UPDATE, 0, stream, h2.number(by)))

    def finish(self, stream):
        """Notes that our side of a stream has ended."""
        request = self.streams.get(stream)
        if request:
            request.reply = "sent"
            if request.ended:
                del self.streams[stream]
        self.close_when_done()

    def close(self):
        """Closes our side without GOAWAY. The client's frames are still read until it closes."""
        with self.lock, contextlib.suppress(OSError):
            self.wire.shutdown(socket.SHUT_WR)

    def abort(self):
        """Ends the connection with a RST, after all bytes that were sent before have left."""
        with self.lock, contextlib.suppress(OSError):
            eventually(lambda: unsent(self.wire) == 0, "all bytes are acknowledged")
            self.wire.shutdown(socket.SHUT_RD)  # wakes the thread that reads
            reset(self.wire)

    def close_when_done(self):
        if self.closes_when_done and not self.streams:
            self.close()

    # Responses

    def respond(self, request, reply):
        """Sends a Reply, as fast as the client's windows permit."""
        with self.lock:
            if request.stream not in self.streams:
                return
            stream, body = request.stream, reply.content(request)
            for status, fields in reply.interim:
                self.headers(stream, [(":status", str(status)), *fields])
            ends = reply.end and not body and not reply.trailers and not reply.empty
            self.headers(stream, reply.head(request, body), end=ends, parts=reply.parts, padding=reply.padding)
            if ends:
                return
            for _ in range(reply.empty):
                self.data(stream, padding=reply.padding)
            request.unsent, request.reply = memoryview(body), reply
            self.flush(request)

    def flush(self, request):
        """Sends as much of the waiting response as the windows permit."""
        reply = request.reply
        if reply in (None, "sent") or request.stream not in self.streams:
            return
        cost = 0 if reply.padding is None else reply.padding + 1
        while request.unsent:
            most = min(self.client_settings[h2.MAX_FRAME_SIZE], request.send_window, self.send_window) - cost
            size = min(reply.size, len(request.unsent), most)
            if size <= 0:
                return
            piece, request.unsent = request.unsent[:size], request.unsent[size:]
            self.data(request.stream, piece, reply.end and not request.unsent and not reply.trailers, reply.padding)
        if request.reply == "sent":
            return
        request.reply = None
        if reply.trailers:
            self.headers(request.stream, reply.trailers, end=reply.end)
        elif reply.end:
            self.data(request.stream, end=True)

    # Receiving

    def serve(self):
        """Reads frames until the connection ends."""
        try:
            while self.serve_frame():
                pass
        except Cut:
            self.ended = "fin"
        except OSError:
            self.ended = "reset"
        finally:
            with self.lock:
                self.streams.clear()

    def serve_frame(self):
        kind, flags, stream, payload = self.read_frame()
        if kind == h2.HEADERS:
            self.take_head(flags, stream, payload)
        elif kind == h2.DATA:
            self.take_data(flags, stream, payload)
        else:
            with self.lock:
                self.take_control(kind, flags, stream, payload)
        return True

    def read_frame(self):
        """Returns type, flags, stream and payload of the next frame."""
        head = self.reader.read_bytes(9)
        length = int.from_bytes(head[:3], "big")
        if length > self.settings[h2.MAX_FRAME_SIZE]:
            self.wrong(f"a frame of {length} bytes")
        return head[3], head[4], int.from_bytes(head[5:], "big") & h2.MOST_STREAMS, self.reader.read_bytes(length)

    def take_control(self, kind, flags, stream, payload):
        if kind == h2.SETTINGS and flags & h2.ACK:
            self.apply_own(self.unacknowledged.pop(0))
        elif kind == h2.SETTINGS:
            self.apply_clients(h2.read_settings(payload))
            if self.settings_sent:  # our first frame must be our SETTINGS
                self.send(h2.frame(h2.SETTINGS, h2.ACK))
        elif kind == h2.PING:
            if flags & h2.ACK:
                self.pings.append(payload)
                self.take_acknowledged_goaway(payload)
            else:
                self.pinged += 1
                self.send(h2.frame(h2.PING, h2.ACK, 0, payload))
        elif kind == h2.WINDOW_UPDATE:
            self.widen(stream, int.from_bytes(payload, "big"))
        elif kind == h2.RST_STREAM:
            request = self.streams.pop(stream, None)
            if request:
                request.reset = int.from_bytes(payload, "big")
            self.close_when_done()
        elif kind == h2.GOAWAY:
            self.goaways.append((int.from_bytes(payload[:4], "big"), int.from_bytes(payload[4:8], "big")))
        elif kind not in (h2.PRIORITY,) and kind <= h2.CONTINUATION:
            self.wrong(f"a frame of type {kind}")

    def take_acknowledged_goaway(self, payload):
        if payload == WATCH and not self.knows_goaway:
            self.knows_goaway = True
            if self.on_goaway_known:
                self.on_goaway_known()

    def apply_own(self, values):
        """Applies our SETTINGS. The client has just acknowledged them, so it obeys them from now on."""
        self.acknowledged += 1
        by = values.get(h2.INITIAL_WINDOW_SIZE, self.settings[h2.INITIAL_WINDOW_SIZE]) - self.settings[h2.INITIAL_WINDOW_SIZE]
        for request in self.streams.values():
            request.receive_window += by
        self.settings.update(values)
        self.decoder.max_allowed_table_size = self.settings[h2.HEADER_TABLE_SIZE]

    def apply_clients(self, values):
        by = values.get(h2.INITIAL_WINDOW_SIZE, self.client_settings[h2.INITIAL_WINDOW_SIZE]) - self.client_settings[h2.INITIAL_WINDOW_SIZE]
        self.client_settings.update(values)
        if values.get(h2.HEADER_TABLE_SIZE, 4096) < 4096:
            self.encoder.header_table_size = values[h2.HEADER_TABLE_SIZE]
        for request in list(self.streams.values()):
            request.send_window += by
            self.flush(request)

    def widen(self, stream, by):
        if by == 0:
            self.wrong("WINDOW_UPDATE by 0")
        if stream == 0:
            self.send_window += by
            for request in list(self.streams.values()):
                self.flush(request)
        elif stream in self.streams:
            self.streams[stream].send_window += by
            self.flush(self.streams[stream])

    def take_head(self, flags, stream, payload):
        block = h2.unpadded_head(flags, payload)
        ended = bool(flags & h2.END_STREAM)
        while not flags & h2.END_HEADERS:
            kind, flags, _, payload = self.read_frame()
            block += payload
            if kind != h2.CONTINUATION:
                self.wrong(f"a frame of type {kind} in a header block")
        with self.lock:
            decoded = self.decoder.decode(block, raw=True)
            self.largest_table = max(self.largest_table, self.decoder.header_table_size)
            fields = [(bytes(one).decode("latin-1"), bytes(two).decode("latin-1")) for one, two in decoded]
            known = self.streams.get(stream)
            if known:
                self.take_trailers(known, fields, ended)
            elif stream not in self.dropped:
                known = self.begin(stream, fields)
        if not known:
            return
        if not known.trailers:
            known.never_indexed = {bytes(field[0]).decode("latin-1") for field in decoded if not field.indexable}
            self.upstream.take_head(self, known)
        if ended:
            self.end_request(known)

    def take_trailers(self, request, fields, ended):
        request.trailers = fields
        if not ended or request.ended:
            self.wrong(f"stream {request.stream}: trailers that do not end the request")
        fault = h2.fault_of_fields(fields)
        if fault:
            self.wrong(f"stream {request.stream}: trailers: {fault}")

    def begin(self, stream, fields):
        """Begins a stream. Returns its request, or None if our GOAWAY excludes the stream."""
        if not self.acknowledged and not self.upstream.optimistic:
            self.wrong(f"stream {stream} began before the client had acknowledged our SETTINGS")
        if stream % 2 == 0 or stream <= self.highest:
            self.wrong(f"stream {stream} after stream {self.highest}")
        fault = h2.fault_of_request(fields, self.settings.get(h2.ENABLE_CONNECT_PROTOCOL) == 1)
        if fault:
            self.wrong(f"stream {stream}: {fault}")
        if self.knows_goaway:
            self.wrong(f"stream {stream} began after GOAWAY")
        self.highest = max(self.highest, stream)
        if stream > self.last_id:
            self.ignore(stream)
            return None
        request = Http2Request(self, stream, fields, self.settings[h2.INITIAL_WINDOW_SIZE])
        self.streams[stream] = request
        self.begun += 1
        self.most_open = max(self.most_open, len(self.streams))
        if len(self.streams) > self.settings[h2.MAX_CONCURRENT_STREAMS]:
            self.wrong(f"{len(self.streams)} streams are open, {self.settings[h2.MAX_CONCURRENT_STREAMS]} are allowed")
        return request

    def take_data(self, flags, stream, payload):
        with self.lock:
            request, size = self.streams.get(stream), len(payload)
            data = h2.without_padding(flags, payload)
            self.receive_window -= size
            if self.receive_window < 0:
                self.wrong("DATA beyond the window of the connection")
            if size and self.upstream.opens_connection_window:
                self.open_window(0, size)
            if not request:
                if stream not in self.dropped:
                    self.wrong(f"DATA on stream {stream}, which is closed")
                return
            request.receive_window -= size
            if size and request.receive_window < 0:
                self.wrong(f"stream {stream}: DATA beyond its window")
            request.frames.append((len(data), bool(flags & h2.END_STREAM)))
            request.size += len(data)
            request.hash.update(data)
            if request.size <= KEPT:
                request.pieces.append(data)
            if size and self.upstream.opens_windows and not flags & h2.END_STREAM:
                self.open_window(stream, size)
        self.upstream.take_data(self, request)
        if flags & h2.END_STREAM:
            self.end_request(request)

    def end_request(self, request):
        with self.lock:
            request.ended = True
            length = request.field("content-length")
            if length is not None and int(length) != request.size:
                self.wrong(f"stream {request.stream}: {request.size} bytes of {length}")
            if request.reply == "sent":
                self.streams.pop(request.stream, None)
        self.upstream.take_end(self, request)
        with self.lock:
            self.close_when_done()
