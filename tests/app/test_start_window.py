"""The window that starts a run: what is uploaded and chosen there is trained, and bad lines are named before."""

from pathlib import Path

import pytest

from app.views.training.own_text import read_own_text
from app.views.training.run_permission import LaunchError
from app.views.training.run_plan import Plan, TextPlan
from app.views.training.run_plan import Size as RunSize
from app.views.training.size_options import KEYS
from tests.support.drawn import page_text
from tests.support.training_page import Open, opened


def pairs(count: int) -> bytes:
    """A file of different pairs."""
    return b"".join(b"a%d\tb\n" % number for number in range(count))


@pytest.mark.soak
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
