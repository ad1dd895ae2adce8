"""The first picture of Masks: with and without the causal mask, and the two models that differ in it."""

from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute.row_predictions import predictions
from app.figures.shares import Share
from app.views.masks.page import later_tokens
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components
from transformer.config import BOS
from transformer.decoding.translator import Translator
from transformer.model import Probe, census, masks

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
SITE = "decoder.layers.1.self_attention.{}"


def drawn(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "causal_matrix")
    return found


def unpacked(part: dict[str, Any], name: str, dtype: str) -> np.ndarray:
    values = np.frombuffer(b64decode(part[name]), dtype)
    size = round(len(values) ** 0.5)
    return values.reshape(size, size)


def one_pass(translator: Translator, *, causal: bool) -> tuple[Probe, torch.Tensor, tuple[int, ...]]:
    """The teacher-forced pass with a mask that is built here, without the app and without its edits."""
    translation = translator.translate(SENTENCE).sentences[0]
    ids = translation.hypotheses[0].ids
    reads = torch.tensor([[BOS, *ids[:-1]]])
    mask = masks.target_mask(reads, translator.model.config.attention_window, causal)
    probe = Probe(
        census(translator.model.config),
        [SITE.format("weights"), SITE.format("mask")],
        {"decoder.layers.*.self_attention.mask": lambda value: mask.expand_as(value)},
    )
    with torch.inference_mode():
        logits = translator.model(torch.tensor([translation.source_ids]), reads, probe)[0]
    return probe, logits, ids


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("causal", [True, False])
def test_both_passes_drawn_are_those_of_the_model(
    open_app: Open, folder: Path, causal: bool, window: int | None
) -> None:
    path = write_checkpoint(folder / "drawn.safetensors", options={"attention_window": window})
    try:
        app = open_app("masks", checkpoint="drawn", sentence=SENTENCE, mask_head="2.3")
        found = drawn(app)["masked" if causal else "free"]
        probe, logits, ids = one_pass(Translator.load(path), causal=causal)
        weights = probe.records[SITE.format("weights")][0, 2]
        np.testing.assert_allclose(unpacked(found, "weights", "<f4"), weights, rtol=0, atol=1e-5)
        assert np.array_equal(unpacked(found, "mask", "u1"), probe.records[SITE.format("mask")][0, 2])
        log = logits.double().log_softmax(dim=-1)
        right = log.gather(1, torch.tensor(ids)[:, None])[:, 0]
        np.testing.assert_allclose(found["probabilities"], right.exp(), rtol=1e-4)
        assert found["score"] == pytest.approx(float(right.sum()), rel=1e-4)
        assert found["right"] == (log.argmax(dim=-1) == torch.tensor(ids)).tolist()
        assert len(found["first"]) == len(ids)
    finally:
        path.unlink()


def test_the_scores_drawn_are_those_that_the_mask_gets(open_app: Open, folder: Path) -> None:
    translator = Translator.load(folder / "en-de.safetensors")
    translation = translator.translate(SENTENCE).sentences[0]
    reads = torch.tensor([[BOS, *translation.hypotheses[0].ids[:-1]]])
    probe = Probe(census(translator.model.config), [SITE.format("scores"), SITE.format("masked_scores")])
    with torch.inference_mode():
        translator.model(torch.tensor([translation.source_ids]), reads, probe)
    found = drawn(open_app("masks", checkpoint="en-de", sentence=SENTENCE, mask_head="2.3", mask_scores="true"))
    assert found["shown"] == 2
    scores = unpacked(found["scores"], "values", "<f4")
    np.testing.assert_allclose(scores, probe.records[SITE.format("scores")][0, 2], rtol=0, atol=1e-5)
    masked = probe.records[SITE.format("masked_scores")][0, 2].numpy()
    may = np.isfinite(masked)
    np.testing.assert_allclose(scores[may], masked[may], rtol=0, atol=1e-5)


def test_it_opens_on_the_clearest_head_and_another_one_is_drawn_when_it_is_chosen(open_app: Open) -> None:
    found = drawn(open_app("masks", sentence=SENTENCE, mask_head="3.2"))
    assert (found["layer"], found["head"]) == (2, 1)
    opened = drawn(open_app("masks", sentence=SENTENCE))
    assert 0 <= opened["layer"] < opened["layers"]
    beyond = drawn(open_app("masks", sentence=SENTENCE, mask_head="9.9"))
    assert (beyond["layer"], beyond["head"]) == (opened["layer"], opened["head"])


def test_predictions_are_a_softmax_over_the_logits() -> None:
    logits = np.random.default_rng(1).normal(size=(3, 7)).astype(np.float32) * 30
    found = predictions(logits, (2, 6, int(logits[2].argmax())))
    expected = torch.from_numpy(logits).double().log_softmax(dim=-1)[range(3), [2, 6, int(logits[2].argmax())]]
    np.testing.assert_allclose(found.log_probabilities, expected)
    assert found.right[2]
    assert found.first.tolist() == logits.argmax(axis=-1).tolist()


@pytest.mark.parametrize(
    ("change", "causal", "words"),
    [(0.1, True, "helps the model"), (-0.1, True, "never learned to use"), (-0.1, False, "lowers the score")],
)
def test_what_later_tokens_do_to_the_score_is_said_of_any_model(change: float, causal: bool, words: str) -> None:
    assert words in later_tokens(Share(0.2), helps=change >= 0, learned=not causal)


def test_each_twin_is_scored_as_it_was_trained_and_writes_alone(
    open_app: Open, folder: Path, twins: list[Path]
) -> None:
    app = open_app("masks", sentence=SENTENCE)
    (found,) = components(app, "comparison")
    step, alone = found["rows"]
    target = Translator.load(folder / "en-de.safetensors").translate(SENTENCE).text
    for place, path in enumerate(twins):
        translator = Translator.load(path)
        translation = translator.translate(SENTENCE).sentences[0]
        ids = translator.score(SENTENCE, target).ids
        model = translator.model
        if place:
            model.decoder.training = True  # so that the decoder builds no causal mask; its layers have no dropout
        with torch.inference_mode():
            logits = model(torch.tensor([translation.source_ids]), torch.tensor([[BOS, *ids[:-1]]]))[0]
        right = int((logits.argmax(dim=-1) == torch.tensor(ids)).sum())
        assert step["cells"][place]["text"] == f"{right} of {len(ids)} tokens right"
        assert alone["cells"][place]["text"] == (translation.text or "(nothing)")
    assert "this sentence" in found["title"]
    assert "other" in found["title"]
    assert found["names"] == ["causal mask", "no causal mask"]
    assert drawn(app)["heading"].startswith("The model of this page: ")


def test_a_sentence_of_other_languages_is_replaced_by_an_example_that_is_named(
    open_app: Open, folder: Path, twins: list[Path]
) -> None:
    path = write_checkpoint(folder / "fr.safetensors", Size(1, 1, 1), source_language="en", target_language="fr")
    try:
        (found,) = components(open_app("masks", checkpoint="fr", sentence=SENTENCE), "comparison")
        assert "Where is the nearest train station?" in found["title"]
    finally:
        path.unlink()


def test_without_the_two_models_the_picture_is_there_all_the_same(open_app: Open) -> None:
    app = open_app("masks", sentence=SENTENCE)
    assert not app.exception
    assert drawn(app)
    assert components(app, "comparison") == []


@pytest.mark.parametrize("place", [0, 1])
def test_where_one_of_the_two_models_is_damaged_the_picture_is_there_all_the_same(
    open_app: Open, twins: list[Path], place: int
) -> None:
    twins[place].write_bytes(twins[place].read_bytes()[:-100])
    app = open_app("masks", sentence=SENTENCE, checkpoint="en-de")
    assert not app.exception
    assert drawn(app)
    assert components(app, "comparison") == []


@pytest.mark.parametrize("sentence", ["a", "the the the the", "</script><img src=x onerror=alert(1)> :red[b]"])
def test_odd_sentences_stay_text(open_app: Open, sentence: str) -> None:
    app = open_app("masks", sentence=sentence)
    assert not app.exception
    assert drawn(app)["reads"][0] == "<s>"
    for element in (*app.markdown, *app.caption):
        assert "alert(1)" not in element.value
