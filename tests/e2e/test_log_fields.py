"""Tests the fields of the log: each field that `reprise log-format` names must occur in a line that the program
writes."""
import json

from client import Client, ask, head_of
from grpc_calls import METHOD, UNAVAILABLE, call, status_of, trailers_only
from harness import LOOPBACK, Reprise, closed_port, equal, eventually
from http2_client import Http2Client
from http2_frames import CANCEL, MAX_CONCURRENT_STREAMS
from http2_upstream import Gate, Http2Upstream
from server import Server, black_hole
from test_commands import command
from test_rows_never_worse import LOST
from test_tunnels import open_tunnel
from upstream import Say, Upstream

# No case causes the log fields of a refused hedge. A hedge is refused only when it is due, so the upstream's
# response would have to be slower than the hedge timer.
NOT_PLAYED = {"hedge_refused", "reprise.hedge_refused"}
ATTEMPTS = {"json": "attempts", "otel": "reprise.attempt_list"}
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def echo_once(connection):
    connection.sendall(connection.recv(65536))


def first_hangs(connection, request):
    """Never responds to the request that the upstream reads first, which may be the original or its hedge."""
    if request.order == 0:
        connection.recv(1)
        return False
    connection.sendall(Say(200).text(request, 1))
    return True


def resets_behind(gate):
    """Returns a step that resets the stream once the gate is open."""
    def step(link, request):
        gate.open.wait()
        link.reset_stream(request.stream, CANCEL)
    return step


def two_at_once(reprise, upstream, narrow, gate):
    """Sends two requests to an HTTP/2 upstream that allows one stream. The second one waits for it. The request to
    `upstream` shows that the proxy, which has one thread, has read both."""
    url = narrow.url("/narrow")
    gate.open.clear()
    with Client(reprise.forward) as first, Client(reprise.forward) as second:
        for client in (first, second):
            client.send(head_of("POST", url, url.split("/")[2], [("Content-Length", "0")]))
        narrow.heads_seen(1)
        ask(reprise, "GET", upstream.url("/meanwhile"))
        gate.open.set()
        for client in (first, second):
            client.read_response("POST")


def play(reprise, upstream, copied, talker, narrow, gate):  # pylint: disable=too-many-arguments
    """Sends requests that cause every field at least once. Returns the number of requests."""
    ask(reprise, "GET", upstream.url("/again"), fields=[("X-Request-Id", "abc"), ("traceparent", TRACEPARENT)])
    ask(reprise, "BREW", upstream.url("/tea"))
    ask(reprise, "GET", upstream.url("/patient"))
    ask(reprise, "GET", upstream.url("/observed"))
    ask(reprise, "DELETE", upstream.url("/lost"))
    ask(reprise, "GET", copied.url("/copied"))
    held, port = closed_port()
    with held:
        ask(reprise, "GET", f"http://{LOOPBACK}:{port}/refused")
    with Client(reprise.forward) as client:
        equal(open_tunnel(client, talker.port).status, 200)
        client.send(b"\x00")
        equal(client.read_to_end(), b"\x00")
    two_at_once(reprise, upstream, narrow, gate)
    with Http2Client(reprise.forward) as client:
        equal(client.ask(path="/x", authority=f"{LOOPBACK}:{upstream.port}").status, 200)
        equal(status_of(call(client, authority=f"{LOOPBACK}:{narrow.port}")), UNAVAILABLE)
    return 13


def lines(reprise, count):
    """Returns all lines when there are at least `count` access lines."""
    def whole():
        found = reprise.log()
        return found if sum(isinstance(line.get(attempts), list) for line in found for attempts in ATTEMPTS.values()) >= count else None
    return eventually(whole, f"{count} access lines")


def seen_in(line, form):
    """Returns (object, name) for each field of a log line. The object is the kind of record that has the
    field."""
    attempts = line.get(ATTEMPTS[form])
    if isinstance(attempts, list):
        return {("request", name) for name in line} | {("attempt", name) for attempt in attempts for name in attempt} \
            | {("call", name) for name in line.get("grpc", {})}
    return {("exhausted" if line["message"] == "retries exhausted" else "message", name) for name in line}


def test_log_lines_and_the_field_table_have_the_same_fields():
    fast = {"max_attempts": 3, "backoff": {"initial": "1ms"}}
    routes = [{"name": "patient", "match": {"path": "/patient"}, "retry": {**fast, "max_attempts": 40}},
              {"name": "observed", "match": {"path": "/observed"}, "mode": "observe"},
              {"name": "lost", "match": {"path": "/lost"}, "ambiguous": "response"},
              {"name": "narrow", "match": {"path": "/narrow"}, "http2": "always"}, {"name": "call", "match": {"grpc": ["*/*"]}, "idempotent": "always"},
              {"name": "copied", "match": {"path": "/copied"}, "hedge": {"after": "20ms"}}]
    scripts = {"/again": [503, 200], "/patient": [503], "/observed": [503], "/lost": [LOST, 404]}
    for form in ("json", "otel"):
        table = json.loads(command("log-format", "--format", "json")[1])
        wanted = {(row["in"], row[form]) for row in table if row[form] and row[form] not in NOT_PLAYED}
        keys = {"log": {"format": form}, "defaults": {"retry": fast, "budget": "off"}, "routes": routes, "pool": {"http2_connections": 1}}
        gate = Gate()
        with Upstream(scripts) as upstream, Upstream({"/copied": [first_hangs]}) as copied, Server(echo_once) as talker, \
                Http2Upstream({"/narrow": [resets_behind(gate)], METHOD: [trailers_only(UNAVAILABLE)]}, settings={MAX_CONCURRENT_STREAMS: 1}) as narrow, Reprise(**keys) as reprise:
            count = play(reprise, upstream, copied, talker, narrow, gate)
            seen = {pair for line in lines(reprise, count) for pair in seen_in(line, form)}
        above = {name for of, name in wanted if of == "every_line"}
        missing = {(of, name) for of, name in wanted if name not in above} - seen
        equal(missing, set(), "no line has these fields")
        equal(above - {name for _, name in seen}, set(), "no line has these fields")
        equal({name for _, name in seen} - {row[form] for row in table}, set(), "the table does not name these fields")


def stopped_attempt(port, reached):
    """Sends a request to that port, and resets the client's connection once `reached(reprise, descriptors before)` is true. Returns the
    attempt in the log."""
    with Reprise() as reprise:
        before = reprise.descriptors()
        with Client(reprise.forward) as client:
            client.send(head_of("GET", f"http://{LOOPBACK}:{port}/", f"{LOOPBACK}:{port}"))
            eventually(lambda: reached(reprise, before), "the attempt is where it shall end")
            client.reset()
        return reprise.requests(1)[0]["attempts"][0]


def test_N1_attempt_of_a_client_that_left_is_logged_with_its_stage_and_address():
    def dials(reprise, before):
        return reprise.descriptors() == before + 2  # the client's connection and the dial
    with Upstream(otherwise=[first_hangs]) as upstream, black_hole() as dark:
        for port, stage, reached in ((dark, "connect", dials), (upstream.port, "await_head", lambda *_: upstream.requests)):
            attempt = stopped_attempt(port, reached)
            equal((attempt["stage"], attempt["error"], attempt["upstream"]), (stage, "cancelled", f"{LOOPBACK}:{port}"))
