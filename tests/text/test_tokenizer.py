"""The tokenizer: text to ids and back without loss, special tokens, and files that are damaged."""

import base64
import hashlib
import io
import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
import sentencepiece
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.config import BOS, EOS, PAD, UNK, TokenizerConfig
from transformer.errors import ConfigError, CorpusError, HeadlightError
from transformer.text.normalisation import normalise
from transformer.text.pair_tokenizer import read_tokenizer
from transformer.text.tokenizer import Tokenizer
from transformer.text.vocabulary_lines import FREQUENT, frequent_words, sample_lines

HOSTILE = [
    "</s> <s> <pad> <unk> <0x41>",
    "👩‍👩‍👧 🇩🇪 🏳️‍🌈 e👍🏽",
    "שלום עולם، مرحبا",
    "Z̸̢͉a̶l̵g̷o̸ é",
    "</script><img src=x onerror=alert(1)>",
    "_a_ $x$ :red[b] ▁▁ \\ \x00 \u2047 ⁇",
    "½ ﬁ ² Ⅷ １２ ｶ",
    "the the the",
    "",
]


def control_ids(tokenizer: Tokenizer) -> set[int]:
    return {id for id in range(tokenizer.vocab_size) if tokenizer.kind(id) in ("control", "unknown")}


def test_the_four_special_pieces_have_the_same_ids_in_every_vocabulary(tokenizer: Tokenizer) -> None:
    assert [tokenizer.token(id) for id in (PAD, UNK, BOS, EOS)] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert control_ids(tokenizer) == {PAD, UNK, BOS, EOS}


def test_training_twice_gives_the_same_bytes(
    unigram: Tokenizer, bpe: Tokenizer, lines: list[str], in_new_process: Callable[..., str]
) -> None:
    there = in_new_process(
        "import hashlib, sys\n"
        "from transformer.config import TokenizerConfig\n"
        "from transformer.text.tokenizer import Tokenizer\n"
        "lines = sys.stdin.buffer.read().decode().splitlines()\n"
        "for kind in 'unigram', 'bpe':\n"
        "    model = Tokenizer.train(iter(lines), TokenizerConfig(kind=kind, vocab_size=400)).to_bytes()\n"
        "    print(hashlib.sha256(model).hexdigest())",
        "\n".join(lines).encode(),
    )
    assert there.split() == [hashlib.sha256(tokenizer.to_bytes()).hexdigest() for tokenizer in (unigram, bpe)]


def test_the_number_of_threads_is_that_of_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, learn = [], sentencepiece.SentencePieceTrainer.train

    def spy(**options: Any) -> None:
        asked.append(options["num_threads"])
        learn(**options)

    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", spy)
    for threads in (1, 3):
        Tokenizer.train(["to be or not to be"], TokenizerConfig(vocab_size=300, threads=threads))
    assert asked == [1, 3]


def test_a_frequent_word_that_always_stands_before_a_space_is_one_piece() -> None:
    """Without a vocabulary line of its own, sentencepiece would divide it: no other word begins with it."""
    words = ["mache", "suche", "machen", "suchen", "ich", "durch", "auch", "noch", "nach", "acht", "Nacht", "Buch"]
    lines = [f"Ich {word} das. I do that. Wir {word}." for word in words] * FREQUENT
    tokenizer = Tokenizer.train(lines, TokenizerConfig(vocab_size=340))
    assert tokenizer.token(tokenizer.encode("Ich suche")[0]) == "▁Ich"


def test_only_frequent_words_are_added_with_the_most_frequent_mark() -> None:
    lines = ["Ich bin da.", "Ich bin es!", "Wo?"] * (FREQUENT // 2) + ["Selten."]
    assert frequent_words(lines) == ["Ich.", "bin."]
    assert frequent_words(["a b c d e f", "ab cd"] * FREQUENT) == []


def test_from_bytes_restores_the_tokenizer(tokenizer: Tokenizer, lines: list[str]) -> None:
    again = Tokenizer.from_bytes(tokenizer.to_bytes())
    assert again.to_bytes() == tokenizer.to_bytes()
    assert again.encode_batch(lines) == [tokenizer.encode(line) for line in lines]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_small_corpus_gives_a_small_vocabulary(kind: Literal["unigram", "bpe"]) -> None:
    tokenizer = Tokenizer.train(["to be or not to be"] * 3, TokenizerConfig(kind=kind, vocab_size=8000))
    assert 260 < tokenizer.vocab_size < 300
    assert tokenizer.decode(tokenizer.encode("to be")) == "to be"


def test_a_vocabulary_that_cannot_hold_the_characters_is_refused_with_the_number_it_needs(lines: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"vocab_size 100 .* alone need \d+\. Raise") as caught:
        Tokenizer.train(lines, TokenizerConfig(vocab_size=100))
    needed = int(str(caught.value).split("alone need ")[1].split(".")[0])
    assert Tokenizer.train(lines, TokenizerConfig(vocab_size=needed)).vocab_size == needed


@pytest.mark.parametrize("nothing", [[], [""], ["  ", "\t"]])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_corpus_without_text_is_refused(kind: Literal["unigram", "bpe"], nothing: list[str]) -> None:
    with pytest.raises(CorpusError, match="no text to learn a vocabulary from"):
        Tokenizer.train(nothing, TokenizerConfig(kind=kind))


def test_lines_of_any_length_are_used_in_training() -> None:
    tokenizer = Tokenizer.train(["wort " * 20_000], TokenizerConfig(vocab_size=8000))
    assert [tokenizer.token(id) for id in tokenizer.encode("wort wort")] == ["▁wort", "▁wort"]


def test_of_a_huge_corpus_a_random_and_repeatable_sample_is_used() -> None:
    numbers = [str(number) for number in range(10_000)]
    sample = [int(line) for line in sample_lines(100, 10**6, numbers)]
    assert len(set(sample)) == 100
    assert 3500 < sum(sample) / 100 < 6500
    assert [int(line) for line in sample_lines(100, 10**6, iter(numbers))] == sample
    assert sample_lines(100, 10**6, ["b", " ", "a"]) == ["b", "a"]
    fewer = [int(line) for line in sample_lines(10_000, 9000, numbers)]  # they have 38,890 digits
    assert len(set(fewer)) == 2314
    assert fewer == sorted(fewer)
    assert 4500 < sum(fewer) / 2314 < 5500
    assert sample_lines(10_000, 38_890, numbers) == numbers


def trained_elsewhere() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["to be or not to be"]),
        model_writer=model,
        vocab_size=300,
        hard_vocab_limit=False,
        byte_fallback=True,
        minloglevel=2,
    )
    return model.getvalue()


@pytest.mark.parametrize("bytes_", [b"", b"\n", b"garbage" * 100, b"\x00" * 1000, b"PK\x03\x04" * 9])
def test_bytes_that_are_not_a_model_are_refused_with_a_clear_error(bytes_: bytes) -> None:
    with pytest.raises(HeadlightError, match=r"tokenizer is .*\. Use a"):
        Tokenizer.from_bytes(bytes_)


def test_a_damaged_model_is_refused_or_harmless(unigram: Tokenizer) -> None:
    good, refused, read = unigram.to_bytes(), 0, 0
    for place in range(0, len(good), 7):
        for damaged in (good[:place], good[:place] + b"\xff" + good[place + 1 :]):
            try:
                tokenizer = Tokenizer.from_bytes(damaged)
            except HeadlightError:
                refused += 1
                continue
            tokenizer.decode(range(tokenizer.vocab_size))
            read += 1
    assert refused > 10
    assert read > 10


@pytest.mark.parametrize("vocabulary", [{"<pad>": 0, "<unk>": 1}, "<pad>", [1, 2], ["<pad>", "\ud800"], None])
def test_a_damaged_vocabulary_of_two_languages_is_refused(unigram: Tokenizer, vocabulary: object) -> None:
    model = base64.b64encode(unigram.to_bytes()).decode()
    stored = {"source": model, "target": model, "vocabulary": vocabulary}
    with pytest.raises(HeadlightError, match="tokenizer of two languages is damaged"):
        read_tokenizer(json.dumps(stored).encode())


def test_for_other_special_ids_the_error_says_what_to_do() -> None:
    with pytest.raises(HeadlightError, match=r"\(-1, 0, 1, 2\).*pad_id=0, unk_id=1, bos_id=2, eos_id=3"):
        Tokenizer.from_bytes(trained_elsewhere())


@given(st.text())
@example(" ".join(HOSTILE))
def test_no_character_is_lost(unigram: Tokenizer, bpe: Tokenizer, text: str) -> None:
    plain = normalise(text)
    for tokenizer in (unigram, bpe):
        assert tokenizer.decode(tokenizer.encode(plain)) == plain


@pytest.mark.parametrize("text", HOSTILE)
def test_special_tokens_and_control_characters_in_text_stay_text(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(normalise(text))
    assert not control_ids(tokenizer) & set(ids)
    assert tokenizer.decode(ids) == normalise(text)


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \u2581Thedog😀\ud800")))
@example("The  dog\t😀 e\u0301 \ud800 x")
def test_analyse_gives_the_span_of_each_piece_in_the_text(unigram: Tokenizer, bpe: Tokenizer, text: str) -> None:
    for tokenizer in (unigram, bpe):
        tokens = tokenizer.analyse(text)
        assert [token.id for token in tokens] == tokenizer.encode(text)
        end = 0
        for token in tokens:
            surface = text[token.begin : token.end].replace("\ud800", "\ufffd")
            if token.kind == "byte":
                assert len(surface) == 1
                assert int(token.text[3:5], 16) in surface.encode()
                assert token.begin in (end - 1, end)
            else:
                assert token.kind == "ordinary"
                assert token.text.replace("▁", " ").split() == surface.replace("▁", " ").split()
                assert token.begin >= end
            end = token.end
        assert not text[end:].strip(" ▁")  # "▁" is a space to sentencepiece


def test_the_bytes_of_a_character_share_its_span(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.analyse("The 😀😎 dog")
    first, second = (
        [p for p in tokens if (p.begin, p.end) == place and p.kind == "byte"] for place in ((4, 5), (5, 6))
    )
    assert bytes(int(token.text[3:5], 16) for token in first).decode() == "😀"
    assert bytes(int(token.text[3:5], 16) for token in second).decode() == "😎"
    assert "The 😀😎 dog"[tokens[-1].begin : tokens[-1].end].strip() == "dog"[-len(tokens[-1].text.strip("▁")) :]


def test_without_byte_fallback_an_unknown_character_is_the_unknown_piece(lines: list[str]) -> None:
    tokenizer = Tokenizer.train(lines, TokenizerConfig(vocab_size=100, byte_fallback=False))
    unknown = [token for token in tokenizer.analyse("The 😀 dog") if token.kind == "unknown"]
    assert [(token.id, token.text, token.begin, token.end) for token in unknown] == [(UNK, "<unk>", 4, 5)]
    assert "⁇" in tokenizer.decode([UNK])


@given(st.lists(st.integers(-(2**70), 2**70) | st.integers(-5, 500), max_size=20))
def test_decode_never_raises(unigram: Tokenizer, bpe: Tokenizer, ids: list[int]) -> None:
    for tokenizer in (unigram, bpe):
        assert isinstance(tokenizer.decode(ids), str)
        assert all(tokenizer.token(id) for id in ids)
        assert {tokenizer.kind(id) for id in ids} <= {"ordinary", "byte", "control", "unknown"}


def test_decode_skips_special_ids_and_ids_outside_the_vocabulary(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("The dog sleeps.")
    framed = [BOS, *ids, 10**9, -1, tokenizer.vocab_size, EOS, PAD, PAD]
    assert tokenizer.decode(framed) == tokenizer.decode(torch.tensor(framed)) == "The dog sleeps."


def test_an_incomplete_character_becomes_a_replacement_character(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("dog \ud83d")) == "dog \ufffd"
    half = [id for id in tokenizer.encode("😀") if tokenizer.kind(id) == "byte"][:2]
    assert "\ufffd" in tokenizer.decode(half)
