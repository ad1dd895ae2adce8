"""Links to the Translate page: the sentence, the head and the translation that they show, and values that are wrong."""

import pytest

from app.library.tasks import EXAMPLES
from tests.support.decoding_page import healthy
from tests.support.drawn import components
from tests.support.translate_page import Open, head_of, words


def test_layer_head_and_kind_come_from_the_address(open_translate: Open) -> None:
    app = open_translate(kind="encoder", layer="2", head="4")
    assert head_of(app) == ("encoder", 2, 4)


def test_a_link_restores_the_head_whatever_the_page_opens_with(open_translate: Open) -> None:
    app = open_translate()  # layer and head are those that it opens with, for this kind
    opened = head_of(app)[1:]
    app.session_state["kind"] = "decoder"
    app.run()
    again = open_translate(**{key: str(app.query_params[key]) for key in app.query_params})
    assert head_of(again) == ("decoder", *opened)


def test_values_that_cannot_be_are_dropped_from_the_address(open_translate: Open) -> None:
    app = open_translate(kind="nonsense", layer="99", head="-1", checkpoint="../../etc/passwd", beam="1000")
    healthy(app)
    assert head_of(app)[0] == "cross"
    assert app.selectbox(key="checkpoint").value == "en-de"


def test_the_sentence_of_a_link_is_taken_and_then_out_of_the_address(open_translate: Open) -> None:
    app = open_translate(sentence="Where is the nearest train station?")
    healthy(app)
    assert app.text_input(key="sentence").value == "Where is the nearest train station?"
    assert "sentence" not in app.query_params


def test_a_link_with_an_empty_line_shows_the_first_example(open_translate: Open) -> None:
    app = open_translate(sentence="  ")
    healthy(app)
    assert f"Still shown: “{EXAMPLES['en'][0]}”" in words(app)
    assert components(app, "canvas_channel")


def test_a_link_restores_which_sentence_and_which_of_its_translations_are_shown(open_translate: Open) -> None:
    app = open_translate(
        sentence="The cat sat on the mat. Where is the nearest train station?", nth="2", alternative="3"
    )
    assert components(app, "translation_line")[0]["shown"] == 1
    assert components(app, "choice_list")[0]["chosen"] == 2
    assert (app.query_params["nth"], app.query_params["alternative"]) == ("2", "3")
    app.session_state["nth"] = app.session_state["alternative"] = 0
    app.run()
    assert not {"nth", "alternative"} & set(app.query_params)  # the first needs no word


@pytest.mark.parametrize("number", ["0", "99", "x", "-1", "²"])
def test_a_link_to_a_sentence_that_is_not_there_opens_with_the_first(open_translate: Open, number: str) -> None:
    app = open_translate(sentence="The cat sat. The dog ran.", nth=number, alternative=number)
    healthy(app)
    assert components(app, "choice_list")[0]["chosen"] == 0
