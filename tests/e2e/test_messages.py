"""Tests that messages pass byte for byte, except for the changes that RFC 9110 and RFC 9112 require from a proxy."""
import re

from client import Client, ask, chunked, head_of
from harness import LOOPBACK, Curl, Reprise, equal
from upstream import Say, Upstream

BODY = bytes(range(256)) * 500


def test_connections_on_both_sides_are_kept_alive():
    with Upstream() as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        for path in ("/a", "/b", "/c"):
            equal(client.ask("GET", upstream.url(path)).body, b"answer 1 to " + path.encode() + b"\n")
        equal(upstream.connections, 1)


def test_pipelined_requests_get_responses_in_order():
    with Upstream({"/b": [503, 503, 200]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        host = f"{LOOPBACK}:{upstream.port}"
        client.send(b"".join(head_of("GET", upstream.url(path), host) for path in ("/a", "/b", "/c")))
        responses = [client.read_response() for _ in range(3)]
        equal([response.body for response in responses], [b"answer 1 to /a\n", b"answer 3 to /b\n", b"answer 1 to /c\n"])
        equal([response.attempts for response in responses], [1, 3, 1])


def test_pipelined_posts_are_not_started_early():
    with Upstream() as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        host = f"{LOOPBACK}:{upstream.port}"
        client.send(b"".join(head_of("POST", upstream.url(f"/{i}"), host, [("Content-Length", "1")]) + b"%d" % i
                             for i in range(3)))
        equal([client.read_response().status for _ in range(3)], [200] * 3)
        equal([request.body for request in upstream.requests], [b"0", b"1", b"2"])


def test_http_1_0_client_gets_an_unchunked_response_and_a_closed_connection():
    chunks = [b"one", b"two" * 1000, b"three"]
    with Upstream({"/x": [Say(chunks=chunks)]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), LOOPBACK, version="1.0"))
        response = client.read_response()
        equal(response.field("Transfer-Encoding"), None)
        equal(response.body, b"".join(chunks))
        equal(client.read_to_end(), b"")


def test_http_1_0_upstream_is_supported():
    raw = b"HTTP/1.0 200 OK\r\nX-Old: yes\r\n\r\n" + BODY
    with Upstream({"/x": [Say(raw=raw, close=True)]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.version, response.status, response.field("X-Old")), ("HTTP/1.1", 200, "yes"))
        equal(response.body == BODY, True)


def test_chunked_upload_arrives_whole():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("PUT", upstream.url("/x"), LOOPBACK, [("Transfer-Encoding", "chunked")]) + chunked(BODY, 777))
        equal(client.read_response().attempts, 2)
        equal([request.body == BODY for request in upstream.seen(2)], [True, True])
        equal(upstream.requests[0].field("Content-Length"), None)


def test_upload_and_download_above_every_replay_limit_arrive_whole():
    large = BODY * 60  # bytes: above every replay limit
    def echo(connection, request):
        connection.sendall(Say(200, request.body).text(request, 1))
        return True
    with Upstream({"/x": [echo]}) as upstream, Reprise() as reprise:
        equal(ask(reprise, "PUT", upstream.url("/x"), large).body == large, True)


def test_chunked_download_arrives_whole():
    chunks = [BODY[i:i + 4099] for i in range(0, len(BODY), 4099)]
    with Upstream({"/x": [Say(chunks=chunks)]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.field("Transfer-Encoding"), response.body == BODY), ("chunked", True))


def test_truncated_download_is_never_presented_as_complete():
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this"
    open_end = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    with Upstream({"/l": [Say(raw=cut, close=True)], "/c": [Say(raw=open_end, close=True)]}) as upstream, \
            Reprise() as reprise:
        equal(Curl(reprise, upstream.url("/l")).code in (18, 56), True, "curl sees the cut of a length")
        equal(Curl(reprise, upstream.url("/c")).code in (18, 56), True, "curl sees the cut of a chunked body")
        reprise.expect_metric(2, "reprise_requests_total", code="cut")
        reprise.expect_metric(2, "reprise_attempts_total", outcome="truncated")


def test_responses_without_a_body_keep_the_connection_usable():
    with Upstream({"/204": [204], "/304": [304], "/head": [Say(200, BODY)]}) as upstream, Reprise() as reprise, \
            Client(reprise.forward) as client:
        head = client.ask("HEAD", upstream.url("/head"))
        equal((head.status, head.field("Content-Length"), head.body), (200, str(len(BODY)), b""))
        equal(client.ask("GET", upstream.url("/204")).status, 204)
        equal(client.ask("GET", upstream.url("/304")).status, 304)
        equal(client.ask("GET", upstream.url("/after")).body, b"answer 1 to /after\n")


def test_interim_responses_are_passed_on():
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
    def early(connection, request):
        connection.sendall(hints)
        connection.sendall(Say(200, b"page").text(request, 1))
        return True
    with Upstream({"/x": [early]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        response = client.ask("GET", upstream.url("/x"))
        equal([(one.status, one.field("Link")) for one in response.interim], [(103, "</style.css>; rel=preload")])
        equal((response.status, response.body), (200, b"page"))


def test_expect_100_continue_upload_by_curl_is_retried_after_a_single_100():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise() as reprise:
        curl = Curl(reprise, upstream.url("/x"), "-X", "PUT", "-H", "Expect: 100-continue", "--data-binary", "x" * 5000)
        equal((curl.status, curl.field("Reprise-Attempts")), (200, "2"))
        equal(curl.interim, [100], "exactly one 100 reaches the client")
        equal([request.body for request in upstream.seen(2)], [b"x" * 5000] * 2)


def test_hop_by_hop_fields_are_removed_in_both_directions():
    hop = [("Connection", "keep-alive, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "keep-alive"),
           ("Proxy-Authorization", "Basic c2VjcmV0"), ("TE", "gzip"), ("X-End", "stays")]
    back = [("Connection", "X-Back"), ("X-Back", "1"), ("Keep-Alive", "timeout=9"), ("X-End", "stays")]
    with Upstream({"/x": [Say(200, fields=back)]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"), fields=hop)
        sent = upstream.requests[0]
        for name in ("X-Hop", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "TE"):
            equal(sent.field(name), None, name)
        for name in ("X-Back", "Keep-Alive"):
            equal(response.field(name), None, name)
        equal((sent.field("X-End"), response.field("X-End")), ("stays", "stays"))


def test_request_target_and_fields_arrive_unchanged():
    fields = [("x-lower", "a  b"), ("X-Empty", ""), ("Cookie", "a=1; b=%zz"), ("X-Twice", "1"), ("x-twice", "2"),
              ("Authorization", "Bearer a.b.c"), ("X-Latin", "caf\xe9")]
    path = "/a/../b%2f%zz?q[]=1|2&r={x}"
    with Upstream() as upstream, Reprise() as reprise:
        ask(reprise, "GET", upstream.url(path), fields=fields)
        head = upstream.requests[0].head.decode("latin-1")
        assert head.startswith(f"GET {path} HTTP/1.1\r\nHost: {LOOPBACK}:{upstream.port}\r\n"), head
        expected = "".join(f"{name}: {value}\r\n" for name, value in fields)
        assert expected in head, head
        rest = head.split(expected)[1]
        assert re.fullmatch(r"Via: 1\.1 reprise-\w+\r\n\r\n", rest), rest


def test_via_is_added_and_set_cookie_fields_are_not_merged():
    with Upstream({"/x": [Say(200, fields=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        assert "reprise-" in response.field("Via"), response.field("Via")
        equal([value for name, value in response.fields if name == "Set-Cookie"], ["a=1", "b=2"])


def test_absolute_form_target_overrides_a_differing_host_field():
    with Upstream() as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), "elsewhere.example"))
        equal(client.read_response().status, 200)
        equal(upstream.requests[0].field("Host"), f"{LOOPBACK}:{upstream.port}")


def test_extra_bytes_after_a_response_are_discarded():
    smuggled = Say(200, b"right").text(type("R", (), {"method": "GET", "path": "/x"}), 1) + Say(
        200, b"wrong").text(type("R", (), {"method": "GET", "path": "/x"}), 1)
    with Upstream({"/x": [Say(raw=smuggled)]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        equal(client.ask("GET", upstream.url("/x")).body, b"right")
        equal(client.ask("GET", upstream.url("/y")).body, b"answer 1 to /y\n")


def test_gateway_listener_forwards_and_retries_requests():
    with Upstream({"/base/x": [503, 200]}) as upstream:
        listeners = [{"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("/base")}]
        with Reprise(listeners=listeners) as reprise, Client(reprise.gateway) as client:
            client.send(head_of("GET", "/x?q=1", "app.example"))
            response = client.read_response()
            equal((response.status, response.attempts), (200, 2))
            equal(upstream.requests[0].target, "/base/x?q=1")
            equal(upstream.requests[0].field("Host"), f"{LOOPBACK}:{upstream.port}")


def test_routes_match_the_path_that_the_upstream_of_a_gateway_gets():
    routes = [{"name": "cancel", "match": {"path": "/base/orders/{id}/cancel", "methods": ["PUT"]}, "idempotent": "never"}]
    with Upstream({"/base/orders/7/cancel": ["close"]}) as upstream:
        listeners = [{"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url("/base")}]
        with Reprise(listeners=listeners, routes=routes) as reprise, Client(reprise.gateway) as client:
            client.send(head_of("PUT", "/orders/7/cancel", "app.example", [("Content-Length", "0")]))
            response = client.read_response()
            equal((response.status, response.reason), (502, "not_idempotent"))
            equal([request.target for request in upstream.requests], ["/base/orders/7/cancel"])
            line = reprise.requests(1)[0]
            equal((line["route"], line["path"]), ("cancel", "/base/orders/7/cancel"))


def test_gateway_listener_can_keep_the_clients_host_field():
    with Upstream() as upstream:
        listeners = [{"mode": "gateway", "bind": "127.0.0.1:0", "upstream": upstream.url(""), "host": "client"}]
        with Reprise(listeners=listeners) as reprise, Client(reprise.gateway) as client:
            client.send(head_of("GET", "/x", "app.example"))
            equal(client.read_response().status, 200)
            equal(upstream.requests[0].field("Host"), "app.example")


def test_fields_of_a_retried_response_do_not_leak():
    refused = Say(503, b"no", [("X-Refused", "1"), ("Set-Cookie", "no=1")])
    with Upstream({"/x": [refused, Say(200, b"yes", [("X-Taken", "1")])]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.body, response.field("X-Taken")), (b"yes", "1"))
        equal((response.field("X-Refused"), response.field("Set-Cookie")), (None, None))


def test_reprise_fields_from_another_reprise_upstream_are_replaced():
    inner = Say(200, fields=[("Reprise-Attempts", "9"), ("Reprise-Reason", "budget_spent")])
    with Upstream({"/x": [inner]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal([value for name, value in response.fields if name.startswith("Reprise-")], ["1"])


def switch_to_echo(connection, request):
    equal(request.field("Upgrade"), "echo")
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nhello ")
    while data := connection.recv(1000):
        connection.sendall(data.upper())
    return False


def becomes_an_echo(client, url):
    response = client.ask("GET", url, fields=[("Connection", "Upgrade"), ("Upgrade", "echo")])
    equal((response.status, response.field("Upgrade")), (101, "echo"))
    client.send(b"world")
    client.finish()
    equal(client.read_to_end(), b"hello WORLD")


def test_upgrade_becomes_a_two_way_stream():
    with Upstream({"/x": [switch_to_echo]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        becomes_an_echo(client, upstream.url("/x"))


def test_websocket_uri_in_absolute_form_is_sent_as_http():
    with Upstream({"/x": [switch_to_echo]}) as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        becomes_an_echo(client, upstream.url("/x").replace("http://", "ws://"))
        equal(upstream.requests[0].target, "/x")


def test_proxy_authentication_challenge_of_an_upstream_is_not_passed_on():
    with Upstream({"/x": [Say(407, fields=[("Proxy-Authenticate", "Basic")])]}) as upstream, Reprise() as reprise:
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.field("Proxy-Authenticate")), (502, None))
