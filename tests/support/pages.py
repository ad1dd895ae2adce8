"""Pages of the app in tests that draw it without a browser."""

from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

MAIN = Path(__file__).resolve().parents[2] / "app" / "main.py"
PAGES = sorted(path.parent.name for path in MAIN.parent.glob("views/*/page.py"))


def switch_page(app: AppTest, page: str) -> AppTest:
    """The next run draws the page of this URL, such as "masks"; "translate" is the first page.

    Trap: before its first run, `AppTest.switch_page` finds a page by the name of its file, and ours are all page.py.
    """
    app._page_hash = calc_hash("" if page == "translate" else page)
    return app


def choose(app: AppTest, **choices: object) -> AppTest:
    """The next run finds that the visitor has chosen these; names as in `app.state.choices`."""
    for key, value in choices.items():
        app.session_state[key], app.session_state[f"{key} chosen"] = value, True
    return app
