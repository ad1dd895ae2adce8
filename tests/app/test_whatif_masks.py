"""What if, "Take a mask away": the numbers of the matrix and of the table are those of passes with masks built here."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute import cached_results
from app.compute.mask_results import translate_batch, without_cache
from app.compute.subject import Subject
from app.figures.shares import probability_text
from app.figures.theme import fixed
from app.library.checkpoints import CheckpointFile
from app.stage.scene import Selection, scene_of
from app.state import edit_choices
from app.views.whatif import padded_batch
from app.views.whatif.masks_part import toggle_cell
from tests.app.test_causal_picture import drawn, one_pass, unpacked
from tests.support.drawn import components
from tests.support.small_decoding import random_sources
from transformer.analysis.edits import MaskCell, MaskOff, edit_text
from transformer.config import BOS, EOS, PAD, UNK, DecodingConfig
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.model import Probe, census

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def subject(folder: Path) -> Subject:
    return Subject(CheckpointFile.at(folder / "en-de.safetensors"))


def rows(app: AppTest) -> list[dict[str, Any]]:
    (found,) = components(app, "comparison")
    return list(found["rows"])


def test_without_the_mask_the_matrix_and_the_scores_are_those_of_a_pass_without_it(
    open_app: Open, folder: Path
) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=causal", sentence=SENTENCE, mask_head="2.3")
    translator = Translator.load(folder / "en-de.safetensors")
    found, before, after = drawn(app), one_pass(translator, causal=True), one_pass(translator, causal=False)
    assert found["given"] is True
    for name, (probe, logits, ids) in (("masked", before), ("free", after)):
        weights = probe.records["decoder.layers.1.self_attention.weights"][0, 2]
        np.testing.assert_allclose(unpacked(found[name], "weights", "<f4"), weights, rtol=0, atol=1e-5)
        right = logits.double().log_softmax(-1)[range(len(ids)), list(ids)]
        assert found[name]["score"] == pytest.approx(float(right.sum()), rel=1e-4)
    first, alone = rows(app)[0]["cells"], rows(app)[1]["cells"]
    assert first[1]["share"] == pytest.approx(sum(found["free"]["right"]) / len(before[2]))
    assert first[1]["note"] == f"log-probability {fixed(found['free']['score'], 1)}"
    assert alone[0]["text"] == translator.translate(SENTENCE).text
    assert alone[1]["text"] == "the same"  # a step with the cache sees no later tokens


def test_without_a_cache_greedy_decoding_finds_what_it_finds_with_one(subject: Subject) -> None:
    for source in random_sources(3):
        ids = tuple(source)
        greedy = DecodingConfig(method="greedy", max_extra_length=2)
        expected = subject.translator.translate_ids(ids, greedy).ids
        assert without_cache(subject, ids, len(expected)) == expected


def test_without_a_cache_an_unknown_token_is_never_predicted(subject: Subject) -> None:
    ids, model = (9, 12, 30, EOS), subject.translator.model
    weight = model.output.weight
    before = weight[UNK].clone()
    with torch.no_grad():
        first = model(torch.tensor([ids]), torch.tensor([[BOS]]))[0, -1].argmax()
        weight[UNK] = 3 * weight[first]
    try:
        assert model(torch.tensor([ids]), torch.tensor([[BOS]]))[0, -1].argmax() == UNK
        assert UNK not in without_cache(subject, ids, 6)
    finally:
        with torch.no_grad():
            weight[UNK] = before


def test_without_a_cache_and_without_the_mask_earlier_rows_read_later_ones(subject: Subject) -> None:
    """By hand: every pass has a mask that allows everything."""
    model, ids = subject.translator.model, (9, 12, 30, 41, EOS)
    read = [BOS]
    probe = Probe(census(model.config), [], {"decoder.layers.*.self_attention.mask": torch.ones_like})
    with torch.inference_mode():
        while len(read) <= 8 and read[-1] != EOS:
            logits = model(torch.tensor([ids]), torch.tensor([read]), probe)[0, -1]
            read.append(int(logits[EOS:].argmax()) + EOS)  # <pad>, <unk> and <s> are the ids below </s>
    assert without_cache(subject.edited(MaskOff("causal")), ids, 8) == tuple(read[1:])


def test_in_a_batch_the_shorter_sentence_is_as_alone_unless_padding_is_attended_to(subject: Subject) -> None:
    sentences = (f"{SENTENCE}, {SENTENCE}", "the cat")
    settings = subject.translator.settings
    alone = subject.translator.translate("the cat").sentences[0].hypotheses[0]
    found = translate_batch(subject, sentences, settings)[1].hypotheses[0]
    assert found.ids == alone.ids
    assert found.score == pytest.approx(alone.score, abs=1e-4)
    off = translate_batch(subject.edited(MaskOff("padding")), sentences, settings)[1].hypotheses[0]
    assert off.score != pytest.approx(alone.score, abs=1e-3)


def batch(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "padded_batch")
    return found


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


@pytest.mark.usefixtures("twins")
def test_no_cell_beside_the_matrix_is_empty(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=causal;mask=padding", sentence=SENTENCE)
    assert [len(row["cells"]) for row in rows(app)] == [3] * 4
    assert all(cell["text"] for row in rows(app) for cell in row["cells"])


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


def test_a_cell_that_is_allowed_is_drawn_and_what_its_row_predicts_is_said(open_app: Open, folder: Path) -> None:
    app = open_app("whatif", experiment="masks", edits="allow=decoder.all.all.2.4", sentence=SENTENCE, mask_head="2.3")
    translator = Translator.load(folder / "en-de.safetensors")
    _, before, ids = one_pass(translator, causal=True)

    def allow(mask: torch.Tensor) -> torch.Tensor:
        mask = mask.clone()
        mask[:, :, 1, 3] = True
        return mask

    site = "decoder.layers.{}.self_attention"
    probe = Probe(census(translator.model.config), [site.format(1) + ".weights"], {site.format("*") + ".mask": allow})
    source = translator.translate(SENTENCE).sentences[0].source_ids
    with torch.inference_mode():
        after = translator.model(torch.tensor([source]), torch.tensor([[BOS, *ids[:-1]]]), probe)[0]
    weights = probe.records[site.format(1) + ".weights"][0, 2]
    np.testing.assert_allclose(unpacked(drawn(app)["free"], "weights", "<f4"), weights, rtol=0, atol=1e-5)
    was, now = (float(each.softmax(-1)[1, ids[1]]) for each in (before, after))
    (sentence,) = [each.value for each in app.text if "Row 2 may attend to" in each.value]
    assert f"goes from {probability_text(was)} to {probability_text(now)}." in sentence


def test_a_click_on_a_cell_allows_or_forbids_it_and_another_takes_that_back(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(edit_choices, "undo", lambda text: made.append(f"not {text}"))
    monkeypatch.setattr(edit_choices, "add", lambda edits: made.extend(map(edit_text, edits)))
    mask = np.tri(3, dtype=bool)

    def clicked(query: int, key: int, mask: np.ndarray, *edits: MaskCell) -> list[str]:
        made.clear()
        toggle_cell(tuple(edits), mask, query, key)
        return [text for text in made if not text.startswith("not ")]

    assert clicked(0, 2, mask) == ["allow=decoder.all.all.1.3"]
    assert clicked(2, 0, mask) == ["forbid=decoder.all.all.3.1"]
    allowed = mask | (np.arange(3) == 2)
    assert clicked(0, 2, allowed, MaskCell("decoder", None, None, 0, 2, True)) == []
    assert "not allow=decoder.all.all.1.3" in made
    # An edit that another one has overruled is made again.
    assert clicked(0, 2, mask, MaskCell("decoder", None, None, 0, 2, True)) == ["allow=decoder.all.all.1.3"]


def test_masks_that_are_all_on_change_nothing_and_say_so(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", sentence=HOSTILE)
    assert drawn(app)["given"] is False
    assert all(row["cells"][1]["text"] == "the same" for row in rows(app)[1:])


@pytest.mark.parametrize("sentence", ["cat", " ".join([SENTENCE] * 12)])
@pytest.mark.parametrize("edits", ["", "mask=causal;mask=padding", "mask=cross"])
def test_a_word_and_a_long_sentence_are_shown(open_app: Open, sentence: str, edits: str) -> None:
    app = open_app("whatif", experiment="masks", edits=edits, sentence=sentence)
    assert batch(app) if edits == "mask=cross" else len(rows(app)) >= 2 and drawn(app)["reads"]
