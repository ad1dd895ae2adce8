"""A mix of files: weights, tags, exchanged columns, and pairs that are kept aside."""

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.small_training import MODEL, TRAINING, corpus_recipe, write_pairs
from transformer.checkpoint.averaging import average_checkpoints
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import Recipe, TokenizerConfig
from transformer.data.corpus import Pair, read_pairs
from transformer.data.data_options import DataConfig
from transformer.data.kept_aside import Smallest
from transformer.data.mix_options import MixPart
from transformer.data.pair_sources import _use
from transformer.data.parts import parts_of
from transformer.data.training_data import TrainingData
from transformer.errors import ConfigError, CorpusError
from transformer.files.bundled_toml import RECIPES
from transformer.recipe import load_recipe, recipe_text
from transformer.recipe_files import check_files
from transformer.training import train

EVERYDAY = [(f"we see {number} cats", f"wir sehen {number} Katzen") for number in range(40)]
SPOKEN = [(f"she said {number} words", f"sie sagte {number} Worte") for number in range(30)]


def recipe_of(folder: Path, *parts: MixPart, **data: Any) -> Recipe:
    config = DataConfig(mix=parts, folder=str(folder), valid_size=4, max_length=60, tokens_per_batch=400, **data)
    return Recipe(
        name="mix",
        model=MODEL,
        data=config,
        tokenizer=TokenizerConfig(vocab_size=330),
        training=replace(TRAINING, updates=2),
    )


def learnt(data: TrainingData, epoch: int = 0) -> list[Pair]:
    pairs, decode = data._epoch(epoch), data.tokenizer.decode
    sources, targets = pairs.select(range(len(pairs)))
    return [(decode(source), decode(target)) for source, target in zip(sources, targets, strict=True)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pairs(tmp_path / "everyday.tsv", EVERYDAY)
    write_pairs(tmp_path / "spoken.tsv", SPOKEN)
    write_pairs(tmp_path / "valid.tsv", [("another text", "ein anderer Text")])
    return tmp_path


def test_a_pair_is_seen_as_often_as_the_weight_of_its_part(folder: Path) -> None:
    recipe = recipe_of(folder, MixPart(file="everyday.tsv"), MixPart(file="spoken.tsv", weight=3))
    data = TrainingData(replace(recipe, data=replace(recipe.data, valid=str(folder / "valid.tsv"))), folder / "run")
    assert sorted(learnt(data)) == sorted([*EVERYDAY, *SPOKEN * 3])
    counts = json.loads((folder / "run" / "corpus.json").read_text())
    assert (counts["read"], counts["repeats"], counts["learnt"]) == (70, 60, 130)


def test_a_part_may_have_only_the_pairs_with_numbers(folder: Path) -> None:
    pairs = [
        ("we leave at 7:45", "wir fahren um 7:45 Uhr"),
        ("it is $12.50", "es kostet 12,50 $"),
        ("on March 5", "am 5. März"),
    ]
    others = [("at 7:45", "um 8:45 Uhr"), ("from 1.50 to 1.50", "von 1,50 bis 1,50"), ("on May 1", "am 1. Mai")]
    write_pairs(folder / "mixed.tsv", [*EVERYDAY, *pairs, *others])
    parts = MixPart(file="mixed.tsv"), MixPart(file="mixed.tsv", only="numbers", weight=3)
    recipe = recipe_of(folder, *parts, valid=str(folder / "valid.tsv"))
    assert sorted(learnt(TrainingData(recipe, folder / "run"))) == sorted([*EVERYDAY, *others, *pairs * 4])
    counts = json.loads((folder / "run" / "corpus.json").read_text())
    assert (counts["read"], counts["no_numbers"], counts["repeats"]) == (92, 43, 6)


def test_a_pair_of_a_file_that_is_named_twice_is_validated_once_and_not_learned_from(folder: Path) -> None:
    times = [(f"we leave at {hour}:45", f"wir fahren um {hour}:45 Uhr") for hour in range(10, 24)]
    write_pairs(folder / "mixed.tsv", [*EVERYDAY[:6], *times])
    parts = MixPart(file="mixed.tsv"), MixPart(file="mixed.tsv", only="numbers", weight=3)
    data = TrainingData(recipe_of(folder, *parts), folder / "run")
    valid = list(data.valid_pairs)
    assert len(valid) == len(set(valid)) == 4
    assert not set(valid) & set(learnt(data))
    assert set(valid) & set(times)


def test_a_file_beside_the_recipes_is_learned_from_whatever_the_folder_is(folder: Path) -> None:
    ours = MixPart(file="bundled:ambiguous-words.en-de.tsv", weight=2)
    assert ours.name == "ambiguous-words"
    recipe = recipe_of(folder, MixPart(file="everyday.tsv"), ours, valid=str(folder / "valid.tsv"))
    recipe = replace(recipe, tokenizer=TokenizerConfig(vocab_size=600))
    pairs = read_pairs(RECIPES / "ambiguous-words.en-de.tsv")
    assert sorted(learnt(TrainingData(recipe, folder / "run"))) == sorted([*EVERYDAY, *pairs * 2])


def test_a_tag_is_put_before_each_source_of_its_part_and_nowhere_else(folder: Path) -> None:
    parts = MixPart(file="everyday.tsv"), MixPart(file="spoken.tsv", tag="<bt>", weight=2)
    data = TrainingData(recipe_of(folder, *parts), folder / "run")
    tagged = [pair for pair in learnt(data) if pair[0].startswith("<bt> ")]
    assert {(source.removeprefix("<bt> "), target) for source, target in tagged} <= set(SPOKEN)
    assert {pair for pair in learnt(data) if pair not in tagged} <= set(EVERYDAY)
    assert not any(source.startswith("<bt>") for source, _ in data.valid_pairs)


def test_augmentation_leaves_the_tag_as_it_is(folder: Path) -> None:
    recipe = load_recipe("multi30k-en-de", ["data.augment.capitals=1"])
    options = {"augment": recipe.data.augment, "valid": str(folder / "valid.tsv")}
    recipe = recipe_of(folder, MixPart(file="spoken.tsv", tag="<bt>"), **options)
    data = TrainingData(recipe, folder / "run")
    assert all(source.startswith("<bt> SHE SAID ") for source, _ in learnt(data))
    assert all(target.startswith("sie sagte") for _, target in learnt(data))


def test_exchanged_columns_and_line_aligned_files_give_the_same_pairs(folder: Path) -> None:
    (folder / "en.txt").write_text("".join(f"{source}\n" for source, _ in SPOKEN))
    (folder / "de.txt").write_text("".join(f"{target}\n" for _, target in SPOKEN))
    found: list[list[Pair]] = []
    for part in (
        MixPart(file="spoken.tsv", swapped=True),
        MixPart(file="de.txt", target_file="en.txt"),
        MixPart(file="en.txt", target_file="de.txt", swapped=True),
    ):
        data = TrainingData(recipe_of(folder, part), folder / f"run-{len(found)}")
        found.append(sorted([*learnt(data), *data.valid_pairs]))
    assert found[0] == found[1] == found[2] == sorted((target, source) for source, target in SPOKEN)


def test_the_pairs_with_the_smallest_hashes_are_kept_aside_in_both_directions(folder: Path) -> None:
    order = sorted(SPOKEN, key=lambda pair: hashlib.sha256("\t".join(pair).encode()).digest())
    for swapped in (False, True):
        run = folder / f"run-{swapped}"
        part = MixPart(file="spoken.tsv", weight=2, aside=5, swapped=swapped)
        data = TrainingData(recipe_of(folder, MixPart(file="everyday.tsv"), part), run)
        (kept,) = (run / "aside").iterdir()
        aside = {pair[::-1] if swapped else pair for pair in read_pairs(kept)}
        assert aside == set(order[:5])
        seen = {pair[::-1] if swapped else pair for pair in [*learnt(data), *data.valid_pairs]}
        assert not aside & seen


def test_no_part_has_a_sentence_of_a_pair_that_is_kept_aside(folder: Path) -> None:
    """Not even with other punctuation, on one side, or in another file."""
    for number in range(30):
        source, target = SPOKEN[number]
        write_pairs(folder / "copies.tsv", [(source.upper() + "!", "etwas"), ("something", f"„{target}“"), *EVERYDAY])
        parts = MixPart(file="spoken.tsv", aside=29), MixPart(file="copies.tsv")
        data = TrainingData(recipe_of(folder, *parts), folder / f"run-{number}")
        seen = {side for pair in [*learnt(data), *data.valid_pairs] for side in pair}
        is_aside = SPOKEN[number] not in [*learnt(data), *data.valid_pairs]
        assert is_aside != ("etwas" in seen)
        assert is_aside != ("something" in seen)
        counts = json.loads((folder / f"run-{number}" / "corpus.json").read_text())
        assert (counts["aside"], counts["like_aside"]) == (29, 2 * is_aside)


def test_the_smallest_of_a_stream_do_not_depend_on_its_portions() -> None:
    import numpy as np

    hashes = np.random.default_rng(0).integers(0, 2**63, 1000).astype(np.uint64)
    expected = sorted(np.argsort(hashes)[:37].tolist())
    for size in (1, 7, 1000):
        smallest = Smallest(37)
        for first in range(0, 1000, size):
            smallest.add(hashes[first : first + size], first)
        assert smallest.numbers.tolist() == expected


def test_more_pairs_aside_than_there_are_is_an_error(folder: Path) -> None:
    with pytest.raises(CorpusError, match=r"spoken\.tsv has 30 usable pairs, and aside = 30 would leave none"):
        TrainingData(recipe_of(folder, MixPart(file="spoken.tsv", aside=30)), folder / "run")


def test_a_checkpoint_and_an_average_say_which_files_were_learnt_from(folder: Path) -> None:
    (folder / "more").mkdir()
    with gzip.open(folder / "more" / "train.tsv.gz", "wb") as file:
        file.write((folder / "spoken.tsv").read_bytes())
    parts = MixPart(file="everyday.tsv"), MixPart(file="more/train.tsv.gz", weight=2, aside=3)
    recipe = recipe_of(folder, *parts)
    train(recipe, folder / "run", device="cpu")
    average_checkpoints(folder / "mean.safetensors", [folder / "run" / "last.safetensors"] * 2)
    for path in (folder / "run" / "last.safetensors", folder / "mean.safetensors"):
        checkpoint = load_checkpoint(path)
        first, second = checkpoint.metrics["corpus"]
        assert first["sha256"] == [hashlib.sha256((folder / "everyday.tsv").read_bytes()).hexdigest()]
        assert (second["name"], second["weight"], second["read"], second["aside"]) == ("more-train", 2, 30, 3)
        assert str(folder) not in json.dumps([first, second, checkpoint.recipe])
    kept = json.loads((folder / "run" / "corpus-files.json").read_text())
    assert str(folder / "more" / "train.tsv.gz") in kept[1]["files"]


def test_a_run_with_a_mix_can_be_resumed(folder: Path) -> None:
    recipe = recipe_of(folder, MixPart(file="everyday.tsv", weight=2))
    train(recipe, folder / "run", device="cpu")
    longer = replace(recipe, training=replace(recipe.training, updates=4))
    train(longer, folder / "run", resume=True, device="cpu")


def test_a_simple_corpus_names_its_files_too(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    (described,) = TrainingData(recipe, tmp_path / "run").files
    assert (described["name"], described["read"]) == ("corpus.tsv", 150)


def test_text_of_which_nothing_is_left_is_reported_with_the_reason(folder: Path) -> None:
    write_pairs(folder / "copies.tsv", [(target, target) for _, target in EVERYDAY])
    with pytest.raises(CorpusError, match=r"40 the same on both sides.*Are these the right columns"):
        TrainingData(recipe_of(folder, MixPart(file="copies.tsv"), drop_copies=True), folder / "run")


def test_a_new_option_of_parts_does_not_change_the_name_of_text_that_is_prepared_already(folder: Path) -> None:
    """Otherwise each older run would prepare its text again."""
    parts = MixPart(file="everyday.tsv"), MixPart(file="spoken.tsv", tag="<bt>")
    used = [_use(part) for part in parts_of(recipe_of(folder, *parts).data)]
    assert used == [[1, "", 0, True], [1, "<bt>", 0, True]]
    (numbers,) = parts_of(recipe_of(folder, MixPart(file="everyday.tsv", only="numbers")).data)
    assert _use(numbers) not in used


# In a recipe


def written(folder: Path, text: str) -> Path:
    (folder / "mine.toml").write_text(text)
    return folder / "mine.toml"


def test_a_recipe_with_a_mix_that_is_written_reads_as_the_same_recipe(tmp_path: Path) -> None:
    path = written(tmp_path, '[[data.mix]]\nfile = "a.tsv"\nweight = 3\n[[data.mix]]\nfile = "b"\ntarget_file = "c"\n')
    languages = ["data.source_language=en", "data.target_language=de"]
    recipe = load_recipe(path, ["data.augment.typo=.5", "data.folder=/somewhere", *languages])
    assert [part.weight for part in recipe.data.mix] == [3, 1]
    assert load_recipe(written(tmp_path, recipe_text(recipe))) == recipe


@pytest.mark.parametrize(
    ("mix", "expected"),
    [
        ('[{file = "a", wieght = 2}]', "data.mix.0.wieght is not an option. Did you mean weight?"),
        ('[{file = "a"}, {file = "b", weight = 0}]', "data.mix.1.weight = 0: should be greater than or equal to 1"),
        ("[{weight = 2}]", "data.mix.0.file is missing."),
        ('[{file = "a", tag = "\u00a0x"}]', "tag = '\\xa0x' should be normalised text: 'x'"),
        ('[{file = "a", tag = "x", aside = 5}]', "a part with a tag is not kept aside"),
        ('[{file = "a", only = "numbers"}]\ndrop_duplicates = true', "drop_duplicates would remove the pairs"),
        ('[{file = "hf:a"}]', "give a Hugging Face data set (hf:) as data.train"),
        ('["a.tsv"]', "data.mix.0 = a.tsv: should be a section with options of its own"),
        ('[{file = "a"}]\ntrain = ["b"]', "train and mix exclude each other: keep one of them"),
        ('[{file = "a"}]\ntoy = "copy"', "mix and toy exclude each other: keep one of them"),
        ('[{file = "a"}]\naugment = {typos = 0.1}', "data.augment.typos is not an option. Did you mean typo?"),
        ('[{file = "a"}]\naugment = {typo = 2.0}', "data.augment.typo = 2.0: should be less than or equal to 1"),
    ],
)
def test_mistakes_in_a_mix_are_reported_in_a_sentence(mix: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load_recipe(written(tmp_path, f"[data]\nmix = {mix}\n"))
    assert expected in str(raised.value)


def test_files_of_a_mix_that_are_missing_are_all_named(folder: Path) -> None:
    parts = MixPart(file="everyday.tsv"), MixPart(file="gone.tsv"), MixPart(file="spoken.tsv", target_file="no.txt")
    with pytest.raises(ConfigError) as raised:
        check_files(recipe_of(folder, *parts))
    message = str(raised.value)
    assert f"- data.mix.1: {folder / 'gone.tsv'}\n- data.mix.2: {folder / 'no.txt'}\n" in message
    assert "--set data.folder=FOLDER" in message
    assert "data.mix.0" not in message


def test_a_value_that_fits_leaves_a_missing_target_file_to_the_message_that_names_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    part = '{file = "a.txt", target_file = "no.txt"}'
    text = f'[model]\nd_model = "fit"\n[data]\nfolder = "{tmp_path}"\nmix = [{part}]\n'
    recipe = load_recipe(written(tmp_path, text), ["data.source_language=en", "data.target_language=de"])
    with pytest.raises(ConfigError, match=r"data\.mix\.0: .*no\.txt"):
        check_files(recipe)
