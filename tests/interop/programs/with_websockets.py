"""Client with websockets. Arguments: METHOD URL. Sends a word over a WebSocket, and prints its echo. The library does
not support proxies."""
import asyncio
import sys

import websockets


async def main(url):
    async with websockets.connect(url) as socket:
        await socket.send("hello")
        print(await socket.recv(), end="")


asyncio.run(main(sys.argv[2]))
