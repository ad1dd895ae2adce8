"""One head by hand: the arithmetic adds up, left-out terms are counted, and the snippet runs with any tokens."""

import contextlib
import io
import math
import re
from typing import Any

import numpy as np
import pytest
import torch

from app.figures.attention_stages import plain, short, stages_alt, stages_figure, stages_table
from app.figures.axes import TokenAxis
from app.figures.mask_reasons import MaskReasons, forbidden_by, row_name, together
from app.views.hand.arithmetic import LARGEST_EXPONENT, ByHand, differences
from app.views.hand.hand_figures import (
    row_stages,
    terms_figure,
    terms_table,
    values_figure,
)
from app.views.hand.latex import TERMS, Writing, digits
from app.views.hand.matrix_products import matrix_products, products_table
from app.views.hand.numpy_snippet import numpy_snippet
from tests.support.drawn import checked, written
from transformer.analysis.batch_masks import mask_parts
from transformer.config import ModelConfig
from transformer.model.attention import attend
from transformer.model.probe import Probe

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "_a_ $x$ :red[b]",
    '"""\nimport os',
    "x\nraise SystemExit",
    "\\",
    "🙂",
)
NAMES = ["products", "scores", "masked_scores", "weights"]


def case(queries: int = 4, keys: int = 6, d_k: int = 8, seed: int = 0, scale: float = 1.0) -> tuple[ByHand, Any]:
    """The last query but one of a random head, and the tensors of `attend` for all queries."""
    random = np.random.default_rng(seed)
    q, k, v = (scale * random.normal(size=(n, d_k)).astype(np.float32) for n in (queries, keys, keys))
    mask = random.random((queries, keys)) < 0.7
    chosen = min(1, keys - 1)
    mask[:, chosen], mask[:, 2:3] = True, False
    probe = Probe([*NAMES, "mask"], NAMES)
    query, key, value, allowed = (torch.from_numpy(x)[None, None] for x in (q, k, v, mask))
    context = attend(query, key, value, allowed, probe)
    tensors = {name: value[0, 0].numpy() for name, value in probe.records.items()} | {"context": context[0, 0].numpy()}
    row = max(queries - 2, 0)
    return ByHand(q[row], k, v, mask[row], chosen), (tensors, row)


def printed(snippet: str) -> dict[str, str]:
    """What the snippet prints, run by itself."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(snippet, "snippet", "exec"), {})
    return {name.strip(): value.strip() for name, value in re.findall(r"(.+?)\s*= (.+)", output.getvalue())}


def axis(count: int, role: Any = "encoder") -> TokenAxis:
    return TokenAxis("Tokens", role, tuple((HOSTILE * count)[:count]))


@pytest.mark.parametrize("seed", range(4))
def test_every_intermediate_by_hand_is_the_tensors(seed: int) -> None:
    hand, (tensors, row) = case(seed=seed)
    for name in NAMES:
        np.testing.assert_allclose(getattr(hand, name), tensors[name][row], rtol=2e-5, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(hand.context, tensors["context"][row], rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(hand.with_sum[:-1].sum(axis=0), hand.with_sum[-1], rtol=0, atol=1e-12)
    assert (hand.weights[~hand.mask] == 0).all()
    rows = differences(hand, tensors, row)
    assert [found["site"] for found in rows] == [*NAMES, "context"]
    assert all(float(found["largest difference in the row"]) < 1e-5 for found in rows)


def test_a_difference_shows_where_there_is_one() -> None:
    hand, (tensors, row) = case()
    wrong = tensors | {"weights": tensors["weights"] + np.float32(0.01)}
    found = {r["site"]: r["largest difference in the row"] for r in differences(hand, wrong, row)}
    assert float(found["weights"]) == pytest.approx(0.01, rel=1e-3)


def test_scores_too_large_for_an_exponential_give_the_tensors_weights() -> None:
    hand, (tensors, row) = case(scale=20.0)
    assert np.abs(hand.masked_scores[hand.mask]).max() > LARGEST_EXPONENT
    assert hand.subtracted
    np.testing.assert_allclose(hand.weights, tensors["weights"][row], rtol=1e-3, atol=1e-6)
    assert "- " in Writing(hand, 0).softmax()
    positive, negative = (np.full((6, len(hand.query)), size / np.abs(hand.query).sum()) for size in (1000, -1000))
    for keys, sign in ((positive, "- "), (negative, "+ ")):
        written = Writing(ByHand(np.abs(hand.query), keys, hand.values, hand.mask, 1), 0)
        assert f" {sign}" in written.softmax()
        assert "- -" not in written.softmax() + written.summary()
    assert row_stages(hand)[3].name == "e^(score − largest)"


def test_a_query_that_may_attend_to_one_key_has_a_sum_over_1_key() -> None:
    hand, _ = case()
    alone = ByHand(hand.query, hand.keys, hand.values, np.arange(6) == 1, 1)
    assert "over 1 key}" in Writing(alone, 0).summary()
    assert "over 6 keys}" in Writing(ByHand(hand.query, hand.keys, hand.values, np.ones(6, bool), 1), 0).summary()


def test_a_fully_masked_query_has_weights_of_zero_and_a_snippet_that_runs() -> None:
    hand, _ = case()
    blind = ByHand(hand.query, hand.keys, hand.values, np.zeros_like(hand.mask), 1)
    assert (blind.weights == 0).all()
    assert (blind.context == 0).all()
    Writing(blind, 0).softmax()
    Writing(blind, 0).context(0)
    assert printed(numpy_snippet(blind, axis(4), axis(6), query=0, title="t"))["weight"] == "0"


@pytest.mark.parametrize("scale", [1e-4, 1.0, 2.6, 12.0])  # the last has its largest score subtracted
@pytest.mark.parametrize("d_k", [1, 8, 64])
def test_the_snippet_prints_the_numbers_of_the_page(d_k: int, scale: float) -> None:
    hand, (tensors, row) = case(d_k=d_k, scale=scale)
    for chosen in (1, int(np.argmin(np.where(hand.mask, hand.weights, 2)))):  # of the second the weight may be tiny
        this = ByHand(hand.query, hand.keys, hand.values, hand.mask, chosen)
        found = printed(numpy_snippet(this, axis(4, "decoder"), axis(6), query=row, title="Layer 1, head 1"))
        page = {
            "q·k": this.products[chosen],
            "score": this.scores[chosen],
            "masked": this.masked_scores[chosen],
            "e^(score - largest)" if this.subtracted else "e^score": this.exponentials[chosen],
            "sum": this.total,
            "weight": this.weights[chosen],
        }
        assert list(found) == [*page, "context"]
        for name, value in page.items():
            assert float(found[name].replace(",", "")) == pytest.approx(written(plain(value)), rel=1e-9, abs=0), name
        for name, site in (("q·k", "products"), ("score", "scores"), ("weight", "weights")):
            tensor = float(tensors[site][row, chosen])
            assert float(found[name].replace(",", "")) == pytest.approx(tensor, rel=1e-3, abs=6e-5)


def test_the_snippet_prints_four_digits_of_a_tiny_weight_as_the_page_does() -> None:
    one = np.ones(1, np.float32)
    hand = ByHand(one, np.array([[11.0], [-0.3]], np.float32), np.ones((2, 1), np.float32), np.ones(2, bool), 1)
    assert plain(hand.weights[1]) == "1.237×10⁻⁵"
    found = printed(numpy_snippet(hand, axis(1), axis(2), query=0, title="t"))
    assert (found["weight"], found["sum"]) == ("1.237e-05", "59,875")


def test_the_numbers_of_the_snippet_are_the_tensors_bit_for_bit() -> None:
    hand, _ = case(d_k=16)
    tiny = ByHand(hand.query * np.float32(1e-30), hand.keys * np.float32(3e7), hand.values, hand.mask, 1)
    names: dict[str, Any] = {}
    source = numpy_snippet(tiny, axis(4), axis(6), query=0, title="t").split("q, K, V = (")[0]
    exec(compile(source, "snippet", "exec"), names)
    for name, values in (("q", tiny.query), ("K", tiny.keys), ("V", tiny.values)):
        assert names[name].dtype == np.float32
        assert names[name].tobytes() == values.tobytes()
    assert names["mask"].tolist() == tiny.mask.tolist()


@pytest.mark.parametrize("token", HOSTILE)
def test_hostile_tokens_stay_in_their_comments(token: str) -> None:
    hand, (_, row) = case()
    axes = TokenAxis("Q", "decoder", (token,) * 4, (token,) * 4), TokenAxis("K", "encoder", (token,) * 6)
    snippet = numpy_snippet(hand, *axes, query=row, title="t")
    clean = numpy_snippet(hand, TokenAxis("Q", "decoder", ("a",) * 4, ("a",) * 4), axis(6), query=row, title="t")
    assert len(snippet.splitlines()) == len(clean.splitlines())
    strip = [line for line in snippet.splitlines() if not line.startswith("#")]
    assert strip == [line for line in clean.splitlines() if not line.startswith("#")]
    assert float(printed(snippet)["weight"]) == written(plain(hand.weights[1]))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.38041, "0.3804"), (12.3412, "12.34"), (-1.5, "-1.500"), (14923.4, "14{,}923"), (0.0, "0"), (1e-9, "10^{-9}")],
)
def test_numbers_are_written_with_four_digits(value: float, text: str) -> None:
    assert digits(value).endswith(text)
    assert digits(-np.inf) == r"-\infty"
    assert plain(-np.inf) == "−∞"
    assert plain(0.00001234) == "1.234×10⁻⁵"


def test_where_cells_are_narrow_their_numbers_are_short() -> None:
    values = (0.00022834, -16.13, 0.998, 1.2e-7, 9461.3, True, False, -np.inf, 0.0)
    texts = [short(value) for value in values]
    assert texts == ["0.0002", "−16", "0.998", "1×10⁻⁷", "9,461", "yes", "no", "−∞", "0"]
    assert max(map(len, texts)) <= 6
    hand, _ = case()
    figure = stages_figure(row_stages(hand), axis(len(hand.weights)), hand.mask, title="t")
    for trace in (each for each in figure.data if each.get("mode") == "text"):
        assert len(trace["meta"]["short"]) == len(trace["text"])
        assert trace["meta"]["columns"] == len(row_stages(hand))


def numbers(latex: str) -> list[float]:
    """All plain numbers in brackets: the factors, and the sum of the left-out terms."""
    bare = re.sub(r"\\textcolor\{#[0-9a-f]{6}\}\{([^{}]*)\}", r"\1", latex)
    return [float(found) for found in re.findall(r"\((-?[0-9.]+)\)", bare)]


def test_the_written_terms_and_the_sum_of_the_others_add_up_to_the_product() -> None:
    hand, _ = case(d_k=32)
    written = Writing(hand, 2).product()
    found = numbers(written)
    assert rf"\text{{and {32 - TERMS} more, together}}" in written
    pairs = [a * b for a, b in zip(found[:-1:2], found[1:-1:2], strict=True)]
    assert len(pairs) == TERMS
    assert sum(pairs) + found[-1] == pytest.approx(float(hand.products[1]), abs=0.01)
    assert [abs(pair) for pair in pairs] == pytest.approx(sorted(map(abs, pairs), reverse=True), abs=0.001)
    assert f"= {digits(float(hand.products[1]))}" in written


def test_all_terms_can_be_written_out() -> None:
    hand, _ = case(d_k=32)
    written = Writing(hand, 2, terms=None).product()
    assert "more, together" not in written
    assert len(numbers(written)) == 64


def test_the_exponentials_are_those_of_keys_that_may_be_attended_to() -> None:
    hand, _ = case(keys=6, seed=3)
    assert not hand.mask.all()
    written = Writing(hand, 2, terms=None).softmax()
    assert written.count(r"\underset") == hand.mask.sum()
    assert r"\infty" not in Writing(hand, 2).summary()
    forbidden = ByHand(hand.query, hand.keys, hand.values, hand.mask, int(np.flatnonzero(~hand.mask)[0]))
    assert r"-\infty" in Writing(forbidden, 2).summary()
    assert r"\mathbf{0}" in Writing(forbidden, 2).summary()


@pytest.mark.parametrize("scale", [1.0, 2.6, 30.0])  # scores around 1, 15 and (with the largest subtracted) 1,000
def test_a_calculator_gets_the_exponentials_that_are_written(scale: float) -> None:
    hand, _ = case(scale=scale)
    exponent, e = re.findall(r"e\^\{([-0-9. ]+)\} & = ([^&]+) &", Writing(hand, 2).summary())[0]
    mantissa, _, power = e.replace(" ", "").partition(r"\cdot10^")
    written = float(mantissa) * 10.0 ** int(power.strip("{}") or 0)
    assert math.exp(sum(float(part) for part in exponent.replace("- ", "-").split())) == pytest.approx(
        written, rel=3e-4
    )


def near_1(apart: float = 0.00005) -> ByHand:
    """Three keys, of which the first has all but `apart` of the weight."""
    keys = np.array([[10.0], [10.0 + math.log(apart / 2)], [10.0 + math.log(apart / 2)]], np.float32)
    return ByHand(np.ones(1, np.float32), keys, np.ones((3, 1), np.float32), np.ones(3, bool), 0)


@pytest.mark.parametrize("apart", [0.00005, 0.000001])
def test_a_weight_that_is_not_1_is_written_with_the_digits_that_say_so(apart: float) -> None:
    hand = near_1(apart)
    for latex in (Writing(hand, 0).summary(), Writing(hand, 0).softmax()):
        (weight,) = re.findall(r"\\mathbf\{([0-9.]+)\}", latex)
        assert float(weight) == pytest.approx(hand.weights[0], abs=apart / 10)
        assert float(weight) < 1
    e, total = (
        float(number.replace("{,}", ""))
        for number in re.findall(r"([0-9.{},]+) / ([0-9.{},]+) & = ", Writing(hand, 0).summary())[-1]
    )
    assert e / total == pytest.approx(hand.weights[0], abs=apart / 5)  # so a calculator gets it, too
    assert float(printed(numpy_snippet(hand, axis(1), axis(3), query=0, title="t"))["weight"]) == float(weight)
    assert plain(hand.weights[0]).startswith("0.99")
    assert short(hand.weights[0]) == ">0.99"


def test_each_factor_of_a_term_is_named_below_it() -> None:
    hand, _ = case(d_k=32)
    written = Writing(hand, 2).product()
    for i in hand.order[:TERMS]:
        for name in (f"q_{{3,{i}}}", f"k_{{{hand.chosen + 1},{i}}}"):
            assert re.search(
                rf"\\underset\{{\\textstyle \\textcolor\{{#[0-9a-f]+\}}\{{{re.escape(name)}\}}\}}", written
            ), name


def test_no_formula_holds_a_token() -> None:
    hand, _ = case()
    writing = Writing(hand, 1)
    for latex in (writing.summary(), writing.product(), writing.scale(), writing.mask(), writing.softmax()):
        assert "script" not in latex
        assert latex.count("{") == latex.count("}")


@pytest.mark.parametrize(("queries", "keys", "d_k"), [(4, 6, 8), (1, 1, 1), (3, 60, 64)])
def test_the_pictures_draw_the_numbers(queries: int, keys: int, d_k: int) -> None:
    hand, _ = case(queries, keys, d_k)
    columns = axis(keys)
    terms = checked(terms_figure(hand, title="t"))
    assert np.array_equal(np.asarray(terms.data[2].y), hand.terms[hand.order].astype(np.float32))
    assert np.asarray(terms.data[3].y)[-1] == pytest.approx(hand.products[hand.chosen], rel=1e-5)
    assert np.array_equal(terms_table(hand)["dimension"], hand.order)
    values = checked(values_figure(hand, columns, title="t"))
    assert np.array_equal(np.asarray(values.data[0].z), hand.with_sum.astype(np.float32))
    assert len(values.layout.yaxis.ticktext) == len(columns) + 1
    stages = row_stages(hand)
    figure = checked(stages_figure(stages, columns, hand.mask, title="t", chosen=0))
    drawn = np.asarray(figure.data[0].z)[:, -1]
    assert np.array_equal(drawn[hand.mask], hand.weights[hand.mask].astype(np.float32))
    assert np.isnan(drawn[~hand.mask]).all()
    assert np.array_equal(~np.isnan(np.asarray(figure.data[1].z))[:, 2], ~hand.mask)
    assert figure.data[2].text[2 * len(columns) : 3 * len(columns)].count("−∞") == (~hand.mask).sum()
    assert np.array_equal(stages_table(stages, columns)["weight"], hand.weights)
    first = (
        f"t. The first 40 of {len(columns)} keys: 1 " if len(columns) > 40 else f"t. Each of {len(columns)} keys: 1 "
    )
    assert stages_alt(stages, columns, "t").startswith(first)


def test_hostile_tokens_are_drawn_letter_by_letter() -> None:
    hand, _ = case(6, 6)
    stages = checked(stages_figure(row_stages(hand), axis(6), hand.mask, title="<b>t</b>"))
    for text in (stages.layout.title.text, *stages.layout.yaxis.ticktext):
        assert "<img" not in text
        assert "<b>t" not in text


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_no_parameter_has_the_length_of_a_sentence_in_its_shape(kind: Any) -> None:
    products = matrix_products(kind)
    assert [each.b.shape for each in products if each.b.name.startswith("W")] == ["D × E"] * 3
    for a, b, c in ((each.a, each.b, each.c) for each in products):  # each is a product that can be taken
        assert a.columns == b.rows
        assert (c.rows, c.columns) == (a.rows, b.columns)


def test_in_cross_attention_queries_are_of_the_decoder_and_keys_of_the_encoder() -> None:
    table = products_table("cross", {"S": 7, "T": 5, "D": 32, "E": 8})
    assert table["product"][:2] == ["decoder's x · W^Q = Q", "encoder's output · W^K = K"]
    assert table["shapes"][:2] == ["(T × D) · (D × E) = T × E", "(S × D) · (D × E) = S × E"]
    assert table["numbers"][3] == "(5 × 8) · (8 × 7) = 5 × 7"


CONFIG = ModelConfig(vocab_size=20, d_model=8, heads=2, attention_window=2)


@pytest.mark.parametrize(
    ("kind", "query", "key", "parts", "reason"),
    [
        ("decoder", 2, 1, [], "already been written. It is 1 position away, and the attention window"),
        ("decoder", 1, 0, [], "where every translation starts"),
        ("decoder", 2, 2, [], "the same position"),
        ("encoder", 0, 2, [], "before the encoder begins. It is 2 positions away, and the attention window"),
        ("decoder", 0, 2, ["causal"], "has not been written yet"),
        ("decoder", 4, 1, ["padding", "window"][1:], "3 positions away"),
        ("decoder", 2, 5, ["padding", "causal", "window"], "padding"),
        ("encoder", 5, 5, ["padding"], "padding, put there"),
        ("encoder", 0, 3, ["padding", "window"], "r = 2"),
        ("cross", 0, 2, [], "before the first token of the translation is written."),
        ("cross", 5, 3, ["padding"], "padding itself"),
    ],
)
def test_a_sentence_says_who_may_attend_to_whom_and_why_not(
    kind: Any, query: int, key: int, parts: list[str], reason: str
) -> None:
    source, target = (5, 6, 3, 0, 0, 0), (2, 5, 6, 7, 8, 0)
    found = mask_parts(CONFIG, source, target, kind)
    assert forbidden_by(found, query, key) == parts
    rows, columns = (source if kind == "encoder" else target), (target if kind == "decoder" else source)
    real = sum(id != 0 for id in rows)
    queries, keys = axis(len(rows), "encoder" if kind == "encoder" else "decoder"), axis(len(columns))
    text = MaskReasons(together(found), found, queries, keys, 2, real).of_cell(query, key)
    assert text.startswith(row_name(queries, query) + " may ")
    assert reason in text
    assert ("may not attend" in text) == bool(parts)
    assert ("padding itself" in text) == (query >= real)


def test_a_cell_that_an_edit_allows_or_forbids_is_not_explained_by_the_mask_of_the_paper() -> None:
    parts = mask_parts(CONFIG, (5, 6, 3), (2, 5, 6), "decoder")
    mask = together(parts).copy()
    mask[0, 2], mask[1, 0], mask[2] = True, False, False
    reasons = MaskReasons(mask, parts, axis(3, "decoder"), axis(3), window=2)
    assert reasons.of_cell(0, 2).endswith("An edit allows it.")
    assert "may attend" in reasons.of_cell(0, 2)
    assert "may not attend" in reasons.of_cell(1, 0)
    assert reasons.of_cell(1, 0).endswith("An edit forbids it.")
    assert "is fully masked" in reasons.of_cell(2, 2)


def test_a_fully_masked_row_is_named() -> None:
    parts = mask_parts(CONFIG, (5, 6, 3, 0, 0, 0), (2,), "encoder")
    reasons = MaskReasons(together(parts), parts, axis(6), axis(6), window=2)
    assert "is fully masked" in reasons.of_cell(5, 0)
    assert "is fully masked" not in reasons.of_cell(4, 0)
