"""A lesson file: what is read from it, and that all its mistakes are reported with their lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.lessons.__main__ import main
from app.lessons.lesson_file import MOST_BYTES, ReadLesson, read_lesson

ROOT = Path(__file__).parents[2]
LESSON = """\
# Two scenes
minutes: 3
language: de
checkpoint: en-de

For a test. It has
two lines.

## The first
minutes: 2
show: attention?kind=cross&layer=4&head=6&pinned=cross.3.5
sentence: Where is the nearest train station?
question: most-attended?kind=cross&layer=4&head=6&row=3

One sentence. A second one.

> A paragraph of
> notes.
>
> A second paragraph.

## The second
minutes: 1
show: positions
checkpoint: reverse
"""


def read(text: str) -> ReadLesson:
    return read_lesson(text.encode(), ("en-de", "de-en", "reverse"))


def lines(text: str) -> list[tuple[int, str]]:
    return [(mistake.line, f"{mistake.problem} {mistake.instead}") for mistake in read(text).mistakes]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_lesson_is_read(ending: str) -> None:
    found = read(LESSON.replace("\n", ending))
    assert found.mistakes == ()
    assert found.lesson is not None
    lesson, (first, second) = found.lesson, found.lesson.scenes
    assert (lesson.title, lesson.minutes, lesson.language) == ("Two scenes", 3, "de")
    assert lesson.about == "For a test. It has two lines."
    assert (first.title, first.minutes, first.page, first.line) == ("The first", 2, "attention", 9)
    assert first.query == {"kind": "cross", "layer": "4", "head": "6", "pinned": "cross.3.5"}
    assert first.link == first.query | {"checkpoint": "en-de", "sentence": "Where is the nearest train station?"}
    assert (first.text, first.notes) == ("One sentence. A second one.", "A paragraph of notes.\n\nA second paragraph.")
    assert first.question == "most-attended?kind=cross&layer=4&head=6&row=3"
    assert (second.page, second.query, second.checkpoint, second.text, second.notes) == (
        "positions", {}, "reverse", "", ""
    )  # fmt: skip


MISTAKES = """\
# Many mistakes
minutes: three
langauge: en
checkpoint: en-de

## One
show: atention?layer=4
question: most-atended

One. Two. Three.

## Two
minutes: 1
show: attention?kind=crosss&layr=4&mask_taken=true&layer=x&head

## Two
minutes: 1
minutes: 2
show: translate?sentence=Hello
question: next-word?row=0

A text.
minutes: 3

# Another lesson
"""


def test_all_mistakes_of_a_file_are_reported_at_once_each_with_its_line() -> None:
    assert lines(MISTAKES) == [
        (2, "“three” is not a number of minutes. Write a number above 0 and up to 240, such as 2 or 1.5."),
        (3, "“langauge” is not a key. Did you mean language?"),
        (6, "The minutes are missing. Write a line such as minutes: 2."),
        (7, "There is no page “atention”. Did you mean attention?"),
        (8, "There is no kind of question “most-atended”. Did you mean most-attended?"),
        (
            10,
            "The text has 3 sentences; the class reads at most 2. "
            "Move what you say yourself into the notes, in lines that begin with >.",
        ),
        (14, "“head” is not a key with a value. Write key=value, with & between two of them."),
        (14, "“crosss” is not a value of kind. Write cross, encoder, decoder."),
        (14, "“layr” is not a key of a link. Did you mean layer?"),
        (14, "“mask_taken” belongs to the page masks, not to attention. Remove it, or show that page."),
        (14, "“x” is not a value of layer. Write a whole number, such as 3."),
        (16, "The scene in line 12 has the same title. Give each scene its own title."),
        (18, "“minutes” is already in line 17. Remove one of the two lines."),
        (19, "“sentence” is not part of show. Write a line sentence: Hello"),
        (20, "“0” is not a value of row. Write a whole number from 1."),
        (23, "“minutes:” comes after the text. Write it directly below the title."),
        (25, "This is a second title of the lesson. A scene begins with ##."),
    ]
    assert read(MISTAKES).lesson is None


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("minutes: 3", "minutes: 45", 2, "The lesson has 45 minutes, its scenes together have 3. Write minutes: 3"),
        ("language: de", "language: english", 3, "“english” is not a language code."),
        ("# Two scenes\n", "\n", 1, "The lesson has no title."),
        ("For a test.", "> A note.", 6, "Only a scene has notes."),
        ("show: positions\n", "\n", 22, "The scene does not say what it shows."),
        ("show: attention", "show: http://localhost:8501/attention", 11, "Write only the page and its choices: attent"),
        ("One sentence.", "One " + 60 * "long " + "sentence.", 15, "The text has 327 characters, too many."),
        ("## The first", "## " + 80 * "x", 9, "The title has 80 characters"),
        ("## The first", "##", 9, "The scene has no title."),
        ("## The first", "### The first", 9, "### begins nothing in a lesson."),
        ("sentence: Where", "sentence: " + 4000 * "x", 12, "characters. Write at most 4,000."),
        ("show: positions\n", "show: decoding?figure=trees\n", 24, "has no figure “trees” for a lecture. Did you"),
        ("row=3", "token=3", 13, "“token” is not a key of the question most-attended."),
        ("row=3", "column=3", 13, "“column” is not a key of the question most-attended. The keys are: kind, layer, "),
        ("most-attended?", "masked-cells?", 13, "“row” is not a key of the question masked-cells. The keys are: kind"),
        ("most-attended?", "shape?", 13, "“row” is not a key of the question shape. Remove it."),
        ("A paragraph of", "x" * 6001, 17, "The notes have 6029 characters"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_in_its_line(before: str, after: str, line: int, words: str) -> None:
    assert before in LESSON
    found = lines(LESSON.replace(before, after))
    assert [number for number, text in found if words in text] == [line], found
    assert read(LESSON.replace(before, after)).lesson is None


def test_a_checkpoint_that_is_missing_is_reported_and_does_not_stop_the_lesson() -> None:
    found = read(LESSON.replace("checkpoint: reverse", "checkpoint: revers"))
    assert [str(mistake) for mistake in found.mistakes] == [
        "Line 25: Note: There is no checkpoint “revers” here. Did you mean reverse?"
    ]
    assert found.lesson is not None


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"# A\nminutes: 1\n\n\xff\n", 4, "This is not UTF-8. Save the file in the encoding UTF-8."),
        (b"#" * (MOST_BYTES + 1), 1, "The file has 1,000,001 bytes; a lesson has at most 1,000,000."),
        (b"", 1, "The lesson has no scenes."),
        (b"\x00" * 100, 1, "The lesson has no title."),
        (b"# A\nminutes: 1\n" + 81 * b"## B\n", 83, "The lesson has 81 scenes; it may have 80."),
    ],
)
def test_a_file_that_is_no_lesson_is_reported(content: bytes, line: int, words: str) -> None:
    found = read_lesson(content)
    assert found.lesson is None
    assert [each.line for each in found.mistakes if words in str(each)] == [line], found.mistakes


def test_every_shipped_lesson_has_no_mistakes_and_the_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    files = {str(path) for path in (ROOT / "app" / "lessons").glob("**/*.md") if path.stem != "README"}
    assert files
    assert main(["check"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(files)
    assert {line.partition(": ")[0] for line in printed} == files


def test_a_version_in_another_language_has_the_same_scenes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, version = tmp_path / "mine.md", tmp_path / "de" / "mine.md"
    version.parent.mkdir()
    path.write_text(LESSON.replace("language: de", "language: en"), encoding="utf-8")
    version.write_text(LESSON.replace("Two scenes", "Zwei Szenen"), encoding="utf-8")
    main(["check", str(path)])
    printed = capsys.readouterr().out
    assert (f"{path}: 2 scenes" in printed, f"{version}: 2 scenes" in printed) == (True, True)
    assert not re.search("in English|Its language", printed)
    one_scene = LESSON.rpartition("## ")[0].replace("minutes: 3", "minutes: 2")
    for changed, problem in (
        (LESSON.replace("language: de", "language: en"), "Its language is en, and the folder that it is in is de."),
        (LESSON.replace("Where is", "Wo is"), "Scene 1, line 9: its link is {"),
        (one_scene, "It has 1 scenes; in English there are 2."),
    ):
        version.write_text(changed, encoding="utf-8")
        assert main(["check", str(version)]) == 1
        assert f"{version}: {problem}" in capsys.readouterr().out


def test_the_command_prints_the_mistakes_of_each_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.md"
    path.write_text(MISTAKES, encoding="utf-8")
    assert main(["check", str(path), str(tmp_path / "missing.md")]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"{path}: Line 2: “three” is not a number of minutes.")
    assert len(printed) == len(lines(MISTAKES)) + 1
    assert printed[-1] == f"{tmp_path / 'missing.md'}: No such file or directory"


def test_a_lesson_is_checked_without_torch() -> None:
    code = "import sys, app.lessons.__main__; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
