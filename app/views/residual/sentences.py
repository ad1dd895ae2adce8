"""What the page Residual stream says below its picture, in at most three sentences."""

from app.compute.outcomes import Outcome, outcome
from app.figures.axes import TokenAxis, in_words
from app.figures.theme import NATS, number
from app.languages import _, ngettext
from app.stage.scene import Scene
from app.views.residual.flow import largest_difference
from app.views.residual.stream import Stream, SubLayer, last_replaced, lost_before
from app.views.residual.stream_charts import are_sums

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
    if apart < 0.05:  # it would be written as 0.0
        size = _("the same")
    else:
        size = _("{nats:.1f} nats lower", nats=apart) if change > 0 else _("{nats:.1f} nats higher", nats=apart)
    if found.compared.first_difference is None:
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
    count, width = len(one.subs), one.embedding.shape[-1]
    later = count - max(lost_before(one), last_replaced(one))
    largest = number(largest_difference(one, pre_norm=True), 2)
    difference = _(
        "(largest difference from that sum in {count} numbers, by rounding: {largest})", count=width, largest=largest
    )
    begins = where_the_sum_begins(one)
    if not begins:
        return ngettext(
            "The last vector is the sum of the {start} and what {count} sub-layer added {difference}.",
            "The last vector is the sum of the {start} and what {count} sub-layers added {difference}.",
            count,
            start=start,
            difference=difference,
        )
    if not later:
        whole = _("That is the last vector.")
        return f"{begins} {whole}"
    adds_up = ngettext(
        "The last vector is the sum of that and what {count} later sub-layer added {difference}.",
        "The last vector is the sum of that and what {count} later sub-layers added {difference}.",
        later,
        difference=difference,
    )
    return f"{begins} {adds_up}"


def where_the_sum_begins(one: Stream) -> str:
    """For a pre-norm model: after which sub-layer an edit lets the stream begin again; "" if none does."""
    lost, begins = lost_before(one), last_replaced(one)
    if begins >= lost:
        return replaced_after(one.subs[begins - 1]) if begins else ""
    sub = one.subs[lost - 1]
    return _(
        "Layer {layer}, {name}, has no residual connection now: its output alone is the new stream.",
        layer=sub.layer + 1,
        name=sub.words,
    )


def replaced_after(sub: SubLayer) -> str:
    """That an edit replaces the stream after this sub-layer."""
    return _(
        "After layer {layer}, {name}, an edit replaces the vector by one of another sentence.",
        layer=sub.layer + 1,
        name=sub.words,
    )


def replaced_norms(one: Stream) -> list[str]:
    """For a post-norm model: after which sub-layers an edit replaces what LayerNorm gives, one sentence each."""
    return [replaced_after(sub) for sub, is_replaced in zip(one.subs, one.replaced[1:], strict=True) if is_replaced]


def _normalised(one: Stream) -> str:
    """For a post-norm model: what each LayerNorm normalises, and where an edit replaces the result."""
    return " ".join([_normalised_sum(one), *replaced_norms(one)])


def _normalised_sum(one: Stream) -> str:
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


def about_diamonds(one: Stream) -> str:
    """What the diamonds of the lengths are, for a pre-norm model."""
    if not all(are_sums(one, pre_norm=True)):
        return _(
            "Each diamond is the next point of the line: the new stream, which is not a sum where an edit takes away "
            "the residual connection or replaces the vector."
        )
    return _(
        "Each diamond is the next point of the line: the sum is the new stream. Lengths do not add up like numbers, "
        "because the added vector points in another direction; the table has the cosines."
    )


def about_norms(one: Stream) -> str:
    """The same for a post-norm model."""
    usual = _(
        "LayerNorm is applied to the stream itself: its input is a diamond, and its output is the next point of the "
        "line. So the gain of each LayerNorm sets the length of the stream, whatever was added."
    )
    return " ".join([usual, *replaced_norms(one)])
