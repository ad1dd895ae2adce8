"""The four matrices of an attention with the numbers of the loaded checkpoint, as the paper writes them: x W.

torch stores the matrix of a Linear as (out, in) and multiplies by its transpose; here a matrix is (in, out), so that a
head is d_k adjacent columns of W^Q, W^K and W^V, and d_k adjacent rows of W^O (section 3.2.2).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import nn

from app.compute.subject import Subject
from transformer.config import ModelConfig
from transformer.model.attention_kinds import Kind

Matrix = Literal["query", "key", "value", "output"]


@dataclass(frozen=True)
class Projection:
    """x W + b of all heads: matrix (D, D), bias (D). Both are read-only views of the model's own numbers."""

    matrix: np.ndarray
    bias: np.ndarray


def projection(subject: Subject, site: str, name: Matrix) -> Projection:
    """One of the four matrices of this attention.

    Args:
        site: of the attention, for example `decoder.layers.0.cross_attention`.
    """
    linear = subject.translator.model.get_submodule(f"{site}.{name}")
    assert isinstance(linear, nn.Linear)
    found = [part.detach().float().cpu().numpy() for part in (linear.weight.T, linear.bias)]
    for part in found:
        part.flags.writeable = False
    return Projection(*found)


def encoder_output_site(config: ModelConfig) -> str:
    """The site of the encoder's output: the last norm of a pre-norm model, the norm of the last sub-layer otherwise."""
    last = f"encoder.layers.{config.encoder_layers - 1}.feed_forward.norm_out"
    return "encoder.norm_out" if config.norm == "pre" else last


def input_site(config: ModelConfig, kind: Kind, site: str, name: Matrix) -> str:
    """The site of the input of this matrix: (Q, D) or (K, D), and for W^O the context (H, Q, E)."""
    if name == "output":
        return f"{site}.context"
    if kind == "cross" and name != "query":  # keys and values are computed from the encoder's output
        return encoder_output_site(config)
    return f"{site}.{'norm_out' if config.norm == 'pre' else 'residual_in'}"
