"""Asks with httpx over HTTP/2: with_httpx.py GET|POST|MANY URL [FILE], as probe.go does. Variables: PROXY, CA."""
import asyncio
import os
import sys

import httpx


async def ask(client, url, content):
    response = await client.request("POST" if content else "GET", url, content=content)
    assert (response.http_version, response.status_code) == ("HTTP/2", 200), (response.http_version, response)
    return response.content


async def main():
    what, url, *file = sys.argv[1:]
    content = open(file[0], "rb").read() if file else None  # pylint: disable=consider-using-with
    proxy = os.environ.get("PROXY")
    async with httpx.AsyncClient(http1=proxy is not None, http2=True, verify=os.environ.get("CA", True), timeout=100,
                                 proxies=f"http://{proxy}" if proxy else None) as client:
        bodies = await asyncio.gather(*(ask(client, url, content) for _ in range(100 if what == "MANY" else 1)))
    sys.stdout.buffer.write(b"".join(bodies))


asyncio.run(main())
