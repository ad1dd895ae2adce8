"""Checkpoints found and loaded once for all sessions; translations and traces computed once and kept.

What is cached: a loaded checkpoint by (path, time of change, size), so a file that was replaced is read again; a
translation by checkpoint, text and settings; a trace by checkpoint, ids and kind of attention. Models are shared by all
sessions and never written to; what comes out is immutable or a copy. Inference waits at a gate, because more passes at
once than cores make all of them slower, and each pass gets one thread: two threads in each of Streamlit's own threads
trip over each other as soon as anything else runs (0.3 s becomes 1 to 10 s, measured).
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import BoundedSemaphore, Lock
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import streamlit as st
import torch

from transformer.config import DecodingConfig
from transformer.decoding.reading import Draw, draws
from transformer.decoding.translation import Hypothesis, TranslatedText, Translation
from transformer.decoding.translator import Translator
from transformer.lens import Lens, lens
from transformer.padding import padding_difference
from transformer.text.normalise import normalise
from transformer.text.sentences import split_sentences
from transformer.trace import Trace, trace, trace_batch

Kind = Literal["cross", "encoder", "decoder"]

torch.set_num_threads(int(os.environ.get("HEADLIGHT_THREADS", "1")))
_GATE = BoundedSemaphore(max(os.cpu_count() or 1, 1))

MOST_CHARACTERS = 4000  # of a whole text; beyond, the page says so instead of translating for minutes
MOST_SENTENCES = 24
MOST_PIECES = 100  # of a sentence: a larger matrix is no picture any more
MOST_UPLOADS = 4  # on this server at once; the oldest goes first

_SITES: dict[Kind, str] = {
    "cross": "decoder.layers.*.cross_attention",
    "encoder": "encoder.layers.*.self_attention",
    "decoder": "decoder.layers.*.self_attention",
}


@dataclass(frozen=True)
class CheckpointFile:
    """A file that can be opened, as it is now."""

    name: str  # without .safetensors
    path: str
    modified: int  # ns
    size: int  # bytes

    @classmethod
    def at(cls, path: Path, name: str | None = None) -> "CheckpointFile":
        found = path.stat()
        return cls(name or path.stem, str(path.resolve()), found.st_mtime_ns, found.st_size)

    @property
    def card(self) -> str | None:
        """The model card NAME.md beside it. Its images become links: a card must not make the browser fetch a thing."""
        path = Path(self.path).with_suffix(".md")
        return path.read_text(encoding="utf-8", errors="replace").replace("![", "[") if path.is_file() else None


@dataclass(frozen=True)
class Attention:
    """One kind of attention of one translation: weights (L, H, Q, K) float32, mask (Q, K) True = may attend."""

    weights: np.ndarray
    mask: np.ndarray


def checkpoint_folder() -> Path:
    """Where checkpoints are looked for: HEADLIGHT_CHECKPOINTS, or `pretrained/` of the repository."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINTS") or Path(__file__).resolve().parents[1] / "pretrained")


def checkpoints() -> dict[str, CheckpointFile]:
    """Checkpoints in the folder by name; `en-de`, where there is one, comes first."""
    found = sorted(checkpoint_folder().glob("*.safetensors"), key=lambda path: (path.stem != "en-de", path.stem))
    return {path.stem: CheckpointFile.at(path) for path in found if path.is_file()}


def load(file: CheckpointFile) -> Translator:
    """The checkpoint, ready to translate. Raises CheckpointError with everything that is wrong with the file."""
    return _load(file.path, file.modified, file.size)


@st.cache_resource(max_entries=3, show_spinner=False)
def _load(path: str, modified: int, size: int) -> Translator:
    return Translator.load(path)


@st.cache_resource
def _upload_folder() -> tuple[tempfile.TemporaryDirectory[str], Lock]:
    return tempfile.TemporaryDirectory(prefix="headlight-"), Lock()


def keep_upload(name: str, content: bytes) -> CheckpointFile:
    """Keeps an uploaded file for as long as the server runs, or until newer uploads push it out.

    It is stored under the hash of its bytes, never under the name the visitor gave it.
    """
    folder, lock = _upload_folder()
    path = Path(folder.name) / f"{hashlib.sha256(content).hexdigest()}.safetensors"
    with lock:
        if not path.exists():
            others = sorted(Path(folder.name).glob("*.safetensors"), key=lambda other: other.stat().st_mtime_ns)
            for old in others[: max(len(others) - MOST_UPLOADS + 1, 0)]:
                old.unlink()
            path.write_bytes(content)
    return CheckpointFile.at(path, name)


def pieces_needed(file: CheckpointFile, text: str) -> tuple[int, int]:
    """(pieces of the longest sentence of the text, how many sentences there are), counted as the translator will."""
    tokenizer = load(file).tokenizer
    sentences = [found for line in text[: 2 * MOST_CHARACTERS].splitlines() for found in split_sentences(line)]
    return max((len(tokenizer.encode(normalise(sentence))) for sentence in sentences), default=0), len(sentences)


def most_pieces(translator: Translator) -> int:
    """How many pieces a sentence may have on the page, its end sign not counted."""
    return min(translator.max_length, MOST_PIECES)


def translate(file: CheckpointFile, text: str, settings: DecodingConfig) -> TranslatedText:
    """The translation of a text, sentence by sentence. Raises TranslationError."""
    return _translate(file.path, file.modified, file.size, text, asdict(settings))


@st.cache_data(max_entries=128, show_spinner=False)
def _translate(path: str, modified: int, size: int, text: str, settings: dict[str, Any]) -> TranslatedText:
    translator = _load(path, modified, size)
    with _GATE:
        return translator.translate(text, DecodingConfig(**settings))


def attention(file: CheckpointFile, source_ids: tuple[int, ...], target_ids: tuple[int, ...], kind: Kind) -> Attention:
    """All heads of one kind of attention, from one teacher-forced pass over the finished translation.

    Args:
        source_ids: pieces and EOS, as the encoder reads them.
        target_ids: as the decoder predicted them, `Hypothesis.ids`.
    """
    return _attention(file.path, file.modified, file.size, source_ids, target_ids, kind)


@st.cache_data(max_entries=64, show_spinner=False)
def _attention(
    path: str, modified: int, size: int, source_ids: tuple[int, ...], target_ids: tuple[int, ...], kind: Kind
) -> Attention:
    model = _load(path, modified, size).model
    config = model.config
    layers = config.encoder_layers if kind == "encoder" else config.decoder_layers
    names = [_SITES[kind].replace("*", str(i)) for i in range(layers)]
    with _GATE:
        found = trace(model, source_ids, target_ids, [f"{_SITES[kind]}.weights", f"{names[0]}.mask"])
    weights = np.stack([found.arrays[f"{name}.weights"] for name in names]).astype(np.float32)  # (L, H, Q, K)
    return Attention(weights, found.arrays[f"{names[0]}.mask"][0].astype(bool))


def record(
    file: CheckpointFile, source_ids: tuple[int, ...], target_ids: tuple[int, ...], sites: tuple[str, ...]
) -> Mapping[str, np.ndarray]:
    """What the model computed at these sites in one teacher-forced pass; see `transformer.trace`.

    Args:
        source_ids: pieces and EOS, as the encoder reads them.
        target_ids: as the decoder predicted them, `Hypothesis.ids`.
        sites: names or patterns.

    Returns:
        Read-only arrays by site, without the batch axis: all sessions share them.
    """
    return _record(file.path, file.modified, file.size, source_ids, target_ids, sites)


@st.cache_resource(max_entries=48, show_spinner=False)
def _record(
    path: str,
    modified: int,
    size: int,
    source_ids: tuple[int, ...],
    target_ids: tuple[int, ...],
    sites: tuple[str, ...],
) -> Mapping[str, np.ndarray]:
    with _GATE:
        return MappingProxyType(trace(_load(path, modified, size).model, source_ids, target_ids, sites).arrays)


def record_batch(
    file: CheckpointFile,
    source_ids: tuple[tuple[int, ...], ...],
    target_ids: tuple[tuple[int, ...], ...],
    sites: tuple[str, ...],
) -> tuple[Trace, ...]:
    """What `record` gives, for several sentences in one padded pass: a trace for each, see `trace_batch`."""
    return _record_batch(file.path, file.modified, file.size, source_ids, target_ids, sites)


@st.cache_resource(max_entries=24, show_spinner=False)
def _record_batch(
    path: str,
    modified: int,
    size: int,
    source_ids: tuple[tuple[int, ...], ...],
    target_ids: tuple[tuple[int, ...], ...],
    sites: tuple[str, ...],
) -> tuple[Trace, ...]:
    translator = _load(path, modified, size)
    with _GATE:
        return trace_batch(translator.model, source_ids, target_ids, sites, translator.tokenizer.piece)


def changed_by_padding(
    file: CheckpointFile,
    source_ids: tuple[tuple[int, ...], ...],
    target_ids: tuple[tuple[int, ...], ...],
    row: int,
) -> dict[str, float]:
    """By site, how far the numbers of a sentence in this batch are from its numbers alone, at most."""
    return _changed_by_padding(file.path, file.modified, file.size, source_ids, target_ids, row)


@st.cache_data(max_entries=64, show_spinner=False)
def _changed_by_padding(
    path: str,
    modified: int,
    size: int,
    source_ids: tuple[tuple[int, ...], ...],
    target_ids: tuple[tuple[int, ...], ...],
    row: int,
) -> dict[str, float]:
    with _GATE:
        return padding_difference(_load(path, modified, size).model, source_ids, target_ids, row)


def position_table(file: CheckpointFile, stack: Literal["encoder", "decoder"], count: int) -> np.ndarray:
    """The first `count` rows of the table of positions of a stack, or all where it has fewer: (P, D) float32.

    Sinusoidal tables are those of the formula, learned ones what training made of them. A model without positions has
    none: (0, D).
    """
    model = load(file).model
    if model.config.positions == "none":
        return np.zeros((0, model.config.d_model), np.float32)
    table = (model.encoder if stack == "encoder" else model.decoder).embedding.positions.table
    found: np.ndarray = table[:count].detach().float().cpu().numpy().copy()
    return found


def translate_one(
    file: CheckpointFile,
    sentence: str,
    settings: DecodingConfig,
    *,
    keep_tree: bool = False,
    prefix: str | tuple[int, ...] = (),
) -> Translation:
    """The translation of one sentence; on request with the tree of its search, or beginning with a forced prefix.

    Raises TranslationError, also for a prefix that cannot be one.
    """
    return _translate_one(file.path, file.modified, file.size, sentence, asdict(settings), keep_tree, prefix)


@st.cache_data(max_entries=32, show_spinner=False)
def _translate_one(
    path: str,
    modified: int,
    size: int,
    sentence: str,
    settings: dict[str, Any],
    keep_tree: bool,
    prefix: str | tuple[int, ...],
) -> Translation:
    translator = _load(path, modified, size)
    with _GATE:
        (found,) = translator.translate_sentences(
            [sentence], DecodingConfig(**settings), keep_tree=keep_tree, prefix=prefix
        )
    return found


def given(file: CheckpointFile, sentence: str, target: str, settings: DecodingConfig) -> Hypothesis:
    """A translation that the visitor gives, as if it had been found; see `transformer.decoding.forcing`.

    Raises TranslationError: it cannot be one.
    """
    return _given(file.path, file.modified, file.size, sentence, target, asdict(settings))


@st.cache_data(max_entries=32, show_spinner=False)
def _given(path: str, modified: int, size: int, sentence: str, target: str, settings: dict[str, Any]) -> Hypothesis:
    with _GATE:
        return _load(path, modified, size).score(sentence, target, DecodingConfig(**settings))


def logit_lens(file: CheckpointFile, source_ids: tuple[int, ...], target_ids: tuple[int, ...]) -> Lens:
    """How the predicted pieces rank after each layer of the decoder; see `transformer.lens`."""
    return _logit_lens(file.path, file.modified, file.size, source_ids, target_ids)


@st.cache_data(max_entries=32, show_spinner=False)
def _logit_lens(path: str, modified: int, size: int, source_ids: tuple[int, ...], target_ids: tuple[int, ...]) -> Lens:
    with _GATE:
        return lens(_load(path, modified, size).model, source_ids, target_ids)


def drawn(
    file: CheckpointFile, source_ids: tuple[int, ...], target_ids: tuple[int, ...], settings: DecodingConfig
) -> tuple[Draw, ...]:
    """Where the random numbers of a sampled hypothesis fell; see `transformer.decoding.reading`."""
    logits = record(file, source_ids, target_ids, ("logits",))["logits"]
    return _drawn(logits, source_ids, target_ids, asdict(settings))


@st.cache_data(max_entries=32, show_spinner=False)
def _drawn(
    logits: np.ndarray, source_ids: tuple[int, ...], target_ids: tuple[int, ...], settings: dict[str, Any]
) -> tuple[Draw, ...]:
    return draws(logits, source_ids, target_ids, DecodingConfig(**settings))
