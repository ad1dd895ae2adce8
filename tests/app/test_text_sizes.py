"""The sizes that the page Training offers for text of one's own."""

import pytest
import torch

from app.views.training import text_sizes
from app.views.training.run_plan import Size
from app.views.training.text_sizes import FITS, expected_seconds, sizes_for
from transformer.config import ModelConfig
from transformer.data.corpus_facts import CorpusFacts
from transformer.fit_to_corpus import fit


def facts(pairs: int) -> CorpusFacts:
    return CorpusFacts(pairs, 30.0, (100,) * 60)


@pytest.mark.parametrize(
    ("pairs", "shapes"),
    [
        (300, {"smaller": (3, 64, 2), "fits": (3, 128, 4), "larger": (6, 128, 4)}),
        (20_000, {"smaller": (3, 128, 4), "fits": (3, 256, 8), "larger": (6, 256, 8)}),
        (200_000, {"smaller": (6, 128, 4), "fits": (6, 256, 8)}),  # the browser offers no larger one
        (2_000_000, {"smaller": (6, 128, 4), "fits": (6, 256, 8)}),
    ],
)
def test_there_is_one_that_fits_a_smaller_and_a_larger_one(pairs: int, shapes: dict[str, tuple[int, int, int]]) -> None:
    sizes = sizes_for(facts(pairs))
    assert {name: (size.encoder_layers, size.width, size.heads) for name, size in sizes.items()} == shapes


def test_what_fits_is_what_the_recipe_own_text_has() -> None:
    size = sizes_for(facts(20_000))[FITS]
    values = {option: value for choice in fit(facts(20_000)) for option, value in choice.values.items()}
    assert size.width == values["model.d_model"]
    assert size.heads == values["model.heads"]
    assert (size.encoder_layers, size.decoder_layers) == (
        values["model.encoder_layers"],
        values["model.decoder_layers"],
    )


def test_the_expected_time_is_that_of_the_device_on_which_the_run_will_be_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    devices: list[torch.device] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)

    def speed(model: ModelConfig, device: torch.device) -> float:
        devices.append(device)
        return 1000.0

    monkeypatch.setattr(text_sizes, "speed_of", speed)
    text_sizes.tokens_per_second.clear()
    text_sizes.tokens_per_second(ModelConfig(vocab_size=500))
    text_sizes.tokens_per_second.clear()
    assert [device.type for device in devices] == ["cuda"]


def test_the_expected_time_grows_with_the_updates() -> None:
    short, long = (expected_seconds(facts(300), Size(updates, 1, 1, 1, 32)) for updates in (10, 100))
    assert long == pytest.approx(10 * short)  # measured once
    assert 0 < short < 600
