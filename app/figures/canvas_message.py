"""The message of the canvas: all that it draws of one translation, packed into one run of bytes.

    4 bytes, little-endian      length of the header
    header                      JSON in UTF-8: tokens, probabilities, names, shapes; see `canvas_message`
    weights                     of each kind in the order of the header, (L, H, Q, K), a byte each: round(255 w)
    masks                       of each kind in the same order, (Q, K), a byte each: 1 = may attend

A byte is precise enough for a colour or a line, but not for a number in a text: a weight differs by up to 0.002. For
the numbers that it writes, the canvas asks the server for the exact weights (test_a_written_number_is_the_tensors).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from app.figures.axes import visible
from transformer.model.attention_kinds import Kind

Form = Literal["arcs", "matrix"]
FORMS: tuple[Form, ...] = ("arcs", "matrix")

LEVELS = 255


@dataclass(frozen=True)
class Side:
    """A row of tokens. `title`: the name of their language; `code`: its code, "" if there is none."""

    title: str
    tokens: Sequence[str]
    code: str = ""


@dataclass(frozen=True)
class RunnerUp:
    """Another token that was probable at this step."""

    id: int
    text: str
    probability: float


@dataclass(frozen=True)
class Written:
    """What the decoder wrote: token t is predicted by row t, which reads the token before it.

    Attributes:
        side: the predicted tokens.
        reads: what each row reads.
        probabilities: of each predicted token.
        runners_up: of each step, the most probable other tokens, best first.
    """

    side: Side
    reads: Sequence[str]
    probabilities: Sequence[float]
    runners_up: Sequence[Sequence[RunnerUp]]


@dataclass(frozen=True)
class KindOfAttention:
    """One kind of attention, all layers and heads.

    Attributes:
        title, short: its names. color: of its arcs.
        weights, masks: (L, H, Q, K); in a mask, True = may attend.
        opening: layer and head to show first, from 0. why: why this head is shown first, in words.
        roles: what each head attends to most, in words: [L][H].
    """

    title: str
    short: str
    color: str
    weights: np.ndarray
    masks: np.ndarray
    opening: tuple[int, int]
    why: str
    roles: Sequence[Sequence[str]]


def quantised(weights: np.ndarray, levels: int = LEVELS) -> np.ndarray:
    """Weights from 0 to 1 as whole numbers from 0 to `levels`: one byte each, and two bytes for more than 255 levels.

    The error is at most 1 / (2 * levels).
    """
    return np.rint(np.clip(weights, 0.0, 1.0) * levels).astype("<u2" if levels > LEVELS else np.uint8)


def bytes_of_masks(masks: np.ndarray) -> np.ndarray:
    """Masks (L, H, Q, K) with a byte for each cell: all of them, or one (Q, K) if all heads have the same."""
    return (masks[0, 0] if (masks == masks[:1, :1]).all() else masks).astype(np.uint8)


def about_masks(masks: np.ndarray) -> dict[str, bool]:
    """What the header says of masks from `bytes_of_masks`, of one kind of attention."""
    return {"ownMasks": True} if masks.ndim > 2 else {}


def packed(header: dict[str, Any], arrays: Iterable[np.ndarray]) -> bytes:
    """The header and the arrays in one run of bytes. Its `id` is a hash of both."""
    numbers = b"".join(each.tobytes() for each in arrays)
    name = hashlib.sha256(json.dumps(header).encode() + numbers).hexdigest()[:16]
    text = json.dumps({**header, "id": name}, separators=(",", ":"), allow_nan=False).encode()
    return len(text).to_bytes(4, "little") + text + numbers


def canvas_message(
    source: Side, written: Written, kinds: Mapping[Kind, KindOfAttention], colors: Mapping[str, str]
) -> bytes:
    """The message.

    Args:
        colors: of the tokens, by "encoder" and "decoder".
    """
    masks = {name: bytes_of_masks(kind.masks) for name, kind in kinds.items()}
    header: dict[str, Any] = {
        "source": _side(source),
        "target": _side(written.side)
        | {
            "reads": [visible(token) for token in written.reads],
            "probabilities": [_finite(value) for value in written.probabilities],
            "runners": [
                [asdict(each) | {"text": visible(each.text)} for each in runners] for runners in written.runners_up
            ],
        },
        "kinds": [
            {
                "name": name,
                "title": kind.title,
                "short": kind.short,
                "color": kind.color,
                "shape": list(kind.weights.shape),
                "opening": list(kind.opening),
                "why": kind.why,
                "roles": kind.roles,
            }
            | about_masks(masks[name])
            for name, kind in kinds.items()
        ],
        "colors": dict(colors),
    }
    weights = [quantised(kind.weights) for kind in kinds.values()]
    return packed(header, [*weights, *masks.values()])


def message_id(message: bytes) -> str:
    """The `id` of a message: messages with different contents have different ids."""
    return str(header_of(message)["id"])


def header_of(message: bytes) -> dict[str, Any]:
    """The header of a message: everything except its weights and masks."""
    length = int.from_bytes(message[:4], "little")
    found: dict[str, Any] = json.loads(message[4 : 4 + length])
    return found


def _side(side: Side) -> dict[str, Any]:
    return {"title": side.title, "tokens": [visible(token) for token in side.tokens], "code": side.code}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
