"""A corpus of a million pairs is read, cut into pieces and trained on in memory that any laptop has."""

import resource
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.training.small import MODEL
from transformer.config import DataConfig, Recipe, TokenizerConfig, TrainingConfig
from transformer.text.toy import toy_pairs
from transformer.training import train

PAIRS = 1_000_000
MOST = 3.0  # GB, of which torch is half a one


def write_corpus(path: Path) -> None:
    """English numbers and German ones."""
    with path.open("w", encoding="utf-8") as file:
        for source, target in toy_pairs("numbers", 1, PAIRS, max_number=999_999_999):
            file.write(f"{source}\t{target}\n")


def learn(corpus: Path, folder: Path) -> None:
    """Trains for a few updates, in a process that says how much memory it needed."""
    recipe = Recipe(
        model=MODEL,
        tokenizer=TokenizerConfig(vocab_size=500),
        data=DataConfig(train=(str(corpus),), valid_size=100, tokens_per_batch=2000),
        training=TrainingConfig(updates=5, warmup=2, validate_every=5, save_every=5, validation_sentences=20),
    )
    train(recipe, folder, device="cpu")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes, of ru_maxrss
    (folder / "peak").write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit))


@pytest.mark.soak
def test_a_million_pairs_are_trained_on_in_little_memory(tmp_path: Path) -> None:
    corpus, folder = tmp_path / "corpus.tsv", tmp_path / "run"
    write_corpus(corpus)
    process = get_context("spawn").Process(target=learn, args=(corpus, folder))
    process.start()
    process.join()
    assert process.exitcode == 0
    peak = int((folder / "peak").read_text()) / 1e9
    print(f"{PAIRS:,} pairs, {corpus.stat().st_size / 1e6:.0f} MB of text: {peak:.2f} GB at most")
    assert peak < MOST
