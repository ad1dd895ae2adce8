"""A process that trains in the folder of a run, as far as the app can see."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLD = """
import fcntl, os, sys
with open(sys.argv[1], "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.truncate(0)
    print(os.getpid(), file=file, flush=True)
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The process, which holds the lock of the run as a trainer does. It is killed at the end."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD, folder / ".lock"], stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            yield process
        finally:
            process.kill()
