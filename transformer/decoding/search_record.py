"""The record of a search: the candidates of every step, from which hypotheses and the tree are made at the end.

The search only appends to the record. A hypothesis is found by its last candidate: from there, follow the parents.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor


class Step(NamedTuple):
    """One step of a search over B sentences. For each sentence, the W_0 rows of the step before give C candidates; W of
    them become the rows of the next step."""

    sentences: list[int]  # B: the sentences still in the batch
    tokens: Tensor  # (B, C)
    parents: Tensor  # (B, C): row of the step before, 0 to W_0 - 1
    log_probabilities: Tensor  # (B, C)
    sums: Tensor  # (B, C)
    kept: Tensor  # (B, W): the candidates that are the rows of the next step


class Ending(NamedTuple):
    """Where a hypothesis ends: candidate number `candidate` of steps[length - 1]."""

    length: int  # tokens, </s> included
    candidate: int
    finished: bool  # with </s>


class Candidate(NamedTuple):
    """One candidate of one step (a column of `Step`), as plain numbers."""

    token_id: int
    parent: int
    log_probability: float
    sum: float


@dataclass(frozen=True)
class SearchRecord:
    """The record of one sentence, as plain numbers."""

    endings: list[Ending]
    candidates: list[list[Candidate]]  # of each step
    kept: list[list[int]]  # of each step: row -> candidate
    limit: int  # of the length

    def end(self, ending: Ending) -> Candidate:
        """The last candidate of a hypothesis."""
        return self.candidates[ending.length - 1][ending.candidate]

    def path(self, ending: Ending) -> list[Candidate]:
        """The candidates from the first token to the last."""
        path = []
        column = ending.candidate
        for step in range(ending.length - 1, -1, -1):
            candidate = self.candidates[step][column]
            path.append(candidate)
            if step:
                column = self.kept[step - 1][candidate.parent]
        return path[::-1]


def gather(steps: list[Step], endings: list[list[Ending]], limits: list[int]) -> list[SearchRecord]:
    """Splits the steps of a batch into one `SearchRecord` for each sentence."""
    found = [SearchRecord(ended, [], [], limit) for ended, limit in zip(endings, limits, strict=True)]
    for step in steps:
        columns = (step.tokens, step.parents, step.log_probabilities, step.sums)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for sentence, row, kept in zip(step.sentences, rows, step.kept.tolist(), strict=True):
            found[sentence].candidates.append([Candidate(*column) for column in zip(*row, strict=True)])
            found[sentence].kept.append(kept)
    return found
