"""The results of all snapshots of a run for one sentence. They are computed in turns, so that the page shows the first
ones while the others are computed."""

import time
from contextlib import suppress
from dataclasses import dataclass

from app.compute import snapshot_results
from app.compute.snapshot_results import SnapshotResult
from app.figures.axes import TokenAxis
from app.figures.head_sharpness import clearest_head
from app.languages import _
from app.state.choices import CLEAREST, RUN_HEAD, RUN_KIND
from app.views.training.snapshot_question import NothingToAsk, Question
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import KINDS, Kind, depth

SECONDS_AT_ONCE = 0.6  # seconds of computing


@dataclass(frozen=True)
class Sweep:
    """The results of all snapshots for one sentence.

    Attributes:
        question: the sentence and the translation that all of them read.
        results: by update, the first one first; the newest is always among them.
        pending: the updates of the snapshots that are not computed yet.
    """

    question: Question
    kind: Kind
    chosen_head: tuple[int, int] | None  # None: the clearest one
    results: dict[int, SnapshotResult]
    pending: list[int]

    @property
    def updates(self) -> list[int]:
        return list(self.results)

    @property
    def losses(self) -> list[float]:
        return [result.loss for result in self.results.values()]

    @property
    def newest(self) -> SnapshotResult:
        return self.results[max(self.results)]

    @property
    def axes(self) -> tuple[TokenAxis, TokenAxis]:
        """(queries, keys)."""
        task, says = self.question.task, self.question.says
        source = TokenAxis(_("{language} (source)", language=task.source), "encoder", self.newest.source)
        target = TokenAxis(f"{task.target} ({says})", "decoder", self.newest.reads, self.newest.predicts)
        if self.kind == "encoder":
            return source, source
        return target, source if self.kind == "cross" else TokenAxis(
            _("{title}, as read", title=target.title), "decoder", target.tokens
        )

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head, from 0: the chosen one, or the clearest of the newest snapshot."""
        queries, keys = self.axes
        weights = self.newest.attention.weights
        return self.chosen_head or clearest_head(weights, queries.predicts or queries.tokens, keys.tokens)


def sweep(question: Question) -> Sweep:
    """Computes the newest snapshot, then the others from the first on, until the time of one turn is over.

    Results of earlier turns are cached, so each turn computes further ones. Raises NothingToAsk.
    """
    kind = RUN_KIND.open(allowed=KINDS)
    layers, heads = depth(question.config, kind), question.config.heads
    head = RUN_HEAD.open(allowed=head_choices(layers, heads))
    end = time.monotonic() + SECONDS_AT_ONCE
    *earlier, last = question.files
    results: dict[int, SnapshotResult] = {}
    pending: list[int] = []
    try:
        for place, update in enumerate((last, *earlier)):
            if results and time.monotonic() > end:
                pending = earlier[place - 1 :]
                break
            with suppress(OSError):  # a run that is resumed has just deleted this snapshot
                results[update] = snapshot_results.result_of(
                    question.files[update], question.sentence, question.target, kind
                )
    except HeadlightError as error:
        raise NothingToAsk(str(error)) from None
    if last not in results:
        raise NothingToAsk(_("The newest snapshot is gone. Reload the page."))
    return Sweep(question, kind, None if head == CLEAREST else head, dict(sorted(results.items())), pending)


def head_choices(layers: int, heads: int) -> list[tuple[int, int]]:
    """What RUN_HEAD may be: the clearest head, or layer and head from 0."""
    return [CLEAREST, *((layer, head) for layer in range(layers) for head in range(heads))]
