"""The parts of a training corpus: the files of `data.train`, or those of a mix, with weight, tag and pairs kept aside.

    [[data.mix]]
    file = "covost2-en-de/train.tsv.gz"
    weight = 3                               each pair is seen three times per epoch
    aside = 1000                             1,000 pairs are for a test, not for training

    [[data.mix]]
    file = "covost2-en-de/train.tsv.gz"
    only = "numbers"                         of the same text the pairs with the same time, price or date on both sides,
    weight = 4                               four times more per epoch

Back-translated text (Sennrich et al. 2016, arXiv:1511.06709) has real targets and sources that a model wrote: a part
that is monolingual gets them before the run begins (training/back_translation.py). A tag before such sources lets the
model distinguish them from real ones (Caswell et al. 2019, arXiv:1906.06442).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from transformer.data.corpus import Aligned, Columns, Text
from transformer.data.data_options import DataConfig
from transformer.data.hugging_face import HuggingFace
from transformer.data.hugging_face_address import is_data_set
from transformer.data.mix_options import MixPart
from transformer.data.monolingual import sources_path
from transformer.data.text_files import unreadable
from transformer.errors import CorpusError
from transformer.files.checksum import sha256_of


@dataclass(frozen=True)
class Part:
    """One file, or two that are aligned, and how its pairs are used."""

    name: str
    text: Text
    weight: int = 1
    tag: str = ""
    aside: int = 0
    in_file_order: bool = True  # the source is the first of the two columns
    only: Literal["numbers"] | None = None
    is_real: bool = True  # people wrote both sides, so its pairs may be set aside for validation


def parts_of(config: DataConfig, run_dir: Path | None = None) -> list[Part]:
    """The parts of the training text that a recipe names.

    Args:
        run_dir: the folder of the run, in which the sources of monolingual files may be. Without it, such parts are
            left out.

    Raises:
        CorpusError: the sources of a monolingual file are not there.
    """
    if config.mix:
        chosen = [part for part in config.mix if run_dir is not None or not part.monolingual]
        return [_mix_part(part, config, run_dir) for part in chosen]
    texts = texts_of(config, config.train, config.train_target)
    return [Part(text.name, text) for text in texts]


def texts_of(config: DataConfig, sources: Sequence[str], targets: Sequence[str]) -> list[Text]:
    """The parallel text in these files, which are named as in a recipe."""
    if targets:
        return [Aligned(Path(source), Path(target)) for source, target in zip(sources, targets, strict=True)]
    return [
        HuggingFace(name, config.source_language, config.target_language)
        if is_data_set(name)
        else Columns(Path(name), config.source_column, config.target_column)
        for name in sources
    ]


def sums_of(text: Text) -> dict[str, str]:
    """SHA-256 of each file of a text, by its path. Raises CorpusError."""
    sums = {}
    for path in text.files:
        try:
            sums[str(path)] = sha256_of(path)
        except OSError as error:
            raise unreadable(path, error) from None
    return sums


def _mix_part(part: MixPart, config: DataConfig, run_dir: Path | None) -> Part:
    file = config.path_of(part.file)
    source, target = config.source_column, config.target_column
    in_file_order = not part.swapped
    text: Text
    if part.monolingual:
        assert run_dir is not None
        text = Aligned(_sources(part, config, run_dir), file)
    elif part.target_file is not None:
        other = config.path_of(part.target_file)
        text = Aligned(other, file) if part.swapped else Aligned(file, other)
    else:
        in_file_order = (source < target) != part.swapped
        text = Columns(file, target, source) if part.swapped else Columns(file, source, target)
    return Part(
        part.name, text, part.weight, part.tag, part.aside, in_file_order, part.only, not (part.monolingual or part.tag)
    )


def _sources(part: MixPart, config: DataConfig, run_dir: Path) -> Path:
    path = sources_path(part, config, run_dir)
    if not path.exists():
        raise CorpusError(
            f"The sources of the monolingual file {part.file} are not in {path}. Rank 0 of a run writes them there: if "
            "it is on another machine, set data.prepared to a folder on a disk that all machines share."
        )
    return path
