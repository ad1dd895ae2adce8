"""What the experiment "Shuffle the words" says below its picture."""

from collections.abc import Sequence

from app.figures.theme import fixed
from app.languages import _, gettext_noop
from app.stage.scene import Scene
from app.views.whatif.order_comparison import reordered_text
from app.views.whatif.order_ranking import Lost, PositionEdit
from transformer.analysis.edits import (
    AttentionWindow,
    MaskCell,
    PositionsOff,
    PositionsShifted,
    PositionsSwapped,
    VectorPatched,
    WeightsSet,
)


def sentences(scene: Scene, lost: Lost, shown: PositionEdit, order: tuple[int, ...]) -> list[str]:
    """What the picture shows, in at most three sentences, with its numbers."""
    shifts = [edit for edit in lost.others if isinstance(edit, PositionsShifted) and lost.of(edit) is not None]
    if _hides(scene, scene.subject.window):
        last = _("Attention adds up over the words in its window: the positions and the window tell their order.")
    else:
        last = _("Attention adds up over words in any order: only the positions, added to the words, tell it.")
    return [_of_change(scene, shown, order), *([_of_shifts(lost, shifts)] if shifts else []), last]


def _of_change(scene: Scene, shown: PositionEdit, order: tuple[int, ...]) -> str:
    """What a change of the positions is to the model."""
    if isinstance(shown, PositionsOff):
        if has_window(scene):
            return _("Without positions, only the attention window tells the encoder which words are near each other.")
        if _has_edits_of_places(scene):
            return _(
                "Without positions and without the other edits, the decoder gets the same vectors for every order."
            )
        return _("Without positions the decoder gets the same vectors for every order, so who does what is a guess.")
    if isinstance(shown, PositionsShifted):
        text = gettext_noop("All positions are {by} further on: the distances between the words stay as they were.")
        return _(text, by=shown.by)
    if isinstance(shown, PositionsSwapped) and max(shown.first, shown.second) >= len(order):
        return _("This sentence has only {count} positions, so this swap changes nothing.", count=len(order))
    if has_window(scene):
        text = gettext_noop(
            "No word is moved, only positions are. Each attention window still has the same words, so to the model "
            "this is not exactly the sentence “{sentence}”."
        )
    elif _has_edits_of_places(scene):
        text = gettext_noop(
            "No word is moved, only positions are: without the other edits, to the model this is the sentence "
            "“{sentence}”."
        )
    else:
        text = gettext_noop("No word is moved, only positions are: to the model this is the sentence “{sentence}”.")
    return _(text, sentence=reordered_text(scene, order))


def _of_shifts(lost: Lost, shifts: Sequence[PositionsShifted]) -> str:
    """What the smallest shift costs, and the one that costs most if that is another one."""
    near, far = shifts[0], max(shifts, key=lambda edit: lost.nats[edit])
    least, most = (fixed(lost.nats[edit], 2) for edit in (near, far))
    if near == far:
        return _(
            "Where all are shifted by {near}, the distances stay and the translation loses {least} nats.",
            near=near.by,
            least=least,
        )
    return _(
        "Where all are shifted by {near}, the distances stay and the translation loses {least} nats; by {far} "
        "it loses {most}.",
        near=near.by,
        least=least,
        far=far.by,
        most=most,
    )


def _has_edits_of_places(scene: Scene) -> bool:
    """Whether the model has edits that go by the places of source tokens. What such an edit changes stays at its place,
    so the tokens with other positions are not what they would be in another order."""
    return any(
        isinstance(edit, VectorPatched | AttentionWindow)
        or (isinstance(edit, MaskCell | WeightsSet) and edit.kind != "decoder")
        for edit in scene.subject.edits
    )


def has_window(scene: Scene) -> bool:
    """Whether the original model's encoder has an attention window that hides a token of the sentence from another. The
    window goes by the places of the tokens, which no change of the positions moves."""
    return _hides(scene, scene.config.attention_window)


def _hides(scene: Scene, window: int | None) -> bool:
    return window is not None and window < len(scene.source) - 1
