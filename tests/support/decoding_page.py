"""The Decoding page in tests: the search beside the app, and what the page shows of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.support.drawn import held_by
from tests.support.pages import MAIN
from transformer.analysis.trace import trace
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
SHIPPED = MAIN.parents[1] / "pretrained"
EXAMPLE = "Where is the nearest train station?"
PARTS = ("loop", "tree", "penalty", "lens", "reference", "methods")  # also in the address
HOSTILE = "</script><img src=x onerror=alert(1)> _a_ $x$ :red[b]"


def healthy(app: AppTest) -> None:
    """Fails if the page has raised an error."""
    assert not app.exception, app.exception[0].message


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What goes to the browser for the component with this key."""
    for found in app.get("bidi_component"):
        if found.proto.id.endswith(f"-{key}"):
            return dict(json.loads(found.proto.json))
    raise AssertionError(f"no component {key}")


def frame(app: AppTest) -> dict[str, Any]:
    """The frame of all steps, as the browser gets it."""
    return held_by(app)


def searched(folder: Path, text: str = EXAMPLE, name: str = "en-de", **changes: Any) -> tuple[Translator, Translation]:
    """The same search beside the app, with its tree."""
    translator = Translator.load(folder / f"{name}.safetensors")
    settings = translator.translate("a", **{"n_best": 3, **changes}).sentences[0].settings
    (found,) = translator.translate_sentences([text], settings, keep_tree=True)
    return translator, found


def logits_of(translator: Translator, found: Translation, hypothesis: int = 0) -> np.ndarray:
    """The logits of every step of a hypothesis, (T, V)."""
    ids = found.hypotheses[hypothesis].ids
    return trace(translator.model, found.source_ids, ids, ["logits"])["logits"]
