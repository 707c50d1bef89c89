"""Tests names with several addresses: which addresses are dialled, in what order and for how long, and what is
reported (rows D12, H3, I10, I13)."""
import contextlib
import socket
from pathlib import Path

from client import Client, ask
from faults import isolated
from harness import Reprise, equal, eventually
from names import Answer, NameServer
from server import black_hole, bound
from test_rows_host import ClientFrom
from upstream import Upstream

ONCE = {"retry": {"max_attempts": 1, "deadline": "unlimited"}, "connect_timeout": "1h"}
NAME = "several.test"


def order_of(name):
    """Returns the addresses of the name in the order of this host's resolver. reprise gets them in the same order."""
    return [entry[4][0] for entry in socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM)]


@contextlib.contextmanager
def upstream_at(address):
    listener = socket.socket()
    listener.bind((address, 0))
    with Upstream(listener=listener) as upstream:
        yield upstream


def dials_so_far():
    """Returns how many TCP connections were started in this network namespace so far."""
    lines = [line.split() for line in Path("/proc/net/snmp").read_text(encoding="ascii").splitlines() if line.startswith("Tcp:")]
    return int(dict(zip(*lines))["ActiveOpens"])


def post(reprise, upstream):
    """Sends a POST and checks that it reaches the upstream once, in attempt 1."""
    response = ask(reprise, "POST", f"http://{NAME}:{upstream.port}/x", b"order")
    equal((response.status, response.attempts), (200, 1), response.head)
    equal([request.body for request in upstream.seen(1)], [b"order"], "sent once")
    reprise.expect_metric(1, "reprise_attempts_total", outcome="2xx")
    reprise.expect_metric(1, "reprise_attempts_total")
    return reprise.requests(1)[0]


@isolated
def test_D12_post_reaches_the_last_address_if_the_others_refuse():
    with NameServer({NAME: [Answer("127.0.0.2", "127.0.0.3", "127.0.0.4")]}), Reprise(defaults=ONCE) as reprise, \
            upstream_at(order_of(NAME)[-1]) as upstream:
        post(reprise, upstream)
        equal(upstream.connections, 1)


@isolated
def test_D12_post_reaches_the_last_address_if_the_others_are_unresponsive():
    with NameServer({NAME: [Answer("127.0.0.2", "127.0.0.3", "127.0.0.4")]}), Reprise(defaults=ONCE) as reprise, \
            contextlib.ExitStack() as stack:
        *holes, last = order_of(NAME)
        upstream = stack.enter_context(upstream_at(last))
        for address in holes:
            stack.enter_context(black_hole(address, upstream.port))
        before = reprise.descriptors()
        told = post(reprise, upstream)
        assert told["attempts"][0]["ms"] >= 500, "each of the two was alone for 250 ms"
        equal(upstream.connections, 1)
        # Only the idle connection to the upstream may be left; all other dials have been closed.
        eventually(lambda: reprise.descriptors() <= before + 1, "the losers are closed")


@isolated
def test_D12_client_disconnect_ends_all_dials():
    with NameServer({NAME: [Answer("127.0.0.2", "127.0.0.3")]}), Reprise(defaults=ONCE) as reprise, \
            black_hole("127.0.0.2", 7777), black_hole("127.0.0.3", 7777):
        before = reprise.descriptors()
        with Client(reprise.forward) as client:
            client.send(b"GET http://several.test:7777/ HTTP/1.1\r\nHost: several.test:7777\r\n\r\n")
            eventually(lambda: reprise.descriptors() == before + 3, "the client's connection and two dials")
            client.reset()
        eventually(lambda: reprise.descriptors() == before, "all is let go")
        reprise.expect_metric(1, "reprise_attempts_total", outcome="cancelled")


@isolated
def test_H3_denied_addresses_in_a_mixed_dns_result_are_never_dialled():
    script = {NAME: [Answer("169.254.169.254", "127.0.0.2", "169.254.0.1")],
              "denied.test": [Answer("169.254.169.254", "169.254.0.1")],
              "flips.test": [Answer("127.0.0.2"), Answer("169.254.169.254")]}
    with NameServer(script) as names, Reprise(defaults=ONCE) as reprise, upstream_at("127.0.0.2") as upstream:
        post(reprise, upstream)
        before = dials_so_far()
        response = ask(reprise, "GET", "http://denied.test/")
        equal((response.status, response.reason), (403, "address_denied"))
        equal(dials_so_far() - before, 1, "ours alone")
        # reprise dials the address that it has checked: it does not query the name again between check and dial.
        equal(ask(reprise, "GET", f"http://flips.test:{upstream.port}/").status, 200)
        equal(names.asked["flips.test"], 1)
        equal(upstream.connections, 2)


@isolated
def test_I10_next_address_is_dialled_if_no_local_port_is_left_for_the_first():
    with NameServer({NAME: [Answer("127.0.0.2", "127.0.0.3")]}), Reprise(defaults=ONCE) as reprise, contextlib.ExitStack() as stack:
        spent, free = order_of(NAME)
        upstream = stack.enter_context(upstream_at(free))
        listener = stack.enter_context(socket.socket())
        listener.bind((spent, upstream.port))
        listener.listen()
        Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("61000 61001", encoding="ascii")
        for _ in range(2):  # uses up both local ports for connections to the first address of the name
            stack.enter_context(socket.create_connection((spent, upstream.port)))
        client = stack.enter_context(ClientFrom(reprise.forward, 30000))
        response = client.ask("POST", f"http://{NAME}:{upstream.port}/x", b"order")
        equal((response.status, response.attempts), (200, 1), response.head)
        equal([request.body for request in upstream.seen(1)], [b"order"])


@isolated
def test_I13_at_most_16_of_a_thousand_addresses_are_dialled():
    many = [f"127.1.{number // 250}.{number % 250 + 1}" for number in range(1000)]
    with NameServer({NAME: [Answer(*many)]}) as names, Reprise(defaults=ONCE, log={"level": "debug"}) as reprise:
        before = dials_so_far()
        response = ask(reprise, "GET", f"http://{NAME}:7777/")
        equal(dials_so_far() - before, 1 + names.over_tcp + 16, "the client's, the look-up's, and what came of it")
        equal((response.status, response.attempts), (502, 1))
        assert "error=connection_refused" in response.field("Proxy-Status"), response.head
        reprise.expect_metric(1, "reprise_attempts_total", outcome="connect")
        reprise.expect_log(f"{NAME}: 16 of 16 addresses dialled, no connection established: refused")
        equal(b"127.1" in response.head + response.body, False, "addresses are told to no client")


@isolated
def test_N1_retry_uses_another_address_of_the_name():
    """Covers each kind of failure at the first address: a 503, a FIN and a RST."""
    steps = {"status.test": 503, "fin.test": "close", "rst.test": "reset"}
    with NameServer({name: [Answer("127.0.0.31", "127.0.0.32")] for name in steps}), \
            Upstream({f"/{name}": [step] for name, step in steps.items()}, listener=bound("127.0.0.31")) as bad, \
            Upstream(listener=bound("127.0.0.32", bad.port)) as good, Reprise() as reprise:
        for name in steps:
            for _ in range(2):  # the two requests start at different addresses
                response = ask(reprise, "GET", f"http://{name}:{bad.port}/{name}")
                equal((response.status, response.attempts <= 2), (200, True), name)
        went = [[attempt["upstream"] for attempt in line["attempts"]] for line in reprise.requests(2 * len(steps))]
        equal(sum(line == [f"127.0.0.31:{bad.port}", f"127.0.0.32:{bad.port}"] for line in went), len(steps), went)
        equal(good.count(), 2 * len(steps))


@isolated
def test_N2_changed_address_of_a_name_is_followed_under_traffic():
    with NameServer({NAME: [Answer("127.0.0.31")] * 2 + [Answer("127.0.0.32")]}), Upstream(listener=bound("127.0.0.31")) as old, \
            Upstream(listener=bound("127.0.0.32", old.port)) as new, Reprise(pool={"max_age": "200ms"}) as reprise, \
            Client(reprise.forward) as client:
        def moved():
            equal(client.ask("GET", f"http://{NAME}:{old.port}/x").status, 200)
            return new.count() > 0
        eventually(moved, "the new address is asked")
        assert old.count() > 0


@isolated
def test_N2_fresh_connections_are_spread_evenly_over_all_addresses():
    addresses = [f"127.0.0.{number}" for number in (31, 32, 33)]
    with NameServer({NAME: [Answer(*addresses)]}), contextlib.ExitStack() as stack, Reprise(pool={"idle": 0}) as reprise:
        upstreams = [stack.enter_context(Upstream(listener=bound(addresses[0])))]
        upstreams += [stack.enter_context(Upstream(listener=bound(address, upstreams[0].port))) for address in addresses[1:]]
        for _ in range(9):
            equal(ask(reprise, "GET", f"http://{NAME}:{upstreams[0].port}/x").status, 200)
        equal([upstream.count() for upstream in upstreams], [3, 3, 3])
