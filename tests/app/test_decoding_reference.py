"""The Decoding page scores and compares translations with the visitor's reference."""

from pathlib import Path

import pytest
import sacrebleu

from app.state.choices import GIVEN_SHOWN
from tests.support.decoding_page import HOSTILE, PARTS, SHIPPED, Open, component, healthy, searched
from tests.support.drawn import page_text


def test_a_reference_is_scored_as_sacrebleu_does_and_compared_word_by_word(open_decoding: Open, folder: Path) -> None:
    sentence = "The animal didn't cross the street because it was too tired."  # gives no control characters
    _, found = searched(folder, sentence)
    reference = found.text + " ja wirklich"
    app = open_decoding(PARTS[4], {"reference": reference}, sentence=sentence)
    bleu = sacrebleu.sentence_bleu(found.text, [reference], use_effective_order=True).score
    assert [metric.value for metric in app.metric] == [
        f"{bleu:.1f}",
        f"{sacrebleu.sentence_chrf(found.text, [reference]).score:.1f}",
    ]
    assert "eff:yes|tok:13a|smooth:exp" in page_text(app)
    assert component(app, "difference")["stretches"][-1] == {
        "change": "missing",
        "old": "ja wirklich",
        "new": "",
        "mark": "− missing",
    }


def test_a_translation_that_the_search_found_too_is_in_the_list_once(
    open_decoding: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    _, found = searched(SHIPPED, "forty-two", "numbers")
    own = {"given": found.hypotheses[1].text, "given_ids": found.hypotheses[1].ids[:-1], "alternative": GIVEN_SHOWN}
    app = open_decoding("reference", {"reference": "42", **own}, checkpoint="numbers", sentence="forty-two")
    drawn = component(app, "alternatives_scored")
    rows = [row["text"] for row in drawn["rows"]]
    assert sorted(rows) == sorted(each.text for each in found.hypotheses)
    assert rows[drawn["chosen"]] == found.hypotheses[1].text


def test_a_hostile_reference_stays_text(open_decoding: Open) -> None:
    app = open_decoding(PARTS[4], {"reference": HOSTILE})
    for markdown in (*app.markdown, *app.caption):
        assert "alert(1)" not in markdown.value
    old = " ".join(stretch["old"] for stretch in component(app, "difference")["stretches"])
    assert "<img" in old


def test_without_a_reference_the_page_asks_for_one(open_decoding: Open) -> None:
    assert "Type a translation of your own" in page_text(open_decoding(PARTS[4]))


def test_a_reference_stays_with_other_settings_and_goes_with_its_sentence(open_decoding: Open) -> None:
    app = open_decoding("reference", {"reference": "Ja."})
    next(each for each in app.slider if each.key == "beam").set_value(2).run()
    assert app.text_input(key="reference").value == "Ja."
    app.text_input(key="sentence").set_value("the dog ran").run()
    healthy(app)
    assert app.text_input(key="reference").value == ""
    assert "Type a translation of your own" in page_text(app)


@pytest.mark.parametrize("reference", ["", "Ja."])
def test_the_scores_name_their_sources_and_show_the_lines_that_compute_them(
    open_decoding: Open, reference: str
) -> None:
    app = open_decoding("reference", {"reference": reference})
    captions = " ".join(caption.value for caption in app.caption)
    assert "Not in the paper: BLEU, Papineni et al. (2002); chrF, Popović (2015)" in captions
    code = "\n".join(code.value for code in app.code)
    assert "metric.sentence_score" in code
    assert "SequenceMatcher" in code
