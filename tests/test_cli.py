"""The commands: lines in, lines out, scores, sentences instead of tracebacks."""

import errno
import gzip
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.checkpoint.header import read_header
from transformer.cli import app
from transformer.config import ModelConfig, Recipe, TokenizerConfig
from transformer.data.toy_tasks import held_out_pairs
from transformer.decoding.reranking import Reranker
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.evaluation import score
from transformer.model import Transformer, census
from transformer.text.tokenizer import Tokenizer
from transformer.training.init_from import Start
from transformer.training.resume_check import FREE

ROOT = Path(__file__).parents[1]

LINES = ["a cat sat on a mat.", "the dog ran.", "eine Katze sass.", "der Hund lief."]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model: what it says is nonsense, but always the same."""
    path = tmp_path_factory.mktemp("checkpoint") / "tiny.safetensors"
    tokenizer = Tokenizer.train(LINES, TokenizerConfig(vocab_size=320))
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        encoder_layers=2,
        decoder_layers=1,
        d_model=16,
        d_ff=16,
        heads=2,
        max_positions=48,
    )
    recipe = {"name": "tiny", "decoding": {"max_extra_length": 3, "beam": 2}}
    save_checkpoint(path, TrainedModel(Transformer(config), tokenizer, recipe, {"valid_bleu": 12.25}))
    return path


def run(*arguments: object, input: str | bytes | None = None) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)


def one_line(text: str) -> str:
    return " ".join(text.split("\n"))


# translate


def test_each_line_of_stdin_gives_one_line_of_stdout(checkpoint: Path) -> None:
    """A real process, with a real pipe on either side."""
    lines = ["a cat sat.", "", "the dog ran. the cat sat.", "   ", "😀 ünï"]
    process = subprocess.run(
        [sys.executable, "-m", "transformer", "translate", str(checkpoint), "--device", "cpu"],
        input="\n".join(lines).encode() + b"\r\n",
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    translator = Translator.load(checkpoint)
    expected = [one_line(translator.translate(line).text) if line.strip() else "" for line in lines]
    assert process.stdout.decode().split("\n") == [*expected, ""]
    assert process.stderr == b""  # no progress bar outside a terminal


def test_files_are_read_and_written(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a cat sat.\n\nthe dog ran.", encoding="utf-8")
    result = run("translate", checkpoint, "--input", tmp_path / "in.txt", "--output", tmp_path / "out.txt")
    assert (result.exit_code, result.output) == (0, "")
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")
    assert len(lines) == 4
    assert lines[0] == run("translate", checkpoint, input="a cat sat.").stdout.rstrip("\n")
    assert lines[1] == lines[3] == ""


def test_a_file_is_translated_in_larger_portions_than_a_pipe_and_in_the_order_of_its_lines(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[int] = []

    def echo(self: Translator, sentences: list[str], *_: Any) -> list[Any]:
        together.append(len(sentences))
        return [SimpleNamespace(text=sentence) for sentence in sentences]

    monkeypatch.setattr(Translator, "translate_each", echo)
    text = "".join(f"cat number {number}\n" for number in range(2100))
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    assert run("translate", checkpoint, "--input", tmp_path / "in.txt").stdout == text
    assert together == [2048, 52]
    together.clear()
    assert run("translate", checkpoint, input=text).stdout == text
    assert together == [128] * 16 + [52]


def test_the_beam_is_that_of_the_recipe_unless_the_command_says_otherwise(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []
    original = Translator.translate_each

    def spy(self: Translator, sentences: Any, settings: Any = None, **more: Any) -> Any:
        used.append((settings.method, settings.beam))
        return original(self, sentences, settings, **more)

    monkeypatch.setattr(Translator, "translate_each", spy)
    run("translate", checkpoint, input="a cat")
    run("translate", checkpoint, "--beam", 3, input="a cat")
    assert used == [("beam", 2), ("beam", 3)]


def test_a_line_that_cannot_be_translated_is_reported_and_the_others_are_translated(checkpoint: Path) -> None:
    result = run("translate", checkpoint, input=b"a cat.\n" + b"dog " * 100 + b"\n\xff\xfe\nthe dog.\n")
    lines = result.stdout.split("\n")
    assert len(lines) == 5
    assert lines[0]
    assert lines[1] == lines[2] == ""
    assert lines[3]
    assert "Line 2: " in result.stderr
    assert "at most 47" in result.stderr
    assert "Line 3: The line is not UTF-8" in result.stderr
    assert "could not be translated and are empty in the output: 2." in result.stderr
    assert result.exit_code == 1


def test_a_line_that_is_far_too_long_is_reported_and_the_others_are_translated(checkpoint: Path) -> None:
    good = run("translate", checkpoint, input="Go.\n").stdout
    result = run("translate", checkpoint, input="Go.\n" + "x. " * 1_000_000 + "\nGo.\n")
    assert result.stdout == f"{good}\n{good}"
    assert "Line 2: The line has more than 1,000,000 bytes. Split it" in one_line(result.stderr)
    assert result.exit_code == 1


def test_a_translation_with_a_line_break_stays_one_line(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: "one\ntwo\r\nthree")
    assert run("translate", checkpoint, input="a\nb\n").stdout == "one two three\none two three\n"


def test_a_pipe_can_be_the_input_file(checkpoint: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a cat\n")
    os.close(writer)
    result = run("translate", checkpoint, "--input", f"/dev/fd/{reader}")
    os.close(reader)
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1


def test_the_input_is_never_overwritten_by_the_output(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a cat")
    result = run("translate", checkpoint, "--input", tmp_path / "text", "--output", tmp_path / "text")
    assert result.exit_code == 1
    assert "would be overwritten while it is read" in result.stderr
    assert (tmp_path / "text").read_text() == "a cat"


def test_the_checkpoint_is_never_overwritten_by_the_output(checkpoint: Path) -> None:
    before = checkpoint.read_bytes()
    result = run("translate", checkpoint, "--output", checkpoint, input="a cat")
    assert result.exit_code == 1
    assert "would be overwritten while it is read" in result.stderr
    assert checkpoint.read_bytes() == before


def test_an_output_is_kept_when_the_model_for_reranking_is_wrong(checkpoint: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    output.write_text("earlier")
    for options in (("--rerank", output), ("--rerank", checkpoint, "--beam", 1)):
        result = run("translate", checkpoint, "--output", output, *options, input="a cat")
        assert result.exit_code != 0
        assert output.read_text() == "earlier"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_says_what_to_do(checkpoint: Path) -> None:
    result = run("translate", checkpoint, "--output", "/dev/full", input="a cat")
    assert result.exit_code == 1
    assert "No space left on device. Free some space" in result.stderr


def test_the_message_names_which_of_two_files_could_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "from.safetensors", None, "to.safetensors")

    monkeypatch.setattr("transformer.checkpoint.averaging.average_checkpoints", copy)
    result = run("average", "new.safetensors", "one.safetensors", "two.safetensors")
    assert result.stderr.startswith("Error: to.safetensors: No space left on device. Free some space")


def test_a_closed_pipe_is_not_an_error(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`... | head -1`: the pipe on stdout is closed while there is still something to write."""
    (tmp_path / "many").write_text("a cat.\n" * 3)
    reader, writer = os.pipe()
    os.close(reader)
    stdout = os.fdopen(writer, "w")
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(SystemExit) as ended:
        app(["translate", str(checkpoint), "--input", str(tmp_path / "many")])
    assert ended.value.code == 1
    assert capsys.readouterr().err == ""
    with suppress(BrokenPipeError):
        stdout.close()


# evaluate


def test_rows_that_share_a_source_are_its_references(checkpoint: Path, tmp_path: Path) -> None:
    rows = [("the dog ran.", "der Hund lief."), ("a cat.", "Katze."), ("the dog ran.", "Hund!"), ("a cat.", "Katze.")]
    with gzip.open(tmp_path / "test.tsv.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{i}\t{target}\t{source}\n" for i, (source, target) in enumerate(rows))
    columns = ("--source-column", 3, "--target-column", 2)
    result = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv.gz", *columns, "--json")
    assert result.exit_code == 0
    scores = json.loads(result.stdout)
    outputs = [t.text for t in Translator.load(checkpoint).translate_sentences(["the dog ran.", "a cat."])]
    for name, value in score(outputs, [["der Hund lief.", "Hund!"], ["Katze."]]).items():
        assert scores[name] == pytest.approx(value) if isinstance(value, float) else scores[name] == value
    assert (scores["sentences"], scores["references"], scores["untranslated"]) == (2, 3, 0)
    assert scores["decoding"]["beam"] == 2
    assert scores["seconds"] > 0
    readable = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv.gz", *columns, "--beam", 3)
    assert readable.exit_code == 0
    assert readable.stdout.startswith("BLEU ")
    assert "nrefs:var|case:mixed" in readable.stdout
    assert "2 sentences, 3 references" in readable.stdout


def test_a_toy_model_is_scored_on_pairs_that_its_task_keeps_out_of_training() -> None:
    reverse = Path(__file__).parent.parent / "pretrained" / "reverse.safetensors"
    scores = json.loads(run("evaluate", reverse, "--beam", 1, "--json").stdout)
    assert scores["references"] <= 1000
    assert scores["exact_match"] > 0.98
    assert scores["data"] == "pairs of the toy task"


def test_a_model_of_the_other_direction_chooses_among_the_hypotheses(checkpoint: Path, tmp_path: Path) -> None:
    """Between the two languages of the first model, and no others."""
    (tmp_path / "test.tsv").write_text("a cat.\tKatze.\nthe dog ran.\tder Hund lief.\n")
    files = {}
    for languages in (("en", "de"), ("de", "en"), ("fr", "en")):
        files[languages] = tmp_path / f"{'-'.join(languages)}.safetensors"
        data = {"toy": None, "train": ["x.tsv"], "source_language": languages[0], "target_language": languages[1]}
        trained = load_checkpoint(checkpoint)
        recipe = {"model": {"vocab_size": 320}, "data": data, "decoding": {"beam": 2}}
        save_checkpoint(files[languages], TrainedModel(trained.model, trained.tokenizer, recipe, {}))
    command = ("evaluate", files["en", "de"], "--data", tmp_path / "test.tsv", "--json", "--rerank")
    result = json.loads(run(*command, files["de", "en"]).stdout)
    forward, reverse = Translator.load(files["en", "de"]), Translator.load(files["de", "en"])
    found = Reranker(forward, reverse).translate_each(["a cat.", "the dog ran."])
    outputs = [each.text for each in found if isinstance(each, Translation)]
    assert result["bleu"] == pytest.approx(score(outputs, [["Katze."], ["der Hund lief."]])["bleu"])
    assert result["rerank"] == str(files["de", "en"])
    refused = run(*command, files["fr", "en"])
    assert refused.exit_code == 1
    assert "translates fr to en. Needed is one that translates de to en." in one_line(refused.stderr)


def test_a_source_that_is_too_long_counts_as_an_empty_output(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("a cat.\tKatze.\n" + "dog " * 60 + "\tHund.\n")
    result = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv", "--json")
    assert json.loads(result.stdout)["untranslated"] == 1
    result = run("evaluate", checkpoint, "--data", tmp_path / "test.tsv").stdout
    assert "counted as empty: 1. The sentence ('dog dog" in result
    assert "this model reads at most" in result


def test_bfloat16_translates_the_toys_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scores show whether bfloat16 loses quality; a warning says that the hardware emulates it."""
    numbers = Path(__file__).parent.parent / "pretrained" / "numbers.safetensors"
    lines = [f"{source}\t{target}\n" for source, target in held_out_pairs("numbers", 5, 40)]
    (tmp_path / "test.tsv").write_text("".join(lines), encoding="utf-8")
    command = ["evaluate", numbers, "--data", tmp_path / "test.tsv", "--device", "cpu", "--json"]
    exact = json.loads(run(*command).stdout)
    assert exact["precision"] == "float32"
    for emulated in (False, True):
        monkeypatch.setattr("transformer.training.device.multiplies_bfloat16", lambda device, e=emulated: not e)
        evaluated = run(*command, "--precision", "bfloat16")
        result = json.loads(evaluated.stdout)
        assert result["precision"] == "bfloat16"
        assert result["chrf"] == exact["chrf"] > 99  # words have no 4-grams, so BLEU is 0
        assert ("does not multiply bfloat16" in evaluated.stderr) == emulated


def test_precision_is_that_of_the_weights(checkpoint: Path) -> None:
    exact, rounded = Translator.load(checkpoint).model, Translator.load(checkpoint, precision="bfloat16").model
    assert {weight.dtype for weight in (*exact.parameters(), *exact.buffers())} == {torch.float32}
    assert {weight.dtype for weight in (*rounded.parameters(), *rounded.buffers())} == {torch.bfloat16}


# average and inspect


def test_averaging_a_checkpoint_with_itself_gives_it_back(checkpoint: Path, tmp_path: Path) -> None:
    result = run("average", tmp_path / "mean.safetensors", checkpoint, checkpoint)
    assert result.exit_code == 0
    mean, original = load_checkpoint(tmp_path / "mean.safetensors").model, load_checkpoint(checkpoint).model
    for averaged, weight in zip(mean.parameters(), original.parameters(), strict=True):
        assert torch.equal(averaged, weight)


def test_a_forgotten_out_overwrites_no_checkpoint(checkpoint: Path) -> None:
    before = checkpoint.read_bytes()
    result = run("average", checkpoint, checkpoint, checkpoint)
    assert result.exit_code == 2
    assert "exists already. Name first the new file to write" in one_line(result.stderr)
    assert checkpoint.read_bytes() == before


def test_inspect_prints_no_terminal_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer.train(["a\x1b[31mb c"] * 9, TokenizerConfig(kind="bpe", vocab_size=20, byte_fallback=False))
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size, encoder_layers=1, decoder_layers=1, d_model=8, d_ff=8, heads=2
    )
    metrics = {"\x1b]0;owned\x07": 1, "note": "\x9b2J\n\u202e", "list": ["\x1b[2J"], "grün": 2}
    save_checkpoint(tmp_path / "x", TrainedModel(Transformer(config), tokenizer, {"name": "\x1b[2J"}, metrics))
    text = run("inspect", tmp_path / "x").stdout
    assert text.replace("\n", "").isprintable()
    assert "\\x1b]0;owned\\x07" in text
    assert run("inspect", tmp_path / "x", "--json").stdout.rstrip("\n").isprintable()


def test_inspect_prints_everything(checkpoint: Path) -> None:
    loaded = load_checkpoint(checkpoint)
    described = json.loads(run("inspect", checkpoint, "--json").stdout)
    assert ModelConfig(**described["config"]) == loaded.config
    parameters = described["parameters"]
    assert parameters["total"] == sum(weight.numel() for weight in loaded.model.parameters())
    assert parameters["total"] == sum(count for part, count in parameters.items() if part != "total")
    assert parameters["encoder self-attention"] == 2 * 4 * (16 * 16 + 16)
    assert parameters["decoder cross-attention"] == 4 * (16 * 16 + 16)
    assert parameters["embeddings and output projection"] == loaded.config.vocab_size * 16
    assert described["metrics"] == {"valid_bleu": 12.25}
    assert described["tokenizer"]["vocab_size"] == loaded.config.vocab_size
    assert described["tokenizer"]["kinds"]["byte"] == 256
    assert {name: tuple(letters) for name, letters in described["sites"].items()} == census(loaded.config)
    text = run("inspect", checkpoint).stdout
    assert "valid_bleu  12.25" in text
    for site in census(loaded.config):
        assert site.replace(".layers.0.", ".layers.*.").replace(".layers.1.", ".layers.*.") in text
    assert "(B, H, T, S)" in text


@pytest.mark.parametrize(
    "changes", [{"shared_embeddings": False, "norm": "pre"}, {"positions": "learned", "activation": "silu"}]
)
def test_every_parameter_belongs_to_a_part(changes: dict[str, Any]) -> None:
    from transformer.analysis.inspection import parameters_by_part

    with torch.device("meta"):
        model = Transformer(ModelConfig(vocab_size=20, d_model=8, d_ff=8, heads=2, **changes))
    assert sum(parameters_by_part(model).values()) == sum(weight.numel() for weight in model.parameters())


# train


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Recipe, Path, dict[str, Any]]]:
    """What the training was called with; nothing is trained."""
    calls: list[tuple[Recipe, Path, dict[str, Any]]] = []
    monkeypatch.setattr(
        "transformer.training.train",
        lambda recipe, run_dir, resume, start, device, ranks: calls.append(
            (recipe, run_dir, {"resume": resume, "start": start, "device": device})
        ),
    )
    return calls


def test_a_recipe_that_fits_a_checkpoint_is_the_same_when_it_resumes(
    trained: list[tuple[Recipe, Path, dict[str, Any]]], checkpoint: Path, tmp_path: Path
) -> None:
    text = tmp_path / "my.en-de.tsv"
    text.write_text("".join(f"sentence {number}\tSatz {number}\n" for number in range(60)))
    command = ("train", "own-text", "--set", f"data.train={text}", "--run-dir", tmp_path / "run")
    for options in (("--init-from", checkpoint), ("--init-from", checkpoint, "--resume")):
        result = run(*command, *options)
        assert result.exit_code == 0, result.stderr
    assert trained[0][0] == trained[1][0]
    assert trained[1][0].model.d_model == read_header(checkpoint).config.d_model


def test_train_hands_over_the_recipe_as_overridden(trained: list[tuple[Recipe, Path, dict[str, Any]]]) -> None:
    result = run("train", "reverse", "--set", "training.updates=7", "--set", "data.toy=copy", "--device", "cpu")
    assert result.exit_code == 0
    recipe, folder, more = trained[0]
    assert (recipe.training.updates, recipe.data.toy) == (7, "copy")
    assert folder == Path("runs/reverse")
    assert more == {"resume": False, "start": None, "device": "cpu"}
    run("train", "reverse", "--run-dir", "here", "--resume", "--init-from", "x.safetensors", "--own-vocabulary")
    assert trained[1][1:] == (
        Path("here"),
        {"resume": True, "start": Start(Path("x.safetensors"), own_vocabulary=True), "device": "auto"},
    )


def test_a_vocabulary_of_its_own_without_a_checkpoint_is_refused(
    trained: list[tuple[Recipe, Path, dict[str, Any]]],
) -> None:
    found = run("train", "reverse", "--own-vocabulary")
    assert found.exit_code == 2
    assert "add --init-from" in found.stderr
    assert not trained


def test_a_wrong_recipe_or_a_missing_corpus_trains_nothing(trained: list[tuple[Recipe, Path, dict[str, Any]]]) -> None:
    wrong = run("train", "reverse", "--set", "training.updats=7", "--set", "model.heads=0")
    assert wrong.exit_code == 2
    assert "Did you mean updates?" in wrong.stderr
    assert "model.heads = 0" in wrong.stderr
    missing = run("train", "paper-base", "--set", "data.train=nowhere.en-de.tsv")
    assert missing.exit_code == 2
    assert "data.train: nowhere.en-de.tsv" in missing.stderr
    assert not trained


@pytest.mark.parametrize("name", ["", ".", "..", "/", "/tmp", "../x", "a/b", "a\0b"])
def test_a_name_that_cannot_be_a_folder_needs_a_run_dir(
    name: str, trained: list[tuple[Recipe, Path, dict[str, Any]]]
) -> None:
    result = run("train", "reverse", "--set", f"name={name}")
    assert (result.exit_code, trained) == (2, [])
    assert "give --run-dir" in result.stderr
    assert run("train", "reverse", "--set", f"name={name}", "--run-dir", "here").exit_code == 0


def test_the_doctor_says_what_is_wrong_and_prints_no_terminal_control_characters(checkpoint: Path) -> None:
    assert run("doctor", checkpoint).stdout == "Nothing found.\n"  # in the weights
    text = run("doctor", checkpoint, "--sentence", "a \ue000 cat").stdout
    assert "“\\ue000”" in text
    assert text.replace("\n", "").isprintable()
    found = json.loads(run("doctor", checkpoint, "--sentence", "a \ue000 cat", "--json").stdout)
    assert {"cut", "no_letters"} <= {finding["name"] for finding in found}


# Errors and help


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("inspect", "nowhere.safetensors"), 1, "No such file"),
        (("inspect", "pyproject.toml"), 1, "not a safetensors file"),
        (("translate", "nowhere.safetensors"), 1, "No such file"),
        (("translate", "CHECKPOINT", "--input", "nowhere.txt"), 1, "nowhere.txt: No such file"),
        (("translate", "CHECKPOINT", "--output", "nowhere/out.txt"), 1, "nowhere/out.txt: No such file"),
        (("translate", "CHECKPOINT", "--beam", "0"), 2, "greater than or equal to 1"),
        (("translate", "CHECKPOINT", "--device", "tpu"), 2, "tpu"),
        (("translate", "CHECKPOINT", "--rerank", "nowhere.safetensors"), 1, "No such file"),
        (("translate", "CHECKPOINT", "--rerank", "CHECKPOINT", "--beam", "1"), 1, "add --beam 4"),
        (("evaluate", "CHECKPOINT"), 2, "this model has no toy task"),
        (("evaluate", "CHECKPOINT", "--data", "nowhere.tsv"), 1, "nowhere.tsv"),
        (("average", "out.safetensors"), 2, "CHECKPOINT"),
        (("average", "out.safetensors", "nowhere.safetensors"), 2, "at least two checkpoints"),
        (("average", "out.safetensors", "nowhere.safetensors", "CHECKPOINT"), 1, "No such file"),
        (("doctor", "nowhere.safetensors"), 1, "No such file"),
        (("doctor", "CHECKPOINT", "--sentence", "  "), 1, "nothing to translate"),
        (("trian",), 2, "train"),
        (("train", "nowhere.toml"), 2, "There is no recipe nowhere.toml"),
    ],
)
def test_an_error_is_a_sentence_and_an_exit_code(
    checkpoint: Path, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    given = [checkpoint if argument == "CHECKPOINT" else argument for argument in arguments]
    result = run(*given, input="")
    assert result.exit_code == code
    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_every_command_and_option_has_its_help() -> None:
    options = {
        "train": ["RECIPE.toml", "--set", "--run-dir", "--resume", "--init-from", "--own-vocabulary", "--device"],
        "queue": ["QUEUE.toml", "--data", "--runs", "--only", "--dry-run", "--report", "--ship", "--device"],
        "translate": ["CHECKPOINT", "--beam", "--rerank", "--device", "--precision", "--input", "--output"],
        "evaluate": [
            "CHECKPOINT",
            "--data",
            "--target",
            "--source-column",
            "--target-column",
            "--hypotheses",
            "--against",
            "--beam",
            "--rerank",
            "--device",
            "--precision",
            "--json",
        ],
        "align": ["CHECKPOINT", "--data", "--swap", "--home", "--store", "--device", "--json"],
        "average": ["OUT", "CHECKPOINT"],
        "inspect": ["CHECKPOINT", "--json"],
        "doctor": ["CHECKPOINT", "--sentence", "--json"],
        "export": ["CHECKPOINT", "DIR", "--to", "--quantization"],
    }
    overview = run("--help").stdout
    for command, expected in options.items():
        assert f"  {command} " in overview
        text = run(command, "--help").stdout
        assert all(option in text for option in expected)
        assert f"python -m transformer {command} " in text  # an example
    assert "128 lines are translated together" in run("translate", "--help").stdout  # why a pipe seems to hang
    assert "..." not in overview.split("Commands:")[1]  # no description is cut off


def test_help_is_printed_without_importing_torch() -> None:
    script = "import sys, transformer.cli; sys.exit('torch' in sys.modules or 'sentencepiece' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


CPU_IS_FULL = "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. GPU 0 has 1 GiB."), "the GPU is full (CUDA out of memory)"),
        (RuntimeError("MPS backend out of memory (1 GB)."), "the GPU is full (MPS backend out of memory (1 GB)"),
        (RuntimeError(f"{CPU_IS_FULL}allocate 8 bytes. Code 12"), "this machine is full (can't allocate memory: you"),
        (MemoryError(), "this machine is full (none is left)"),
    ],
)
def test_too_little_memory_is_reported_in_a_sentence(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The advice is possible: a run cannot be resumed with other batches."""

    def load(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("transformer.decoding.translator.Translator.load", load)
    checkpoint = tmp_path / "x.safetensors"
    checkpoint.touch()
    result = run("translate", checkpoint, input="a cat")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: The memory of {sentence}")
    assert "lower data.tokens_per_batch" in result.stderr
    assert "another --run-dir, with --init-from" in result.stderr
    assert "--resume" not in result.stderr
    assert not {"data.tokens_per_batch", "training.accumulate"} & {
        f"{section}.{option}" for section, options in FREE.items() for option in options
    }
