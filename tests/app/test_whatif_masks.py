"""What if, "Take a mask away": the numbers of the matrix and of the table are those of passes with masks built here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute.mask_results import without_cache
from app.compute.subject import Subject
from app.figures.shares import probability_text
from app.figures.theme import fixed
from app.state import edit_choices
from app.views.whatif.masks_part import toggle_cell
from tests.app.test_causal_picture import drawn, one_pass, unpacked
from tests.support.drawn import components
from tests.support.small_decoding import random_sources
from transformer.analysis.edits import MaskCell, MaskOff, edit_text
from transformer.config import BOS, EOS, UNK, DecodingConfig
from transformer.decoding.translator import Translator
from transformer.model import Probe, census

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
HOSTILE = "</script><img src=x onerror=alert(1)>"


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


def batch(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "padded_batch")
    return found


@pytest.mark.usefixtures("twins")
def test_no_cell_beside_the_matrix_is_empty(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=causal;mask=padding", sentence=SENTENCE)
    assert [len(row["cells"]) for row in rows(app)] == [3] * 4
    assert all(cell["text"] for row in rows(app) for cell in row["cells"])


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
