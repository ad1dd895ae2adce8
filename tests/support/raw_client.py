"""A client of the running app that is not a browser: it can send any headers and any clicks."""

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from tests.support.patience import PATIENCE

XSRF = "_streamlit_xsrf"


def connection_to(address: str) -> http.client.HTTPConnection:
    """A connection, by TLS for https://."""
    there = urlsplit(address)
    if there.scheme == "https":
        return http.client.HTTPSConnection(there.netloc, timeout=PATIENCE, context=unverified())
    return http.client.HTTPConnection(there.netloc, timeout=PATIENCE)


def unverified() -> ssl.SSLContext:
    """TLS that accepts the certificate that a test has made."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def ask(
    address: str, path: str, headers: Mapping[str, str] | None = None, method: str = "GET", body: bytes | None = None
) -> tuple[int, http.client.HTTPMessage, str]:
    """Status, headers and body of the response to one request. A Host among `headers` replaces the true one."""
    connection = connection_to(address)
    try:
        connection.request(method, path, body=body, headers=dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode(errors="replace")
    finally:
        connection.close()


class Tab:
    """An open WebSocket, as a tab of a browser has one. `close` or `with` ends it.

    Raises:
        websockets.exceptions.InvalidStatus: the server refused it.
    """

    def __init__(
        self, address: str, host: str | None = None, origin: str | None = None, headers: Mapping[str, str] | None = None
    ):
        there, tls = urlsplit(address), unverified() if address.startswith("https") else None
        self.messages: list[ForwardMsg] = []
        self.session = ""
        self._open = ExitStack()
        self._socket: ClientConnection = self._open.enter_context(
            connect(
                f"{'wss' if tls else 'ws'}://{host or there.netloc}{there.path}/_stcore/stream",
                sock=socket.create_connection((there.hostname, there.port)),
                ssl=tls,
                origin=origin,  # type: ignore[arg-type]
                additional_headers=dict(headers or {}),
                subprotocols=["streamlit"],  # type: ignore[list-item]
                max_size=None,
                proxy=None,
                open_timeout=PATIENCE,
            )
        )

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._open.close()

    def open(self, page: str = "", query: str = "", click: str | None = None, typed: str | None = None) -> "Tab":
        """Runs the script for a page, with a click on the button of this id, or with this text in the box for the
        sentence; waits until it has run."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        if click:
            widget = message.rerun_script.widget_states.widgets.add()
            widget.id, widget.trigger_value = click, True
        if typed is not None:
            box = next(each.text_input for each in self._elements() if each.text_input.label == "Sentence")
            widget = message.rerun_script.widget_states.widgets.add()
            widget.id, widget.string_value = box.id, typed
        self._socket.send(message.SerializeToString())
        self.messages = []
        for received in self._received():
            self.messages.append(received)
            if received.WhichOneof("type") == "new_session":
                self.session = received.new_session.initialize.session_id
            if received.WhichOneof("type") == "script_finished" and received.script_finished in (
                ForwardMsg.FINISHED_SUCCESSFULLY,
                ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
            ):
                break
        return self

    def opens_start_of_training(self) -> bool:
        """Whether the window of Training, opened by its button, has a button that starts a run."""
        window = self.open("training").buttons()["Train a model …"]
        return "Start" in self.open("training", click=window.id).buttons()

    def buttons(self) -> dict[str, Any]:
        """The buttons of the page by label: their protobufs, with `id` and `disabled`."""
        return {each.button.label: each.button for each in self._elements() if each.WhichOneof("type") == "button"}

    def text(self) -> str:
        """All plain text of the page, and what its notes say."""
        kinds = {"text": "body", "alert": "body", "markdown": "body"}
        elements = [(each, each.WhichOneof("type")) for each in self._elements()]
        return "\n".join(str(getattr(getattr(each, kind), kinds[kind])) for each, kind in elements if kind in kinds)

    def codes(self) -> list[str]:
        """What the page shows as code."""
        return [each.code.code_text for each in self._elements() if each.WhichOneof("type") == "code"]

    def upload_paths(self, count: int = 1) -> list[str]:
        """Asks where to put so many files, as the page does once they are chosen."""
        message = BackMsg()
        message.file_urls_request.request_id = "1"
        message.file_urls_request.session_id = self.session
        message.file_urls_request.file_names.extend(f"{n}.safetensors" for n in range(count))
        self._socket.send(message.SerializeToString())
        received = next(each for each in self._received() if each.WhichOneof("type") == "file_urls_response")
        return [each.upload_url for each in received.file_urls_response.file_urls]

    def _elements(self) -> list[Any]:
        deltas = [each.delta for each in self.messages if each.WhichOneof("type") == "delta"]
        return [delta.new_element for delta in deltas if delta.WhichOneof("type") == "new_element"]

    def _received(self) -> Iterator[ForwardMsg]:
        while True:
            content = self._socket.recv(timeout=PATIENCE)
            assert isinstance(content, bytes)
            message = ForwardMsg()
            message.ParseFromString(content)
            yield message


def form(content: bytes) -> tuple[dict[str, str], bytes]:
    """Headers and body of a form with one file."""
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.safetensors"\r\n\r\n' + content
    return {"Content-Type": "multipart/form-data; boundary=x"}, body + b"\r\n--x--\r\n"


def xsrf_headers(address: str, headers: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the server wants to see beside an upload. `headers` are those with which it is asked."""
    cookies = ask(address, f"{urlsplit(address).path}/_stcore/health", headers)[1].get_all("Set-Cookie") or []
    token = next(each for each in cookies if each.startswith(XSRF)).split(";")[0].partition("=")[2]
    return {"Cookie": f"{XSRF}={token}", "X-Xsrftoken": token}
