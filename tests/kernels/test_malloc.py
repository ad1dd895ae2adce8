"""Memory that is freed is used again."""

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from transformer.kernels.malloc import keep_freed_memory

ROOT = Path(__file__).parents[2]
COUNT_FAULTS = """
import ctypes
import resource
from transformer.kernels.malloc import keep_freed_memory

def use_memory(count, size):
    blocks = [libc.malloc(size) for _ in range(count)]
    for block in blocks:
        libc.memset(block, 1, size)
    for block in blocks:
        libc.free(block)

libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
keep_freed_memory()
use_memory(8, 30 * 2**20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
use_memory(8, 30 * 2**20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the switch")
def test_freed_memory_is_used_again() -> None:
    """Counts page faults of the second of two equal allocations: it takes 61,440 pages, all of them new by default.

    The memory is from the C library directly, because what torch and Python keep differs from run to run.
    """
    command = [sys.executable, "-c", COUNT_FAULTS]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 6_000


@pytest.mark.parametrize(
    ("limit", "taken"),
    [
        (2**31 - 1, [(-3, 2**31 - 1), (-1, 2**31 - 1)]),
        (2**25, [(-3, 2**25), (-1, 2**31 - 1)]),
        (0, []),
    ],
)
def test_an_older_glibc_gets_the_largest_threshold_that_it_accepts(
    limit: int, taken: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def mallopt(option: int, value: int) -> int:
        if option == -3 and value > limit:
            return 0
        found.append((option, value))
        return 1

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=mallopt))
    keep_freed_memory()
    assert found == taken


def test_matmul_primitives_are_cached_for_few_shapes_unless_the_environment_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    keep_freed_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "64"
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "512")
    keep_freed_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "512"
