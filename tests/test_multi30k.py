"""How the literature on Multi30k tokenizes text before it is scored (tests/benchmarks/multi30k.py)."""

import json
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from tests.benchmarks.multi30k import WORDS, as_in_the_literature, tokenized_bleu

PRETRAINED = Path(__file__).parents[1] / "pretrained"


def test_german_captions_are_cut_as_the_script_of_the_data_set_cuts_them() -> None:
    """Lower-cased, quotes made plain, punctuation apart, hyphens within words kept, brackets written as entities."""
    lines = ["Ein T-Shirt, z.B. ein „gelbes“ (mit 3,50 €).", "Zwei Männer stehen am Herd…"]
    assert as_in_the_literature(lines) == [
        "ein t-shirt , z.b. ein &quot; gelbes &quot; ( mit 3,50 € ) .",
        "zwei männer stehen am herd ...",
    ]


def test_case_and_quotes_cost_nothing_there_and_do_on_plain_text() -> None:
    references = ["Ein Mann mit einem „Hut“ steht vor einem großen Haus."] * 2
    outputs = ['ein Mann mit einem "Hut" steht vor einem großen Haus.'] * 2
    scored = tokenized_bleu(outputs, references)
    assert scored["bleu"] == pytest.approx(100.0)
    assert scored["reference_words"] == 2 * 13
    assert "tok:none" in str(scored["bleu_signature"])
    assert "lower-cased" in str(scored["bleu_signature"])
    assert BLEU().corpus_score(outputs, [references]).score < 90


def test_the_card_of_the_model_that_ships_has_the_scores_that_were_printed() -> None:
    """By `python -m tests.benchmarks.multi30k`, on texts that are not in this repository."""
    card = (PRETRAINED / "multi30k-en-de.md").read_text(encoding="utf-8")
    lines = (PRETRAINED / "multi30k-en-de.scores.jsonl").read_text(encoding="utf-8").splitlines()
    scores = {found["data"]: found for found in map(json.loads, lines)}
    for name in WORDS:
        plain, tokenized = scores[f"{name}.tsv.gz"], scores[f"{name}, tokenized"]
        assert f"| {name} | {plain['bleu']:.1f} | {plain['chrf']:.1f} | {tokenized['bleu']:.1f} |" in card
        assert tokenized["reference_words"] == WORDS[name]
        assert tokenized["bleu_signature"] in card
    assert "non-commercial research and education only" in card.lower()
