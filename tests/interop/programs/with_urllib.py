"""Client with urllib. Arguments: METHOD URL [FILE]. Prints the response's body. If the status is 400 or above, prints
an error with the status instead, and exits with code 1."""
import sys
import urllib.error
import urllib.request

method, url, *file = sys.argv[1:]
body = open(file[0], "rb").read() if file else None
try:
    with urllib.request.urlopen(urllib.request.Request(url, data=body, method=method)) as response:
        sys.stdout.buffer.write(response.read())
except urllib.error.HTTPError as error:
    sys.exit(str(error))
