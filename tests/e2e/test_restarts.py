"""Tests that a restart of an upstream goes unnoticed with the shipped defaults: its port refuses connections for a
time, then listens again."""
import threading
from concurrent.futures import ThreadPoolExecutor

from client import ask
from harness import LOOPBACK, SHIPPED, Reprise, closed_port, equal
from restart_load import restarts
from upstream import Upstream

def asked_while_away(reprise, clients, seconds):
    """Sends `clients` requests at once to a port that refuses connections and opens after `seconds`. Returns how
    many requests got the upstream's response."""
    listener, port = closed_port()
    upstream = Upstream({"/": [200]}, listener=listener)
    opening = threading.Timer(seconds, upstream.__enter__)
    opening.start()
    with ThreadPoolExecutor(clients) as pool:
        responses = list(pool.map(lambda _: ask(reprise, "GET", f"http://{LOOPBACK}:{port}/"), range(clients)))
    opening.join()
    upstream.__exit__()
    equal(all(response.attempts > 1 for response in responses), True, "nobody got through before it was there")
    return [response.status for response in responses].count(200)


def test_ten_requests_survive_an_upstream_outage_of_half_a_second():
    with Reprise(defaults=SHIPPED) as reprise:
        equal(asked_while_away(reprise, 10, 0.5), 10)


def test_ten_requests_survive_an_upstream_outage_of_one_second():
    with Reprise(defaults=SHIPPED) as reprise:
        equal(asked_while_away(reprise, 10, 1), 10)


def test_ten_requests_survive_an_upstream_outage_of_two_seconds():
    with Reprise(defaults=SHIPPED) as reprise:
        equal(asked_while_away(reprise, 10, 2), 10)


def test_eighty_concurrent_requests_survive_an_outage_without_spending_the_budget():
    with Reprise(defaults=SHIPPED) as reprise:
        equal(asked_while_away(reprise, 80, 2), 80)
        reprise.expect_metric(80, "reprise_recovered_total")
        reprise.expect_metric(0, "reprise_retries_refused_total", reason="budget_spent")


def test_three_upstream_restarts_cause_client_errors_only_without_reprise():
    _, errors = restarts(number=1, away=0.2)
    assert errors > 0, errors
    with Reprise(defaults=SHIPPED) as reprise:
        requests, errors = restarts(reprise, away=0.2)
        equal(errors, 0, f"of {requests}")
