"""The page Positions: what it draws is the checkpoint's table, and the table is the paper's formula."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.figures.axes import TokenAxis
from app.figures.layouts import layout_table, layouts_figure, same_numbers
from app.figures.sinusoids import (
    Layout,
    best_rotations,
    encoding,
    pair_dimensions,
    pair_of,
    pairs,
    permutation,
    rotation_error,
    rotations,
    turns,
    wavelengths,
)
from app.figures.tables import columns_csv
from app.views.positions.encoding_matrix import encoding_heatmap, encoding_names, encoding_table
from app.views.positions.rotation import rotation_circles, shown_pairs
from app.views.positions.similarity import formula_over_distance, over_distance, products, similarity_curve
from app.views.positions.sizes import PARTS, norm_bars, norms, sum_strips
from app.views.positions.waves import wave, wave_title, wavelength_chart
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, charts, checked, open_view, sent, written
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.positions import sinusoids

SENTENCE = "the cat sat on the mat"
LAYOUTS: tuple[Layout, ...] = ("interleaved", "concatenated")
Open = Callable[..., AppTest]


def paper(position: float, dimension: int, d_model: int) -> float:
    """The formula of section 3.5, by hand."""
    angle = position / 10000 ** (2 * (dimension // 2) / d_model)
    return math.sin(angle) if dimension % 2 == 0 else math.cos(angle)


def reader(*tokens: str) -> TokenAxis:
    return TokenAxis("English", "encoder", tokens)


# -- the arithmetic


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_encoding_is_the_formula_of_the_paper_and_the_table_of_the_model(layout: Layout) -> None:
    found = encoding(np.arange(50), 12, layout)
    for pos in range(50):
        for i in range(6):
            sine, cosine = pair_dimensions(i, 12, layout)
            assert found[pos, sine] == pytest.approx(paper(pos, 2 * i, 12), abs=1e-12)
            assert found[pos, cosine] == pytest.approx(paper(pos, 2 * i + 1, 12), abs=1e-12)
    assert np.allclose(found, sinusoids(50, 12, layout).numpy(), atol=1e-6)


def test_the_permutation_takes_the_model_s_one_layout_to_its_other_without_changing_a_bit() -> None:
    interleaved, concatenated = (sinusoids(40, 24, layout).numpy() for layout in LAYOUTS)
    assert np.array_equal(interleaved[:, permutation(24)], concatenated)
    assert not np.array_equal(interleaved, concatenated)
    assert same_numbers(24) == 0
    assert list(layout_table(8)["the paper's"]) == [0, 2, 4, 6, 1, 3, 5, 7]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_dimension_is_one_of_the_two_of_its_pair(layout: Layout) -> None:
    for dimension in range(16):
        pair, cosine = pair_of(dimension, 16, layout)
        assert pair_dimensions(pair, 16, layout)[cosine] == dimension


def test_a_wave_repeats_after_its_wavelength() -> None:
    for i, length in enumerate(wavelengths(16)):
        start, later = encoding(np.array([3.0, 3.0 + length]), 16)[:, 2 * i : 2 * i + 2]
        assert np.allclose(start, later, atol=1e-9)
        assert length == pytest.approx(2 * math.pi * 10000 ** (2 * i / 16))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shift", [0, 1, 7, 100])
def test_the_rotation_takes_each_position_of_the_model_s_table_to_the_one_k_further(layout: Layout, shift: int) -> None:
    points = pairs(sinusoids(300, 32, layout).numpy(), layout)
    largest, share = rotation_error(points, rotations(shift, 32), shift)
    assert largest < 1e-6
    assert share < 1e-6
    for matrix in rotations(shift, 32):
        assert np.allclose(matrix @ matrix.T, np.eye(2))
        assert np.linalg.det(matrix) == pytest.approx(1)


def test_positions_with_a_wrong_offset_or_layout_are_not_rotations_of_each_other() -> None:
    table = sinusoids(60, 32, "interleaved").numpy()
    assert rotation_error(pairs(table, "interleaved"), rotations(4, 32), 5)[0] > 0.1
    assert rotation_error(pairs(table, "concatenated"), rotations(5, 32), 5)[0] > 0.1


def test_the_best_rotation_of_sinusoids_is_that_of_the_formula_and_noise_has_no_good_one() -> None:
    points = pairs(encoding(np.arange(80), 16), "interleaved")
    assert np.allclose(best_rotations(points, 3), rotations(3, 16), atol=1e-9)
    noise = np.random.default_rng(0).normal(size=(80, 8, 2))
    assert rotation_error(noise, best_rotations(noise, 3), 3)[1] > 0.5
    best = best_rotations(noise, 3)
    for angle in (-0.1, 0.1):  # no neighbour is better
        assert rotation_error(noise, turns(np.full(8, angle)) @ best, 3)[1] > rotation_error(noise, best, 3)[1]


def test_products_of_sinusoids_depend_on_the_distance_alone_and_those_of_noise_do_not() -> None:
    table = encoding(np.arange(40), 20)
    found = over_distance(table)
    assert found.spread < 1e-9
    assert np.allclose(found.mean, formula_over_distance(np.arange(40), 20))
    assert found.mean[0] == pytest.approx(10)  # d_model / 2
    assert products(table)[3, 9] == pytest.approx(float(table[3] @ table[9]))
    assert over_distance(np.random.default_rng(0).normal(size=(40, 20))).spread > 1


# -- the figures


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


# -- the page


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints that differ in their positions."""
    path = tmp_path_factory.mktemp("positions")
    write_checkpoint(path / "paper.safetensors")
    write_checkpoint(path / "halves.safetensors", options={"sinusoid_layout": "concatenated"})
    write_checkpoint(path / "learned.safetensors", options={"positions": "learned"}, seed=2)
    write_checkpoint(path / "none.safetensors", options={"positions": "none", "norm": "pre"})
    write_checkpoint(path / "long.safetensors", options={"max_positions": 1200})
    few = {"positions": "learned", "d_model": 33, "max_positions": 17, "shared_embeddings": False}
    write_checkpoint(path / "few.safetensors", Size(1, 2, 3), options=few)
    write_checkpoint(path / "tiny.safetensors", Size(1, 1, 1), options={"d_model": 2, "attention_window": 1})
    return path


@pytest.fixture
def open_page(odd: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(odd))
    st.cache_data.clear()

    def opened(page: str = "positions", **address: str) -> AppTest:
        return open_view(page, **{"details": "true"} | address)

    return opened


def page_text(app: AppTest) -> str:
    return " ".join(e.value for kind in (app.markdown, app.caption, app.info, app.header) for e in kind)


@pytest.mark.parametrize(("name", "layout"), [("paper", "interleaved"), ("halves", "concatenated")])
def test_the_page_draws_the_table_of_the_checkpoint(open_page: Open, odd: Path, name: str, layout: Layout) -> None:
    app = open_page(checkpoint=name, sentence=SENTENCE, dimension="5", layout_width="32")
    model = Translator.load(odd / f"{name}.safetensors").model
    drawn = array(chart(app, "Positional encoding")["data"][0]["z"])
    assert np.array_equal(drawn, model.encoder.embedding.positions.table[: len(drawn)].numpy())
    for pos in (0, 1, 31):
        for dimension in range(32):
            column = dimension if layout == "interleaved" else list(permutation(32)).index(dimension)
            assert drawn[pos, column] == pytest.approx(paper(pos, dimension, 32), abs=1e-6)
    products_drawn = array(chart(app, "PE · PE")["data"][0]["z"])
    assert np.allclose(products_drawn, drawn[:64] @ drawn[:64].T, atol=1e-4)
    assert len(chart(app, "Dimension 5")["data"]) == 4
    above = array(chart(app, "Two layouts of the same numbers, d_model = 32")["data"][layout != "interleaved"]["z"])
    assert np.allclose(above, drawn[: len(above)], atol=1e-6)
    assert ("half and half" if name == "halves" else "the paper's 2i, 2i+1") in page_text(app)


def test_a_learned_table_is_drawn_as_it_was_learned_for_each_stack(open_page: Open, odd: Path) -> None:
    model = Translator.load(odd / "learned.safetensors").model
    for stack, part in (("encoder", model.encoder), ("decoder", model.decoder)):
        app = open_page(checkpoint="learned", sentence=SENTENCE, kind=stack)
        drawn = array(chart(app, "Positional encoding, as learned")["data"][0]["z"])
        assert np.array_equal(drawn, part.embedding.positions.table[: len(drawn)].detach().numpy())
        assert "root-mean-square error" in page_text(app)


def test_without_positions_the_page_says_so_and_still_shows_the_sizes(open_page: Open) -> None:
    app = open_page(checkpoint="none", sentence=SENTENCE)
    assert "has no positions" in page_text(app)
    position = chart(app, "Length of each token")["data"][1]
    assert (array(position["y"]) == 0).all()


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_the_sizes_are_those_of_the_embeddings_of_this_sentence(open_page: Open, odd: Path, side: str) -> None:
    app = open_page(checkpoint="paper", sentence=SENTENCE, kind=side, s="2", t="2")
    translator = Translator.load(odd / "paper.safetensors")
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    arrays = trace(translator.model, found.source_ids, found.hypotheses[0].ids, [f"{side}.embedding.*"]).arrays
    bars = chart(app, "Length of each token")["data"]
    strips = array(chart(app, "What enters the first layer")["data"][0]["z"])
    for bar, strip, site, part in zip(bars, strips, ("scaled", "positions", "output"), PARTS, strict=True):
        tensor = arrays[f"{side}.embedding.{site}"]
        assert bar["name"] == part
        assert np.allclose(array(bar["y"]), np.linalg.norm(tensor, axis=-1), rtol=1e-5)
        assert np.array_equal(strip, tensor[1])


@pytest.mark.parametrize("edit", ["positions=off", "positions=shift.3"])
def test_of_edited_positions_is_not_said_that_they_are_the_table(open_page: Open, edit: str) -> None:
    for kind, is_edited in (("encoder", True), ("decoder", False)):
        app = open_page(checkpoint="paper", sentence=SENTENCE, kind=kind, edits=edit)
        assert ("√(d_model / 2) at every position" in page_text(app)) == (not is_edited)
        alt = next(found["alt"] for data in sent(app) if "the embedding of" in (found := json.loads(data))["alt"])
        assert ("Without edits, each row" in alt) == is_edited


def test_the_offset_of_the_address_is_the_rotation_that_is_drawn(open_page: Open) -> None:
    app = open_page(checkpoint="paper", sentence=SENTENCE, from_position="3", offset="9")
    figure = chart(app, "From PE(3) to PE(12)")
    matrices = [a["text"] for a in figure["layout"]["annotations"] if a["text"].startswith("[")]
    first = rotations(9, 32)[0]
    assert f"{abs(first[0, 0]):.3f}" in matrices[0]
    assert f"{abs(first[0, 1]):.3f}" in matrices[0]
    number = page_text(app).split("largest difference **")[1].split("**")[0]
    assert 0 <= written(number) < 1e-6


@pytest.mark.parametrize(("name", "positions"), [("paper", "all 123 positions"), ("long", "the first 1,019 positions")])
def test_what_a_rotation_was_checked_against_is_said(open_page: Open, name: str, positions: str) -> None:
    app = open_page(checkpoint=name, sentence=SENTENCE)  # offset 5
    assert f"against PE(p+5), {positions} and 16 pairs" in page_text(app)
    assert ("**1,200 × 16**" in page_text(app)) == (name == "long")  # of the angles: all that the checkpoint has


@pytest.mark.parametrize("name", ["paper", "learned"])
def test_the_chosen_token_is_framed_in_the_similarities_and_the_most_similar_position_named(
    open_page: Open, name: str
) -> None:
    app = open_page(checkpoint=name, sentence=SENTENCE, kind="encoder", s="3")
    figure = chart(app, "PE · PE")
    found = array(figure["data"][0]["z"])[2].astype(np.float64)
    found[2] = -np.inf
    (frame,) = figure["layout"]["shapes"]
    assert (frame["y0"], frame["y1"]) == (1.5, 2.5)
    (line,) = [text.value for text in app.text if text.value.startswith("Framed: pos 2 “")]
    assert f"pos {found.argmax()}" in line.split("Most similar to it:")[1]
    assert name == "learned" or ("pos 1 “" in line and "pos 3 “" in line)


@pytest.mark.parametrize("sentence", ["a", SENTENCE, "</script><img src=x onerror=alert(1)> _a_ :red[b]"])
@pytest.mark.parametrize("name", ["few", "tiny", "learned", "none", "halves"])
def test_unusual_checkpoints_and_hostile_sentences_can_be_opened(open_page: Open, name: str, sentence: str) -> None:
    if name == "few" and len(sentence) > 30:
        sentence = "<b>x</b>"  # the model has 17 positions
    app = open_page(checkpoint=name, sentence=sentence)
    assert len(charts(app)) >= 3
    for element in (*app.markdown, *app.caption):
        assert "alert(1)" not in element.value


def test_a_choice_that_the_next_checkpoint_does_not_have_is_dropped(open_page: Open) -> None:
    app = open_page(checkpoint="paper", sentence=SENTENCE)
    for key, value in (("dimension", 31), ("offset", 60), ("from_position", 60)):
        app.slider(key=key).set_value(value).run()
    app.select_slider(key="wave_span").set_value(128).run()
    app.session_state["layout_width"] = 32
    app.run()
    assert chart(app, "From PE(60) to PE(120)")
    assert chart(app, "Two layouts of the same numbers, d_model = 32")
    for name in ("few", "tiny", "none", "paper"):
        app.selectbox(key="checkpoint").select(name).run()
        assert not app.exception, app.exception[0].message
        assert chart(app, "Length of each token")
