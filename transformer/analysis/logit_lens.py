"""The logit lens: what the decoder would predict if it ended after an earlier layer (nostalgebraist 2020).

All layers write into one residual stream x (B, T, D), which the output projection reads after the last layer. The lens
reads the stream after each layer:

    logits after layer i = Project(Norm(x_i))       Norm: the decoder's last LayerNorm in pre-norm, nothing in post-norm

Post-norm needs nothing, because each layer ends in its own LayerNorm. x_0 is the input of layer 1: embedding and
position. After the last layer the lens gives the logits of the model (Trap: leaving the last LayerNorm out, or
applying it twice, changes them. Test: test_after_the_last_layer_the_lens_shows_the_logits_themselves). Earlier layers
were not trained to be read this way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from transformer.analysis.trace import trace
from transformer.config import ModelConfig
from transformer.model import Transformer


@dataclass(frozen=True)
class Lens:
    """For each token of the output, what the model would predict after each of the N layers of the decoder.

    In each array, row 0 is for the input of layer 1, and row N for the output of the last layer.
    """

    ranks: np.ndarray  # (N + 1, T) rank of the token of the output among all V tokens; 1 = the most probable
    probabilities: np.ndarray  # (N + 1, T) probability of the token of the output
    top_ids: np.ndarray  # (N + 1, T) the most probable token
    top_probabilities: np.ndarray  # (N + 1, T)


def stream_sites(config: ModelConfig) -> tuple[str, ...]:
    """The sites of x_0 to x_N: the decoder's residual stream before the first layer and after each."""
    last = "norm_out" if config.norm == "post" else "residual_sum"
    layers = (f"decoder.layers.{i}.feed_forward.{last}" for i in range(config.decoder_layers))
    return ("decoder.embedding.output", *layers)


def project_early(model: Transformer, stream: Tensor) -> Tensor:
    """The residual stream after any layer, (..., D) -> logits (..., V)."""
    norm = model.decoder.norm
    return model.project(stream if norm is None else norm(stream))  # (..., V)


@torch.inference_mode()
def lens(model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int]) -> Lens:
    """One teacher-forced pass, read after every layer of the decoder.

    Args:
        model: in eval mode.
        source_ids: as the encoder reads them, </s> included.
        target_ids: as the decoder predicted them, `Hypothesis.ids`: T tokens.
    """
    found = trace(model, source_ids, target_ids, stream_sites(model.config))
    weight = model.output.weight
    predicted = torch.tensor(list(target_ids), device=weight.device)[:, None]  # (T, 1)
    rows: list[tuple[Tensor, ...]] = []
    for site in stream_sites(model.config):
        stream = torch.tensor(found[site], dtype=weight.dtype, device=weight.device)  # (T, D)
        logits = project_early(model, stream)  # (T, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # (T, V)
        own = logits.gather(-1, predicted)  # (T, 1)
        ranks = 1 + (logits > own).sum(dim=-1)  # (T)
        probabilities = logits.softmax(dim=-1)  # (T, V)
        best, top = probabilities.max(dim=-1)  # (T) each
        rows.append((ranks, probabilities.gather(-1, predicted).squeeze(-1), top, best))  # (T) each
    return Lens(*(torch.stack(column).cpu().numpy() for column in zip(*rows, strict=True)))
