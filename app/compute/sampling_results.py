"""How sampling drew the tokens of a translation, and which tokens it could not draw; computed once and kept."""

import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME, Ids, record
from app.compute.subject import Subject
from transformer.config import DecodingConfig
from transformer.decoding import finished_sampling
from transformer.decoding.finished_sampling import Draw, draws, logits_by_prefix
from transformer.decoding.translation import SearchNode


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def drawn(subject: Subject, source_ids: Ids, target_ids: Ids, settings: DecodingConfig) -> tuple[Draw, ...]:
    """The random draws of a sampled hypothesis; see `transformer.decoding.finished_sampling`."""
    logits = record(subject.as_in_steps, source_ids, target_ids, ("logits",))["logits"]  # (T, V)
    return draws(logits, source_ids, target_ids, settings)


@st.cache_data(max_entries=16, ttl=CACHE_LIFETIME, show_spinner=False)
def mark_truncated(
    subject: Subject,
    source_ids: Ids,
    target_ids: tuple[Ids, ...],
    settings: DecodingConfig,
    _tree: tuple[SearchNode, ...],
) -> tuple[SearchNode, ...]:
    """The tree of sampling, in which tokens that top k or top p removed are marked; `target_ids`: its hypotheses."""
    known = [(ids, record(subject.as_in_steps, source_ids, ids, ("logits",))["logits"]) for ids in target_ids]
    return finished_sampling.mark_truncated(_tree, logits_by_prefix(known), settings)
