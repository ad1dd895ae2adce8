"""The entry of the app. Start it with `streamlit run app/main.py`.

Two callers execute this file. The server imports it once, for `app`; its limits and headers are in
app/server/request_guard.py. Each visit runs it as a script, which draws the navigation and one page.
"""

import sys
from pathlib import Path

import streamlit as st

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:  # `streamlit run` knows only the folder of this file
    sys.path.insert(0, str(HERE.parent))


def draw() -> None:
    """Draws the page that the address names."""
    # The icon is a file of ours: Streamlit would fetch a Material icon from the network
    # (test_it_opens_with_a_drawn_example_and_no_request_leaves_the_machine).
    st.set_page_config(page_title="Headlight", page_icon=str(HERE / "favicon.png"), layout="wide")
    st.html(HERE / "page.css")
    if not st.get_option("server.enableStaticServing"):  # the drawing library lies in app/static
        st.error(
            "Headlight was started without its settings, so it cannot draw. They are in app/.streamlit/config.toml. "
            "Start it with: streamlit run app/main.py"
        )
        st.stop()

    # The first page has the address "/"; Streamlit would call "/translate" a page that does not exist.
    first = st.Page(HERE / "views" / "translate" / "page.py", title="Translate", url_path="first", default=True)

    def to_the_first_page() -> None:
        st.switch_page(first, query_params=st.query_params.to_dict())

    page = st.navigation(
        [
            first,
            st.Page(to_the_first_page, title="Translate", url_path="translate", visibility="hidden"),
            _page("steps", "Step by step"),
            _page("hand", "One head by hand"),
            _page("attention", "Attention"),
            _page("multihead", "Multi-head"),
            _page("masks", "Masks"),
            _page("residual", "Residual stream"),
            _page("positions", "Positions"),
            _page("scaling", "Scaling and softmax"),
            _page("decoding", "Decoding"),
            _page("training", "Training"),
            _page("models", "Models"),
        ]
    )
    from app.compute import memory
    from app.server import streamlit_fixes
    from app.state.playback import leave_behind
    from app.state.session import carry, drawn, watch_draft

    streamlit_fixes.install()
    memory.visited()
    leave_behind(page.url_path)
    carry(page.url_path)
    page.run()
    watch_draft()
    drawn()


def _page(name: str, title: str) -> st.Page:
    return st.Page(HERE / "views" / name / "page.py", title=title, url_path=name)


if __name__ == "__main__":
    draw()
else:
    from starlette.middleware import Middleware

    from app.server import request_guard

    request_guard.install()
    app = st.App(HERE / "main.py", middleware=[Middleware(request_guard.Guard)], lifespan=request_guard.announced)
