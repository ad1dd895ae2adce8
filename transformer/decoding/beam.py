"""Beam search (paper, section 6.1): at each step the k best hypotheses are kept, k = 4 in the paper.

The 2k best continuations of all live hypotheses are candidates. Trap: among the k best, up to k may end with </s>, so k
candidates could leave no live hypothesis (test_ends_do_not_crowd_out_the_beam). Candidates that end are finished if
they are among the k best; the k best that do not end are kept.

The search is over when no live hypothesis can win any more. A sum of log-probabilities only falls, and the length
penalty only grows, so the best score that a live hypothesis of sum s can reach is s / lp(length limit). Trap: comparing
with s / lp(current length) stops too early (test_stopping_early_never_changes_the_result). A sentence keeps its k rows
until then.
"""

import math

import torch
from torch import Tensor

from transformer.config import EOS, DecodingConfig
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.log_probabilities import next_log_probabilities
from transformer.decoding.search_record import Ending, Step
from transformer.kernels.topk import topk


class Beam:
    """The state of a beam search over B sentences.

    Args:
        limits: the length limit of each sentence.
    """

    reorders = True  # hypotheses change places from step to step
    width = 1  # rows per sentence at the start: one <s>

    def __init__(self, settings: DecodingConfig, limits: list[int], device: torch.device):
        self.settings = settings
        self.size = settings.beam
        self.sums = torch.zeros(len(limits), 1, device=device)  # (B, W) of the live hypotheses, best first
        penalties = [length_penalty(limit, settings) for limit in limits]
        self.penalty_at_limit = torch.tensor(penalties, device=device)  # (B)
        nothing = torch.full((len(limits), settings.n_best), -math.inf, device=device)  # (B, N)
        self.finished = nothing  # (B, N) normalised scores of the N best that finished, best first
        self.places = torch.zeros_like(nothing, dtype=torch.long)  # (B, N): where they ended: length * 2k + candidate
        self.length = 0
        self.may_be_done = False  # whether a hypothesis has finished

    def advance(self, sentences: list[int], logits: Tensor, forced: int | None) -> Step:
        """logits (B, W, V) of the next token: chooses the hypotheses to keep, and stores those that finish."""
        self.length += 1
        log_probabilities, tokens = topk(next_log_probabilities(logits, forced), 2 * self.size)  # (B, W, 2k)
        width = tokens.shape[-1]  # 2k, fewer if the vocabulary has fewer
        sums = (self.sums.unsqueeze(-1) + log_probabilities).flatten(1)  # (B, W*2k)
        sums, places = sums.topk(min(2 * self.size, sums.shape[1]))  # (B, C), C = 2k, fewer at the start
        tokens = tokens.flatten(1).gather(1, places)  # (B, C)
        log_probabilities = log_probabilities.flatten(1).gather(1, places)  # (B, C)
        parents = places // width  # (B, C)

        ends = tokens == EOS  # (B, C)
        # Forbidden candidates have a sum of -inf. If there are fewer than k others, forbidden ones fill the beam, and
        # their sums stay -inf.
        kept_count = min(self.size, sums.shape[1])  # W
        if ends.any():  # waits for the device
            self.may_be_done = True
            self._finish(sums, ends)
            self.sums, kept = sums.masked_fill(ends, -math.inf).topk(kept_count)  # (B, W)
        else:  # the candidates are sorted
            self.sums = sums[:, :kept_count]  # (B, W)
            kept = torch.arange(kept_count, device=sums.device).expand_as(self.sums)  # (B, W)
        return Step(sentences, tokens, parents, log_probabilities, sums, kept)

    def _finish(self, sums: Tensor, ends: Tensor) -> None:
        """Stores the candidates (B, C) that end and are among the k best."""
        normalised = sums[:, : self.size] / length_penalty(self.length, self.settings)  # (B, k)
        normalised = normalised.masked_fill(~ends[:, : self.size], -math.inf)  # (B, k)
        here = torch.arange(normalised.shape[1], device=sums.device) + self.length * 2 * self.size  # (k)
        scores = torch.cat([self.finished, normalised], dim=1)  # (B, N + k)
        places = torch.cat([self.places, here.expand_as(normalised)], dim=1)  # (B, N + k)
        self.finished, ranked = scores.topk(self.finished.shape[1])  # (B, N)
        self.places = places.gather(1, ranked)  # (B, N)

    def done(self) -> Tensor:
        """(B) boolean: no live hypothesis can be among the best any more."""
        attainable = self.sums[:, 0] / self.penalty_at_limit  # (B)
        return self.finished[:, -1] >= attainable  # (B)

    def is_looping(self, too_long: Tensor) -> Tensor:
        """(B) boolean: the best live hypothesis is one of too_long (B, W), those that repeat one token."""
        return too_long[:, 0]  # (B)

    def endings(self, slot: int, step: Step) -> list[Ending]:
        """For a sentence that is done: the N best that finished; if fewer than N finished, also live hypotheses, which
        are cut off."""
        places = self.places[slot][self.finished[slot] != -math.inf].tolist()
        ended = [Ending(place // (2 * self.size), place % (2 * self.size), True) for place in places]
        alive = zip(self.sums[slot].tolist(), step.kept[slot].tolist(), strict=True)
        cut_off = [Ending(self.length, candidate, False) for total, candidate in alive if total != -math.inf]
        return (ended + cut_off)[: self.settings.n_best]

    def select(self, slots: Tensor) -> None:
        """Keeps these of the B sentences."""
        self.sums, self.penalty_at_limit = self.sums[slots], self.penalty_at_limit[slots]
        self.finished, self.places = self.finished[slots], self.places[slots]
