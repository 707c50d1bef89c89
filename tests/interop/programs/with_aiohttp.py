"""Client with aiohttp. Arguments: METHOD URL [FILE]. Prints the response's body. If the status is 400 or above, prints
an error with the status instead, and exits with code 1. For a ws:// URL, sends a word and prints its echo."""
import asyncio
import sys

import aiohttp


async def main(method, url, *file):
    async with aiohttp.ClientSession(trust_env=True) as session:
        if url.startswith("ws"):
            async with session.ws_connect(url) as socket:
                await socket.send_str("hello")
                print(await socket.receive_str(), end="")
            return
        async with session.request(method, url, data=open(file[0], "rb").read() if file else None) as response:
            response.raise_for_status()
            sys.stdout.buffer.write(await response.read())


asyncio.run(main(*sys.argv[1:]))
