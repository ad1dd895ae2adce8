"""A trace as a table: one number per row, with the names of its axes as columns, for pandas and libraries that use it.

    weights, scores, masks     site  head  query  query_token  [predicts]  key  key_token  value
    vectors of heads           site  head  position  token     [predicts]  dimension       value
    vectors of tokens          site        position  token     [predicts]  dimension       value
    logits, probabilities      site        position  token      predicts   id              value

Vectors of heads are queries, keys, values, contexts and `head_outputs`. Positions, heads, dimensions and ids count from
0. A row of the decoder *reads* its token; `predicts`, for the decoder only, is the token that it predicts. Group and
join by position, not by token: a word that occurs twice has two positions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from transformer.errors import TraceError

if TYPE_CHECKING:
    import pandas as pd

MATRICES = ("products", "scores", "mask", "masked_scores", "weights")  # of attention: queries by keys
OF_KEYS = ("key", "value")  # one row per key; the keys of cross-attention are source positions
OF_VOCABULARY = ("logits", "probabilities")


@dataclass(frozen=True)
class Tokens:
    """The tokens of one side, and for the decoder what each row predicts."""

    reads: tuple[str, ...]
    predicts: tuple[str, ...] = ()


def frame(arrays: Mapping[str, np.ndarray], source: Tokens, target: Tokens) -> "pd.DataFrame":
    """One table of several sites, one below the other.

    Args:
        arrays: by site, without the batch axis: at least one.

    Raises:
        TraceError: the sites have different axes.
    """
    import pandas as pd

    tables = [pd.DataFrame(_columns(site, array, source, target)) for site, array in arrays.items()]
    for site, table in zip(arrays, tables, strict=True):
        if list(table) != list(tables[0]):
            raise TraceError(
                f"{next(iter(arrays))} and {site} have different axes, so they do not fit into one table. Make a table "
                "of each."
            )
    return pd.concat(tables, ignore_index=True)


def _columns(site: str, array: np.ndarray, source: Tokens, target: Tokens) -> dict[str, object]:
    """The columns of one site."""
    of_attention, name = "_attention." in site, site.rpartition(".")[2]
    is_matrix = of_attention and name in MATRICES
    reads_source = site.startswith("encoder.") or (".cross_attention." in site and name in OF_KEYS)
    *head, row, last = np.indices(array.shape).reshape(array.ndim, -1)  # one index per number
    sides = [source if reads_source else target]
    if is_matrix:
        sides.append(target if site.startswith("decoder.") and ".cross_attention." not in site else source)
    if any(length > len(side.reads) for length, side in zip(array.shape[-2:], sides, strict=False)):
        raise TraceError(f"{site} has the shape {array.shape}, which does not fit the tokens of this trace.")
    columns: dict[str, object] = {"site": site}
    if head:
        columns["head"] = head[0]
    columns |= _positions("query" if is_matrix else "position", row, sides[0], is_matrix)
    if is_matrix:
        columns |= {"key": last, "key_token": np.array(sides[1].reads, dtype=object)[last]}
    else:
        columns["id" if name in OF_VOCABULARY else "dimension"] = last
    return columns | {"value": array.ravel()}


def _positions(axis: str, positions: np.ndarray, side: Tokens, is_matrix: bool) -> dict[str, object]:
    """The columns for the positions of the rows: their numbers, their tokens, and what they predict."""
    token = f"{axis}_token" if is_matrix else "token"
    columns: dict[str, object] = {axis: positions, token: np.array(side.reads, dtype=object)[positions]}
    if side.predicts:
        columns["predicts"] = np.array(side.predicts, dtype=object)[positions]
    return columns
