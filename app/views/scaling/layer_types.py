"""Table 1 of the paper (section 4): what a layer of each type costs, and the longest path between two words
in it."""

import math

from app.compute.layer_times import KERNEL
from app.languages import _
from app.languages.numbers import formatted

NEIGHBOURS = 4  # r of the restricted self-attention


def layer_types(n: int, d: int) -> dict[str, list[str]]:
    """One row per type of layer, with the formula of the paper and its value.

    Args:
        n: tokens of the sentence.
        d: width of the vectors.
    """
    k, r = KERNEL, NEIGHBOURS
    convolutions = max(math.ceil(math.log(n, k) - 1e-9), 1)
    return {
        _("type of layer"): [
            _("Self-attention"),
            _("Recurrent (RNN)"),
            _("Convolutional (CNN), k = {k}", k=k),
            _("Self-attention to r = {r} neighbours", r=r),
        ],
        _("operations of a layer"): [
            _value("n² · d", n * n * d),
            _value("n · d²", n * d * d),
            _value("k · n · d²", k * n * d * d),
            _value("r · n · d", r * n * d),
        ],
        _("of these, one after another"): ["1", _value("n", n), "1", "1"],
        _("longest path between two words"): [
            "1",
            _value("n", n),
            _value(r"log\_k n", convolutions),
            _value("n / r", -(-n // r)),
        ],
    }


def path_lengths(distance: int) -> dict[str, int]:
    """How many steps or layers lie between two tokens that are so many positions apart: the shortest path in each type
    of layer but self-attention, where it is 1. `dilated`: convolutions whose gaps grow, so that m layers reach
    (k^m - 1) / 2 positions in each direction.
    """
    dilated = 0
    while (KERNEL**dilated - 1) // 2 < distance:
        dilated += 1
    return {
        "recurrent": distance,
        "convolution": math.ceil(distance / (KERNEL // 2)),
        "dilated": dilated,
        "restricted": math.ceil(distance / NEIGHBOURS),
    }


def _value(formula: str, value: int) -> str:
    return f"{formula} = {formatted(value, ',')}"
