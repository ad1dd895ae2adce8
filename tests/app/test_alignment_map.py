"""The map of the heads that align, on the Attention page: drawn as stored, clicked, and checked before use."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.theme import CHOSEN
from app.views.attention.aligning_heads import MEAN, head_map, head_map_alt, head_map_table
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, checked, components, open_view, page_text
from tests.support.small_alignment import made_map, made_rates
from transformer.analysis.alignment.alignment_map import AlignmentMap, map_path

SENTENCE = "the cat sat on the mat"
LAYERS, HEADS = 3, 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two checkpoints of one shape, of which the first comes first; what is measured of them, the test says."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    for seed, name in enumerate(("one", "two")):
        write_checkpoint(tmp_path / f"{name}.safetensors", Size(1, LAYERS, HEADS), seed=seed)
    return tmp_path


@pytest.fixture
def stored(folder: Path) -> AlignmentMap:
    return made_map(folder / "one.safetensors", LAYERS, HEADS)


def opened(**address: str) -> AppTest:
    return open_view("attention", more="alignment", sentence=SENTENCE, **address)


@pytest.mark.parametrize("shift", ["reads", "predicts"])
def test_the_map_is_drawn_as_it_is_stored(stored: AlignmentMap, shift: Any) -> None:
    figure = chart(opened(shift=shift), f"rows that {shift[:-1]} the word")
    reading = stored.of_shift(shift)
    assert 1 - array(figure["data"][0]["z"]) == pytest.approx(np.array(reading.aer))
    assert 1 - array(figure["data"][1]["z"])[:, 0] == pytest.approx(np.array(reading.layers))
    numbers = np.array(figure["data"][2]["text"]).reshape(LAYERS, HEADS + 1)
    assert numbers[:, :-1].tolist() == [[f"{100 * rate:.0f}" for rate in row] for row in reading.aer]
    assert array(figure["data"][3]["customdata"]).tolist() == [
        [layer, head] for layer in range(LAYERS) for head in (*range(HEADS), MEAN)
    ]


def test_the_alignment_opens_with_the_best_heads_of_the_best_shift(stored: AlignmentMap) -> None:
    app = opened()
    assert app.session_state["shift"] == stored.best_shift == "reads"
    assert app.multiselect[0].value == stored.heads_shown_first("reads") == [(0, 1), (LAYERS - 1, HEADS - 1)]
    frames = chart(app, "Alignment error rate")["layout"]["shapes"]
    assert [(f["y0"] + 0.5, f["x0"] + 0.5) for f in frames] == stored.heads_shown_first("reads")
    assert {f["line"]["color"] for f in frames} == {CHOSEN}
    assert "a guess" not in page_text(app)


def test_a_link_has_its_shift_and_opens_with_the_best_heads_of_that_one(stored: AlignmentMap) -> None:
    app = opened(shift="predicts")
    assert app.session_state["shift"] == "predicts"
    assert app.multiselect[0].value == stored.heads_shown_first("predicts")
    app.segmented_control(key="shift").set_value("reads").run()
    app.button(key="alignment_preset_0").click().run()
    assert app.multiselect[0].value == stored.heads_shown_first("reads")


def test_the_chosen_shift_stays_and_is_in_the_address(stored: AlignmentMap) -> None:
    app = opened()
    app.segmented_control(key="shift").set_value("predicts").run().run()
    assert app.session_state["shift"] == "predicts"
    assert app.query_params["shift"] == "predicts"


def test_another_checkpoint_opens_with_its_own_best_shift(stored: AlignmentMap) -> None:
    app = opened()
    app.selectbox(key="checkpoint").set_value("two").run()
    assert not app.exception
    assert app.session_state["shift"] == "predicts"
    assert "a guess" in page_text(app)
    assert len(app.multiselect[0].value) == 3
    app.selectbox(key="checkpoint").set_value("one").run()
    assert app.session_state["shift"] == "reads"
    assert app.multiselect[0].value == stored.heads_shown_first("reads")


def test_without_a_map_the_page_says_that_it_guesses_and_what_measures(folder: Path) -> None:
    app = opened()
    words = page_text(app)
    assert "not measured which heads of this checkpoint align. `python -m transformer align CHECKPOINT" in words
    assert "a guess" in words
    assert app.session_state["shift"] == "predicts"
    assert "best measured" not in " ".join(button.label for button in app.button)


def test_the_text_and_its_distance_from_the_training_text_are_reported(stored: AlignmentMap) -> None:
    words = page_text(opened())
    assert "Measured on gold.tsv: 40 pairs, 1,234 sure links." in words
    assert "the diagonal have an alignment error rate of 62.5%, and links drawn at random 90.0%" in words
    for row in ("words per sentence | 14.5 | 6.5", "tokens per target word | 1.75 | 1.25", "perplexity | 33.1 | 4.5"):
        assert f"| {row} |" in words
    assert "compares this text with home.tsv" in words


def test_a_map_without_home_has_a_table_of_this_text_alone(folder: Path) -> None:
    made_map(folder / "one.safetensors", LAYERS, HEADS, home=False)
    words = page_text(opened())
    assert "| words per sentence | 14.5 |" in words
    assert "the table has only this text" in words


def test_names_in_a_map_are_text_and_never_markup(folder: Path) -> None:
    made_map(folder / "one.safetensors", LAYERS, HEADS, name="![x](https://evil.example/x.png) :red[b] | a |")
    app = opened()
    assert any("evil.example" in element.value for element in app.text)
    assert not any("evil.example" in element.value for element in (*app.markdown, *app.caption))


@pytest.mark.parametrize("content", ["{}", "no map", None])
def test_an_unreadable_map_is_reported_and_the_rest_of_the_page_is_drawn(
    folder: Path, stored: AlignmentMap, content: str | None
) -> None:
    path = map_path(folder / "one.safetensors")
    if content is None:  # of other weights
        path.write_text(path.read_text().replace(stored.weights_sha256, "0" * 64))
    else:
        path.write_text(content)
    app = opened()
    assert "Measure again" in page_text(app)
    assert "a guess" in page_text(app)
    assert "It was not measured" not in page_text(app)
    assert components(app, "attention_lines")[1]["title"].startswith("Soft alignment")


def test_a_map_that_was_measured_again_is_read_again(folder: Path, stored: AlignmentMap) -> None:
    app = opened()
    map_path(folder / "one.safetensors").unlink()
    app.run()
    assert "a guess" in page_text(app)


def test_table_alt_text_and_hover_have_the_numbers() -> None:
    reading = made_rates(2, 3, [(1, 2), (0, 0)], 1)
    table = head_map_table(reading)
    assert table["AER %"] == pytest.approx([100 * rate for rate in (*np.ravel(reading.aer), *reading.layers)])
    assert table["head"] == ["1", "2", "3", "1", "2", "3", "all, their mean", "all, their mean"]
    assert len({len(column) for column in table.values()}) == 1
    assert "Lowest: head 2.3 with an AER of 10.0%, head 1.1 with an AER of 20.0%." in head_map_alt(reading, "t")
    figure = checked(head_map(reading, [(1, 2)], title="t"))
    assert figure.data[3].text[6].startswith("Layer 2, head 3<br>AER 10.0%<br>precision")
    assert figure.data[3].text[7] == f"Layer 2, the mean of all heads<br>AER {100 * reading.layers[1]:.1f}%"
