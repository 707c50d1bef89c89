"""Tests every operation of Google Cloud Storage through the real proxy. Only the operations that Google's
table of operations lists as retryable may be retried."""
import os

from client import Client, head_of
from harness import LOOPBACK, Curl, Reprise, equal
from upstream import Say, Upstream

TABLE = os.path.join(os.path.dirname(__file__), "..", "config", "presets", "gcs.txt")


class FailsFirst:
    """An upstream step for every path: the first request of each case gets a 503, later requests of the same
    case succeed."""

    def __init__(self):
        self.counts = {}

    def __call__(self, connection, request):
        case = request.field("X-Case")
        self.counts[case] = self.counts.get(case, 0) + 1
        say = Say(503 if self.counts[case] == 1 else 200, b"" if request.method == "HEAD" else None)
        connection.sendall(say.text(request, self.counts[case]))
        return True


def rows():
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            operation, method, target, rule, _also_408, headers = line.split(" ", 5)
            host, _, path = target.partition("/")
            if host == "storage.googleapis.com":  # in the other rows, the bucket is part of the host name, which would need a resolver
                fields = [] if headers.strip() == "-" else [tuple(each.split("=", 1)) for each in headers.strip().split(",")]
                yield operation, method, "/" + path, rule, fields


def with_condition(condition, path, fields):
    """Adds a condition (a query parameter, a field or a body member) to a request. Returns the request's
    path, fields and body."""
    kind, name = condition.split(":", 1)
    if kind == "query":
        return path + ("&" if "?" in path else "?") + name + "=1", fields, b"{}"
    if kind == "header":
        return path, fields + [(name, '"1"')], b"{}"
    return path, fields, b'{"%s": "1"}' % name.encode()


def cases():
    """Yields requests for every row of the table of operations: one without a condition, and one for each
    condition that makes the operation retryable. Each request comes with the expected number of attempts."""
    for operation, method, path, rule, fields in rows():
        yield f"{operation} {method} plain", method, path, fields, b"{}", 2 if rule == "always" else 1
        for condition in rule.split(",") if ":" in rule else []:
            path_with, fields_with, body = with_condition(condition, path, fields)
            yield f"{operation} {method} {condition}", method, path_with, fields_with, body, 2


def test_gcs_operations_are_retried_exactly_as_the_table_of_operations_says():
    scripts = FailsFirst()
    preset = {"name": "gcs", "hosts": [LOOPBACK], "budget": "off",
              "retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}}
    with Upstream(otherwise=[scripts]) as upstream, Reprise(presets=[preset]) as reprise:
        expected = {}
        with Client(reprise.forward) as client:
            for number, (name, method, path, fields, body, attempts) in enumerate(cases()):
                case = f"{number} {name}"
                expected[case] = attempts
                own = [("X-Case", case)] + fields
                if method not in ("GET", "HEAD"):
                    own.append(("Content-Length", str(len(body))))
                client.send(head_of(method, upstream.url(path), f"{LOOPBACK}:{upstream.port}", own))
                if method not in ("GET", "HEAD"):
                    client.send(body)
                response = client.read_response(method)
                equal((response.status, response.attempts), (200 if attempts == 2 else 503, attempts), case)
        assert len(expected) > 80, f"only {len(expected)} cases"
        equal(scripts.counts, expected, "counted at the upstream")


class Bucket:
    """Serves one object like Google's emulator of Cloud Storage. Every response has the generation of the object and
    a Content-Range, but no entity tag. The body is chunked or has a length. Response n ends after `breaks[n]` bytes;
    later responses are complete. `as_200`: a broken response has status 200 even if a range was requested."""

    def __init__(self, breaks, chunked, as_200=False, generations=(17,)):
        self.object = bytes(33 + (i * 31 + i // 94) % 94 for i in range(512 * 1024))
        self.breaks, self.chunked, self.as_200, self.generations = list(breaks), chunked, as_200, generations
        self.requests = []

    def __call__(self, connection, request):
        turn = len(self.requests)
        self.requests.append((request.target, request.field("Range"), request.field("If-Range")))
        first = int((request.field("Range") or "bytes=0-")[6:-1])
        breaks = turn < len(self.breaks)
        size = len(self.object)
        generation = self.generations[min(turn, len(self.generations) - 1)]
        lines = [f"HTTP/1.1 {206 if first and not (breaks and self.as_200) else 200} Told", "Content-Type: application/octet-stream",
                 f"Content-Range: bytes {first}-{size - 1}/{size}", "x-goog-hash: crc32c=AAAAAA==", f"x-goog-generation: {generation}",
                 "x-goog-metageneration: 1", "Transfer-Encoding: chunked" if self.chunked else f"Content-Length: {size - first}"]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        rest = self.object[first:first + self.breaks[turn]] if breaks else self.object[first:]
        connection.sendall(b"%x\r\n%s\r\n" % (len(rest), rest) if self.chunked else rest)
        if breaks:
            return False
        if self.chunked:
            connection.sendall(b"0\r\n\r\n")
        return True


def downloads(cases):
    """Downloads every path in `cases`, a list of (path, bucket), with the shipped preset and shorter
    backoffs. For each, yields the client's response, the log line, and the requests that the bucket
    received."""
    preset = {"name": "gcs", "hosts": [LOOPBACK], "retry": {"backoff": {"initial": "1ms", "maximum": "2ms", "jitter": "none"}}}
    scripts = {path.partition("?")[0]: [bucket] for path, bucket in cases}
    equal(len(scripts), len(cases), "a path of its own for each")
    with Upstream(scripts) as upstream, Reprise(presets=[preset]) as reprise:
        for number, (path, bucket) in enumerate(cases):
            curl = Curl(reprise, upstream.url(path))
            yield curl, reprise.requests(number + 1)[number], bucket.requests


def test_broken_gcs_downloads_without_an_etag_arrive_whole():
    """Repeats Google's retry conformance tests for each kind of download: two responses that break at once,
    or one response that breaks after 256 KiB."""
    paths = ("/download/storage/v1/b/pail/o/a%%2F%d?alt=media", "/storage/v1/b/pail/o/a%d?alt=media", "/pail/a/%d", "/pail/%d?generation=17")
    kinds = [(path, breaks, chunked) for path in paths for breaks in ([4, 4], [256 * 1024]) for chunked in (False, True)]
    cases = [(path % number, Bucket(breaks, chunked)) for number, (path, breaks, chunked) in enumerate(kinds)]
    for (path, bucket), (curl, line, requests) in zip(cases, downloads(cases)):
        equal((curl.code, curl.status, curl.body == bucket.object, line["ending"]), (0, 200, True, "complete"), (path, bucket.breaks))
        places = [sum(bucket.breaks[:i + 1]) for i in range(len(bucket.breaks))]
        equal(requests, [(path, None, None)] + [(path, f"bytes={place}-", None) for place in places], "the target as it was, no If-Range")


def test_E1_200_response_to_a_range_request_is_discarded_and_the_range_requested_again():
    """Google's emulator responds to the range request with a broken 200. reprise discards the body of this
    200 and uses the 206 that follows."""
    chunked, counted = Bucket([4, 4], True, as_200=True), Bucket([4, 4], False, as_200=True)
    for bucket, (got, line, requests) in zip((chunked, counted), downloads([("/storage/v1/b/pail/o/a?alt=media", chunked), ("/pail/a", counted)])):
        equal((got.code, got.status, got.body == bucket.object), (0, 200, True), line)
        equal([asked for _, asked, _ in requests], [None, "bytes=4-", "bytes=4-"])


def test_gcs_download_is_cut_when_the_object_changes():
    cases = [(f"/storage/v1/b/pail/o/{number}?alt=media", Bucket([4096], chunked, generations=(17, 18))) for number, chunked in enumerate((False, True))]
    for (_, bucket), (curl, line, requests) in zip(cases, downloads(cases)):
        equal((curl.code in (18, 56), bucket.object[:4096].startswith(curl.body)), (True, True), bucket.chunked)
        equal((line["ending"], line["reason"], len(requests)), ("cut", "resume_mismatch", 2))


def test_L22_gcs_requests_missing_from_the_table_are_not_retried():
    never = ["/upload/storage/v1/b/p/o?upload_id=", "/upload/storage/v1/b/p/o?upload_id", "/resumable/upload/storage/v1/b/p/o?upload_id=",
             "/p/o?upload_id=", "/p/o?uploadId=", "/p/o?partNumber=1&uploadId=", "/p?policy", "/p?policy=", "/p?object-lock", "/p?subresource=value",
             "/p?userProject=q&policy=x", "/p?upload_id=", "//p", "/p//", "/p//o?upload_id=1", "/storage/v1//b/p?upload_id=1", "/storage//v1/b/p", "//storage/v1/b/p", "/storage/v1/?uploadId=1",
             "/upload//storage/v1/b/p/o?upload_id=1", "/resumable/upload//storage/v1/b/p/o?upload_id=1"]
    scripts = FailsFirst()
    preset = {"name": "gcs", "hosts": [LOOPBACK], "budget": "off", "retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}}
    with Upstream(otherwise=[scripts]) as upstream, Reprise(presets=[preset]) as reprise, Client(reprise.forward) as client:
        def attempts(method, path):
            case = f"{method} {path}"
            body = b"" if method in ("GET", "HEAD") else b"{}"
            fields = [("X-Case", case)] + ([("Content-Length", "2")] if body else [])
            client.send(head_of(method, upstream.url(path), f"{LOOPBACK}:{upstream.port}", fields) + body)
            response = client.read_response(method)
            equal((response.attempts, response.status == 200), (scripts.counts[case], scripts.counts[case] == 2), case)
            return scripts.counts[case]
        for path in never:
            equal([attempts(method, path) for method in ("PUT", "DELETE", "POST")], [1, 1, 1], path)
            if not path.startswith("/upload/"):
                equal([attempts(method, path) for method in ("GET", "HEAD")], [2, 2], path)
        for method, path in (("PUT", "/p"), ("DELETE", "/p"), ("PUT", "/p?userProject=q"), ("PUT", "/p/o?upload_id=1"),
                             ("PUT", "/upload/storage/v1/b/p/o?upload_id=1"),
                             ("DELETE", "/p/o?uploadId=1"), ("PUT", "/p/a//b?upload_id=1")):
            equal(attempts(method, path), 2, path)
