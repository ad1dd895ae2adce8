"""What a process on the CPU does with memory that it no longer needs.

Nothing that is computed changes. What it gains in training has its own row in tests/benchmarks/training_tricks.py.

Tests: tests/kernels/test_malloc.py.
"""

import ctypes
import os
import sys
from contextlib import suppress


def keep_freed_memory() -> None:
    """Lets the process keep memory that it frees, for as long as it lives (glibc, so on Linux only), and not more.

    Without it each large tensor on the CPU is asked from the system and given back, in every layer of every update,
    and the system clears each page anew. On the other hand oneDNN, which multiplies bfloat16 on the CPU, keeps a
    program for each of the last 1,024 shapes it met, and batches have ever new ones, so a run would grow by gigabytes.
    As many as one update needs are enough.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")  # read when it multiplies for the first time
    trim_threshold, mmap_threshold, largest = -1, -3, 2**31 - 1  # malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
    with suppress(OSError, AttributeError):  # another C library has no such switch
        if sys.platform == "linux":
            mallopt = ctypes.CDLL("libc.so.6").mallopt  # gives 0 for a value it refuses: older ones all above 32 MiB
            # Trap: the second threshold without the first makes it worse. Test: test_an_older_glibc_gets_what_it_takes.
            if mallopt(mmap_threshold, largest) or mallopt(mmap_threshold, 32 * 2**20):
                mallopt(trim_threshold, largest)
