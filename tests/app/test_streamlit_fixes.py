"""Numbers that are not finite, in the URL or from a browser, are ignored."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

HOSTILE = ("1e400", "-1e400", "nan", "inf", "-inf", "1e308", "-1", "٣", "1_0", "0x10", "", " ", "true", "9" * 400)


def values_of(app: AppTest) -> dict[str, Any]:
    widgets = [*app.slider, *app.number_input]
    return {str(widget.key): widget.value for widget in widgets}


@pytest.mark.parametrize("text", HOSTILE)
def test_numbers_in_the_url_that_cannot_be_some_leave_the_page_as_it_is(
    text: str, open_app: Callable[..., AppTest]
) -> None:
    usual = values_of(open_app(method="sampling"))
    app = open_app(method="sampling", **dict.fromkeys(("top_k", "seed", "temperature", "top_p", "draws"), text))
    assert not app.exception
    assert app.text_input(key="sentence").value
    found = values_of(app)
    assert found.keys() == usual.keys()
    assert all(math.isfinite(value) for value in found.values())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_from_the_browser_that_is_not_finite_is_the_default(
    value: float, open_app: Callable[..., AppTest]
) -> None:
    app = open_app(method="sampling")
    for widget in (*app.number_input, *app.slider):
        default = widget.value
        widget.set_value(value)
        app.run()
        assert not app.exception, (widget.key, value)
        assert next(each for each in (*app.number_input, *app.slider) if each.key == widget.key).value == default
