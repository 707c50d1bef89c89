"""Tests faults of the host: stopped processes, no free descriptors, full disks, names that do not resolve."""
import os
import resource

from client import Client, ask
from faults import TWICE, StoppableUpstream, expect_failure, in_background, isolated, played, small_disk
from harness import LOOPBACK, NotPlayed, Reprise, equal, eventually, is_sanitized, opened_after, under_some_limit
from names import CNAME, SERVFAIL, Answer, NameServer, encoded, record
from test_replay import BLOCK, MIB
from upstream import Upstream

DEBUG = {"level": "debug"}
PATIENT = {"max_attempts": "unlimited", "deadline": "10m"}


def test_stopped_upstream_process_causes_a_timeout():
    with StoppableUpstream() as upstream, \
            Reprise(defaults={"retry": {"attempt_timeout": "100ms", "max_attempts": 3}}) as reprise:
        upstream.stop()  # the kernel of the stopped process still accepts connections and requests
        response = ask(reprise, "GET", upstream.url("/x?id=1"))
        equal((response.status, response.reason, response.attempts), (504, "attempts_spent", 3))
        reprise.expect_metric(3, "reprise_attempts_total", outcome="timeout")
        upstream.go_on()
    played("upstream stopped")


def test_resumed_upstream_process_serves_a_later_attempt():
    def case(milliseconds):
        retry = {**PATIENT, "attempt_timeout": f"{milliseconds}ms"}
        with StoppableUpstream() as upstream, Reprise(defaults={"retry": retry}, log=DEBUG) as reprise:
            upstream.stop()
            thread = opened_after(2, reprise, upstream.go_on)
            response = ask(reprise, "GET", upstream.url("/x?id=1"))
            thread.join()
            equal(response.status, 200)
            return response.attempts >= 3

    under_some_limit(100, case)
    played("upstream stopped and continued")


def test_stopped_upstream_process_receives_a_post_only_once():
    with StoppableUpstream() as upstream, \
            Reprise(defaults={"retry": {"attempt_timeout": "50ms"}}) as reprise:
        equal(ask(reprise, "GET", upstream.url("/x?id=0")).status, 200)
        upstream.stop()
        thread, responses = in_background(lambda: ask(reprise, "POST", upstream.url("/x?id=1"), b"order"))
        reprise.expect_metric(1, "reprise_upstream_connections", state="active")
        # attempt_timeout ends the attempts of the GET, but never the attempt of a POST. So the GET gets a 504 while the
        # POST still waits.
        equal(ask(reprise, "GET", upstream.url("/x?id=2")).status, 504)
        upstream.go_on()
        thread.join()
        equal((responses[0].status, responses[0].attempts), (200, 1))
        equal(upstream.effects()["1"], 1)
    played("upstream stopped under a POST")


def test_clients_wait_while_no_descriptor_is_free_for_upstreams():
    if is_sanitized():
        raise NotPlayed("sanitizer", "sanitizers need descriptors of their own")
    with Upstream() as upstream, Reprise(defaults={"retry": PATIENT}, log=DEBUG) as reprise, \
            Client(reprise.forward) as client:
        equal(client.ask("GET", upstream.url("/x")).status, 200)
        pid = reprise.process.pid
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        other = Upstream()
        with other:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, hard))  # a lower limit of descriptors does not close those that are already open
            thread = opened_after(2, reprise, lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard)))
            response = client.ask("POST", other.url("/x"), b"nothing of it had left")
            thread.join()
            equal(response.status, 200)
            assert response.attempts >= 3, response.attempts
            equal(other.count("/x"), 1)
        reprise.expect_log("connect no_descriptor")
    played("EMFILE")


def upload_past_a_full_disk(fill, folder):
    """Checks that reprise forwards a body without replay if the body does not fit on the disk. A later body that
    fits is replayed."""
    body = BLOCK[:MIB] * 4
    replay = {"memory": "16KiB", "disk": "64MiB"}
    with Upstream({"/big": [503, 200], "/small": [503, 200]}) as upstream, \
            Reprise(defaults={"replay": replay}, limits={"replay_folder": folder}) as reprise:
        emptied = fill(reprise)
        response = ask(reprise, "PUT", upstream.url("/big"), body)
        equal((response.status, response.reason, response.attempts), (503, "not_replayable", 1))
        equal(upstream.seen(1, "/big")[0].body, body, "what went upstream")
        reprise.expect_metric(0, "reprise_replay_bytes")
        emptied()
        response = ask(reprise, "PUT", upstream.url("/small"), body[:MIB // 2])
        equal((response.status, response.attempts), (200, 2), "there is room again")
        equal([request.body == body[:MIB // 2] for request in upstream.seen(2, "/small")], [True, True])


def too_long_files(reprise):
    """Limits the size of reprise's files to 1 MiB. A substitute for a small disk, on hosts where mounting is
    not permitted."""
    limit = resource.prlimit(reprise.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(reprise.process.pid, resource.RLIMIT_FSIZE, (MIB, limit[1]))
    return lambda: resource.prlimit(reprise.process.pid, resource.RLIMIT_FSIZE, limit)


def files_that_may_not_grow():
    upload_past_a_full_disk(too_long_files, "/tmp")
    played("EFBIG")


@isolated(without=files_that_may_not_grow)
def test_full_disk_disables_replay_to_disk_and_nothing_else():
    with small_disk(2 * MIB) as folder:
        upload_past_a_full_disk(lambda _: lambda: None, folder)
    played("ENOSPC")


@isolated(without=files_that_may_not_grow)
def test_disk_filled_by_other_programs_disables_replay_to_disk_and_nothing_else():
    with small_disk(16 * MIB) as folder:
        ballast = os.path.join(folder, "ballast")

        def fill(_):
            with open(ballast, "wb") as file:
                file.write(bytes(15 * MIB))
            return lambda: os.unlink(ballast)

        upload_past_a_full_disk(fill, folder)
    played("ENOSPC by others")




@isolated
def test_each_kind_of_unresolvable_name_is_reported_as_a_dns_error():
    loop = [record("loop.test", CNAME, encoded("pool.test")), record("pool.test", CNAME, encoded("loop.test"))]
    of_another = [record("other.test", 1, b"\x7f\0\0\1")]
    script = {"servfail.test": [Answer(code=SERVFAIL)], "empty.test": [Answer()], "loop.test": [Answer(records=loop)],
              "liar.test": [Answer(records=of_another)], "good.test": [Answer(LOOPBACK)]}
    with NameServer(script) as names, Upstream() as upstream, Reprise(defaults=TWICE) as reprise:
        for name in ("nowhere.test", "servfail.test", "empty.test", "loop.test", "liar.test"):
            expect_failure(reprise, f"http://{name}:{upstream.port}/", 502, "dns_error")
            equal(names.asked.get(name, 0) > 0, True, f"{name} was asked for")
            played(f"DNS: {name.removesuffix('.test')}")
        equal(ask(reprise, "GET", f"http://good.test:{upstream.port}/").status, 200)
        equal(upstream.count(), 1)


@isolated
def test_slow_name_resolution_does_not_delay_other_requests():
    routes = [{"name": "slow", "match": {"host": "slow.test"}, "connect_timeout": "100ms", "retry": {"max_attempts": 2}}]
    with NameServer({"slow.test": [Answer(silent=True)], "good.test": [Answer(LOOPBACK)]}) as names, \
            Upstream() as upstream, Reprise(routes=routes) as reprise:
        expect_failure(reprise, f"http://slow.test:{upstream.port}/", 504, "dns_timeout")
        patient = f"http://SLOW.test:{upstream.port}/"
        threads = [in_background(lambda: ask(reprise, "GET", patient))[0] for _ in range(8)]
        equal(ask(reprise, "GET", f"http://good.test:{upstream.port}/").status, 200)
        for thread in threads:
            thread.join()
        assert names.asked["slow.test"] > 0
    played("DNS: silence")


@isolated
def test_name_is_resolved_again_between_attempts():
    """Covers three names: one that resolves only after failures, one with a denied and an allowed address, and one
    with only a denied address."""
    script = {"flip.test": [Answer(code=SERVFAIL), Answer(code=SERVFAIL), Answer(LOOPBACK)],
              "mixed.test": [Answer("169.254.169.254", LOOPBACK)], "denied.test": [Answer("169.254.169.254")]}
    retry = {**PATIENT, "backoff": {"initial": "100ms", "maximum": "200ms"}}
    with NameServer(script) as names, Upstream() as upstream, Reprise(defaults={"retry": retry}) as reprise:
        response = ask(reprise, "POST", f"http://flip.test:{upstream.port}/", b"order")
        equal(response.status, 200)
        assert response.attempts > 1, response.attempts
        played("DNS: changes between attempts")
        equal(ask(reprise, "POST", f"http://mixed.test:{upstream.port}/", b"order").status, 200, "only the allowed one is dialled")
        played("DNS: mixed with denied")
        response = ask(reprise, "GET", f"http://denied.test:{upstream.port}/")
        equal((response.status, response.reason), (403, "address_denied"))
        played("DNS: denied")
        equal(upstream.count(), 2)
        eventually(lambda: names.asked.get("flip.test", 0) >= 3, "it was asked for again")
