"""The Masks page in tests: opened on two sentences, its tensors computed beside the app, and what it draws."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.decoding_page import healthy
from tests.support.drawn import array, charts, title
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from transformer.analysis.trace import Trace, trace_batch
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
LONG, SHORT = "Where is the nearest train station?", "the cat sat"


@pytest.fixture
def open_masks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the Masks page on two sentences. A token is chosen by its place in the address: t, s, k, from 1."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))

    def opened(long: str = LONG, short: str | None = SHORT, **address: str) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        switch_page(app, "masks")
        for name, value in {"sentence": long, "details": "true", **address}.items():
            app.query_params[name] = value
        if short is not None:
            app.session_state["second_sentence"] = short
        app.run()
        healthy(app)
        return app

    return opened


def by_title(app: AppTest) -> dict[str, dict[str, Any]]:
    """All charts by their title."""
    return {title(figure): figure for figure in charts(app)}


def heatmaps(figure: dict[str, Any]) -> list[np.ndarray]:
    """The values of all heatmaps of a chart."""
    return [array(trace["z"]) for trace in figure["data"] if trace["type"] == "heatmap"]


def traces(path: Path, watch: str = "*.mask") -> tuple[Translator, tuple[Trace, ...], Any]:
    """Both sentences in one padded pass, computed beside the app: translator, traces, ids."""
    translator = Translator.load(path)
    texts = ((LONG, 3), (SHORT, 1))
    found = [translator.translate(text, n_best=n).sentences[0] for text, n in texts]
    ids = [sentence.source_ids for sentence in found], [sentence.hypotheses[0].ids for sentence in found]
    return translator, trace_batch(translator.model, *ids, [watch], translator.tokenizer.token), ids
