"""The command `translate`: lines in, lines out, and no file is overwritten by mistake."""

import gzip
import os
import shlex
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.command_line import one_line, run
from transformer.checkpoint.checkpoint_file import load_checkpoint, save_checkpoint
from transformer.cli import app
from transformer.decoding.translator import Translator
from transformer.text.spelling import WordList
from transformer.text.tokenizer import Tokenizer

ROOT = Path(__file__).parents[2]


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


def test_spelling_is_corrected_if_the_checkpoint_has_the_words_of_its_text(checkpoint: Path, tmp_path: Path) -> None:
    plain, corrected = (run("translate", checkpoint, input=typed).stdout for typed in ("a cta sat.", "a cat sat."))
    assert plain != corrected
    refused = run("translate", checkpoint, "--correct-spelling", input="a cta sat.")
    assert refused.exit_code == 1
    assert "does not hold the words of its training text" in refused.stderr
    file = tmp_path / "words.safetensors"
    save_checkpoint(file, replace(load_checkpoint(checkpoint), words=WordList({"a": 9, "cat": 9, "sat": 9})))
    assert run("translate", file, input="a cta sat.").stdout == plain
    assert run("translate", file, "--correct-spelling", input="a cta sat.").stdout == corrected


def test_a_packed_file_is_unpacked_and_what_is_no_text_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    text = b"a cat sat.\nthe dog ran.\n"
    packed = gzip.compress(text)
    contents = {"in.txt": text, "in.gz": packed, "cut.gz": packed[:-9], "utf16.txt": "a cat.".encode("utf-16")}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    plain, unpacked, cut, utf16 = (run("translate", checkpoint, "--input", tmp_path / name) for name in contents)
    assert plain.stdout == unpacked.stdout
    assert plain.stdout.count("\n") == 2
    assert (cut.exit_code, cut.stdout) == (utf16.exit_code, utf16.stdout) == (1, "")
    assert "cut.gz: the gzip file is damaged or cut off" in cut.stderr
    assert "utf16.txt is UTF-16. Convert it" in utf16.stderr


def test_a_closed_standard_input_is_named(checkpoint: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m transformer translate {shlex.quote(str(checkpoint))} <&-"
    process = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (1, "")
    assert "The standard input is closed. Name a file (--input FILE)" in process.stderr


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


def test_a_pipe_can_be_the_input_file(checkpoint: Path) -> None:
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
