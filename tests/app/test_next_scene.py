"""What a lecture computes in advance: the page of the next scene finds it, and no visitor waits for it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from streamlit.testing.v1 import AppTest

from app.compute import cached_results, gate, snapshot_results
from app.compute.gate import Gate
from app.compute.subject import Subject
from app.stage.lecture import next_scene
from app.stage.scene import Scene, Selection, scene_of
from app.views.whatif.order_ranking import lost_by_order
from app.views.whatif.part_ranking import rank
from tests.support.canvas_alone import scene_with
from tests.support.drawn import components
from tests.support.in_advance import compute_in_advance
from transformer.analysis import attribution
from transformer.config import DecodingConfig
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
SENTENCE = "the old cat sat on the big mat"


@pytest.fixture
def opened_in_advance(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens a page that has been computed as the next scene of a lesson; models compute nothing any more."""

    def opened(page: str, **choices: str) -> AppTest:
        texts = {"sentence": SENTENCE} | choices
        compute_in_advance(page, "", texts)
        for name in ("occlusion", "gradient_times_input", "log_probabilities"):
            monkeypatch.setattr(attribution, name, None)
        for name in ("translate", "translate_sentences", "translate_ids", "score"):
            monkeypatch.setattr(Translator, name, None)
        for module in (cached_results, snapshot_results):
            monkeypatch.setattr(module, "trace", None)
        return open_app(page, **texts)

    return opened


@pytest.mark.parametrize("word", ["1", "2"])
def test_what_each_word_counts_and_the_translation_without_the_chosen_one(
    opened_in_advance: Callable[..., AppTest], word: str
) -> None:
    app = opened_in_advance("whatif", experiment="words", changed_word=word)
    assert not app.exception
    assert [each["chosen"] for each in components(app, "cell_grid")]
    (both,) = components(app, "outcome")
    assert both


def test_what_all_snapshots_of_the_run_of_the_scene_make_of_the_sentence(
    finished_run: Path, runs: Path, opened_in_advance: Callable[..., AppTest]
) -> None:
    for name in ("one", "other"):
        shutil.copytree(finished_run, runs / name)
    app = opened_in_advance("training", run="other")
    assert not app.exception
    (found,) = components(app, "time_machine")
    assert found["run"] == "other"
    assert all("words" in row for row in found["rows"])


@pytest.mark.parametrize("choices", [{}, {"picture": "order", "shuffle": "2"}])
def test_what_both_orders_of_the_words_are_translated_to(
    opened_in_advance: Callable[..., AppTest], choices: dict[str, str]
) -> None:
    app = opened_in_advance("positions", **choices)
    assert not app.exception
    assert components(app, "word_order")
    assert components(app, "comparison")


def test_what_the_first_change_of_the_positions_makes_of_the_translation(
    opened_in_advance: Callable[..., AppTest],
) -> None:
    app = opened_in_advance("whatif", experiment="order")
    assert not app.exception
    assert components(app, "outcome")


@pytest.mark.parametrize("experiment", ["heads", "order"])
def test_what_each_part_and_each_change_of_the_positions_costs(
    open_app: Open, folder: Path, monkeypatch: pytest.MonkeyPatch, experiment: str
) -> None:
    scene = scene_with(folder / "en-de.safetensors")
    texts = {"sentence": scene.translation.source, "experiment": experiment}
    compute_in_advance("whatif", "", texts)
    monkeypatch.setattr(cached_results, "log_probabilities_with_each", None)  # not asked again
    if experiment == "heads":
        assert rank(scene, lambda done, layers: None).lost
    else:
        assert lost_by_order(scene).nats


@pytest.mark.parametrize(("as_typed", "correct_spelling"), [({}, True), ({"as_typed": "true"}, False)])
def test_a_sentence_is_computed_in_advance_as_it_will_be_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, as_typed: dict[str, str], correct_spelling: bool
) -> None:
    asked = list[bool]()

    def watched(subject: Subject, text: str, settings: DecodingConfig, selection: Selection) -> Scene:
        asked.append(selection.correct_spelling)
        return scene_of(subject, text, settings, selection)

    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    monkeypatch.setattr(next_scene, "scene_of", watched)
    compute_in_advance("masks", "", {"sentence": SENTENCE} | as_typed)
    assert asked == [correct_spelling]


def test_what_is_computed_in_advance_takes_no_place_of_a_visitor() -> None:
    places, runs, ends = Gate(1), Event(), Event()

    def in_advance() -> None:
        gate.work_in_advance()
        with places:
            runs.set()
            ends.wait(60)

    def visitor() -> None:
        with places:
            ends.set()

    for work in (in_advance, visitor):
        Thread(target=work, daemon=True).start()
        assert runs.wait(60)
    assert ends.wait(10), "a visitor waits for what is computed in advance"
    with places:
        other = Thread(target=visitor, daemon=True)
        ends.clear()
        other.start()
        assert not ends.wait(0.2), "more passes run than there are places"
    assert ends.wait(60)
