"""The ledger of gRPC calls: a plan for each call, and an upstream that fails as the plans say and records every attempt."""
import chance
import http2_frames as h2
from grpc_calls import UNAVAILABLE, answer, begins, ends, message, trailers_only
from http2_upstream import Http2Upstream

KINDS = ("Unary", "ClientStream", "ServerStream", "Bidi")
REPEATABLE, ONCE = "shop.Reads", "shop.Orders"  # services: a route repeats the calls of the first one
STREAMS = 60  # streams on one upstream connection before it goes away
SIZES = (0, 1, 5, 60, 60, 200, 200, 1500)
LARGE = 40_000
LARGE_ECHO = 15_000  # of a bidi call: each message of the response fits into one frame
MOST_STEPS = 3  # failures of one call, in addition to those of other calls on the same connection

# Failures that prove that the upstream did nothing.
UNPROCESSED = ("refuses", "excludes")
# Failures before the response began. The time of each one is drawn.
BEFORE = ("resets", "responds_unavailable", "pushes_back", "closes", "aborts")
# Failures after the head: only at the end of the request, because a client that still sends gets the head at once.
AFTER_HEAD = ("resets_after_head", "ends_unavailable", "ends_pushing_back", "closes_after_head")
# Ends of a call: its response had begun, or the upstream asked not to retry.
FINAL = ("cuts_after_message", "cuts_in_message", "closes_after_message", "closes_in_message", "forbids_retries")
WEIGHTS = {"closes": 1, "aborts": 1, "closes_after_head": 1, "closes_after_message": 1, "closes_in_message": 1}  # these break other calls, too


def draw(dice, names):
    return dice.choices(names, [WEIGHTS.get(name, 8) for name in names])[0]


class Plan:
    """One call. Its number determines everything else.

    `steps`: (name of the step, number of messages after which it is played) for each failing attempt. Later attempts succeed.
    The number is 0 at the head, and None at the end of the request."""

    blob = b""

    def __init__(self, number):
        dice = chance.dice("call", number)
        self.number, self.kind = number, KINDS[number % len(KINDS)]
        self.is_repeatable = number // len(KINDS) % 2 == 0
        self.path = f"/{REPEATABLE if self.is_repeatable else ONCE}/{self.kind}{number}"
        self.is_dialog = self.kind == "Bidi" and dice.random() < 0.5  # the client waits for the response to each message
        if self.kind == "Bidi":
            self.sent = self.received = self.sizes(dice, True, LARGE_ECHO)
        else:
            self.sent, self.received = (self.sizes(dice, self.kind == several) for several in ("ClientStream", "ServerStream"))
        self.frame_size = dice.choice((100, 16384, 16384, 16384))  # the most bytes in a DATA frame of the response
        self.ends_alone = dice.random() < 0.3  # END_STREAM of the request is in its own frame
        self.steps = [self.step(dice) for _ in range(dice.choice((0, 0, 1, 1, 1, 2, MOST_STEPS)))]

    @staticmethod
    def sizes(dice, several, largest=LARGE):
        sizes = [dice.choice(SIZES) for _ in range(dice.randint(1, 4) if several else 1)]
        if dice.random() < 0.02:
            sizes[-1] = largest
        return sizes

    def step(self, dice):
        groups = (UNPROCESSED, BEFORE, BEFORE, FINAL) if self.is_dialog else (UNPROCESSED, BEFORE, BEFORE, AFTER_HEAD, FINAL)
        name = draw(dice, dice.choice(groups))
        if name == "excludes":
            return name, 0
        if self.is_dialog:
            return name, 1
        if name in UNPROCESSED + BEFORE and dice.random() < 0.6:
            return name, dice.randint(0, len(self.sent) - 1)
        return name, None

    def upload(self):
        """Returns the messages that the client sends."""
        return [self.content(self.number * 7 + at, size) for at, size in enumerate(self.sent)]

    def download(self, attempt):
        """Returns the messages of the response. They differ between attempts."""
        return [self.content(self.number * 11 + attempt * 5 + at, size) for at, size in enumerate(self.received)]

    @classmethod
    def content(cls, start, size):
        cls.blob = cls.blob or chance.content("ledger", 2 * LARGE)
        start %= LARGE
        return message(cls.blob[start:start + size])


class Attempt:
    """One attempt that the upstream has received. `began`: bytes of a response were sent before the upstream closed its side."""

    def __init__(self, plan, request):
        order = request.order
        self.plan, self.request, self.number = plan, request, int(request.field("reprise-attempt"))
        self.name, self.at = plan.steps[order] if order < len(plan.steps) else ("succeeds", 1 if plan.kind == "Bidi" else None)
        self.is_played = self.is_unsent = self.began = self.forbade = False
        self.echoed = 0

    @property
    def has_effect(self):
        """Assumes the worst: the upstream executes a call as soon as it has the head. A refusal on a connection that the
        upstream has closed before is never sent."""
        return self.is_unsent or self.name not in UNPROCESSED

    def messages(self):
        """Returns the number of complete messages that have arrived."""
        body, count, position = self.request.body, 0, 0
        while position + 5 <= len(body):
            position += 5 + int.from_bytes(body[position + 1:position + 5], "big")
            count += position <= len(body)
        return count


class LedgerUpstream(Http2Upstream):
    """`plans`: the plan of each path. `attempts`: the attempts of each path, in the order of arrival."""

    def __init__(self, plans, **more):
        super().__init__(rotate=STREAMS, **more)
        self.plans, self.attempts = plans, {path: [] for path in plans}
        self.excluded = 0  # heads that arrived, and were then excluded by GOAWAY

    def take_head(self, link, request):
        super().take_head(link, request)
        request.taken_over = True
        request.attempt = Attempt(self.plans[request.path], request)
        with self.lock:
            self.attempts[request.path].append(request.attempt)
        if request.attempt.at == 0:
            self.play(link, request)

    def take_data(self, link, request):
        attempt = request.attempt
        if attempt.at and not request.ended and attempt.messages() >= attempt.at:
            self.play(link, request)

    def take_end(self, link, request):
        super().take_end(link, request)
        self.play(link, request)

    def play(self, link, request):
        attempt = request.attempt
        if attempt.name == "succeeds":
            self.succeed(link, request, attempt)
        elif not attempt.is_played:
            attempt.is_played = True
            attempt.is_unsent = getattr(link, "is_closed", False)
            getattr(self, attempt.name)(link, request, attempt)

    @staticmethod
    def note_begin(link, attempt):
        attempt.began = attempt.began or not getattr(link, "is_closed", False)

    def succeed(self, link, request, attempt):
        plan = attempt.plan
        self.note_begin(link, attempt)
        if plan.kind != "Bidi":
            reply = answer(fields=[("x-order", str(attempt.number))], size=plan.frame_size)
            reply.body = b"".join(plan.download(attempt.number))
            link.respond(request, reply)
            return
        # Every message gets its response at once.
        with link.one_write():
            if attempt.echoed == 0:
                begins(link, request)
            while attempt.echoed < attempt.messages():
                link.data(request.stream, plan.download(attempt.number)[attempt.echoed])
                attempt.echoed += 1
            if request.ended:
                ends(link, request, fields=[("x-order", str(attempt.number))])

    # Steps

    @staticmethod
    def refuses(link, request, _):
        link.reset_stream(request.stream, h2.REFUSED_STREAM)

    def excludes(self, link, request, _):
        with self.lock:
            self.excluded += 1
        link.goaway(request.stream - 2 if request.stream > 1 else 0)

    @staticmethod
    def resets(link, request, attempt):
        link.reset_stream(request.stream, (h2.CANCEL, h2.INTERNAL_ERROR, h2.PROTOCOL_ERROR, h2.NO_ERROR)[attempt.plan.number % 4])

    @staticmethod
    def responds_unavailable(link, request, _):
        link.respond(request, trailers_only(UNAVAILABLE))

    @staticmethod
    def pushes_back(link, request, attempt):
        link.respond(request, trailers_only(UNAVAILABLE, [("grpc-retry-pushback-ms", str(attempt.plan.number % 4))]))

    @staticmethod
    def forbids_retries(link, request, attempt):
        attempt.forbade = True
        link.respond(request, trailers_only(UNAVAILABLE, [("grpc-retry-pushback-ms", "-1")]))

    @staticmethod
    def closes(link, _, __):
        link.is_closed = True
        link.close()

    @staticmethod
    def aborts(link, _, __):
        link.is_closed = True
        link.abort()

    @staticmethod
    def resets_after_head(link, request, _):
        with link.one_write():
            begins(link, request)
            link.reset_stream(request.stream, h2.INTERNAL_ERROR)

    @staticmethod
    def ends_unavailable(link, request, _):
        begins(link, request)
        ends(link, request, UNAVAILABLE)

    @staticmethod
    def ends_pushing_back(link, request, attempt):
        begins(link, request)
        ends(link, request, UNAVAILABLE, [("grpc-retry-pushback-ms", str(attempt.plan.number % 4))])

    def closes_after_head(self, link, request, attempt):
        begins(link, request)
        self.closes(link, request, attempt)

    def deliver_part(self, link, request, attempt, cut):
        """Sends the head, the first message, and unless `cut` is 0 a part of a second message."""
        self.note_begin(link, attempt)
        begins(link, request)
        whole = attempt.plan.download(attempt.number)[0][:16000]
        link.data(request.stream, whole[:-cut] if cut else whole)

    def cuts_after_message(self, link, request, attempt):
        self.deliver_part(link, request, attempt, 0)
        link.reset_stream(request.stream, h2.INTERNAL_ERROR)

    def cuts_in_message(self, link, request, attempt):
        self.deliver_part(link, request, attempt, 1)
        link.reset_stream(request.stream, h2.INTERNAL_ERROR)

    def closes_after_message(self, link, request, attempt):
        self.deliver_part(link, request, attempt, 0)
        self.closes(link, request, attempt)

    def closes_in_message(self, link, request, attempt):
        self.deliver_part(link, request, attempt, 1)
        self.closes(link, request, attempt)
