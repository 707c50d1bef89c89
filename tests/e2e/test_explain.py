"""Tests `reprise explain` against tests/golden/explain. Each golden file begins with its command line;
UPDATE_GOLDEN=1 rewrites the rest of the file."""
import difflib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import http2_frames as h2
from client import ask
from grpc_calls import METHOD, NOT_FOUND, REPEATABLE, UNAVAILABLE, answer, call, calling, trailers_only
from harness import Reprise, equal, eventually, merge, options
from http2_upstream import Http2Upstream, resets
from upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests/golden/explain"


def explain(*arguments):
    """Returns the exit code, and standard output followed by standard error."""
    # A proxy that runs on this host must not be queried.
    alone = {**os.environ, "REPRISE_ADMIN": "off", "REPRISE_CONTROL": "none"}
    done = subprocess.run([options.binary, "explain", *arguments], capture_output=True, text=True, timeout=30, check=False,
                          cwd=ROOT, env=alone)
    return done.returncode, done.stdout + done.stderr


def transcript(command):
    """Returns the command line, its output, and its exit code."""
    words = shlex.split(command, comments=False)
    equal(words[:3], ["$", "reprise", "explain"], "a golden file begins with its command")
    code, out = explain(*words[3:])
    return f"{command}\n{out}exit {code}\n"


def test_explain_output_matches_the_golden_files():
    files = sorted(GOLDEN.glob("*.txt"))
    assert len(files) >= 20, f"only {len(files)} golden files"
    drifted = []
    for file in files:
        wanted = file.read_text(encoding="utf-8")
        actual = transcript(wanted.split("\n", 1)[0])
        if os.environ.get("UPDATE_GOLDEN"):
            file.write_text(actual, encoding="utf-8")
        elif actual != wanted:
            drifted += difflib.unified_diff(wanted.splitlines(), actual.splitlines(), file.name, "actual", lineterm="")
    if drifted:
        raise AssertionError("\n".join(drifted))


def test_D5_explain_predicts_the_attempts_for_body_sizes_around_the_replay_limits():
    """For each size of a request body, `explain` must predict the number of attempts that the running proxy
    makes."""
    limits = {"replay_memory": "100KiB", "replay_disk": "1MiB"}
    with Upstream({}, otherwise=[503]) as upstream, Reprise(limits=limits, defaults={"retry": {"max_attempts": 3}}) as reprise:
        for size, reason in ((100 << 10, "attempts_spent"), ((100 << 10) + 1, "not_replayable"),
                             (1 << 20, "attempts_spent"), ((1 << 20) + 1, "not_replayable")):
            body = os.path.join(reprise.folder, "body")
            Path(body).write_bytes(bytes(size))
            code, out = explain("PUT", upstream.url("/x"), "-c", reprise.config_file, "--body", body, "--format", "json")
            equal(code, 0, out)
            told, _ = json.JSONDecoder().raw_decode(out)
            equal(told["courses"]["shortest_waits"]["last"]["reason"], reason, f"explain, {size} bytes")
            response = ask(reprise, "PUT", upstream.url("/x"), bytes(size))
            equal((response.status, response.field("Reprise-Reason")), (503, reason), f"the proxy, {size} bytes")
            eventually(lambda: reprise.metric("reprise_replay_bytes", store="disk") == 0, "the file is closed")


def test_M110_explain_predicts_the_attempts_and_the_reason_of_calls():
    pushback = [("grpc-retry-pushback-ms", "-1")]
    cases = [
        (REPEATABLE, trailers_only(UNAVAILABLE), []),
        ({}, trailers_only(UNAVAILABLE), []),
        (REPEATABLE, trailers_only(NOT_FOUND), ["--grpc-status", "not_found"]),
        (REPEATABLE, trailers_only(UNAVAILABLE, pushback), ["--pushback", "-1"]),
        (REPEATABLE, answer(b"item", status=UNAVAILABLE), ["--grpc-status", "unavailable", "--after-message"]),
        (REPEATABLE, resets(h2.CANCEL), ["--reset", "cancel"]),
        ({}, resets(h2.CANCEL), ["--reset", "cancel"]),
        ({}, resets(h2.REFUSED_STREAM), ["--reset", "refused_stream"]),
    ]
    for policy, step, options_of_explain in cases:
        brief = merge({"retry": {"max_attempts": 3, "backoff": {"initial": "1ms", "maximum": "1ms"}}}, policy)
        with Http2Upstream({METHOD: [step]}) as upstream, calling(upstream, brief) as (client, reprise):
            code, out = explain("--grpc", METHOD[1:], upstream.url(""), "-c", reprise.config_file, "--format", "json", *options_of_explain)
            equal(code, 0, out)
            course = json.JSONDecoder().raw_decode(out)[0]["courses"]["shortest_waits"]
            call(client, b"id")
            line, = reprise.requests(1)
            equal((course["last_attempt"], course["last"]["reason"]), (len(line["attempts"]), line["reason"]), f"{policy} {options_of_explain}")


def test_L20_explain_predicts_a_circuit_that_the_request_itself_opens():
    policy = {"retry": {"backoff": {"initial": "1ms"}}, "circuit": {"failures": "50%", "window": "10s", "requests": 3, "open": "1s"}}
    with Upstream({"/x": [503]}) as upstream, Reprise(defaults=policy) as reprise:
        code, out = explain("GET", upstream.url("/x"), "-c", reprise.config_file, "--format", "json")
        equal(code, 0, out)
        course = json.JSONDecoder().raw_decode(out)[0]["courses"]["longest_waits"]
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((course["last_attempt"], course["last"]["reason"]), (response.attempts, response.reason))
        equal((response.attempts, response.reason), (3, "circuit_open"))


def test_J8_explain_predicts_the_response_in_place_of_a_407():
    with Upstream({"/x": [407]}) as upstream, Reprise() as reprise:
        _, out = explain("GET", upstream.url("/x"), "-c", reprise.config_file, "--status", "407")
        response = ask(reprise, "GET", upstream.url("/x"))
        assert f"client gets {response.status} from reprise, with Reprise-Reason: {response.reason}" in out, out
        equal((response.status, response.reason), (502, "not_retryable"))


def test_explain_json_matches_the_text_output():
    arguments = ["GET", "http://reports.internal/x", "-c", "config/examples/legacy-daemon.yaml"]
    code, out = explain(*arguments, "--format", "json")
    equal(code, 0)
    told = json.loads(out)
    equal(told["route"]["name"], "reports")
    equal(told["idempotent"], {"verdict": True, "rule": "by_method", "because": None})
    equal([wait["after"] for wait in told["waits"]], list(range(1, 8)))
    equal([(wait["lowest_ms"], wait["highest_ms"]) for wait in told["waits"]][:3], [(1000, 2000), (2000, 3000), (4000, 5000)])
    equal(told["deadline_ms"], 600_000)
    for course in told["courses"].values():
        equal((course["last_attempt"], course["last"]["reason"]), (8, "attempts_spent"))
        equal((course["first"]["retry"], course["first"]["reason"]), (True, "retryable_status"))
    _, text = explain(*arguments)
    assert told["client_gets"] in text and told["to_change"][0] in text


def test_explain_json_has_no_budget_if_the_mode_of_the_route_is_off():
    command = (GOLDEN / "off.txt").read_text(encoding="utf-8").split("\n", 1)[0]
    code, out = explain(*shlex.split(command)[3:], "--format", "json")
    equal((code, json.loads(out)["budget_left"]), (0, None))


def test_explain_names_the_preset_of_a_route():
    url = "http://storage.googleapis.com/storage/v1/b/photos"
    code, out = explain("PATCH", url, "-c", "tests/golden/explain/presets.yaml")
    equal(code, 0)
    assert re.search(r"^route +gcs/[\w.]+ \(preset gcs:\d+\)$", out, re.M), out
    assert "ends        not_idempotent after attempt 1" in out, out
    code, out = explain("PATCH", f"{url}?ifMetagenerationMatch=3", "-c", "tests/golden/explain/presets.yaml")
    assert "idempotent  yes: the request has `query: ifMetagenerationMatch`" in out, out
    assert len(out.splitlines()) < 90, "an unlimited route still fits a few pages"


def test_explain_reports_an_unreadable_body_and_a_bad_configuration():
    code, out = explain("POST", "http://h/", "--body", "/nowhere/body")
    equal(code, 2)
    assert "/nowhere/body cannot be read" in out, out
    code, out = explain("POST", "http://h/", "--body", str(ROOT))
    equal(code, 2, "a folder is no body")
    code, out = explain("GET", "http://h/", "-c", "tests/golden/config/tabs.yaml")
    equal(code, 78)
    assert "tabs.yaml:" in out, out


def test_explain_accepts_the_old_names_of_two_options_and_warns():
    request = ("GET", "http://hidden.internal/x", "-c", "tests/golden/explain/hidden.yaml", "--status", "400")
    field, body = "Content-Type: application/x-amz-json-1.0", "tests/golden/explain/throttled.json"
    code, new = explain(*request, "--response-header", field, "--response-body", body)
    equal(code, 0)
    assert f"assumed     every attempt: the response is 400, {field}, with the body in {body}\n" in new, new
    assert "\nattempt 1   retryable_body: " in new and "warning" not in new, new
    equal(explain(*request, "--answer-header", field, "--answer-body", body),
          (0, f"{new}warning: --answer-header is now --response-header\nwarning: --answer-body is now --response-body\n"))
    equal(explain(*request, "--answer-body", body, "--response-body", body)[0], 2, "both names of one option")
    _, usage = explain("--help")
    assert "--response-header" in usage and "--response-body" in usage and "--answer-" not in usage, usage
