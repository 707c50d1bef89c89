"""Tests that `reprise exec` respects the settings of its caller: proxy, proxy exceptions and certificate
authorities."""
import tempfile

from harness import LOOPBACK, equal, options
from parent import Parent
from test_exec import clean, ran, seen_by_child
from upstream import Upstream

FILE = "in the key parent of a configuration file (-c FILE), use --parent URL, or unset"


def asked(url, *options_of_exec, **environment):
    """Returns (exit code, standard output, standard error) of a curl that runs under exec."""
    return ran("exec", *options_of_exec, "--", "curl", "-s", url, environment=clean(**environment))


def test_exec_uses_the_callers_proxy_as_parent():
    with Upstream({"/x": [503, 200]}) as upstream, \
            Parent({"up.test": (LOOPBACK, upstream.port)}, login=("joe", "5ecret")) as parent:
        where = f"{LOOPBACK}:{parent.port}"
        summary = f"reprise: 1 requests, 1 retried, 1 recovered (through the parent proxy http://joe:***@{where})\n"
        got = asked("http://up.test/x", http_proxy=f"joe:5ecret@{where}", HTTPS_PROXY=f"http://joe:5ecret@{where}/")
        equal(got, (0, "answer 2 to /x\n", summary))
        equal(parent.asked("GET"), ["http://up.test/x"] * 2)
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            code, _, err = asked("http://up.test/y", **{name: f"http://joe:5ecret@{where}"})
            equal((code, err), (0, summary.replace("1 retried, 1 recovered", "0 retried, 0 recovered")), name)
        equal(len(parent.asked("GET")), 2 + 4)
        run = ran("exec", "--", "curl", "-s", "--proxytunnel", "http://up.test/z", environment=clean(http_proxy=f"joe:5ecret@{where}"))
        equal((run[0], run[1], parent.asked("CONNECT")), (0, "answer 1 to /z\n", ["up.test:80"]))
        equal(asked("http://up.test/y", "--quiet", http_proxy=f"joe:5ecret@{where}")[2], "")


def test_exec_uses_the_callers_no_proxy_as_parent_exceptions():
    with Upstream() as upstream, Parent({"up.test": (LOOPBACK, upstream.port)}) as parent:
        proxy = parent.proxy_url()
        # The script clears no_proxy for curl, so that curl uses exec's proxy.
        for direct in (LOOPBACK, "127.0.0.0/8", "127.1.2.3/8", "other.test , 127.0.0.1"):
            script = f"no_proxy= NO_PROXY= curl -s {upstream.url('/direct')}; no_proxy= NO_PROXY= curl -s http://up.test/{len(direct)}"
            code, out, err = ran("exec", "--", "sh", "-c", script, environment=clean(http_proxy=proxy, NO_PROXY=direct))
            equal((code, out.count("answer"), "2 requests" in err), (0, 2, True), err)
            equal(parent.asked("GET"), [f"http://up.test/{len(direct)}"], direct)
            parent.requests.clear()
        name = f"http://localhost:{upstream.port}/name"
        equal(asked(name, http_proxy=proxy, no_proxy="127.0.0.0/8")[0], 0)
        equal(parent.asked("GET"), [name], "a network lists no name")
        code, _, err = asked(upstream.url("/none"), http_proxy=proxy, no_proxy="*")
        equal((code, err, len(parent.requests)), (0, "reprise: 1 requests, 0 retried, 0 recovered\n", 1), "no parent")


def test_exec_prefers_the_parent_of_the_configuration_file_over_proxy_variables():
    with Upstream() as upstream, Parent({"up.test": (LOOPBACK, upstream.port)}) as parent, tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(f"version: 1\nparent: {parent.proxy_url()}\n")
        file.flush()
        code, out, err = asked("http://up.test/x", "-c", file.name, http_proxy="socks5://nowhere:1", https_proxy="not a URL")
        equal((code, out), (0, "answer 1 to /x\n"))
        equal(err, f"reprise: 1 requests, 0 retried, 0 recovered (through the parent proxy {parent.proxy_url()})\n")


def test_nested_exec_uses_the_outer_proxy_as_its_parent():
    with Upstream({"/x": [503, 200]}) as upstream:
        code, out, err = ran("exec", "--", "sh", "-c", f'"$REPRISE" exec -- curl -s {upstream.url("/x")}',
                             environment=clean(REPRISE=options.binary))
        equal((code, out), (0, "answer 2 to /x\n"), err)
        inner, outer = err.splitlines()
        assert inner.startswith("reprise: 1 requests, 0 retried, 0 recovered (through the parent proxy http://127.0.0.1:"), err
        equal(outer, "reprise: 1 requests, 1 retried, 1 recovered")


def test_exec_exits_with_2_if_proxy_variables_name_no_usable_parent():
    socks = f"names a SOCKS proxy: write an HTTP proxy {FILE} the variable\n"
    differ = f"name different proxies: write one of them {FILE} one of the variables\n"
    for environment, message in (
            ({"http_proxy": "socks5://proxy:1080"}, "http_proxy " + socks),
            ({"HTTPS_PROXY": "socks5h://u:5ecret@proxy:1080"}, "HTTPS_PROXY " + socks),
            ({"http_proxy": "http://one:1", "https_proxy": "http://two:1"}, "http_proxy and https_proxy " + differ),
            ({"https_proxy": "http://one:1", "HTTPS_PROXY": "http://u:5ecret@one:1"}, "https_proxy and HTTPS_PROXY " + differ)):
        equal(ran("exec", "--", "true", environment=clean(**environment)), (2, "", "reprise exec: " + message), str(environment))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        for value in ("http://", "ftp://5ecret:1", "not 5ecret", "http://u:5ecret@proxy:99999", "http://proxy:1/5ecret"):
            code, out, err = ran("exec", "--", "echo", "ran", environment=clean(**{name: value}))
            equal((code, out, "5ecret" in err), (2, "", False), err)
            assert err.startswith(f"reprise exec: {name} "), err
    equal(ran("exec", "--quiet", "--", "true", environment=clean(http_proxy="", HTTPS_PROXY=""))[0], 0, "empty is absent")
    assert "all_proxy" not in seen_by_child(http_proxy="http://one:1")
