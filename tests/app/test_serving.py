"""The server and hostile clients: foreign host names, too many visitors and uploads, and what it sends."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus

from app.server.request_guard import MOST_VISITORS
from app.server.upload_limits import MOST_FILES
from tests.support.browser_driver import started_app
from tests.support.raw_client import Tab, ask, form, xsrf_headers

# Notes every connection and every look-up of a name that is not this machine's own.
RECORDER = """
import ipaddress, os, socket

def note(host):
    if isinstance(host, bytes):
        host = host.decode()
    try:
        own = host is None or host in ("", "localhost") or ipaddress.ip_address(host).is_loopback
        own = own or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        own = False
    if not own:
        with open(os.environ["RECORD"], "a") as file:
            print(host, file=file)
        raise OSError(f"{host} is not this machine")

def noting(function, host_of):
    def noted(*arguments, **options):
        note(host_of(arguments))
        return function(*arguments, **options)
    return noted

class Socket(socket.socket):
    def connect(self, address):  # of a datagram socket: nothing is sent by that
        if isinstance(address, tuple) and self.type != socket.SOCK_DGRAM:
            note(address[0])
        return super().connect(address)

    def connect_ex(self, address):
        if isinstance(address, tuple):
            note(address[0])
        return super().connect_ex(address)

    def send(self, *arguments):
        if self.type == socket.SOCK_DGRAM:
            note(self.getpeername()[0])
        return super().send(*arguments)

    def sendto(self, *arguments):
        if isinstance(arguments[-1], tuple):
            note(arguments[-1][0])
        return super().sendto(*arguments)

socket.socket = Socket
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
    setattr(socket, name, noting(getattr(socket, name), lambda arguments: arguments[0]))
"""


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app as its README starts it: for this machine only."""
    with started_app(folder, tmp_path_factory.mktemp("server") / "log") as (address, _):
        yield address


@pytest.fixture(scope="module")
def shared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and log of the app on a server for other machines."""
    log = tmp_path_factory.mktemp("shared") / "log"
    with started_app(folder, log, options=["--server.address", "0.0.0.0"]) as (address, _):
        yield address, log


def status_of_tab(address: str, host: str | None = None, origin: str | None = None) -> int:
    """101 if the server opens a WebSocket, else the status with which it refuses."""
    try:
        with Tab(address, host=host, origin=origin):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def port(address: str) -> int:
    return urlsplit(address).port or 0


# ----- foreign host names -----


@pytest.mark.parametrize("name", ["rebound.example", "127.0.0.1.evil.example", "192.168.1.5", "localhost@evil", ""])
def test_on_one_machine_a_foreign_host_name_opens_nothing(server: str, name: str) -> None:
    host = f"{name}:{port(server)}"
    for path in ("/", "/training", "/_stcore/health", "/app/static/d3.min.js", "/_stcore/upload_file/a/b"):
        assert ask(server, path, {"Host": host})[0] == 403, path
    if name == "rebound.example":
        assert status_of_tab(server, host, f"http://{host}") == 403


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_the_machine_s_own_names_open_the_app(server: str, name: str) -> None:
    host = f"{name}:{port(server)}"
    assert ask(server, "/", {"Host": host})[0] == 200
    assert status_of_tab(server, host, f"http://{host}") == 101


def test_a_refused_host_name_is_answered_with_the_option_that_allows_it(server: str) -> None:
    answer = ask(server, "/", {"Host": "class.example"})[2]
    assert 'does not answer to the host name "class.example"' in answer
    assert "--server.allowedHosts class.example" in answer


def test_a_shared_server_answers_to_addresses_and_says_how_to_allow_a_host_name(shared: tuple[str, Path]) -> None:
    """An address in the browser's address bar is that of this machine, whereas a name may lead anywhere."""
    address, log = shared
    for name in ("192.168.1.5", "[fd00::5]", "localhost"):
        host = f"{name}:{port(address)}"
        assert ask(address, "/", {"Host": host})[0] == 200
        assert status_of_tab(address, host, f"http://{host}") == 101
    assert ask(address, "/", {"Host": "rebound.example"})[0] == 403
    assert status_of_tab(address, "rebound.example", "http://rebound.example") == 403
    assert "--server.allowedHosts NAME" in log.read_text()


def test_a_foreign_page_cannot_start_a_training_even_if_every_host_name_is_allowed(
    folder: Path, tmp_path: Path
) -> None:
    with started_app(folder, tmp_path / "log", options=["--server.allowedHosts", "*"]) as (address, _):
        with Tab(address) as own:
            assert own.opens_start_of_training()
        with Tab(address, host="rebound.example", origin="http://rebound.example") as foreign:
            assert not foreign.opens_start_of_training()
            assert "Training from the browser is switched off here" in foreign.text()
        with Tab(address, headers={"X-Forwarded-For": "203.0.113.7"}) as passed_on:
            assert not passed_on.opens_start_of_training()


# ----- nothing is sent out -----


@pytest.mark.parametrize(
    "way", ["shared", *(pytest.param(way, marks=pytest.mark.soak) for way in ("own folder", "another folder"))]
)
def test_the_server_asks_nothing_of_the_network_however_it_is_started(way: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(RECORDER)
    record = tmp_path / "record"
    variables = {"PYTHONPATH": str(tmp_path), "RECORD": str(record)}
    script = "import socket; socket.create_connection(('name.example', 80))"
    subprocess.run([sys.executable, "-c", script], env=os.environ | variables, capture_output=True, check=False)
    assert record.read_text() == "name.example\n"  # the recorder works
    record.unlink()
    options = ["--server.address", "0.0.0.0"] if way == "shared" else []
    started_in = {"started_in": tmp_path} if way == "another folder" else {}
    with started_app(folder, tmp_path / "log", options=options, variables=variables, **started_in) as (address, _):
        ask(address, "/")
        assert status_of_tab(address, origin="http://evil.example") == 403
        with Tab(address, origin=address) as tab:
            assert tab.open().buttons()
    assert not record.exists(), record.read_text()


# ----- headers -----


def test_every_response_has_the_headers_that_protect_the_page(server: str) -> None:
    for path, host in (("/", "localhost"), ("/app/static/d3.min.js", "localhost"), ("/", "rebound.example")):
        headers = ask(server, path, {"Host": host})[1]
        policy = headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "img-src 'self' data: blob:" in policy
        assert "frame-ancestors 'self'" in policy
        assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_the_metrics_of_the_server_are_not_public(server: str) -> None:
    for path in ("/_stcore/metrics", "/_stcore/metrics?families=cache_memory_bytes", "/_stcore/metrics/"):
        assert ask(server, path)[0] == 403


def test_a_browser_gets_a_cookie_once_that_scripts_cannot_read(server: str) -> None:
    page = {"Accept": "text/html"}
    cookie = ask(server, "/", page)[1]["Set-Cookie"]
    value, *flags = cookie.split("; ")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(flags)
    assert ask(server, "/", page)[1]["Set-Cookie"] != cookie
    assert ask(server, "/", page | {"Cookie": value})[1]["Set-Cookie"] is None
    assert ask(server, "/", page | {"Cookie": "headlight_visitor=guess"})[1]["Set-Cookie"] is not None


def test_the_phones_of_a_class_get_the_same_protection_and_no_cookie(server: str) -> None:
    for path in ("/class", "/class/ABCDEF", "/class/files/en/canvas.js"):
        status, headers, _ = ask(server, path, {"Accept": "text/html"})
        assert (status, headers["Set-Cookie"]) == (200, None)
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert ask(server, path, {"Host": "rebound.example"})[0] == 403
    assert ask(server, "/class/ABCDEF/join", {"Content-Type": "application/json"}, "POST", b"{}")[0] == 404


# ----- limits -----


def test_visitors_above_the_limit_of_the_server_get_a_message(server: str) -> None:
    with ExitStack() as open_tabs:
        tabs = [open_tabs.enter_context(Tab(server)) for _ in range(MOST_VISITORS)]
        assert status_of_tab(server) == 503
        status, _, answer = ask(server, "/", {"Accept": "text/html"})
        assert status == 503
        assert f"{MOST_VISITORS} visitors are here" in answer
        tabs[0].close()
        assert ask(server, "/class/ABCDEF", {"Accept": "text/html"})[0] == 200  # it needs no session
        assert ask(server, "/_stcore/health")[0] == 200
        assert status_of_tab(server) == 101


def test_a_file_is_taken_only_where_a_tab_has_asked_for_it(server: str) -> None:
    headers, body = form(b"content")
    headers |= xsrf_headers(server)
    with Tab(server) as tab, Tab(server) as other:
        path = tab.open().upload_paths()[0]
        invented = path.rpartition("/")[0] + "/1f0c2b5e-7a8d-4f0e-9d54-0d2f5a6b7c8d"
        others = path.replace(tab.session, other.open().session)
        for wrong in (invented, others, path.replace(tab.session, "1f0c2b5e-7a8d-4f0e-9d54-0d2f5a6b7c8d")):
            assert ask(server, wrong, headers, "PUT", body)[0] in (400, 403), wrong
        assert ask(server, path, headers | {"Host": "rebound.example"}, "PUT", body)[0] == 403
        assert ask(server, path, headers, "PUT", body)[0] == 204
        assert ask(server, path, headers, "DELETE")[0] == 204


def test_a_tab_keeps_few_files_and_they_make_room_when_they_are_removed(server: str) -> None:
    headers, body = form(b"content")
    headers |= xsrf_headers(server)
    with Tab(server) as tab:
        paths = [path for _ in range(MOST_FILES) for path in tab.open().upload_paths(1)]
        assert [ask(server, path, headers, "PUT", body)[0] for path in paths] == [204] * MOST_FILES
        more = tab.upload_paths(MOST_FILES + 5)
        assert len(more) == MOST_FILES  # each beyond it would be refused
        status, _, answer = ask(server, more[0], headers, "PUT", body)
        assert (status, answer) == (413, "This tab has uploaded too much. Remove a file, or reload the page.")
        assert ask(server, paths[0], headers, "DELETE")[0] == 204
        assert ask(server, more[0], headers, "PUT", body)[0] == 204


def test_uploads_that_are_still_arriving_count_too(server: str) -> None:
    """By the sizes that are stated: 300 MB and again 300 MB fit into one tab, more does not; into all tabs 1,500 MB."""
    headers = form(b"")[0] | xsrf_headers(server)

    def begin(tab: Tab, size: int, **more: str) -> tuple[socket.socket, int]:
        """Sends the head of an upload and nothing of its body; the status is 100 if the server wants to read that."""
        lines = [f"PUT {tab.upload_paths()[0]} HTTP/1.1", f"Host: 127.0.0.1:{port(server)}", "Expect: 100-continue"]
        stated = {"Content-Length": str(size)} | headers | more
        lines += [f"{name}: {value}" for name, value in stated.items() if value]
        begun = stack.enter_context(socket.create_connection((urlsplit(server).hostname, port(server))))
        begun.sendall("\r\n".join([*lines, "", ""]).encode())
        return begun, int(begun.recv(100).split()[1])

    with ExitStack() as stack:
        one, two, three, four = (stack.enter_context(Tab(server)).open() for _ in range(4))
        arriving = [begin(tab, 300_000_000) for tab in (one, one, two, two)]
        assert [status for _, status in arriving] == [100] * 4
        assert begin(one, 1)[1] == begin(two, 1)[1] == 413
        assert begin(three, 299_000_000)[1] == 100
        assert begin(four, 2_000_000)[1] == 507
        arriving[0][0].close()
        assert any(
            begin(four, 2_000_000)[1] == 100 for _ in range(100)
        )  # once the server has seen that it was given up
        assert begin(four, 0, **{"Content-Length": "", "Transfer-Encoding": "chunked"})[1] == 411
        assert begin(four, 10, **{"Transfer-Encoding": "chunked"})[1] == 411  # more than 10 bytes could come
