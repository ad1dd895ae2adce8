"""What if, "Shuffle the words": costs and outputs are those of models with one change, and of reordered words."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute.outcomes import outcome
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.stage.scene import Scene, Selection, scene_of
from app.views.shared.word_orders import reordered
from app.views.whatif import order_part
from app.views.whatif.order_comparison import reordered_text
from app.views.whatif.order_data import edit_of
from app.views.whatif.order_ranking import Lost, lost_by_order, shuffles
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components, written
from tests.support.marian_folder import ENGLISH, marian_folder
from transformer.analysis.edits import PositionsShifted, PositionsSwapped, parse_edit
from transformer.config import BOS, EOS
from transformer.decoding.translator import Translator
from transformer.importing.marian_import import import_marian

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
PLACE = {"experiment": "order", "sentence": SENTENCE}


def bars(app: AppTest) -> dict[str, Any]:
    assert not app.exception, app.exception[0].message
    (found,) = components(app, "position_edits")
    return found


def both_orders(app: AppTest) -> list[list[dict[str, Any]]]:
    (found,) = components(app, "comparison")
    return [row["cells"] for row in found["rows"]]


def test_each_bar_is_what_the_translation_loses_by_that_change_alone(open_app: Open, subject: Subject) -> None:
    found = bars(open_app("whatif", **PLACE))
    settings = subject.translator.settings

    def lost(text: str) -> float:
        return sum(outcome(subject.edited(parse_edit(text)), SENTENCE, settings).lost)

    assert found["swaps"][1][4] == found["swaps"][4][1] == pytest.approx(lost("positions=swap.2.5"), abs=1e-3)
    assert found["swaps"][0][0] is None
    groups = {group["title"]: group["changes"] for group in found["groups"]}
    shift, shuffle, off = (groups[title] for title in groups)
    assert shift[1]["lost"] == pytest.approx(lost("positions=shift.2"), abs=1e-3)
    assert shuffle[2]["lost"] == pytest.approx(lost("positions=shuffle.3"), abs=1e-3)
    assert off[0]["lost"] == pytest.approx(lost("positions=off"), abs=1e-3)


@pytest.mark.parametrize(("ids", "count"), [((7, 3), 1), ((7, 7, 3), 2), ((4, 5, 6, 3), 5)])
def test_every_shuffle_gives_another_order_of_the_tokens(ids: tuple[int, ...], count: int) -> None:
    found = [reordered(ids, tuple(np.argsort(edit.order(len(ids))).tolist())) for edit in shuffles(ids)]
    assert len(found) == len({*found}) == count
    assert ids not in found


def test_the_unit_of_the_costs_is_explained(open_app: Open) -> None:
    app = open_app("whatif", **PLACE)
    (sentence,) = [each.value for each in app.text if "most striking" in each.value]
    assert sentence.endswith("A nat is the unit of natural logarithms; 0.7 nats less: half as probable.")
    (shifts,) = [each.value for each in app.text if "Where all are shifted" in each.value]
    assert "loses -" not in shifts  # but a real minus sign


def test_the_swap_that_is_shown_first_costs_most_of_those_that_change_the_translation(
    open_app: Open, subject: Subject
) -> None:
    found = bars(open_app("whatif", **PLACE))
    settings, words = subject.translator.settings, [i for i, token in enumerate(found["tokens"]) if token != "</s>"]
    whole = [
        i
        for i in words
        if found["tokens"][i].startswith("▁") and (i + 1 not in words or found["tokens"][i + 1].startswith("▁"))
    ]
    ranked = sorted(((i, j) for i in whole for j in whole if i < j), key=lambda pair: -found["swaps"][pair[0]][pair[1]])
    changing = [
        pair
        for pair in ranked[:4]
        if outcome(subject.edited(PositionsSwapped(*pair)), SENTENCE, settings).compared.first_difference is not None
    ]
    assert tuple(found["striking"]) == (changing or ranked)[0]


@pytest.mark.parametrize("text", ["positions=swap.2.5", "positions=shuffle.3"])
def test_other_positions_are_the_same_to_the_model_as_the_words_in_another_order(
    open_app: Open, subject: Subject, text: str
) -> None:
    app = open_app("whatif", **PLACE, edits=text)
    (found,) = components(app, "comparison")
    translator, edited = subject.translator, subject.edited(parse_edit(text)).translator
    translation = edited.translate(SENTENCE).sentences[0]
    ids, places = list(translation.source_ids), list(range(len(translation.source_ids)))
    if text == "positions=swap.2.5":
        places[1], places[4] = places[4], places[1]
    else:
        places = torch.randperm(len(ids), generator=torch.Generator().manual_seed(3)).tolist()
    typed = [ids[places.index(place)] for place in range(len(ids))]  # the token whose position this is
    end = typed.index(EOS)
    texts = [translator.tokenizer.decode(typed[:end]), "</s>", translator.tokenizer.decode(typed[end + 1 :])]
    sentence = " ".join(texts) if end < len(typed) - 1 else texts[0]
    assert found["rows"][1]["label"] == f"Translation of “{sentence}”"
    assert found["rows"][1]["cells"][0]["text"] == translation.hypotheses[0].text
    reads = torch.tensor([[BOS, *translation.hypotheses[0].ids[:-1]]])
    with torch.inference_mode():
        by_words, by_positions = (
            model(torch.tensor([source]), reads) for model, source in ((translator.model, typed), (edited.model, ids))
        )
    np.testing.assert_allclose(by_words, by_positions, atol=1e-4)


def test_without_positions_only_rounding_is_left_and_with_them_more(open_app: Open) -> None:
    outputs, texts = both_orders(open_app("whatif", **PLACE))
    assert written(outputs[0]["text"]) > 1e-2
    assert written(outputs[1]["text"]) < 1e-5
    assert outputs[1]["note"] == "only rounding"
    assert texts[1]["note"] == "the same as in order"


def test_the_small_model_says_which_order_it_read(open_app: Open, folder: Path) -> None:
    """It has tokens of its own, so it reads another order than the one that the row names."""
    path = write_checkpoint(folder / "family-none.safetensors", Size(1, 1, 2), options={"positions": "none"})
    family = {"name": "positions", "option": "model.positions", "members": [{"member": "none", "value": "none"}]}
    report = folder / "families.json"
    report.write_text(json.dumps({"families": [family], "members": {}}), encoding="utf-8")
    try:
        cells = both_orders(open_app("whatif", **PLACE))[1]
        assert [cell["note"] for cell in cells[:2]] == ["another one", "the same as in order"]
        read = cells[2]["note"].removeprefix("of “").removesuffix("”: the same as in order")
        assert sorted(read.split()) == sorted(SENTENCE.split())
        assert read != SENTENCE
        assert Translator.load(path).translate(read).text == cells[2]["text"].replace("(nothing)", "")
    finally:
        path.unlink()
        report.unlink()


def test_a_number_that_no_change_has_is_none() -> None:
    lost = Lost((PositionsSwapped(0, 1),), {}, 1)
    assert edit_of(lost, 3, 9) == PositionsSwapped(0, 1)
    assert edit_of(lost, 3, 10) is None


def test_a_change_takes_the_place_of_the_one_before_and_other_edits_stay(open_app: Open) -> None:
    app = open_app("whatif", **PLACE, edits="off=cross.1.2;positions=off")
    assert bars(app)["chosen"] == len(bars(app)["tokens"]) ** 2 + bars(app)["count"] - 1
    next(button for button in app.button if button.label == "Swap them").click().run()
    first, second = bars(app)["striking"]
    expected = f"off=cross.1.2;positions=swap.{first + 1}.{second + 1}"
    assert app.query_params["edits"] in (expected, [expected])
    assert bars(app)["chosen"] == first + second * len(bars(app)["tokens"])


@pytest.mark.parametrize("sentence", ["a", "the the the", "</script><img src=x onerror=alert(1)> _a_ :red[b]"])
@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"positions": "learned", "max_positions": 64}, marks=pytest.mark.soak), {"positions": "none"}],
)
def test_odd_sentences_and_odd_positions_open(
    open_app: Open, folder: Path, sentence: str, options: dict[str, Any]
) -> None:
    path = write_checkpoint(folder / "odd-order.safetensors", options=options)
    try:
        app = open_app(
            "whatif", checkpoint="odd-order", experiment="order", sentence=sentence, edits="positions=swap.2.60"
        )
        assert not app.exception, app.exception[0].message
        largest = [written(cell["text"]) for cell in both_orders(app)[0]]
        assert largest[-1] < 1e-5
    finally:
        path.unlink()


def says(app: AppTest) -> str:
    """All texts of the page."""
    return " ".join(str(each.value) for each in (*app.text, *app.markdown))


@pytest.mark.parametrize("edits", ["", "positions=swap.2.5", "positions=off"])
@pytest.mark.parametrize("positions", ["sinusoidal", pytest.param("none", marks=pytest.mark.soak)])
@pytest.mark.parametrize(("window", "is_edit"), [(1, False), (100, False), (1, True)])
def test_with_a_window_that_hides_words_the_orders_are_not_called_the_same(
    open_app: Open, folder: Path, window: int, is_edit: bool, positions: str, edits: str
) -> None:
    """A window hides places. A swap of positions leaves each token at its place, so it is no other order of words."""
    options = {"attention_window": None if is_edit else window, "positions": positions}
    edits = f"window={window};{edits}".rstrip(";") if is_edit else edits
    path = write_checkpoint(folder / "window.safetensors", options=options)
    try:
        app = open_app("whatif", checkpoint="window", edits=edits, details="true", **PLACE)
        largest = [written(cell["text"]) for cell in both_orders(app)[0]]
        assert (largest[-1] < 1e-5) == (window == 100 or is_edit)  # the original model's encoder without positions
        text = says(app)
        assert "without the other edits" in text if is_edit else ("attention window" in text) == (window == 1)
        wrong = ("to the model this is the sentence", "same vectors for every order", "words in any order",
                 "every order of these words is the same")  # fmt: skip
        if not is_edit:
            assert any(each in text for each in wrong) == (window == 100)
    finally:
        path.unlink()


def test_before_a_click_the_change_that_is_shown_first_is_compared_without_the_edits_of_the_page(
    open_app: Open, subject: Subject
) -> None:
    app = open_app("whatif", **PLACE, edits="skip=decoder.1.cross_attention")
    found = bars(app)
    edit = PositionsSwapped(*found["striking"])
    alone = outcome(subject.edited(edit), SENTENCE, subject.translator.settings)
    both = outcome(subject.edited(parse_edit("skip=decoder.1.cross_attention"), edit), SENTENCE,
                   subject.translator.settings)  # fmt: skip
    assert alone.after.ids != both.after.ids
    (drawn,) = components(app, "outcome")
    assert [token["text"] for token in drawn["rows"][1]["tokens"]] == list(alone.after.tokens)


def test_a_shift_is_not_compared_with_itself(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def nearest_costs_most(scene: Scene) -> Lost:
        lost = lost_by_order(scene)
        return replace(lost, nats=dict(lost.nats) | {PositionsShifted(1): 99.0})

    monkeypatch.setattr(order_part, "lost_by_order", nearest_costs_most)
    (shifts,) = [each.value for each in open_app("whatif", **PLACE).text if "Where all are shifted" in each.value]
    assert "the translation loses 99.00 nats. " in shifts
    assert "; by 1 " not in shifts


def test_equal_words_are_not_swapped_first(open_app: Open) -> None:
    app = open_app("whatif", experiment="order", sentence="the the the")
    text = says(app)
    assert "“the” ↔ “the”" not in text
    first, second = bars(app)["striking"]
    assert bars(app)["tokens"][first] != bars(app)["tokens"][second]


def test_what_a_striking_change_costs_has_no_minus_before_zero(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_lost(scene: Scene) -> Lost:
        lost = lost_by_order(scene)
        return replace(lost, nats=dict.fromkeys(lost.nats, -0.001))

    monkeypatch.setattr(order_part, "lost_by_order", nothing_lost)
    assert "The translation loses 0.00 nats." in says(open_app("whatif", **PLACE))


def test_a_swap_beyond_the_end_of_the_sentence_is_said_to_change_nothing(open_app: Open) -> None:
    app = open_app("whatif", **PLACE, edits="positions=swap.2.60")
    size = len(bars(app)["tokens"])
    assert f"This sentence has only {size} positions, so this swap changes nothing." in says(app)
    (found,) = components(app, "outcome")
    assert found["summary"] == "The translation and its log-probability stay the same."


def test_positions_of_the_decoder_are_not_taken_for_those_of_the_encoder(open_app: Open) -> None:
    app = open_app("whatif", **PLACE, edits="positions=off.decoder")
    assert "same vectors for every order" not in says(app)
    assert bars(app)["chosen"] == -1


@pytest.mark.parametrize("change", ["positions=swap.2.5", pytest.param("positions=off", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("other", "names_places"),
    [
        ("patch=embedding.2.17-93-3", True),
        ("forbid=encoder.all.all.1.2", True),
        ("weights=cross.1.1.2.1-100", True),
        ("off=cross.1.1", False),
        ("forbid=decoder.all.all.2.1", False),
    ],
)
def test_with_an_edit_of_one_place_the_order_of_the_words_is_not_said_to_be_that_of_the_positions(
    open_app: Open, change: str, other: str, names_places: bool
) -> None:
    text = says(open_app("whatif", **PLACE, edits=f"{other};{change}"))
    assert ("without the other edits" in text) == names_places


def test_the_reordered_sentence_of_two_tokenizers_is_spelled_by_that_of_the_source(tmp_path: Path) -> None:
    marian_folder(tmp_path / "model")
    import_marian(tmp_path / "model", tmp_path / "opus.safetensors")
    subject = Subject(CheckpointFile.at(tmp_path / "opus.safetensors"))
    scene = scene_of(subject, ENGLISH[0], subject.translator.settings, Selection())
    assert reordered_text(scene, tuple(range(len(scene.source)))) == ENGLISH[0]
