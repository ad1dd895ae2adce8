"""In what precision to compute: the arithmetic of a run."""

from contextlib import AbstractContextManager

import torch

from transformer.config import TrainingPrecision

FIRST_WITH_TF32 = (8, 0)  # compute capability of Ampere GPUs


def autocast(device: torch.device, precision: TrainingPrecision) -> AbstractContextManager[None]:
    """A context that computes in bfloat16 or float16, but in float32 what needs more precision. With any other value of
    `precision` it computes everything in float32.

    float16 has a smaller range than float32 and bfloat16, so it needs loss scaling (loss_scaling.py). "auto" is
    resolved when a run starts (precision.py); until then it means float32.
    """
    dtype = torch.float16 if precision == "float16" else torch.bfloat16
    return torch.autocast(device.type, dtype=dtype, enabled=precision in ("bfloat16", "float16"))


def use_tf32(device: torch.device) -> bool:
    """Multiplies float32 matrices in TF32 (the range of float32, a mantissa of 10 bits) on GPUs that have it. Returns
    whether this device has it."""
    has = device.type == "cuda" and torch.cuda.get_device_capability(device) >= FIRST_WITH_TF32
    if has:
        torch.backends.cuda.matmul.fp32_precision = "tf32"
    return has


def arithmetic_of(device: torch.device, precision: TrainingPrecision, processes: int = 1) -> str:
    """The arithmetic of a run, such as "float32 on cpu, threads: 2". The recipe and the arithmetic together determine a
    result bit for bit. The number of threads decides the order in which a sum is added up; each process draws dropout
    of its own."""
    threads = f", threads: {torch.get_num_threads()}" if device.type == "cpu" else ""
    has_tf32 = device.type == "cuda" and torch.backends.cuda.matmul.fp32_precision == "tf32"
    several = f", processes: {processes}" if processes > 1 else ""
    return f"{'TF32' if has_tf32 and precision == 'float32' else precision} on {device.type}{threads}{several}"
