"""From logits to what may be predicted next, and the best of it."""

import math

import torch
from torch import Tensor, promote_types
from torch import float32 as single

from transformer.config import EOS

BLOCK = 64  # neighbouring pieces of the vocabulary
WITHIN = torch.arange(BLOCK)
FEW = 4  # sentences: for so few, the one best of each is found sooner by reading everything once


def score(logits: Tensor, forced: int | None) -> Tensor:
    """Logits (B, W, V) of what comes next -> log-probabilities (B, W, V), in float32 or better.

    PAD, UNK and BOS never come next; if a piece is `forced` (a prefix that the user gave), nothing else does. What is
    forbidden becomes -inf; what is left keeps the probability that the model gave it.
    """
    scores = logits.log_softmax(dim=-1, dtype=promote_types(logits.dtype, single))  # (B, W, V)
    if forced is None:
        scores.narrow(-1, 0, EOS).fill_(-math.inf)  # PAD, UNK and BOS are the ids below EOS
    else:
        only = scores[..., forced].clone()  # (B, W)
        scores.fill_(-math.inf)
        scores[..., forced] = only
    return scores


def best(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` highest of scores (B, W, V), the highest first, and their ids: (B, W, count) each.

    As `topk`, which on a CPU searches the whole vocabulary with much care. Here it searches the maxima of blocks of 64
    pieces, and then the blocks that have the highest: all of the best are in those.
    """
    pieces = scores.shape[-1]
    if count == 1 and len(scores) <= FEW:
        return scores.max(dim=-1, keepdim=True)  # (B, W, 1) each
    in_blocks = pieces - pieces % BLOCK
    if not scores.is_cpu or 2 * count * BLOCK > in_blocks:
        return scores.topk(min(count, pieces), dim=-1)
    blocks = scores[..., :in_blocks].view(*scores.shape[:-1], -1, BLOCK)  # (B, W, V/64, 64)
    chosen = blocks.amax(dim=-1).topk(count, dim=-1).indices.unsqueeze(-1)  # (B, W, count, 1)
    offered = blocks.gather(-2, chosen.expand(-1, -1, -1, BLOCK)).flatten(-2)  # (B, W, C), C = 64 * count
    ids = (chosen * BLOCK + WITHIN).flatten(-2)  # (B, W, C)
    if in_blocks < pieces:  # what is left over
        offered = torch.cat([offered, scores[..., in_blocks:]], dim=-1)  # (B, W, C')
        left_over = torch.arange(in_blocks, pieces).expand(*ids.shape[:-1], -1)  # (B, W, V % 64)
        ids = torch.cat([ids, left_over], dim=-1)  # (B, W, C')
    highest, places = offered.topk(count, dim=-1)  # (B, W, count)
    return highest, ids.gather(-1, places)
