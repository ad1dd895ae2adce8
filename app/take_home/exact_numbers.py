"""All numbers of one head, for a canvas that has no server to ask: its weights, and how each is computed."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from app.components.canvas import Head
from transformer.model.attention_kinds import SITES

EXACT = ("weights", "products", "masked_scores", "query", "key", "value")
# Without a server these values replace those in the message to a canvas that need one
ALONE = {
    "acts": False,
    "alternatives": [],
    "canUndo": False,
    "writes": False,
    "below": 2.8,
}


def exact_numbers(arrays: Mapping[str, np.ndarray], head: Head) -> dict[str, Any]:
    """The numbers of one head from arrays by site: float32, little-endian, in base64. Masked scores are -inf."""
    site = SITES[head.kind].format(head.layer)
    found = {name: arrays[f"{site}.{name}"][head.head].astype("<f4") for name in EXACT}
    packed = {name: base64.b64encode(array.tobytes()).decode() for name, array in found.items()}
    sizes = {"width": found["query"].shape[-1], "keys": found["weights"].shape[-1]}
    return {"kind": head.kind, "layer": head.layer, "head": head.head, **sizes, **packed}
