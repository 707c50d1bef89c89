"""Sums the costs from callgrind by origin: the rooms (modules) of this program, Asio, the standard library, system
libraries."""
import re
from collections import Counter

EVENTS = {"Ir": "instructions", "I1mr": "code missing in the first cache", "ILmr": "in the last", "D1mr": "data missing in the first cache, read",
          "D1mw": "written"}
# Pairs: a pattern for the path of a source file, and the name of its group in the table. The first match is used.
PLACES = [(re.compile(pattern), name) for pattern, name in (
    (r"proxy/http/http1/guard|proxy/http/http1/scanner|proxy/http/http1/chunked", "framing guard"),
    (r"proxy/http/http1/beast_check|boost/beast", "second reading: Beast"),
    (r"proxy/http/http1/rewrite", "rewrite"),
    (r"proxy/net/io/tick", "timers"),
    (r"proxy/\w+/(\w+)/", r"\1"),
    (r"config/", "settings"),
    (r"boost/asio/(impl/)?(awaitable|use_awaitable|co_spawn)|boost/asio/.*awaitable|coroutine", "coroutines"),
    (r"boost/asio|boost/system|boost/", "Asio"),
    (r"c\+\+|/bits/|libstdc\+\+", "C++ library"),
)]


def place_of(binary, file):
    for pattern, name in PLACES:
        found = pattern.search(file)
        if found:
            return found.expand(name)
    library = binary.rsplit("/", 1)[-1]
    return "vDSO" if not library or library == "???" else "C library" if library.startswith(("libc.", "ld-")) else library


def by_place(count):
    places = {}
    for (binary, file), costs in count.by_file.items():
        places.setdefault(place_of(binary, file), Counter()).update(costs)
    return places


def table(count, requests):
    """Returns a Markdown table of the costs per request, the most expensive first."""
    events = [event for event in EVENTS if event in count.total]
    places = sorted(by_place(count).items(), key=lambda place: -place[1]["Ir"])
    lines = ["| where | " + " | ".join(EVENTS[event] for event in events) + " | share |", "|---" * (len(events) + 2) + "|"]
    for name, costs in [*places, ("all", count.total)]:
        if costs["Ir"] >= count.total["Ir"] / 200:
            cells = [f"{costs[event] / requests:,.0f}" if event == "Ir" else f"{costs[event] / requests:,.1f}" for event in events]
            lines.append(f"| {name} | {' | '.join(cells)} | {costs['Ir'] / count.total['Ir']:.0%} |")
    return "\n".join(lines) + "\n"


def self_test():
    assert place_of("/x/reprise", "/x/proxy/http/http1/guard.cpp") == "framing guard"
    assert place_of("/x/reprise", "/x/proxy/forward/exchange/relay.cpp") == "exchange"
    assert place_of("/x/reprise", "/usr/include/boost/asio/impl/awaitable.hpp") == "coroutines"
    assert place_of("/x/reprise", "/usr/include/boost/asio/detail/scheduler.ipp") == "Asio"
    assert place_of("/lib/x86_64-linux-gnu/libc.so.6", "./malloc/malloc.c") == "C library"
