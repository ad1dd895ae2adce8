"""The routes of a class beside Streamlit's: a page for phones, and what it asks for.

    GET  /class, /class/CODE            the page, the same for all; without a code it asks for one
    GET  /class/files/LANGUAGE/NAME     scripts and styles: those of the app's components
    POST /class/CODE/join               -> {follower}
    GET  /class/CODE/news?after=5       -> what the class sees, once its version is not 5; 204 if it stays 5
    GET  /class/CODE/picture/ID         -> message of the canvas
    POST /class/CODE/answer             {question, answer}
    POST /class/CODE/sentence           {text} -> message of the canvas

A phone says who it is by the header `X-Follower`. Its page is in the language of the class, which the news contain;
until the first news, it is in the language of its address (`?lang=de`) or of its browser.

Phones get news by long polling, not as server-sent events. Each response is complete, so no proxy and no compression
delays it. A refusal has a status, which EventSource in a browser does not report. A phone that was asleep asks again by
itself. Each phone sends one small request in ten seconds.
"""

import asyncio
import gzip
import json
import signal
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, wraps
from hashlib import blake2s
from pathlib import Path
from string import Template
from types import FrameType
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from app.classroom import own_sentence
from app.classroom.class_limits import MOST_BYTES, ClassError, Unfit
from app.classroom.class_state import CLASSES, Classes
from app.languages import LANGUAGES, Language, _, speaking
from app.languages.catalogues import ENGLISH
from app.languages.spoken import KEY

HOLD = 10.0  # seconds after which a request for news is answered with 204 if there are none
PAGE = Path(__file__).parent.parent / "components" / "class_page" / "class_page.html"
PHONE = ".kinds button { font-size: .875rem; padding-inline: .1rem; }"  # the buttons fit in a row with any phone's font
KEEP = {"Cache-Control": "no-cache"}  # the browser keeps the file, and asks whether it has changed

Handler = Callable[[Request], Awaitable[Response]]


def routes(classes: Classes = CLASSES) -> list[BaseRoute]:
    """The routes for these classes."""

    def follower(request: Request) -> tuple[str, str]:
        return request.path_params["code"], request.headers.get("x-follower", "")

    async def join(request: Request) -> Response:
        address = request.client.host if request.client else ""
        return JSONResponse({"follower": classes.join(request.path_params["code"], address)})

    async def news(request: Request) -> Response:
        code, token = follower(request)
        version, content = classes.news(code, token)
        if request.query_params.get("after") == str(version):
            await _woken(classes, code, token, version)
            before, (version, content) = version, classes.news(code, token)
            if version == before:
                return Response(status_code=204)
        return Response(content, media_type="application/json")

    async def picture(request: Request) -> Response:
        found = classes.picture(*follower(request), request.path_params["picture"])
        return _bytes(request, found, "application/octet-stream", {"Cache-Control": "private, max-age=600"})

    async def answer(request: Request) -> Response:
        body = await _body(request)
        question, chosen = body.get("question"), body.get("answer")
        if not isinstance(question, str) or type(chosen) is not int:
            raise Unfit(_("Send a question and the number of an answer."))
        classes.answer(*follower(request), question, chosen)
        return Response(status_code=204)

    async def sentence(request: Request) -> Response:
        text = (await _body(request)).get("text")
        if not isinstance(text, str):
            raise Unfit(_("Send a text."))
        with classes.translating(*follower(request)) as scene:
            found = await own_sentence.translated(scene, text)
        return _bytes(request, found, "application/octet-stream", {"Cache-Control": "no-store"})

    return [
        Route("/class", _page),
        Route("/class/files/{spoken}/{name}", _file),
        Route("/class/{code}", _page),
        Route("/class/{code}/join", _refusing(join), methods=["POST"]),
        Route("/class/{code}/news", _refusing(news)),
        Route("/class/{code}/picture/{picture}", _refusing(picture)),
        Route("/class/{code}/answer", _refusing(answer), methods=["POST"]),
        Route("/class/{code}/sentence", _refusing(sentence), methods=["POST"]),
    ]


def end_with_the_server(loop: asyncio.AbstractEventLoop, classes: Classes = CLASSES) -> None:
    """Ends all classes when the server, which runs in this loop, gets a signal to stop. That answers the waiting
    requests of phones, so the server need not wait for them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        stop = signal.getsignal(number)
        if callable(stop):

            def stopping(number: int, frame: FrameType | None, stop: Callable[..., Any] = stop) -> None:
                loop.call_soon_threadsafe(classes.close_all)
                stop(number, frame)

            signal.signal(number, stopping)


def _refusing(handler: Handler) -> Handler:
    """The handler, changed so that a refusal is a response: {message}, in the language of the phone's page."""

    @wraps(handler)
    async def answered(request: Request) -> Response:
        with speaking(_language(request)):
            try:
                return await handler(request)
            except ClassError as refusal:
                return JSONResponse({"message": str(refusal)}, refusal.status, {"Cache-Control": "no-store"})

    return answered


async def _woken(classes: Classes, code: str, token: str, version: int) -> None:
    """Returns when the class sees something else, or after `HOLD` seconds."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(news.set)

    if classes.wait(code, token, version, wake):
        try:
            await asyncio.wait_for(news.wait(), HOLD)
        except TimeoutError:
            classes.wait_no_more(code, wake)


async def _body(request: Request) -> dict[str, Any]:
    """The body of a phone's request: a JSON object of at most `MOST_BYTES` bytes. Other content types are refused: a
    page of another origin may send JSON only if CORS allows it, but it may send plain text or a form anyway."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Unfit(_("Send JSON."))
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise Unfit(_("At most {most:,} bytes, please.", most=MOST_BYTES))
        found = json.loads(body)
    except (ValueError, RecursionError, ClientDisconnect):
        raise Unfit(_("Send JSON.")) from None
    if not isinstance(found, dict):
        raise Unfit(_("Send a JSON object."))
    return found


# ----- files -----


def _language(request: Request) -> Language:
    """The language of a phone's page: from its address, else the first one of ours that its browser asks for."""
    asked = request.headers.get("accept-language", "").lower().split(",")
    wanted = [request.query_params.get(KEY, ""), *(each.partition(";")[0].partition("-")[0].strip() for each in asked)]
    return next((spoken for each in wanted for spoken in LANGUAGES if each == spoken), ENGLISH)


async def _page(request: Request) -> Response:
    found = _files(_language(request))["page"]
    return _bytes(request, found, "text/html; charset=utf-8", KEEP, "Accept-Encoding, Accept-Language")


async def _file(request: Request) -> Response:
    name, wanted = request.path_params["name"], request.path_params["spoken"]
    spoken = next((each for each in LANGUAGES if each == wanted), None)
    if spoken is None or name == "page" or name not in _files(spoken):
        return Response("There is no such file.", 404)
    kind = "text/javascript" if name.endswith(".js") else "text/css"
    return _bytes(request, _files(spoken)[name], f"{kind}; charset=utf-8", KEEP)


@cache
def _files(spoken: Language) -> Mapping[str, bytes]:
    """The files in a language, packed by gzip, by name."""
    # Imported for the first phone, not when the server starts.
    from app.components.bundles import bundle, style_bundle

    with speaking(spoken):
        words = {"language": spoken, "title": _("Class. Headlight"), "no_script": _("This page needs JavaScript.")}
    texts = {
        "page": Template(PAGE.read_text(encoding="utf-8")).substitute(words),
        "class_page.js": bundle("class_page", spoken),
        "class_page.css": PAGE.with_suffix(".css").read_text(encoding="utf-8"),
        "canvas.js": bundle("canvas", spoken),
        "canvas.css": style_bundle("canvas") + PHONE,
    }
    return {name: own_sentence.packed(text.encode()) for name, text in texts.items()}


def _bytes(
    request: Request, found: bytes, kind: str, headers: Mapping[str, str], varies: str = "Accept-Encoding"
) -> Response:
    """A response with the packed bytes, unpacked for a client that does not accept gzip; 304 if the client has them."""
    tag = f'"{blake2s(found, digest_size=12).hexdigest()}"'
    headers = {**headers, "ETag": tag, "Vary": varies}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found, headers=headers | {"Content-Encoding": "gzip"}, media_type=kind)
    return Response(gzip.decompress(found), headers=headers, media_type=kind)
