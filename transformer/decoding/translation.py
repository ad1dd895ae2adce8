"""The result of decoding: the sentence, its translations, and on request every candidate of the search.

All classes are immutable, of plain numbers and strings: they can be cached, pickled and shared among threads.
"""

from dataclasses import dataclass, field
from typing import Literal

from transformer.config import DecodingConfig
from transformer.decoding.repetition import ends_in_loop
from transformer.text.tokenizer import Token

Outcome = Literal["start", "kept", "pruned", "finished", "stopped", "unfinished"]


@dataclass(frozen=True)
class Hypothesis:
    """One translation, token by token as the decoder predicted it, with </s> if it was predicted."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]  # of each token, given the source and the tokens before it (natural log)
    score: float  # their sum
    normalised_score: float  # score / length penalty, by which hypotheses are ranked
    text: str
    finished: bool  # False: cut off before it predicted </s>
    at_limit: bool = False  # whether it was cut off at the length limit
    node: int | None = None  # where it ends in the tree, if one was kept

    @property
    def ids_without_end(self) -> tuple[int, ...]:
        """Its tokens without </s>."""
        return self.ids[:-1] if self.finished else self.ids

    @property
    def is_loop(self) -> bool:
        """Whether it was cut off because it repeated one token, and not at the length limit."""
        return not (self.finished or self.at_limit) and ends_in_loop(self.ids)


@dataclass(frozen=True)
class SearchNode:
    """One candidate of the search: a token after the hypothesis that ends at its parent."""

    id: int  # its index in `Translation.tree`; node 0 is <s>
    parent: int | None  # id of the node before it, None for <s>
    step: int  # number of tokens up to this one; 0 for <s>
    token_id: int
    token: str
    log_probability: float
    sum: float  # of the log-probabilities from <s> to here
    normalised: float  # sum / length penalty of this length
    outcome: Outcome  # kept: continued in the next step; stopped: still live when the search ended
    reason: str  # why, in a sentence


@dataclass(frozen=True)
class Translation:
    """One translated sentence. An empty one has no hypotheses and the text ""."""

    source: str  # as it was read (request.py); the spans of `source_tokens` are positions in it
    source_tokens: tuple[Token, ...]  # as the encoder reads them, </s> included
    source_ids: tuple[int, ...]  # their ids
    hypotheses: tuple[Hypothesis, ...]  # best first
    tree: tuple[SearchNode, ...] = field(repr=False)  # empty unless it was asked for
    settings: DecodingConfig
    typed: str = ""  # the sentence as it was typed, normalised, if case or spelling was changed in reading; else ""
    lowered: bool = False  # whether the first word has lost its capital in reading (`transformer/text/recasing.py`)

    @property
    def sentence(self) -> str:
        """The source with the capital that its first word has lost: what another model should read or write."""
        return self.source[:1].upper() + self.source[1:] if self.lowered else self.source

    @property
    def text(self) -> str:
        """The best translation."""
        return self.hypotheses[0].text if self.hypotheses else ""


@dataclass(frozen=True)
class TranslatedText:
    """A text translated sentence by sentence."""

    sentences: tuple[Translation, ...]
    separators: tuple[str, ...]  # the text after each sentence: a space, a line break, "" after the last

    @property
    def text(self) -> str:
        """The translations, joined as the sentences were."""
        pairs = zip(self.sentences, self.separators, strict=True)
        return "".join(sentence.text + separator for sentence, separator in pairs)
