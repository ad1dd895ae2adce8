"""Findings about weights: dead units, invalid values, training without the causal mask."""

from collections.abc import Callable

import pytest
import torch

from tests.support.findings import LETTERS, PRETRAINED, named
from transformer.analysis.doctor import diagnose, examine, examine_checkpoint
from transformer.analysis.doctor.weight_findings import examine_weights
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator
from transformer.model import Transformer

Ill = Callable[[Transformer], None]


def test_dead_units_are_counted(reverse: Translator) -> None:
    hidden = reverse.model.encoder.layers[1].feed_forward.hidden
    hidden.bias.data[: hidden.bias.numel() // 2] -= 1000
    finding = named(diagnose(reverse, LETTERS))["dead_units"]
    assert finding.says.startswith("50% of the 128 units of encoder layer 2")
    assert "1 of 3 layers" in finding.says


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_dead_units_are_zero_for_all_inputs_and_others_are_not(norm: str) -> None:
    """Against brute force: what many random vectors, normalised by the LayerNorm before them, make of each unit."""
    torch.manual_seed(0)
    size = {"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 8}
    model = Transformer(ModelConfig(vocab_size=20, norm=norm, **size)).eval()  # type: ignore[arg-type]
    layer = model.decoder.layers[0]
    before = (layer.feed_forward_residual if norm == "pre" else layer.cross_attention_residual).norm
    with torch.no_grad():
        before.weight.uniform_(0.5, 2)
        before.bias.uniform_(-1, 1)
        layer.feed_forward.hidden.bias[:4] = -30
        fires = layer.feed_forward.hidden(before(torch.randn(10_000, 16))).amax(dim=0) > 0
    assert fires.tolist() == [False] * 4 + [True] * 4
    assert named(tuple(examine_weights(model)))["dead_units"].says.startswith("50% of the 8 units of decoder layer 1")


@pytest.mark.parametrize(
    ("ill", "name", "says"),
    [
        (lambda model: model.encoder.norm.weight[3].fill_(80.0), "large_gains", "encoder.norm reaches 80"),
        (lambda model: model.output.weight[5, 5].fill_(torch.nan), "not_finite", "1 of "),
        (lambda model: model.encoder.layers[0].self_attention.value.weight.zero_(), "zero_weights", "1 of "),
    ],
)
def test_invalid_weights_are_named(reverse: Translator, ill: Ill, name: str, says: str) -> None:
    with torch.no_grad():
        ill(reverse.model)
    finding = named(examine_checkpoint(reverse).findings)[name]
    assert says in finding.says
    translation = Translator.load(PRETRAINED / "reverse.safetensors").translate(LETTERS).sentences[0]
    found = examine(reverse, examine_checkpoint(reverse), translation, translation.hypotheses[0])
    assert named(found)[name] == finding


def test_training_without_the_causal_mask_is_reported() -> None:
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 8}
    for causal in (True, False):
        model = Transformer(ModelConfig(vocab_size=20, causal_training=causal, **sizes))  # type: ignore[arg-type]
        assert [finding.name for finding in examine_weights(model)] == ([] if causal else ["no_causal_mask"])
