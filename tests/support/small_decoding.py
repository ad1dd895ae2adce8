"""Small models whose translations are worth comparing, and what to compare them on."""

from functools import lru_cache

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from tests.support.oracles.marian import comparable
from transformer.config import BOS, EOS, PAD, DecodingConfig, ModelConfig, TokenizerConfig
from transformer.decoding import Translator
from transformer.decoding.search_record import Ending, SearchRecord
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer

V = 14
SETTINGS = DecodingConfig(beam=2, n_best=2, max_extra_length=4)
LINES = ["A dog barks.", "", "The cat sat on the mat, and the dog saw it.", "Cats!", "  ", "The mat is red."]


def config(shared: bool = True) -> ModelConfig:
    """One that Hugging Face's MarianMT can express as well."""
    sizes = {"encoder_layers": 1, "decoder_layers": 2, "d_model": 16, "d_ff": 24, "heads": 4, "max_positions": 40}
    return comparable(vocab_size=V, dropout=0.0, embedding_dropout=0.0, shared_embeddings=shared, **sizes)


@lru_cache
def undecided(shared: bool = True) -> Transformer:
    """A model in float64 that began to learn to write its source backwards, and knows no more than that it has to end.

    Models with random weights repeat one token for ever: every search finds the same, and a wrong one as well.
    """
    torch.manual_seed(2)
    model = Transformer(config(shared))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for update in range(60):
        sources = random_sources(32, seed=100 + update)
        targets = [torch.tensor([BOS, *source[-2::-1], EOS]) for source in sources]
        target = pad_sequence(targets, batch_first=True, padding_value=PAD)
        logits = model(padded(sources), target[:, :-1])
        loss = cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.double().eval()


@lru_cache
def small_translator(settings: DecodingConfig, seed: int = 0) -> Translator:
    """A random model in float64 with a vocabulary of its own: what it writes is nonsense, but always the same."""
    corpus = ["The cat sat on the mat.", "A dog barks at the red cat, and it is loud!"] * 20
    tokenizer = Tokenizer.train(corpus, TokenizerConfig(vocab_size=320))
    torch.manual_seed(seed)
    model = Transformer(
        ModelConfig(
            vocab_size=tokenizer.vocab_size,
            encoder_layers=1,
            decoder_layers=1,
            d_model=16,
            d_ff=16,
            heads=2,
            max_positions=60,
        )
    )
    return Translator(model.double().eval(), tokenizer, settings)


def translator() -> Translator:
    """One that finds two hypotheses."""
    return small_translator(SETTINGS)


def random_sources(count: int, seed: int = 0) -> list[list[int]]:
    """Of 1 to 7 tokens and </s>."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 8, (count,), generator=generator).tolist()
    return [[*torch.randint(EOS + 1, V, (length,), generator=generator).tolist(), EOS] for length in lengths]


def padded(sources: list[list[int]]) -> torch.Tensor:
    return pad_sequence([torch.tensor(source) for source in sources], batch_first=True, padding_value=PAD)


def ids(found: SearchRecord, ending: Ending | None = None) -> list[int]:
    """The tokens of a hypothesis, the best unless another is given."""
    return [candidate.token_id for candidate in found.path(ending or found.endings[0])]


def score(found: SearchRecord, ending: Ending | None = None) -> float:
    """The sum of its log-probabilities."""
    return found.path(ending or found.endings[0])[-1].sum
