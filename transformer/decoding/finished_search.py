"""Analysis of a finished search: paths, finished hypotheses, other length penalties. Sampling: finished_sampling.py.

Nothing is searched again: `rescored` scores the hypotheses that were found, but a search with another penalty might
stop earlier or later, and find other hypotheses.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transformer.config import DecodingConfig
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.translation import SearchNode


def path_to(tree: Sequence[SearchNode], node: int) -> tuple[SearchNode, ...]:
    """The candidates from the first token to this node; none for <s>."""
    path = []
    at = tree[node]
    while at.parent is not None:
        path.append(at)
        at = tree[at.parent]
    return tuple(path[::-1])


def finished(tree: Sequence[SearchNode]) -> tuple[SearchNode, ...]:
    """All hypotheses that ended with </s>, best first. A beam search finds more of them than it returns."""
    return tuple(sorted((node for node in tree if node.outcome == "finished"), key=lambda node: -node.normalised))


def rescored(nodes: Sequence[SearchNode], settings: DecodingConfig, alphas: Sequence[float]) -> np.ndarray:
    """Normalised scores of hypotheses with other alphas of the penalty in `settings`: (nodes, alphas) float64."""
    variants = [replace(settings, alpha=alpha) for alpha in alphas]
    return np.array([[node.sum / length_penalty(node.step, variant) for variant in variants] for node in nodes])
