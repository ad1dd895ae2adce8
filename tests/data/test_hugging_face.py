"""Hugging Face data sets, created here and loaded by the real library. Nothing is downloaded."""

import builtins
import json
import re
from pathlib import Path
from typing import Any

import datasets
import pytest

from transformer.data.corpus import Pair, read_all, stamp
from transformer.data.hugging_face import INSTALL, HuggingFace
from transformer.errors import CorpusError

PAIRS = [(f"Number {i}, “please”.", f"Nummer {i}, „bitte“.") for i in range(25)]
PLAIN = [(f'Number {i}, "please".', target) for i, (_, target) in enumerate(PAIRS)]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    datasets.disable_progress_bars()
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture(autouse=True, params=[7, 10_000])
def rows_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.data.hugging_face.AT_ONCE", request.param)


def read(address: str, source: str = "en", target: str = "de") -> list[Pair]:
    return read_all([HuggingFace(address, source, target)])


def write_lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.parent


def nested(pairs: list[Pair]) -> list[dict[str, Any]]:
    """As in WMT and OPUS."""
    return [{"id": i, "translation": {"de": target, "en": source}} for i, (source, target) in enumerate(pairs)]


def test_a_column_of_translations_is_read_in_both_directions(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "data" / "train.jsonl", nested(PAIRS))
    assert read(f"hf:{folder}") == PLAIN
    assert read(f"hf:{folder}", "de", "en") == [
        (target.replace("„", '"').replace("“", '"'), source) for source, target in PAIRS
    ]


def test_two_columns_named_by_their_languages_are_read(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "data" / "train.jsonl", [{"english": s, "de": t, "score": 1} for s, t in PAIRS])
    assert read(f"hf:{folder}", "english") == PLAIN
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "train.csv").write_text("en,de\nGo!,Geh!\n,leer\n")
    assert read(f"hf:{tmp_path / 'csv'}") == [("Go!", "Geh!")]


def test_the_feature_translation_and_a_saved_data_set_are_read(tmp_path: Path) -> None:
    features = datasets.Features({"translation": datasets.Translation(languages=["en", "de"])})
    rows = datasets.Dataset.from_list([{"translation": row["translation"]} for row in nested(PAIRS)], features=features)
    rows.save_to_disk(tmp_path / "alone")
    assert read(f"hf:{tmp_path / 'alone'}") == PLAIN
    with pytest.raises(CorpusError, match=r"There is no split test: this data set was saved without splits"):
        read(f"hf:{tmp_path / 'alone'}::test")
    datasets.DatasetDict({"train": rows, "test": rows.select(range(3))}).save_to_disk(tmp_path / "several")
    assert read(f"hf:{tmp_path / 'several'}") == PLAIN
    assert read(f"hf:{tmp_path / 'several'}::test") == PLAIN[:3]
    with pytest.raises(CorpusError, match=r"cannot be loaded: There is no split valid, only train, test\. It"):
        read(f"hf:{tmp_path / 'several'}::valid")


def test_splits_and_parts_of_splits_can_be_named(tmp_path: Path) -> None:
    write_lines(tmp_path / "data" / "train.jsonl", nested(PAIRS))
    folder = write_lines(tmp_path / "data" / "validation.jsonl", nested(PAIRS[:2]))
    assert read(f"hf:{folder}::validation") == PLAIN[:2]
    assert read(f"hf:{folder}::train[5:9]") == PLAIN[5:9]
    with pytest.raises(CorpusError, match=r"cannot be loaded: .*hf:NAME:CONFIG:SPLIT"):
        read(f"hf:{folder}::nowhere")
    assert stamp(HuggingFace(f"hf:{folder}::train[5:9]", "en", "de")) != stamp(HuggingFace(f"hf:{folder}", "en", "de"))


def test_for_missing_languages_the_message_lists_the_existing_ones(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "data" / "train.jsonl", nested(PAIRS))
    with pytest.raises(
        CorpusError, match=r"translations into (de, en|en, de); en and fr are needed\..*target_language"
    ):
        read(f"hf:{folder}", "en", "fr")
    folder = write_lines(tmp_path / "other" / "train.jsonl", [{"source": "a", "target": "b"}])
    with pytest.raises(CorpusError, match="the columns source, target; en and de are needed"):
        read(f"hf:{folder}")
    folder = write_lines(tmp_path / "plain" / "train.jsonl", [{"source": "a", "translation": "b"}])
    with pytest.raises(CorpusError, match=r"columns source, translation; en and de are needed\. .*--source-language"):
        read(f"hf:{folder}")


def test_empty_rows_are_left_out_and_the_number_of_a_wrong_one_is_reported(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "data" / "train.jsonl", [{"en": "a", "de": "b"}, {"en": None, "de": "c"}])
    assert read(f"hf:{folder}") == [("a", "b")]
    folder = write_lines(tmp_path / "nested" / "train.jsonl", [*nested(PAIRS[:1]), {"id": 1, "translation": None}])
    assert read(f"hf:{folder}") == PLAIN[:1]
    folder = write_lines(tmp_path / "other" / "train.jsonl", [{"en": "a", "de": 1}, {"en": "b", "de": 2}])
    with pytest.raises(CorpusError, match=r"row 1: '1' is not text"):
        read(f"hf:{folder}")


@pytest.mark.parametrize("name", ["hf:nobody/has-this-one:de-en:train", "hf:no/such/folder", "hf:", "hf:a b"])
def test_for_a_missing_name_the_message_says_what_to_check(name: str) -> None:
    with pytest.raises(CorpusError, match=rf"^{name} cannot be loaded: .*\. It is read as hf:NAME:CONFIG:SPLIT"):
        read(name)


def test_without_the_library_the_message_has_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name == "datasets":
            raise ModuleNotFoundError("No module named 'datasets'")
        return load(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(CorpusError, match=re.escape(f"needs the library datasets. Install it: {INSTALL}")):
        read("hf:wmt/wmt14:de-en")


def test_the_version_in_the_message_is_the_one_that_is_tested() -> None:
    pin = INSTALL.removeprefix("pip install ")
    assert pin == f"datasets=={datasets.__version__}"
    assert f"\n{pin} " in (ROOT / "tests" / "requirements.txt").read_text(encoding="utf-8")
    assert INSTALL in (ROOT / "README.md").read_text(encoding="utf-8")
