"""Both ends of large transfers: an upstream that supports ranges and breaks as scripted, and a client that checks
every byte. Neither stores the content.

Each byte depends only on its position, so a lost, repeated or displaced byte is detected."""
import functools
import hashlib
import socket
import threading

import chance
from client import Client, Cut, head_of
from harness import PATIENCE
from reader import reset
from upstream import Upstream

PERIOD = (1 << 20) + 7  # not a power of two, so that the test detects content that is shifted by the size of a buffer
PATTERN = chance.content("transfers", PERIOD) * 2
PIECE = 1 << 20
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HASHED = 128 * MIB  # longer content is compared byte for byte, but its hash is not computed
ETAG = '"whole-1"'


def pieces(start, end):
    """Yields the content from position `start` to position `end`, without the byte at `end`."""
    while start < end:
        at = start % PERIOD
        piece = PATTERN[at:at + min(PIECE, PERIOD, end - start)]
        yield piece
        start += len(piece)


@functools.lru_cache
def sha256_of(size):
    digest = hashlib.sha256()
    for piece in pieces(0, size):
        digest.update(piece)
    return digest.hexdigest()


class Checker:
    """Takes the pieces of a transfer in order. Records whether all bytes are correct so far, and computes a hash of
    them."""

    def __init__(self, size):
        self.size, self.taken, self.right = size, 0, True
        self.digest = hashlib.sha256() if size <= HASHED else None

    def take(self, data):
        for piece in pieces(self.taken, self.taken + len(data)):
            self.right = self.right and bytes(data[:len(piece)]) == piece
            data = data[len(piece):]
            self.taken += len(piece)
            if self.digest:
                self.digest.update(piece if self.right else b"wrong")

    @property
    def whole(self):
        return self.right and self.taken == self.size and (not self.digest or self.digest.hexdigest() == sha256_of(self.size))


class Break:
    """The place where the upstream breaks an exchange, and how it breaks it: by a RST or a FIN.

    place: before_head, in_head; body (after `offset` bytes of the response, or of the upload that the upstream
    reads); after_upload (the upload is read completely, no response is sent); status (the upstream responds with
    503)."""

    def __init__(self, place, offset=0, how="rst"):
        self.place, self.offset, self.how = place, offset, how

    def __repr__(self):
        return f"{self.place}@{self.offset}/{self.how}"


class Transfers(Upstream):
    """The upstream of large transfers. It serves paths of the form /SIZE/NAME. `breaks[path]` has a Break or None
    for each request of the path; the last entry repeats."""

    def __init__(self, breaks=None, etag=ETAG, listener=None):
        super().__init__(listener=listener)
        self.breaks = breaks or {}
        self.etag = etag
        self.uploads = []  # (path, whether the content was correct) for every upload that was read completely

    def taking_over(self, request):
        return self._response

    def asked(self, path):
        with self.lock:
            return [request for request in self.requests if request.path == path]

    def _response(self, connection, request, reader):
        connection.settimeout(PATIENCE)
        self.keep(request)
        breaks = self.breaks.get(request.path, [None])
        told = breaks[min(request.order, len(breaks) - 1)] or Break("nowhere")
        size = int(request.path.split("/")[1])
        if request.method == "PUT":
            return self._take_upload(connection, reader, request, size, told)
        return self._send_download(connection, request, size, told)

    @staticmethod
    def _leave(connection, told):
        if told.how == "rst":
            reset(connection)
        return False

    def _send_download(self, connection, request, size, told):
        if told.place == "before_head":
            return self._leave(connection, told)
        if told.place == "status":
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")
            return True
        start, wanted = 0, request.field("Range")
        if wanted and request.field("If-Range") in (None, self.etag):
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        head = f"HTTP/1.1 206 Part\r\nContent-Range: bytes {start}-{size - 1}/{size}\r\n" if start else "HTTP/1.1 200 Whole\r\n"
        validator = f"ETag: {self.etag}\r\n" if self.etag else ""
        head = f"{head}{validator}Accept-Ranges: bytes\r\nContent-Length: {size - start}\r\n\r\n".encode()
        if told.place == "in_head":
            connection.sendall(head[:len(head) // 2])
            return self._leave(connection, told)
        connection.sendall(head)
        end = min(size, told.offset) if told.place == "body" else size
        for piece in pieces(start, end):
            connection.sendall(piece)
        return self._leave(connection, told) if told.place == "body" else True

    def _take_upload(self, connection, reader, request, size, told):
        if told.place == "before_head":
            return self._leave(connection, told)
        checker = Checker(size)
        for data in reader.pieces(request):
            checker.take(data)
            if told.place == "body" and checker.taken >= told.offset:
                return self._leave(connection, told)
        with self.lock:
            self.uploads.append((request.path, checker.whole))
        if told.place == "after_upload":
            return self._leave(connection, told)
        response = b"%d bytes, %s" % (checker.taken, b"right" if checker.whole else b"WRONG")
        head = b"HTTP/1.1 %d Taken\r\nContent-Length: %d\r\n\r\n" % (503 if told.place == "status" else 200, len(response))
        if told.place == "in_head":
            connection.sendall(head[:len(head) // 2])
            return self._leave(connection, told)
        connection.sendall(head + response)
        return True


def download(reprise, url, size):
    """Sends one GET and reads the response. Returns the response's head and the checker that has taken its body, or
    (None, checker) if no head arrived."""
    checker = Checker(size)
    with Client(reprise.forward) as client:
        client.send(head_of("GET", url, url.split("/")[2]))
        try:
            response = client.read_final_head()
        except (Cut, ConnectionResetError):
            return None, checker
        if response.status == 200:
            try:
                for piece in client.pieces(response):
                    checker.take(piece)
            except (Cut, ConnectionResetError):
                pass
    return response, checker


def upload(reprise, url, size, chunk=None):
    """Sends one PUT, and reads the response while sending. Returns the final response, or None if no response
    arrived."""
    fields = [("Transfer-Encoding", "chunked")] if chunk else [("Content-Length", str(size))]
    with Client(reprise.forward) as client:
        def send():
            try:
                client.send(head_of("PUT", url, url.split("/")[2], fields))
                for piece in pieces(0, size):
                    client.send(b"%x\r\n" % len(piece) if chunk else b"")
                    client.send(piece)
                    client.send(b"\r\n" if chunk else b"")
                client.send(b"0\r\n\r\n" if chunk else b"")
            except OSError:
                pass  # the response says why the upload was cut

        sender = threading.Thread(target=send)
        sender.start()
        try:
            return client.read_response("PUT")
        except (Cut, ConnectionResetError):
            return None
        finally:
            try:
                client.socket.shutdown(socket.SHUT_RDWR)  # ends the sender thread
            except OSError:
                pass
            sender.join()
