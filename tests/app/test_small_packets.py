"""The server sends small packets at once."""

import asyncio
import socket
from pathlib import Path

import pytest
from streamlit.web.server.starlette.starlette_server import _bind_socket

from app.server.small_packets import send_at_once
from tests.support.browser_driver import started_app
from tests.support.raw_client import ask

# Notes for each accepted connection whether it sends at once.
RECORDER = """
import os, socket

class Socket(socket.socket):
    def accept(self):
        connection, address = super().accept()
        with open(os.environ["RECORD"], "a") as file:
            print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0, file=file)
        return connection, address

socket.socket = Socket
"""


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


def test_a_connection_to_the_app_sends_at_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(RECORDER)
    record = tmp_path / "record"
    variables = {"PYTHONPATH": str(tmp_path), "RECORD": str(record)}
    with started_app(folder, tmp_path / "log", variables=variables) as (address, _):
        before = len(record.read_text().splitlines())  # Streamlit listens before the app asks for it
        assert ask(address, "/")[0] == 200
        assert record.read_text().splitlines()[before:] == ["True"]
