"""Analysis of finished sampling: the random number that drew each token, and the tokens that could not be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from transformer.config import DecodingConfig
from transformer.decoding.finished_search import path_to
from transformer.decoding.log_probabilities import next_log_probabilities
from transformer.decoding.sampling import cumulative_sums, random_numbers, truncated
from transformer.decoding.translation import SearchNode

BY_TOP_P = "Left out by top p: the more probable tokens already sum to {:g} or more."


@dataclass(frozen=True)
class Draw:
    """How one token was drawn: the random `number` is in the interval of the token, from `begin` to `end`.

    All three are shares of the sum of the probabilities of all tokens that may be drawn.
    """

    number: float
    begin: float
    end: float


def draws(
    logits: np.ndarray, source_ids: Sequence[int], target_ids: Sequence[int], settings: DecodingConfig
) -> tuple[Draw, ...]:
    """The draws of a sampled hypothesis, step by step; () if no row of random numbers gives its tokens.

    Args:
        logits: (T, V) of a teacher-forced pass over the hypothesis. They differ from those of the search by rounding.
        target_ids: `Hypothesis.ids`.
    """
    allowed = next_log_probabilities(torch.tensor(logits)[None], None)  # (1, T, V)
    cumulative, ids = cumulative_sums(allowed, settings)  # (1, T, V') each
    tokens = torch.tensor(list(target_ids))  # (T)
    places = tokens if ids is None else (ids[0] == tokens[:, None]).int().argmax(dim=-1)  # (T)
    shares = cumulative[0] / cumulative[0, :, -1:]  # (T, V')
    rows = torch.arange(len(tokens))  # (T)
    ends = shares[rows, places].tolist()
    begins = torch.where(places > 0, shares[rows, places - 1], 0.0).tolist()
    numbers = random_numbers([list(source_ids)], settings.n_best, len(tokens), settings.seed)[0].tolist()
    for row in numbers:
        found = tuple(Draw(*draw) for draw in zip(row, begins, ends, strict=True))
        if all(draw.begin - 1e-4 <= draw.number <= draw.end + 1e-4 for draw in found):
            return found
    return ()


def may_be_drawn(logits: np.ndarray, settings: DecodingConfig) -> np.ndarray:
    """Which tokens sampling may draw: logits (V) of one step -> boolean (V). PAD, UNK and BOS are always False."""
    allowed = next_log_probabilities(torch.tensor(logits)[None, None], None)  # (1, 1, V)
    _, ids, outside = truncated(allowed, settings)  # (1, 1, V') each
    found = np.zeros(len(logits), dtype=bool)
    found[(torch.arange(len(logits)) if ids is None else ids[0, 0])[~outside[0, 0]].numpy()] = True
    return found


def mark_truncated(
    tree: Sequence[SearchNode], logits: Mapping[tuple[int, ...], np.ndarray], settings: DecodingConfig
) -> tuple[SearchNode, ...]:
    """The tree of sampling, with the reason "left out by top k (or top p)" for tokens that could not be drawn.

    Args:
        logits: from `logits_by_prefix`: the ids of each prefix of a hypothesis -> the logits (V) of the token after it.
    """
    if not (settings.top_k or settings.top_p < 1):
        return tuple(tree)
    found, known = list(tree), dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]]()
    for place, node in enumerate(tree):
        before = tuple(each.token_id for each in path_to(tree, node.parent or 0))
        if node.outcome != "pruned" or before not in logits:
            continue
        if before not in known:
            row = logits[before]
            known[before] = may_be_drawn(row, replace(settings, top_p=1.0)), may_be_drawn(row, settings)
        by_k, by_both = known[before]
        if not by_k[node.token_id]:
            found[place] = replace(node, reason=f"Left out by top k: only {settings.top_k:,} may be drawn.")
        elif not by_both[node.token_id]:
            found[place] = replace(node, reason=BY_TOP_P.format(settings.top_p))
    return tuple(found)


def logits_by_prefix(hypotheses: Sequence[tuple[Sequence[int], np.ndarray]]) -> dict[tuple[int, ...], np.ndarray]:
    """The ids of each prefix of some hypotheses -> the logits (V) of the token after it.

    Args:
        hypotheses: of each its ids and its logits (T, V).
    """
    return {tuple(ids[:t]): row for ids, logits in hypotheses for t, row in enumerate(logits)}
