"""Memory that is freed is used again."""

import subprocess
import sys

import pytest

COUNT_FAULTS = """
import resource
import torch
from transformer.training.device import keep_memory
keep_memory()
torch.ones(4_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    torch.ones(4_000_000)  # 16 MB, 3,906 pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has the switch")
def test_a_large_tensor_takes_the_memory_that_another_one_left() -> None:
    """Counted in pages that the system had to hand out; by default it is 39,000."""
    found = subprocess.run([sys.executable, "-c", COUNT_FAULTS], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 10_000
