"""Tests a rolling restart under load: two instances with the same name are replaced one after the other, and no
request fails."""
import threading

from client import Client
from client_threads import ClientThreads
from control import Controlled
from harness import equal, eventually
from reader import Cut
from upstream import Upstream


class Service:
    """Imitates a Kubernetes Service: polls /readyz of each instance, and directs new connections only to ready
    instances."""

    def __init__(self):
        self.lock = threading.Lock()
        self.instances, self.ready, self.next = [], [], 0
        self.ended = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def look(self):
        while not self.ended.wait(0.02):
            with self.lock:
                instances = list(self.instances)
            ready = []
            for instance in instances:
                try:
                    if instance.admin("/readyz")[0] == 200:
                        ready.append(instance)
                except OSError:
                    pass
            with self.lock:
                self.ready = [each for each in ready if each in self.instances]

    def pick(self):
        def one():
            with self.lock:
                self.next += 1
                return self.ready[self.next % len(self.ready)] if self.ready else None
        return eventually(one, "an instance is ready")

    def add(self, instance):
        with self.lock:
            self.instances.append(instance)

    def remove(self, instance):
        with self.lock:
            self.instances.remove(instance)


class Load(ClientThreads):
    """Clients that keep their connections, as connection pools do, and alternately send a POST and a GET. A POST
    must not be sent twice, so each POST has exactly one effect or has failed."""

    def __init__(self, service, upstream, clients=6):
        self.service, self.upstream = service, upstream
        super().__init__(clients)

    def work(self, which):
        client = None
        number = 0
        while not self.ended.is_set():
            number += 1
            path = f"/{which}/{number}"
            failure = None
            try:
                if client is None:
                    client = Client(self.service.pick().forward)
                method, body = ("POST", b"x") if number % 2 else ("GET", None)
                response = client.ask(method, self.upstream.url(path), body)
                if response.status != 200:
                    raise Cut(f"{response.status}")
                if (response.field("Connection") or "").lower() == "close":
                    client.socket.close()
                    client = None
            except (OSError, Cut) as error:
                failure = (path, repr(error))
                client = None
            self.count(which, failure)


def instance():
    return Controlled(shutdown={"linger": "2s", "grace": "20s"})


def replace(service, old, ask_to_leave):
    """Starts a new instance and waits until it is ready before it stops the old one."""
    new = instance().__enter__()
    service.add(new)
    eventually(lambda: new in service.ready, "the new one is ready")
    ask_to_leave(old)
    old.process.wait(60)
    service.remove(old)
    old.__exit__(None, None, None)
    return new


def by_drain(old):
    """Ends an instance as a preStop hook does: the instance leaves the Service first, then quits."""
    equal(old.tell("drain")[0], 0)
    equal(old.tell("quit")[0], 0)


def by_signal(old):
    old.process.terminate()


def test_rolling_restart_fails_no_request():
    with Upstream() as upstream, Service() as service:
        running = [instance().__enter__() for _ in range(2)]
        try:
            for each in running:
                service.add(each)
            with Load(service, upstream) as load:
                load.expect(200)
                for leave in (by_signal, by_drain):
                    for place in range(2):
                        running[place] = replace(service, running[place], leave)
                        load.expect(100)
            equal(load.failures, [])
            assert load.sent > 600, load.sent
            with upstream.lock:
                twice = [path for path, count in upstream.orders.items() if count != 1]
            equal(twice, [], "sent once each")
        finally:
            for each in running:
                each.__exit__(None, None, None)
