"""Tests a parent proxy. The parent is either a small proxy of the tests or another reprise."""
import base64
import socket
import subprocess
import tempfile
import threading

from client import Client, ask, head_of
from control import Controlled
from harness import LOOPBACK, Curl, Reprise, closed_port, equal, options
from parent import Parent, TlsParent
from test_refusals import run_with
from tls import Authority, TlsUpstream, authority
from upstream import Upstream

# The credentials have capital letters and a hyphen, so that no random folder name or request id contains them by
# chance.
LOGIN = ("Joe-Smith", "5ecret-Pass word")
WRITTEN = "Joe-Smith:5ecret-Pass%20word@"


def tunnel_to(reprise, authority):
    client = Client(reprise.forward)
    client.send(head_of("CONNECT", authority, authority))
    return client


def is_failure(response, status, error, attempts, sentence):
    equal((response.status, response.attempts), (status, attempts), response.head)
    assert f"; error={error}" in response.field("Proxy-Status"), response.head
    assert sentence in response.body, response.body
    equal(LOOPBACK.encode() in response.head + response.body, False, "row H9")


def test_requests_and_tunnels_go_through_the_parent():
    with Upstream() as upstream, Parent({"up.test": (LOOPBACK, upstream.port)}, login=LOGIN) as parent, \
            Reprise(parent=parent.proxy_url(WRITTEN)) as reprise:
        response = ask(reprise, "PUT", "http://up.test/x?y=1", b"body")
        equal((response.status, response.attempts), (200, 1), response.head)
        request = upstream.seen(1)[0]
        equal((request.target, request.body, request.field("Host"), request.field("Proxy-Authorization")),
              ("/x?y=1", b"body", "up.test", None))
        equal(parent.asked("PUT"), ["http://up.test/x?y=1"])
        equal(reprise.metric("reprise_dns_lookups_total"), 0, "the parent resolves")
        run = Curl(reprise, "http://up.test/", "--proxytunnel")
        equal((run.code, run.body), (0, b"answer 1 to /\n"), run.stderr)
        equal(parent.asked("CONNECT"), ["up.test:80"])


def test_tls_parent_is_verified_with_its_own_certificate_authorities():
    own = Authority("proxy CA")
    certificate = own.issue(names=("DNS:localhost",))
    body = bytes(range(256)) * 4000
    with Upstream({"/x": [503, 200]}) as plain, TlsUpstream({"/y": [503, 200]}) as secure:
        names = {"up.test": (LOOPBACK, plain.port), "api.test": (LOOPBACK, secure.port)}
        with TlsParent(certificate, names=names, login=LOGIN) as parent:
            there = {"url": parent.proxy_url(WRITTEN), "ca_file": own.file}
            trusting = {"tls": {"ca_file": authority().file}}
            with Reprise(parent=there, defaults=trusting) as reprise:
                equal(ask(reprise, "GET", "http://up.test/x").status, 200, "requests go over its TLS")
                equal(ask(reprise, "PUT", "https://api.test/y", body).status, 200, "and TLS inside its TLS")
                equal([request.body for request in secure.seen(2)], [body, body])
                run = Curl(reprise, "http://up.test/", "--proxytunnel")
                equal((run.code, run.body), (0, b"answer 1 to /\n"), run.stderr)
                assert parent.handshakes >= 2, parent.handshakes
                equal(parent.requests[0].field("Proxy-Authorization"), parent.authorization)
                client = tunnel_to(reprise, "up.test:80")
                equal(client.read_final_head().status, 200)
                client.send(b"GET /big HTTP/1.1\r\nHost: up.test\r\n\r\n")
                equal(client.read_response().status, 200)
            twice = {"retry": {"max_attempts": 2}}
            for wrong in ({"url": parent.proxy_url(WRITTEN)}, {"url": parent.proxy_url(WRITTEN).replace("localhost", LOOPBACK), "ca_file": own.file}):
                with Reprise(parent=wrong, defaults={**twice, "tls": {"ca_file": own.file}}) as reprise:
                    before = parent.connections
                    response = ask(reprise, "GET", "http://up.test/x")
                    equal(response.status, 502, "it is not who it has to be")
                    assert b"parent proxy" in response.body, response.body
                    reprise.expect_log("the certificate could not be verified")
                    equal(parent.connections - before, 1, "the same certificate a moment later proves as little")
            with Reprise(parent=there, defaults={**twice, "tls": {}}) as reprise:
                equal(ask(reprise, "GET", "https://api.test/y").status, 502, "its authority vouches for no upstream")
        with Parent() as clear, Reprise(parent=clear.proxy_url().replace("http:", "https:"),
                                        defaults={**twice, "connect_timeout": "200ms"}) as reprise:
            equal(ask(reprise, "GET", "http://up.test/x").status, 504, "one that waits for clear text")


def test_parent_with_an_invalid_certificate_is_dialled_once_and_named():
    own = Authority("proxy CA")
    with TlsParent(own.issue(names=("DNS:localhost",)), login=LOGIN) as parent, \
            Reprise(parent=parent.proxy_url(WRITTEN), defaults={"circuit": {"failures": "10%", "requests": 1}}) as reprise:
        for asked in range(1, 4):
            plain = ask(reprise, "GET", "http://up.test/x")
            with tunnel_to(reprise, "up.test:443") as client:
                tunnel = client.read_response("CONNECT")
            for response in (plain, tunnel):
                is_failure(response, 502, "tls_certificate_error", 1, b"in the TLS handshake with the parent proxy: ")
                assert b"set parent.ca_file to that authority's file." in response.body and b"of the route" not in response.body, response.body
                equal(response.reason, "not_retryable")
            equal(parent.connections, 2 * asked)
        reprise.expect_log("TLS with the parent proxy")
        reprise.expect_log("set parent.ca_file to that authority's file.")
        attempts = [line["attempts"][0] for line in reprise.requests(6)]
        equal({(one["stage"], one["error"]) for one in attempts}, {("tls", "tls_certificate_error")})
        equal(reprise.metric("reprise_circuit_state", upstream="up.test:80"), 0, "it says nothing of the upstream")


def test_hosts_listed_in_parent_except_are_reached_directly():
    with Upstream() as upstream, Parent({"up.test": (LOOPBACK, upstream.port)}) as parent:
        there = {"url": parent.proxy_url(), "except": ["127.0.0.0/8", "*.up.test"]}
        with Reprise(parent=there) as reprise:
            response = ask(reprise, "GET", upstream.url("/direct"))
            equal((response.status, parent.requests), (200, []), "the network lists the address")
            equal(upstream.seen(1)[0].target, "/direct", "it is no request for a proxy")
            run = Curl(reprise, upstream.url("/tunnel"), "--proxytunnel")
            equal((run.code, parent.requests), (0, []), run.stderr)
            name = f"http://localhost:{upstream.port}/name"
            equal(ask(reprise, "GET", name).status, 200)
            equal(ask(reprise, "GET", "http://up.test/apex").status, 200)
            equal(parent.asked("GET"), [name, "http://up.test/apex"], "a network lists no name, a suffix not itself")


def test_reload_changes_the_parent_exceptions():
    with Upstream() as upstream, Parent() as parent, Controlled(parent=parent.proxy_url()) as reprise:
        url = upstream.url("/x")
        equal((ask(reprise, "GET", url).status, parent.asked("GET")), (200, [url]))
        reprise.change(parent={"url": parent.proxy_url(), "except": [LOOPBACK]})
        reprise.expect_reload("success")
        equal((ask(reprise, "GET", url).status, parent.asked("GET")), (200, [url]), "directly")
        equal(upstream.count(), 2)


def test_explain_says_whether_a_request_goes_through_the_parent():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write('version: 1\nparent: {url: "http://joe:5ecret@proxy:3128", except: ["*.internal", 10.0.0.0/8]}\n')
        file.flush()
        for url, note in (("http://api.test/", "This request goes through the parent proxy http://joe:***@proxy:3128."),
                          ("http://10.1.2.3/", "This request goes to 10.1.2.3 without the parent proxy http://joe:***@proxy:3128: "
                                               "parent.except lists the host."),
                          ("http://a.internal/", "This request goes to a.internal without the parent proxy")):
            done = subprocess.run([options.binary, "explain", "GET", url, "-c", file.name], capture_output=True, text=True, check=True)
            assert note in done.stdout, done.stdout


def test_error_for_an_invalid_parent_exception_suggests_the_nearest_valid_form():
    code, output, name = run_with("version: 1\nparent:\n  url: http://proxy:3128\n  except: [.internal, \"10.*\"]\n", "check")
    equal(code, 78)
    for line in (f"{name}:4:12: error: parent.except[0]: \".internal\" is not a host: write a name, *.suffix, an address or a network "
                 "such as 10.0.0.0/8 (did you mean *.internal?)",
                 f"{name}:4:23: error: parent.except[1]: \"10.*\" is the beginning of an address: write a network (did you mean 10.0.0.0/8?)"):
        assert line in output, output


def test_64_clients_share_the_parent_connections():
    with Upstream() as upstream, Parent({f"h{number}.test": (LOOPBACK, upstream.port) for number in range(64)}) as parent, \
            Reprise(threads=1, parent=parent.proxy_url()) as reprise:
        failures = []

        def work(number):
            with Client(reprise.forward) as client:
                for turn in range(4):
                    response = client.ask("GET", f"http://h{number}.test/{number}/{turn}")
                    expected = b"answer 1 to /%d/%d\n" % (number, turn)
                    if (response.status, response.body) != (200, expected):
                        failures.append((number, turn, response.status, response.body))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failures, [])
        equal(upstream.count(), 64 * 4)
        assert parent.connections <= 64 + reprise.metric("reprise_retries_total"), parent.connections


def test_retries_go_through_the_parent():
    down = b"HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n"
    with Upstream({"/x": [503, "reset", 200]}) as upstream, \
            Parent({"up.test": (LOOPBACK, upstream.port)}, refuse=[down, b"", b"garbage\r\n\r\n"]) as parent, \
            Reprise(parent=parent.proxy_url(), defaults={"retry": {"max_attempts": 8}}) as reprise:
        with tunnel_to(reprise, "up.test:443") as client:  # the parent refuses the first three CONNECTs
            opened = client.read_head()
            assert opened.startswith(b"HTTP/1.1 200 ") and b"\r\nReprise-Attempts: 4\r\n" in opened, opened
        response = ask(reprise, "GET", "http://up.test/x")
        equal((response.status, response.body), (200, b"answer 3 to /x\n"), response.head)


def test_failure_of_the_parent_is_not_reported_as_a_failure_of_the_upstream():
    held, port = closed_port()
    twice = {"retry": {"max_attempts": 2}}
    with held, Reprise(parent=f"http://joe:5ecret@{LOOPBACK}:{port}", defaults=twice) as reprise:
        is_failure(ask(reprise, "POST", "http://up.test/x", b"order"), 502, "destination_unavailable", 2, b"the parent proxy cannot be reached")
        with tunnel_to(reprise, "up.test:443") as client:
            is_failure(client.read_response(), 502, "destination_unavailable", 2, b"the parent proxy cannot be reached")
        reprise.expect_log("the parent proxy cannot be reached: refused")
        attempts = reprise.requests(2)[0]["attempts"]
        equal([(attempt["stage"], attempt["error"]) for attempt in attempts], [("connect", "parent_unreachable")] * 2)
        equal("5ecret" in reprise.text(), False)
    with Parent(login=LOGIN) as parent, Reprise(parent=parent.proxy_url(), defaults=twice) as reprise:
        with tunnel_to(reprise, "up.test:443") as client:
            is_failure(client.read_response(), 502, "connection_refused", 1, b"the parent proxy refused to open a tunnel")
        reprise.expect_log("the parent proxy refused CONNECT with status 407")
        response = ask(reprise, "GET", "http://up.test/x")
        equal((response.status, response.field("Proxy-Authenticate")), (502, None), response.head)
        assert "error=proxy_configuration_error; received-status=407" in response.field("Proxy-Status"), response.head


def test_parent_that_does_not_respond_to_connect_causes_the_error_parent_timeout():
    with socket.create_server((LOOPBACK, 0)) as silent, \
            Reprise(parent=f"http://{LOOPBACK}:{silent.getsockname()[1]}",
                    defaults={"connect_timeout": "100ms", "retry": {"max_attempts": 2}}) as reprise:
        with tunnel_to(reprise, "up.test:443") as client:
            is_failure(client.read_response(), 504, "connection_timeout", 2, b"the parent proxy did not respond in time")
        attempts = reprise.requests(1)[0]["attempts"]
        equal([(attempt["stage"], attempt["error"]) for attempt in attempts], [("connect", "parent_timeout")] * 2)
        reprise.expect_log("the parent proxy did not respond to CONNECT in time")


def test_H9_parent_password_never_appears_in_output():
    told = ("5ecret", base64.b64encode(b"Joe-Smith").decode(), "Joe-Smith")
    written = f"version: 1\nparent: \"http://{WRITTEN}{LOOPBACK}:{{}}\"\n"
    for command in (["config", "--effective"], ["check"]):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(written.format(3999))
            file.flush()
            done = subprocess.run([options.binary, *command, "-c", file.name], capture_output=True, text=True, check=True)
        equal(("5ecret" in done.stdout + done.stderr, told[1] in done.stdout + done.stderr), (False, False), done.stdout)
        equal("Joe-Smith:***@" in done.stdout, command[0] == "config")
    code, output, _ = run_with(written.format(99999), "check")
    equal((code, "5ecret" in output), (78, False), output)
    with Upstream() as upstream, Parent({"up.test": (LOOPBACK, upstream.port)}, login=LOGIN) as parent, \
            Reprise(parent=parent.proxy_url(WRITTEN), log={"level": "debug"}) as reprise:
        equal(ask(reprise, "GET", "http://up.test/x").status, 200)
        parent.refuse.extend([b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"] * 8)
        with tunnel_to(reprise, "up.test:443") as client:
            response = client.read_response()
        for text in (response.head.decode(), response.body.decode(), *(reprise.admin(path)[1] for path in ("/status", "/metrics", "/")), reprise.text()):
            equal([word for word in told if word in text], [], text[-2000:])


def test_reprise_works_with_another_reprise_as_parent():
    with Upstream({"/x": [503, 200]}) as upstream, Reprise() as inner, \
            Reprise(parent="http://%s:%d" % inner.forward, security={"deny": ["169.254.0.0/16", "self"]}) as outer:
        response = ask(outer, "GET", upstream.url("/x"))
        equal((response.status, response.body), (200, b"answer 2 to /x\n"), response.head)
        equal(upstream.requests[0].head.count(b"Via: 1.1 reprise-"), 2, upstream.requests[0].head)
        run = Curl(outer, upstream.url("/tunnelled"), "--proxytunnel")
        equal((run.code, run.body), (0, b"answer 1 to /tunnelled\n"), run.stderr)
        # A request to the proxy's own listener must be rejected as a loop.
        response = ask(outer, "GET", "http://%s:%d/" % outer.forward)
        equal(response.status, 508)


def test_H5_loop_of_two_mutual_parents_is_detected():
    held, port = closed_port()
    held.close()
    once = {"retry": {"max_attempts": 1}}
    with Reprise(parent=f"http://{LOOPBACK}:{port}", defaults=once) as first, \
            Reprise(parent="http://%s:%d" % first.forward, defaults=once,
                    listeners=[{"mode": "forward", "bind": f"{LOOPBACK}:{port}"}]) as second:
        response = ask(first, "GET", "http://up.test/x")
        equal(response.status, 508, response.head)
        with tunnel_to(first, "up.test:443") as client:
            is_failure(client.read_response(), 502, "connection_refused", 1, b"the parent proxy refused to open a tunnel")
        first.expect_metric(2, "reprise_rejected_requests_total", cause="loop")
        second.expect_metric(2, "reprise_requests_total")
