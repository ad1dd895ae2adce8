"""Sizes for text of one's own: what suits the text, a smaller and a larger model, and how long each takes here."""

from collections.abc import Mapping

import streamlit as st

from app.languages import gettext_noop
from app.views.training.run_plan import FEWEST_UPDATES, MOST_LAYERS, MOST_UPDATES, WIDEST, Size
from transformer.config import ModelConfig
from transformer.data.corpus_facts import CorpusFacts
from transformer.device import choose_device
from transformer.fit_to_corpus import FULL_BATCH, fit, heads_for, size_for, updates_for
from transformer.training.precision import speed_of

FITS = "fits"
NAMES: Mapping[str, str] = {
    "smaller": gettext_noop("smaller, faster"),
    FITS: gettext_noop("fits the text"),
    "larger": gettext_noop("larger, slower"),
}


def sizes_for(facts: CorpusFacts) -> dict[str, Size]:
    """The sizes by the keys of NAMES. One that is the same as the fitting size, because of the limits, is left out."""
    row = size_for(facts)
    updates = max(FEWEST_UPDATES, min(MOST_UPDATES, round(updates_for(facts, {}))))
    width, layers = min(row.d_model, WIDEST), min(row.layers, MOST_LAYERS)
    shapes = {"smaller": (layers, width // 2), FITS: (layers, width), "larger": (min(2 * layers, MOST_LAYERS), width)}
    sizes = {name: _size(updates, depth, width) for name, (depth, width) in shapes.items()}
    return {name: size for name, size in sizes.items() if name == FITS or size != sizes[FITS]}


def _size(updates: int, layers: int, width: int) -> Size:
    return Size(updates, layers, layers, heads_for(width), width)  # type: ignore[arg-type]


def expected_seconds(facts: CorpusFacts, size: Size) -> float:
    """How long the updates take on this machine, without validations, measured with a model of this size."""
    options = {option: value for choice in fit(facts) for option, value in choice.values.items()}
    model = ModelConfig(
        vocab_size=options["tokenizer.vocab_size"],
        encoder_layers=size.encoder_layers,
        decoder_layers=size.decoder_layers,
        d_model=size.width,
        d_ff=4 * size.width,
        heads=size.heads,
    )
    tokens = size.updates * options["data.tokens_per_batch"] * FULL_BATCH
    return tokens / tokens_per_second(model)


@st.cache_data(max_entries=32, show_spinner=False)
def tokens_per_second(model: ModelConfig) -> float:
    return speed_of(model, choose_device("auto"))  # as the run that is started
