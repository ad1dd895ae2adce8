"""The short text of an edit, as it is written in the address of a page and in messages.

    off=cross.2.6            a head off: kind, layer, head        off=cross.2.all         all heads of a layer off
    uniform=cross.2.6       a head that attends equally
    skip=decoder.3.feed_forward   a sub-layer off                 mask=causal             a part of the masks off
    noresidual=encoder.2.feed_forward   no residual connection around a sub-layer; noresidual=encoder.all.feed_forward
    window=4                self-attention to at most 4 positions on each side
    allow=decoder.2.6.3.5    query 3 may attend to key 5      forbid=cross.all.all.3.5  may not, in all layers and heads
    weights=cross.2.6.4.1-70.3-30   query 4: 0.7 on key 1, 0.3 on key 3; weights=cross.2.all.… in all heads
    positions=off            no positions in the encoder          positions=off.decoder   none in the decoder
    positions=shift.3        positions from 3 on                  positions=shuffle.7     in an order drawn with seed 7
    positions=swap.2.5       two positions swapped                temperature=cross.2.6.0.5
    patch=2.4.17-93-3        layer 2, position 4: the vector of the sentence with these ids; patch=embedding.4.…

Layers, heads and positions count from 1 here.
"""

from collections.abc import Callable
from functools import partial
from typing import get_args

from transformer.analysis.edits.attention_edits import MaskCell, WeightsSet
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.analysis.edits.mask_edits import MaskPart
from transformer.analysis.edits.model_edits import (
    AttentionWindow,
    Edit,
    HeadOff,
    HeadUniform,
    MaskOff,
    PositionsOff,
    PositionsShifted,
    PositionsShuffled,
    PositionsSwapped,
    Temperature,
    VectorPatched,
)
from transformer.analysis.edits.sublayer_edits import ResidualOff, SublayerOff
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import KINDS, Kind

MOST_CHARACTERS = 10_000  # of the text of an edit: a patch names each token of a sentence
LARGEST = 1_000_000  # number in the text of an edit


def edit_text(edit: Edit) -> str:
    """The text of an edit, from which `parse_edit` makes the edit again."""
    match edit:
        case HeadOff(kind, layer, head):
            return f"off={kind}.{layer + 1}.{_or_all(head)}"
        case HeadUniform(kind, layer, head):
            return f"uniform={kind}.{layer + 1}.{head + 1}"
        case SublayerOff(stack, layer, sublayer):
            return f"skip={stack}.{layer + 1}.{sublayer}"
        case ResidualOff(stack, layer, sublayer):
            return f"noresidual={stack}.{_or_all(layer)}.{sublayer}"
        case MaskOff(part):
            return f"mask={part}"
        case AttentionWindow(distance):
            return f"window={distance}"
        case MaskCell(kind, layer, head, query, key, allowed):
            name = "allow" if allowed else "forbid"
            return f"{name}={kind}.{_or_all(layer)}.{_or_all(head)}.{query + 1}.{key + 1}"
        case WeightsSet(kind, layer, head, query, weights):
            row = ".".join(f"{key + 1}-{weight}" for key, weight in weights)
            return f"weights={kind}.{layer + 1}.{_or_all(head)}.{query + 1}.{row}"
        case PositionsOff(stack):
            return "positions=off" if stack == "encoder" else f"positions=off.{stack}"
        case PositionsShifted(by):
            return f"positions=shift.{by}"
        case PositionsShuffled(seed):
            return f"positions=shuffle.{seed}"
        case PositionsSwapped(first, second):
            return f"positions=swap.{first + 1}.{second + 1}"
        case Temperature(kind, layer, head, value):
            return f"temperature={kind}.{layer + 1}.{head + 1}.{str(float(value)).removesuffix('.0')}"
        case VectorPatched(layer, position, source_ids):
            after = "embedding" if layer is None else layer + 1
            return f"patch={after}.{position + 1}.{'-'.join(map(str, source_ids))}"


def parse_edit(text: str) -> Edit:
    """The edit with this text.

    Raises:
        HeadlightError: no edit has this text; the message says what was expected.
    """
    if len(text) > MOST_CHARACTERS:
        raise HeadlightError(f"The edit {text[:30]!a} … is too long. Write, for example, off=cross.2.6.")
    name, _, rest = text.partition("=")
    parse = _PARSERS.get(name)
    if parse is None:
        raise HeadlightError(f"There is no edit {name[:30]!a}. Choose one of: {', '.join(_PARSERS)}.")
    try:
        return parse(rest.split("."))
    except (ValueError, IndexError):
        example = _EXAMPLES[name]
        raise HeadlightError(f"The edit {text[:60]!a} is incomplete or wrong. Write, for example, {example}.") from None


def _head(parts: list[str]) -> tuple[Kind, int, int]:
    kind, layer, head = parts
    return _one_of(kind, tuple(KINDS)), _from_one(layer), _from_one(head)  # type: ignore[return-value]


def _off(parts: list[str]) -> Edit:
    kind, layer, head = parts
    return HeadOff(_one_of(kind, tuple(KINDS)), _from_one(layer), _all_or_from_one(head))  # type: ignore[arg-type]


def _sublayer(parts: list[str]) -> Edit:
    stack, layer, sublayer = parts
    return SublayerOff(_one_of(stack, get_args(Stack)), _from_one(layer), _one_of(sublayer, get_args(Sublayer)))  # type: ignore[arg-type]


def _residual(parts: list[str]) -> Edit:
    stack, layer, sublayer = parts
    where = _one_of(stack, get_args(Stack)), _all_or_from_one(layer), _one_of(sublayer, get_args(Sublayer))
    return ResidualOff(*where)  # type: ignore[arg-type]


def _mask(parts: list[str]) -> Edit:
    (part,) = parts
    return MaskOff(_one_of(part, get_args(MaskPart)))  # type: ignore[arg-type]


def _window(parts: list[str]) -> Edit:
    (distance,) = parts
    return AttentionWindow(_whole(distance))


def _cell(parts: list[str], *, allowed: bool) -> Edit:
    kind, layer, head, query, key = parts
    where = _all_or_from_one(layer), _all_or_from_one(head), _from_one(query), _from_one(key)
    return MaskCell(_one_of(kind, tuple(KINDS)), *where, allowed)  # type: ignore[arg-type]


def _weights(parts: list[str]) -> Edit:
    kind, layer, head, query, first, *others = parts
    pairs = [each.split("-") for each in (first, *others)]
    weights = tuple((_from_one(key), _whole(weight)) for key, weight in pairs)
    where = _from_one(layer), _all_or_from_one(head), _from_one(query)
    return WeightsSet(_one_of(kind, tuple(KINDS)), *where, weights)  # type: ignore[arg-type]


def _positions(parts: list[str]) -> Edit:
    how, *numbers = parts
    if how == "off":
        (stack,) = numbers or ("encoder",)
        return PositionsOff(_one_of(stack, get_args(Stack)))  # type: ignore[arg-type]
    if how == "swap":
        first, second = numbers
        return PositionsSwapped(_from_one(first), _from_one(second))
    (number,) = numbers
    if _one_of(how, ("shift", "shuffle")) == "shift":
        return PositionsShifted(_whole(number))
    return PositionsShuffled(_whole(number))


def _temperature(parts: list[str]) -> Edit:
    kind, layer, head, *value = parts
    return Temperature(*_head([kind, layer, head]), float(".".join(value)))


def _patch(parts: list[str]) -> Edit:
    layer, position, ids = parts
    after = None if layer == "embedding" else _from_one(layer)
    return VectorPatched(after, _from_one(position), tuple(map(_whole, ids.split("-"))))


_PARSERS: dict[str, Callable[[list[str]], Edit]] = {
    "off": _off,
    "uniform": lambda parts: HeadUniform(*_head(parts)),
    "skip": _sublayer,
    "noresidual": _residual,
    "mask": _mask,
    "window": _window,
    "allow": partial(_cell, allowed=True),
    "forbid": partial(_cell, allowed=False),
    "weights": _weights,
    "positions": _positions,
    "temperature": _temperature,
    "patch": _patch,
}
_EXAMPLES = {
    "off": "off=cross.2.6 or off=cross.2.all",
    "uniform": "uniform=encoder.1.3",
    "skip": "skip=decoder.3.feed_forward",
    "noresidual": "noresidual=encoder.2.feed_forward or noresidual=encoder.all.feed_forward",
    "mask": "mask=causal, mask=padding or mask=cross",
    "window": "window=4",
    "allow": "allow=decoder.2.6.3.5 or allow=decoder.all.all.3.5",
    "forbid": "forbid=cross.2.6.3.5 or forbid=cross.all.all.3.5",
    "weights": "weights=cross.2.6.4.1-70.3-30",
    "positions": "positions=off, positions=shift.3, positions=shuffle.7 or positions=swap.2.5",
    "temperature": "temperature=cross.2.6.0.5",
    "patch": "patch=2.4.17-93-3 or patch=embedding.4.17-93-3",
}


def _one_of(value: str, allowed: tuple[str, ...]) -> str:
    return allowed[allowed.index(value)]


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= LARGEST):
        raise ValueError(text)
    return int(text)


def _from_one(text: str) -> int:
    if _whole(text) == 0:
        raise ValueError(text)
    return _whole(text) - 1


def _or_all(number: int | None) -> str:
    return "all" if number is None else str(number + 1)


def _all_or_from_one(text: str) -> int | None:
    return None if text == "all" else _from_one(text)
