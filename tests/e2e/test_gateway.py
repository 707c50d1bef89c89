"""Tests a gateway as the base URL of curl and Python's urllib. With `redirects: rewrite`, the gateway
rewrites redirects and cookies of its upstream."""
import contextlib
import http.cookiejar
import subprocess
import tempfile
import urllib.request

from client import Client, head_of
from harness import LOOPBACK, PATIENCE, Reprise, equal, without_proxies
from tls import TlsUpstream, authority
from upstream import Say, Upstream

SESSION = "id=7; Domain=localhost; Path=/; HttpOnly; Secure"


@contextlib.contextmanager
def gateway_to(upstream, origin, **listener):
    """Yields a gateway for `origin`. The upstream's login sets a cookie and redirects to /home with an absolute URL."""
    upstream.scripts["/login"] = [Say(302, fields=[("Location", f"{origin}/home?a=1#top"), ("Set-Cookie", SESSION)])]
    bound = {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": origin, **listener}
    with Reprise(listeners=[bound], defaults={"tls": {"ca_file": authority().file}}) as reprise:
        yield reprise


def trusting_gateway(upstream, **listener):
    return gateway_to(upstream, f"https://localhost:{upstream.port}", **listener)


def curl_login(reprise, name):
    """Runs curl on /login; curl keeps cookies and follows redirects. Returns the body and the final URL."""
    with tempfile.NamedTemporaryFile() as jar:
        command = ["curl", "-sS", "-L", "--max-time", str(PATIENCE), "-b", jar.name, "-c", jar.name, "-w", "%{url_effective}",
                   f"http://{name}:{reprise.gateway[1]}/login"]
        done = subprocess.run(command, capture_output=True, text=True, env=without_proxies(), timeout=2 * PATIENCE, check=False)
    equal(done.returncode, 0, done.stderr)
    return done.stdout


def cookies_of(upstream, path):
    return upstream.seen(1, path)[0].field("Cookie")


def test_gateway_clients_follow_redirects_and_send_cookies_back():
    for name in (LOOPBACK, "localhost"):
        with TlsUpstream() as upstream, trusting_gateway(upstream) as reprise:
            where = f"http://{name}:{reprise.gateway[1]}/home?a=1"
            out = curl_login(reprise, name)
            assert out.endswith(f"to /home\n{where}#top") or out.endswith(f"to /home\n{where}"), out
            equal(cookies_of(upstream, "/home"), "id=7", "curl")
        with TlsUpstream() as upstream, trusting_gateway(upstream) as reprise:
            jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
            with opener.open(f"http://{name}:{reprise.gateway[1]}/login", timeout=PATIENCE) as response:
                equal(response.status, 200)
            equal(cookies_of(upstream, "/home"), "id=7", "urllib")


def response_of(reprise, path, host):
    with Client(reprise.gateway) as client:
        client.send(head_of("GET", path, host))
        return client.read_response()


def test_gateway_rewrites_redirects_to_the_clients_host_or_its_own_address():
    with Upstream() as upstream, gateway_to(upstream, upstream.url("")) as reprise:
        port = reprise.gateway[1]
        own = f"{LOOPBACK}:{port}"
        for host, expected in ((f"reprise.test:{port}", f"reprise.test:{port}"), (own, own), ("app.example", own),
                               (f"{LOOPBACK}:{upstream.port}", own)):
            equal(response_of(reprise, "/login", host).field("Location"), f"http://{expected}/home?a=1#top", host)


def test_gateway_keeps_redirects_to_other_hosts_and_cookies_that_require_secure_unchanged():
    strict = ["__Host-a=1; Secure; Path=/", "__Secure-b=1; Secure", "c=1; SameSite=None; Secure"]
    fields = [("Location", "http://other.test/x"), *(("Set-Cookie", cookie) for cookie in strict)]
    with Upstream({"/x": [Say(302, fields=fields)], "/y": [Say(201, fields=[("Location", "/y/1")])]}) as upstream:
        with gateway_to(upstream, upstream.url("")) as reprise:
            host = f"{LOOPBACK}:{reprise.gateway[1]}"
            response = response_of(reprise, "/x", host)
            equal(response.field("Location"), "http://other.test/x")
            equal([value for name, value in response.fields if name == "Set-Cookie"], strict)
            equal(response_of(reprise, "/y", host).field("Location"), "/y/1")


def test_gateway_passes_redirects_and_cookies_unchanged_if_configured():
    with Upstream() as upstream, gateway_to(upstream, upstream.url(""), redirects="pass") as reprise:
        response = response_of(reprise, "/login", f"{LOOPBACK}:{reprise.gateway[1]}")
        equal((response.field("Location"), response.field("Set-Cookie")), (upstream.url("/home?a=1#top"), SESSION))


def test_forward_proxy_changes_neither_redirects_nor_cookies():
    with Upstream() as upstream, Reprise() as reprise, Client(reprise.forward) as client:
        upstream.scripts["/login"] = [Say(302, fields=[("Location", upstream.url("/home")), ("Set-Cookie", SESSION)])]
        response = client.ask("GET", upstream.url("/login"))
        equal((response.field("Location"), response.field("Set-Cookie")), (upstream.url("/home"), SESSION))
