"""What is said of a checkpoint that has no card is what its file says, whatever stands there."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.figures.shares import Share
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile
from app.library.header_facts import header_facts
from tests.support.app_checkpoints import write_checkpoint
from tests.support.patience import PATIENCE
from tests.support.small_training import corpus_recipe
from transformer.training import train


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run on a text with a hostile name, after 12 updates."""
    folder = tmp_path_factory.mktemp("own")
    recipe = corpus_recipe(folder)
    hostile = (folder / "corpus.tsv").rename(folder / "my *own* <b>text.en-de.tsv")
    train(replace(recipe, data=replace(recipe.data, train=(str(hostile),))), folder / "run", device="cpu")
    return folder / "run"


def test_a_trained_model_says_text_updates_and_scores(trained: Path) -> None:
    one = entry(CheckpointFile.at(trained / "last.safetensors"))
    assert one.header is not None
    (text,) = one.header.metrics["corpus"]
    facts = header_facts(one)
    assert facts[0] == f"Trained on {text['learnt']} of the 150 pairs of my *own* <b>text.en-de.tsv."
    assert 100 < text["learnt"] < 150
    seconds = round(one.header.metrics["seconds"])
    assert facts[1].startswith(f"Weights of update 12 of 12, after 0.0 M target tokens and {seconds} second")
    longer = replace(one.header, metrics=one.header.metrics | {"seconds": 300.0})
    assert header_facts(replace(one, header=longer))[1].endswith(" and 5 minutes of training.")
    bleu = one.header.metrics["valid_bleu"]
    assert f"BLEU {bleu:.1f} (8 pairs of its validation text, greedy)." in facts
    share = Share(one.header.metrics["valid_exact_match"])
    assert f"{share:.0%} right (8 pairs of its validation text, greedy)." in facts


def test_values_of_other_types_are_left_out(trained: Path) -> None:
    one = entry(CheckpointFile.at(trained / "last.safetensors"))
    assert one.header is not None
    for wrong in (
        {},
        {"corpus": 3, "update": "many"},
        {"corpus": [None, {}, {"read": "a", "learnt": []}], "seconds": 1},
    ):
        changed = replace(one, header=replace(one.header, metrics=wrong), scores=())
        assert header_facts(changed) == []


def test_the_menu_shows_them_as_text_where_there_is_no_card(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path / "en-de.safetensors")
    (tmp_path / "mine.safetensors").write_bytes((trained / "last.safetensors").read_bytes())
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = AppTest.from_file(str(Path(__file__).resolve().parents[2] / "app" / "main.py"), default_timeout=PATIENCE)
    app.query_params["checkpoint"] = "mine"
    app.run()
    app.button(key="model_card").click().run()
    assert not app.exception
    assert any("my *own* <b>text.en-de.tsv." in text.value for text in app.text)
    assert any("mine.md" in caption.value for caption in app.caption)
