"""Client with Requests. Arguments: METHOD URL [FILE]. Prints the response's body. If the status is 400 or above, prints
an error with the status instead, and exits with code 1."""
import sys

import requests

method, url, *file = sys.argv[1:]
response = requests.request(method, url, data=open(file[0], "rb") if file else None, timeout=100)
response.raise_for_status()
sys.stdout.buffer.write(response.content)
