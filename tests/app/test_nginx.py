"""The app behind a real nginx, with the configuration that ships: pages, WebSockets, uploads, and a class of forty."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from tests.support.browser_driver import started_app
from tests.support.class_phones import Phone
from tests.support.nginx import NAME, is_installed, running_nginx
from tests.support.raw_client import Tab, ask, form, xsrf_headers

pytestmark = pytest.mark.skipif(not is_installed(), reason="nginx and openssl are not installed")

PHONES = 40
HOST = {"Host": NAME}


@contextmanager
def behind_nginx(folder: Path, at: Path, path: str = "") -> Iterator[tuple[str, str]]:
    """The addresses of nginx, http:// and https://, with the app behind it as the page on deployment starts it."""
    options = ["--server.allowedHosts", NAME, *(["--server.baseUrlPath", path[1:]] if path else [])]
    with (
        started_app(folder, at / "log", options=options) as (app, _),
        running_nginx(at, app, path) as addresses,
    ):
        yield addresses


def tab(address: str, origin: str = f"https://{NAME}") -> Tab:
    return Tab(address, host=NAME, origin=origin)


def code_of_a_class(lecturer: Tab) -> str:
    opener = lecturer.open().buttons()["Open a class"].id
    return lecturer.open(click=opener).codes()[0]


@pytest.fixture(scope="module")
def nginx(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with behind_nginx(folder, tmp_path_factory.mktemp("nginx")) as addresses:
        yield addresses


def test_pages_and_websockets_pass_and_those_of_other_names_do_not(nginx: tuple[str, str]) -> None:
    plain, address = nginx
    status, headers, _ = ask(plain, "/class/ABCDEF", HOST)
    assert (status, headers["Location"]) == (301, f"https://{NAME}/class/ABCDEF")
    status, headers, _ = ask(address, "/", HOST | {"Accept": "text/html"})
    assert (status, headers["Set-Cookie"].endswith("; Secure")) == (200, True)
    with tab(address) as visitor:
        assert not visitor.opens_start_of_training()
        visitor.open(typed="the cat sat")
    assert ask(address, "/", {"Host": "rebound.example"})[0] == 403
    with pytest.raises(InvalidStatus):
        tab(address, "https://rebound.example")


def test_forty_phones_follow_through_it_and_a_request_without_news_is_not_cut_off(nginx: tuple[str, str]) -> None:
    address = nginx[1]
    with tab(address) as lecturer, ThreadPoolExecutor(PHONES) as pool:
        code = code_of_a_class(lecturer)
        lecturer.open(typed="the cat sat")
        phones = [Phone(address, code, NAME) for _ in range(PHONES)]
        assert set(pool.map(Phone.join, phones)) == {200}
        before = [phone["picture"] for phone in pool.map(Phone.news, phones)]
        assert len(set(before)) == 1
        waiting = [pool.submit(Phone.news, phone) for phone in phones]
        time.sleep(1)
        lecturer.open(typed="the mat sat on the cat")
        assert all(each.result()["picture"] not in ("", before[0]) for each in waiting)
        assert len({phone.picture() for phone in phones}) == 1
        begin = time.monotonic()
        after = phones[0].told["version"]
        assert phones[0].ask("GET", f"news?after={after}")[0] == 204
        assert time.monotonic() - begin > 5


def test_an_upload_larger_than_a_megabyte_passes_and_one_that_is_too_large_is_refused(nginx: tuple[str, str]) -> None:
    address = nginx[1]
    headers, body = form(bytes(3_000_000))
    headers |= HOST | xsrf_headers(address, HOST)
    with tab(address) as visitor:
        path = visitor.open().upload_paths()[0]
        assert ask(address, path, headers, "PUT", body)[0] == 204
        stated = headers | {"Content-Length": "600000000"}
        assert ask(address, visitor.upload_paths()[0], stated, "PUT", b"")[0] == 413


def test_below_a_path_the_app_and_its_class_pass_too(folder: Path, tmp_path: Path) -> None:
    with behind_nginx(folder, tmp_path, "/headlight") as (_, address):
        assert ask(address, "/headlight/", HOST | {"Accept": "text/html"})[0] == 200
        assert ask(address, "/", HOST)[0] == 404
        with tab(f"{address}/headlight") as lecturer:
            phone = Phone(address, code_of_a_class(lecturer), NAME)
            assert phone.join() == 200
            assert phone.news()["version"]
