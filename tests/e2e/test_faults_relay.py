"""Tests connections that a relay breaks: at every byte of a small request, and at every byte of the
response."""
import itertools
import queue
import threading

from client import Client, Cut, ask, head_of
from faults import played
from harness import LOOPBACK, Reprise, equal, eventually, options
from relay import Fault, Relay
from transfers import Checker, Transfers, pieces
from upstream import Say, Upstream

CLIENTS = 4
SIZE = 60
BODY = b"".join(pieces(0, SIZE))
# Each attempt uses a new connection, so that the fault of the first connection hits the first attempt.
SETTINGS = {"pool": {"idle": 0}, "defaults": {"retry": {"backoff": {"initial": "1ms", "maximum": "1ms"}}, "budget": "off"}}
NUMBERS = itertools.count(100000)  # six digits, so that all requests have the same length


def path():
    return f"/{SIZE}/{next(NUMBERS)}"


def positions(length):
    """Returns every byte position. With sanitizers, which are slower, returns only every fifth position."""
    return range(0, length, 1 if options.load >= 10000 else 5)


def side_by_side(story, work):
    """Calls `story(*arguments)` for each element of `work`, several at once. Fails if one of the calls fails."""
    left, problems = queue.SimpleQueue(), []
    for arguments in work:
        left.put(arguments)

    def run():
        while not problems:
            try:
                arguments = left.get_nowait()
            except queue.Empty:
                return
            try:
                story(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                problems.append(f"at {arguments}: {error!r}")

    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]


class World:
    """A reprise, an upstream, and a relay between them. The relay applies a fault to the first connection that
    requests a path."""

    def __init__(self, upstream):
        self.upstream, self.faults = upstream, {}

    def __enter__(self):
        self.upstream.__enter__()
        self.relay = Relay(self.upstream.port, lambda path, order: self.faults.get(path) if order == 0 else None)
        self.relay.__enter__()
        self.reprise = Reprise(**SETTINGS)
        self.reprise.__enter__()
        return self

    def __exit__(self, *error):
        try:
            self.reprise.__exit__(*error)
        finally:
            self.relay.__exit__()
            self.upstream.__exit__()

    def url(self, where, fault):
        self.faults[where] = fault
        return self.relay.url(where)

    def lengths(self, method, body=None):
        """Returns the length of one complete request and the length of its response, in bytes."""
        where = path()
        equal(ask(self.reprise, method, self.relay.url(where), body).status, 200)
        return eventually(lambda: self.relay.passed.get(where), "the end of a connection")

    def recovers(self, fault):
        """Checks that a GET whose response has a validator is delivered whole despite the fault."""
        checker = Checker(SIZE)
        response = ask(self.reprise, "GET", self.url(path(), fault))
        checker.take(response.body)
        equal((response.status, checker.whole), (200, True))

    def is_sent_once(self, fault, may_be_answered=True):
        """Checks that reprise sends a POST only once, and that a broken response never looks complete to the client."""
        where = path()
        url = self.url(where, fault)
        with Client(self.reprise.forward) as client:
            client.send(head_of("POST", url, LOOPBACK, [("Content-Length", str(len(BODY)))]) + BODY)
            try:
                response = client.read_response("POST")
                equal((response.status, response.reason, response.attempts), (502, "not_idempotent", 1))
            except (Cut, ConnectionResetError):
                assert may_be_answered, "cut without a response's head"
        equal(self.relay.asked[where], 1, "it was sent again")
        effects = self.upstream.effects.get(where, 0)
        assert effects <= 1, f"{effects} effects"


class Counting(Upstream):
    """Responds to a POST with content, and counts effects by path."""

    def __init__(self):
        super().__init__(otherwise=[Say(200, BODY)])

    def count_effect(self, request):
        with self.lock:
            self.effects[request.path] = self.effects.get(request.path, 0) + 1


def test_get_recovers_if_the_connection_ends_at_any_byte_of_the_response():
    with World(Transfers()) as world:
        _, length = world.lengths("GET")
        kinds = {"reset": "RST in the response", "finish": "half-close in the response"}
        for kind, word in kinds.items():
            work = [(Fault(**{kind: ("down", at)}),) for at in positions(length)]
            side_by_side(world.recovers, work)
            played(word, len(work))


def test_get_recovers_if_the_connection_ends_at_any_byte_of_the_request():
    with World(Transfers()) as world:
        length, _ = world.lengths("GET")
        for kind, word in {"reset": "RST in the request", "finish": "half-close in the request"}.items():
            work = [(Fault(**{kind: ("up", at)}),) for at in positions(length)]
            side_by_side(world.recovers, work)
            played(word, len(work))


def test_post_is_sent_once_if_the_connection_fails_at_any_byte():
    with World(Counting()) as world:
        up, down = world.lengths("POST", BODY)
        work = [(Fault(reset=("up", at)), False) for at in positions(up)]
        side_by_side(world.is_sent_once, work)
        played("RST in a POST", len(work))
        work = [(Fault(reset=("down", at)),) for at in positions(down)]
        side_by_side(world.is_sent_once, work)
        played("RST in the response to a POST", len(work))
        equal(max(world.upstream.effects.values()), 1)


def test_put_body_is_sent_again_completely_if_the_connection_fails_at_any_byte():
    with World(Counting()) as world:
        up, _ = world.lengths("PUT", BODY)

        def story(fault):
            where = path()
            equal(ask(world.reprise, "PUT", world.url(where, fault), BODY).status, 200)
            equal([request.body for request in world.upstream.seen(1, where)], [BODY])

        work = [(Fault(reset=("up", at)),) for at in positions(up)]
        side_by_side(story, work)
        played("RST in a PUT", len(work))


def test_delayed_or_byte_by_byte_messages_cause_no_retry():
    with World(Transfers()) as world:
        side_by_side(world.recovers, [(Fault(dribble=True),)] * 20)
        side_by_side(world.recovers, [(Fault(delay=0.05),)] * 20)
        response = ask(world.reprise, "PUT", world.url(path(), Fault(dribble=True, delay=0.05)), BODY)
        equal((response.status, response.attempts), (200, 1))
        assert response.body.endswith(b"right"), response.body
        equal(world.reprise.metric("reprise_retries_total"), 0)
    played("dribble", 21)
    played("delay", 21)
