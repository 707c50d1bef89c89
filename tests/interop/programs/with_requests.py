"""METHOD URL [FILE]: the response's body to standard output; 1 and the status where that is 400 or above."""
import sys

import requests

method, url, *file = sys.argv[1:]
response = requests.request(method, url, data=open(file[0], "rb") if file else None, timeout=100)
response.raise_for_status()
sys.stdout.buffer.write(response.content)
