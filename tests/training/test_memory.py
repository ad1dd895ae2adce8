"""Memory that is freed is used again."""

import ctypes
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from transformer.training.memory import keep_memory

ROOT = Path(__file__).parents[2]
COUNT_FAULTS = """
import resource
import torch
from transformer.training.memory import keep_memory
keep_memory()
torch.ones(4_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    torch.ones(4_000_000)  # 16 MB, 3,906 pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the switch")
def test_a_large_tensor_takes_the_memory_that_another_one_left() -> None:
    """Counted in pages that the system had to hand out; by default it is about 30,000."""
    command = [sys.executable, "-c", COUNT_FAULTS]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 10_000


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
    keep_memory()
    assert found == taken


def test_programs_for_products_are_kept_for_few_shapes_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    keep_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "64"
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "512")
    keep_memory()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "512"
