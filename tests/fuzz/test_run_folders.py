"""A file of a training run that was damaged at random is reported, or its lost part is not used."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.support.fuzzer import Fuzzer, damaged, run_fuzzer
from tests.support.small_training import corpus_recipe
from transformer.config import Recipe
from transformer.data.encoded_pairs import EncodedPairs
from transformer.data.training_data import TrainingData
from transformer.errors import HeadlightError
from transformer.model import Transformer
from transformer.training import train
from transformer.training.optimizer import make_optimizer
from transformer.training.run_folder import fit_vocabulary
from transformer.training.training_state import load_state, read_progress

CASES = {"fuzz_state": 300, "fuzz_prepared": 100, "fuzz_resumed_run": 6}
SOAK = {"fuzz_state": 50_000, "fuzz_prepared": 10_000, "fuzz_resumed_run": 1000}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Path]:
    """A run that was trained to its end, with prepared text and snapshots."""
    folder = tmp_path_factory.mktemp("run")
    recipe = corpus_recipe(folder, sampling=0.2, updates=4, validate_every=2, best_by="loss")
    train(recipe, folder / "run", device="cpu")
    return recipe, folder / "run"


@pytest.fixture
def fuzzers(run: tuple[Recipe, Path], tmp_path: Path) -> dict[str, Fuzzer]:
    """The fuzzers by name."""
    recipe, whole = run
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))

    def fuzz_state(rng: random.Random, cases: int) -> None:
        """What is loaded is what was saved, to the bit, or it is refused."""
        file = copy / "training.safetensors"
        content = file.read_bytes()
        sized = fit_vocabulary(recipe, TrainingData(recipe, whole).tokenizer)
        progress, _ = read_progress(file)
        expected = weights(file, sized, progress.update)
        for _ in range(cases):
            file.write_bytes(damaged(rng, content, end=rng.choice((8, 400, 4000, len(content)))))
            try:
                assert read_progress(file)[0] == progress
                found = weights(file, sized, progress.update)
            except HeadlightError:
                continue
            assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))

    def fuzz_prepared(rng: random.Random, cases: int) -> None:
        """Ids that are learnt from are those that were written, or the folder is to be removed."""
        files = sorted(path for path in (copy / "prepared").glob("*/*") if path.is_file())
        expected = contents(TrainingData(recipe, copy)._first)
        for _ in range(cases):
            file = rng.choice(files)
            content = file.read_bytes()
            file.write_bytes(damaged(rng, content, end=rng.choice((128, len(content)))))
            found, message = expected, ""
            try:
                found = contents(TrainingData(recipe, copy)._first)
            except HeadlightError as error:
                message = str(error)
            if file.suffix == ".bin":
                assert not message or "Remove this folder" in message, message
            if file.name in ("source_ids.bin", "target_ids.bin"):
                assert found[::2] == expected[::2], file.name
            file.write_bytes(content)
            for other in {path.parent for path in (copy / "prepared").glob("*/*")} - {path.parent for path in files}:
                shutil.rmtree(other)  # made from another tokenizer

    def fuzz_resumed_run(rng: random.Random, cases: int) -> None:
        """Training goes on, or a sentence says why not."""
        for _ in range(cases):
            shutil.rmtree(copy)
            shutil.copytree(whole, copy)
            file = rng.choice(sorted(path for path in copy.rglob("*") if path.is_file() and path.stat().st_size))
            file.write_bytes(damaged(rng, file.read_bytes()))
            longer = replace(recipe, training=replace(recipe.training, updates=5))
            try:
                train(longer, copy, resume=True, device="cpu")
            except HeadlightError:
                continue
            except Exception as error:
                error.add_note(f"The damaged file was {file.relative_to(copy)}.")
                raise

    return {fuzz.__name__: fuzz for fuzz in (fuzz_state, fuzz_prepared, fuzz_resumed_run)}


def weights(file: Path, recipe: Recipe, update: int) -> list[torch.Tensor]:
    """What a run that is resumed begins with: weights and moments."""
    model = Transformer(recipe.model)
    optimizer = make_optimizer(model, recipe.training)
    load_state(file, model, optimizer, update)
    moments = [optimizer.state[weight][moment] for weight in model.parameters() for moment in ("exp_avg", "exp_avg_sq")]
    return [*(weight.detach() for weight in model.parameters()), *moments]


def contents(pairs: EncodedPairs) -> list[bytes]:
    arrays = pairs.source_ids, pairs.source_starts, pairs.target_ids, pairs.target_starts
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_was_damaged_at_random_is_refused_or_whole(name: str, fuzzers: dict[str, Fuzzer]) -> None:
    run_fuzzer(fuzzers[name], CASES[name])


@pytest.mark.soak
@pytest.mark.parametrize("name", SOAK)
def test_a_run_that_was_damaged_very_often_is_refused_or_whole(name: str, fuzzers: dict[str, Fuzzer]) -> None:
    run_fuzzer(fuzzers[name], SOAK[name])
