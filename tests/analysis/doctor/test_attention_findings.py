"""Findings about attention, in models that were damaged for them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.findings import LETTERS, named
from transformer.analysis.doctor import Head, diagnose, examine, examine_checkpoint
from transformer.analysis.doctor.attention_findings import flatness
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator


def test_a_decoder_without_its_source_is_found(reverse: Translator) -> None:
    for layer in reverse.model.decoder.layers:
        layer.cross_attention.output.weight.data.mul_(1e-4)
    found = named(diagnose(reverse, LETTERS))
    assert "by only 0.0%" in found["ignores_source"].says
    assert found["ignores_source"].head == Head("cross", 0, 0)


def test_flat_encoder_decoder_attention_is_found_and_measured(reverse: Translator) -> None:
    for layer in reverse.model.decoder.layers:
        layer.cross_attention.query.weight.data.mul_(0.02)
        layer.cross_attention.query.bias.data.zero_()
    found = named(diagnose(reverse, LETTERS))
    assert found["flat_attention"].says.startswith("All 4 heads")
    assert "special_head" not in found
    assert "same_head" not in found  # flat says it all
    translation = reverse.translate(LETTERS).sentences[0]
    site = "decoder.layers.0.cross_attention.weights"
    weights = trace(reverse.model, translation.source_ids, translation.hypotheses[0].ids, [site])[site].astype(float)
    by_hand = [-np.mean([np.sum(row * np.log(row)) for row in head]) / np.log(weights.shape[-1]) for head in weights]
    assert flatness(weights[None])[0] == pytest.approx(by_hand)
    assert f"{min(by_hand):.1%}" in found["flat_attention"].says


def test_a_flat_head_that_has_no_others_is_called_the_only_one(tmp_path: Path) -> None:
    translator = Translator.load(write_checkpoint(tmp_path / "small.safetensors", Size(1, 1, 1)))
    query = translator.model.decoder.layers[0].cross_attention.query
    query.weight.data.zero_()
    query.bias.data.zero_()
    found = named(diagnose(translator, "the cat sat on the mat"))
    assert found["flat_attention"].says.startswith("The only head of encoder-decoder attention attends")
    assert "its rows is at least 100.0%" in found["flat_attention"].says


def test_a_head_that_attends_to_the_end_only_is_named(reverse: Translator) -> None:
    translation = reverse.translate(LETTERS).sentences[0]
    memory = trace(reverse.model, translation.source_ids, translation.hypotheses[0].ids, ["encoder.norm_out"])
    states = torch.tensor(memory["encoder.norm_out"])  # (S, D)
    attention, width = reverse.model.decoder.layers[0].cross_attention, reverse.model.config.d_k
    with torch.no_grad():  # head 3 asks every key how much it is like that of </s>
        attention.query.weight[2 * width : 3 * width] = 0
        attention.query.bias[2 * width : 3 * width] = 20
        attention.key.weight[2 * width : 3 * width] = states[-1] - states[:-1].mean(dim=0)
    finding = named(examine(reverse, examine_checkpoint(reverse), translation, translation.hypotheses[0]))[
        "special_head"
    ]
    assert finding.head == Head("cross", 0, 2)
    assert finding.says == "Head 1.3 of encoder-decoder attention attends to </s> with 100% of its weight."


def test_a_head_with_equal_rows_is_named(reverse: Translator) -> None:
    attention, width = reverse.model.encoder.layers[1].self_attention, reverse.model.config.d_k
    with torch.no_grad():
        attention.query.weight[:width] = 0
    finding = named(diagnose(reverse, LETTERS))["same_head"]
    assert finding.head == Head("encoder", 1, 0)
    assert "Head 2.1 of encoder self-attention" in finding.says
