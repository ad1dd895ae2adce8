"""Arrays on disk that need not fit into memory: raw values, which are appended to a file and mapped to read them.

append(file, values, np.int32)
array = mapped(path, np.int32)          # reads from the disk only what is used
"""

from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import DTypeLike


def append(file: BinaryIO, values: np.ndarray, dtype: DTypeLike) -> None:
    """Writes one-dimensional values to the end of a file."""
    file.write(values.astype(dtype, copy=False).tobytes())


def mapped(path: Path, dtype: DTypeLike) -> np.ndarray:
    """The values of a file, mapped, as an ordinary array. (Every slice of an np.memmap would create another np.memmap.)

    Raises:
        OSError: the file cannot be read.
        ValueError: its size is not a multiple of the size of a value.
    """
    if not path.stat().st_size:  # an empty file cannot be mapped
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(path, dtype, mode="r"))


def are_part_starts(starts: np.ndarray, length: int) -> bool:
    """Whether these positions divide an array of this length into parts, from its first value to its last."""
    return bool(len(starts) and starts[0] == 0 and starts[-1] == length and np.all(starts[:-1] <= starts[1:]))
