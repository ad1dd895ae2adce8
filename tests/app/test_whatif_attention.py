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
from tests.support.drawn import components
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
    np.testing.assert_allclose(found["base"], base, atol=1e-6)
    text = shown_text(app).replace("−", "-")
    assert text.startswith(f"{Share(np.abs(np.array(wanted) - base).sum() / 2):.0%} of the weight of ")
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
@pytest.mark.parametrize("edits", ["", "weights=cross.1.all.1.1-1;off=cross.2.1", "weights=cross.9.1.1.1-1"])
def test_any_sentence_and_any_link_are_shown(open_app: Open, sentence: str, edits: str) -> None:
    app = open_app("whatif", experiment="attention", edits=edits, sentence=sentence, t="40")
    found = bars(app)
    assert sum(found["row"]) == pytest.approx(1, abs=1e-5)
    assert len(found["tokens"]) == len(found["row"])
    assert found["step"] < len(found["steps"])
