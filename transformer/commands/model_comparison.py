"""`evaluate --against`: another model on the same test set, and whether the difference of the scores may be chance."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from transformer.commands.options import open_translator, settings_of
from transformer.commands.scored_text import recipe_data
from transformer.config import DecodingConfig
from transformer.data.corpus import Pair
from transformer.decoding.language_pair import languages
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.evaluation import Outputs, group_by_source, translate_sources, untranslated_text
from transformer.significance import comparison_text, paired_bootstrap


@dataclass(frozen=True)
class OtherModel:
    """The model of --against, and how it decodes."""

    name: str
    translator: Translator
    settings: DecodingConfig


def open_other(
    against: Path, own: Translator, device: str, precision: Literal["float32", "bfloat16"], beam: int | None
) -> OtherModel:
    """The model of --against. Raises HeadlightError if it is known to have another task than `own`."""
    other = open_translator(against, device, precision)
    mine, theirs = _task(own), _task(other)
    if mine and theirs and mine != theirs:
        raise HeadlightError(
            f"--against {against}: the task of that model is {theirs}, not {mine}. Only models of the same task can be "
            "compared: choose another checkpoint."
        )
    return OtherModel(str(against), other, settings_of(other, beam))


def compare(
    other: OtherModel,
    outputs: Outputs,
    pairs: Sequence[Pair],
    settings: DecodingConfig,
    advance: Callable[[int, int], None],
) -> tuple[dict[str, Any], str]:
    """Translates a test set with the other model, and compares the scores.

    Args:
        outputs, settings: the translations of the first model, and how it decoded.

    Returns:
        The result of `paired_bootstrap` with the name and the settings of the other model, and all of it as text.
    """
    theirs = translate_sources(other.translator, pairs, other.settings, advance)
    grouped = group_by_source(pairs)
    mine, others = ([found.texts[source] for source in grouped] for found in (outputs, theirs))
    compared = paired_bootstrap(mine, others, list(grouped.values()))
    lines = [comparison_text(compared, other.name)]
    if theirs.problems:
        lines.append(untranslated_text(len(theirs.problems), theirs.problems[0]))
    ours, decoding = asdict(settings), asdict(other.settings)
    used = _used(settings) | _used(other.settings)
    differ = [
        f"{name} = {ours[name]} and {decoding[name]}" for name in ours if name in used and ours[name] != decoding[name]
    ]
    if differ:
        lines.append(f"The recipes of the two decode differently: {', '.join(differ)}.")
    result = {"checkpoint": other.name, **compared, "untranslated": len(theirs.problems), "decoding": decoding}
    return result, "\n".join(lines)


def _used(settings: DecodingConfig) -> set[str]:
    """The names of the settings that have an effect with this method."""
    used = {"method", "max_extra_length"}
    if settings.method == "sampling":
        used |= {"temperature", "top_k", "top_p", "seed"}
    elif settings.method == "beam":
        used |= {"beam", "length_penalty"} | ({"alpha"} if settings.length_penalty != "none" else set())
    return used


def _task(translator: Translator) -> str | None:
    """The task of a model in words; None if its checkpoint does not say."""
    config, named = recipe_data(translator), languages(translator)
    if config and config.toy:
        return f'the toy task "{config.toy}"'
    return f"translation from {named[0]} to {named[1]}" if named else None
