"""METHOD URL: the echo of a word over a WebSocket to standard output. The library knows no proxy."""
import asyncio
import sys

import websockets


async def main(url):
    async with websockets.connect(url) as socket:
        await socket.send("hello")
        print(await socket.recv(), end="")


asyncio.run(main(sys.argv[2]))
