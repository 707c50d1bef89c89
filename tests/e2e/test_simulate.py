"""Tests `reprise simulate`: its output, its files, its rejections of bad input, and the replay of a log that a real
proxy has written."""
import contextlib
import json
import os
import pty
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import plain_svg
from harness import Curl, Reprise, equal, options
from upstream import Upstream

ROOT = Path(__file__).resolve().parent.parent.parent


def simulate(*arguments, given=None, locale="C.UTF-8"):
    """Runs `reprise simulate`. Returns (exit code, standard output, standard error)."""
    environment = {**os.environ, "LC_ALL": locale}
    done = subprocess.run([options.binary, "simulate", *arguments], input=given, capture_output=True, timeout=240, check=False,
                          cwd=ROOT, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@contextlib.contextmanager
def written(text):
    """Yields the path of a file that contains the given text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.yaml"
        file.write_text(text, encoding="utf-8")
        yield str(file)


def test_simulate_with_defaults_shows_the_difference_between_policies():
    code, out, err = simulate()
    equal((code, err), (0, ""))
    rows = {line[:18].strip(): line for line in out.split("load:")[0].splitlines()}
    for name in ("no retry", "immediate retries", "without jitter", "without budget", "as configured"):
        assert re.search(r"\d %\s", rows[name]), out
    assert rows["without budget"].rstrip().endswith("no") and "after" in rows["as configured"], out
    assert "█" in out and "\x1b" not in out, out
    assert max(len(line) for line in out.split("\n\n")[1].splitlines()) < 110, out
    code, plain, _ = simulate(locale="C")
    assert code == 0 and plain.isascii(), plain


def test_simulate_with_the_same_seed_gives_identical_output():
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for name in ("one", "two"):
            code, out, _ = simulate("--format", "json", "--html", f"{folder}/{name}.html", "--svg", f"{folder}/{name}.svg", "--duration", "20s")
            equal(code, 0)
            made.append((out, Path(f"{folder}/{name}.html").read_bytes(), Path(f"{folder}/{name}.svg").read_bytes()))
        equal(made[0], made[1])
        assert simulate("--format", "json", "--duration", "20s", "--seed", "2")[1] != made[0][0]


def has_numbers(value, *keys):
    for key in keys:
        assert isinstance(value[key], (int, float)) and value[key] >= 0, (key, value[key])


def test_simulate_json_contains_the_numbers_of_each_policy():
    code, out, _ = simulate("--format", "json", "--policy", "none,config")
    told = json.loads(out)
    equal((code, told["version"], told["duration_ms"], told["seed"]), (0, 1, 60000, 1))
    equal([policy["policy"] for policy in told["policies"]], ["no retry", "as configured"])
    for policy in told["policies"]:
        has_numbers(policy, "requests", "succeeded", "success", "attempts", "retries", "hedges", "amplification", "peak_attempts_per_second",
                    "lowest_budget_left", "turned_away_by_full_queue", "turned_away_by_limit", "served_in_vain", "unfinished", "no_room",
                    "recovered_ms", "step_ms")
        for latency in ("latency_ms", "latency_of_all_ms"):
            has_numbers(policy[latency], "mean", "p50", "p90", "p99", "p999", "highest")
        equal(sum(policy["ended"].values()), policy["requests"])
        equal(sum(step["requests"] for step in policy["steps"]), policy["requests"])
        equal(len(policy["steps"]) * policy["step_ms"], 60000)
        for step in policy["steps"]:
            has_numbers(step, "requests", "succeeded", "attempts", "amplification", "budget_left")
    first, second = told["policies"]
    equal(first["requests"], second["requests"], "each policy meets the same requests")
    equal(first["attempts"], first["requests"])


class Page(HTMLParser):
    """Parses an HTML page. Records every tag with its attributes, and checks that every opened tag is closed."""

    void = {"meta", "br", "hr", "link", "img", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag, "what is closed is what was opened last")


def test_simulate_html_is_well_formed_and_self_contained():
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = simulate("--html", f"{folder}/page.html", "--svg", f"{folder}/chart.svg", "-c", "config/examples/orders.yaml")
        equal((code, err), (0, ""))
        text = Path(f"{folder}/page.html").read_text(encoding="utf-8")
        page = Page(text)
        equal(page.open, [])
        names = [tag for tag, _ in page.tags]
        for tag, attributes in page.tags:
            assert not {"src", "href", "srcset", "action", "data"} & set(attributes), (tag, attributes)
            assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert not {"script", "iframe", "object", "embed", "link", "img", "base", "form"} & set(names), set(names)
        assert not re.search(r"url\(|@import|https?:", text), "nothing from elsewhere"
        pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
        assert len(pictures) >= 11 and all(one.get("role") == "img" and one.get("aria-labelledby") for one in pictures), pictures
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        equal(len(ids), len(set(ids)))
        for one in pictures:
            assert set(one["aria-labelledby"].split()) <= set(ids), one
        assert names.count("caption") == names.count("table") == 3
        tree = ElementTree.parse(f"{folder}/chart.svg").getroot()
        equal(tree.tag, "{http://www.w3.org/2000/svg}svg")
        assert not re.search(r"url\(|@import|href|<script", Path(f"{folder}/chart.svg").read_text(encoding="utf-8"))
        equal(plain_svg.problems(Path(f"{folder}/chart.svg").read_text(encoding="utf-8")), [], "programs that know no style sheets")


def test_simulate_counts_all_of_a_million_requests():
    code, out, _ = simulate("--rate", "10000/s", "--duration", "100s", "--arrivals", "even", "--capacity", "1000", "--queue", "4000", "--policy",
                            "config", "--format", "json")
    equal(code, 0)
    policy = json.loads(out)["policies"][0]
    equal((policy["requests"], sum(policy["ended"].values()), policy["unfinished"], policy["no_room"]), (1_000_000, 1_000_000, 0, 0))


def test_simulate_options_override_the_model_file():
    requests = []
    with written("version: 1\nrate: 50/s\narrivals: even\nduration: 10s\noutage: none\nerror: [50%:503]\ncapacity: unlimited\n") as file:
        for more in ((), ("--rate", "70/s")):
            code, out, err = simulate("--model", file, *more, "--format", "json", "--policy", "none")
            equal((code, err), (0, ""))
            requests.append(json.loads(out)["policies"][0]["requests"])
    equal(requests, [500, 700])


def test_simulate_with_only_a_short_duration_runs():
    code, out, err = simulate("--duration", "5s", "--policy", "none")
    equal((code, err), (0, ""))
    assert "down from 1s250ms to 1s416ms" in out, out


def test_simulate_reports_bad_models_with_their_position():
    for text, code, told in (("version: 1\nrate: 5\nratee: 1\n", 78, ":2:7: error: rate: \"5\" has no unit"),
                             ("version: 1\nrate: 5\nratee: 1\n", 78, ":3:1: error: ratee: unknown key of a model (did you mean rate?)"),
                             ("version: 1\nrate: 1000000/s\nduration: 1h\n", 78, ": error: duration: about 3600000000 requests"),
                             ("version: 1\nbad: [\n", 78, "error:"), ("\x00", 78, "error:"), ("", 78, "the file is empty")):
        with written(text) as file:
            got, out, err = simulate("--model", file)
        equal((got, out), (code, ""), text)
        assert told in err, err
    for arguments, told in ((("--rate", "5"), '--rate: "5" has no unit'), (("--outage", "2m+1s"), "--outage: the outage at 2m begins"),
                            (("--error", "60%:503", "--error", "50%:500"), "--error: the shares add up to more than 100%"),
                            (("--mix", "GET 40%"), "--mix: the shares add up to 40%"), (("--seed", "x"), "--seed: "),
                            (("--clients", "0"), "--clients: "), (("--policy", "best"), 'unknown policy "best"'),
                            (("--lenient",), "--lenient needs --replay"), (("--rats", "5"), "see reprise help simulate"),
                            (("--rate",), "--rate needs a value")):
        code, out, err = simulate(*arguments)
        equal((code, out), (2, ""), arguments)
        assert told in err and err.count("\n") == 1, err
    for arguments in (("--model", "/nowhere/model.yaml"), ("--model", str(ROOT)), ("-c", "/nowhere/reprise.yaml"),
                      ("-c", "tests/golden/config/tabs.yaml"), ("--policy", "none,tests/golden/config/tabs.yaml")):
        code, out, err = simulate(*arguments)
        equal((code, out), (78, ""), arguments)
        assert "error" in err, err


def test_simulate_reports_an_unwritable_output_file():
    code, out, err = simulate("--html", "/nowhere/page.html", "--duration", "5s", "--outage", "none")
    equal((code, out), (1, ""))
    assert "cannot write /nowhere/page.html: No such file or directory" in err, err
    if Path("/dev/full").exists():
        code, _, err = simulate("--svg", "/dev/full", "--duration", "5s", "--outage", "none")
        equal(code, 1)
        assert "No space left" in err, err


CALLS = ("--mix", "GRPC shop.Catalog/GetItem 100%", "--outage", "1s+1s:grpc-unavailable", "--duration", "5s")


def test_M111_simulate_compares_with_the_service_config_of_a_grpc_client():
    config = {"methodConfig": [{"name": [{"service": "shop.Catalog"}],
                                "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
                                                "retryableStatusCodes": ["UNAVAILABLE"]}}],
              "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}
    with written(json.dumps(config)) as file:
        code, out, err = simulate(*CALLS, "--service-config", file, "--policy", "none,config", "--format", "json")
        equal((code, err), (0, ""))
        report = json.loads(out)
        equal([policy["policy"] for policy in report["policies"]], ["no retry", "as configured", "service config"])
        once, _, client = report["policies"]
        assert client["attempts"] > once["attempts"] and client["succeeded"] > once["succeeded"], report["policies"]
        assert "10 tokens" in report["premises"]["all retries"] and "20% of the requests" in report["premises"]["all retries"], report["premises"]
        code, out, err = simulate("--service-config", file)
        equal((code, out), (2, ""))
        assert "applies only to gRPC calls, and the mix has none: add --mix" in err, err
    for text, said in (("{", ":1:2: error: this is not JSON"), ('{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 1}}]}',
                       ": error: methodConfig[0].retryPolicy.maxAttempts is out of range: write a whole number from 2 to 5")):
        with written(text) as file:
            code, out, err = simulate(*CALLS, "--service-config", file)
        equal((code, out), (78, ""), text)
        assert said in err and err.count("\n") == 1, err


def test_simulate_shows_results_for_a_configuration_file_given_as_a_policy():
    code, out, err = simulate("--policy", "config,config/examples/legacy-daemon.yaml", "--duration", "20s")
    equal((code, err), (0, ""))
    assert re.search(r"^config/examples/legacy-daemon.yaml +\d", out, re.M), out


def test_simulate_shows_colours_and_progress_on_a_terminal():
    here, there = pty.openpty()
    with subprocess.Popen([options.binary, "simulate", "--rate", "10000/s", "--duration", "40s", "--capacity", "1000", "--policy", "none,config"], stdout=there, stderr=there,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": ""}, cwd=ROOT) as process:
        os.close(there)
        said = b""
        while True:
            try:
                block = os.read(here, 65536)
            except OSError:
                break
            if not block:
                break
            said += block
        os.close(here)
        equal(process.wait(), 0)
    assert b"\x1b[1m" in said, said[:400]
    lines = said.split(b"\r\x1b[K")
    assert len(lines) > 2 and all(re.fullmatch(rb"reprise simulate: +\d+ %", line) for line in lines[1:-1]), said[:400]
    assert b"reprise simulate:" not in lines[-1], "the report stands where the line was"


def test_simulate_replays_the_log_of_a_real_proxy():
    paths = [f"/x{number}" for number in range(20)]
    with Upstream({path: [503, 200] for path in paths}) as upstream, Reprise(log={"format": "json", "level": "info"}) as proxy:
        for path in paths:
            equal(Curl(proxy, upstream.url(path)).status, 200)
        proxy.requests(len(paths))
        log = proxy.text()
    code, out, err = simulate("--replay", "-", "--format", "json", given=log.encode())
    equal((code, err), (0, ""))
    by_name = {policy["policy"]: policy for policy in json.loads(out)["policies"]}
    was = by_name["as it was"]
    equal((was["requests"], was["attempts"], was["succeeded"]), (20, 40, 20))
    equal(by_name["no retry"]["succeeded"], 0)
    configured = by_name["as configured"]
    equal((configured["succeeded"], configured["attempts"], configured["decided_by_log"], configured["assumed_attempts"]), (20, 40, 20, 0))


LINE = ('{"time":"2026-01-02T10:00:00.000Z","level":"info","route":"default","method":"GET","host":"a","port":80,"path":"/","status":503,'
        '"ending":"complete","reason":"retries_off","attempts":[{"n":1,"status":503,"ms":9.000,"wait_ms":0.000,"reason":"retries_off",'
        '"reused":false}],"request_bytes":0,"response_bytes":0,"ms":9.000}\n')


def test_simulate_replay_reports_for_how_many_requests_the_log_has_every_outcome():
    code, out, err = simulate("--replay", "-", given=(LINE * 10).encode())
    equal((code, err), (0, ""))
    assert "as configured: for 0 of 10 requests, the log has the outcome of every attempt." in out and "0.00 % .. 100 %" in out, out


def test_simulate_reports_bad_logs_with_their_line():
    whole = LINE.encode()
    for given, told in ((b"", "-: error: the log has no request"),
                        (b"10.0.0.1 - - GET\n", "-:1: error: the line is not JSON: write the log"),
                        (whole + b'{"a":1}\n', "-:2: error: the line is JSON, but does not come from reprise"),
                        (whole[:100] + b"\n" + whole, "-:1: error: the line is incomplete (--lenient"),
                        (whole.replace(b"retries_off", b"warp", 1), '"warp", which this version does not know'),
                        (bytes(range(256)) * 40, "-:1: error: "), (b"\x1f\x8b\x08\x00", "zcat FILE"),
                        (b"{" * 3_000_000, "-:1: error: the line is longer than 1 MiB")):
        code, out, err = simulate("--replay", "-", given=given)
        equal((code, out), (2, ""), given[:60])
        assert told in err and err.count("\n") == 1, err
    code, out, err = simulate("--replay", "-", given=whole + whole[:100])
    equal((code, err), (0, "-:2: warning: the last line is incomplete and was left out\n"))
    code, out, err = simulate("--replay", "-", "--lenient", given=b"junk\n" + whole)
    equal((code, err), (0, ""))
    assert "1 bad lines skipped" in out, out
    for arguments, told in ((("--replay", "/nowhere/log"), "cannot read /nowhere/log: No such file"), (("--replay", str(ROOT)), "Is a directory"),
                            (("--replay", "x", "--rate", "5/s"), "--replay and --rate cannot be combined"),
                            (("--replay", "x", "--model", "m"), "--replay and --model cannot be combined")):
        code, out, err = simulate(*arguments)
        equal((code, out), (2, ""), arguments)
        assert told in err, err
