"""The Masks page of an edited model: cells that an edit allows or forbids, and masks that it takes away."""

from base64 import b64decode

import numpy as np
import pytest

from app.figures.mask_matrix import ALLOWED_BY_EDIT
from tests.support.drawn import components, page_text
from tests.support.masks_page import Open, by_title, heatmaps


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
        said = page_text(open_masks(edits=edit, kind="decoder", **cell))
        assert reason in said
        assert "That token comes later" not in said


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
