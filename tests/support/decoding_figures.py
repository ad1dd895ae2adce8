"""Small data for the figures of the Decoding page: logits of a step, a search tree, hostile text."""

import numpy as np

from app.figures.axes import TokenAxis
from transformer.decoding.translation import SearchNode

HOSTILE = "</script><img src=x onerror=alert(1)>"
LOGITS = np.array([0.5, -1.0, 2.0, 0.0, 3.0, 2.0], dtype=np.float32)


def token_of(id: int) -> str:
    """The token with this id."""
    return f"▁p{id}"


def writer(*predicts: str) -> TokenAxis:
    """The axis of a translation that predicts these tokens."""
    return TokenAxis("German", "decoder", ("<s>", *predicts[:-1]), predicts)


TREE = [
    SearchNode(0, None, 0, 1, "<s>", 0.0, 0.0, 0.0, "start", "Because."),
    SearchNode(1, 0, 1, 5, "▁a", -0.5, -0.5, -0.5, "kept", "Because."),
    SearchNode(2, 0, 1, 6, "▁b", -0.2, -0.2, -0.2, "pruned", "Because."),
    SearchNode(3, 1, 2, 3, "</s>", -1e-9, -0.5, -0.45, "finished", "Because."),
    SearchNode(4, 1, 2, 7, HOSTILE, -2.0, -2.5, -2.3, "pruned", "Because."),
]
