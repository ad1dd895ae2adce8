"""Text that is probably not what a user meant is warned about before training; good text never is."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.bilingual_text import PAIRS
from tests.support.small_training import corpus_recipe, write_pairs
from transformer.config import TokenizerConfig
from transformer.data.corpus import Pair
from transformer.data.mix_options import MixPart
from transformer.data.text_warnings import FREQUENT
from transformer.data.toy_tasks import toy_pairs
from transformer.data.training_data import TrainingData
from transformer.text.tokenizer import Tokenizer
from transformer.training import train

# Frequent words of each language, and 280 others.
ENGLISH = [
    f"{start}{middle}{end}" for start in "btrslmpk" for middle in ("ea", "ou", "ee", "oo", "i") for end in "tdnmkpl"
]
GERMAN = [f"{word.capitalize()}{end}" for word in ENGLISH[:140] for end in ("cht", "sse")]
GOOD = [
    (f"you have the {english} of {english}{i}", f"ich bin mit der {german} und {german}{i}")
    for i, (english, german) in enumerate(zip(ENGLISH, GERMAN, strict=True))
]


def warned(folder: Path, pairs: list[Pair], given: Tokenizer | None = None, **data: Any) -> list[str]:
    recipe = corpus_recipe(folder, sampling=0.0)
    write_pairs(folder / "corpus.tsv", pairs)
    recipe = replace(recipe, data=replace(recipe.data, valid_size=5, **data))
    return TrainingData(recipe, folder / "run", given).warnings()


NAMES = [(f"Anna {number}", f"Anna {number}") for number in range(300)]  # the same in both languages
NUMBERS = [(str(number), target) for number, (_, target) in enumerate(toy_pairs("numbers", 1, 300))]


@pytest.mark.parametrize(
    "pairs",
    [
        GOOD,
        NAMES,
        NUMBERS,
        [*GOOD, *[(source, source) for source, _ in GOOD[:20]]],
        [(source + "." * i, target) for i, (source, target) in enumerate(NAMES)],
        [*GOOD, *[("Yes.", f"Ja. {i}") for i in range(100)], *[(f"{i}.", f"{i}.") for i in range(200)]],
        GOOD[:60],
    ],
)
def test_good_text_is_not_warned_about(pairs: list[Pair], tmp_path: Path) -> None:
    assert warned(tmp_path, pairs) == []


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([*GOOD, *[(source, source) for source, _ in GOOD[:70]]], "same text in 20% of the pairs of 4 words or more"),
        ([(source, source) for source, _ in GOOD], "same text in 100% of the pairs"),
        ([(str(100 + i), target) for i, (_, target) in enumerate(GOOD)], "100% of the sources have no letters"),
        ([(source, f"0.{i}") for i, (source, _) in enumerate(GOOD)], "100% of the targets have no letters"),
        ([(target, source) for source, target in GOOD], "To train de -> en: --set data.source_language=de --set"),
    ],
)
def test_a_wrong_column_is_warned_about(pairs: list[Pair], expected: str, tmp_path: Path) -> None:
    (warning,) = warned(tmp_path, pairs)
    assert expected in warning
    assert warning.startswith(str(tmp_path / "corpus.tsv"))
    assert "data.source_column" in warning


def test_the_advice_for_exchanged_languages_concerns_the_part_alone(tmp_path: Path) -> None:
    exchanged = [(target, source) for source, target in GOOD]
    good = write_pairs(tmp_path / "good.tsv", GOOD)
    mix = MixPart(file=str(tmp_path / "corpus.tsv")), MixPart(file=str(good))
    for data, advice in (
        ({"train": (), "mix": mix}, "Set swapped = true for this part"),
        ({"train": (str(tmp_path / "corpus.tsv"), str(good))}, "Exchange its sources and its targets."),
    ):
        (warning,) = warned(tmp_path, exchanged, **data)
        assert advice in warning
        assert "--set" not in warning


def test_a_column_of_labels_is_warned_about(tmp_path: Path) -> None:
    valid = write_pairs(tmp_path / "valid.tsv", [("en", "word")])
    (warning,) = warned(tmp_path, [("en", target) for _, target in GOOD], valid=str(valid))
    assert "100% of the sources are the same text ('en'), so this is a column of labels" in warning


def test_the_frequent_words_are_of_one_language_each() -> None:
    words = [word for language in FREQUENT.values() for word in language]
    assert len(set(words)) == len(words)


def test_more_pairs_for_validation_than_for_training_are_warned_about(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    write_pairs(tmp_path / "corpus.tsv", GOOD)
    data = TrainingData(replace(recipe, data=replace(recipe.data, valid_size=180)), tmp_path / "run")
    (warning,) = data.warnings()
    assert warning == "180 pairs are set aside for validation, and only 100 are left for training. Lower " + (
        "data.valid_size = 180, for example to 14."
    )
    one_source = [(GOOD[0][0], target) for _, target in GOOD[20:]]
    write_pairs(tmp_path / "corpus.tsv", [*one_source, *GOOD[1:20]])
    data = TrainingData(replace(recipe, data=replace(recipe.data, valid_size=20)), tmp_path / "other")
    assert len(data.valid_pairs) > 150
    assert "a lower data.valid_size may not help: give separate validation text" in data.warnings()[0]


def test_a_vocabulary_from_elsewhere_that_spells_the_text_is_warned_about(tmp_path: Path) -> None:
    def learnt(lines: list[str], size: int = 700) -> Tokenizer:
        return Tokenizer.train(lines, TokenizerConfig(vocab_size=size))

    pairs = [(f"{source} {i}", f"{target} {i}") for i in range(5) for source, target in PAIRS]
    assert warned(tmp_path, pairs, learnt([side for pair in pairs for side in pair])) == []
    (bytes_only,) = warned(tmp_path, pairs, learnt(["καλημέρα κόσμε"] * 50))
    assert "of the characters of the sources are not in the vocabulary" in bytes_only
    assert "--own-vocabulary" in bytes_only
    (letters,) = warned(tmp_path, pairs, learnt([" ".join({*"".join(map("".join, pairs))})] * 50))
    assert "of the letters of the sources become tokens of one letter" in letters


def test_a_new_run_prints_its_warnings_before_it_trains_and_a_resumed_one_does_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = corpus_recipe(tmp_path, updates=1)
    write_pairs(tmp_path / "corpus.tsv", [(target, source) for source, target in GOOD])
    with caplog.at_level(logging.WARNING):
        train(recipe, tmp_path / "run", device="cpu")
        assert caplog.text.count("Warning: ") == 1
        caplog.clear()
        longer = replace(recipe, training=replace(recipe.training, updates=2))
        train(longer, tmp_path / "run", resume=True, device="cpu")
        assert "Warning: " not in caplog.text
