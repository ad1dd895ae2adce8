"""The page that opens the app: what is added to Streamlit's, and that it is never answered with an old one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.testclient import TestClient
from streamlit import file_util
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_handler

from app.classroom import class_routes
from app.server import index_page
from app.server.index_page import BODY, MAIN_SCRIPT, MODULES, TITLE, module_files, style_file
from app.server.style_sheet import style_sheet

STATIC = Path(file_util.get_static_dir())
PAGE = (STATIC / "index.html").read_text(encoding="utf-8")
HTML = {"Accept": "text/html,application/xhtml+xml", "Accept-Encoding": "gzip"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """Streamlit's own handler of files, compressed as it does, below our layer."""
    files = create_streamlit_static_handler(str(STATIC), "")
    routes = [*class_routes.routes(), *index_page.routes(), Mount("/", files)]
    layers = [Middleware(index_page.IndexPage), Middleware(GZipMiddleware, minimum_size=500)]
    with TestClient(Starlette(routes=routes, middleware=layers)) as found:
        yield found


def test_the_page_of_streamlit_has_what_is_replaced_in_it() -> None:
    assert [PAGE.count(part) for part in (TITLE, MAIN_SCRIPT, BODY)] == [1, 1, 1]
    for name in MODULES:
        assert len([file for file in module_files() if file.startswith(f"{name}.")]) == 1, name
    assert not [file for file in module_files() if file in PAGE]


@pytest.mark.parametrize("path", ["/", "/attention", "/no_such_page"])
def test_each_page_has_the_title_the_style_sheet_and_the_modules(path: str, client: TestClient) -> None:
    page = client.get(path, headers=HTML).text
    assert "<title>Headlight</title>" in page
    (sheet,) = re.findall(r'<link rel="stylesheet" href="\./(page-style[^"]*)">', page)
    assert page.index(sheet) < page.index(BODY)
    assert page.index("BACKEND_BASE_URL") < page.index(MAIN_SCRIPT)
    for file in module_files():
        assert client.get(f"/static/js/{file}").status_code == 200
    found = client.get(f"/{sheet}")
    assert (found.text, found.headers["content-type"]) == (style_sheet(), "text/css; charset=utf-8")
    assert "immutable" in found.headers["cache-control"]


def test_the_page_is_never_answered_with_not_modified(client: TestClient) -> None:
    """A browser would take the page of an older version, whose style sheet is no longer there."""
    plain = client.get("/index.html")  # Streamlit's own
    conditions = {"If-None-Match": plain.headers["etag"], "If-Modified-Since": plain.headers["last-modified"]}
    found = client.get("/", headers=HTML | conditions)
    assert found.status_code == 200
    assert found.headers["content-length"] == str(len(found.content))
    assert not {"etag", "last-modified"} & set(found.headers)


def test_other_pages_and_files_pass_unchanged(client: TestClient) -> None:
    phone = client.get("/class", headers=HTML)
    assert BODY not in phone.text
    assert phone.headers["content-encoding"] == "gzip"
    assert client.get("/class", headers=HTML | {"If-None-Match": phone.headers["etag"]}).status_code == 304
    favicon = client.get("/favicon.png", headers=HTML)
    assert favicon.content == (STATIC / "favicon.png").read_bytes()
    assert client.get("/favicon.png", headers=HTML | {"Range": "bytes=0-9"}).status_code == 206
    assert client.head("/", headers=HTML).status_code == 200


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/headlight/", True), ("/headlight/attention", True), ("/headlight/class", False), ("/headlight/media/a", False)],
)
def test_below_the_path_of_another_app_the_same_pages_are_completed(
    path: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_page, "app_path", lambda: "/headlight")
    assert index_page._may_be_page(path) == expected


def test_a_style_sheet_of_another_version_does_not_exist(client: TestClient) -> None:
    assert client.get("/page-style.0123456789abcdef.css").status_code == 404
    assert re.fullmatch(r"page-style\.[0-9a-f]{16}\.css", style_file())
