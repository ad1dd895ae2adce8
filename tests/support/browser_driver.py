"""The real app as a process, and a real browser: used by browser tests, pictures and benchmarks."""

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.free_port import free_port
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def browser_path() -> str | None:
    """A Chromium or Chrome of this machine; HEADLIGHT_BROWSER may name one."""
    found = os.environ.get("HEADLIGHT_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    return found or (MAC if Path(MAC).exists() else None)


@contextmanager
def running_app(checkpoints: Path, log: Path, runs: Path | None = None) -> Iterator[str]:
    """Starts the app as a user starts it, on a free port; yields its address, and ends it. RuntimeError: see below."""
    with started_app(checkpoints, log, runs) as (address, _):
        yield address


@contextmanager
def started_app(
    checkpoints: Path,
    log: Path,
    runs: Path | None = None,
    options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    started_in: Path = ROOT,
) -> Iterator[tuple[str, int]]:
    """The same, with the number of its process.

    Args:
        runs: folder of training runs; else there are none.
        options: further options of `streamlit run`.
        variables: further environment variables.

    Raises:
        RuntimeError: it did not start; the message has its log.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", os.path.relpath(ROOT / "app" / "main.py", started_in)]
    command += ["--server.headless", "true", "--server.port", str(port), *options]
    with log.open("w") as output:
        environment = os.environ | {"HEADLIGHT_CHECKPOINTS": str(checkpoints)}
        environment["HEADLIGHT_RUNS"] = str(runs or log.parent / "runs")
        environment |= variables or {}
        process = subprocess.Popen(command, cwd=started_in, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_app(f"{address}/_stcore/health", process, log)
            yield address, process.pid
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def wait_for_app(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until the app answers. RuntimeError: it ended, or takes too long; the message has its log."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError:  # of an app for another host name, or below a path
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"The app did not start:\n{log.read_text()}")
