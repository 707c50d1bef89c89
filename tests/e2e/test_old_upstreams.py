"""Tests responses of old upstream software: heads with LF line ends, folded fields, many fields, sizes with leading
zeros, HTTP/1.2. reprise accepts all of these and sends the client a normalized message."""
import json
import re
import subprocess
import tempfile
from pathlib import Path

from client import Client
from exactly import expected, normal, raw, sent_upstream, stage, to
from harness import LOOPBACK, PATIENCE, Reprise, equal
from parent import Parent
from upstream import Upstream

ONCE = {"retry": {"max_attempts": 1}, "resume": {"enabled": False}}
DATE = b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
VIA = b"Via: 1.1 reprise-?\r\n"
END = b"Reprise-Attempts: 1\r\n\r\n"


def becomes(cases):
    """Checks pairs (bytes that the upstream sends, bytes that the client must receive). The connections to
    the upstream and to the client must stay open."""
    with stage({"/x": [raw(came) for came, _ in cases]}, defaults=ONCE, threads=1) as (reprise, upstream), \
            Client(reprise.forward) as client:
        for came, goes in cases:
            goes = normal(goes)
            client.send(to(upstream))
            head = normal(client.read_head() + b"\r\n")
            equal(head, goes[:goes.index(b"\r\n\r\n") + 4], repr(came[:200]))
            body = goes[len(head):]
            equal(client.read_bytes(len(body)), body, repr(came[:200]))
        equal((upstream.count(), upstream.connections), (len(cases), 1), "an old spelling is no reason to part")


def test_malformed_but_readable_response_heads_are_normalized():
    length = b"Content-Length: 5\r\n"
    becomes([
        (b"HTTP/1.1 200 OK\nDate: Sun, 06 Nov 1994 08:49:37 GMT\nContent-Length: 5\n\nhello",
         b"HTTP/1.1 200 OK\r\n" + DATE + length + VIA + END + b"hello"),
        (b"HTTP/1.1 200\n" + DATE + b"A: 1\nB: 2\r\nContent-Length: 05\r\n\nhello",
         b"HTTP/1.1 200 \r\n" + DATE + b"A: 1\r\nB: 2\r\n" + length + VIA + END + b"hello"),
        (b"HTTP/1.1 200 OK\r\n" + DATE + b"Server: old/\r\n fake  \r\n\t folded\r\n" + length + b"Set-Cookie: a=b;\r\n path=/\r\n\r\nhello",
         b"HTTP/1.1 200 OK\r\n" + DATE + b"Server: old/ fake folded\r\nSet-Cookie: a=b; path=/\r\n" + length + VIA + END + b"hello"),
        (b"HTTP/1.2 200 OK\r\n" + DATE + length + b"\r\nhello",
         b"HTTP/1.1 200 OK\r\n" + DATE + length + VIA + END + b"hello"),
        (b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: identity\r\n" + length + b"\r\nhello",
         b"HTTP/1.1 200 OK\r\n" + DATE + length + VIA + END + b"hello"),
        (b"HTTP/1.1 200 OK\n" + DATE + b"Transfer-Encoding: CHUNKED\n\n0000000000000000000005\r\nhello\r\n00\r\nX-T: 1\n  more\n\n",
         b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: chunked\r\n" + VIA + END + b"5\r\nhello\r\n0\r\nX-T: 1 more\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: identity, Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
         b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: chunked\r\n" + VIA + END + b"5\r\nhello\r\n0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n" + DATE + length + b"".join(b"X-%d: 1\n" % i for i in range(200)) + b"\nhello",
         b"HTTP/1.1 200 OK\r\n" + DATE + b"".join(b"X-%d: 1\r\n" % i for i in range(200)) + length + VIA + END + b"hello")])


def test_ambiguous_response_heads_are_rejected():
    ok = b"HTTP/1.1 200 OK\n"
    heads = [ok + b" A: 1\nContent-Length: 0\n\n", ok + b"Content-Length: 1\n 0\n\n", ok + b"Content-Length:\n 0\n\n",
             ok + b"Transfer-Encoding:\n chunked\n\n0\r\n\r\n", ok + b"A: 1\rB: 2\n\n", ok + b"A: 1\r\r\n\n", ok + b"no colon\n\n",
             b"HTTP/2.0 200 OK\n\n", b"\nHTTP/1.1 200 OK\n\n"]
    with stage({"/x": [raw(head) for head in heads]}, defaults=ONCE) as (reprise, upstream), Client(reprise.forward) as client:
        for head in heads:
            client.send(to(upstream))
            response = client.read_response()
            equal((response.status, response.field("Proxy-Status").split("=")[1]), (502, "http_protocol_error"), repr(head))
        equal(upstream.connections, len(heads))


def test_interim_responses_and_upgrades_of_old_upstreams_are_normalized():
    def switch(connection, request, reader):
        connection.sendall(b"HTTP/1.1 101 Switching\nUpgrade:\n echo\nConnection: upgrade\n\n")
        connection.sendall(reader.read_until(b"ping"))
        return False
    hints = raw(b"HTTP/1.1 103 Hints\nLink: </a>;\n rel=preload\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nhi")
    with stage({"/x": [hints]}, on_head={"/up": switch}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        response = client.read_response()
        equal((response.interim[0].status, response.interim[0].field("Link"), response.body), (103, "</a>; rel=preload", b"hi"))
        client.send(to(upstream, path="/up", fields=b"Connection: upgrade\r\nUpgrade: echo\r\n"))
        head = client.read_final_head()
        equal((head.status, head.field("Upgrade")), (101, "echo"))
        client.send(b"ping")
        equal(client.read_bytes(4), b"ping")


def test_broken_download_resumes_from_an_old_style_206():
    def part(connection, request):
        if request.field("Range") is None:
            connection.sendall(b"HTTP/1.1 200 OK\nETag: \"v1\"\nContent-Length: 10\n\n01234")
            return False
        equal(request.field("Range"), "bytes=5-")
        connection.sendall(b"HTTP/1.2 206 Part\nETag:\n \"v1\"\nContent-Range: bytes\n 5-9/10\nContent-Length: 5\n\n56789")
        return True
    with stage({"/x": [part]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(client.read_response().body, b"0123456789")
        reprise.expect_metric(1, "reprise_resumed_downloads_total")


def test_http_1_0_connect_response_with_lf_line_ends_from_a_parent_proxy_is_accepted():
    with Upstream() as upstream, Parent(refuse=[b"HTTP/1.1 503 Busy\nX: 1\n\n"]) as parent:
        parent.established = b"HTTP/1.0 200 Connection\nX-Parent: old\n folded\n\n"
        with Reprise(parent=parent.proxy_url()) as reprise, Client(reprise.forward) as client:
            client.send(b"CONNECT %s:%d HTTP/1.1\r\nHost: h\r\n\r\n" % (LOOPBACK.encode(), upstream.port))
            equal(client.read_final_head().status, 200)
            client.send(b"GET /in HTTP/1.1\r\nHost: h\r\n\r\n")
            equal(client.read_response().body, b"answer 1 to /in\n")


def test_leading_zeros_in_request_chunk_sizes_are_removed():
    with stage() as (reprise, upstream):
        for zeros in (1, 17, 4000):
            body = b"0" * zeros + b"5\r\nhello\r\n" + b"0" * zeros + b"\r\n\r\n"
            sent = sent_upstream(reprise, upstream, to(upstream, "PUT", "/x", b"Transfer-Encoding: Chunked\r\n", body))
            equal(sent, expected(upstream, "PUT", "/x", b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n"))


def test_curl_gets_300_responses_whose_heads_have_lf_line_ends():
    """Imitates the server of curl's own test suite. Nearly every response head of that server has LF line
    ends."""
    count = 300
    def head(number):
        lines = [b"HTTP/1.1 200 OK", b"Server: test-server/", b" fake", b"X-Number: %d" % number, b"Content-Length: 6"]
        ends = (b"\n", b"\r\n") if number % 3 == 0 else (b"\n",)
        return b"".join(line + ends[place % len(ends)] for place, line in enumerate(lines)) + b"\n-foo-\n"
    scripts = {f"/{number}": [raw(head(number))] for number in range(count)}
    with stage(scripts) as (reprise, upstream), tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["curl", "-sS", "--max-time", str(PATIENCE), "-x", reprise.proxy_url, "--noproxy", "", "-o", f"{folder}/#1",
                               "-w", "%{http_code} %{errormsg} %{header_json}\n", upstream.url(f"/[0-{count - 1}]")],
                              capture_output=True, timeout=2 * PATIENCE, check=False)
        equal(done.returncode, 0, done.stderr.decode())
        equal({Path(folder, str(number)).read_bytes() for number in range(count)}, {b"-foo-\n"})
        told = re.split(r"^200  ", done.stdout.decode(), flags=re.M)[1:]
        equal([json.loads(fields)["x-number"] for fields in told], [[str(number)] for number in range(count)])
        equal({tuple(json.loads(fields)["server"]) for fields in told}, {("test-server/ fake",)})
        reprise.expect_metric(count, "reprise_attempts_total", outcome="2xx")
        equal(upstream.connections, 1)


def test_N25_chunk_lines_ending_in_lf_are_reframed():
    head = b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: chunked\r\n"
    framed = head + VIA + END + b"5\r\nhello\r\n0\r\n\r\n"
    becomes([(head + b"\r\n" + body, framed) for body in (b"5\nhello\n0\n\n", b"5\r\nhello\n0\r\n\r\n", b"5;a\nhello\r\n0\n\r\n")])


def test_blanks_after_a_chunk_size_are_accepted():
    head = b"HTTP/1.1 200 OK\r\n" + DATE + b"Transfer-Encoding: chunked\r\n"
    framed = head + VIA + END + b"5\r\nhello\r\n0\r\n\r\n"
    becomes([(head + b"\r\n" + body, framed) for body in (b"5  \r\nhello\r\n0\r\n\r\n", b"5\t\r\nhello\r\n0 \t\r\n\r\n")])
