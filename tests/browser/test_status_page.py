"""Tests the status page in a browser: with traffic, in both colour schemes, at every width, by keyboard,
for a screen reader, and when the proxy ends."""
import contextlib
import itertools
import json
import shlex
import signal
import subprocess
import time
from pathlib import Path

from client import Client, ask, head_of
from control import Controlled
from harness import Reprise, equal, eventually, options
from traffic import Scene
from upstream import Say, Upstream

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parent.parent / "build/screenshots"
MEASURES = (HERE / "measures.js").read_text(encoding="utf-8")
WIDTHS = (320, 360, 768, 1280, 2560)


def measure(page, name):
    return page.evaluate(f"{MEASURES}.{name}()")


def settle(page):
    """Waits until a new size or colour scheme is drawn."""
    page.expect("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    page.expect("document.getAnimations().length === 0")


def admin_url(reprise):
    return "http://%s:%d/" % reprise.addresses["admin"]


@contextlib.contextmanager
def opened(browser, url, **looks):
    """Yields an open page. Checks at the end that the page had no error and sent requests only to the admin listener
    that served it."""
    with browser.page(**looks) as page:
        page.open(url)
        page.expect_text("#link", "live")
        yield page
        equal(page.errors, [], "what the console says")
        strangers = [asked for asked in page.requested if not asked.startswith((url, "about:", "data:"))]
        equal(strangers, [], "who else was asked")


def test_page_shows_live_traffic_and_keeps_updating(browser):
    with Scene() as scene, opened(browser, scene.url) as page:
        page.expect("document.querySelectorAll('#stories-list > li').length >= 8", "stories")
        page.expect_text("#state", "ready")
        equal(page.evaluate("[...document.querySelectorAll('#routes-table .label')].map(e => e.textContent)"),
              ["catalog", "payments", "reports", "legacy-orders", "partner", "default"], "routes in the order of the file")
        page.expect_text("#routes-table", "not idempotent")
        page.expect_text("#routes-table", "attempts spent")
        page.expect_text("#routes-table", "observe")
        page.expect_text("#upstreams-table", f"127.0.0.1:{scene.upstream.port}")
        page.expect_text("#upstreams-table", "open")
        page.expect_text("#stories-list", "recovered, attempt 2")
        page.expect_text("#stories-list", "To change this:")
        page.expect_text("#stories-list", "upstream said later")
        page.expect_text("#pools", "clients:")
        hash_of = json.loads(scene.reprise.admin("/status")[1])["config"]["hash"]
        page.expect_text("#settings", hash_of)
        page.expect(r"/^\d[\d.,]*$/.test(page.tiles.tiles.get('requests').value.textContent)", "a rate")
        page.expect(r"/ms|s/.test(page.routes.table.rows.get('catalog').p99.textContent)", "a quantile")
        before = page.evaluate("page.routes.known.get('catalog').requests")
        page.expect(f"page.routes.known.get('catalog').requests > {before} + 20", "numbers that go on")
        page.expect("page.tiles.recent.samples.length >= 8", "a line to be drawn")
        assert page.evaluate("document.querySelector('.spark.requests .line').getAttribute('d').length") > 40
        said = page.evaluate("page.routes.table.rows.get('catalog').requests.textContent.replaceAll(',', '')")
        assert int(said) > before, said


def test_page_computes_quantiles_rates_and_units_correctly(browser):
    """Compares quantiles and rates with values computed by hand. One counter falls between two updates, as after a
    restart."""
    with Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        equal(page.evaluate("quantile(0.5, [0, 10, 0], [1, 2])"), {"seconds": 1.5, "above": False})
        equal(page.evaluate("quantile(0.99, [1, 1, 98], [1, 2])"), {"seconds": 2, "above": True})
        equal(page.evaluate("quantile(0.5, [0, 0], [1])"), None)
        equal(page.evaluate("quantile(0.25, [4, 4], [8])"), {"seconds": 4, "above": False})
        window = "(() => { const r = new Recent(60); for (let t = 0; t <= 100; ++t) r.add(t, {n: 3 * t}); return r; })()"
        equal(page.evaluate(f"(r => [r.grown('n'), r.rate('n'), r.seconds, r.rates('n').length])({window})"), [180, 3, 60, 60])
        equal(page.evaluate("(r => { r.add(0, {n: 9}); r.add(1, {n: 2}); r.add(2, {n: 4}); return [r.grown('n'), r.rate('n')]; })(new Recent())"),
              [2, 2], "a counter of a new process")
        equal(page.evaluate("new Recent().rate('n')"), None)
        equal(page.evaluate("[shareText(0, 0), shareText(1, 1), shareText(9999, 10000), shareText(1, 100000)]"),
              ["\u2013", "100\u00a0%", "99.9\u00a0%", "<0.1\u00a0%"])
        equal(page.evaluate("[spanText(0.3), spanText(4.25), spanText(912.4), spanText(5230), spanText(61000)]"),
              ["<1\u00a0ms", "4.3\u00a0ms", "912\u00a0ms", "5.23\u00a0s", "1\u00a0min 1\u00a0s"])
        equal(page.evaluate("uptimeText(59) + uptimeText(3661) + uptimeText(90000)"), "59 s1 h 1 min1 d 1 h")


def test_page_text_is_readable_at_every_width_in_light_and_dark(browser):
    with Scene() as scene:
        scene.fail_a_reload()
        with opened(browser, scene.url) as page:
            page.expect("document.querySelectorAll('#stories-list > li').length >= 6", "stories")
            page.expect_text("#notices", "failed. The previous configuration stays active.")
            page.evaluate("document.querySelector('#stories-list details').open = true")
            for dark in (False, True):
                page.scheme(dark)
                for width in WIDTHS:
                    page.resize(width)
                    name = f"{'dark' if dark else 'light'}-{width}"
                    settle(page)
                    bad = [each for each in measure(page, "contrasts") if each["ratio"] < each["least"]]
                    equal(bad, [], f"contrast, {name}")
                    equal(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"), False, name)
                    equal(measure(page, "overflowing"), [], f"beyond the window, {name}")
                    equal(measure(page, "clipped"), [], f"cut off, {name}")
                    equal(measure(page, "overlapping"), [], f"one over the other, {name}")
                    equal(measure(page, "small"), [], f"too small to be hit, {name}")
                    page.picture(PICTURES / f"{name}.png")
            assert len(measure(page, "contrasts")) > 100, "there is something to be read"


def test_layout_checks_detect_planted_defects(browser):
    with Reprise() as reprise, browser.page() as page:
        page.open(admin_url(reprise))
        page.expect_text("#link", "live")
        plant = "((e, s) => { Object.assign(e.style, s); document.querySelector(%s).append(e); e.textContent = 'planted'; %s })(document.createElement('button'), %s)"
        for name, where, how, after in (("contrasts", "main", {"color": "rgb(200, 200, 200)", "background": "rgb(255, 255, 255)"}, ""),
                                        ("overflowing", "main", {"position": "absolute", "left": "1200px", "width": "400px"}, ""),
                                        ("clipped", ".tile", {"width": "1000px"}, ""),
                                        ("overlapping", ".facts", {"marginLeft": "-8rem"}, ""),
                                        ("small", "main", {"height": "10px", "minHeight": "0", "padding": "0"}, ""),
                                        ("focused", "main", {"outline": "none"}, "e.focus();")):
            page.evaluate(plant % (json.dumps(where), after, json.dumps(how)))
            found = measure(page, name)
            if name == "contrasts":
                found = [each["text"] for each in found if each["ratio"] < each["least"]]
            if name == "focused":
                found = [] if found["ring"] else [found["what"]]
            assert any("planted" in each or "tile" in each for each in found), (name, found)
            page.evaluate("[...document.querySelectorAll('button')].filter(e => e.textContent === 'planted').forEach(e => e.remove())")


def test_page_after_a_fresh_start_says_that_there_are_no_requests_and_attempts_yet(browser):
    with Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        page.expect_text("#stories-none", "None yet")
        page.expect_text("#upstreams-none", "No attempt has been made yet")
        page.expect_text("#settings", "none since the start")
        for dark in (False, True):
            page.scheme(dark)
            settle(page)
            equal([each for each in measure(page, "contrasts") if each["ratio"] < each["least"]], [])
            page.picture(PICTURES / f"fresh-{'dark' if dark else 'light'}.png")


def test_N13_page_lists_tunnels_separately_from_requests_and_advises_interception(browser):
    hello = b"\x16\x03\x01\x00\x05hello"
    with Upstream({}) as upstream, Reprise() as reprise, opened(browser, admin_url(reprise), width=320) as page:
        equal(page.evaluate("document.querySelector('#unread').hidden"), True)
        authority = f"localhost:{upstream.port}"
        with Client(reprise.forward) as client:
            client.send(head_of("CONNECT", authority, authority) + hello)
            equal(client.read_response("CONNECT").status, 200)
            page.expect_text("#unread", f"HTTPS to {authority} could not be read: 1 tunnel. "
                                        "To retry this traffic, use --intercept localhost, or")
        page.expect_text("#tunnels", "Tunnels that ended: 1. They are not counted as requests.")
        settle(page)
        equal([each for each in measure(page, "contrasts") if each["ratio"] < each["least"]], [])
        equal((measure(page, "overflowing"), measure(page, "clipped")), ([], []), "nothing is wider than the page")
        page.picture(PICTURES / "tunnels-320.png")


def test_client_chosen_text_is_never_rendered_as_markup(browser):
    with Upstream({}, otherwise=[Say(503)]) as upstream, Reprise(defaults={"retry": {"max_attempts": 2}}) as reprise:
        with opened(browser, admin_url(reprise)) as page:
            path = "/<img/src=x/onerror=document.title='owned'>/<script>document.title='owned'</script>"
            ask(reprise, "GET", upstream.url(path), fields=[("X-Request-Id", "<b>id</b>")])
            page.expect_text("#stories-list", "<img/src=x")
            equal(page.evaluate("document.querySelectorAll('#stories-list img, #stories-list script, #stories-list b').length"), 0)
            equal(page.evaluate("document.title"), "reprise, ready")


def test_history_entry_shows_each_attempt_the_reason_and_the_advice(browser):
    retry = {"max_attempts": 3, "backoff": {"initial": "20ms", "maximum": "40ms"}}
    with Upstream({"/flaky": [503, "reset", 200], "/post": ["reset"]}) as upstream, Reprise(defaults={"retry": retry}) as reprise:
        with opened(browser, admin_url(reprise)) as page:
            equal(ask(reprise, "GET", upstream.url("/flaky")).status, 200)
            ask(reprise, "POST", upstream.url("/post"), b"x")
            page.expect("document.querySelectorAll('#stories-list > li').length === 2")
            recovered, refused = "#stories-list > li:nth-child(2)", "#stories-list > li:nth-child(1)"
            equal(page.evaluate(f"[...document.querySelectorAll('{recovered} .attempt')].map(e => e.classList[1])"), ["bad", "bad", "good"])
            equal(page.evaluate(f"document.querySelectorAll('{recovered} .wait').length"), 2)
            page.expect_text(recovered, "recovered, attempt 3")
            page.expect_text(recovered, "retryable status")
            page.expect_text(refused, "not idempotent: the upstream may have received the request")
            page.expect_text(refused, "To change this: ")
            page.evaluate(f"document.querySelector('{recovered} summary').click()")
            page.expect_text(recovered, "drawn from")
            page.expect_text(recovered, f"127.0.0.1:{upstream.port}")
            link = page.evaluate(f"document.querySelector('{recovered} a').getAttribute('href')")
            status, text = reprise.admin(link)
            equal(status, 200)
            assert "attempt" in text, text


def test_page_never_shifts_content_being_read_and_pause_freezes_updates(browser):
    with Upstream({}, otherwise=["reset"]) as upstream, Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        paths = itertools.count()

        def refuse():
            ask(reprise, "POST", upstream.url(f"/{next(paths)}"), b"x")
        refuse()
        page.expect("document.querySelectorAll('#stories-list > li').length === 1")
        page.evaluate("document.querySelector('#stories-list summary').focus()")
        refuse()
        page.expect_text("#stories-more", "Show 1 newer")
        equal(page.evaluate("document.querySelectorAll('#stories-list > li').length"), 1)
        page.evaluate("document.activeElement.blur()")
        page.expect("document.querySelectorAll('#stories-list > li').length === 2", "shown once nobody reads")
        page.evaluate("document.querySelector('#pause').click()")
        page.expect_text("#link", "paused")
        before = page.evaluate("page.status.clock")
        refuse()
        page.expect(f"page.status.clock > {before} + 1", "it goes on listening")
        page.expect_text("#stories-more", "Show 1 newer")
        page.expect("page.routes.table.rows.get('default').requests.textContent === '2'")
        page.evaluate("document.querySelector('#pause').click()")
        page.expect("page.routes.table.rows.get('default').requests.textContent === '3'")
        page.expect("document.querySelectorAll('#stories-list > li').length === 3")


def test_tables_can_be_sorted_and_filtered(browser):
    with Scene() as scene, opened(browser, scene.url) as page:
        names = "[...document.querySelectorAll('#routes-table .label')].map(e => e.textContent)"
        page.expect("page.routes.table.rows.get('reports').requests.textContent !== '0'")
        page.evaluate("[...document.querySelectorAll('#routes-table thead button')].find(e => e.textContent === 'Requests').click()")
        equal(page.evaluate("document.querySelector('#routes-table th[aria-sort]').textContent"), "Requests")
        equal(page.evaluate("document.querySelector('#routes-table th[aria-sort]').getAttribute('aria-sort')"), "descending")
        page.expect(f"{names}[0] === 'catalog'")
        page.evaluate("document.querySelector('#routes-table th[aria-sort] button').click()")
        page.expect(f"{names}[5] === 'catalog'")
        page.evaluate("(e => { e.value = 'LEG'; e.dispatchEvent(new Event('input')); })(document.querySelector('#routes-filter'))")
        equal(page.evaluate(names), ["legacy-orders"])
        page.expect_text("#routes-note", "1 of 6")
        page.expect("document.querySelectorAll('#stories-list > li').length >= 6")
        page.evaluate("(e => { e.value = 'good'; e.dispatchEvent(new Event('change')); })(document.querySelector('#stories-kind'))")
        page.expect("[...document.querySelectorAll('#stories-list > li')].every(e => e.classList.contains('good'))")
        page.evaluate("(e => { e.value = 'no such thing'; e.dispatchEvent(new Event('input')); })(document.querySelector('#stories-filter'))")
        page.expect("document.querySelectorAll('#stories-list > li').length === 0")


def test_every_control_is_reachable_by_keyboard_with_visible_focus(browser):
    with Scene() as scene, opened(browser, scene.url) as page:
        page.expect("document.querySelectorAll('#stories-list > li').length >= 3")
        page.evaluate("document.querySelector('#pause').click()")  # no update arrives between two steps
        page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
        wanted = page.evaluate("""[...document.querySelectorAll('a, button, input, select, summary')]
            .filter(e => e.checkVisibility() && !e.closest('details:not([open]) > :not(summary)')).length""")
        steps = []
        for _ in range(wanted + 5):
            page.press("Tab")
            at = measure(page, "focused")
            if at is None or (steps and at["what"] == steps[0]["what"] and at["tag"] == steps[0]["tag"]):
                break
            steps.append(at)
        equal(len(steps), wanted, f"steps: {[step['what'] for step in steps]}")
        equal([step["what"] for step in steps if not step["ring"]], [], "focus that cannot be seen")
        equal(steps[0]["what"], "Skip to the routes")
        page.evaluate("document.querySelector('#stories-list summary').focus()")
        page.press("Enter")
        page.expect("document.querySelector('#stories-list details').open")
        page.evaluate("document.querySelector('#pause').focus()")
        page.press(" ")
        page.expect("document.querySelector('#pause').getAttribute('aria-pressed') === 'false'")


def test_page_gives_screen_readers_the_role_and_name_of_every_part(browser):
    with Scene() as scene, opened(browser, scene.url, width=320) as page:
        page.expect("document.querySelectorAll('#stories-list > li').length >= 3")
        told = page.accessible()
        roles = [role for role, _ in told]
        for role in ("banner", "main", "contentinfo"):
            equal(roles.count(role), 1, role)
        equal([name for role, name in told if role == "region"], ["Now", "Routes", "Retried and refused", "Upstreams", "Tunnels", "Configuration"])
        equal([name for role, name in told if role == "table"], ["Routes", "Upstreams"], "tables even where they look like lists")
        headers = [name for role, name in told if role == "columnheader"]
        assert {"Route", "Success", "p99", "Circuit"} <= {name.split("\u00a0")[0] for name in headers}, headers
        assert "rowheader" in roles and roles.count("cell") >= 40, roles.count("cell")
        nameless = [role for role, name in told if role in ("button", "link", "searchbox", "combobox", "meter", "heading") and not name.strip()]
        equal(nameless, [])
        live = page.evaluate("[...document.querySelectorAll('[role=status], [role=alert], [aria-live]')].map(e => e.id)")
        equal(live, ["link", "notices"], "what is said unasked is little")
        equal(page.evaluate("document.documentElement.lang"), "en")


def test_page_has_no_motion_when_reduced_motion_is_preferred(browser):
    with Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        page.scheme(False, motion="reduce")
        moving = """[...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e);
            return parseFloat(s.transitionDuration) > 0 || s.animationName !== 'none'; }).length"""
        equal(page.evaluate(moving), 0)


def test_page_reports_a_failed_reload_and_draining(browser):
    with Controlled() as reprise, opened(browser, admin_url(reprise)) as page:
        reprise.write("version: 1\nno_such_key: 1\n")
        page.expect_text("#notices", "reprise.yaml:2:1: error: ")
        page.expect_text("#settings", "failed")
        reprise.change(defaults={"retry": {"max_attempts": 2}})
        page.expect("document.querySelector('#notices').textContent === ''", "the notice goes")
        page.expect_text("#settings", "succeeded")
        reprise.tell("drain")
        page.expect_text("#state", "draining")
        page.expect_text("#notices", "Draining")
        page.picture(PICTURES / "draining.png")


def test_page_reports_a_lost_proxy_and_recovers_when_a_new_proxy_starts(browser):
    """The new proxy has the port of the lost proxy, but its counters start at 0."""
    with Upstream({"/flaky": [503, 200]}) as upstream, Reprise() as first, browser.page() as page:
        page.open(admin_url(first))
        ask(first, "GET", upstream.url("/flaky"))
        page.expect("page.routes.table.rows.get('default')?.requests.textContent === '1'")
        page.expect("document.querySelectorAll('#stories-list > li').length === 1")
        first.process.send_signal(signal.SIGTERM)
        first.wait()
        page.expect_text("#link", "connection lost")
        page.expect_text("#notices", "The proxy has shut down")
        page.expect_text("#notices", "This page shows the state at")
        page.expect_text("#state", "unknown")
        page.expect("document.title === 'reprise, connection lost'")
        page.picture(PICTURES / "lost.png")
        with Reprise(admin={"bind": "%s:%d" % first.addresses["admin"]}) as second:
            page.expect_text("#link", "live")
            page.expect("document.querySelector('#notices').textContent === ''")
            page.expect_text("#state", "ready")
            page.expect("page.routes.table.rows.get('default').requests.textContent === '0'")
            page.expect("document.querySelectorAll('#stories-list > li').length === 0", "stories are the new one's")
            equal(ask(second, "GET", upstream.url("/")).status, 200)
            page.expect("page.routes.table.rows.get('default').requests.textContent === '1'")
            page.expect("page.routes.table.rows.get('default').recent.samples.every(s => s.values.requests <= 1)")
        # The browser reports each failed connection, and must report nothing else.
        others = [error for error in page.errors if "ERR_CONNECTION_REFUSED" not in error and "ERR_INCOMPLETE" not in error
                  and "ERR_CONNECTION_RESET" not in error and "ERR_EMPTY_RESPONSE" not in error]
        equal(others, [])


def test_page_polls_when_all_event_streams_are_in_use_and_returns_to_live_updates_later(browser):
    with Upstream({}) as upstream, Reprise(limits={"admin_connections": 4}) as reprise:
        with Client(reprise.addresses["admin"]) as reader, browser.page() as page:
            reader.send(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            equal(reader.read_final_head().status, 200)
            page.open(admin_url(reprise))
            page.expect_text("#link", "polling")
            ask(reprise, "GET", upstream.url("/"))
            page.expect("page.routes.table.rows.get('default')?.requests.textContent === '1'")
            reader.socket.close()
            page.expect_text("#link", "live")


def test_open_page_keeps_a_bounded_request_history(browser):
    """After the histories of hundreds of requests have arrived, the page keeps only those that it shows."""
    with Upstream({}, otherwise=[Say(503)]) as upstream, Reprise(
            defaults={"retry": {"max_attempts": 1}}) as reprise, opened(browser, admin_url(reprise)) as page:
        paths = itertools.count()
        with Client(reprise.forward) as client:
            limit = time.monotonic() + 60
            while page.evaluate("page.stories.all.length") < 100 and time.monotonic() < limit:
                for _ in range(50):
                    client.ask("GET", upstream.url(f"/{next(paths)}"))
            for _ in range(300):
                client.ask("GET", upstream.url(f"/{next(paths)}"))
        eventually(lambda: page.evaluate("page.routes.known.get('default').requests") >= 300, "all of them are told")
        equal(page.evaluate("[page.stories.all.length, document.querySelectorAll('#stories-list > li').length]"), [100, 100])
        assert page.evaluate("page.stories.ids.size") <= 2000


def test_identical_history_entries_are_folded_with_a_count(browser):
    retry = {"max_attempts": 2, "backoff": {"initial": "5ms", "maximum": "5ms"}}
    with Upstream({"/down": [503], "/gone": [503]}) as upstream, Reprise(defaults={"retry": retry}) as reprise:
        with opened(browser, admin_url(reprise)) as page:
            for number in range(1, 6):
                ask(reprise, "GET", upstream.url("/down"))
                page.expect(f"page.stories.size === {number}")
            ask(reprise, "GET", upstream.url("/gone"))
            page.expect("document.querySelectorAll('#stories-list > li').length === 2")
            page.expect_text("#stories-list > li:nth-child(2)", "5 times since")
            page.expect_text("#stories-note", "the last 6, identical ones grouped")
            equal(page.evaluate("document.querySelector('#stories-list > li:nth-child(1) .times')"), None)
            ask(reprise, "GET", upstream.url("/down"))
            page.expect_text("#stories-list > li:nth-child(1)", "6 times since")
            page.evaluate("document.querySelector('#stories-list summary').click()")
            page.expect_text("#stories-list > li:nth-child(1)", "Earlier: ")
            equal(page.evaluate("document.querySelectorAll('#stories-list > li:nth-child(1) details a').length"), 6, "each by its link")
        with Client(reprise.forward) as client, opened(browser, admin_url(reprise)) as page:
            page.expect_text("#stories-list > li:nth-child(1)", "6 times since")
            for _ in range(200):
                client.ask("GET", upstream.url("/down"))
            page.expect("/at least [0-9]+ times since/.test(document.querySelector('#stories-list').textContent)", "more than can be told")


def test_page_shows_the_figures_of_the_minute_before_it_was_opened(browser):
    with Upstream({"/bad": [503]}) as upstream, Reprise(defaults={"retry": {"max_attempts": 1}}) as reprise:
        for path in ("/ok", "/ok", "/ok", "/bad"):
            ask(reprise, "GET", upstream.url(path))
        reprise.expect_metric(4, "reprise_requests_total")
        with opened(browser, admin_url(reprise)) as page:
            for opens_again in (False, True):
                if opens_again:
                    page.open(admin_url(reprise))
                page.expect("page.tiles.tiles.get('success').value.textContent === '75.0\u00a0%'", "the share of the minute before")
                equal(page.evaluate("page.routes.table.rows.get('default').success.textContent"), "75.0\u00a0%")
                equal(page.evaluate("page.tiles.recent.grown('requests')"), 4)
                equal(page.evaluate("page.upstreams.known.map((one) => page.upstreams.row(one.name).failing.textContent)"), ["25.0\u00a0%"])
                assert page.evaluate("page.tiles.recent.quantile(0.5, page.status.duration_bounds)") is not None
            clock = page.evaluate("page.status.clock")
            page.expect(f"page.status.clock > {clock} + 2")
            equal(page.evaluate("page.tiles.recent.grown('requests')"), 4, "as the minute goes on")


def test_recent_window_begins_with_the_per_second_figures_that_the_proxy_kept(browser):
    with Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        begin = ("(() => { const r = new Recent(); r.begin(100.5, {n: 50}, [50, 0], [{clock: 41, values: {n: 9}, buckets: [9]},"
                 "{clock: 99, values: {n: 5}, buckets: [5]}, {clock: 100, values: {n: 1}, buckets: [1]}], 60); return r; })()")
        equal(page.evaluate(f"(r => [r.grown('n'), r.seconds, r.first.values.n, r.samples.length])({begin})"), [15, 59.5, 35, 61])
        equal(page.evaluate(f"(r => r.rates('n').filter((one) => one.value > 0).map((one) => one.at))({begin})"), [42, 100, 100.5])
        equal(page.evaluate(f"(r => {{ r.add(102.5, {{n: 52}}, [52, 0]); return r.grown('n'); }})({begin})"), 8, "the oldest second goes")
        equal(page.evaluate("(r => { r.begin(7, {n: 3}, [], [], 4); return [r.grown('n'), r.seconds]; })(new Recent())"), [0, 3])


def test_command_shown_for_a_history_entry_contains_the_admin_address(browser):
    for bind, quote in (("127.0.0.1:0", ""), ("127.0.0.7:0", ""), ("[::1]:0", "'"), ("0.0.0.0:0", "")):
        admin = {"bind": bind, **({"allow_remote": True} if bind.startswith("0") else {})}
        with Upstream({"/flaky": [503, 200]}) as upstream:
            with Reprise(admin=admin) as reprise:
                host, port = reprise.addresses["admin"]
                host = {"0.0.0.0": "127.0.0.1", "::1": "[::1]"}.get(host, host)
                with opened(browser, f"http://{host}:{port}/") as page:
                    ask(reprise, "GET", upstream.url("/flaky"))
                    page.expect("document.querySelectorAll('#stories-list > li').length === 1")
                    command = page.evaluate("document.querySelector('#stories-list details code').textContent")
                    assert command.endswith(f" --admin {quote}{host}:{port}{quote}"), command
                    done = subprocess.run([options.binary, *shlex.split(command)[1:]], capture_output=True, text=True, check=False)
                    equal(done.returncode, 0, done.stderr)
                    assert "/flaky" in done.stdout, done.stdout


def many_routes(number):
    return [{"name": f"service-{i:03}", "match": {"path": f"/s{i}/**"}} for i in range(number)]


def test_page_shows_the_ten_most_failing_routes_when_there_are_many(browser):
    defaults = {"retry": {"max_attempts": 2, "backoff": {"initial": "5ms", "maximum": "5ms"}}}
    names = "[...document.querySelectorAll('#routes-table .label')].map(e => e.textContent)"
    with Upstream({}, otherwise=[200]) as upstream, Upstream({}, otherwise=[503]) as broken:
        with Reprise(defaults=defaults, routes=many_routes(300)) as reprise, opened(browser, admin_url(reprise)) as page:
            for i in range(300):
                ask(reprise, "GET", upstream.url(f"/s{i}/x"))
            for _ in range(3):
                ask(reprise, "GET", broken.url("/s299/x"))
            ask(reprise, "GET", broken.url("/s170/x"))
            page.expect(f"{names}.length === 10 && {names}[0] === 'service-299' && {names}[1] === 'service-170'", "trouble comes first")
            page.expect_text("#routes-note", "10 of 301, most problems first")
            page.expect_text("#jump-routes", "301")
            for dark in (False, True):
                page.scheme(dark)
                for width in (360, 1280):
                    page.resize(width)
                    settle(page)
                    equal([each for each in measure(page, "contrasts") if each["ratio"] < each["least"]], [])
                    equal((measure(page, "overflowing"), measure(page, "clipped"), measure(page, "small")), ([], [], []))
                    page.picture(PICTURES / f"routes-300-{'dark' if dark else 'light'}-{width}.png")
            page.evaluate("document.querySelector('#routes-all').click()")
            page.expect(f"{names}.length === 301")
            equal(page.evaluate(f"{names}[0]"), "service-000", "in the order of the file")
            equal(page.evaluate("document.querySelector('#routes-all').getAttribute('aria-expanded')"), "true")
            page.evaluate("document.querySelector('#routes-all').click()")
            page.expect(f"{names}.length === 10")
            page.evaluate("(e => { e.value = 'service-12'; e.dispatchEvent(new Event('input')); })(document.querySelector('#routes-filter'))")
            equal(page.evaluate(f"{names}.length"), 10, "service-120 to service-129")
            page.evaluate("(e => { e.value = 'nobody'; e.dispatchEvent(new Event('input')); })(document.querySelector('#routes-filter'))")
            page.expect_text("#routes-unmatched", "No route name contains this text")


def test_jump_links_move_the_focus_to_the_section_they_name(browser):
    with Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        links = page.evaluate("[...document.querySelectorAll('.jumps a')].map(e => e.getAttribute('href'))")
        equal(links, ["#routes", "#stories", "#upstreams", "#tunnels-card", "#configuration"])
        for link in links:
            page.evaluate(f"document.querySelector('.jumps a[href=\"{link}\"]').focus()")
            page.press("Enter")
            page.expect(f"document.activeElement === document.querySelector('{link}')", f"{link} has the focus")


def test_attempt_bars_stay_on_one_line_at_every_width(browser):
    retry = {"max_attempts": 9, "backoff": {"initial": "5ms", "maximum": "40ms"}}
    script = [503, "reset", 500, 502, "reset", 503, 504, 503, 200]
    with Upstream({"/long": script, "/short": [503, 200]}) as upstream, Reprise(defaults={"retry": retry}) as reprise:
        with opened(browser, admin_url(reprise)) as page:
            ask(reprise, "GET", upstream.url("/long"))
            ask(reprise, "GET", upstream.url("/short"))
            page.expect("document.querySelectorAll('#stories-list > li').length === 2")
            for width in (320, 360, 768, 1280):
                page.resize(width)
                settle(page)
                equal(page.evaluate("[...document.querySelectorAll('.bar')].map(b => new Set([...b.children].map(e => e.offsetTop)).size)"), [1, 1])
                equal(page.evaluate("""[...document.querySelectorAll('.bar li')].filter(e => e.getBoundingClientRect().right
                    > e.parentElement.getBoundingClientRect().right + 1).length"""), 0, f"{width}: nothing is beyond the end of its bar")
                equal(page.evaluate("document.querySelectorAll('.bar .attempt').length"), 11)
                equal(measure(page, "clipped"), [], f"cut off, {width}")
                page.picture(PICTURES / f"bars-{width}.png")


def test_empty_sections_of_the_page_suggest_a_command_to_run_next(browser):
    with Upstream({}) as upstream, Reprise() as reprise, opened(browser, admin_url(reprise), width=360) as page:
        forward = "127.0.0.1:%d" % reprise.forward[1]
        page.expect_text("#first-steps", f"curl -x http://{forward} http://example.com/")
        page.expect_text("#first-steps", "reprise demo")
        page.expect_text("#tunnels-none", "reprise retries the connection to the upstream, but not the requests in the tunnel")
        for dark in (False, True):
            page.scheme(dark)
            settle(page)
            equal([each for each in measure(page, "contrasts") if each["ratio"] < each["least"]], [])
            equal((measure(page, "overflowing"), measure(page, "clipped")), ([], []))
            page.picture(PICTURES / f"first-steps-{'dark' if dark else 'light'}.png")
        ask(reprise, "GET", upstream.url("/"))
        page.expect("document.querySelector('#first-steps').hidden")
        page.expect_text("#stories-none", "the only request so far got its response at the first attempt")
        page.expect_text("#stories-none", "reprise explain GET http://api.example.com/ --status 503 -c ")


def test_N13_page_says_how_to_retry_https_if_all_traffic_was_tunnelled(browser):
    hello = b"\x16\x03\x01\x00\x05hello"
    with Upstream({}) as upstream, Reprise() as reprise, opened(browser, admin_url(reprise)) as page:
        authority = f"localhost:{upstream.port}"
        with Client(reprise.forward) as client:
            client.send(head_of("CONNECT", authority, authority) + hello)
            equal(client.read_response("CONNECT").status, 200)
            page.expect_text("#tunnels-only", "All traffic so far is HTTPS in tunnels")
            page.expect_text("#stories-none", "see Tunnels")
            equal(page.evaluate("document.querySelector('#first-steps').hidden"), True)
            for way in ("--gateway 3180=https://localhost", "tls: originate", "reprise exec --intercept localhost -- COMMAND"):
                page.expect_text("#tunnels-ways", way)
            page.expect_text("#jump-tunnels", "1")
            for dark in (False, True):
                page.scheme(dark)
                settle(page)
                equal([each for each in measure(page, "contrasts") if each["ratio"] < each["least"]], [])
                page.picture(PICTURES / f"only-tunnels-{'dark' if dark else 'light'}.png")
        ask(reprise, "GET", upstream.url("/"))
        page.expect("document.querySelector('#tunnels-only').hidden")
