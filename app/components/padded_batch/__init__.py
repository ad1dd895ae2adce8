"""Two sentences in one padded batch: their tokens, one head's attention for the shorter sentence with the padding mask
and without it, and what becomes of the translation of that sentence."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.components.cell_grid import Axis
from app.components.numbered import listening, received
from app.components.registration import component
from app.figures.theme import HATCH, HATCH_GROUND, leak_scale, weight_scale

_component = component("padded_batch")


@dataclass(frozen=True)
class Line:
    """A sentence of the batch: its name, its tokens with padding, and how many of them are not padding."""

    name: str
    tokens: Sequence[str]
    real: int


@dataclass(frozen=True)
class Head:
    """One head: `layer` of `layers` and `head` of `heads`, both from 0. `kind` is the name of its attention, `color`
    the colour of that attention."""

    kind: str
    color: str
    layer: int
    head: int
    layers: int
    heads: int


@dataclass(frozen=True)
class Weights:
    """The weights of the head with the padding mask and without it.

    Attributes:
        real: how many columns are not padding.
        is_off: whether the second matrix is without the mask; otherwise both have it.
        matrices: for each matrix a title and its numbers; rows are queries, columns are keys.
    """

    rows: Axis
    columns: Axis
    real: int
    is_off: bool
    matrices: Sequence[tuple[str, Sequence[Sequence[float]]]]


@dataclass(frozen=True)
class Result:
    """A translation: `label` says how it was computed, `note` is below it, `changed` is whether it differs from the
    first result."""

    label: str
    text: str
    note: str
    changed: bool = False


def padded_batch(
    lines: Sequence[Line],
    head: Head,
    weights: Weights,
    results: Sequence[Result],
    *,
    key: str,
    language: str,
    on_choose: Callable[[str, int], None],
) -> None:
    """Draws the batch. `on_choose` is called with "layer" or "head" and the chosen number, from 0."""
    data: dict[str, Any] = {
        "lines": [asdict(line) for line in lines],
        **asdict(head),
        "rows": asdict(weights.rows),
        "columns": asdict(weights.columns),
        "weights": [{"title": title, "values": values} for title, values in weights.matrices],
        "results": [asdict(result) for result in results],
        "real": weights.real,
        "isOff": weights.is_off,
        "lang": language,
        "scale": weight_scale(),
        "leak": leak_scale(),
        "colors": {
            "hatch": HATCH,
            "hatch-ground": HATCH_GROUND,
            "leak": leak_scale()[-1][1],
            "leaked": leak_scale()[1][1],
            "hue": head.color,
        },
        "received": received(key),
    }
    counts = {"layer": head.layers, "head": head.heads}
    _component(data=data, key=key, on_chosen_change=listening(key, counts, on_choose))
