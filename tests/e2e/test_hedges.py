"""Tests hedges: a second copy of a slow request."""
from client import ask
from harness import Reprise, equal
from upstream import Say, Upstream


def first_hangs(connection, request):
    """Never responds on the first connection. Counts connections and not requests, because the upstream
    may read the hedge before the first request."""
    if request.connection == 1:
        connection.recv(1)
        return False
    connection.sendall(Say(200).text(request, 1))
    return True


def test_hedged_copy_responds_when_the_first_request_hangs():
    with Upstream({"/x": [first_hangs]}) as upstream, Reprise(defaults={"hedge": {"after": "20ms"}}) as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))
        line = reprise.requests(1)[0]
        equal((line["hedge"], line["reason"]), ("won", "success"))
        equal([attempt["reason"] for attempt in line["attempts"]], ["hedged", "success"])
        reprise.expect_metric(1, "reprise_hedges_total", outcome="won")
        reprise.expect_metric(1, "reprise_retries_total", reason="hedged")


def test_upgrade_to_tls_is_hedged_and_other_upgrades_are_not():
    with Upstream({"/x": [first_hangs], "/chat": [first_hangs]}) as upstream, Reprise(defaults={"hedge": {"after": "20ms"}}) as reprise:
        offers_tls = [("Connection", "Upgrade"), ("Upgrade", "TLS/1.2")]
        response = ask(reprise, "GET", upstream.url("/x"), fields=offers_tls)
        equal((response.status, response.attempts), (200, 2))
        asks_for_chat = [("Connection", "Upgrade"), ("Upgrade", "chat")]
        equal(ask(reprise, "GET", upstream.url("/chat"), fields=asks_for_chat).status, 200)
        reprise.expect_metric(1, "reprise_hedges_total", outcome="won")


def test_hedge_starts_after_the_observed_p95():
    script = {"/x": [200] * 20 + ["hang", 200]}
    with Upstream(script) as upstream, Reprise(defaults={"hedge": {"after": "p95"}}) as reprise:
        for _ in range(20):
            equal(ask(reprise, "GET", upstream.url("/x")).attempts, 1, "nobody knows yet what is slow")
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.attempts), (200, 2))


def test_post_is_never_hedged():
    with Upstream({"/x": [200]}) as upstream, Reprise(defaults={"hedge": {"after": "1ms"}}) as reprise:
        for _ in range(20):
            equal(ask(reprise, "POST", upstream.url("/x"), body=b"x").attempts, 1)
        equal(upstream.count("/x"), 20)
