"""The door of the app."""

from collections.abc import Callable

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.app.drawn import MAIN
from tests.patience import PATIENCE


def test_without_its_settings_it_says_how_to_start_it() -> None:
    served = config.get_option("server.enableStaticServing")
    assert served is True  # from .streamlit/config.toml
    config.set_option("server.enableStaticServing", False)
    try:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE).run()
    finally:
        config.set_option("server.enableStaticServing", served)
    assert not app.exception
    assert ["streamlit run app/main.py" in error.value for error in app.error] == [True]
    assert not app.text_input


@pytest.mark.parametrize("page", ["attention", "translate"])
def test_a_button_leads_to_another_page_whatever_stands_in_the_address(
    page: str, open_app: Callable[..., AppTest]
) -> None:
    """By a link a widget stands in it that is bound to it; the tiny model hesitates, which the doctor sees."""
    app = open_app(page, checkpoint="small", method="greedy", sentence="a b c", t="2")
    begins = "to_hand" if page == "attention" else "doctor_"
    next(each for each in app.button if str(each.key).startswith(begins)).click().run()
    assert not app.exception
    assert [app.query_params[name] for name in ("checkpoint", "method", "t")] == ["small", "greedy", "2"]
    assert ([each.value for each in app.header] == ["1. The dot product q·k"]) == (page == "attention")
