"""Tests that tunnels are counted apart from requests. reprise does not read what a tunnel carries, so a tunnel must
not look like a successful request (row N13)."""
import json
import re
import tempfile

from client import Client, head_of
from exactly import counted, raw, stage, to
from harness import Reprise, closed_port, equal, eventually
from server import Server
from test_exec import ran
from test_explain import explain
from test_rows_interim import SWITCH, UPGRADE
from test_rows_tunnels import TLS, tunnels
from test_tunnels import echo_backwards_at_the_end
from tls import TlsUpstream


def ask_tunnel(client, authority, early=b""):
    client.send(head_of("CONNECT", authority, authority) + early)
    return client.read_response("CONNECT")


def status_of(reprise):
    return json.loads(reprise.admin("/status")[1])


def talk(reprise, authority, early):
    """Opens one tunnel, sends bytes, and waits until the tunnel has ended."""
    with Client(reprise.forward) as client:
        equal(ask_tunnel(client, authority, early).status, 200)
        client.finish()
        equal(client.read_to_end(), bytes(reversed(early)))


def hints_in_the_log(reprise):
    return re.findall(r"HTTPS to (\S+) is tunnelled", reprise.text())


def test_N13_upgraded_connection_is_counted_as_a_tunnel():
    with stage({"/x": [raw(SWITCH)]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, fields=UPGRADE))
        equal(client.read_final_head().status, 101)
        client.finish()
        client.read_to_end()
        [line] = reprise.requests(1)
        equal((line["method"], line["status"], line["tunnel"], line["carried"]), ("GET", 101, True, "upgraded"))
        eventually(lambda: sum(tunnels(reprise, end) for end in ("closed", "broken")) == 1, "it is counted as a tunnel")
        equal(reprise.metric("reprise_requests_total"), 0)
        equal(reprise.metric("reprise_request_duration_seconds_count"), 0)


def test_N13_https_tunnels_are_counted_by_host_and_logged_with_a_hint():
    with Server(echo_backwards_at_the_end) as talker, Reprise() as reprise:
        named, address = f"localhost:{talker.port}", f"127.0.0.1:{talker.port}"
        for authority in (named, named, address):
            talk(reprise, authority, TLS)
        talk(reprise, named, b"SSH-2.0-x\r\n")
        lines = reprise.requests(4)
        equal(sorted(line["carried"] for line in lines), ["bytes", "tls", "tls", "tls"])
        equal({line["tunnel"] for line in lines}, {True})
        reprise.expect_metric(4, "reprise_tunnels_total", outcome="closed")
        equal(reprise.metric("reprise_requests_total"), 0)
        status = status_of(reprise)
        equal(status["unread"], [{"name": named, "tunnels": 2, "intercept": "localhost"},
                                 {"name": address, "tunnels": 1, "intercept": None}])
        equal((status["totals"]["requests"], status["totals"]["tunnels"], status["routes"][-1]["requests"]), (0, 4, 0))
        equal(hints_in_the_log(reprise), [named, address], "one line for each host")
        reprise.expect_log("List localhost in intercept.hosts (exec: --intercept)")


def test_N13_failed_tunnel_is_counted_as_a_failed_request():
    retry = {"retry": {"max_attempts": 1}}
    held, port = closed_port()
    with held, Reprise(defaults=retry) as reprise, Client(reprise.forward) as client:
        equal(ask_tunnel(client, f"127.0.0.1:{port}", TLS).status, 502)
        counted(reprise, "reprise_requests_total", code="502")
        [line] = reprise.requests(1)
        equal((line["tunnel"], "carried" in line), (True, False))
        equal((status_of(reprise)["unread"], hints_in_the_log(reprise)), ([], []))


def test_N13_exec_counts_tunnels_separately_from_requests():
    with TlsUpstream() as upstream, tempfile.TemporaryDirectory() as folder:
        url = f"https://localhost:{upstream.port}/"
        code, out, err = ran("exec", "--report", f"{folder}/report", "--", "sh", "-c", f"curl -sk {url} {url}; curl -sk {url}")
        equal((code, out.count("answer")), (0, 3))
        equal(err, "reprise: 0 requests, 0 retried, 0 recovered\n"
                   f"reprise: 2 tunnels to localhost:{upstream.port} could not be read (--intercept localhost)\n")
        with open(f"{folder}/report", encoding="utf-8") as file:
            report = json.load(file)
        equal((report["requests"], report["tunnels"], report["unread_tunnels"]), (0, 2, {f"localhost:{upstream.port}": 2}))
        equal(ran("exec", "--quiet", "--", "curl", "-sk", url)[2], "")


def test_N13_explain_of_an_https_url_begins_with_the_notice_that_the_request_is_not_retried():
    _, out = explain("GET", "https://api.test/x")
    beginning = out[:out.index("\nrequest ")]
    for words in ("The request is not retried", "tls: originate", "--intercept api.test", "only connecting is retried"):
        assert words in beginning, out
    assert "The request is not retried" not in explain("GET", "http://api.test/x")[1]
