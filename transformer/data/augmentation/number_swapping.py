"""Times, prices and dates replaced by others on both sides, so that a model copies digits and does not invent them.

    The bus leaves at 7:45.   Der Bus fährt um 7:45 Uhr.   ->   The bus leaves at 9:20.   Der Bus fährt um 9:20 Uhr.
    That is $12.50.           Das macht 12,50 $.           ->   That is $38.15.           Das macht 38,15 $.
    on March 5                am 5. März                   ->   on March 23               am 23. März

Two numbers are the same if their digits are the same, whatever sign each language puts between the digits. A number is
replaced only if both sides have it exactly once; otherwise it is not known which numbers belong together.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass

from transformer.data.corpus import Pair
from transformer.data.mix_options import Augmentation


@dataclass(frozen=True)
class TwoParts:
    """Numbers that consist of two parts with a sign between them: times, or prices.

    Attributes:
        pattern: with three groups: first part, sign, second part.
        signs: that a number in the source may have.
        is_time: whether the parts are hours and minutes.
    """

    pattern: re.Pattern[str]
    signs: str
    is_time: bool

    def shared(self, pair: Pair) -> list[tuple[str, str]]:
        """The parts of the numbers that both sides have exactly once."""
        counts = [Counter((found[1], found[3]) for found in self.pattern.finditer(side)) for side in pair]
        in_source = [(found[1], found[3]) for found in self.pattern.finditer(pair[0]) if found[2] in self.signs]
        once = [parts for parts in in_source if counts[0][parts] == counts[1][parts] == 1]
        return [(first, second) for first, second in once if not self.is_time or is_clock_time(first, second)]

    def swapped(self, pair: Pair, rng: random.Random) -> Pair:
        """The pair with these numbers replaced. Each side keeps its sign."""
        others = {parts: self._another(parts[0], rng) for parts in self.shared(pair)}

        def replaced(found: re.Match[str]) -> str:
            first, second = others.get((found[1], found[3]), (found[1], found[3]))
            return f"{first}{found[2]}{second}"

        return self.pattern.sub(replaced, pair[0]), self.pattern.sub(replaced, pair[1])

    def _another(self, first: str, rng: random.Random) -> tuple[str, str]:
        """The parts of another number like the one whose first part is given."""
        if not self.is_time:
            return _digits(len(first), rng), f"{rng.randrange(100):02}"
        hour = rng.randrange(1, 13) if 0 < int(first) <= 12 else rng.randrange(13, 24)
        return str(hour).zfill(len(first) if first[0] == "0" else 1), f"{rng.randrange(60):02}"


TIMES = TwoParts(re.compile(r"(?<![\d.,:])(\d{1,2})([:.])(\d{2})(?![\d:]|[.,]\d)"), ":", is_time=True)
PRICES = TwoParts(re.compile(r"(?<![\d.,:])(\d{1,4})([.,])(\d{2})(?![\d:]|[.,]\d)"), ".,", is_time=False)
_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|"
    "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_DAY = re.compile(
    rf"(?<![\d.,:])(\d{{1,2}})(?=(?:st|nd|rd|th|\.)?(?: of)? (?:{_MONTHS})\b)"
    rf"|(?<=\b)(?:(?:{_MONTHS}) (?:the )?)(\d{{1,2}})(?![\d:]|[.,]\d)"
)
_ORDINAL = re.compile(r"^(st|nd|rd|th)\b")


def swap_numbers(pair: Pair, rates: Augmentation, rng: random.Random) -> Pair:
    """The pair with its times, its prices and its day replaced, each kind with its own probability."""
    if not any(letter.isdecimal() for letter in pair[0]):
        return pair
    if rng.random() < rates.times:
        pair = TIMES.swapped(pair, rng)
    if rng.random() < rates.prices:
        pair = PRICES.swapped(pair, rng)
    if rng.random() < rates.dates:
        pair = _swap_days(pair, rng)
    return pair


def has_numbers(pair: Pair) -> bool:
    """Whether the pair has a time, a price or a date that can be replaced."""
    if not any(letter.isdecimal() for letter in pair[0]):
        return False
    return bool(TIMES.shared(pair) or PRICES.shared(pair) or _same_day(pair))


def is_clock_time(hours: str, minutes: str) -> bool:
    return int(hours) <= 24 and int(minutes) <= 59


def _same_day(pair: Pair) -> list[re.Match[str]]:
    """The day of a date in each side, if both have only one, from 2 to 31, and it is the same; otherwise an empty
    list."""
    days = [found for side in pair for found in _DAY.finditer(side)]
    if len(days) != 2 or any(found.string != side for found, side in zip(days, pair, strict=True)):
        return []
    source, target = (_day(found)[0] for found in days)
    return days if source == target and 2 <= int(source) <= 31 else []


def _swap_days(pair: Pair, rng: random.Random) -> Pair:
    """Replaces the day of a date by another one from 2 to 28, and adapts an English ending ("3rd") to it."""
    days = _same_day(pair)
    if not days:
        return pair
    day = str(rng.randrange(2, 29))
    return _with_day(pair[0], days[0], day), _with_day(pair[1], days[1], day)


def _day(found: re.Match[str]) -> tuple[str, int]:
    """The day of a date, and where it begins."""
    group = 1 if found[1] else 2
    return found[group], found.start(group)


def _with_day(text: str, found: re.Match[str], day: str) -> str:
    old, begin = _day(found)
    after = text[begin + len(old) :]
    if _ORDINAL.match(after):
        ending = "th" if day in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(day[-1], "th")
        after = ending + after[2:]
    return text[:begin] + day + after


def _digits(count: int, rng: random.Random) -> str:
    """A random number with `count` digits. It is never 1, because the word after a 1 is singular."""
    return str(rng.randrange(2, 10) if count == 1 else rng.randrange(10 ** (count - 1), 10**count))
