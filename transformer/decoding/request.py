"""A sentence as a search gets it: normalised, in its usual letter case, as tokens, checked against the model's limits.

A sentence that cannot be translated gives a request with a problem, not an exception, so that the other sentences of
its batch are translated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformer.config import EOS, DecodingConfig
from transformer.decoding.length_penalty import length_limit
from transformer.decoding.translation import Hypothesis, SearchNode, Translation
from transformer.errors import TranslationError
from transformer.text.normalisation import clean, normalise
from transformer.text.recasing import recased, with_known_first_word
from transformer.text.spelling import WordList
from transformer.text.tokenizer import Token, Tokenizer

NOTHING = "There is nothing to translate: the text is empty. Type a sentence."


@dataclass(frozen=True)
class Request:
    """A sentence to be translated."""

    source: str  # normalised, in its usual letter case, and perhaps with corrected spelling
    tokens: list[Token]  # as the encoder reads them, </s> included; none if the sentence is empty
    problem: TranslationError | None  # why it cannot be translated; None if it can
    typed: str = ""  # the normalised sentence as it was typed, if `source` is another text; else ""
    lowered: bool = False  # whether the first word of `source` has lost its capital

    @property
    def ids(self) -> list[int]:
        """The ids of the tokens."""
        return [token.id for token in self.tokens]

    def translated(
        self, settings: DecodingConfig, found: tuple[Hypothesis, ...] = (), tree: tuple[SearchNode, ...] = ()
    ) -> Translation:
        """The result of a search for this request; of an empty sentence, nothing is found."""
        read = tuple(self.tokens), tuple(self.ids)
        return Translation(self.source, *read, found, tree, settings, self.typed, self.lowered)


@dataclass(frozen=True)
class SourceReader:
    """Turns text into requests."""

    tokenizer: Tokenizer
    max_positions: int  # of the model
    first_words: bool = False  # whether the model has learnt to read a first word in lower case (`recasing.py`)
    words: WordList | None = None  # with which spelling is corrected; None: it is not
    is_foreign: Callable[[str], bool] | None = None  # whether a sentence is of another language: it is not corrected

    @property
    def max_length(self) -> int:
        """The most tokens that a sentence may have; </s> needs one position, too."""
        return self.max_positions - 1

    def read(self, sentence: str, settings: DecodingConfig, prefix: Sequence[int] = ()) -> Request:
        """The request to translate a sentence, with a translation that begins with `prefix`."""
        normalised = normalise(sentence)
        source, lowered = self._as_read(self._corrected(normalised))
        tokens = self.tokenizer.analyse(source)
        if len(tokens) > self.max_length and source != normalised:  # the sentence as it was typed may be short enough
            source, lowered, tokens = normalised, False, self.tokenizer.analyse(normalised)
        typed = normalised if source != normalised else ""
        if not tokens:
            return Request(source, [], None)
        tokens.append(Token(EOS, self.tokenizer.token(EOS), len(source), len(source), "control"))
        problem, shown = None, repr(source if len(source) <= 40 else source[:40] + "…")
        limit = length_limit(len(tokens), settings, self.max_positions)
        if len(tokens) - 1 > self.max_length:
            problem = TranslationError(
                f"The sentence ({shown}) has {len(tokens) - 1:,} tokens, and this model reads at most "
                f"{self.max_length:,}. Split it into shorter sentences."
            )
        elif len(prefix) >= limit:
            remedy = "Shorten the prefix, or raise max_extra_length." if limit < self.max_positions else "Shorten it."
            problem = TranslationError(
                f"The prefix has {len(prefix):,} tokens, and the translation of {shown} may have at most "
                f"{limit - 1:,}. {remedy}"
            )
        return Request(source, tokens, problem, typed, lowered)

    def _corrected(self, sentence: str) -> str:
        is_foreign = self.is_foreign is not None and self.is_foreign(sentence)
        return self.words.corrected(sentence) if self.words and not is_foreign else sentence

    def _as_read(self, sentence: str) -> tuple[str, bool]:
        """The sentence in the letter case in which it is read, and whether its first word has lost its capital.

        What is read is read as it is when it is given again, as an app does. (Trap: without its only capital, a
        sentence may be recased. Test: test_what_is_read_is_read_again_as_it_is.)
        """
        usual = recased(sentence, self.tokenizer)
        if not self.first_words:
            return usual, False
        lowered = recased(with_known_first_word(usual, self.tokenizer), self.tokenizer)
        found = with_known_first_word(lowered, self.tokenizer)
        return found, found[:1] != usual[:1]

    def prefix_ids(self, prefix: str | Sequence[int]) -> list[int]:
        """The ids of a prefix. Raises TranslationError if no translation can begin with them."""
        ids = self.tokenizer.target.encode(clean(prefix)) if isinstance(prefix, str) else list(prefix)
        wrong = [id for id in ids if not EOS < id < self.tokenizer.vocab_size]
        if wrong:
            raise TranslationError(
                f"A translation cannot begin with {self.tokenizer.token(wrong[0])} (id {wrong[0]}). "
                "The prefix may contain ordinary tokens only."
            )
        return ids


def reads_first_words(recipe: Mapping[str, Any] | None) -> bool:
    """Whether a model trained by this recipe, as a checkpoint has it, has learnt to read first words in lower case."""
    values: Any = recipe
    for name in ("data", "augment", "first_word"):
        values = values.get(name) if isinstance(values, Mapping) else None
    return isinstance(values, int | float) and values > 0
