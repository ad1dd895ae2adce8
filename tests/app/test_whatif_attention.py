"""What if, "Move the attention": bars, scores and edits are those of passes in which the weights are put in by hand."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.components.weight_bars import WHOLE, _are_weights
from app.figures.shares import Share
from app.views.whatif.attention_row import Place, opening_step
from tests.support.drawn import components, open_view
from tests.support.pages import MAIN
from transformer.analysis.edits import HeadOff, WeightsSet, edit_text
from transformer.config import BOS
from transformer.decoding.translator import Translator
from transformer.model import Probe, census

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
SITE = "decoder.layers.1.cross_attention.weights"
PLACE = {"experiment": "attention", "layer": "2", "head": "3", "t": "4", "sentence": SENTENCE}


def bars(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "weight_bars")
    return found


def shown_text(app: AppTest) -> str:
    return str(next(each.value for each in app.text if "of the weight" in each.value or "predicts" in each.value))


def by_hand(
    folder: Path, heads: slice, weights: list[float] | None
) -> tuple[torch.Tensor, torch.Tensor, tuple[int, ...]]:
    """The weights of row 4 in layer 2, (H, S), and all log-probabilities, with this row put in."""
    translator = Translator.load(folder / "en-de.safetensors")
    translation = translator.translate(SENTENCE).sentences[0]
    ids = translation.hypotheses[0].ids

    def put(now: torch.Tensor) -> torch.Tensor:
        now = now.clone()
        if weights:
            now[:, heads, 3] = torch.tensor(weights)
        return now

    probe = Probe(census(translator.model.config), [SITE], {SITE: put})
    with torch.inference_mode():
        logits = translator.model(torch.tensor([translation.source_ids]), torch.tensor([[BOS, *ids[:-1]]]), probe)
    return probe.records[SITE][0, :, 3], logits[0].double().log_softmax(-1), ids


def test_the_bars_are_the_row_of_the_head_and_of_all_heads_the_mean(open_app: Open, folder: Path) -> None:
    rows, _, _ = by_hand(folder, slice(None), None)
    found = bars(open_app("whatif", **PLACE))
    np.testing.assert_allclose(found["row"], rows[2], atol=1e-6)
    assert found["base"] == found["row"]
    assert (found["layer"], found["head"], found["step"], found["all"]) == (1, 2, 3, False)
    everyone = bars(open_app("whatif", all_heads="true", **PLACE))
    np.testing.assert_allclose(everyone["row"], rows.mean(0), atol=1e-6)
    assert everyone["all"] is True


@pytest.mark.parametrize("all_heads", [False, True])
def test_a_row_that_was_set_is_drawn_and_what_it_changes_is_said(open_app: Open, folder: Path, all_heads: bool) -> None:
    edit = WeightsSet("cross", 1, None if all_heads else 2, 3, ((0, 2500), (2, 7500)))
    app = open_app("whatif", edits=edit_text(edit), all_heads=str(all_heads).lower(), **PLACE)
    found = bars(app)
    size = len(found["tokens"])
    wanted = [0.25, 0.0, 0.75] + [0.0] * (size - 3)
    np.testing.assert_allclose(found["row"], wanted, atol=1e-6)
    heads = slice(None) if all_heads else slice(2, 3)
    plain, before, ids = by_hand(folder, heads, None)
    _, after, _ = by_hand(folder, heads, wanted)
    base = (plain.mean(0) if all_heads else plain[2]).numpy()
    moved = np.abs(np.array(wanted) - plain[heads].numpy()).sum(-1).mean() / 2
    np.testing.assert_allclose(found["base"], base, atol=1e-6)
    text = shown_text(app).replace("−", "-")
    assert text.startswith(f"{Share(moved):.0%} of the weight of ")
    scores = [float(each[3, ids[3]]) for each in (before, after)]
    numbers = [float(each) for each in re.findall(r"-\d+\.\d\d", text)]
    assert numbers == pytest.approx([round(score, 2) for score in scores], abs=0.011)
    same = int(before[3].argmax()) == int(after[3].argmax())
    assert ("token stays" in text) == same


def test_a_row_is_set_in_the_place_of_an_earlier_edit_of_it_and_of_no_other() -> None:
    place = Place(1, 2, 3)
    edit = place.edit([0, 2500, 0, 7500])
    assert edit == WeightsSet("cross", 1, 2, 3, ((1, 2500), (3, 7500)))
    assert place.is_set_by(edit)
    assert place.is_set_by(WeightsSet("cross", 1, None, 3, ((0, 1),)))
    assert Place(1, None, 3).is_set_by(edit)
    for other in (Place(0, 2, 3), Place(1, 1, 3), Place(1, 2, 4)):
        assert not other.is_set_by(edit)
    assert not place.is_set_by(HeadOff("cross", 1, 2))
    assert not place.is_set_by(WeightsSet("decoder", 1, 2, 3, ((0, 1),)))


@pytest.mark.parametrize(
    "sent", [None, [1, 2], [0, 0, 0], [1, 2, -3], [1, 2, WHOLE + 1], [1, 2, 0.5], ["1", 2, 3], "123"]
)
def test_what_the_browser_sends_is_checked(sent: object) -> None:
    assert not _are_weights(sent, 3)
    assert _are_weights([0, WHOLE, 0], 3)


def test_it_opens_with_the_longer_word_whose_row_has_the_largest_weight() -> None:
    weights = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [1.0, 0.0]])
    assert opening_step(["▁Ich", "▁suchte", "▁Brille", "."], weights) == 2
    assert opening_step(["▁a", "b", "c", "."], weights) == 3


@pytest.mark.parametrize(
    "sentence", ["cat", " ".join([SENTENCE] * 12), "the the the </script><img src=x onerror=alert(1)>"]
)
@pytest.mark.parametrize(
    "edits",
    ["", pytest.param("weights=cross.1.all.1.1-1;off=cross.2.1", marks=pytest.mark.soak), "weights=cross.9.1.1.1-1"],
)
def test_any_sentence_and_any_link_are_shown(open_app: Open, sentence: str, edits: str) -> None:
    app = open_app("whatif", experiment="attention", edits=edits, sentence=sentence, t="40")
    found = bars(app)
    assert sum(found["row"]) == pytest.approx(1, abs=1e-5)
    assert len(found["tokens"]) == len(found["row"])
    assert found["step"] < len(found["steps"])


def test_the_ends_of_a_moved_row_are_where_most_was_lost_and_gained_even_if_that_is_not_most_of_it(
    open_app: Open,
) -> None:
    size = len(bars(open_app("whatif", **PLACE))["tokens"])
    edit = WeightsSet("cross", 1, 2, 3, tuple((key, 1) for key in range(size)))
    app = open_app("whatif", edits=edit_text(edit), **PLACE)
    change = np.array(bars(app)["row"]) - bars(app)["base"]
    moved = np.abs(change).sum() / 2
    assert change.max() < moved / 2  # to the token that gained most goes less than half
    lost, gained = (bars(app)["tokens"][index] for index in (change.argmin(), change.argmax()))
    assert f" moved; “{lost}” lost most and “{gained}” gained most: " in shown_text(app)


def test_all_heads_that_get_their_mean_have_moved(open_app: Open, folder: Path) -> None:
    rows, _, _ = by_hand(folder, slice(None), None)
    mean = np.round(WHOLE * rows.mean(0).numpy()).astype(int)
    edit = Place(1, None, 3).edit(mean.tolist())
    app = open_app("whatif", edits=edit_text(edit), all_heads="true", **PLACE)
    moved = np.abs(rows.numpy() - rows.mean(0).numpy()).sum(-1).mean() / 2
    start = f"{Share(moved):.0%} of the weight of all 4 heads of layer 2 moved, but their mean is the same: "
    assert shown_text(app).startswith(start)


def test_a_row_that_is_set_in_all_heads_is_said_to_be_while_one_head_is_shown(open_app: Open) -> None:
    edit = edit_text(WeightsSet("cross", 1, None, 3, ((0, 1),)))
    one, all_heads = (open_app("whatif", edits=edit, all_heads=each, **PLACE) for each in ("false", "true"))
    assert bars(one)["head"] == 2
    assert not bars(one)["all"]
    assert shown_text(one) == shown_text(all_heads)


def test_a_model_of_one_layer_and_one_head_has_no_other_heads_to_name(open_app: Open) -> None:
    address = {"experiment": "attention", "checkpoint": "small", "sentence": SENTENCE, "t": "2"}
    app = open_app("whatif", edits="weights=cross.1.1.2.1-1", **address)
    text = shown_text(app)
    assert "token stays" in text
    assert "other heads" not in text
    assert "all heads of the layer" not in text
    assert "other parts of the model lead to it" in text


def test_without_the_causal_mask_the_row_is_that_of_the_decoding_step(open_app: Open) -> None:
    plain, free = (open_app("whatif", edits=edits, **PLACE) for edits in ("", "mask=causal"))
    np.testing.assert_allclose(bars(free)["row"], bars(plain)["row"], atol=1e-6)
    assert shown_text(free) == shown_text(plain)


def test_a_row_that_makes_the_translation_shorter_stays_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(MAIN.parents[1] / "pretrained"))
    edits = edit_text(WeightsSet("cross", 2, None, 10, ((0, WHOLE),)))
    place = {"layer": "3", "head": "1", "t": "11", "all_heads": "true", "checkpoint": "family-window-1"}
    sentence = "Turn left at the next traffic light."
    app = open_view("whatif", experiment="attention", sentence=sentence, edits=edits, **place)
    (outcome,) = components(app, "outcome")
    assert len(outcome["rows"][1]["tokens"]) <= 10
    assert bars(app)["step"] == 10
    assert bars(app)["row"][0] == pytest.approx(1)


def test_a_link_with_a_row_that_is_set_opens_with_the_same_head_as_without(open_app: Open) -> None:
    address = {"experiment": "attention", "sentence": SENTENCE}
    plain = bars(open_app("whatif", **address))
    place = plain["layer"], plain["head"], plain["step"]
    size = len(plain["tokens"])
    rows = [
        WeightsSet("cross", place[0], place[1], step, tuple((key, 1) for key in range(size)))
        for step in range(len(plain["steps"]))
    ]
    found = bars(open_app("whatif", edits=";".join(map(edit_text, rows)), **address))
    assert (found["layer"], found["head"], found["step"]) == place
    assert found["row"] != found["base"]
