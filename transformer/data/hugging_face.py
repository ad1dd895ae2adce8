"""Parallel text from Hugging Face `datasets`: hf:NAME, hf:NAME:CONFIG or hf:NAME:CONFIG:SPLIT.

    hf:Helsinki-NLP/opus_books:de-en          hf:wmt/wmt14:de-en:train          hf:a/folder/of/json::train[:90%]

NAME is a data set of huggingface.co, a folder of data files (.json, .csv, .parquet, ...), or a folder that
`save_to_disk` wrote. The default split is "train". The names of the two languages (data.source_language and
data.target_language of a recipe) say where the sentences are: in two columns of these names, or under these names in a
column `translation`, as in WMT and OPUS. The library maps the rows from Arrow files, so they are never all
in memory at the same time. The library is not a requirement of this project, because it is as large as all requirements
except torch together. `INSTALL` is the command that installs it.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer.data.corpus import Pair, Portion, Text
from transformer.data.hugging_face_address import PREFIX
from transformer.data.text_files import AT_ONCE
from transformer.errors import BadLine, CorpusError

if TYPE_CHECKING:
    import datasets

INSTALL = "pip install datasets==5.2.0"
OPTIONS = (
    "data.source_language and data.target_language of a recipe, or --source-language and --target-language of evaluate"
)


class HuggingFace(Text):
    """One split of a data set.

    Args:
        address: hf:NAME:CONFIG:SPLIT.
        source, target: the names of the two languages.
    """

    def __init__(self, address: str, source: str, target: str):
        self.name, self.selection = address, f"{address}, {source} and {target}"
        self._languages = source, target

    @cached_property
    def files(self) -> tuple[Path, ...]:  # type: ignore[override]
        return tuple(Path(file["filename"]) for file in self._rows.cache_files)

    def portions(self) -> Iterator[Portion]:
        nested, read = self._nested(), 0
        for batch in self._rows.iter(AT_ONCE):
            if nested:
                rows = (row or {} for row in batch["translation"])  # a row may have no translation at all
                records = [tuple(map(row.get, self._languages)) for row in rows]
            else:
                records = list(zip(*(batch[language] for language in self._languages), strict=True))
            read += len(records)
            yield Portion(read - len(records) + 1, records, read / len(self._rows))

    def pair(self, number: int, record: tuple[Any, Any]) -> Pair:
        for side in record:
            if not isinstance(side, str | None):
                raise BadLine(
                    f"{self.name}, row {number}: {str(side)[:40]!r} is not text.",
                    f"Choose other columns with {OPTIONS}.",
                )
        return record[0] or "", record[1] or ""

    def __reduce__(self) -> tuple[type["HuggingFace"], tuple[str, str, str]]:
        """Pickled for other processes without the rows, which they do not need."""
        return HuggingFace, (self.name, *self._languages)

    @cached_property
    def _rows(self) -> "datasets.Dataset":
        return _load(self.name)

    def _nested(self) -> bool:
        """Whether both sides are in one column `translation`, and not each in a column of its own."""
        features, wanted = self._rows.features, set(self._languages)
        if wanted <= features.keys():
            return False
        import datasets

        inner = features.get("translation")
        if isinstance(inner, datasets.Translation):
            languages = list(inner.languages)
        else:
            languages = list(inner) if isinstance(inner, dict) else []
        if wanted <= set(languages):
            return True
        there = f"translations into {', '.join(languages)}" if languages else f"the columns {', '.join(features)}"
        raise CorpusError(
            f"{self.name} has {there}; {' and '.join(self._languages)} are needed. Name two of them with {OPTIONS}."
        )


def _load(address: str) -> "datasets.Dataset":
    name, config, split = (*address.removeprefix(PREFIX).split(":", 2), "", "")[:3]
    split = split or "train"
    try:
        import datasets
    except ModuleNotFoundError:
        raise CorpusError(f"{address} needs the library datasets. Install it: {INSTALL}") from None
    try:
        if any((Path(name) / mark).is_file() for mark in ("state.json", "dataset_dict.json")):
            saved = datasets.load_from_disk(str(Path(name) / config))
            if isinstance(saved, datasets.DatasetDict) and split not in saved:
                raise ValueError(f"There is no split {split}, only {', '.join(saved)}.")
            if isinstance(saved, datasets.Dataset) and split != "train":
                raise ValueError(f"There is no split {split}: this data set was saved without splits.")
            rows = saved if isinstance(saved, datasets.Dataset) else saved[split]
        else:
            rows = datasets.load_dataset(name, config or None, split=split)
    except Exception as error:  # the errors of this library and of those that it uses have no common class
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise CorpusError(
            f"{address} cannot be loaded: {reason[0].rstrip('.')}. It is read as hf:NAME:CONFIG:SPLIT; check these "
            "and, if it is not on this machine yet, the network."
        ) from None
    return rows
