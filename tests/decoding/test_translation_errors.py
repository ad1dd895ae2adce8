"""Whatever cannot be translated has an error message, and the other sentences are translated once."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.support.small_decoding import LINES, translator
from transformer.config import DecodingConfig
from transformer.decoding import Translator
from transformer.decoding import search as search_module
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.reranking import reverse_scores
from transformer.decoding.translation import Translation
from transformer.errors import TranslationError
from transformer.model import Transformer


@pytest.mark.parametrize("text", ["", " \n\t ", "\n\n", "\u200b"])
def test_empty_text_is_refused(text: str) -> None:
    with pytest.raises(TranslationError, match="There is nothing to translate"):
        translator().translate(text)


def test_a_sentence_that_is_too_long_is_refused_with_its_number_and_the_limit() -> None:
    assert translator().max_length == 59
    fits = " ".join(["cat"] * 200)
    while len(translator().tokenizer.encode(fits)) > 59:
        fits = fits.rpartition(" ")[0]
    translator().translate(fits)
    with pytest.raises(TranslationError, match=r"The sentence .*cat ….* has \d+ tokens, .* at most 59\. Split it"):
        translator().translate(fits + " cat cat")
    with pytest.raises(TranslationError, match="Sentence 2 of 3"):
        translator().translate_sentences(["A dog.", fits + " cat cat", "A dog."])


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sentences each search was given."""
    counted: list[int] = []

    def search(model: Any, sources: Any, *rest: Any) -> Any:
        counted.append(len(sources))
        return search_module.search(model, sources, *rest)

    monkeypatch.setattr("transformer.decoding.translator.search", search)
    return counted


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many hypotheses each decoding step continued."""
    counted: list[int] = []
    original = FastTransformer.step

    def step(self: FastTransformer, tokens: torch.Tensor, state: Any) -> torch.Tensor:
        counted.append(len(tokens))
        return original(self, tokens, state)

    monkeypatch.setattr(FastTransformer, "step", step)
    return counted


SEARCHES = [DecodingConfig(method="greedy"), DecodingConfig(beam=3, n_best=2)]


@pytest.mark.parametrize("settings", SEARCHES, ids=["greedy", "beam"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_sentences_that_cannot_be_translated_have_their_errors_and_the_others_are_translated_once(
    settings: DecodingConfig, number: float, searches: list[int]
) -> None:
    """One sentence is too long, and one has a token whose embedding is not finite."""
    tokenizer = translator().tokenizer
    torch.manual_seed(0)
    model = Transformer(replace(translator().model.config, shared_embeddings=False)).double().eval()
    good = [line for line in LINES if "loud" not in line]
    damaged = set(tokenizer.encode("loud")) - {id for line in good for id in tokenizer.encode(line)}
    assert damaged
    with torch.no_grad():
        model.encoder.embedding.tokens.weight[list(damaged)] = number
    by = Translator(model, tokenizer, settings)
    alone = [by.translate_sentences([line])[0] for line in good]
    searches.clear()
    first, too_long, second, not_finite, *others = by.translate_each(
        [good[0], "cat " * 300, good[1], "It is loud!", *good[2:]]
    )
    assert isinstance(too_long, TranslationError)
    assert str(too_long).startswith("The sentence ('cat cat")
    assert isinstance(not_finite, TranslationError)
    assert "NaN" in str(not_finite)
    assert searches == [5], "four sentences that can be translated and the one whose numbers are not finite"
    for found, wanted in zip([first, second, *others], alone, strict=True):
        assert isinstance(found, Translation)
        assert found.source_ids == wanted.source_ids
        assert [one.ids for one in found.hypotheses] == [one.ids for one in wanted.hypotheses]
        assert [one.score for one in found.hypotheses] == pytest.approx([one.score for one in wanted.hypotheses])


@pytest.mark.parametrize("settings", SEARCHES, ids=["greedy", "beam"])
def test_weights_that_are_nan_are_searched_once_and_every_sentence_has_the_error(
    settings: DecodingConfig, searches: list[int], steps: list[int]
) -> None:
    broken = Transformer(translator().model.config).eval()
    torch.nn.init.constant_(broken.output.weight, torch.nan)
    by = Translator(broken, translator().tokenizer, settings)
    found = by.translate_each(["A dog."] * 8)
    assert all(isinstance(error, TranslationError) and "NaN" in str(error) for error in found)
    assert searches == [8]
    assert len(steps) <= broken.config.max_positions
    with pytest.raises(TranslationError, match="NaN"):
        by.translate_sentences(["A dog."] * 8)
    assert searches == [8, 8]


def test_scores_that_are_nan_are_reported() -> None:
    broken = Transformer(translator().model.config).eval()
    torch.nn.init.constant_(broken.output.weight, torch.nan)
    for method in ("greedy", "beam", "sampling"):
        with pytest.raises(TranslationError, match="NaN"):
            Translator(broken, translator().tokenizer).translate("A dog.", method=method)
    with pytest.raises(TranslationError, match="NaN"):
        Translator(broken, translator().tokenizer).score("A dog.", "A cat.")
    with pytest.raises(TranslationError, match="NaN"):
        reverse_scores(Translator(broken, translator().tokenizer), [("A dog.", "A cat.")])
