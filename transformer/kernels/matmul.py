"""Which of its two libraries torch multiplies float32 matrices with on a CPU: MKL, its default, or oneDNN.

On AMD's Zen 5 oneDNN is more than twice as fast: 440 GFLOP/s on two cores, where MKL makes 150 to 200. torch goes there
when it is told that bfloat16 is precise enough. What oneDNN makes of that is another thing on each processor: there it
computes in float32 all the same (8e-7 beside float64), while one with AMX does round to bfloat16 (3e-3). So a probe
comes first. It asks for digits, not for seconds: what it finds depends on the machine alone, and a run that is resumed
there ends in the same bits.
"""

from typing import Any

import torch

DIGITS = 1e-5  # of the largest number in a product; float32 errs by about 1e-6, bfloat16 by 1e-3
SHAPES = ((64, 256, 1024), (1024, 64, 256), (512, 512, 512))  # (n, k, m)


def use_fast_matmul() -> bool:
    """From here on oneDNN multiplies float32 matrices in this process, if that is as accurate. Whether it does."""
    library: Any = torch.backends.mkldnn  # oneDNN's name before
    if not library.is_available():
        return False
    road = library.matmul
    before, road.fp32_precision = road.fp32_precision, "bf16"
    accurate = largest_error() < DIGITS
    if not accurate:
        road.fp32_precision = before
    return accurate


def largest_error() -> float:
    """Of some products in float32, in parts of the largest number in each."""
    generator = torch.Generator().manual_seed(0)  # not torch's own, of which the first weights are drawn
    errors = []
    for n, k, m in SHAPES:
        left, right = torch.randn(n, k, generator=generator), torch.randn(k, m, generator=generator)
        exact = left.double() @ right.double()  # (n, m)
        turned = right.T.contiguous().T  # as W^T is in x W^T
        errors += [float((left @ x - exact).abs().max() / exact.abs().max()) for x in (right, turned)]
    return max(errors)
