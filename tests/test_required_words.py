"""Words that a translation must have: how they are found, read and counted."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from transformer.cli import app
from transformer.config import DecodingConfig
from transformer.decoding.translator import Translator
from transformer.errors import CorpusError, TranslationError
from transformer.required_words import as_text, check_words, has, read_required

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "pretrained" / "hundred-sentences").glob("*.tsv"))


@pytest.mark.parametrize(
    ("translation", "requirement"),
    [
        ("Anna wohnt am Hauptbahnhof.", "*bahnhof"),
        ("Nicht jetzt!", "nicht"),
        ("Ich habe keine Zeit.", "nicht|kein*"),
        ("Wir flogen nach New York.", "New York"),
        ("Er lebt hier.", "wohnt | lebt"),
        ("Es ist 7:45.", "7:45|7.45"),
        ("Das macht 12,50 $.", "12,50"),
        ("Es war 1945.", "1945"),
        ("15% mehr", "15"),
        ("Schick mir eine E-Mail.", "Mail"),
    ],
)
def test_a_word_is_found(translation: str, requirement: str) -> None:
    assert has(translation, requirement)


@pytest.mark.parametrize(
    ("translation", "requirement"),
    [
        ("Anna wohnt am Hauptbahnhof.", "bahnhof"),
        ("Wir sind in hamburg.", "Hamburg"),
        ("Wir sind in Hamburger Hand.", "Hamburg"),
        ("Das macht 12,50 $.", "12"),
        ("Das macht 112 $.", "12"),
        ("Es ist 7:455.", "7:45"),
        ("Es ist 17:45.", "7:45"),
        ("Um 3.12 Uhr.", "12"),
        ("a.b", "a.c|axb"),
        ("axb", "a.b"),
    ],
)
def test_a_part_of_a_word_or_number_or_another_case_of_a_name_is_not_found(translation: str, requirement: str) -> None:
    assert not has(translation, requirement)


def file_of(folder: Path, *lines: str) -> Path:
    (folder / "words.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder / "words.tsv"


class Fixed:
    """A translator whose translations are given."""

    def __init__(self, translations: dict[str, str | TranslationError]):
        self._translations = translations

    def translate_each(self, sentences: Sequence[str], settings: DecodingConfig) -> list[Any]:
        found = [self._translations[sentence] for sentence in sentences]
        return [one if isinstance(one, TranslationError) else SimpleNamespace(text=one) for one in found]


def test_sentences_are_counted_by_kind_and_the_wrong_ones_are_named(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        "name\tI see Ada.\tAda\tsehe",
        "name\tBob goes.\tBob\tgeht",
        "negation\tNot now.\tnicht\tjetzt",
        "plain\tA dog.\t\tHund",
    )
    translations: dict[str, str | TranslationError] = {
        "I see Ada.": "Ich sehe Ada.",
        "Bob goes.": "Bob läuft.",
        "Not now.": TranslationError("too long"),
        "A dog.": "Ein Hund.",
    }
    result = check_words(cast(Translator, Fixed(translations)), read_required(path), DecodingConfig())
    assert (result["sentences"], result["right"]) == (4, 2)
    assert result["kinds"] == {
        "name": {"sentences": 2, "right": 1, "kept": 2},
        "negation": {"sentences": 1, "right": 0, "kept": 0},
        "plain": {"sentences": 1, "right": 1},
    }
    text = as_text(result)
    assert "Bob goes.\n    Bob läuft.\n    without geht\n" in text
    assert "Not now.\n    \n    without nicht, jetzt\n" in text
    assert "name: 1 of 2 have all words, what must be kept is in 2\n" in text
    assert text.endswith("2 of 4 sentences have all required words")


@pytest.mark.parametrize("line", ["name\tI see Ada.\tAda", "name\t\tAda\tsehe", "plain\tA dog.\t\t ", "no tab"])
def test_a_line_that_is_not_of_the_format_is_reported_with_its_number(line: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"words\.tsv, line 2: it should have four columns"):
        read_required(file_of(tmp_path, "plain\tA dog.\t\tHund", line))


@pytest.mark.parametrize("words", ["wohnt|", "a||b", "ja; |nein"])
def test_an_alternative_without_a_word_is_reported(words: str, tmp_path: Path) -> None:
    """It would be found in any translation."""
    with pytest.raises(CorpusError, match=r"words\.tsv, line 2: a \| has no word beside it"):
        read_required(file_of(tmp_path, "plain\tA dog.\t\tHund", f"plain\tA cat.\t\t{words}"))


def test_a_file_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the file is empty"):
        read_required(file_of(tmp_path))
    with pytest.raises(CorpusError, match="there is no such file"):
        read_required(tmp_path / "gone.tsv")
    (tmp_path / "latin.tsv").write_bytes(b"plain\tcaf\xe9\t\tx\n")
    with pytest.raises(CorpusError, match="not UTF-8"):
        read_required(tmp_path / "latin.tsv")


def test_a_line_ends_at_a_line_feed_only_and_the_file_may_be_packed(tmp_path: Path) -> None:
    text = "plain\tA dog.\u2028It barks.\t\tHund\n\nplain\tA cat.\t\tKatze\n"
    (tmp_path / "words.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert [one.sentence for one in read_required(tmp_path / "words.tsv.gz")] == ["A dog.\u2028It barks.", "A cat."]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file_has_a_hundred_sentences_of_the_four_kinds(path: Path) -> None:
    required = read_required(path)
    kinds = [one.kind for one in required]
    assert {kind: kinds.count(kind) for kind in kinds} == {"name": 25, "number": 25, "negation": 20, "plain": 30}
    assert len({one.sentence for one in required}) == 100
    assert all(one.kept for one in required if one.kind != "plain")


def test_the_command_counts_the_sentences_of_a_checkpoint(tmp_path: Path) -> None:
    path = file_of(tmp_path, "plain\t1 2\t\tnever", "plain\t3 4\t\t*")
    checkpoint = str(ROOT / "pretrained" / "reverse.safetensors")
    found = CliRunner().invoke(app, ["evaluate", checkpoint, "--required-words", str(path)])
    assert found.exit_code == 0, found.output
    assert "of 2 sentences have all required words" in found.output
    both = CliRunner().invoke(app, ["evaluate", checkpoint, "--required-words", str(path), "--data", str(path)])
    neither = CliRunner().invoke(app, ["evaluate", str(ROOT / "pretrained" / "en-de.safetensors")])
    for refused in (both, neither):
        assert refused.exit_code == 2
        assert "give one of --data and --required-words" in refused.output
