"""Why a cell of a mask is allowed or forbidden, as sentences (section 3.2.3).

A mask is the conjunction of parts, each with a reason of its own: a key that is padding, a key in the future, a key
outside the attention window. The sentences have tokens in them: they are text, never markup.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from app.figures.axes import TokenAxis
from app.figures.theme import counted

Part = Literal["padding", "causal", "window"]
Parts = Mapping[Part, np.ndarray]

NAMES: dict[Part, str] = {"padding": "padding mask", "causal": "causal mask", "window": "attention window"}


def together(parts: Parts) -> np.ndarray:
    """(Q, K), True = may attend: what all parts allow."""
    found: np.ndarray = np.logical_and.reduce(list(parts.values()))
    return found


def forbidden_by(parts: Parts, query: int, key: int) -> list[Part]:
    """The parts that forbid a cell; none if it is allowed."""
    return [name for name, part in parts.items() if not part[query, key]]


def verdict(
    parts: Parts,
    query: int,
    key: int,
    queries: TokenAxis,
    keys: TokenAxis,
    *,
    window: int | None = None,
    real_queries: int | None = None,
) -> str:
    """Which query may attend to which key, and why or why not.

    Args:
        parts: (Q, K) each, True = may attend.
        query, key: the cell, from 0.
        window: r of the attention window.
        real_queries: rows from here on are padding themselves; None: none is.
    """
    row, column = row_name(queries, query), key_name(keys, key)
    why = forbidden_by(parts, query, key)
    if not why:
        sentences = [f"{row} may attend to {column}.", *_allowed(parts, query, key, queries, window)]
    else:
        sentences = [f"{row} may not attend to {column}."]
        sentences += [_because(part, query, key, window) for part in why]
    if not together(parts)[query].any():
        sentences.append("This row is fully masked: its weights are all 0, and so is what it takes from others.")
    if real_queries is not None and query >= real_queries:
        sentences.append(
            "The row is padding itself: it is computed because a batch is a rectangle, and its output is not used."
        )
    return " ".join(sentences)


def row_name(queries: TokenAxis, index: int) -> str:
    """Who looks, where a sentence begins: `Row 3 (reads "▁the", predicts "▁cat")` or `Row 3 ("▁the")`. Rows and keys
    count from 1, as q₃ and k₃ in the formulas; "position" is kept for the `pos` of section 3.5, which begins with 0."""
    if queries.predicts:
        return f'Row {index + 1} (reads "{queries.tokens[index]}", predicts "{queries.predicts[index]}")'
    return f'Row {index + 1} ("{queries.tokens[index]}")'


def key_name(keys: TokenAxis, index: int) -> str:
    """Who is attended to: `key 3 ("▁the")`."""
    return f'key {index + 1} ("{keys.tokens[index]}")'


def _allowed(parts: Parts, query: int, key: int, queries: TokenAxis, window: int | None) -> list[str]:
    """What each part of the mask has nothing against."""
    if "causal" not in parts:
        reader = "the encoder begins" if queries.role == "encoder" else "the first token of the translation is written"
        said = [f"It belongs to the sentence, no padding, and the whole source is known before {reader}."]
    elif query == key:
        said = ["It is the same position, which the decoder has just read."]
    elif key == 0:
        said = ["That is where every translation starts: it was there before the first token was written."]
    else:
        said = ["That has already been written."]
    if "window" in parts and (apart := abs(query - key)):
        away = f"{counted(apart, 'position')} away"
        said.append(f"It is {away}, and the attention window of this checkpoint is r = {window}.")
    return said


def _because(part: Part, query: int, key: int, window: int | None) -> str:
    if part == "padding":
        return "That is padding, put there so that all sentences of the batch are equally long: there is no word."
    if part == "causal":
        return f"That is the future: when row {query + 1} is computed, token {key + 1} has not been written yet."
    return f"That is {abs(query - key)} positions away, and the attention window of this checkpoint is r = {window}."
