"""Heads of two models matched: for each head of one, the head of the other that attends most like it.

Training gives the heads of a layer no order, and the layers little order, so heads with equal numbers do not
correspond. Both models read the same tokens. The distance of two heads is the share of its weight that a head puts on
other tokens than the other head does:

    d(A, B) = mean over queries q of 1/2 sum over keys k of |A_qk - B_qk|        0: equal, 1: no token in common

The matching is the one-to-one assignment with the smallest sum of distances, found exactly by the Hungarian method with
shortest augmenting paths, which takes n^3 steps for n heads (Kuhn 1955; Jonker and Volgenant 1987).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class HeadMatch:
    """A head of the first model and its partner, the head of the other model that is matched with it.

    Attributes:
        layer, head: counted from 0.
        partner: (layer, head), from 0; None if the other model has too few heads.
        distance: 0 to 1; 1 without a partner.
    """

    layer: int
    head: int
    partner: tuple[int, int] | None
    distance: float


def head_distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N, Q, K) and (M, Q, K) weights over the same tokens -> (N, M) distances."""
    return np.stack([np.abs(other - head).sum(axis=-1).mean(axis=-1) / 2 for head in one])  # (N, M)


def match_heads(one: np.ndarray, other: np.ndarray) -> list[HeadMatch]:
    """A match for each head of the first model, in order.

    Args:
        one, other: (L, H, Q, K) and (L', H', Q, K), weights over the same tokens.
    """
    distances = head_distances(one.reshape(-1, *one.shape[2:]), other.reshape(-1, *other.shape[2:]))  # (N, M)
    found = []
    for place, partner in enumerate(assignment(distances)):
        layer, head = divmod(place, one.shape[1])
        if partner is None:
            found.append(HeadMatch(layer, head, None, 1.0))
        else:
            distance = float(distances[place, partner])
            found.append(HeadMatch(layer, head, divmod(partner, other.shape[1]), distance))
    return found


def assignment(costs: np.ndarray) -> list[int | None]:
    """The column of each row such that no column is taken twice and the sum of costs (N, M) is smallest.

    If there are more rows than columns, some rows have None. The dual variables are `row_potential` and
    `column_potential`: cost - row_potential - column_potential is never below 0, and it is 0 for each assigned pair,
    which proves that the sum is smallest.
    """
    rows, columns = costs.shape
    if rows > columns:
        by_column = assignment(costs.T)
        return [by_column.index(row) if row in by_column else None for row in range(rows)]
    row_potential, column_potential = np.zeros(rows), np.zeros(columns + 1)
    taken = np.full(columns + 1, -1)  # the row that has each column; the new row starts in an extra last column
    for new in range(rows):
        taken[-1], at = new, columns
        shortest = np.full(columns, np.inf)  # length of the shortest path to each column, from the new row
        before = np.full(columns, columns)  # the column before it on that path
        visited = np.zeros(columns + 1, dtype=bool)
        while taken[at] >= 0:
            visited[at] = True
            free = ~visited[:-1]
            reduced = costs[taken[at]] - row_potential[taken[at]] - column_potential[:-1]
            nearer = free & (reduced < shortest)
            shortest[nearer], before[nearer] = reduced[nearer], at
            following = int(np.where(free, shortest, np.inf).argmin())
            step = shortest[following]
            row_potential[taken[visited]] += step
            column_potential[visited] -= step
            shortest[free] -= step
            at = following
        while at != columns:  # every row on the path takes the next column of the path
            taken[at], at = taken[before[at]], int(before[at])
    found: list[int | None] = [None] * rows
    for column, row in enumerate(taken[:-1].tolist()):
        if row >= 0:
            found[row] = column
    return found
