"""The learning rate is the paper's, at exactly the update of the formula."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.small_training import lines, stop_after, toy_recipe, training_of
from transformer.config import ModelConfig, TrainingConfig
from transformer.data.batches import collate
from transformer.data.training_data import Position
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.training import train
from transformer.training.learning_rate import learning_rate


def rates(d_model: int = 512, updates: int = 40, **changes: Any) -> list[float]:
    """Index u is the rate of update u; index 0 is never used."""
    config = TrainingConfig(updates=updates, **changes)
    return [-1.0, *(learning_rate(update, config, d_model) for update in range(1, updates + 1))]


def test_the_rate_at_updates_1_2_w_and_w_plus_1_is_the_papers() -> None:
    w, d = 4000, 512
    paper = TrainingConfig()
    for u in (1, 2, w, w + 1, 100_000):
        assert learning_rate(u, paper, d) == pytest.approx(d**-0.5 * min(u**-0.5, u * w**-1.5), rel=1e-12)


def test_the_optimizer_makes_update_u_with_the_rate_of_u() -> None:
    recipe = toy_recipe(warmup=3, peak_rate=None)
    model = ModelConfig(vocab_size=30, d_model=8, heads=2, d_ff=16, encoder_layers=1, decoder_layers=1)
    recipe = replace(recipe, model=model)
    batch = collate([[5, 6]], [[7, 8]])
    one = training_of(Transformer(model), recipe, ((batch, Position(0, number)) for number in count(1)))
    used: list[float] = []
    one.optimizer.register_step_pre_hook(lambda *_: used.append(one.optimizer.param_groups[0]["lr"]))
    for _ in range(5):
        one.update()
    assert used == [learning_rate(update, recipe.training, model.d_model) for update in range(1, 6)]


def test_the_rate_peaks_exactly_at_the_end_of_the_warm_up() -> None:
    found = rates(warmup=10)
    assert found.index(max(found)) == 10
    assert found[1:11] == sorted(found[1:11])
    assert found[10:] == sorted(found[10:], reverse=True)
    assert max(rates(warmup=10, peak_rate=0.25)) == 0.25


def test_a_constant_rate_stays_at_its_peak_after_the_warm_up() -> None:
    found = rates(schedule="constant", peak_rate=0.5, warmup=4)
    assert found[1:5] == [0.125, 0.25, 0.375, 0.5]
    assert set(found[4:]) == {0.5}


def test_without_warm_up_the_first_update_has_the_peak_rate() -> None:
    assert rates(schedule="constant", peak_rate=0.5, warmup=0)[1] == 0.5
    assert rates(schedule="cosine", peak_rate=0.5, warmup=0)[1] == pytest.approx(0.5, rel=0.01)


def test_a_cosine_ends_at_zero_and_is_at_half_its_peak_half_way() -> None:
    found = rates(schedule="cosine", peak_rate=1.0, warmup=10, updates=50)
    assert found[10] == 1.0
    assert found[30] == pytest.approx(0.5)
    assert found[50] == pytest.approx(0.0)


def test_a_cooldown_falls_in_a_straight_line_and_never_reaches_zero() -> None:
    found = rates(schedule="constant", peak_rate=1.0, warmup=0, updates=40, cooldown=0.25)
    assert set(found[1:31]) == {1.0}
    assert found[31:] == pytest.approx([(41 - u) / 11 for u in range(31, 41)])
    assert found[40] > 0


def test_a_resumed_run_continues_at_the_rate_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = toy_recipe(updates=6, warmup=4, log_every=1, peak_rate=None)
    stop_after(3, monkeypatch)
    with pytest.raises(TrainingError, match="after update 3"):
        train(recipe, tmp_path, device="cpu")
    monkeypatch.undo()
    train(recipe, tmp_path, resume=True, device="cpu")
    found = [line["rate"] for line in lines(tmp_path) if line["kind"] == "train"]
    assert found == [learning_rate(update, recipe.training, recipe.model.d_model) for update in range(1, 7)]
