"""Tests idle client connections: each uses little memory, and all stay usable."""
import contextlib
import resource

from client import Client
from harness import NotPlayed, Reprise, at_most, equal, is_sanitized, part_not_played
from test_rows_limits import resident, settled
from upstream import Upstream

FEW, MANY = 1000, 3000
BLOCKS_REST = 0.75  # seconds: after a burst of requests, reprise releases unused memory blocks within this time
KIB_EACH = 1.5  # limit in KiB for each idle connection; if the session were kept, a connection would need 3 KiB


def test_idle_client_connections_use_one_kibibyte_each_and_remain_usable():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < MANY + 1000:
        raise NotPlayed("namespaces", f"{MANY} clients need more than {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, MANY + 1000), hard))
    with Upstream() as upstream, contextlib.ExitStack() as stack, \
            Reprise(threads=1, limits={"connections": MANY + 100}, log={"access": False}) as reprise:
        clients = []

        def come(count):
            while len(clients) < count:
                clients.append(stack.enter_context(Client(reprise.forward)))
                equal(clients[-1].ask("GET", upstream.url()).status, 200)
            return settled(lambda: resident(reprise), BLOCKS_REST)

        few, many = come(FEW), come(MANY)
        each = (many - few) / (MANY - FEW) / 1024
        print(f"note: {each:.2f} KiB resident for each of {MANY - FEW} clients more")
        for client in clients:
            equal(client.ask("PUT", upstream.url("/again"), b"body").status, 200, "a client that has rested")
        equal(upstream.count("/again"), MANY)
        settled(lambda: resident(reprise))
        reprise.terminate()
        for client in clients:
            equal(client.read_to_end(), b"", "shutdown")
        equal(reprise.wait(), 0)
        if is_sanitized():
            part_not_played("memory", "sanitizer", "it is not its own under a sanitizer")
        else:
            at_most(each, KIB_EACH, "KiB for each idle client")
