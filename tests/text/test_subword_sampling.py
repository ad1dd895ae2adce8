"""Subword sampling: the same text in other tokens, without loss."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.config import TokenizerConfig
from transformer.text.normalisation import normalise
from transformer.text.subword_sampling import BpeSampler, UnigramSampler
from transformer.text.tokenizer import Tokenizer

SENTENCES = ["The dog crossed the street.", "Der Igel überquerte die Straße, weil er zu müde war.", "x 😀 — </s>"]


def test_the_sampler_has_the_kind_of_the_model(unigram: Tokenizer, bpe: Tokenizer) -> None:
    assert isinstance(Tokenizer.from_bytes(unigram.to_bytes())._sampler, UnigramSampler)
    assert isinstance(Tokenizer.from_bytes(bpe.to_bytes())._sampler, BpeSampler)


@given(st.text(), st.integers(0, 2**32), st.sampled_from([0.01, 0.3, 0.99]))
def test_every_sample_spells_the_text(unigram: Tokenizer, bpe: Tokenizer, text: str, seed: int, alpha: float) -> None:
    plain = normalise(text)
    for tokenizer in (unigram, bpe):
        assert tokenizer.decode(tokenizer.sample(plain, alpha, random.Random(seed))) == plain


@given(st.text(st.sampled_from("The dog crossed the street. Straße 😀")))
def test_bpe_dropout_of_zero_is_bpe(bpe: Tokenizer, text: str) -> None:
    assert bpe.sample(text, 0.0, random.Random(0)) == bpe.encode(text)


@pytest.mark.parametrize("text", SENTENCES)
def test_bpe_dropout_of_one_gives_single_letters(bpe: Tokenizer, text: str) -> None:
    pieces = [bpe.token(id) for id in bpe.sample(text, 1.0, random.Random(0))]
    assert all(len(piece) == 1 or piece.startswith("<0x") for piece in pieces)


@pytest.mark.parametrize("text", SENTENCES)
def test_with_a_large_alpha_unigram_draws_the_best_segmentation(unigram: Tokenizer, text: str) -> None:
    assert unigram.sample(text, 1000.0, random.Random(0)) == unigram.encode(text)


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_unigram_segmentations_are_drawn_with_their_probability(alpha: float) -> None:
    words = ["".join(letters) for length in (1, 2, 3, 4) for letters in itertools.product("ab", repeat=length)]
    unigram = Tokenizer.train(words, TokenizerConfig(vocab_size=400))
    word = "▁abbababba"
    processor = unigram._processor
    weights: dict[tuple[int, ...], float] = {}
    for cuts in itertools.product([False, True], repeat=len(word) - 1):  # brute force: every way to cut the word
        ends = [i + 1 for i, cut in enumerate(cuts) if cut] + [len(word)]
        parts = [word[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
        ids = tuple(processor.piece_to_id(part) for part in parts)
        if processor.unk_id() not in ids:
            weights[ids] = math.exp(alpha * sum(processor.get_score(id) for id in ids))
    total = sum(weights.values())
    assert len(weights) > 10
    draws, rng = 20_000, random.Random(1)
    counts = Counter(tuple(unigram.sample("abbababba", alpha, rng)) for _ in range(draws))
    assert set(counts) <= set(weights)
    for ids, weight in weights.items():
        p = weight / total
        assert abs(counts[ids] - draws * p) < 5 * math.sqrt(draws * p * (1 - p)) + 1


def test_bpe_dropout_gives_more_pieces_the_more_it_drops(bpe: Tokenizer) -> None:
    rng = random.Random(1)
    lengths = [
        sum(len(bpe.sample(SENTENCES[0], alpha, rng)) for _ in range(200)) / 200 for alpha in (0.0, 0.1, 0.5, 1.0)
    ]
    assert lengths == sorted(set(lengths))


def test_samples_depend_on_the_given_generator_only(tokenizer: Tokenizer) -> None:
    rng = random.Random(7)
    for sentence in SENTENCES:
        tokenizer.sample(sentence, 0.3, rng)
    state = rng.getstate()
    then = [tokenizer.sample(sentence, 0.3, rng) for sentence in SENTENCES * 5]
    random.seed(99)
    rng.setstate(state)
    assert [tokenizer.sample(sentence, 0.3, rng) for sentence in SENTENCES * 5] == then
    assert len(set(map(tuple, then))) > len(SENTENCES)


def test_a_new_process_draws_the_same_samples(
    unigram: Tokenizer, bpe: Tokenizer, in_new_process: Callable[..., str]
) -> None:
    rng = random.Random("subwords 1 2")
    here = [tokenizer.sample(SENTENCES[0], 0.3, rng) for tokenizer in (unigram, bpe) for _ in range(50)]
    there = in_new_process(
        "import random, sys\n"
        "from transformer.text.tokenizer import Tokenizer\n"
        "models, rng = map(bytes.fromhex, sys.stdin.read().split()), random.Random('subwords 1 2')\n"
        "tokenizers = [Tokenizer.from_bytes(model) for model in models]\n"
        f"print([tokenizer.sample({SENTENCES[0]!r}, 0.3, rng) for tokenizer in tokenizers for _ in range(50)])",
        f"{unigram.to_bytes().hex()} {bpe.to_bytes().hex()}".encode(),
    )
    assert there == str(here)


def test_without_byte_fallback_unknown_characters_are_sampled_as_the_unknown_piece(lines: list[str]) -> None:
    for kind in ("unigram", "bpe"):
        tokenizer = Tokenizer.train(lines, TokenizerConfig(kind=kind, vocab_size=100, byte_fallback=False))
        for text in ("😀", "😀😎 😀"):
            assert tokenizer.sample(text, 0.3, random.Random(0)) == tokenizer.encode(text)
