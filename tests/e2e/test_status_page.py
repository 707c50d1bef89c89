"""Tests the status page and its event feed: their content and who may access them. No reader, however slow, may
delay the proxy. tests/browser tests the page in a browser."""
import collections
import contextlib
import json
import os
import re
import socket
import time
import urllib.request
from base64 import b64encode
from hashlib import sha256

from client import Client, ask
from control import Controlled
from events import Events
from harness import PATIENCE, Reprise, at_most, equal, eventually
from upstream import Say, Upstream

TWICE = {"retry": {"max_attempts": 2}}


def status_of(reprise):
    return json.loads(reprise.admin("/status")[1])


def memory(reprise):
    """Returns the private resident memory of reprise in bytes."""
    with open(f"/proc/{reprise.process.pid}/smaps_rollup", encoding="ascii") as file:
        text = file.read()
    return 1024 * sum(int(number) for number in re.findall(r"^Private_\w+: +(\d+) kB", text, re.M))


def is_sanitized(reprise):
    """Returns true if reprise was built with a sanitizer: its memory use is then not meaningful."""
    with open(os.path.realpath(reprise.process.args[0]), "rb") as program:
        return bool(re.search(rb"__[at]san_init", program.read()))


def test_status_contains_durations_and_upstreams_and_the_number_of_responses_by_class():
    with Upstream({"/ok": [200], "/bad": [503], "/flaky": [503, 200]}) as upstream, Reprise(defaults=TWICE) as reprise:
        for path in ("/ok", "/bad", "/flaky"):
            ask(reprise, "GET", upstream.url(path))
        reprise.expect_metric(3, "reprise_requests_total")
        status = status_of(reprise)
        route = status["routes"][-1]
        equal(route["responses"], {"2xx": 2, "5xx": 1})
        equal(sum(route["durations"]), 3)
        equal(len(route["durations"]), len(status["duration_bounds"]) + 1)
        [mine] = [each for each in status["upstreams"] if each["name"] == f"127.0.0.1:{upstream.port}"]
        equal(mine["attempts"], {"2xx": 2, "5xx": 3})
        assert mine["budget_left"] < 1, mine
        equal(set(status["totals"]["upstream_connections"]), {"active", "idle"})
        eventually(lambda: status_of(reprise)["clock"] > status["clock"], "a clock that goes on")


def minute_of(status, route):
    """Returns the counters of a route, each summed over the last minute."""
    sums = collections.Counter()
    for second in next(each for each in status["routes"] if each["name"] == route)["last_minute"]:
        assert second["clock"] <= status["clock"] + 1, (second, status["clock"])
        sums.update({name: number for name, number in second.items() if name not in ("clock", "durations")})
        sums["timed"] += sum(second.get("durations", []))
    return dict(sums)


def test_status_contains_the_last_minute_per_second_for_routes_and_upstreams():
    with Upstream({"/ok": [200], "/bad": [503], "/flaky": [503, 200], "/no": ["reset"]}) as upstream, Reprise(defaults=TWICE, threads=4) as reprise:
        equal(minute_of(status_of(reprise), "default"), {})
        for path in ("/ok", "/bad", "/flaky"):
            ask(reprise, "GET", upstream.url(path))
        ask(reprise, "POST", upstream.url("/no"), b"x")
        reprise.expect_metric(4, "reprise_requests_total")
        status = status_of(reprise)
        equal(minute_of(status, "default"), {"requests": 4, "failed": 2, "retries": 2, "recovered": 1, "refused": 2, "timed": 4})
        assert 1 <= status["last_minute_seconds"] <= 60, status["last_minute_seconds"]
        [mine] = [each for each in status["upstreams"] if each["name"] == f"127.0.0.1:{upstream.port}"]
        equal(sum(second["attempts"] for second in mine["last_minute"]), 6)
        equal(sum(second.get("failed", 0) for second in mine["last_minute"]), 4)
        with Events(reprise) as events:
            equal(minute_of(events.next()[1], "default"), minute_of(status, "default"), "the first event has it, too")
            equal([route for route in events.until("change")["routes"] if "last_minute" in route], [], "later ones tell what is new")


def test_last_minute_of_a_route_is_kept_over_reloads_under_the_name_of_the_route():
    def routes(name):
        return [{"name": name, "match": {"path": "/x/**"}}]
    with Upstream({}) as upstream, Controlled(routes=routes("old")) as reprise:
        def use(name):
            reprise.change(routes=routes(name))
            eventually(lambda: status_of(reprise)["routes"][0]["name"] == name, "the reload")
        for _ in range(3):
            ask(reprise, "GET", upstream.url("/x/1"))
        reprise.expect_metric(3, "reprise_requests_total", route="old")
        equal(minute_of(status_of(reprise), "old")["requests"], 3)
        use("new")
        equal(minute_of(status_of(reprise), "new"), {}, "what another route has counted is not its")
        ask(reprise, "GET", upstream.url("/x/1"))
        reprise.expect_metric(1, "reprise_requests_total", route="new")
        equal(minute_of(status_of(reprise), "new")["requests"], 1)
        use("old")
        equal(minute_of(status_of(reprise), "old")["requests"], 3)


def test_status_reports_circuits_and_pauses():
    circuit = {"failures": 0.5, "requests": 2, "window": "10s", "open": "1m"}
    with Upstream({"/bad": [503]}) as upstream, Controlled(
            defaults={"retry": {"max_attempts": 1}, "circuit": circuit}) as reprise:
        for _ in range(3):
            ask(reprise, "GET", upstream.url("/bad"))
        reprise.tell("pause", f"127.0.0.1:{upstream.port}", "60")
        [mine] = status_of(reprise)["upstreams"]
        equal(mine["circuit"], "open")
        assert 0 < mine["pause_seconds"] <= 60, mine


def test_events_start_with_the_full_status_and_continue_with_changes():
    with Upstream({"/flaky": [503, 200], "/no": ["reset"]}) as upstream, Reprise() as reprise, Events(reprise) as events:
        equal(events.status, 200)
        assert "Content-Type: text/event-stream" in events.head, events.head
        name, status = events.next()
        equal((name, set(status)), ("status", set(status_of(reprise))), "the same document")
        equal(events.next(), ("stories", []))
        ask(reprise, "GET", upstream.url("/flaky"))
        story = events.until("story")
        equal((story["recovered"], len(story["attempts"])), (True, 2))
        ask(reprise, "POST", upstream.url("/no"), b"x")
        story = events.until("story")
        equal(story["reason"], "not_idempotent")
        assert story["advice"] and story["meaning"], story
        with Events(reprise) as late:
            equal(late.next()[0], "status")
            equal([each["id"] for each in late.until("stories")][-1], story["id"])


def test_events_contain_only_routes_that_changed():
    routes = [{"name": "a", "match": {"path": "/a"}}, {"name": "b", "match": {"path": "/b"}}]
    with Upstream({}) as upstream, Reprise(routes=routes) as reprise, Events(reprise) as events:
        equal([route["name"] for route in events.until("status")["routes"]], ["a", "b", "default"])
        ask(reprise, "GET", upstream.url("/b"))
        while True:
            moved = events.until("change")["routes"]
            if moved:
                break
        equal([(route["name"], route["requests"]) for route in moved], [("b", 1)])


def test_events_report_a_new_configuration_and_a_failed_reload():
    with Controlled(defaults=TWICE) as reprise, Events(reprise) as events:
        before = events.until("status")["config"]["hash"]
        reprise.change(defaults={"retry": {"max_attempts": 3}})
        status = events.until("status")
        assert status["config"]["hash"] != before
        reprise.write("version: 1\nno_such_key: 1\n")
        while True:
            reload = events.until("change")["reload"]
            if reload and reload["outcome"] == "failed":
                break
        assert re.search(r"reprise\.yaml:2:1: error: .*no_such_key", reload["errors"][0]), reload


def test_event_stream_ends_with_a_reason_when_the_proxy_exits():
    with Reprise(shutdown={"linger": "0s", "grace": "1s"}) as reprise, Events(reprise) as events:
        events.until("stories")
        reprise.terminate()
        reprise.wait()
        equal(events.to_end()[-1], ("end", {"reason": "this listener is closed"}))


def test_events_report_draining():
    with Controlled() as reprise, Events(reprise) as events:
        events.until("stories")
        reprise.tell("drain")
        while not events.until("change")["draining"]:
            continue


def test_H6_page_and_events_reject_foreign_host_names_and_other_origins():
    with Reprise() as reprise:
        with Client(reprise.addresses["admin"]) as client:
            for path in ("/", "/events", "/status", "/stories"):
                for host, fields in (("evil.example", []), ("localhost", [("Origin", "http://evil.example")])):
                    fields = "".join(f"{name}: {value}\r\n" for name, value in fields)
                    client.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n".encode())
                    equal(client.read_response().status, 403, f"{path} for {host} {fields}")


def asked_by_a_browser(client, path, site, *more):
    fields = "".join(f"{name}: {value}\r\n" for name, value in [("Sec-Fetch-Site", site), *more])
    client.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode())
    return client.read_final_head().status


def test_H6_subresource_and_frame_requests_of_other_sites_are_rejected():
    """A browser sends no Origin with a request for an image, a script or a frame, but Sec-Fetch-Site says whether
    another site has caused the request."""
    with Reprise() as reprise:
        for site in ("cross-site", "same-site"):
            for path in ("/", "/events", "/status", "/stories", "/stories/x", "/metrics"):
                for mode in ("no-cors", "navigate"):
                    with Client(reprise.addresses["admin"]) as client:
                        fields = [("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", "image" if mode == "no-cors" else "iframe")]
                        equal(asked_by_a_browser(client, path, site, *fields), 403, f"{path} by {site}, {mode}")
        link = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
        for site, path, fields, status in (("same-origin", "/events", [], 200), ("none", "/stories", link, 200),
                                           ("cross-site", "/", link, 200), ("cross-site", "/metrics", link, 200),
                                           ("cross-site", "/stories", link, 403), ("cross-site", "/livez", [], 200)):
            with Client(reprise.addresses["admin"]) as client:
                equal(asked_by_a_browser(client, path, site, *fields), status, f"{path} by {site}")


def test_page_is_self_contained_and_its_content_security_policy_allows_nothing_else():
    with Reprise() as reprise:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open("http://%s:%d/" % reprise.addresses["admin"]) as answer:
            fields, text = dict(answer.headers.items()), answer.read().decode()
        policy = fields["Content-Security-Policy"]
        for tag in ("style", "script"):
            [inside] = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
            source = b64encode(sha256(inside.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{source}'" in policy, (tag, policy)
        assert "unsafe" not in policy and "default-src 'none'" in policy, policy
        equal((fields["X-Content-Type-Options"], fields["Referrer-Policy"], fields["Cache-Control"]), ("nosniff", "no-referrer", "no-store"))
        assert not re.search(r"""(src|href)=["']?(https?:)?//""", text), "nothing comes from outside"


@contextlib.contextmanager
def deaf_readers(reprise, count):
    """Yields connections that request /events and never read the response."""
    readers = []
    try:
        for _ in range(count):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(reprise.addresses["admin"])
            reader.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            readers.append(reader)
        yield readers
    finally:
        for reader in readers:
            reader.close()


def test_L32_a_hundred_unread_event_streams_delay_no_request_and_use_bounded_memory():
    """600 routes make the first event about 150 KiB long, which is more than the kernel's buffers hold. So reprise
    must notice that the clients do not read."""
    routes = [{"name": f"route-{i:04}-{'x' * 40}", "match": {"path": f"/{i}"}} for i in range(600)]
    with Upstream({}) as upstream, Reprise(routes=routes) as reprise, Client(reprise.forward) as client:
        def ask_a_hundred():
            start = time.monotonic()
            for _ in range(100):
                equal(client.ask("GET", upstream.url("/1")).status, 200)
            return time.monotonic() - start
        ask_a_hundred()
        before = memory(reprise)
        with deaf_readers(reprise, 100) as readers:
            statuses = []
            for reader in readers:
                reader.settimeout(PATIENCE)
                statuses.append(int(reader.recv(12, socket.MSG_WAITALL).split()[1]))
            equal((statuses.count(200), statuses.count(503)), (16, 84))
            took = ask_a_hundred()
            at_most(took, 20, "seconds for 100 requests")
            equal(reprise.admin("/metrics")[0], 200)
            equal(reprise.admin("/livez"), (200, "alive\n"))
            grown = memory(reprise) - before
            if not is_sanitized(reprise):
                at_most(grown, 24 << 20, "bytes for readers")

            def a_place_is_free():
                with Events(reprise) as events:
                    return events.status == 200
            eventually(a_place_is_free, "those that do not read are let go")
        ask_a_hundred()


def test_L32_loading_the_page_a_thousand_times_leaks_nothing():
    with Upstream({"/flaky": [503, 200]}) as upstream, Reprise() as reprise:
        ask(reprise, "GET", upstream.url("/flaky"))

        def load(times):
            for _ in range(times):
                with Client(reprise.addresses["admin"]) as client, socket.create_connection(reprise.addresses["admin"]) as reader:
                    client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    equal(client.read_response().status, 200)
                    reader.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        load(100)
        before, descriptors = memory(reprise), reprise.descriptors()
        load(1000)
        eventually(lambda: reprise.descriptors() <= descriptors, "every connection is gone")
        grown = memory(reprise) - before
        if not is_sanitized(reprise):
            at_most(grown, 8 << 20, "bytes more after 1,000 loads")
        equal(ask(reprise, "GET", upstream.url("/")).status, 200)
        with Events(reprise) as events:
            equal(events.status, 200)


def test_client_data_stays_on_one_line_of_an_event():
    with Upstream({}, otherwise=[Say(503)]) as upstream, Reprise(defaults=TWICE) as reprise, Events(reprise) as events:
        events.until("stories")
        ask(reprise, "GET", upstream.url("/%0Aevent:%20status%0Adata:%20{}/<script>"))
        story = events.until("story")
        assert story["path"].endswith("/<script>"), story["path"]
