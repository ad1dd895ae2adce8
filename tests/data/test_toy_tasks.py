"""The toy tasks: their pairs are right, and validation pairs are not among those for training."""

from collections.abc import Callable

import pytest

from transformer.config import TokenizerConfig
from transformer.data.toy_tasks import TOY_TASKS, Bounds, held_out_pairs, is_held_out, toy_pairs
from transformer.errors import ConfigError
from transformer.recipe import load_recipe
from transformer.text.tokenizer import Tokenizer

TASKS = list(TOY_TASKS)


@pytest.fixture(scope="module")
def letters() -> Tokenizer:
    return Tokenizer.train(TOY_TASKS["reverse"].tokenizer_lines(), TokenizerConfig(vocab_size=313))


@pytest.fixture(scope="module")
def number_words() -> Tokenizer:
    return Tokenizer.train(TOY_TASKS["numbers"].tokenizer_lines(), TokenizerConfig(vocab_size=423))


def tokens(tokenizer: Tokenizer, text: str) -> list[str]:
    return [tokenizer.token(id) for id in tokenizer.encode(text)]


@pytest.mark.parametrize("task", TASKS)
def test_the_answer_to_a_source_is_its_target_in_training(task: str) -> None:
    for source, target in toy_pairs(task, 3, 300):
        assert TOY_TASKS[task].answer(source) == target
    for no_source in ("", "the cat", "hundred hundred", "one million thousand", "-", "😀 ab"):
        assert TOY_TASKS[task].answer(no_source) is None


@pytest.mark.parametrize("draw", [toy_pairs, held_out_pairs])
def test_each_letter_task_gives_its_answer(draw: Callable[..., list[tuple[str, str]]]) -> None:
    answers: dict[str, Callable[[list[str]], list[str]]] = {
        "copy": lambda source: source,
        "reverse": lambda source: source[::-1],
        "sort": sorted,
    }
    for task, answer in answers.items():
        for source, target in draw(task, 1, 300):
            assert target.split(" ") == answer(source.split(" "))


def test_number_words_are_those_of_the_same_number_in_both_languages() -> None:
    bounds = Bounds(max_number=120)
    train, valid = (draw("numbers", 1, 4000, bounds) for draw in (toy_pairs, held_out_pairs))
    pairs = dict(train + valid)
    assert len(pairs) == 121
    assert pairs["zero"] == "null"
    assert pairs["one"] == "eins"
    assert pairs["seventeen"] == "siebzehn"
    assert pairs["forty-two"] == "zweiundvierzig"
    assert pairs["one hundred and one"] == "einhunderteins"


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_pairs_and_another_seed_or_epoch_new_ones(task: str) -> None:
    pairs = toy_pairs(task, 3, 100, epoch=2)
    assert pairs == toy_pairs(task, 3, 100, epoch=2)
    assert pairs[:50] == toy_pairs(task, 3, 50, epoch=2)
    others = [toy_pairs(task, 3, 100, epoch=3), toy_pairs(task, 4, 100, epoch=2), toy_pairs(task, 32, 100)]
    assert all(pairs != other for other in others)


def test_a_new_process_makes_the_same_pairs(in_new_process: Callable[..., str]) -> None:
    there = in_new_process(
        "from transformer.data.toy_tasks import held_out_pairs, toy_pairs\n"
        f"print([(toy_pairs(task, 5, 20, epoch=1), held_out_pairs(task, 5, 20)) for task in {TASKS}])"
    )
    assert there == str([(toy_pairs(task, 5, 20, epoch=1), held_out_pairs(task, 5, 20)) for task in TASKS])


@pytest.mark.parametrize("task", TASKS)
def test_held_out_sources_are_never_in_the_training_pairs(task: str) -> None:
    bounds = Bounds(symbols=3, max_length=5, max_number=200)
    train = {source for seed in range(4) for source, _ in toy_pairs(task, seed, 1500, bounds, epoch=seed)}
    valid = {source for seed in range(4) for source, _ in held_out_pairs(task, seed, 300, bounds)}
    assert not train & valid
    assert all(map(is_held_out, valid))
    assert 0.05 < len(valid) / len(train | valid) < 0.2


def test_sources_of_one_word_are_never_held_out() -> None:
    assert {source for source, _ in toy_pairs("copy", 1, 3000, Bounds(max_length=2)) if " " not in source} == set(
        "abcdefghijklmnopqrstuvwxyz"
    )
    small = {target for _, target in toy_pairs("numbers", 1, 2000, Bounds(max_number=20))}
    assert len(small) == 21


@pytest.mark.parametrize("task", TASKS)
def test_a_task_has_examples_and_a_recipe_of_its_name(task: str) -> None:
    """So all that lists tasks, such as the app, needs nothing else to offer a new one."""
    assert all(TOY_TASKS[task].answer(example) for example in TOY_TASKS[task].examples)
    assert len(TOY_TASKS[task].examples) >= 3
    assert load_recipe(task).data.toy == load_recipe(task).name == task


def test_bounds_are_kept_and_reached() -> None:
    sequences = [s.split() for s, _ in toy_pairs("sort", 1, 2000, Bounds(symbols=4, min_length=3, max_length=6))]
    assert {len(sequence) for sequence in sequences} == {3, 4, 5, 6}
    assert {letter for sequence in sequences for letter in sequence} == set("abcd")
    lengths = [len(s) for s, _ in toy_pairs("numbers", 1, 500, Bounds(max_number=10_000))]
    assert min(lengths) <= 5
    assert sum(length < 15 for length in lengths) > 100  # small numbers are frequent
    assert all("thousand" not in s for s, _ in toy_pairs("numbers", 1, 500, Bounds(max_number=999)))


def test_bounds_without_a_pair_for_validation_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"toy task numbers has no pair for validation.*data\.toy_max_number"):
        held_out_pairs("numbers", 1, 5, Bounds(max_number=20))
    with pytest.raises(ConfigError, match=r"toy task copy has no pair for validation.*data\.toy_max_length or"):
        held_out_pairs("copy", 1, 5, Bounds(max_length=1))


def test_each_letter_is_exactly_one_token(letters: Tokenizer) -> None:
    assert letters.vocab_size == 313
    for source, target in toy_pairs("reverse", 1, 200):
        assert tokens(letters, source) == ["▁" + letter for letter in source.split()]
        assert letters.decode(letters.encode(target)) == target


def test_number_words_become_the_tokens_of_their_parts(number_words: Tokenizer) -> None:
    assert number_words.vocab_size == 423
    assert tokens(number_words, "forty-two") == ["▁forty", "-", "two"]
    assert tokens(number_words, "zweiundvierzig") == ["▁zwei", "und", "vierzig"]
    assert tokens(number_words, "three thousand, one hundred and six") == [
        "▁three", "▁thousand", ",", "▁one", "▁hundred", "▁and", "▁six",
    ]  # fmt: skip
    assert tokens(number_words, "dreitausendeinhundertsechs") == ["▁drei", "tausend", "ein", "hundert", "sechs"]
    targets = [target for _, target in toy_pairs("numbers", 1, 800, Bounds(max_number=99_999_999))]
    parts = {token.strip("▁") for target in targets for token in tokens(number_words, target)}
    german = "null ein eine eins zwei drei vier fünf sechs sieben acht neun und hundert tausend Million Millionen"
    teens = "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
    tens = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
    assert parts == set(f"{german} {teens} {tens}".split())


def test_any_text_can_be_encoded_and_decoded(letters: Tokenizer, number_words: Tokenizer) -> None:
    for tokenizer in (letters, number_words):
        for text in ("k f Ä 😀", "FORTY-TWO?", "</s> a", "42"):
            assert tokenizer.decode(tokenizer.encode(text)) == text
