"""The options of [data]: where the pairs of sentences come from, and how they are gathered into batches."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator
from pydantic.dataclasses import dataclass

from transformer.data.hugging_face_address import is_data_set
from transformer.data.mix_options import BUNDLED_PREFIX, Augmentation, MixPart, problems_of_mix
from transformer.data.toy_tasks import TOY_TASKS
from transformer.files.bundled_toml import RECIPES
from transformer.files.untrusted_values import STRICT, refuse

Count = Annotated[StrictInt, Field(ge=1)]


@dataclass(frozen=True, config=STRICT, kw_only=True)
class DataConfig:
    """Where the pairs of sentences come from, and how they are gathered into batches."""

    # .tsv or .tsv.gz; hf:NAME:CONFIG:SPLIT; or (with train_target) the source side of line-aligned files
    train: tuple[str, ...] = ()
    train_target: tuple[str, ...] = ()
    # instead of train: files, each with its weight, its tag, and how many of its pairs are kept for a test. Names are
    # relative to `folder`, if it is given
    mix: Annotated[tuple[MixPart, ...], Field(max_length=200)] = ()
    folder: str | None = None
    back_translator: str | None = None  # a checkpoint of the other direction, for the monolingual files of the mix
    valid: str | None = None  # without it, valid_size pairs are set aside from train
    valid_target: str | None = None  # with it, valid is the source side of line-aligned files
    valid_size: Count = 1000
    source_column: Count = 1  # columns are counted from 1
    target_column: Count = 2
    source_language: str = "en"
    target_language: str = "de"
    toy: str | None = None  # a toy task (data/toy_tasks.py) instead of train
    toy_symbols: Annotated[StrictInt, Field(ge=2, le=26)] = 26  # copy, reverse, sort: letters in use
    toy_min_length: Count = 1  # copy, reverse, sort: letters in a sequence
    toy_max_length: Annotated[StrictInt, Field(ge=1, le=200)] = 20
    toy_max_number: Annotated[StrictInt, Field(ge=1, le=999_999_999)] = 9999  # numbers: 0 to this
    toy_epoch: Count = 20_000  # new pairs per epoch
    max_length: Annotated[StrictInt, Field(ge=1, le=10_000)] = 128  # tokens; longer pairs are left out, and counted
    tokens_per_batch: Count = 25_000  # at most so many source and so many target tokens, padding included
    on_error: Literal["stop", "skip"] = "stop"  # at a line that cannot be read (data/skipped_lines.py)
    skip_limit: Annotated[StrictFloat, Field(ge=0.0, le=1.0)] = 0.01  # share of the lines of a text that may be skipped
    # The next three leave out pairs, and count them. First: one side has more than so many times as many characters
    max_ratio: Annotated[StrictFloat, Field(ge=1.0)] | None = None
    drop_copies: StrictBool = False  # both sides are the same
    drop_duplicates: StrictBool = False  # the pair occurred before
    # probability that a name or number is swapped for another on both sides, in each epoch
    # (data/augmentation/name_swapping.py)
    swap_names: Annotated[StrictFloat, Field(ge=0.0, le=1.0)] = 0.0
    augment: Augmentation = field(default_factory=Augmentation)  # other changes, one probability each
    # a folder for the prepared corpus, which several runs may share; None: the folder prepared/ of the run
    prepared: str | None = None
    workers: Annotated[StrictInt, Field(ge=0, le=256)] = 0  # processes that prepare a large corpus; 0: one per core

    @model_validator(mode="after")
    def _consistent(self) -> "DataConfig":
        given = [name for name in ("train", "mix", "toy") if getattr(self, name)]
        hf_train = any(map(is_data_set, self.train))
        hf_valid = self.valid is not None and is_data_set(self.valid)
        refuse(
            {
                f"toy = {self.toy!a} should be one of: {', '.join(TOY_TASKS)}": self.toy not in (None, *TOY_TASKS),
                'name a corpus (train = ["FILE.tsv"]), a mix of several or a toy task (toy = "reverse")': not given,
                f"{' and '.join(given)} exclude each other: keep one of them": len(given) > 1,
                **problems_of_mix(self.mix, self.back_translator, self.drop_duplicates),
                "swap_names and augment are for a corpus: a toy task has no names and no text to change": (
                    self.toy is not None and bool(self.swap_names or self.augment.is_on)
                ),
                "train and train_target are line-aligned files: give as many of one as of the other": (
                    bool(self.train_target) and len(self.train_target) != len(self.train)
                ),
                "a Hugging Face data set (hf:) brings both sides: leave train_target out": (
                    bool(self.train_target) and hf_train
                ),
                "valid_target is line-aligned with valid: give valid, too": bool(self.valid_target) and not self.valid,
                "a Hugging Face data set (hf:) brings both sides: leave valid_target out": (
                    bool(self.valid_target) and hf_valid
                ),
                "toy_min_length is larger than toy_max_length": self.toy_min_length > self.toy_max_length,
                "tokens_per_batch must be at least max_length + 1: one sentence of max_length tokens and </s>": (
                    self.max_length + 1 > self.tokens_per_batch
                ),
            }
        )
        return self

    def path_of(self, file: str) -> Path:
        """Where a file of the mix is: "bundled:NAME" is beside the recipes, other relative names are below `folder`."""
        if file.startswith(BUNDLED_PREFIX):
            return RECIPES / file.removeprefix(BUNDLED_PREFIX)
        return Path(self.folder or "") / file
