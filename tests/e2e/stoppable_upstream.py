#!/usr/bin/env python3
"""An upstream in a process of its own, to be stopped and continued. Prints its port, then its effects for each line it reads."""
import json
import sys

from upstream import Upstream

with Upstream() as upstream:
    print(upstream.port, flush=True)
    for _ in sys.stdin:
        with upstream.lock:
            print(json.dumps(upstream.effects), flush=True)
