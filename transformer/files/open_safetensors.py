"""Opens .safetensors files, also while a training run replaces them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

TRIES = 10  # a run replaces a file at most a few times per second


@contextmanager
def open_safetensors(path: Path) -> Iterator[Any]:
    """Yields the open file; its tensors are on the CPU.

    Trap: safetensors opens a file twice, first for the header and then, through torch, for the tensors. If a run
    replaces the file in between, the two do not fit together, or torch raises a RuntimeError. The file that is there
    then is opened instead (test_a_file_that_is_replaced_while_it_is_opened_is_opened_again).

    Raises:
        OSError: the file cannot be read.
        SafetensorError: it is not a .safetensors file, or is damaged.
    """
    with _opened(path) as file:
        yield file


def _opened(path: Path) -> Any:
    problem = "it is replaced again and again"
    for _try in range(TRIES):
        before = _identity(path)
        try:
            file = safe_open(path, framework="pt")
        except RuntimeError as error:
            problem = str(error)
            continue
        if _identity(path) == before:
            return file
    raise SafetensorError(problem)


def _identity(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
