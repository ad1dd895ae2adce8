"""Pictures of masks: colours show the mask of the model, letters the reasons, and a mark of its own minus infinity."""

from typing import Any

import numpy as np
import pytest

from app.figures.attention_stages import stages_figure
from app.figures.axes import TokenAxis
from app.figures.mask_matrix import (
    ALLOWED_BY_EDIT,
    FORBIDDEN_BY_EDIT,
    LETTERS_UP_TO,
    SEVERAL,
    letters,
    mask_alt,
    mask_table,
    parts_figure,
    reasons,
)
from app.figures.mask_reasons import combined_mask
from app.figures.panels import MOST_TEXTS
from app.figures.theme import mask_color, resolved
from app.views.masks.batch_figure import Line, batch_alt, batch_figure, batch_table
from app.views.masks.decoding_rows import Row, largest_difference, steps_figure, steps_table
from app.views.masks.mask_overview import GAP, Tile, overview_figure, overview_table
from app.views.masks.score_panels import (
    MARKS_UP_TO,
    NUMBERS_UP_TO,
    MaskedHead,
    masking_alt,
    masking_figure,
    masking_table,
    plain_zero,
    row_stages,
)
from tests.support.drawn import checked
from transformer.analysis.batch_masks import mask_parts
from transformer.config import ModelConfig

HOSTILE = ("</script><img src=x onerror=alert(1)>", "_a_ $x$ :red[b]", "<b>bold</b>", "", "🙂")
SOURCE, TARGET = (5, 6, 7, 3, 0, 0), (2, 5, 6, 7, 0)
CONFIG = ModelConfig(vocab_size=20, d_model=8, heads=2, attention_window=2)


def axis(count: int, role: Any = "encoder", predicts: bool = False) -> TokenAxis:
    tokens = tuple((HOSTILE * count)[:count])
    return TokenAxis("Tokens", role, tokens, tokens if predicts else ())


def stages(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """scores, mask, masked_scores, weights of a random head."""
    random = np.random.default_rng(seed)
    scores = (3 * random.normal(size=(rows, columns))).astype(np.float32)
    mask = random.random((rows, columns)) < 0.6
    mask[:, 0] = True
    masked = np.where(mask, scores, -np.inf).astype(np.float32)
    weights = np.exp(masked - masked.max(-1, keepdims=True))
    return scores, mask, masked, (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def having(figure: Any, mode: str) -> list[Any]:
    """The traces of this mode that have a text for each point."""
    return [trace for trace in figure.data if getattr(trace, "mode", "") == mode and trace.text is not None]


def test_a_cell_has_the_colour_of_its_reason_or_of_several_and_the_letters_of_all() -> None:
    parts = mask_parts(CONFIG, SOURCE, TARGET, "decoder")
    mask = combined_mask(parts)
    found, texts = reasons(mask, parts), letters(mask, parts)
    assert (found == 0).tolist() == mask.tolist()
    assert (found[0, 1], texts[0, 1]) == (2, "C")
    assert (found[3, 0], texts[3, 0]) == (3, "W")
    assert (found[0, 4], texts[0, 4]) == (SEVERAL, "PCW")
    assert (found[3, 4], texts[3, 4]) == (SEVERAL, "PC")
    assert (texts == "").tolist() == mask.tolist()


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_cell_that_an_edit_changed_is_shown_with_the_edit_as_its_reason(kind: Any) -> None:
    parts = mask_parts(CONFIG, SOURCE, TARGET, kind)
    mask = combined_mask(parts).copy()
    mask[0, 4], mask[2, 1] = True, False
    queries, keys = axis(mask.shape[0], predicts=True), axis(mask.shape[1])
    figure = checked(parts_figure(mask, parts, queries, keys, title="t", cell=(0, 4)))
    whole = [trace for trace in figure.data if trace.type == "heatmap"][-1]
    assert (whole.z[0, 4], whole.z[2, 1]) == (ALLOWED_BY_EDIT, FORBIDDEN_BY_EDIT)
    said = (whole.text[0][4], whole.text[2][1])
    assert said == ("allowed by an edit", "forbidden by an edit")
    assert having(figure, "text")[-1].text.count("E") == 2
    table = mask_table(mask, parts, queries, keys)
    assert (table[keys.names[4]][0], table[keys.names[1]][2]) == said
    assert "an edit. How many" in mask_alt(mask, parts, queries, keys, "t")
    numbers = overview_table([[Tile("kind", "sentence", mask, parts), Tile("kind", "free", mask | True, parts)]])
    assert (numbers["forbidden by an edit"], numbers["forbidden by padding mask"][1]) == ([1, 0], 0)


@pytest.mark.parametrize(("kind", "panels"), [("encoder", 3), ("decoder", 4), ("cross", 1)])
def test_each_part_has_a_panel_and_so_has_the_whole(kind: Any, panels: int) -> None:
    parts = mask_parts(CONFIG, SOURCE, TARGET, kind)
    mask = combined_mask(parts)
    rows, columns = axis(mask.shape[0], predicts=True), axis(mask.shape[1])
    figure = checked(parts_figure(mask, parts, rows, columns, title="t", cell=(1, 2)))
    drawn = [trace.z for trace in figure.data if trace.type == "heatmap"]
    assert len(drawn) == panels
    for (_, part), z in zip(parts.items(), drawn, strict=False):
        assert ((z == 0) == part).all()
    assert ((drawn[-1] == 0) == mask).all()
    heatmaps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert all(trace.meta == {"clicks": True} and np.shape(trace.text) == mask.shape for trace in heatmaps)
    assert (np.array(heatmaps[-1].text)[mask] == "may attend").all()
    assert len(figure.layout.shapes) == 2 * panels
    assert figure.layout.yaxis.title.text == "reads"  # the row of the decoder
    legend = [trace.name for trace in figure.data if trace.type == "scatter" and trace.name]
    assert legend[0] == "may attend"
    assert len(legend) == 1 + len(parts) + (len(parts) > 1)
    table = mask_table(mask, parts, rows, columns)
    assert [table[name][0] == "may attend" for name in columns.names] == mask[0].tolist()
    assert f"{int(mask[0].sum())} of {mask.shape[1]} keys" in mask_alt(mask, parts, rows, columns, "t")


def test_a_large_mask_can_be_clicked_and_is_drawn_without_a_text_in_each_cell() -> None:
    n = max(int(MOST_TEXTS**0.5), 3 * LETTERS_UP_TO) + 1
    mask = np.tril(np.ones((n, n), dtype=bool))
    figure = checked(parts_figure(mask, {"padding": mask}, axis(n), axis(n), title="t", cell=(0, 0)))
    assert figure.data[0].meta == {"clicks": True}
    assert figure.data[0].text is None
    assert not having(figure, "text")


def test_the_masks_of_the_longest_translation_fit_and_their_labels_do_not_overlap() -> None:
    def drawn(rows: int) -> list[Any]:
        mask = np.ones((rows, 4), dtype=bool)
        mask[:, 3] = False
        parts: Any = {"padding": mask}
        scores = np.ones((rows, 4), dtype=np.float32)
        after = np.where(mask, scores, -np.inf)
        panels = masking_figure(
            MaskedHead(scores, mask, after, scores / 3, parts, axis(rows), axis(4)), title="t", cell=(0, 0)
        )
        return [checked(parts_figure(mask, parts, axis(rows), axis(4), title="t", cell=(0, 0))), checked(panels)]

    for rows in (6, 40, 60, 160):
        for figure, lines in zip(drawn(rows), (1, 2), strict=True):
            assert figure.layout.height < 900 * lines
            bottom, top = figure.layout.yaxis.domain or (0, 1)
            row = (figure.layout.height - figure.layout.margin.t - figure.layout.margin.b) * (top - bottom) / rows
            sizes = [trace.textfont.size for trace in having(figure, "text")]
            assert sizes if rows <= 60 else not sizes
            assert all(size <= row + 1 for size in sizes)


def test_the_overview_holds_all_masks_and_frames_the_chosen_one() -> None:
    tiles = []
    for number, source in enumerate(((5, 6, 7, 3, 0, 0), (5, 6, 7, 8, 9, 3))):
        parts = [mask_parts(CONFIG, source, TARGET, kind) for kind in ("encoder", "decoder", "cross")]
        tiles.append(
            [Tile(f"kind {j}", f"sentence {number}", combined_mask(part), part) for j, part in enumerate(parts)]
        )
    figure = checked(overview_figure(tiles, (1, 2), title="t"))
    drawn = np.asarray(figure.data[0].z)
    flat = [tile for line in tiles for tile in line]
    assert (drawn == 0).sum() == sum(tile.mask.sum() for tile in flat)
    assert (drawn != GAP).sum() == sum(tile.mask.size for tile in flat)
    markers = figure.data[1]
    assert [tuple(pair) for pair in markers.customdata] == [(i, j) for i in range(2) for j in range(3)]
    frame = figure.layout.shapes[0]
    assert frame.x0 < markers.x[5] < frame.x1
    assert frame.y0 < markers.y[5] < frame.y1
    assert overview_table(tiles)["may attend"] == [int(tile.mask.sum()) for tile in flat]


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 8), (6, NUMBERS_UP_TO), (4, MARKS_UP_TO), (3, 60)])
def test_the_four_stages_are_drawn_as_they_are(rows: int, columns: int) -> None:
    scores, mask, masked, weights = stages(rows, columns)
    parts: Any = {"padding": mask}
    queries, keys = axis(rows, "decoder", predicts=True), axis(columns)
    head = MaskedHead(scores, mask, masked, weights, parts, queries, keys)
    figure = checked(masking_figure(head, title="t", cell=(0, 0)))
    before, allowed, after, infinite, weighed, zero = (np.asarray(t.z) for t in figure.data if t.type == "heatmap")
    assert np.array_equal(before, scores)
    assert np.array_equal(allowed == 0, mask)
    assert np.array_equal(after[mask], masked[mask])
    assert np.array_equal(weighed[mask], weights[mask])
    for drawn, mark in ((after, infinite), (weighed, zero)):
        assert np.array_equal(np.isnan(drawn), ~mask)
        assert np.array_equal(mark == 1, ~mask)
    texts = having(figure, "text")
    assert len(texts) == (4 if columns <= MARKS_UP_TO else 0)
    if texts:
        assert list(texts[2].text).count("−∞") == (~mask).sum()
        assert list(texts[3].text).count("0") == (~mask).sum()
        assert len(texts[0].text) == (mask.size if columns <= NUMBERS_UP_TO else 0)
    top = [figure.layout.yaxis.domain, figure.layout.yaxis3.domain]
    assert all(0 <= low < high <= 1 for low, high in top)
    table = masking_table(head)
    assert np.array_equal(np.asarray(table["weight"]).reshape(mask.shape), weights)
    assert "minus infinity" in masking_alt(head, "t")


def test_a_masked_weight_that_is_not_zero_would_show() -> None:
    scores, mask, masked, weights = stages(4, 6)
    head = MaskedHead(scores, mask, masked, weights, {"padding": mask}, axis(4), axis(6))
    assert head.largest_masked == 0
    weights[~mask] = 1e-7
    assert head.largest_masked == pytest.approx(1e-7)
    assert plain_zero(1e-7) == "1.0×10⁻⁷"
    figure = checked(masking_figure(head, title="t", cell=(0, 0)))
    numbers = having(figure, "text")[3]
    assert "1.0×10⁻⁷" in numbers.text
    assert (numbers.textfont.size, numbers.meta["columns"]) == (16, 2 * 6)  # large, where the browser finds the room


def test_a_row_says_masked_in_the_step_of_the_mask_and_in_all_after_it() -> None:
    scores, mask, masked, weights = stages(4, 6, seed=2)
    row = int((~mask).sum(axis=1).argmax())
    found = row_stages(scores, MaskedHead(scores, mask, masked, weights, {"padding": mask}, axis(4), axis(6)), row)
    figure = checked(stages_figure(found, axis(6), mask[row], title="t", chosen=0))
    grey = ~np.isnan(np.asarray(figure.data[1].z))
    assert grey[~mask[row]].tolist() == [[False, False, True, True, True]] * int((~mask[row]).sum())
    assert not grey[mask[row]].any()
    assert figure.data[2].text[2 * 6 : 3 * 6].count("masked") == (~mask[row]).sum()


def test_the_batch_is_a_rectangle_with_padding_at_the_right() -> None:
    lines = [
        Line("encoder, sentence 1", "encoder", HOSTILE, 5),
        Line("encoder, sentence 2", "encoder", ("a", "</s>", "<pad>", "<pad>", "<pad>"), 2),
        Line("decoder, sentence 1", "decoder", ("<s>", "b"), 2),
    ]
    figure = checked(batch_figure(lines, title="t"))
    z = np.asarray(figure.data[0].z)
    assert z[0].tolist() == [1] * 5
    assert z[1].tolist() == [1, 1, 0, 0, 0]
    assert z[2, :2].tolist() == [2, 2]
    assert np.isnan(z[2, 2:]).all()
    assert not any("<img" in text for text in (*figure.data[1].text, *figure.data[1].hovertext))
    assert batch_table(lines)["3"] == [HOSTILE[2], "<pad>", ""]
    assert "2 tokens and 3 of padding" in batch_alt(lines, "t")
    long = checked(batch_figure([Line("encoder, sentence 1", "encoder", ("▁word",) * 60, 60)], title="t"))
    assert long.data[1].mode == "markers"


def test_hostile_tokens_are_drawn_letter_by_letter() -> None:
    parts = mask_parts(CONFIG, SOURCE, TARGET, "encoder")
    figure = checked(parts_figure(combined_mask(parts), parts, axis(6), axis(6), title="<i>t</i>", cell=(0, 0)))
    for layout in (figure.layout.xaxis, figure.layout.xaxis2, figure.layout.yaxis):
        assert not any("<img" in text or "<b>" in text for text in layout.ticktext)
    assert "<i>" not in figure.layout.title.text


def test_a_step_has_cells_for_the_keys_that_there_are_and_none_for_the_future() -> None:
    mask, weights = np.array([False, True, True, False, False]), np.array([0, 0.3, 0.7, 0, 0], dtype=np.float32)
    one = Row(mask, weights), Row(mask[:3], weights[:3] + np.float32(1e-3))
    figure = checked(steps_figure(*one, axis(5, "decoder"), 2, window=1, title="t"))
    edited = checked(steps_figure(*one, axis(5, "decoder"), 2, window=None, title="t"))
    assert having(edited, "text")[0].text[:5] == ("E", "", "", "C", "C")  # within no window: an edit forbids it
    masks, cells, hidden = (np.asarray(trace.z) for trace in figure.data if trace.type == "heatmap")
    assert masks[0].tolist() == [2, 0, 0, 1, 1]  # outside the window, allowed, the future
    assert masks[1, :3].tolist() == [2, 0, 0]
    assert np.isnan(masks[1, 3:]).all()
    assert np.array_equal(cells[2, 1:3], weights[1:3])
    assert np.array_equal(cells[3, 1:3], weights[1:3] + np.float32(1e-3))
    assert np.isnan(cells[3, 3:]).all()
    (texts,) = having(figure, "text")
    rows = [texts.text[row : row + 5] for row in (0, 5, 10, 15)]
    assert rows[0] == ("W", "", "", "C", "C")
    assert rows[2] == ("0", "0.3000", "0.7000", "0", "0")
    assert rows[3] == ("0.001000", "0.3010", "0.7010", "", "")
    assert np.argwhere(hidden == 1).tolist() == [[2, 0], [2, 3], [2, 4], [3, 0]]
    assert largest_difference(*one) == pytest.approx(1e-3, rel=1e-3)
    shorter = Row(mask[:2], weights[:2])
    assert largest_difference(one[0], shorter) == pytest.approx(0.7)  # of a key that the step does not have
    table = steps_table(*one, axis(5, "decoder"))
    assert table["step, may attend"] == ["False", "True", "True", "", ""]
    assert len(set(map(len, table.values()))) == 1


@pytest.mark.parametrize("dark", [False, True])
def test_the_reasons_have_colours_of_their_own(dark: bool) -> None:
    colors = {
        resolved(mask_color(name), dark) for name in ("allowed", "padding", "causal", "window", "several", "edit")
    }
    assert len(colors) == 6
