"""The pictures of the page Training draw what was measured and what the formulas say."""

import math

import numpy as np
import pytest
import torch

from app.figures.distribution import offers
from app.figures.theme import head_color, resolved
from app.figures.training_curves import MOST_POINTS, Curve, curve_alt, curve_chart, curve_table, thinned
from app.views.training.label_smoothing import LEAST, loss, smoothed, target_bars, target_table
from app.views.training.learning_rate_curves import planned_rate, rate_of_the_paper
from app.views.training.run_charts import cooldown_text
from app.views.training.snapshot_heads import TALL, snapshot_alt, snapshot_tiles
from tests.support.drawn import checked
from transformer.config import TrainingConfig
from transformer.kernels.cross_entropy import linear_cross_entropy
from transformer.recipe import load_recipe
from transformer.training.learning_rate import learning_rate


def curve(count: int, run: str = "one", place: int = 0, **more: object) -> Curve:
    return Curve(run, "", np.arange(1, count + 1), 1 / np.arange(1, count + 1), place, **more)  # type: ignore[arg-type]


# Curves


def test_every_run_has_its_colour_and_what_was_measured_otherwise_its_dashes() -> None:
    curves = [curve(5), curve(5, style="validation"), curve(3, "two", 1), curve(3, "two", 1, style="computed")]
    figure = checked(curve_chart(curves, title="Loss", unit="nats", marked=3))
    lines = [trace.line for trace in figure.data]
    assert [line.color for line in lines] == [resolved(head_color(head), False) for head in (0, 0, 1, 1)]
    assert [line.dash for line in lines] == ["solid", "dash", "solid", "dot"]
    assert [shape.x0 for shape in figure.layout.shapes] == [3]
    assert list(figure.data[2].y) == [1, 1 / 2, 1 / 3]


def test_a_long_curve_is_drawn_with_as_many_points_as_a_screen_has() -> None:
    long = curve(100_000)
    updates, values = thinned(long)
    assert len(updates) <= MOST_POINTS
    assert (updates[0], updates[-1]) == (1, 100_000)
    assert np.array_equal(values, 1 / updates)
    assert len(curve_table([long])["update"]) == 100_000


def test_the_name_of_a_run_is_drawn_letter_by_letter() -> None:
    figure = checked(curve_chart([curve(2, "<b>x</b>")], title="a", unit="b"))
    assert figure.data[0].name == "&lt;b&gt;x&lt;/b&gt;"
    assert "<b>x</b>: 1 at update 1, 0.5 at update 2" in curve_alt([curve(2, "<b>x</b>")], "a")


def test_a_legend_of_many_runs_leaves_the_picture_its_height() -> None:
    few, many = (curve_chart([curve(2, f"a long name {i}") for i in range(n)], title="", unit="") for n in (1, 12))
    heights = [figure.layout["height"] - figure.layout["margin"]["t"] for figure in (few, many)]
    assert heights[0] == heights[1]


# Learning rates


@pytest.mark.parametrize(("warmup", "d_model"), [(4000, 512), (150, 128), (1, 64)])
def test_the_papers_rate_is_equation_3(warmup: int, d_model: int) -> None:
    drawn = rate_of_the_paper("run", 0, warmup, d_model, 10_000)
    expected = d_model**-0.5 * np.minimum(drawn.updates**-0.5, drawn.updates * warmup**-1.5)
    assert np.allclose(drawn.values, expected, rtol=1e-12)
    assert drawn.updates[drawn.values.argmax()] == warmup
    assert (drawn.updates[0], drawn.updates[-1]) == (1, 10_000)


def test_a_planned_rate_is_that_of_the_trainer() -> None:
    recipe = load_recipe("reverse")
    drawn = planned_rate("run", 0, recipe.training, 128)
    assert drawn.values.tolist() == [learning_rate(u, recipe.training, 128) for u in drawn.updates.tolist()]
    short = planned_rate("run", 0, TrainingConfig(updates=1, warmup=0, schedule="constant", peak_rate=0.1), 8)
    assert np.isfinite(short.values).all()


# Snapshots


@pytest.mark.parametrize(("count", "q", "k"), [(1, 1, 1), (3, 9, 12), (14, 10, 10), (20, 3, 90)])
def test_every_snapshot_is_a_tile_with_its_own_weights(count: int, q: int, k: int) -> None:
    weights = np.random.default_rng(0).random((count, q, k)).astype(np.float32)
    updates = [10 * i for i in range(count)]
    figure = snapshot_tiles(weights, updates, [1.0] * count, count - 1, text="<i>")
    wall, labels, marks = figure.data
    drawn = wall["z"][np.isfinite(wall["z"])]
    if k <= 64:
        assert np.array_equal(np.sort(drawn), np.sort(weights.ravel()))
    for place, x, y in zip(marks["customdata"], marks["x"], marks["y"], strict=True):
        tile = weights[place]
        middle = wall["z"][math.floor(y), math.floor(x)]
        assert middle in tile if k <= 64 else np.isfinite(middle)
    assert labels["text"] == [f"{update:,}" for update in updates]
    assert checked(figure).layout.title.text == "&lt;i&gt;"


def test_the_frame_is_around_the_chosen_snapshot_and_covers_no_label() -> None:
    weights = np.zeros((12, 8, 8))
    for chosen in range(12):
        figure = snapshot_tiles(weights, list(range(12)), [1.0] * 12, chosen, text="")
        (box,), (_, labels, marks) = figure.layout["shapes"], figure.data
        inside = [
            (box["x0"] < x < box["x1"]) and (box["y0"] < y < box["y1"])
            for x, y in zip(marks["x"], marks["y"], strict=True)
        ]
        assert inside == [place == chosen for place in range(12)]
        hidden = [
            box["x0"] < x < box["x1"] and box["y0"] < y < box["y1"]
            for x, y in zip(labels["x"], labels["y"], strict=True)
        ]
        assert not any(hidden)
        px = TALL / 8  # of a cell
        above = [box["y0"] - y for x, y in zip(labels["x"], labels["y"], strict=True) if box["x0"] < x < box["x1"]]
        gap = min(distance for distance in above if distance > 0) * px
        assert gap > labels["textfont"]["size"] / 2 + box["line"]["width"] / 2  # the number is not struck through


def test_the_table_and_the_words_of_snapshots_say_what_each_writes() -> None:
    assert snapshot_alt([0, 5], [3.0, 1.0], ["x", "y"], "T").endswith("update 5: loss 1.000. The last writes: y")


# Label smoothing


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3])
def test_the_loss_of_the_smoothed_target_is_that_of_the_trainer(epsilon: float) -> None:
    states, weight = torch.randn(1, 6, dtype=torch.float64), torch.randn(11, 6, dtype=torch.float64)
    logits = (states @ weight.T)[0].numpy()
    target = smoothed(4, 11, epsilon)
    assert target.sum() == pytest.approx(1, abs=1e-12)
    assert target[4] == pytest.approx(1 - epsilon + epsilon / 11)
    expected = float(linear_cross_entropy(states, weight, torch.tensor([4]), epsilon))
    assert loss(target, logits) == pytest.approx(expected, rel=1e-12)


def test_bars_are_the_two_distributions_and_the_rest_is_the_mean_of_all_others() -> None:
    logits = np.random.default_rng(1).normal(size=50)
    found = offers(logits, 7, str, count=4)
    target = smoothed(7, 50, 0.1)
    table = target_table(found, target)
    assert sum(table["q′"][:-1]) + (50 - len(found)) * table["q′"][-1] == pytest.approx(1)
    assert sum(table["p"][:-1]) + (50 - len(found)) * table["p"][-1] == pytest.approx(1)
    should, does = checked(target_bars(found, target, text="<b>")).data
    assert np.allclose(should.x, np.maximum(table["q′"], LEAST))
    assert np.allclose(does.x, np.maximum(table["p"], LEAST))
    everything = offers(logits[:3], 0, str, count=5)
    assert len(target_table(everything, smoothed(0, 3, 0.1))["token"]) == 3


def test_bars_of_an_edited_model_are_not_said_to_be_of_the_checkpoint() -> None:
    found, target = offers(np.arange(4.0), 0, str, count=2), smoothed(0, 4, 0.1)
    bars = {edited: checked(target_bars(found, target, text="", edited=edited)) for edited in (False, True)}
    names = {edited: figure.data[1].name for edited, figure in bars.items()}
    assert names == {False: "p: what this checkpoint predicts", True: "p: what the edited model predicts"}


def test_a_line_without_a_name_is_not_said_to_be_of_training() -> None:
    accuracy = Curve("mine", "", np.array([1, 2]), np.array([0.1, 0.2]), 0)
    assert curve_table([accuracy])["line"] == ["measured", "measured"]


@pytest.mark.parametrize(
    ("cooldown", "updates", "text"),
    [(0.0, 100, "no cool-down"), (0.3, 100, "cools down from update 71 to 100"), (0.001, 100, "no cool-down")],
)
def test_the_cool_down_is_said_as_the_rate_has_it(cooldown: float, updates: int, text: str) -> None:
    training = TrainingConfig(cooldown=cooldown, updates=updates, warmup=10, schedule="constant", peak_rate=1.0)
    assert cooldown_text(training) == text
    falling = [update for update in range(10, updates + 1) if learning_rate(update, training, 16) < 1]
    assert falling == (list(range(71, 101)) if text.startswith("cools") else [])
