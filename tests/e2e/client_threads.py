"""Threads that act as clients, for cases that put load on a proxy or an upstream."""
import threading

from harness import eventually


class ClientThreads:
    """Threads that send requests until the `with` block ends. Each thread calls `work` once, with the
    thread's number. A subclass implements `work`, which sends requests until `ended` is set, and calls
    `count` after each request."""

    def __init__(self, clients):
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.finished, self.failures = [0] * clients, []
        self.threads = [threading.Thread(target=self.work, args=(which,)) for which in range(clients)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def work(self, which):
        raise NotImplementedError

    @property
    def sent(self):
        return sum(self.finished)

    def count(self, which, failure=None):
        """Counts one finished request of thread number `which`. `failure` is None if the request succeeded."""
        with self.lock:
            self.finished[which] += 1
            if failure is not None:
                self.failures.append(failure)

    def expect(self, more):
        """Waits until all threads together have finished `more` further requests."""
        before = self.sent
        eventually(lambda: self.sent >= before + more, f"{more} more requests")

    def expect_of_each(self, more):
        """Waits until each thread has finished `more` further requests."""
        before = list(self.finished)
        eventually(lambda: all(now >= then + more for now, then in zip(self.finished, before)), f"{more} more requests of each")
