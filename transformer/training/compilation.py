"""torch.compile: the layers turned into a few large kernels before training begins.

Between two matrix products stand a bias, dropout, a residual sum, a LayerNorm: small operations, each of which reads
and writes the whole tensor. On a GPU, where products are fast, that is what takes the time; compiled, a few are one
pass. So it is done on CUDA devices unless the recipe says otherwise. On a CPU, where products take the time, training
was slower with it.

Batches differ in rows and in lengths, and compiled anew for each shape training would never begin (a recompilation
storm). The usual way out is a short list of shapes, to which batches are padded. Here one graph is made, with symbols
for sizes (test_one_graph_trains_on_batches_of_all_shapes): nothing is padded for it, and the batches are those of an
uncompiled run, so that a run may go on with or without. Trap: torch takes a size of 1 for a constant, so batches of one
row have a graph of their own (test_a_batch_of_one_row_costs_one_more_graph_and_no_more).

Only training runs compiled: validation, a hundredth of the work, would need a second graph.
"""

import logging
from typing import Any, Literal

import torch
from torch._dynamo.exc import TorchDynamoException

from transformer.errors import TrainingError
from transformer.model import Transformer

log = logging.getLogger(__name__)


def compile_layers(model: Transformer, device: torch.device, asked: Literal["auto", True, False]) -> None:
    """From here on `model.states` runs compiled, if it is asked for. Names and storage of the weights stay.

    Args:
        asked: "auto" compiles on a CUDA device. Where that cannot be, a line in the log says so, and nothing changes.

    Raises:
        TrainingError: it is asked for outright, and torch cannot compile on this machine.
    """
    if not asked or (asked == "auto" and device.type != "cuda"):
        return
    try:
        torch.compile(torch.square)(torch.ones(8, device=device))
    except (TorchDynamoException, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        if asked == "auto":
            log.warning("Training is not compiled, and slower: torch cannot compile for %s here: %s", device, reason)
            return
        raise TrainingError(
            f"training.compile = true, and torch cannot compile for {device} on this machine: {reason} "
            "On a CPU it needs a C++ compiler such as g++. Install one, or set training.compile = false."
        ) from None
    compiled: Any = torch.compile(model.states, dynamic=True)
    model.states = compiled  # type: ignore[method-assign]
