"""Start, stop and resume a training run from the browser, as a process of its own that outlives page and app.

    python -m transformer train RUN/recipe.toml --run-dir RUN [--resume]     what it says goes to RUN/log.txt

It is the command that one would type. The folder holds all that it needs, so the run can be resumed on the command line
too. Names of folders and files are made here, never taken from a visitor, and uploaded text stays in the run's folder.
One run at a time. HEADLIGHT_TRAINING=off switches all of it off; an app that serves other machines has it off unless
that says "on".
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Protocol

import streamlit as st
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from app.ladders import RECIPE, own_run_names, runs_folder
from app.runs import holder, read_run
from transformer.config import Recipe, ToyTask
from transformer.errors import HeadlightError
from transformer.recipe import load_recipe, recipe_text

ROOT = Path(__file__).resolve().parents[1]
LOG, CORPUS = "log.txt", "corpus.tsv"
MOST_MEGABYTES = 20  # of an uploaded corpus
RUNGS = 14
TOLD = 20_000  # bytes of the end of a log

Layers = Annotated[int, Field(ge=1, le=4)]
Heads = Literal[1, 2, 4, 8]
Width = Literal[32, 64, 128, 256]
Updates = Annotated[int, Field(ge=10, le=20_000)]

_STARTED: dict[Path, subprocess.Popen[bytes]] = {}
_TURN = threading.Lock()


class LaunchError(HeadlightError):
    """A run cannot be started, stopped or resumed; the message says why."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class Size:
    """How large a model and how long, within what a browser may ask for."""

    updates: Updates
    encoder_layers: Layers
    decoder_layers: Layers
    heads: Heads
    width: Width

    def options(self) -> list[str]:
        """The same as changes of a recipe, with a ladder that is dense where most is learnt."""
        warmup = max(1, min(150, self.updates // 8))
        rungs = sorted({round(self.updates * (i / (RUNGS - 1)) ** 1.6) for i in range(RUNGS)})
        often = max(1, self.updates // 60)
        return [
            *(f"model.{name}={getattr(self, name)}" for name in ("encoder_layers", "decoder_layers", "heads")),
            f"model.d_model={self.width}",
            f"model.d_ff={self.width}",
            f"training.updates={self.updates}",
            f"training.warmup={warmup}",
            f"training.log_every={often}",
            f"training.validate_every={max(1, self.updates // 6)}",
            f"training.save_every={max(1, self.updates // 6)}",
            "training.validation_sentences=100",
            f"training.ladder={rungs}",
        ]


class Plan(Protocol):
    """What shall be trained."""

    @property
    def name(self) -> str: ...

    def recipe(self, folder: Path) -> Recipe:
        """The recipe, once all it needs lies in the folder of the run."""


@dataclass(frozen=True)
class ToyPlan:
    """A toy task, its pairs made on the fly."""

    task: ToyTask
    size: Size

    @property
    def name(self) -> str:
        return self.task

    def recipe(self, folder: Path) -> Recipe:
        base = "numbers" if self.task == "numbers" else "reverse"
        words = "letters sorted" if self.task == "sort" else "letters copied" if self.task == "copy" else ""
        language = [f"data.target_language={words}"] if words else []
        return load_recipe(base, [f"data.toy={self.task}", *language, *self.size.options()])


@dataclass(frozen=True)
class TextPlan:
    """A corpus that somebody uploaded: sentence, TAB, translation."""

    corpus: bytes
    source_language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    target_language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    size: Size

    @property
    def name(self) -> str:
        return f"{self.source_language}-{self.target_language}"

    def recipe(self, folder: Path) -> Recipe:
        if len(self.corpus) > MOST_MEGABYTES * 1_000_000:
            raise LaunchError(
                f"The file is larger than {MOST_MEGABYTES} MB. Train on large text with `python -m transformer train`."
            )
        if self.corpus.startswith(b"\x1f\x8b"):
            raise LaunchError("The file is packed (gzip). Upload it unpacked, as .tsv.")
        (folder / CORPUS).write_bytes(self.corpus)
        lines = self.corpus.count(b"\n") + 1
        changes = [
            f"data.train={CORPUS}",
            f"data.valid_size={max(1, min(300, lines // 20))}",
            f"data.source_language={self.source_language}",
            f"data.target_language={self.target_language}",
            "data.valid=none",
            "data.max_length=100",
            "data.tokens_per_batch=2000",
            f"tokenizer.vocab_size={4000 if lines > 5000 else 1000}",
            *self.size.options(),
        ]
        recipe = load_recipe("en-de", changes)
        return replace(recipe, data=replace(recipe.data, train=(str(folder / CORPUS),)))


def is_allowed() -> bool:
    """Whether visitors may start processes: as HEADLIGHT_TRAINING says, "on" or "off"; else if only this machine is
    served."""
    stated = os.environ.get("HEADLIGHT_TRAINING", "").strip().lower()
    return stated == "on" if stated else st.get_option("server.address") in ("127.0.0.1", "localhost", "::1")


def start(plan: Plan) -> str:
    """Starts a run; returns its name. Raises LaunchError, or ConfigError for a recipe that cannot be followed."""
    with _TURN:
        _check_turn()
        folder = _new_folder(plan.name)
        try:
            recipe = replace(plan.recipe(folder), name=folder.name)
            (folder / RECIPE).write_text(recipe_text(recipe), encoding="utf-8")
            _begin(folder, resume=False)
        except (OSError, HeadlightError) as error:
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
            if isinstance(error, OSError):
                raise LaunchError(f"The run's folder cannot be written to: {error.strerror or error}.") from None
            raise
        return folder.name


def resume(name: str) -> None:
    """Goes on with a run that was started here. Raises LaunchError."""
    with _TURN:
        _check_turn()
        run = read_run(name)
        if run is None or not run.ours:
            raise LaunchError("Only a run that was started here can be resumed here.")
        try:
            _begin(run.folder, resume=True)
        except OSError as error:
            raise LaunchError(f"The run's folder cannot be written to: {error.strerror or error}.") from None


def stop(name: str) -> None:
    """Asks the trainer of a run that was started here to save and end (SIGTERM). Raises LaunchError.

    It is the process that holds the lock of the run at this moment, or the one that we have just started there.
    """
    if not is_allowed():
        raise LaunchError("Training from the browser is switched off.")
    run = read_run(name)
    if run is None or not run.ours:
        raise LaunchError("Only a run that was started here can be stopped here.")
    process, number = _STARTED.get(run.folder), holder(run.folder)
    try:
        if process is not None and process.poll() is None:
            process.terminate()
        elif number is not None:
            os.kill(number, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        raise LaunchError("Its process has ended, or is somebody else's.") from None


def is_busy(folder: Path) -> bool:
    """Whether a process that was started here, now or before the app began anew, works in this folder."""
    process = _STARTED.get(folder)
    return (process is not None and process.poll() is None) or holder(folder) is not None


def last_words(folder: Path) -> str:
    """What the trainer said when it ended with an error, or was stopped; "" if it did not. Paths are left out."""
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TOLD))
            text = file.read(TOLD).decode(errors="replace")
    except OSError:
        return ""
    text = text.rpartition(_command(folder, False))[2]
    if "Traceback (most recent call last)" in text:
        return f"The training ended unexpectedly. What it said stands in {LOG} in its folder."
    said = text.partition("Error: ")[2].strip()
    return said.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)[:2000]


def _check_turn() -> None:
    if not is_allowed():
        raise LaunchError("Training from the browser is switched off.")
    for name in own_run_names():
        folder = runs_folder() / name
        if (folder / RECIPE).is_file() and is_busy(folder):
            raise LaunchError(f"One run at a time: {name} is still running. Wait for it, or stop it first.")


def _new_folder(name: str) -> Path:
    for number in range(1, 10_000):
        folder = runs_folder() / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise LaunchError(f"The folder of runs cannot be written to: {error.strerror or error}.") from None
        return folder
    raise LaunchError("The folder of runs is full. Remove some runs.")


def _command(folder: Path, resume: bool) -> str:
    return f"$ python -m transformer train {folder / RECIPE} --run-dir {folder}{' --resume' if resume else ''}"


def _begin(folder: Path, resume: bool) -> None:
    command = [sys.executable, "-m", "transformer", "train", str(folder / RECIPE), "--run-dir", str(folder)]
    with (folder / LOG).open("ab") as log:
        log.write(f"{_command(folder, resume)}\n".encode())
        log.flush()
        process = subprocess.Popen(
            [*command, "--resume"] if resume else command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C for the app is none for the run
        )
    _STARTED[folder] = process
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, process.pid, 10)  # pages come first
