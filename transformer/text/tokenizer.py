"""Sentences <-> ids, with a learned vocabulary of sub-words that both languages share (paper, section 5.1).

sentencepiece learns the vocabulary and applies it: `unigram` (Kudo 2018, arXiv:1804.10959) keeps the pieces under which
the corpus is most probable, `bpe` (Sennrich et al. 2016, arXiv:1508.07909) merges the most frequent neighbours. The
paper used BPE; both are here. A space becomes part of the piece after it, written "▁", so the joined pieces are the
text; a character outside the vocabulary becomes its UTF-8 bytes, four pieces `<0xF0>`... for an emoji.

Our decision: sentencepiece normalises nothing (`identity`) except runs of spaces. Its default `nmt_nfkc` turns "½" into
"1⁄2" and "ﬁ" into "fi", so pieces would not be those of the text that the user sees. normalisation.py normalises
instead.
"""

import io
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import sentencepiece

from transformer.config import BOS, EOS, PAD, UNK, TokenizerConfig
from transformer.errors import ConfigError, CorpusError, HeadlightError
from transformer.text.subword_sampling import Sampler, make_sampler
from transformer.text.vocabulary_lines import LONGEST_LINE, lines_to_learn_from

BYTE_SCORE = -15.0  # log-probability of a byte, below that of any other token
SURROGATES = re.compile("[\ud800-\udfff]")  # half characters, which UTF-8 cannot represent

Kind = Literal["ordinary", "unknown", "byte", "control"]


@dataclass(frozen=True)
class Token:
    """One token of a sentence, for the characters `text[begin:end]` of the sentence.

    All bytes of one character have its span. A "▁" for which there is no space in the text has an empty span.
    """

    id: int
    text: str
    begin: int
    end: int
    kind: Kind


class Tokenizer:
    """A sentencepiece model whose PAD, UNK, BOS and EOS are 0, 1, 2 and 3. Immutable; safe to share among threads."""

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self._processor = processor

    @classmethod
    def train(cls, lines: Iterable[str], config: TokenizerConfig) -> "Tokenizer":
        """Learns a vocabulary of at most `config.vocab_size` tokens, fewer if the corpus is small.

        The same lines, in the same order, give the same bytes. Raises CorpusError if there is no text, ConfigError if
        the vocabulary is too small for the single characters.
        """
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=lines_to_learn_from(map(encodable, lines)),
                model_writer=model,
                model_type=config.kind,
                vocab_size=config.vocab_size,
                hard_vocab_limit=False,  # a small corpus gives fewer tokens
                byte_fallback=config.byte_fallback,
                character_coverage=config.character_coverage,
                normalization_rule_name="identity",
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                # Trap: another number of threads gives another unigram vocabulary
                # (test_the_number_of_threads_is_that_of_the_recipe).
                num_threads=config.threads,
                max_sentence_length=4 * LONGEST_LINE,  # in bytes
                minloglevel=2,
            )
        except RuntimeError as error:
            raise _explain(str(error), config) from None
        return cls.from_bytes(model.getvalue())

    @classmethod
    def from_bytes(cls, model: bytes) -> "Tokenizer":
        """Reads a serialized sentencepiece model. Raises HeadlightError if that fails."""
        processor = read_processor(model)
        found = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
        if found != (PAD, UNK, BOS, EOS):
            raise HeadlightError(
                f"The tokenizer numbers its padding, unknown, start and end tokens {found}; they must be "
                f"{(PAD, UNK, BOS, EOS)}. Train it with pad_id=0, unk_id=1, bos_id=2, eos_id=3."
            )
        return cls(processor)

    def to_bytes(self) -> bytes:
        """The serialized model, complete: `from_bytes(to_bytes())` is the same tokenizer."""
        return self._processor.serialized_model_proto()

    @property
    def target(self) -> "Tokenizer":
        """The tokenizer for text in the target language: this one, unless each language has its own
        (pair_tokenizer.py)."""
        return self

    @property
    def vocab_size(self) -> int:
        """V; for a small corpus less than was configured."""
        return self._processor.vocab_size()

    def encode(self, text: str) -> list[int]:
        """Text -> ids, without BOS and EOS. `</s>` typed by a user is four characters, not the end token."""
        return self._processor.encode(encodable(text))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` for many texts, in one call of sentencepiece."""
        return self._processor.encode([encodable(text) for text in texts])

    def decode(self, ids: Iterable[int]) -> str:
        """Ids -> text. PAD, BOS, EOS and ids that do not exist are skipped; invalid bytes become U+FFFD."""
        known = [i for i in map(int, ids) if 0 <= i < self.vocab_size and i not in (PAD, BOS, EOS)]
        return self._processor.decode(known)

    def token(self, id: int) -> str:
        """The token as in the vocabulary, e.g. "▁the", "<0xF0>", "</s>"; "<?>" for an id that does not exist."""
        return self._processor.id_to_piece(id) if 0 <= id < self.vocab_size else "<?>"

    def kind(self, id: int) -> Kind:
        """The kind of the token; "unknown" for an id that does not exist."""
        if not 0 <= id < self.vocab_size or self._processor.is_unknown(id):
            return "unknown"
        if self._processor.is_control(id):
            return "control"
        return "byte" if self._processor.is_byte(id) else "ordinary"

    def score(self, id: int) -> float:
        """How frequent a token is: its log-probability (unigram), or minus the rank of its merge (BPE)."""
        return self._processor.get_score(id)

    @cached_property
    def ordinary_ids(self) -> tuple[int, ...]:
        """The ids of all tokens that are neither special, nor bytes, nor unknown."""
        return tuple(id for id in range(self.vocab_size) if self.kind(id) == "ordinary")

    def analyse(self, text: str) -> list[Token]:
        """The tokens of `text` in order (their ids are those of `encode`), with their spans."""
        found = self._processor.encode(encodable(text), return_type="offset_mapping")
        kinds = [self.kind(id) for id in found["ids"]]
        spans: list[tuple[int, int]] = list(found["offsets"])
        # sentencepiece gives the span of a character to the last of its bytes only; copy it to the others.
        for i in range(len(spans) - 2, -1, -1):
            if kinds[i] == kinds[i + 1] == "byte" and spans[i][0] == spans[i][1]:
                spans[i] = spans[i + 1]
        return [
            Token(id, self.token(id), begin, end, kind)
            for id, (begin, end), kind in zip(found["ids"], spans, kinds, strict=True)
        ]

    def unigram_score(self, text: str) -> float:
        """The log-probability of the text under the unigram model of the vocabulary; each byte counts as -15. For a
        BPE vocabulary the number has no meaning."""
        ids = self.encode(text)
        return sum(BYTE_SCORE if self._processor.is_byte(id) else self._processor.get_score(id) for id in ids)

    def sample(self, text: str, alpha: float, rng: random.Random) -> list[int]:
        """A random segmentation (subword_sampling.py), which depends on `rng` alone."""
        normalised = self._processor.normalize(encodable(text))
        return merged_unknown([id for word in words(normalised) for id in self._sampler.sample(word, alpha, rng)])

    @cached_property
    def _sampler(self) -> Sampler:
        return make_sampler(self._processor)


def encodable(text: str) -> str:
    """Lone surrogates, which sentencepiece refuses, become U+FFFD, which does not change offsets."""
    return SURROGATES.sub("\ufffd", text)


def merged_unknown(ids: Sequence[int]) -> list[int]:
    """Without byte fallback, adjacent unknown characters are one unknown token, as in `encode`."""
    return [id for previous, id in pairwise([PAD, *ids]) if not id == previous == UNK]


def words(normalised: str) -> list[str]:
    """ "▁to▁be" -> ["▁to", "▁be"]: pieces never cross a space, so words are segmented separately."""
    return re.findall("▁[^▁]*|[^▁]+", normalised)


def _explain(message: str, config: TokenizerConfig) -> HeadlightError:
    """The error of sentencepiece, with what to do."""
    if "required_chars" in message and (sizes := re.search(r"(\d+) vs (\d+)", message)):
        return ConfigError(
            f"tokenizer.vocab_size {config.vocab_size} cannot hold even the characters and bytes of this corpus: "
            f"they alone need {sizes[2]}. Raise tokenizer.vocab_size, or lower tokenizer.character_coverage."
        )
    if "sentences_.empty" in message or "all_chars_count" in message:
        return CorpusError("There is no text to learn a vocabulary from: every line is empty. Check data.train.")
    return CorpusError(
        f"sentencepiece cannot learn a vocabulary from this corpus: {message.strip()}. Give more text, or "
        "another tokenizer.vocab_size."
    )


def read_processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    """Reads a serialized sentencepiece model. Raises HeadlightError if that fails."""
    # Trap: sentencepiece accepts empty bytes and fails later
    # (test_bytes_that_are_not_a_model_are_refused_with_a_clear_error).
    if not model:
        raise HeadlightError("The tokenizer is empty. Use a sentencepiece .model file, or a checkpoint that has one.")
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        processor.id_to_piece(list(range(processor.vocab_size())))  # each must be UTF-8
    except (RuntimeError, ValueError):
        raise HeadlightError(
            "The tokenizer is not a sentencepiece model, or it is damaged. "
            "Use a .model file written by sentencepiece, or a checkpoint that has one."
        ) from None
    return processor
