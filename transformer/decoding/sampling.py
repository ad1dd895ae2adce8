"""Sampling: the next token is drawn at random from a distribution with a temperature, top k and top p.

    p(token) = softmax(log p / temperature)
    top-k: only the k most probable tokens                       (Fan et al. 2018, arXiv:1805.04833)
    top-p: only the fewest whose probabilities sum to p          (Holtzman et al. 2020, arXiv:1904.09751)

Top p is applied to what top k leaves, with probabilities that sum to 1 again.

A uniform random number selects the token in whose interval of the cumulative sum it falls. All random numbers are drawn
before the search starts, those of each row from a generator of its own. So the result depends on the seed and the
sentence, not on its batch, on the device or on other threads.
"""

import zlib

import torch
from torch import Tensor

from transformer.config import DecodingConfig


def random_numbers(sources: list[list[int]], width: int, length: int, seed: int) -> Tensor:
    """(B, W, L) uniform in [0, 1): for each sentence W rows of L steps, the same whatever the other sentences are.

    With a larger L or more rows, the first numbers are the same.
    """
    numbers = torch.empty(len(sources), width, length, dtype=torch.float64)  # (B, W, L)
    for sentence, source in enumerate(sources):
        for row in range(width):
            identity = zlib.crc32(repr((seed, source, row)).encode())
            generator = torch.Generator().manual_seed(identity)
            torch.rand(length, generator=generator, out=numbers[sentence, row])
    return numbers


def device_of_sums(device: torch.device) -> torch.device:
    """The device of cumulative sums, which need float64: for Apple's GPU, which lacks it, the CPU."""
    return torch.device("cpu") if device.type == "mps" else device


def draw(log_probabilities: Tensor, random: Tensor, settings: DecodingConfig) -> Tensor:
    """Log-probabilities (B, W, V), -inf for tokens that may not be drawn, and uniform random numbers (B, W) -> tokens
    (B, W) on the device of the former. It computes on the device of the random numbers.
    """
    cumulative, ids = cumulative_sums(log_probabilities.to(random.device), settings)
    aim = random[:, :, None] * cumulative[..., -1:]  # (B, W, 1)
    # Trap: with right=False a random number of exactly 0 would draw the first token even if it is forbidden
    # (test_a_random_number_of_zero_draws_an_allowed_token).
    drawn = torch.searchsorted(cumulative, aim, right=True).clamp(max=cumulative.shape[-1] - 1)  # (B, W, 1)
    return (drawn if ids is None else ids.gather(-1, drawn)).squeeze(-1).to(log_probabilities.device)  # (B, W)


def cumulative_sums(log_probabilities: Tensor, settings: DecodingConfig) -> tuple[Tensor, Tensor | None]:
    """Log-probabilities (B, W, V) -> cumulative sums (B, W, V') of the probabilities of all tokens that may be drawn,
    and the ids (B, W, V') of these tokens; None if each id is the position of its token."""
    probabilities, ids, outside = truncated(log_probabilities, settings)  # (B, W, V') each
    return probabilities.masked_fill(outside, 0.0).cumsum(dim=-1), ids


def truncated(log_probabilities: Tensor, settings: DecodingConfig) -> tuple[Tensor, Tensor | None, Tensor]:
    """Log-probabilities (B, W, V) -> (B, W, V') each of the tokens that top k keeps: their probabilities; their ids, or
    None if each id is the position of its token; and which of them may not be drawn, as boolean."""
    scaled = log_probabilities / settings.temperature  # (B, W, V)
    ids = None
    if settings.top_k or settings.top_p < 1:
        vocabulary = log_probabilities.shape[-1]
        scaled, ids = scaled.topk(min(settings.top_k or vocabulary, vocabulary), dim=-1)  # (B, W, V') each, sorted
    probabilities = scaled.double().softmax(dim=-1)  # (B, W, V')
    outside = scaled == -torch.inf  # (B, W, V')
    if settings.top_p < 1:
        before = probabilities.cumsum(dim=-1) - probabilities  # (B, W, V'): the sum of the tokens before
        outside |= before >= settings.top_p
    return probabilities, ids, outside
