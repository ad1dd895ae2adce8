"""The Masks page, run without a browser: the masks are the model's, masked weights are 0, padding changes nothing."""

from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.figures.mask_matrix import ALLOWED_BY_EDIT
from app.views.masks.mask_overview import GAP
from app.views.masks.mask_parts_section import mask_shape
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, charts, components, title, written
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from transformer.analysis.batch_masks import Part, padding_difference
from transformer.analysis.trace import Trace, trace_batch, trace_steps
from transformer.decoding.translator import Translator
from transformer.model import masks
from transformer.model.attention_kinds import KINDS, Kind
from transformer.model.masks import causal_mask, padding_mask

Open = Callable[..., AppTest]
EXAMPLE = "I was looking for my glasses all morning."
LONG, SHORT = "Where is the nearest train station?", "the cat sat"
SITES = {
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}
HOSTILE = "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"


@pytest.fixture
def open_masks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page on two sentences. A token is chosen by its place in the address: t, s, k, from 1."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))

    def opened(long: str = LONG, short: str | None = SHORT, **address: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        switch_page(app, "masks")
        for name, value in {"sentence": long, "details": "true", **address}.items():
            app.query_params[name] = value
        if short is not None:
            app.session_state["second_sentence"] = short
        app.run()
        healthy(app)
        return app

    return opened


def healthy(app: AppTest) -> None:
    assert not app.exception, app.exception[0].message


def by_title(app: AppTest) -> dict[str, dict[str, Any]]:
    """All charts by their title."""
    return {title(figure): figure for figure in charts(app)}


def heatmaps(figure: dict[str, Any]) -> list[np.ndarray]:
    return [array(trace["z"]) for trace in figure["data"] if trace["type"] == "heatmap"]


def texts(app: AppTest) -> str:
    return " ".join(element.value for kind in (app.text, app.info, app.warning) for element in kind)


def traces(path: Path, watch: str = "*.mask") -> tuple[Translator, tuple[Trace, ...], Any]:
    """Both sentences in one padded pass, computed beside the app: translator, traces, ids."""
    translator = Translator.load(path)
    texts = ((LONG, 3), (SHORT, 1))
    found = [translator.translate(text, n_best=n).sentences[0] for text, n in texts]
    ids = [sentence.source_ids for sentence in found], [sentence.hypotheses[0].ids for sentence in found]
    return translator, trace_batch(translator.model, *ids, [watch], translator.tokenizer.piece), ids


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_the_four_stages_drawn_are_the_tensors_of_the_padded_pass(open_masks: Open, folder: Path, kind: str) -> None:
    app = open_masks(kind=kind, layer="2", head="3")
    site = SITES[kind].format(1)
    _, (_, short), _ = traces(folder / "en-de.safetensors", f"{site}.*")
    figure = next(f for name, f in by_title(app).items() if name.endswith("layer 2, head 3, sentence 2"))
    before, mask, after, minus_infinity, weights, zero = heatmaps(figure)
    allowed = short[f"{site}.mask"][2]
    assert not allowed.all()
    assert np.array_equal(before, short[f"{site}.scores"][2])
    assert np.array_equal(mask == 0, allowed)
    assert np.array_equal(after[allowed], short[f"{site}.masked_scores"][2][allowed])
    assert np.array_equal(weights[allowed], short[f"{site}.weights"][2][allowed])
    for drawn in (after, weights):
        assert np.isnan(drawn[~allowed]).all()
    for mark in (minus_infinity, zero):
        assert np.array_equal(mark == 1, ~allowed)
    assert (short[f"{site}.weights"][2][~allowed] == 0).all()
    assert "largest weight of a masked cell is **0**" in " ".join(caption.value for caption in app.caption)


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_the_parts_drawn_are_the_masks_and_together_they_are_the_models(
    open_masks: Open, folder: Path, kind: str
) -> None:
    app = open_masks(kind=kind)
    _, (_, short), _ = traces(folder / "en-de.safetensors")
    panels = heatmaps(next(f for name, f in by_title(app).items() if name.endswith("sentence 2: the mask")))
    model = short[f"{SITES[kind].format(0)}.mask"][0]
    assert np.array_equal(panels[-1] == 0, model)
    assert len(panels) == (3 if kind == "decoder" else 1)
    if kind == "decoder":
        ids = np.array([short.target_ids])
        padding = padding_mask(torch.from_numpy(ids))[0, 0].expand(ids.shape[1], -1).numpy()
        assert np.array_equal(panels[0] == 0, padding)
        assert np.array_equal(panels[1] == 0, causal_mask(ids.shape[1])[0, 0].numpy())


def test_the_overview_holds_the_masks_of_both_sentences_and_all_kinds(open_masks: Open, folder: Path) -> None:
    app = open_masks()
    _, found, _ = traces(folder / "en-de.safetensors")
    wall = heatmaps(by_title(app)["All masks of the batch"])[0]
    masks = [one[f"{SITES[kind].format(0)}.mask"][0] for one in found for kind in ("encoder", "decoder", "cross")]
    assert (wall == 0).sum() == sum(int(mask.sum()) for mask in masks)
    assert (wall != GAP).sum() == sum(mask.size for mask in masks)


def test_the_framed_mask_of_the_overview_is_that_of_the_chosen_head(open_masks: Open) -> None:
    """An edit may change the mask of one head; it is shown where this head is chosen, and nowhere else."""
    allowed = []
    for layer, head in (("1", "1"), ("2", "3")):
        app = open_masks(edits="allow=decoder.2.3.1.2", kind="decoder", layer=layer, head=head)
        allowed.append(np.isin(heatmaps(by_title(app)["All masks of the batch"])[0], (0, ALLOWED_BY_EDIT)).sum())
        assert not any("All heads and layers share them." in each.value for each in app.caption)
    assert allowed[1] == allowed[0] + 2  # one cell in each of the two sentences
    assert any("All heads and layers share them." in each.value for each in open_masks().caption)


def test_the_reason_of_a_cell_that_an_edit_changed_is_the_edit(open_masks: Open) -> None:
    for edit, cell, reason in (
        ("forbid=decoder.all.all.3.2", {"t": "3", "k": "2"}, "An edit forbids it."),
        ("mask=causal", {"t": "2", "k": "3"}, "An edit allows it."),
    ):
        said = texts(open_masks(edits=edit, kind="decoder", **cell))
        assert reason in said
        assert "That is the future" not in said


def test_where_an_edit_takes_the_mask_away_the_picture_with_the_mask_is_still_of_the_model_with_it(
    open_masks: Open,
) -> None:
    app = open_masks(edits="mask=causal", details="false")
    said = " ".join(element.value for element in app.text)
    assert "An edit takes the causal mask away" in said
    (drawn,) = components(app, "causal_matrix")
    cells = {name: np.frombuffer(b64decode(drawn[name]["mask"]), np.uint8) for name in ("masked", "free")}
    size = len(drawn["reads"])
    assert np.array_equal(cells["masked"].reshape(size, size), np.tri(size))
    assert cells["free"].all()


@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_with_an_edit_the_rule_of_the_mask_is_that_of_the_model_without_it(open_masks: Open, kind: str) -> None:
    for edits, is_edited in ({"edits": "forbid=cross.2.1.1.1"}, True), ({}, False):
        (rule,) = [each.value for each in open_masks(kind=kind, **edits).markdown if "this one mask" in each.value]
        assert ("Without edits" in rule) == is_edited


def test_numbers_that_an_edit_of_the_mask_changes_are_not_called_rounding(open_masks: Open) -> None:
    said = " ".join(each.value for each in open_masks(edits="mask=padding", kind="encoder").markdown)
    assert "(an edit makes it large)" in said
    assert "(only rounding)" not in said


def test_the_batch_shows_padding_where_the_shorter_sentence_ends(open_masks: Open, folder: Path) -> None:
    app = open_masks()
    _, _, (sources, targets) = traces(folder / "en-de.safetensors")
    figure = next(f for name, f in by_title(app).items() if name.startswith("The batch"))
    drawn = heatmaps(figure)[0]
    for line, ids in enumerate((*sources, *targets)):
        longest = max(map(len, sources if line < 2 else targets))
        assert (drawn[line] == 0).sum() == longest - len(ids)
        assert (drawn[line] > 0).sum() == len(ids)


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    [
        ("decoder", {"t": "2", "k": "1"}, "where every translation starts"),
        ("decoder", {"t": "3", "k": "2"}, "already been written"),
        ("decoder", {"t": "2", "k": "2"}, "the same position"),
        ("decoder", {"t": "2", "k": "4"}, "the future"),
        ("encoder", {"s": "1", "k": "last"}, "padding, put there"),
        ("encoder", {"s": "1", "k": "2"}, "the whole source is known before the encoder begins"),
        ("cross", {"t": "1", "s": "1"}, "the whole source is known before the first token of the translation"),
        ("cross", {"t": "last", "s": "last"}, "padding itself"),
    ],
)
def test_the_sentence_says_why(open_masks: Open, folder: Path, kind: str, place: dict[str, str], reason: str) -> None:
    _, (_, short), _ = traces(folder / "en-de.safetensors")
    lengths = {"s": len(short.source_ids), "t": len(short.target_ids), "k": len(short.source_ids)}
    address = {name: str(lengths[name]) if value == "last" else value for name, value in place.items()}
    assert reason in texts(open_masks(kind=kind, **address))


def test_a_window_is_a_part_of_its_own_and_rows_that_are_fully_masked_are_named(open_masks: Open, folder: Path) -> None:
    path = folder / "window.safetensors"
    write_checkpoint(path, options={"attention_window": 1})
    try:
        app = open_masks(checkpoint="window", kind="encoder", s="10")
        panels = heatmaps(next(f for name, f in by_title(app).items() if name.endswith("sentence 2: the mask")))
        assert len(panels) == 3
        assert "is fully masked" in texts(app)
        assert "2 positions away" in texts(open_masks(checkpoint="window", kind="encoder", s="1", k="3"))
        allowed = texts(open_masks(checkpoint="window", kind="encoder", s="1", k="2"))
        assert "may attend" in allowed
        assert "1 position away, and the attention window of this checkpoint is r = 1" in allowed
    finally:
        path.unlink()


def test_the_difference_shown_is_the_measured_one_and_only_rounding(open_masks: Open, folder: Path) -> None:
    app = open_masks()
    translator, _, (sources, targets) = traces(folder / "en-de.safetensors")
    measured = padding_difference(translator.model, sources, targets, row=1)
    shown = {metric.label: metric.value for metric in app.metric}
    assert written(shown["Logits"]) == pytest.approx(measured["logits"], rel=1e-3)
    assert written(shown[f"All {len(measured)} tensors"]) == pytest.approx(max(measured.values()), rel=1e-3)
    assert max(measured.values()) < 1e-3  # processors round differently
    app.session_state["table_padding_numbers"] = True
    app.run()
    table = next(frame.value for frame in app.dataframe if "largest difference" in frame.value)
    assert dict(zip(table["site"], table["largest difference"], strict=True)) == pytest.approx(measured)


@pytest.mark.parametrize("number", [1, 2])
def test_a_row_of_the_whole_pass_is_the_step_with_the_cache(open_masks: Open, folder: Path, number: int) -> None:
    app = open_masks(kind="decoder", layer="2", head="3", t="3", sentence_of_batch=str(number))
    translator, _, (sources, targets) = traces(folder / "en-de.safetensors")
    site = "decoder.layers.1.self_attention.weights"
    steps = trace_steps(translator.model, sources[number - 1], targets[number - 1], [site])
    drawn, cells, hidden = heatmaps(next(f for name, f in by_title(app).items() if name.endswith("and step 3")))
    np.testing.assert_allclose(cells[3, :3], steps[2][site][2, 0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(cells[2, :3], cells[3, :3], rtol=0, atol=1e-5)
    assert np.isnan(drawn[1, 3:]).all()
    assert (drawn[0, 3:] == 1).all()
    assert (drawn[:2, :3] == 0).all()
    assert (hidden[2, 3:] == 1).all()
    assert any("def step_mask" in code.value for code in app.code)
    assert not any("def step_mask" in code.value for code in open_masks(kind="encoder").code)
    # The weights of the first row are a single 1 on both paths.
    assert any("and step 1: none. " in caption.value for caption in open_masks(kind="decoder", t="1").caption)


@pytest.mark.parametrize("window", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_the_shape_of_each_mask_is_that_of_the_tensor(kind: Kind, window: int | None) -> None:
    source, target, sizes = torch.full((2, 5), 7), torch.full((2, 4), 7), {"B": 2, "H": 3, "S": 5, "T": 4}
    keys = target if kind == "decoder" else source
    built: dict[Part | None, torch.Tensor] = {"padding": masks.padding_mask(keys)}
    if kind == "decoder":
        built["causal"] = masks.causal_mask(4)
    if window and kind != "cross":
        built["window"] = masks.window_mask(keys.shape[1], window)
    whole = {"encoder": masks.source_mask(source, window), "decoder": masks.target_mask(target, window)}
    built[None] = whole.get(kind, built["padding"])
    for part, mask in built.items():
        shape = mask_shape(kind, part, windowed=window is not None, sizes=sizes)
        assert f"**{' × '.join(map(str, mask.shape))}**, broadcast to" in shape, part
        scores = torch.zeros(2, 3, 5 if kind == "encoder" else 4, keys.shape[1])
        assert mask.expand_as(scores).shape == scores.shape
        assert shape.endswith(f"**{' × '.join(map(str, scores.shape))}**")


def test_it_opens_with_another_example_and_shows_the_shorter_which_is_padded(open_masks: Open, folder: Path) -> None:
    app = open_masks(EXAMPLE, short=None)
    other = app.text_input(key="second_sentence").value or ""
    assert other not in ("", app.text_input(key="sentence").value)
    tokenizer = Translator.load(folder / "en-de.safetensors").tokenizer
    shorter = 2 if len(tokenizer.encode(other)) < len(tokenizer.encode(EXAMPLE)) else 1
    assert any(name.endswith(f"sentence {shorter}: the mask") for name in by_title(app))


def test_the_sentence_it_opens_with_is_one_that_the_model_has_positions_for(open_masks: Open, folder: Path) -> None:
    path = folder / "narrow.safetensors"
    write_checkpoint(path, options={"max_positions": 9})
    try:
        app = open_masks("the cat sat", short=None, checkpoint="narrow")
        assert app.text_input(key="second_sentence").value == "the"
        assert len(charts(app)) == 6
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("words", "message"),
    [("", "Type a second sentence"), ("   ", "Type a second sentence"), ("\u200b", "There is nothing to translate")],
)
def test_without_a_second_sentence_it_says_so(open_masks: Open, words: str, message: str) -> None:
    app = open_masks(short=words)
    assert message in texts(app)
    assert not charts(app)


@pytest.mark.parametrize(
    ("kind", "made_by"), [("encoder", "def source_mask"), ("decoder", "def target_mask"), ("cross", "self.decoder(")]
)
def test_the_mask_of_each_kind_is_shown_beside_the_code_that_makes_it(
    open_masks: Open, kind: str, made_by: str
) -> None:
    app = open_masks(kind=kind)
    parts = r"\text{padding} \wedge \text{causal}" if kind == "decoder" else r"\text{padding}"
    assert any(parts in formula.value for formula in app.latex)
    assert any(made_by in code.value for code in app.code)


def test_sentences_of_one_length_have_no_padding_and_the_page_says_so(open_masks: Open) -> None:
    app = open_masks(short=LONG, kind="encoder")
    assert "so it has no padding" in " ".join(markdown.value for markdown in app.markdown)


@pytest.mark.parametrize(
    ("first", "second"), [("a", "b"), ("a", LONG), (LONG, HOSTILE), (HOSTILE, "🙂"), ("the the the", "the")]
)
def test_odd_sentences_are_drawn_and_stay_text(open_masks: Open, first: str, second: str) -> None:
    app = open_masks(first, second, kind="decoder")
    assert len(charts(app)) == 6
    for markdown in (*app.markdown, *app.caption):
        assert "alert(1)" not in markdown.value
        assert ":red[b]" not in markdown.value


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (Size(1, 3, 1), {"norm": "pre"}),
        (Size(3, 1, 2), {"positions": "learned", "attention_window": 2}),
        (Size(1, 1, 4), {"positions": "none", "shared_embeddings": False}),
    ],
)
def test_it_opens_with_other_architectures(open_masks: Open, folder: Path, size: Size, options: dict[str, Any]) -> None:
    path = folder / "other.safetensors"
    write_checkpoint(path, size, options=options)
    try:
        for kind in KINDS:
            app = open_masks(checkpoint="other", kind=kind)
            assert len(charts(app)) == 5 + (kind == "decoder")
    finally:
        path.unlink()
