"""Self-attention does not depend on order: the encoder's outputs of two orders of the same words, with the positions,
without them, and of a small model that was trained without them."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.components import comparison
from app.components.comparison import Cell, Row
from app.figures.theme import number, role_color
from app.languages import _, pgettext
from app.stage.scene import Scene
from app.views.shared.order_translations import WITHOUT, Pair, both_orders, trained_without
from app.views.shared.word_orders import Moved, Order, moved, reordered, sentence_of


@dataclass(frozen=True)
class BothOrders:
    """What one model makes of both orders.

    Attributes:
        model: its name on the page.
        read: the other order as a sentence, if it is not that of the page: the small model has tokens of its own.
    """

    model: str
    moved: Moved
    pair: Pair
    read: str = ""


def by_each_model(scene: Scene, order: Order) -> list[BothOrders]:
    """Both orders by the original model, by the same model without positions (unless it has none itself), and by the
    small model, if there is one."""
    original, ids = scene.subject.original, scene.translation.source_ids
    other, settings, target = reordered(ids, order), scene.translation.settings, scene.hypothesis.ids
    models = [(_("With positions"), original), (pgettext("positions", "Removed"), original.edited(WITHOUT))]
    if scene.config.positions == "none":
        models = [(pgettext("positions", "This model: none"), original)]
    found = [
        BothOrders(name, moved(each, ids, target, order), both_orders(each, ids, other, settings))
        for name, each in models
    ]
    if small := trained_without(scene, 1):
        found.append(BothOrders(pgettext("positions", "Trained without"), small.moved, small.pair, small.sentence))
    return found


def draw_comparison(scene: Scene, order: Order, found: Sequence[BothOrders], *, key: str) -> None:
    """Draws a small table with bars."""
    text = reordered_text(scene, order)
    rows = (
        Row(
            _("Largest difference of the encoder's outputs, put back in order"),
            tuple(
                Cell(number(each.moved.largest, 2), _share(each.moved), share=float(min(each.moved.shares.mean(), 1)))
                for each in found
            ),
        ),
        Row(_("Translation of “{sentence}”", sentence=text), tuple(_translated(each) for each in found)),
    )
    comparison(
        [each.model for each in found],
        rows,
        title=_("The same words in another order"),
        key=key,
        color=role_color("encoder"),
        language=scene.task.target_code,
    )


def reordered_text(scene: Scene, order: Order) -> str:
    """The sentence that one would have to type for this order."""
    return sentence_of(reordered(scene.translation.source_ids, order), scene.subject.translator)


def _share(found: Moved) -> str:
    mean = float(found.shares.mean())
    return _("only rounding") if mean < 1e-4 else _("{share:.0%} of their length", share=mean)


def _translated(found: BothOrders) -> Cell:
    note = _("the same as in order") if found.pair.same else _("another one")
    if found.read:
        note = _("of “{sentence}”: {same_or_not}", sentence=found.read, same_or_not=note)
    return Cell(found.pair.other.text or _("(nothing)"), note)
