"""The tree of a search: every candidate, its outcome, and the reason in a sentence.

It is made when the search is over, on request.
"""

import math

from transformer.config import BOS, EOS, DecodingConfig
from transformer.decoding.length_penalty import formula, length_penalty
from transformer.decoding.repetition import ends_in_loop
from transformer.decoding.search_record import Candidate, Ending, SearchRecord
from transformer.decoding.translation import Outcome, SearchNode
from transformer.text.tokenizer import Tokenizer


def search_tree(
    found: SearchRecord, ranked: list[Ending], settings: DecodingConfig, tokenizer: Tokenizer, prefix_length: int
) -> tuple[tuple[SearchNode, ...], list[int]]:
    """All candidates in the order of the steps, and the nodes where the hypotheses end.

    Args:
        ranked: the endings of the hypotheses, best first.
        prefix_length: length of the given prefix.
    """
    nodes = [SearchNode(0, None, 0, BOS, tokenizer.token(BOS), 0.0, 0.0, 0.0, "start", "Every output starts here.")]
    places: dict[tuple[int, int], int] = {}
    known: set[tuple[int, int]] = set()  # (parent, token)
    rows = [0] * max(len(kept) for kept in found.kept)  # the node of each row
    explain = Explanation(found, ranked, settings, prefix_length)
    for length, (candidates, kept) in enumerate(zip(found.candidates, found.kept, strict=True), start=1):
        for column, candidate in enumerate(candidates):
            if candidate.sum == -math.inf:  # forbidden, or a row that ended before
                continue
            outcome, reason = explain(length, column, candidate)
            # In sampling, several rows may be at the same node, such as <s>, and have the same alternatives: each
            # alternative gets one node.
            if (rows[candidate.parent], candidate.token_id) in known and outcome == "pruned":
                continue
            known.add((rows[candidate.parent], candidate.token_id))
            places[length, column] = len(nodes)
            nodes.append(
                SearchNode(
                    id=len(nodes),
                    parent=rows[candidate.parent],
                    step=length,
                    token_id=candidate.token_id,
                    token=tokenizer.token(candidate.token_id),
                    log_probability=candidate.log_probability,
                    sum=candidate.sum,
                    normalised=candidate.sum / length_penalty(length, settings),
                    outcome=outcome,
                    reason=reason,
                )
            )
        rows = [places.get((length, column), 0) for column in kept]
    return tuple(nodes), [places[ending.length, ending.candidate] for ending in ranked]


class Explanation:
    """The outcome of a candidate, and the reason."""

    def __init__(self, found: SearchRecord, ranked: list[Ending], settings: DecodingConfig, prefix_length: int):
        self.found, self.ranked, self.settings, self.prefix_length = found, ranked, settings, prefix_length
        self.beam = settings.beam if settings.method == "beam" and settings.beam > 1 else None
        last = len(found.candidates)
        rows = found.kept[-1][:1] if self.beam else found.kept[-1]  # of a beam, only the best row
        paths = [found.path(Ending(last, column, False)) for column in rows]
        self.loops = any(ends_in_loop([candidate.token_id for candidate in path]) for path in paths)

    def __call__(self, length: int, column: int, candidate: Candidate) -> tuple[Outcome, str]:
        kept = self.found.kept[length - 1]
        taken = column in kept
        if candidate.token_id == EOS and (column < self.beam if self.beam else taken):
            return "finished", self._finished(length, column, candidate)
        if not taken:
            return "pruned", self._pruned(length, candidate)
        if length < len(self.found.candidates):
            return "kept", self._kept(length, kept.index(column) + 1)
        if length >= self.found.limit:
            return "unfinished", f"Cut off: {length} tokens are the length limit."
        if self.loops:
            whose = "its best hypothesis" if self.beam else "its output"
            return "unfinished", f"Cut off: the search ended, because {whose} repeats one token."
        limit = self.found.limit
        best = candidate.sum / length_penalty(limit, self.settings)
        reach = f"{_written(candidate.sum)} / {formula(limit, self.settings)} = {_written(best)}"
        return (
            "stopped",
            "The search ended, because this one could no longer be among the best: the highest score it could reach, "
            f"at the length limit, is {reach}.",
        )

    def _kept(self, length: int, rank: int) -> str:
        if length <= self.prefix_length:
            return "It is in the prefix."
        if self.beam:
            reason = (
                f"Of the candidates without </s>, its sum of log-probabilities ranks {rank}; "
                f"the beam keeps {self.beam}."
            )
            return reason + self._ended_lower(length, rank)
        return "Drawn at random." if self.settings.method == "sampling" else "The most probable token."

    def _ended_lower(self, length: int, rank: int) -> str:
        """A sentence for a token of the translation that is not number 1 by its sum: finished hypotheses with number 1
        have a lower score. "" if that is not so."""
        first, own = self.found.kept[length - 1][0], self.found.kept[length - 1][rank - 1]
        if rank == 1 or not self.ranked or self._column(self.ranked[0], length) != own:
            return ""
        ended = [end for end in self.found.endings if end.finished and self._column(end, length) == first]
        best = max(map(self._score, ended), default=math.inf)
        won = self._score(self.ranked[0])
        if best >= won:
            return ""
        scores = f"{_written(best)} < {_written(won)}"
        return f" Candidate number 1 of this step also led to a finished translation, but with a lower score: {scores}."

    def _column(self, ending: Ending, length: int) -> int | None:
        """The candidate of a hypothesis at this step; None if the hypothesis is shorter."""
        if ending.length <= length:
            return ending.candidate if ending.length == length else None
        return self.found.kept[length - 1][self.found.path(ending)[length].parent]

    def _score(self, ending: Ending) -> float:
        return self.found.end(ending).sum / length_penalty(ending.length, self.settings)

    def _pruned(self, length: int, candidate: Candidate) -> str:
        if not self.beam:
            return "Not drawn." if self.settings.method == "sampling" else "Less probable than the token taken."
        if candidate.token_id == EOS:
            return f"It ends here, but is not among the best {self.beam} candidates of this step."
        lowest = self.found.candidates[length - 1][self.found.kept[length - 1][-1]].sum
        least = f"the lowest sum among them is {_written(lowest)}"
        return f"The beam keeps {self.beam} candidates; {least}, that of this one is lower."

    def _finished(self, length: int, column: int, candidate: Candidate) -> str:
        penalty = formula(length, self.settings)
        score = candidate.sum / length_penalty(length, self.settings)
        place = next((i for i, end in enumerate(self.ranked) if end[:2] == (length, column)), None)
        if place is None:
            rank = "Others scored better."
        else:
            rank = "It is the translation." if place == 0 else f"It is alternative {place + 1}."
        return f"It ends here, with the score {_written(candidate.sum)} / {penalty} = {_written(score)}. {rank}"


def _written(value: float) -> str:
    """A number with a minus sign (−, not a hyphen), as all numbers that are shown. z: 0.000, never −0.000."""
    return f"{value:z.3f}".replace("-", "−")
