"""Two computations that need masks: a search that reads all its tokens again at each step, and a padded batch."""

from dataclasses import replace

import streamlit as st
import torch

from app.compute.cached_results import CACHE_LIFETIME, GATE, Ids
from app.compute.subject import Subject
from transformer.config import BOS, EOS, DecodingConfig
from transformer.decoding.log_probabilities import next_log_probabilities
from transformer.decoding.translation import Translation


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def without_cache(subject: Subject, source_ids: Ids, most: int) -> Ids:
    """Greedy decoding without a cache of keys and values: each step is a pass over all tokens so far, and the last row
    predicts the next token. With the causal mask it finds what a search with the cache finds.

    Args:
        most: the largest number of tokens, </s> included; the number of positions of the model is a limit, too.
    """
    model = subject.translator.model
    most, device = min(most, model.config.max_positions), model.output.weight.device
    source, read = torch.tensor([source_ids], device=device), [BOS]
    with GATE, torch.inference_mode():
        while len(read) <= most and read[-1] != EOS:
            logits = model(source, torch.tensor([read], device=device))  # (1, T, V)
            read.append(int(next_log_probabilities(logits[:, -1:], None).argmax()))
    return tuple(read[1:])


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def translate_batch(subject: Subject, sentences: tuple[str, ...], settings: DecodingConfig) -> tuple[Translation, ...]:
    """Translations of sentences in one batch, in which all but the longest have padding. Raises TranslationError."""
    settings = replace(settings, n_best=1) if settings.method == "beam" else settings
    with GATE:
        return tuple(subject.translator.translate_sentences(sentences, settings, batch_tokens=10**6, padded=True))
