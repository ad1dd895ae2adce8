"""What training alone needs to go on bit for bit: weights in full precision, Adam's two moments, and where it stood.

One safetensors file, replaced whole, so that a kill at any moment leaves the state of some update, complete. There is
no state of a random generator in it: dropout of update u is seeded by (seed, u), the order of the data by (seed,
epoch), so three integers say where everything stood.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import AdamW

from transformer.errors import TrainingError
from transformer.files import replacing
from transformer.model import Transformer

_MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass
class Progress:
    """Where a run stands after `update` updates."""

    update: int = 0
    epoch: int = 0  # position in the data: the next batch is number `batch` of epoch `epoch`
    batch: int = 0
    tokens: int = 0  # target pieces learnt from so far
    seconds: float = 0.0  # spent in training, over all resumptions
    validated: int = 0  # the last update at which the run was validated
    best: float | None = None  # the best value of `best_by`
    best_update: int = 0
    without_improvement: int = 0  # validations since
    scores: dict[str, float | str] = field(default_factory=dict)  # of the last validation
    recent_loss: float = 0.0  # summed over the recent_tokens target pieces since the last line of metrics,
    recent_tokens: int = 0
    recent_seconds: float = 0.0  # which took so long
    corpus: str = ""  # fingerprint of the training text, to notice when it is no longer the same


def save_state(path: Path, model: Transformer, optimizer: AdamW, progress: Progress, recipe: dict[str, object]) -> None:
    """Writes the state, or raises TrainingError and leaves the one that was there."""
    tensors: dict[str, Tensor] = {f"weights.{name}": parameter for name, parameter in model.named_parameters()}
    for name, parameter in model.named_parameters():
        for moment in _MOMENTS:
            if parameter in optimizer.state:
                tensors[f"{moment}.{name}"] = optimizer.state[parameter][moment]
    metadata = {
        "format": "headlight-training-1",
        "progress": json.dumps(asdict(progress)),
        "recipe": json.dumps(recipe),
    }
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary, metadata)
    except (OSError, SafetensorError) as error:
        raise TrainingError(
            f"The state of the training cannot be written to {path}: {error}. Free some space or make the folder "
            "writable, then go on with --resume from the last state that was saved."
        ) from error


def read_progress(path: Path) -> tuple[Progress, dict[str, Any]]:
    """Where the run stood, and its recipe, without reading tensors.

    Raises:
        TrainingError: the file is no training state.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
        return Progress(**json.loads(metadata["progress"])), json.loads(metadata["recipe"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise TrainingError(
            f"{path} is not the state of a training run ({error}). Start again in another --run-dir."
        ) from None


def load_state(path: Path, model: Transformer, optimizer: AdamW, update: int) -> None:
    """Puts weights and moments back, to the bit.

    Raises:
        TrainingError: the file belongs to another model.
    """
    kinds = ("weights", *_MOMENTS) if update else ("weights",)  # Adam has no moments before the first update
    with safe_open(path, framework="pt") as file:
        names = set(file.keys())
        for name, parameter in model.named_parameters():
            read: dict[str, Tensor] = {}
            for kind in kinds:
                stored = file.get_tensor(f"{kind}.{name}") if f"{kind}.{name}" in names else None
                if stored is None or stored.shape != parameter.shape:
                    found = "missing" if stored is None else f"of shape {tuple(stored.shape)}"
                    raise TrainingError(
                        f"In {path}, {kind}.{name} is {found}, and the recipe's model needs {tuple(parameter.shape)}. "
                        "Resume with the recipe that the run was started with."
                    )
                # A copy of our own: what safetensors hands out is the file itself, and Adam writes into its moments.
                read[kind] = stored.to(parameter.device, copy=True)
            with torch.no_grad():
                parameter.copy_(read.pop("weights"))
            if update:
                step = torch.tensor(float(update), device=parameter.device)
                optimizer.state[parameter] = {"step": step, **read}
