"""The figures of the page Multi-head show the true slices; its counts equal those of real modules and of torch."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from app.figures.head_slices import (
    STEPS,
    WHOLE_UP_TO,
    difference,
    lengths_table,
    matrix_table,
    share_beyond,
    slice_lengths,
    slice_of,
    slice_picture,
    slices_map,
    window,
)
from app.figures.theme import color_limit
from app.views.multihead.head_cost import CHOICES, choices, cost, cost_table, cost_text
from app.views.multihead.head_outputs import Written, sum_difference, written_bars, written_heatmap, written_table
from app.views.multihead.slices_section import beyond_text
from tests.support.drawn import checked
from transformer.config import ModelConfig
from transformer.model.attention import MultiHeadAttention
from transformer.model.probe import Probe

NAMES = ("query", "key", "value", "output")


def attention(heads: int, d_model: int = 16) -> MultiHeadAttention:
    torch.manual_seed(0)
    config = ModelConfig(vocab_size=9, d_model=d_model, d_ff=8, heads=heads, encoder_layers=1, decoder_layers=1)
    return MultiHeadAttention(config).eval()


def matrix(d_model: int = 16) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(d_model, d_model)).astype(np.float32)


def counted(module: nn.Module, queries: int, keys: int, watch: str) -> int:
    """FLOPs of one attention, computed step by step (with a probe), as torch counts them."""
    x, memory = torch.randn(1, queries, 16), torch.randn(1, keys, 16)
    probe = Probe(["weights", "head_outputs"], [watch])
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        module(x, memory, None, probe)
    return int(counter.get_total_flops())


# -- the arithmetic


@pytest.mark.parametrize("heads", CHOICES)
def test_parameters_are_those_of_a_real_attention_whatever_the_number_of_heads(heads: int) -> None:
    real = sum(parameter.numel() for parameter in attention(heads).parameters())
    assert cost(heads, 16, 5, 7).parameters == real


@pytest.mark.parametrize("heads", CHOICES)
def test_heads_that_are_not_split_have_the_parameters_of_four_matrices_h_times_as_wide(heads: int) -> None:
    projections = [nn.Linear(16, heads * 16) for _ in range(3)] + [nn.Linear(heads * 16, 16)]
    real = sum(parameter.numel() for linear in projections for parameter in linear.parameters())
    assert cost(heads, 16, 5, 7, split=False).parameters == real


@pytest.mark.parametrize("watch", ["weights", "head_outputs"])
@pytest.mark.parametrize("heads", CHOICES)
def test_multiplications_are_half_the_flops_that_torch_counts(heads: int, watch: str) -> None:
    found = cost(heads, 16, 5, 7)
    assert 2 * found.multiplications == counted(attention(heads), 5, 7, watch)


def test_heads_that_are_not_split_multiply_h_times_as_much_as_one() -> None:
    one = counted(attention(1), 5, 7, "weights")
    for heads in CHOICES:
        assert 2 * cost(heads, 16, 5, 7, split=False).multiplications == heads * one


def test_the_parts_of_the_count_are_those_of_counting_them_one_by_one() -> None:
    heads, d_model, queries, keys = 2, 6, 3, 4
    products = sum(1 for _ in np.ndindex(heads, queries, keys, d_model // heads))
    found = cost(heads, d_model, queries, keys)
    assert (found.products, found.weighted) == (products, products)
    assert found.projections == sum(1 for _ in np.ndindex(2 * queries + 2 * keys, d_model, d_model))
    assert (found.rows, found.scores, found.d_k) == (6, 24, 3)


def test_numbers_of_heads_are_compared_that_divide_d_model_and_the_model_s_own_is_one_of_them() -> None:
    assert choices(256, 8) == [1, 2, 4, 8, 16]
    assert choices(36, 3) == [1, 2, 3, 4]
    assert choices(2, 1) == [1, 2]


def test_the_table_has_the_counts_and_the_model_s_own_number_of_heads_is_bold() -> None:
    sizes, counts = (32, 5, 7), [1, 2, 4]
    table = cost_table(counts, sizes)
    assert table["scores"] == [35, 70, 140]
    assert table["not split: parameters"] == [cost(heads, *sizes, split=False).parameters for heads in counts]
    text = cost_text(counts, 4, sizes)
    assert text["h"] == ["1", "2", "**4**"]
    assert text["parameters"] == ["4,224"] * 3
    assert {len(column) for column in text.values()} == {3}


# -- slices


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_the_slice_of_a_head_gives_what_the_model_has_for_that_head(name: str, heads: int) -> None:
    module = attention(heads)
    x, memory = torch.randn(1, 5, 16), torch.randn(1, 7, 16)
    sites = ["query", "key", "value", "context", "head_outputs"]
    probe = Probe(sites, sites)
    with torch.inference_mode():
        module(x, memory, None, probe)
    record = {site: value[0].numpy() for site, value in probe.records.items()}
    linear = module.get_submodule(name)
    weight, bias = (p.detach().numpy() for p in linear.parameters())
    for head in range(heads):
        part = slice_of(weight.T, name, head, heads)
        if name == "output":
            assert difference(record["context"][head], part, 0.0, record["head_outputs"][head]) < 1e-6
        else:
            width = 16 // heads
            own = bias[head * width : (head + 1) * width]
            source = (x if name == "query" else memory)[0].numpy()
            assert difference(source, part, own, record[name][head]) < 1e-6
            assert difference(source, part, own + 1, record[name][head]) > 0.5


@pytest.mark.parametrize("name", NAMES)
def test_the_lengths_of_the_slices_make_the_length_of_the_matrix(name: str) -> None:
    lengths = slice_lengths(matrix(), name, 4)
    assert np.sqrt((lengths**2).sum()) == pytest.approx(np.linalg.norm(matrix()), rel=1e-6)
    assert lengths[1] == pytest.approx(np.linalg.norm(slice_of(matrix(), name, 1, 4)), rel=1e-6)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "no weight is"),
        (1e-5, "less than 0.1% of the weights are"),
        (0.0031, "0.3% of the weights are"),
        (0.25, "25.0% of the weights are"),
    ],
)
def test_a_small_share_is_never_said_to_be_nothing(share: float, text: str) -> None:
    assert beyond_text(share) == f"{text} outside this range."


@pytest.mark.parametrize("name", NAMES)
def test_the_map_draws_the_matrix_to_half_a_step_and_frames_the_chosen_head(name: str) -> None:
    values = matrix()
    figure = checked(slices_map(values, name, 2, 4, title="W^Q of t"))
    picture, bars = figure.data
    limit = color_limit(values)
    drawn = np.asarray(picture.z, np.float64) * limit / STEPS
    within = np.abs(values) <= limit
    assert np.abs(drawn - values)[within].max() <= 0.5001 * limit / STEPS
    assert np.array_equal(np.sign(drawn[~within]), np.sign(values[~within]))
    assert share_beyond(values) == pytest.approx(1 - within.mean())
    along = "y" if name == "output" else "x"
    assert np.allclose(bars["x" if name == "output" else "y"], slice_lengths(values, name, 4))
    frame = figure.layout.shapes[-1]
    assert (frame[f"{along}0"], frame[f"{along}1"]) == (7.5, 11.5)
    assert len(figure.layout.shapes) == 4  # three borders between four heads, and the frame
    assert figure.layout.title.text.startswith("W<sup>Q</sup>")


def test_a_matrix_too_wide_for_a_screen_is_not_drawn_but_its_lengths_are() -> None:
    values = matrix(2 * WHOLE_UP_TO)
    (bars,) = checked(slices_map(values, "query", 0, 8, title="t")).data
    assert bars.type == "bar"
    assert np.allclose(bars.y, lengths_table(values, "query", 8)["length of its slice"])


@pytest.mark.parametrize("name", ["query", "output"])
def test_the_picture_of_a_slice_has_its_true_numbers_at_their_true_places(name: str) -> None:
    part = slice_of(matrix(), name, 1, 4)[4:12] if name == "query" else slice_of(matrix(), name, 1, 4)[:, 4:12]
    heatmap = checked(slice_picture(part, name, limit=1.0, first=4, title="t")).data[0]
    assert np.array_equal(np.asarray(heatmap.z), part)
    assert (heatmap.x0, heatmap.y0) == ((0, 4) if name == "query" else (4, 0))
    table = matrix_table(part, "x", "query", down=4)
    assert np.array_equal(table["query 1"], part[:, 1])
    assert table["x"][0] == 4


def test_a_large_slice_is_shown_in_windows() -> None:
    assert window(256, 32) == 256
    assert window(1024, 64) == 512
    assert window(4, 1_000_000) == 1


# -- what heads write


def some_written(heads: int = 3) -> Written:
    random = np.random.default_rng(5)
    parts, bias = random.normal(size=(heads, 16)), random.normal(size=16)
    return Written(parts, bias, parts.sum(axis=0) + bias)


def test_parts_along_the_sum_add_up_to_its_length_though_lengths_do_not() -> None:
    written = some_written()
    assert written.along[:-1].sum() == pytest.approx(written.lengths[-1])
    assert written.along[-1] == pytest.approx(written.lengths[-1])
    assert written.lengths[:-1].sum() > 1.05 * written.lengths[-1]


def test_heads_that_write_nothing_have_no_part() -> None:
    nothing = Written(np.zeros((2, 4)), np.zeros(4), np.zeros(4))
    assert np.array_equal(nothing.along, np.zeros(4))
    checked(written_bars(nothing, 0, title="t"))
    checked(written_heatmap(nothing, 0, "encoder", title="t", first=0, count=4))


def test_the_difference_of_the_sum_is_found_in_any_cell() -> None:
    heads, bias = np.random.default_rng(6).normal(size=(3, 4, 16)), np.ones(16)
    output = heads.sum(axis=0) + bias
    assert sum_difference(heads, bias, output) < 1e-12
    output[2, 7] += 0.25
    assert sum_difference(heads, bias, output) == pytest.approx(0.25)


def test_the_number_of_a_small_negative_part_is_above_the_names() -> None:
    parts = np.array([[3.0, 0.0], [2.0, 0.0]])
    bias = np.array([-0.01, 1e-3])
    figure = checked(written_bars(Written(parts, bias, parts.sum(axis=0) + bias), 0, title="t"))
    assert figure.data[1].text[2] == "−0.01"  # below its bar
    low, high = figure.layout.yaxis.range
    assert -low / (high - low) * (figure.layout.height - 130) > 18  # px


@pytest.mark.parametrize("heads", [1, 8, 40])
def test_the_sum_is_named_however_narrow_the_picture_is(heads: int) -> None:
    rng = np.random.default_rng(7)
    parts, bias = rng.normal(size=(heads, 6)), rng.normal(size=6)
    figure = checked(written_bars(Written(parts, bias, parts.sum(axis=0) + bias), 0, title="t"))
    named = {word.x: word.text for word in figure.layout.annotations}
    assert named[heads + 1] == "<b>sum</b>"
    assert max(figure.layout.xaxis.tickvals) < heads  # where there is no room, some heads have no tick


def test_bars_and_heatmap_draw_the_rows_in_their_order() -> None:
    written = some_written()
    lengths, along = checked(written_bars(written, 1, title="<b>")).data
    assert np.allclose(lengths.y, written.lengths)
    assert np.allclose(along.y, written.along)
    assert list(lengths.hovertext) == ["head 1", "head 2", "head 3", "bias", "sum = output"]
    figure = checked(written_heatmap(written, 1, "encoder", title="<b>", first=4, count=12))
    assert np.allclose(np.asarray(figure.data[0].z), written.rows[:, 4:16])
    assert "<b>" not in figure.layout.title.text
    assert figure.data[0].zmax == pytest.approx(np.abs(written.rows).max())
    assert np.allclose(written_table(written)["dimension 5"], written.rows[:, 5])
