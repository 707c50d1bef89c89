#!/usr/bin/env python3
"""An upstream in its own process, so that the process can be stopped and continued. Prints its port. Then
prints the effects of all requests so far, each time a line arrives on standard input."""
import json
import sys

from upstream import Upstream

with Upstream() as upstream:
    print(upstream.port, flush=True)
    for _ in sys.stdin:
        with upstream.lock:
            print(json.dumps(upstream.effects), flush=True)
