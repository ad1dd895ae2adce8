"""What if, "Take a mask away", with other edits and other masks: what is said of the mask is due to the mask."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute import cached_results
from app.compute.outcomes import outcome
from app.compute.row_predictions import teacher_forced
from app.compute.subject import Subject
from app.figures.shares import probability_text
from app.figures.theme import fixed
from app.stage.scene import Selection, scene_of
from app.views.whatif import mask_rows, masks_part
from app.views.whatif.mask_rows import Reread, reread_of
from tests.app.test_causal_picture import drawn, one_pass, unpacked
from tests.app.test_whatif_masks import SENTENCE, rows
from tests.support.app_checkpoints import write_checkpoint
from tests.support.drawn import components
from tests.support.pages import choose, switch_page
from transformer.analysis.edits import Edit, HeadOff, MaskCell, MaskOff
from transformer.config import BOS
from transformer.decoding.translator import Translator
from transformer.model import Probe, census

Open = Callable[..., AppTest]


@pytest.mark.parametrize(
    "edits",
    [
        (MaskOff("causal"),),
        (MaskOff("causal"), HeadOff("decoder", 0, 1)),
        (MaskCell("decoder", None, None, 1, 3, True), MaskCell("decoder", None, None, 4, 0, False)),
    ],
)
def test_a_translation_loses_what_its_steps_lose_which_have_no_later_tokens(
    subject: Subject, edits: tuple[Edit, ...]
) -> None:
    edited = subject.edited(*edits)
    found = outcome(edited, SENTENCE, subject.translator.settings)
    source_ids = subject.translator.translate(SENTENCE).sentences[0].source_ids
    ids = found.before.ids
    steps = cached_results.record_steps(edited, source_ids, ids, ("logits",))
    logits = torch.from_numpy(np.stack([step["logits"].reshape(-1) for step in steps])).double()
    expected = logits.log_softmax(-1)[range(len(ids)), list(ids)].numpy()
    np.testing.assert_allclose(np.array(found.before.log_probabilities) - found.lost, expected, atol=1e-4)
    whole = teacher_forced(edited, source_ids, ids).log_probabilities
    assert np.abs(whole - expected).max() > 1e-2


def test_the_page_does_not_say_that_a_translation_without_the_causal_mask_is_less_probable(open_app: Open) -> None:
    app = open_app("whatif", experiment="masks", edits="mask=causal", sentence=SENTENCE, details="true")
    (found,) = components(app, "outcome")
    assert found["summary"] == "The translation and its log-probability stay the same."
    assert not any(token["note"] for token in found["rows"][0]["tokens"])


def test_what_a_cell_changes_is_measured_with_all_other_edits(open_app: Open, folder: Path) -> None:
    edits = "mask=causal;forbid=decoder.all.all.4.2"
    app = open_app("whatif", experiment="masks", edits=edits, sentence=SENTENCE)
    translator = Translator.load(folder / "en-de.safetensors")
    _, before, ids = one_pass(translator, causal=False)

    def change(mask: torch.Tensor) -> torch.Tensor:
        mask = torch.ones_like(mask)
        mask[:, :, 3, 1] = False
        return mask

    probe = Probe(census(translator.model.config), [], {"decoder.layers.*.self_attention.mask": change})
    source = translator.translate(SENTENCE).sentences[0].source_ids
    with torch.inference_mode():
        after = translator.model(torch.tensor([source]), torch.tensor([[BOS, *ids[:-1]]]), probe)[0]
    was, now = (float(each.softmax(-1)[3, ids[3]]) for each in (before, after))
    (sentence,) = [each.value for each in app.text if "Row 4 may not attend to" in each.value]
    assert f"goes from {probability_text(was)} to {probability_text(now)}." in sentence


@pytest.mark.usefixtures("twins")
def test_the_small_model_reads_the_translation_that_the_other_columns_read(open_app: Open) -> None:
    plain, other = (
        open_app("whatif", experiment="masks", edits=edits, sentence=SENTENCE)
        for edits in ("mask=causal", "mask=causal;skip=decoder.1.cross_attention")
    )
    assert rows(other)[1]["cells"][1]["changed"]
    assert rows(other)[0]["cells"][2] == rows(plain)[0]["cells"][2]


@pytest.mark.parametrize(("cached", "changes"), [("a", True), ("b", False)])
def test_only_what_the_cache_changes_is_ascribed_to_it(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, cached: str, changes: bool
) -> None:
    """Here another edit has changed the translation, too."""
    monkeypatch.setattr(masks_part, "reread_of", lambda *_: Reread(before="a", after="b", cached=cached))
    app = open_app("whatif", experiment="masks", edits="mask=causal;off=cross.1.1", sentence=SENTENCE)
    assert ("and the translation changes" in " ".join(each.value for each in app.text)) == changes


def test_without_a_cache_the_longer_greedy_translation_is_not_cut_off(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scene_of(subject, SENTENCE, subject.translator.settings, Selection())
    long = replace(scene.hypothesis, ids=(*scene.hypothesis.ids, *range(20)))
    limits: list[int] = []
    monkeypatch.setattr(cached_results, "translate_ids", lambda *_: long)

    def written(subject: Subject, ids: tuple[int, ...], most: int) -> tuple[int, ...]:
        limits.append(most)
        return ids

    monkeypatch.setattr(mask_rows, "without_cache", written)
    reread_of(replace(scene, subject=subject.edited(MaskOff("causal"))), scene)
    assert limits[0] > len(long.ids)


def test_matrix_and_table_name_the_two_models_whatever_is_edited(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns: list[str] = []
    monkeypatch.setattr(masks_part, "download_and_table", lambda *, table, **_: columns.extend(table()))
    found = drawn(open_app("whatif", experiment="masks", edits="off=decoder.1.1", sentence=SENTENCE))
    assert "original model" in found["masked"]["alt"]
    assert "edited model" in found["free"]["alt"]
    assert "causal mask" not in found["free"]["alt"]
    assert columns[-2:] == ["weight, original model", "weight, edited model"]


def test_the_details_say_that_an_attention_window_stays(open_app: Open, folder: Path) -> None:
    path = write_checkpoint(folder / "window.safetensors", options={"attention_window": 2})
    try:
        app = open_app("whatif", checkpoint="window", experiment="masks", sentence=SENTENCE, details="true")
        assert any("attention window, which stays" in each.value for each in app.markdown)
    finally:
        path.unlink()


@pytest.mark.parametrize("others", ["", "off=cross.1.1;"])
def test_what_the_log_probability_goes_from_has_all_edits_but_that_of_the_mask(
    open_app: Open, subject: Subject, others: str
) -> None:
    app = open_app("whatif", experiment="masks", edits=f"{others}mask=causal", sentence=SENTENCE)
    translation = subject.translator.translate(SENTENCE).sentences[0]
    masked = subject.edited(HeadOff("cross", 0, 0)) if others else subject
    was, now = (
        fixed(teacher_forced(each, translation.source_ids, translation.hypotheses[0].ids).score, 1)
        for each in (masked, masked.edited(MaskOff("causal")))
    )
    assert was != now
    (said,) = [each.value for each in app.text if "the log-probability goes from" in each.value]
    same = ", with this mask and the same other edits," if others else ""
    assert f"goes from {was}{same} to {now}." in said


def test_an_edit_that_the_visitor_makes_again_on_another_page_is_not_undone_with_the_experiment(
    open_app: Open,
) -> None:
    def run(page: str, **choices: object) -> AppTest:
        return choose(switch_page(app, page), **choices).run()

    def opened(experiment: str) -> None:
        app.segmented_control(key="experiment").set_value(experiment).run()

    app = open_app("whatif", sentence=SENTENCE)
    opened("masks")
    assert app.session_state["edits"] == ("mask=causal",)
    opened("heads")
    assert app.session_state["edits"] == ()
    opened("masks")
    run("attention", edits=())
    run("whatif", edits=("mask=causal",))
    opened("heads")
    assert app.session_state["edits"] == ("mask=causal",)


@pytest.mark.parametrize(("page", "name"), [("whatif", "free"), ("masks", "masked")])
def test_the_mask_that_is_drawn_is_that_of_the_head_that_is_drawn(open_app: Open, page: str, name: str) -> None:
    place = {"experiment": "masks", "edits": "allow=decoder.2.3.2.4", "sentence": SENTENCE}
    for head, allowed in (("2.3", 1), ("2.2", 0)):
        app = open_app(page, mask_head=head, **place)
        assert unpacked(drawn(app)[name], "mask", "u1")[1, 3] == allowed
        assert (unpacked(drawn(app)[name], "weights", "<f4")[1, 3] > 0) == allowed
