"""Hostile strings: what a keyboard, a web page or an attacker may send instead of a sentence."""

import unicodedata
from functools import cache
from random import Random

_ALWAYS = (
    list("aeinoustAEIZß."),
    list("0123456789"),
    list("..?!AAb1\u00a0\u202f\t -“"),  # of these alone: ends of sentences with nothing before them
    list(".!?…؟।。！？,;:"),
    list("\"'‘’‚‛“”„‟‚«»‹›()[]{}」』″´`¿¡-–—―−"),
    list("\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u2581\ufe0e\ufe0f\u0338\u0345"),
    list("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"),  # bidirectional controls
    list("\u212a\u212b\u2126\u1fef\u1ffd\u037e\u0340\u0958\ufb1d\u1e9b\u0344"),  # what NFC replaces
    list("👩👧🏳🌈👍🏽🇩🇪❤कषمخ今日はᄀ가ᅡᆨ각"),
    list("\x00\x07\x1b\x7f\x80\x9f\ufffd\ufffe\uffff\U0010ffff"),
)
_WORDS = [
    "Mr.",
    "z.B.",
    "e.g.",
    "U.S.",
    "Inc.",
    "No.",
    "Nr.",
    "3.",
    "J.",
    "...",
    "?!",
    "</s>",
    "<unk>",
    "<0xF0>",
    "\r\n",
    "the ",
]
_KINDS = (
    "Zs Zl Zp Cc",
    "Mn Mc Me",
    "Cf",
    "Cs",
    "Cn",
    "Co",
    "Lu Ll Lt Lm Lo",
    "Nd Nl No",
    "Pc Pd Ps Pe Pi Pf Po",
    "Sm Sc Sk So",
)


@cache
def pools() -> list[list[str]]:
    """Characters to choose from: each pool is as likely as another, however many characters it has."""
    by_category: dict[str, list[str]] = {}
    for point in range(0x110000):
        by_category.setdefault(unicodedata.category(chr(point)), []).append(chr(point))
    kinds = [[character for name in kind.split() for character in by_category[name]] for kind in _KINDS]
    white = [chr(point) for point in range(0x110000) if chr(point).isspace()]
    return [*_ALWAYS, white, white, *kinds]


def hostile_string(rng: Random) -> str:
    """Often a few characters, and sometimes a run of thousands."""
    few = [rng.choice(pools()) for _ in range(rng.randint(1, 4))]  # so that related characters are neighbours
    parts = []
    for _ in range(rng.choice((0, 1, 2, 3, 5, 8, 13, 40))):
        times = rng.choice((1,) * 60 + (2, 3, 90)) if rng.random() < 0.997 else rng.randrange(1, 4000)
        parts.append(rng.choice(_WORDS) if rng.random() < 0.1 else rng.choice(rng.choice(few)) * times)
    return "".join(parts)
