"""Tests the formats of /metrics: Prometheus text, OpenMetrics, and gzip, as negotiated."""
import gzip
import shutil
import subprocess

import open_metrics
from client import Client, ask
from harness import LOOPBACK, Reprise, equal, eventually, part_not_played
from test_intercept import Intercepting
from upstream import Say, Upstream

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
PROMETHEUS = ("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,"
              "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")


def metrics(reprise, method="GET", **fields):
    """Returns the whole response to a request for /metrics."""
    with Client(reprise.addresses["admin"]) as client:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        client.send(f"{method} /metrics HTTP/1.1\r\nHost: {LOOPBACK}\r\n{lines}\r\n".encode())
        return client.read_response(method)


def busy(upstream):
    """Returns a proxy with a named route, so that the series have a route name in their labels."""
    return Reprise(routes=[{"name": "odd-name", "match": {"host": LOOPBACK}}])


def test_open_metrics_output_conforms_to_the_standard():
    with Upstream({"/x": [503, Say(200, body=b"y" * 5000)]}) as upstream, busy(upstream) as reprise:
        equal(ask(reprise, "POST", upstream.url("/once"), body=b"x" * 300).status, 200)
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        reprise.expect_metric(2, "reprise_requests_total", code="200")
        response = metrics(reprise, Accept=PROMETHEUS)
        equal((response.status, response.field("Content-Type")), (200, OPEN))
        families = open_metrics.read(response.body.decode())
        plain = metrics(reprise).body.decode()
        kinds = {name: (family.type, family.unit) for name, family in families.items()}
        equal(kinds["reprise_requests"], ("counter", None))
        equal(kinds["reprise_upstream_attempt_duration_seconds"], ("histogram", "seconds"))
        equal(kinds["reprise_request_bytes"], ("counter", "bytes"))
        equal(kinds["reprise_build"], ("info", None))
        equal(kinds["reprise_budget_available_ratio"], ("gauge", "ratio"))
        assert all(family.help and family.samples for family in families.values()), "help and samples"
        # Both formats must have the same series. Only the bucket bounds are written differently.
        here = {(family.name + suffix, tuple(labels.items())) for family in families.values() for suffix, labels, _ in family.samples}
        for line in plain.splitlines():
            name = line.split("{")[0].split(" ")[0]
            assert line.startswith("#") or name in {each for each, _ in here}, line
        equal(len(here), sum(1 for line in plain.splitlines() if not line.startswith("#")))
        routes = [labels["route"] for _, labels, _ in families["reprise_requests"].samples]
        assert "odd-name" in routes, routes


def test_metrics_format_follows_the_weights_of_accept():
    wanted = {"": TEXT, "*/*": TEXT, "text/plain": TEXT, "application/openmetrics-text": OPEN, PROMETHEUS: OPEN,
              "application/openmetrics-text;q=0": TEXT, "application/openmetrics-text;q=0.2, text/plain;q=0.3": TEXT,
              "text/plain;q=0.3, application/openmetrics-text;version=\"1.0.0\";q=0.4": OPEN, "application/openmetrics-text;version=2.0.0": TEXT,
              "Application/OpenMetrics-Text;Q=1": OPEN, "application/json": TEXT, ";;,,q=;application/openmetrics-text;q=x": TEXT}
    with Reprise() as reprise:
        for accept, content_type in wanted.items():
            response = metrics(reprise, **({"Accept": accept} if accept else {}))
            equal((response.status, response.field("Content-Type")), (200, content_type), accept)
            equal(response.field("Vary"), "Accept, Accept-Encoding")


def test_metrics_compression_follows_the_weights_of_accept_encoding():
    wanted = {"gzip": True, "gzip;q=0": False, "gzip;q=0.000": False, "deflate, gzip;q=0.5": True, "*": True, "*;q=0": False, "identity": False,
              "gzip;q=0.5, identity": False, "gzip;q=1.0, identity;q=0.5": True, "x-gzip": True, "br": False, "*, gzip;q=0": False, "GZIP": True}
    with Reprise() as reprise:
        for accept, compressed in wanted.items():
            response = metrics(reprise, Accept_Encoding=accept)
            equal(response.field("Content-Encoding"), "gzip" if compressed else None, accept)
            text = gzip.decompress(response.body) if compressed else response.body
            assert b"# TYPE reprise_requests_total" in text or b"reprise_client_connections" in text, accept
            if compressed:
                assert len(response.body) * 3 < len(text), (len(response.body), len(text))
        both = metrics(reprise, Accept=PROMETHEUS, Accept_Encoding="gzip")
        equal((both.field("Content-Type"), both.field("Content-Encoding")), (OPEN, "gzip"))
        open_metrics.read(gzip.decompress(both.body).decode())
        head = metrics(reprise, method="HEAD", Accept=PROMETHEUS, Accept_Encoding="gzip")
        equal((head.status, head.body, head.field("Content-Encoding"), head.field("Content-Type")), (200, b"", "gzip", OPEN))


def test_metrics_include_attempt_times_per_upstream_and_bytes_per_route():
    with Upstream({"/x": [503, 503, Say(200, body=b"y" * 5000)]}) as upstream, Reprise() as reprise:
        name = f"{LOOPBACK}:{upstream.port}"
        equal(ask(reprise, "GET", upstream.url("/x")).status, 200)
        equal(ask(reprise, "POST", upstream.url("/once"), body=b"x" * 300).status, 200)
        reprise.expect_metric(4, "reprise_upstream_attempt_duration_seconds_count", upstream=name)
        equal(reprise.metric("reprise_upstream_attempts_total", upstream=name), 4)
        assert reprise.metric("reprise_upstream_attempt_duration_seconds_sum", upstream=name) > 0
        reprise.expect_metric(300, "reprise_request_bytes_total", route="default")
        eventually(lambda: reprise.metric("reprise_response_bytes_total", route="default") >= 5000, "the bytes of the responses")
        if shutil.which("promtool") is None:
            return part_not_played("promtool", "client", "there is no promtool here")
        checked = subprocess.run(["promtool", "check", "metrics"], input=reprise.admin("/metrics")[1], capture_output=True, text=True, check=False)
        equal((checked.returncode, checked.stderr), (0, ""), "promtool check metrics")
    return None


def test_ca_expiry_is_exposed_as_a_gauge():
    with Intercepting() as reprise:
        left = reprise.metric("reprise_certificate_expires_seconds", certificate="authority")
        assert 0 < left <= 10 * 366 * 86400, "at most ten years"
        families = open_metrics.read(metrics(reprise, Accept=PROMETHEUS).body.decode())
        equal((families["reprise_certificate_expires_seconds"].type, families["reprise_certificate_expires_seconds"].unit), ("gauge", "seconds"))
    with Reprise() as reprise:
        assert "certificate_expires" not in reprise.admin("/metrics")[1], "no authority, no series"
