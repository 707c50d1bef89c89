"""Tests `reprise top` against a running proxy: the screen on a real pseudo-terminal, and the plain lines without a
terminal."""
import contextlib
import json
import os
import signal
import subprocess
import unicodedata

from client import Client, ask, head_of
from harness import PATIENCE, Reprise, closed_port, equal, eventually, options
from terminal import OnTerminal
from upstream import Say, Upstream

QUICK = ("--interval", "100ms")


def admin_of(reprise):
    return "%s:%d" % reprise.addresses["admin"]


def on_terminal(reprise, *arguments, **look):
    return OnTerminal("top", "--admin", admin_of(reprise), *QUICK, *arguments, **look)


def top(*arguments, **variables):
    """Runs `reprise top` without a terminal. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, "top", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE, check=False, env={**os.environ, **variables})
    return done.returncode, done.stdout, done.stderr


def some_traffic(reprise, upstream):
    equal(ask(reprise, "GET", upstream.url("/again")).status, 200)
    equal(ask(reprise, "POST", upstream.url("/no"), b"x").status, 503)


SCRIPT = {"/again": [503, 200], "/no": [503]}


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 0 if unicodedata.combining(one) else 1 for one in line)


def row_of(screen, name):
    return next(line for line in screen.splitlines() if line.startswith(name)).split()


def test_top_shows_routes_and_requests_that_were_retried_or_whose_retry_was_refused():
    # The terminal has enough rows for the history of both requests, even if the path of the configuration takes several
    # lines.
    with Upstream(SCRIPT) as upstream, Reprise() as reprise, on_terminal(reprise, rows=40) as terminal:
        terminal.sees("ROUTE")
        some_traffic(reprise, upstream)
        terminal.sees("not_idempotent")
        screen = terminal.sees("recovered by a retry")
        assert "ready" in screen and admin_of(reprise) in screen and ">default" in screen, screen
        assert "to change: " in screen, screen
        # `top` reads the figures from /status before it reads the request history, so a frame may show figures that are
        # older than the history.
        screen = terminal.until(lambda screen: row_of(screen, ">default")[4:7] == ["1", "1", "0"], "one recovered, one refused, none spent")
        row = row_of(screen, ">default")
        assert row[2].endswith("%") and row[8].endswith(("ms", "s")), row
        terminal.press("q")
        equal(terminal.ended(), 0)
        terminal.is_given_back()


def test_top_keys_switch_between_history_upstreams_and_help():
    with Upstream(SCRIPT) as upstream, Reprise(routes=[{"name": "other", "match": {"host": "nobody.example"}}]) as reprise:
        some_traffic(reprise, upstream)
        with on_terminal(reprise, rows=40) as terminal:
            terminal.sees("not_idempotent")
            terminal.press("1")
            terminal.until(lambda screen: screen.index("default ") < screen.index("other "), "sorted by name")
            terminal.press("r")
            terminal.until(lambda screen: screen.index("other ") < screen.index("default "), "sorted the other way round")
            terminal.press("\x1b[H")
            terminal.sees(">other")
            terminal.press("\x1b[B")
            terminal.sees(">default")
            terminal.press("\r")
            terminal.sees("LAST RETRIED OR REFUSED OF default: 2")
            terminal.press("j")
            terminal.sees("attempt 2")
            terminal.press("\r")
            terminal.until(lambda screen: "LAST RETRIED" not in screen, "one story in full")
            screen = terminal.sees("client got")
            assert "retryable_status: retried after " in screen and ", drawn from 2.5ms to 5.0ms" in screen, screen
            terminal.press("\x1b")
            terminal.sees("LAST RETRIED")
            terminal.press("\x1b")
            terminal.sees("ROUTE")
            terminal.press("u")
            screen = terminal.sees("BUDGET LEFT")
            assert f"127.0.0.1:{upstream.port}" in screen and "reprise.yaml" in screen, screen
            terminal.press("?")
            terminal.sees("reverse the sort order")
            terminal.press("\x1b")
            terminal.sees("ROUTE")
            terminal.press("p")
            terminal.sees("PAUSED")
            terminal.press("p")
            terminal.until(lambda screen: "PAUSED" not in screen, "it goes on")
            terminal.press("q")
            equal(terminal.ended(), 0)


def wide_proxy():
    """Yields a server that imitates reprise's admin listener. The name of its route has wide characters, which a
    real configuration cannot have, and a host name has terminal control sequences."""
    route = {"name": "日本語の検索", "mode": "active", "requests": 7, "refused": {}}
    story = {"id": "a-1", "time": "2026-01-01T00:00:00.000Z", "route": route["name"], "method": "GET", "host": "e\x1b[2J\u202e", "port": 80,
             "status": 503, "reason": "not_idempotent", "meaning": "because", "ending": "complete", "attempts": [{"n": 1, "status": 503}]}
    status = {"version": "9", "started": 1, "uptime_seconds": 1, "routes": [route], "totals": {"requests": 7}}
    return Upstream({"/status": [Say(200, json.dumps(status).encode())], "/stories": [Say(200, json.dumps([story]).encode())]})


def test_top_fits_every_terminal_size_and_follows_a_resize():
    with wide_proxy() as proxy, OnTerminal("top", "--admin", f"127.0.0.1:{proxy.port}", *QUICK) as terminal:
        terminal.sees("日本語の検索")
        for columns, rows in ((40, 10), (300, 100), (10, 3), (1, 1), (132, 43)):
            terminal.resize(columns, rows)
            terminal.until(lambda screen, rows=rows: screen.count("\n") == rows - 1, f"{rows} rows")
            terminal.until(lambda _, columns=columns: all(columns_of(line) <= columns for line in terminal.lines()), f"{columns} columns")
        terminal.sees("BY REASON")
        terminal.sees("e\\u001b[2J\\u202e")
        assert "\x1b[2J" not in terminal.came and "\u202e" not in terminal.came
        terminal.press("q")
        equal(terminal.ended(), 0)


def test_N13_top_cuts_no_text_at_40_to_200_columns_and_shows_tunnels_separately():
    hello = b"\x16\x03\x01\x00\x05hello"
    route = {"name": "payments-of-the-shop", "match": {"path": "/shop/**"}}
    path = "/shop/" + "a-rather-long-path/" * 4
    with Upstream({path: [503, 200]}) as upstream, Reprise(routes=[route]) as reprise, Client(reprise.forward) as client:
        client.send(head_of("CONNECT", f"localhost:{upstream.port}", f"localhost:{upstream.port}") + hello)
        equal(client.read_response("CONNECT").status, 200)
        equal(ask(reprise, "GET", upstream.url(path)).status, 200)
        with on_terminal(reprise, rows=40) as terminal:
            terminal.sees("recovered")
            for columns in (40, 47, 60, 80, 100, 132, 200):
                terminal.resize(columns, 40)
                screen = terminal.until(lambda screen, columns=columns: "recovered" in screen and all(
                    columns_of(line) <= columns for line in terminal.lines()), f"{columns} columns")
                assert "\u2026" not in screen, screen
                for words in ("payments-of-the-shop", "tunnels 0 ended", f"HTTPS not read: localhost:{upstream.port}", "? help"):
                    assert words in screen, (words, screen)
                assert path in "".join(screen.split()), screen
                terminal.press("u")
                screen = terminal.sees("BUDGET LEFT")
                assert "\u2026" not in screen and f"127.0.0.1:{upstream.port}" in screen, screen
                terminal.press("\x1b")
                terminal.sees("ROUTE ")


def test_top_lists_failing_routes_first_when_there_are_many():
    routes = [{"name": f"service-{number:03}", "match": {"path": f"/s{number}/**"}} for number in range(300)]
    with Upstream({}, otherwise=[503]) as upstream, Reprise(defaults={"retry": {"max_attempts": 1}}, routes=routes) as reprise:
        with on_terminal(reprise) as terminal:
            terminal.sees("MOST PROBLEMS FIRST")
            ask(reprise, "GET", upstream.url("/s222/x"))
            terminal.sees(">service-222")
            terminal.press("1")
            terminal.until(lambda screen: "MOST PROBLEMS FIRST" not in screen, "by name")
            terminal.press("0")
            terminal.sees("MOST PROBLEMS FIRST")


def test_top_restores_the_terminal_after_every_key_and_signal_that_ends_it():
    with Reprise() as reprise:
        for end, code in (("q", 0), ("\x03", 0), ("\x1c", -signal.SIGQUIT), (signal.SIGTERM, -signal.SIGTERM),
                          (signal.SIGHUP, -signal.SIGHUP), (signal.SIGINT, 0)):
            with on_terminal(reprise) as terminal:
                terminal.sees("ROUTE")
                if isinstance(end, str):
                    terminal.press(end)
                else:
                    terminal.signal(end)
                equal(terminal.ended(), code, end)
                terminal.is_given_back()


def test_top_restores_the_terminal_when_stopped_and_redraws_when_continued():
    with Reprise() as reprise, on_terminal(reprise) as terminal:
        terminal.sees("ROUTE")
        terminal.press("\x1a")
        terminal.stopped()
        terminal.is_given_back()
        terminal.came = ""
        terminal.signal(signal.SIGCONT)
        terminal.sees("ROUTE")
        terminal.press("q")
        equal(terminal.ended(), 0)


def test_top_reports_a_lost_proxy_and_its_restart():
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(Reprise())
        address = admin_of(running)
        upstream = stack.enter_context(Upstream(SCRIPT))
        some_traffic(running, upstream)
        terminal = stack.enter_context(on_terminal(running))
        terminal.sees("default: 2 requests")
        running.process.kill()
        running.process.wait()
        terminal.sees("NO RESPONSE for 00:00:0")
        terminal.sees("Connection\nrefused")
        running.process.returncode = 0  # the case itself has killed the process: that is no failure
        with Reprise(admin={"bind": address}):
            terminal.until(lambda screen: "NO RESPONSE" not in screen, "it responds again")
            terminal.sees("RESTARTED")
            terminal.press("q")
            equal(terminal.ended(), 0)
            terminal.is_given_back()


def test_top_keys_work_while_the_proxy_hangs():
    with Reprise() as reprise, on_terminal(reprise) as terminal:
        terminal.sees("ROUTE")
        os.kill(reprise.process.pid, signal.SIGSTOP)
        try:
            terminal.press("?")
            terminal.sees("reverse the sort order")
            terminal.sees("NO RESPONSE")
        finally:
            os.kill(reprise.process.pid, signal.SIGCONT)
        terminal.until(lambda screen: "NO RESPONSE" not in screen, "it responds again")
        terminal.press("q")
        equal(terminal.ended(), 0)


def test_top_scrolls_through_a_thousand_routes():
    routes = [{"name": f"route-{number}", "match": {"host": f"h{number}.example"}} for number in range(1000)]
    with Reprise(routes=routes) as reprise, on_terminal(reprise) as terminal:
        terminal.sees("1/1001")
        terminal.press("\x1b[F")
        terminal.sees(">default")
        terminal.press("\x1b[5~")
        terminal.until(lambda screen: "1001/1001" not in screen and "/1001" in screen, "a page back")
        terminal.press("g")
        terminal.sees("1/1001")
        terminal.press("q")
        equal(terminal.ended(), 0)


def test_top_uses_only_ascii_without_a_utf_8_locale():
    with wide_proxy() as proxy:
        for locale in ("C", "no_SUCH.UTF-8"):
            with OnTerminal("top", "--admin", f"127.0.0.1:{proxy.port}", *QUICK, LC_ALL=locale) as terminal:
                terminal.sees("\\u65e5\\u672c")
                terminal.sees("because")
                assert terminal.came.isascii(), terminal.came
                terminal.press("q")
                equal(terminal.ended(), 0)


def test_top_uses_colours_unless_no_color_is_set():
    with Reprise() as reprise:
        for variable, coloured in (("", True), ("1", False)):
            with on_terminal(reprise, NO_COLOR=variable) as terminal:
                terminal.sees("ROUTE")
                equal("\x1b[1;36m" in terminal.came, coloured)
                terminal.press("q")
                equal(terminal.ended(), 0)


def test_top_prints_lines_if_the_terminal_cannot_show_a_full_screen_or_lines_are_requested():
    with Reprise() as reprise:
        for terminal in (on_terminal(reprise, "--count", "1"), on_terminal(reprise, "--format", "text", "--count", "1"),
                         on_terminal(reprise, "--count", "1", TERM="dumb"), on_terminal(reprise, "--count", "1", TERM=None)):
            with terminal:
                equal(terminal.ended(), 0)
                assert " route=default " in terminal.came and "\x1b" not in terminal.came, terminal.came
        for variables in ({"TERM": "dumb"}, {"TERM": None}):
            with on_terminal(reprise, **variables) as terminal:
                eventually(lambda terminal=terminal: terminal.read() or " route=default " in terminal.came, "lines on a dumb terminal")
                assert "\x1b" not in terminal.came, terminal.came
                terminal.press("\x03")
                equal(terminal.ended(), -signal.SIGINT)


def test_top_prints_interval_lines_to_a_pipe_and_stops_after_the_given_count():
    with Upstream(SCRIPT) as upstream, Reprise() as reprise:
        process = subprocess.Popen([options.binary, "top", "--admin", admin_of(reprise), "--format", "json", *QUICK],
                                   stdout=subprocess.PIPE, text=True)
        told = {"requests": 0, "retries": 0, "recovered": 0}
        refused = {}
        json.loads(process.stdout.readline())
        some_traffic(reprise, upstream)
        while told["requests"] < 2:
            line = json.loads(process.stdout.readline())
            equal(line["route"], "default")
            for name in told:
                told[name] += line[name]
            refused.update(line["refused"])
            if line["requests"]:
                assert line["p50_ms"] > 0 and 0 <= line["success"] <= 1 and line["rate"] > 0, line
            else:
                equal((line["p50_ms"], line["success"]), (None, None))
        equal((told, refused), ({"requests": 2, "retries": 1, "recovered": 1}, {"not_idempotent": 1}))
        process.stdout.close()  # closes the reading end of the pipe
        assert process.wait(PATIENCE) in (0, -signal.SIGPIPE)
        code, out, err = top("--admin", admin_of(reprise), *QUICK, "--count", "2")
        equal((code, err, out.count("\n")), (0, "", 2))
        assert all(line.startswith("time=") and " route=default seconds=" in line for line in out.splitlines()), out


def test_top_continues_printing_lines_while_the_proxy_is_unreachable():
    with Reprise() as reprise:
        process = subprocess.Popen([options.binary, "top", "--admin", admin_of(reprise), *QUICK, "--count", "30"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        assert "route=default" in process.stdout.readline()
    out, err = process.communicate(timeout=PATIENCE)
    equal(process.returncode, 1, "nothing responded in the last interval")
    equal(err.count("no response from the admin listener"), 1)
    assert out.count("\n") < 30, out


def test_top_reports_wrong_arguments_and_a_missing_proxy():
    for arguments, words in ((["--interval", "1"], "--interval"), (["--interval", "1ms"], "100ms to 1h"), (["--admin", "nowhere"], "HOST:PORT"),
                             (["--format", "yaml"], "--format"), (["--count", "0"], "--count"), (["--admin", "a:1", "-c", "x"], "--admin")):
        code, out, err = top(*arguments)
        equal((code, out), (2, ""), arguments)
        assert words in err, err
    _held, port = closed_port()
    code, out, err = top("--admin", f"127.0.0.1:{port}")
    equal((code, out), (1, ""))
    assert f"no response from the admin listener at 127.0.0.1:{port}" in err and "--admin" in err, err
    with Upstream({"/status": [200]}) as other:
        code, out, err = top("--admin", f"127.0.0.1:{other.port}")
        equal((code, out), (1, ""))
        assert "no admin listener of reprise" in err, err
    equal(top("-c", "/nowhere.yaml")[0], 78)
