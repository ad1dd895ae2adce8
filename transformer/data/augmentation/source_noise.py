"""Sources as people type them: all in capitals, without capitals, without a final mark, with a typo. Targets stay
the same.

    Where is the bridge?   ->   WHERE IS THE BRIDGE?   where is the bridge?   Where is the bridge   Where is the birdge?

And sources as a translator reads them, if their first word is in the vocabulary in lower case only (`recasing.py`).

A typo is one of four: a letter is left out, doubled, replaced by a neighbour on the keyboard, or exchanged with the
next one (as Belinkov and Bisk 2018, arXiv:1711.02173). Where the last two are not possible, the letter is doubled.
"""

import random
import re

from transformer.data.mix_options import Augmentation
from transformer.text.recasing import with_known_first_word
from transformer.text.spelling import BESIDE
from transformer.text.tokenizer import Tokenizer

SHORTEST = 4  # the fewest letters of a word that gets a typo; with a typo, a shorter one may be another word
_LONG_WORD = re.compile(rf"[^\W\d_]{{{SHORTEST},}}")
_FINAL_MARK = re.compile(r"(?<=\w)[.!?]$")


def noisy(source: str, rates: Augmentation, rng: random.Random, tokenizer: Tokenizer) -> str:
    """The source, in which each change is made with its probability. Capitals and lower case exclude each other."""
    if rng.random() < rates.no_final_mark:
        source = without_final_mark(source)
    if rng.random() < rates.typo:
        source = mistyped(source, rng)
    if rates.first_word and rng.random() < rates.first_word:  # without it, the other changes draw what they drew before
        source = with_known_first_word(source, tokenizer)
    case = rng.random()
    if case < rates.capitals:
        return source.upper()
    return source.lower() if case < rates.capitals + rates.lower_case else source


def without_final_mark(source: str) -> str:
    """The source without its last . ! or ?; an ellipsis stays."""
    return _FINAL_MARK.sub("", source)


def mistyped(text: str, rng: random.Random) -> str:
    """The text with a typo in one of its longer words, never in its first letter; unchanged if it has no such word."""
    words = list(_LONG_WORD.finditer(text))
    if not words:
        return text
    word = rng.choice(words)
    place = rng.randrange(word.start() + 1, word.end())
    before, letter, after = text[:place], text[place], text[place + 1 :]
    kind = rng.choice(("left out", "doubled", "beside", "exchanged"))
    if kind == "left out":
        return before + after
    if kind == "exchanged" and place + 1 < word.end() and after[0] != letter:
        return before + after[0] + letter + after[1:]
    if kind == "beside" and (beside := BESIDE.get(letter)):
        return before + rng.choice(beside) + after
    return before + letter + letter + after
