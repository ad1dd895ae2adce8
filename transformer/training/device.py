"""Where to compute, and in what precision."""

from contextlib import AbstractContextManager

import torch

from transformer.errors import TrainingError

FIRST_WITH_TF32 = (8, 0)  # compute capability: Ampere


def choose_device(name: str) -> torch.device:
    """`auto` takes the first available one of CUDA, MPS and CPU.

    Raises:
        TrainingError: this machine does not have the device.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, there in available.items() if there))
    if not available.get(name.split(":")[0], False):
        there = ", ".join(kind for kind, there in available.items() if there)
        raise TrainingError(f"This machine has no device {name!r}. It has: {there}. Choose with --device.")
    return torch.device(name)


def device_of_rank(name: str, local: int) -> torch.device:
    """As `choose_device`, for several processes: process number `local` of a machine, from 0, uses the CUDA device of
    this number alone, or shares the CPU.

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
    if local >= torch.cuda.device_count():
        raise TrainingError(
            f"This machine has {torch.cuda.device_count()} CUDA devices, and torchrun has started a process number "
            f"{local + 1} on it. Give it --nproc-per-node {torch.cuda.device_count()}."
        )
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


def autocast(device: torch.device, precision: str) -> AbstractContextManager[None]:
    """Matrix products in bfloat16 or float16 and what needs more precision in float32; or all in float32.

    bfloat16 has the range of float32; float16 has not, and needs loss scaling (loss_scaling.py). "auto" is decided when
    a run starts (precision.py), and is float32 before.
    """
    dtype = torch.float16 if precision == "float16" else torch.bfloat16
    return torch.autocast(device.type, dtype=dtype, enabled=precision in ("bfloat16", "float16"))


def use_tf32(device: torch.device) -> bool:
    """Lets a GPU that has TF32 multiply float32 matrices in it: the range of float32, and 10 bits of mantissa. Returns
    whether it has."""
    has = device.type == "cuda" and torch.cuda.get_device_capability(device) >= FIRST_WITH_TF32
    if has:
        torch.backends.cuda.matmul.fp32_precision = "tf32"
    return has


def arithmetic_of(device: torch.device, precision: str) -> str:
    """What the bits of a result depend on beside the recipe: "float32 on cpu, threads: 2". The number of threads
    decides the order in which a sum is added up."""
    threads = f", threads: {torch.get_num_threads()}" if device.type == "cpu" else ""
    has_tf32 = device.type == "cuda" and torch.backends.cuda.matmul.fp32_precision == "tf32"
    return f"{'TF32' if has_tf32 and precision == 'float32' else precision} on {device.type}{threads}"


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the hardware itself multiplies bfloat16. Where that is emulated, float32 is faster."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type == "cpu":
        has = torch.cpu.get_capabilities()
        return any(bool(has.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return False
