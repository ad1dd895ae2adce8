"""The time machine of the page Training: each row has the translation, the loss and the attention of its snapshot."""

import base64
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.figures.theme import fixed
from app.library.runs import is_continued, read_run
from app.views.training.snapshot_rows import marked
from tests.support.drawn import array, chart, open_view, page_text
from tests.support.pages import switch_page
from tests.support.patience import PATIENCE
from tests.support.training_page import machine, opened
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.training.metrics import read_metrics


def written(row: dict[str, Any]) -> str:
    return "".join(word for word, _ in row["words"])


def weights_of(found: dict[str, Any], update: int) -> np.ndarray:
    """The head that is drawn at this update, (Q, K)."""
    (row,) = (row for row in found["rows"] if row["number"] == update)
    values = np.frombuffer(base64.b64decode(row["weights"]), "<u2") / 65535
    return values.reshape(len(found["head"]["rows"]), len(found["head"]["columns"]))


def test_without_snapshots_the_rows_are_the_sample_translations_and_the_details_have_all(toy: Path) -> None:
    samples = {line["update"]: line["samples"] for line in read_metrics(toy / "metrics.jsonl") if "samples" in line}
    assert list(opened().dataframe[0].value.iloc[0])[1:] == [each["reference"] for each in samples[5]]
    shutil.rmtree(toy / "snapshots")
    with (toy / "metrics.jsonl").open("a") as file:  # what has not the form of samples is skipped
        file.write('{"update": 13, "kind": "samples", "samples": [{"source": 1}]}\n{"update": 14, "kind": "samples"}\n')
    app = opened()
    found = machine(app)
    assert (found["problem"], found["head"]) == ("", None)
    middling = {update: each[1]["translation"] for update, each in samples.items()}
    assert {row["number"]: written(row) for row in found["rows"]} == {
        update: text or "(nothing)" for update, text in middling.items()
    }
    table = app.dataframe[0].value
    assert list(table.columns)[1:] == [each["source"] for each in samples[5]]
    assert list(table.iloc[:, 0]) == ["reference", "12", "10", "5"]
    assert list(table.iloc[1])[1:] == [each["translation"] for each in samples[12]]


def test_sample_translations_of_another_model_say_so(toy: Path) -> None:
    shutil.rmtree(toy / "snapshots")
    assert machine(opened())["model"] == "“toy” (not the model at the top of the page)"
    assert machine(opened(checkpoint="toy, best"))["model"] == ""


def test_a_run_that_began_with_a_checkpoint_has_no_untrained_model(toy: Path) -> None:
    assert not machine(opened())["continued"]
    run = read_run("toy")
    assert run is not None
    assert run.recipe is not None
    assert not is_continued(run)
    training = replace(run.recipe.training, init_from="/x/en-de.safetensors")
    assert is_continued(replace(run, recipe=replace(run.recipe, training=training)))
    # A run from before recipes had init_from:
    (toy / "start.json").write_text(json.dumps({"init_from": "/x/en-de.safetensors", "own_vocabulary": False}))
    assert machine(opened())["continued"]


@pytest.mark.parametrize("update", [0, 6])
def test_a_row_has_the_translation_the_loss_and_the_attention_of_its_snapshot(toy: Path, update: int) -> None:
    app = opened(run="toy", at_update=str(update))
    snapshot = Translator.load(toy / "snapshots" / f"{update:08d}.safetensors")
    sentence, right = "h e a d l i g h t", "t h g i l d a e h"
    greedy = snapshot.translate(sentence, method="greedy", max_extra_length=8)
    found = machine(app)
    assert found["at"] == update
    (row,) = (row for row in found["rows"] if row["number"] == update)
    assert written(row).removesuffix(" …") == (greedy.text or "(nothing)")
    forced = snapshot.score(sentence, right)
    mean = forced.score / len(forced.ids)
    assert row["share"] == pytest.approx(np.exp(mean), rel=1e-4)
    assert row["loss"] == fixed(-mean, 2)
    site = "decoder.layers.0.cross_attention.weights"
    weights = trace(snapshot.model, greedy.sentences[0].source_ids, forced.ids, [site])[site]  # (H, T, S)
    assert any(np.allclose(weights_of(found, update), head, atol=1e-5) for head in weights)
    drawn = array(chart(app, f"after {update} updates")["data"][0]["z"])
    assert any(np.array_equal(drawn, head.astype(np.float32)) for head in weights)
    losses = chart(app, "Loss")["data"][-1]
    assert losses["name"] == "toy, this sentence"
    assert array(losses["x"]).tolist() == [0, 3, 6, 12] == [row["number"] for row in found["rows"]]


def test_words_that_the_row_above_does_not_have_are_marked() -> None:
    assert marked(None, "Wo ist die die") == [["Wo", False], [" ist", False], [" die", False], [" die", False]]
    assert marked("Wo ist die", "Wo ist der Zug?") == [
        ["Wo", False], [" ist", False], [" der", True], [" Zug", True], ["?", True]
    ]  # fmt: skip
    assert marked("a b", "a b") == [["a", False], [" b", False]]
    assert marked("a", "") == []
    assert marked("", "</script>")[0] == ["<", True]


def test_the_newest_snapshot_is_shown_until_another_one_is_taken(toy: Path) -> None:
    app = opened()
    assert machine(app)["at"] == -1  # the newest, also when newer ones come
    shutil.copy(toy / "snapshots" / "00000012.safetensors", toy / "snapshots" / "00000015.safetensors")
    found = machine(app.run())
    assert (found["at"], found["rows"][-1]["number"]) == (-1, 15)
    app = opened(at_update="3")
    assert machine(app)["at"] == 3
    assert app.query_params["at_update"] in ("3", ["3"])
    assert machine(opened(at_update="4"))["at"] == -1  # there is no such snapshot


def test_snapshots_are_computed_in_turns_and_the_page_says_how_many_are_done(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.training.snapshot_sweep.SECONDS_AT_ONCE", -1.0)
    app = open_view("training", run="toy")
    found = machine(app)
    assert found["share"] == "mean probability per token of the right translation"
    assert "words" in found["rows"][-1]  # the newest says what the final translation is
    assert ["words" in row for row in found["rows"]].count(False) == 3
    assert found["news"] == "1 of 4 snapshots are computed"
    monkeypatch.setattr("app.views.training.snapshot_sweep.SECONDS_AT_ONCE", PATIENCE)
    found = machine(app.run())
    assert all("words" in row for row in found["rows"])
    assert found["news"] == ""


def test_another_page_keeps_what_is_chosen(toy: Path) -> None:
    shutil.copytree(toy, toy.with_name("zoo"))
    app = opened(run="zoo")
    app.selectbox(key="run_attention").set_value("encoder").run()
    switch_page(app, "masks").run()
    switch_page(app, "training").run()
    assert machine(app)["run"] == "zoo"
    assert app.selectbox(key="run_attention").value == "encoder"
    assert machine(app)["head"]["title"].startswith("Encoder self attention")


def test_the_visitors_own_sentence_and_translation_are_used(toy: Path) -> None:
    app = opened(run="toy")
    app.text_input(key="run_sentence").set_value("a b c").run()
    assert app.text_input(key="run_right").placeholder == "c b a"
    app.text_input(key="run_right").set_value("b b").run()
    assert "right translation, “b b”" in page_text(app)
    assert machine(app)["head"]["rows"] == ["b", "b", "</s>"]
    app.text_input(key="run_sentence").set_value("<img src=x> _a_ 🚂 " * 15).run()
    assert not app.exception
    app.text_input(key="run_sentence").set_value("a " * 149).run()
    assert "tokens; for this run the page shows up to" in machine(app)["problem"]
    app.text_input(key="run_sentence").set_value("b a").run()
    assert not machine(app)["problem"]
