"""BertViz's views: the numbers are ours, a hostile token stays text, and nothing is loaded from elsewhere."""

import hashlib
import json
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from app.figures.axes import TokenAxis
from app.figures.theme import BACKGROUND, INK, resolved
from app.views.attention import bertviz_html as bertviz
from app.views.attention.bertviz_html import (
    LIBRARIES,
    PARTS,
    STATIC,
    ShownAttention,
    View,
    bertviz_html,
    drawing_code,
    vectors_table,
)
from tests.support.drawn import unpacked

VIEWS: tuple[View, ...] = ("head", "model", "neuron")
LEFT = ["<s>", "▁Das", "▁das", "▁das"]
RIGHT = ["▁the", "</script><img src=x onerror=alert(1)>", "<!--", "&lt;", "\u2028", "$x$"]
RELEASE = {
    "d3.min.js": "bdad5585ef9a965ff25458738309b006058c55f2c78d794d25fbecae35014609",  # 5.7.0
    "jquery.min.js": "fc9a93dd241f6b045cbff0481cf4e1901becd0e12fb45166a8f17f95823f0b1a",  # 3.7.1
}


def tensors(seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    scores = np.exp(random.normal(size=(3, 2, len(LEFT), len(RIGHT))))
    return {
        "weights": scores / scores.sum(axis=-1, keepdims=True),
        "queries": random.normal(size=(3, 2, len(LEFT), 5)),
        "keys": random.normal(size=(3, 2, len(RIGHT), 5)),
    }


def html(view: View, inline: bool = True, dark: bool = False, **options: Any) -> str:
    given = tensors()
    vectors = (given["queries"], given["keys"]) if view == "neuron" else None
    shown = ShownAttention(given["weights"], LEFT, RIGHT, [0, 1, 2], vectors=vectors, **options)
    return bertviz_html(view, shown, "t", inline=inline, dark=dark)


class Page(HTMLParser):
    """What a browser's parser sees: the tags; and what it unpacks."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.data: dict[str, Any] = json.loads(unpacked(text, "data"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("view", VIEWS)
def test_a_hostile_token_stays_text(view: View) -> None:
    text = html(view, inline=False)
    assert "onerror" in unpacked(text, "data")  # it is there, and no parser of HTML ever meets it
    assert not any(token in text for token in RIGHT)
    text = html(view)
    assert "<img" not in text
    assert text.count("<!--") == sum(_library(n).count("<!--") for n in LIBRARIES)
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= {
        "html", "head", "meta", "title", "style", "body", "div", "label", "select", "script"
    }  # fmt: skip
    assert [tag for tag, _ in page.tags].count("script") == 5  # data, BertViz, two libraries, ours
    assert page.data["attention"][0]["right_text"] == RIGHT


def _library(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_loaded_from_elsewhere_and_the_page_forbids_it(view: View, inline: bool) -> None:
    text = html(view, inline)
    assert "cdnjs" not in text
    page = Page(text)
    sources = [attributes["src"] for _, attributes in page.tags if "src" in attributes]
    assert sources == ([] if inline else [f"app/static/{name}" for name in LIBRARIES])
    assert not any("href" in attributes for _, attributes in page.tags)
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


@pytest.mark.parametrize("view", VIEWS)
def test_the_data_are_sent_once_and_are_the_tensor_to_three_digits(view: View) -> None:
    given = tensors()
    text = html(view)
    data = unpacked(text, "data")
    attention = json.loads(data)["attention"][0]
    assert np.abs(np.array(attention["attn"]) / PARTS - given["weights"]).max() <= 0.0005
    assert data.count('"attn":') == 1
    assert "." not in json.dumps(attention["attn"])
    if view == "neuron":
        for name in ("queries", "keys"):
            assert np.abs(np.array(attention[name]) / PARTS - given[name]).max() <= 0.0005
    assert html(view) == text  # the same again: the frame is not loaded again


@pytest.mark.parametrize("view", VIEWS)
def test_only_the_drawing_code_is_sent(view: View) -> None:
    assert unpacked(html(view), "code") == drawing_code(view)


@pytest.mark.parametrize(("view", "most"), [("head", 26_000), ("model", 26_000), ("neuron", 46_000)])
def test_a_view_of_twelve_words_is_light(view: View, most: int) -> None:
    """The sizes of the models that ship: 4 layers (the neuron view draws one) of 8 heads, d_k 32, and 20 tokens."""
    random = np.random.default_rng(0)
    layers = 1 if view == "neuron" else 4
    weights = random.dirichlet(np.full(20, 0.2), size=(layers, 8, 20))  # (L, H, Q, K)
    queries, keys = (random.normal(size=(layers, 8, 20, 32)) for _ in range(2))
    vectors = (queries, keys) if view == "neuron" else None
    tokens = [f"▁token{i}" for i in range(20)]
    assert len(bertviz_html(view, ShownAttention(weights, tokens, tokens, range(layers), vectors=vectors), "t")) < most


@pytest.mark.parametrize("view", ["head", "model"])
def test_the_data_is_what_bertviz_itself_would_draw(view: View) -> None:
    import bertviz as package
    import torch

    weights = tensors()["weights"]
    draw = package.head_view if view == "head" else package.model_view
    theirs = draw(
        cross_attention=[torch.tensor(layer)[None] for layer in weights],
        encoder_tokens=list(RIGHT),
        decoder_tokens=list(LEFT),
        html_action="return",
        prettify_tokens=False,
    ).data
    start = theirs.index("const params = ") + len("const params = ")
    expected, end = json.JSONDecoder().raw_decode(theirs, start)
    ours = Page(html(view)).data
    assert set(expected) - {"default_filter"} <= set(ours)
    assert ours["attention"][0]["left_text"] == expected["attention"][0]["left_text"]
    assert ours["attention"][0]["right_text"] == expected["attention"][0]["right_text"]
    drawn = np.array(ours["attention"][0]["attn"]) / PARTS
    assert np.allclose(drawn, expected["attention"][0]["attn"], atol=0.0005)
    assert ours["include_layers"] == [number + 1 for number in expected["include_layers"]]
    # After the line of the data comes their code, to the letter. (Their own page breaks at the token `</script>`.)
    assert theirs[end:].startswith("; // HACK")
    code = theirs[theirs.index("\n", end) : theirs.rindex("</script>")]
    assert drawing_code(view).strip().endswith(code.strip())


@pytest.mark.parametrize("view", VIEWS)
def test_on_dark_ground_the_views_are_dark_with_light_text(view: View) -> None:
    light, dark = html(view), html(view, dark=True)
    assert (Page(light).data["display_mode"], Page(dark).data["display_mode"]) == ("light", "dark")
    for text, back, color in (
        (light, resolved(BACKGROUND, False), resolved(INK, False)),
        (dark, resolved(BACKGROUND, True), resolved(INK, True)),
    ):
        assert f"body{{background:{back};color:{color};" in text
        assert f"text[fill='black']{{fill:{color}}}" in text


def test_layers_and_heads_count_from_one_on_the_screen() -> None:
    assert Page(html("head", layer=1)).data["layer"] == 2
    assert Page(html("model")).data["include_heads"] == [1, 2]
    one = {name: values[1:2] for name, values in tensors().items()}
    shown = ShownAttention(one["weights"], LEFT, RIGHT, [1], layer=1, head=1, vectors=(one["queries"], one["keys"]))
    only = bertviz_html("neuron", shown, "t")
    data = Page(only).data
    assert (data["numbers"], data["layer"], data["head"]) == ([2], 0, 1)
    assert ".text(params.numbers[i])" in drawing_code("neuron")
    assert ".text(i + 1)" in drawing_code("neuron")


def test_another_release_of_bertviz_is_noticed() -> None:
    with pytest.raises(RuntimeError, match="another than the one that was tested"):
        bertviz._changed("no such code", "params = PYTHON_PARAMS", "x")


def test_the_libraries_are_the_releases_that_bertviz_needs() -> None:
    for name, digest in RELEASE.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest
        assert (STATIC / f"{name.split('.')[0]}.LICENSE.txt").is_file()


def test_the_neuron_view_needs_queries_and_keys() -> None:
    with pytest.raises(ValueError, match="queries and keys"):
        bertviz_html("neuron", ShownAttention(tensors()["weights"], LEFT, RIGHT, [0, 1, 2]), "t")


def test_the_table_of_vectors_has_each_query_and_key_of_each_head_with_all_digits() -> None:
    given = tensors()
    queries, keys = given["queries"][1], given["keys"][1]  # (H, Q, E), (H, K, E)
    left, right = TokenAxis("a", "decoder", tuple(LEFT)), TokenAxis("b", "encoder", tuple(RIGHT))
    table = vectors_table(queries, keys, left, right)
    numbers = np.stack([table[f"dimension {i}"] for i in range(5)], axis=-1)  # (lines, E)
    for head in (1, 2):
        for name, axis, vectors in (("q", left, queries), ("k", right, keys)):
            lines = [
                i for i, found in enumerate(zip(table["head"], table["vector"], strict=True)) if found == (head, name)
            ]
            assert [table["token"][i] for i in lines] == list(axis.names)
            assert np.array_equal(numbers[lines], vectors[head - 1])
    assert len(table["head"]) == 2 * (len(LEFT) + len(RIGHT))
