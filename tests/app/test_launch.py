"""Runs that are started in the browser: their recipes, the folder of their files, and one at a time."""

import gzip
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.library.checkpoints import CheckpointFile
from app.library.runs import read_run
from app.views.training import launch_run, run_log, start_window
from app.views.training.manage_run import remove_if_it_came_to_nothing
from app.views.training.own_text import LaunchError, first_pair, read_own_text
from app.views.training.run_log import LOG, RECIPE
from app.views.training.run_plan import Size, TextPlan, ToyPlan
from tests.support.app_checkpoints import write_checkpoint
from tests.support.patience import PATIENCE
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.errors import HeadlightError
from transformer.fit_to_corpus import CONTINUED, peak_rate_for
from transformer.recipe import load_recipe
from transformer.recipe_completion import ModelToStartWith
from transformer.text.tokenizer import Tokenizer

SIZE = Size(60, 1, 1, 2, 32)
STUB = """
import fcntl, os, signal, sys, time
folder = sys.argv[sys.argv.index("--run-dir") + 1]
with open(folder + "/.lock", "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.truncate(0)
    print(os.getpid(), file=file, flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Error: Stopped by SIGTERM after update 7."))
    open(folder + "/ready", "w").close()
    time.sleep(3600)
"""


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """In place of the trainer a small script that behaves like one, without the seconds that torch takes."""
    script = tmp_path / "stub.py"
    script.write_text(STUB)
    real, begun = subprocess.Popen, list[subprocess.Popen[bytes]]()

    def popen(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        assert command[:4] == [sys.executable, "-m", "transformer", "train"]
        assert options["start_new_session"]
        begun.append(real([sys.executable, str(script), *command[4:]], **options))
        return begun[-1]

    monkeypatch.setattr("app.views.training.launch_run.subprocess.Popen", popen)
    yield begun
    for process in begun:
        process.kill()
        process.wait()


def until_ready(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    while not (folder / "ready").exists():
        assert process.poll() is None
        time.sleep(0.01)
    (folder / "ready").unlink()


def test_a_toy_run_is_the_recipe_that_ships_with_the_size_that_was_asked_for(tmp_path: Path) -> None:
    recipe = ToyPlan("sort", Size(300, 2, 1, 4, 64)).recipe(tmp_path)
    assert recipe.data.toy == "sort"
    model = recipe.model
    assert (model.encoder_layers, model.decoder_layers, model.heads, model.d_model) == (2, 1, 4, 64)
    assert recipe.training.updates == recipe.training.snapshots[-1] == 300
    assert recipe.training.snapshots[0] == 0
    assert recipe.training.snapshots[1] < 10
    shipped = load_recipe("reverse")
    assert replace(recipe.data, toy="reverse", target_language="letters reversed") == shipped.data
    assert ToyPlan("numbers", SIZE).recipe(tmp_path).data.toy == "numbers"


@pytest.mark.parametrize(
    "values",
    [
        (9, 1, 1, 2, 32),
        (60, 7, 1, 2, 32),
        (60, 1, 0, 2, 32),
        (60, 1, 1, 3, 32),
        (60, 1, 1, 2, 1024),
        (60.0, 1, 1, 2, 32),
        (10**9, 1, 1, 2, 32),
        ("60", 1, 1, 2, 32),
    ],
)
def test_what_no_control_of_the_page_can_say_is_refused(values: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError):
        Size(*values)


def test_uploaded_text_is_stored_in_the_folder_of_the_run_under_a_fixed_name(stub: Any, runs: Path) -> None:
    text = b"".join(b"the cat %d\tdie Katze %d\n" % (i, i) for i in range(50))
    name = launch_run.start(TextPlan(read_own_text("../x.tsv", text), "en", "de", SIZE))
    assert name == "en-de-1"
    assert (runs / name / "corpus.tsv").read_bytes() == text
    recipe = load_recipe(runs / name / RECIPE)
    assert recipe.data.train == (str(runs / name / "corpus.tsv"),)
    assert (recipe.name, recipe.data.valid_size, recipe.data.valid) == (name, 2, None)
    assert sorted(path.name for path in runs.iterdir()) == [name]


@pytest.mark.parametrize(("characters", "lines"), [(1_500, 100), (5_000, 6_000)])
def test_text_with_more_characters_than_a_small_vocabulary_can_be_learnt_from(
    characters: int, lines: int, tmp_path: Path
) -> None:
    """As Chinese has. The rarest ones are written in bytes, and nothing is lost."""
    texts = ["".join(chr(0x4E00 + (i * 60 + k) % characters) for k in range(60)) for i in range(lines)]
    corpus = "".join(f"{text}\tline {i}\n" for i, text in enumerate(texts)).encode()
    config = TextPlan(read_own_text("x.tsv", corpus), "zh", "en", SIZE).recipe(tmp_path).tokenizer
    assert characters < config.vocab_size < 2 * characters
    tokenizer = Tokenizer.train(texts, config)
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in texts[:100])
    kinds = [tokenizer.kind(id) for text in texts[:100] for id in tokenizer.encode(text)]
    assert kinds.count("piece") > 0.8 * len(kinds)


def test_text_with_few_characters_has_a_small_vocabulary_and_with_too_many_it_is_refused(tmp_path: Path) -> None:
    text = read_own_text("x.tsv", "".join(f"die Straße {n}\tthe street\n" for n in range(50)).encode())
    few = TextPlan(text, "de", "en", SIZE).recipe(tmp_path).tokenizer
    assert (few.vocab_size, few.character_coverage) == (2000, 1.0)
    strange = "".join(map(chr, range(0x3400, 0x3400 + 30_000)))
    with pytest.raises(LaunchError, match=r"30,000 different characters\. Upload text in UTF-8"):
        read_own_text("x.tsv", f"{strange}\t{strange}\n".encode(), 1)


@pytest.mark.parametrize(
    ("source", "target"), [("../x", "de"), ("en", "/etc"), ("", "de"), ("en", " de"), ("a\n", "b")]
)
def test_a_language_is_never_a_path(source: str, target: str) -> None:
    with pytest.raises(ValidationError):
        TextPlan(read_own_text("x.tsv", b"a\tb\n", 1), source, target, SIZE)


def test_packed_text_a_validation_file_and_a_checkpoint_to_start_with(
    stub: Any, runs: Path, finished_run: Path
) -> None:
    text = gzip.compress(b"".join(b"a b%s\tc d\n\t\n" % (b" %d" % n if n else b"") for n in range(30)))
    valid = read_own_text("v.tsv", b"a\tb\n", 1)
    start_from = CheckpointFile.at(finished_run / "best.safetensors")
    plan = TextPlan(read_own_text("x.tsv.gz", text), "gsw", "Middle Low German", SIZE, valid, start_from)
    assert plan.text.pairs == 30
    assert plan.text.first == ("a b", "c d")
    name = launch_run.start(plan)
    assert name == "gsw-Middle Low German-1"
    assert (runs / name / "corpus.tsv.gz").read_bytes() == text
    assert first_pair(runs / name) == ("a b", "c d")
    recipe, header = load_recipe(runs / name / RECIPE), read_header(start_from.path)
    assert recipe.data.valid == str(runs / name / "valid.tsv")
    assert (recipe.data.source_language, recipe.data.target_language) == ("gsw", "Middle Low German")
    dropout = {name: getattr(recipe.model, name) for name in ("dropout", "embedding_dropout")}  # suits the text
    assert recipe.model == replace(header.config, vocab_size=recipe.tokenizer.vocab_size, **dropout)
    assert stub[0].args[-3:] == ["--init-from", start_from.path, "--own-vocabulary"]


@pytest.mark.parametrize("same", [True, False], ids=["the same languages", "others"])
def test_training_on_is_as_on_the_command_line(folder: Path, tmp_path: Path, same: bool) -> None:
    """The learning rate above all: lower for a model that knows these languages."""
    languages = ("en", "de") if same else ("en", "gsw")
    file = tmp_path / "x.tsv"
    file.write_bytes(b"".join(b"the cat %d\tdie Katze %d\n" % (i, i) for i in range(50)))
    start_from = CheckpointFile.at(folder / "en-de.safetensors")
    (tmp_path / "run").mkdir()
    ours = TextPlan(read_own_text("x.tsv", file.read_bytes()), *languages, SIZE, None, start_from).recipe(
        tmp_path / "run"
    )
    changes = [f"data.{side}_language={tag}" for side, tag in zip(("source", "target"), languages, strict=True)]
    model = read_header(start_from.path).config
    theirs = load_recipe(
        "own-text",
        [f"data.train={file}", "data.max_length=100", f"training.updates={SIZE.updates}", *changes],
        start=ModelToStartWith(lambda: model, keeps_vocabulary=same),
    )
    assert ours.training == replace(theirs.training, snapshots=ours.training.snapshots)
    assert ours.tokenizer == theirs.tokenizer
    assert ours.data == replace(theirs.data, train=ours.data.train)
    sizes = {name: getattr(theirs.model, name) for name in ("vocab_size", "dropout", "embedding_dropout")}
    assert ours.model == replace(model, **sizes)
    assert ours.training.peak_rate == float(
        f"{peak_rate_for(model.d_model, ours.data.tokens_per_batch) * (CONTINUED if same else 1):.2g}"
    )


@pytest.mark.soak
def test_a_run_on_text_with_a_few_bad_lines_skips_and_counts_them(runs: Path) -> None:
    """The real trainer, which counts the lines again."""
    lines = [b"%s %s\t%d %d\n" % (b"abcdefghij"[i % 10 :][:1] * 3, b"%d" % i, i, i % 7) for i in range(200)]
    lines[20], lines[90] = b"no TAB\n", b"caf\xe9\tKaffee\n"
    text = read_own_text("x.tsv", b"".join(lines))
    valid = read_own_text("v.tsv", b"aaa 1\t1 1\n" * 5, 1)
    name = launch_run.start(TextPlan(text, "en", "de", Size(10, 1, 1, 1, 32), valid))
    recipe = load_recipe(runs / name / RECIPE)
    assert (recipe.data.on_error, recipe.data.skip_limit) == ("skip", 0.01)
    assert launch_run._STARTED[runs / name].wait(10 * PATIENCE) == 0, (runs / name / LOG).read_text()
    counts = json.loads((runs / name / "corpus.json").read_text())
    assert (counts["read"], counts["skipped"]) == (200, 2) == (text.bad.read, text.bad.count)
    without = TextPlan(read_own_text("x.tsv", b"".join(lines[:20])), "en", "de", SIZE, valid)
    (runs / "other").mkdir()
    assert without.recipe(runs / "other").data.on_error == "stop"


def test_a_run_that_cannot_be_started_leaves_nothing(runs: Path, finished_run: Path) -> None:
    gone = replace(CheckpointFile.at(finished_run / "best.safetensors"), path=str(runs / "none.safetensors"))
    with pytest.raises(HeadlightError):
        launch_run.start(TextPlan(read_own_text("x.tsv", b"a\tb\n", 1), "en", "de", SIZE, None, gone))
    assert list(runs.iterdir()) == []


def test_a_run_whose_folder_was_deleted_while_it_is_started_says_so(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recipe(plan: ToyPlan, folder: Path) -> Recipe:
        folder.rmdir()
        return load_recipe(plan.task)

    monkeypatch.setattr(ToyPlan, "recipe", recipe)
    with pytest.raises(LaunchError, match=r"The run's folder cannot be written to: No such file or directory\."):
        launch_run.start(ToyPlan("sort", SIZE))
    assert list(runs.iterdir()) == []


def test_one_run_at_a_time_and_it_can_be_stopped_and_resumed(stub: list["subprocess.Popen[bytes]"], runs: Path) -> None:
    name = launch_run.start(ToyPlan("reverse", SIZE))
    folder = runs / name
    with pytest.raises(LaunchError, match=f"“{name}” is still running"):
        launch_run.start(ToyPlan("copy", SIZE))
    until_ready(folder, stub[0])
    assert launch_run.is_busy(folder)
    launch_run.stop(name)
    assert stub[0].wait(PATIENCE) == 1
    assert not launch_run.is_busy(folder)
    assert run_log.last_words(folder) == "Stopped by SIGTERM after update 7."
    launch_run.resume(name)
    until_ready(folder, stub[1])
    assert run_log.last_words(folder) == ""  # what was said before is no longer true
    assert "Stopped" not in run_log.newest_words(folder)
    assert stub[1].args[-1] == "--resume"  # type: ignore[index]
    assert name == "reverse-1"
    assert len(stub) == 2


def test_a_run_is_still_known_after_a_restart_of_the_app(
    stub: list["subprocess.Popen[bytes]"], runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = launch_run.start(ToyPlan("reverse", SIZE))
    until_ready(runs / name, stub[0])
    monkeypatch.setattr(launch_run, "_STARTED", {})
    assert launch_run.is_busy(runs / name)
    with pytest.raises(LaunchError, match="One run at a time"):
        launch_run.resume(name)
    launch_run.stop(name)
    assert stub[0].wait(PATIENCE) == 1


def test_only_what_was_started_here_is_stopped(runs: Path, finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(finished_run, runs / "toy")
    killed: list[int] = []
    monkeypatch.setattr("app.views.training.launch_run.os.kill", lambda process, number: killed.append(number))
    for name in ("toy", "none", "../toy"):
        with pytest.raises(LaunchError, match="started here"):
            launch_run.stop(name)
        with pytest.raises(LaunchError, match="started here"):
            launch_run.resume(name)
    assert signal.SIGTERM not in killed


def test_switched_off_nothing_is_started(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_TRAINING", "off")
    for action in (
        lambda: launch_run.start(ToyPlan("reverse", SIZE)),
        lambda: launch_run.resume("x"),
        lambda: launch_run.stop("x"),
    ):
        with pytest.raises(LaunchError, match="switched off"):
            action()
    assert not runs.exists()


@pytest.mark.parametrize(
    ("address", "stated", "allowed"),
    [
        ("127.0.0.1", "", True),
        ("localhost", "", True),
        ("0.0.0.0", "", False),
        (None, "", False),  # Streamlit's own default: all addresses
        ("0.0.0.0", "on", True),
        ("127.0.0.1", "off", False),
        ("127.0.0.1", "Off ", False),
        ("127.0.0.1", "nonsense", False),
    ],
)
def test_an_app_that_others_can_reach_starts_no_training_unless_it_is_allowed(
    address: str | None, stated: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.server.visitor.st.get_option", {"server.address": address}.__getitem__)
    monkeypatch.setenv("HEADLIGHT_TRAINING", stated)
    assert launch_run.is_allowed() == allowed


def test_a_trainer_that_says_why_it_does_not_begin_is_ending(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.mkdir()
    log = runs / LOG
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setitem(launch_run._STARTED, runs, process)
        log.write_text(f"{run_log.command_of(runs)}\nError: x\n{run_log.command_of(runs)} --resume\nReading.\n")
        assert not launch_run.is_ending(runs)
        log.write_text(log.read_text() + "Error: There is no column 2.\n")
        assert launch_run.is_ending(runs)
        assert run_log.newest_words(runs) == "Reading."
        process.kill()
    assert not launch_run.is_ending(runs)


def test_the_trainers_messages_are_shown_without_folders_of_the_server(
    stub: list["subprocess.Popen[bytes]"], runs: Path
) -> None:
    name = launch_run.start(TextPlan(read_own_text("x.tsv", b"a\tb\n", 1), "fa", "de", SIZE))
    stub[0].kill()
    stub[0].wait()
    log = runs / name / LOG
    assert run_log.last_words(runs / name) == ""  # killed without a word
    assert run_log.newest_words(runs / name) == ""
    log.write_text(log.read_text() + f"Reading.\nLearning from {runs / name}/corpus.tsv.\n\n")
    assert run_log.newest_words(runs / name) == "Learning from corpus.tsv."
    log.write_text(
        log.read_text() + f"2 lines cannot be read; they are:\n  {runs / name}/corpus.tsv, line 3: no column 2.\n"
    )
    assert run_log.newest_words(runs / name) == "Learning from corpus.tsv."  # not as if line 3 were the end of it
    log.write_text(log.read_text() + "  source      Error: Stopped by Traceback (most recent call last)\n")
    assert run_log.last_words(runs / name) == ""  # a sentence of the text
    assert run_log.newest_words(runs / name) == "Learning from corpus.tsv."
    log.write_text(log.read_text() + f"Warning: x\nError: {runs / name}/corpus.tsv, line 3: there is no column 2.\n")
    assert run_log.last_words(runs / name) == "corpus.tsv, line 3: there is no column 2."
    log.write_text(log.read_text() + "Traceback (most recent call last):\n  File x\n")
    assert "ended unexpectedly" in run_log.last_words(runs / name)
    log.write_text("Stopped by Ctrl-C after update 3; everything is saved.\n")
    assert run_log.last_words(runs / name) == "Stopped by Ctrl-C after update 3; everything is saved."
    log.unlink()
    assert run_log.last_words(runs / name) == ""


def test_the_real_trainer_says_why_text_cannot_be_trained_on(runs: Path) -> None:
    """The whole way: upload, process, sentence. The text is read before, but its tokens only by the trainer."""
    text = b"".join(
        f"{chr(97 + i % 26) * 6} {chr(98 + i % 25) * 7}{i} ".encode() * 300 + b"\t%d\n" % i for i in range(40)
    )
    name = launch_run.start(TextPlan(read_own_text("x.tsv", text), "en", "de", SIZE))
    launch_run._STARTED[runs / name].wait(10 * PATIENCE)  # it lets others go first
    run = read_run(name)
    assert run is not None
    assert "training pairs is at most data.max_length = 100 tokens long" in remove_if_it_came_to_nothing(run)
    assert list(runs.iterdir()) == []


def test_a_run_does_not_begin_with_random_weights_if_the_chosen_checkpoint_was_deleted(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "mine.safetensors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        chosen = start_window.first_weights("mine")
        assert chosen == CheckpointFile.at(tmp_path / "mine.safetensors")
        (tmp_path / "mine.safetensors").unlink()
        with pytest.raises(LaunchError, match="“mine” does not exist any more"):
            start_window.first_weights("mine")
    assert start_window.first_weights(None) is None
