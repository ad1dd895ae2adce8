"""What large scores do to a softmax (paper, section 3.2.1 and its footnote 4), in numbers.

If the components of q and k are independent with mean 0 and variance 1, then q . k = sum over d_k of q_i k_i has mean 0
and variance d_k; divided by sqrt(d_k) it has variance 1, whatever d_k is. A softmax of large scores is nearly one-hot,
and there its Jacobian

    d p_i / d s_j = p_i (delta_ij - p_j)

is nearly 0, so almost no gradient passes. Random numbers come from a fixed seed, so a picture is the same each time.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.figures.softmax import softmax
from app.views.shared.rounding import ROUNDING

QUERIES, KEYS = 250, 16  # of the experiment: 4,000 products
WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # d_k of the curves
SLIDER_WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
CANDIDATES = 200  # random queries; the picture shows the most typical one
SEED = 2017


def are_edited(weights: np.ndarray, scores: np.ndarray, mask: np.ndarray) -> bool:
    """Whether an edit changes the weights of a head after the division: they differ from the softmax of its scores by
    more than rounding. All are (Q, K)."""
    return bool(np.abs(weights - softmax(scores, mask)).max() > ROUNDING)


def jacobian_norms(weights: np.ndarray) -> np.ndarray:
    """Frobenius norm of diag(p) - p p^T for each row: (..., K) -> (...)."""
    wide = weights.astype(np.float64)
    jacobian = -wide[..., :, None] * wide[..., None, :]  # (..., K, K)
    places = np.arange(wide.shape[-1])
    jacobian[..., places, places] = wide * (1 - wide)
    norms: np.ndarray = np.sqrt((jacobian**2).sum(axis=(-2, -1)))
    return norms


def most_changed(products: np.ndarray, mask: np.ndarray, d_k: int) -> int:
    """The row of products (Q, K) whose weights the division by sqrt(d_k) changes most. The last row, which usually
    reads or predicts `</s>`, is left out if there are others."""
    moved = np.abs(softmax(products, mask) - softmax(products / np.sqrt(d_k), mask)).sum(axis=-1)  # (Q)
    return int(moved[: max(len(moved) - 1, 1)].argmax())


@dataclass(frozen=True)
class Sharpness:
    """Numbers about scores and the weights that a softmax makes of them."""

    variance: float  # of the scores that may be attended to
    strongest: float  # the largest weight of a row, mean over the rows
    gradient: float  # Frobenius norm of the Jacobian of a row, mean over the rows


def sharpness(scores: np.ndarray, mask: np.ndarray | None = None) -> Sharpness:
    """The numbers of scores (Q, K). Fully masked rows are left out."""
    allowed = np.ones(scores.shape, dtype=bool) if mask is None else mask
    rows = allowed.any(axis=-1)
    weights = softmax(scores, allowed)[rows]
    if not rows.any():
        return Sharpness(0.0, 0.0, 0.0)
    return Sharpness(
        float(scores[allowed].astype(np.float64).var()),
        float(weights.max(axis=-1).mean()),
        float(jacobian_norms(weights).mean()),
    )


@lru_cache(maxsize=64)
def random_products(d_k: int) -> np.ndarray:
    """q . k of random vectors with N(0, 1) components: (QUERIES, KEYS), read-only."""
    random = np.random.default_rng((SEED, d_k))
    query = random.standard_normal((QUERIES, 1, d_k))
    key = random.standard_normal((QUERIES, KEYS, d_k))
    products: np.ndarray = (query * key).sum(axis=-1)
    products.flags.writeable = False
    return products


@lru_cache(maxsize=8)
def growing_products(widths: tuple[int, ...]) -> np.ndarray:
    """q . k over the first d_k components of one random query and its keys, for each width: (W, KEYS), read-only.

    A wider head adds terms to the same sums, so the picture changes little from one width to the next. Of `CANDIDATES`
    random queries, the function takes the one whose strongest weights, with and without the division, are closest to
    the median (test_the_growing_query_is_as_sharp_as_most).
    """
    random = np.random.default_rng(SEED)
    query = random.standard_normal((CANDIDATES, 1, max(widths)))
    key = random.standard_normal((CANDIDATES, KEYS, max(widths)))
    sums = np.cumsum(query * key, axis=-1)[..., np.array(widths) - 1].transpose(0, 2, 1)  # (CANDIDATES, W, KEYS)
    roots = np.sqrt(np.array(widths))[:, None]
    strongest = np.concatenate([softmax(each).max(axis=-1) for each in (sums, sums / roots)], axis=-1)  # (., 2 W)
    typical = np.abs(strongest - np.median(strongest, axis=0)).sum(axis=-1).argmin()
    products: np.ndarray = sums[typical].copy()
    products.flags.writeable = False
    return products


@lru_cache(maxsize=64)
def random_sharpness(d_k: int) -> tuple[Sharpness, Sharpness]:
    """The numbers of random products: (without the division, with the division by sqrt(d_k))."""
    products = random_products(d_k)
    return sharpness(products), sharpness(products / np.sqrt(d_k))
