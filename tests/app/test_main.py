"""The entry script of the app."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.browser_driver import started_app
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from tests.support.raw_client import ask


def test_without_its_settings_it_says_how_to_start_it() -> None:
    served = config.get_option("server.enableStaticServing")
    assert served is True  # from app/.streamlit/config.toml
    config.set_option("server.enableStaticServing", False)
    try:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE).run()
    finally:
        config.set_option("server.enableStaticServing", served)
    assert not app.exception
    assert ["streamlit run app/main.py" in error.value for error in app.error] == [True]
    assert not app.text_input


def test_the_first_start_at_a_desktop_asks_nothing(folder: Path, tmp_path: Path) -> None:
    """Streamlit would ask for an e-mail address, and wait."""
    desktop = {"HOME": str(tmp_path), "DISPLAY": ":0", "BROWSER": "true"}
    options = ["--server.headless", "false"]
    with started_app(folder, tmp_path / "log", options=options, variables=desktop) as (address, _):
        assert ask(address, "/_stcore/health")[0] == 200
    assert "mail" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("page", ["attention", "translate"])
def test_a_button_leads_to_another_page_whatever_is_in_the_address(page: str, open_app: Callable[..., AppTest]) -> None:
    """The tiny model is uncertain, which the doctor reports: its button is the one on the page Translate."""
    app = open_app(page, checkpoint="small", method="greedy", sentence="a b c", t="2", details="true")
    begins = "to_hand" if page == "attention" else "doctor_"
    next(each for each in app.button if str(each.key).startswith(begins)).click().run()
    assert not app.exception
    assert [app.query_params[name] for name in ("checkpoint", "method", "t")] == ["small", "greedy", "2"]
    assert ([each.value for each in app.header] == ["1. The dot product q·k"]) == (page == "attention")


def test_what_is_chosen_goes_along_to_another_page_and_into_its_address(open_app: Callable[..., AppTest]) -> None:
    app = open_app(checkpoint="small", sentence="a b c", beam="2")
    assert app.text_input(key="sentence").value == "a b c"
    for page in ("masks", "decoding", "translate"):
        switch_page(app, page).run()
        assert not app.exception
        assert app.text_input(key="sentence").value == "a b c"
        assert (app.query_params["checkpoint"], app.query_params["beam"]) == ("small", "2")
        assert "sentence" not in app.query_params  # it is private


def test_settings_that_nobody_changed_are_those_of_the_checkpoint(
    open_app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was changed stays, and so does what another checkpoint's recipe does not say."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    write_checkpoint(tmp_path / "small.safetensors", Size(1, 1, 1))
    write_checkpoint(tmp_path / "short.safetensors", Size(1, 1, 1), search={"beam": 2, "alpha": 1.4})
    app = open_app(checkpoint="small")
    assert [app.slider(key=key).value for key in ("beam", "alpha", "alternatives")] == [4, 0.6, 3]
    app.selectbox(key="checkpoint").set_value("short").run()
    assert [app.slider(key=key).value for key in ("beam", "alpha", "alternatives")] == [2, 1.4, 2]
    assert app.slider(key="alpha").proto.set_value
    assert not app.run().slider(key="alpha").proto.set_value  # or what is pulled meanwhile would spring back
    app.slider(key="alpha").set_value(1.0).run()
    app.selectbox(key="checkpoint").set_value("small").run()
    assert [app.slider(key=key).value for key in ("beam", "alpha")] == [4, 1.0]
    assert not app.exception


def test_the_box_is_filled_once_on_a_page(open_app: Callable[..., AppTest]) -> None:
    """A box that is filled takes away what is being typed in it, so that is done where its text is another only."""

    def filled(app: AppTest) -> tuple[bool, str | None]:
        assert not app.exception
        box = app.text_input(key="sentence")
        return box.proto.set_value, box.value

    app = open_app(checkpoint="small")
    assert filled(app)[0]
    example = filled(app)[1]
    assert filled(app.run()) == (False, example)
    assert filled(app.text_input(key="sentence").set_value("a b c").run()) == (False, "a b c")
    assert filled(switch_page(app, "masks").run()) == (False, "a b c")
    assert filled(app.run()) == (False, "a b c")
    assert filled(app.button(key="example_0").click().run()) == (True, example)
