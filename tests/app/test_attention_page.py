"""The Attention page, run without a browser: it draws the tensors, for any model and any words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.components.bundles import style_bundle
from app.figures.head_numbers import head_numbers
from app.views.attention.head_ranking import COLUMNS
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.attention_page import Open, Tokens, heat, sent
from tests.support.drawn import components
from tests.support.pages import switch_page
from transformer.analysis.rollout import decoder_rollout, rollout
from transformer.model.attention_kinds import KINDS

HOSTILE = ("</script><img src=x onerror=alert(1)>", "_a_ $x$ :red[b] the the", "🙂")
TABS = ("layers", "alignment", "bertviz")


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_every_picture_shows_the_tensors(open_attention: Open, weights: dict[str, np.ndarray], kind: str) -> None:
    app = open_attention(kind=kind, layer="2", head="3")
    expected = weights[kind]
    drawn = heat(app, 0)
    allowed = ~np.isnan(drawn)
    assert np.array_equal(drawn[allowed], expected[1, 2][allowed])
    assert (expected[1, 2][~allowed] == 0).all()
    assert allowed.all() == (kind != "decoder")
    assert np.nansum(drawn, axis=1) == pytest.approx(1, abs=1e-5)
    lines = components(app, "attention_lines")[0]
    assert np.array_equal(sent(lines), expected[1])  # all heads of the layer
    assert lines["chosen"] == 2


def test_the_numbers_of_every_head_are_those_of_its_weights(
    open_attention: Open, weights: dict[str, np.ndarray], tokens: Tokens
) -> None:
    table = components(open_attention(kind="encoder"), "ranking")[0]
    expected = head_numbers(weights["encoder"], tokens[0], itself=True)
    titles = [column["title"] for column in table["columns"]]
    assert titles == [column.title for column in COLUMNS if column.name != "aligned"]
    for row in table["rows"]:
        for title, value in zip(titles, row["values"], strict=True):
            assert value == pytest.approx(expected[title][row["layer"] - 1, row["head"] - 1], abs=1e-4)


def test_it_opens_with_the_self_attention_of_the_encoder_as_a_matrix(open_attention: Open) -> None:
    app = open_attention()
    wire = components(app, "canvas_channel")[0]
    assert (wire["chosen"]["kind"], wire["form"]) == ("encoder", "matrix")
    for page, opening in (("translate", ("cross", "arcs")), ("attention", ("encoder", "matrix"))):
        switch_page(app, page).run()
        found = components(app, "canvas_channel")[0]
        assert (found["chosen"]["kind"], found["form"]) == opening
    assert found["chosen"] == wire["chosen"]  # the head that this kind opens with


def test_the_chosen_head_is_the_same_in_table_and_lines(open_attention: Open) -> None:
    app = open_attention(kind="cross", layer="1", head="1")
    assert components(app, "ranking")[0]["chosen"] == 0
    app.session_state["layer"], app.session_state["head"] = 3, 2
    app.run()
    assert components(app, "ranking")[0]["chosen"] == 2 * 4 + 1
    assert components(app, "attention_lines")[0]["title"] == "Encoder-decoder attention, layer 3, head 2"


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_the_rollout_is_that_of_the_weights(open_attention: Open, weights: dict[str, np.ndarray], kind: str) -> None:
    drawn = heat(open_attention(kind=kind, layer="2", head="1"), 1)
    if kind == "cross":
        encoder = rollout(weights["encoder"])[-1]
        expected = decoder_rollout(weights["decoder"], weights["cross"], encoder)[1][1]
    else:
        expected = rollout(weights[kind])[1]
    allowed = ~np.isnan(drawn)
    assert drawn[allowed] == pytest.approx(expected[allowed], abs=1e-5)
    assert (expected[~allowed] == 0).all()


@pytest.mark.parametrize("sentence", ["the cat sat on the mat", "Where is the nearest train station?", "the the"])
def test_encoder_decoder_attention_opens_with_the_clearest_head_above_the_first_layer(
    open_attention: Open, sentence: str
) -> None:
    app = open_attention(sentence, kind="cross")
    rows = components(app, "ranking")[0]["rows"]
    assert int(app.session_state["layer"]) in {row["layer"] for row in rows} - {1}


def test_each_part_of_the_page_carries_its_own_styles_alone(open_attention: Open) -> None:
    """In files that the browser keeps: Streamlit would send them again with each change."""
    drawn = [found.proto for found in open_attention().get("bidi_component")]
    assert all(not found.css_content for found in drawn)
    sizes = {name: len(style_bundle(name)) for name in {found.component_name.split("_", 1)[1] for found in drawn}}
    assert 0 < sizes["meter"] < 2_400
    assert sizes.pop("canvas") < 15_000  # it is the page
    assert max(sizes.values()) < 3_700, sizes


@pytest.mark.parametrize("text", HOSTILE)
def test_odd_words_are_drawn_and_are_never_markup(open_attention: Open, text: str) -> None:
    app = open_attention(text, hide="true", words="true", one="true")
    for more in TABS:
        app.session_state["more"] = more
        app.run()
        assert not app.exception, app.exception[0].message
        for element in (*app.markdown, *app.caption):
            assert "alert(1)" not in element.value
            assert ":red[b]" not in element.value


ODD: list[tuple[Size, dict[str, Any]]] = [
    (Size(1, 1, 1), {"norm": "pre"}),
    (Size(3, 1, 2), {"positions": "learned", "attention_window": 1}),
    (Size(1, 2, 16), {"positions": "none", "shared_embeddings": False}),
]


@pytest.mark.parametrize(("size", "options"), ODD, ids=str)
def test_it_opens_for_other_shapes_of_model(
    size: Size, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_attention: Open
) -> None:
    write_checkpoint(tmp_path / "odd.safetensors", size, options=options)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = open_attention("a", words="true", hide="true", one="true")
    for kind in KINDS:
        for more in TABS:
            app.session_state["kind"], app.session_state["more"] = kind, more
            app.run()
            assert not app.exception, app.exception[0].message
            layers = size.encoder if kind == "encoder" else size.decoder
            assert len(components(app, "ranking")[0]["rows"]) == layers * size.heads
            assert np.nansum(heat(app, 0), axis=-1) == pytest.approx(1, abs=1e-5)
