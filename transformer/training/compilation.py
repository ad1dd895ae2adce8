"""torch.compile: the layers are compiled to a few large kernels before training starts.

Between two matrix products there are a bias, dropout, a residual sum, a LayerNorm: small operations, each of which
reads and writes the whole tensor. On a GPU, where products are fast, these operations take most of the time;
compilation makes one pass of several operations. So layers are compiled on CUDA devices unless the recipe says
otherwise. On a CPU, where products take most of the time, compiled training was slower.

Batches differ in rows and in lengths. With one graph per shape, torch would compile again and again (a recompilation
storm), and the usual remedy is to pad batches to a few shapes. Here one graph is made with symbolic sizes
(test_one_graph_trains_on_batches_of_all_shapes): no padding is added, and the batches are those of an uncompiled run,
so a run may be resumed with or without compilation.

Trap: torch assumes that sizes which are equal in the first batch are equal in all batches, and that a size of 1 is a
constant. A batch for which this is not true would need another graph, in the middle of the run. So each size is marked
as a variable of its own, and a batch of one row is computed with this row twice
(test_a_first_batch_of_any_shape_needs_no_other_graph).

Only training is compiled: validation, one hundredth of the work, would need another graph.
"""

import logging
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from transformer.errors import TrainingError
from transformer.model import NULL_PROBE, BaseProbe, Transformer

log = logging.getLogger(__name__)


def compile_decoder_output(model: Transformer, device: torch.device, asked: Literal["auto", True, False]) -> None:
    """Compiles `model.decoder_output` if `asked` says so. Names and storage of the weights stay the same.

    Args:
        asked: "auto" compiles on a CUDA device; if torch cannot compile, a warning is logged and nothing changes.

    Raises:
        TrainingError: `asked` is True, and torch cannot compile on this machine.
    """
    if not asked or (asked == "auto" and device.type != "cuda"):
        return
    try:
        torch.compile(torch.square)(torch.ones(8, device=device))
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        if asked == "auto":
            log.warning("Training is not compiled, and slower: torch cannot compile for %s here: %s", device, reason)
            return
        raise TrainingError(
            f"training.compile = true, and torch cannot compile for {device} on this machine: {reason} "
            "On a CPU it needs a C++ compiler such as g++. Install one, or set training.compile = false."
        ) from None
    compiled: Any = torch.compile(model.decoder_output, dynamic=True)
    model.decoder_output = partial(_decoder_output, compiled)  # type: ignore[method-assign]


def _decoder_output(compiled: Any, source: Tensor, target: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
    """`Transformer.decoder_output`, compiled: (B, S) and (B, T) -> (B, T, D)."""
    rows = len(source)
    if rows == 1:
        source, target = source.repeat(2, 1), target.repeat(2, 1)  # (2, S), (2, T)
    for ids in (source, target):
        torch._dynamo.mark_dynamic(ids, (0, 1))
    output: Tensor = compiled(source, target, probe)
    return output[:rows]  # (B, T, D)
