"""How long the sentences of a training text are, in pieces: a checkpoint carries it along in its metrics.

A corpus has a few stray lines as long as `data.max_length`. What a model has learnt to handle is the length that all
but one in 1,000 keep to.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

ALL_BUT = 0.999
SIDES = ("source", "target")
MEAN, COMMON, MOST = "pieces_mean", "pieces_of_999_in_1000", "pieces_most"


def lengths_of(sources: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    """Lengths of all training pairs, (N) each -> `source_pieces_mean` and so on, for the metrics of a checkpoint."""
    found: dict[str, float] = {}
    for side, lengths in zip(SIDES, (sources, targets), strict=True):
        found[f"{side}_{MEAN}"] = round(float(lengths.mean()), 1)
        place = math.ceil(ALL_BUT * (len(lengths) - 1))  # in their order; np.quantile would turn them into floats
        found[f"{side}_{COMMON}"] = int(np.partition(lengths, place)[place])
        found[f"{side}_{MOST}"] = int(lengths.max())
    return found


def lengths_in(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What metrics say of lengths: of the numbers that `lengths_of` gives, those that are there."""
    names = [f"{side}_{name}" for side in SIDES for name in (MEAN, COMMON, MOST)]
    return {name: metrics[name] for name in names if name in metrics}
