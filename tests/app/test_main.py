"""The door of the app."""

from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.app.drawn import MAIN


def test_without_its_settings_it_says_how_to_start_it() -> None:
    served = config.get_option("server.enableStaticServing")
    assert served is True  # from .streamlit/config.toml
    config.set_option("server.enableStaticServing", False)
    try:
        app = AppTest.from_file(str(MAIN), default_timeout=120).run()
    finally:
        config.set_option("server.enableStaticServing", served)
    assert not app.exception
    assert ["streamlit run app/main.py" in error.value for error in app.error] == [True]
    assert not app.text_input
