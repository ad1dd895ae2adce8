"""A small script in place of the trainer, for runs that are started in the browser."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

STUB = """
import fcntl, os, signal, sys, time
folder = sys.argv[sys.argv.index("--run-dir") + 1]
with open(folder + "/.lock", "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.truncate(0)
    print(os.getpid(), file=file, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Error: Stopped by SIGTERM after update 7."))
    open(folder + "/ready", "w").close()
    time.sleep(3600)
"""


@pytest.fixture
def stub_trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """In place of the trainer a small script that behaves like one, without the seconds that torch takes."""
    script = tmp_path / "stub.py"
    script.write_text(STUB)
    real, begun = subprocess.Popen, list[subprocess.Popen[bytes]]()

    def popen(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        assert command[:4] == [sys.executable, "-m", "transformer", "train"]
        assert options["start_new_session"]
        begun.append(real([sys.executable, str(script), *command[4:]], **options))
        return begun[-1]

    monkeypatch.setattr("app.views.training.launch_run.subprocess.Popen", popen)
    yield begun
    for process in begun:
        process.kill()
        process.wait()
