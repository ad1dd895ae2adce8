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
def test_memory_that_was_given_back_is_used_again() -> None:
    """Counted in pages that the system had to hand out: 61,440 hold what is asked for, and by default it hands out all.

    It asks the C library itself: what torch and Python keep between two large tensors differs from run to run.
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
def test_an_older_glibc_gets_what_it_takes(
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


def test_programs_for_products_are_kept_for_few_shapes_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    keep_freed_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "64"
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "512")
    keep_freed_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "512"
