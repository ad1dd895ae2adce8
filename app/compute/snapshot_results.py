"""What the snapshots of a run compute for a sentence, once for all sessions. The time machine shows it.

A snapshot is a small checkpoint that a run kept while it trained (transformer/training/run_folder.py).
"""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME, GATE, Attention
from app.library.checkpoints import CheckpointFile, load_snapshot
from transformer.analysis.trace import trace
from transformer.config import DecodingConfig
from transformer.model.attention_kinds import SITES, Kind, depth

# An untrained model rarely predicts </s>, so the limit here is 8 tokens more than the source has, not the paper's 50.
SEARCH = DecodingConfig(method="greedy", max_extra_length=8)


@dataclass(frozen=True)
class SnapshotResult:
    """The translation and loss of one sentence by a snapshot of a run.

    Attributes:
        text: what it writes, greedily. is_truncated: whether it was cut off at the length limit.
        loss: of the right translation, in nats per token, teacher-forced, without label smoothing.
        attention: while it reads the right translation, so that all snapshots have the same rows.
        source, reads, predicts: the tokens that name its rows and columns.
    """

    text: str
    is_truncated: bool
    loss: float
    attention: Attention
    source: tuple[str, ...]
    reads: tuple[str, ...]
    predicts: tuple[str, ...]


@st.cache_data(max_entries=256, ttl=CACHE_LIFETIME, show_spinner=False)
def result_of(file: CheckpointFile, sentence: str, right: str, kind: Kind) -> SnapshotResult:
    """The result of a snapshot for a sentence whose right translation is known. Raises TranslationError."""
    translator = load_snapshot(file)
    model, tokenizer = translator.model, translator.tokenizer
    layers = depth(model.config, kind)
    names = [SITES[kind].format(i) for i in range(layers)]
    with GATE:
        written = translator.translate_sentences([sentence], SEARCH)[0]
        forced = translator.score(sentence, right, SEARCH)
        sites = [f"{SITES[kind].format('*')}.weights", f"{names[0]}.mask"]
        found = trace(model, written.source_ids, forced.ids, sites, tokenizer.token)
    weights = np.stack([found.arrays[f"{name}.weights"] for name in names]).astype(np.float32)  # (L, H, Q, K)
    return SnapshotResult(
        written.text,
        not written.hypotheses[0].finished,
        -forced.score / len(forced.ids),
        Attention(weights, np.broadcast_to(found.arrays[f"{names[0]}.mask"], weights.shape)),
        found.source_tokens,
        found.target_tokens,
        found.predicts,
    )


@st.cache_data(max_entries=64, ttl=CACHE_LIFETIME, show_spinner=False)
def written_by(file: CheckpointFile, sentence: str) -> str:
    """What a snapshot writes, greedily. Raises TranslationError."""
    translator = load_snapshot(file)
    with GATE:
        return translator.translate_sentences([sentence], SEARCH)[0].text
