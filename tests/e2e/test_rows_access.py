"""Tests rows H1 to H9 of docs/requirements/robustness.md, and its section on access."""
import contextlib
import json
import os
import re
import socket

from client import Client, ask, head_of
from exactly import HOST, causes, counted, equal_causes, refused, says, sent_upstream, stage, to
from harness import LOOPBACK, Reprise, equal
from parent import Parent
from server import Server, carry_both
from test_refusals import run_with
from test_socks import SOCKS, asked, by_address, by_name, connected, reply
from upstream import Say, Upstream

ONCE = {"retry": {"max_attempts": 1}, "connect_timeout": "10m"}  # if reprise dialled a dead address, the client would time out before the response


def is_denied(reprise, host):
    before = reprise.metric("reprise_retries_refused_total", reason="address_denied")
    response = ask(reprise, "GET", f"http://{host}/latest/")
    equal((response.status, response.reason, response.attempts), (403, "address_denied", 1), host)
    assert re.fullmatch(r"reprise-\w+; error=destination_ip_prohibited", response.field("Proxy-Status")), response.head
    counted(reprise, "reprise_retries_refused_total", before + 1, reason="address_denied")


def is_self(reprise, authority):
    response = ask(reprise, "GET", f"http://{authority}/metrics")
    equal(response.status, 508, authority)
    assert re.fullmatch(r"reprise-\w+; error=proxy_loop_detected", response.field("Proxy-Status")), response.head


def test_listeners_may_bind_only_to_loopback_unless_allow_remote_is_set():
    for bind in ("0.0.0.0:0", "'[::]:0'", "192.0.2.1:0"):
        for listener in (f"listeners: [{{mode: forward, bind: {bind}}}]", f"admin: {{bind: {bind}}}"):
            code, output, _ = run_with(f"version: 1\n{listener}\n", "check")
            equal((code, "allow_remote" in output), (78, True), output)
    code, output, _ = run_with("version: 1\nlisteners: [{mode: forward, bind: 0.0.0.0:0, allow_remote: true}]\n", "check")
    equal(code, 0, output)


def test_gateway_url_with_line_ends_or_blanks_or_a_password_is_rejected():
    for value in ('"http://h\\r\\nX: y"', '"http://h/a\\r\\nb"', '"http://h/a b"', '"http://u:p@h"'):
        code, output, _ = run_with(f"version: 1\nlisteners: [{{mode: gateway, bind: 127.0.0.1:0, upstream: {value}}}]\n", "check")
        equal(code, 78, output)


def test_denied_addresses_are_never_dialled():
    deny = ["127.0.0.0/8", "::1", "self"]
    with Upstream() as upstream, Reprise(security={"deny": deny}, defaults=ONCE) as reprise:
        for host in (LOOPBACK, "127.255.0.1", "localhost", "[::ffff:127.0.0.1]"):
            is_denied(reprise, f"{host}:{upstream.port}")
        equal(upstream.connections, 0)


def test_admin_listener_allows_only_get_and_head_and_reveals_no_secret():
    os.environ["E2E_SECRET"] = "5ecret-of-the-configuration"
    route = {"name": "keyed", "match": {"headers": ["X-Key=${env:E2E_SECRET}"]}}
    try:
        with stage(routes=[route]) as (reprise, upstream):
            secrets = [("Authorization", "Bearer 5ecret"), ("Cookie", "a=5ecret"), ("X-Key", os.environ["E2E_SECRET"]),
                       ("Proxy-Authorization", "Basic 5ecret")]
            equal(ask(reprise, "GET", upstream.url("/x?token=5ecret"), fields=secrets).status, 200)
            equal(reprise.requests(1)[0]["route"], "keyed")
            for path in ("/metrics", "/status", "/livez", "/readyz", "/"):
                for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FROB"):
                    equal(reprise.admin(path, method)[0], 405, f"{method} {path}")
                equal("5ecret" in reprise.admin(path)[1], False, path)
            equal("5ecret" in reprise.text(), False, "the log")
    finally:
        del os.environ["E2E_SECRET"]


def test_http_1_0_client_gets_one_response_without_chunks_or_interim_responses():
    def hint_first(connection, request):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" + Say(200, chunks=[b"one", b"two"]).text(request, 1))
        return True
    with stage({"/x": [hint_first]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, fields=b"Connection: keep-alive\r\n", version=b"1.0") + to(upstream, path="/next"))
        response = client.read_response()
        equal((response.status, response.interim, response.field("Transfer-Encoding"), response.body), (200, [], None, b"onetwo"))
        equal((client.read_to_end(), upstream.count()), (b"", 1))


def test_H1_denied_addresses_embedded_in_ipv6_are_rejected():
    with Reprise(defaults=ONCE) as reprise:
        for host in ("169.254.169.254", "169.254.0.1", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]",
                     "[2002:a9fe:a9fe:1::7]", "[::a9fe:a9fe]", "[::169.254.169.254]", "[fe80::1]", "[febf::1]", "[fd00:ec2::254]"):
            is_denied(reprise, host)
        equal(causes(reprise), {})
    with Reprise(defaults={**ONCE, "connect_timeout": "200ms"}) as reprise:
        for host in ("[64:ff9b::c000:201]", "[2002:c000:201::1]"):  # the embedded IPv4 address is in TEST-NET-1: reprise dials it, but no host has it
            response = ask(reprise, "GET", f"http://{host}/")
            equal(response.status in (502, 504), True, f"{host}: {response.head}")


def test_H2_other_spellings_of_an_address_are_checked_after_resolution():
    with Upstream() as upstream, Reprise(defaults=ONCE) as reprise:
        for host in ("2852039166", "0xa9fea9fe", "0XA9FEA9FE", "0251.0376.0251.0376", "169.254.43518"):
            is_denied(reprise, host)
        for host in ("127.1", "0x7f000001", "2130706433", "LocalHost"):
            is_self(reprise, f"{host}:{reprise.forward[1]}")
        for host in ("169.254.169.254.", "127.0.0.1."):  # with a final dot, the host is a name or this same address: reprise must not dial it
            response = ask(reprise, "GET", f"http://{host}:{reprise.forward[1]}/")
            assert re.search(r"error=(dns_error|dns_timeout|destination_ip_prohibited|proxy_loop_detected)$",
                             response.field("Proxy-Status")), response.head
        equal(upstream.connections, 0)


def test_H3_only_allowed_addresses_of_a_name_are_dialled():
    with Upstream() as upstream, contextlib.ExitStack() as stack:
        denied = socket.socket(socket.AF_INET6)
        try:
            denied.bind(("::1", upstream.port))
            denied.listen()
            denied.setblocking(False)
            stack.enter_context(denied)
        except OSError:
            denied = None  # without IPv6, localhost has only one address
        reprise = stack.enter_context(Reprise(security={"deny": ["::1", "self"]}, defaults=ONCE))
        for _ in range(5):
            response = ask(reprise, "GET", f"http://localhost:{upstream.port}/x", fields=[("Connection", "close")])
            equal((response.status, response.attempts), (200, 1))
        if denied:
            try:
                denied.accept()
                raise AssertionError("the denied address was dialled")
            except BlockingIOError:
                pass


def own_addresses():
    """Returns the addresses of this host that are not loopback. Adds the host's name if that name resolves
    only to these addresses or to 127.0.0.1."""
    own = set()
    for target in ("192.0.2.1", "10.255.255.255"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
            probe.connect((target, 9))
            own.add(probe.getsockname()[0])
    own = {address for address in own if not address.startswith(("127.", "0."))}
    with contextlib.suppress(OSError):
        if set(socket.gethostbyname_ex(socket.gethostname())[2]) <= own | {LOOPBACK}:
            own.add(socket.gethostname())
    return own


def test_H4_requests_to_an_own_listener_are_rejected_under_any_of_its_addresses():
    with Reprise() as reprise:
        for port in (reprise.forward[1], reprise.addresses["admin"][1]):
            for host in ("127.0.0.1", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "localhost"):
                is_self(reprise, f"{host}:{port}")
    wide = [{"mode": "forward", "bind": "0.0.0.0:0", "allow_remote": True}]
    with Reprise(listeners=wide) as reprise:
        for host in ("127.0.0.1", "127.9.9.9", "0.0.0.0", *own_addresses()):
            is_self(reprise, f"{host}:{reprise.forward[1]}")


UNSPECIFIED = ("0.0.0.0", "0", "0x0", "0.0", "[::]", "[::ffff:0:0]", "[::ffff:0.0.0.0]")


def test_H4_unspecified_address_is_denied_if_loopback_is_denied():
    """connect(2) treats the unspecified addresses (0.0.0.0 and ::) as loopback, so the checks of reprise must
    do so, too. Covers HTTP, CONNECT and SOCKS."""
    with Upstream() as upstream, Reprise(defaults=ONCE, security={"deny": ["127.0.0.0/8", "self"]}, **SOCKS) as reprise:
        for host in UNSPECIFIED:
            is_denied(reprise, f"{host}:{upstream.port}")
            with Client(reprise.forward) as client:
                client.send(head_of("CONNECT", f"{host}:{upstream.port}", "h"))
                equal((client.read_response("CONNECT").status), 403, host)
            with connected(reprise) as plain:
                equal(asked(plain, by_name(host.strip("[]"), upstream.port))[2:], reply(2), host)
        with connected(reprise) as plain:
            equal(asked(plain, by_address(upstream.port, "0.0.0.0"))[2:], reply(2))
        equal(upstream.connections, 0)
    with Upstream() as upstream, Reprise(defaults=ONCE) as reprise:
        for host in UNSPECIFIED:
            equal(ask(reprise, "GET", f"http://{host}:{upstream.port}/").status in (200, 502), True, "loopback is open by default")


def test_H4_unspecified_address_is_denied_before_reaching_a_parent():
    with Parent() as parent, Reprise(parent=parent.proxy_url(), defaults=ONCE, security={"deny": ["::1", "self"]}) as reprise:
        for host in UNSPECIFIED:
            is_denied(reprise, host)
            with Client(reprise.forward) as client:
                client.send(head_of("CONNECT", f"{host}:443", "h"))
                equal((client.read_response("CONNECT").status), 403, host)
        equal(parent.requests, [])


def test_H5_own_pseudonym_in_via_is_rejected_as_a_loop():
    with stage() as (reprise, upstream):
        ask(reprise, "GET", upstream.url("/x"))
        via = upstream.requests[0].field("Via").encode()
        received = upstream.bytes_received()
        for value in (via, b"1.0 other, " + via + b", 1.1 more", via + b" (a comment)", via.upper().replace(b"REPRISE", b"Reprise")):
            before = causes(reprise)
            with Client(reprise.forward) as client:
                client.send(to(upstream, fields=b"Via: %s\r\n" % value))
                says(client.read_response(), 508, "loop", value)
                equal(client.read_to_end(), b"")
            equal_causes(reprise, before, "loop")
        equal(upstream.bytes_received(), received)
        for value in (via + b"x", b"1.1 other (" + via + b")"):
            sent_upstream(reprise, upstream, to(upstream, fields=b"Via: %s\r\n" % value))


class Wire(Server):
    """A port that forwards its connections to the address `target`."""

    target = None

    def serve(self, connection, _number):
        with socket.create_connection(self.target) as there:
            carry_both(connection, there)


def gateway_to(port):
    return [{"mode": "gateway", "bind": "127.0.0.1:0", "upstream": f"http://{LOOPBACK}:{port}"}]


def test_H5_loop_of_two_gateways_is_detected():
    wire = Wire()
    with wire, Reprise(listeners=gateway_to(wire.port)) as second, Reprise(listeners=gateway_to(second.gateway[1])) as first, \
            Client(first.gateway) as client:
        wire.target = first.gateway
        client.send(head_of("GET", "/x", "h"))
        equal(client.read_response().status, 508)
        equal((causes(first), causes(second)), ({"loop": 1}, {}), "at the second pass")


def test_H6_admin_and_control_are_unreachable_through_the_proxy():
    with stage() as (reprise, upstream):
        admin = "%s:%d" % reprise.addresses["admin"]
        is_self(reprise, admin)
        for target, cause in ((b"unix:/run/reprise/control.sock", "bad_scheme"), (b"http+unix://%2Frun%2Freprise%2Fcontrol.sock/reload", "bad_scheme"),
                              (b"/run/reprise/control.sock", "not_a_proxy_request"), (b"file:///run/reprise/control.sock", "bad_scheme")):
            refused(reprise, upstream, b"GET %s HTTP/1.1\r\n" % target + HOST + b"\r\n", cause)
        for host, status in ((admin, 200), ("localhost", 200), ("127.0.0.1", 200), ("[::1]:3129", 200),
                             ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("", 403)):
            with Client(reprise.addresses["admin"]) as client:
                client.send(head_of("GET", "/status", host))
                equal(client.read_response().status, status, host)


def test_H7_redirect_to_a_denied_address_is_passed_on_but_not_followed():
    there = [("Location", "http://169.254.169.254/latest/")]
    with stage({"/x": [Say(302, b"there", there)]}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.field("Location"), response.body, response.attempts), (302, there[0][1], b"there", 1))
        equal((upstream.count(), reprise.metric("reprise_retries_refused_total", reason="address_denied")), (1, 0))


def test_H8_odd_bytes_from_traffic_cannot_corrupt_the_log():
    def odd(connection, _):
        connection.sendall(b'HTTP/1.1 503 "quoted" \\ \xe2\x80\xae evil\r\nContent-Length: 0\r\nX: 1\r\n\r\n')
        return True
    path = b'/"evil"\\\xe2\x80\xae\xff{}' + b"p" * 9000
    method = "M'`|~^evil"
    for form in ("json", "text"):
        with stage({path.decode("latin-1"): [odd]}, log={"format": form}) as (reprise, upstream):
            sent_upstream(reprise, upstream, to(upstream, method, path), status=503)
            for request in (b"GET http://h/\x1b[31mevil HTTP/1.1\r\n" + HOST + b"\r\n", b"G\"ET http://h/ HTTP/1.1\r\n" + HOST + b"\r\n",
                            b"GET http://h/ HTTP/1.1\r\n" + HOST + b"X: evil\x1b[31m\r\n\r\n"):
                with Client(reprise.forward) as client:
                    client.send(request)
                    equal(client.read_response().status, 400)
            with Client(reprise.forward) as client:  # the target consists of 1 MiB of repeated "evil"
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    client.send(b"GET http://h/" + b"evil" * (1 << 18))
                equal(client.read_head()[:12], b"HTTP/1.1 414")
            equal("evil" in reprise.admin("/metrics")[1], False, "a label from traffic")
            counted(reprise, "reprise_requests_total", code="503")
            reprise.terminate()
            equal(reprise.wait(), 0)
            with open(reprise.log_file, "rb") as file:
                lines = file.read().split(b"\n")[:-1]
            for line in lines:
                assert not re.search(rb"[\x00-\x1f\x7f]", line), line
                assert len(line) < 2500, len(line)
            equal(sum(b"evil" in line for line in lines), 1, "the access line alone")
            if form == "json":
                told = next(json.loads(line) for line in lines if b"evil" in line)
                equal((told["method"], len(told["path"]) <= 256), (method, True))


def test_H9_responses_generated_by_reprise_contain_no_secrets_of_the_request():
    secrets = b"Authorization: Bearer 5ecret\r\nCookie: a=5ecret\r\nX-Internal: 5ecret\r\n"
    with stage({"/reset": ["reset"]}, defaults=ONCE) as (reprise, upstream):
        asked = [to(upstream, path="/reset?token=5ecret", fields=secrets), to(upstream, fields=secrets + b"Content-Length: 5ecret\r\n"),
                 to(upstream, fields=secrets + b"X : 1\r\n"), to(upstream, fields=secrets + b"Expect: 5ecret\r\n"),
                 to(upstream, "TRACE", "/5ecret", secrets + b"Content-Length: 1\r\n", b"x"),
                 b"GET http://Joe-Smith:5ecret@h/ HTTP/1.1\r\nHost: h\r\n" + secrets + b"\r\n",
                 b"GET http://169.254.169.254/?5ecret HTTP/1.1\r\nHost: 169.254.169.254\r\n" + secrets + b"\r\n",
                 b"GET http://127.0.0.1:%d/?5ecret HTTP/1.1\r\nHost: h\r\n" % reprise.forward[1] + secrets + b"\r\n",
                 b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: h\r\n" + secrets + b"\r\n"]
        for request in asked:
            with Client(reprise.forward) as client:
                client.send(request)
                response = client.read_response()
                assert response.status >= 400, response.head
                equal((response.field("Content-Type"), response.field("X-Content-Type-Options")), ("text/plain", "nosniff"))
                for word in (b"5ecret", LOOPBACK.encode(), b"169.254", b"%d" % upstream.port, b"Joe-Smith"):
                    equal(word in response.head + response.body, False, f"{word} in {response.body}")
