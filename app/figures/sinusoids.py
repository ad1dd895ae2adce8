"""The arithmetic of sinusoidal positions (paper, section 3.5), straight from the formula and in float64, for pictures.

    PE(pos, 2i)   = sin(pos / 10000^(2i / d_model))
    PE(pos, 2i+1) = cos(pos / 10000^(2i / d_model))

Sine and cosine of pair i have the angular frequency w_i = 10000^(-2i / d_model) and the wavelength 2 pi / w_i. Because

    sin((pos + k) w) =  cos(k w) sin(pos w) + sin(k w) cos(pos w)
    cos((pos + k) w) = -sin(k w) sin(pos w) + cos(k w) cos(pos w)

one 2 x 2 matrix per pair, the same for every pos, takes PE(pos) to PE(pos + k): a rotation.

A layout says in which dimension a number is: "interleaved" (the paper's 2i, 2i+1) or "concatenated" (all sines,
then all cosines).
"""

from typing import Literal

import numpy as np

Layout = Literal["interleaved", "concatenated"]


def frequencies(d_model: int) -> np.ndarray:
    """w_i of each pair: (D/2)."""
    return 10000.0 ** (-np.arange(0, d_model, 2) / d_model)


def wavelengths(d_model: int) -> np.ndarray:
    """2 pi 10000^(2i/d_model) of each pair, in positions: (D/2)."""
    return 2 * np.pi / frequencies(d_model)


def encoding(positions: np.ndarray, d_model: int, layout: Layout = "interleaved") -> np.ndarray:
    """PE at these positions, which need not be whole numbers: (P) -> (P, D)."""
    angles = np.asarray(positions, dtype=np.float64)[:, None] * frequencies(d_model)  # (P, D/2)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (P, D/2, 2)
    interleaved = pairs.reshape(len(angles), d_model)  # (P, D)
    return interleaved if layout == "interleaved" else interleaved[:, permutation(d_model)]


def permutation(d_model: int) -> np.ndarray:
    """From the paper's layout to the concatenated one: dimension j there is the paper's dimension permutation[j].

    0, 2, 4, ..., 1, 3, 5, ...: all sines first, then all cosines.
    """
    return np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)])  # (D)


def pair_dimensions(pair: int, d_model: int, layout: Layout) -> tuple[int, int]:
    """(dimension of the sine, dimension of the cosine) of pair i."""
    return (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + d_model // 2)


def pair_of(dimension: int, d_model: int, layout: Layout) -> tuple[int, bool]:
    """(pair i, whether it is the cosine) of a dimension."""
    if layout == "interleaved":
        return dimension // 2, dimension % 2 == 1
    return dimension % (d_model // 2), dimension >= d_model // 2


def pairs(table: np.ndarray, layout: Layout) -> np.ndarray:
    """A table (P, D) as one point (sine, cosine) per pair: (P, D/2, 2). Of an odd D the last dimension is left out."""
    even = table[:, : table.shape[1] // 2 * 2].astype(np.float64)
    if layout == "interleaved":
        return even.reshape(len(even), -1, 2)
    return even.reshape(len(even), 2, -1).transpose(0, 2, 1)


def rotations(shift: int, d_model: int) -> np.ndarray:
    """The matrices M_i with M_i (sin, cos)(pos) = (sin, cos)(pos + shift): (D/2, 2, 2)."""
    return turns(shift * frequencies(d_model))


def turns(angles: np.ndarray) -> np.ndarray:
    """Angles (N) -> [[cos, sin], [-sin, cos]] each: (N, 2, 2)."""
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([cos, sin], axis=-1), np.stack([-sin, cos], axis=-1)], axis=-2)


def best_rotations(points: np.ndarray, shift: int) -> np.ndarray:
    """For points (P, D/2, 2) of any table, learned ones too: for each pair the rotation that takes point p to point
    p + shift with the least squared error over all p, (D/2, 2, 2). For sinusoids this is `rotations(shift)`."""
    before, after = points[: len(points) - shift], points[shift:]  # (P', D/2, 2)
    along = (before * after).sum(axis=(0, 2))  # (D/2)
    across = (before[..., 1] * after[..., 0] - before[..., 0] * after[..., 1]).sum(axis=0)  # (D/2)
    return turns(np.arctan2(across, along))


def rotated(points: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """M_i times the point of pair i, at every position: (P, D/2, 2), (D/2, 2, 2) -> (P, D/2, 2)."""
    return np.einsum("iab,pib->pia", matrices, points)


def rotation_error(points: np.ndarray, matrices: np.ndarray, shift: int) -> tuple[float, float]:
    """How far M PE(p) is from PE(p + shift), over all p and pairs: (largest difference of a number, the
    root-mean-square error as a share of the root-mean-square of the correct result)."""
    wanted = points[shift:]
    missing = rotated(points[: len(points) - shift], matrices) - wanted
    size = float(np.sqrt((wanted**2).mean()))
    return float(np.abs(missing).max()), float(np.sqrt((missing**2).mean())) / size if size else 0.0
