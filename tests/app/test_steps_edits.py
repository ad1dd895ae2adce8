"""Step by step with an edited model: no station explains numbers that an edit puts there as what the model computed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.edited_cells import edited_cells, edited_rows
from app.compute.subject import Subject
from app.library.checkpoints import checkpoints
from app.stage.scene import Scene
from app.views.steps.edited_sites import EditedSites
from app.views.steps.model_map import model_map
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import held_by, open_view
from transformer.analysis.edits import HeadOff, SublayerOff, VectorPatched
from transformer.config import ModelConfig

SENTENCE = "the cat sat on the mat"
OTHER = "17-93-3"  # the ids of another sentence
CHANGES, PATCHES = (
    "An edit changes numbers here after this calculation",
    "An edit replaces the vector of a token by one",
)


@pytest.fixture(params=["pre", "post"])
def norm(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opened(norm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens a station of a model with this placement of the norm."""
    write_checkpoint(tmp_path / "any.safetensors", Size(2, 2, 2), options={"norm": norm})
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))

    def open_station(at: str, **address: str) -> AppTest:
        return open_view("steps", **{"sentence": SENTENCE, "at": at, "detail": "exam", **address})

    return open_station


def texts_of(app: AppTest) -> dict[str, str]:
    """What is said at each station, by its id."""
    brought = held_by(app)
    return {each["id"]: brought["texts"][each["text"]]["text"] for each in brought["stations"]}


ATTENTION, FORWARD = "encoder.layers.0.self_attention", "encoder.layers.0.feed_forward"


@pytest.mark.parametrize(
    ("edits", "station"),
    [
        ("off=encoder.1.2", f"{ATTENTION}.context"),
        pytest.param("uniform=encoder.1.2", f"{ATTENTION}.masked_scores", marks=pytest.mark.soak),
        pytest.param("temperature=encoder.1.2.3", f"{ATTENTION}.masked_scores", marks=pytest.mark.soak),
        ("weights=encoder.1.2.3.1-70.2-30", f"{ATTENTION}.masked_scores"),
        pytest.param("skip=encoder.1.self_attention", f"{ATTENTION}.output", marks=pytest.mark.soak),
        ("skip=encoder.1.feed_forward", f"{FORWARD}.output"),
        ("positions=swap.1.2", "encoder.embedding.positions"),
    ],
)
def test_where_an_edit_changes_numbers_the_station_says_so(
    edits: str, station: str, opened: Callable[..., AppTest]
) -> None:
    app = opened(station, edits=edits)
    said = {id for id, text in texts_of(app).items() if CHANGES in text}
    assert said == {station} | ({f"{ATTENTION}.concatenated"} if station.endswith("context") else set())
    assert any(CHANGES in each.value for each in app.caption)
    assert (
        "so the scores do not change"
        not in texts_of(opened(station, edits="uniform=encoder.1.1"))[f"{ATTENTION}.masked_scores"]
    )
    assert not any(CHANGES in text for text in texts_of(opened(station)).values())


def test_a_sum_without_its_residual_connection_is_not_said_to_add_x(norm: str, opened: Callable[..., AppTest]) -> None:
    station = f"{FORWARD}.residual_sum"
    app = opened(station, edits="noresidual=encoder.1.feed_forward")
    assert "An edit takes the residual connection away" in texts_of(app)[station]
    assert "x + " not in app.latex[0].value
    assert "x + " in opened(station).latex[0].value
    assert "takes the residual connection away" not in texts_of(app)[f"{ATTENTION}.residual_sum"]
    normed = opened(f"{FORWARD}.norm_out", edits="noresidual=encoder.1.feed_forward").latex[0].value
    assert (r"z=\mathrm{Sublayer}(x)" in normed) == (norm == "post")
    assert (r"z=x+\mathrm{Sublayer}(x)" in opened(f"{FORWARD}.norm_out").latex[0].value) == (norm == "post")


def test_a_vector_that_an_edit_puts_in_is_not_explained_by_the_sub_layer(
    norm: str, opened: Callable[..., AppTest]
) -> None:
    station = f"{FORWARD}.{'residual_sum' if norm == 'pre' else 'norm_out'}"
    app = opened(station, edits=f"patch=1.2.{OTHER}", s="2")
    assert {id for id, text in texts_of(app).items() if PATCHES in text} == {station}
    *others, last = held_by(app)["pictures"][station]["parts"]
    assert last["replaced"] == [1]
    assert not any("replaced" in each for each in others)
    shown = " ".join(each.value for each in app.caption)
    assert ("puts another number in place of its result" in shown) == (norm == "post")
    other = " ".join(each.value for each in opened(station, edits=f"patch=1.2.{OTHER}", s="3").caption)
    assert "puts another number in place of its result" not in other
    beyond = opened(station, edits=f"patch=1.30.{'-'.join(['5'] * 30)}")  # the sentence has no such position
    assert not any(PATCHES in text for text in texts_of(beyond).values())


def test_of_two_edits_at_one_sum_both_are_said() -> None:
    station = f"{FORWARD}.residual_sum"
    said = EditedSites(frozenset({station, f"{FORWARD}.residual_connection"})).said_at(station)
    assert "takes the residual connection away" in said
    assert PATCHES in said


def test_a_fully_masked_row_is_not_said_to_sum_to_one(opened: Callable[..., AppTest]) -> None:
    station, edits = f"{ATTENTION}.weights", ";".join(f"forbid=encoder.1.1.2.{key}" for key in range(1, 20))
    app = opened(station, edits=edits, head="1")
    assert texts_of(app)[station].endswith("The exception is a fully masked row: its weights are all 0.")
    assert "The exception" not in texts_of(app)["encoder.layers.1.self_attention.weights"]
    assert any("sums to 1, except fully masked rows." in each.value for each in app.caption)
    other = opened(station, edits=edits, head="2")
    assert any(each.value.endswith("Each row sums to 1.") for each in other.caption)


def test_positions_that_an_edit_takes_away_are_not_said_to_be_added(opened: Callable[..., AppTest]) -> None:
    app = opened("encoder.embedding.output", edits="positions=off")
    assert app.header[0].value == "Embedding without position"
    assert "PE" not in app.latex[0].value
    said = texts_of(app)
    assert "without its position" in said["encoder.embedding.output"]
    assert "as large as the positions" not in said["encoder.embedding.scaled"]
    assert "as large as the positions" in said["decoder.embedding.scaled"]
    assert "token and position in one vector" in said["decoder.embedding.output"]


def test_layers_that_edits_make_different_are_not_said_to_do_the_same(
    norm: str, opened: Callable[..., AppTest]
) -> None:
    end = {"pre": "residual_sum", "post": "norm_out"}[norm]
    edits = "off=encoder.1.all;mask=causal"
    said = texts_of(opened("characters", detail="lecture", edits=edits))
    assert "Edits make these layers differ." in said[f"encoder.layers.1.feed_forward.{end}"]
    assert "Edits make these layers differ." not in said[f"decoder.layers.1.feed_forward.{end}"]  # all without a mask


def test_the_map_calls_self_attention_masked_only_with_the_causal_mask(opened: Callable[..., AppTest]) -> None:
    for edits, masked in (("", True), ("mask=causal", False)):
        labels = [box["label"] for box in held_by(opened("characters", edits=edits))["map"]["boxes"]]
        assert labels.count("Masked self-attention") == masked
        assert labels.count("Self-attention") == 2 - masked
    config = ModelConfig(vocab_size=11, encoder_layers=1, decoder_layers=1)
    assert len(model_map(config, has_causal_mask=False)["boxes"]) == len(model_map(config)["boxes"])


@pytest.mark.parametrize("edits", ["mask=causal", "allow=decoder.1.2.2.4"])
def test_where_rows_may_attend_to_later_tokens_the_predictions_say_of_what_they_are(
    opened: Callable[..., AppTest], edits: str
) -> None:
    texts = texts_of(opened("chosen", edits=edits))
    assert {id for id, text in texts.items() if "this is one pass over the whole translation" in text} == {
        "logits", "probabilities"
    }  # fmt: skip
    assert "These probabilities are of the steps of decoding." in texts["chosen"]
    other = texts_of(opened("chosen", edits="forbid=decoder.1.2.3.1;allow=decoder.1.2.4.90"))
    assert not any("later tokens" in other[station] for station in ("logits", "probabilities", "chosen"))


def test_the_numbers_that_an_edit_replaces_are_those_that_differ_in_a_pass(opened: Callable[..., AppTest]) -> None:
    (file,) = checkpoints().values()
    embedded = "encoder.embedding.output"
    patched = Subject(file, (VectorPatched(None, 1, (5, 6, 3)),))
    assert edited_rows(patched, embedded, (3, 32)).tolist() == [False, True, False]
    assert not edited_cells(patched.original, embedded, (3, 32)).any()
    assert not edited_cells(patched, "decoder.embedding.output", (3, 32)).any()
    off = Subject(file, (HeadOff("cross", 0, 1), SublayerOff("encoder", 1, "feed_forward")))
    heads = edited_cells(off, "decoder.layers.0.cross_attention.context", (2, 4, 16))
    assert heads.all(axis=(1, 2)).tolist() == [False, True]
    assert not heads[0].any()
    assert np.all(edited_cells(off, "encoder.layers.1.feed_forward.output", (3, 32)))


def test_a_source_token_that_no_step_may_attend_to_is_not_said_to_be_attended_to(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    def weights(scene: Scene) -> np.ndarray:
        found = scene.attention("cross").weights[0, 0].copy()
        found[:, 0] = 0
        return found

    monkeypatch.setattr("app.stage.followed._weights", weights)
    said = [each.value for each in opened("encoder.tokens", s="1").text]
    assert any("No step of the decoder attends to it" in text for text in said)
    said = [each.value for each in opened("encoder.tokens", s="2").text]
    assert any("attends to it most" in text for text in said)
