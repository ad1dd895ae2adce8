"""Scores are sacrebleu's own, with as many references as a sentence has."""

import pytest
import sacrebleu
import torch

from transformer.config import DecodingConfig, ModelConfig, TokenizerConfig
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.evaluation import as_text, evaluate, group_by_source, score, sentence_score
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

OUTPUTS = ["Der Hund bellt laut im Garten.", "Ich heiße Anna, und du?", "Das ist ein kleines Haus."]
FIRST = ["Der Hund bellt laut im Hof.", "Ich heiße Anna und du?", "Dies ist ein kleines Haus."]


def test_scores_are_those_of_sacrebleu_on_plain_text() -> None:
    scores = score(OUTPUTS, [[line] for line in FIRST])
    assert scores["bleu"] == pytest.approx(sacrebleu.corpus_bleu(OUTPUTS, [FIRST]).score)
    assert scores["chrf"] == pytest.approx(sacrebleu.corpus_chrf(OUTPUTS, [FIRST]).score)
    version = sacrebleu.__version__
    assert scores["bleu_signature"] == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    assert scores["chrf_signature"] == f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version}"


def test_case_and_punctuation_count() -> None:
    reference = [["Ich heiße Anna, und du?"]]
    perfect = score(["Ich heiße Anna, und du?"], reference)["bleu"]
    assert perfect == pytest.approx(100)
    assert score(["ich heiße anna, und du?"], reference)["bleu"] != perfect
    assert score(["Ich heiße Anna und du"], reference)["bleu"] != perfect


def test_a_second_reference_counts_where_there_is_one() -> None:
    references = [[FIRST[0], OUTPUTS[0]], [FIRST[1]], [FIRST[2], "Es ist klein.", OUTPUTS[2]]]
    more = score(OUTPUTS, references)
    fewer = score(OUTPUTS, [[line] for line in FIRST])
    assert more["bleu"] > fewer["bleu"]  # type: ignore[operator]
    assert more["chrf"] > fewer["chrf"]  # type: ignore[operator]
    assert "nrefs:var" in str(more["bleu_signature"])
    # Every output equals one of its references once the second sentence has its own.
    assert score(OUTPUTS, [[*given, output] for given, output in zip(references, OUTPUTS, strict=True)])[
        "bleu"
    ] == pytest.approx(100)


def test_one_sentence_is_scored_as_sacrebleu_does_also_if_it_is_shorter_than_four_words() -> None:
    for output, reference in [*zip(OUTPUTS, FIRST, strict=True), ("Ja.", "Ja.")]:
        scores = sentence_score(output, [reference])
        expected = sacrebleu.sentence_bleu(output, [reference], use_effective_order=True)
        assert scores["bleu"] == pytest.approx(expected.score)
        assert scores["chrf"] == pytest.approx(sacrebleu.sentence_chrf(output, [reference]).score)
        assert "eff:yes" in str(scores["bleu_signature"])
    assert sentence_score("Ja.", ["Ja."])["bleu"] == pytest.approx(100)
    with pytest.raises(HeadlightError, match="at least one"):
        sentence_score("Ja.", [])


def test_rows_that_share_a_source_become_its_references_in_order() -> None:
    rows = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "1"), ("c", "4")]
    assert group_by_source(rows) == {"a": ["1", "3"], "b": ["2"], "c": ["4"]}
    assert list(group_by_source(rows)) == ["a", "b", "c"]


def test_the_reason_why_a_source_has_no_translation_is_reported() -> None:
    tokenizer = Tokenizer.train(OUTPUTS, TokenizerConfig(vocab_size=320))
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        encoder_layers=1,
        decoder_layers=1,
        d_model=8,
        d_ff=8,
        heads=1,
        max_positions=60,
    )
    broken = Transformer(config).eval()
    torch.nn.init.constant_(broken.output.weight, torch.nan)
    found = evaluate(Translator(broken, tokenizer), zip(OUTPUTS, FIRST, strict=True), DecodingConfig(method="greedy"))
    assert found["untranslated"] == 3
    assert "counted as empty: 3. The model's scores are NaN" in as_text(found)
    assert "too long" not in as_text(found)
    assert "3 sentences, 3 references," in as_text(found)
    assert "1 sentence, 1 reference," in as_text({**found, "sentences": 1, "references": 1})


@pytest.mark.parametrize(("outputs", "references"), [([], []), (["a"], [[]]), (["a", "b"], [["a"]])])
def test_nothing_to_score_is_an_error(outputs: list[str], references: list[list[str]]) -> None:
    with pytest.raises(HeadlightError, match="at least one"):
        score(outputs, references)
