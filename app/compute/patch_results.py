"""The effects of patching (`transformer.analysis.patching`), computed once and cached."""

from dataclasses import replace

import numpy as np
import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME, GATE
from app.compute.mask_results import translate_batch
from app.compute.subject import Subject
from transformer.analysis.patching import Pair, effect_of_changed_positions, patch_effects
from transformer.config import DecodingConfig
from transformer.errors import HeadlightError


@st.cache_data(max_entries=128, ttl=CACHE_LIFETIME, show_spinner=False)
def effects(subject: Subject, pair: Pair, layer: int | None) -> np.ndarray:
    """The effect of patching each position after a layer: (S). Raises HeadlightError."""
    with GATE:
        return patch_effects(subject.translator.model, pair, layer)


@st.cache_data(max_entries=128, ttl=CACHE_LIFETIME, show_spinner=False)
def most_spread(subject: Subject, source: str, others: tuple[str, ...], settings: DecodingConfig) -> str:
    """Of several sentences that differ from `source` in a word, the one with the least `effect_of_changed_positions`:
    there the vectors of the other positions have most information about the word. "" if none can be patched into
    `source`."""
    own, *translated = translate_batch(subject, (source, *others), replace(settings, method="greedy", n_best=1))
    found: list[tuple[float, str]] = []
    for other in translated:
        try:
            targets = own.hypotheses[0].ids, other.hypotheses[0].ids
            pair = Pair((own.source_ids, other.source_ids), targets)
            with GATE:
                found.append((effect_of_changed_positions(subject.translator.model, pair), other.source))
        except HeadlightError:
            continue
    return min(found, default=(0.0, ""))[1]
