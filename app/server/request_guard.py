"""The outermost layer of the server: which requests reach Streamlit, and what every response says to the browser.

    request -> Guard (host name, limits, headers, cookie) -> Streamlit's own routes -> app/main.py as a script

Streamlit's `server.allowedHosts` protects only its WebSocket; `Guard` applies the same rule to every request. Streamlit
limits neither the number of visitors nor that of uploads; `Guard` and `Uploads` (app/server/upload_limits.py) do.
Streamlit would ask the network for the machine's external address; `never_ask_the_network` prevents that.

Trap: three functions and one class of Streamlit are replaced here. Streamlit is pinned, and tests/app/test_serving.py
fails if a later version no longer uses them.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import cli_util, net_util, runtime
from streamlit.runtime import memory_uploaded_file_manager
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_websocket

from app.server.upload_limits import Uploads
from app.server.visitor import COOKIE, TOKEN, host_name, serves_others

MOST_VISITORS = 200  # open tabs at once
CLASS = "/class"  # the path of the pages for phones, which need no session: app/classroom
COOKIE_SECONDS = 365 * 24 * 3600

# Inline scripts are needed by BertViz, whose page is part of ours, and inline styles by Streamlit.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob: data:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",  # else the browser looks up the host of every link on the page
}

_in_allowed_hosts = starlette_websocket.is_host_allowed


class Guard:
    """ASGI middleware around Streamlit: refuses foreign host names and what exceeds the limits, and adds headers."""

    def __init__(self, app: ASGIApp):
        self.app = app
        self.visitors = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        send = _with_headers(send, request)
        refusal = self._refusal(request)
        if refusal:
            await refusal(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._visit(scope, receive, send)
        elif scope["method"] == "PUT" and "/_stcore/upload_file/" in scope["path"]:
            await self._upload(request, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, request: HTTPConnection) -> PlainTextResponse | None:
        host = request.headers.get("host", "")
        if not is_host_allowed(host):
            return PlainTextResponse(_unknown_host(host_name(host)), 403)
        if request.scope["path"].rstrip("/").endswith("/_stcore/metrics"):
            return PlainTextResponse("The metrics are not public.", 403)
        if self.visitors >= MOST_VISITORS and (request.scope["type"] == "websocket" or _asks_for_page(request)):
            return PlainTextResponse(
                f"{MOST_VISITORS} visitors are here, and this server serves no more at once. Try again later.",
                503,
                {"Retry-After": "120"},
            )
        return None

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.visitors += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.visitors -= 1

    async def _upload(self, request: HTTPConnection, receive: Receive, send: Send) -> None:
        session, file = (unquote(part) for part in request.scope["path"].split("/")[-2:])
        stated = request.headers.get("content-length", "")
        # Trap: if a request has both headers, the server reads chunks, as many as come, and not the stated length
        # (test_uploads_that_are_still_arriving_count_too).
        if "transfer-encoding" in request.headers or not (stated.isascii() and stated.isdigit()):
            await PlainTextResponse("Say how long the file is (Content-Length).", 411)(request.scope, receive, send)
            return
        uploads = _uploads()
        refusal = uploads.begin(session, file, int(stated))
        if refusal:
            await refusal(request.scope, receive, send)
            return
        try:
            await self.app(request.scope, receive, send)
        finally:
            uploads.end(session, int(stated))


def is_host_allowed(host: str | None) -> bool:
    """Whether the app answers to this Host header: `server.allowedHosts` names it, or other machines are served and it
    is an IP address. A foreign page can make its own host name resolve to this machine (DNS rebinding), but it cannot
    do so with an IP address."""
    if _in_allowed_hosts(host):
        return True
    try:
        return serves_others() and bool(ip_address(host_name(host or "")))
    except ValueError:
        return False


def never_ask_the_network() -> None:
    """When a WebSocket comes from a foreign origin, Streamlit would compare the origin with the machine's external
    address, for which it asks checkip.amazonaws.com. Without an address, it refuses such an origin at once."""
    net_util.get_external_ip = net_util.get_internal_ip = lambda: None


def install() -> None:
    """Puts our functions and `Uploads` in the place of Streamlit's own. Call it before the server begins."""
    never_ask_the_network()
    starlette_websocket.is_host_allowed = is_host_allowed
    memory_uploaded_file_manager.MemoryUploadedFileManager = Uploads  # type: ignore[misc]


@asynccontextmanager
async def announced(app: object) -> AsyncIterator[dict[str, Any] | None]:
    """A context around the run of the server. At the start it prints the address and opens a browser, as Streamlit does
    for scripts."""
    _uploads()
    shared = serves_others()
    address = server_util.get_url("localhost" if shared else st.get_option("server.address"))
    print(f"\n  Headlight runs at {address}", flush=True)
    if shared:
        names = ", ".join(st.get_option("server.allowedHosts"))
        print(
            f"  Other machines reach it at the IP address of this machine. Of host names it answers to {names} only.\n"
            "  To allow another one, start it with --server.allowedHosts NAME.",
            flush=True,
        )
    if not st.get_option("server.headless"):
        asyncio.get_running_loop().call_soon(cli_util.open_browser, address)
    yield None


def _uploads() -> Uploads:
    found = runtime.get_instance().uploaded_file_mgr
    if not isinstance(found, Uploads):
        raise RuntimeError(
            "Streamlit no longer takes its store of uploads from where app/server/request_guard.py replaces it."
        )
    return found


def _unknown_host(name: str) -> str:
    names = ", ".join(st.get_option("server.allowedHosts"))
    addresses = " and to IP addresses" if serves_others() else ""
    return (
        f'Headlight does not answer to the host name "{name}", only to {names}{addresses}.\n'
        f"If the name is right, start Headlight with --server.allowedHosts {name}\n"
    )


def _asks_for_page(request: HTTPConnection) -> bool:
    """Whether this request is for a page of the app, after which the browser opens a session."""
    if f"{request.scope['path']}/".startswith(f"{CLASS}/"):
        return False
    return request.scope.get("method") == "GET" and "text/html" in request.headers.get("accept", "")


def _with_headers(send: Send, request: HTTPConnection) -> Send:
    """Adds the headers to the response, and the visitor's cookie to a page for a browser that has none."""
    is_new = _asks_for_page(request) and not TOKEN.fullmatch(request.cookies.get(COOKIE, ""))

    async def sending(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if is_new:
                secure = "; Secure" if request.url.scheme == "https" else ""
                headers.append(
                    "Set-Cookie",
                    f"{COOKIE}={secrets.token_urlsafe(32)}; HttpOnly; SameSite=Lax; Path=/; "
                    f"Max-Age={COOKIE_SECONDS}{secure}",
                )
        await send(message)

    return sending
