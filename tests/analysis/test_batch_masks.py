"""The parts of a mask combine to the mask of the model, and padding does not change the numbers of a sentence."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.support.small_decoding import undecided
from transformer.analysis.batch_masks import mask_parts, padding_difference
from transformer.analysis.trace import trace_batch
from transformer.model import Transformer, census
from transformer.model.attention_kinds import Kind

SOURCES, TARGETS = [[8, 9, 10, 11, 3], [9, 3]], [[5, 6, 7, 8, 3], [6, 3]]
SITES: dict[Kind, str] = {
    "encoder": "encoder.layers.0.self_attention.mask",
    "decoder": "decoder.layers.0.self_attention.mask",
    "cross": "decoder.layers.0.cross_attention.mask",
}


@pytest.mark.parametrize("window", [None, 1, 2])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_parts_together_are_the_mask_of_the_model(kind: Kind, window: int | None) -> None:
    model = Transformer(replace(undecided().config, attention_window=window)).eval()
    for found in trace_batch(model, SOURCES, TARGETS, [SITES[kind]]):
        parts = mask_parts(model.config, found.source_ids, found.target_ids, kind)
        together = np.logical_and.reduce(list(parts.values()))
        assert (together == found[SITES[kind]]).all()  # the same for each head
        assert ("causal" in parts) == (kind == "decoder")
        assert ("window" in parts) == (kind != "cross" and window is not None)


def test_padding_does_not_change_the_values_of_the_shorter_sentence() -> None:
    differences = padding_difference(undecided(), SOURCES, TARGETS, row=1)
    assert differences.keys() == census(undecided().config).keys()
    assert max(differences.values()) < 1e-10


def test_without_the_padding_mask_there_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.model.masks.padding_mask", lambda ids: torch.ones_like(ids)[:, None, None] > 0)
    differences = padding_difference(undecided(), SOURCES, TARGETS, row=1)
    assert differences["logits"] > 1e-3
    assert differences["encoder.layers.0.self_attention.query"] < 1e-10  # what comes before the first look
