"""A TCP server for tests. It has one port, one thread for each connection, and one shutdown for all of them."""
import contextlib
import socket
import threading

from harness import LOOPBACK, eventually
from reader import Cut

BACKLOG = 1024


def bound(address=LOOPBACK, port=0):
    """Returns a socket that is bound to a port and does not listen yet."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    return listener


def fill_queue(listener, fillers):
    """Fills the listener's accept queue until `fillers` is closed. Until then a new connection is neither accepted
    nor refused. Precondition: the caller does not accept connections."""
    for _ in range(8):
        filler = fillers.enter_context(socket.socket())
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())


@contextlib.contextmanager
def black_hole(address=LOOPBACK, port=0):
    """Yields the port of a listener whose accept queue is full: a connection attempt gets no reply."""
    with bound(address, port) as listener, contextlib.ExitStack() as fillers:
        listener.listen(0)
        fill_queue(listener, fillers)
        yield listener.getsockname()[1]


class Server:
    """A TCP server. Serves each connection by `work(connection)`, or by the method `serve` of a subclass.
    Listens inside its `with` block. `listener`, if given, is an already bound socket. A connection that
    breaks, or is still open when the block ends, is not a failure."""

    def __init__(self, work=None, listener=None):
        self.work = work
        self.lock = threading.Lock()
        self.connections = 0
        self.open = set()
        self.closing = threading.Event()
        self.listener = listener or bound()
        self.address, self.port = self.listener.getsockname()[:2]

    def __enter__(self):
        self.listener.listen(BACKLOG)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        with contextlib.suppress(OSError):  # the script may have closed the listener already
            self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self.listener.close()
        with self.lock:
            for connection in self.open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def url(self, path="/"):
        return f"http://{self.address}:{self.port}{path}"

    def all_closed(self):
        """Waits until no connection is open."""
        def closed():
            with self.lock:
                return not self.open
        eventually(closed, "every connection to the server is closed")

    def _accept(self):
        with contextlib.suppress(OSError):
            while not self.closing.is_set():
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self.lock:
                    self.connections += 1
                    self.open.add(connection)
                    number = self.connections
                threading.Thread(target=self._run, args=(connection, number), daemon=True).start()

    def _run(self, connection, number):
        try:
            self.serve(connection, number)
        except (OSError, Cut):
            pass
        finally:
            with self.lock:
                self.open.discard(connection)
            connection.close()

    def serve(self, connection, _number):
        self.work(connection)


def carry(source, sink):
    """Copies bytes from `source` to `sink` until `source` ends. Then closes the sending side of `sink`, also
    after a reset of `source`."""
    with contextlib.suppress(OSError):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        finally:
            sink.shutdown(socket.SHUT_WR)


def carry_both(here, there):
    """Carries a tunnel until both directions have ended."""
    back = threading.Thread(target=carry, args=(there, here), daemon=True)
    back.start()
    carry(here, there)
    back.join()
