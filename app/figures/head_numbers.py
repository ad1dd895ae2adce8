"""Numbers about every head, each a mean over its rows, and in a few words what a head attends to most."""

import numpy as np

from app.figures.axes import in_words
from app.figures.head_sharpness import carries_no_word, entropy
from app.figures.shares import Share
from app.languages import _, gettext_noop

PLACES = {
    "previous": gettext_noop("the token before"),
    "next": gettext_noop("the token after"),
    "itself": gettext_noop("the token itself"),
    "sinks": gettext_noop("special tokens and punctuation"),
}
MUCH = 0.4  # of the weight: a place that gets less is not said to be what a head attends to most


def head_numbers(weights: np.ndarray, keys: tuple[str, ...], itself: bool) -> dict[str, np.ndarray]:
    """The numbers of every head: (L, H, Q, K) -> (L, H) each; NaN where a number has no meaning.

    Args:
        keys: what is attended to.
        itself: whether it is self-attention, so that rows and columns are the same positions.
    """
    rows, columns = weights.shape[-2:]
    weights = weights.astype(np.float64)
    q, k = np.arange(rows)[:, None], np.arange(columns)[None, :]
    diagonal = q if itself else q * (columns - 1) / max(rows - 1, 1)  # (Q, 1)
    nothing = np.full(weights.shape[:2], np.nan)

    def along(offset: int) -> np.ndarray:
        """Mean of A[q, q + offset] over the rows where that column exists."""
        if not itself or rows <= abs(offset):
            return nothing
        return np.asarray(np.diagonal(weights, offset, axis1=-2, axis2=-1).mean(axis=-1))

    return {
        "strongest": weights.max(axis=-1).mean(axis=-1),
        "entropy": entropy(weights).mean(axis=-1),
        "distance": (weights * np.abs(k - diagonal)).sum(axis=-1).mean(axis=-1),
        "itself": along(0),
        "previous": along(-1),
        "next": along(1),
        "sinks": weights[..., [carries_no_word(token) for token in keys]].sum(axis=-1).mean(axis=-1),
        "aligned": nothing if itself else _aligned(weights, keys),
    }


def _aligned(weights: np.ndarray, keys: tuple[str, ...]) -> np.ndarray:
    """(L, H, Q, K) -> (L, H): the share of real keys that are the strongest of some row; NaN if there are none."""
    real = np.array([k for k, token in enumerate(keys) if not carries_no_word(token)], dtype=int)  # (R)
    if not len(real):
        return np.full(weights.shape[:2], np.nan)
    strongest = weights.argmax(axis=-1)  # (L, H, Q)
    found: np.ndarray = (strongest[..., None] == real).any(axis=-2).mean(axis=-1)
    return found


def head_roles(weights: np.ndarray, keys: tuple[str, ...], itself: bool) -> list[list[str]]:
    """What each head attends to most, for example "87% of its weight is on the token before": (L, H, Q, K) -> [L][H].

    Args:
        keys, itself: as for `head_numbers`.
    """
    tokens = weights.mean(axis=-2, dtype=np.float64)  # (L, H, K)
    quoted = [_("“{token}”", token=in_words(key)) for key in keys]
    strongest = weights.max(axis=-1).mean(axis=-1)  # (L, H)

    def role(place: tuple[float, str], of_tokens: np.ndarray, strongest: float) -> str:
        key = int(of_tokens.argmax())
        share, where = max(place, (float(of_tokens[key]), quoted[key]), key=lambda one: one[0])
        if share >= MUCH:
            return _("{share:.0%} of its weight is on {where}", share=Share(share), where=where)
        return _("the largest weight of a row is {strongest:.0%} on average", strongest=Share(strongest))

    layers = zip(fixed_places(weights, keys, itself), tokens, strongest.tolist(), strict=True)
    return [[role(*head) for head in zip(*layer, strict=True)] for layer in layers]


def fixed_places(weights: np.ndarray, keys: tuple[str, ...], itself: bool) -> list[list[tuple[float, str]]]:
    """For each head: of the places that do not depend on the words, the one with the largest share of the weight, as
    (share, name): [L][H].

    Such a place is a neighbour of the query, the query itself, or special tokens and punctuation.
    """
    numbers = head_numbers(weights, keys, itself)
    rows = weights.shape[-2]
    having = {"previous": rows - 1, "next": rows - 1}  # how many rows have such a token; the others give it nothing
    candidates = [
        (np.nan_to_num(numbers[name]) * having.get(name, rows) / rows, _(words)) for name, words in PLACES.items()
    ]

    def place(layer: int, head: int) -> tuple[float, str]:
        return max(((float(shares[layer, head]), words) for shares, words in candidates), key=lambda one: one[0])

    layers, heads = weights.shape[:2]
    return [[place(layer, head) for head in range(heads)] for layer in range(layers)]
