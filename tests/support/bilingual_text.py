"""A small bilingual text, and a tokenizer of each kind that was trained on it."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from transformer.config import TokenizerConfig
from transformer.text.tokenizer import Tokenizer

ANIMALS = [("dog", "Hund"), ("cat", "Kater"), ("bird", "Vogel"), ("horse", "Gaul"), ("hedgehog", "Igel")]
ACTIONS = [("sleeps", "schläft"), ("is hungry", "hat Hunger"), ("crossed the street", "überquerte die Straße")]
REASONS = [
    ("", ""),
    (" because it was too tired", ", weil er zu müde war"),
    (', they say: "now"', ', sagt man: "jetzt"'),
]
PAIRS = [
    (f"The {en} {does}{why}.", f"Der {de} {tut}{warum}.")
    for (en, de), (does, tut), (why, warum) in itertools.product(ANIMALS, ACTIONS, REASONS)
]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    return PAIRS


@pytest.fixture(scope="session")
def lines() -> list[str]:
    return [side for pair in PAIRS for side in pair]


@pytest.fixture(scope="session")
def unigram(lines: list[str]) -> Tokenizer:
    return Tokenizer.train(lines, TokenizerConfig(kind="unigram", vocab_size=400))


@pytest.fixture(scope="session")
def bpe(lines: list[str]) -> Tokenizer:
    return Tokenizer.train(lines, TokenizerConfig(kind="bpe", vocab_size=400))


@pytest.fixture(params=["unigram", "bpe"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    found: Tokenizer = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def in_new_process() -> Callable[[str, bytes], str]:
    """Runs a few lines of Python in a process of its own, with something on its standard input; what it printed."""

    def run(code: str, given: bytes = b"") -> str:
        done = subprocess.run([sys.executable, "-c", code], input=given, cwd=ROOT, capture_output=True, check=True)
        return done.stdout.decode().strip()

    return run
