"""How long a layer of each type of the paper's table 1 takes on this machine, for sequences of growing length."""

import time
from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor, nn

from app.compute.cached_results import GATE

LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)  # n
KERNEL = 3  # k of the convolution
WARMUPS = 3  # passes that are not timed: the first ones also allocate memory
REPEATS = 3  # the shortest time counts: other programs only make a layer slower


@st.cache_data(max_entries=8, show_spinner=False)
def layer_times(d: int, heads: int) -> dict[str, list[float]]:
    """Seconds for one pass without gradients, by type of layer and in the order of `LENGTHS`: self-attention, recurrent
    (an LSTM) and convolutional, with random weights and vectors of width `d`."""
    attention, recurrent = nn.MultiheadAttention(d, heads), nn.LSTM(d, d)
    convolution = nn.Conv1d(d, d, KERNEL, padding="same")
    layers: dict[str, Callable[[Tensor], object]] = {  # each takes (n, d)
        "attention": lambda x: attention(x, x, x, need_weights=False),
        "recurrent": recurrent,
        "convolution": lambda x: convolution(x.T),
    }
    with torch.inference_mode(), GATE:
        return {name: [_seconds(layer, torch.randn(n, d)) for n in LENGTHS] for name, layer in layers.items()}


def _seconds(layer: Callable[[Tensor], object], vectors: Tensor) -> float:
    for _ in range(WARMUPS):
        layer(vectors)
    found = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        layer(vectors)
        found.append(time.perf_counter() - begin)
    return min(found)
