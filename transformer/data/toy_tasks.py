"""Toy corpora, made on the fly: tasks small enough to learn in minutes, whose right attention is known beforehand.

    copy      k f a z              -> k f a z                (diagonal)
    reverse   k f a z              -> z a f k                (anti-diagonal)
    sort      k f a z              -> a f k z                (by content)
    numbers   forty-two            -> zweiundvierzig         (a swap: units before tens in German)

Pairs are unlimited, and a function of (task, seed, epoch) alone, the same in every process and on every machine.

Held out: a source belongs to validation if a hash of its text, the same for ever, falls into one tenth. Training never
meets it, whatever the seed. Single letters, and numbers whose names are no compounds (nought to twenty, thirty, forty,
...: there is nothing to infer them from), are always for training.
"""

import hashlib
import random
import re
import string
from functools import lru_cache

from num2words import num2words

from transformer.config import ToyTask
from transformer.errors import ConfigError

HELD_OUT_SHARE = 0.1
ATTEMPTS = 10_000  # in a row without a fit, before we say that there is none

_LETTERS = frozenset(string.ascii_lowercase)
_ROOTS = [*range(20), *range(20, 100, 10)]  # the numbers whose names are no compounds


def toy_pairs(
    task: ToyTask,
    seed: int,
    count: int,
    *,
    epoch: int = 0,
    held_out: bool = False,
    symbols: int = 26,
    min_length: int = 1,
    max_length: int = 20,
    max_number: int = 9999,
) -> list[tuple[str, str]]:
    """`count` pairs for training, or (`held_out`) for validation. Repetitions may occur.

    Letters: the first `symbols` of the alphabet, `min_length` to `max_length` of them. Numbers: up to 9, to 99, to 999
    and so on to `max_number`, each equally often, else small ones would hardly ever be met. Raises ConfigError if
    these bounds leave no pair to draw.
    """
    rng = random.Random(f"{task} {seed} {epoch} {held_out}")  # Python hashes a str seed the same way everywhere
    pairs: list[tuple[str, str]] = []
    misses = 0
    while len(pairs) < count:
        if task == "numbers":
            number = rng.randint(0, min(10 ** rng.randint(1, len(str(max_number))) - 1, max_number))
            source, basic = _english(number), number in _ROOTS
        else:
            letters = rng.choices(string.ascii_lowercase[:symbols], k=rng.randint(min_length, max_length))
            source, basic = " ".join(letters), len(letters) == 1
        if (not basic and is_held_out(source)) == held_out:
            pairs.append((source, _german(number) if task == "numbers" else " ".join(_answer(task, letters))))
            misses = 0
        elif (misses := misses + 1) == ATTEMPTS:
            raise ConfigError(
                f"The toy task {task} has no pair for {'validation' if held_out else 'training'} within its bounds. "
                f"Raise {'data.toy_max_number' if task == 'numbers' else 'data.toy_max_length or data.toy_symbols'}."
            )
    return pairs


def toy_lines(task: ToyTask) -> list[str]:
    """The text from which the tokenizer of a toy task is trained: the parts that it shall know as pieces.

    With `kind = "unigram"` every letter is one piece (313 pieces in all), and number words fall into the parts a
    learner sees in them: "forty", "-", "two" and "zwei", "und", "vierzig" (423 pieces). Learnt from the pairs
    themselves, pieces would be whatever is frequent, such as "undvierzig" or "tausendvier".
    """
    if task != "numbers":
        return [f"{letter} {letter} {letter}" for letter in string.ascii_lowercase]
    english = {num2words(n) for n in _ROOTS} | {"hundred", "thousand", "million", "and"}
    german = {num2words(n, lang="de") for n in _ROOTS} | {"hundert", "tausend", "und", "ein", "eine"}
    german |= {"Million", "Millionen"}
    # A piece never reaches over a hyphen, so each part is seen alone, at the start of a word and inside it.
    return [f"{part}, {part}-{part}" for part in sorted(english | german)]


def is_held_out(source: str) -> bool:
    """Whether a source belongs to validation: a tenth does, told by its text alone."""
    digest = hashlib.blake2b(source.encode(), digest_size=8).digest()
    return int.from_bytes(digest) < HELD_OUT_SHARE * 2**64


def _answer(task: ToyTask, letters: list[str]) -> list[str]:
    if task == "copy":
        return letters
    return letters[::-1] if task == "reverse" else sorted(letters)


def toy_answer(task: ToyTask, source: str) -> str | None:
    """The right output for a source of this task; None: it is none. Numbers are known up to 9,999."""
    if task == "numbers":
        number = _number(source)
        return None if number is None else _german(number)
    letters = source.split()
    known = letters and all(letter in _LETTERS for letter in letters)
    return " ".join(_answer(task, letters)) if known else None


def _number(words: str) -> int | None:
    """ "one thousand, nine hundred and eighty-four" -> 1984."""
    values = {num2words(n): n for n in _ROOTS}
    total = part = 0
    for word in re.split(r"[\s,-]+", words.strip().lower()):
        if word == "thousand":
            total, part = total + 1000 * part, 0
        elif word == "hundred":
            part *= 100
        else:
            part += values.get(word, 0)
    number = total + part
    return number if number < 10_000 and _english(number) == words.strip().lower() else None


@lru_cache(100_000)  # num2words is slow, and the same numbers come again and again
def _english(number: int) -> str:
    return num2words(number)


@lru_cache(100_000)
def _german(number: int) -> str:
    return num2words(number, lang="de")
