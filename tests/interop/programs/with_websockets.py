"""Client with websockets. Arguments: METHOD URL. Prints the echo of a word over a WebSocket. The library does not
support proxies."""
import asyncio
import sys

import websockets


async def main(url):
    async with websockets.connect(url) as socket:
        await socket.send("hello")
        print(await socket.recv(), end="")


asyncio.run(main(sys.argv[2]))
