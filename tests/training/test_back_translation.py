"""Back-translation: monolingual files of a mix get sources from a model of the other direction.

The model is the toy that reverses letters, so what it has to write is known: the sources of "a b c" are "c b a".
"""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.small_training import MODEL, TRAINING, write_pairs
from transformer.config import Recipe, TokenizerConfig
from transformer.data import prepared_store
from transformer.data.corpus_facts import facts_of
from transformer.data.data_options import DataConfig
from transformer.data.mix_options import MixPart
from transformer.data.monolingual import sources_path
from transformer.data.pair_sources import Corpus
from transformer.data.prepared_text import TrainingText
from transformer.data.toy_tasks import toy_pairs
from transformer.decoding.translate_lines import translate_lines
from transformer.decoding.translator import Translator
from transformer.errors import ConfigError, CorpusError
from transformer.recipe_files import check_files, recipe_for_checkpoint
from transformer.training import back_translation, train
from transformer.training.back_translation import write_sources

REVERSE = Path(__file__).parents[2] / "pretrained" / "reverse.safetensors"
CPU = torch.device("cpu")
PAIRS = toy_pairs("reverse", 1, 40)
LINES = [" ".join("abcdefgh"[number % 5 : number % 5 + 1 + number % 4]) for number in range(11)]


def recipe_of(folder: Path, **data: Any) -> Recipe:
    parts = MixPart(file="pairs.tsv"), MixPart(file="mono.txt", monolingual=True, weight=2, tag="<bt>")
    options: dict[str, Any] = {"mix": parts, "folder": str(folder), "back_translator": str(REVERSE)}
    options |= {"source_language": "letters reversed", "target_language": "letters"}
    options |= {"valid_size": 4, "max_length": 60, "tokens_per_batch": 400}
    config = DataConfig(**(options | data))
    training = replace(TRAINING, updates=2)
    return Recipe(name="mix", model=MODEL, data=config, tokenizer=TokenizerConfig(vocab_size=300), training=training)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    (tmp_path / "mono.txt").write_text("".join(f"{line}\n" for line in LINES))
    return tmp_path


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The files that `Translator.load` has been called with."""
    found = list[object]()
    load: Callable[..., Translator] = Translator.load

    def counted(*arguments: Any) -> Translator:
        found.append(arguments[0])
        return load(*arguments)

    monkeypatch.setattr(Translator, "load", counted)
    return found


def corpus_of(recipe: Recipe, run: Path) -> Corpus:
    write_sources(recipe.data, run, CPU)
    return Corpus(recipe, run)


def pairs_of(recipe: Recipe, run: Path) -> list[tuple[str, str]]:
    corpus = corpus_of(recipe, run)
    return [pair for block in range(corpus.text.blocks) for pair in corpus.text.seen(block)] + corpus.valid


def sources_of(recipe: Recipe, run: Path) -> Path:
    write_sources(recipe.data, run, CPU)
    return sources_path(recipe.data.mix[1], recipe.data, run)


def test_each_line_gets_the_source_that_the_model_writes(folder: Path) -> None:
    found = pairs_of(recipe_of(folder), folder / "run")
    for line in LINES:
        assert (" ".join(reversed(line.split())), line) in found
    part = corpus_of(recipe_of(folder), folder / "run").parts[1]
    assert (part.name, part.weight, part.tag, part.read) == ("mono", 2, "<bt>", len(LINES))


def test_a_line_that_cannot_be_translated_is_left_out_and_the_lines_stay_aligned(folder: Path) -> None:
    (folder / "mono.txt").write_text("a b\n\nb " + "a " * 3000 + "\nc d\n")
    found = pairs_of(recipe_of(folder), folder / "run")
    assert {("b a", "a b"), ("d c", "c d")} <= set(found)
    assert corpus_of(recipe_of(folder), folder / "run").text.counts.empty == 2


def test_a_prepared_corpus_knows_which_sources_a_model_wrote(folder: Path) -> None:
    text = corpus_of(recipe_of(folder), folder / "run").text
    for read in (text, TrainingText(text.folder)):  # also without the recipe
        assert [part.is_real for part in read.parts] == [True, False]


def test_a_compressed_file_is_read_as_well(folder: Path) -> None:
    plain = pairs_of(recipe_of(folder), folder / "run")
    (folder / "mono.txt.gz").write_bytes(gzip.compress((folder / "mono.txt").read_bytes()))
    mix = MixPart(file="pairs.tsv"), MixPart(file="mono.txt.gz", monolingual=True, weight=2, tag="<bt>")
    assert pairs_of(recipe_of(folder, mix=mix), folder / "other") == plain


def test_runs_with_one_folder_of_prepared_text_translate_once(folder: Path, loads: list[object]) -> None:
    shared = recipe_of(folder, prepared=str(folder / "prepared"))
    first, second = (sources_of(shared, folder / run) for run in ("one", "two"))
    assert first == second
    assert len(loads) == 1
    (folder / "mono.txt").write_text("a b\n")
    assert sources_of(shared, folder / "three") != first
    assert len(loads) == 2


def test_another_model_writes_other_sources(folder: Path) -> None:
    other = Path(__file__).parents[2] / "pretrained" / "reverse-one-head.safetensors"
    recipes = [recipe_of(folder, prepared=str(folder / "prepared"), back_translator=str(f)) for f in (REVERSE, other)]
    assert len({sources_of(recipe, folder / "run") for recipe in recipes}) == 2


def test_an_interrupted_translation_continues_with_the_same_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(back_translation, "AT_ONCE", 4)
    expected = sources_of(recipe_of(folder), folder / "whole").read_bytes()
    blocks = list[list[bytes]]()

    def stopped_in_the_second(translator: Translator, lines: list[bytes], *rest: Any) -> Any:
        blocks.append(lines)
        for line in translate_lines(translator, lines, *rest):
            if len(blocks) == 2 and line.number == 3:
                raise KeyboardInterrupt
            yield line

    monkeypatch.setattr(back_translation, "translate_lines", stopped_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        sources_of(recipe_of(folder), folder / "run")
    (partial,) = (folder / "run" / "prepared").glob("*.part")
    assert 4 <= partial.read_bytes().count(b"\n") < 8
    continued = sources_of(recipe_of(folder), folder / "run").read_bytes()
    assert [len(block) for block in blocks] == [4, 4, 4, 3]  # the second block is translated again
    assert continued == expected
    assert not partial.exists()


def test_a_model_of_other_languages_is_refused(folder: Path) -> None:
    recipe = recipe_of(folder, source_language="de", target_language="en")
    with pytest.raises(ConfigError, match=r"that model translates letters to letters reversed\. Needed is .* en to de"):
        sources_of(recipe, folder / "run")


def test_a_block_whose_last_line_has_no_end_is_translated_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(back_translation, "AT_ONCE", 4)
    expected = sources_of(recipe_of(folder), folder / "whole")
    cut = folder / "run" / "prepared" / expected.with_suffix(".part").name
    cut.parent.mkdir(parents=True)
    cut.write_bytes(b"x\n" * 3 + b"x")
    assert sources_of(recipe_of(folder), folder / "run").read_bytes() == expected.read_bytes()


def test_on_a_disk_without_locks_two_processes_write_files_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process has written a part of the common file already."""
    expected = sources_of(recipe_of(folder), folder / "whole")
    monkeypatch.setattr(prepared_store, "lock", lambda *_, **__: False)
    other = folder / "run" / "prepared" / expected.with_suffix(".part").name
    other.parent.mkdir(parents=True)
    other.write_bytes(b"x\n" * 2048)
    assert sources_of(recipe_of(folder), folder / "run").read_bytes() == expected.read_bytes()
    assert other.read_bytes() == b"x\n" * 2048


def test_pairs_for_validation_are_real_and_no_sentence_of_theirs_is_learnt(folder: Path) -> None:
    (folder / "mono.txt").write_text("".join(f"{target}\n" for _, target in PAIRS) + "a b c\n" * 300)
    corpus = corpus_of(recipe_of(folder), folder / "run")
    assert 4 <= len(corpus.valid) <= 8
    assert set(corpus.valid) <= set(PAIRS)
    learnt = {side for block in range(corpus.text.blocks) for pair in corpus.text.pairs(block) for side in pair[1:]}
    assert not learnt & {target for _, target in corpus.valid}
    parts = (MixPart(file="mono.txt", monolingual=True),)
    with pytest.raises(CorpusError, match=r"a model wrote the sources of all of them\. Name validation text"):
        corpus_of(recipe_of(folder, mix=parts), folder / "other")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "has no text. A monolingual file has one sentence"),
        (b"\n \n", "has no text. A monolingual file has one sentence"),
        (b"a\tb\nc\td\n", "2 of 2 lines have a TAB, so it has columns"),
        (b"a b\rb c\r", "its lines end with"),
        (b"a b\n\xe4\n", r"line 2: not UTF-8 .*\n?.*set data.on_error"),
    ],
)
def test_a_wrong_monolingual_file_is_reported_before_it_is_translated(
    content: bytes, expected: str, folder: Path
) -> None:
    (folder / "mono.txt").write_bytes(content)
    with pytest.raises(CorpusError, match=f"(?s){expected}"):
        sources_of(recipe_of(folder), folder / "run")


def test_lines_that_cannot_be_read_may_be_skipped(folder: Path) -> None:
    (folder / "mono.txt").write_bytes(b"a b\n\xe4\nc d\n" + b"b c\n" * 200)
    found = pairs_of(recipe_of(folder, on_error="skip"), folder / "run")
    assert {("b a", "a b"), ("d c", "c d")} <= set(found)


def test_of_several_wrong_files_the_first_is_reported_before_any_is_translated(
    folder: Path, loads: list[object]
) -> None:
    (folder / "wrong.txt").write_bytes(b"a\tb\n")
    mix = tuple(MixPart(file=name, monolingual=True) for name in ("mono.txt", "wrong.txt"))
    with pytest.raises(CorpusError, match=r"wrong\.txt: 1 of 1 lines have a TAB"):
        write_sources(recipe_of(folder, mix=mix).data, folder / "run", CPU)
    assert not loads


def test_a_text_whose_real_pairs_are_all_for_validation_is_refused(folder: Path) -> None:
    write_pairs(folder / "pairs.tsv", PAIRS[:4])
    with pytest.raises(CorpusError, match=r"4 set aside for validation.*Lower data\.valid_size = 4, for example to 1"):
        corpus_of(recipe_of(folder), folder / "run")


def test_a_machine_that_does_not_have_the_sources_says_so(folder: Path) -> None:
    with pytest.raises(CorpusError, match=r"set data\.prepared to a folder on a disk that all machines share"):
        Corpus(recipe_of(folder), folder / "run")


def test_monolingual_text_is_left_out_of_the_facts_by_which_a_model_is_chosen(folder: Path) -> None:
    assert facts_of(recipe_of(folder).data).pairs == len(PAIRS)


def test_a_file_that_cannot_be_read_is_reported(folder: Path) -> None:
    (folder / "mono.txt").unlink()
    recipe = recipe_of(folder)
    with pytest.raises(CorpusError, match=r"mono\.txt: there is no such file"):
        sources_of(recipe, folder / "run")
    with pytest.raises(ConfigError, match=r"data\.back_translator: none\.safetensors"):
        check_files(replace(recipe, data=replace(recipe.data, back_translator="none.safetensors")))


def test_a_run_trains_on_it_resumes_and_stores_the_recipe_as_it_was_given(folder: Path, loads: list[object]) -> None:
    recipe = recipe_of(folder)
    train(recipe, folder / "run", device="cpu")
    train(replace(recipe, training=replace(recipe.training, updates=4)), folder / "run", resume=True, device="cpu")
    assert len(loads) == 1
    stored = recipe_for_checkpoint(recipe)["data"]
    assert stored["back_translator"].endswith("reverse.safetensors")
    assert stored["mix"][1]["monolingual"]
    assert not Path(stored["back_translator"]).is_absolute()
    assert 'back_translator = "' in (folder / "run" / "recipe.toml").read_text()


@pytest.mark.parametrize(
    ("part", "back_translator", "expected"),
    [
        ({"monolingual": True}, None, "a part of the mix is monolingual: name the checkpoint"),
        ({}, "m.safetensors", "back_translator is for the monolingual parts of a mix, and there are none"),
        ({"monolingual": True, "aside": 3}, "m.safetensors", "remove target_file, swapped and aside"),
        ({"monolingual": True, "swapped": True}, "m.safetensors", "remove target_file, swapped and aside"),
        ({"monolingual": True, "target_file": "b"}, "m.safetensors", "remove target_file, swapped and aside"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    part: dict[str, Any], back_translator: str | None, expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        DataConfig(mix=(MixPart(file="a", **part),), back_translator=back_translator)
