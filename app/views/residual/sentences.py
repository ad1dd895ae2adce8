"""What the page Residual stream says below its picture, in at most three sentences."""

from app.compute.outcomes import Outcome, outcome
from app.figures.axes import TokenAxis, in_words
from app.figures.theme import NATS, number
from app.languages import _, ngettext
from app.stage.scene import Scene
from app.views.residual.flow import largest_difference
from app.views.residual.stream import Stream, lost_before

MOST = 160  # characters of a translation


def sentences(scene: Scene, one: Stream, tokens: TokenAxis, row: int, start: str) -> list[str]:
    """What the picture shows, the rounding of the sum, and what edits do to the translation.

    Args:
        one: the stream of the token `row`. start: what it starts with, in words.
    """
    adds_up = _sum(one, start) if scene.config.norm == "pre" else _normalised(one)
    if scene.subject.edits:
        settings = scene.translation.settings
        return [of_edits(outcome(scene.subject, scene.translation.source, settings)), adds_up]
    return [
        _(
            "Thick rows: the vector of “{token}” in the {stack} after each sub-layer; thin rows: what that sub-layer "
            "adds; direction: the angle to the last vector.",
            token=in_words(tokens.tokens[row]),
            stack=_(tokens.role),
        ),
        _around(pre_norm=scene.config.norm == "pre"),
        adds_up,
    ]


def of_edits(found: Outcome) -> str:
    """Whether the edits change the translation, and how they change the log-probability of the original one."""
    change = sum(found.lost)
    nats = _(NATS)
    apart = abs(change)
    size = _("{nats:.1f} nats lower", nats=apart) if change > 0 else _("{nats:.1f} nats higher", nats=apart)
    if found.compared.parts_at is None:
        return _(
            "With these edits the translation stays the same; its log-probability is {size} ({nats}).",
            size=size,
            nats=nats,
        )
    text = found.before.text
    written = text if len(text) <= MOST else f"{text[:MOST]}…"
    return _(
        "The original model writes “{written}”; for the edited one the log-probability of that is {size} ({nats}).",
        written=written,
        size=size,
        nats=nats,
    )


def _around(*, pre_norm: bool) -> str:
    """What a residual connection is."""
    formula = "x + FFN(LayerNorm(x))" if pre_norm else "LayerNorm(x + FFN(x))"
    return _(
        "The residual connection of a sub-layer adds its input x to its output: for a feed-forward network, {formula}.",
        formula=formula,
    )


def _sum(one: Stream, start: str) -> str:
    """For a pre-norm model: the vectors whose sum is the last vector."""
    count, lost, width = len(one.subs), lost_before(one), one.embedding.shape[-1]
    largest = number(largest_difference(one, pre_norm=True), 2)
    difference = _("(largest difference in {count} numbers: {largest})", count=width, largest=largest)
    if not lost:
        return ngettext(
            "The last vector is the sum of the {start} and what {count} sub-layer added {difference}.",
            "The last vector is the sum of the {start} and what {count} sub-layers added {difference}.",
            count,
            start=start,
            difference=difference,
        )
    sub = one.subs[lost - 1]
    alone = _(
        "Layer {layer}, {name}, has no residual connection now: its output alone is the new stream.",
        layer=sub.layer + 1,
        name=sub.words,
    )
    adds_up = ngettext(
        "The last vector is the sum of that and what {count} later sub-layer added {difference}.",
        "The last vector is the sum of that and what {count} later sub-layers added {difference}.",
        count - lost,
        difference=difference,
    )
    return f"{alone} {adds_up}"


def _normalised(one: Stream) -> str:
    """For a post-norm model: what each LayerNorm normalises."""
    difference = number(largest_difference(one, pre_norm=False), 2)
    if lost_before(one):
        return ngettext(
            "After each of {count} sub-layer, LayerNorm normalises the sum of the stream and what was added, or, "
            "without the residual connection, only what was added (largest difference from that: {difference}). The "
            "result is the new stream.",
            "After each of {count} sub-layers, LayerNorm normalises the sum of the stream and what was added, or, "
            "without the residual connection, only what was added (largest difference from that: {difference}). The "
            "result is the new stream.",
            len(one.subs),
            difference=difference,
        )
    return ngettext(
        "After each of {count} sub-layer, LayerNorm normalises the sum of the stream and what was added (largest "
        "difference from that sum: {difference}); the result is the new stream.",
        "After each of {count} sub-layers, LayerNorm normalises the sum of the stream and what was added (largest "
        "difference from that sum: {difference}); the result is the new stream.",
        len(one.subs),
        difference=difference,
    )
