"""Whether the heads of two scenes can be compared, how far each moved, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.compute.compared import HeadChange, head_changes
from app.library.catalogue import entry
from app.library.vocabularies import same_vocabulary
from app.stage.checkpoint_choice import display_name
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.views.compare.other_side import other_files
from transformer.errors import HeadlightError

MOST_MATCHED = 400  # heads of a kind
LEAST = 0.0005  # a change below it is none
MOST_NAMED = 3


@dataclass(frozen=True)
class Heads:
    """Attributes:
    changes: of all heads, the one that changes most first; empty if they cannot be compared.
    says: sentences about them.
    read: whose translation both models read: that of the original model, or of the visitor's checkpoint.
    """

    changes: Sequence[HeadChange] = ()
    says: Sequence[str] = ()
    read: Scene | None = None


def compared_heads(other: Scene, mine: Scene) -> Heads:
    """The heads of two models over the same tokens: two maps of weights can be subtracted where their rows and columns
    are the same."""
    same_file = other.subject.file == mine.subject.file
    languages = [] if same_file else _languages(other, mine)
    if not same_file and not same_vocabulary(mine.subject.file, [other.subject.file]):
        return Heads(says=[_other_vocabulary(mine), *languages])
    if other.translation.source_ids != mine.translation.source_ids:
        return Heads(says=["Two sentences have different tokens, so their maps of weights cannot be subtracted."])
    if other.subject == mine.subject:
        return Heads(says=["Both are written by one model: over the same tokens all its heads are the same."])
    if not same_file and max(_heads(scene) for scene in (other, mine)) > MOST_MATCHED:
        return Heads(says=[f"Heads are matched up to {MOST_MATCHED} of a kind; here are more.", *languages])
    try:
        read = other if same_file else mine
        changes = head_changes(other.subject, mine.subject, read.translation.source_ids, read.hypothesis.ids)
    except HeadlightError as error:  # the translation is too long for the other model
        return Heads(says=[str(error), *languages])
    return Heads(changes, [_most(changes[0]) if same_file else _matched(changes), *languages], read)


def _heads(scene: Scene) -> int:
    return scene.config.heads * max(scene.config.encoder_layers, scene.config.decoder_layers)


def _other_vocabulary(mine: Scene) -> str:
    own = mine.subject.file
    files = [each for each in other_files(own).values() if entry(each).languages[0] == entry(own).languages[0]]
    found = [display_name(each) for each in same_vocabulary(own, files)]
    named = ", ".join(found[:MOST_NAMED]) + (f" or {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")
    choose = f"To compare heads, choose one with your vocabulary: {named}." if found else (
        f"No other checkpoint here that reads {mine.task.source} has the vocabulary of yours; the snapshots of a "
        "training run share theirs."
    )  # fmt: skip
    return f"The two have different vocabularies, so their maps of weights have different rows and columns. {choose}"


def _languages(other: Scene, mine: Scene) -> list[str]:
    one, own = other.task, mine.task
    if one.source != own.source:
        return [f"The first reads {one.source}, yours {own.source}: for one of the two it is the wrong language."]
    if one.target != own.target:
        return [f"The first writes {one.target}, yours {own.target}."]
    return []


def _most(change: HeadChange) -> str:
    if change.moved < LEAST:
        return "Over the same tokens, no head attends to other tokens than in the original model."
    where = f"head {change.head + 1} of layer {change.layer + 1} ({SHORT[change.kind]})"
    return f"Over the same tokens {where} changes most: {change.moved:.0%} of its weight is on other tokens."


def _matched(changes: Sequence[HeadChange]) -> str:
    pairs = [change for change in changes if change.partner]
    like, mean = pairs[-1], sum(change.moved for change in pairs) / len(pairs)
    layer, head = like.partner or (0, 0)
    return (
        f"Heads are matched by similarity: of a pair, {mean:.0%} of the weight is on other tokens on average. Most "
        f"alike ({SHORT[like.kind]}, {like.moved:.0%}) are layer {layer + 1}, head {head + 1} of the first and layer "
        f"{like.layer + 1}, head {like.head + 1} of yours."
    )
