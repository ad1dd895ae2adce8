"""Why a cell of a mask is allowed or forbidden, as sentences (section 3.2.3).

A mask is the conjunction of parts, each with a reason of its own: a key that is padding, a key in the future, a key
outside the attention window. The sentences have tokens in them: they are text, never markup.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.figures.axes import TokenAxis
from app.languages import _, gettext_noop, ngettext
from transformer.analysis.batch_masks import Part

Parts = Mapping[Part, np.ndarray]

NAMES: dict[Part, str] = {
    "padding": gettext_noop("padding mask"),
    "causal": gettext_noop("causal mask"),
    "window": gettext_noop("attention window"),
}
# By whether the cell is allowed now
EDIT = {False: gettext_noop("forbidden by an edit"), True: gettext_noop("allowed by an edit")}


def combined_mask(parts: Parts) -> np.ndarray:
    """(Q, K), True = may attend: what all parts allow. It is the mask of the model unless an edit has changed that."""
    found: np.ndarray = np.logical_and.reduce(list(parts.values()))
    return found


def forbidden_by(parts: Parts, query: int, key: int) -> list[Part]:
    """The parts that forbid a cell; none if it is allowed."""
    return [name for name, part in parts.items() if not part[query, key]]


@dataclass(frozen=True)
class MaskReasons:
    """A mask, and the tokens and numbers that the sentences about it mention.

    Attributes:
        mask: (Q, K) of the model, True = may attend.
        parts: (Q, K) each, which say why.
        window: r of the attention window, if there is one.
        query_count: how many rows are not padding; the rows after them are. None: no row is padding.
    """

    mask: np.ndarray
    parts: Parts
    queries: TokenAxis
    keys: TokenAxis
    window: int | None = None
    query_count: int | None = None

    def of_cell(self, query: int, key: int) -> str:
        """Whether a query may attend to a key, both from 0, and why or why not."""
        row, column = row_name(self.queries, query), key_name(self.keys, key)
        forbidden = forbidden_by(self.parts, query, key)
        if self.mask[query, key]:
            sentences = [_("{row} may attend to {column}.", row=row, column=column)]
            sentences += [_("An edit allows it.")] if forbidden else self._allowed(query, key)
        else:
            sentences = [_("{row} may not attend to {column}.", row=row, column=column)]
            sentences += [self._because(part, query, key) for part in forbidden] or [_("An edit forbids it.")]
        if not self.mask[query].any():
            sentences.append(_("This row is fully masked: its weights are all 0, and so is its sum of values."))
        if self.query_count is not None and query >= self.query_count:
            sentences.append(
                _(
                    "The row is padding itself: it is computed because a batch is a rectangle, and its output is not "
                    "used."
                )
            )
        return " ".join(sentences)

    def _allowed(self, query: int, key: int) -> list[str]:
        """Why no part of the mask forbids the cell."""
        if "causal" not in self.parts:
            reasons = [
                _(
                    "It belongs to the sentence and is not padding, and the whole source is known before the encoder "
                    "begins."
                )
                if self.queries.role == "encoder"
                else _(
                    "It belongs to the sentence and is not padding, and the whole source is known before the first "
                    "token of the translation is written."
                )
            ]
        elif query == key:
            reasons = [_("It is the same position, which the decoder has just read.")]
        elif key == 0:
            reasons = [_("That is where every translation starts: it was there before the first token was written.")]
        else:
            reasons = [_("That has already been written.")]
        if "window" in self.parts and (apart := abs(query - key)):
            reasons.append(
                ngettext(
                    "It is {count:,} position away, and the attention window of this checkpoint is r = {window}.",
                    "It is {count:,} positions away, and the attention window of this checkpoint is r = {window}.",
                    apart,
                    window=self.window,
                )
            )
        return reasons

    def _because(self, part: Part, query: int, key: int) -> str:
        if part == "padding":
            return _(
                "That is padding, put there so that all sentences of the batch are equally long: there is no word."
            )
        if part == "causal":
            return _(
                "That token comes later: when row {row} is computed, token {token} has not been written yet.",
                row=query + 1,
                token=key + 1,
            )
        return _(
            "That is {apart} positions away, and the attention window of this checkpoint is r = {window}.",
            apart=abs(query - key),
            window=self.window,
        )


def row_name(queries: TokenAxis, index: int) -> str:
    """The query, at the beginning of a sentence: `Row 3 (reads "▁the", predicts "▁cat")` or `Row 3 ("▁the")`.

    Rows and keys count from 1, as q₃ and k₃ in the formulas. A row or a key is never called "position 3", because the
    `pos` of section 3.5 counts from 0.
    """
    if queries.predicts:
        return _(
            'Row {row} (reads "{read}", predicts "{predicted}")',
            row=index + 1,
            read=queries.tokens[index],
            predicted=queries.predicts[index],
        )
    return _('Row {row} ("{token}")', row=index + 1, token=queries.tokens[index])


def key_name(keys: TokenAxis, index: int) -> str:
    """The key: `key 3 ("▁the")`."""
    return _('key {key} ("{token}")', key=index + 1, token=keys.tokens[index])
