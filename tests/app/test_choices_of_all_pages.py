"""Choices that all pages share: pages that show a stack share the kind of attention with those that show a head."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.drawn import components, switches
from tests.support.pages import switch_page

Open = Callable[..., AppTest]


def address(app: AppTest, key: str) -> str:
    found = app.query_params[key]
    return found if isinstance(found, str) else found[0]


def stack(app: AppTest) -> str:
    (found,) = switches(app)
    assert found["name"] == "stack"
    return str(found["texts"][found["chosen"]]).lower()


@pytest.mark.parametrize("page", ["positions"])
@pytest.mark.parametrize(("kind", "shown"), [("encoder", "encoder"), ("decoder", "decoder"), ("cross", "decoder")])
def test_the_stack_is_the_one_with_the_queries_of_the_chosen_attention(
    open_app: Open, page: str, kind: str, shown: str
) -> None:
    app = open_app(page, sentence="the cat", kind=kind, details="true")
    assert stack(app) == shown
    (picker,) = components(app, "token_picker")
    assert ("second" in picker) == (shown == "decoder")


def test_of_the_decoding_page_only_the_parts_with_steps_and_heads_ask_for_them(open_app: Open) -> None:
    app = open_app("decoding", sentence="the cat", details="true")
    for part, head, step in (("loop", True, True), ("lens", False, True), ("methods", False, False)):
        app.button_group(key="part").set_value(part).run()
        assert [each["disabled"] for each in switches(app)] == [not head, not head], part
        assert components(app, "token_picker")[0]["disabled"] != step, part


@pytest.mark.parametrize("page", ["positions", "residual", "decoding", "attention", "scaling", "training", "models"])
def test_what_is_chosen_is_in_the_address_of_every_page(open_app: Open, page: str) -> None:
    chosen = {"kind": "decoder", "layer": "2", "head": "3", "t": "2", "s": "3", "k": "1"}
    app = open_app(sentence="the cat", **chosen)
    for key in chosen:
        del app.query_params[key]  # as Streamlit does on the way to another page
    switch_page(app, page).run()
    assert {key: address(app, key) for key in chosen} == chosen


def test_a_head_in_the_link_to_a_page_that_shows_none_is_chosen_on_the_next(open_app: Open) -> None:
    app = open_app("positions", sentence="the cat", layer="2", head="2")
    switch_page(app, "hand").run()
    assert [each["chosen"] for each in switches(app) if each["name"] in ("layer", "head")] == [1, 1]


@pytest.mark.parametrize("nonsense", ["", "-1", "x", "99999", "½"])
def test_nonsense_in_the_address_chooses_nothing(open_app: Open, nonsense: str) -> None:
    app = open_app(sentence="the cat", **dict.fromkeys(("kind", "layer", "head", "t", "s", "k"), nonsense))
    assert not app.exception
    switch_page(app, "hand").run()
    assert not app.exception
    usual = switch_page(open_app(sentence="the cat"), "hand").run()
    assert [(each["name"], each["chosen"]) for each in switches(app)] == [
        (each["name"], each["chosen"]) for each in switches(usual)
    ]
