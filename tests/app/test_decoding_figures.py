"""The figures of the Decoding page: they draw the numbers they are given, and text stays text."""

import math
from typing import Any

import numpy as np
import pytest

from app.figures.axes import TokenAxis
from app.figures.distribution import (
    LETTER,
    distribution_alt,
    distribution_bars,
    distribution_table,
    entropy_bits,
    offers,
    softmax,
)
from app.figures.theme import score_text
from app.figures.two_percents import percent
from app.views.decoding.frame_data import Step, beams_data, end_data, step_data
from app.views.decoding.lens_figures import Seen, closeness, lens_alt, lens_table, lens_wall, rank_text
from app.views.decoding.loop_data import (
    DecodingStep,
    Sizes,
    bytes_text,
    cache_table,
    cached_numbers,
    loop_picture,
    weights_table,
)
from app.views.decoding.penalty_chart import letters, penalty_alt, penalty_lines, worth_showing
from app.views.decoding.tree_data import attended_tokens, tree_picture, tree_rows, tree_table
from app.views.shared.text_difference import difference, difference_data, difference_table, words
from tests.support.drawn import checked
from transformer.decoding.translation import SearchNode

HOSTILE = "</script><img src=x onerror=alert(1)>"
LOGITS = np.array([0.5, -1.0, 2.0, 0.0, 3.0, 2.0], dtype=np.float32)
SIZES = Sizes(encoder_layers=2, layers=3, heads=4, d_model=32, d_k=8, vocabulary=100)


def piece(id: int) -> str:
    return f"▁p{id}"


def writer(*predicts: str) -> TokenAxis:
    return TokenAxis("German", "decoder", ("<s>", *predicts[:-1]), predicts)


TREE = [
    SearchNode(0, None, 0, 1, "<s>", 0.0, 0.0, 0.0, "start", "Because."),
    SearchNode(1, 0, 1, 5, "▁a", -0.5, -0.5, -0.5, "kept", "Because."),
    SearchNode(2, 0, 1, 6, "▁b", -0.2, -0.2, -0.2, "pruned", "Because."),
    SearchNode(3, 1, 2, 3, "</s>", -1e-9, -0.5, -0.45, "finished", "Because."),
    SearchNode(4, 1, 2, 7, HOSTILE, -2.0, -2.5, -2.3, "pruned", "Because."),
]


# -- the distribution


@pytest.mark.parametrize("temperature", [0.1, 1.0, 2.5])
def test_temperature_is_softmax_of_logits_divided_by_it(temperature: float) -> None:
    powers = [math.exp(float(value) / temperature) for value in LOGITS]
    expected = [power / sum(powers) for power in powers]
    assert softmax(LOGITS, temperature) == pytest.approx(expected)
    entropy = -sum(p * math.log2(p) for p in expected)
    assert entropy_bits(LOGITS, temperature) == pytest.approx(entropy, abs=1e-12)


def test_the_bars_are_the_best_tokens_then_the_chosen_one_in_the_last_place_then_all_others() -> None:
    found = offers(LOGITS, 1, piece, count=2)
    assert [(offer.id, offer.rank) for offer in found] == [(4, 1), (1, 6)]
    figure = checked(distribution_bars(found, len(LOGITS), title="t"))
    drawn = np.asarray(figure.data[0].x)
    p = softmax(LOGITS)
    assert drawn == pytest.approx([p[4], p[1], p[0] + p[2] + p[3] + p[5]])
    assert sum(drawn) == pytest.approx(1)
    assert "chosen · rank 6" in figure.data[0].text[1]
    assert "chosen" not in figure.data[0].text[0]


@pytest.mark.parametrize("allowed", [None, np.arange(6) == 4])
def test_every_label_has_room_after_its_bar(allowed: np.ndarray | None) -> None:
    logits = LOGITS + 40 * (np.arange(6) == 4) * (allowed is None)
    figure = checked(distribution_bars(offers(logits, 4, piece, count=2, allowed=allowed), 6, title="t"))
    ends = np.maximum(*(np.asarray(figure.data[trace].x) for trace in (0, -1)))
    assert figure.data[0].text[0].endswith("100% · chosen" if allowed is not None else ">99.99% · chosen")
    for end, text in zip(ends, figure.data[0].text, strict=True):
        assert end / figure.layout.xaxis.range[1] + LETTER * len(text) <= 1 + 1e-9


def test_the_bars_and_the_frame_write_a_step_with_the_same_digits() -> None:
    logits = np.random.default_rng(0).normal(size=40) * 3
    texts = checked(distribution_bars(offers(logits, int(logits.argmax()), piece, count=9), 40, title="t")).data[0].text
    frame = step_data(Step(logits, int(logits.argmax()), "Because."), piece)
    assert [text.split(" ·")[0] for text in texts] == [
        *(row["number"] for row in frame["rows"]),
        frame["rest"]["9"]["number"],
    ]


def test_tokens_of_equal_logits_share_a_rank_and_both_are_drawn() -> None:
    assert [(offer.id, offer.rank) for offer in offers(LOGITS, 4, piece, count=3)] == [(4, 1), (2, 2), (5, 2)]


def test_a_token_that_sampling_leaves_out_has_a_pattern_and_the_words_left_out() -> None:
    allowed = np.array([True, True, False, True, True, True])
    found = offers(LOGITS, 4, piece, count=3, allowed=allowed)
    figure = checked(distribution_bars(found, 6, title="t"))
    assert [offer.is_excluded for offer in found] == [False, True, False]
    assert list(figure.data[0].marker.pattern.shape) == ["", "/", "", "."]
    assert "may not be drawn" in figure.data[0].text[1]
    assert "may not be drawn" in distribution_alt(found, "t")


def test_the_share_of_a_token_that_sampling_may_choose_is_written_outlined_and_in_the_table() -> None:
    allowed = np.array([True, True, False, False, True, False])
    found = offers(LOGITS, 4, piece, count=3, allowed=allowed)
    p = softmax(LOGITS)
    expected = [p[4] / (p[0] + p[1] + p[4]), 0, 0]
    assert [offer.share for offer in found] == pytest.approx(expected)
    bars, outlines, ends = checked(distribution_bars(found, 6, title="t")).data
    assert np.asarray(bars.x) == pytest.approx([p[4], p[2], p[5], p[0] + p[1] + p[3]])
    assert np.asarray(outlines.x) == pytest.approx([*expected, 1 - expected[0]])
    assert np.asarray(ends.x) == pytest.approx(np.maximum(bars.x, outlines.x))
    assert [text.strip() for text in ends.text] == list(bars.text)
    assert bars.text[0] == f"{p[4]:.1%} → {expected[0]:.1%} · chosen"
    assert bars.text[1] == f"{p[2]:.1%} · may not be drawn"
    assert distribution_table(found)["share among the tokens that may be drawn"] == pytest.approx(expected)
    none_left = distribution_bars(offers(LOGITS, 4, piece, count=1, allowed=LOGITS == 3), 6, title="t")
    assert list(checked(none_left).data[0].text) == [
        f"{p[4]:.1%} → 100% · chosen",
        f"{1 - p[4]:.1%} · may not be drawn",
    ]
    assert len(distribution_bars(offers(LOGITS, 4, piece, count=3), 6, title="t").data) == 1


def test_hostile_tokens_are_drawn_letter_by_letter_in_the_distribution() -> None:
    found = offers(LOGITS, 4, lambda id: HOSTILE, count=2)
    figure = checked(distribution_bars(found, 6, title=HOSTILE))
    for text in (*figure.layout.yaxis.ticktext[:2], *figure.data[0].customdata[:2], figure.layout.title.text):
        assert "<img" not in text
        assert "<script" not in text
        assert "&lt;" in text


# -- the frame


@pytest.mark.parametrize(
    ("probability", "text"),
    [(1, ">99.99%"), (0.99996, ">99.99%"), (0.9997, "99.97%"), (0.9994, "99.9%"), (0.511, "51.1%"), (0.1, "10.0%"),
     (0.0314, "3.14%"), (0.001, "0.10%"), (0.00099, "0.099%"), (0.00001, "0.001%"), (0.000009, "<0.001%"),
     (0, "<0.001%")],
)  # fmt: skip
def test_percentages_have_enough_digits_to_distinguish_tokens(probability: float, text: str) -> None:
    assert percent(probability) == text


def test_what_is_shown_of_a_step_sums_to_1() -> None:
    logits = np.random.default_rng(0).normal(size=40).astype(np.float32)
    worst = int(logits.argmin())
    data = step_data(Step(logits, worst, "Because."), piece)
    p = softmax(logits)
    for count in (5, 9):
        shown = data["rows"][:count]
        if not any(row["chosen"] for row in shown):  # as the browser does
            shown[-1] = next(row for row in data["rows"] if row["chosen"])
        assert sum(row["p"] for row in shown) + data["rest"][str(count)]["p"] == pytest.approx(1)
        assert data["rest"][str(count)]["text"] == f"{40 - count} others"
    assert data["rows"][-1]["p"] == pytest.approx(p[worst])
    assert data["rows"][-1]["mark"] == "#40"


def test_a_token_of_another_hypothesis_is_marked_and_one_that_cannot_be_written_cannot_be_clicked() -> None:
    logits = np.array([5.0, 0, 0, 1, 4, 3], dtype=np.float32)
    data = step_data(Step(logits, 4, "Because.", others={4, 5}), piece, other_mark="kept")
    marks = {row["id"]: row["mark"] for row in data["rows"]}
    assert marks == {0: "never", 1: "never", 2: "never", 3: "", 4: "chosen", 5: "kept"}
    assert [row["id"] for row in data["rows"] if row["never"]] == [0, 1, 2]
    assert "Click to continue" in next(row["title"] for row in data["rows"] if row["id"] == 3)


def test_a_token_that_sampling_leaves_out_has_no_share() -> None:
    allowed = np.array([False, False, False, True, True, False])
    data = step_data(Step(LOGITS, 4, "Because.", allowed=allowed), piece, temperature=0.5)
    rows = {row["id"]: row for row in data["rows"]}
    assert rows[5]["mark"] == "left out"
    assert rows[5]["share"] == 0
    assert rows[3]["share"] + rows[4]["share"] == pytest.approx(1)
    p = softmax(LOGITS, 0.5)
    assert rows[4]["number"] == f"{percent(p[4])} → {percent(p[4] / (p[3] + p[4]))}"


def test_the_hypotheses_of_a_step_are_the_kept_ones_best_first() -> None:
    data = beams_data(TREE, {0, 1, 3}, 2, "t", 4)
    names = [[data["nodes"][place]["text"] for place in places] for places in data["alive"]]
    assert names == [["▁a"], ["</s>"]]
    assert data["nodes"][data["alive"][1][0]]["ended"]
    assert all(node["best"] for node in data["nodes"])


def test_at_the_end_the_finished_hypotheses_are_first_by_score_also_those_of_earlier_steps() -> None:
    tree = [
        *TREE,
        SearchNode(5, 1, 2, 8, "▁c", -0.6, -1.1, -1.0, "kept", "Because."),
        SearchNode(6, 5, 3, 3, "</s>", -0.1, -1.2, -0.4, "finished", "Because."),  # a better score, a worse sum
        SearchNode(7, 5, 3, 9, "▁d", -0.2, -1.3, -1.1, "stopped", "Because."),
    ]
    nodes = beams_data(tree, {0, 1, 5, 6}, 3, "t", 4)["nodes"]
    listed = end_data(tree, 4)
    assert [each["number"] for each in listed] == [
        "finished, score −0.400",
        "finished, score −0.450",
        "unfinished, sum −1.30",
    ]
    assert [nodes[each["node"]]["sum"] for each in listed] == ["−1.20", "−0.50", "−1.30"]
    assert len(end_data(tree, 2)) == 2
    assert end_data(TREE[:3], 4) == []


# -- the loop


def test_the_cache_grows_by_one_row_a_step_in_every_layer_and_head() -> None:
    assert cached_numbers(SIZES, 1) == 2 * 3 * 4 * 8
    assert [cached_numbers(SIZES, t + 1) - cached_numbers(SIZES, t) for t in range(4)] == [192] * 4
    table = cache_table(writer("▁x", "▁y", "</s>"), 5, SIZES)
    assert list(table["bytes"]) == [768, 1536, 2304]
    assert list(table["bytes, once"]) == [4 * 192 * 5] * 3
    assert list(table["K and V of the output, each"])[1] == "3 × 4 × 2 × 8"


def test_the_loop_shows_what_was_read_and_not_what_is_to_come() -> None:
    source = TokenAxis("English", "encoder", ("▁e", "</s>"))
    step = DecodingStep(1, np.array([0.75, 0.25]), np.array([0.4, 0.6]), layer=0, head=1, probability=(0.5, 0.6))
    data = loop_picture(source, writer("▁x", "▁y", "</s>"), step, SIZES)
    assert data["output"]["tokens"] == ["<s>", "x"]
    assert data["output"]["weights"] == [0.4, 0.6]
    assert data["source"]["weights"] == [0.75, 0.25]
    assert "Layer 1, head 2 attends most to e of the source, with 0.75." in data["alt"]
    assert (data["own"]["filled"], data["own"]["room"], data["own"]["newest"]) == (2, 3, 1)
    assert (data["cross"]["filled"], data["cross"]["room"]) == (2, 2)
    assert (data["chosen"], data["probability"]) == ("y", "50.0%")
    assert not data["last"]


def test_the_weights_under_the_tokens_are_a_table_too() -> None:
    source = TokenAxis("English", "encoder", (HOSTILE, "</s>"))
    table = weights_table(source, writer("▁x", "▁y", "</s>"), np.array([0.75, 0.25]), np.array([0.4, 0.6]))
    assert list(table["token"]) == [HOSTILE, "</s>", "<s>", "▁x"]
    assert list(table["number"]) == [1, 2, 1, 2]
    assert list(table["weight"]) == [0.75, 0.25, 0.4, 0.6]
    assert [text[:7] for text in table["attention"]] == ["encoder", "encoder", "decoder", "decoder"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(384, "384 B"), (98_304, "98.3 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (1_572_864, "1.57 MB")],
)
def test_sizes_are_written_with_units(count: int, text: str) -> None:
    assert bytes_text(count) == text


# -- the tree


def test_kept_candidates_are_above_the_others_in_a_column() -> None:
    assert tree_rows(TREE) == {0: 0, 1: 0, 2: 1, 3: 0, 4: 1}


def test_the_tree_draws_every_candidate_with_its_numbers() -> None:
    probabilities = [math.exp(node.log_probability) for node in TREE]
    data = tree_picture(TREE, {0, 1, 3}, 4, probabilities, title="t")
    assert [node["id"] for node in data["nodes"]] == [0, 1, 2, 3, 4]
    assert [node["best"] for node in data["nodes"]] == [True, True, False, True, False]
    assert data["nodes"][4]["numbers"] == "Σ −2.50 · −2.30"
    assert data["nodes"][4]["probability"] == "14%"
    assert data["nodes"][2]["sign"] == "✕"
    table = tree_table(TREE, probabilities, {0, 1, 3})
    assert list(table["sum"]) == [node.sum for node in TREE]
    assert list(table["why"])[1] == "Because."
    assert list(table["token"])[4] == HOSTILE


def test_the_pruned_can_be_left_out_but_never_the_chosen_one() -> None:
    data = tree_picture(TREE, {0, 1, 3}, 4, [1.0] * 5, title="t", pruned=False)
    assert [node["id"] for node in data["nodes"]] == [0, 1, 3, 4]


@pytest.mark.parametrize("score", [-0.0, -1e-9, -0.004])
def test_no_score_is_minus_zero(score: float) -> None:
    assert score_text(score) == "0.00"


def test_the_bars_under_the_source_are_the_attention_weights_of_the_node() -> None:
    source = TokenAxis("English", "encoder", ("▁e", HOSTILE))
    chips = attended_tokens(source, np.array([0.125, 0.875]), "l")["chips"]
    assert [chip["share"] for chip in chips] == [0.125, 0.875]


# -- the lens


def seen() -> Seen:
    ranks = np.array([[100, 50], [3, 1], [1, 1]])
    probabilities = np.array([[0.001, 0.002], [0.2, 0.5], [0.6, 0.9]])
    tops = [["▁u", HOSTILE], ["▁v", "▁y"], ["▁x", "▁y"]]
    return Seen(ranks, probabilities, tops, np.array([[0.3, 0.4], [0.5, 0.5], [0.6, 0.9]]), writer("▁x", "▁y"), 100)


def test_the_wall_is_coloured_by_the_logarithm_of_the_rank() -> None:
    assert closeness(np.array([1, 10, 100]), 100) == pytest.approx([1, 0.5, 0])
    figure = checked(lens_wall(seen(), step=1, title="t"))
    assert np.asarray(figure.data[0].z) == pytest.approx(closeness(seen().ranks, 100))
    assert list(figure.data[1].text) == ["100", "50", "3", "1", "1", "1"]
    assert list(figure.layout.yaxis.ticktext) == ["input", "layer 1", "layer 2"]
    assert figure.data[0].meta == {"clicks": True}
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (0.5, 1.5)


def test_the_cells_may_name_the_most_probable_token_letter_by_letter() -> None:
    figure = checked(lens_wall(seen(), step=0, title="t", show_tokens=True))
    assert "&lt;/script" in figure.data[1].text[1]
    assert "<script" not in str(figure.data[0].text)


def test_a_long_wall_has_no_lines_between_cells_and_fewer_names() -> None:
    n = 100
    many = Seen(np.ones((3, n)), np.ones((3, n)), [["▁lang"] * n] * 3, np.ones((3, n)), writer(*["▁lang"] * n), 100)
    figure = checked(lens_wall(many, step=0, title="t"))
    assert figure.data[0].xgap == 0
    assert list(figure.layout.xaxis.tickvals) == list(range(0, n, 2))


def test_tokens_are_cut_to_their_cells() -> None:
    n = 20
    wide = Seen(np.ones((1, n)), np.ones((1, n)), [["▁gewohnt"] * n], np.ones((1, n)), writer(*["▁x"] * n), 100)
    assert set(checked(lens_wall(wide, step=0, title="t", show_tokens=True)).data[1].text) == {"gewo…"}


def test_the_text_of_the_lens_says_from_which_layer_on_a_token_is_ranked_first() -> None:
    assert "1 reads <s>, predicts ▁x: leads from layer 2 on" in lens_alt(seen(), "t")
    assert "predicts ▁y: leads from layer 1 on" in lens_alt(seen(), "t")
    assert list(lens_table(seen())["rank"])[3:] == [50, 1, 1]
    assert len(lens_table(seen())["rank"]) == 6


@pytest.mark.parametrize(("rank", "text"), [(1, "1"), (999, "999"), (3140, "3k"), (15_999, "16k")])
def test_ranks_fit_their_cells(rank: int, text: str) -> None:
    assert rank_text(rank) == text


# -- the length penalty


def test_hypotheses_are_ranked_by_score_and_the_winner_is_labelled() -> None:
    scores = np.array([[-1.0, -3.0], [-2.0, -2.0]])  # the first wins at alpha 0, the second at 1
    for at, winner in ((0, "A"), (1, "B")):
        figure = checked(penalty_lines(scores, [0.0, 1.0], ["A", "B"], at, title="t"))
        lines = {trace.hovertemplate[0]: list(trace.y) for trace in figure.data if trace.mode == "lines"}
        assert lines == {"A": [1, 2], "B": [2, 1]}
        labels = [
            text for trace in figure.data if trace.mode == "markers+text" for text in trace.text if "wins" in text
        ]
        assert len(labels) == 1
        assert labels[0].strip().startswith(winner)
        (side,) = [t.textposition[1] for t in figure.data if t.mode == "markers+text" and "wins" in t.text[1]]
        assert side == ("top right" if at == 0 else "top left")  # beside the line that marks α, not across it
    assert penalty_alt(scores[:, 1], ["A", "B"], "t") == "t: B −2.000, A −3.000."


def test_all_that_win_somewhere_are_shown() -> None:
    scores = np.array([[-1.0, -9.0], [-2.0, -8.0], [-3.0, -7.0], [-4.0, -1.0]])
    assert worth_showing([scores], 2) == [0, 3]
    assert worth_showing([scores], 3) == [0, 1, 3]
    assert worth_showing([scores, scores], 99) == [0, 1, 2, 3]


def test_there_is_a_name_for_every_hypothesis() -> None:
    assert len(set(letters(60))) == 60


# -- the difference


def test_words_are_equal_changed_missing_or_added() -> None:
    found = difference("Wo ist der nächste Bahnhof hier?", "Wo ist die nächste Station?")
    assert found == [
        ("equal", "Wo ist", "Wo ist"),
        ("changed", "der", "die"),
        ("equal", "nächste", "nächste"),
        ("changed", "Bahnhof hier", "Station"),
        ("equal", "?", "?"),
    ]
    assert difference("a b", "a b c")[-1] == ("added", "", "c")
    assert difference("a b c", "a c")[1] == ("missing", "b", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's twenty-one.", ["It's", " twenty-one", "."]),
        ("", []),
        ("東京 is", ["東", "京", " is"]),
        ("<b>x</b>", ["<", "b", ">", "x", "<", "/", "b", ">"]),
    ],
)
def test_punctuation_and_letters_without_spaces_are_words_of_their_own(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("मैं हिन्दी बोलता हूँ।", ["मैं", " हिन्दी", " बोलता", " हूँ", "।"]),
        ("தமிழ் மொழி", ["தமிழ்", " மொழி"]),
        ("שָׁלוֹם, עוֹלָם", ["שָׁלוֹם", ",", " עוֹלָם"]),
        ("cafe\u0301 noir", ["cafe\u0301", " noir"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("กั้น", ["กั้", "น"]),
        ("か\u3099", ["か\u3099"]),
    ],
)
def test_combining_marks_belong_to_the_character_before_them(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_changed_vowel_sign_of_hindi_changes_one_word() -> None:
    data = difference_data("वह हिन्दी बोलता है", "वह हिन्दी बोलती है", label="l")
    assert data["summary"] == "3 words equal, 1 changed, 0 missing, 0 added."


@pytest.mark.parametrize("text", ["Ja.", "a  b", HOSTILE, "", "_a_ $x$ :red[b]", "the the the"])
def test_nothing_of_either_text_is_lost(text: str) -> None:
    for reference in ("", "the a b", text):
        stretches = difference(reference, text)
        assert "".join(new for _, _, new in stretches).replace(" ", "") == text.replace(" ", "")
        assert "".join(old for _, old, _ in stretches).replace(" ", "") == reference.replace(" ", "")
        if text == reference:
            assert {what for what, _, _ in stretches} <= {"equal"}


def test_every_change_is_named_in_words_too() -> None:
    data: dict[str, Any] = difference_data("a b c", "a x c d", label="l")
    assert [stretch["mark"] for stretch in data["stretches"]] == ["", "changed", "", "+ added"]
    assert data["summary"] == "2 words equal, 1 changed, 0 missing, 1 added."
    assert str(difference_data("a", "a", label="l")["summary"]).startswith("1 word equal")
    assert list(difference_table("a b", "b", ("old", "new"))["old"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("l'été, well-known", ["l'été", ",", " well-known"]), ("T-シャツ", ["T", "-", "シ", "ャ", "ツ"])],
)
def test_characters_of_scripts_without_spaces_are_words_also_after_a_hyphen(text: str, found: list[str]) -> None:
    assert words(text) == found
