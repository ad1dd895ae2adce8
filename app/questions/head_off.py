"""One head was switched off: which one? Up to five heads are given, with what each attends to.

The question says how much lower the log-probability of the translation is without the head, in nats, and which token
loses most. Margin: the smallest difference between the loss without the right head and the loss without another given
head. It is at least 0.4 nats and at least a quarter of the loss without the right head, which is at least 0.5 nats.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from app.compute import cached_results
from app.figures.axes import TokenAxis
from app.figures.shares import decimal_text, probability_text
from app.figures.softmax import softmax
from app.figures.theme import fixed
from app.languages import _, gettext_noop
from app.questions.question import MOST_ANSWERS, Place, Question, candidates, token_name
from app.stage.scene import Scene
from transformer.analysis.edits import HeadOff, edit_text
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import Kind, depth

LEAST_LOSS = 0.5  # nats
LEAST_MARGIN = 0.4  # nats
LEAST_SHARE = 0.25  # of the loss
LEAST_ANSWERS = 3
MOST_WORDS = 12  # of another translation
ONE_IS_OFF: dict[Kind, str] = {
    "cross": gettext_noop("One head of encoder-decoder attention is off."),
    "encoder": gettext_noop("One head of encoder self-attention is off."),
    "decoder": gettext_noop("One head of decoder self-attention is off."),
}

Head = tuple[int, int]  # layer and head


@dataclass(frozen=True)
class _Losses:
    """What is lost without each head of one kind of attention.

    Attributes:
        all_heads: the log-probability of each token with all heads, (T) float64.
        without: the same without one head, for each head.
    """

    kind: Kind
    all_heads: np.ndarray
    without: dict[Head, np.ndarray]

    def lost(self, head: Head) -> float:
        """The loss of the whole translation without this head, in nats."""
        return float(self.all_heads.sum() - self.without[head].sum())

    def step(self, head: Head) -> int:
        """The step whose token loses most."""
        return int((self.all_heads - self.without[head]).argmax())


def head_off(scene: Scene, place: Place, draw: Random) -> Question | None:
    """If the place has no kind of attention, the first kind with a clear case is taken. The answers are in the order of
    the layers."""
    kinds: tuple[Kind, ...] = (place.kind,) if place.kind else ("cross", "decoder", "encoder")
    return next(filter(None, (_of_kind(scene, kind, place, draw) for kind in kinds)), None)


def _of_kind(scene: Scene, kind: Kind, place: Place, draw: Random) -> Question | None:
    layers = candidates(depth(scene.config, kind), place.layer)
    heads = [(layer, head) for layer in layers for head in range(scene.config.heads)]
    if len(heads) < LEAST_ANSWERS:
        return None
    found = _losses(scene, kind, heads)
    lost = {head: found.lost(head) for head in heads}
    for right in draw.sample(heads, len(heads)):
        others = [head for head in heads if abs(lost[head] - lost[right]) >= least_margin(lost[right])]
        if lost[right] >= LEAST_LOSS and len(others) >= LEAST_ANSWERS - 1:
            given = sorted([right, *draw.sample(others, min(len(others), MOST_ANSWERS - 1))])
            return _question(scene, found, right, given)
    return None


def least_margin(lost: float) -> float:
    """How much the loss without another head must differ from `lost`, that without the right one, in nats."""
    return max(LEAST_MARGIN, LEAST_SHARE * lost)


def _losses(scene: Scene, kind: Kind, heads: list[Head]) -> _Losses:
    logits, ids = scene.step_logits, scene.hypothesis.ids  # (T, V)
    all_heads = np.log([softmax(row)[id] for row, id in zip(logits, ids, strict=True)])  # (T)
    texts = tuple(edit_text(HeadOff(kind, *head)) for head in heads)
    asked = scene.subject.as_in_steps, scene.translation.source_ids, ids, texts
    each = cached_results.with_each_edit(*asked)  # (heads, T)
    return _Losses(kind, all_heads, dict(zip(heads, each, strict=True)))


def _question(scene: Scene, losses: _Losses, right: Head, given: list[Head]) -> Question:
    kind, step, lost = losses.kind, losses.step(right), losses.lost(right)
    token = token_name(TokenAxis("", "decoder", scene.target.predicts), step)
    was, now = (probability_text(float(np.exp(each[step]))) for each in (losses.all_heads, losses.without[right]))
    falls = _(
        "The log-probability of the translation falls by {lost:.1f} nats, most at {token} ({was} to {now}).",
        lost=lost,
        token=token,
        was=was,
        now=now,
    )
    brackets = (
        _("In brackets: the token to which each head attends most, on average over the rows, and the weight.")
        if kind == "encoder"
        else _(
            "In brackets: the token to which each head attends most in the row that predicts {token}, and the weight.",
            token=token,
        )
    )
    prompt = (_(ONE_IS_OFF[kind]), falls, _writes(scene, kind, right), _("Which head is off?"), brackets)
    others = ", ".join(f"{fixed(losses.lost(head), 1)} ({_short(head)})" for head in given if head != right)
    return Question(
        "head-off",
        " ".join(filter(None, prompt)),
        tuple(_name(scene, kind, head, step) for head in given),
        given.index(right),
        _(
            "Without {head}, the translation loses {lost:.1f} nats. Without the others it loses: {others}.",
            head=_short(right),
            lost=lost,
            others=others,
        ),
        min(abs(losses.lost(head) - lost) for head in given if head != right),
        Place("whatif", kind, *right, step),
    )


def _writes(scene: Scene, kind: Kind, head: Head) -> str:
    """What the model writes without the head."""
    try:
        written = scene.best(scene.subject.edited(HeadOff(kind, *head))).text
    except HeadlightError:
        return ""
    if written == scene.best(scene.subject).text:
        return _("The model still writes the same.")
    words = written.split(" ")
    cut = " …" if len(words) > MOST_WORDS else ""
    shown = (" ".join(words[:MOST_WORDS]) or _("(nothing)")) + cut
    return _("The model now writes “{words}”.", words=shown)


def _name(scene: Scene, kind: Kind, head: Head, step: int) -> str:
    """The head and the token to which it attends most, in the row of the token that loses most; in the encoder, on
    average over the rows. What is lost is measured in the steps of decoding, so the weights are those of the steps."""
    weights = scene.as_in_steps.attention(kind).weights[head]  # (Q, K)
    row = weights.mean(axis=0) if kind == "encoder" else weights[step]  # (K)
    key = int(row.argmax())
    return f"{_short(head)} ({token_name(scene.axes(kind)[1], key)}, {decimal_text(float(row[key]))})"


def _short(head: Head) -> str:
    return _("layer {layer}, head {head}", layer=head[0] + 1, head=head[1] + 1)
