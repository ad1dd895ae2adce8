"""How probabilities, weights and other shares from 0 to 1 are written, as app/components/shared/numbers.js does.

A share is written as 0 or 1 only if it is exactly that. Near 1 it has enough digits to distinguish it from 1, so that a
reader can check it. If that takes too many digits, or if the share is too near 0, it is written as an inequality
(test_a_share_reads_1_only_where_it_is_1).
"""

import re

from app.languages.numbers import localised

MOST_DECIMALS = 5


def probability_text(share: float, most: int = 1, least: int = 1) -> str:
    """As per cent with sensible digits: 97%, 3.1%, <0.1%, 99.7%, >99.9%.

    Args:
        most: decimals near 100%, for example 3: 99.995%.
        least: decimals below 10%, for example 0: 3%.
    """
    return localised(_percent(share, most, least))


def decimal_text(share: float, digits: int = 2) -> str:
    """As a decimal number: 0.42, <0.01, 0.997, 0.99995, >0.99999."""
    return localised(_decimal(share, digits))


def weight_text(weight: float) -> str:
    """A weight as it is written in a cell: two digits at most. .07, .42, >.99, 1.0; below .005 a point."""
    if weight < 0.005:
        return "·"
    if weight >= 0.995:
        return localised("1.0" if weight >= 1 else ">.99")
    return localised(f"{weight:.2f}"[1:])


class Share(float):
    """A share in a text with a format: {weight:.2f} is written by `decimal_text`, {share:.0%} by `probability_text`.

    The result has the signs of English, like every number with a format; the text replaces them by its language's.
    """

    def __format__(self, spec: str) -> str:
        found = re.fullmatch(r"\.(\d)([f%])", spec)
        if not found:
            return super().__format__(spec)
        value, digits = float(self), int(found[1])
        return _decimal(value, digits) if found[2] == "f" else _percent(value, max(digits, 1), digits)


def _percent(share: float, most: int, least: int) -> str:
    if share <= 0 or share >= 1:
        return "0%" if share <= 0 else "100%"
    value = 100 * share
    if value < 10**-least:
        return f"<{10**-least:.{least}f}%"
    fewest = least if value < 9.95 else 0
    for digits in range(fewest, max(most, fewest) + 1):
        if float(text := f"{value:.{digits}f}") < 100:
            return f"{text}%"
    return f">{100 - 10**-most:.{most}f}%"


def _decimal(share: float, digits: int) -> str:
    if share <= 0 or share >= 1:
        return "0" if share <= 0 else "1"
    if share < 0.5 * 10**-digits:
        return f"<{10**-digits:.{digits}f}"
    for decimals in range(digits, max(digits, MOST_DECIMALS) + 1):
        if (text := f"{share:.{decimals}f}").startswith("0"):
            return text
    return ">0." + "9" * max(digits, MOST_DECIMALS)
