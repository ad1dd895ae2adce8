"""What the models compute for the pages: translations and traces, computed once and kept for all sessions.

A result is stored by checkpoint, text or ids, and settings; it is immutable or a copy. As many passes run at once as
there are cores, because more make all of them slower. Each pass uses one thread: with two, a pass of 0.3 s took 1 to
10 s as soon as anything else ran (measured).

Throughout, `source_ids` are tokens and EOS, as the encoder reads them, and `target_ids` what the decoder predicted,
`Hypothesis.ids`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
import streamlit as st
import torch

from app.compute.gate import Gate
from app.compute.subject import Subject
from app.compute.typed_text import reader
from app.library.checkpoints import sentence_lengths
from app.library.limits import check_search
from transformer.analysis import doctor
from transformer.analysis.batch_masks import padding_difference
from transformer.analysis.each_edit import log_probabilities_with_each
from transformer.analysis.edits import parse_edit
from transformer.analysis.head_removal import Predictions, predictions_with_other_heads
from transformer.analysis.logit_lens import Lens, lens
from transformer.analysis.trace import Trace, trace, trace_batch, trace_steps
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis, TranslatedText, Translation
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import SITES, Kind, depth

Ids = tuple[int, ...]
CACHE_LIFETIME = "30m"  # how long a result is stored; to compute it again takes a tenth of a second

torch.set_num_threads(int(os.environ.get("HEADLIGHT_THREADS", "1")))
GATE = Gate(os.cpu_count() or 1)


@dataclass(frozen=True)
class Attention:
    """One kind of attention of one translation: weights float32, masks boolean (True = may attend), each (L, H, Q, K).
    Only an edit makes the masks of two heads differ."""

    weights: np.ndarray
    masks: np.ndarray


@st.cache_data(max_entries=128, ttl=CACHE_LIFETIME, show_spinner=False)
def translate(
    subject: Subject, text: str, settings: DecodingConfig, *, correct_spelling: bool = False
) -> TranslatedText:
    """The translation of a text, sentence by sentence. Raises TranslationError."""
    translator = reader(subject) if correct_spelling else subject.translator
    _check_search(translator, text, settings)
    with GATE:
        return translator.translate(text, settings)


def _check_search(translator: Translator, text: str, settings: DecodingConfig) -> None:
    """Raises TranslationError for a search that is too long for the app."""
    lengths = [length + 1 for length in sentence_lengths(translator, text)]
    check_search(translator.model.config, translator.model.parameter_count, lengths, settings)


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def translate_one(
    subject: Subject,
    sentence: str,
    settings: DecodingConfig,
    *,
    keep_tree: bool = False,
    prefix: str | Ids = (),
) -> Translation:
    """The translation of one sentence; on request with the tree of its search, or beginning with a forced prefix.

    Raises TranslationError, also for an invalid prefix.
    """
    translator = subject.translator
    _check_search(translator, sentence, settings)
    with GATE:
        return translator.translate_sentences([sentence], settings, keep_tree=keep_tree, prefix=prefix)[0]


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def translate_ids(subject: Subject, source_ids: Ids, settings: DecodingConfig) -> Hypothesis:
    """The best translation of these source ids, which may be in any order. Raises TranslationError."""
    translator = subject.translator
    check_search(translator.model.config, translator.model.parameter_count, [len(source_ids)], settings)
    with GATE:
        return translator.translate_ids(source_ids, replace(settings, n_best=1))


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def given(subject: Subject, sentence: str, target: str | Ids, settings: DecodingConfig) -> Hypothesis:
    """The visitor's own translation, as text or ids, and its probabilities: `transformer.decoding.teacher_forcing`.

    Raises TranslationError if it is invalid.
    """
    translator = subject.translator
    with GATE:
        return translator.score(sentence, target, settings)


@dataclass(frozen=True)
class Observed:
    """What nearly every page needs of a translation, from one teacher-forced pass over it.

    Attributes:
        attention: all heads, by kind.
        trace: the same weights by site, and the logits.
    """

    attention: Mapping[Kind, Attention]
    trace: Trace


@st.cache_resource(max_entries=24, ttl=CACHE_LIFETIME, show_spinner=False)
def observed(subject: Subject, source_ids: Ids, target_ids: Ids) -> Observed:
    """All attention weights and the logits; arrays are read-only, because all sessions share them."""
    translator = subject.translator
    model = translator.model
    with GATE:
        found = trace(model, source_ids, target_ids, (*doctor.SITES, "*.mask"), translator.tokenizer.token)
    attention, arrays = {}, {"logits": found["logits"]}
    for kind in SITES:
        names = [SITES[kind].format(i) for i in range(depth(model.config, kind))]
        weights = np.stack([found[f"{name}.weights"] for name in names]).astype(np.float32)  # (L, H, Q, K)
        masks = np.stack([found[f"{name}.mask"] for name in names])  # (L, H, Q, K)
        weights.flags.writeable = masks.flags.writeable = False
        attention[kind] = Attention(weights, masks)
        arrays |= {f"{name}.weights": layer for name, layer in zip(names, weights, strict=True)}
    return Observed(MappingProxyType(attention), replace(found, arrays=arrays))


def attention(subject: Subject, source_ids: Ids, target_ids: Ids, kind: Kind) -> Attention:
    """All heads of one kind of attention, while the decoder reads the finished translation."""
    return observed(subject, source_ids, target_ids).attention[kind]


@st.cache_resource(max_entries=48, ttl=CACHE_LIFETIME, show_spinner=False)
def record(subject: Subject, source_ids: Ids, target_ids: Ids, sites: tuple[str, ...]) -> Mapping[str, np.ndarray]:
    """What the model computed at these sites in one teacher-forced pass; see `transformer.analysis.trace`.

    Args:
        sites: names or patterns.

    Returns:
        Read-only arrays by site, without the batch axis: all sessions share them.
    """
    model = subject.translator.model
    with GATE:
        return MappingProxyType(trace(model, source_ids, target_ids, sites).arrays)


@st.cache_resource(max_entries=24, ttl=CACHE_LIFETIME, show_spinner=False)
def record_batch(
    subject: Subject, source_ids: tuple[Ids, ...], target_ids: tuple[Ids, ...], sites: tuple[str, ...]
) -> tuple[Trace, ...]:
    """What `record` gives, for several sentences in one padded pass: a trace for each, see `trace_batch`."""
    translator = subject.translator
    with GATE:
        return trace_batch(translator.model, source_ids, target_ids, sites, translator.tokenizer.token)


@st.cache_resource(max_entries=24, ttl=CACHE_LIFETIME, show_spinner=False)
def record_steps(
    subject: Subject, source_ids: Ids, target_ids: Ids, sites: tuple[str, ...]
) -> tuple[Mapping[str, np.ndarray], ...]:
    """What each step of decoding computes at these sites, with the cache; see `trace_steps`."""
    model = subject.translator.model
    with GATE:
        return tuple(map(MappingProxyType, trace_steps(model, source_ids, target_ids, sites)))


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def changed_by_padding(
    subject: Subject, source_ids: tuple[Ids, ...], target_ids: tuple[Ids, ...], row: int
) -> dict[str, float]:
    """By site, the largest difference between the numbers of a sentence in this batch and its numbers alone."""
    model = subject.translator.model
    with GATE:
        return padding_difference(model, source_ids, target_ids, row)


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def logit_lens(subject: Subject, source_ids: Ids, target_ids: Ids) -> Lens:
    """How the predicted tokens rank after each layer of the decoder; see `transformer.analysis.logit_lens`."""
    model = subject.translator.model
    with GATE:
        return lens(model, source_ids, target_ids)


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def with_other_heads(subject: Subject, source_ids: Ids, target_ids: Ids, site: str) -> Predictions:
    """What is predicted without each head of an attention, and with it alone: `transformer.analysis.head_removal`."""
    with GATE:
        return predictions_with_other_heads(subject.translator.model, source_ids, target_ids, site)


@st.cache_data(max_entries=256, ttl=CACHE_LIFETIME, show_spinner=False)
def with_each_edit(subject: Subject, source_ids: Ids, target_ids: Ids, edits: tuple[str, ...]) -> np.ndarray:
    """The log-probability of each token under each edit alone: (edits, T), in nats. For `edits` see `Subject.texts`."""
    with GATE:
        parsed = [parse_edit(text) for text in edits]
        return log_probabilities_with_each(subject.translator.model, source_ids, target_ids, parsed)


def position_table(subject: Subject, stack: Literal["encoder", "decoder"], count: int) -> np.ndarray:
    """The first `count` rows of the table of positions of a stack, or all if it has fewer: (P, D) float32.

    A sinusoidal table is computed by the formula; a learned table is a result of training. A model without positions
    has no rows: (0, D).
    """
    model = subject.translator.model
    if model.config.positions == "none":
        return np.zeros((0, model.config.d_model), np.float32)
    positions = (model.encoder if stack == "encoder" else model.decoder).embedding.positions
    found: np.ndarray = positions(min(count, model.config.max_positions)).detach().float().cpu().numpy().copy()
    return found


def release() -> None:
    """Deletes all traces. Translations and other plain data are in `st.cache_data`."""
    for cache in (observed, record, record_batch, record_steps):
        cache.clear()
