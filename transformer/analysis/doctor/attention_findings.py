"""Findings in the attention of one sentence: heads without information.

They are computed from the weights (H, Q, K) of one teacher-forced pass. A flat head averages over the source. A head
that attends only to <s> or </s> adds about the same vector at every position. A head with equal rows does not use its
queries. Single heads of this kind are harmless; a model whose whole encoder-decoder attention is flat cannot align.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from transformer.analysis.doctor.finding import Finding, Head, listed
from transformer.analysis.trace import Trace
from transformer.model.attention_kinds import KINDS, SITES, Kind

# Entropy divided by log K, that of a uniform row. Flat heads of trained models reach 0.7, untrained heads 0.99.
FLAT = 0.95
# Share of a head's weight on <s> or </s>. Clark et al. 2019 (arXiv:1906.04341) call such a head a no-op.
ON_SPECIAL = 0.90
# Half the sum of absolute differences between a row and the mean row. Heads of the included checkpoints: above 0.05.
SAME = 0.02
FEWEST_KEYS = 4  # with fewer, rows may be flat or equal by chance
SPECIAL = ("<s>", "</s>")


def examine_attention(found: Trace, layers: tuple[int, int]) -> list[Finding]:
    """Findings in a trace of all attention weights; `layers`: how many encoder and decoder have."""
    counts: dict[Kind, int] = {"cross": layers[1], "encoder": layers[0], "decoder": layers[1]}
    findings = []
    for kind, count in counts.items():
        sites = [f"{SITES[kind].format(i)}.weights" for i in range(count)]
        weights = np.stack([found[site] for site in sites]).astype(np.float64)  # (L, H, Q, K)
        flat = list(_flat(weights)) if kind == "cross" else []
        findings += flat or [
            *_special(kind, weights, found.target_tokens if kind == "decoder" else found.source_tokens),
            *_same(kind, weights),
        ]
    return findings


def flatness(weights: np.ndarray) -> np.ndarray:
    """The mean entropy of the rows, divided by that of a uniform row: (L, H, Q, K) -> (L, H), 1 = flat."""
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    entropy: np.ndarray = -(weights * logs).sum(axis=-1).mean(axis=-1) / np.log(weights.shape[-1])
    return entropy


def _flat(weights: np.ndarray) -> Iterator[Finding]:
    if weights.shape[-1] >= FEWEST_KEYS and (least := float(flatness(weights).min())) > FLAT:
        layer, head = np.unravel_index(int(flatness(weights).argmin()), weights.shape[:2])
        heads = weights.shape[0] * weights.shape[1]
        entropy = (
            f"All {heads} heads of encoder-decoder attention attend almost evenly to the whole source: the entropy of "
            "their rows"
            if heads > 1
            else "The only head of encoder-decoder attention attends almost evenly to the whole source: the entropy of "
            "its rows"
        )
        yield Finding(
            "flat_attention",
            "Encoder-decoder attention is flat",
            f"{entropy} is at least {least:.1%} of its maximum.",
            "It cannot align. The model was trained too little, or has not learned to use the source: train longer.",
            Head("cross", int(layer), int(head)),
        )


def _special(kind: Kind, weights: np.ndarray, keys: Sequence[str]) -> Iterator[Finding]:
    rows = weights[:, :, 1:] if kind == "decoder" else weights  # the first row can attend to <s> only
    if rows.shape[2] < 2 or len(keys) < FEWEST_KEYS:
        return
    mass = rows.mean(axis=2)  # (L, H, K)
    places = [place for place, key in enumerate(keys) if key in SPECIAL]
    heads = [
        (float(mass[layer, head, place]), Head(kind, int(layer), int(head)), keys[place])
        for place in places
        for layer, head in np.argwhere(mass[:, :, place] > ON_SPECIAL)
    ]
    if heads:
        share, worst, key = max(heads, key=lambda found: found[0])
        others = listed([str(head) for _, head, _ in heads if head != worst])
        rest = f" The same is true of {others}." if others else ""
        yield Finding(
            "special_head",
            f"Heads that attend almost only to {listed(sorted({key for _, _, key in heads}))}",
            f"Head {worst} of {KINDS[kind].lower()} attends to {key} with {share:.0%} of its weight.{rest}",
            "Such a head adds about the same vector at every position. A few such heads are normal. If most heads of a "
            "layer are like this, something is wrong.",
            worst,
        )


def _same(kind: Kind, weights: np.ndarray) -> Iterator[Finding]:
    """Heads with equal rows. Decoder self-attention is left out, because its rows have different numbers of keys."""
    if kind == "decoder" or weights.shape[2] < 3 or weights.shape[3] < FEWEST_KEYS:
        return
    mean = weights.mean(axis=2, keepdims=True)  # (L, H, 1, K)
    moves = np.abs(weights - mean).sum(axis=-1).mean(axis=-1) / 2  # (L, H)
    special = mean[:, :, 0].max(axis=-1) > ON_SPECIAL  # reported as special_head
    heads = [Head(kind, int(layer), int(head)) for layer, head in np.argwhere((moves < SAME) & ~special)]
    if heads:
        worst = min(heads, key=lambda head: moves[head.layer, head.head])
        others = listed([str(head) for head in heads if head != worst])
        rest = f" The same is true of {others}." if others else ""
        yield Finding(
            "same_head",
            "Heads with equal rows",
            f"Head {worst} of {KINDS[kind].lower()} has almost the same row for every query: rows differ "
            f"from their mean by {moves[worst.layer, worst.head]:.1%} of their weight.{rest}",
            "It does not use its queries: try fewer heads, or train longer.",
            worst,
        )
