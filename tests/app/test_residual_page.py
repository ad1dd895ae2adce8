"""The page Residual stream: what it draws are the lengths of the recorded tensors, and its sum is the stream."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.views.residual.flow import COLORS
from app.views.residual.stream import sub_layers
from tests.support.drawn import array, chart, charts, title, written
from tests.support.residual_page import Open, by_name, colors_after, flowing, tensors
from transformer.decoding.translator import Translator


def angle(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.astype(np.float64), other.astype(np.float64)
    return float(np.degrees(np.arccos(np.clip(one @ other / np.linalg.norm(one) / np.linalg.norm(other), -1, 1))))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("stack", "layers"), [("encoder", 2), ("decoder", 3)])
def test_the_flow_has_the_vector_after_each_sub_layer_and_what_was_added(
    open_residual: Open, residual_checkpoints: Path, norm: str, stack: Any, layers: int
) -> None:
    held, _ = flowing(open_residual(checkpoint=norm))
    truth, subs, sent = (
        tensors(residual_checkpoints / f"{norm}.safetensors"),
        sub_layers(stack, layers),
        held["stacks"][stack],
    )
    row, after = 1, "residual_sum" if norm == "pre" else "norm_out"
    stream = [truth[f"{subs[0].site}.residual_in"][row], *(truth[f"{sub.site}.{after}"][row] for sub in subs)]
    added = [truth[f"{sub.site}.output"][row] for sub in subs]
    np.testing.assert_allclose(sent["lengths"][row], [np.linalg.norm(x) for x in stream], rtol=1e-5)
    np.testing.assert_allclose(sent["addedLengths"][row], [np.linalg.norm(x) for x in added], rtol=1e-5)
    np.testing.assert_allclose(sent["toLast"][row], [angle(x, stream[-1]) for x in stream], atol=0.05)
    beside = zip(added, [truth[f"{sub.site}.residual_in"][row] for sub in subs], strict=True)
    np.testing.assert_allclose(sent["toStream"][row], [angle(x, y) for x, y in beside], atol=0.05)
    limit = float(sent["limits"][row])
    for colors, values in ((colors_after(sent), stream), (sent["added"], added)):
        drawn = (colors[row].astype(np.float64) * 2 / (COLORS - 1) - 1) * limit
        np.testing.assert_allclose(drawn, np.clip(values, -limit, limit), atol=1.01 * limit / (COLORS - 1))


@pytest.mark.parametrize(("norm", "formula"), [("pre", "x + FFN(LayerNorm(x))"), ("post", "LayerNorm(x + FFN(x))")])
def test_the_page_says_what_a_residual_connection_is(open_residual: Open, norm: str, formula: str) -> None:
    sentence = f"adds its input x to its output: for a feed-forward network, {formula}."
    assert any(sentence in each.value for each in open_residual(checkpoint=norm).text)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_page_says_how_far_the_sum_is_from_the_last_vector(
    open_residual: Open, residual_checkpoints: Path, norm: str
) -> None:
    truth, subs = tensors(residual_checkpoints / f"{norm}.safetensors"), sub_layers("encoder", 2)
    tensor = {name: [truth[f"{sub.site}.{name}"][1].astype(np.float64) for sub in subs] for name in
              ("residual_in", "output", "residual_sum")}  # fmt: skip
    if norm == "pre":
        wanted = np.abs(
            truth["encoder.embedding.output"][1] + np.sum(tensor["output"], axis=0) - tensor["residual_sum"][-1]
        )
    else:
        wanted = np.abs(np.add(tensor["residual_in"], tensor["output"]) - tensor["residual_sum"])
    shown_text = "\n".join(text.value for text in open_residual(checkpoint=norm, s="2").text)
    found = re.search(r"largest difference [a-z0-9, ]+: (\S+)\)", shown_text.replace("\n", " "))
    assert found, shown_text
    assert written(found[1]) == pytest.approx(wanted.max(), rel=0.06, abs=1e-12)
    assert wanted.max() < 1e-5


def test_it_opens_with_a_word_of_the_source_and_with_the_step_that_was_chosen(open_residual: Open) -> None:
    _, state = flowing(open_residual(checkpoint="pre"))
    assert state["stack"] == "encoder"
    _, state = flowing(open_residual(checkpoint="pre", kind="decoder", t="3"))
    assert (state["stack"], state["row"]) == ("decoder", 2)
    _, state = flowing(open_residual(checkpoint="pre", kind="decoder", stream="encoder", s="2"))
    assert (state["stack"], state["row"]) == ("encoder", 1)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("stack", "key", "layers"), [("encoder", "s", 2), ("decoder", "t", 3)])
def test_the_lengths_drawn_are_those_of_the_tensors(
    open_residual: Open, residual_checkpoints: Path, norm: str, stack: Any, key: str, layers: int
) -> None:
    app = open_residual(checkpoint=norm, kind=stack, **{key: "3"})
    truth, subs = tensors(residual_checkpoints / f"{norm}.safetensors"), sub_layers(stack, layers)
    drawn = by_name(chart(app, f"Length of the stream, {stack}, position 3"))
    for name, site in (("the stream x before", "residual_in"), ("x + what is added", "residual_sum")):
        wanted = [np.linalg.norm(truth[f"{sub.site}.{site}"][2].astype(np.float64)) for sub in subs]
        np.testing.assert_allclose(drawn[name][1], wanted, rtol=1e-5)
    for name, attends in (("added by attention", True), ("added by feed-forward", False)):
        places, lengths = drawn[name]
        assert list(places) == [place for place, sub in enumerate(subs) if sub.attends == attends]
        wanted = [np.linalg.norm(truth[f"{subs[place].site}.output"][2]) for place in places]
        np.testing.assert_allclose(lengths, wanted, rtol=1e-5)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_every_token_s_ratio_is_drawn(open_residual: Open, residual_checkpoints: Path, stack: Any) -> None:
    app = open_residual(checkpoint="pre", kind=stack)
    truth = tensors(residual_checkpoints / "pre.safetensors")
    drawn = array(chart(app, "What is added over what is there")["data"][0]["z"])
    for place, sub in enumerate(sub_layers(stack, 2 if stack == "encoder" else 3)):
        added, before = truth[f"{sub.site}.output"], truth[f"{sub.site}.residual_in"]
        wanted = np.linalg.norm(added, axis=-1) / np.linalg.norm(before, axis=-1)
        np.testing.assert_allclose(drawn[:, place], wanted, rtol=1e-4)


@pytest.mark.parametrize(("norm", "read"), [("pre", r"\mathrm{LayerNorm}(x)"), ("post", "x")])
def test_the_ratio_s_formula_says_what_the_sub_layer_reads(open_residual: Open, norm: str, read: str) -> None:
    formulas = [element.value for element in open_residual(checkpoint=norm).latex]
    assert any(rf"\lVert \mathrm{{Sublayer}}({read}) \rVert" in formula for formula in formulas), formulas


def test_the_shares_are_of_the_vector_that_enters_the_last_norm(
    open_residual: Open, residual_checkpoints: Path
) -> None:
    app = open_residual(checkpoint="pre", kind="decoder", t="2")
    truth, subs = tensors(residual_checkpoints / "pre.safetensors"), sub_layers("decoder", 3)
    last = truth[f"{subs[-1].site}.residual_sum"][1].astype(np.float64)
    parts = [truth["decoder.embedding.output"][1], *(truth[f"{sub.site}.output"][1] for sub in subs)]
    np.testing.assert_allclose(np.sum(parts, axis=0), last, rtol=1e-4, atol=1e-5)  # the stream is nothing but this sum
    drawn = by_name(chart(app, "Shares of the last stream"))
    found = {int(place): share for places, ys in drawn.values() for place, share in zip(places, ys, strict=True)}
    wanted = [part.astype(np.float64) @ last / (last @ last) for part in parts]
    np.testing.assert_allclose([found[place] for place in range(len(parts))], wanted, rtol=1e-4, atol=1e-6)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_model_that_normalises_the_stream_has_no_such_sum(open_residual: Open) -> None:
    titles = [title(figure) for figure in charts(open_residual(checkpoint="post"))]
    assert len(titles) == 3
    assert not any(each.startswith("Shares") for each in titles)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_norms_drawn_are_what_layer_norm_reads_and_gives(
    open_residual: Open, residual_checkpoints: Path, norm: str
) -> None:
    app = open_residual(checkpoint=norm, kind="encoder", s="2")
    truth, subs = tensors(residual_checkpoints / f"{norm}.safetensors"), sub_layers("encoder", 2)
    model = Translator.load(residual_checkpoints / f"{norm}.safetensors").model
    before, after = chart(app, "Before and after each LayerNorm")["data"]
    for place, sub in enumerate(subs):
        read = truth[f"{sub.site}.{'residual_in' if norm == 'pre' else 'residual_sum'}"][1]
        given = truth[f"{sub.site}.norm_out"][1]
        layer_norm = getattr(model.encoder.layers[sub.layer], f"{sub.part}_residual").norm
        with torch.no_grad():
            np.testing.assert_allclose(layer_norm(torch.tensor(read)), given, atol=1e-5)
        for data, values in ((before, read), (after, given)):
            assert array(data["y"])[place] == pytest.approx(values.mean(), abs=1e-5)
            assert array(data["error_y"]["array"])[place] == pytest.approx(values.std(), rel=1e-4)


@pytest.mark.parametrize("name", ["one", "deep"])
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
@pytest.mark.parametrize("sentence", ["a", "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"])
def test_it_opens_with_any_model_and_any_words(open_residual: Open, name: str, stack: str, sentence: str) -> None:
    app = open_residual(checkpoint=name, kind=stack, sentence=sentence)
    assert len(charts(app)) == (4 if name == "one" else 3)
