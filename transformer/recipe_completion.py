"""What a recipe leaves open is completed before it is validated: languages, and values that are to "fit" the text.

All functions take the values of a recipe as TOML gives them, by section, and change them in place. Values that are
invalid are left alone: the validation reports them.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import Any

from transformer.config import ModelConfig
from transformer.data.corpus_facts import CorpusFacts, facts_of
from transformer.data.data_options import DataConfig
from transformer.data.hugging_face_address import PREFIX, is_data_set
from transformer.data.language_names import languages_of_columns, languages_of_files
from transformer.files.untrusted_values import validate
from transformer.fit_to_corpus import FEW_PAIRS, FIT, Choice, fit

log = logging.getLogger(__name__)

Values = dict[str, Any]
Ask = Callable[[str], str]

LANGUAGES = ("source_language", "target_language")


@dataclass(frozen=True)
class ModelToStartWith:
    """The model with whose weights a run starts."""

    config: ModelConfig
    keeps_vocabulary: bool  # whether the run keeps its vocabulary, too


def forget_languages_of_other_text(values: Values, own: Mapping[str, Any], overridden: list[str]) -> None:
    """Removes the languages that a recipe states for its own text, where the command line names other text.

    Args:
        own: the section [data] of the recipe's file. The same path below another folder counts as the same text.
    """
    data, stated = values.get("data"), own.get("train")
    if not isinstance(data, dict) or not {"data.train", "data.mix"} & set(overridden):
        return
    named, before = ([one] if isinstance(one, str) else one for one in (data.get("train"), stated))
    if not (isinstance(named, list) and isinstance(before, list) and _is_same_text(named, before)):
        for option in LANGUAGES:
            if f"data.{option}" not in overridden:
                data.pop(option, None)


def _is_same_text(named: list[Any], before: list[Any]) -> bool:
    ours, ends = ([PurePath(str(file).removeprefix(PREFIX)).parts for file in files] for files in (named, before))
    return len(ours) == len(ends) and all(one[-len(end) :] == end for one, end in zip(ours, ends, strict=True))


def complete_languages(values: Values, ask: Ask | None) -> list[str]:
    """Takes languages that the recipe does not state from the names of the files, or asks for them.

    Returns:
        Problems: the options that are still missing.
    """
    data = values.get("data")
    if not isinstance(data, dict) or not (data.get("train") or data.get("mix")):
        return []
    missing = [option for option in LANGUAGES if not data.get(option)]
    found = _named_languages(data) if missing else None
    if found:
        data.update({option: dict(zip(LANGUAGES, found, strict=True))[option] for option in missing})
        log.info("%s -> %s, by the name of the file.", *(data[option] for option in LANGUAGES))
    elif ask:
        data.update({option: ask(_question(option)).strip() for option in missing})
    missing = [option for option in LANGUAGES if not data.get(option)]
    if not missing:
        return []
    example = " ".join(f"--set data.{option}={'en' if option == LANGUAGES[0] else 'de'}" for option in missing)
    return [
        f"{' and '.join(f'data.{option}' for option in missing)} {'is' if len(missing) == 1 else 'are'} missing: name "
        f"the languages of the text, for example {example}, or rename its file: my.en-de.tsv, or my.en and my.de "
        "(two-letter codes, also pt-BR)."
    ]


def _question(option: str) -> str:
    """`source_language` -> what to ask on a terminal."""
    return f"Language of the {option.partition('_')[0]} side, for example en, de or pt-BR"


def _named_languages(data: Values) -> tuple[str, str] | None:
    """Source and target language by the names of the files, if all of them say the same."""
    sources, targets = data.get("train") or [], data.get("train_target") or []
    if not isinstance(sources, list) or not isinstance(targets, list):
        return None
    if targets:
        found = {languages_of_files(str(one), str(two)) for one, two in zip(sources, targets, strict=False)}
        return found.pop() if len(found) == 1 else None
    found = {None if is_data_set(str(name)) else languages_of_columns(str(name)) for name in sources}
    (pair,) = found if len(found) == 1 else (None,)
    columns = data.get("source_column", 1), data.get("target_column", 2)
    if columns == (1, 2):
        return pair
    return pair[::-1] if pair and columns == (2, 1) else None


def name_after_text(values: Values) -> None:
    """A recipe with the name "fit" is named after the first file of its text: my.en-de.tsv.gz gives "my"."""
    if values.get("name") != FIT:
        return
    data = values.get("data")
    files = data.get("train") if isinstance(data, dict) else None
    first = str(files[0]) if isinstance(files, list) and files else ""
    values["name"] = PurePath(first.removeprefix(PREFIX).partition(":")[0]).name.partition(".")[0] or "own-text"


def complete_fitted_values(values: Values) -> list[str]:
    """Replaces each "fit" by a value that suits the text.

    A run that starts with the weights of another model gets the sizes of that model and, if it keeps the vocabulary, a
    lower learning rate.

    If the files do not exist, the values are those for an empty text, and `check_files` reports the files later.

    Returns:
        Texts for the user: what was chosen and why, and a warning if there is little text.

    Raises:
        CorpusError: the text cannot be read.
        CheckpointError: the checkpoint to start with cannot be read.
    """
    sections = {name: options for name, options in values.items() if isinstance(options, dict)}
    asked = {f"{name}.{option}" for name, options in sections.items() for option in options if options[option] == FIT}
    if not asked:
        return []
    named = set(asked)
    for option in asked:
        section, _, name = option.partition(".")
        del values[section][name]
    start = _model_to_start_with(values)
    kept = _of_the_start(asked, start) if start else []
    for choice in kept:
        _put(values, choice)
        asked -= choice.values.keys()
    config, _ = validate(DataConfig, values.get("data"))
    found = config is not None and (config.train or config.mix) and _are_there(config)
    facts = facts_of(config) if config and found else CorpusFacts(0, 0.0, ())
    given = {f"{name}.{option}": value for name, options in sections.items() for option, value in options.items()}
    is_trained = start is not None and start.keeps_vocabulary
    choices = [_only(choice, asked) for choice in fit(facts, given, is_trained)]
    for choice in choices:
        _put(values, choice)
    for option in named - {option for choice in (*kept, *choices) for option in choice.values}:
        _put(values, Choice({option: FIT}, ""))  # there is no value that suits the text: the validation reports it
    few = [few_pairs(facts.pairs)] if facts.pairs < FEW_PAIRS else []
    return [explained([*kept, *choices]), *few] if found else []


def _model_to_start_with(values: Values) -> ModelToStartWith | None:
    training = values.get("training")
    file = training.get("init_from") if isinstance(training, dict) else None
    if not isinstance(training, dict) or not isinstance(file, str):
        return None
    from transformer.checkpoint.header import read_header  # only here: it imports torch, which takes seconds

    return ModelToStartWith(read_header(file).config, training.get("own_vocabulary") is not True)


def _of_the_start(asked: set[str], start: ModelToStartWith) -> list[Choice]:
    """The sizes of the model to start with. Dropout is not a size: it may differ."""
    model = start.config
    sizes_of_models = {f"model.{field.name}" for field in fields(ModelConfig) if not field.name.endswith("dropout")}
    names = sorted(asked & sizes_of_models)
    sizes = {name: getattr(model, name.partition(".")[2]) for name in names}
    choices = [Choice(sizes, "as in the checkpoint to start with, whose weights need the same shapes")]
    if start.keeps_vocabulary:
        vocabulary = {"tokenizer.vocab_size": model.vocab_size, "tokenizer.character_coverage": 1.0}
        reason = "the vocabulary of that model is kept; with --own-vocabulary one is learned from the text"
        choices.append(_only(Choice(vocabulary, reason), asked))
    return choices


def _put(values: Values, choice: Choice) -> None:
    for option, value in choice.values.items():
        section, _, name = option.partition(".")
        values[section][name] = value


def _are_there(config: DataConfig) -> bool:
    of_mix = (file for part in config.mix for file in (part.file, part.target_file) if file is not None)
    files = [*config.train, *config.train_target, *(str(config.path_of(file)) for file in of_mix)]
    return all(is_data_set(file) or Path(file).is_file() for file in files)


def _only(choice: Choice, asked: set[str]) -> Choice:
    return Choice({option: value for option, value in choice.values.items() if option in asked}, choice.reason)


def explained(choices: list[Choice]) -> str:
    """The choices as lines: each value, and the reasons."""
    lines = ["Fitted to the text (change any of it with --set):"]
    for choice in choices:
        if choice.values:
            named = ", ".join(f"{option} = {value}" for option, value in choice.values.items())
            lines.append(f"  {named}\n      {choice.reason}")
    return "\n".join(lines)


def few_pairs(pairs: int) -> str:
    """The warning that so few pairs are not enough."""
    return (
        f"Warning: {pairs:,} pair{'s are' if pairs != 1 else ' is'} little text: expect parts of these sentences "
        f"rather than translations of others. Add text if you can, to {FEW_PAIRS:,} pairs or more."
    )


def choose_epochs_or_updates(values: Values, overridden: list[str]) -> list[str]:
    """Keeps only one of updates and epochs: `--set training.updates` replaces epochs in the recipe, and the reverse.

    Returns:
        The problem that both are given in the same place.
    """
    training = values.get("training")
    if not isinstance(training, dict) or training.get("epochs") is None or "updates" not in training:
        return []
    named = [option for option in ("updates", "epochs") if f"training.{option}" in overridden]
    if len(named) != 1:
        return ["training.epochs and training.updates exclude each other: keep one of them."]
    del training["epochs" if named == ["updates"] else "updates"]
    return []
