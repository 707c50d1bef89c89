"""Tests the label `upstream` of metrics: its values under every configuration, and their maximum number."""
from client import ask
from harness import LOOPBACK, Reprise, closed_port, equal
from upstream import Upstream


def attempts(reprise, label, outcome):
    return reprise.metric("reprise_upstream_attempts_total", upstream=label, outcome=outcome)


def test_each_upstream_has_its_own_label_with_the_default_configuration():
    held, port = closed_port()
    with held, Upstream({"/ok": [200], "/busy": [503, 200]}) as upstream, Reprise() as reprise:
        name, dead = f"{LOOPBACK}:{upstream.port}", f"{LOOPBACK}:{port}"
        equal(ask(reprise, "GET", upstream.url("/ok")).status, 200)
        equal(ask(reprise, "GET", upstream.url("/busy")).status, 200)
        equal(ask(reprise, "GET", f"http://{dead}/").status, 502)
        reprise.expect_metric(2, "reprise_upstream_attempts_total", upstream=name, outcome="2xx")
        reprise.expect_metric(1, "reprise_upstream_attempts_total", upstream=name, outcome="5xx")
        equal(attempts(reprise, dead, "connect") > 1, True, "a dial that is refused counts for the one that was dialled")
        equal(attempts(reprise, name, "connect"), 0)
        equal(0 < reprise.metric("reprise_budget_available_ratio", upstream=name) < 1, True, "one retry was taken from it")
        equal(reprise.metric("reprise_upstream_attempts_total", upstream="other"), 0)


def test_upstreams_beyond_the_label_limit_share_the_label_other():
    with Upstream({"/": [200]}) as first, Upstream({"/": [200]}) as second, Upstream({"/": [200]}) as third, \
            Reprise(limits={"labelled_upstreams": 1}) as reprise:
        for upstream in (first, second, third, second):
            equal(ask(reprise, "GET", upstream.url("/")).status, 200)
        reprise.expect_metric(1, "reprise_upstream_attempts_total", upstream=f"{LOOPBACK}:{first.port}")
        reprise.expect_metric(3, "reprise_upstream_attempts_total", upstream="other")


def test_upstream_named_in_a_route_does_not_count_against_the_label_limit():
    with Upstream({"/": [200]}) as upstream, \
            Reprise(limits={"labelled_upstreams": 0}, routes=[{"name": "named", "match": {"host": LOOPBACK}}]) as reprise:
        equal(ask(reprise, "GET", upstream.url("/")).status, 200)
        reprise.expect_metric(1, "reprise_upstream_attempts_total", upstream=f"{LOOPBACK}:{upstream.port}", outcome="2xx")
