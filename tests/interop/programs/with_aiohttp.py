"""METHOD URL [FILE]: the response's body to standard output; 1 and the status where that is 400 or above. For ws:// the echo of a word."""
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
