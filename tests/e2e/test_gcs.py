"""Every operation of the Cloud Storage table through the real proxy: retried exactly where the table says."""
import os

from client import Client, head_of
from harness import LOOPBACK, Reprise, equal
from upstream import Say, Upstream

TABLE = os.path.join(os.path.dirname(__file__), "..", "config", "presets", "gcs.txt")


class FailsFirst:
    """A script for every path: the first request of each case fails, the later ones succeed."""

    def __init__(self):
        self.counts = {}

    def get(self, _path, _default=None):
        return [self.answer]

    def answer(self, connection, request):
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
            if host == "storage.googleapis.com":  # names of buckets in the host need a resolver
                fields = [] if headers.strip() == "-" else [tuple(each.split("=", 1)) for each in headers.strip().split(",")]
                yield operation, method, "/" + path, rule, fields


def with_condition(condition, path, fields):
    """The request with that condition in it: path, fields and body."""
    kind, name = condition.split(":", 1)
    if kind == "query":
        return path + ("&" if "?" in path else "?") + name + "=1", fields, b"{}"
    if kind == "header":
        return path, fields + [(name, '"1"')], b"{}"
    return path, fields, b'{"%s": "1"}' % name.encode()


def cases():
    """Every row without its condition and, where it has some, with each of them; and how many attempts it must have."""
    for operation, method, path, rule, fields in rows():
        yield f"{operation} {method} plain", method, path, fields, b"{}", 2 if rule == "always" else 1
        for condition in rule.split(",") if ":" in rule else []:
            path_with, fields_with, body = with_condition(condition, path, fields)
            yield f"{operation} {method} {condition}", method, path_with, fields_with, body, 2


def test_every_operation_is_retried_exactly_where_the_table_says():
    scripts = FailsFirst()
    preset = {"name": "gcs", "hosts": [LOOPBACK], "budget": "off",
              "retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}}
    with Upstream(scripts) as upstream, Reprise(presets=[preset]) as reprise:
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
                answer = client.read_answer(method)
                equal((answer.status, answer.attempts), (200 if attempts == 2 else 503, attempts), case)
        assert len(expected) > 80, f"only {len(expected)} cases"
        equal(scripts.counts, expected, "counted at the upstream")
