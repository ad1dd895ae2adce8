"""Arrays that are written bit by bit and need not fit into memory: ordinary `.npy` files, mapped when they are read.

with growing(path, np.int32) as append: append(some); append(more)
array = mapped(path, np.int32)                # reads from the disk what is looked at, and the system may forget it
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


def mapped(path: Path, kind: DTypeLike) -> np.ndarray:
    """A `.npy` of one dimension and this dtype, as an ordinary array over the file (np.memmap would make a new object
    of itself at every slice).

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not such an array. (NumPy parses the header as Python source, so damage there may raise almost
            any error, tokenize.TokenError among them.)
    """
    try:
        array: np.ndarray = np.asarray(npy.open_memmap(path, mode="r"))
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{path.name} is not an array of NumPy: {error}") from error
    if array.ndim != 1 or array.dtype != np.dtype(kind):
        raise ValueError(f"{path.name} is not a row of {np.dtype(kind)}: {array.dtype} {array.shape}")
    return array


def divide(starts: np.ndarray, length: int) -> bool:
    """Whether these places divide a row of this length into parts, from its first value to its last."""
    return bool(len(starts) and starts[0] == 0 and starts[-1] == length and np.all(starts[:-1] <= starts[1:]))
