"""Colours, type sizes and number formats, in one place; shares.py has those of probabilities and weights.

Each of query, key, value, encoder and decoder keeps one colour through every page. The pairs can be distinguished by
people with any of the common colour deficiencies. Signed numbers go from amber (negative) to teal (positive), hues that
neither the encoder nor the decoder has. Each colour is a pair, for a light and for a dark background, and the browser
takes one of the two: no figure asks which background there is. Weights have one sequential map, signed values one
diverging map. Weights of a long sentence are small, so the sequential map rises fast near 0; the colour bar shows it,
and the range is always 0 to 1, so that heads can be compared.
"""

import re
from itertools import pairwise
from typing import Literal

import numpy as np

from app.languages import gettext_noop
from app.languages.numbers import localised
from transformer.model.attention_kinds import Kind

Role = Literal["query", "key", "value", "encoder", "decoder"]
ColorScale = list[tuple[float, str]]


def themed(light: str, dark: str) -> str:
    """A pair of colours in CSS, of which the browser takes the one for its background (the light or the dark theme).
    Plotly cannot read such a pair, so `app/components/chart/chart.js` resolves it."""
    return f"light-dark({light}, {dark})"


def resolved(color: str, dark: bool) -> str:
    """The light or the dark colour of a pair, for programs that cannot read a pair. Any other colour is unchanged."""
    found = THEMED.fullmatch(color)
    return found[1 + dark] if found else color


THEMED = re.compile(r"light-dark\((#\w+|rgba\([^)]*\)), (#\w+|rgba\([^)]*\))\)")

_ROLES: dict[Role, str] = {
    "query": themed("#6a4fb3", "#b79cf2"),
    "key": themed("#a86400", "#f0b357"),
    "value": themed("#0e7c66", "#5ccfb3"),
    "encoder": themed("#1d62c4", "#82b4ff"),
    "decoder": themed("#bf3f28", "#ff9a82"),
}

_BETWEEN = themed("#6b3fc4", "#b79cf2")  # attention of the decoder to the encoder

# Colours of heads that are shown together. People with any of the common colour deficiencies can distinguish them, and
# their contrast with the background is at least 3 : 1 (test_head_colours_are_distinguishable_with_colour_deficiencies).
# The ninth head has the colour of the first, and its lines are dashed.
_HEADS = tuple(
    map(
        themed,
        ("#1f3fe0", "#f05a0a", "#1b8bb0", "#5b0f86", "#c07868", "#ad6af5", "#6e1f10", "#152637"),
        ("#4fe3ee", "#ff5f14", "#fff04d", "#a63dff", "#ffb995", "#34708f", "#b094ff", "#a04c3a"),
    )
)

_WEIGHTS: ColorScale = [
    (0.0, themed("#f2f5fa", "#18202b")),
    (0.05, themed("#dfeaf8", "#1c2f49")),
    (0.2, themed("#a9c9f0", "#24507f")),
    (0.5, themed("#4b8bd6", "#3f8fd0")),
    (0.8, themed("#1b54a8", "#9ccdf2")),
    (1.0, themed("#0b2f6b", "#f2f9ff")),
]
_SIGNED: ColorScale = [
    (0.0, themed("#673800", "#ffcb8f")),
    (0.25, themed("#dc9945", "#945c1e")),
    (0.5, themed("#fbfcfe", "#161d27")),
    (0.75, themed("#63b5a4", "#1c7568")),
    (1.0, themed("#004d43", "#97e3d3")),
]

# Attention to later tokens, which is only possible once the causal mask is removed
_LEAK: ColorScale = [
    (0.0, themed("#fdf4f2", "#241b1d")),
    (0.2, themed("#f3b8ab", "#6d2a22")),
    (0.5, themed("#dd6a54", "#b8452f")),
    (1.0, themed("#a3220c", "#ff8a70")),
]

# Two things that are compared, such as sine and cosine, and that have no role above
_PAIR = (themed("#00738a", "#58cbe4"), themed("#ad2b73", "#ff93c9"))

# Cells of a mask: may attend, or why not. Letters are written in the cells too.
MaskReason = Literal["allowed", "padding", "causal", "window", "several", "edit"]
_MASK: dict[MaskReason, str] = {
    "allowed": themed("#4b8bd6", "#3f8fd0"),
    "padding": themed("#c3c9d3", "#4d5666"),
    "causal": themed("#f2b04a", "#9a6510"),
    "window": themed("#cfa6e0", "#7a4c92"),
    "several": themed("#8f7f66", "#6f6148"),
    "edit": themed("#e0705c", "#8f3a2c"),
}

BACKGROUND = themed("#ffffff", "#10151d")  # of the page, as app/.streamlit/config.toml has it
INK = themed("#1c2430", "#e8ecf3")  # text and outlines
_BLACK, _WHITE = "#000000", "#ffffff"

HATCH = themed("#aab2bf", "#4d5666")  # lines over what a mask forbids
HATCH_GROUND = themed("#eceff4", "#1b222d")
MASKED = "rgba(128, 136, 150, 0.28)"  # a forbidden cell: grey on either background, and unlike the colour of 0
CHOSEN = "#ff9a1f"  # frames what is chosen, on either background
TICK_SIZE = 15  # px, tokens along an axis
SMALL_TICK_SIZE = 11
CELL_SIZE = 14  # px, numbers in cells
TITLE_SIZE = 18


def role_color(role: Role) -> str:
    """The one colour of this role."""
    return _ROLES[role]


def kind_color(kind: Kind) -> str:
    """The colour of this kind of attention. Encoder-decoder attention has one of its own."""
    return _BETWEEN if kind == "cross" else _ROLES[kind]


def pair_color(second: bool) -> str:
    """The colour of one of two compared things that have no role above, such as sine and cosine."""
    return _PAIR[second]


def head_color(head: int) -> str:
    """The colour of this head, from 0, where several are shown together."""
    return _HEADS[head % len(_HEADS)]


def head_is_dashed(head: int) -> bool:
    """Whether this head, from 0, shares its colour with an earlier one and is dashed."""
    return head // len(_HEADS) % 2 == 1


def mask_color(reason: MaskReason) -> str:
    """The colour of a cell of a mask: allowed, or the reason why it is not, or that there are several; or an edit."""
    return _MASK[reason]


def faded(color: str, opacity: float) -> str:
    """A colour that is partly transparent, on either background."""
    shades = (resolved(color, dark) for dark in (False, True))
    faint = [[int(shade[i : i + 2], 16) for i in (1, 3, 5)] for shade in shades]
    return themed(*(f"rgba({red}, {green}, {blue}, {opacity})" for red, green, blue in faint))


def weight_scale() -> ColorScale:
    """Colours of attention weights, 0 to 1."""
    return _WEIGHTS


def leak_scale() -> ColorScale:
    """Colours of attention weights on later tokens, without the causal mask, 0 to 1."""
    return _LEAK


def signed_scale() -> ColorScale:
    """Colours of signed values, symmetric around 0."""
    return _SIGNED


def color_limit(values: np.ndarray) -> float:
    """The number at which the colours of signed values end: three times their root mean square, because a few large
    values would leave all others pale, or the largest if that is smaller; 1 if all are 0."""
    exact = values.astype(np.float64)
    return min(3 * float(np.sqrt(np.mean(exact**2))), float(np.abs(exact).max())) or 1.0


def text_on_weight(weight: float) -> str:
    """White or black, whichever has more contrast with the colour of this weight (at least 4.5 : 1, WCAG AA)."""
    return _text_on(_WEIGHTS, weight)


def text_on_signed(strength: float) -> str:
    """White or black, on the colour of a signed value of this strength, 0 to 1."""
    return _text_on(_SIGNED, 0.5 + min(strength, 1.0) / 2)


def _text_on(scale: ColorScale, place: float) -> str:
    return themed(*(_black_or_white(scale, min(max(place, 0.0), 1.0), dark) for dark in (False, True)))


def _black_or_white(scale: ColorScale, place: float, dark: bool) -> str:
    (low, first), (high, second) = next(pair for pair in pairwise(scale) if place <= pair[1][0])
    a, b, share = resolved(first, dark), resolved(second, dark), (place - low) / (high - low)
    mixed = [(1 - share) * int(a[i : i + 2], 16) + share * int(b[i : i + 2], 16) for i in (1, 3, 5)]
    linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in mixed]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return _BLACK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else _WHITE


def mantissa_exponent(value: float, digits: int) -> tuple[str, int]:
    """A finite number with this many significant digits: ("0.38", 0), ("76,213", 0), ("2.2", 6) for 2.2 × 10^6.

    Up to 999,999 all digits before the point are written, with a comma at the thousands. Larger numbers have an
    exponent, and so have numbers smaller than 0.0001. A number just below 1, such as a weight, has as many digits as
    distinguish it from 1: 0.99995. The text is written as in English, whatever the language.
    """
    if value == 0:
        return "0", 0
    while 0.9 < value < 1 and float(f"{value:.{digits}g}") == 1:
        digits += 1
    if 10**digits - 0.5 <= abs(value) < 999_999.5:
        return f"{value:,.0f}", 0
    text, _, exponent = f"{value:#.{digits}g}".partition("e")
    return text.rstrip("."), int(exponent or 0)


def number(value: float, digits: int = 3) -> str:
    """A number in words and cells: 0.380, 12.3, 76,213, 2.21×10⁶, 5.36×10⁻⁷, −∞. (Tables and files have all digits.)"""
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    text, exponent = mantissa_exponent(value, digits)
    return localised(minus(f"{text}×10{str(exponent).translate(_RAISED)}" if exponent else text))


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def score_text(score: float) -> str:
    """A sum of log-probabilities or a score: 0.00, −4.69."""
    return fixed(score, 2)


NATS = gettext_noop("0.7 nats less: half as probable")  # what a difference of log-probabilities means


def fixed(value: float, digits: int) -> str:
    """A number with this many digits after the point, as pages show it: 0.42, −1.30, never −0.00."""
    return localised(minus(f"{value:z.{digits}f}"))


def minus(text: str) -> str:
    """A number with a real minus sign instead of a hyphen. (Tables and files keep "-", which can be computed with.)"""
    return text.replace("-", "−")
