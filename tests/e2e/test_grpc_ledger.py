"""Tests row M119 of docs/requirements/http2.md: thousands of gRPC calls of all four kinds over an upstream that fails as each
call's plan says. The ledger compares what the clients got with what the upstream received."""
import collections
import queue
import socket
import threading

from grpc_calls import CALL, OK, UNAVAILABLE, status_of
from grpc_ledger import LARGE, ONCE, REPEATABLE, LedgerUpstream, Plan
from harness import LOOPBACK, Reprise, equal, options
from http2_client import Http2Client

CLIENTS = 6
NO_DELAY = {"retry": {"max_attempts": 100, "backoff": {"initial": "1ms", "maximum": "2ms"}}, "budget": "off", "attempt_header": True}
# `hold`: the head of a response waits for the next frame, however slow the machine is. `truncated`: a call that breaks
# after its head and before its first message is retried, too.
READS = {"name": "reads", "match": {"grpc": [f"{REPEATABLE}/*"]}, "idempotent": "always", "hold": {"time": "60s"},
         "retry": {"on": ["connect", "reset", "truncated", "grpc-unavailable"]}}


class Outcome:
    """What a client got. `status` None: the call ended without a status."""

    def __init__(self, response):
        self.status, self.body, self.reset = status_of(response), response.body, response.reset
        self.attempts, self.reason = response.attempts, response.reason
        self.order = dict(response.trailers).get("x-order")


def is_over(response):
    return response.ended or response.reset is not None


def play(client, plan):
    """Sends one call and returns its response."""
    stream = client.begin("POST", plan.path, CALL, end=False)
    response, messages, expected = client.responses[stream], plan.upload(), 0
    for at, data in enumerate(messages):
        client.upload(stream, data, end=at == len(messages) - 1 and not plan.ends_alone)
        if plan.is_dialog:
            expected += len(data)
            client.until(lambda: response.size >= expected or is_over(response))  # pylint: disable=cell-var-from-loop
        if is_over(response):
            return response
    if plan.ends_alone:
        client.data(stream, end=True)
    return client.response(stream)


def work(numbers, plans, address, outcomes, problems):
    """Runs one client: plays the calls of the queue until it is empty."""
    plan = client = None
    try:
        with Http2Client(address) as client:
            client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                plan = plans[numbers.get_nowait()]
                outcomes[plan.number] = Outcome(play(client, plan))
    except queue.Empty:
        pass
    except Exception as error:  # pylint: disable=broad-except
        problems.append(f"{plan and plan.path}: {error!r}, {client and client.goaways}")


def fault_of_bytes(plan, outcome, attempts):
    """Returns what is wrong with the bytes in both directions, or None."""
    upload = b"".join(plan.upload())
    for attempt in attempts:
        body = attempt.request.body
        if body != upload if attempt.request.ended else not upload.startswith(body):
            return f"attempt {attempt.number} has other bytes: {len(body)} of {len(upload)}"
    if outcome.status == OK:
        whole = plan.download(attempts[-1].number)
        return None if outcome.body == b"".join(whole) else f"{len(outcome.body)} bytes of another response"
    if not outcome.body:
        return None
    whole = plan.download(attempts[-1].number)
    if not b"".join(whole).startswith(outcome.body):
        return f"{len(outcome.body)} bytes of another response"
    ends = {sum(map(len, whole[:count])) for count in range(len(whole) + 1)}
    if outcome.status is not None and len(outcome.body) not in ends:
        return f"a status after {len(outcome.body)} bytes, in the middle of a message"
    return None


def fault_of_call(plan, outcome, attempts, logged):
    """Returns which law this call breaks, or None. `attempts`: those that the upstream received. `logged`: those that
    reprise logged."""
    numbers = [attempt.number for attempt in attempts]
    effects = sum(attempt.has_effect for attempt in attempts)
    last = attempts[-1] if attempts else None
    unseen = len(logged) - len(attempts)
    if len(set(numbers)) < len(numbers) or numbers and numbers[-1] > len(logged):
        return f"attempts {numbers} of {len(logged)}"
    if outcome.attempts not in (0, len(logged)):
        return f"{outcome.attempts} attempts reported, {len(logged)} logged"
    if not plan.is_repeatable and effects > 1:
        return f"{effects} effects"
    if outcome.status == OK:
        if last is None or last.name != "succeeds" or last.number != len(logged) or outcome.order != str(last.number):
            return "success without a successful attempt"
    elif plan.is_repeatable and not (last and last.number == len(logged) and (last.began or last.forbade)):
        return "not recovered"
    elif not plan.is_repeatable and effects == 0 and unseen == 0:
        return "given up, and no attempt had an effect"
    elif outcome.status not in (UNAVAILABLE, None) or outcome.status is None and outcome.reset is None:
        return "another end"
    return fault_of_bytes(plan, outcome, attempts)


def play_all(upstream, reprise, plans):
    """Plays the calls of all plans. Returns the outcome of each number, and the attempts that reprise logged."""
    by_number, numbers, outcomes, problems = {plan.number: plan for plan in plans}, queue.SimpleQueue(), {}, []
    for plan in plans:
        numbers.put(plan.number)
    clients = [threading.Thread(target=work, args=(numbers, by_number, reprise.gateway, outcomes, problems)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    equal((problems, upstream.violations), ([], []))
    return outcomes, {line["path"]: line for line in reprise.requests(len(plans))}


def expect_totals(reprise, upstream, outcomes, lines, plans):
    """Checks the sums: attempts, effects and metrics."""
    attempts = [attempt for line in lines.values() for attempt in line["attempts"]]
    retries = len(attempts) - len(plans)
    ignored = sum(link.ignored for link in upstream.links) - upstream.excluded
    received = sum(map(len, upstream.attempts.values()))
    lost = len(plans) + retries - received - ignored
    broken = sum(attempt.get("error") in ("reset", "closed", "write") for attempt in attempts)
    assert 0 <= lost <= broken, f"{len(plans)} calls + {retries} retries, {received} received, {ignored} ignored, {broken} broken"
    reprise.expect_metric(len(plans), "reprise_grpc_requests_total")
    for word, status in (("ok", OK), ("unavailable", UNAVAILABLE), ("none", None)):
        equal(reprise.metric("reprise_grpc_requests_total", status=word), sum(one.status == status for one in outcomes.values()), word)
    for route in ("reads", "default"):
        equal(reprise.metric("reprise_grpc_requests_total", route=route), sum((REPEATABLE in path) == (route == "reads") for path in lines), route)
    reprise.expect_metric(len(attempts), "reprise_attempts_total")
    recovered = sum(outcomes[plan.number].status == OK and len(lines[plan.path]["attempts"]) > 1 for plan in plans)
    equal(reprise.metric("reprise_recovered_total"), recovered, "recovered")
    print(f"note: {len(plans)} calls, {retries} retries, {received} received, {ignored} ignored, {lost} lost, {recovered} recovered")


def test_M119_ledger_of_calls_has_one_effect_or_recovers():
    plans = [Plan(number) for number in range(options.load)]
    listeners = [{"mode": "gateway", "bind": f"{LOOPBACK}:0"}]
    with LedgerUpstream({plan.path: plan for plan in plans}) as upstream:
        listeners[0]["upstream"] = upstream.url("")
        with Reprise(listeners=listeners, defaults=NO_DELAY, routes=[READS]) as reprise:
            outcomes, lines = play_all(upstream, reprise, plans)
            faults = []
            for plan in plans:
                line = lines[plan.path]
                # An attempt may arrive after a later one on another connection.
                attempts = sorted(upstream.attempts[plan.path], key=lambda attempt: attempt.number)
                fault = fault_of_call(plan, outcomes[plan.number], attempts, line["attempts"])
                if fault:
                    faults.append(f"{plan.path} {fault}; {plan.steps} {[(one.number, one.name) for one in attempts]} {vars(outcomes[plan.number])!r:.300} {line}")
            assert not faults, f"{len(faults)} of {len(plans)}: " + "\n".join(faults[:8])
            expect_totals(reprise, upstream, outcomes, lines, plans)
            expect_variety(plans, outcomes, upstream)


def expect_variety(plans, outcomes, upstream):
    """Checks that every step was played, and that calls of each kind and service have ended in every way."""
    played = collections.Counter(attempt.name for attempts in upstream.attempts.values() for attempt in attempts)
    equal(sorted(name for plan in plans for name, _ in plan.steps if not played[name]), [], "steps that no attempt met")
    ends = collections.Counter((plan.kind, plan.is_repeatable, outcomes[plan.number].status == OK) for plan in plans)
    equal(len(ends), 16, f"{ends}")
    assert any(len(outcome.body) > LARGE for outcome in outcomes.values())
    equal(sorted({plan.path.split("/")[1] for plan in plans}), sorted((ONCE, REPEATABLE)))
