"""A translation by the layers of torch.nn with our weights, and how far their numbers are from ours."""

from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from app.compute import cached_results
from app.compute.cached_results import CACHE_LIFETIME, GATE, Ids
from app.compute.subject import Subject
from app.languages import gettext_noop
from transformer.config import EOS
from transformer.decoding.translation import Hypothesis
from transformer.export.torch_model import TorchModel
from transformer.model.attention_kinds import KINDS, SITES
from transformer.model.forced_target import shifted_right
from transformer.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Stage:
    """A result that both models compute: the largest magnitude in ours, and the largest difference from theirs."""

    name: str
    largest: float
    difference: float


@dataclass(frozen=True)
class AgainstTorch:
    """What `torch.nn.Transformer` computes for a sentence.

    Attributes:
        written: its own translation, greedy.
        stages: the results for the tokens of our translation, in the order of computation.
    """

    written: Hypothesis
    stages: tuple[Stage, ...]


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def against_torch(subject: Subject, source_ids: Ids, target_ids: Ids, limit: int) -> AgainstTorch:
    """Compares the unedited model with torch.nn.

    Args:
        target_ids: our greedy translation.
        limit: how many tokens the translation by torch.nn has at most.
    """
    weights = cached_results.observed(subject, source_ids, target_ids).attention
    model, tokenizer = subject.translator.model, subject.translator.tokenizer
    theirs = TorchModel(model)
    source, target = torch.tensor([source_ids]), torch.tensor([shifted_right(target_ids)])
    with GATE, torch.no_grad():
        ids = tuple(theirs.greedy(source_ids, limit))
        pairs = {gettext_noop("Encoder's output"): (model.encoder(source), theirs.encode(source))}
        found = theirs.attention_weights(source, target)
        logits = model(source, target), theirs(source, target)
        written = theirs(source, torch.tensor([shifted_right(ids)]))
    both = [
        (torch.from_numpy(weights[kind].weights[layer].copy()), found[f"{SITES[kind].format(layer)}.weights"][0])
        for kind in KINDS
        for layer in range(len(weights[kind].weights))
    ]  # (H, Q, K) each
    ours, its = (torch.cat([pair[side].flatten() for pair in both]) for side in range(2))
    pairs[gettext_noop("Attention weights")] = ours, its
    pairs[gettext_noop("Logits")] = logits
    log_probabilities = _log_probabilities(logits[0], target_ids), _log_probabilities(logits[1], target_ids)
    pairs[gettext_noop("Log-probabilities")] = log_probabilities
    return AgainstTorch(
        _hypothesis(ids, _log_probabilities(written, ids), tokenizer),
        tuple(Stage(name, float(one.abs().max()), float((one - other).abs().max()))
              for name, (one, other) in pairs.items()),
    )  # fmt: skip


def _log_probabilities(logits: Tensor, ids: Ids) -> Tensor:
    """logits (1, T, V) -> (T) float64."""
    return logits[0].double().log_softmax(dim=-1).gather(1, torch.tensor(ids)[:, None])[:, 0]  # (T)


def _hypothesis(ids: Ids, log_probabilities: Tensor, tokenizer: Tokenizer) -> Hypothesis:
    total = float(log_probabilities.sum())
    return Hypothesis(
        ids=ids,
        tokens=tuple(map(tokenizer.token, ids)),
        log_probabilities=tuple(log_probabilities.tolist()),
        score=total,
        normalised_score=total,
        text=tokenizer.decode(list(ids)),
        finished=ids[-1:] == (EOS,),
    )
