"""The page Residual stream: what it draws are the lengths of the recorded tensors, and its sum is the stream."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.figures.axes import TokenAxis
from app.views.residual.stream import Stream, cosines, relative, shares, sub_layers
from app.views.residual.stream_charts import HIGHEST, added_heatmap, stream_table
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, charts, checked, open_view, title
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"
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
        return open_view("residual", **{"sentence": SENTENCE, **address})

    return opened


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
    drawn = by_name(chart(app, f"Length of the stream, {stack}, position 2"))
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
    every = Stream(sub_layers("encoder", 1)[:1], before, added, added, added, added, before[0])
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
    table = stream_table(Stream(subs, values, values, 2 * values, values, values, values[0]))
    assert list(table["sub-layer"])[:3] == ["1 self-attention", "1 encoder-decoder", "1 feed-forward"]
    assert np.allclose(table["cosine of x and what is added"], 1)
