"""The page Step by step in tests: configurations of its walk, open stations, and the tensors of the model."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from app.views.steps.stations import Station
from tests.support.drawn import components, held_by
from transformer.analysis.trace import trace
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator

SENTENCE = "the cat sat on the mat"
OPTIONS: list[dict[str, Any]] = [
    {"norm": "pre", "positions": "sinusoidal"},
    {"norm": "post", "positions": "learned", "activation": "gelu", "attention_window": 2},
    {"norm": "post", "positions": "none"},
]
CONFIGS = [
    ModelConfig(vocab_size=11, d_model=8, d_ff=16, heads=2, encoder_layers=e, decoder_layers=d, **options)
    for (e, d), options in product([(1, 1), (2, 1), (1, 3)], OPTIONS)
]


def ids(walk: tuple[Station, ...]) -> list[str]:
    """The names of the stations."""
    return [station.id for station in walk]


def opened(open_app: Callable[..., AppTest], station: str, row: int = 0, **address: str) -> AppTest:
    """The page at a station, with every step and its details open."""
    app = open_app("steps", at=station, detail="exam", details="true", sentence=SENTENCE, t=str(row + 1), **address)
    assert not app.exception
    return app


def numbers(app: AppTest, place: int = 0) -> np.ndarray:
    """A table of the details without its first column, the names of the rows."""
    return app.dataframe[place].value.iloc[:, 1:].to_numpy()


def walked(open_app: Callable[..., AppTest], station: str, **address: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the browser gets of a walk that opens at a station: the tensors, and the state."""
    app = open_app("steps", at=station, sentence=SENTENCE, **address)
    assert not app.exception
    brought = held_by(app)
    (state,) = components(app, "model_walk")
    assert brought["scene"] == state["scene"]
    return brought, state


class Truth:
    """What the model computes for the sentence, with a probe in one layer at a time, as on the page."""

    def __init__(self, path: Path):
        self.translator = Translator.load(path)
        self.translation = self.translator.translate(SENTENCE).sentences[0]

    def __getitem__(self, site: str) -> np.ndarray:
        pattern = ".".join(site.split(".")[:3]) + ".*" if ".layers." in site else site
        ids = self.translation.hypotheses[0].ids
        return trace(self.translator.model, self.translation.source_ids, ids, [pattern])[site]
