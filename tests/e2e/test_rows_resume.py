"""Tests rows E1 to E12, resumed downloads. The first response breaks after 40 of 100 bytes. The next response
completes the body or leads to a visible cut, and never adds a wrong byte."""
import contextlib
import re
import threading
import time

from client import Client, Cut, ask
from exactly import counted, expected, is_cut, normal, raw, stage, to
from harness import equal, eventually

BODY = bytes(33 + (i * 31 + i // 94) % 94 for i in range(100))  # the value of each byte depends on its position, so a displaced byte is detected
GOT = 40
TAG = b'"v1"'
DATE = b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"


def head(status, fields=b"", length=None):
    counted_by = b"" if length is None else b"Content-Length: %d\r\n" % length
    return b"HTTP/1.1 %d Told\r\n" % status + DATE + fields + counted_by + b"\r\n"


def tag(value=TAG):
    return b"ETag: %s\r\n" % value


def broken(fields=tag(), length=100, status=200, upto=GOT):
    """Returns an upstream step that sends the first response and breaks it after `upto` bytes of the body."""
    return raw(head(status, b"Content-Type: text/plain\r\n" + fields, length) + BODY[:upto], "close")


def part(first=GOT, last=99, total=b"100", fields=tag(), body=None, length=None, kind=b"text/plain", status=206):
    """Returns a 206 response. Each parameter can make one part of it wrong."""
    content = BODY[first:last + 1] if body is None else body
    named = b"Content-Range: bytes %d-%d/%s\r\n" % (first, last, total) if total is not None else b""
    return head(status, b"Content-Type: %s\r\n" % kind + fields + named, len(content) if length is None else length) + content


def download(steps, request_fields=b"", path=b"/x", method="GET", **defaults):
    """Downloads a body from an upstream that has the given steps. Returns the response's head, the received
    body, whether it was complete, the requests that the upstream received, and the log line."""
    with stage({"/x": steps}, defaults=defaults) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream, method, path, request_fields))
        response = client.read_final_head()
        length = response.field("Content-Length")
        try:
            body, whole = client.read_bytes(int(length)) if length else b"", bool(length)
        except (Cut, ConnectionResetError):
            body, whole = bytes(client.buffer), False
        if not whole and not length:
            body = re.sub(rb"(^|\r\n)[0-9a-f]+\r\n|\r\n$", b"", is_cut(client))
        line = reprise.requests(1)[0]
        counted(reprise, "reprise_requests_total", code=str(response.status) if line["ending"] == "complete" else "cut")
        if whole:
            counted(reprise, "reprise_resumed_downloads_total", int(len(upstream.requests) > 1))
        return response, body, whole, [normal(request.head) for request in upstream.requests], line


def is_whole(steps, request_fields=b"", body=BODY, asked=b"bytes=40-", **more):
    response, got, whole, requests, line = download(steps, request_fields, **more)
    equal((whole, got, line["ending"], line["reason"]), (True, body, "complete", "success"))
    if asked:
        assert b"\r\nRange: " + asked + b"\r\n" in requests[1], requests[1]
    return response, requests


def is_cut_off(steps, reason, request_fields=b"", requests=2, **more):
    response, got, whole, seen, line = download(steps, request_fields, **more)
    equal((whole, line["ending"], line["reason"], len(seen)), (False, "cut", reason, requests), steps)
    assert BODY.startswith(got) or not got, got
    return response


def test_E1_full_200_response_completes_the_download_if_nothing_changed():
    whole = head(200, b"Content-Type: text/plain\r\n" + tag(), 100) + BODY
    is_whole([broken(), raw(whole)])
    is_whole([broken(), raw(whole[:-70], "close"), raw(whole)])
    for other in (head(200, tag(b'"v2"'), 100) + BODY, head(200, b"", 100) + BODY, head(200, tag(b'W/"v1"'), 100) + BODY, head(200, tag() + b"Content-Encoding: gzip\r\n", 100) + BODY):
        is_cut_off([broken(), raw(other)], "resume_mismatch")


def test_E1_200_response_with_the_same_etag_and_another_length_counts_as_a_broken_attempt():
    """In response to a range request, Google's retry test bench sends a 200 with the same ETag and another
    length."""
    quick = {"retry": {"backoff": {"initial": "1ms", "maximum": "1ms"}}}
    for other in (head(200, tag(), 101) + BODY + b"x", head(200, tag(), 60) + BODY[40:]):
        _, requests = is_whole([broken(), raw(other), raw(part())], **quick)
        equal(len(requests), 3)
        is_cut_off([broken(), raw(other)], "attempts_spent", requests=3, **quick, resume={"max_attempts": 2})


def test_E2_download_without_a_strong_validator_is_not_resumed():
    young = b"Last-Modified: Sun, 06 Nov 1994 08:48:38 GMT\r\n"
    for fields in (b"", tag(b'W/"v1"'), tag(b"v1"), young, tag(b'W/"v1"') + young):
        is_cut_off([broken(fields), raw(part(fields=fields))], "response_started", requests=1)
    settled = b"Last-Modified: Sun, 06 Nov 1994 08:48:37 GMT\r\n"
    _, requests = is_whole([broken(settled), raw(part(fields=settled))])
    assert b"\r\nIf-Range: Sun, 06 Nov 1994 08:48:37 GMT\r\n" in requests[1], requests[1]


def test_E3_206_response_that_is_not_the_missing_range_cuts_the_download():
    lies = [part(first=39), part(first=41), part(first=0), part(last=98), part(total=b"101"), part(total=b"99"), part(total=None)]
    for value in (b"items 40-99/100", b"bytes 99-40/100", b"bytes 40-99/50", b"bytes 40-99", b"bytes */100", b"bytes 40-/100",
                  b"bytes 40-99/100, 0-1/2", b"bytes 18446744073709551656-99/100", b"bytes 40-18446744073709551715/18446744073709551716",
                  b"bytes 4O-99/100", b"bytes=40-99/100"):
        lies.append(part().replace(b"bytes 40-99/100", value))
    lies.append(part(fields=tag() + b"Content-Range: bytes 40-99/100\r\n"))
    for lie in lies:
        is_cut_off([broken(), raw(lie)], "resume_mismatch")


def test_E4_206_response_may_omit_the_complete_length():
    is_whole([broken(), raw(part(total=b"*"))])
    is_cut_off([broken(), raw(part(first=41, total=b"*"))], "resume_mismatch")
    chunked = head(200, tag() + b"Transfer-Encoding: chunked\r\n") + b"28\r\n" + BODY[:GOT] + b"\r\n"
    is_cut_off([raw(chunked, "close"), raw(part(total=b"*"))], "resume_mismatch")


def test_E5_206_response_longer_or_shorter_than_its_range_cuts_the_download():
    is_whole([broken(), raw(part()[:-30], "close"), raw(part(first=70))])
    is_cut_off([broken(), raw(part(body=BODY[GOT:] + b"surplus"))], "resume_mismatch")
    is_cut_off([broken(), raw(part(body=BODY[GOT:90]))], "resume_mismatch")
    with stage({"/x": [broken(), raw(part() + b"surplus")]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(client.read_response().body, BODY, "what is behind the range is not part of it")
        client.send(to(upstream, path="/next"))
        equal((client.read_response().body, upstream.connections), (b"answer 1 to /next\n", 3), "and its connection is dropped")
    is_cut_off([broken(), raw(part(length=60)[:-60], "close")], "attempts_spent", requests=4, resume={"max_attempts": 3})
    chunks = head(206, tag() + b"Content-Type: text/plain\r\nContent-Range: bytes 40-99/100\r\nTransfer-Encoding: chunked\r\n")
    is_whole([broken(), raw(chunks + b"3c\r\n" + BODY[GOT:] + b"\r\n0\r\n\r\n")])
    is_cut_off([broken(), raw(chunks + b"46\r\n" + BODY[GOT:] + b"0123456789\r\n0\r\n\r\n")], "resume_mismatch")


def test_E6_multipart_range_response_cuts_the_download():
    for kind in (b"multipart/byteranges; boundary=x", b"Multipart/ByteRanges"):
        is_cut_off([broken(), raw(part(kind=kind))], "resume_mismatch")


def test_E7_206_response_with_different_metadata_cuts_the_download():
    for lie in (part(fields=tag(b'"v2"')), part(fields=tag(b'W/"v1"')), part(fields=b""), part(kind=b"text/html"),
                part(fields=tag() + b"Content-Encoding: gzip\r\n"), part(fields=tag() + tag()), part(fields=tag() + tag(b'"v2"'))):
        is_cut_off([broken(), raw(lie)], "resume_mismatch")
    is_cut_off([broken(tag() + b"Content-Encoding: gzip\r\n"), raw(part())], "response_started", requests=1)


def test_E8_range_request_of_the_client_is_resumed_within_its_range():
    def first(named, length, upto):
        return raw(head(206, b"Content-Type: text/plain\r\n" + tag() + b"Content-Range: bytes %s/100\r\n" % named, length) + BODY[10:10 + upto], "close")
    is_whole([first(b"10-59", 50, 20), raw(part(first=30, last=59))], b"Range: bytes=10-59\r\n", BODY[10:60], b"bytes=30-59")
    is_whole([first(b"10-99", 90, 20), raw(part(first=30))], b"Range: bytes=10-\r\n", BODY[10:], b"bytes=30-99")
    for fields in (b"Range: bytes=-90\r\n", b"Range: bytes=10-19,30-39\r\n", b"Range: items=10-99\r\n",
                   b"Range: bytes=10-99\r\nIf-Range: \"v1\"\r\n", b"Range: bytes=10-99\r\nRange: bytes=10-99\r\n"):
        _, _, whole, seen, line = download([first(b"10-99", 90, 20), raw(part(first=30))], fields)
        equal((whole, len(seen), line["ending"], line["reason"]), (False, 1, "cut", "response_started"), fields)


def test_E9_resume_is_retried_after_503_500_or_429_and_other_statuses_cut_the_download():
    for status in (416, 412, 404, 401, 302, 304):
        is_cut_off([broken(), raw(head(status, tag(), 0))], "resume_mismatch")
    for status in (503, 500, 429):
        response, _ = is_whole([broken(), raw(head(status, b"X-Refused: 1\r\n", 2) + b"no"), raw(part())])
        equal((response.status, response.field("X-Refused")), (200, None), "the status never changes after the head")


def test_E10_responses_to_post_and_responses_without_a_body_are_never_resumed():
    is_cut_off([broken(), raw(part())], "response_started", b"Content-Length: 0\r\n", requests=1, method="POST")
    chunked = head(200, tag() + b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n") + b"28\r\n" + BODY[:GOT] + b"\r\n"
    with stage({"/x": [raw(chunked, "close"), raw(part())]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        equal(client.read_response().body, BODY, "chunked: the 206 names the length")
    for message, method in ((head(200, tag(), 100), "HEAD"), (head(204, tag()), "GET"), (head(304, tag()), "GET"), (head(200, tag(), 0), "GET")):
        with stage({"/x": [raw(message, "close")]}) as (reprise, upstream), Client(reprise.forward) as client:
            client.send(to(upstream, method))
            response = client.read_response("HEAD")
            equal((response.body, len(upstream.requests)), (b"", 1), message)
            counted(reprise, "reprise_requests_total", code=str(response.status))


def test_E11_expired_signed_url_is_not_resumed():
    def query(ago):
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - ago)).encode()
        return b"/x?X-Amz-Date=%s&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00" % at
    is_cut_off([broken(), raw(part())], "signature_expired", requests=1, path=query(3600), signature={"sigv4": True})
    is_whole([broken(), raw(part())], path=query(0).replace(b"=60", b"=6000"), signature={"sigv4": True})
    signed = query(0).replace(b"SignedHeaders=host", b"SignedHeaders=host%3Brange")
    is_cut_off([broken(), raw(part())], "response_started", requests=1, path=signed)


def test_E12_fields_of_the_206_response_never_reach_the_client():
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: late\r\n\r\n"
    second = hint + part(fields=tag() + b"X-Only: 206\r\nSet-Cookie: late=1\r\nReprise-Attempts: 9\r\n")
    with stage({"/x": [broken(tag() + b"X-First: 1\r\n"), raw(second)]}) as (reprise, upstream), Client(reprise.forward) as client:
        client.send(to(upstream))
        got = normal(client.read_head())
        equal(got, b"HTTP/1.1 200 Told\r\nDate: ?\r\nContent-Type: text/plain\r\nETag: \"v1\"\r\nX-First: 1\r\nContent-Length: 100\r\n"
              b"Via: 1.1 reprise-?\r\nReprise-Attempts: 1\r\n")
        equal(client.read_bytes(100), BODY)
        equal(normal(upstream.bytes_received()[1]),
              expected(upstream).replace(b"\r\n\r\n", b"\r\nRange: bytes=40-\r\nIf-Range: \"v1\"\r\n\r\n"))
        client.send(to(upstream, path="/next"))
        equal(client.read_response().body, b"answer 1 to /next\n", "and nothing is left over")


def version(value=b"17", name=b"x-goog-generation"):
    return b"%s: %s\r\n" % (name, value)


def test_E2_version_field_listed_as_a_validator_replaces_a_strong_etag():
    for fields in (version(), version(b"aB.c", b"X-AMZ-Version-Id"), tag(b'W/"v1"') + version(), tag(b"CJ8=") + version()):
        _, requests = is_whole([broken(fields), raw(part(fields=fields))])
        equal(requests[1], requests[0].replace(b"\r\n\r\n", b"\r\nRange: bytes=40-\r\n\r\n"), "no If-Range, and the same target")
        is_whole([broken(fields), raw(head(200, b"Content-Type: text/plain\r\n" + fields, 100) + BODY)])
    weak = tag(b'W/"v1"') + version()
    for first, later in ((weak, version()), (weak, tag(b'"v1"') + version()), (version(), tag() + version()), (version(), weak)):
        is_whole([broken(first), raw(part(fields=later))])
    for later in (tag(b'"v2"') + version(), tag(b'W/"v2"') + version()):
        is_cut_off([broken(weak), raw(part(fields=later))], "resume_mismatch")
    listed = {"resume": {"validators": ["X-Checksum"]}}
    fields = version(b"9", b"x-checksum")
    is_whole([broken(fields), raw(part(fields=fields))], **listed)
    is_cut_off([broken(tag()), raw(part())], "response_started", requests=1, **listed)
    is_cut_off([broken(fields), raw(part(fields=fields))], "response_started", requests=1)


def test_E7_version_field_listed_as_a_validator_prevents_a_resume_if_it_differs_or_is_missing():
    for first, later in ((version(), version(b"18")), (version(), b""), (version(b"a"), version(b"A")), (version(), tag()),
                         (version(), version() + version()), (version(), version() + b"Connection: x-goog-generation\r\n"),
                         (version(), version(b"17", b"x-amz-version-id")),
                         (tag() + version(), tag() + version(b"18"))):
        is_cut_off([broken(first), raw(part(fields=later))], "resume_mismatch")
        is_cut_off([broken(first), raw(head(200, b"Content-Type: text/plain\r\n" + later, 100) + BODY)], "resume_mismatch")
    for lie in (part(fields=version(), kind=b"text/html"), part(fields=version() + b"Content-Encoding: gzip\r\n"),
                part(fields=version(), first=41), part(fields=version(), total=b"101")):
        is_cut_off([broken(version()), raw(lie)], "resume_mismatch")
    for first in (version(b""), version(b"17, 18"), version() + version(), version() + b"Connection: X-Goog-Generation\r\n",
                  version(b"null", b"x-amz-version-id")):
        is_cut_off([broken(first), raw(part(fields=first))], "response_started", requests=1)


def test_E1_content_range_in_a_200_response_is_ignored():
    for said in (b"bytes 0-99/100", b"bytes 40-99/100", b"junk"):
        fields = tag() + b"Content-Range: %s\r\n" % said
        is_whole([broken(fields), raw(part())])
        is_whole([broken(), raw(head(200, b"Content-Type: text/plain\r\n" + fields, 100) + BODY)])
        # This 200 has the right ETag, but its body has only the length of the missing rest, so the body
        # cannot be the whole content. The 200 counts as one more break.
        is_cut_off([broken(), raw(head(200, b"Content-Type: text/plain\r\n" + fields, 60) + BODY[GOT:])], "attempts_spent",
                   resume={"max_attempts": 1})
    ranged = tag() + b"Content-Range: bytes 10-99/100\r\n"
    is_cut_off([raw(head(200, ranged, 90) + BODY[:20], "close"), raw(part())], "response_started", b"Range: bytes=10-\r\n", requests=1)


def test_E1_incomplete_200_response_without_a_length_leads_to_another_range_request():
    chunked = head(200, b"Content-Type: text/plain\r\n" + version() + b"Transfer-Encoding: chunked\r\n")
    again = raw(chunked + b"4\r\n" + BODY[GOT:GOT + 4] + b"\r\n", "close")
    is_whole([broken(version()), again, raw(part(fields=version()))])
    is_cut_off([broken(version()), again, again, again], "attempts_spent", requests=4, resume={"max_attempts": 3})
    other = raw(chunked.replace(b": 17", b": 18") + b"4\r\n" + BODY[GOT:GOT + 4] + b"\r\n", "close")
    is_cut_off([broken(version()), other], "resume_mismatch")


class ColdCache:
    """An upstream whose connections all pause in the middle of the body. `plays[n]` serves request n, and is called
    with (connection, cache). The last element serves all later requests."""

    def __init__(self, plays):
        self.plays, self.asked, self.open, self.most = plays, threading.Semaphore(0), 0, 0
        self.lock = threading.Lock()

    def __call__(self, connection, request):
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
        try:
            self.asked.release()
            self.plays[min(request.order, len(self.plays) - 1)](connection, self)
        finally:
            with self.lock:
                self.open -= 1
        return False

    def wait_for_requests(self, count):
        for _ in range(count):
            assert self.asked.acquire(timeout=60)


WHOLE = head(200, tag(), len(BODY))
REST = head(206, tag() + b"Content-Range: bytes %d-%d/%d\r\n" % (GOT, len(BODY) - 1, len(BODY)), len(BODY) - GOT)
STALL = {"resume": {"stall": "300ms"}, "retry": {"backoff": {"initial": "10ms", "jitter": "none"}}}


def until_closed(connection):
    with contextlib.suppress(OSError):
        while connection.recv(1000):
            pass


def silent(connection, _):
    until_closed(connection)


def silent_behind_its_head(connection, _):
    connection.sendall(REST)
    until_closed(connection)


def wakes_after(requests):
    def play(connection, cache):
        connection.sendall(WHOLE + BODY[:GOT])
        cache.wait_for_requests(requests)
        connection.sendall(BODY[GOT:])
    return play


def downloads(cache, attempts, **more):
    with stage({"/x": [cache]}, defaults={**STALL, **more}) as (reprise, upstream):
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body), (200, BODY))
        line = reprise.requests(1)[0]
        equal((line["ending"], len(line["attempts"])), ("complete", attempts), line)
        assert cache.most <= 2, f"{cache.most} connections for one download"
        return line["attempts"]


def only_the_prefix(connection, _):
    """Ignores the requested range, sends the body from its start, and pauses at the byte where the first response
    paused."""
    connection.sendall(WHOLE + BODY[:GOT])
    until_closed(connection)


def test_stalled_body_is_kept_if_it_continues_before_the_resume_delivers_a_byte():
    for second in (silent, silent_behind_its_head, only_the_prefix):
        attempts = downloads(ColdCache([wakes_after(2), second]), 2)
        equal((attempts[0]["status"], attempts[0]["reason"]), (200, "resumed"))
    attempts = downloads(ColdCache([wakes_after(3), silent_behind_its_head]), 3)
    equal([attempt["reason"] for attempt in attempts[:2]], ["resumed", "resumed"], "the second stalled, too: a third was asked")


def test_stalled_body_that_continues_during_the_wait_before_a_resume_is_kept():
    def pauses(connection, cache):
        connection.sendall(WHOLE + BODY[:GOT])
        cache.reprise_waits()
        connection.sendall(BODY[GOT:])
    cache = ColdCache([pauses])
    with stage({"/x": [cache]}, defaults={**STALL, "retry": {"backoff": {"initial": "1h", "maximum": "1h"}, "deadline": "unlimited"}}) as (reprise, upstream):
        cache.reprise_waits = lambda: eventually(lambda: reprise.metric("reprise_limits_hit_total", limit="response_idle") == 1, "a stall")
        response = ask(reprise, "GET", upstream.url("/x"))
        equal((response.status, response.body, upstream.connections), (200, BODY, 1))
        equal(reprise.metric("reprise_resumed_downloads_total"), 0)


def test_resume_of_a_stalled_body_is_kept_if_it_delivers_a_byte_first():
    def delivers(connection, _):
        connection.sendall(REST + BODY[GOT:])
    def stalls(connection, _):
        connection.sendall(WHOLE + BODY[:GOT])
        until_closed(connection)
    attempts = downloads(ColdCache([stalls, delivers]), 2)
    equal([attempt.get("status") for attempt in attempts], [None, 206])
