"""The Masks page, run without a browser: it says why a cell is masked, for any model and any two sentences."""

from pathlib import Path
from typing import Any

import pytest
import torch

from app.views.masks.mask_parts_section import mask_shape
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import charts, page_text
from tests.support.masks_page import LONG, Open, by_title, heatmaps, traces
from transformer.analysis.batch_masks import Part
from transformer.decoding.translator import Translator
from transformer.model import masks
from transformer.model.attention_kinds import KINDS, Kind

EXAMPLE = "I was looking for my glasses all morning."
HOSTILE = "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    [
        ("decoder", {"t": "2", "k": "1"}, "where every translation starts"),
        ("decoder", {"t": "3", "k": "2"}, "already been written"),
        ("decoder", {"t": "2", "k": "2"}, "the same position"),
        ("decoder", {"t": "2", "k": "4"}, "comes later"),
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
    assert reason in page_text(open_masks(kind=kind, **address))


def test_a_window_is_a_part_of_its_own_and_rows_that_are_fully_masked_are_named(open_masks: Open, folder: Path) -> None:
    path = folder / "window.safetensors"
    write_checkpoint(path, options={"attention_window": 1})
    try:
        app = open_masks(checkpoint="window", kind="encoder", s="10")
        panels = heatmaps(next(f for name, f in by_title(app).items() if name.endswith("sentence 2: the mask")))
        assert len(panels) == 3
        assert "is fully masked" in page_text(app)
        assert "2 positions away" in page_text(open_masks(checkpoint="window", kind="encoder", s="1", k="3"))
        allowed = page_text(open_masks(checkpoint="window", kind="encoder", s="1", k="2"))
        assert "may attend" in allowed
        assert "1 position away, and the attention window of this checkpoint is r = 1" in allowed
    finally:
        path.unlink()


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
    assert message in page_text(app)
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
