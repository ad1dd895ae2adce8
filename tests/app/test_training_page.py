"""The page Training: runs, the time machine, and what is said when there is nothing to show."""

import base64
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures.theme import fixed
from app.library.snapshots import OWNER
from app.library.tasks import EXAMPLES
from app.views.training.own_text import LaunchError, read_own_text
from app.views.training.run_plan import Plan, TextPlan
from app.views.training.run_plan import Size as RunSize
from app.views.training.size_options import KEYS
from app.views.training.snapshot_rows import marked
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import array, chart, charts, components, open_view, title
from tests.support.held_run import held
from tests.support.pages import switch_page
from tests.support.patience import PATIENCE
from tests.support.small_training import corpus_recipe
from transformer.analysis.trace import trace
from transformer.data.cleaning import Counts
from transformer.decoding.translator import Translator
from transformer.training.metrics import read_metrics
from transformer.training.trainer import train

Open = Callable[..., AppTest]


@pytest.fixture
def toy(finished_run: Path, runs: Path, open_app: Open) -> Path:
    """A finished run in the folder of runs, and the app's checkpoints in theirs."""
    return Path(shutil.copytree(finished_run, runs / "toy"))


def opened(**address: str) -> AppTest:
    """The page with its details open."""
    return open_view("training", details="true", **address)


def machine(app: AppTest) -> dict[str, Any]:
    """What the time machine in the browser is given."""
    (found,) = components(app, "time_machine")
    return found


def written(row: dict[str, Any]) -> str:
    return "".join(word for word, _ in row["words"])


def weights_of(found: dict[str, Any], update: int) -> np.ndarray:
    """The head that is drawn at this update, (Q, K)."""
    (row,) = (row for row in found["rows"] if row["number"] == update)
    values = np.frombuffer(base64.b64decode(row["weights"]), "<u2") / 65535
    return values.reshape(len(found["head"]["rows"]), len(found["head"]["columns"]))


def page_text(app: AppTest) -> str:
    found = [*app.text, *app.caption, *app.info, *app.warning, *app.subheader, *app.header]
    return "\n".join(str(each.value) for each in found)


def test_curves_draw_the_numbers_of_the_metrics_file(toy: Path) -> None:
    app = opened()
    lines = read_metrics(toy / "metrics.jsonl")
    for words, kind, name in (
        ("Loss", "train", "loss"),
        ("Norm of the gradient", "train", "gradient_norm"),
        ("Speed", "train", "tokens_per_second"),
        ("Learning rate", "train", "rate"),
        ("BLEU and chrF", "valid", "bleu"),
    ):
        line = chart(app, words)["data"][0]
        expected = [(entry["update"], entry[name]) for entry in lines if entry["kind"] == kind]
        assert list(zip(array(line["x"]).tolist(), array(line["y"]).tolist(), strict=True)) == expected
    names = [line["name"] for line in chart(app, "Learning rate")["data"]]
    assert names == ["toy", "toy, equation 3 (warm-up 4)"]
    assert "Finished after update 12 of 12" in page_text(app)


def test_the_page_says_what_became_of_the_pairs_of_a_text(toy: Path) -> None:
    assert "pairs read" not in page_text(opened())  # a toy has no text
    counts = Counts(read=9000, empty=2, duplicates=1500, learnt=7498)
    counts.write(toy / "corpus.json")
    assert "The text: 9,000 pairs read: 2 with an empty side, 1,500 duplicates, 7,498 to learn from." in page_text(
        opened()
    )
    for broken in ("", "[" * 5000, "[1]", '{"read": "many"}'):
        (toy / "corpus.json").write_text(broken)
        assert "pairs read" not in page_text(opened())


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
    assert machine(opened())["model"] == "toy (not the model at the top of the page)"
    assert machine(opened(checkpoint="toy, best"))["model"] == ""


def test_a_run_that_began_with_a_checkpoint_has_no_untrained_model(toy: Path) -> None:
    assert not machine(opened())["continued"]
    (toy / "start.json").write_text(json.dumps({"init_from": "/x/en-de.safetensors", "own_vocabulary": False}))
    assert machine(opened())["continued"]


def test_two_runs_are_in_one_picture(toy: Path, runs: Path) -> None:
    shutil.copytree(toy, runs / "other")
    app = opened(run="toy")
    app.multiselect(key="compare").set_value(["other"]).run()
    names = [line["name"] for line in chart(app, "Speed")["data"]]
    assert names == ["toy", "other"]
    assert len({line["line"]["color"] for line in chart(app, "Speed")["data"]}) == 2
    app.session_state["run"] = "other"  # which is no longer another one
    app.run()
    assert not app.exception
    assert [line["name"] for line in chart(app, "Speed")["data"]] == ["other"]


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


@pytest.fixture
def translation(toy: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Checkpoints for two language pairs, and a run of each that ships: `en-de-small` is English to German."""
    place = tmp_path / "shipped"
    write_checkpoint(place / "en-de.safetensors", source_language="en", target_language="de")
    write_checkpoint(place / "de-en.safetensors", source_language="de", target_language="en")
    kept = place / "ladders" / "en-de-small" / "ladder"
    kept.mkdir(parents=True)
    for update in (0, 10):
        shutil.copy(place / "en-de.safetensors", kept / f"{update:08d}.safetensors")
    another = Path(shutil.copytree(toy, place / "ladders" / "another"))
    (another / "snapshots").rename(another / "ladder")
    (place / "ladders" / "en-de-small" / "metrics.jsonl").touch()
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(place))
    return place


def test_it_opens_with_a_translation_on_the_sentence_of_the_page(translation: Path) -> None:
    app = open_view("training", sentence="a b")
    assert machine(app)["run"] == "en-de-small"  # and not with the run of the folder of runs
    assert "“a b”" in page_text(app)


def test_the_picture_says_which_model_it_is_where_that_is_not_the_one_above(translation: Path) -> None:
    assert machine(open_view("training"))["model"] == "en-de-small (not the model at the top of the page)"
    write_checkpoint(
        translation / "large.safetensors", Size(3, 3, 4), source_language="en", target_language="de"
    )  # fmt: skip
    found = machine(open_view("training", checkpoint="large"))
    assert found["model"] == "en-de-small (a smaller model than the one at the top of the page)"
    assert found["head"]["reads"] == "Rows: the final translation, which all snapshots read"
    assert machine(open_view("training", checkpoint="en-de-small, update 10"))["model"] == ""
    edited = machine(open_view("training", checkpoint="en-de-small, update 10", edits="off=cross.1.1"))
    assert edited["model"] == "en-de-small (without the edits of the model at the top of the page)"


def test_a_sentence_of_another_language_is_not_used_and_the_page_says_so(translation: Path) -> None:
    app = open_view("training", checkpoint="de-en", sentence="ein Satz")
    assert machine(app)["run"] == "en-de-small"
    assert "Your sentence is for German → English, this run for English → German. The example" in page_text(app)
    assert EXAMPLES["en"][0] in page_text(app)
    assert "ein Satz" not in page_text(app)


def test_the_reason_for_an_example_is_not_the_same_languages(translation: Path, runs: Path) -> None:
    kept = runs / "numbers" / "snapshots"
    write_checkpoint(kept / "00000000.safetensors", Size(1, 1, 1), toy="numbers")
    (runs / "numbers" / "metrics.jsonl").touch()
    texts = page_text(open_view("training", run="numbers", sentence="a b"))
    assert "This run has learnt a toy task, and your sentence may have words that it does not know." in texts
    assert "Your sentence is for" not in texts


def test_a_toy_opens_with_the_run_of_its_task(translation: Path) -> None:
    write_checkpoint(translation / "letters.safetensors", Size(1, 1, 1), toy="reverse")
    app = open_view("training", checkpoint="letters", sentence="b a c")
    assert machine(app)["run"] == "another"
    assert "“b a c”" in page_text(app)


def test_the_visitors_own_run_opens_while_it_is_trained_and_anothers_does_not(
    translation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.training.launch_run.is_busy", lambda folder: True)
    assert machine(open_view("training"))["run"] == "toy"
    monkeypatch.setattr("app.views.training.launch_run.is_owner", lambda run: False)
    assert machine(open_view("training"))["run"] == "en-de-small"


def test_a_run_of_the_command_line_opens_for_a_day_and_with_its_checkpoint_and_its_use_is_in_view(
    translation: Path, runs: Path, tmp_path: Path
) -> None:
    train(corpus_recipe(tmp_path, updates=2), runs / "mine", device="cpu")
    app = open_view("training")
    assert machine(app)["run"] == "mine"
    best = max(line["bleu"] for line in read_metrics(runs / "mine" / "metrics.jsonl") if line["kind"] == "valid")
    finished = f"Finished after update 2 of 2, best BLEU {best:.1f} on"
    assert finished in page_text(app)  # without the details
    assert {"Open", "Add to my checkpoints"} <= {each.label for each in app.button}
    yesterday = time.time() - 25 * 3600
    os.utime(runs / "mine" / "metrics.jsonl", (yesterday, yesterday))
    assert machine(open_view("training"))["run"] == "en-de-small"
    app.button(key="open_run").click().run()
    assert app.query_params["checkpoint"] == "mine, best"
    assert machine(open_view("training", checkpoint="mine, best"))["run"] == "mine"


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


def test_a_snapshot_opens_on_every_page_by_its_name_in_the_address(toy: Path) -> None:
    app = open_view("attention", checkpoint="toy, update 3")
    assert app.selectbox(key="checkpoint").value == "toy, update 3"
    for name in ("toy, update 4", "../toy, update 3", "none, update 3"):
        assert open_view("attention", checkpoint=name).selectbox(key="checkpoint").value == "en-de"


def test_without_a_run_the_page_says_how_to_get_one(open_app: Open) -> None:
    app = opened()
    assert "There is no run yet" in page_text(app)
    assert app.button(key="train_own_text")
    assert [title(figure) for figure in charts(app)] == ["Target distribution of step 1, V = 420, ε = 0.1"]


def test_switched_off_the_page_says_so_and_has_no_button(
    toy: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / OWNER).touch()
    (toy / "average.safetensors").unlink()
    assert "resume_run" in [button.key for button in opened().button]
    monkeypatch.setenv("HEADLIGHT_TRAINING", "off")
    app = opened()
    app.button(key="train_own_text").click().run()
    assert "switched off here" in page_text(app)
    assert not {"start_run", "stop_run", "resume_run"} & {button.key for button in app.button}


def pairs(count: int) -> bytes:
    """A file of different pairs."""
    return b"".join(b"a%d\tb\n" % number for number in range(count))


def test_what_was_uploaded_is_what_is_trained_on(open_app: Open, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def start(plan: Plan) -> str:
        plans.append(plan)
        raise LaunchError("not <b>today</b>")

    monkeypatch.setattr("app.views.training.launch_run.start", start)
    monkeypatch.setattr("app.views.training.text_sizes.tokens_per_second", lambda model: 1000.0)
    app = opened()
    app.button(key="train_own_text").click().run()
    assert app.button(key="start_run").disabled
    app.file_uploader(key="corpus").set_value(("../../evil name.tsv", b"a\n", "text/plain")).run()
    assert "evil name.tsv: 1 of 1 lines (100.00%) cannot be read as a pair.\nline 1: there is no column 2" in page_text(
        app
    )
    assert app.button(key="start_run").disabled
    text = pairs(20)
    app.file_uploader(key="corpus").set_value(("mine.tsv", text, "text/plain")).run()
    assert "20 pairs. The first: a0 → b" in page_text(app)
    assert "3 + 3 layers, d_model 128, 80 updates: about " in page_text(app)
    assert "3 + 3 layers, d_model 64, 80 updates: about " in page_text(
        app.button_group(key="start_preset").set_value("smaller").run()
    )
    app.button_group(key="start_preset").set_value("fits").run()
    app.selectbox(key="start_source").set_value("gsw").run()
    app.selectbox(key="start_target").set_value("pt-BR").run()
    app.number_input(key="start_updates").set_value(50).run()
    app.button(key="start_run").click().run()
    assert plans == [TextPlan(read_own_text("mine.tsv", text), "gsw", "pt-BR", RunSize(50, 3, 3, 4, 128))]
    assert "not <b>today</b>" in [text.value for text in app.text]  # as text
    assert list(runs.glob("*")) == []


def _kept(plans: list[TextPlan], plan: TextPlan) -> str:
    plans.append(plan)
    return "x"


def test_the_form_names_bad_lines_before_there_is_a_run_and_trains_without_them_if_that_is_asked(
    open_app: Open, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[TextPlan] = []
    monkeypatch.setattr("app.views.training.launch_run.start", lambda plan: _kept(plans, plan))
    monkeypatch.setattr("app.views.training.text_sizes.tokens_per_second", lambda model: 1000.0)
    good, bad = pairs(99), b"<b>no TAB</b>\n"
    app = opened()
    app.button(key="train_own_text").click().run()
    app.file_uploader(key="corpus").set_value(("my.en-de.tsv", good + bad * 2, "text/plain")).run()
    assert "my.en-de.tsv: 2 of 101 lines (1.98%) cannot be read as pairs." in page_text(app)
    assert "At most 1% of the lines can be skipped." in page_text(app)
    assert app.button(key="start_run").disabled
    app.file_uploader(key="corpus").set_value(("my.en-de.tsv", good + bad, "text/plain")).run()
    assert (
        "my.en-de.tsv: 1 of 100 lines (1.00%) cannot be read as a pair.\nline 100: there is no column 2"
        in page_text(app)
    )
    assert "Correct them and upload the file again, or train without them." in page_text(app)
    assert app.button(key="start_run").label == "Skip these lines and train"
    assert (plans, list(runs.glob("*"))) == ([], [])
    app.button(key="start_run").click().run()
    assert (plans[0].text.pairs, plans[0].text.bad.count) == (99, 1)
    app = opened()
    app.button(key="train_own_text").click().run()
    app.file_uploader(key="corpus").set_value(("my.en-de.tsv", good, "text/plain")).run()
    assert app.button(key="start_run").label == "Start"
    app.file_uploader(key="validation_text").set_value(("v.tsv", good + bad, "text/plain")).run()
    assert app.button(key="start_run").label == "Skip these lines and train"
    assert "v.tsv: 1 of 100 lines (1.00%) cannot be read" in page_text(app)


def test_an_uploaded_file_names_its_languages_and_another_one_the_size_that_suits_it(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.training.text_sizes.tokens_per_second", lambda model: 1000.0)
    app = opened()
    app.button(key="train_own_text").click().run()
    app.file_uploader(key="corpus").set_value(("my.en-pt-BR.tsv", pairs(20), "text/plain")).run()
    assert [app.selectbox(key=f"start_{side}").value for side in ("source", "target")] == ["en", "pt-BR"]
    app.file_uploader(key="corpus").set_value(("my.de-fr.tsv", pairs(5000), "text/plain")).run()
    assert [app.selectbox(key=f"start_{side}").value for side in ("source", "target")] == ["de", "fr"]
    assert app.number_input(key="start_encoder").value == 3
    assert not app.button(key="start_run").disabled


def test_the_size_is_that_of_the_checkpoint_to_start_from_and_has_no_controls(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.training.text_sizes.tokens_per_second", lambda model: 1000.0)

    def controls() -> set[str]:
        return {str(each.key) for each in (*app.number_input, *app.button_group)} & set(KEYS)

    app = opened()
    app.button(key="train_own_text").click().run()
    app.file_uploader(key="corpus").set_value(("my.en-de.tsv", pairs(5000), "text/plain")).run()
    app.number_input(key="start_encoder").set_value(5).run()
    assert controls() == set(KEYS)
    app.selectbox(key="start_from").set_value("en-de").run()
    assert controls() == {"start_updates"}
    said = "The model has the size of the checkpoint: 2 + 3 layers, heads: 4, d_model 32."
    assert said in page_text(app)
    app.number_input(key="start_updates").set_value(70).run()
    app.selectbox(key="start_from").set_value("wrong").run()
    assert "wrong.safetensors is not a checkpoint" in page_text(app)
    app.selectbox(key="start_from").set_value(None).run()
    assert controls() == set(KEYS)
    assert (app.number_input(key="start_updates").value, app.number_input(key="start_encoder").value) == (70, 5)
    app.selectbox(key="start_from").set_value("en-de").run()
    app.button_group(key="start_task").set_value("sort").run()
    assert controls() == set(KEYS)
    assert said not in page_text(app)


def test_a_running_run_shows_its_progress_and_can_be_stopped(toy: Path) -> None:
    (toy / OWNER).touch()
    with held(toy) as process:
        app = opened()
        assert "Running: update 12 of 12, loss " in page_text(app)
        assert "now preparing to continue" in page_text(app)
        (toy / "metrics.jsonl").touch()  # as the trainer does when all is ready
        assert "now averaging its last checkpoints and validating the average" in page_text(app.run())
        metrics = (toy / "metrics.jsonl").read_text().splitlines(keepends=True)
        (toy / "metrics.jsonl").write_text("".join(line for line in metrics if '"valid"' not in line))
        assert "now validating" in page_text(app.run())
        app.button(key="stop_run").click().run()
        assert process.wait(PATIENCE) == -signal.SIGTERM
    app.run()
    assert "Finished after update 12 of 12" in page_text(app)


def test_before_its_first_lines_a_run_says_what_it_does(toy: Path) -> None:
    (toy / OWNER).touch()
    metrics, state = toy / "metrics.jsonl", toy / "training.safetensors"
    with held(toy):
        metrics.unlink()
        state.unlink()
        for snapshot in (toy / "snapshots").iterdir():
            snapshot.unlink()
        app = opened()
        assert "Running: preparing its text and its model" in page_text(app)
        assert "stores its first snapshot when its text and its model are prepared" in machine(app)["problem"]
        metrics.touch()
        assert "Running: update 0 of 12, making its first updates" in page_text(app.run())
    assert "This run has stored no snapshots." in machine(app.run())["problem"]


def test_an_open_snapshot_has_no_second_slider_on_the_page_training(toy: Path) -> None:
    app = opened(checkpoint="toy, update 3")
    assert "snapshot" not in [slider.key for slider in app.select_slider]


def test_an_open_snapshot_has_a_slider_on_every_other_page(toy: Path) -> None:
    app = open_view("translate", checkpoint="toy, update 3", sentence="a b")
    app.select_slider(key="snapshot").set_value(12).run()
    assert app.selectbox(key="checkpoint").value == "toy, update 12"
    assert app.text_input(key="sentence").value == "a b"
    app.selectbox(key="checkpoint").set_value("small").run()
    assert "snapshot" not in [slider.key for slider in app.select_slider]


def test_a_run_with_invalid_files_is_listed_and_raises_no_error(runs: Path, open_app: Open) -> None:
    folder = runs / "<img src=x> <b>_x_ $y$"
    (folder / "snapshots").mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(json.dumps({"update": 1, "kind": "train", "loss": 2.0}) + "\nrubbish\n{")
    (folder / "training.safetensors").write_bytes(b"rubbish")
    (folder / "average.safetensors").write_bytes(b"rubbish")
    (folder / "snapshots" / "00000001.safetensors").write_bytes(b"rubbish")
    app = opened()
    assert "The newest snapshot cannot be used" in machine(app)["problem"]
    assert array(chart(app, "Loss")["data"][0]["y"]).tolist() == [2.0]
