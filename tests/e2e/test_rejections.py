"""Tests rejections. The client gets a reason and a sentence. The operator gets one log line with the fault, its
place, and advice."""
import socket
import ssl

from client import Client, ask, chunked, head_of
from exactly import says
from harness import LOOPBACK, Reprise, closed_port, equal, eventually
from server import Server
from test_tunnels import echo_backwards_at_the_end, open_tunnel
from tls import TlsUpstream, authority
from upstream import Upstream


def rejections(reprise, count=1):
    """Waits until at least `count` rejections are logged, and returns them."""
    def lines():
        found = [line["message"] for line in reprise.log() if line.get("message", "").startswith("rejected ")]
        return found if len(found) >= count else None
    return eventually(lines, f"{count} rejections in the log")


def told(reprise, client, cause, target, listener="forward"):
    """Checks the log line of a rejected request: it must have the cause, the target, the client, the listener, and
    advice."""
    address = "%s:%d" % reprise.addresses[listener]
    text = rejections(reprise)[0]
    for part in (cause, f"to {target} ", "from %s:%d " % client.socket.getsockname()[:2], f"at {listener} {address}. "):
        assert part in text, (part, text)
    return text


def test_connect_to_a_denied_port_gets_403_with_a_reason():
    with Reprise(security={"connect_ports": [443]}) as reprise, Client(reprise.forward) as client:
        client.send(head_of("CONNECT", f"{LOOPBACK}:9200", f"{LOOPBACK}:9200"))
        says(client.read_response(), 403, "connect_port_denied")
        text = told(reprise, client, "rejected 403 connect_port_denied: CONNECT", f"{LOOPBACK}:9200")
        assert text.endswith("add the port to security.connect_ports."), text


def test_C6_request_body_over_the_limit_of_its_route_is_rejected_with_413():
    """A body of exactly `request_body` bytes is forwarded. A longer body with a Content-Length is rejected
    before a byte is sent to the upstream. A longer chunked body is rejected as soon as it exceeds
    `request_body` bytes."""
    routes = [{"name": "small", "match": {"path": "/small"}, "request_body": "1KiB"}]
    with Upstream({}) as upstream, Reprise(routes=routes, limits={"request_body": "100KiB"}) as reprise:
        for path, most in (("/small", 1 << 10), ("/other", 100 << 10)):
            equal(ask(reprise, "PUT", upstream.url(path), bytes(most)).status, 200)
            before = len(upstream.requests)
            with Client(reprise.forward) as client:
                client.send(head_of("PUT", upstream.url(path), LOOPBACK, [("Content-Length", str(most + 1))]))
                says(client.read_response(), 413, "content_too_large")
            with Client(reprise.forward) as client:
                client.send(head_of("PUT", upstream.url(path), LOOPBACK, [("Transfer-Encoding", "chunked")]) + chunked(bytes(most)))
                equal(client.read_response().status, 200)
            for method in ("PUT", "POST"):
                with Client(reprise.forward) as client:
                    client.send(head_of(method, upstream.url(path), LOOPBACK, [("Transfer-Encoding", "chunked")]) +
                                chunked(bytes(most) + b"x"))
                    says(client.read_response(), 413, "content_too_large")
            equal(len(upstream.requests), before + 1, "none is whole at the upstream but the one at the limit")
        equal(reprise.metric("reprise_rejected_requests_total", cause="content_too_large"), 6)
        stopped = [line for line in reprise.requests(8) if line["status"] == 413]
        equal([(line["reason"], line["attempts"][0]["error"], line["ending"]) for line in stopped], [("not_retryable", "cancelled", "complete")] * 4)


def test_connect_to_any_port_is_allowed_on_loopback_but_not_on_remote_listeners():
    anywhere = [{"mode": "forward", "bind": "127.0.0.1:0"}, {"mode": "forward", "bind": "0.0.0.0:0", "allow_remote": True}]
    with Server(echo_backwards_at_the_end) as talker:
        with Reprise() as reprise, Client(reprise.forward) as client:
            equal(open_tunnel(client, talker.port).status, 200)
        with Reprise(listeners=anywhere) as reprise:
            _, port = reprise.forward  # the log names the second listener last; this is the one that other hosts can reach
            with Client((LOOPBACK, port)) as client:
                client.send(head_of("CONNECT", f"{LOOPBACK}:{talker.port}", "h"))
                says(client.read_response(), 403, "connect_port_denied")
            equal(len(rejections(reprise)), 1)


def test_gateway_rejects_requests_for_other_hosts():
    with Upstream(record=True) as upstream:
        listeners = [{"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("")}]
        with Reprise(listeners=listeners) as reprise:
            with Client(reprise.gateway) as client:
                client.send(b"GET http://bank.test/account HTTP/1.1\r\nHost: bank.test\r\nAuthorization: Bearer secret\r\n\r\n")
                says(client.read_response(), 421, "misdirected_request")
                text = told(reprise, client, "rejected 421 misdirected_request: GET", "bank.test:80", "gateway")
                assert "mode forward" in text and "secret" not in text and "account" not in text, text
            with Client(reprise.gateway) as client:
                client.send(head_of("CONNECT", "bank.test:443", "bank.test:443"))
                says(client.read_response(), 501, "connect_to_gateway")
            equal(upstream.bytes_received(), [], "another host's credentials stay here")
            _, port = reprise.gateway
            for own in (f"{LOOPBACK}:{port}", f"localhost:{port}", f"{LOOPBACK}:{upstream.port}"):
                with Client(reprise.gateway) as client:
                    client.send(head_of("GET", f"http://{own}/x", own))
                    equal(client.read_response().status, 200, own)


def test_tls_on_a_plain_listener_is_rejected_with_a_reason():
    with Reprise() as reprise:
        with socket.create_connection(reprise.forward) as plain:
            try:
                ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
                raise AssertionError("a handshake with a listener of plain HTTP")
            except ssl.SSLError:
                pass
        text = rejections(reprise)[0]
        assert text.startswith("rejected 400 tls_to_plain_listener: from 127.0.0.1:"), text
        assert text.endswith("write http:// in the proxy's URL, not https://."), text
        with Client(reprise.forward) as client:
            client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            says(client.read_response(), 400, "tls_to_plain_listener")


def test_userinfo_password_in_a_target_is_never_logged():
    with Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", "http://joe:5ecret@h/private", "h:81"))
        says(client.read_response(), 400, "userinfo_in_authority")
        text = told(reprise, client, "rejected 400 userinfo_in_authority: GET", "h:81")
        assert "5ecret" not in text and "private" not in text, text


def test_failed_connect_gives_the_reason_in_head_and_body():
    held, port = closed_port()
    with held, Reprise(defaults={"retry": {"max_attempts": 2}}) as reprise, Client(reprise.forward) as client:
        client.send(head_of("CONNECT", f"{LOOPBACK}:{port}", "h"))
        response = client.read_response()
        equal((response.status, response.reason, response.attempts), (502, "attempts_spent", 2))
        assert b"connection refused" in response.body, response.body


def test_denied_address_response_names_the_key_to_change():
    with Reprise() as reprise:
        for request in (head_of("GET", "http://169.254.169.254/", "169.254.169.254"),
                        head_of("CONNECT", "169.254.169.254:80", "169.254.169.254:80")):
            with Client(reprise.forward) as client:
                client.send(request)
                response = client.read_response()
                equal((response.status, response.reason), (403, "address_denied"))
                assert b"security.deny" in response.body, response.body
        reprise.expect_log("169.254.169.254:80 is not dialled: security.deny lists every address of it")


def test_certificate_verification_failure_is_explained_to_the_client():
    with TlsUpstream(certificate=authority().issue()) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.https_url("/x"))
        equal(response.status, 502)
        assert b"(unable to get local issuer certificate)" in response.body and b"tls.ca_file" in response.body, response.body
        reprise.expect_log("the certificate could not be verified: unable to get local issuer certificate. If your own certificate authority")
        assert "error:" not in reprise.text().replace('"error":', ""), reprise.text()


def test_access_log_contains_the_client_address():
    with Upstream() as upstream:
        for log in ({"format": "json"}, {"format": "text"}):
            with Reprise(log=log) as reprise, Client(reprise.forward) as client:
                client.ask("GET", upstream.url("/x"))
                client.ask("GET", upstream.url("/y"))
                address = "%s:%d" % client.socket.getsockname()[:2]
                if log["format"] == "json":
                    equal([line["client"] for line in reprise.requests(2)], [address, address])
                else:
                    eventually(lambda reprise=reprise, told=f"  from {address}\n": reprise.text().count(told) == 2, "both lines")


def test_rejection_at_the_connection_limit_names_the_configuration_key_and_the_listener():
    with Reprise(limits={"connections": 1}) as reprise, Client(reprise.forward) as busy:
        busy.send(b"GET http://h/ HT")  # the connection has an unfinished head, so it is not idle and is not evicted
        with Client(reprise.forward) as client:
            client.send(head_of("GET", "http://h/", "h"))
            response = client.read_response()
            equal((response.status, response.reason), (503, "connection_limit"))
            assert b"limits.connections" in response.body, response.body
            text = rejections(reprise)[0]
            assert text.startswith("rejected 503 connection_limit: from %s:%d at forward " % client.socket.getsockname()[:2]), text
            assert "limits.connections" in text, text
