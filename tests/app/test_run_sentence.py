"""The page Training: which sentence a run is asked for that cannot read the visitor's, and when that run is opened."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.library.run_samples import MOST_CHARACTERS, read_samples
from app.library.runs import read_run
from app.views.training.known_pairs import known_pairs, right_translation
from tests.support.drawn import page_text
from tests.support.small_training import corpus_recipe
from tests.support.training_page import machine, opened
from transformer.training import train


@pytest.fixture
def esperanto(runs: Path, tmp_path: Path, open_app: Callable[..., AppTest]) -> Path:
    """A run of the command line, from a language of which the app has no examples."""
    recipe = corpus_recipe(tmp_path, updates=2, snapshots=(0, 2))
    data = replace(recipe.data, source_language="eo", target_language="en")
    train(replace(recipe, data=data), runs / "mine", device="cpu")
    return runs / "mine"


def test_a_run_that_cannot_read_the_sentence_of_the_page_is_asked_for_one_of_its_validation_text(
    esperanto: Path,
) -> None:
    sample = read_samples(esperanto)[2][0]
    app = opened(run="mine")
    assert machine(app)["problem"] == ""
    assert f"this run for Esperanto → English. The example is “{sample.source}”" in page_text(app)
    assert f"a token of the right translation, “{sample.reference}”" in page_text(app)
    assert app.text_input(key="run_sentence").placeholder == sample.source
    assert app.text_input(key="run_right").placeholder == sample.reference


def test_a_run_of_the_command_line_opens_with_a_sentence_of_its_validation_text(esperanto: Path) -> None:
    app = opened(run="mine")
    app.button(key="open_run").click().run()
    assert app.text_input(key="sentence").value == read_samples(esperanto)[2][0].source


def test_a_sample_that_may_be_cut_has_no_known_translation(esperanto: Path) -> None:
    samples = [{"source": "a", "reference": "b" * MOST_CHARACTERS, "translation": ""}]
    samples.append({"source": "c", "reference": "d", "translation": ""})
    line = {"update": 3, "kind": "samples", "samples": samples}
    (esperanto / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    run = read_run("mine")
    assert run is not None
    assert known_pairs(run) == [("c", "d")]
    assert (right_translation(run, "a"), right_translation(run, "c")) == ("", "d")
