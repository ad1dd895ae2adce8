"""What Step by step sends to the browser are the tensors around a station, and what comes back is checked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.languages import Language, speaking
from app.views.steps.stations import stations
from app.views.steps.walk_pictures import _mask
from tests.support.patience import PATIENCE
from tests.support.steps_page import SENTENCE, Truth, ids, walked
from transformer.decoding.translator import Translator


@pytest.mark.parametrize(
    ("station", "names"),
    [
        ("encoder.embedding.output", ("tokens", "scaled", "positions", "output")),
        (
            "encoder.layers.1.self_attention.query",
            ("query", "key", "value", "products", "scores", "weights", "context"),
        ),
        ("decoder.layers.2.cross_attention.residual_sum", ("residual_in", "output", "residual_sum", "norm_out")),
        ("decoder.layers.0.feed_forward.hidden", ("hidden", "activated", "output", "residual_sum")),
    ],
)
def test_the_browser_gets_the_very_tensors_of_a_part_of_the_model(
    station: str, names: tuple[str, ...], open_app: Callable[..., AppTest], truth: Truth
) -> None:
    brought, state = walked(open_app, station, detail="exam")
    assert state["at"] == station
    for name in names:
        site = f"{station.rpartition('.')[0]}.{name}"
        assert brought["pictures"][site]["site"] == site
        np.testing.assert_array_equal(brought["tensors"][site], truth[site])


@pytest.mark.parametrize("detail", ["lecture", "exam"])
def test_the_stations_around_one_are_in_the_browser_before_one_goes_there(
    detail: Any, open_app: Callable[..., AppTest], folder: Path
) -> None:
    walk = stations(Translator.load(folder / "en-de.safetensors").model.config, detail)
    for place in range(0, len(walk), 9):
        brought, _ = walked(open_app, walk[place].id, detail=detail)
        assert [station["id"] for station in brought["stations"]] == ids(walk)
        beside = [walk[i].id for i in (place - 1, place, place + 1) if 0 <= i < len(walk)]
        assert set(beside) <= set(brought["pictures"])
        needed = [picture.get("site") for picture in brought["pictures"].values()]
        needed += [part["site"] for picture in brought["pictures"].values() for part in picture.get("parts", [])]
        assert {site for site in needed if site} <= set(brought["tensors"])


def test_the_followed_step_is_the_one_that_attends_most_to_the_followed_word(
    open_app: Callable[..., AppTest], truth: Truth
) -> None:
    brought, state = walked(open_app, "characters", s="2")
    app = open_app("attention", sentence=SENTENCE, kind="cross")
    layer, head = app.session_state["layer"] - 1, app.session_state["head"] - 1  # the clearest
    weights = truth[f"decoder.layers.{layer}.cross_attention.weights"][head]  # (T, S)
    np.testing.assert_array_equal(brought["attending"], weights.argmax(axis=0))
    assert (state["s"], state["t"]) == (1, int(weights[:, 1].argmax()))
    _, chosen = walked(open_app, "characters", s="2", t="1")
    assert (chosen["s"], chosen["t"]) == (1, 0)


def test_each_attention_shows_its_clearest_head_until_one_is_chosen(open_app: Callable[..., AppTest]) -> None:
    _, state = walked(open_app, "characters")
    assert len(state["heads"]) == 2 + 2 * 3  # of two layers of the encoder, of three of the decoder
    app = open_app("attention", sentence=SENTENCE, kind="encoder", layer="2")
    assert state["heads"]["encoder.layers.1.self_attention"] == app.session_state["head"] - 1
    _, state = walked(open_app, "characters", head="2")
    assert state["heads"] == 1


def test_what_the_browser_sends_is_checked_and_walking_chooses_no_head(open_app: Callable[..., AppTest]) -> None:
    def script() -> None:
        import streamlit as st

        from app.compute.subject import Subject
        from app.library.checkpoints import checkpoints
        from app.stage.scene import Selection, scene_of
        from app.views.steps.page import take

        subject = Subject(checkpoints()["en-de"])
        scene = scene_of(subject, "the cat sat", subject.translator.settings, Selection())
        take(scene, st.session_state["told"])

    app = AppTest.from_function(script, default_timeout=PATIENCE)
    for told, expected in (
        ({"at": "decoder.layers.1.cross_attention.weights"}, {"at": "decoder.layers.1.cross_attention.weights"}),
        ({"at": "nonsense", "s": 99, "t": -1, "head": ["token_ids", 0], "detail": 3}, {}),
        ({"s": 1, "t": 2, "detail": "exam"}, {"s": 1, "t": 2, "detail": "exam"}),
        (
            {"head": ["encoder.layers.1.self_attention.weights", 3]},
            {"kind": "encoder", "layer": 2, "head": 4},
        ),
    ):
        app.session_state["told"] = told
        for name in ("at", "s", "t", "kind", "layer", "head", "detail"):
            if name in app.session_state:
                del app.session_state[name]
        app.run()
        assert not app.exception
        names = [name for name in ("at", "s", "t", "kind", "layer", "head", "detail") if name in app.session_state]
        assert {name: app.session_state[name] for name in names} == expected


NUMBERS_IN: dict[Language, str] = {"en": ".", "de": ","}


def test_visitors_in_two_languages_share_no_written_numbers(open_app: Callable[..., AppTest]) -> None:
    for spoken, mark in NUMBERS_IN.items():
        with speaking(spoken):
            brought, _ = walked(open_app, "logits", lang=spoken)
        texts = [offer["probability_text"] for row in brought["pictures"]["logits"]["offers"] for offer in row]
        assert mark in "".join(texts)
        assert (set(".,") - {mark}).isdisjoint("".join(texts))


def test_the_tokens_that_may_come_next_are_sent_for_every_row(open_app: Callable[..., AppTest], truth: Truth) -> None:
    brought, _ = walked(open_app, "logits")
    rows = brought["pictures"]["logits"]["offers"]
    chosen = truth.translation.hypotheses[0].ids
    assert len(rows) == len(chosen)
    for row, logits, id in zip(rows, truth["logits"], chosen, strict=True):
        best = np.sort(logits)[::-1][:11]
        np.testing.assert_array_equal([offer["logit"] for offer in row[:11]], best.astype(np.float64))
        (marked,) = (offer for offer in row if offer["mark"] == "chosen")
        assert marked["logit"] == float(logits[id])
        exact = np.exp(logits.astype(np.float64) - logits.max())
        assert marked["probability"] == pytest.approx(float(exact[id] / exact.sum()))


def test_it_opens_with_the_longest_word_that_a_step_attends_to(open_app: Callable[..., AppTest], truth: Truth) -> None:
    brought, state = walked(open_app, "characters")
    app = open_app("attention", sentence=SENTENCE, kind="cross")
    layer, head = app.session_state["layer"] - 1, app.session_state["head"] - 1  # the clearest
    strongest = truth[f"decoder.layers.{layer}.cross_attention.weights"][head].max(axis=0)  # (S,)
    sure = min(0.5, strongest[:-1].max())
    letters = [
        len(token.strip("▁")) * (weight >= sure) for token, weight in zip(brought["source"], strongest, strict=True)
    ][:-1]  # without </s>
    assert letters[state["s"]] == max(letters)


def test_masks_that_differ_between_heads_are_all_sent() -> None:
    masks = np.ones((3, 2, 2), bool)
    assert _mask(masks).shape == (2, 2)
    masks[1, 0, 1] = False
    assert np.array_equal(_mask(masks), masks)
