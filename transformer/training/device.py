"""Where to compute, and in what precision."""

from contextlib import AbstractContextManager

import torch

from transformer.config import TrainingPrecision
from transformer.errors import TrainingError

FIRST_WITH_TF32 = (8, 0)  # compute capability of Ampere GPUs


def choose_device(name: str) -> torch.device:
    """`auto` takes the first available one of CUDA, MPS and CPU.

    Raises:
        TrainingError: this machine does not have the device.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, there in available.items() if there))
    kind, colon, index = name.partition(":")
    count = torch.cuda.device_count() if kind == "cuda" else 1
    if not available.get(kind) or (colon and not (index.isdecimal() and int(index) < count)):
        there = ", ".join(kind for kind, there in available.items() if there)
        raise TrainingError(f"This machine has no device {name!r}. It has: {there}. Choose with --device.")
    return torch.device(name)


def device_of_rank(name: str, local_rank: int) -> torch.device:
    """As `choose_device`, for distributed training. Process `local_rank` of a machine, counted from 0, uses the CUDA
    device with this number, which becomes the current device. On a CPU all processes use the same CPU.

    Raises:
        TrainingError: there are fewer devices than processes, or the device does not support several processes.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = choose_device(name)
    if device.type == "mps":
        raise TrainingError("Several processes can train together on cuda and cpu, not on mps. Choose with --device.")
    if device.type == "cpu":
        return device
    if device.index is not None:
        raise TrainingError(f"Each process has a CUDA device of its own, not {name!r}. Choose with --device cuda.")
    if local_rank >= torch.cuda.device_count():
        raise TrainingError(
            f"This machine has {torch.cuda.device_count()} CUDA devices, but torchrun started at least "
            f"{local_rank + 1} processes. Run torchrun with --nproc-per-node {torch.cuda.device_count()}."
        )
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)


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


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the hardware itself multiplies bfloat16. Where that is emulated, float32 is faster."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type == "cpu":
        has = torch.cpu.get_capabilities()
        return any(bool(has.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return False
