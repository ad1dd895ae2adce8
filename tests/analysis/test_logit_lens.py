"""The logit lens reads the decoder's stream after each layer with the model's own last norm and projection."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.support.small_model import randomised, small
from transformer.analysis.logit_lens import lens, project_early, stream_sites
from transformer.analysis.trace import trace
from transformer.config import ModelConfig
from transformer.model import Transformer

SOURCE, TARGET = (5, 9, 7, 3), (8, 4, 11, 6, 3)
CONFIGS = {
    "post-norm": small(),
    "pre-norm": small(norm="pre"),
    "untied": small(shared_embeddings=False),
    "one layer": small(decoder_layers=1, norm="pre"),
    "deep": small(decoder_layers=4, encoder_layers=1, positions="learned"),
}


def cut_off(model: Transformer, layers: int) -> Transformer:
    """The same model, whose decoder has only the first layers."""
    shorter = Transformer(replace(model.config, decoder_layers=layers)).double().eval()
    shorter.load_state_dict({name: value for name, value in model.state_dict().items() if name in shorter.state_dict()})
    return shorter


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_after_the_last_layer_the_lens_shows_the_logits_themselves(config: ModelConfig) -> None:
    model = randomised(config)
    found = trace(model, SOURCE, TARGET, [*stream_sites(config), "logits"])
    last = project_early(model, torch.tensor(found[stream_sites(config)[-1]]))
    np.testing.assert_allclose(last.detach().numpy(), found["logits"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_after_each_layer_it_shows_what_a_decoder_cut_off_there_would_predict(config: ModelConfig) -> None:
    model = randomised(config)
    seen = lens(model, SOURCE, TARGET)
    assert seen.ranks.shape == (config.decoder_layers + 1, len(TARGET))
    for layer in range(1, config.decoder_layers + 1):
        expected = trace(cut_off(model, layer), SOURCE, TARGET, ["probabilities"])["probabilities"]  # (T, V)
        own = expected[range(len(TARGET)), TARGET]
        np.testing.assert_allclose(seen.probabilities[layer], own, rtol=0, atol=1e-10)
        np.testing.assert_allclose(seen.top_probabilities[layer], expected.max(axis=-1), rtol=0, atol=1e-10)
        assert seen.top_ids[layer].tolist() == expected.argmax(axis=-1).tolist()
        assert seen.ranks[layer].tolist() == [1 + int((row > p).sum()) for row, p in zip(expected, own, strict=True)]


def test_the_most_probable_token_has_rank_one() -> None:
    model = randomised(small())
    seen = lens(model, SOURCE, TARGET)
    for layer, step in np.ndindex(seen.ranks.shape):
        assert (seen.ranks[layer, step] == 1) == (seen.top_ids[layer, step] == TARGET[step])


def test_before_the_first_layer_it_reads_the_embedding_alone() -> None:
    model = randomised(small())
    site = stream_sites(model.config)[0]
    entering = torch.tensor(trace(model, SOURCE, TARGET, [site])[site])  # (T, D)
    expected = (entering @ model.output.weight.T).softmax(-1).max(-1).values
    np.testing.assert_allclose(
        lens(model, SOURCE, TARGET).top_probabilities[0], expected.detach().numpy(), rtol=0, atol=1e-10
    )
