"""What decoding returns: the sentence, its translations, and on request every candidate that was looked at on the way.

Everything here is immutable and made of plain numbers and strings: it can be cached, pickled, shared among threads.
"""

from dataclasses import dataclass, field
from typing import Literal

from transformer.config import DecodingConfig
from transformer.decoding.repetition import ends_in_loop
from transformer.text.tokenizer import Piece

Fate = Literal["start", "kept", "pruned", "finished", "stopped", "unfinished"]


@dataclass(frozen=True)
class Hypothesis:
    """One translation, piece by piece as the decoder predicted it, </s> included if it came that far."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    log_probabilities: tuple[float, ...]  # of each piece, given the source and the pieces before it (natural log)
    score: float  # their sum
    normalised_score: float  # score / length penalty: what hypotheses are ranked by
    text: str
    finished: bool  # False: cut off before it predicted </s>
    node: int | None = None  # where it ends in the tree, if one was kept

    @property
    def is_loop(self) -> bool:
        """Whether it was cut off because it repeated one token; else what is not finished reached the length limit."""
        return not self.finished and ends_in_loop(self.ids)


@dataclass(frozen=True)
class SearchNode:
    """One candidate of the search: a piece, put after the hypothesis that its parents spell."""

    id: int  # its place in `Translation.tree`; node 0 is <s>
    parent: int | None  # id of the node before it, None for <s>
    step: int  # how many pieces the hypothesis has with this one; 0 for <s>
    token: int
    piece: str
    log_probability: float
    sum: float  # of the log-probabilities from <s> to here
    normalised: float  # sum / length penalty of this length
    fate: Fate  # kept: went on to the next step. stopped: was still alive when the search ended
    reason: str  # why, in a sentence


@dataclass(frozen=True)
class Translation:
    """One sentence, translated. An empty one has no hypotheses, and the text ""."""

    source: str  # normalised: what `source_pieces` count their characters in
    source_pieces: tuple[Piece, ...]  # as the encoder reads them, </s> included
    source_ids: tuple[int, ...]  # their ids
    hypotheses: tuple[Hypothesis, ...]  # best first
    tree: tuple[SearchNode, ...] = field(repr=False)  # empty unless it was asked for
    settings: DecodingConfig

    @property
    def text(self) -> str:
        """The best translation."""
        return self.hypotheses[0].text if self.hypotheses else ""


@dataclass(frozen=True)
class TranslatedText:
    """A text, translated sentence by sentence."""

    sentences: tuple[Translation, ...]
    separators: tuple[str, ...]  # what stands after each sentence: a space, a line break, nothing after the last

    @property
    def text(self) -> str:
        """The translations, joined as the sentences were."""
        pairs = zip(self.sentences, self.separators, strict=True)
        return "".join(sentence.text + separator for sentence, separator in pairs)
