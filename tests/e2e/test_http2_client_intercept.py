"""Tests rows M8 and M9 of docs/requirements/http2.md: HTTP/2 inside intercepted TLS."""
import ssl
import subprocess

import http2_frames as h2
from harness import PATIENCE, equal, needs_client
from http2_client import Http2Client
from http2_upstream import TlsHttp2Upstream
from test_intercept import HOST, Intercepting, asked_for, clean
from tls import TlsUpstream
from upstream import Upstream

ALONE = True  # as in test_intercept


def chosen(reprise, port, alpn):
    """Returns a TLS socket inside a tunnel, over which the client has offered these protocols."""
    context = ssl.create_default_context(cafile=reprise.bundle)
    if alpn:
        context.set_alpn_protocols(alpn)
    return context.wrap_socket(asked_for(reprise, f"{HOST}:{port}"), server_hostname=HOST)


def http2_inside(reprise, port, **more):
    return Http2Client(connection=chosen(reprise, port, ["h2"]), authority=f"{HOST}:{port}", scheme="https", **more)


def test_M8_alpn_prefers_http_2():
    with TlsUpstream() as upstream, Intercepting() as reprise:
        for alpn, expected in ((["h2"], "h2"), (["http/1.1", "h2"], "h2"), (["http/1.1"], "http/1.1"), ([], None)):
            with chosen(reprise, upstream.port, alpn) as connection:
                equal(connection.selected_alpn_protocol(), expected, f"{alpn}")
        equal(reprise.interceptions("intercepted"), 4)


def test_M8_http_2_is_not_chosen_where_it_is_off():
    listeners = [{"mode": "forward", "bind": "127.0.0.1:0", "http2": False}]
    with TlsUpstream(alpn=("h2",)) as upstream, Intercepting(listeners=listeners) as reprise:
        with chosen(reprise, upstream.port, ["h2", "http/1.1"]) as connection:
            equal(connection.selected_alpn_protocol(), "http/1.1")
        equal((reprise.interceptions("intercepted"), reprise.interceptions("no_http_1_1")), (1, 0))


def test_M8_intercepted_requests_are_served_and_retried():
    for kind, version in ((TlsUpstream, "HTTP/1.1"), (TlsHttp2Upstream, "HTTP/2")):
        with kind({"/flaky": [503, 200]}) as upstream, Intercepting() as reprise, http2_inside(reprise, upstream.port) as client:
            equal(client.ask("POST", body=b"once").status, 200)
            equal(client.ask(path="/flaky").attempts, 2)
            equal({request.version for request in upstream.requests}, {version})


def test_M9_another_authority_gets_421_on_its_stream_alone():
    with TlsHttp2Upstream() as upstream, Intercepting() as reprise, http2_inside(reprise, upstream.port) as client:
        for authority, scheme in (("other.test", "https"), (f"{HOST}:1", "https"), (f"{HOST}:{upstream.port}", "http")):
            equal(client.ask(authority=authority, scheme=scheme).status, 421, f"{scheme} {authority}")
        equal(client.ask().status, 200)
        equal(upstream.count("/x"), 1)


def test_M116_wrong_preface_ends_an_intercepted_connection():
    with TlsHttp2Upstream() as upstream, Intercepting() as reprise, http2_inside(reprise, upstream.port, opening=b"GET / HTTP/1.1\r\n\r\n" * 2) as client:
        code = client.read_to_goaway()
        assert code in (h2.PROTOCOL_ERROR, None), code
        equal(upstream.connections, 0)


def test_M120_curl_is_served_over_intercepted_http_2():
    needs_client("curl")
    with TlsUpstream({"/flaky": [503, 200]}) as upstream, Intercepting() as reprise:
        done = subprocess.run(["curl", "-sS", "--http2", "-x", reprise.proxy_url, "--noproxy", "", "--cacert", reprise.bundle, "--max-time", str(PATIENCE),
                               "-w", " %{http_version} %{http_code}", f"https://{HOST}:{upstream.port}/flaky"],
                              env=clean(), capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
        assert done.stdout.endswith(" 2 200"), (done.stdout, done.stderr)
        equal(upstream.count("/flaky"), 2)
