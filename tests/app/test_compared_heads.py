"""Compare: the heads of two models over the same tokens, and the message if the two cannot be compared."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.cached_results import attention
from app.compute.compared import HeadChange, Reading, head_changes
from app.compute.subject import Subject
from app.figures.canvas_message import header_of
from app.library.checkpoints import CheckpointFile
from app.views.compare.head_maps import heads_table
from app.views.shared.other_checkpoints import other_checkpoints
from tests.app.test_compare_page import SENTENCE
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import attention_weights, page_text
from transformer.analysis.edits import HeadUniform, model_edits
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]


def test_a_head_moves_by_half_the_sum_of_the_differences_of_its_weights(folder: Path) -> None:
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    edited = subject.edited(HeadUniform("cross", 1, 2))
    translation = subject.translator.translate(SENTENCE).sentences[0]
    ids = translation.hypotheses[0].ids
    found = {(each.kind, each.layer, each.head): each.moved for each in
             head_changes(*(Reading(each, translation.source_ids, ids) for each in (subject, edited)))}  # fmt: skip
    weights = attention(subject, translation.source_ids, ids, "cross").weights[1, 2]
    even = np.full_like(weights, 1 / weights.shape[-1])
    assert found["cross", 1, 2] == pytest.approx(np.abs(weights - even).sum(-1).mean() / 2, abs=1e-6)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert found["encoder", 0, 0] == 0
    assert found["cross", 0, 0] == 0


def heads_drawn(app: AppTest) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header of the picture of all heads, and the weights of both models: three kinds of the first, then of the
    second, (L, H, Q, K)."""
    assert not app.exception
    (message,) = [each.proto.bytes for each in app.get("bidi_component")
                  if each.proto.component_name == "headlight_head_changes"]  # fmt: skip
    header, at, weights = header_of(message), 4 + int.from_bytes(message[:4], "little"), []
    for kind in header["kinds"]:
        size = int(np.prod(kind["shape"]))
        weights.append(np.frombuffer(message, "<u2", size, at).reshape(kind["shape"]) / header["levels"])
        at += 2 * size
    shapes = (kind["shape"][0 if kind.get("ownMasks") else 2 :] for kind in header["kinds"])  # of the masks
    assert len(message) == at + sum(int(np.prod(shape)) for shape in shapes)
    return header, weights


def test_masks_of_an_edited_head_are_beside_those_of_the_original_model(open_app: Open) -> None:
    header, _ = heads_drawn(open_app("compare", sentence=SENTENCE, edits="forbid=decoder.2.3.4.2"))
    assert [kind.get("ownMasks", False) for kind in header["kinds"]] == [False] * 4 + [True, False]


def weights_of(translator: Translator, source_ids: tuple[int, ...], ids: tuple[int, ...]) -> list[np.ndarray]:
    sites = ("encoder.layers.*.self_attention", "decoder.layers.*.self_attention", "decoder.layers.*.cross_attention")
    return [attention_weights(translator.model, source_ids, ids, f"{site}.weights") for site in sites]


def test_the_heads_of_an_edited_model_are_beside_the_original_ones(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, edits="uniform=decoder.2.3")
    header, weights = heads_drawn(app)
    translator = Translator.load(folder / "en-de.safetensors")
    translation = translator.translate(SENTENCE).sentences[0]
    edited = translator.edited(model_edits((HeadUniform("decoder", 1, 2),), translator.model))
    read = (translation.source_ids, translation.hypotheses[0].ids)
    for found, exact in zip(weights, [*weights_of(translator, *read), *weights_of(edited, *read)], strict=True):
        np.testing.assert_allclose(found, exact, atol=1 / 65_000)
    moved = [each["moved"] for each in header["order"]]
    assert len(moved) == 4 * (2 + 3 + 3)
    assert moved == sorted(moved, reverse=True)
    assert all(each["partner"] == [each["layer"], each["head"]] for each in header["order"])
    first = header["order"][header["chosen"]]
    assert (first["kind"], first["layer"], first["head"]) == (1, 1, 2)
    assert header["tokens"][2] == [
        [token.removeprefix("▁") for token in translation.hypotheses[0].tokens],
        [each.text.removeprefix("▁") for each in translation.source_tokens],
    ]


def test_the_heads_of_two_checkpoints_are_matched_over_the_same_tokens(open_app: Open, folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, side="checkpoint", compared_checkpoint="small")
    header, weights = heads_drawn(app)
    own, small = (Translator.load(folder / f"{name}.safetensors") for name in ("en-de", "small"))
    translation = own.translate(SENTENCE).sentences[0]
    read = (translation.source_ids, translation.hypotheses[0].ids)
    for found, exact in zip(weights, [*weights_of(small, *read), *weights_of(own, *read)], strict=True):
        np.testing.assert_allclose(found, exact, atol=1 / 65_000)
    pairs = [each for each in header["order"] if each["partner"]]
    assert [each["partner"] for each in pairs] == [[0, 0]] * 3  # the other has one head of each kind
    for each in pairs:
        one, other = weights[each["kind"]][0, 0], weights[3 + each["kind"]]
        distances = np.abs(other - one).sum(-1).mean(-1) / 2  # (L, H)
        assert each["moved"] == pytest.approx(distances.min(), abs=2e-4)
        assert distances[each["layer"], each["head"]] == distances.min()
    assert "matched by similarity" in page_text(app)


def test_a_sentence_with_another_word_is_compared_head_by_head(open_app: Open, folder: Path) -> None:
    app = open_app(
        "compare", sentence="the cat sat on the mat", side="sentence", compared_sentence="the mat sat on the mat"
    )
    header, weights = heads_drawn(app)
    translator = Translator.load(folder / "en-de.safetensors")
    other, mine = (translator.translate(text).sentences[0] for text in ("the mat sat on the mat", SENTENCE))
    ids = mine.hypotheses[0].ids
    exact = [*weights_of(translator, other.source_ids, ids), *weights_of(translator, mine.source_ids, ids)]
    for found, known in zip(weights, exact, strict=True):
        np.testing.assert_allclose(found, known, atol=1 / 65_000)
    source = [each.text.removeprefix("▁") for each in mine.source_tokens]
    assert header["tokens"][0][0] == [source[0], "mat, cat", *source[2:]]
    assert "elsewhere than with the second sentence" in page_text(app)


def test_a_head_without_a_partner_has_no_number_in_the_table() -> None:
    changes = [HeadChange("cross", 0, 0, (1, 2), 0.25), HeadChange("cross", 0, 1, None, 1.0)]
    assert heads_table(changes)["weight moved"] == [0.25, pytest.approx(math.nan, nan_ok=True)]


def test_the_head_of_the_address_is_shown(open_app: Open) -> None:
    header, _ = heads_drawn(
        open_app("compare", sentence=SENTENCE, edits="uniform=decoder.2.3", compared_head="cross.3.4")
    )
    chosen = header["order"][header["chosen"]]
    assert (chosen["kind"], chosen["layer"], chosen["head"]) == (2, 2, 3)
    header, _ = heads_drawn(
        open_app("compare", sentence=SENTENCE, edits="uniform=decoder.2.3", compared_head="cross.9.9")
    )
    assert header["chosen"] == 0


def test_where_heads_cannot_be_compared_it_says_why(open_app: Open) -> None:
    assert "all its heads are the same" in page_text(open_app("compare", sentence=SENTENCE, side="search"))
    app = open_app("compare", sentence=SENTENCE, side="sentence", compared_sentence="the dog sat on it")
    assert "replace a word of your sentence: it has" in page_text(app)
    assert not [each for each in app.get("bidi_component") if each.proto.component_name == "headlight_head_changes"]


@pytest.fixture
def own_folder(tmp_path: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one checkpoint, in which the app looks from now on."""
    path = tmp_path / "own"
    path.mkdir()
    write_checkpoint(path / "en-de.safetensors", Size(1, 1, 2), source_language="en", target_language="de")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(path))
    return path


def test_a_checkpoint_alone_has_nothing_to_be_compared_with(open_app: Open, own_folder: Path) -> None:
    app = open_app("compare", sentence=SENTENCE, side="checkpoint")
    sentence = "There is only one checkpoint. Put another .safetensors file into its folder, or open one in the menu."
    assert sentence in [each.value for each in app.text]


def test_a_checkpoint_that_is_broken_or_reads_otherwise_gets_an_error_message(open_app: Open, own_folder: Path) -> None:
    write_checkpoint(own_folder / "other.safetensors", Size(1, 1, 2), byte_fallback=False)
    write_checkpoint(own_folder / "de-en.safetensors", Size(1, 1, 2), source_language="de", target_language="en")
    (own_folder / "broken.safetensors").write_bytes(b"nothing")
    open_it = partial(open_app, "compare", sentence="the cat", side="checkpoint")
    app = open_it(compared_checkpoint="other")
    assert "different vocabularies" in page_text(app)
    assert "No other checkpoint here that reads English" in page_text(app)
    write_checkpoint(own_folder / "same.safetensors", Size(1, 1, 2), seed=2, source_language="en", target_language="de")
    app = open_it(compared_checkpoint="other")
    assert "choose a checkpoint with your vocabulary: same (English → German)." in page_text(app)
    app = open_it(compared_checkpoint="de-en")
    assert "The first reads German, yours English: for one of the two it is the wrong language." in page_text(app)
    heads_drawn(app)
    app = open_it(compared_checkpoint="broken")
    assert not app.exception
    assert "cannot be opened" in page_text(app)


def test_the_opening_checkpoint_is_the_one_that_is_most_like_it(own_folder: Path) -> None:
    write_checkpoint(own_folder / "a.safetensors", Size(1, 1, 2), source_language="de", target_language="en")
    write_checkpoint(own_folder / "b.safetensors", Size(1, 2, 4), source_language="en", target_language="de")
    write_checkpoint(own_folder / "c.safetensors", Size(1, 1, 2), source_language="en", target_language="de")
    found = other_checkpoints(CheckpointFile.at(own_folder / "en-de.safetensors"))
    assert list(found) == ["c", "b", "a"]
