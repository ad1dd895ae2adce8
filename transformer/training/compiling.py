"""torch.compile: the layers turned into a few large kernels before training begins.

Between two matrix products stand a bias, dropout, a residual sum, a LayerNorm: small operations, each of which reads
and writes the whole tensor. On a GPU, where products are fast, that is what takes the time; compiled, a few are one
pass.

Batches differ in rows and in lengths, and compiled anew for each shape training would never begin (a recompilation
storm). So one graph is made for all shapes (test_one_graph_trains_on_batches_of_all_shapes). Only training runs
compiled: validation, a hundredth of the work, would need a second graph.
"""

from typing import Any

import torch
from torch._dynamo.exc import TorchDynamoException

from transformer.errors import TrainingError
from transformer.model import Transformer


def compile_layers(model: Transformer, device: torch.device) -> None:
    """From here on `model.states` runs compiled. Names and storage of the weights stay.

    Raises:
        TrainingError: torch cannot compile on this machine.
    """
    try:
        torch.compile(torch.square)(torch.ones(8, device=device))
    except (TorchDynamoException, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise TrainingError(
            f"training.compile = true, and torch cannot compile for {device} on this machine: {reason} "
            "On a CPU it needs a C++ compiler such as g++. Install one, or set training.compile = false."
        ) from None
    compiled: Any = torch.compile(model.states, dynamic=True)
    model.states = compiled  # type: ignore[method-assign]
