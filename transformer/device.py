"""Where to compute."""

import torch

from transformer.errors import DeviceError


def choose_device(name: str) -> torch.device:
    """`auto` takes the first available one of CUDA, MPS and CPU.

    Raises:
        DeviceError: this machine does not have the device.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, there in available.items() if there))
    kind, colon, index = name.partition(":")
    count = torch.cuda.device_count() if kind == "cuda" else 1
    if not available.get(kind) or (colon and not (index.isdecimal() and int(index) < count)):
        there = ", ".join(kind for kind, there in available.items() if there)
        raise DeviceError(f"This machine has no device {name!r}. It has: {there}. Choose with --device.")
    return torch.device(name)


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the hardware itself multiplies bfloat16. Where that is emulated, float32 is faster."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type == "cpu":
        has = torch.cpu.get_capabilities()
        return any(bool(has.get(name)) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return False
