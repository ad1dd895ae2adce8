"""The command `evaluate` reads what training reads, writes translations, and compares two models."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.support.patience import PATIENCE
from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.cli import app
from transformer.data.toy_tasks import held_out_pairs
from transformer.decoding.translator import Translator
from transformer.significance import comparison_text, paired_bootstrap
from transformer.text.tokenizer import Tokenizer

PRETRAINED = Path(__file__).parents[2] / "pretrained"
NUMBERS, REVERSE = (PRETRAINED / f"{name}.safetensors" for name in ("numbers", "reverse"))
PAIRS = list(dict(held_out_pairs("numbers", 5, 12)).items())
ROWS = [PAIRS[0], ("", "nichts"), *PAIRS[1:], (PAIRS[0][0], "etwas anderes"), ("one", "")]


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments), "--device", "cpu", "--beam", "1"])


def scores(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code != 0
    assert "Traceback" not in result.output
    return " ".join(result.stderr.replace("│", " ").split())


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The same rows as a .tsv and as two aligned files."""
    for name, lines in (
        ("test.tsv", ["\t".join(row) for row in ROWS]),
        ("test.en", [source for source, _ in ROWS]),
        ("test.de", [target for _, target in ROWS]),
    ):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path / "test.tsv", tmp_path / "test.en", tmp_path / "test.de"


def test_aligned_files_and_a_hugging_face_data_set_give_the_scores_of_the_same_tsv(
    files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    datasets.disable_progress_bars()
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    tsv, source, target = files
    (tmp_path / "set").mkdir()
    rows = [json.dumps({"english": one, "de": other}) + "\n" for one, other in ROWS]
    (tmp_path / "set" / "train.jsonl").write_text("".join(rows), encoding="utf-8")
    expected = scores(NUMBERS, "--data", tsv)
    assert (expected["sentences"], expected["references"]) == (len(PAIRS), len(PAIRS) + 1)
    assert expected["chrf"] > 90
    aligned = scores(NUMBERS, "--data", source, "--target", target)
    loaded = scores(NUMBERS, "--data", f"hf:{tmp_path / 'set'}", "--source-language", "english")
    for name in ("bleu", "chrf", "exact_match", "sentences", "references"):
        assert aligned[name] == loaded[name] == expected[name]
    assert aligned["target"] == str(target)
    assert "the columns english, de; en and de are needed" in refused(NUMBERS, "--data", f"hf:{tmp_path / 'set'}")


def test_hypotheses_have_one_line_for_each_line_of_the_test_set(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """In the file to which a link points, too."""
    (tmp_path / "link").symlink_to("out.txt")
    found = scores(NUMBERS, "--data", files[1], "--target", files[2], "--hypotheses", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(lines) == len(ROWS)
    assert (lines[1], lines[-1]) == ("", "")
    translator = Translator.load(NUMBERS)
    for line, row in zip(lines, ROWS, strict=True):
        assert not all(row) or line == translator.translate(row[0]).text
    assert found["references"] == len(PAIRS) + 1


def test_a_translation_with_a_line_break_stays_one_line(
    files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: "one\ntwo\r\nthree")
    scores(NUMBERS, "--data", files[0], "--hypotheses", tmp_path / "out")
    lines = (tmp_path / "out").read_bytes().decode().split("\n")
    assert lines == [*("one two three" if all(row) else "" for row in ROWS), ""]


def test_an_interrupted_evaluation_leaves_the_file_of_hypotheses_as_it_was(
    files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    out.mkdir()
    (out / "old.txt").write_text("of yesterday")
    assert "is a folder" in refused(NUMBERS, "--data", files[0], "--hypotheses", out)
    monkeypatch.setattr(Translator, "translate_each", interrupted)
    for name in ("old.txt", "new.txt"):
        assert run(NUMBERS, "--data", files[0], "--hypotheses", out / name).exit_code != 0
    assert [path.name for path in out.iterdir()] == ["old.txt"]
    assert (out / "old.txt").read_text() == "of yesterday"


def test_hypotheses_may_be_written_to_a_pipe(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as other:
        read = other.submit((tmp_path / "pipe").read_text)
        scores(NUMBERS, "--data", files[0], "--hypotheses", tmp_path / "pipe")
        assert len(read.result(PATIENCE).splitlines()) == len(ROWS)
    assert (tmp_path / "pipe").is_fifo()


def test_a_model_against_another_has_the_p_of_the_command_of_sacrebleu(tmp_path: Path) -> None:
    references = [f"Das ist der Satz Nummer {i}, und er ist nicht sehr lang." for i in range(40)]
    ours = [line.replace("nicht ", "") if i % 3 == 0 else line for i, line in enumerate(references)]
    theirs = [line.replace("sehr ", "") if i % 3 == 1 else line for i, line in enumerate(references)]
    for name, lines in (("refs", references), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "refs", "-i", "theirs", "ours", "-m", "bleu", "chrf", "--paired-bs"]
    done = subprocess.run([*command, "-f", "text", "-w", "4"], cwd=tmp_path, capture_output=True, check=True)
    table = done.stdout.decode()
    measured = [
        (float(value), float(interval)) for value, interval in re.findall(r"([\d.]+) \([\d.]+ ± ([\d.]+)", table)
    ]
    found = paired_bootstrap(ours, theirs, [[line] for line in references])
    mine = [
        (found[name][side], found[name][f"{side}_interval"]) for side in ("theirs", "ours") for name in ("bleu", "chrf")
    ]
    assert np.array(mine, float) == pytest.approx(np.array(measured), abs=1e-3)
    ps = [float(p) for p in re.findall(r"p = ([\d.]+)", table)]
    assert [found["bleu"]["p"], found["chrf"]["p"]] == pytest.approx(ps, abs=1e-3)
    assert 0.01 < ps[0] < 0.99
    text = comparison_text(paired_bootstrap(references, theirs, [[line] for line in references]), "other")
    assert "BLEU 100.00 ± 0.00    there " in text
    assert "p = 0.001, significantly better    nrefs:1|bs:1000|seed:12345" in text
    assert "significantly worse" in comparison_text(paired_bootstrap(theirs, ours, [[line] for line in ours]), "other")


def test_a_model_is_as_good_as_itself(files: tuple[Path, Path, Path]) -> None:
    tsv = files[0]
    itself = scores(NUMBERS, "--data", tsv, "--against", NUMBERS)
    against = itself["against"]
    assert against["checkpoint"] == str(NUMBERS)
    assert against["bleu"]["ours"] == against["bleu"]["theirs"] == pytest.approx(itself["bleu"])
    assert against["chrf"]["p"] == 1.0
    assert against["decoding"]["beam"] == 1
    readable = run(NUMBERS, "--data", tsv, "--against", NUMBERS).stdout
    assert f"Against {NUMBERS}, with 95 % intervals, by paired bootstrap resampling:\nBLEU " in readable
    assert "p = 1.000, no difference" in readable


def test_other_settings_of_the_search_are_named(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    trained, recipe = load_checkpoint(NUMBERS), Translator.load(NUMBERS).settings
    stated = {**(trained.recipe or {}), "decoding": {"max_extra_length": recipe.max_extra_length + 1}}
    save_checkpoint(tmp_path / "other.safetensors", TrainedModel(trained.model, trained.tokenizer, stated, {}))
    readable = run(NUMBERS, "--data", files[0], "--against", tmp_path / "other.safetensors").stdout
    number = recipe.max_extra_length
    assert f"decode differently: max_extra_length = {number} and {number + 1}." in readable
    for beam in (1, 4):  # without effect
        stated["decoding"] = {"method": "greedy", "beam": beam}
        save_checkpoint(tmp_path / f"{beam}.safetensors", TrainedModel(trained.model, trained.tokenizer, stated, {}))
    command = ["evaluate", tmp_path / "1.safetensors", "--data", files[0], "--against", tmp_path / "4.safetensors"]
    result = CliRunner().invoke(app, [*map(str, command), "--device", "cpu"])
    assert (result.exit_code, "decode differently" in result.stdout) == (0, False)


def test_models_of_other_tasks_or_languages_are_not_compared(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    trained, made = load_checkpoint(NUMBERS), dict[str, Path]()
    for target in ("de", "fr"):
        data = {"toy": None, "train": ["x.tsv"], "source_language": "en", "target_language": target}
        made[target] = tmp_path / f"en-{target}.safetensors"
        recipe = {"model": {"vocab_size": trained.model.config.vocab_size}, "data": data}
        save_checkpoint(made[target], TrainedModel(trained.model, trained.tokenizer, recipe, {}))
    message = refused(made["de"], "--data", files[0], "--against", made["fr"])
    assert "that model is translation from en to fr, not translation from en to de" in message
    message = refused(NUMBERS, "--data", files[0], "--against", REVERSE)
    assert 'the toy task "reverse", not the toy task "numbers"' in message
    assert "choose another checkpoint" in message


def test_options_that_do_not_go_together_are_refused(files: tuple[Path, Path, Path]) -> None:
    tsv, source, target = files
    assert "give --data, too" in refused(NUMBERS, "--target", target)
    assert "leave --target out" in refused(NUMBERS, "--data", "hf:x", "--target", target)
    assert "for Hugging Face data sets" in refused(NUMBERS, "--data", tsv, "--source-language", "en")
    assert "one file with both sides" in refused(NUMBERS, "--data", "hf:x", "--source-column", "2")
    assert "one file with both sides" in refused(NUMBERS, "--source-column", "2")
    assert "one file with both sides" in refused(NUMBERS, "--data", source, "--target", target, "--target-column", "1")
    message = refused(NUMBERS, "--required-words", tsv, "--hypotheses", tsv.with_name("out"))
    assert "--hypotheses and --against are for scores" in message
    for read in (source, target):
        message = refused(NUMBERS, "--data", source, "--target", target, "--hypotheses", read)
        assert "would be overwritten" in message
        assert read.stat().st_size > 0
    source.write_text("one\n")
    message = refused(NUMBERS, "--data", source, "--target", target)
    assert "has 1 lines" in message
    assert "must be aligned line by line" in message
