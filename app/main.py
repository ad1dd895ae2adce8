"""The entry of the app. Start it with `streamlit run app/main.py`.

Two callers execute this file. The server imports it once to get `app`; the limits and headers of the server are in
app/server/request_guard.py. Streamlit runs it as a script at each visit and after each action of a visitor. The script
draws the common top of all pages (menu of pages, sentence, checkpoint, translation) and the page below it.

Streamlit keeps a widget as long as each run draws it in the same place. The common top is drawn here and not by the
pages, so its widgets stay, with what is typed in them, while the pages change
(test_the_sentence_box_is_never_removed_while_pages_change).
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:  # `streamlit run` knows only the folder of this file
    sys.path.insert(0, str(HERE.parent))


def draw() -> None:
    """Draws the page that the address names, in its language."""
    from app.languages import language, speaking
    from app.state import address

    # The icon is a file of ours: Streamlit would fetch a Material icon from the network
    # (every browser test checks that no request leaves the machine: tests/browser/conftest.py).
    st.set_page_config(page_icon=str(HERE / "favicon.png"), layout="wide")
    address.read_language()
    # A page writes thousands of numbers in this language. It is looked up once here, because each look-up in the
    # session takes 0.01 ms.
    with speaking(language()):
        draw_page()


def draw_page() -> None:
    """Draws the page in the language of this thread."""
    from app import components
    from app.languages import _
    from app.pages import FIRST, PAGES, info, page_named
    from app.server import streamlit_fixes
    from app.stage import first_visit
    from app.stage.lecture import lecture, presenter
    from app.state import address, late_reports
    from app.state.choices import FRAMED
    from app.state.lecture_choices import LESSON, PRESENTER
    from app.views.translate import first_picture

    if not st.get_option("server.enableStaticServing"):  # pages load the drawing library from app/static
        st.error(
            _(
                "Headlight was started without its settings, so it cannot draw. They are in "
                "app/.streamlit/config.toml. Start it with: streamlit run app/main.py"
            )
        )
        st.stop()
    # The first page has the address "/"; without this alias, Streamlit would say that "/translate" does not exist.
    alias = st.Page(lambda: None, title=_("Translate"), url_path=FIRST, visibility="hidden")
    opened = st.navigation([*(page_named(page.name) for page in PAGES), alias], position="hidden")
    if opened.url_path == FIRST:
        st.switch_page(page_named(FIRST), query_params=st.query_params.to_dict())
    page = info(opened.url_path or FIRST)
    st.set_page_config(page_title=f"{_(page.question)} Headlight")
    components.document_language(key="document_language")

    streamlit_fixes.install()
    lecture.arrive(page)
    if PRESENTER.value:
        presenter.draw()
        return
    if not FRAMED.value:
        lecture.draw(page)
    if not first_visit.is_over():
        first_visit.draw(page, first_picture.draw)

    from app.compute import memory  # these import torch
    from app.stage import frame, top
    from app.stage.lecture import figure

    memory.visited()
    scene = top.draw_top(page)
    if scene or not page.needs_scene:
        top.draw_page(page, scene, figure.what_draws(page))
    else:
        frame.page_body(page, None, lambda: None)
    if LESSON.value:
        from app.stage.lecture import class_question, next_scene

        class_question.draw(scene)
        next_scene.prepare_next()
    late_reports.mark_drawn()
    address.write()


def prepare() -> None:
    """Imports the modules that draw the first picture, and pandas, with which Streamlit sends components; but not
    torch. It runs as soon as the server answers: a visitor who comes 1.5 s later waits 0.4 s instead of 1.6 s."""
    from app.server import index_page

    index_page.style_file()
    index_page.module_files()
    for name in ("pandas", "app.stage.first_visit", "app.views.translate.first_picture"):
        import_module(name)


if __name__ == "__main__":
    draw()
else:
    from threading import Thread

    from starlette.middleware import Middleware

    from app.classroom import class_routes
    from app.server import component_scripts, index_page, request_guard, small_packets

    @asynccontextmanager
    async def lifespan(server: object) -> AsyncIterator[dict[str, Any] | None]:
        async with request_guard.announced(server) as state:
            loop = asyncio.get_running_loop()
            small_packets.send_at_once(loop)
            class_routes.end_with_the_server(loop)
            Thread(target=prepare, name="imports of the first visit", daemon=True).start()
            yield state

    request_guard.install()
    routes = [*class_routes.routes(), *component_scripts.routes(), *index_page.routes()]
    middleware = [Middleware(request_guard.Guard), Middleware(index_page.IndexPage)]
    app = st.App(HERE / "main.py", routes=routes, middleware=middleware, lifespan=lifespan)
