"""Sends what the app has written at once, also if it is less than a packet (TCP_NODELAY).

Streamlit creates the server's socket without naming its protocol, so asyncio does not know that it is TCP and leaves
Nagle's algorithm on. The second part of each response then waits until the browser has confirmed the first part, which
takes 40 ms on Linux. A visitor with an empty cache waited 0.3 s longer for the first picture.
"""

import asyncio
import socket
from typing import Any


def send_at_once(loop: asyncio.AbstractEventLoop) -> None:
    """Call it before the server, which runs in this loop, accepts connections: these inherit the option."""
    create: Any = loop.create_server

    async def create_server(*arguments: Any, sock: socket.socket | None = None, **options: Any) -> asyncio.Server:
        if sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server: asyncio.Server = await create(*arguments, sock=sock, **options)
        return server

    loop.create_server = create_server  # type: ignore[method-assign]
