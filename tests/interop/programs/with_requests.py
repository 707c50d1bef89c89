"""METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above."""
import sys

import requests

method, url, *file = sys.argv[1:]
answer = requests.request(method, url, data=open(file[0], "rb") if file else None, timeout=100)
answer.raise_for_status()
sys.stdout.buffer.write(answer.content)
