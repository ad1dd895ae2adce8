"""A page shows the lines that make its picture; the figures are tested with the very functions that are quoted."""

from pathlib import Path

import pytest
import streamlit as st

from app.library import source_code
from app.library.source_code import joined_lines, lines_from
from app.views.residual.stream import shares
from app.views.scaling.large_scores import jacobian_norms
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import open_view


@pytest.mark.parametrize(
    ("page", "positions", "quoted"),
    [
        ("positions", "sinusoidal", ("return wide @ wide.T", "np.diagonal(matrix, k)")),
        ("positions", "sinusoidal", ("turns(shift * frequencies(d_model))", "np.cos(angles), np.sin(angles)")),
        ("positions", "learned", ("return wide @ wide.T", "np.diagonal(matrix, k)")),
        ("positions", "learned", ("before, after = points", "np.arctan2(across, along)", "np.cos(angles)")),
        ("scaling", "sinusoidal", ("(query * key).sum(axis=-1)", "products / np.sqrt(d_k)", "wide * (1 - wide)")),
        ("residual", "sinusoidal", ("exact.sum(axis=0)", "exact @ total / ((total @ total) or 1.0)")),
    ],
)
def test_the_code_is_that_of_the_picture(
    page: str, positions: str, quoted: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    st.cache_data.clear()
    write_checkpoint(tmp_path / "one.safetensors", Size(1, 1, 2), options={"positions": positions, "norm": "pre"})
    cards = [code.value for code in open_view(page, sentence="the cat", details="true").code]
    assert any(all(words in card for words in quoted) for card in cards), cards


def test_lines_of_one_file_are_shown_together_and_those_of_two_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = lines_from(shares, "exact ="), lines_from(shares, "total =")
    both = joined_lines(first, second)
    assert both.text == f"{first.text}\n\n{second.text}"
    assert (both.path, both.first) == (first.path, first.first)
    with pytest.raises(ValueError, match=r"stream\.py, app/views/scaling/large_scores\.py cannot be shown together"):
        joined_lines(first, lines_from(jacobian_norms, "wide ="))
    monkeypatch.setattr(source_code, "KNOWN", {})
    assert joined_lines(lines_from(shares, "exact ="), lines_from(shares, "total =")).text == source_code.CHANGED
