"""Arrays that are written bit by bit and need not fit into memory: ordinary `.npy` files, mapped when they are read.

with growing(path, np.int32) as append: append(some); append(more)
array = mapped(path)                          # reads from the disk what is looked at, and the system may forget it
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike


@contextmanager
def growing(path: Path, kind: DTypeLike) -> Iterator[Callable[[np.ndarray], None]]:
    """Yields `append`, for one-dimensional arrays. When the block ends well, `path` is a `.npy` of all of them."""
    dtype, length = np.dtype(kind), 0
    with path.open("wb") as file:
        begin = _header(file, dtype, 0)

        def append(values: np.ndarray) -> None:
            nonlocal length
            file.write(values.astype(dtype, copy=False).tobytes())
            length += len(values)

        yield append
        file.seek(0)
        assert _header(file, dtype, length) == begin  # NumPy leaves room for any length


def _header(file: BinaryIO, dtype: np.dtype, length: int) -> int:
    """Writes it; where the values begin."""
    npy.write_array_header_1_0(file, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)})
    return file.tell()


def mapped(path: Path) -> np.ndarray:
    """A `.npy` as an ordinary array over the file (np.memmap would make a new object of itself at every slice)."""
    array: np.ndarray = np.asarray(np.load(path, mmap_mode="r"))
    return array
