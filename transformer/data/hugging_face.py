"""Parallel text from Hugging Face `datasets`: hf:NAME, hf:NAME:CONFIG or hf:NAME:CONFIG:SPLIT.

    hf:Helsinki-NLP/opus_books:de-en          hf:wmt/wmt14:de-en:train          hf:a/folder/of/json::train[:90%]

NAME is a data set of huggingface.co, a folder of data files (.json, .csv, .parquet, ...), or one that `save_to_disk`
wrote. A split that is not named is "train". Sentences are looked for by the names of the two languages (in a recipe
data.source_language and data.target_language), in a column `translation` as WMT and OPUS have it, or in columns of
these names. The rows lie in Arrow files that the library maps; they are never in memory together.

The library is not among our requirements, for it weighs as much as all of them but torch; `INSTALL` says how to get it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer.data.corpus import Pair, Portion
from transformer.data.text_files import AT_ONCE
from transformer.errors import CorpusError

if TYPE_CHECKING:
    import datasets

PREFIX = "hf:"
INSTALL = "pip install datasets==5.2.0"


@dataclass(frozen=True)
class HuggingFace:
    """One split of a data set, with the names of its two languages."""

    address: str  # hf:NAME:CONFIG:SPLIT
    source: str
    target: str

    @property
    def name(self) -> str:
        return self.address

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(Path(file["filename"]) for file in self._rows.cache_files)

    @property
    def taken(self) -> str:
        return f"{self.address}, {self.source} and {self.target}"

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.files)

    def portions(self) -> Iterator[Portion]:
        nested, read = self._nested(), 0
        for batch in self._rows.iter(AT_ONCE):
            if nested:
                records = [(row.get(self.source), row.get(self.target)) for row in batch["translation"]]
            else:
                records = list(zip(batch[self.source], batch[self.target], strict=True))
            read += len(records)
            yield Portion(read - len(records) + 1, records, read / len(self._rows))

    def pair(self, number: int, record: tuple[Any, Any]) -> Pair:
        for side in record:
            if not isinstance(side, str | None):
                raise CorpusError(
                    f"{self.address}, row {number}: {str(side)[:40]!r} is no text. Choose other columns by "
                    "data.source_language and data.target_language."
                )
        return record[0] or "", record[1] or ""

    def __reduce__(self) -> tuple[type["HuggingFace"], tuple[str, str, str]]:
        """What other processes get, who need not load it."""
        return HuggingFace, (self.address, self.source, self.target)

    @cached_property
    def _rows(self) -> "datasets.Dataset":
        return _load(self.address)

    def _nested(self) -> bool:
        """Whether both sides lie in one column `translation`, and not each in its own."""
        features, wanted = self._rows.features, {self.source, self.target}
        if wanted <= features.keys():
            return False
        inner = features.get("translation")
        languages = list(getattr(inner, "languages", inner or ()))  # a feature of its own kind, or a dictionary
        if wanted <= set(languages):
            return True
        there = f"translations into {', '.join(languages)}" if languages else f"the columns {', '.join(features)}"
        raise CorpusError(
            f"{self.address} has {there}; {self.source} and {self.target} are looked for. Set data.source_language "
            "and data.target_language to two of them."
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
            rows = saved if isinstance(saved, datasets.Dataset) else saved[split]
        else:
            rows = datasets.load_dataset(name, config or None, split=split)
    except Exception as error:  # the library's errors have no class in common, nor have those of the libraries below it
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise CorpusError(
            f"{address} cannot be loaded: {reason[0].rstrip('.')}. It is read as hf:NAME:CONFIG:SPLIT; check these "
            "and, if it is not on this machine yet, the network."
        ) from None
    return rows
