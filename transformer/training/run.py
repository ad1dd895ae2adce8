"""The folder of a run: what lies where in it, and whether a recipe may go on with it.

best.safetensors        the checkpoint with the best validation score
last.safetensors        the newest
average.safetensors     the mean of the last few (paper, section 6.1), made at the end
training.safetensors    what resuming needs (state.py)
snapshots/              the checkpoints that the average is made of
tokenizer.model  metrics.jsonl  tensorboard/
"""

from dataclasses import asdict, replace
from pathlib import Path

from torch.optim import AdamW

from transformer.averaging import average_checkpoints
from transformer.checkpoint import Checkpoint, save_checkpoint
from transformer.config import Recipe
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.training.state import Progress, load_state, read_progress, save_state

# What may change between start and resumption: how long, how often, where the files lie now, how outputs are searched.
FREE = {
    "training": {"updates", "log_every", "validate_every", "save_every", "validation_sentences", "patience"}
    | {"best_by", "average_last", "half"},
    "data": {"train", "train_target", "valid", "valid_target"},
    "tokenizer": {"model"},
    "decoding": None,
    "name": None,
}


class Run:
    """One training run on disk.

    Raises:
        TrainingError: the folder holds a run already and `resume` is off, or holds none and it is on, or the recipe is
            not the one it was started with.
    """

    def __init__(self, folder: Path, resume: bool):
        self.folder = folder
        self.state = folder / "training.safetensors"
        self.resume = resume
        if resume and not self.state.exists():
            raise TrainingError(
                f"There is nothing to resume in {folder}: no update was saved there yet. Start without --resume."
                if folder.exists()
                else f"There is no folder {folder} to resume from. Name the run's folder with --run-dir."
            )
        if not resume and self.state.exists():
            raise TrainingError(
                f"{folder} already holds a run. Go on with it by --resume, or choose another folder with --run-dir."
            )
        if not resume:
            for left_over in ("tokenizer.model", "metrics.jsonl"):
                (folder / left_over).unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)

    def restore(self, recipe: Recipe, model: Transformer, optimizer: AdamW, corpus: str) -> Progress:
        """Where the run stands, with weights and moments put back; a new run stands at update 0."""
        if not self.resume:
            return Progress(corpus=corpus)
        progress, started_with = read_progress(self.state)
        differences = _differences(started_with, asdict(recipe))
        if differences:
            raise TrainingError(
                f"The run in {self.folder} was started with other settings:\n"
                + "\n".join(f"  {line}" for line in differences)
                + "\nResume with the recipe it was started with, or start anew in another --run-dir."
            )
        if progress.corpus != corpus:
            raise TrainingError(
                f"The training text is not what the run in {self.folder} was started with (then {progress.corpus}, now "
                f"{corpus}). Give it the same text, or start anew in another --run-dir."
            )
        load_state(self.state, model, optimizer, progress.update)
        return progress

    def save(
        self, recipe: Recipe, model: Transformer, tokenizer: Tokenizer, optimizer: AdamW, progress: Progress
    ) -> None:
        """The newest checkpoint, then the state: should the second fail, the first is merely ahead."""
        self.checkpoint("last", recipe, model, tokenizer, progress)
        save_state(self.state, model, optimizer, progress, asdict(recipe))

    def checkpoint(
        self, name: str, recipe: Recipe, model: Transformer, tokenizer: Tokenizer, progress: Progress
    ) -> Path:
        path = self.folder / f"{name}.safetensors"
        metrics: dict[str, float | str] = {
            "update": progress.update,
            "target_tokens": progress.tokens,
            "seconds": round(progress.seconds, 1),
        }
        metrics |= {f"valid_{name}": value for name, value in progress.scores.items()}
        save_checkpoint(path, model, tokenizer, recipe=asdict(recipe), metrics=metrics, half=recipe.training.half)
        return path

    def snapshot(self, recipe: Recipe, model: Transformer, tokenizer: Tokenizer, progress: Progress) -> None:
        """Keeps this checkpoint for the average, and drops the oldest beyond `average_last`."""
        self.checkpoint(f"snapshots/{progress.update:08d}", recipe, model, tokenizer, progress)
        for path in self.snapshots()[: -recipe.training.average_last]:
            path.unlink()

    def snapshots(self) -> list[Path]:
        return sorted((self.folder / "snapshots").glob("*.safetensors"))

    def average(self) -> Path:
        """The mean of the snapshots, as a checkpoint."""
        path = self.folder / "average.safetensors"
        average_checkpoints(path, self.snapshots())
        return path


def fit_vocabulary(recipe: Recipe, tokenizer: Tokenizer) -> Recipe:
    """The recipe with the number of pieces that the tokenizer really has: a small corpus gives fewer than asked for."""
    return replace(recipe, model=replace(recipe.model, vocab_size=tokenizer.vocab_size))


def copy_weights(start: Checkpoint, model: Transformer) -> None:
    """Begins with the weights of a checkpoint. Raises TrainingError if it is another architecture."""
    wanted = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    given = {name: tuple(parameter.shape) for name, parameter in start.model.named_parameters()}
    if wanted != given:
        odd = sorted(name for name in wanted.keys() | given.keys() if wanted.get(name) != given.get(name))
        raise TrainingError(
            f"--init-from {start.path} has another architecture than the recipe: {len(odd)} tensors differ. The first is "
            f"{odd[0]}: {given.get(odd[0], 'missing')} there, {wanted.get(odd[0], 'none')} here. Make [model] equal."
        )
    model.load_state_dict(start.model.state_dict())


def _differences(before: dict[str, object], now: dict[str, object]) -> list[str]:
    lines = []
    for section, new in now.items():
        old = before.get(section)
        free = FREE.get(section, set())
        if free is None or not isinstance(new, dict) or not isinstance(old, dict):
            continue
        for key, value in new.items():
            listed = list(value) if isinstance(value, tuple) else value
            if key not in free and listed != old.get(key):
                lines.append(f"{section}.{key}: {old.get(key)} then, {listed} now")
    return lines
