"""Phones of a class that are no browsers, and a server for them."""

import gzip
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette

from app.classroom.class_routes import routes
from app.classroom.class_state import Classes
from tests.support.patience import PATIENCE
from tests.support.raw_client import connection_to


@contextmanager
def served(classes: Classes) -> Iterator[str]:
    """The address of a server that has the routes of these classes and nothing else."""
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes(classes)), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(PATIENCE)


class Phone:
    """A follower. Each asks over a connection of its own.

    Attributes:
        host: the name by which it asks; "" for that of the address.
    """

    def __init__(self, address: str, code: str, host: str = ""):
        self.code = code
        self.host = host
        self.token = ""
        self.told: dict[str, Any] = {"version": 0}
        self._connection = connection_to(address)

    def close(self) -> None:
        self._connection.close()

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """Status, body and headers of the response."""
        given = {"X-Follower": self.token, "Accept-Encoding": "gzip", "Content-Type": "application/json"}
        given |= {"Host": self.host} if self.host else {}
        for last in (False, True):
            try:
                self._connection.request(method, f"/class/{self.code}{_below(path)}", body, given | (headers or {}))
                response = self._connection.getresponse()
                break
            except ConnectionError:  # it was idle for seconds; a browser connects again, too
                self._connection.close()
                if last:
                    raise
        content = response.read()
        if response.headers["Content-Encoding"] == "gzip":
            content = gzip.decompress(content)
        return response.status, content, response.headers

    def post(self, path: str, **told: object) -> tuple[int, bytes]:
        return self.ask("POST", path, json.dumps(told).encode())[:2]

    def join(self) -> int:
        """Joins the class; the status of the response."""
        status, content = self.post("join")
        self.token = json.loads(content).get("follower", "")
        return status

    def news(self) -> dict[str, Any]:
        """Waits until the class sees something else."""
        while True:
            status, content, _ = self.ask("GET", f"news?after={self.told['version']}")
            assert status in (200, 204), content
            if status == 200:
                self.told = json.loads(content)
                return self.told

    def picture(self) -> bytes:
        """The message of the canvas that the class sees."""
        status, content, _ = self.ask("GET", f"picture/{self.told['picture']}")
        assert status == 200, content
        return content


def _below(path: str) -> str:
    """A path below that of the class; a query is of the class itself."""
    return path if path[:1] in ("", "?") else f"/{path}"
