"""Float32 matrix products on a CPU: torch can compute them with MKL (the default) or with oneDNN.

    x @ w                                                                                 (the definition)

On AMD's Zen 5 oneDNN is more than twice as fast for large matrices: 440 GFLOP/s on two cores, where MKL reaches 150 to
200. Measured for 4,096 rows and a matrix of 256 x 1,024: 1.3 times as fast. torch uses oneDNN if a setting allows
bfloat16 precision. What oneDNN does then depends on the processor: some still compute in float32 (error 8e-7 against
float64), those with AMX round to bfloat16 (3e-3). So the error is measured first, and it alone decides. Timing does not
matter, so a resumed run on the same machine chooses the same library and ends in the same bits.

Tests: tests/kernels/test_matmul.py.
"""

from typing import Any

import torch

LARGEST_ERROR = 1e-5  # relative to the largest number in a product; float32 errs by about 1e-6, bfloat16 by 1e-3
SHAPES = ((64, 256, 1024), (1024, 64, 256), (512, 512, 512))  # (n, k, m)


def use_fast_matmul() -> bool:
    """Lets oneDNN multiply float32 matrices in this process if it is as accurate as MKL; returns whether it does."""
    library: Any = torch.backends.mkldnn  # the former name of oneDNN
    if not library.is_available():
        return False
    setting = library.matmul
    before, setting.fp32_precision = setting.fp32_precision, "bf16"
    accurate = largest_error() < LARGEST_ERROR
    if not accurate:
        setting.fp32_precision = before
    return accurate


def largest_error() -> float:
    """The error of some products in float32, relative to the largest number in each."""
    generator = torch.Generator().manual_seed(0)  # not the global one, from which the first weights are drawn
    errors = []
    for n, k, m in SHAPES:
        left, right = torch.randn(n, k, generator=generator), torch.randn(k, m, generator=generator)
        exact = left.double() @ right.double()  # (n, m)
        transposed = right.T.contiguous().T  # stored like W^T in x W^T
        errors += [float((left @ x - exact).abs().max() / exact.abs().max()) for x in (right, transposed)]
    return max(errors)
