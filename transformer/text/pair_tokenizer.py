"""A tokenizer for each language, and one vocabulary that gives the ids of both, as in Marian's models.

The sentencepiece model of a language splits text into tokens. The vocabulary, a list of tokens, gives each token its
id. A token that the list lacks is UNK. Ids 0 to 3 are those of all our models.
"""

import base64
import json
import random
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import sentencepiece

from transformer.config import BOS, EOS, PAD, UNK
from transformer.errors import HeadlightError
from transformer.files.strict_json import parse_object
from transformer.text.tokenizer import Kind, Token, Tokenizer, encodable, merged_unknown, read_processor, words

SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
LEAST_SCORE = -100.0  # of a token that this language's sentencepiece model does not have


class PairTokenizer(Tokenizer):
    """Encodes text in the source language; `target` encodes the other one. Both decode what the model writes.

    Args:
        source, target: serialized sentencepiece models. Their own ids do not matter.
        vocabulary: the tokens by their ids; the first four are SPECIAL.

    Raises:
        HeadlightError: one of the two is not a sentencepiece model, or the vocabulary does not begin with SPECIAL.
    """

    def __init__(self, source: bytes, target: bytes, vocabulary: Sequence[str]) -> None:
        super().__init__(read_processor(source))
        if tuple(vocabulary[: len(SPECIAL)]) != SPECIAL or len(set(vocabulary)) != len(vocabulary):
            raise HeadlightError(
                f"The vocabulary of a tokenizer must begin with {', '.join(SPECIAL)} and name each token once."
            )
        self._models = (source, target)
        self._vocabulary = tuple(vocabulary)
        self._ids = {token: id for id, token in enumerate(vocabulary)}

    @classmethod
    def from_bytes(cls, model: bytes) -> "PairTokenizer":
        """Reads what `to_bytes` made. Raises HeadlightError if it is something else."""
        try:
            stored = parse_object(model.decode())
            source, target = (base64.b64decode(stored[name], validate=True) for name in ("source", "target"))
            vocabulary = stored["vocabulary"]
            if not isinstance(vocabulary, list) or not all(isinstance(token, str) for token in vocabulary):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            raise HeadlightError("The tokenizer of two languages is damaged. Import the model again.") from None
        return cls(source, target, vocabulary)

    def to_bytes(self) -> bytes:
        """Both sentencepiece models and the vocabulary, as JSON."""
        source, target = (base64.b64encode(model).decode() for model in self._models)
        stored = {"source": source, "target": target, "vocabulary": self._vocabulary}
        return json.dumps(stored, ensure_ascii=False).encode()

    @property
    def models(self) -> tuple[bytes, bytes]:
        """The serialized sentencepiece models of source and target."""
        return self._models

    @cached_property
    def target(self) -> Tokenizer:
        """The tokenizer for text in the target language: the same models, with source and target swapped."""
        source, target = self._models
        return PairTokenizer(target, source, self._vocabulary)

    @property
    def vocab_size(self) -> int:
        """V."""
        return len(self._vocabulary)

    def encode(self, text: str) -> list[int]:
        """Text in the source language -> ids, without BOS and EOS."""
        return self._numbered(self._processor.encode(encodable(text), out_type=str))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` for many texts."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Iterable[int]) -> str:
        """Ids that the model wrote, in the target language -> text. PAD, BOS, EOS and unknown ids are skipped."""
        written = [self._vocabulary[i] for i in map(int, ids) if 0 <= i < self.vocab_size and i not in (PAD, BOS, EOS)]
        return self._target_processor.decode_pieces(written)

    def token(self, id: int) -> str:
        """The token as in the vocabulary; "<?>" for an id that does not exist."""
        return self._vocabulary[id] if 0 <= id < self.vocab_size else "<?>"

    def kind(self, id: int) -> Kind:
        """The kind of the token. Marian's vocabularies have no byte tokens."""
        if not 0 <= id < self.vocab_size or id == UNK:
            return "unknown"
        return "control" if id in (PAD, BOS, EOS) else "ordinary"

    def score(self, id: int) -> float:
        """The log-probability of a token in the sentencepiece model of the source language."""
        own = self._processor.piece_to_id(self.token(id))
        return LEAST_SCORE if self._processor.is_unknown(own) else self._processor.get_score(own)

    def analyse(self, text: str) -> list[Token]:
        """The tokens of `text` in order, with their spans."""
        found = self._processor.encode(encodable(text), return_type="offset_mapping")
        tokens = self._processor.encode(encodable(text), out_type=str)
        return [
            Token(id, self.token(id), begin, end, self.kind(id))
            for id, (begin, end) in zip(self._numbered(tokens), found["offsets"], strict=True)
        ]

    def unigram_score(self, text: str) -> float:
        """The log-probability of the text under the model of the source language."""
        return sum(map(self.score, self.encode(text)))

    def sample(self, text: str, alpha: float, rng: random.Random) -> list[int]:
        """A random segmentation (subword_sampling.py), which depends on `rng` alone."""
        normalised = self._processor.normalize(encodable(text))
        own = [id for word in words(normalised) for id in self._sampler.sample(word, alpha, rng)]
        return merged_unknown(self._numbered(self._processor.id_to_piece(own)))

    @cached_property
    def _target_processor(self) -> sentencepiece.SentencePieceProcessor:
        return read_processor(self._models[1])

    def _numbered(self, tokens: Iterable[str]) -> list[int]:
        return [self._ids.get(token, UNK) for token in tokens]


def read_tokenizer_file(path: Path) -> Tokenizer:
    """As `read_tokenizer`, from a file. Raises HeadlightError with its name, or OSError if it cannot be read."""
    try:
        return read_tokenizer(path.read_bytes())
    except HeadlightError as error:
        raise HeadlightError(f"{path}: {error}") from None


def read_tokenizer(model: bytes) -> Tokenizer:
    """The tokenizer of a checkpoint: a sentencepiece model, or the two of a PairTokenizer. Raises HeadlightError."""
    return PairTokenizer.from_bytes(model) if model[:1] == b"{" else Tokenizer.from_bytes(model)
