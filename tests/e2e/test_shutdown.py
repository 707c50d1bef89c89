"""Tests two events: the client leaves, or reprise gets SIGTERM. Each event comes before, during and between
the attempts of a request."""
import threading

from client import Client, ask, head_of
from harness import LOOPBACK, PATIENCE, Reprise, equal
from server import Server
from upstream import Say, Upstream

LONG_WAIT = {"deadline": "unlimited", "backoff": {"initial": "1h", "maximum": "1h", "jitter": "none"}}


class Gate:
    """An upstream step that sets `arrived` when the request has arrived, and responds when the case sets `opened`."""

    def __init__(self, say):
        self.say = say
        self.arrived, self.opened = threading.Event(), threading.Event()

    def __call__(self, connection, request):
        self.arrived.set()
        self.opened.wait(PATIENCE)
        connection.sendall(self.say.text(request, 1))
        return True


def wait_until_kept(reprise, upstream):
    """Waits until the upstream has responded and reprise waits before the retry, so that the case can send SIGTERM
    in that wait."""
    upstream.seen(1)
    reprise.expect_metric(0, "reprise_upstream_connections", state="active")


def test_half_closed_client_gets_its_response():
    gate = Gate(Say(200, b"whole answer"))
    with Upstream({"/x": [gate]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        client.finish()
        assert gate.arrived.wait(PATIENCE)
        gate.opened.set()
        response = client.read_response()
        equal((response.status, response.body), (200, b"whole answer"))


def test_half_closed_client_gets_no_second_attempt():
    gate = Gate(Say(503, b"first and last"))
    with Upstream({"/x": [gate, 200]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        client.finish()
        assert gate.arrived.wait(PATIENCE)
        gate.opened.set()
        response = client.read_response()
        equal((response.status, response.body, response.reason), (503, b"first and last", "client_gone"))
        equal(upstream.count(), 1)


def test_client_reset_during_a_retry_wait_cancels_the_request():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise(defaults={"retry": LONG_WAIT}) as reprise:
        client = Client(reprise.forward)
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        wait_until_kept(reprise, upstream)
        client.reset()
        line = reprise.requests(1)[0]
        equal(line["attempts"][-1]["reason"], "client_gone")
        equal(upstream.count(), 1)
        reprise.expect_metric(1, "reprise_requests_total", code="client_gone")
        equal(reprise.metric("reprise_retries_total"), 0, "a retry that never started is none")


def test_client_reset_during_an_attempt_cancels_the_attempt():
    gone = threading.Event()

    def watch(connection, _):
        """Does not respond. Records that reprise has closed the connection."""
        connection.settimeout(None)
        try:
            connection.recv(1)
        except ConnectionResetError:
            pass
        gone.set()
        return False

    with Upstream({"/x": [watch]}) as upstream, Reprise() as reprise:
        client = Client(reprise.forward)
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        upstream.seen(1)
        client.reset()
        assert gone.wait(PATIENCE), "the attempt goes on for a client that is gone"
        reprise.requests(1)
        equal(upstream.count(), 1)


def test_aborted_upload_is_never_completed_upstream():
    seen = []
    begun, done = threading.Event(), threading.Event()

    def raw_server(connection):
        try:
            while data := connection.recv(65536):
                seen.append(data)
                if b"hello" in b"".join(seen):
                    begun.set()
        except OSError:
            pass
        done.set()

    with Server(raw_server) as talker, Reprise() as reprise:
        client = Client(reprise.forward)
        url = f"http://{LOOPBACK}:{talker.port}/x"
        client.send(head_of("PUT", url, LOOPBACK, [("Transfer-Encoding", "chunked")]) + b"5\r\nhello\r\n")
        assert begun.wait(PATIENCE)
        client.reset()
        equal(reprise.requests(1)[0]["attempts"][-1]["reason"], "client_gone")
        assert done.wait(PATIENCE)
        assert b"0\r\n\r\n" not in b"".join(seen), "half a body was ended as a whole one"


def test_sigterm_lets_a_request_finish():
    gate = Gate(Say(200, b"finished"))
    with Upstream({"/x": [gate]}) as upstream, Reprise(shutdown={"grace": "60s"}) as reprise, \
            Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        assert gate.arrived.wait(PATIENCE)
        reprise.terminate()
        gate.opened.set()
        response = client.read_response()
        equal((response.status, response.body), (200, b"finished"))
        equal(reprise.wait(), 0)


def test_sigterm_ends_a_retry_wait_with_the_last_response():
    with Upstream({"/x": [Say(503, b"the last answer")]}) as upstream, \
            Reprise(defaults={"retry": LONG_WAIT}, shutdown={"grace": "60s"}) as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        wait_until_kept(reprise, upstream)
        reprise.terminate()
        response = client.read_response()
        equal((response.status, response.body, response.reason), (503, b"the last answer", "shutting_down"))
        equal(reprise.wait(), 0)
        equal(upstream.count(), 1)


def test_sigterm_ends_a_retry_wait_with_502_if_there_was_no_response():
    with Upstream({"/x": ["reset"]}) as upstream, \
            Reprise(defaults={"retry": LONG_WAIT}, shutdown={"grace": "60s"}) as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        wait_until_kept(reprise, upstream)
        reprise.terminate()
        response = client.read_response()
        equal((response.status, response.reason), (502, "shutting_down"))
        equal(reprise.wait(), 0)


def test_sigterm_exits_at_once_if_all_clients_are_idle():
    with Upstream() as upstream, Reprise(shutdown={"grace": "10m"}) as reprise, Client(reprise.forward) as client:
        equal(client.ask("GET", upstream.url("/x")).status, 200)
        reprise.terminate()
        equal(reprise.wait(), 0, "idle connections hold nothing up")


def test_sigterm_stops_waiting_after_the_grace_period():
    gate = Gate(Say(200))
    with Upstream({"/x": [gate]}) as upstream, Reprise(shutdown={"grace": "500ms"}) as reprise, \
            Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK))
        assert gate.arrived.wait(PATIENCE)
        reprise.terminate()
        equal(reprise.wait(), 0)
        gate.opened.set()


def test_request_after_a_client_reset_succeeds():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise() as reprise:
        client = Client(reprise.forward)
        client.send(head_of("GET", upstream.url("/hang"), LOOPBACK))
        client.reset()
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
