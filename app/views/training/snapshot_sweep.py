"""The results of all snapshots of a run for one sentence. They are computed in turns, so that the page shows the first
ones while the others are computed."""

import time
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
        unusable: the updates of the snapshots that cannot be used, the first one first. They are left out.
    """

    question: Question
    kind: Kind
    chosen_head: tuple[int, int] | None  # None: the clearest one
    results: dict[int, SnapshotResult]
    pending: list[int]
    unusable: list[int]

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
    unusable = list(question.unusable)
    for place, update in enumerate((last, *earlier)):
        if results and time.monotonic() > end:
            pending = earlier[place - 1 :]
            break
        file = question.files[update]
        try:
            found = snapshot_results.result_of(file, question.sentence, question.target, kind)
            if not results or _same_model(found, results[last]):
                results[update] = found
            else:
                unusable.append(update)
        except (HeadlightError, OSError) as error:
            gone = not file.is_there  # a run that is resumed has just deleted it
            if update == last:
                reason = str(error).replace(file.path, file.name)
                raise NothingToAsk(
                    _("The newest snapshot is gone. Reload the page.")
                    if gone
                    else _("The newest snapshot cannot be used. {reason}", reason=reason)
                ) from None
            if not gone:
                unusable.append(update)
    chosen = None if head == CLEAREST else head
    return Sweep(question, kind, chosen, dict(sorted(results.items())), pending, sorted(unusable))


def _same_model(one: SnapshotResult, other: SnapshotResult) -> bool:
    """Whether both have the same heads and tokens; a file of another run may be in the folder."""
    shapes = [each.attention.weights.shape for each in (one, other)]
    return shapes[0] == shapes[1] and (one.source, one.reads) == (other.source, other.reads)


def head_choices(layers: int, heads: int) -> list[tuple[int, int]]:
    """What RUN_HEAD may be: the clearest head, or layer and head from 0."""
    return [CLEAREST, *((layer, head) for layer in range(layers) for head in range(heads))]
