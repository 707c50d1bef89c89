"""METHOD URL [FILE]: the response's body to standard output; 1 and the status where that is 400 or above."""
import sys

import httpx

method, url, *file = sys.argv[1:]
response = httpx.request(method, url, content=open(file[0], "rb").read() if file else None, timeout=100)
response.raise_for_status()
sys.stdout.buffer.write(response.content)
