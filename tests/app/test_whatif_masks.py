"""What if, "Take a mask away": the numbers of the matrix and of the table are those of passes with masks built here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute.mask_results import together, without_cache
from app.compute.subject import Subject
from app.figures.theme import fixed, probability_text
from app.library.checkpoints import CheckpointFile
from app.library.tasks import EXAMPLES
from app.state import edit_choices
from app.views.whatif.masks_part import toggle_cell
from tests.app.test_causal_picture import drawn, one_pass, unpacked
from tests.support.drawn import components
from tests.support.small_decoding import random_sources
from transformer.analysis.edits import MaskCell, MaskOff, edit_text
from transformer.config import BOS, EOS, DecodingConfig
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


def test_without_a_cache_and_without_the_mask_earlier_rows_read_later_ones(subject: Subject) -> None:
    """By hand: every pass has a mask that allows everything."""
    model, ids = subject.translator.model, (9, 12, 30, 41, EOS)
    read = [BOS]
    probe = Probe(census(model.config), [], {"decoder.layers.*.self_attention.mask": torch.ones_like})
    with torch.inference_mode():
        while len(read) <= 8 and read[-1] != EOS:
            read.append(int(model(torch.tensor([ids]), torch.tensor([read]), probe)[0, -1].argmax()))
    assert without_cache(subject.edited(MaskOff("causal")), ids, 8) == tuple(read[1:])


def test_in_a_batch_the_shorter_sentence_is_as_alone_unless_padding_is_attended_to(subject: Subject) -> None:
    sentences = (f"{SENTENCE}, {SENTENCE}", "the cat")
    settings = subject.translator.settings
    alone = subject.translator.translate("the cat").sentences[0].hypotheses[0]
    found = together(subject, sentences, settings)[1].hypotheses[0]
    assert found.ids == alone.ids
    assert found.score == pytest.approx(alone.score, abs=1e-4)
    off = together(subject.edited(MaskOff("padding")), sentences, settings)[1].hypotheses[0]
    assert off.score != pytest.approx(alone.score, abs=1e-3)


def test_the_share_on_padding_is_that_of_the_encoders_weights(open_app: Open, folder: Path) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=padding", sentence=SENTENCE)
    label, cells = rows(app)[-1]["label"], rows(app)[-1]["cells"]
    assert "of padding" in label
    assert cells[0]["text"]
    assert cells[0]["share"] == 0 < cells[1]["share"]
    (said,) = [each.value for each in app.text if "on padding" in each.value]
    translator = Translator.load(folder / "en-de.safetensors")
    sizes = {text: len(translator.translate(text).sentences[0].source_ids) for text in (*EXAMPLES["en"], SENTENCE)}
    other = max(EXAMPLES["en"], key=lambda text: abs(sizes[text] - sizes[SENTENCE]))
    shown = min((other, SENTENCE), key=sizes.__getitem__)
    assert shown in label
    ids, padding = translator.translate(shown).sentences[0].source_ids, abs(sizes[other] - sizes[SENTENCE])
    probe = Probe(
        census(translator.model.config),
        ["encoder.layers.*.self_attention.weights"],
        {"encoder.layers.*.self_attention.mask": torch.ones_like},
    )
    with torch.inference_mode():
        translator.model.encoder(torch.tensor([[*ids, *[0] * padding]]), probe.at("encoder"))
    weights = torch.stack(list(probe.records.values()))[..., : len(ids), len(ids) :]
    assert f"{float(weights.sum(-1).mean()):.0%} of the encoder's attention is on padding" in said


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
    (said,) = [each.value for each in app.text if "Row 2 may attend to" in each.value]
    assert f"goes from {probability_text(was)} to {probability_text(now)}." in said


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
    assert len(rows(app)) >= 2
    assert drawn(app)["reads"]
