"""The figures of the page Positions: table, waves, wavelengths, similarity, layouts, rotations, lengths of vectors."""

import math

import numpy as np
import pytest

from app.figures.axes import TokenAxis
from app.figures.layouts import layouts_figure
from app.figures.sinusoids import Layout, encoding, pair_dimensions, pair_of, pairs, rotations, wavelengths
from app.figures.tables import columns_csv
from app.views.positions.encoding_matrix import encoding_heatmap, encoding_names, encoding_table
from app.views.positions.rotation import rotation_circles, shown_pairs
from app.views.positions.similarity import similarity_curve
from app.views.positions.sizes import norm_bars, norms, sum_strips
from app.views.positions.waves import wave, wave_title, wavelength_chart
from tests.app.test_positions_formula import LAYOUTS
from tests.support.drawn import checked
from transformer.model.positions import sinusoids


def reader(*tokens: str) -> TokenAxis:
    return TokenAxis("English", "encoder", tokens)


def test_the_heatmap_draws_the_table_and_marks_the_positions_of_the_sentence() -> None:
    table = sinusoids(20, 8).numpy()
    figure = checked(encoding_heatmap(table, reader("▁the", "▁the", "<b>x</b>"), title="<i>t</i>"))
    assert np.array_equal(np.asarray(figure.data[0].z), table)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)
    assert list(figure.data[1].y) == [0, 1, 2]
    assert figure.data[1].text[2] == "pos 2: &lt;b&gt;x&lt;/b&gt;"
    assert "<i>" not in figure.layout.title.text
    assert not figure.layout.shapes
    framed = checked(encoding_heatmap(table, reader("▁the", "▁the", "<b>x</b>"), title="t", row=2))
    assert (framed.layout.shapes[0].y0, framed.layout.shapes[0].y1) == (1.5, 2.5)
    assert (list(framed.data[2].y), framed.data[2].name) == ([2], "pos 2: &lt;b&gt;x&lt;/b&gt;")
    assert len(encoding_names(8, "interleaved")) == 8


@pytest.mark.parametrize("rows", [2, 5])
def test_the_table_of_the_encoding_names_the_tokens_that_the_picture_marks(rows: int) -> None:
    table = sinusoids(rows, 4).numpy()
    found = encoding_table(table, encoding_names(4, "interleaved"), reader("▁the", "▁the", "▁cat"))
    assert list(found["token"]) == ["▁the", "▁the", "▁cat", "", ""][:rows]
    assert np.array_equal(np.stack(list(found.values())[2:], axis=1), table)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_wave_has_the_numbers_of_the_table_on_the_line_of_the_formula(layout: Layout) -> None:
    table = sinusoids(30, 8, layout).numpy()
    figure = checked(wave(table, 5, layout, 6))
    lines, dots = figure.data[0::2], figure.data[1::2]
    drawn = sorted(pair_dimensions(pair_of(5, 8, layout)[0], 8, layout))
    assert 5 in drawn
    for line, dot, column in zip(lines, dots, drawn, strict=True):
        assert np.array_equal(dot.y, table[:, column])
        assert np.allclose(np.interp(dot.x, line.x, line.y), dot.y, atol=0.02)


def test_the_title_of_a_wave_says_function_and_wavelength() -> None:
    assert wave_title(8, 256, "interleaved") == "Dimension 8: sin(pos / 10000^(8/256)), wavelength 8.38 positions"
    assert wave_title(5, 8, "concatenated").startswith("Dimension 5: cos(pos / 10000^(2/8))")
    assert "no wavelength" in wave_title(5, 8, None)


def test_the_chosen_wavelength_is_marked_and_so_is_the_length_of_the_sentence() -> None:
    figure = checked(wavelength_chart(16, 5, "interleaved", 12))
    assert figure.data[1].x[0] == 2
    assert figure.data[0].y == pytest.approx([2 * np.pi * 10000 ** (2 * i / 16) for i in range(8)])
    assert figure.data[1].y[0] == pytest.approx(wavelengths(16)[2])
    assert figure.layout.shapes[0].y0 == 12
    assert "12" in figure.layout.annotations[0].text


@pytest.mark.parametrize(("sentence", "beside"), [(9, "bottom right"), (7, "bottom right"), (40, "middle right")])
def test_the_number_of_a_wavelength_does_not_overlap_the_line_of_the_sentence(sentence: int, beside: str) -> None:
    assert wavelength_chart(256, 8, "interleaved", sentence).data[1]["textposition"] == beside  # of 8.38 positions


def test_the_curve_has_a_point_for_each_distance() -> None:
    table = encoding(np.arange(12), 8)
    curve = checked(similarity_curve(table, title="t", formula=True)).data[-1]
    assert np.allclose(curve.y, [np.diagonal(table @ table.T, k).mean() for k in range(12)], atol=1e-5)


def test_each_line_between_the_layouts_joins_equal_columns() -> None:
    figure = checked(layouts_figure(16, "interleaved"))
    above, below = (np.asarray(trace.z) for trace in figure.data[:2])
    ends = np.concatenate([np.asarray(trace.x).reshape(-1, 3)[:, :2] for trace in figure.data[2:4]])
    assert sorted(ends[:, 0]) == sorted(ends[:, 1]) == list(range(16))
    for top, bottom in ends.astype(int):
        assert np.array_equal(above[:, top], below[:, bottom])


def test_the_lines_end_at_the_numbers_of_the_table_and_the_ring_at_those_of_the_matrix_product() -> None:
    points = pairs(sinusoids(50, 64).numpy(), "interleaved")
    figure = checked(rotation_circles(points, rotations(6, 64), 4, 6, title="t", formula=True))
    before, after, ring = figure.data[-3:]
    shown = shown_pairs(32)
    assert np.allclose(before.customdata[:, 1:], points[4, shown], atol=1e-6)
    assert np.allclose(after.customdata[:, 1:], points[10, shown], atol=1e-6)
    assert np.allclose(ring.customdata[:, 1:], points[10, shown], atol=1e-6)
    assert np.allclose(np.hypot(np.asarray(before.x) - np.arange(len(shown)) * 2.7, before.y), 1, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2, 3, 64])
def test_few_pairs_are_all_shown_once(count: int) -> None:
    shown = shown_pairs(count)
    assert len(set(shown)) == len(shown) <= 5
    assert (shown[0], shown[-1]) == (0, count - 1)


def test_bars_are_the_lengths_of_the_vectors() -> None:
    random = np.random.default_rng(1)
    scaled, positions = random.normal(size=(2, 3, 6))
    figure = checked(norm_bars(norms(scaled, positions, scaled + positions), reader("▁a", "<b>", "▁a"), 1))
    for bar, part in zip(figure.data, (scaled, positions, scaled + positions), strict=True):
        assert np.allclose(bar.y, [math.sqrt(sum(x * x for x in row)) for row in part], atol=1e-6)
    assert figure.layout.xaxis.ticktext[1] == "&lt;b&gt;"
    strips = checked(sum_strips(scaled[0], positions[0], scaled[0] + positions[0], "<b>", 0))
    z = np.asarray(strips.data[0].z)
    assert np.allclose(z[0] + z[1], z[2], atol=1e-6)
    assert "<b>" not in strips.layout.title.text


def test_a_csv_has_all_digits_and_no_formula_for_a_spreadsheet() -> None:
    text = columns_csv({"=name": ["=1+1", "plain"], "value": np.array([0.1234567890123, -2.0])})
    assert text.splitlines() == [" =name,value", " =1+1,0.1234567890123", "plain,-2.0"]
