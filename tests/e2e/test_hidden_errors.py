"""Tests errors that the status does not show, with the shipped presets: a 400 that means "slow down", a 200 that is
an error."""
from client import Client, head_of
from harness import LOOPBACK, Curl, Reprise, equal
from upstream import Say, Upstream

GOOD = b'{"Item":{}}'
AMZ_JSON = [("Content-Type", "application/x-amz-json-1.0")]
XML = [("Content-Type", "text/xml;charset=UTF-8")]
STREAM = [("Content-Type", "text/event-stream")]

# Error responses from the documentation of the services: (status, fields, body).
THROTTLED = {
    "dynamodb": (400, AMZ_JSON, b'{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"x"}'),
    "json-1.1": (400, [("Content-Type", "application/x-amz-json-1.1")], b'{"__type":"ThrottlingException","message":"Rate exceeded"}'),
    "rest-json": (400, [("Content-Type", "application/json")], b'{"code":"TooManyRequestsException","message":"x"}'),
    "rest-json-head": (400, [("x-amzn-ErrorType", "ThrottlingException:http://internal.amazon.com/coral/")], b'{"message":"x"}'),
    "s3": (400, [("Content-Type", "application/xml")],
           b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>RequestTimeout</Code><Message>x</Message></Error>'),
    "query": (400, XML, b'<ErrorResponse xmlns="http://sts.amazonaws.com/doc/2011-06-15/">\n  <Error>\n    <Type>Sender</Type>\n'
                        b'    <Code>Throttling</Code>\n    <Message>Rate exceeded</Message>\n  </Error>\n</ErrorResponse>'),
    "sqs": (403, XML, b'<ErrorResponse><Error><Type>Sender</Type><Code>RequestThrottled</Code></Error></ErrorResponse>'),
    "ec2": (400, XML, b'<?xml version="1.0"?>\n<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors></Response>'),
    "s3-copy": (200, XML, b'\n<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>InternalError</Code><Message>x</Message></Error>'),
}
FINAL = {
    "invalid": (400, AMZ_JSON, b'{"__type":"com.amazon.coral.validate#ValidationException","message":"Throttling"}'),
    "denied": (403, XML, b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>Throttling</Message></Error></ErrorResponse>"),
    "absent": (404, [("Content-Type", "application/xml")], b"<Error><Code>NoSuchKey</Code></Error>"),
    "header": (400, [("x-amzn-ErrorType", "ResourceLimitExceededException")], b"{}"),
    "html": (400, [("Content-Type", "text/html")], b"<Error><Code>Throttling</Code></Error>"),
    "doctype": (400, XML, b'<!DOCTYPE a [<!ENTITY e "Throttling">]><Error><Code>&e;</Code></Error>'),
    "listing": (200, XML, b"<ListBucketResult><Contents><Code>InternalError</Code></Contents></ListBucketResult>"),
}


def preset(name, **more):
    return {"name": name, "hosts": [LOOPBACK], "budget": "off", "retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}, **more}


def saying(response):
    status, fields, body = response
    return Say(status, body, fields)


def reasons(reprise, count):
    """Returns the reasons of all attempts of the first `count` requests, by path."""
    return {line["path"]: [attempt["reason"] for attempt in line["attempts"]] for line in reprise.requests(count)}


def test_aws_throttling_in_a_400_is_retried_wherever_the_code_appears():
    scripts = {f"/{name}": [saying(response), saying(response), Say(200, GOOD, AMZ_JSON)] for name, response in THROTTLED.items()}
    with Upstream(scripts) as upstream, Reprise(presets=[preset("aws")]) as reprise:
        for name in THROTTLED:
            curl = Curl(reprise, upstream.url(f"/{name}"))
            equal((curl.code, curl.status, curl.body, curl.field("Reprise-Attempts")), (0, 200, GOOD, "3"), name)
        wanted = ["retryable_body", "retryable_body", "success"]
        equal(reasons(reprise, len(THROTTLED)), {f"/{name}": wanted for name in THROTTLED})
        reprise.expect_metric(2 * len(THROTTLED), "reprise_retries_total", reason="retryable_body")


def test_aws_client_errors_are_passed_on_unchanged():
    with Upstream({f"/{name}": [saying(response)] for name, response in FINAL.items()}) as upstream, \
            Reprise(presets=[preset("aws")]) as reprise:
        for name, (status, _, body) in FINAL.items():
            curl = Curl(reprise, upstream.url(f"/{name}"))
            equal((curl.code, curl.status, curl.body, curl.field("Reprise-Attempts")), (0, status, body, "1"), name)
            equal(upstream.count(f"/{name}"), 1, name)


def test_aws_persistent_throttling_is_delivered_unchanged():
    status, fields, body = THROTTLED["dynamodb"]
    with Upstream({"/x": [Say(status, body, fields)]}) as upstream, Reprise(presets=[preset("aws")]) as reprise:
        curl = Curl(reprise, upstream.url("/x"))
        equal((curl.status, curl.body), (400, body))
        equal((curl.field("Reprise-Attempts"), curl.field("Reprise-Reason")), ("3", "attempts_spent"))
        reprise.expect_metric(1, "reprise_exhausted_total", reason="attempts_spent")


def test_aws_throttled_post_is_retried_only_if_a_rule_allows_it():
    throttled = saying(THROTTLED["json-1.1"])
    scripts = {"/plain": [throttled, 200], "/named": [throttled, 200]}
    target = "DynamoDB_20120810.GetItem"
    route = {"name": "reads", "match": {"host": LOOPBACK, "headers": [f"X-Amz-Target={target}"]}, "policy": "aws",
             "idempotent": "always", "retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}}
    with Upstream(scripts) as upstream, Reprise(presets=[preset("aws")], routes=[route]) as reprise:
        plain = Curl(reprise, upstream.url("/plain"), "-d", "{}")
        equal((plain.status, plain.field("Reprise-Attempts"), plain.field("Reprise-Reason")), (400, "1", "not_idempotent"))
        named = Curl(reprise, upstream.url("/named"), "-d", "{}", "-H", f"X-Amz-Target: {target}")
        equal((named.status, named.field("Reprise-Attempts")), (200, "2"))


def stuck(head):
    """Returns an upstream step that sends a head and never sends the body."""
    def response(connection, request):
        connection.sendall(head)
        connection.recv(1)
        return False
    return response


def test_error_in_a_header_is_retried_without_reading_the_body():
    head = b"HTTP/1.1 400 Bad Request\r\nX-Amzn-ErrorType: ThrottlingException\r\nContent-Length: 20\r\n\r\n"
    hold = {"time": "1h", "body": [{"json": "__type"}, {"header": "x-amzn-errortype", "matches": "Throttling*"}]}
    with Upstream({"/x": [stuck(head), 200]}) as upstream, \
            Reprise(defaults={"hold": hold, "retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}}) as reprise, \
            Client(reprise.forward) as client:
        client.send(head_of("GET", upstream.url("/x"), "x"))
        response = client.read_response()
        equal((response.status, response.attempts), (200, 2))
        equal([attempt["reason"] for attempt in reprise.requests(1)[0]["attempts"]], ["retryable_body", "success"])


def test_response_is_not_held_if_no_predicate_matches_its_status():
    head = b"HTTP/1.1 %d Told\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n"
    hold = {"time": "1h", "body": [{"status": 400, "json": "__type", "matches": "*Throttling*"}, {"status": "410-419", "xml": "Code"},
                                   {"header": "x-amzn-errortype"}]}
    with Upstream({f"/{status}": [stuck(head % status)] for status in (200, 404, 410)}) as upstream, \
            Reprise(defaults={"hold": hold}) as reprise:
        for status in (200, 404, 410):  # a 410 has only a predicate for XML bodies, and this body is JSON
            with Client(reprise.forward) as client:
                client.send(head_of("GET", upstream.url(f"/{status}"), "x"))
                equal(client.read_head().split(b" ")[1], b"%d" % status)
                client.reset()


OVERLOADED = {
    "anthropic": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    "anthropic-rate": b'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"x"}}\n\n',
    "openai": b'event: error\ndata: {"type":"error","code":"server_is_overloaded","message":"x","sequence_number":0}\n\n',
    "openai-failed": b'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded"}}}\n\n',
    "openai-chat": b'data: {"error":{"message":"x","type":"requests","code":"slow_down"}}\n\n',
    "gemini": b'data: {"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}\r\n\r\n',
}
NOT_OVERLOADED = {
    "anthropic-other": (200, STREAM, b'event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n'),
    "openai-other": (200, STREAM, b'event: error\ndata: {"type":"error","code":"server_error"}\n\n'),
    "later": (200, STREAM, b"event: message_start\ndata: {}\n\n" + OVERLOADED["anthropic"]),
    "too-large": (413, [("Content-Type", "application/json")], b'{"type":"error","error":{"type":"request_too_large"}}'),
    "invalid": (400, [("Content-Type", "application/json")], b'{"error":{"type":"invalid_request_error","code":null}}'),
}


def test_llm_overload_in_the_first_event_is_retried():
    good = b"event: message_start\ndata: {}\n\n"
    scripts = {f"/{name}": [Say(200, event, STREAM), Say(200, good, STREAM)] for name, event in OVERLOADED.items()}
    with Upstream(scripts) as upstream, Reprise(presets=[preset("llm")]) as reprise:
        for name in OVERLOADED:
            curl = Curl(reprise, upstream.url(f"/{name}"), "-d", "{}")
            equal((curl.code, curl.body, curl.field("Reprise-Attempts")), (0, good, "2"), name)
        equal(reasons(reprise, len(OVERLOADED)), {f"/{name}": ["retryable_body", "success"] for name in OVERLOADED})


def test_llm_errors_other_than_overload_are_passed_on_without_a_retry():
    with Upstream({f"/{name}": [saying(response)] for name, response in NOT_OVERLOADED.items()}) as upstream, \
            Reprise(presets=[preset("llm")]) as reprise:
        for name, (status, _, body) in NOT_OVERLOADED.items():
            curl = Curl(reprise, upstream.url(f"/{name}"), "-d", "{}")
            equal((curl.code, curl.status, curl.body, curl.field("Reprise-Attempts")), (0, status, body, "1"), name)
