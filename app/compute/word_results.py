"""How much each source token contributes to a translation: `transformer.analysis.attribution`, cached."""

import numpy as np
import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME, GATE, Ids
from app.compute.subject import Subject
from transformer.analysis import attribution
from transformer.analysis.attribution import Integrated


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def occlusion(subject: Subject, source_ids: Ids, target_ids: Ids, words: tuple[Ids, ...]) -> np.ndarray:
    """The log-probability that each token loses without each word: (W, T)."""
    with GATE:
        return attribution.occlusion(subject.translator.model, source_ids, target_ids, words)


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def gradient_times_input(subject: Subject, source_ids: Ids, target_ids: Ids) -> np.ndarray:
    """Gradient times input, (S, T)."""
    with GATE:
        return attribution.gradient_times_input(subject.translator.model, source_ids, target_ids)


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def integrated_gradients(subject: Subject, source_ids: Ids, target_ids: Ids) -> Integrated:
    """Integrated gradients. They take seconds."""
    with GATE:
        return attribution.integrated_gradients(subject.translator.model, source_ids, target_ids)


@st.cache_data(max_entries=128, ttl=CACHE_LIFETIME, show_spinner=False)
def log_probabilities(subject: Subject, source_ids: Ids, target_ids: Ids) -> np.ndarray:
    """The log-probability of each token of a translation, given a source: (T)."""
    with GATE:
        return attribution.log_probabilities(subject.translator.model, [source_ids], target_ids)[0]
