"""A translation of the visitor's own (teacher forcing): every page shows what the decoder makes of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.pages import PAGES as INFOS
from app.state import given_translation
from app.state.choices import ALTERNATIVE, GIVEN_SHOWN, GIVEN_STEPS
from app.state.shown_translation import Shown
from tests.support.drawn import attention_weights, charts, components, held_by, page_text, unpacked_canvas
from tests.support.pages import MAIN, choose, switch_page
from tests.support.patience import PATIENCE
from transformer.analysis.logit_lens import lens
from transformer.decoding.translator import Translator
from transformer.evaluation import sentence_score

SENTENCE = "the cat sat on the mat"
OWN = "Das Tier war müde"
Open = Callable[..., AppTest]


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].message
    return app


def cross_attention(app: AppTest) -> np.ndarray:
    """Encoder-decoder attention as the canvas gets it: (L, H, T, S), a byte each."""
    messages = (each.proto for each in app.get("bidi_component") if each.proto.component_name == "headlight_canvas")
    return unpacked_canvas(next(messages).bytes)[1]["cross"]


def force(app: AppTest, text: str) -> AppTest:
    return healthy(app.text_input(key="given").set_value(text).run())


def test_the_decoder_reads_it_and_the_pictures_are_its_tensors(open_app: Open, folder: Path) -> None:
    app = force(open_app(details="true", sentence=SENTENCE), OWN)
    translator = Translator.load(folder / "en-de.safetensors")
    given = translator.score(SENTENCE, OWN)
    assert given.text == OWN
    source = translator.translate(SENTENCE).sentences[0].source_ids
    truth = attention_weights(translator.model, source, given.ids, "decoder.layers.*.cross_attention.weights")
    np.testing.assert_allclose(cross_attention(app) / 255, truth, atol=1 / 510 + 1e-6)
    rows = components(app, "choice_list")[0]["rows"]
    assert rows[-1]["text"] == OWN
    assert rows[-1]["detail"].startswith("yours")
    assert components(app, "choice_list")[0]["chosen"] == len(rows) - 1


def test_without_the_causal_mask_its_probabilities_are_those_of_the_steps_which_have_no_later_tokens(
    open_app: Open, folder: Path
) -> None:
    app = force(open_app(details="true", sentence=SENTENCE, edits="mask=causal"), OWN)
    messages = (each.proto for each in app.get("bidi_component") if each.proto.component_name == "headlight_canvas")
    target = unpacked_canvas(next(messages).bytes)[0]["target"]
    given = Translator.load(folder / "en-de.safetensors").score(SENTENCE, OWN)
    assert target["probabilities"] == pytest.approx(np.exp(given.log_probabilities), rel=1e-4)
    for probability, runners in zip(target["probabilities"], target["runners"], strict=True):
        assert probability + sum(runner["probability"] for runner in runners) <= 1 + 1e-6


@pytest.mark.parametrize(("tokens", "fits"), [(127, True), (128, False)])
def test_it_may_be_as_long_as_the_longest_that_the_search_writes(open_app: Open, tokens: int, fits: bool) -> None:
    app = open_app(sentence=SENTENCE, details="true")
    healthy(choose(app, given="x", given_ids=(300,) * tokens, alternative=GIVEN_SHOWN).run())
    assert ("tokens; the page shows up to 127" in page_text(app)) == (not fits)
    assert (len(cross_attention(app)[0, 0]) == tokens + 1) == fits


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ([], None),
        ([(1,), (3,)], (1, 3)),
        ([(3,), (1,)], (1,)),
        (["typed", (2,)], (0, 1, 2)),
        ([(1,), "alternative", (3,)], (3,)),
        ([(1,), ()], ()),  # of another translation of the search
    ],
)
def test_the_steps_whose_tokens_are_the_visitors(
    changes: list[Any], steps: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    for change in changes:
        if change == "typed":
            given_translation.type_translation("typed by hand")
        elif change == "alternative":
            ALTERNATIVE.choose(1)
        else:
            given_translation.show_instead("a b", (5, 6), change)
    assert GIVEN_STEPS.value == steps
    assert given_translation.is_of_search() == (steps == ())
    for change in reversed(changes):
        if isinstance(change, tuple):
            given_translation.take_back()
    assert GIVEN_STEPS.value is None


def test_a_link_has_the_steps_whose_tokens_are_the_visitors(open_app: Open) -> None:
    for steps, written in (((1,), "2"), ((), "none")):
        own = {"given": OWN, "given_ids": (300, 301, 302), "given_steps": steps, "alternative": GIVEN_SHOWN}
        [link] = components(choose(open_app("decoding", sentence=SENTENCE), **own).run(), "copy_link")
        assert link["texts"]["given_steps"] == written
        app = healthy(open_app("decoding", alternative="given", **link["texts"]))
        shown = [row["title"] for step in held_by(app)["steps"] for row in step["rows"] if row["chosen"]]
        assert [title.endswith(", given") for title in shown] == [t in steps for t in range(len(shown))]


def test_of_a_typed_translation_no_token_is_the_models(open_app: Open) -> None:
    app = open_app("translate", details="true", sentence=SENTENCE)
    app.session_state["undo"] = (Shown(0, "", (), None, replaced=(1,)),)
    assert "undo" not in force(app, OWN).session_state


def test_a_copied_link_has_it_and_opens_with_it(open_app: Open) -> None:
    app = force(open_app(details="true", sentence=SENTENCE), OWN)
    [link] = components(app, "copy_link")
    assert link["texts"] == {"sentence": SENTENCE, "given": OWN}
    chosen = components(app, "choice_list")[0]["chosen"]
    assert app.query_params["alternative"] == "given"
    app = open_app(details="true", alternative="given", **link["texts"])
    rows = components(app, "choice_list")[0]
    assert (rows["chosen"], rows["rows"][-1]["text"]) == (chosen, OWN)
    assert not {"given", "sentence"} & set(app.query_params)
    app.text_input(key="sentence").set_value("the cat").run()
    assert components(app, "copy_link")[0]["texts"] == {"sentence": "the cat"}


def test_another_sentence_or_an_empty_line_removes_it(open_app: Open) -> None:
    app = force(open_app(details="true", sentence=SENTENCE), OWN)
    force(app, "")
    assert components(app, "choice_list")[0]["chosen"] == 0
    assert OWN not in str(components(app, "choice_list")[0])
    force(app, OWN)
    healthy(app.text_input(key="sentence").set_value("the mat").run())
    assert OWN not in str(components(app, "choice_list")[0])


def test_what_cannot_be_forced_gets_an_error_message_and_the_model_s_translation_stays(open_app: Open) -> None:
    app = force(open_app(details="true", sentence=SENTENCE), "the cat " * 90)
    assert "shorten it" in page_text(app)
    assert components(app, "choice_list")[0]["chosen"] == 0


def opened(view: str, **state: Any) -> AppTest:
    """A page, with the visitor's own translation shown."""
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    switch_page(app, view)
    app.query_params["sentence"] = SENTENCE
    app.session_state["alternative"] = 3
    for name, value in {"given": OWN, **state}.items():
        app.session_state[name] = value
    return healthy(app.run())


@pytest.mark.parametrize("page", [page.name for page in INFOS if page.needs_scene and page.has_headline][1:])
def test_every_page_that_has_a_translation_shows_it(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    line = components(opened(page), "translation_line")[0]
    assert (line["text"], line["mark"]["words"]) == (OWN, "your translation")


@pytest.mark.parametrize("part", ["loop", "tree", "penalty", "lens", "reference"])
@pytest.mark.parametrize("method", ["beam", "sampling"])
def test_every_part_of_decoding_has_something_to_say(
    part: str, method: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    app = opened("decoding", part=part, method=method, reference="Das Tier", details=True)
    shown = page_text(app)
    if part == "loop":
        assert "hypotheses" not in str(components(app, "decoding_loop")[0])  # the token was given, nothing was searched
    if part in ("tree", "penalty"):
        assert "was not searched for" in shown
    if part == "reference":
        assert f"{sentence_score(OWN, ['Das Tier'])['chrf']:.1f}" in [metric.value for metric in app.metric]
    if part == "lens":
        translator = Translator.load(folder / "en-de.safetensors")
        source, given = translator.translate(SENTENCE).sentences[0].source_ids, translator.score(SENTENCE, OWN)
        drawn = [text for data in charts(app)[0]["data"] for text in data.get("text") or () if text]
        for rank in lens(translator.model, source, given.ids).ranks[-1]:
            assert f"{rank:,}" in drawn


@pytest.mark.parametrize(
    ("steps", "given", "sentence"),
    [
        (None, lambda step: True, "Each token was given"),
        ((1,), lambda step: step == 1, "You gave some of the tokens"),
        ((), lambda step: False, "Each token was predicted"),
    ],
)
def test_only_the_tokens_of_the_visitor_are_marked_as_given(
    steps: Any, given: Callable[[int], bool], sentence: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    ids = Translator.load(folder / "en-de.safetensors").score(SENTENCE, OWN).ids[:-1]
    app = opened("steps", at="logits", detail="exam", details=True, given_ids=ids, given_steps=steps)
    rows = held_by(app)["pictures"]["logits"]["offers"]
    marks = [next(offer["mark"] for offer in row if offer["mark"]) for row in rows]
    assert marks == ["given" if given(step) else "chosen" for step in range(len(ids) + 1)]
    assert set(app.dataframe[0].value["in the translation"]) - {""} == {marks[app.session_state["t"]]}
    app.session_state["at"] = "chosen"
    assert sentence in page_text(healthy(app.run()))


@pytest.mark.parametrize(
    ("steps", "mark", "whose", "line"),
    [
        (None, "given", "your translation", "reads your translation"),
        ((), "chosen", "another translation", "search found"),
    ],
)
def test_the_frame_says_who_found_the_translation(
    steps: Any, mark: str, whose: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    app = opened("decoding", given_steps=steps)
    frame = held_by(app)
    shown = [row["title"] for step in frame["steps"] for row in step["rows"] if row["chosen"]]
    assert all(title.endswith(f", {mark}") for title in shown)
    assert line in frame["beams"]["title"]
    assert components(app, "translation_line")[0]["mark"]["words"] == whose
