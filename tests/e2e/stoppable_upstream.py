#!/usr/bin/env python3
"""An upstream in its own process that can be stopped and continued. Prints its port, then its effects for each line
that it reads."""
import json
import sys

from upstream import Upstream

with Upstream() as upstream:
    print(upstream.port, flush=True)
    for _ in sys.stdin:
        with upstream.lock:
            print(json.dumps(upstream.effects), flush=True)
