"""The logit lens of the Decoding page draws ranks, and its top row is the model itself."""

from pathlib import Path

import numpy as np
import pytest

from app.views.decoding.lens_figures import closeness
from tests.support.decoding_page import PARTS, Open, logits_of, searched
from tests.support.drawn import array, charts


def test_the_lens_draws_ranks_and_the_top_row_is_the_model_itself(open_decoding: Open, folder: Path) -> None:
    app = open_decoding(PARTS[3], t="2")
    (wall,) = charts(app)
    translator, found = searched(folder)
    logits = logits_of(translator, found)
    ids = found.hypotheses[0].ids
    ranks = np.array([1 + int((row > row[id]).sum()) for row, id in zip(logits, ids, strict=True)])
    drawn = array(wall["data"][0]["z"])
    assert drawn.shape == (4, len(ids))  # the input and three layers
    assert drawn[-1] == pytest.approx(closeness(ranks, logits.shape[1]), abs=1e-6)
