"""Sampling: the next piece is drawn at random, from a distribution that may be sharpened and cut.

    p(piece) = softmax(logits / temperature)
    top-k: only the k most probable pieces                       (Fan et al. 2018, arXiv:1805.04833)
    top-p: only the fewest whose probabilities sum to p          (Holtzman et al. 2019, arXiv:1904.09751)

A piece is drawn by turning a uniform random number into the piece whose stretch of the cumulative sum it falls in. So
all random numbers can be made before the search starts, each row's from a generator of its own: what is drawn depends
on the seed and the sentence, not on its batch, on the device or on other threads.
"""

import zlib

import torch
from torch import Tensor

from transformer.config import DecodingConfig


def random_numbers(sources: list[list[int]], width: int, length: int, seed: int) -> Tensor:
    """(B, W, L) uniform in [0, 1): for each sentence W rows of L steps, the same whatever the other sentences are.

    A row's numbers do not depend on L either, nor on how many rows come after it.
    """
    numbers = torch.empty(len(sources), width, length, dtype=torch.float64)  # (B, W, L)
    for sentence, source in enumerate(sources):
        for row in range(width):
            identity = zlib.crc32(repr((seed, source, row)).encode())
            generator = torch.Generator().manual_seed(identity)
            torch.rand(length, generator=generator, out=numbers[sentence, row])
    return numbers


def device_of_sums(device: torch.device) -> torch.device:
    """Where cumulative sums are made, which need float64: Apple's GPU has none, so the CPU stands in for it."""
    return torch.device("cpu") if device.type == "mps" else device


def draw(logits: Tensor, random: Tensor, settings: DecodingConfig) -> Tensor:
    """logits (B, W, V), uniform random numbers (B, W) -> pieces (B, W) on the device of the logits.

    Everything between is computed where the random numbers lie.
    """
    cumulative, ids = stretches(logits.to(random.device), settings)
    aim = random[:, :, None] * cumulative[..., -1:]  # (B, W, 1)
    # Trap: with right=False a random number of exactly 0 would draw the first piece even if it is forbidden
    # (test_a_random_number_of_zero_draws_an_allowed_piece).
    drawn = torch.searchsorted(cumulative, aim, right=True).clamp(max=cumulative.shape[-1] - 1)  # (B, W, 1)
    return (drawn if ids is None else ids.gather(-1, drawn)).squeeze(-1).to(logits.device)  # (B, W)


def stretches(logits: Tensor, settings: DecodingConfig) -> tuple[Tensor, Tensor | None]:
    """The line on which a random number falls: logits (B, W, V) -> cumulative sums (B, W, V') of the probabilities of
    all pieces that may be drawn, and the ids (B, W, V') of the pieces they belong to; None: the place is the id."""
    scaled = logits / settings.temperature  # (B, W, V)
    ids = None
    if settings.top_k or settings.top_p < 1:
        pieces = logits.shape[-1]
        scaled, ids = scaled.topk(min(settings.top_k or pieces, pieces), dim=-1)  # (B, W, V'), the most probable first
    probabilities = scaled.double().softmax(dim=-1)  # (B, W, V')
    cumulative = probabilities.cumsum(dim=-1)  # (B, W, V')
    if settings.top_p < 1:
        outside = cumulative - probabilities >= settings.top_p  # (B, W, V'): those before it are enough
        cumulative = probabilities.masked_fill(outside, 0.0).cumsum(dim=-1)  # (B, W, V')
    return cumulative, ids
