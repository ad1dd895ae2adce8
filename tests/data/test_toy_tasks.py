from collections.abc import Callable
from functools import partial

import pytest

from transformer.config import TokenizerConfig, ToyTask
from transformer.data.toy_tasks import is_held_out, toy_answer, toy_lines, toy_pairs
from transformer.errors import ConfigError
from transformer.text.tokenizer import Tokenizer

TASKS: list[ToyTask] = ["copy", "reverse", "sort", "numbers"]


@pytest.fixture(scope="module")
def letters() -> Tokenizer:
    return Tokenizer.train(toy_lines("reverse"), TokenizerConfig(vocab_size=313))


@pytest.fixture(scope="module")
def number_words() -> Tokenizer:
    return Tokenizer.train(toy_lines("numbers"), TokenizerConfig(vocab_size=423))


def pieces(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.piece(id) for id in tokenizer.encode(text)]


@pytest.mark.parametrize("task", TASKS)
def test_the_answer_to_a_source_is_the_one_that_is_taught(task: ToyTask) -> None:
    for source, target in toy_pairs(task, 3, 300):
        assert toy_answer(task, source) == target
    for no_source in ("", "the cat", "hundred hundred", "-", "😀 ab"):
        assert toy_answer(task, no_source) is None


@pytest.mark.parametrize("held_out", [False, True])
def test_each_letter_task_gives_its_answer(held_out: bool) -> None:
    answers: dict[ToyTask, Callable[[list[str]], list[str]]] = {
        "copy": lambda source: source,
        "reverse": lambda source: source[::-1],
        "sort": sorted,
    }
    for task, answer in answers.items():
        for source, target in toy_pairs(task, 1, 300, held_out=held_out):
            assert target.split(" ") == answer(source.split(" "))


def test_number_words_are_those_of_the_same_number_in_both_languages() -> None:
    train, valid = (toy_pairs("numbers", 1, 4000, max_number=120, held_out=held_out) for held_out in (False, True))
    pairs = dict(train + valid)
    assert len(pairs) == 121
    assert pairs["zero"] == "null"
    assert pairs["one"] == "eins"
    assert pairs["seventeen"] == "siebzehn"
    assert pairs["forty-two"] == "zweiundvierzig"
    assert pairs["one hundred and one"] == "einhunderteins"


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_pairs_and_another_seed_or_epoch_fresh_ones(task: ToyTask) -> None:
    pairs = toy_pairs(task, 3, 100, epoch=2)
    assert pairs == toy_pairs(task, 3, 100, epoch=2)
    assert pairs[:50] == toy_pairs(task, 3, 50, epoch=2)
    others = [toy_pairs(task, 3, 100, epoch=3), toy_pairs(task, 4, 100, epoch=2), toy_pairs(task, 32, 100)]
    assert all(pairs != other for other in others)


def test_a_new_process_makes_the_same_pairs(in_new_process: Callable[..., str]) -> None:
    there = in_new_process(
        "from transformer.data.toy_tasks import toy_pairs\n"
        f"print([toy_pairs(task, 5, 20, epoch=1, held_out=out) for task in {TASKS} for out in (False, True)])"
    )
    assert there == str([toy_pairs(task, 5, 20, epoch=1, held_out=out) for task in TASKS for out in (False, True)])


@pytest.mark.parametrize("task", TASKS)
def test_nothing_that_is_held_out_is_ever_trained_on(task: ToyTask) -> None:
    make = partial(toy_pairs, task, symbols=3, max_length=5, max_number=200)
    train = {source for seed in range(4) for source, _ in make(seed, 1500, epoch=seed)}
    valid = {source for seed in range(4) for source, _ in make(seed, 300, held_out=True)}
    assert not train & valid
    assert all(map(is_held_out, valid))
    assert 0.05 < len(valid) / len(train | valid) < 0.2


def test_what_nothing_else_teaches_is_never_held_out() -> None:
    assert {source for source, _ in toy_pairs("copy", 1, 3000, max_length=2) if " " not in source} == set(
        "abcdefghijklmnopqrstuvwxyz"
    )
    small = {target for _, target in toy_pairs("numbers", 1, 2000, max_number=20)}
    assert len(small) == 21


def test_bounds_are_kept_and_reached() -> None:
    sequences = [s.split() for s, _ in toy_pairs("sort", 1, 2000, symbols=4, min_length=3, max_length=6)]
    assert {len(sequence) for sequence in sequences} == {3, 4, 5, 6}
    assert {letter for sequence in sequences for letter in sequence} == set("abcd")
    lengths = [len(s) for s, _ in toy_pairs("numbers", 1, 500, max_number=10_000)]
    assert min(lengths) <= 5
    assert sum(length < 15 for length in lengths) > 100  # small numbers are met often
    assert all("thousand" not in s for s, _ in toy_pairs("numbers", 1, 500, max_number=999))


def test_bounds_that_leave_nothing_to_hold_out_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"toy task numbers has no pair for validation.*data\.toy_max_number"):
        toy_pairs("numbers", 1, 5, held_out=True, max_number=20)
    with pytest.raises(ConfigError, match=r"toy task copy has no pair for validation.*data\.toy_max_length or"):
        toy_pairs("copy", 1, 5, held_out=True, max_length=1)


def test_each_letter_is_exactly_one_piece(letters: Tokenizer) -> None:
    assert letters.vocab_size == 313
    for source, target in toy_pairs("reverse", 1, 200):
        assert pieces(letters, source) == ["▁" + letter for letter in source.split()]
        assert letters.decode(letters.encode(target)) == target


def test_number_words_fall_into_the_parts_a_learner_sees(number_words: Tokenizer) -> None:
    assert number_words.vocab_size == 423
    assert pieces(number_words, "forty-two") == ["▁forty", "-", "two"]
    assert pieces(number_words, "zweiundvierzig") == ["▁zwei", "und", "vierzig"]
    assert pieces(number_words, "three thousand, one hundred and six") == [
        "▁three", "▁thousand", ",", "▁one", "▁hundred", "▁and", "▁six",
    ]  # fmt: skip
    assert pieces(number_words, "dreitausendeinhundertsechs") == ["▁drei", "tausend", "ein", "hundert", "sechs"]
    targets = [target for _, target in toy_pairs("numbers", 1, 800, max_number=99_999_999)]
    parts = {piece.strip("▁") for target in targets for piece in pieces(number_words, target)}
    german = "null ein eine eins zwei drei vier fünf sechs sieben acht neun und hundert tausend Million Millionen"
    teens = "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
    tens = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
    assert parts == set(f"{german} {teens} {tens}".split())


def test_what_a_user_types_survives_though_no_toy_knows_it(letters: Tokenizer, number_words: Tokenizer) -> None:
    for tokenizer in (letters, number_words):
        for text in ("k f Ä 😀", "FORTY-TWO?", "</s> a", "42"):
            assert tokenizer.decode(tokenizer.encode(text)) == text
