"""The Attention page, run without a browser: it draws the tensors, as they are or changed in the way that it names."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.figures.head_numbers import head_numbers
from app.figures.shares import Share
from app.figures.theme import number
from app.views.attention import bertviz_tab
from app.views.attention.bertviz_html import PARTS
from app.views.attention.head_ranking import COLUMNS
from app.views.attention.soft_alignment import links, pharaoh, word_alignment
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, attention_weights, charts, components, open_view, unpacked
from tests.support.pages import switch_page
from transformer.analysis.rollout import decoder_rollout, rollout
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import KINDS, SITES

Open = Callable[..., AppTest]
Pieces = tuple[tuple[str, ...], tuple[str, ...]]
SENTENCE = "the animal didn't cross the street."
HOSTILE = ("</script><img src=x onerror=alert(1)>", "_a_ $x$ :red[b] the the", "🙂")
TABS = ("layers", "alignment", "bertviz")


@pytest.fixture
def shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page as a new visitor would, with these query parameters in the address."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    st.cache_data.clear()

    def opened(text: str = SENTENCE, **address: str) -> AppTest:
        return open_view("attention", **{"sentence": text, **address})

    return opened


def heat(app: AppTest, place: int) -> np.ndarray:
    """0 is the matrix, 1 the rollout."""
    return array(charts(app)[place]["data"][0]["z"])


def sent(lines: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(lines["weights"]), "<f4").reshape(lines["shape"])


def bertviz_data(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unpacked(app.get("iframe")[0].proto.srcdoc, "data"))
    return found


def page_text(app: AppTest) -> str:
    return " ".join(element.value for kind in (app.caption, app.text, app.info, app.warning) for element in kind)


@pytest.fixture(scope="module")
def translation(folder: Path) -> tuple[Translator, Translation]:
    translator = Translator.load(folder / "en-de.safetensors")
    return translator, translator.translate(SENTENCE, n_best=3).sentences[0]


@pytest.fixture(scope="module")
def weights(translation: tuple[Translator, Translation]) -> dict[str, np.ndarray]:
    """(L, H, Q, K) of each kind, computed beside the app."""
    translator, found = translation
    return {
        kind: attention_weights(
            translator.model, found.source_ids, found.hypotheses[0].ids, f"{site.format('*')}.weights"
        )
        for kind, site in SITES.items()
    }


@pytest.fixture(scope="module")
def pieces(translation: tuple[Translator, Translation]) -> Pieces:
    """(read by the encoder, predicted by the decoder)."""
    found = translation[1]
    return tuple(piece.text for piece in found.source_pieces), found.hypotheses[0].pieces


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_every_picture_shows_the_tensors(shown: Open, weights: dict[str, np.ndarray], kind: str) -> None:
    app = shown(kind=kind, layer="2", head="3")
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
    shown: Open, weights: dict[str, np.ndarray], pieces: Pieces
) -> None:
    table = components(shown(kind="encoder"), "ranking")[0]
    expected = head_numbers(weights["encoder"], pieces[0], itself=True)
    titles = [column["title"] for column in table["columns"]]
    assert titles == [column.title for column in COLUMNS if column.name != "aligned"]
    for row in table["rows"]:
        for title, value in zip(titles, row["values"], strict=True):
            assert value == pytest.approx(expected[title][row["layer"] - 1, row["head"] - 1], abs=1e-4)


def test_it_opens_with_the_self_attention_of_the_encoder_as_a_matrix(shown: Open) -> None:
    app = shown()
    wire = components(app, "canvas_channel")[0]
    assert (wire["chosen"]["kind"], wire["form"]) == ("encoder", "matrix")
    for page, opening in (("translate", ("cross", "arcs")), ("attention", ("encoder", "matrix"))):
        switch_page(app, page).run()
        found = components(app, "canvas_channel")[0]
        assert (found["chosen"]["kind"], found["form"]) == opening
    assert found["chosen"] == wire["chosen"]  # the head that this kind opens with


def test_the_chosen_head_is_the_same_in_table_and_lines(shown: Open) -> None:
    app = shown(kind="cross", layer="1", head="1")
    assert components(app, "ranking")[0]["chosen"] == 0
    app.session_state["layer"], app.session_state["head"] = 3, 2
    app.run()
    assert components(app, "ranking")[0]["chosen"] == 2 * 4 + 1
    assert components(app, "attention_lines")[0]["title"] == "Encoder-decoder attention, layer 3, head 2"


def test_hidden_special_tokens_are_named_and_rows_sum_to_one_again(
    shown: Open, weights: dict[str, np.ndarray], pieces: Pieces
) -> None:
    app = shown(kind="cross", layer="2", head="3", hide="true")
    drawn = heat(app, 0)
    columns = [k for k, token in enumerate(pieces[0]) if token != "</s>"]
    rows = [t for t, token in enumerate(pieces[1]) if token != "</s>"]
    expected = weights["cross"][1, 2][np.ix_(rows, columns)]
    assert drawn == pytest.approx(expected / expected.sum(axis=-1, keepdims=True), abs=1e-5)
    assert drawn.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert "rows renormalised" in components(app, "attention_lines")[0]["title"]
    assert "Hidden columns: `</s>`" in page_text(app)
    share = weights["cross"][1, 2][rows][:, -1].mean()
    assert f"the hidden columns have {Share(share):.0%} of the weight of a row of this head" in page_text(app)
    assert "on average; now each row sums to 1." in page_text(app)  # the rollout
    assert "A row sums to the share" not in page_text(app)


def test_the_first_row_of_the_decoder_has_nothing_left_and_the_page_says_so(shown: Open) -> None:
    app = shown(kind="decoder", hide="true")
    drawn = heat(app, 0)
    assert np.isnan(drawn[0]).all()
    assert np.nansum(drawn[1:], axis=-1) == pytest.approx(1, abs=1e-5)
    assert "1 row is empty: it may attend to hidden tokens only." in page_text(app)


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_words_have_rows_that_sum_to_one_and_masked_cells_that_are_zero(shown: Open, kind: str) -> None:
    app = shown(kind=kind, words="true")
    drawn = heat(app, 0)
    assert np.nansum(drawn, axis=-1) == pytest.approx(1, abs=1e-5)
    lines = components(app, "attention_lines")[0]
    assert "words: rows averaged, columns summed" in lines["title"]
    if kind != "encoder":  # a word has one name
        names = next(group for group in app.segmented_control if group.label == "Names of a row")
        assert names.options == ["predicts", "reads"]
    assert (sent(lines)[0][np.isnan(drawn)] == 0).all()
    if kind != "decoder":
        assert "animal" in lines["keys"]["tokens"]


def test_a_row_is_called_by_what_it_reads_or_what_it_predicts(shown: Open, pieces: Pieces) -> None:
    both = components(shown(kind="cross"), "attention_lines")[0]["queries"]
    reads = components(shown(kind="cross", naming="reads"), "attention_lines")[0]["queries"]
    predicts = components(shown(kind="cross", naming="predicts"), "attention_lines")[0]["queries"]
    assert both["tokens"] == predicts["tokens"] == list(pieces[1])
    assert both["reads"] == reads["tokens"] == ["<s>", *pieces[1][:-1]]
    assert reads["reads"] == predicts["reads"] == []
    assert (reads["title"].split(", ")[1], predicts["title"].split(", ")[1]) == ("as read", "as predicted")


@pytest.mark.parametrize(("kind", "key"), [("cross", "t"), ("decoder", "t"), ("encoder", "s")])
def test_one_row_is_isolated_in_all_pictures(shown: Open, kind: str, key: str) -> None:
    app = shown(kind=kind, one="true")
    app.session_state[key] = 2
    app.run()
    assert components(app, "attention_lines")[0]["row"] == 2
    frame = charts(app)[0]["layout"]["shapes"][0]
    assert (frame["y0"], frame["y1"]) == (1.5, 2.5)
    assert charts(app)[1]["layout"]["shapes"][0]["y0"] == 1.5


@pytest.mark.parametrize(("kind", "place"), [("cross", "s"), ("encoder", "k"), ("decoder", "k")])
def test_the_chosen_cell_is_framed_and_its_weight_is_the_tensors(
    shown: Open, weights: dict[str, np.ndarray], kind: str, place: str
) -> None:
    row = weights[kind][1, 2, 0]
    app = shown(kind=kind, layer="2", head="3")
    assert "Row 1 (" in page_text(app)
    assert f'attends to key {row.argmax() + 1} ("' in page_text(app)  # opens with the strongest key
    assert f"with {number(float(row.max()), 4)}." in page_text(app)
    app.session_state[place] = 1
    app.run()
    frame = charts(app)[0]["layout"]["shapes"][-1]
    assert (frame["x0"], frame["x1"], frame["y0"], frame["y1"]) == (0.5, 1.5, -0.5, 0.5)
    expected = "not at all: that is masked" if kind == "decoder" else f"with {number(float(row[1]), 4)}."
    assert expected in page_text(app)


def test_a_row_that_is_hidden_is_not_isolated_and_the_page_says_so(shown: Open, pieces: Pieces) -> None:
    app = shown(kind="encoder", one="true", hide="true", s=str(len(pieces[0])))
    assert components(app, "attention_lines")[0]["row"] is None
    assert "This row is hidden" in page_text(app)


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_the_rollout_is_that_of_the_weights(shown: Open, weights: dict[str, np.ndarray], kind: str) -> None:
    drawn = heat(shown(kind=kind, layer="2", head="1"), 1)
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
    shown: Open, sentence: str
) -> None:
    app = shown(sentence, kind="cross")
    rows = components(app, "ranking")[0]["rows"]
    assert int(app.session_state["layer"]) in {row["layer"] for row in rows} - {1}


def test_the_alignment_names_its_source_and_shows_the_lines_that_make_it(shown: Open) -> None:
    app = shown(more="alignment")
    captions = " ".join(caption.value for caption in app.caption)
    assert "Not in the paper: attention as a soft alignment" in captions
    assert "app/views/attention/soft_alignment.py`, line" in captions
    assert any("mean = weights" in code.value for code in app.code)


@pytest.mark.parametrize("shift", ["predicts", "reads"])
def test_the_alignment_is_that_of_the_chosen_heads(
    shown: Open, weights: dict[str, np.ndarray], pieces: Pieces, shift: Any
) -> None:
    app = shown(more="alignment", threshold="0.1", shift=shift)
    app.multiselect[0].set_value([(0, 1), (2, 3)]).run()
    assert not app.exception
    cross = weights["cross"]
    expected = word_alignment(np.stack([cross[0, 1], cross[2, 3]]), *pieces, shift)
    lines = components(app, "attention_lines")[1]
    assert lines["keys"]["tokens"] == list(expected.source)
    drawn = sent(lines)
    reached = expected.weights >= 0.1
    assert reached.any()
    assert np.array_equal(drawn[reached], expected.weights[reached])
    assert (drawn[~reached] == 0).all()
    text = pharaoh(links(expected.weights, 0.1))
    assert [element.value for element in app.code if element.value[:1].isdigit()] == [text]
    assert f"{reached.sum()} link" in page_text(app)


def test_without_a_head_there_is_nothing_to_align_and_the_page_says_so(shown: Open) -> None:
    app = shown(more="alignment")
    app.multiselect[0].set_value([]).run()
    assert not app.exception
    assert "Choose at least one head" in page_text(app)
    again = shown(more="alignment", alignment_heads=app.query_params["alignment_heads"])
    assert "Choose at least one head" in page_text(again)


def test_without_the_causal_mask_the_page_says_so_and_bertviz_shows_later_keys(shown: Open) -> None:
    said = "attends to all tokens of the translation, because an edit switches the causal mask off"
    for edits, free in (({}, False), ({"edits": "mask=causal"}, True)):
        app = shown(kind="decoder", more="bertviz", bertviz="neuron", **edits)
        assert bertviz_data(app)["bidirectional"] == free
        assert (said in page_text(app)) == free
        assert ("later tokens are masked" in page_text(app)) != free


@pytest.mark.parametrize(("head", "allowed"), [("3", True), ("4", False)])
def test_the_mask_is_that_of_the_chosen_head(shown: Open, head: str, allowed: bool) -> None:
    app = shown(kind="decoder", edits="allow=decoder.2.3.1.2", layer="2", head=head, t="1", k="2")
    assert np.isnan(heat(app, 0)[0, 1]) != allowed
    assert ("not at all: that is masked" in page_text(app)) != allowed


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_bertviz_gets_our_tensors(shown: Open, weights: dict[str, np.ndarray], view: str, kind: str) -> None:
    app = shown(more="bertviz", bertviz=view, kind=kind, layer="2", head="3")
    attention = bertviz_data(app)["attention"][0]
    expected = weights[kind][1:2] if view == "neuron" else weights[kind]
    assert np.abs(np.array(attention["attn"]) / PARTS - expected).max() <= 0.00051
    if view == "neuron":
        query, key = (np.array(attention[name])[0] / PARTS for name in ("queries", "keys"))  # (H, ., E)
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        if kind == "decoder":
            scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
        again = np.exp(scores - scores.max(axis=-1, keepdims=True))
        assert again / again.sum(axis=-1, keepdims=True) == pytest.approx(expected[0], abs=0.02)
    twins = [found.proto.popover for found in app.get("popover") if "bertviz" in found.proto.popover.id]
    assert [twin.label for twin in twins] == (
        ["Download: weights", "Download: q and k"] if view == "neuron" else ["Download"]
    )


def test_only_the_open_tab_is_computed(shown: Open) -> None:
    assert (len(charts(shown())), len(shown().get("iframe"))) == (2, 0)
    app = shown(more="bertviz")
    assert (len(charts(app)), len(app.get("iframe"))) == (1, 1)


def test_each_part_of_the_page_carries_its_own_styles_alone(shown: Open) -> None:
    sizes = {found.proto.component_name: len(found.proto.css_content) for found in shown().get("bidi_component")}
    assert 0 < sizes["headlight_meter"] < 2_200
    assert sizes.pop("headlight_canvas") < 14_400  # it is the page
    assert max(sizes.values()) < 3_400, sizes


def test_bertviz_says_its_limits_before_and_draws_nothing_beyond(shown: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = shown("the cat sat on the mat " * 6, more="bertviz", bertviz="model")
    assert "Up to 30 tokens it draws all layers, up to 160 the chosen one" in page_text(app)
    tokens = len(components(app, "attention_lines")[0]["keys"]["tokens"])
    assert tokens > 30
    assert len(bertviz_data(app)["attention"][0]["attn"]) == 1
    app.text_input(key="sentence").set_value("the cat sat on the mat " * 12).run()
    assert not app.exception
    assert len(components(app, "attention_lines")[0]["keys"]["tokens"]) > 60
    for view in ("head", "model", "neuron"):
        app.session_state["bertviz"] = view
        app.run()
        assert app.get("iframe"), view
    monkeypatch.setattr(bertviz_tab, "MOST_TOKENS", 60)
    app.run()
    assert not app.get("iframe")
    assert "more than this view can draw" in page_text(app)


@pytest.mark.parametrize("text", HOSTILE)
def test_odd_words_are_drawn_and_are_never_markup(shown: Open, text: str) -> None:
    app = shown(text, hide="true", words="true", one="true")
    for more in TABS:
        app.session_state["more"] = more
        app.run()
        assert not app.exception, app.exception[0].message
        for element in (*app.markdown, *app.caption):
            assert "alert(1)" not in element.value
            assert ":red[b]" not in element.value
        for frame in app.get("iframe"):
            assert "<img" not in frame.proto.srcdoc


ODD: list[tuple[Size, dict[str, Any]]] = [
    (Size(1, 1, 1), {"norm": "pre"}),
    (Size(3, 1, 2), {"positions": "learned", "attention_window": 1}),
    (Size(1, 2, 16), {"positions": "none", "shared_embeddings": False}),
]


@pytest.mark.parametrize(("size", "options"), ODD, ids=str)
def test_it_opens_for_other_shapes_of_model(
    size: Size, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: Open
) -> None:
    write_checkpoint(tmp_path / "odd.safetensors", size, options=options)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = shown("a", words="true", hide="true", one="true")
    for kind in KINDS:
        for more in TABS:
            app.session_state["kind"], app.session_state["more"] = kind, more
            app.run()
            assert not app.exception, app.exception[0].message
            layers = size.encoder if kind == "encoder" else size.decoder
            assert len(components(app, "ranking")[0]["rows"]) == layers * size.heads
            assert np.nansum(heat(app, 0), axis=-1) == pytest.approx(1, abs=1e-5)
