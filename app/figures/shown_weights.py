"""The weights as pictures show them: unchanged, or with special tokens hidden, or per word; and the names of the rows.

Hiding `<s>` and `</s>` removes their columns and divides each row by its remaining sum, so that rows sum to 1 again.
The model did not compute these numbers, so the title of each such picture says it. A row that attended to nothing else
is empty. Row t of the decoder reads one token and predicts the next, and can be named by either.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.head_sharpness import is_control
from app.figures.tokens_to_words import Group, merged, merged_mask, spelled, words_of
from app.languages import _

Naming = Literal["both", "reads", "predicts"]
TINY = 1e-6  # a row whose remaining sum is smaller is empty: the rest is rounding


@dataclass(frozen=True)
class Options:
    """What a reader can choose: the names of the decoder's rows, special tokens hidden, words instead of tokens."""

    naming: Naming = "both"
    hide_special: bool = False
    words: bool = False


@dataclass(frozen=True)
class Shown:
    """Weights of all layers and heads as the pictures draw them.

    Attributes:
        weights: (L, H, Q', K').
        mask: (Q', K'), True = may attend.
        queries, keys: the tokens of the rows and of the columns.
        rows, columns: the positions that each row and column represents.
        hidden_keys, hidden_queries: the hidden tokens.
        hidden_share: (L, H), the mean over rows of the attention to the hidden columns.
        emptied: how many rows are empty because they may attend only to hidden tokens.
        remarks: what was changed, for titles: ("special tokens hidden, rows renormalised", "words").
    """

    weights: np.ndarray
    mask: np.ndarray
    queries: TokenAxis
    keys: TokenAxis
    rows: tuple[Group, ...]
    columns: tuple[Group, ...]
    hidden_keys: tuple[str, ...] = ()
    hidden_queries: tuple[str, ...] = ()
    hidden_share: np.ndarray | None = None
    emptied: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def suffix(self) -> str:
        """The end of a title."""
        return f" ({'; '.join(self.remarks)})" if self.remarks else ""

    def row_of(self, position: int) -> int | None:
        """The row in which this position of the model is shown; None: it is hidden."""
        return next((i for i, group in enumerate(self.rows) if position in group), None)

    def column_of(self, position: int) -> int | None:
        """The column in which this position is shown; None: it is hidden."""
        return next((i for i, group in enumerate(self.columns) if position in group), None)


def shown(
    weights: np.ndarray, mask: np.ndarray, queries: TokenAxis, keys: TokenAxis, options: Options = Options()
) -> Shown:
    """The weights (L, H, Q, K) and mask (Q, K) of one kind of attention, as they are to be drawn.

    Words need one name per row: with the naming "both", it is then the predicted token.
    """
    rows, columns = tuple((i,) for i in range(len(queries))), tuple((i,) for i in range(len(keys)))
    result = Shown(weights, mask, queries, keys, rows, columns)
    if options.hide_special:
        result = _without_special_tokens(result, options.naming)
    naming: Naming = "predicts" if options.words and options.naming == "both" else options.naming
    result = replace(result, queries=_named(result.queries, naming))
    return _by_words(result) if options.words else result


def _named(axis: TokenAxis, naming: Naming) -> TokenAxis:
    if not axis.predicts or naming == "both":
        return axis
    if naming == "predicts":
        return TokenAxis(_("{side}, as predicted", side=axis.title), axis.role, axis.predicts)
    return TokenAxis(_("{side}, as read", side=axis.title), axis.role, axis.tokens)


def _without_special_tokens(all_: Shown, naming: Naming) -> Shown:
    names = all_.queries.tokens if naming == "reads" or not all_.queries.predicts else all_.queries.predicts
    rows = [i for i, name in enumerate(names) if not is_control(name)]
    columns = [k for k, token in enumerate(all_.keys.tokens) if not is_control(token)]
    if not rows or not columns:
        return replace(all_, remarks=(_("special tokens not hidden: there is nothing else"),))
    weights = all_.weights[:, :, rows].astype(np.float64)  # (L, H, Q', K)
    left = weights[..., columns]  # (L, H, Q', K')
    rest = left.sum(axis=-1, keepdims=True)  # (L, H, Q', 1)
    kept = np.where(rest > TINY, left / np.maximum(rest, TINY), 0.0)
    mask = all_.mask[np.ix_(rows, columns)]
    return replace(
        all_,
        weights=kept.astype(all_.weights.dtype),
        mask=mask,
        queries=_chosen(all_.queries, rows),
        keys=_chosen(all_.keys, columns),
        rows=tuple((i,) for i in rows),
        columns=tuple((k,) for k in columns),
        hidden_keys=tuple(token for k, token in enumerate(all_.keys.tokens) if k not in columns),
        hidden_queries=tuple(name for i, name in enumerate(names) if i not in rows),
        hidden_share=weights.sum(axis=-1).mean(axis=-1) - rest[..., 0].mean(axis=-1),
        emptied=int((~mask.any(axis=-1)).sum()),
        remarks=(_("special tokens hidden, rows renormalised"),),
    )


def _chosen(axis: TokenAxis, positions: Sequence[int]) -> TokenAxis:
    predicts = tuple(axis.predicts[i] for i in positions) if axis.predicts else ()
    return replace(axis, tokens=tuple(axis.tokens[i] for i in positions), predicts=predicts)


def _by_words(by_tokens: Shown) -> Shown:
    rows, columns = words_of(by_tokens.queries.tokens), words_of(by_tokens.keys.tokens)
    return replace(
        by_tokens,
        weights=merged(by_tokens.weights, rows, columns),
        mask=merged_mask(by_tokens.mask, rows, columns),
        queries=_spelled(by_tokens.queries, rows),
        keys=_spelled(by_tokens.keys, columns),
        rows=tuple(tuple(p for i in group for p in by_tokens.rows[i]) for group in rows),
        columns=tuple(tuple(p for k in group for p in by_tokens.columns[k]) for group in columns),
        remarks=(*by_tokens.remarks, _("words: rows averaged, columns summed")),
    )


def _spelled(axis: TokenAxis, groups: Sequence[Group]) -> TokenAxis:
    return replace(axis, tokens=tuple(spelled([axis.tokens[i] for i in group]) for group in groups))
