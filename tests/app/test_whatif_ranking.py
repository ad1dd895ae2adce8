"""What if, "Switch parts off": the ranking of all parts by what each costs, its colours, and its buttons."""

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from app.compute import cached_results
from app.compute.outcomes import outcome
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.views.whatif import heads_part, part_ranking
from app.views.whatif.part_ranking import Ranking
from tests.app.test_whatif_heads import EDITS, SENTENCE, Open, grid, suggested
from tests.support.drawn import components, page_text
from transformer.analysis.each_edit import Part
from transformer.analysis.edits import HeadOff, ResidualOff, SublayerOff, edit_text, parse_edit
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import KINDS


def _as_before(subject: Subject, source_ids: tuple[int, ...], settings: DecodingConfig) -> Hypothesis:
    """What the original model writes, whatever is edited."""
    return subject.original.translator.translate_ids(source_ids, replace(settings, n_best=1))


def test_what_each_part_costs_is_what_a_model_with_that_edit_alone_loses(open_app: Open, folder: Path) -> None:
    found = grid(open_app("whatif", sentence=SENTENCE, ranked="true"))
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    assert len(found["change"]) == 4 * (2 + 3 + 3) + 2 * (2 * 2 + 3 * 3)
    settings = Translator.load(folder / "en-de.safetensors").settings
    for text in (
        "off=cross.1.2",
        "off=encoder.2.4",
        "skip=encoder.1.feed_forward",
        "noresidual=decoder.2.self_attention",
    ):
        lost = sum(outcome(subject.edited(parse_edit(text)), SENTENCE, settings).lost)
        assert found["change"][text] == pytest.approx(-lost, abs=2e-5)
    heads = {text: value for text, value in found["change"].items() if text.startswith("off=")}
    assert found["strongest"][0] == min(heads, key=heads.__getitem__)


def test_the_ranking_is_of_the_original_model_and_waits_until_it_is_asked_for(open_app: Open) -> None:
    whole = grid(open_app("whatif", sentence=SENTENCE, ranked="true"))["change"]
    assert grid(open_app("whatif", sentence=SENTENCE, ranked="true", edits=EDITS))["change"] == whole
    app = open_app("whatif", sentence=SENTENCE, ranked="false")
    assert "change" not in grid(app)
    next(button for button in app.button if button.label == "Rank all heads").click().run()
    assert grid(app)["change"] == whole


def test_a_button_switches_off_a_part_without_which_the_translation_changes(open_app: Open, folder: Path) -> None:
    app = open_app("whatif", sentence=SENTENCE)
    strongest = grid(app)["strongest"][0]
    shown, buttons = page_text(app), suggested(app)
    assert len(buttons) == (1 if "The translation changes without the most important head" in shown else 2)
    assert buttons[0].key == f"switch {strongest}"
    buttons[-1].click().run()
    (off,) = grid(app)["off"]
    assert app.query_params["edits"] in (off, [off])
    subject = Subject(CheckpointFile.at(folder / "en-de.safetensors"))
    settings = Translator.load(folder / "en-de.safetensors").settings
    found = outcome(subject.edited(parse_edit(off)), SENTENCE, settings)
    assert found.before.text != found.after.text


@pytest.mark.parametrize(
    ("changing", "words", "label"),
    [
        (SublayerOff("decoder", 3, "cross_attention"), "all of encoder-decoder layer 3", "all of layer 3"),
        (SublayerOff("encoder", 2, "self_attention"), "all of encoder self-attention layer 2", "all of layer 2"),
        (SublayerOff("decoder", 1, "feed_forward"), "decoder layer 1 feed-forward", "feed-forward 1"),
    ],
)
def test_the_most_important_head_and_the_part_that_changes_the_translation_have_a_button_each(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, changing: SublayerOff, words: str, label: str
) -> None:
    changing = replace(changing, layer=changing.layer - 1)
    monkeypatch.setattr(heads_part, "changing", lambda *_: changing)
    app = open_app("whatif", sentence=SENTENCE)
    change, strongest = grid(app)["change"], grid(app)["strongest"][0]
    _, layer, head = strongest.split(".")
    first, second = next(each.value for each in app.text if "most important" in each.value).split("\n")
    assert first.startswith("The translation stays the same without the most important head, ")
    assert first.endswith(f"layer {layer}, head {head} ({-change[strongest]:.2f} nats).")
    assert second == f"It changes without {words} ({-change[edit_text(changing)]:.2f} nats)."
    assert [each.label for each in suggested(app)] == [f"Switch head {layer}.{head} off", f"Switch {label} off"]
    suggested(app)[0].click().run()
    assert grid(app)["off"] == [strongest]
    assert [each.disabled for each in suggested(app)] == [True, False]
    suggested(app)[1].click().run()
    assert grid(app)["off"] == [strongest, edit_text(changing)]


def test_switches_and_translations_are_drawn_before_the_ranking_and_its_colours_before_what_is_tried(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("whatif", sentence=SENTENCE)
    assert suggested(app)
    with monkeypatch.context() as patched:
        patched.setattr(heads_part, "rank", lambda *_: st.stop())
        app = open_app("whatif", sentence="a dog sat on the mat")
        assert len(grid(app)["panels"]) == 4
        assert "change" not in grid(app)
        assert components(app, "outcome")
        assert not suggested(app)
        assert "nats" not in page_text(app)
    with monkeypatch.context() as patched:
        patched.setattr(heads_part, "changing", lambda *_: st.stop())
        app = open_app("whatif", sentence="a dog sat on the mat")
        assert grid(app)["change"]
        assert not suggested(app)


def test_if_no_part_that_is_tried_changes_the_translation_the_page_says_so(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_results, "translate_ids", _as_before)
    app = open_app("whatif", sentence=SENTENCE)
    assert "The translation stays the same without the most important head" in page_text(app)
    assert "None of the 12 parts that were tried changes it" in page_text(app)
    strongest = grid(app)["strongest"][0]
    (button,) = suggested(app)
    button.click().run()
    assert grid(app)["off"] == [strongest]


def test_the_colours_end_at_the_largest_change_rounded_up(open_app: Open) -> None:
    found = grid(open_app("whatif", sentence=SENTENCE))
    for name, begin in (("head", "off="), ("whole", "skip=")):
        largest = max(abs(change) for text, change in found["change"].items() if text.startswith(begin))
        assert largest <= found["largest"][name] + 1e-5 <= 1.1 * largest + 2e-5
    assert [part_ranking.rounded_up(value) for value in (0.7961, 3.12, 12.01, 0.8, 0)] == pytest.approx(
        [0.8, 3.2, 13, 0.8, 1e-6]
    )


def test_one_head_is_spoken_of_in_the_singular(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads_part, "lost_together", lambda *_: 0.02)
    heads: list[Part] = [HeadOff(kind, 0, 0) for kind in KINDS]

    def says(*lost: float) -> str:
        ranking = Ranking(dict(zip([*heads, *others], [*lost, 1.0, 1.0], strict=True)))
        monkeypatch.setattr(heads_part, "_kept", lambda scene: ranking)
        return page_text(open_app("whatif", checkpoint="small", sentence=SENTENCE, ranked="true"))

    others: list[Part] = [SublayerOff("encoder", 0, "feed_forward"), ResidualOff("encoder", 0, "feed_forward")]
    one = says(3.0, 0.02, 1.0)
    assert "Of 3 heads, 1 costs less than 0.05 nats when it is off: 0.02 nats." in one
    assert "here the strongest one carries 75% of all losses." in one
    none = says(-1.0, -0.02, -0.001)
    assert "these 3 off together cost 0.02 nats." in none
    assert "of all losses" not in none
    assert "(0.00 nats)" in none
