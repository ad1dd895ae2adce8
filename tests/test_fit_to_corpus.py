"""Which model suits a corpus: the values, their order, and how a recipe asks for them."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.app_checkpoints import Size, tokenizer_of_lines, write_checkpoint
from transformer.data.corpus_facts import CorpusFacts, facts_of, facts_of_pairs
from transformer.data.data_options import DataConfig
from transformer.errors import ConfigError
from transformer.fit_to_corpus import FIT, SIZES, fit, vocabulary_for
from transformer.recipe import load_recipe
from transformer.recipe_completion import name_after_text

LATIN = (1000,) * 60


def values(pairs: int, counts: tuple[int, ...] = LATIN, **given: object) -> dict[str, Any]:
    stated = {name.replace("__", "."): value for name, value in given.items()}
    choices = fit(CorpusFacts(pairs, 35.0, counts), stated)
    assert all(choice.reason for choice in choices)
    return {option: value for choice in choices for option, value in choice.values.items()}


def write(path: Path, pairs: int = 40) -> Path:
    path.write_text("".join(f"sentence {n}\tSatz {n}\n" for n in range(pairs)) + "no pair\n", encoding="utf-8")
    return path


def test_more_text_never_gets_a_smaller_model_nor_more_dropout() -> None:
    found = [values(pairs) for pairs in (1, 100, 4_999, 5_000, 20_000, 190_000, 4_500_000)]
    for option in ("model.d_model", "model.encoder_layers", "tokenizer.vocab_size", "data.valid_size"):
        sizes = [one[option] for one in found]
        assert sizes == sorted(sizes)
    dropout = [one["model.dropout"] for one in found]
    assert dropout == sorted(dropout, reverse=True)
    assert (found[-1]["model.d_model"], found[-1]["model.d_ff"], found[-1]["model.heads"]) == (512, 2048, 8)


def test_what_depends_on_a_stated_value_goes_with_it() -> None:
    wide = values(20_000, model__d_model=512)
    assert (wide["model.d_ff"], wide["model.heads"]) == (2048, 8)
    assert wide["training.peak_rate"] == 0.00049
    assert values(20_000, data__tokens_per_batch=8_192)["training.peak_rate"] == 0.0026
    assert values(20_000, model__d_model=30)["model.heads"] == 1
    assert values(20_000, training__updates=100)["training.warmup"] == 10
    half = values(20_000, training__epochs=SIZES[1].epochs / 2)
    assert half["training.warmup"] == pytest.approx(values(20_000)["training.warmup"] / 2, rel=0.01)
    quarter = values(20_000, training__accumulate=4)
    assert quarter["training.warmup"] == pytest.approx(values(20_000)["training.warmup"] / 4, rel=0.05)
    assert quarter["training.peak_rate"] == 0.0026
    assert values(20_000, tokenizer__kind="bpe")["tokenizer.sampling"] == 0.1
    assert values(20_000, data__max_length=3_000)["data.tokens_per_batch"] == 3_001
    assert values(20_000, training__updates="many") == values(20_000)  # the validation reports it


def test_the_reasons_name_the_number_of_validations() -> None:
    for updates, times in ((1_000, 25), (10, 10)):
        choices = fit(CorpusFacts(20_000, 35.0, LATIN), {"training.updates": updates})
        (reason,) = (choice.reason for choice in choices if "training.validate_every" in choice.values)
        assert reason == f"validations in the run: about {times}"


def test_a_writing_system_of_many_characters_gets_a_larger_vocabulary() -> None:
    chinese = (1000,) * 3000 + (1,) * 2000
    size, coverage = vocabulary_for(CorpusFacts(1000, 20.0, chinese), 2000)
    assert size > 4000
    assert 0.98 <= coverage < 1
    assert vocabulary_for(CorpusFacts(1000, 20.0, LATIN), 2000) == (2000, 1.0)


def test_facts_of_files_ignore_what_is_not_a_pair_and_estimate_what_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = DataConfig(train=(str(write(tmp_path / "a.tsv")), str(write(tmp_path / "b.tsv"))))
    assert facts_of(config).pairs == 80
    assert facts_of(replace(config, drop_duplicates=True)) == facts_of(replace(config, train=config.train[:1]))
    assert facts_of_pairs([("a b", "aa")]) == CorpusFacts(1, 3.0, (3, 1))
    monkeypatch.setattr("transformer.data.text_files.AT_ONCE", 10)
    monkeypatch.setattr("transformer.data.corpus_facts.SAMPLE", 10)
    facts = facts_of(config)
    assert facts.pairs == pytest.approx(80, rel=0.2)
    assert facts.is_estimate


def test_a_recipe_that_fits_reports_each_value_that_was_not_stated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "transformer")
    corpus = write(tmp_path / "mine.en-de.tsv")
    recipe = load_recipe("own-text", [f"data.train={corpus}", "model.d_model=64", "training.updates=20"])
    assert recipe.name == "mine"
    assert (recipe.model.d_model, recipe.model.d_ff, recipe.model.heads) == (64, 256, 2)
    assert (recipe.training.updates, recipe.training.epochs, recipe.training.warmup) == (20, None, 2)
    assert (recipe.data.source_language, recipe.data.target_language) == ("en", "de")
    assert recipe.tokenizer.vocab_size == recipe.model.vocab_size == SIZES[0].vocab_size
    assert "model.encoder_layers = 3" in caplog.text
    assert "40 pairs: a larger model would learn them by heart" in caplog.text
    assert "Warning: 40 pairs are little text" in caplog.text
    assert not {"model.d_model =", "training.epochs ="} & set(caplog.text.replace(",", "\n").splitlines())
    fitted = load_recipe("own-text", [f"data.train={corpus}"]).training
    assert fitted.epochs == SIZES[0].epochs
    start = write_checkpoint(tmp_path / "m.safetensors", Size(5, 3, 2), options={"d_model": 64, "d_ff": 100})
    changes = [f"data.train={corpus}", "model.heads=4", f"training.init_from={start}"]
    continued = load_recipe("own-text", changes)
    assert (continued.model.encoder_layers, continued.model.d_ff, continued.model.heads) == (5, 100, 4)
    assert (continued.model.dropout, continued.training.peak_rate) == (SIZES[0].dropout, 0.0007)
    assert continued.tokenizer.vocab_size == tokenizer_of_lines().vocab_size
    assert "as in the checkpoint to start with" in caplog.text
    assert "the weights that it starts with are trained already" in caplog.text
    other = load_recipe("own-text", [*changes, "training.own_vocabulary=true"])
    assert (other.training.peak_rate, other.tokenizer.vocab_size) == (0.0021, SIZES[0].vocab_size)
    caplog.clear()
    with pytest.raises(ConfigError):
        load_recipe("own-text", [f"data.train={corpus}", "training.updates=20", "training.epochs=2"])
    assert "Fitted to the text" not in caplog.text


def test_the_number_of_updates_is_near_that_of_real_text() -> None:
    """Pairs of Tatoeba, English and French, and the batches that one pass over them took."""
    for pairs, characters, batches in ((300, 36.4, 4), (1_000, 37.0, 8), (4_999, 37.0, 36), (20_000, 37.2, 122)):
        found = fit(CorpusFacts(pairs, characters, LATIN))
        warmup = next(choice.values["training.warmup"] for choice in found if "training.warmup" in choice.values)
        epochs = next(size.epochs for size in SIZES if pairs < size.below)
        assert warmup * 10 / epochs == pytest.approx(batches, rel=0.25)


def test_epochs_and_updates_are_given_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('data.toy = "copy"\ntraining.updates = 7\n')
    assert load_recipe(path, ["training.epochs=2"]).training.epochs == 2.0
    assert load_recipe(path, ["training.epochs=none"]).training.updates == 7
    path.write_text('data.toy = "copy"\n[training]\nupdates = 7\nepochs = 2\n')
    assert load_recipe(path, ["training.updates=9"]).training.epochs is None
    with pytest.raises(ConfigError, match=r"epochs and training\.updates exclude each other"):
        load_recipe(path)


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (["a/phrases.en-de.tsv.gz"], "phrases"),
        (["hf:Helsinki-NLP/opus_books:de-en"], "opus_books"),
        ([".tsv"], "own-text"),
        (["x.en", "y.en"], "x"),
    ],
)
def test_a_run_on_own_text_is_named_after_it(files: list[str], name: str) -> None:
    for given, found in ((FIT, name), ("mine", "mine")):
        values = {"name": given, "data": {"train": files}}
        name_after_text(values)
        assert values["name"] == found


@pytest.mark.parametrize("option", ["training.warmupp", "training.beta2", "model.d_modell", "decoding.beam"])
def test_an_option_for_which_no_value_suits_the_text_is_reported(option: str, tmp_path: Path) -> None:
    corpus = write(tmp_path / "mine.en-de.tsv")
    start = write_checkpoint(tmp_path / "m.safetensors", Size(5, 3, 2), options={"d_model": 64, "d_ff": 100})
    for more in ([], [f"training.init_from={start}"]):
        with pytest.raises(ConfigError, match=option.replace(".", r"\.")):
            load_recipe("own-text", [f"data.train={corpus}", f"{option}=fit", *more])


def test_a_column_that_is_a_list_is_reported(tmp_path: Path) -> None:
    corpus = write(tmp_path / "mine.en-de.tsv")
    with pytest.raises(ConfigError, match="source_column"):
        load_recipe("own-text", [f"data.train={corpus}", "data.source_column=[1]"])
