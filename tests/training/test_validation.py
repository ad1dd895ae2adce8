"""The numbers of a validation equal the same numbers computed another way."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tests.support.small_training import toy_recipe
from transformer.config import PAD, DecodingConfig, ModelConfig, TokenizerConfig
from transformer.data.batches import batch_indices, collate
from transformer.data.encoding import encode_pairs
from transformer.data.toy_tasks import TOY_TASKS, toy_pairs
from transformer.decoding.request import Request
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.errors import TrainingError
from transformer.evaluation import score
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.training.validation import ValidationText, greedy_translations, validate


def test_a_validation_reports_the_mean_over_all_tokens_and_the_scores_of_greedy_translations() -> None:
    recipe = toy_recipe(validation_sentences=12, precision="float32")
    tokenizer = Tokenizer.train(TOY_TASKS["numbers"].tokenizer_lines(), recipe.tokenizer)
    torch.manual_seed(3)
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size, encoder_layers=1, decoder_layers=1, d_model=16, d_ff=16, heads=2, dropout=0.5
    )
    model = Transformer(config).train()  # dropout is switched off for a validation
    pairs = [*toy_pairs("numbers", 1, 20), ("one", "eins"), ("one", "ein")]
    encoded = encode_pairs(tokenizer, pairs, 60)
    batches = [collate(*encoded.select(rows)) for rows in batch_indices(*encoded.lengths, 60, 0, 0)]
    found = validate(model, ValidationText(tokenizer, batches, pairs), recipe, update=7)

    assert len({batch.target_tokens for batch in batches}) > 1
    with torch.no_grad():
        logits = [model(batch.source, batch.target).flatten(0, 1) for batch in batches]
    labels = torch.cat([batch.labels.flatten() for batch in batches])
    together = torch.cat(logits)
    loss = float(cross_entropy(together, labels, ignore_index=PAD))
    assert found["loss"] == pytest.approx(loss, rel=1e-5)
    assert found["perplexity"] == pytest.approx(math.exp(loss), rel=1e-4)
    due = labels != PAD
    assert found["accuracy"] == pytest.approx(float((together.argmax(-1) == labels)[due].float().mean()))

    sources = list(dict.fromkeys(source for source, _ in pairs))[:12]
    references = [list(dict.fromkeys(target for source, target in pairs if source == wanted)) for wanted in sources]
    greedy = DecodingConfig(method="greedy", max_extra_length=recipe.decoding.max_extra_length)
    outputs = [each.text for each in Translator(model, tokenizer).translate_sentences(sources, greedy)]
    expected = score(outputs, references)
    assert {name: found[name] for name in expected} == expected
    assert any(outputs)


def test_a_nan_loss_is_reported_with_its_update_and_that_the_saved_state_is_good() -> None:
    recipe = toy_recipe()
    tokenizer = Tokenizer.train(TOY_TASKS["reverse"].tokenizer_lines(), recipe.tokenizer)
    model = Transformer(replace(recipe.model, vocab_size=tokenizer.vocab_size))
    with torch.no_grad():
        model.output.weight[:] = torch.nan
    pairs = toy_pairs("reverse", 1, 3)
    batch = collate(*encode_pairs(tokenizer, pairs, 60).select(np.arange(3)))
    with pytest.raises(TrainingError, match=r"infinite after update 7:.* saved state is good\. Continue .*--resume"):
        validate(model, ValidationText(tokenizer, [batch], pairs), recipe, update=7)


def test_translations_of_a_validation_read_first_words_as_a_translator_will(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer.train(["the ship sails, the ship waits"] * 20, TokenizerConfig(vocab_size=300))
    model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, encoder_layers=1, decoder_layers=1, d_model=16))
    read: list[str] = []

    def noted(requests: list[Request], *_rest: object) -> list[Translation]:
        read.extend(each.source for each in requests)
        return [Translation(each.source, (), (), (), (), DecodingConfig()) for each in requests]

    monkeypatch.setattr(Translator, "_search", lambda _self, *given: noted(*given))
    for first_words in (True, False):
        greedy_translations(model.eval(), ValidationText(tokenizer, (), (), first_words), ["The ship sails"], 9)
    assert read == ["the ship sails", "The ship sails"]
