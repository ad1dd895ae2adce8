"""Whether a recipe may resume a run that was started with another one."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from typing import Any

from transformer.config import Recipe
from transformer.files.untrusted_values import shown

# What may change between start and resumption, by section: how long a run is, when it reports and validates, what it
# saves and when, where its files are and how they are read, how fast it computes, and what is lowered after divergence.
# (The options of decoding and the name of the recipe may always change.)
FREE: dict[str, set[str]] = {
    "model": set(),
    "tokenizer": {"model"},
    "data": {"train", "train_target", "mix", "folder", "valid", "valid_target", "prepared", "workers"}
    | {"back_translator"}
    | {"on_error", "skip_limit"},
    "training": {"updates", "epochs", "log_every", "validate_every", "save_every", "validation_sentences", "patience"}
    | {"best_by", "keep_best", "average_last", "half", "compile", "snapshots"}
    | {"peak_rate", "clip_norm"}
    | {"init_from", "own_vocabulary"},  # read only before the first update
}


def differences(before: Mapping[str, Any], now: Recipe, free: Mapping[str, set[str]] = FREE) -> list[str]:
    """The differences of a recipe from the one that a run was started with, except in what may change.

    Args:
        before: read from a file: its tuples are lists, and it lacks options that are newer than the file.
        free: what may change, by section; other sections are not compared.
    """
    lines = []
    for section, may_change in free.items():
        options = getattr(now, section)
        for option in fields(options):
            default = option.default if option.default_factory is MISSING else option.default_factory()
            stored = before[section].get(option.name, default)
            if is_dataclass(default) and isinstance(stored, Mapping):  # a table, which may lack newer options, too
                stored = _listed(default) | stored
            old = _listed(stored)
            new = _listed(getattr(options, option.name))
            is_measured = option.name == "precision" and "auto" in (old, new)  # auto: the choice is kept
            if option.name not in may_change and old != new and not is_measured:
                lines.append(f"{section}.{option.name}: {shown(old)} then, {new} now")
    return lines


def _listed(value: Any) -> Any:
    """A tuple or a table of options as JSON represents it."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value
