"""Model cards are files that strangers write: an image in them is not loaded by the browser."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.library.checkpoints import CheckpointFile
from tests.support.hostile_card import hostile_card

PIECES = [
    "!",
    "[",
    "]",
    "(",
    ")",
    "\\",
    "`",
    "\n",
    "\n\n",
    "x",
    "http://a.b",
    ":",
    "&#33;",
    "<",
    ">",
    "[x]: http://a.b\n",
]


def read(text: str, folder: Path) -> str:
    """The card as the app reads it."""
    checkpoint = folder / "a.safetensors"
    checkpoint.touch()
    checkpoint.with_suffix(".md").write_bytes(text.encode())
    card = CheckpointFile.at(checkpoint).card
    assert card is not None
    return card


def images(markdown: str) -> list[Token]:
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(markdown)
    return [inner for token in tokens for inner in token.children or [] if inner.type == "image"]


def test_a_card_that_cannot_be_read_is_left_out_and_a_very_long_one_is_cut(tmp_path: Path) -> None:
    checkpoint = tmp_path / "one.safetensors"
    checkpoint.touch()
    (tmp_path / "one.md").mkdir()
    assert CheckpointFile.at(checkpoint).card is None
    (tmp_path / "one.md").rmdir()
    (tmp_path / "one.md").write_text("x" * 300_000)
    card = CheckpointFile.at(checkpoint).card
    assert card
    assert len(card) == 200_000


def test_no_form_of_an_image_is_left_in_a_card(tmp_path: Path) -> None:
    card = hostile_card("http://attacker.example")
    assert len(images(card)) > 20
    assert images(read(card, tmp_path)) == []


@example("!![x](http://a.b)")
@example("\\![x](http://a.b)")
@example("\\\\!![x][x]\n\n[x]: http://a.b\n")
@given(st.lists(st.sampled_from([*PIECES, "![", "[x]", "(http://a.b)"]), max_size=30).map("".join))
def test_no_text_becomes_an_image(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert images(read(text, Path(folder))) == []


@pytest.mark.parametrize("text", ["# A card\n\nPlain *text* and a [link](https://a.b)!\n", "Is 3! = [6] so?\n"])
def test_a_card_without_images_is_unchanged(text: str, tmp_path: Path) -> None:
    assert read(text, tmp_path) == text
