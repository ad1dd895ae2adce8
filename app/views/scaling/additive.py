"""Additive attention beside dot-product attention, on the same queries and keys (paper, section 3.2.1).

    dot product    s_ij = q_i . k_j / sqrt(d_k)
    additive       s_ij = v . tanh(W_1 q_i + W_2 k_j)        (Bahdanau, Cho, Bengio 2014)

The model has no W_1, W_2 and v, because it was not trained with additive attention. They are drawn at random with a
fixed seed, and v is scaled so that both sets of scores have the same variance: they differ in the function, not in the
sharpness. The picture does not show which of them learns better.
"""

import numpy as np

from app.languages import _

SEED = 2014


def additive_scores(query: np.ndarray, key: np.ndarray, mask: np.ndarray, variance: float) -> np.ndarray:
    """v . tanh(W_1 q + W_2 k): (Q, E), (K, E) -> (Q, K).

    Args:
        mask: (Q, K), True = may attend: the cells over which the variance is taken.
        variance: the variance that the scores get over these cells. If they are all equal there, they are not scaled.
    """
    width = query.shape[-1]
    first, second, v = weights(width)
    hidden = np.tanh((query @ first.T)[:, None] + (key @ second.T)[None])  # (Q, K, E)
    scores: np.ndarray = hidden @ v  # (Q, K)
    found = float(scores[mask].std()) if mask.any() else 0.0
    return scores * (np.sqrt(variance) / found) if found > 1e-12 else scores


def weights(width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W_1 (E, E), W_2 (E, E) and v (E), drawn at random: the matrices from N(0, 1/E), v from N(0, 1)."""
    random = np.random.default_rng((SEED, width))
    matrices = random.standard_normal((2, width, width)) / np.sqrt(width)
    return matrices[0], matrices[1], random.standard_normal(width)


def costs(queries: int, keys: int, width: int) -> dict[str, list[str] | list[int]]:
    """Operations for all scores of one head, counted by hand: one row per kind of operation, one column per function.

    What is computed once per token is not counted, in either function: W^Q and W^K; W_1 q and W_2 k.
    """
    dot, additive = _counts(queries, keys, width)
    return {
        _("operation"): [
            _("multiplications"),
            _("additions"),
            _("divisions by √d_k"),
            "tanh",
            _("numbers held at once"),
        ],
        _("dot product"): dot,
        _("additive"): additive,
    }


def _counts(queries: int, keys: int, width: int) -> tuple[list[int], list[int]]:
    q, k, e = queries, keys, width
    dot = [q * k * e, q * k * (e - 1), q * k, 0, q * k]
    add = [
        q * k * e,  # v . (...)
        q * k * e + q * k * (e - 1),  # W_1 q + W_2 k; v . (...)
        0,
        q * k * e,
        q * k * e,
    ]
    return dot, add


def operations(queries: int, keys: int, width: int) -> tuple[int, int]:
    """(dot product, additive): the number of all operations. The row of numbers held at once is not counted."""
    dot, additive = _counts(queries, keys, width)
    return sum(dot[:-1]), sum(additive[:-1])
