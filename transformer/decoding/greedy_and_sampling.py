"""Greedy decoding and sampling: independent rows, each of which takes one token per step until it takes </s>.

Greedy takes the most probable token. Sampling draws one at random (sampling.py), in `n_best` rows per sentence.
"""

import math

import torch
from torch import Tensor

from transformer.config import EOS, PAD, DecodingConfig
from transformer.decoding.log_probabilities import next_log_probabilities
from transformer.decoding.sampling import device_of_sums, draw, random_numbers
from transformer.decoding.search_record import Ending, Step
from transformer.kernels.topk import topk


class GreedyOrSampling:
    """The state of greedy decoding or sampling over B sentences.

    Args:
        sources: the ids of each sentence; its random numbers depend only on these ids and on the seed.
        limits: the length limit of each sentence.
        alternatives: how many other tokens each step records for the tree. They do not change the result.
    """

    reorders = False  # row i stays row i

    def __init__(
        self,
        settings: DecodingConfig,
        sources: list[list[int]],
        limits: list[int],
        device: torch.device,
        alternatives: int = 0,
    ):
        self.settings = settings
        self.alternatives = alternatives
        self.length = 0
        self.width = settings.n_best if settings.method == "sampling" else 1  # W
        if settings.method == "sampling":
            numbers = random_numbers(sources, self.width, max(limits), settings.seed)  # (B, W, L)
            self.random = numbers.to(device_of_sums(device))  # (B, W, L)
        self.sums = torch.zeros(len(sources), self.width, device=device)  # (B, W)
        self.ended = torch.zeros_like(self.sums, dtype=torch.long)  # (B, W): its length; 0 = not ended
        self.may_be_done = False  # whether a row has ended
        self.rows = torch.arange(self.width, device=device).expand_as(self.ended)  # (B, W): each is its own parent

    def advance(self, sentences: list[int], logits: Tensor, forced: int | None) -> Step:
        """logits (B, W, V) of the next token: each row takes one."""
        scores = next_log_probabilities(logits, forced)  # (B, W, V)
        if self.settings.method == "sampling":
            tokens = draw(scores, self.random[:, :, self.length], self.settings)[:, :, None]  # (B, W, 1)
            log_probabilities = scores.gather(-1, tokens)  # (B, W, 1)
        else:
            log_probabilities, tokens = topk(scores, 1)  # (B, W, 1)
        log_probabilities, tokens = log_probabilities.squeeze(-1), tokens.squeeze(-1)  # (B, W)
        self.length += 1
        before = self.sums  # (B, W)
        if self.width > 1:
            # A row that has ended reads PAD until all rows of its sentence have ended; -inf = it has no candidate.
            over = self.ended > 0  # (B, W)
            tokens = tokens.masked_fill(over, PAD)  # (B, W)
            before = before.masked_fill(over, -math.inf)  # (B, W)
        self.sums = before + log_probabilities  # (B, W)
        ends = tokens == EOS  # (B, W)
        if ends.any():  # waits for the device
            self.may_be_done = True
            self.ended = self.ended.masked_fill(ends, self.length)  # (B, W)

        step = Step(sentences, tokens, self.rows, log_probabilities, self.sums, kept=self.rows)
        return self._with_alternatives(step, scores, before) if self.alternatives else step

    def _with_alternatives(self, step: Step, scores: Tensor, before: Tensor) -> Step:
        """Adds, after the W tokens taken, the A most probable others of each row."""
        left = scores.scatter(-1, step.tokens[:, :, None], -math.inf)  # (B, W, V)
        offered, tokens = topk(left, self.alternatives)  # (B, W, A)
        sums = (before[:, :, None] + offered).flatten(1)  # (B, W*A)
        parents = step.parents[:, :, None].expand_as(tokens).flatten(1)  # (B, W*A)
        return Step(
            step.sentences,
            torch.cat([step.tokens, tokens.flatten(1)], dim=1),  # (B, C), C = W + W*A
            torch.cat([step.parents, parents], dim=1),  # (B, C)
            torch.cat([step.log_probabilities, offered.flatten(1)], dim=1),  # (B, C)
            torch.cat([step.sums, sums], dim=1),  # (B, C)
            step.kept,
        )

    def done(self) -> Tensor:
        """(B) boolean: all rows have ended."""
        return (self.ended > 0).all(dim=1)  # (B)

    def is_looping(self, too_long: Tensor) -> Tensor:
        """(B) boolean: each row has ended or is one of too_long (B, W), those that repeat one token."""
        return (too_long | (self.ended > 0)).all(dim=1)  # (B)

    def endings(self, slot: int, step: Step) -> list[Ending]:
        """For a sentence that is done: its rows, also those that were cut off."""
        lengths = self.ended[slot].tolist()
        return [Ending(length or self.length, row, finished=length > 0) for row, length in enumerate(lengths)]

    def select(self, slots: Tensor) -> None:
        """Keeps these of the B sentences."""
        self.sums, self.ended, self.rows = self.sums[slots], self.ended[slots], self.rows[slots]
        if self.settings.method == "sampling":
            self.random = self.random[slots.to(self.random.device)]
