"""METHOD URL [FILE]: the response's body to standard output; 1 and the status where that is 400 or above."""
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
