"""A strict collector of OTLP/HTTP in JSON: validates each body against the messages of opentelemetry-proto 1.3."""
import json
import re

from harness import eventually
from upstream import Say, Upstream

HEX = re.compile(r"[0-9a-f]+")
MOST_64 = 2**63 - 1


class NotOtlp(AssertionError):
    """A request body violates the protocol. The exception's message has the place and the fault."""


def need(right, where, what):
    if not right:
        raise NotOtlp(f"{where}: {what}")


def is_id(digits):
    """Returns a check for an id. OTLP/JSON encodes ids as hex digits, unlike ProtoJSON, which uses base64. An
    id of zeros is invalid."""
    def check(value, where):
        need(isinstance(value, str) and len(value) == digits and HEX.fullmatch(value) and value.strip("0"), where, f"no id: {value!r}")
    return check


def is_text(value, where):
    need(isinstance(value, str), where, f"no string: {value!r}")


def is_name(value, where):
    need(isinstance(value, str) and value, where, f"no name: {value!r}")


def is_wide(value, where):
    """Checks a 64-bit integer: JSON encodes such integers as decimal strings."""
    need(isinstance(value, str) and re.fullmatch(r"-?(0|[1-9][0-9]*)", value) and abs(int(value)) <= MOST_64, where, f"no int64: {value!r}")


def is_word(value, where):
    """Checks an unsigned 32-bit integer (uint32 or fixed32)."""
    need(type(value) is int and 0 <= value < 2**32, where, f"no uint32: {value!r}")


def is_number(value, where):
    need(type(value) in (int, float), where, f"no double: {value!r}")


def is_flag(value, where):
    need(type(value) is bool, where, f"no bool: {value!r}")


def is_one_of(*numbers):
    """Checks an enum value: an integer, never a name."""
    def check(value, where):
        need(type(value) is int and value in numbers, where, f"none of {numbers}: {value!r}")
    return check


def each(message):
    def check(value, where):
        need(isinstance(value, list), where, "no list")
        for at, item in enumerate(value):
            hold(message, item, f"{where}[{at}]")
    return check


def one(message):
    return lambda value, where: hold(message, value, where)


def attributes(value, where):
    each("KeyValue")(value, where)
    keys = [item["key"] for item in value]
    need(len(keys) == len(set(keys)), where, f"a key twice in {keys}")


def exactly_one(value, where):
    need(len(value) == 1, where, f"one value, and one alone: {value!r}")


# The fields of each OTLP message type, in lowerCamelCase, and the check for each field. A trailing `!` marks
# a required field. A field that is not listed is rejected as unknown.
MESSAGES = {
    "ExportTraceServiceRequest": {"resourceSpans!": each("ResourceSpans")},
    "ResourceSpans": {"resource!": one("Resource"), "scopeSpans!": each("ScopeSpans"), "schemaUrl": is_text},
    "Resource": {"attributes!": attributes, "droppedAttributesCount": is_word},
    "ScopeSpans": {"scope!": one("InstrumentationScope"), "spans!": each("Span"), "schemaUrl": is_text},
    "InstrumentationScope": {"name!": is_name, "version": is_text, "attributes": attributes, "droppedAttributesCount": is_word},
    "Span": {"traceId!": is_id(32), "spanId!": is_id(16), "traceState": is_text, "parentSpanId": is_id(16), "flags": is_word,
             "name!": is_name, "kind!": is_one_of(1, 2, 3, 4, 5), "startTimeUnixNano!": is_wide, "endTimeUnixNano!": is_wide,
             "attributes": attributes, "droppedAttributesCount": is_word, "events": each("Event"), "droppedEventsCount": is_word,
             "links": each("Link"), "droppedLinksCount": is_word, "status": one("Status")},
    "Event": {"timeUnixNano!": is_wide, "name!": is_name, "attributes": attributes, "droppedAttributesCount": is_word},
    "Link": {"traceId!": is_id(32), "spanId!": is_id(16), "traceState": is_text, "attributes": attributes,
             "droppedAttributesCount": is_word, "flags": is_word},
    "Status": {"message": is_text, "code": is_one_of(0, 1, 2)},
    "KeyValue": {"key!": is_name, "value!": one("AnyValue")},
    "AnyValue": {"stringValue": is_text, "boolValue": is_flag, "intValue": is_wide, "doubleValue": is_number,
                 "arrayValue": one("ArrayValue"), "kvlistValue": one("KeyValueList"), "bytesValue": is_text},
    "ArrayValue": {"values!": each("AnyValue")},
    "KeyValueList": {"values!": attributes},
}


def hold(message, value, where):
    """Raises NotOtlp unless `value` is a valid message of the type `message`."""
    need(isinstance(value, dict), where, f"no {message}: {value!r:.80}")
    fields = {name.rstrip("!"): check for name, check in MESSAGES[message].items()}
    for name in MESSAGES[message]:
        need(not name.endswith("!") or name[:-1] in value, where, f"no {name[:-1]} in a {message}")
    for name, inside in value.items():
        need(name in fields, where, f"{name} is no field of {message}")
        fields[name](inside, f"{where}.{name}")
    if message == "AnyValue":
        exactly_one(value, where)
    if message == "Span":
        need(int(value["endTimeUnixNano"]) >= int(value["startTimeUnixNano"]), where, "it ends before it begins")


def no_twice(pairs):
    names = [name for name, _ in pairs]
    need(len(names) == len(set(names)), "JSON", f"a name twice in {names}")
    return dict(pairs)


def plain(value):
    """Returns an AnyValue as a Python value."""
    (kind, inside), = value.items()
    return int(inside) if kind == "intValue" else inside


class Span:
    """One span, with its attributes as a dictionary."""

    def __init__(self, span, resource):
        self.trace, self.id, self.parent = span["traceId"], span["spanId"], span.get("parentSpanId")
        self.name, self.kind, self.flags = span["name"], span["kind"], span.get("flags", 0)
        self.start, self.end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        self.status = span.get("status", {}).get("code", 0)
        self.resource = resource
        self.attributes = {item["key"]: plain(item["value"]) for item in span["attributes"]}

    def __getitem__(self, key):
        return self.attributes[key]

    def get(self, key):
        return self.attributes.get(key)


SERVER, CLIENT = 2, 3
TAKEN = Say(200, body=b"{}", fields=[("Content-Type", "application/json")])


def spans_of(request):
    """Returns the spans of one POST. Raises NotOtlp if the body is invalid."""
    need(request.method == "POST", "request", request.method)
    need(request.field("Content-Type") == "application/json", "request", "Content-Type")
    body = json.loads(request.body.decode("utf-8"), object_pairs_hook=no_twice)
    hold("ExportTraceServiceRequest", body, "body")
    found = []
    for resource in body["resourceSpans"]:
        about = {item["key"]: plain(item["value"]) for item in resource["resource"]["attributes"]}
        for scope in resource["scopeSpans"]:
            found += [Span(span, about) for span in scope["spans"]]
    need(found, "body", "an empty envelope")
    return found


class Collector(Upstream):
    """A collector whose responses to POSTs follow a list of steps, as for a path of the scripted upstream.
    `spans` waits for received spans, accepted or not."""

    def __init__(self, steps=(TAKEN,), listener=None, path="/v1/traces"):
        super().__init__({path: list(steps)}, otherwise=(404,), listener=listener)
        self.path = path

    @property
    def otlp(self):
        return self.url(self.path)

    def posts(self, count=1):
        return self.seen(count, self.path)

    def all(self):
        """Returns every span that was received so far. Fails if a body is invalid."""
        with self.lock:
            requests = [request for request in self.requests if request.path == self.path]
        return [span for request in requests for span in spans_of(request)]

    def spans(self, count):
        def enough():
            found = self.all()
            return found if len(found) >= count else None
        return eventually(enough, f"{count} spans")
