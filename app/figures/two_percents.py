"""How the probability of a token is written, with its share of what may be drawn.

If the two differ, both are written: "55% → 80%" in a picture whose heading or caption says what the arrow means, and
"55%, 80% of what may be drawn" in a sentence (test_the_share_is_the_interval_of_the_random_number).
"""

from app.languages import _
from app.languages.numbers import localised


def percent(probability: float) -> str:
    """A probability with one to three decimals: 51.1%, 3.14%, 0.12%, 0.012%, 99.97%; never 0% and never 100%."""
    value = 100 * probability
    if value < 0.001 or value >= 99.995:
        return localised("<0.001%" if value < 0.001 else ">99.99%")
    digits = 2 if value >= 99.95 or value < 9.95 else 1
    return localised(f"{value:.3f}%" if value < 0.0995 else f"{value:.{digits}f}%")


def both_percents(probability: float, share: float) -> str:
    """For a picture: the probability, and after an arrow the share if the two texts differ."""
    return " → ".join(_percents(probability, share))


def both_in_words(probability: float, share: float) -> str:
    """For a sentence: the probability, and the share if the two texts differ."""
    first, *second = _percents(probability, share)
    return _("{probability}, {share} of what may be drawn", probability=first, share=second[0]) if second else first


def _percents(probability: float, share: float) -> list[str]:
    """One text or two: see `both_percents`."""
    texts = [percent(probability), percent(share) if share < 1 else localised("100%")]
    return texts[:1] if texts[0] == texts[1] or abs(probability - share) < 1e-9 else texts
