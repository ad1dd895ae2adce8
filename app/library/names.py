"""What a checkpoint is called on the screen: what distinguishes it first, then its languages. Its file name stays the
key, in addresses and in commands."""

import functools
from collections.abc import Callable, Mapping

from app.languages import Language, _, gettext_noop, language
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile, checkpoint_folder, existing
from app.library.families import FILES, Family, Member, Value, read_families
from app.library.snapshots import run_and_update, run_of_best
from app.library.uploads import MARK

BASE = gettext_noop("small base model")  # the members of all families are compared with it

_POSITIONS = {
    "none": gettext_noop("no positions"),
    "learned": gettext_noop("learned positions"),
    "sinusoidal": gettext_noop("sinusoidal positions"),
}
_MEMBERS: Mapping[str, Callable[[Value], str]] = {
    "model.heads": lambda value: _("one head") if value == 1 else _("{count} heads", count=value),
    "model.positions": lambda value: _(_POSITIONS.get(str(value), str(value))),
    "model.encoder_layers": lambda value: _("one layer") if value == 1 else _("{count} layers", count=value),
    "model.dropout": lambda value: _("dropout {value}", value=value) if value else _("no dropout"),
    "training.label_smoothing": lambda value: (
        _("label smoothing {value}", value=value) if value else _("no label smoothing")
    ),
    "model.norm": lambda value: f"{value}-norm",
    "model.attention_window": lambda value: (
        _("attention to all") if value is None else _("attention window {value}", value=value)
    ),
    "model.causal_training": lambda value: _("causal mask") if value else _("no causal mask"),
}


def display_name(file: CheckpointFile) -> str:
    """The short name and the languages; only the languages of a checkpoint that is named by them, such as en-de."""
    found = entry(file)
    source, target = found.languages
    if not source or not target or source == target:
        return short_name(file)
    languages = f"{found.task.source} → {found.task.target}"
    return languages if file.name == f"{source}-{target}" else f"{short_name(file)} ({languages})"


def short_name(file: CheckpointFile) -> str:
    """What distinguishes it: "one head" for a member of a family, "update 50 of reverse-1" for a snapshot, "best of
    reverse-1" for the best checkpoint of a run."""
    if found := run_and_update(file.name):
        return _("update {update:,} of {run}", update=found[1], run=found[0])
    if run := run_of_best(file.name):
        return _("best of {run}", run=run)
    if file.name.endswith(MARK):
        return _("{name} (yours)", name=file.name.removesuffix(MARK))
    return member_names().get(file.name, file.name)


def member_names() -> Mapping[str, str]:
    """The short names of the members of all families, by the names of their files."""
    return _names(tuple(existing(sorted(checkpoint_folder().glob(FILES)))), language())


@functools.lru_cache(maxsize=8)
def _names(files: tuple[CheckpointFile, ...], spoken: Language) -> dict[str, str]:
    """`files`: the reports, so that names are read again when one has changed. `spoken`: the language of the names.
    A list of checkpoints asks for each name in every run of the script, so this is not one of Streamlit's caches, which
    take a millisecond per call."""
    found: dict[str, str] = {}
    for family in sorted(read_families({}), key=lambda one: not one.option):  # families of several options last
        for member in family.members:
            if family.option:
                name = _(BASE) if member.stem in found else member_name(family, member)
                found[member.stem] = _of_task(family, name)
            else:
                found.setdefault(member.stem, _of_task(family, member.label))
    return found


def _of_task(family: Family, name: str) -> str:
    return f"{name} ({family.text.toy_task})" if family.text.is_toy else name


def member_name(family: Family, member: Member) -> str:
    """The member's value of the option that the family varies, in words: "one head", "no positions"."""
    called = _MEMBERS.get(family.option)
    return called(member.value) if called else f"{family.varies} {member.label}"
