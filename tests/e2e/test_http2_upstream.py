"""Tests requests of HTTP/1 clients over HTTP/2: the real curl, nghttpd and nginx, transfers of 50 MB, and a ledger of
thousands of requests to an upstream that rotates its connections."""
import hashlib
import queue
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path

import chance
import http2_frames as h2
from client import Cut
from harness import PATIENCE, equal, eventually, options, without_proxies
from http2_servers import nghttpd, nginx
from http2_stage import GatewayClient, ask, clients, http2_proxy
from http2_upstream import Http2Upstream, Reply, TlsHttp2Upstream, refuses
from parent import Parent
from test_retries import reasons
from tls import trusting
from transfers import MIB, Checker, pieces, sha256_of

CLIENTS = 20
ROTATION = 50  # streams of one upstream connection
SIZE = 50 * MIB


def curl(reprise, path, *arguments):
    """Runs the real curl against the gateway. Returns its exit code, the status and the body."""
    with tempfile.NamedTemporaryFile() as body:
        command = ["curl", "-sS", "--http1.1", "--noproxy", "*", "--max-time", str(PATIENCE), "-o", body.name, "-w", "%{http_code}", *arguments,
                   "http://%s:%d%s" % (*reprise.gateway, path)]
        done = subprocess.run(command, capture_output=True, env=without_proxies(), timeout=2 * PATIENCE, check=False)
        return done.returncode, int(done.stdout), body.read()


def test_curl_gets_responses_of_an_http_2_upstream():
    with Http2Upstream({"/once": [refuses, 200], "/busy": [503, 503, 200]}) as upstream, http2_proxy(upstream) as reprise:
        equal(curl(reprise, "/x"), (0, 200, b"answer 1 to /x\n"))
        equal(curl(reprise, "/once", "-d", "body"), (0, 200, b"answer 2 to /once\n"))
        equal(curl(reprise, "/busy"), (0, 200, b"answer 3 to /busy\n"))
        equal((upstream.versions(), curl(reprise, "/x", "-I")[:2]), (["HTTP/2"] * 6, (0, 200)))


def test_M31_http2_upstream_over_tls():
    def digest(link, request):
        link.respond(request, Reply(200, request.digest.encode()))
    with TlsHttp2Upstream({"/x": [digest], "/r": [refuses, 200]}) as upstream, \
            http2_proxy(upstream, f"https://localhost:{upstream.port}", trusting(http2="always")) as reprise, GatewayClient(reprise) as client:
        body = bytes(range(256)) * 1000
        for _ in range(3):
            equal(client.ask("PUT", body=body).body, hashlib.sha256(body).hexdigest().encode())
        equal((client.ask("POST", "/r", b"body").attempts, upstream.versions()), (2, ["HTTP/2"] * 5))
        equal(upstream.sni[0], "localhost")
        equal((upstream.requests[0].scheme, upstream.requests[0].authority), ("https", f"localhost:{upstream.port}"))


def test_M31_http2_over_tls_1_2():
    with TlsHttp2Upstream(newest=ssl.TLSVersion.TLSv1_2) as upstream, \
            http2_proxy(upstream, f"https://localhost:{upstream.port}", trusting(http2="always")) as reprise:
        equal((ask(reprise, "GET").status, upstream.versions()), (200, ["HTTP/2"]))


def test_M28_http2_is_used_inside_the_tunnel_of_a_parent():
    with TlsHttp2Upstream() as upstream, Parent() as parent, \
            http2_proxy(upstream, f"https://localhost:{upstream.port}", trusting(http2="always"), parent=parent.proxy_url()) as reprise, \
            GatewayClient(reprise) as client:
        equal([client.ask("POST", body=b"body").status for _ in range(2)], [200, 200])
        equal((upstream.versions(), parent.asked("CONNECT")), (["HTTP/2"] * 2, [f"localhost:{upstream.port}"]))


def serve_content(reprise, content):
    """Checks downloads, uploads that the server echoes, and several clients at once."""
    response = ask(reprise, "GET", "/content")
    equal((response.status, response.body == content), (200, True))
    equal(ask(reprise, "HEAD", "/content").field("Content-Length"), str(len(content)))
    equal(ask(reprise, "GET", "/missing").status, 404)
    with clients(reprise, 8) as asking:
        for _ in range(5):
            for client in asking:
                client.begin("GET", "/content")
            equal([client.read_response().body == content for client in asking], [True] * len(asking))


def test_nghttpd_as_upstream():
    content = chance.content("nghttpd", 300_000)
    for over_tls in (False, True):
        with nghttpd(content, over_tls) as url, http2_proxy(None, url, trusting() if over_tls else {}) as reprise:
            serve_content(reprise, content)
            equal(ask(reprise, "POST", "/echo", content).body == content, True)
            equal({line["attempts"][0]["status"] for line in reprise.requests(44)}, {200, 404})


def test_nghttpd_with_one_stream_a_connection_and_trailers():
    with nghttpd(b"hello", options=("-m", "1", "--trailer", "x-sum: 1")) as url, \
            http2_proxy(None, url, threads=1, pool={"http2_connections": 2}) as reprise, clients(reprise, 10) as asking:
        for client in asking:
            client.begin("GET", "/content")
        for client in asking:
            response = client.read_response()
            equal((response.status, response.body, response.attempts), (200, b"hello", 1))


def test_nginx_as_upstream():
    content = chance.content("nginx", 300_000)
    for over_tls in (False, True):
        with nginx(content, over_tls) as (url, _), http2_proxy(None, url, trusting() if over_tls else {}) as reprise:
            serve_content(reprise, content)
            equal(ask(reprise, "POST", "/answer", content[:10_000], [("X-Id", "7")]).body, b"POST 7\n", "nginx does not wait for the body")


def test_M57_nginx_that_rotates_its_connections_causes_no_failure():
    count = 2000 if options.night else 300
    with nginx(b"hello", most=10) as (url, folder), http2_proxy(None, url) as reprise:
        def ask_some(which):
            with GatewayClient(reprise) as client:
                for number in range(which, count, 10):
                    response = client.ask("POST", "/answer", b"body", [("X-Id", str(number))])
                    bodies.append(response.body)
        bodies = []
        in_threads(10, ask_some)
        equal(sorted(bodies), sorted(b"POST %d\n" % number for number in range(count)))
        eventually(lambda: Path(folder, "access").read_bytes().count(b"\n") >= count, "nginx has logged every request")
        equal(Path(folder, "access").read_bytes().count(b" 200 "), count, "each request was made once")


def in_threads(count, work):
    threads = [threading.Thread(target=work, args=(which,)) for which in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def plan(number):
    """Returns method and body of a request of the ledger. The number of the request determines both."""
    dice = chance.dice("http2", number)
    if dice.random() < 0.5:
        return "GET", None
    return "POST", chance.dice("http2 body", number).randbytes(dice.choice((0, 1, 100, 5000, 40_000)))


def expected_body(number, body):
    return f"{number} {hashlib.sha256(body or b'').hexdigest()}".encode()


def respond_to_entry(link, request):
    link.upstream.count_effect(request)
    link.respond(request, Reply(200, f"{request.id} {request.digest}".encode()))


def run_ledger(reprise, count):
    """Sends requests of 20 clients at once. Returns descriptions of all wrong responses."""
    def work(_):
        client = GatewayClient(reprise)
        while reprise.process.poll() is None:
            try:
                number = numbers.get_nowait()
            except queue.Empty:
                break
            method, body = plan(number)
            try:
                client = client or GatewayClient(reprise)
                response = client.ask(method, f"/entry?id={number}", body)
                if (response.status, response.body) != (200, expected_body(number, body)):
                    problems.append(f"{number} {method}: {response.status} {response.reason} {response.body[:200]}")
            except (OSError, Cut) as error:
                problems.append(f"{number} {method}: {error!r}")
                client = None
    numbers, problems = queue.SimpleQueue(), []
    for number in range(count):
        numbers.put(number)
    in_threads(CLIENTS, work)
    return problems


def check_ledger(count, configuration, **rotation):
    with Http2Upstream(otherwise=[respond_to_entry], **rotation) as upstream, http2_proxy(upstream, threads=1, **configuration) as reprise:
        problems = run_ledger(reprise, count)
        assert not problems, f"{len(problems)} wrong responses of {count}: " + "; ".join(problems[:5])
        equal((len(upstream.effects), set(upstream.effects.values())), (count, {1}), "each request took effect once")
        ignored = sum(link.ignored for link in upstream.links)
        lines = reprise.requests(count)
        repeated = sum(len(line["attempts"]) - 1 for line in lines)
        equal(sum(link.pinged for link in upstream.links), 0, "the proxy sends no PING")
        print(f"note: {count} requests, {upstream.connections} connections, {ignored} streams above the last id, {repeated} repeated")
        assert upstream.connections > count // (2 * ROTATION), "the upstream rotated"
        equal({word for line in lines for word in reasons(line)} - {"success", "stale_connection", "retryable_failure"}, set())
        equal(repeated >= ignored, True, "each excluded stream was repeated")
        return ignored


def test_M56_M57_M60_no_request_fails_or_is_doubled_while_the_upstream_rotates_its_connections():
    check_ledger(10_000 if options.night else 1000, {}, rotate=ROTATION)


def test_M56_M57_M60_no_request_fails_or_is_doubled_if_clients_share_connections_that_rotate():
    """Many streams of one connection run when the GOAWAY arrives, so some of them are above the last id."""
    ignored = 0
    for warns in (False, True):
        ignored += check_ledger(5000 if options.night else 500, {"pool": {"http2_connections": 3}}, rotate=ROTATION, warns=warns,
                                settings={h2.MAX_CONCURRENT_STREAMS: 30})
    assert ignored, "no stream was above the last id"


test_M56_M57_M60_no_request_fails_or_is_doubled_while_the_upstream_rotates_its_connections.timeout = 900
test_M56_M57_M60_no_request_fails_or_is_doubled_if_clients_share_connections_that_rotate.timeout = 900


def test_repeated_request_with_a_large_body_is_sent_whole_again():
    """The whole body is held when the second attempt begins, and is longer than the window of the stream."""
    body = bytes(range(256)) * 1000
    for step in (503, refuses):
        with Http2Upstream({"/x": [step, step, 200]}) as upstream, http2_proxy(upstream) as reprise:
            response = ask(reprise, "PUT", "/x", body)
            equal((response.status, response.attempts, [request.body == body for request in upstream.requests]), (200, 3, [True] * 3))


def test_M91_download_that_breaks_is_resumed_on_another_stream():
    content = chance.content("resume", 400_000)
    def part(link, request):
        start = int((request.field("range") or "bytes=0-")[6:].rstrip("-"))
        fields = [(":status", "206" if start else "200"), ("etag", '"v1"'), ("content-length", str(len(content) - start))]
        fields += [("content-range", f"bytes {start}-{len(content) - 1}/{len(content)}")] if start else []
        link.headers(request.stream, fields)
        if start == 0:
            link.data(request.stream, content[:10_000])
            link.reset_stream(request.stream, h2.INTERNAL_ERROR)
        else:
            request.unsent, request.reply = memoryview(content)[start:], Reply(206)
            link.flush(request)
    with Http2Upstream({"/x": [part]}) as upstream, http2_proxy(upstream) as reprise:
        response = ask(reprise, "GET")
        equal((response.status, response.body == content, [request.field("range") for request in upstream.requests]), (200, True, [None, "bytes=10000-"]))
        equal(reasons(reprise.requests(1)[0]), ["resumed", "success"])


def test_M103_downloads_make_progress_when_the_memory_of_streams_is_used_up():
    content = chance.content("memory", 1 << 20)
    with Http2Upstream({"/x": [Reply(200, content)]}) as upstream, \
            http2_proxy(upstream, threads=1, limits={"stream_memory": "1MiB"}, pool={"http2_connections": 2}) as reprise, clients(reprise, 20) as asking:
        for client in asking:
            client.begin("GET")
        upstream.heads_seen(len(asking))
        for client in asking:
            equal(client.read_response().body == content, True)


def test_M48_50_mb_up_and_down_are_equal_to_the_byte():
    content = b"".join(pieces(0, SIZE))
    with Http2Upstream({"/down": [Reply(200, content)], "/chunked": [Reply(200, content, length=False)]}) as upstream, \
            http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        client.begin("PUT", "/up", fields=[("Content-Length", str(SIZE))])
        for piece in pieces(0, SIZE):
            client.send(piece)
        equal(client.read_response().status, 200)
        request = upstream.seen(1)[0]
        equal((request.size, request.digest), (SIZE, sha256_of(SIZE)))
        for path in ("/down", "/chunked"):
            checker = Checker(SIZE)
            response = client.begin("GET", path).read_final_head()
            for piece in client.pieces(response):
                checker.take(piece)
            equal((response.status, checker.whole), (200, True), path)


def test_M48_slow_reader_pauses_the_upstream_within_its_windows():
    content = b"".join(pieces(0, SIZE))
    with Http2Upstream({"/down": [Reply(200, content)]}) as upstream, http2_proxy(upstream) as reprise, GatewayClient(reprise) as client:
        response = client.begin("GET", "/down").read_final_head()
        request = upstream.seen(1)[0]
        eventually(lambda: request.send_window <= 0, "the window is used up")
        checker, most_ahead = Checker(SIZE), 0
        for piece in client.pieces(response):
            checker.take(piece)
            most_ahead = max(most_ahead, SIZE - len(request.unsent) - checker.taken)
        equal((response.status, checker.whole), (200, True))
        # One window, and what the buffers of the sockets hold.
        assert most_ahead < SIZE / 2, f"{most_ahead} bytes were between the upstream and the client"


def test_M48_50_mb_up_and_down_through_nghttpd():
    with nghttpd() as url, http2_proxy(None, url) as reprise, GatewayClient(reprise) as client:
        sender = threading.Thread(target=lambda: [client.send(piece) for piece in pieces(0, SIZE)])
        client.begin("POST", "/echo", fields=[("Content-Length", str(SIZE))])
        sender.start()
        checker = Checker(SIZE)
        response = client.read_final_head()
        for piece in client.pieces(response):
            checker.take(piece)
        sender.join()
        equal((response.status, checker.whole), (200, True))
