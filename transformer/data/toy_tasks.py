"""Toy tasks: corpora generated at run time, small enough to learn in minutes, with a known correct attention.

    copy      k f a z              -> k f a z                (diagonal)
    reverse   k f a z              -> z a f k                (anti-diagonal)
    sort      k f a z              -> a f k z                (by content)
    numbers   forty-two            -> zweiundvierzig         (a swap: units before tens in German)

A new task is one more entry of TOY_TASKS and a recipe.

Any number of pairs can be drawn. They depend only on (task, bounds, seed, epoch), and are the same in every process and
on every machine.

A source is held out for validation if the hash of its text is in the lowest tenth of all possible values. The seed has
no influence, so training with any seed never contains it. Sources of one word (single letters; zero to twenty, thirty,
forty, ...) are always for training, because nothing else teaches them.
"""

import hashlib
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from num2words import num2words

from transformer.errors import ConfigError

HELD_OUT_SHARE = 0.1
ATTEMPTS = 10_000  # draws in a row without a pair of the requested kind, before an error is raised


@dataclass(frozen=True)
class Bounds:
    """Which sources are drawn: options of [data] in a recipe, with `toy_` before each name."""

    symbols: int = 26  # letters of the alphabet in use
    min_length: int = 1  # letters in a source
    max_length: int = 20
    max_number: int = 9999


@dataclass(frozen=True)
class ToyTask:
    """A task.

    Attributes:
        draw: a random source within bounds.
        answer: the correct target of a source; None if the text is not a source of this task.
        examples: sources that the app offers, the first one first. If possible, the first has another number of tokens
            than its target.
        tokenizer_lines: the text on which the tokenizer is trained: the parts that should become tokens. If it were
            trained on the pairs, its tokens would be whatever is frequent, such as "undvierzig" or "tausendvier".
        one_token_each: whether each word of a source is one token.
    """

    draw: Callable[[random.Random, Bounds], str]
    answer: Callable[[str], str | None]
    examples: tuple[str, ...]
    tokenizer_lines: Callable[[], list[str]]
    one_token_each: bool = False


def toy_pairs(
    task: str, seed: int, count: int, bounds: Bounds | None = None, *, epoch: int = 0
) -> list[tuple[str, str]]:
    """`count` pairs for training. Pairs may repeat.

    Raises:
        ConfigError: the bounds leave no pair to draw.
    """
    return _pairs(task, f"{task} {seed} {epoch} False", count, bounds, False)


def held_out_pairs(task: str, seed: int, count: int, bounds: Bounds | None = None) -> list[tuple[str, str]]:
    """As `toy_pairs`, for validation."""
    return _pairs(task, f"{task} {seed} 0 True", count, bounds, True)


def _pairs(task: str, seed: str, count: int, bounds: Bounds | None, held_out: bool) -> list[tuple[str, str]]:
    rng = random.Random(seed)  # Python seeds from a str the same way everywhere
    draw, answer, bounds = TOY_TASKS[task].draw, TOY_TASKS[task].answer, bounds or Bounds()
    pairs: list[tuple[str, str]] = []
    misses = 0
    while len(pairs) < count:
        source = draw(rng, bounds)
        if is_held_out(source) == held_out and (target := answer(source)) is not None:
            pairs.append((source, target))
            misses = 0
        elif (misses := misses + 1) == ATTEMPTS:
            raise ConfigError(
                f"The toy task {task} has no pair for {'validation' if held_out else 'training'} within its bounds. "
                "Raise data.toy_max_length or data.toy_symbols for letters, data.toy_max_number for numbers."
            )
    return pairs


def is_held_out(source: str) -> bool:
    """Whether a source belongs to validation. It depends on the text alone."""
    digest = hashlib.blake2b(source.encode(), digest_size=8).digest()
    return bool(re.search(r"[\s-]", source)) and int.from_bytes(digest) < HELD_OUT_SHARE * 2**64


# Letters


def _draw_letters(rng: random.Random, bounds: Bounds) -> str:
    letters = string.ascii_lowercase[: bounds.symbols]
    return " ".join(rng.choices(letters, k=rng.randint(bounds.min_length, bounds.max_length)))


def _letter_task(change: Callable[[list[str]], list[str]], *examples: str) -> ToyTask:
    def answer(source: str) -> str | None:
        letters = source.split()
        return " ".join(change(letters)) if letters and set(letters) <= set(string.ascii_lowercase) else None

    def tokenizer_lines() -> list[str]:
        return [f"{letter} {letter} {letter}" for letter in string.ascii_lowercase]

    return ToyTask(_draw_letters, answer, examples, tokenizer_lines, one_token_each=True)


# Numbers. num2words is slow, and the same numbers occur again and again.

ROOTS = [*range(20), *range(20, 100, 10)]  # the numbers whose names are not compounds


def _draw_number(rng: random.Random, bounds: Bounds) -> str:
    """A number up to 9, up to 99, up to 999 and so on, each with equal probability; otherwise small numbers would be
    very rare."""
    digits = rng.randint(1, len(str(bounds.max_number)))
    return _english(rng.randint(0, min(10**digits - 1, bounds.max_number)))


def _german_of_english(words: str) -> str | None:
    """ "one thousand, nine hundred and eighty-four" -> the German words for 1984."""
    words = words.strip().lower()
    total = part = 0
    for word in re.split(r"[\s,-]+", words):
        if word in ("thousand", "million"):
            total, part = total + part * (1000 if word == "thousand" else 1_000_000), 0
        elif word == "hundred":
            part *= 100
        else:
            part += _roots().get(word, 0)
    number = total + part
    return _german(number) if number < 10**9 and _english(number) == words else None


def _number_lines() -> list[str]:
    english = {*_roots(), "hundred", "thousand", "million", "and"}
    german = {_german(n) for n in ROOTS} | {"hundert", "tausend", "und", "ein", "eine", "Million", "Millionen"}
    # Each part occurs at the start of a word and, after the hyphen, inside a word. A token never crosses a hyphen, so a
    # token never has two parts.
    return [f"{part}, {part}-{part}" for part in sorted(english | german)]


@cache
def _roots() -> dict[str, int]:
    return {_english(n): n for n in ROOTS}


@lru_cache(100_000)
def _english(number: int) -> str:
    return num2words(number)


@lru_cache(100_000)
def _german(number: int) -> str:
    return num2words(number, lang="de")


TOY_TASKS = {
    "copy": _letter_task(lambda letters: letters, "h e a d l i g h t", "a b c d e f g", "t h e t h e"),
    "reverse": _letter_task(lambda letters: letters[::-1], "h e a d l i g h t", "a b c d e f g", "t h e t h e"),
    "sort": _letter_task(sorted, "h e a d l i g h t", "g f e d c b a", "t h e t h e"),
    "numbers": ToyTask(
        _draw_number,
        _german_of_english,
        ("forty-two", "three hundred and sixty-five", "one thousand, nine hundred and eighty-four"),
        _number_lines,
    ),
}
