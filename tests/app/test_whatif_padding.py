"""What if, "Take a mask away": two sentences in a batch, with and without the padding mask."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch

from app.compute import cached_results
from app.compute.mask_results import translate_batch
from app.compute.subject import Subject
from app.figures.theme import fixed
from app.stage.scene import Selection, scene_of
from app.views.whatif import padded_batch
from tests.app.test_causal_picture import drawn
from tests.app.test_whatif_masks import HOSTILE, SENTENCE, Open, batch
from tests.support.drawn import components
from transformer.analysis.edits import MaskOff, PositionsOff
from transformer.config import BOS, PAD, DecodingConfig
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.model import Probe, census


def test_in_a_batch_the_shorter_sentence_is_as_alone_unless_padding_is_attended_to(subject: Subject) -> None:
    sentences = (f"{SENTENCE}, {SENTENCE}", "the cat")
    settings = subject.translator.settings
    alone = subject.translator.translate("the cat").sentences[0].hypotheses[0]
    found = translate_batch(subject, sentences, settings)[1].hypotheses[0]
    assert found.ids == alone.ids
    assert found.score == pytest.approx(alone.score, abs=1e-4)
    for edits in ((MaskOff("padding"),), (MaskOff("padding"), PositionsOff("decoder"))):
        edited = subject.edited(*edits)
        alone = edited.translator.translate("the cat").sentences[0].hypotheses[0]
        off = translate_batch(edited, sentences, settings)[1].hypotheses[0]
        assert off.score != pytest.approx(alone.score, abs=1e-3)


def by_hand(translator: Translator, source: tuple[int, ...], target: tuple[int, ...], padding: int, part: str) -> Probe:
    """A pass over a source with padding behind it: with its mask, without it, or without it in the decoder."""
    free = {
        "none": [],
        "padding": ["encoder.layers.*.self_attention.mask", "decoder.layers.*.cross_attention.mask"],
        "cross": ["decoder.layers.*.cross_attention.mask"],
    }[part]
    sites = ["encoder.layers.*.self_attention.weights", "decoder.layers.*.cross_attention.weights", "logits"]
    probe = Probe(census(translator.model.config), sites, dict.fromkeys(free, torch.ones_like))
    with torch.inference_mode():
        translator.model(torch.tensor([[*source, *[PAD] * padding]]), torch.tensor([[BOS, *target[:-1]]]), probe)
    return probe


def score(probe: Probe, target: tuple[int, ...]) -> float:
    logits = probe.records["logits"][0].double().log_softmax(-1)
    return float(logits[range(len(target)), list(target)].sum())


@pytest.mark.parametrize("part", ["padding", "cross"])
def test_a_padded_sentence_has_the_weights_and_scores_of_passes_with_and_without_the_mask(
    open_app: Open, folder: Path, part: str
) -> None:
    app = open_app("whatif", experiment="masks", edits=f"mask={part}", sentence="the cat", padded_with=SENTENCE)
    found, translator = batch(app), Translator.load(folder / "en-de.safetensors")
    own, other = (translator.translate(text).sentences[0] for text in ("the cat", SENTENCE))
    source, target = own.source_ids, own.hypotheses[0].ids
    padding = len(other.source_ids) - len(source)
    assert found["real"] == len(source)
    assert len(found["columns"]["names"]) == len(source) + padding
    kind = (
        "decoder.layers.{}.cross_attention.weights" if part == "cross" else "encoder.layers.{}.self_attention.weights"
    )
    site = kind.format(found["layer"])
    passes = [by_hand(translator, source, target, padding, which) for which in ("none", part)]
    for shown, each in zip(found["weights"], passes, strict=True):
        weights = each.records[site][0, found["head"], : len(shown["values"])]  # rows of padding are left out
        np.testing.assert_allclose(np.array(shown["values"]), weights, rtol=0, atol=2e-5)
    masked, free = (np.array(each["values"])[:, len(source) :] for each in found["weights"])
    assert masked.max() == 0 < free.max()
    alone = by_hand(translator, source, target, 0, "none")
    notes = [result["note"] for result in found["results"]]
    assert notes[0] == f"log-probability {fixed(score(alone, target), 2)}"
    assert notes[1].startswith(f"log-probability {fixed(score(passes[0], target), 2)}; the logits differ by ")
    assert notes[2].endswith(fixed(score(passes[1], target), 2))
    assert score(passes[0], target) == pytest.approx(score(alone, target), abs=1e-4)
    assert score(passes[1], target) != pytest.approx(score(alone, target), abs=1e-3)
    assert [result["text"] for result in found["results"][:2]] == [own.hypotheses[0].text, "the same"]


def test_in_float64_the_padded_sentence_with_its_mask_is_the_sentence_alone(folder: Path) -> None:
    translator = Translator.load(folder / "en-de.safetensors")
    translator.model.double()
    own = translator.translate("the cat").sentences[0]
    source, target = own.source_ids, own.hypotheses[0].ids
    alone, masked, free = (
        by_hand(translator, source, target, padding, part).records["logits"]
        for padding, part in ((0, "none"), (9, "none"), (9, "padding"))
    )
    torch.testing.assert_close(masked, alone, rtol=0, atol=1e-10)
    assert (free - alone).abs().max() > 1e-3


def test_where_the_page_samples_an_example_is_compared_with_greedy_decoding(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the batch is: a sampled translation is another one, even where padding changes nothing."""
    sampled = replace(subject.translator.settings, method="sampling", temperature=5.0, n_best=1)
    scene = scene_of(subject, SENTENCE, sampled, Selection())
    greedy = cached_results.translate_one(subject, SENTENCE, replace(sampled, method="greedy"))
    assert scene.hypothesis.text != greedy.hypotheses[0].text
    tried: list[str] = []

    def unchanged(subject: Subject, sources: tuple[str, str], settings: DecodingConfig) -> list[Translation]:
        tried.append(sources[1])
        return [greedy, greedy]

    monkeypatch.setattr(padded_batch, "translate_batch", unchanged)
    padded_batch.other_sentence(scene)
    assert len(tried) == padded_batch.TRIED


def test_with_the_padding_mask_off_there_is_no_causal_matrix_and_the_shorter_sentence_is_padded(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=padding", sentence=SENTENCE, padded_with="the cat")
    assert not components(app, "causal_matrix")
    assert not components(app, "comparison")  # with its column of a model that was trained without the causal mask
    own, other = batch(app)["lines"]
    assert own["real"] == len(own["tokens"]) == len(other["tokens"]) > other["real"]
    assert batch(app)["real"] == other["real"]
    assert "the other sentence gets" in " ".join(each.value for each in app.text)


def test_the_link_of_masks_opens_two_sentences_without_the_padding_mask(open_app: Open) -> None:
    app = open_app("masks", sentence=SENTENCE)
    (link,) = [each for each in app.get("page_link") if "padding mask" in each.proto.label]
    assert parse_qs(link.proto.query_string) == {"experiment": ["masks"], "edit": ["mask=padding"]}
    found = open_app("whatif", experiment="masks", edits="off=cross.1.1", edit="mask=padding", sentence=SENTENCE)
    assert batch(found)["isOff"] is True
    assert found.session_state["edits"] == ("off=cross.1.1", "mask=padding")
    assert "edit" not in found.query_params


def test_the_batch_stays_where_its_mask_is_switched_on_again(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", shown_mask="padding", sentence=SENTENCE, padded_with="the cat")
    found = batch(app)
    assert found["isOff"] is False
    assert found["weights"][0]["values"] == found["weights"][1]["values"]
    assert [result["text"] for result in found["results"][1:]] == ["the same", "the same"]
    edited = batch(
        open_app("whatif", experiment="masks", edits="mask=padding", sentence=SENTENCE, padded_with="the cat")
    )
    assert [found[name] for name in ("layer", "head", "rows", "columns")] == [
        edited[name] for name in ("layer", "head", "rows", "columns")
    ]


@pytest.mark.parametrize(
    ("other", "message"),
    [(" ", "Type a sentence"), (SENTENCE, "none has padding"), (HOSTILE * 15, "page shows up to")],
)
def test_two_sentences_that_are_no_padded_batch_say_why(open_app: Open, other: str, message: str) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=padding", sentence=SENTENCE, padded_with=other)
    assert not app.exception
    assert not components(app, "padded_batch")
    assert message in " ".join(each.value for each in app.text)
    assert drawn(app)["reads"]
