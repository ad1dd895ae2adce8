"""The page Heads, run without a browser: it draws the matrices and tensors of the checkpoint, and true counts."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from app.compute.projections import Matrix, input_site
from app.figures.head_slices import STEPS
from app.figures.theme import color_limit
from app.library.tasks import PAPERS_EXAMPLE
from tests.support.drawn import array, chart, charts, page_text, sent, written
from tests.support.multihead_page import SENTENCE, Open, tensors
from transformer.decoding.translator import Translator
from transformer.model import census
from transformer.model.attention_kinds import SITES, Kind

HOSTILE = "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"


@pytest.mark.parametrize(
    ("kind", "matrix"), [("cross", "query"), ("cross", "key"), ("decoder", "value"), ("encoder", "output")]
)
def test_the_matrix_and_the_slice_are_the_weights_of_the_checkpoint(
    open_multihead: Open, multihead_checkpoints: Path, kind: Kind, matrix: str
) -> None:
    app = open_multihead(kind=kind, layer="2", head="3", matrix=matrix)
    model = Translator.load(multihead_checkpoints / "usual.safetensors").model
    weight = model.get_parameter(f"{SITES[kind].format(1)}.{matrix}.weight").detach().numpy().T
    whole, part = charts(app)[:2]
    limit = color_limit(weight)
    drawn = array(whole["data"][0]["z"]) * limit / STEPS
    assert np.abs(drawn - weight.clip(-limit, limit)).max() <= 0.5001 * limit / STEPS
    expected = weight[16:24] if matrix == "output" else weight[:, 16:24]
    assert np.array_equal(array(part["data"][0]["z"]), expected)
    assert (
        f"W<sup>{'O' if matrix == 'output' else matrix[0].upper()}</sup> of head 3" in part["layout"]["title"]["text"]
    )
    caption = next(c.value for c in app.caption if "slice alone" in c.value)
    assert written(caption.split("**")[1]) < 1e-5


@pytest.mark.parametrize("kind", list(SITES))
def test_what_the_heads_write_is_the_tensor_and_adds_up_to_the_output(
    open_multihead: Open, multihead_checkpoints: Path, kind: Kind
) -> None:
    app = open_multihead(kind=kind, layer="2", head="3", t="3", s="4")
    site, row = SITES[kind].format(1), 3 if kind == "encoder" else 2
    translator, found = tensors(multihead_checkpoints, f"{site}.head_outputs")
    _, plain = tensors(multihead_checkpoints, f"{site}.output")
    parts, output = found[f"{site}.head_outputs"][:, row], plain[f"{site}.output"][row]
    bias = translator.model.get_parameter(f"{site}.output.bias").detach().numpy()
    expected = np.concatenate([parts, bias[None], output[None]])
    drawn = array(chart(app, "Dimensions 0 to 11")["data"][0]["z"])
    assert np.array_equal(drawn, expected[:, :12])
    assert np.allclose(drawn[:-1].sum(axis=0), drawn[-1], atol=1e-5)
    lengths, along = (array(bar["y"]) for bar in chart(app, "heads added up")["data"])
    assert np.allclose(lengths, np.linalg.norm(expected, axis=-1))
    assert np.allclose(along, expected @ output / np.linalg.norm(output), atol=1e-5)
    caption = next(c.value for c in app.caption if "Lengths do not add up" in c.value)
    length, difference = caption.split("**")[1::2]
    assert float(length) == pytest.approx(float(np.linalg.norm(output)), abs=1e-3)
    assert written(difference) < 1e-5


def test_where_an_edit_replaces_the_output_by_0_the_sum_is_still_that_of_the_heads(open_multihead: Open) -> None:
    app = open_multihead(kind="cross", layer="2", edits="skip=decoder.2.cross_attention")
    drawn = array(chart(app, "each column adds up")["data"][0]["z"])
    assert np.abs(drawn[-1]).max() > 0.01
    assert np.allclose(drawn[:-1].sum(axis=0), drawn[-1], atol=1e-5)
    caption = next(c.value for c in app.caption if "Lengths do not add up" in c.value)
    assert "An edit replaces the sum by 0" in caption
    assert "the length of the output" not in caption


@pytest.mark.parametrize("kind", list(SITES))
def test_the_counts_are_those_of_this_sentence_and_of_this_checkpoint(
    open_multihead: Open, multihead_checkpoints: Path, kind: Kind
) -> None:
    app = open_multihead(kind=kind)
    site = SITES[kind].format(0)
    translator, found = tensors(multihead_checkpoints, f"{site}.weights")
    _, queries, keys = found[f"{site}.weights"].shape
    parameters = sum(p.numel() for p in translator.model.get_submodule(site).parameters())
    multiplications = (2 * queries + 2 * keys) * 32 * 32 + 2 * queries * keys * 32
    text = page_text(app)
    assert f"**{parameters:,} parameters**" in text
    assert f"**{multiplications:,} multiplications**" in text
    assert f"({queries} queries, {keys} keys)" in text
    assert f"Together they have **{parameters:,}" in text  # not each of the heads
    table = next(each.value for each in app.table if "softmax rows" in each.value)
    assert list(table["multiplications"]) == [f"{multiplications:,}"] * 5
    assert list(table["not split: multiplications"]) == [f"{h * multiplications:,}" for h in (1, 2, 4, 8, 16)]
    assert list(table["scores"]) == [f"{h * queries * keys:,}" for h in (1, 2, 4, 8, 16)]


@pytest.mark.parametrize("name", ["usual", "one", "window", "wide"])
def test_what_a_matrix_is_multiplied_with_is_what_the_model_fed_it(multihead_checkpoints: Path, name: str) -> None:
    translator = Translator.load(multihead_checkpoints / f"{name}.safetensors")
    config = translator.model.config
    matrices: tuple[Matrix, ...] = ("query", "key", "value")
    for kind, pattern in SITES.items():
        site = pattern.format((config.encoder_layers if kind == "encoder" else config.decoder_layers) - 1)
        for matrix in matrices:
            source = input_site(config, kind, site, matrix)
            assert source in census(config)
            _, found = tensors(multihead_checkpoints, source, f"{site}.{matrix}", name=name)
            linear = translator.model.get_submodule(f"{site}.{matrix}")
            with torch.inference_mode():
                expected = linear(torch.tensor(found[source])).unflatten(-1, (config.heads, -1)).transpose(0, 1)
            assert np.allclose(found[f"{site}.{matrix}"], expected.numpy(), atol=1e-5)


@pytest.mark.parametrize(("kind", "sentence"), [("cross", "a"), ("encoder", HOSTILE), ("decoder", HOSTILE)])
@pytest.mark.parametrize("name", ["one", "window"])
def test_odd_checkpoints_and_odd_words_open(open_multihead: Open, name: str, kind: str, sentence: str) -> None:
    app = open_multihead(checkpoint=name, sentence=sentence, kind=kind, matrix="key", t="2", s="3")
    assert len(charts(app)) == 4
    assert "alert(1)" not in page_text(app)
    for spec in charts(app):
        assert "<img" not in spec["layout"]["title"]["text"]
    caption = next(c.value for c in app.caption if "slice alone" in c.value)
    assert written(caption.split("**")[1]) < 1e-5


def test_a_model_too_wide_for_the_whole_matrix_shows_lengths_and_the_slice(
    open_multihead: Open, multihead_checkpoints: Path
) -> None:
    app = open_multihead(checkpoint="wide", layer="1", head="8", matrix="output")
    weight = Translator.load(multihead_checkpoints / "wide.safetensors").model.get_parameter(
        "decoder.layers.0.cross_attention.output.weight"
    )
    whole, part = charts(app)[:2]
    assert [found["type"] for found in whole["data"]] == ["bar"]
    assert np.array_equal(array(part["data"][0]["z"]), weight.detach().numpy().T[-36:])
    assert "more than a screen has room for" in page_text(app)


def test_the_page_is_light(open_multihead: Open) -> None:
    app = open_multihead(checkpoint="eight")
    assert array(charts(app)[1]["data"][0]["z"]).shape == (256, 32)
    assert sum(map(len, sent(app))) < 220_000  # bytes


def test_a_head_as_wide_as_the_model_is_shown_in_windows(open_multihead: Open, multihead_checkpoints: Path) -> None:
    app = open_multihead(checkpoint="full")
    app.select_slider(key="slice_from").set_value(128).run()
    (drawn,) = charts(app)[1]["data"]
    weight = Translator.load(multihead_checkpoints / "full.safetensors").model.get_parameter(
        "decoder.layers.0.cross_attention.query.weight"
    )
    assert drawn["y0"] == 128
    assert np.array_equal(array(drawn["z"]), weight.detach().numpy().T[128:])


def test_another_matrix_is_kept_in_the_address_and_a_wrong_one_is_forgotten(open_multihead: Open) -> None:
    app = open_multihead()
    app.session_state["matrix"] = "value"
    app.run()
    assert app.query_params["matrix"] == "value"
    assert open_multihead(matrix="nonsense").session_state["matrix"] == "query"


@pytest.mark.parametrize("kind", ["encoder", "cross", "decoder"])
def test_it_counts_the_heads_that_attend_to_one_place_whatever_the_words_are(
    multihead_checkpoints: Path, open_multihead: Open, kind: Kind
) -> None:
    app = open_multihead(kind=kind, layer="2")
    sentence = next(each.value for each in app.text if "On this sentence" in each.value)
    translator, found = tensors(multihead_checkpoints, f"{SITES[kind].format('*')}.weights")
    weights = np.stack([found[f"{SITES[kind].format(i)}.weights"] for i in range(len(found))])  # (L, H, Q, K)
    best = translator.translate(SENTENCE, n_best=3).sentences[0]
    keys = [translator.tokenizer.token(id) for id in best.source_ids]
    if kind == "decoder":
        keys = ["<s>", *best.hypotheses[0].tokens[:-1]]
    places = [weights[..., [key in ("<s>", "</s>", ".") for key in keys]].sum(-1).mean(-1)]
    if kind != "cross":
        places += [np.diagonal(weights, offset, -2, -1).mean(-1) for offset in (-1, 0, 1)]
    share = np.max(places, axis=0)  # (L, H)
    count, heads = int((share >= 0.4).sum()), share.size
    assert f"On this sentence {count} of {heads} heads of " in sentence.replace("none", "0"), sentence
    named = re.findall(r"head (\d) (\d+)%", sentence)
    assert all(f"{share[1, int(head) - 1]:.0%}" == f"{percent}%" for head, percent in named)
    assert len(named) == min(int((share[1] >= 0.4).sum()), 3)


def test_the_example_of_the_paper_opens_with_its_and_law_pinned(
    multihead_checkpoints: Path, open_multihead: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("app.views.multihead.fixed_attention.go_to", opened.append)
    app = open_multihead()
    app.button(key="open_papers_example").click().run()
    assert opened == ["attention"]
    kind, query, key, _ = app.session_state["pinned"]
    tokenizer = Translator.load(multihead_checkpoints / "usual.safetensors").tokenizer
    tokens = tokenizer.encode(PAPERS_EXAMPLE)
    assert (kind, app.session_state["sentence"]) == ("encoder", PAPERS_EXAMPLE)
    assert tokenizer.decode(tokens[: key + 1]) == "The Law"
    assert tokenizer.decode(tokens[:query]) == "The Law will never be perfect, but"
