"""The trace of one teacher-forced pass equals the numbers of each step of the search."""

import numpy as np
import pytest
import torch

from tests.support.small_decoding import V, ids, random_sources, undecided
from transformer.analysis.trace import trace, trace_batch, trace_steps
from transformer.config import BOS, PAD, DecodingConfig
from transformer.decoding.search import search
from transformer.errors import HeadlightError, TraceError
from transformer.model import Probe, Transformer, census

METHODS = [
    DecodingConfig(method="greedy", max_extra_length=8),
    DecodingConfig(beam=4, n_best=3, max_extra_length=8),
    DecodingConfig(method="sampling", n_best=2, max_extra_length=8),
]
SOURCES = random_sources(5)


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.method)
def test_the_trace_has_the_probabilities_of_the_search(settings: DecodingConfig) -> None:
    for source, found in zip(SOURCES, search(undecided(), SOURCES, settings), strict=True):
        for ending in found.endings:
            output = ids(found, ending)
            probabilities = trace(undecided(), source, output, ["probabilities"])["probabilities"]  # (T, V)
            assert probabilities.shape == (len(output), V)
            expected = [candidate.log_probability for candidate in found.path(ending)]
            np.testing.assert_allclose(np.log(probabilities[range(len(output)), output]), expected, rtol=0, atol=1e-10)


def test_the_trace_is_what_the_search_saw_at_each_step() -> None:
    """All that a step computes, attention included, for the best hypothesis of a beam."""
    model, source = undecided(), SOURCES[0]
    (found,) = search(model, [source], METHODS[1])
    output = ids(found)
    sites = [site for site in census(model.config) if site.startswith("decoder.") or site == "logits"]
    whole = trace(model, source, output)
    state = model.start(torch.tensor([source]))
    for t, read in enumerate([BOS, *output[:-1]]):
        probe = Probe(census(model.config), sites)
        with torch.no_grad():
            model.step(torch.tensor([read]), state, probe)
        for site, record in probe.records.items():
            seen, row = record[0].numpy(), whole[site]
            if site == "logits":
                row = row[t]
            else:
                query_axis = seen.ndim - 2
                row = row.take([t], axis=query_axis)
                if ".self_attention." in site and site.rpartition(".")[2] in _OVER_KEYS:
                    row = row[..., : t + 1]  # the future, which the mask hides and the cache does not have
            np.testing.assert_allclose(seen, row, rtol=0, atol=1e-10, err_msg=f"{site}, step {t}")


def test_a_step_has_one_row_whose_keys_are_those_of_the_cache_and_its_own() -> None:
    source, output = SOURCES[0], [5, 6, 7, 3]
    site = "decoder.layers.1.self_attention"
    whole = trace(undecided(), source, output, [f"{site}.weights"])[f"{site}.weights"]  # (H, T, T)
    steps = trace_steps(undecided(), source, output, [f"{site}.weights", f"{site}.mask"])
    assert len(steps) == 4
    for t, found in enumerate(steps):
        assert found[f"{site}.mask"].shape == (4, 1, t + 1)
        assert found[f"{site}.mask"].all()
        np.testing.assert_allclose(found[f"{site}.weights"][:, 0], whole[:, t, : t + 1], rtol=0, atol=1e-10)
        assert (whole[:, t, t + 1 :] == 0).all()


_OVER_KEYS = {"products", "scores", "mask", "masked_scores", "weights"}


def test_a_trace_has_every_site_with_its_shape_and_no_batch_axis() -> None:
    source, output = SOURCES[0], [5, 6, 7, 3]
    found = trace(undecided(), source, output)
    sizes = {"S": len(source), "T": 4, "H": 4, "E": 4, "D": 16, "F": 24, "V": V}
    shapes = {site: tuple(sizes[letter] for letter in shape[1:]) for site, shape in census(undecided().config).items()}
    assert {site: array.shape for site, array in found.arrays.items()} == shapes
    with pytest.raises(TraceError, match=r"'decoder.logit' was not recorded. Recorded: \w+"):
        found["decoder.logit"]


def test_rows_read_one_token_and_predict_the_next() -> None:
    found = trace(undecided(), [8, 9, 3], [5, 6, 3], ["logits"], token_of=lambda id: f"<{id}>")
    assert found.target_ids == (2, 5, 6)
    assert found.predicted_ids == (5, 6, 3)
    assert found.source_tokens == ("<8>", "<9>", "<3>")
    assert found.target_tokens == ("<2>", "<5>", "<6>")
    assert found.predicts == ("<5>", "<6>", "<3>")


def test_arrays_are_float32_or_boolean_and_cannot_be_written_to() -> None:
    model = Transformer(undecided().config).eval()
    for dtype in (torch.float32, torch.bfloat16):
        found = trace(model.to(dtype), [8, 3], [5, 3])
        for site, array in found.arrays.items():
            assert array.dtype == (np.bool_ if site.endswith(".mask") else np.float32)
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_what_cannot_be_traced_is_refused() -> None:
    with pytest.raises(HeadlightError, match="no site named"):
        trace(undecided(), [8, 3], [5, 3], ["attention"])
    with pytest.raises(ValueError, match="are the predicted ids"):
        trace(undecided(), [8, 3], [BOS, 5, 3])
    with pytest.raises(ValueError, match="nothing to trace"):
        trace(undecided(), [8, 3], [])
    with pytest.raises(ValueError, match="training mode"):
        trace_steps(Transformer(undecided().config), [8, 3], [5, 3], ["*cross_attention.weights"])
    with pytest.raises(ValueError, match="training mode"):
        trace(Transformer(undecided().config), [8, 3], [5, 3])


def test_each_sentence_of_a_padded_batch_has_its_own_trace_with_padding() -> None:
    long, short = ([8, 9, 10, 3], [5, 6, 7, 8, 3]), ([9, 3], [6, 3])
    traces = trace_batch(undecided(), [long[0], short[0]], [long[1], short[1]])
    assert traces[1].source_ids == (9, 3, PAD, PAD)
    assert traces[1].target_ids == (BOS, 6, PAD, PAD, PAD)
    assert traces[1].predicted_ids == (6, 3, PAD, PAD, PAD)
    for found, (source, target) in zip(traces, (long, short), strict=True):
        alone = trace(undecided(), source, target)
        for site, shape in census(undecided().config).items():
            sizes = {"S": len(source), "T": len(target)}
            real = found[site][tuple(slice(sizes.get(letter)) for letter in shape[1:])]
            np.testing.assert_allclose(real, alone[site], rtol=0, atol=1e-10, err_msg=site)


def test_sentences_of_equal_length_are_traced_without_padding() -> None:
    first, second = trace_batch(undecided(), [[8, 3], [9, 3]], [[5, 3], [6, 3]], ["logits"])
    np.testing.assert_allclose(first["logits"], trace(undecided(), [8, 3], [5, 3])["logits"], rtol=0, atol=1e-12)
    assert not np.array_equal(first["logits"], second["logits"])
