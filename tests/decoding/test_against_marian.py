"""The same numbers and the same translations as Hugging Face's MarianMT with our weights, in float64.

Its beam search divides by l^alpha and counts lengths as we do (</s>, not <s>). It stops by a heuristic unless
`early_stopping="never"`. What it cuts off at the length limit competes with what finished, and with us it does not; so
only sentences that finish are compared.
"""

from typing import Any

import pytest
import torch

from tests.support.oracles.marian import generate, marian_like
from tests.support.small_decoding import V, ids, padded, random_sources, undecided
from tests.support.small_model import probe_of
from transformer.config import BOS, EOS, PAD, DecodingConfig
from transformer.decoding.search import search

EXTRA = 8


@pytest.mark.parametrize("shared", [True, False])
def test_encoder_states_cross_attention_and_logits_equal_those_of_marian(shared: bool) -> None:
    ours = undecided(shared)
    theirs = marian_like(ours, attention="eager")
    source = padded(random_sources(3))
    target = torch.randint(EOS + 1, V, (3, 5))
    target[:, 0] = BOS
    real = source != PAD
    sites = ("encoder.layers.0.feed_forward.norm_out", "decoder.layers.*.cross_attention.weights", "logits")
    probe = probe_of(ours, *sites)
    with torch.no_grad():
        expected = theirs(
            input_ids=source, attention_mask=real.long(), decoder_input_ids=target, output_attentions=True
        )
        ours(source, target, probe)
    pairs: list[tuple[Any, Any]] = [
        (probe.records["encoder.layers.0.feed_forward.norm_out"][real], expected.encoder_last_hidden_state[real]),
        (probe.records["decoder.layers.0.cross_attention.weights"], expected.cross_attentions[0]),
        (probe.records["decoder.layers.1.cross_attention.weights"], expected.cross_attentions[1]),
        (probe.records["logits"], expected.logits),
    ]
    for found, wanted in pairs:
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("shared", [True, False])
def test_greedy_ids_equal_those_of_marian(shared: bool) -> None:
    ours, sources = undecided(shared), random_sources(12)
    theirs = generate(marian_like(ours), padded(sources), num_beams=1, do_sample=False, max_new_tokens=30)
    found = search(ours, sources, DecodingConfig(method="greedy", max_extra_length=EXTRA))
    for one, other in zip(found, theirs, strict=True):
        assert ids(one) == other[: one.limit]
    assert sum(one.endings[0].finished for one in found) >= 6


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
@pytest.mark.parametrize("shared", [True, False])
def test_beam_ids_equal_those_of_marian(shared: bool, alpha: float) -> None:
    ours, sources = undecided(shared), random_sources(12)
    marian = marian_like(ours)
    settings = DecodingConfig(beam=4, n_best=3, length_penalty="power", alpha=alpha, max_extra_length=EXTRA)
    compared = 0
    for source, found in zip(sources, search(ours, sources, settings), strict=True):
        theirs = generate(
            marian,
            torch.tensor([source]),
            num_beams=4,
            num_return_sequences=3,
            length_penalty=alpha,
            early_stopping="never",
            max_new_tokens=found.limit,
        )
        if all(one[-1] == EOS for one in theirs):
            assert [ids(found, ending) for ending in found.endings] == theirs
            compared += 1
    assert compared >= 6
