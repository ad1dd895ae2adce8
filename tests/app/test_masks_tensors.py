"""The pictures of the Masks page are the tensors of a padded pass, and a row is the step with the cache."""

from pathlib import Path

import numpy as np
import pytest
import torch

from app.views.masks.mask_overview import GAP
from tests.support.drawn import written
from tests.support.masks_page import Open, by_title, heatmaps, traces
from transformer.analysis.batch_masks import padding_difference
from transformer.analysis.trace import trace_steps
from transformer.model.masks import causal_mask, padding_mask

SITES = {
    "cross": "decoder.layers.{}.cross_attention",
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
}


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


def test_the_batch_shows_padding_where_the_shorter_sentence_ends(open_masks: Open, folder: Path) -> None:
    app = open_masks()
    _, _, (sources, targets) = traces(folder / "en-de.safetensors")
    figure = next(f for name, f in by_title(app).items() if name.startswith("The batch"))
    drawn = heatmaps(figure)[0]
    for line, ids in enumerate((*sources, *targets)):
        longest = max(map(len, sources if line < 2 else targets))
        assert (drawn[line] == 0).sum() == longest - len(ids)
        assert (drawn[line] > 0).sum() == len(ids)


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
