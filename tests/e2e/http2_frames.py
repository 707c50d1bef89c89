"""Frames of HTTP/2 (RFC 9113), and the checks of the requests that the scripted upstream receives."""
import re
import struct
import sys

from harness import NotPlayed

DEBIAN_MODULES = "/usr/lib/python3/dist-packages"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, WITH_PRIORITY = 1, 1, 4, 8, 32  # flags
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = range(1, 7)
ENABLE_CONNECT_PROTOCOL = 8
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL,
 COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM, INADEQUATE_SECURITY, HTTP_1_1_REQUIRED) = range(14)
MOST_STREAMS = (1 << 31) - 1  # the largest stream id
DEFAULTS = {HEADER_TABLE_SIZE: 4096, MAX_CONCURRENT_STREAMS: MOST_STREAMS, INITIAL_WINDOW_SIZE: 65535, MAX_FRAME_SIZE: 16384}
OF_HTTP1 = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "host"}
NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")


def compression():
    """Returns the module hpack. Skips the case if the module is not installed."""
    try:
        import hpack  # pylint: disable=import-outside-toplevel
    except ImportError:
        # A python3 that is not Debian's does not find the modules of Debian's packages. hpack consists of Python only.
        sys.path.append(DEBIAN_MODULES)
        try:
            import hpack  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise NotPlayed("client", "python3-hpack is not installed") from error
        finally:
            sys.path.remove(DEBIAN_MODULES)
    return hpack


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">IBBI", len(payload), kind, flags, stream)[1:] + payload


def number(value):
    """Returns a 32-bit number as bytes."""
    return struct.pack(">I", value)


def data_frame(stream, data=b"", end=False, padding=None):
    """`padding`: the number of padding bytes. None: the frame has no padding field."""
    flags = (END_STREAM if end else 0) | (0 if padding is None else PADDED)
    if padding is not None:
        data = bytes([padding]) + bytes(data) + bytes(padding)
    return frame(DATA, flags, stream, bytes(data))


def head_frames(stream, block, end=False, parts=1, padding=None):
    """Returns the frames of an encoded header block: HEADERS and `parts` - 1 CONTINUATION frames."""
    size = -(-len(block) // parts)
    pieces = [block[i * size:(i + 1) * size] for i in range(parts)]
    frames = []
    for at, piece in enumerate(pieces):
        flags = END_HEADERS if at == parts - 1 else 0
        if at == 0:
            flags |= END_STREAM if end else 0
            if padding is not None:
                flags, piece = flags | PADDED, bytes([padding]) + piece + bytes(padding)
        frames.append(frame(CONTINUATION if at else HEADERS, flags, stream, piece))
    return frames


def settings_frame(values):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", key, value) for key, value in values.items()))


def read_settings(payload):
    return dict(struct.iter_unpack(">HI", payload))


def goaway_frame(last, code=NO_ERROR, debug=b""):
    return frame(GOAWAY, 0, 0, number(last) + number(code) + debug)


def without_padding(flags, payload):
    """Returns the payload of a DATA or HEADERS frame without padding and priority."""
    if flags & PADDED:
        payload = payload[1:len(payload) - payload[0]]
    return payload


def unpadded_head(flags, payload):
    payload = without_padding(flags, payload)
    return payload[5:] if flags & WITH_PRIORITY else payload


def fault_of_request(fields, websockets=False):
    """Returns the first violation of RFC 9113 section 8 in the fields of a request, or None. `websockets`: whether our
    SETTINGS permit an extended CONNECT (RFC 8441)."""
    pseudo = [name for name, _ in fields if name.startswith(":")]
    if pseudo != [name for name, _ in fields[:len(pseudo)]]:
        return "a pseudo-field comes after a field"
    if websockets and ":protocol" in pseudo:
        if dict(fields)[":method"] != "CONNECT" or ":authority" not in pseudo:
            return "an extended CONNECT with another method, or without an authority"
        if {"sec-websocket-key", "content-length"} & {name for name, _ in fields}:
            return "an extended CONNECT with a key or a length"
        pseudo.remove(":protocol")
    if sorted(pseudo) not in ([":authority", ":method", ":path", ":scheme"], [":method", ":path", ":scheme"]):
        return f"the pseudo-fields are {pseudo}"
    return fault_of_fields([field for field in fields if not field[0].startswith(":")])


def fault_of_fields(fields):
    """Returns the first violation in the fields of a request or in its trailers, or None."""
    for name, value in fields:
        if not NAME.fullmatch(name):
            return f"bad name {name!r}"
        if name in OF_HTTP1:
            return f"a field of HTTP/1: {name}"
        if name == "te" and value != "trailers":
            return f"te: {value}"
        if re.search(r"[\r\n\0]|^[ \t]|[ \t]$", value):
            return f"bad value of {name}: {value!r}"
    return None
