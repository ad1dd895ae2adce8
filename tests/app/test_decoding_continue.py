"""The Decoding page continues tokens that the visitor chose or typed, and shows which tokens are the visitor's."""

import math
from pathlib import Path

import numpy as np
import pytest

from app.figures.axes import in_words
from app.views.decoding.continue_section import _chosen
from app.views.decoding.frame_section import GIVEN
from tests.support.decoding_page import EXAMPLE, PARTS, Open, component, frame, healthy, searched
from tests.support.drawn import page_text
from tests.support.pages import switch_page
from transformer.config import EOS
from transformer.decoding.finished_search import path_to


def test_another_token_of_the_list_continues_in_one_line(open_decoding: Open, folder: Path) -> None:
    translator, found = searched(folder)
    ids = found.hypotheses[0].ids
    other = next(row for row in frame(open_decoding())["steps"][1]["rows"] if not row["chosen"] and row["id"] > EOS)
    prefix = (ids[0], other["id"])
    app = open_decoding(session={"beginning": prefix}, details="false")
    (expected,) = translator.translate_sentences([EXAMPLE], found.settings, prefix=prefix)
    assert f"With “{other['text']}” at step 2 instead: {expected.text}" in page_text(app)
    app.button(key="take_back").click().run()
    healthy(app)
    assert "at step 2 instead" not in page_text(app)


def test_taking_it_back_restores_the_translation_and_the_step(open_decoding: Open, folder: Path) -> None:
    _, found = searched(folder)
    ids = found.hypotheses[0].ids
    other = next(row for row in frame(open_decoding())["steps"][1]["rows"] if not row["chosen"] and row["id"] > EOS)
    prefix = (ids[0], other["id"])
    app = open_decoding(session={"beginning": prefix}, details="false", t="2", alternative="1")
    before = component(app, "translation_line")["text"]
    app.button(key="show_continued").click().run()
    healthy(app)
    assert component(app, "translation_line")["mark"]["words"] == "your translation"
    whys = [step["why"] for step in frame(app)["steps"]]
    assert [why.endswith(GIVEN) for why in whys] == [step == 1 for step in range(len(whys))]
    assert "The model wrote it by itself." in whys[0]
    assert len(whys) < 3 or "after the token that you chose at step 2" in whys[2]
    app.session_state["t"] = 0  # the reader walks on
    app.run()
    app.button(key="take_back").click().run()
    healthy(app)
    line = component(app, "translation_line")
    assert (line["text"], line["mark"]["words"]) == (before, "")
    assert component(app, "next_token")["step"] == 1
    assert "at step 2 instead" not in page_text(app)


def test_a_forced_prefix_is_continued_beside_the_free_translation(open_decoding: Open, folder: Path) -> None:
    translator, found = searched(folder)
    first = next(node for node in found.tree if node.outcome == "pruned" and node.step == 1 and node.token_id != EOS)
    prefix = (first.token_id, found.hypotheses[0].ids[1])
    app = open_decoding(PARTS[1], {"beginning": prefix})
    (expected,) = translator.translate_sentences([EXAMPLE], found.settings, prefix=prefix)
    assert component(app, "continued")["headline"] == expected.text
    assert component(app, "alone")["headline"] == found.text
    assert [chip["text"] for chip in component(app, "continued")["chips"]][:2] == [
        translator.tokenizer.token(id) for id in prefix
    ]
    app.button(key="take_back").click().run()
    for gone in ("continued", "search_continued_tree"):
        with pytest.raises(AssertionError, match="no component"):
            component(app, gone)


@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_the_search_from_a_forced_prefix_is_drawn_as_a_tree(open_decoding: Open, folder: Path, method: str) -> None:
    translator, found = searched(folder, method=method, n_best=1 if method == "greedy" else 3)
    first = next(node for node in found.tree if node.outcome == "pruned" and node.step == 1 and node.token_id != EOS)
    prefix = (first.token_id, found.hypotheses[0].ids[1])
    app = open_decoding(PARTS[1], {"beginning": prefix}, method=method)
    (expected,) = translator.translate_sentences([EXAMPLE], found.settings, keep_tree=True, prefix=prefix)
    drawn = component(app, "search_continued_tree")
    assert [(node["id"], node["parent"], node["outcome"]) for node in drawn["nodes"]] == [
        (node.id, node.parent, node.outcome) for node in expected.tree
    ]
    shares = [math.exp(node.log_probability) for node in expected.tree]
    assert [node["share"] for node in drawn["nodes"]] == pytest.approx(shares)
    way = path_to(expected.tree, expected.hypotheses[0].node or 0)
    assert tuple(node.token_id for node in way[:2]) == prefix
    assert {node["id"] for node in drawn["nodes"] if node["best"]} == {0, *(node.id for node in way)}
    assert drawn["chosen"] == way[2].id  # the first token that the model chose itself
    forced = way[0]
    app = open_decoding(PARTS[1], {"beginning": prefix, "continued_node": forced.id}, method=method)
    assert component(app, "search_continued_tree")["chosen"] == forced.id
    assert page_text(app).count("It is in the prefix.") == 1
    ended = open_decoding(PARTS[1], {"beginning": (*prefix, EOS)}, method=method)
    with pytest.raises(AssertionError, match="no component"):
        component(ended, "search_continued_tree")


def test_a_translation_can_be_ended_by_hand(open_decoding: Open, folder: Path) -> None:
    translator, _ = searched(folder)
    ids = tuple(translator.tokenizer.encode("the cat"))
    app = open_decoding(PARTS[1], {"beginning": (*ids, EOS)})
    expected = translator.score(EXAMPLE, "the cat")
    assert component(app, "continued")["headline"] == "the cat"
    assert [chip["share"] for chip in component(app, "continued")["chips"]] == pytest.approx(
        np.exp(expected.log_probabilities)
    )
    assert f"Ended by you after {len(ids)} tokens" in [heading.value for heading in app.subheader]
    at_start = component(open_decoding(PARTS[1], {"node": (0, 0)}, t="1"), "next_tokens")
    assert len(at_start["rows"]) == 6  # nothing is no translation
    assert "</s>" not in [row["text"] for row in at_start["rows"]]


def test_what_was_continued_is_shown_on_every_page(open_decoding: Open, folder: Path) -> None:
    translator, _ = searched(folder)
    prefix = tuple(translator.tokenizer.encode("the cat"))
    app = open_decoding(PARTS[1], {"beginning": (*prefix, EOS)})
    app.button(key="show_continued").click().run()
    healthy(app)
    switch_page(app, "hand").run()
    healthy(app)
    line = component(app, "translation_line")
    assert (line["text"], line["mark"]["words"]) == ("the cat", "your translation")
    switch_page(app, "decoding")
    app.session_state["part"] = "loop"
    app.run()
    healthy(app)
    assert component(app, "loop")["output"]["tokens"][0] == "<s>"
    ids = translator.score(EXAMPLE, "the cat").ids
    assert component(app, "loop")["chosen"] == in_words(translator.tokenizer.token(ids[0]))


def test_tokens_that_were_chosen_stay_these_tokens(open_decoding: Open, folder: Path) -> None:
    """Their text alone would be cut in the usual way: into other tokens, with other probabilities."""
    translator, _ = searched(folder)
    tokenizer = translator.tokenizer
    ids = {tokenizer.token(id): id for id in range(tokenizer.vocab_size)}
    chosen = tuple(ids[letter] for letter in "▁the▁cat")
    assert tuple(tokenizer.encode(tokenizer.decode(chosen))) != chosen
    wanted = [tokenizer.token(id) for id in (*chosen, EOS)]
    for prefix in ((*chosen, EOS), chosen):
        app = open_decoding(PARTS[1], {"beginning": prefix}, t=str(len(prefix)))
        continued = [chip["text"] for chip in component(app, "continued")["chips"]]
        assert continued[: len(chosen)] == wanted[:-1]
        if prefix[-1] == EOS:
            assert continued == wanted
        app.button(key="show_continued").click().run()
        healthy(app)
        assert "the search that found the model's translation" in " ".join(caption.value for caption in app.caption)
        app.session_state["part"] = "loop"
        app.run()
        healthy(app)
        read = component(app, "loop")["output"]["tokens"]
        assert read == ["<s>", *wanted[: len(prefix) - 1]]


def test_a_token_that_continues_a_node_is_the_visitors_and_no_token_before_it(
    open_decoding: Open, folder: Path
) -> None:
    """Also if the page is at another step."""
    _, found = searched(folder)
    ids = found.hypotheses[0].ids
    other = next(row for row in frame(open_decoding())["steps"][2]["rows"] if not row["chosen"] and row["id"] > EOS)
    app = open_decoding(session={"beginning": (*ids[:2], other["id"])}, details="false", t="1", alternative="1")
    app.button(key="show_continued").click().run()
    healthy(app)
    whys = [step["why"] for step in frame(app)["steps"]]
    assert [why.endswith(GIVEN) for why in whys] == [step == 2 for step in range(len(whys))]


def test_all_tokens_of_own_words_are_the_visitors() -> None:
    assert _chosen((5, 8, 9), (5, 6, 7, 3)) == (1, 2)
    assert _chosen((5, 6, 9), (5, 6, 7, 3)) == (2,)
    assert _chosen((5, 6), (5, 6, 7, 3)) == (1,)
    assert _chosen((5, 6, 7, 8), (5, 6)) == (2, 3)


def test_a_prefix_that_the_visitor_types_is_cleaned_and_forced(open_decoding: Open, folder: Path) -> None:
    app = open_decoding(PARTS[1], t="1")
    app.text_input(key="own_words").set_value("  „the\u200b cat ").run()
    healthy(app)
    translator, found = searched(folder)
    ids = translator.tokenizer.encode("„the cat")
    expected = [translator.tokenizer.token(id) for id in (found.hypotheses[0].ids[0], *ids)]
    assert [chip["text"] for chip in component(app, "continued")["chips"]][: len(expected)] == expected


def test_a_prefix_that_is_too_long_gets_an_error_message(open_decoding: Open) -> None:
    app = open_decoding(PARTS[1])
    app.text_input(key="own_words").set_value("the cat sat on the mat " * 8).run()
    healthy(app)
    assert "Type fewer words, or choose an earlier node." in page_text(app)
    app.button(key="take_back").click().run()
    healthy(app)
    assert "Type fewer words" not in page_text(app)
