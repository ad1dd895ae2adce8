"""The picture of the page Heads: the weights of all heads, what is predicted without each, and their masks."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.figures.axes import in_words
from tests.support.drawn import components
from tests.support.multihead_page import SENTENCE, Open, tensors
from transformer.analysis.head_removal import predictions_with_other_heads
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import SITES, Kind


def translator_ids(folder: Path) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of the sentence and of its translation."""
    found = Translator.load(folder / "usual.safetensors").translate(SENTENCE, n_best=3).sentences[0]
    return found.source_ids, found.hypotheses[0].ids


def grid(app: AppTest) -> dict[str, Any]:
    """What the picture is given."""
    (found,) = components(app, "head_grid")
    return found


def test_the_mask_of_a_head_that_an_edit_changes_is_shown_in_this_head(open_multihead: Open) -> None:
    place = {"kind": "decoder", "layer": "2", "head": "1"}
    plain = grid(open_multihead(**place))["allowed"]
    edited = grid(open_multihead(**place, edits="allow=decoder.2.3.1.2"))["allowed"]
    assert len(plain) == 1 < len(edited)
    assert [mask == plain[0] for mask in edited[:4]] == [True, True, False, True]
    assert edited[2][:2] == "11"


@pytest.mark.parametrize("kind", list(SITES))
def test_the_picture_has_the_weights_and_the_lengths_of_the_heads(
    open_multihead: Open, multihead_checkpoints: Path, kind: Kind
) -> None:
    found = grid(open_multihead(kind=kind, layer="2", head="3"))
    site = SITES[kind].format(1)
    _, arrays = tensors(multihead_checkpoints, f"{site}.weights", f"{site}.head_outputs")
    weights, written = arrays[f"{site}.weights"], arrays[f"{site}.head_outputs"]
    assert found["head"] == 2
    for head, one in enumerate(found["heads"]):
        drawn = np.frombuffer(base64.b64decode(one["weights"]), "<u2") / 65535
        assert np.allclose(drawn, weights[head].ravel(), atol=1e-5)
        lengths = np.linalg.norm(written[head], axis=-1)
        expected = [lengths.mean()] * len(found["steps"]) if kind == "encoder" else lengths
        assert np.allclose(one["lengths"], expected, atol=1e-3)


def test_the_picture_says_what_is_predicted_without_a_head(open_multihead: Open, multihead_checkpoints: Path) -> None:
    app = open_multihead(kind="decoder", layer="1")
    found = grid(app)
    translator, arrays = tensors(multihead_checkpoints, "logits")
    expected = torch.tensor(arrays["logits"]).softmax(dim=-1)
    token_of = translator.tokenizer.token
    tops = [in_words(token_of(int(id))) for id in expected.argmax(dim=-1)]
    assert [step["top"] for step in found["steps"]] == tops
    site = "decoder.layers.0.self_attention"
    with torch.no_grad():
        translator.model.get_parameter(f"{site}.output.weight")[:, 16:24] = 0  # of head 3 of 4
    ids = translator_ids(multihead_checkpoints)
    changed = trace(translator.model, *ids, ["logits"])["logits"]
    without = torch.tensor(changed).softmax(dim=-1)
    assert [step["token"] for step in found["heads"][2]["without"]] == [
        in_words(token_of(int(i))) for i in without.argmax(-1)
    ]
    kept = [float(without[t, id]) for t, id in enumerate(ids[1])]
    assert [step["kept"] for step in found["heads"][2]["without"]] == pytest.approx(kept, abs=1e-5)


def test_the_picture_opens_at_the_step_where_a_head_makes_the_largest_difference(
    open_multihead: Open, multihead_checkpoints: Path
) -> None:
    translator, _ = tensors(multihead_checkpoints, "logits")
    found = predictions_with_other_heads(
        translator.model, *translator_ids(multihead_checkpoints), "decoder.layers.1.cross_attention"
    )
    without = [found.probability[found.without(head)] for head in range(4)]
    assert grid(open_multihead(kind="cross", layer="2"))["step"] == np.argmax(
        found.probability[0] - np.min(without, axis=0)
    )
    assert grid(open_multihead(t="2"))["step"] == 1  # unless a step is chosen


def test_a_model_with_one_head_has_one_card(open_multihead: Open) -> None:
    found = grid(open_multihead(checkpoint="one"))
    assert len(found["heads"]) == 1
