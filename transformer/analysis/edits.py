"""Edits by name: parts of the model that can be taken away while it runs.

An edit is a pure function of the tensor at a site (see `transformer.model.probe`). A name stands for the sites and what
is done there, so that an edited model can be compared, hashed and cached by the names of its edits.
"""

from collections.abc import Iterable
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.model.masks import window_mask
from transformer.model.probe import Edit

EditName = Literal["no causal mask", "no encoder positions"]


def edits_of(names: Iterable[EditName], config: ModelConfig) -> dict[str, Edit]:
    """The sites of these edits, and what is done there, for `Probe` and `EditedTransformer`."""
    known: dict[EditName, tuple[str, Edit]] = {
        "no causal mask": (
            "decoder.layers.*.self_attention.mask",
            partial(without_causal_part, window=config.attention_window),
        ),
        "no encoder positions": ("encoder.embedding.positions", torch.zeros_like),
    }
    return dict(known[name] for name in names)


def without_causal_part(mask: Tensor, window: int | None) -> Tensor:
    """The mask of decoder self-attention without its causal part; padding and window are left: (B, H, T, T).

    Each token may attend to itself unless it is padding, so the diagonal says which keys are padding. In a decoding
    step, (B, H, 1, K), there is nothing to take away: later tokens do not exist yet.
    """
    queries, keys = mask.shape[-2:]
    if queries != keys:
        return mask
    is_token = mask.diagonal(dim1=-2, dim2=-1)[..., None, :]  # (B, H, 1, T)
    within = mask.new_ones(()) if window is None else window_mask(keys, window, mask.device)  # (1, 1, T, T)
    return (is_token & within).expand_as(mask)  # (B, H, T, T)
