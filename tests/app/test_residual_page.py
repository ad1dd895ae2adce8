"""The page Residual stream: what it draws are the lengths of the recorded tensors, and its sum is the stream."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute.outcomes import Outcome
from app.figures.axes import TokenAxis
from app.views.residual.flow import COLORS, flow, largest_difference, vectors
from app.views.residual.sentences import of_edits
from app.views.residual.stream import Stream, cosines, relative, shares, sub_layers
from app.views.residual.stream_charts import HIGHEST, added_heatmap, stream_table
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, charts, checked, components, held_by, open_view, title, written
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"
NOWHERE = np.zeros((3, 3), dtype=bool)  # no edit replaces a vector
OTHER = (17, 93, 3)  # the ids of another sentence
PATCHED = "-".join(map(str, OTHER))
Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of both placements of the norm, and odd ones."""
    path = tmp_path_factory.mktemp("residual")
    write_checkpoint(path / "post.safetensors")
    write_checkpoint(path / "pre.safetensors", options={"norm": "pre"})
    write_checkpoint(path / "one.safetensors", Size(1, 1, 1), options={"norm": "pre", "positions": "none"})
    write_checkpoint(path / "deep.safetensors", Size(4, 1, 2), options={"positions": "learned"})
    return path


@pytest.fixture
def open_page(kinds: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(kinds))

    def opened(**address: str) -> AppTest:
        return open_view("residual", **{"sentence": SENTENCE, "details": "true", **address})

    return opened


def flowing(app: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the browser gets: the streams, and which token is shown."""
    held = held_by(app)
    (state,) = components(app, "residual_flow")
    assert held["scene"] == state["scene"]
    return held, state


def colors_after(sent: dict[str, Any]) -> np.ndarray:
    """The colours of the vectors before the first and after each sub-layer, (R, 1 + U, D), as the browser computes
    them."""
    changes = np.cumsum(sent["added"] + sent["rest"], axis=1, dtype=np.uint8)
    return np.concatenate([sent["start"][:, None], sent["start"][:, None] + changes], axis=1)


def angle(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.astype(np.float64), other.astype(np.float64)
    return float(np.degrees(np.arccos(np.clip(one @ other / np.linalg.norm(one) / np.linalg.norm(other), -1, 1))))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("stack", "layers"), [("encoder", 2), ("decoder", 3)])
def test_the_flow_has_the_vector_after_each_sub_layer_and_what_was_added(
    open_page: Open, kinds: Path, norm: str, stack: Any, layers: int
) -> None:
    held, _ = flowing(open_page(checkpoint=norm))
    truth, subs, sent = tensors(kinds / f"{norm}.safetensors"), sub_layers(stack, layers), held["stacks"][stack]
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
def test_the_page_says_what_a_residual_connection_is(open_page: Open, norm: str, formula: str) -> None:
    sentence = f"adds its input x to its output: for a feed-forward network, {formula}."
    assert any(sentence in each.value for each in open_page(checkpoint=norm).text)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_page_says_how_far_the_sum_is_from_the_last_vector(open_page: Open, kinds: Path, norm: str) -> None:
    truth, subs = tensors(kinds / f"{norm}.safetensors"), sub_layers("encoder", 2)
    tensor = {name: [truth[f"{sub.site}.{name}"][1].astype(np.float64) for sub in subs] for name in
              ("residual_in", "output", "residual_sum")}  # fmt: skip
    if norm == "pre":
        wanted = np.abs(
            truth["encoder.embedding.output"][1] + np.sum(tensor["output"], axis=0) - tensor["residual_sum"][-1]
        )
    else:
        wanted = np.abs(np.add(tensor["residual_in"], tensor["output"]) - tensor["residual_sum"])
    shown_text = "\n".join(text.value for text in open_page(checkpoint=norm, s="2").text)
    found = re.search(r"largest difference [a-z0-9 ]+: (\S+)\)", shown_text.replace("\n", " "))
    assert found, shown_text
    assert written(found[1]) == pytest.approx(wanted.max(), rel=0.06, abs=1e-12)
    assert wanted.max() < 1e-5


def test_a_sum_that_is_wrong_shows_as_a_difference() -> None:
    subs, vectors_of = sub_layers("encoder", 1), np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    before = np.stack([vectors_of[0], vectors_of[0] + vectors_of[0]])
    every = Stream(
        subs, before, vectors_of, before + vectors_of, before, before, before[0], (True, True), NOWHERE[:, :3]
    )
    assert largest_difference(every.of(1), pre_norm=True) == pytest.approx(0, abs=1e-6)
    wrong = replace(every, added=vectors_of * 2)
    for pre_norm in (True, False):
        assert largest_difference(wrong.of(1), pre_norm=pre_norm) > 0.1
    assert vectors(every, pre_norm=True).shape == (3, 3, 4)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_its_residual_connection_its_output_alone_is_the_new_stream(
    open_page: Open, kinds: Path, norm: str
) -> None:
    edit = "noresidual=encoder.2.self_attention"
    app = open_page(checkpoint=norm, edits=edit)
    held, state = flowing(app)
    assert state["off"] == [edit]
    sent = held["stacks"]["encoder"]
    assert sent["parts"][2]["edits"] == {"sublayer": "skip=encoder.2.self_attention", "residual": edit}
    before, after = (sent[name] for name in ("lengthsBefore", "lengths"))  # (R, 1 + U)
    truth, subs, end = tensors(kinds / f"{norm}.safetensors"), sub_layers("encoder", 2), "residual_sum"
    if norm == "post":
        end = "norm_out"
    wanted = [np.linalg.norm(truth[f"{sub.site}.{end}"], axis=-1) for sub in subs]
    np.testing.assert_allclose(before[:, 1:].T, wanted, rtol=1e-5)  # of the original model
    np.testing.assert_allclose(after[:, :3], before[:, :3], rtol=1e-6)  # up to the edit nothing changes
    if norm == "pre":
        np.testing.assert_allclose(after[:, 3], sent["addedLengths"][:, 2], rtol=1e-6)
        assert not np.allclose(after[:, 4], before[:, 4], rtol=1e-2)
    shown_text = next(each.value for each in app.text if "largest difference" in each.value)
    sentence = "Layer 2, self-attention, has no residual connection now: its output alone is the new stream."
    assert (sentence in shown_text) == (norm == "pre")
    difference = re.search(r"largest difference [a-z0-9 ]+: ([^ )]+)\)", shown_text)
    assert difference
    assert written(difference[1]) < 1e-5
    assert "log-probability" in shown_text
    assert "(0.7 nats less: half as probable)" in shown_text


def test_a_sub_layer_that_reads_zeros_is_not_said_to_have_no_residual_connection(open_page: Open) -> None:
    edits = "skip=encoder.1.feed_forward;noresidual=encoder.1.feed_forward"
    app = open_page(checkpoint="pre", edits=edits)
    assert flowing(app)[1]["off"] == edits.split(";")
    shown_text = next(each.value for each in app.text if "largest difference" in each.value)
    assert "Layer 1, feed-forward, has no residual connection now" in shown_text


def test_all_connections_of_a_kind_are_one_edit_and_each_of_them_in_the_picture(open_page: Open) -> None:
    _, state = flowing(open_page(checkpoint="pre", edits="noresidual=decoder.all.feed_forward;mask=causal"))
    assert state["off"] == [f"noresidual=decoder.{layer}.feed_forward" for layer in (1, 2, 3)]


def test_what_does_not_reach_the_last_vector_has_no_share_of_it(open_page: Open) -> None:
    app = open_page(checkpoint="pre", kind="decoder", edits="noresidual=decoder.2.feed_forward")
    drawn = by_name(chart(app, "Shares of the last stream"))
    found = {int(place): share for places, ys in drawn.values() for place, share in zip(places, ys, strict=True)}
    assert [found[place] for place in range(6)] == [0] * 6  # the embedding, and five sub-layers before that one
    assert sum(found.values()) == pytest.approx(1.0)


def words_below(app: AppTest) -> str:
    return next(each.value for each in app.text if "LayerNorm normalises" in each.value or "last vector" in each.value)


def shares_drawn(app: AppTest) -> dict[int, float]:
    drawn = by_name(chart(app, "Shares of the last stream"))
    return {int(place): float(share) for places, ys in drawn.values() for place, share in zip(places, ys, strict=True)}


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_vector_that_an_edit_puts_in_is_not_said_to_be_computed_by_the_sub_layer(open_page: Open, norm: str) -> None:
    edit = f"patch=1.2.{PATCHED}"
    app = open_page(checkpoint=norm, stream="encoder", s="2", edits=edit)
    assert "After layer 1, feed-forward, an edit replaces the vector by one of another sentence." in words_below(app)
    sent = flowing(app)[0]["stacks"]["encoder"]
    assert np.argwhere(sent["replaced"]).tolist() == [[1, 2]]  # the second token, after two sub-layers
    other = open_page(checkpoint=norm, stream="encoder", s="3", edits=edit)
    assert "another sentence" not in words_below(other)
    captions = " ".join(each.value for each in app.caption)
    assert captions.count("After layer 1, feed-forward, an edit replaces") == (1 if norm == "pre" else 2)
    assert ("the sum is the new stream" in captions, "x + what is added" in by_name(chart(app, "Length of the"))) == (
        (False, False) if norm == "pre" else (False, True)
    )


def test_the_sum_of_a_pre_norm_stack_begins_with_the_vector_that_an_edit_puts_in(open_page: Open, kinds: Path) -> None:
    app = open_page(checkpoint="pre", stream="encoder", s="2", edits=f"patch=1.2.{PATCHED}")
    difference = re.search(
        r"what 2 later sub-layers added \(largest difference [a-z0-9 ]+: ([^ )]+)\)", words_below(app)
    )
    assert difference
    assert written(difference[1]) < 1e-5
    model = Translator.load(kinds / "pre.safetensors").model
    patched = trace(model, OTHER, (5,), ["encoder.*"])["encoder.layers.0.feed_forward.residual_sum"][1]
    found, figure = shares_drawn(app), chart(app, "Shares of the last stream")
    assert figure["layout"]["xaxis"]["ticktext"][0] == "vector of another sentence"
    assert [found[1], found[2]] == [0, 0]  # what layer 1 added does not reach the end
    assert sum(found.values()) == pytest.approx(1.0)
    lengths = flowing(app)[0]["stacks"]["encoder"]["lengths"]
    assert lengths[1, 2] == pytest.approx(float(np.linalg.norm(patched)), rel=1e-5)
    last = open_page(checkpoint="pre", stream="encoder", s="2", edits=f"patch=2.2.{PATCHED}")
    assert words_below(last).endswith("one of another sentence. That is the last vector.")


def test_an_embedding_that_an_edit_puts_in_is_not_said_to_be_that_of_the_token(open_page: Open) -> None:
    app = open_page(checkpoint="pre", stream="encoder", s="2", edits=f"patch=embedding.2.{PATCHED}")
    assert "is the sum of the vector of another sentence and what 4 sub-layers added" in words_below(app)
    starts = flowing(app)[0]["stacks"]["encoder"]["starts"]
    assert [i for i, start in enumerate(starts) if start == "vector of another sentence"] == [1]
    beyond = open_page(checkpoint="pre", stream="encoder", s="2", edits=f"patch=embedding.40.{'-'.join(['5'] * 40)}")
    assert "another sentence" not in words_below(beyond)


def test_a_stream_whose_positions_are_off_starts_with_the_embedding_alone(open_page: Open) -> None:
    sent = flowing(open_page(checkpoint="pre", edits="positions=off"))[0]["stacks"]
    assert set(sent["encoder"]["starts"]) == {"embedding"}
    assert set(sent["decoder"]["starts"]) == {"embedding + position"}


def test_no_later_sub_layers_are_counted_after_the_last_one(open_page: Open) -> None:
    app = open_page(checkpoint="pre", stream="encoder", edits="noresidual=encoder.2.feed_forward")
    assert words_below(app).endswith("its output alone is the new stream. That is the last vector.")


def test_it_opens_with_a_word_of_the_source_and_with_the_step_that_was_chosen(open_page: Open) -> None:
    _, state = flowing(open_page(checkpoint="pre"))
    assert state["stack"] == "encoder"
    _, state = flowing(open_page(checkpoint="pre", kind="decoder", t="3"))
    assert (state["stack"], state["row"]) == ("decoder", 2)
    _, state = flowing(open_page(checkpoint="pre", kind="decoder", stream="encoder", s="2"))
    assert (state["stack"], state["row"]) == ("encoder", 1)


def test_the_colours_of_a_stream_of_zeros_are_the_middle() -> None:
    zeros = np.zeros((2, 1, 4), np.float32)
    every = Stream(sub_layers("encoder", 1), zeros, zeros, zeros, zeros, zeros, zeros[0], (True, True), NOWHERE[:, :1])
    tokens = TokenAxis("English", "encoder", ("a",))
    sent = flow({"encoder": (every, tokens)}, {}, pre_norm=True, starts={})["stacks"]["encoder"]
    assert set(colors_after(sent).ravel()) <= {127, 128}
    assert set(sent["toLast"].ravel()) == {90.0}


def by_name(figure: dict[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {data["name"]: (array(data["x"]), array(data["y"])) for data in figure["data"]}


def tensors(path: Path) -> dict[str, np.ndarray]:
    """Every tensor of the sentence, computed beside the app."""
    translator = Translator.load(path)
    found = translator.translate(SENTENCE, n_best=3).sentences[0]
    return dict(trace(translator.model, found.source_ids, found.hypotheses[0].ids, ["encoder.*", "decoder.*"]).arrays)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("stack", "key", "layers"), [("encoder", "s", 2), ("decoder", "t", 3)])
def test_the_lengths_drawn_are_those_of_the_tensors(
    open_page: Open, kinds: Path, norm: str, stack: Any, key: str, layers: int
) -> None:
    app = open_page(checkpoint=norm, kind=stack, **{key: "3"})
    truth, subs = tensors(kinds / f"{norm}.safetensors"), sub_layers(stack, layers)
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
def test_every_token_s_ratio_is_drawn(open_page: Open, kinds: Path, stack: Any) -> None:
    app = open_page(checkpoint="pre", kind=stack)
    truth = tensors(kinds / "pre.safetensors")
    drawn = array(chart(app, "What is added over what is there")["data"][0]["z"])
    for place, sub in enumerate(sub_layers(stack, 2 if stack == "encoder" else 3)):
        added, before = truth[f"{sub.site}.output"], truth[f"{sub.site}.residual_in"]
        wanted = np.linalg.norm(added, axis=-1) / np.linalg.norm(before, axis=-1)
        np.testing.assert_allclose(drawn[:, place], wanted, rtol=1e-4)


@pytest.mark.parametrize(("norm", "read"), [("pre", r"\mathrm{LayerNorm}(x)"), ("post", "x")])
def test_the_ratio_s_formula_says_what_the_sub_layer_reads(open_page: Open, norm: str, read: str) -> None:
    formulas = [element.value for element in open_page(checkpoint=norm).latex]
    assert any(rf"\lVert \mathrm{{Sublayer}}({read}) \rVert" in formula for formula in formulas), formulas


def test_the_shares_are_of_the_vector_that_enters_the_last_norm(open_page: Open, kinds: Path) -> None:
    app = open_page(checkpoint="pre", kind="decoder", t="2")
    truth, subs = tensors(kinds / "pre.safetensors"), sub_layers("decoder", 3)
    last = truth[f"{subs[-1].site}.residual_sum"][1].astype(np.float64)
    parts = [truth["decoder.embedding.output"][1], *(truth[f"{sub.site}.output"][1] for sub in subs)]
    np.testing.assert_allclose(np.sum(parts, axis=0), last, rtol=1e-4, atol=1e-5)  # the stream is nothing but this sum
    drawn = by_name(chart(app, "Shares of the last stream"))
    found = {int(place): share for places, ys in drawn.values() for place, share in zip(places, ys, strict=True)}
    wanted = [part.astype(np.float64) @ last / (last @ last) for part in parts]
    np.testing.assert_allclose([found[place] for place in range(len(parts))], wanted, rtol=1e-4, atol=1e-6)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_model_that_normalises_the_stream_has_no_such_sum(open_page: Open) -> None:
    titles = [title(figure) for figure in charts(open_page(checkpoint="post"))]
    assert len(titles) == 3
    assert not any(each.startswith("Shares") for each in titles)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_norms_drawn_are_what_layer_norm_reads_and_gives(open_page: Open, kinds: Path, norm: str) -> None:
    app = open_page(checkpoint=norm, kind="encoder", s="2")
    truth, subs = tensors(kinds / f"{norm}.safetensors"), sub_layers("encoder", 2)
    model = Translator.load(kinds / f"{norm}.safetensors").model
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
def test_it_opens_with_any_model_and_any_words(open_page: Open, name: str, stack: str, sentence: str) -> None:
    app = open_page(checkpoint=name, kind=stack, sentence=sentence)
    assert len(charts(app)) == (4 if name == "one" else 3)


def test_shares_ratios_and_cosines_by_hand() -> None:
    assert shares(np.array([[3.0, 0.0], [0.0, 4.0]])) == pytest.approx([9 / 25, 16 / 25])
    assert shares(np.array([[2.0, 0.0], [-1.0, 0.0]])) == pytest.approx([2, -1])
    assert cosines(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])) == pytest.approx(
        [0.5**0.5, 0]
    )
    before, added = np.array([[[3.0, 4.0], [0.0, 0.0]]]), np.array([[[0.0, 10.0], [1.0, 1.0]]])  # (U=1, R=2, D=2)
    every = Stream(
        sub_layers("encoder", 1)[:1], before, added, added, added, added, before[0], (True,), NOWHERE[:2, :2]
    )
    assert relative(every).tolist() == [[2.0], [0.0]]  # nothing is longer than no stream at all


def test_many_tokens_are_drawn_without_numbers_and_tables_have_them_all() -> None:
    subs = sub_layers("decoder", 2)
    rows = TokenAxis("German", "decoder", ("<b>x",) * 60, ("y",) * 60)
    ratios = np.random.default_rng(0).random((60, len(subs)))
    figure = checked(added_heatmap(ratios, rows, subs, row=59, title="t"))
    assert [trace.type for trace in figure.data] == ["heatmap"]
    assert "<b>" not in figure.layout.yaxis.ticktext[0]
    many = TokenAxis("German (translation)", "decoder", ("x",) * 160, ("y",) * 160)
    tall = checked(added_heatmap(np.resize(ratios, (160, len(subs))), many, subs, row=0, title="t"))
    assert tall.layout.height <= HIGHEST + 190
    few = TokenAxis("German", "decoder", ("x",) * 3, ("y",) * 3)
    name = TokenAxis("German (translation)", "decoder", ("x",) * 3, ("y",) * 3)
    folded = checked(added_heatmap(ratios[:3], name, subs, row=0, title="t")).layout.yaxis.title.text
    assert folded == "German<br>(translation),<br>reads"  # beside three rows
    digits = checked(added_heatmap(ratios[:3], few, subs, row=0, title="t")).data[1]
    assert digits.meta["columns"] == len(subs)  # so that the browser leaves out what has no room
    values = np.random.default_rng(1).random((len(subs), 8))
    every = Stream(subs, values, values, 2 * values, values, values, values[0], (True,) * len(subs), NOWHERE[:, 0])
    table = stream_table(every)
    assert list(table["sub-layer"])[:3] == ["1 self-attention", "1 encoder-decoder", "1 feed-forward"]
    assert np.allclose(table["cosine of x and what is added"], 1)


@pytest.mark.parametrize(
    ("lost", "size"), [((0.02, -0.05), "the same"), ((0.02, 0.05), "0.1 nats lower"), ((0.0, -0.3), "0.3 nats higher")]
)
def test_a_log_probability_that_hardly_changes_is_called_the_same(
    lost: tuple[float, float], size: str, tmp_path: Path
) -> None:
    written = Translator.load(write_checkpoint(tmp_path / "any.safetensors")).score("the cat", "the")
    assert f"its log-probability is {size} (" in of_edits(Outcome(written, written, lost))
