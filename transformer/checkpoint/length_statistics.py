"""The lengths of training sentences in tokens, stored in the metrics of a checkpoint.

A corpus has a few lines as long as `data.max_length`. So the 99.9th percentile, not the maximum, says which lengths a
model has learnt.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

QUANTILE = 0.999
SIDES = ("source", "target")
MEAN, COMMON, MOST = "pieces_mean", "pieces_of_999_in_1000", "pieces_most"


def lengths_of(sources: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    """Lengths of all training pairs, (N) each -> `source_pieces_mean` and so on, for the metrics of a checkpoint."""
    found: dict[str, float] = {}
    for side, lengths in zip(SIDES, (sources, targets), strict=True):
        found[f"{side}_{MEAN}"] = round(float(lengths.mean()), 1)
        place = math.ceil(QUANTILE * (len(lengths) - 1))  # in sorted lengths; np.quantile would convert them to floats
        found[f"{side}_{COMMON}"] = int(np.partition(lengths, place)[place])
        found[f"{side}_{MOST}"] = int(lengths.max())
    return found


def lengths_in(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of `metrics` that `lengths_of` wrote."""
    names = [f"{side}_{name}" for side in SIDES for name in (MEAN, COMMON, MOST)]
    return {name: metrics[name] for name in names if name in metrics}
