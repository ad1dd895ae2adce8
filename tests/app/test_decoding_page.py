"""The Decoding page, run without a browser: its parts in the address, and any model with any words."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.decoding_page import HOSTILE, PARTS, Open, component, healthy
from tests.support.drawn import chart
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE


def test_a_part_has_a_short_name_in_the_address(open_decoding: Open) -> None:
    app = open_decoding("lens")
    assert chart(app, "After each layer")
    assert app.query_params["part"] == "lens"


def test_a_part_that_there_is_not_opens_the_first(open_decoding: Open) -> None:
    app = open_decoding("what is this?")
    assert component(app, "loop")
    assert "part" not in app.query_params  # it is what the page opens with


ODD: dict[str, tuple[Size, dict[str, Any]]] = {
    "shallow encoder, pre-norm": (Size(1, 4, 2), {"norm": "pre"}),
    "one layer, one head": (Size(3, 1, 1), {"positions": "learned"}),
    "untied, windowed": (Size(2, 2, 4), {"shared_embeddings": False, "attention_window": 1, "positions": "none"}),
    "half and half": (Size(1, 2, 8), {"sinusoid_layout": "concatenated", "activation": "gelu"}),
}


@pytest.mark.parametrize("name", ODD)
def test_it_opens_for_any_model_and_any_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size, options = ODD[name]
    write_checkpoint(tmp_path / "odd.safetensors", size, options=options)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    switch_page(app, "decoding")
    app.session_state["reference"] = "Ja."
    methods = dict(zip(PARTS, ("beam", "sampling", "greedy", "beam", "sampling", "greedy"), strict=True))
    for words in ("a", HOSTILE):
        app.session_state["text"] = words
        for part in PARTS:
            app.session_state["part"] = part
            app.session_state["method"] = methods[part]
            app.run()
            healthy(app)
            for markdown in (*app.markdown, *app.caption):
                assert "alert(1)" not in markdown.value
