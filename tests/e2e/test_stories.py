"""Tests the request history: reports of a running proxy about finished requests, which are found by request
id."""
import contextlib
import json
import re
import subprocess
import urllib.request
from pathlib import Path

from client import Client, Cut, ask, head_of
from harness import LOOPBACK, PATIENCE, Reprise, closed_port, equal, eventually, merge, options
from upstream import Say, Upstream

ROOT = Path(__file__).resolve().parents[2]


def telling(**keys):
    """Starts a reprise that adds the request id to its responses."""
    return Reprise(**merge({"defaults": {"response_headers": "all"}}, keys))


def explain(reprise, name, *arguments):
    """Runs `reprise explain --request-id` for a request id. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, "explain", "--request-id", name, "--admin", "%s:%d" % reprise.addresses["admin"], *arguments],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def id_of(answer):
    return answer.field("Reprise-Request-Id")


def kept(reprise, name):
    """Waits for the entry of a request in the request history and returns it. The entry is stored shortly after the
    response was sent."""
    return json.loads(eventually(lambda: next((text for status, text in [reprise.admin(f"/stories/{name}")] if status == 200), None),
                                 f"there is a story {name}"))


def test_request_history_is_found_by_the_id_in_the_response():
    with Upstream({"/x": [503, 200]}) as upstream, telling() as reprise:
        answer = ask(reprise, "GET", upstream.url("/x?secret=1"), fields=[("X-Request-Id", "mine/1")])
        equal(answer.status, 200)
        name = id_of(answer)
        story = kept(reprise, name)
        equal(reprise.requests(1)[0]["id"], name)
        equal((story["id"], story["request_id"], story["path"], story["status"], story["recovered"]), (name, "mine/1", "/x", 200, True))
        first, second = story["attempts"]
        equal(first["address"], f"127.0.0.1:{upstream.port}")
        equal((first["status"], first["reason"], first["retry"], second["status"]), (503, "retryable_status", True, 200))
        assert first["sent_bytes"] > 30, first
        equal((first["delay_lowest_ms"], first["delay_highest_ms"]), (2.5, 5))
        assert 2.5 <= first["delay_ms"] <= 5 and first["budget_left"] == 100, first
        assert "secret" not in json.dumps(story)
        code, told, _ = explain(reprise, name)
        equal(code, 0)
        for words in ("attempt 1   at ", "503 after", "bytes sent", "retryable_status: retried after", "drawn from 2.5ms to 5ms",
                      "100 retries left in the budget", "client got  200 after", "recovered"):
            assert words in told, told
        equal(explain(reprise, "mine/1")[1], told, "the client's own id finds it, too")
        equal(json.loads(explain(reprise, name, "--format", "json")[1]), story)


def test_history_of_a_request_that_was_not_retried_advises_what_would_make_it_retryable():
    with Upstream({"/x": [503]}) as upstream, telling() as reprise:
        answer = ask(reprise, "POST", upstream.url("/x"), b"body")
        equal(answer.reason, "not_idempotent")
        story = kept(reprise, id_of(answer))
        assert "Idempotency-Key" in story["advice"], story
        code, told, _ = explain(reprise, id_of(answer))
        equal(code, 0)
        assert "ends        not_idempotent: " in told and "to change   " in told, told
        equal([one["id"] for one in json.loads(reprise.admin("/stories")[1])], [id_of(answer)])


def shape(text):
    """Returns the entry with `#` in place of every number, time and id, which differ from run to run."""
    text = re.sub(r"\b[0-9a-z]{6}-[0-9a-z]+\b|\S+T\S+Z", "#", text)
    return re.sub(r"[0-9][0-9.:]*(ms|s)?\b", "#", text)


def test_readme_history_example_matches_the_real_output():
    page = (ROOT / "docs/explain.md").read_text(encoding="utf-8")
    printed = re.search(r"<!-- story -->\n```text\n\$ reprise explain --request-id \S+\n(.*?)```", page, re.S).group(1)
    with Upstream({"/v1/x": [503]}) as upstream, telling(defaults={"retry": {"max_attempts": 2}}) as reprise:
        name = id_of(ask(reprise, "GET", upstream.url("/v1/x")))
        kept(reprise, name)
        told = explain(reprise, name)[1]
        equal(shape(told), shape(printed), f"docs/explain.md has another form than\n{told}")


def test_history_of_a_failed_dial_contains_its_address():
    _held, port = closed_port()
    with telling(defaults={"retry": {"max_attempts": 2, "backoff": {"initial": "1ms"}}}) as reprise:
        answer = ask(reprise, "GET", f"http://127.0.0.1:{port}/")
        equal(answer.status, 502)
        story = kept(reprise, id_of(answer))
        equal([(one["address"], one["error"], one["stage"], one["sent_bytes"]) for one in story["attempts"]],
              [(f"127.0.0.1:{port}", "refused", "connect", 0)] * 2)
        equal((story["own_response"], story["reason"], story["response_bytes"]), (True, "attempts_spent", len(answer.body)))


def test_ordinary_requests_never_evict_failed_requests_from_the_history():
    with Upstream({"/x": [200], "/no": [503]}) as upstream, telling(limits={"stories": "16KiB"}) as reprise:
        matters = id_of(ask(reprise, "POST", upstream.url("/no"), b"x"))
        ordinary = [id_of(ask(reprise, "GET", upstream.url("/x"))) for _ in range(100)]
        equal(len(set(ordinary)), 100)
        equal(kept(reprise, matters)["reason"], "not_idempotent")
        equal(kept(reprise, ordinary[-1])["status"], 200)
        equal(reprise.admin(f"/stories/{ordinary[0]}")[0], 404)


def test_unknown_or_evicted_request_ids_are_reported():
    with telling() as reprise:
        for name in ("nobody", "a-1", "%", "..%2f..", "x" * 4000):
            status, text = reprise.admin("/stories/" + urllib.request.quote(name))
            equal((status, "no such request" in text), (404, True), name)
        code, told, error = explain(reprise, "nobody")
        equal((code, told), (1, ""))
        assert "no such request" in error and "limits.stories" in error, error
    _held, port = closed_port()
    done = subprocess.run([options.binary, "explain", "--request-id", "a", "--admin", f"127.0.0.1:{port}"], capture_output=True,
                          text=True, check=False)
    equal(done.returncode, 1)
    assert f"no response from the admin listener at 127.0.0.1:{port}" in done.stderr and "--admin" in done.stderr, done.stderr
    for arguments in (["--request-id", "a", "GET"], ["--admin", "x:1"], [], ["--request-id", "a", "--admin", "nowhere"]):
        done = subprocess.run([options.binary, "explain", *arguments], capture_output=True, text=True, check=False)
        equal(done.returncode, 2, arguments)


def test_history_is_disabled_if_its_limit_is_zero():
    with Upstream({"/x": [200]}) as upstream, telling(limits={"stories": 0}) as reprise:
        answer = ask(reprise, "GET", upstream.url("/x"))
        equal(id_of(answer), None)
        assert "id" not in reprise.requests(1)[0]
        equal(reprise.admin("/stories"), (200, "[]\n"))


def test_path_hidden_from_the_log_is_hidden_from_the_history():
    with Upstream({"/x": [503]}) as upstream, telling(log={"path": "route"}) as reprise:
        story = kept(reprise, id_of(ask(reprise, "POST", upstream.url("/x"), b"1")))
        assert "path" not in story, story


def test_response_contains_no_request_id_unless_configured():
    with Upstream({"/x": [503]}) as upstream, Reprise() as reprise:
        equal(id_of(ask(reprise, "POST", upstream.url("/x"), b"1")), None)
        line = reprise.requests(1)[0]
        equal(line["request_id"], line["id"], "a request that its client has not named is called by our name for it")
        kept(reprise, line["request_id"])


def test_history_rejects_foreign_host_names():
    with telling() as reprise:
        for path in ("/stories", "/stories/a-1"):
            request = urllib.request.Request("http://%s:%d%s" % (*reprise.addresses["admin"], path), headers={"Host": "evil.example"})
            try:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
                raise AssertionError("it was told")
            except urllib.error.HTTPError as error:
                equal(error.code, 403)


def test_explain_escapes_terminal_control_characters_in_admin_responses():
    raw = "told \x1b]0;title\x07\x1b[2J \x7f \x9b31m \u202e \"quoted\" back\\slash\ttab \u00e9\nnext line\n"
    seen = "told \\u001b]0;title\\u0007\\u001b[2J \\u007f \\u009b31m \\u202e \"quoted\" back\\slash\ttab \u00e9\nnext line\n"
    for status in (200, 404):
        with Upstream({"/stories/a": [Say(status, raw.encode())]}) as upstream:
            done = subprocess.run([options.binary, "explain", "--request-id", "a", "--admin", f"{LOOPBACK}:{upstream.port}"], capture_output=True,
                                  text=True, timeout=PATIENCE, check=False)
            equal(done.stdout if status == 200 else done.stderr, seen if status == 200 else f"reprise explain: {seen}")


def test_advice_on_a_resumed_download_names_the_limit_of_resumes():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n"
    broken = Say(raw=head + bytes(300), close=True)
    with Upstream({"/x": [broken, 503]}) as upstream, telling(defaults={"resume": {"max_attempts": 1}}) as reprise:
        with Client(reprise.forward) as client:
            client.send(head_of("GET", upstream.url("/x"), f"{LOOPBACK}:{upstream.port}"))
            response = client.read_final_head()
            with contextlib.suppress(Cut):
                client.read_body(response)
        story = kept(reprise, id_of(response))
        equal((story["reason"], story["meaning"]), ("attempts_spent", "resume.max_attempts is reached"))
        equal(story["advice"], "Raise `resume.max_attempts` of the route.")


def test_D16_advice_on_a_no_store_upload_does_not_name_the_disk():
    with Upstream({}, otherwise=[503]) as upstream, telling() as reprise:
        response = ask(reprise, "PUT", upstream.url("/x"), bytes(300 << 10), fields=[("Cache-Control", "no-store")])
        equal((response.status, response.reason), (503, "not_replayable"))
        story = kept(reprise, id_of(response))
        assert "a `no-store` request is not written to disk" in story["advice"], story["advice"]
