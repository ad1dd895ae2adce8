"""No string raises an error on its way to the model or loses text; text normalised twice is the same."""

import unicodedata
from random import Random

import pytest
import torch

from tests.support.fuzz_strings import hostile_string
from tests.support.fuzzer import Fuzzer, run_fuzzer
from tests.support.small_model import small
from transformer.config import DecodingConfig, TokenizerConfig
from transformer.decoding.translate_lines import translate_lines
from transformer.decoding.translator import Translator
from transformer.errors import TranslationError
from transformer.model import Transformer
from transformer.text.normalisation import clean, normalise
from transformer.text.sentence_splitting import split_sentences
from transformer.text.tokenizer import Tokenizer

LINES = ["the cat sat on the mat", "das Tier überquerte die Straße nicht, weil es müde war", "Where is 1 dog? No."]


def fuzz_split_sentences(rng: Random, cases: int) -> None:
    """Joined, the sentences are the paragraph up to white space; no sentence is split again."""
    for _ in range(cases):
        text = hostile_string(rng)
        sentences = split_sentences(text)
        assert "".join("".join(sentences).split()) == "".join(text.split()), ascii(text)
        for sentence in sentences:
            assert sentence == sentence.strip() != "", ascii(text)
            assert split_sentences(sentence) == [sentence], ascii(text)


def fuzz_normalise(rng: Random, cases: int) -> None:
    """`clean` and `normalise` are idempotent, and give one line of visible characters in NFC that UTF-8 can hold."""
    for _ in range(cases):
        text = hostile_string(rng)
        cleaned, plain = clean(text), normalise(text)
        assert clean(cleaned) == cleaned, ascii(text)
        assert normalise(plain) == clean(plain) == normalise(cleaned) == plain, ascii(text)
        for found in (cleaned, plain):
            assert found == unicodedata.normalize("NFC", found) == " ".join(found.split()), ascii(text)
            assert not {"Cc", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, found)), ascii(text)
            found.encode()


def fuzz_tokenizer(rng: Random, cases: int) -> None:
    """Tokens give back the text that was normalised; their spans cover it in order; nothing else raises an error."""
    tokenizers = [Tokenizer.train(LINES, TokenizerConfig(kind=kind, vocab_size=400)) for kind in ("unigram", "bpe")]
    poor = Tokenizer.train(LINES, TokenizerConfig(kind="unigram", vocab_size=60, byte_fallback=False))
    for _ in range(cases):
        text = hostile_string(rng)
        plain, tokenizer = normalise(text), rng.choice(tokenizers)
        ids = tokenizer.encode(plain)
        assert tokenizer.decode(ids) == plain, ascii(text)
        assert tokenizer.decode(tokenizer.sample(plain, 0.3, rng)) == plain, ascii(text)
        for given in (text, plain):
            tokens = tokenizer.analyse(given)
            assert [token.id for token in tokens] == tokenizer.encode(given), ascii(text)
            spans = [(token.begin, token.end) for token in tokens]
            assert all(0 <= begin <= end <= len(given) for begin, end in spans), ascii(text)
            assert spans == sorted(spans), ascii(text)
        assert max([0, *tokenizer.encode(text), *poor.encode(text)]) < 400
        for own in (tokenizer, poor):
            own.decode(own.encode(text)).encode()
            own.decode(rng.randrange(-5, own.vocab_size + 5) for _ in range(5)).encode()


def fuzz_translator(rng: Random, cases: int) -> None:
    """Each line gets one line or the reason why not; a text gets a translation or a TranslationError."""
    tokenizer = Tokenizer.train(LINES, TokenizerConfig(kind="bpe", vocab_size=400))
    torch.manual_seed(rng.randrange(2**32))
    model = Transformer(small(vocab_size=tokenizer.vocab_size, max_positions=48)).eval()
    settings = DecodingConfig(method="greedy", max_extra_length=0)
    translator = Translator(model, tokenizer, settings)
    for begin in range(0, cases, 64):
        texts = [hostile_string(rng)[:300] for _ in range(min(64, cases - begin))]
        lines = [text.encode(errors="surrogatepass").replace(b"\n", b" ") + b"\n" for text in texts]
        found = list(translate_lines(translator, lines, settings, 64))
        assert [line.number for line in found] == list(range(1, len(lines) + 1))
        assert not any("\n" in line.text or (line.problem and line.text) for line in found)
        try:
            translation = translator.translate(texts[0])
        except TranslationError:
            continue
        translation.text.encode()


FUZZERS: dict[Fuzzer, int] = {
    fuzz_split_sentences: 2000,
    fuzz_normalise: 2000,
    fuzz_tokenizer: 200,
    fuzz_translator: 128,
}


@pytest.mark.parametrize("fuzz", FUZZERS, ids=lambda fuzz: fuzz.__name__)
def test_hundreds_of_hostile_strings_do_no_harm(fuzz: Fuzzer) -> None:
    run_fuzzer(fuzz, FUZZERS[fuzz])


@pytest.mark.soak
@pytest.mark.parametrize("fuzz", FUZZERS, ids=lambda fuzz: fuzz.__name__)
def test_fifty_thousand_hostile_strings_do_no_harm(fuzz: Fuzzer) -> None:
    run_fuzzer(fuzz, 50_000)
