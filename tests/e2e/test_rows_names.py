"""Tests real failures of name resolution with the shipped defaults: temporary failures, changed addresses, queries
without an answer (rows L1, L2, L3)."""
import contextlib
import re
import socket

from client import Client, ask
from faults import isolated, played
from harness import LOOPBACK, Reprise, closed_port, equal, eventually
from names import NXDOMAIN, SERVFAIL, Answer, NameServer, RefusingNameServer
from upstream import Upstream

USUAL = ""  # no further lines in resolv.conf: the file names only the name server
THRICE = {"retry": {"max_attempts": 3}}


class Shipped(Reprise):
    """A reprise with its default configuration and default ports. Only for cases that are `isolated`."""

    def __init__(self):
        super().__init__()
        with open(self.config_file, "w", encoding="utf-8") as file:
            file.write("version: 1\n")


@contextlib.contextmanager
def upstream_at(address, port=0, family=socket.AF_INET):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    with Upstream(listener=listener) as upstream:
        yield upstream


def get(reprise, name, upstream, path="/x"):
    return ask(reprise, "GET", f"http://{name}:{upstream.port}{path}")


@isolated
def test_L1_name_lookup_that_fails_once_is_retried():
    with NameServer({"flaky.test": [Answer(code=SERVFAIL), Answer(LOOPBACK)]}, USUAL) as names, Shipped() as reprise, \
            Upstream() as upstream:
        response = ask(reprise, "POST", f"http://flaky.test:{upstream.port}/x", b"order")
        equal((response.status, response.attempts), (200, 2), response.head)
        equal(names.asked["flaky.test"], 2, "look-ups")
        reprise.expect_metric(1, "reprise_dns_lookups_total", outcome="failed")
        reprise.expect_metric(1, "reprise_dns_lookups_total", outcome="resolved")
        equal(reprise.metric("reprise_dns_lookups_total"), 2)
        equal([request.body for request in upstream.seen(1)], [b"order"])
    played("DNS: fails once")


@isolated
def test_L1_lookup_failures_are_not_cached_between_requests():
    with NameServer({"late.test": [Answer(code=NXDOMAIN)] * 3 + [Answer(LOOPBACK)]}, USUAL) as names, \
            Reprise(defaults=THRICE) as reprise, Upstream() as upstream:  # the backoffs between the attempts are below one second in total
        response = get(reprise, "late.test", upstream)
        equal((response.status, response.attempts, response.reason), (502, 3, "attempts_spent"))
        assert "error=dns_error" in response.field("Proxy-Status"), response.head
        equal(names.asked["late.test"], 3)
        response = get(reprise, "late.test", upstream)
        equal((response.status, response.attempts), (200, 1), response.head)


@isolated
def test_L1_name_that_does_not_exist_is_named_as_the_reason_not_max_attempts():
    with NameServer({}, USUAL) as names, Reprise() as reprise:
        response = ask(reprise, "GET", "http://missing.test/")
        equal((response.status, response.attempts, response.reason), (502, 3, "attempts_spent"))
        equal(names.asked["missing.test"], 3)
        assert b"attempts_spent (the name does not exist, and is looked up at most three times)" in response.body, response.body


@isolated
def test_L2_changed_address_is_found_within_one_request():
    with contextlib.ExitStack() as stack:
        held, port = closed_port()  # 127.0.0.1 refuses connections to this port
        stack.callback(held.close)
        upstream = stack.enter_context(upstream_at("127.0.0.2", port))
        names = stack.enter_context(NameServer({"moves.test": [Answer(LOOPBACK, ttl=300), Answer("127.0.0.2", ttl=300)]}, USUAL))
        reprise = stack.enter_context(Shipped())
        response = ask(reprise, "POST", f"http://moves.test:{port}/x", b"order")
        equal((response.status, response.attempts), (200, 2), response.head)
        equal(names.asked["moves.test"], 2, "look-ups")
        equal([request.body for request in upstream.seen(1)], [b"order"])
    played("DNS: moves while the old address refuses")


@isolated
def test_L2_cached_address_is_evicted_after_it_refused_a_connection():
    with contextlib.ExitStack() as stack:
        names = stack.enter_context(NameServer({"moves.test": [Answer("127.0.0.2", ttl=300), Answer("127.0.0.3", ttl=300)]}, USUAL))
        reprise = stack.enter_context(Shipped())
        with upstream_at("127.0.0.2") as old:
            port = old.port
            for path in ("/1", "/2"):
                equal(get(reprise, "moves.test", old, path).status, 200)
            equal(names.asked["moves.test"], 1, "a good answer is kept for a while")
        new = stack.enter_context(upstream_at("127.0.0.3", port))
        response = get(reprise, "moves.test", new, "/3")
        equal(response.status, 200, response.head)
        equal((names.asked["moves.test"], new.count()), (2, 1))


@isolated
def test_L3_unresponsive_name_lookups_do_not_delay_others():
    """Looks up a hundred names for which the name server never responds: each look-up takes half a minute or
    more. Meanwhile, a name that has an address must resolve."""
    silent = {f"dead{number}.test": [Answer(silent=True)] for number in range(100)}
    with NameServer({**silent, "good.test": [Answer(LOOPBACK)]}, "options timeout:2 attempts:5") as names, \
            Shipped() as reprise, Upstream() as upstream, contextlib.ExitStack() as stack:
        hanging = []
        for name in silent:
            client = stack.enter_context(Client(reprise.forward))
            client.send(f"GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
            hanging.append(client)
        eventually(lambda: all(names.asked.get(name) for name in silent), "each of them is asked for")
        response = get(reprise, "good.test", upstream)
        equal((response.status, response.attempts), (200, 1), response.head)
        for client in hanging:
            client.socket.setblocking(False)
            try:
                raise AssertionError(f"not waited for any more: {client.socket.recv(100)!r}")
            except BlockingIOError:
                pass
        reprise.expect_metric(1, "reprise_dns_lookups_total", outcome="resolved")
        for client in hanging:
            client.reset()
    played("DNS: a hundred names that never answer")


@isolated
def test_N7_use_vc_option_resolves_over_tcp():
    with NameServer({"tcp.test": [Answer(LOOPBACK, tcp_only=True)]}, "options use-vc timeout:30 attempts:5") as names, \
            Reprise(defaults=THRICE) as reprise, Upstream() as upstream:
        equal(get(reprise, "tcp.test", upstream).status, 200)
        equal(names.over_tcp, 2, "one question for each family")


@isolated
def test_N7_refusing_name_server_fails_at_once():
    patient = {"retry": {"max_attempts": 1, "deadline": "1h"}, "connect_timeout": "30m"}
    for way in ("", " use-vc"):
        with RefusingNameServer(f"options timeout:30 attempts:5{way}"), Reprise(defaults=patient) as reprise, Upstream() as upstream:
            for count in range(5):
                response = get(reprise, f"up{count}.test", upstream)
                equal(response.status, 502)
                assert "error=dns_error" in response.field("Proxy-Status"), response.head


@isolated
def test_N7_failed_ipv6_lookup_keeps_the_ipv4_addresses():
    script = {f"code{code}.test": [Answer(LOOPBACK, ipv6_code=code)] for code in (1, SERVFAIL, NXDOMAIN, 4, 5)}
    with NameServer(script, USUAL), Reprise(defaults={"retry": {"max_attempts": 1}}) as reprise, Upstream() as upstream:
        for name in script:
            equal(get(reprise, name, upstream).status, 200, name)


@isolated
def test_hosts_file_names_are_resolved_without_a_name_server():
    with NameServer({"both.test": [Answer("127.0.0.3")]}, USUAL, hosts="127.0.0.2 both.test Alias.test\n") as names, \
            Shipped() as reprise, upstream_at("127.0.0.2") as upstream:
        for name in ("both.test", "alias.test", "ALIAS.TEST"):
            equal(get(reprise, name, upstream).status, 200, name)
        equal(names.asked, {}, "no server is asked")


@isolated
def test_short_names_use_the_search_domains():
    script = {"db.first.test": [Answer()], "db.second.test": [Answer("127.0.0.2")], "a.b.second.test": [Answer("127.0.0.2")]}
    with NameServer(script, "search first.test second.test\noptions ndots:3") as names, Shipped() as reprise, \
            upstream_at("127.0.0.2") as upstream:
        equal(get(reprise, "db", upstream).status, 200)
        equal(get(reprise, "a.b", upstream).status, 200)
        equal({name: names.asked.get(name) for name in ("db.first.test", "db.second.test", "db", "a.b")},
              {"db.first.test": 1, "db.second.test": 1, "db": None, "a.b": None})


@isolated
def test_aliases_and_single_family_names_and_truncated_dns_responses_are_resolved():
    script = {"alias.test": [Answer("127.0.0.2", alias="target.test")], "six.test": [Answer("::1")],
              "long.test": [Answer(*(f"127.0.0.{number}" for number in range(2, 62)), truncated=True)]}
    with NameServer(script, USUAL) as names, Shipped() as reprise, contextlib.ExitStack() as stack:
        upstream = stack.enter_context(upstream_at("127.0.0.2"))
        equal(get(reprise, "alias.test", upstream).status, 200)
        equal(names.over_tcp, 0)
        anywhere = stack.enter_context(upstream_at("0.0.0.0"))
        equal(get(reprise, "long.test", anywhere).status, 200)
        assert names.over_tcp >= 1, "asked again over TCP"
        six = stack.enter_context(upstream_at("::1", family=socket.AF_INET6))
        equal(get(reprise, "six.test", six).status, 200)


@isolated
def test_nonexistent_name_gets_502_after_all_attempts():
    with NameServer({}, USUAL) as names, Reprise(defaults=THRICE) as reprise, Upstream() as upstream:
        response = get(reprise, "none.test", upstream)
        equal((response.status, response.attempts, names.asked["none.test"]), (502, 3, 3))
        assert "error=dns_error" in response.field("Proxy-Status"), response.head
        page = reprise.admin("/metrics")[1]
        equal(re.findall(r'reprise_dns_lookups_total\{outcome="(\w+)"\} (\d+)', page),
              [("failed", "3"), ("hit", "0"), ("resolved", "0"), ("timeout", "0")])


@isolated
def test_changed_resolver_file_is_read_again():
    with NameServer({"up.new.test": [Answer(LOOPBACK)]}, USUAL) as names, Reprise() as reprise, Upstream() as upstream:
        equal(get(reprise, "up", upstream).status, 502)
        with open("/etc/resolv.conf", "a", encoding="utf-8") as file:
            file.write("search new.test\n")
        eventually(lambda: get(reprise, "up", upstream).status == 200, "the search domain is known")
        assert names.asked["up.new.test"] >= 1
