"""Whether the heads of two scenes can be compared, how far each moved, and the sentences about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.compute.compared import HeadChange, Reading, head_changes
from app.figures.axes import in_words
from app.figures.shares import Share
from app.languages import _, gettext_noop, ngettext
from app.library.catalogue import entry
from app.library.names import display_name
from app.library.vocabularies import same_vocabulary
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.views.shared.other_checkpoints import other_checkpoints
from transformer.errors import HeadlightError
from transformer.model.attention_kinds import Kind

MOST_MATCHED = 400  # heads of a kind of attention; if there are more, those of two checkpoints are not matched
LEAST = 0.0005  # a head whose weights moved less has not changed
MOST_NAMED = 3


@dataclass(frozen=True)
class Heads:
    """How the heads of two sides differ.

    Attributes:
        says: sentences about them.
        changes: of all heads, the one that changes most first; empty if they cannot be compared.
        readings: what the two sides read; the same tokens, or some replaced by others.
        tokens: for each kind of attention, the texts of the queries and of the keys.
    """

    says: Sequence[str] = ()
    changes: Sequence[HeadChange] = ()
    readings: tuple[Reading, ...] = ()
    tokens: Mapping[Kind, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)


def compared_heads(other: Scene, mine: Scene) -> Heads:
    """The heads of two models over the same tokens, or of one model over two sentences that differ only in some words:
    two maps of weights can be subtracted only if they have the same rows and columns.

    Both decoders read the visitor's translation. If the visitor's model is edited and compared with the original model,
    both read the original model's translation.
    """
    same_file = other.subject.file == mine.subject.file
    languages = [] if same_file else _languages(other, mine)
    if not same_file and not same_vocabulary(mine.subject.file, [other.subject.file]):
        return Heads([_other_vocabulary(mine), *languages])
    sources = [scene.translation.source_ids for scene in (other, mine)]
    kept = [one == its for one, its in zip(*sources, strict=False)]
    if len(sources[0]) != len(sources[1]) or sum(kept) < len(kept) / 2:
        return Heads([_replace_a_word(len(sources[1]))])
    if other.subject == mine.subject and all(kept):
        return Heads([_("Both sides have the same model: over the same tokens, all its heads are the same.")])
    if not same_file and max(_head_count(scene) for scene in (other, mine)) > MOST_MATCHED:
        return Heads([_("Heads are matched up to {most} of a kind; here are more.", most=MOST_MATCHED), *languages])
    try:
        read = mine if other.subject.edits == mine.subject.edits or not same_file else other
        one, its = (
            Reading(scene.subject, scene.translation.source_ids, read.hypothesis.ids) for scene in (other, mine)
        )
        changes = head_changes(one, its)
    except HeadlightError as error:  # the translation is too long for the other model
        return Heads([str(error), *languages])
    sentence = _most_changed(changes[0], is_other_sentence=not all(kept)) if same_file else _matched(changes)
    return Heads([sentence, *languages], changes, (one, its), _tokens(other, mine, read))


def _replace_a_word(size: int) -> str:
    return ngettext(
        "To see which heads differ, replace a word of your sentence: it has {count} token.",
        "To see which heads differ, replace a word of your sentence: it has {count} tokens.",
        size,
    )


def _tokens(other: Scene, mine: Scene, read: Scene) -> dict[Kind, tuple[Sequence[str], Sequence[str]]]:
    pairs = zip(other.source.tokens, mine.source.tokens, strict=True)
    source = [its if one == its else f"{in_words(one)}, {in_words(its)}" for one, its in pairs]
    target = read.target
    return {
        "encoder": (source, source),
        "cross": (target.predicts, source),
        "decoder": (target.predicts, target.tokens),
    }


def _head_count(scene: Scene) -> int:
    return scene.config.heads * max(scene.config.encoder_layers, scene.config.decoder_layers)


def _other_vocabulary(mine: Scene) -> str:
    own = mine.subject.file
    files = [each for each in other_checkpoints(own).values() if entry(each).languages[0] == entry(own).languages[0]]
    found = [display_name(each) for each in same_vocabulary(own, files)]
    named = ", ".join(found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        named = _("{names} or {count} more", names=named, count=len(found) - MOST_NAMED)
    differ = _("The two have different vocabularies, so their maps of weights have different rows and columns.")
    if found:
        choose = _("To compare heads, choose a checkpoint with your vocabulary: {names}.", names=named)
    else:
        choose = _(
            "No other checkpoint here that reads {language} has the vocabulary of yours; the snapshots of a training "
            "run share theirs.",
            language=mine.task.source,
        )
    return f"{differ} {choose}"


def _languages(other: Scene, mine: Scene) -> list[str]:
    one, own = other.task, mine.task
    if one.source != own.source:
        return [
            _(
                "The first reads {first}, yours {own}: for one of the two it is the wrong language.",
                first=_(one.source),
                own=_(own.source),
            )
        ]
    if one.target != own.target:
        return [_("The first writes {first}, yours {own}.", first=_(one.target), own=_(own.target))]
    return []


def _most_changed(change: HeadChange, is_other_sentence: bool) -> str:
    if change.moved < LEAST and is_other_sentence:
        return _("Over the same translation, every head attends as with the second sentence.")
    if change.moved < LEAST:
        return _("Over the same translation, every head attends as in the original model.")
    if is_other_sentence:
        text = gettext_noop(
            "Over the same translation head {head} of layer {layer} ({kind}) changes most: {moved:.0%} of its weight "
            "is elsewhere than with the second sentence."
        )
    else:
        text = gettext_noop(
            "Over the same translation head {head} of layer {layer} ({kind}) changes most: {moved:.0%} of its weight "
            "is elsewhere than in the original model."
        )
    return _(text, head=change.head + 1, layer=change.layer + 1, kind=_(SHORT[change.kind]), moved=Share(change.moved))


def _matched(changes: Sequence[HeadChange]) -> str:
    pairs = [change for change in changes if change.partner]
    like, mean = pairs[-1], sum(change.moved for change in pairs) / len(pairs)
    layer, head = like.partner or (0, 0)
    return _(
        "Heads are matched by similarity: on average, the two of a pair have {mean:.0%} of their weight on different "
        "tokens. Most alike ({kind}, {moved:.0%}) are layer {layer}, head {head} of the first and layer {own_layer}, "
        "head {own_head} of yours.",
        mean=Share(mean),
        kind=_(SHORT[like.kind]),
        moved=Share(like.moved),
        layer=layer + 1,
        head=head + 1,
        own_layer=like.layer + 1,
        own_head=like.head + 1,
    )
