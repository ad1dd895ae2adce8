"""Options of [data] that are tables of their own: the parts of a training mix, and the rates of augmentation.

[[data.mix]]              one table per part           transformer/data/parts.py
[data.augment]            one rate per change          transformer/data/augmentation/
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator
from pydantic.dataclasses import dataclass

from transformer.data.hugging_face_address import is_data_set
from transformer.files.untrusted_values import STRICT, refuse
from transformer.text.normalisation import normalise

BUNDLED_PREFIX = "bundled:"  # the beginning of a name: the file is beside the bundled recipes
Probability = Annotated[StrictFloat, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True, config=STRICT, kw_only=True)
class MixPart:
    """One file of a training mix, and how it is used (transformer/data/parts.py)."""

    file: Annotated[str, Field(min_length=1)]  # .tsv or .tsv.gz; with target_file, the source side only
    target_file: str | None = None
    weight: Annotated[StrictInt, Field(ge=1, le=100)] = 1  # how many times each pair is seen per epoch
    tag: Annotated[str, Field(max_length=20)] = ""  # put before each source: it marks back-translated text
    swapped: StrictBool = False  # source and target are exchanged
    aside: Annotated[StrictInt, Field(ge=0)] = 0  # how many pairs are kept aside for a test
    only: Literal["numbers"] | None = None  # numbers: pairs with the same time, price or date on both sides
    monolingual: StrictBool = False  # targets, one per line; data.back_translator writes their sources

    @model_validator(mode="after")
    def _consistent(self) -> "MixPart":
        has_sources = self.target_file is not None or self.swapped or self.aside > 0
        refuse(
            {
                f"tag = {self.tag!a} should be normalised text: {normalise(self.tag)!a}": (
                    self.tag != normalise(self.tag)
                ),
                "a part with a tag is not kept aside: a test has no tag. Remove one of tag and aside": (
                    bool(self.tag) and self.aside > 0
                ),
                "a monolingual file has targets, and its sources are not real: remove target_file, swapped and aside": (
                    self.monolingual and has_sources
                ),
                "a part of a mix is a file: give a Hugging Face data set (hf:) as data.train": (is_data_set(self.file)),
            }
        )
        return self

    @property
    def name(self) -> str:
        """The names of its folder and of the file, joined: `covost2-en-de-train`."""
        path = Path(self.file.removeprefix(BUNDLED_PREFIX))
        return f"{path.parent.name}-{path.name.split('.')[0]}".strip("-")


def problems_of_mix(mix: tuple[MixPart, ...], back_translator: str | None, drop_duplicates: bool) -> dict[str, bool]:
    """What `refuse` takes: whether monolingual files have no model that writes their sources, or a model has no such
    file, or pairs are listed again that drop_duplicates would remove."""
    monolingual = any(part.monolingual for part in mix)
    no_model = (
        "a part of the mix is monolingual: name the checkpoint that translates it into the source language "
        '(back_translator = "FILE.safetensors")'
    )
    no_file = "back_translator is for the monolingual parts of a mix, and there are none: remove it"
    again = "drop_duplicates would remove the pairs that a part with only repeats: remove one of the two"
    return {
        no_model: monolingual and back_translator is None,
        no_file: back_translator is not None and not monolingual,
        again: drop_duplicates and any(part.only for part in mix),
    }


@dataclass(frozen=True, config=STRICT, kw_only=True)
class Augmentation:
    """Probabilities, for each pair in each epoch, that it is changed (transformer/data/augmentation/augment.py)."""

    times: Probability = 0.0  # 7:45 becomes another time, on both sides
    prices: Probability = 0.0  # 12.50 becomes another price, on both sides
    dates: Probability = 0.0  # the day beside the name of a month becomes another day, on both sides
    copy: Probability = 0.0  # the source becomes the target: a model learns to copy unknown words
    join: Probability = 0.0  # one or two other pairs are appended
    capitals: Probability = 0.0  # the source is all in capitals; its target does not change
    lower_case: Probability = 0.0  # the source is all in lower case
    no_final_mark: Probability = 0.0  # the source lacks its last . ! or ?
    typo: Probability = 0.0  # one wrong letter in the source
    first_word: Probability = 0.0  # in lower case where the vocabulary has only that; a translator reads it so

    @model_validator(mode="after")
    def _consistent(self) -> "Augmentation":
        exclude = "capitals and lower_case exclude each other: their sum must be at most 1"
        refuse({exclude: self.capitals + self.lower_case > 1})
        return self

    @property
    def is_on(self) -> bool:
        """Whether anything is changed."""
        return any(vars(self)[name] for name in self.__dataclass_fields__)
