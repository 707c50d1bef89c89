"""An HTTP/2 client that sends single frames. It can violate every rule of HTTP/2, and checks the frames that it receives."""
import contextlib
import socket

import http2_frames as h2
from reader import Cut, FromReprise, Reader, reset

WINDOW = 1 << 24  # of each stream, as the client announces it


class Http2Response(FromReprise):
    """One response, as far as it has arrived."""

    def __init__(self):
        self.status, self.fields, self.trailers, self.interim = None, [], [], []
        self.pieces, self.size = [], 0
        self.ended = False  # END_STREAM has arrived
        self.reset = None  # code of the RST_STREAM
        self.was_complete = False  # the response had ended before its stream was reset

    @property
    def body(self):
        return b"".join(self.pieces)

    def field(self, name):
        """Returns the value of the last field that has the given name, or None."""
        values = [value for key, value in self.fields if key == name.lower()]
        return values[-1] if values else None


class Http2Client(Reader):
    """One connection. `connection`: a socket that is already connected. `opening`: the first bytes. `settings`: the first
    SETTINGS; None: the case sends them. `acknowledges`: whether PING and SETTINGS are acknowledged."""

    def __init__(self, address=None, connection=None, settings=(), opening=h2.PREFACE, acknowledges=True, opens_windows=True, authority=None,
                 scheme="http"):
        super().__init__(connection or socket.create_connection(address, 120))
        self.socket.settimeout(120)
        compression = h2.compression()
        self.encoder, self.decoder = compression.Encoder(), compression.Decoder(max_header_list_size=1 << 24)
        self.authority = authority or ("%s:%d" % address if address else None)
        self.scheme, self.acknowledges, self.opens_windows = scheme, acknowledges, opens_windows
        self.next_stream, self.responses = 1, {}
        self.peer_settings = dict(h2.DEFAULTS)
        self.send_window, self.stream_windows = 65535, {}
        self.settings_seen = self.settings_acknowledged = 0
        self.pongs, self.pings, self.goaways = [], [], []
        self.window_updates = 0
        self.held = None  # what leaves in one write later
        self.send(opening)
        if settings is not None:
            self.send(h2.settings_frame({h2.INITIAL_WINDOW_SIZE: WINDOW, **dict(settings)}))
            self.send(h2.frame(h2.WINDOW_UPDATE, 0, 0, h2.number(WINDOW)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    # Sending

    def send(self, data):
        """Sends bytes. If reprise has closed the connection, what it sent before is still read."""
        if self.held is not None:
            self.held.append(data)
            return
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    @contextlib.contextmanager
    def one_write(self):
        """What is sent inside leaves in one write."""
        parts = self.held = []
        yield
        self.held = None
        self.send(b"".join(parts))

    def finish(self):
        self.socket.shutdown(socket.SHUT_WR)

    def abort(self):
        reset(self.socket)

    def head(self, method, path, fields=(), authority=None, scheme=None):
        """Returns the fields of a request. `path` None: a CONNECT."""
        pseudo = [(":method", method)]
        if path is not None:
            pseudo += [(":scheme", scheme or self.scheme), (":path", path)]
        return [*pseudo, (":authority", authority or self.authority), *((name.lower(), value) for name, value in fields)]

    def new_stream(self):
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.responses[stream] = Http2Response()
        self.stream_windows[stream] = self.peer_settings[h2.INITIAL_WINDOW_SIZE]
        return stream

    def frames_of(self, fields, end=True, stream=None, **how):
        """Returns a new stream, and the bytes of a request head with these fields."""
        stream = stream or self.new_stream()
        encoded = self.encoder.encode([(one.encode("latin-1"), two.encode("latin-1")) for one, two in fields])
        return stream, b"".join(h2.head_frames(stream, encoded, end=end, **how))

    def begin(self, method="GET", path="/x", fields=(), end=True, **head):
        """Sends a request's head on a new stream, and returns the stream."""
        stream, data = self.frames_of(self.head(method, path, fields, **head), end)
        self.send(data)
        return stream

    def data(self, stream, data=b"", end=False, padding=None):
        """Sends one DATA frame, even if the window is closed."""
        length = len(data) + (0 if padding is None else padding + 1)
        self.send_window -= length
        self.stream_windows[stream] -= length
        self.send(h2.data_frame(stream, data, end, padding))

    def upload(self, stream, data, end=True):
        """Sends a body as fast as the windows permit."""
        left = memoryview(data)
        while left:
            room = min(len(left), 16384, self.send_window, self.stream_windows[stream])
            if room > 0:
                self.data(stream, bytes(left[:room]), end and room == len(left))
                left = left[room:]
            else:
                if self.responses[stream].reset is not None:
                    return
                self.take_frame()

    def trailers(self, stream, fields, end=True):
        self.send(self.frames_of(fields, end, stream)[1])

    def reset_stream(self, stream, code=h2.CANCEL):
        self.send(h2.frame(h2.RST_STREAM, 0, stream, h2.number(code)))

    def open_window(self, stream, by):
        self.send(h2.frame(h2.WINDOW_UPDATE, 0, stream, h2.number(by)))

    # Receiving

    def take_frame(self):
        """Reads the next frame and acts on it. Returns its type and its stream."""
        header = self.read_bytes(9)
        length, kind, flags, stream = int.from_bytes(header[:3], "big"), header[3], header[4], int.from_bytes(header[5:], "big")
        payload = self.read_bytes(length)
        assert length <= 16384, f"a frame of {length} bytes"
        if kind in (h2.HEADERS, h2.DATA):
            assert stream in self.responses, f"a frame of type {kind} on stream {stream}"
            self.take_part(kind, flags, self.responses[stream], stream, payload)
        elif kind == h2.SETTINGS:
            self.take_settings(flags, payload)
        elif kind == h2.PING:
            self.take_ping(flags, payload)
        elif kind == h2.GOAWAY:
            self.goaways.append((int.from_bytes(payload[:4], "big"), int.from_bytes(payload[4:8], "big")))
        elif kind == h2.RST_STREAM:
            response = self.responses[stream]
            response.reset, response.was_complete = int.from_bytes(payload, "big"), response.ended
        elif kind == h2.WINDOW_UPDATE:
            self.window_updates += 1
            by = int.from_bytes(payload, "big")
            if stream == 0:
                self.send_window += by
            elif stream in self.stream_windows:
                self.stream_windows[stream] += by
        else:
            raise AssertionError(f"a frame of type {kind}")
        return kind, stream

    def take_part(self, kind, flags, response, stream, payload):
        assert not response.ended and response.reset is None, f"stream {stream}: a frame after its end"
        if kind == h2.DATA:
            assert response.status is not None, f"stream {stream}: DATA before the head"
            data = h2.without_padding(flags, payload)
            response.pieces.append(data)
            response.size += len(data)
            if payload and self.opens_windows:
                self.open_window(0, len(payload))
                self.open_window(stream, len(payload))
        else:
            block = h2.unpadded_head(flags, payload)
            while not flags & h2.END_HEADERS:
                header = self.read_bytes(9)
                assert header[3] == h2.CONTINUATION, "another frame in a header block"
                block += self.read_bytes(int.from_bytes(header[:3], "big"))
                flags |= header[4] & h2.END_HEADERS
            fields = [(bytes(one).decode("latin-1"), bytes(two).decode("latin-1")) for one, two in self.decoder.decode(block, raw=True)]
            self.take_fields(response, fields, flags & h2.END_STREAM)
        response.ended = bool(flags & h2.END_STREAM)

    def take_fields(self, response, fields, ends):
        fault = h2.fault_of_fields([field for field in fields if field[0] != ":status"])
        assert fault is None, fault
        if response.status is not None:
            assert ends, "trailers that do not end the response"
            response.trailers = fields
            return
        assert fields[0][0] == ":status", fields
        status = int(fields[0][1])
        if status < 200:
            assert not ends, "an interim response that ends the stream"
            response.interim.append((status, fields[1:]))
        else:
            response.status, response.fields = status, fields[1:]

    def take_settings(self, flags, payload):
        if flags & h2.ACK:
            self.settings_acknowledged += 1
            return
        self.settings_seen += 1
        new = h2.read_settings(payload)
        if h2.INITIAL_WINDOW_SIZE in new:
            by = new[h2.INITIAL_WINDOW_SIZE] - self.peer_settings[h2.INITIAL_WINDOW_SIZE]
            self.stream_windows = {stream: window + by for stream, window in self.stream_windows.items()}
        self.peer_settings.update(new)
        if self.acknowledges:
            self.send(h2.frame(h2.SETTINGS, h2.ACK))

    def take_ping(self, flags, payload):
        if flags & h2.ACK:
            self.pongs.append(payload)
            return
        self.pings.append(payload)
        if self.acknowledges:
            self.send(h2.frame(h2.PING, h2.ACK, 0, payload))

    def until(self, check):
        """Reads frames until `check()` is true."""
        while not check():
            self.take_frame()

    def response(self, stream):
        """Returns the response of a stream that has ended or was reset."""
        response = self.responses[stream]
        self.until(lambda: response.ended or response.reset is not None)
        return response

    def ask(self, method="GET", path="/x", body=None, fields=(), trailers=(), **head):
        """Sends one request and returns the response."""
        stream = self.begin(method, path, fields, end=body is None and not trailers, **head)
        if body is not None:
            self.upload(stream, body, end=not trailers)
            if not body and not trailers:
                self.data(stream, end=True)
        if trailers:
            self.trailers(stream, trailers)
        return self.response(stream)

    def read_to_goaway(self):
        """Reads frames to the end of the connection, and returns the code of the last GOAWAY. None: there was none."""
        try:
            while True:
                self.take_frame()
        except (Cut, ConnectionResetError):
            return self.goaways[-1][1] if self.goaways else None
