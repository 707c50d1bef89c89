"""Starts a reprise whose status page has something to show in every part: routes of every kind, requests that are
retried, rejected and given up, an open circuit, a pause, and a failed reload."""
import contextlib
import threading

from client import Client
from control import Controlled
from harness import closed_port
from upstream import Say, Upstream

# The response to each request depends only on the number of the request, so every run shows the same page.
SCRIPTS = {
    "/catalog/items": [200] * 6 + [503, 200],
    "/catalog/search": [200, 200, "reset", 503, 200],
    "/payments/charge": [200] * 9 + ["reset"],
    "/reports/yearly": [503],
    "/legacy/order": [200, 200, 500],
    "/partner/quota": [Say(429, fields=[("Retry-After", "3600")])],
}


class Cycle(Upstream):
    """An upstream that starts its script again after the last step."""

    def _play(self, connection, request, step):
        script = self.scripts.get(request.path, self.otherwise)
        return super()._play(connection, request, script[request.order % len(script)])


def configuration():
    def route(name, path, **policy):
        return {"name": name, "match": {"path": path}, **policy}
    waits = {"backoff": {"initial": "60ms", "maximum": "400ms"}}
    return {
        "defaults": {"retry": {"max_attempts": 4, **waits}, "circuit": {"failures": 0.9, "requests": 20, "window": "10s", "open": "30s"}},
        "routes": [
            route("catalog", "/catalog/**"),
            route("payments", "/payments/**", idempotent={"any": [{"header": "Idempotency-Key"}]}),
            route("reports", "/reports/**"),
            route("legacy-orders", "/legacy/**", mode="observe"),
            route("partner", "/partner/**"),
        ],
    }


class Scene:
    """The proxy, its upstreams and its clients, while inside `with`."""

    def __init__(self, traffic=True):
        self.traffic, self.stack, self.over = traffic, contextlib.ExitStack(), threading.Event()

    def __enter__(self):
        try:
            self.upstream = self.stack.enter_context(Cycle(SCRIPTS))
            self.held, self.closed = closed_port()
            self.stack.enter_context(contextlib.closing(self.held))
            self.reprise = self.stack.enter_context(Controlled(**configuration()))
            self.url = "http://%s:%d/" % self.reprise.addresses["admin"]
            if self.traffic:
                self.begin()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *error):
        self.over.set()
        return self.stack.__exit__(*error)

    def begin(self):
        down = f"http://127.0.0.1:{self.closed}/health"
        for pause, requests in ((0.02, [("GET", "/catalog/items"), ("GET", "/catalog/search")]), (0.05, [("POST", "/payments/charge")]),
                                (0.4, [("GET", "/reports/yearly")]), (0.25, [("POST", "/legacy/order")]), (2, [("GET", "/partner/quota")])):
            self.client(pause, [(method, self.upstream.url(path)) for method, path in requests])
        self.client(0.3, [("GET", down)])

    def client(self, pause, requests):
        """Returns a thread that sends the given requests in turn, again and again."""
        def work():
            number = 0
            while not self.over.is_set():
                with contextlib.suppress(OSError, ValueError, EOFError, Exception), Client(self.reprise.forward) as client:
                    while not self.over.wait(pause):
                        method, url = requests[number % len(requests)]
                        number += 1
                        client.ask(method, url, b"{}" if method == "POST" else None)
                self.over.wait(pause)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.stack.callback(lambda: (self.over.set(), thread.join()))

    def fail_a_reload(self):
        self.reprise.write(self.reprise.text_with() + "defalts: {}\n")
        self.reprise.expect_reload("failed")
