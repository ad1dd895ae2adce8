"""Lets a process on the CPU keep the memory that it frees.

Results do not change. tests/benchmarks/training_tricks.py measures the gain in training.

Tests: tests/kernels/test_malloc.py.
"""

import ctypes
import os
import sys
from contextlib import suppress


def keep_freed_memory() -> None:
    """Lets this process keep the memory that it frees (glibc, so on Linux only), and limits the cache of oneDNN.

    Without it, each large tensor is allocated from the system and returned to it, in every layer of every update, and
    the system clears each page again. oneDNN, which multiplies bfloat16 on a CPU, caches a program for each of the last
    1,024 shapes. Nearly every batch has a new shape, so the cache would grow to gigabytes. A cache for the shapes of
    one update is enough.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")  # oneDNN reads it at its first product
    trim_threshold, mmap_threshold, largest = -1, -3, 2**31 - 1  # malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
    with suppress(OSError, AttributeError):  # another C library has no mallopt
        if sys.platform == "linux":
            mallopt = ctypes.CDLL("libc.so.6").mallopt  # 0: it refuses, as old versions do above 32 MiB
            # Trap: the mmap threshold without the trim threshold makes it slower.
            # Test: test_an_older_glibc_gets_the_largest_threshold_that_it_accepts.
            if mallopt(mmap_threshold, largest) or mallopt(mmap_threshold, 32 * 2**20):
                mallopt(trim_threshold, largest)
