"""The proof that self-attention does not know order: the encoder's outputs of two orders of the same words, with the
positions, without them, and of a small model that was trained without them."""

from collections.abc import Sequence

from app.components import comparison
from app.components.comparison import Cell, Row
from app.figures.theme import number, role_color
from app.languages import _, pgettext
from app.stage.scene import Scene
from app.views.shared.order_translations import WITHOUT, Pair, both_orders, trained_without
from app.views.shared.word_orders import Moved, Order, moved, reordered
from transformer.config import EOS

Proved = tuple[str, Moved, Pair]  # the name of a model, and what it makes of both orders


def proved(scene: Scene, order: Order) -> list[Proved]:
    """Both orders by the original model, by the same model without positions (unless it has none itself), and by the
    small model, if there is one."""
    original, ids = scene.subject.original, scene.translation.source_ids
    other, settings, target = reordered(ids, order), scene.translation.settings, scene.hypothesis.ids
    models = [(_("With positions"), original), (pgettext("positions", "Removed"), original.edited(WITHOUT))]
    if scene.config.positions == "none":
        models = [(pgettext("positions", "This model: none"), original)]
    found = [(name, moved(each, ids, target, order), both_orders(each, ids, other, settings)) for name, each in models]
    if small := trained_without(scene, 1):
        found.append((pgettext("positions", "Trained without"), small.moved, small.pair))
    return found


def proof(scene: Scene, order: Order, found: Sequence[Proved], *, key: str) -> None:
    """Draws the proof as a small table with bars."""
    text = reordered_text(scene, order)
    rows = (
        Row(
            _("Largest difference of the encoder's outputs, put back in order"),
            tuple(
                Cell(number(each.largest, 2), _share(each), share=float(min(each.shares.mean(), 1)))
                for name, each, pair in found
            ),
        ),
        Row(_("Translation of “{sentence}”", sentence=text), tuple(_translated(pair) for name, each, pair in found)),
    )
    comparison(
        [name for name, each, pair in found],
        rows,
        title=_("The same words in another order"),
        key=key,
        color=role_color("encoder"),
        language=scene.task.target_code,
    )


def reordered_text(scene: Scene, order: Order) -> str:
    """The sentence that one would have to type for this order. </s> is written only if tokens are after it."""
    tokenizer = scene.subject.translator.tokenizer.target  # which decodes the other language, that of the source
    ids = reordered(scene.translation.source_ids, order)
    end = ids.index(EOS)
    parts = [tokenizer.decode(ids[:end]), tokenizer.token(EOS), tokenizer.decode(ids[end + 1 :])]
    return " ".join(filter(None, parts)) if end < len(ids) - 1 else parts[0]


def _share(found: Moved) -> str:
    mean = float(found.shares.mean())
    return _("only rounding") if mean < 1e-4 else _("{share:.0%} of their length", share=mean)


def _translated(pair: Pair) -> Cell:
    return Cell(pair.other.text or _("(nothing)"), _("the same as in order") if pair.same else _("another one"))
