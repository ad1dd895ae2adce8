"""nginx with the configuration that ships, in front of an app, on free ports and with a certificate of its own."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.free_port import free_port
from tests.support.patience import PATIENCE

CONFIGURATION = Path(__file__).parents[2] / "app" / "deployment" / "nginx.conf"
NAME = "class.example"
# As Debian's nginx.conf, but for one process, in a folder of its own.
AROUND = """
{user}
worker_processes 1;
pid nginx.pid;
error_log error.log;
events {{ worker_connections 768; }}
http {{
    access_log off;
    {temporary}
    include headlight.conf;
}}
"""


def is_installed() -> bool:
    """Whether nginx and openssl are there."""
    return bool(shutil.which("nginx") and shutil.which("openssl"))


def configuration(folder: Path, app: str, plain: int, tls: int) -> str:
    """The configuration that ships, with these ports, an app at this address, and the certificate in the folder."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    for before, after in (
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{tls} ssl;"),
        ("/etc/ssl/", f"{folder}/"),
        ("http://127.0.0.1:8501", app),
    ):
        assert before in text, before
        text = text.replace(before, after)
    return text


def below_a_path(text: str, path: str) -> str:
    """The same, for an app below a path, as the comment in the file says."""
    location = re.search(r"location / \{.*?\n( +proxy_pass .*?;)\n +\}", text, flags=re.S)
    assert location
    return text.replace(location[0], "\n".join(f"location {each} {{\n{location[1]}\n}}" for each in (path, "/class")))


@contextmanager
def running_nginx(folder: Path, app: str, path: str = "") -> Iterator[tuple[str, str]]:
    """Starts it; yields its addresses, http:// and https://."""
    plain, tls = (free_port() for _ in range(2))
    _make_certificate(folder)
    text = configuration(folder, app, plain, tls)
    (folder / "headlight.conf").write_text(below_a_path(text, path) if path else text, encoding="utf-8")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n    ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    around = AROUND.format(user="user root;" if os.geteuid() == 0 else "", temporary=temporary)
    (folder / "nginx.conf").write_text(around, encoding="utf-8")
    command = ["nginx", "-p", str(folder), "-e", "error.log", "-c", "nginx.conf", "-g", "daemon off;"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    process = subprocess.Popen(command)
    try:
        _wait(f"http://127.0.0.1:{tls}", process)
        yield f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{tls}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _make_certificate(folder: Path) -> None:
    key, certificate = folder / f"{NAME}.key", folder / f"{NAME}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)


def _wait(address: str, process: "subprocess.Popen[bytes]") -> None:
    there, until = urlsplit(address), time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection((there.hostname, there.port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("nginx did not start")
