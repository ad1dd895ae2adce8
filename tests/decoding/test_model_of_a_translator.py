"""The model that a translator searches with: that of a checkpoint, its inference copy, changed weights, edits."""

import copy
from pathlib import Path

import pytest
import torch

from tests.support.small_decoding import LINES, SETTINGS, translator
from transformer.analysis.edits import Edit, MaskCell, PositionsShuffled, PositionsSwapped, model_edits
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.config import DecodingConfig
from transformer.decoding import Translator
from transformer.decoding.fast.fast_transformer import FastTransformer
from transformer.decoding.fast.search_model import search_model
from transformer.errors import CheckpointError


def test_the_inference_copy_is_used_on_a_cpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere nobody has measured that it is faster: tried on a CPU that does not say that it is one."""
    expected = first_probability(translator())
    assert isinstance(search_model(translator().model), FastTransformer)
    monkeypatch.setattr(torch.Tensor, "is_cpu", False)
    assert search_model(translator().model) is translator().model
    other = Translator(translator().model, translator().tokenizer, SETTINGS)
    assert first_probability(other) == pytest.approx(expected, abs=1e-6)


def first_probability(by: Translator) -> float:
    """The log-probability of the first token of a translation."""
    return by.translate("The cat sat.").sentences[0].hypotheses[0].log_probabilities[0]


def test_changed_weights_are_used_in_the_next_translation() -> None:
    model = copy.deepcopy(translator().model)
    changed = Translator(model, translator().tokenizer)
    before = changed.translate("The cat sat.")
    with torch.no_grad():
        for layer in model.decoder.layers:
            layer.cross_attention.output.weight.neg_()
    expected = Translator(model, translator().tokenizer).translate("The cat sat.")
    first = copy.copy(changed).translate_ids(before.sentences[0].source_ids)
    assert first.score == expected.sentences[0].hypotheses[0].score
    after = changed.translate("The cat sat.")
    assert after.sentences[0].hypotheses[0].score == expected.sentences[0].hypotheses[0].score
    assert after.sentences[0].hypotheses[0].score != before.sentences[0].hypotheses[0].score


def test_a_checkpoint_is_loaded_with_the_settings_of_its_recipe(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    model, tokenizer = translator().model, translator().tokenizer
    save_checkpoint(path, TrainedModel(model, tokenizer, {"decoding": {"beam": 3, "alpha": 1.0}}))
    loaded = Translator.load(path)
    assert loaded.settings == DecodingConfig(beam=3, alpha=1.0)
    assert loaded.checkpoint is not None
    expected = Translator(model, tokenizer, loaded.settings).translate("The cat sat.")
    assert loaded.translate("The cat sat.").text == expected.text
    save_checkpoint(path, TrainedModel(model, tokenizer))
    assert Translator.load(path).settings == DecodingConfig()
    with pytest.raises(CheckpointError):
        Translator.load(tmp_path / "none.safetensors")


def test_a_checkpoint_may_be_loaded_in_inference_mode(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_checkpoint(path, TrainedModel(translator().model, translator().tokenizer))
    with torch.inference_mode():
        loaded = Translator.load(path)
        inside = loaded.translate("The cat sat.").text
    assert loaded.translate("The cat sat.").text == Translator.load(path).translate("The cat sat.").text == inside


@pytest.mark.parametrize("decoding", [5, 0, [1], [], "x", None, True, {"beam": "3"}, {"beem": 3}, {"alpha": [[]]}])
def test_a_checkpoint_with_invalid_decoding_settings_can_be_used(decoding: object, tmp_path: Path) -> None:
    path, model = tmp_path / "model.safetensors", translator().model
    save_checkpoint(path, TrainedModel(model, translator().tokenizer, {"decoding": decoding}))
    loaded = Translator.load(path)
    assert loaded.settings == DecodingConfig()
    assert loaded.translate("The cat sat.").text


def test_a_search_of_an_edited_translator_applies_the_edits_in_every_step() -> None:
    by = translator()
    silent = by.edited({"logits": lambda logits: torch.zeros_like(logits)})
    found = silent.translate("dog cat", method="greedy", n_best=1).sentences[0].hypotheses[0]
    even = -torch.tensor(float(by.model.config.vocab_size)).log().item()
    assert found.log_probabilities == pytest.approx([even] * len(found.ids), abs=0.1)
    assert by.translate("dog cat", method="greedy", n_best=1).sentences[0].hypotheses[0] != found


@pytest.mark.parametrize(
    "edit",
    [PositionsSwapped(0, 8), PositionsShuffled(3), MaskCell("cross", None, None, 1, 9, True),
     MaskCell("encoder", 0, 1, 1, 9, True)],
    ids=str,
)  # fmt: skip
def test_edits_of_positions_and_of_cells_do_not_depend_on_the_padding_of_a_batch(edit: Edit) -> None:
    by = translator()
    edited = by.edited(model_edits([edit], by.model))
    twice = edited.edited({"logits": lambda logits: logits})
    for each in (edited, twice):
        together = each.translate_sentences(LINES)
        for line, found in zip(LINES, together, strict=True):
            (alone,) = each.translate_sentences([line])
            scores = [[one.score for one in translation.hypotheses] for translation in (found, alone)]
            assert scores[0] == pytest.approx(scores[1], abs=1e-9)
