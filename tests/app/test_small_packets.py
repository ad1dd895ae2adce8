"""The server sends small packets at once."""

import asyncio
import socket

import pytest
from streamlit.web.server.starlette.starlette_server import _bind_socket

from app.server.small_packets import send_at_once


@pytest.mark.parametrize("called", [False, True])
def test_connections_to_the_socket_of_streamlit_send_at_once_where_that_was_asked_for(called: bool) -> None:
    """Where Streamlit does it itself, this fails, and the module can go."""

    async def sends_at_once() -> bool:
        loop = asyncio.get_running_loop()
        if called:
            send_at_once(loop)
        accepted: asyncio.Future[asyncio.BaseTransport] = loop.create_future()

        class Accepting(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                accepted.set_result(transport)

        listening = _bind_socket("127.0.0.1", 0, 1)
        async with await loop.create_server(Accepting, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            transport = await accepted
            found = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            transport.close()
            writer.close()
            return bool(found)

    assert asyncio.run(sends_at_once()) == called
