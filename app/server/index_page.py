"""The HTML page that opens the app: Streamlit's index.html, with what the first picture needs.

Streamlit's page is empty. From it the browser finds out step by step what to load: the address of the server (it tries
that of the page first, which fails), then the module of each kind of element. A style sheet that came with the elements
would be later than the first of them, which would be drawn in another layout. So the page gets

    the title of the app           instead of "Streamlit"
    the style sheet                before any element is drawn
    a script (page_start.js)       the address of the server, so that no other one is tried; what the browser has stored
    the modules of the elements    that are on every page, to be loaded together with the others

(test_picture_and_links_are_in_their_places_from_the_first_frame). Addresses are relative, as those in Streamlit's page,
because a proxy may serve the app below another path.

Trap: the page of another version of Streamlit may lack what is replaced here
(test_the_page_of_streamlit_has_what_is_replaced_in_it).
"""

import re
from functools import cache
from hashlib import blake2s
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from app.server.app_path import app_path
from app.server.component_scripts import CACHED_FOR_EVER
from app.server.request_guard import CLASS
from app.server.style_sheet import style_sheet

STYLE = "page-style"
MODULES = ("BidiComponent", "TextInput", "Selectbox", "PageLink")  # of Streamlit, for elements of every page
TITLE, MAIN_SCRIPT, BODY = "<title>Streamlit</title>", '<script type="module"', '<div id="root"></div>'
START = Path(__file__).with_name("page_start.js")
NOT_FORWARDED = (b"if-none-match", b"if-modified-since", b"range", b"accept-encoding")


class IndexPage:
    """ASGI middleware that adds to Streamlit's page; other responses pass unchanged."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and _may_be_page(scope["path"]):
            # The answer has to be the whole page, not compressed, and not "not modified", which would be about
            # Streamlit's page.
            headers = [(name, value) for name, value in scope["headers"] if name.lower() not in NOT_FORWARDED]
            scope, send = {**scope, "headers": headers}, _completing(send)
        await self.app(scope, receive, send)


def _may_be_page(path: str) -> bool:
    """Whether Streamlit may answer with its page: "/" or one name without a dot, below the path of the app."""
    name = path.removeprefix(app_path()).strip("/")
    return f"/{name}" != CLASS and "/" not in name and "." not in name


def _completing(send: Send) -> Send:
    """Holds a response that is an HTML page until it is whole, and completes it if it is Streamlit's."""
    start: Message | None = None
    body = b""

    async def sending(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start":
            is_page = message["status"] == 200 and Headers(scope=message).get("content-type", "").startswith(
                "text/html"
            )
            if is_page:
                start = message
                return
        if start is None or message["type"] != "http.response.body":
            await send(message)
            return
        body += message.get("body", b"")
        if message.get("more_body"):
            return
        if BODY.encode() in body:
            body = completed(body.decode()).encode()
            headers = MutableHeaders(scope=start)
            headers["Content-Length"] = str(len(body))
            for name in ("ETag", "Last-Modified"):  # they are those of Streamlit's file
                del headers[name]
        await send(start)
        await send({"type": "http.response.body", "body": body})

    return sending


def completed(page: str) -> str:
    """Streamlit's page with our additions."""
    modules = "".join(
        f'<link rel="modulepreload" crossorigin href="./static/js/{file}">\n    ' for file in module_files()
    )
    style = f'<link rel="stylesheet" href="./{style_file()}">\n    '
    page = page.replace(TITLE, "<title>Headlight</title>")
    start = f"<script>\n{START.read_text(encoding='utf-8')}</script>\n    "
    page = page.replace(MAIN_SCRIPT, f"{start}{modules}{MAIN_SCRIPT}")
    # In the body: a rule of ours is then after those of Streamlit, and so it counts where both are as specific.
    return page.replace(BODY, f"{style}{BODY}")


@cache
def module_files() -> list[str]:
    """The files of `MODULES` and of what they import, as far as Streamlit's page does not name them."""
    folder = Path(file_util.get_static_dir()) / "static" / "js"
    named = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    wanted = [path.name for name in MODULES for path in sorted(folder.glob(f"{name}.*.js"))]
    found = list[str]()
    while wanted:
        file = wanted.pop(0)
        if file not in found and file not in named and (folder / file).is_file():
            found.append(file)
            wanted += re.findall(r'\bfrom\s*[`"\']\./([\w.-]+\.js)', (folder / file).read_text(encoding="utf-8"))
    return found


@cache
def style_file() -> str:
    """The address of the style sheet. It has a hash of the content, so browsers may keep the file."""
    return f"{STYLE}.{blake2s(style_sheet().encode(), digest_size=8).hexdigest()}.css"


def routes() -> list[BaseRoute]:
    """The route of the style sheet, below the path of the app."""
    return [Route(f"{app_path()}/{STYLE}.{{hash}}.css", _style)]


async def _style(request: Request) -> Response:
    if request.url.path.rpartition("/")[2] != style_file():
        return PlainTextResponse("There is no such style sheet.", 404)
    return Response(style_sheet(), headers=CACHED_FOR_EVER, media_type="text/css")
