"""The page Step by step: the walk is the model's own, and every picture shows the tensor of its station."""

import re
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from app.figures.axes import TokenAxis
from app.figures.tensor import number_text, tensor_heatmap
from app.languages import Language, speaking
from app.library import source_code
from app.library.source_code import lines_from, lines_of, lines_of_definition
from app.views.scaling.additive import additive_scores
from app.views.steps.model_map import box_of, model_map
from app.views.steps.stations import Detail, Station, nearest, stations
from app.views.steps.walk_pictures import _mask
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import checked, components, held_by
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from tests.support.unmarked_texts import bracketed
from transformer.analysis.trace import trace
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator
from transformer.model import census

SENTENCE = "the cat sat on the mat"
OPTIONS: list[dict[str, Any]] = [
    {"norm": "pre", "positions": "sinusoidal"},
    {"norm": "post", "positions": "learned", "activation": "gelu", "attention_window": 2},
    {"norm": "post", "positions": "none"},
]
CONFIGS = [
    ModelConfig(vocab_size=11, d_model=8, d_ff=16, heads=2, encoder_layers=e, decoder_layers=d, **options)
    for (e, d), options in product([(1, 1), (2, 1), (1, 3)], OPTIONS)
]


def ids(walk: tuple[Station, ...]) -> list[str]:
    return [station.id for station in walk]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.encoder_layers}{c.decoder_layers}{c.norm}{c.positions}")
def test_the_walk_visits_every_site_of_the_model_in_the_order_of_the_computation(config: ModelConfig) -> None:
    sites = census(config)
    walk = [station for station in stations(config) if station.site and station.id != "chosen"]
    visited = [station.site for station in walk if not station.id.endswith("concatenated")]
    # Not on the way: what each head writes, and the x that is added, which is drawn with the sum.
    assert set(visited) == {site for site in sites if not site.endswith(("head_outputs", "residual_connection"))}
    assert len(visited) == len(set(visited))
    for station in walk:
        if not station.id.endswith("concatenated"):
            assert ("B", *station.letters) == sites[station.site or ""], station.id
    order = list(sites)
    stages = [order.index(site or "") for site in visited if site and ".query" not in site]
    assert [s for s in stages if s not in _swapped(order)] == sorted(s for s in stages if s not in _swapped(order))


def _swapped(order: list[str]) -> set[int]:
    """Keys and values are computed before the query; the walk shows the query first, as the paper does."""
    return {i for i, site in enumerate(order) if site.endswith((".key", ".value"))}


def test_the_lecture_is_a_part_of_the_walk_in_the_same_order() -> None:
    for config in CONFIGS:
        everything, lecture = ids(stations(config)), ids(stations(config, "lecture"))
        assert lecture == [station for station in everything if station in set(lecture)]
        assert len(lecture) < 0.6 * len(everything)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_first_lecture_has_fewer_than_30_stops_however_deep_the_model_is(norm: Any) -> None:
    lecture = stations(ModelConfig(vocab_size=11, encoder_layers=6, decoder_layers=6, norm=norm), "lecture")
    assert 25 <= len(lecture) < 30
    assert {station.layer for station in lecture} == {None, 0, 5}
    rest = [station for station in lecture if station.layer == 5]
    assert [station.title for station in rest] == ["Layers 2 to 6 do the same"] * 2
    deeper = stations(ModelConfig(vocab_size=11, encoder_layers=2, decoder_layers=9, norm=norm), "lecture")
    assert len(deeper) == len(lecture)
    assert "Layer 2 does the same" in [station.title for station in deeper]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.encoder_layers}{c.decoder_layers}{c.norm}{c.positions}")
def test_a_first_lecture_stops_at_each_part_of_equation_1_and_at_a_layer_norm(config: ModelConfig) -> None:
    site = "encoder.layers.0.self_attention."
    names = [name.removeprefix(site) for name in ids(stations(config, "lecture")) if name.startswith(site)]
    steps = ["query", "key", "value", "products", "scores", "weights", "context"]
    assert names == (["norm_out", *steps, "residual_sum"] if config.norm == "pre" else [*steps, "norm_out"])


def test_a_station_beside_the_lecture_is_a_stop_in_its_place() -> None:
    config = CONFIGS[0]
    walk, lecture = stations(config), set(ids(stations(config, "lecture")))
    for i, station in enumerate(walk):
        assert nearest(station.id, walk) == i
        strayed = ids(stations(config, "lecture", station.id))
        assert strayed == [other for other in ids(walk) if other in lecture | {station.id}]
    assert stations(config, "lecture", "nonsense") == stations(config, "lecture")
    assert nearest("nonsense", walk) == 0
    assert nearest("", walk) == 0


@pytest.mark.parametrize("pre_norm", [False, True])
def test_every_site_has_its_lines(pre_norm: bool) -> None:
    config = ModelConfig(vocab_size=11, encoder_layers=1, decoder_layers=1, norm="pre" if pre_norm else "post")
    for site in census(config):
        lines = lines_of(site, pre_norm)
        assert f'probe("{site.rsplit(".", 1)[-1]}"' in lines.text
        held = (Path(__file__).resolve().parents[2] / lines.path).read_text(encoding="utf-8").splitlines()
        assert held[lines.first - 1].strip() == lines.text.splitlines()[0]
    norm = lines_of("encoder.layers.0.feed_forward.norm_out", pre_norm).text
    assert ("normed" in norm) == pre_norm
    with pytest.raises(KeyError):
        lines_of("encoder.layers.0.self_attention.nonsense")
    assert lines_of_definition("model/masks.py", "causal_mask").text.startswith("def causal_mask")


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.encoder_layers}{c.decoder_layers}{c.norm}{c.positions}")
def test_each_station_is_in_one_box_of_the_map_and_each_box_has_stations(config: ModelConfig) -> None:
    drawn = model_map(config)
    boxes, walk = drawn["boxes"], stations(config)
    found = {station.id: box_of(boxes, station) for station in walk}
    assert set(found.values()) == set(range(len(boxes)))
    for station in walk:
        named = [box for box in boxes if station.id.replace(f".{station.layer}.", ".*.", 1) in box["stations"]]
        assert named == [boxes[found[station.id]]], station.id
    for number, box in enumerate(boxes):  # a click opens the first of its stations, in the layer where one is
        assert found[box["stations"][0].replace("*", "0")] == number
    in_layers = {found[station.id] for station in walk if station.layer is not None}
    assert all("*" in boxes[number]["stations"][0] for number in in_layers)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.encoder_layers}{c.decoder_layers}{c.norm}{c.positions}")
def test_the_boxes_of_the_map_are_in_the_picture_and_none_on_top_of_another(config: ModelConfig) -> None:
    drawn = model_map(config)
    for box in drawn["boxes"]:
        assert 0 <= box["x"] <= drawn["width"] - box["width"]
        assert 0 <= box["y"] <= drawn["height"] - box["height"]
    for stack in ("encoder", "decoder"):
        column = sorted((b for b in drawn["boxes"] if b["stack"] == stack), key=lambda b: b["y"])
        assert all(a["y"] + a["height"] <= b["y"] for a, b in pairwise(column))
    assert [layers["count"] for layers in drawn["layers"]] == [config.encoder_layers, config.decoder_layers]


@pytest.mark.parametrize(
    ("options", "second_lines"),
    [
        ({}, {"+ positions": "sine, cosine", "Feed-forward": "ReLU", "Self-attention": "2 heads"}),
        ({"sinusoid_layout": "concatenated"}, {"+ positions": "sines, then cosines"}),
        ({"positions": "learned", "activation": "silu"}, {"+ positions": "learned", "Feed-forward": "SiLU"}),
        ({"positions": "none", "activation": "gelu"}, {"Feed-forward": "GELU"}),
        (
            {"attention_window": 2},
            {
                "Self-attention": "2 heads, ± 2",
                "Masked self-attention": "2 heads, ± 2",
                "Encoder-decoder": "attention, 2 heads",
            },
        ),
        ({"shared_embeddings": False}, {"Embedding · √d": "own matrix", "Linear (logits)": "own matrix"}),
        ({"shared_embeddings": True}, {"Embedding · √d": "shared matrix", "Linear (logits)": "shared matrix"}),
    ],
)
def test_the_map_says_which_options_the_checkpoint_has(options: dict[str, Any], second_lines: dict[str, str]) -> None:
    config = ModelConfig(vocab_size=11, d_model=8, d_ff=16, heads=2, encoder_layers=1, decoder_layers=1, **options)
    boxes = model_map(config)["boxes"]
    for label, second in second_lines.items():
        assert {box["second"] for box in boxes if box["label"] == label} == {second}
    assert any("positions" in box["label"] for box in boxes) == (config.positions != "none")


def test_titles_begin_with_a_capital_and_hold_no_colon() -> None:
    for detail, config in product(get_args(Detail), CONFIGS):
        for station in stations(config, detail):
            assert station.title[0].isupper(), station.title
            assert ":" not in station.title


def test_the_lines_of_the_app_itself_are_shown_too() -> None:
    found = lines_from(additive_scores, "hidden =", "scores")
    assert found.path == "app/views/scaling/additive.py"
    assert "np.tanh" in found.text


def test_a_file_that_has_changed_says_so_in_place_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_code, "KNOWN", {})
    assert lines_of("encoder.layers.0.self_attention.weights").text == source_code.CHANGED
    assert lines_of_definition("model/masks.py", "no longer there").text == source_code.CHANGED
    found = source_code.lines_from(trace, "no longer there")
    assert (found.path, found.text) == ("transformer/analysis/trace.py", source_code.CHANGED)


def test_the_place_of_code_and_that_it_has_changed_are_translated(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_code, "KNOWN", {})
    with bracketed():
        app = open_app("steps", sentence=SENTENCE, details="true")
    assert f"⟦{source_code.CHANGED}⟧" in [code.value for code in app.code]
    assert any(re.fullmatch(r"⟦The code, `[\w/]+\.py`, line \d+⟧", caption.value) for caption in app.caption)
    st.cache_data.clear()  # no text in brackets is left for other tests


def opened(open_app: Callable[..., AppTest], station: str, row: int = 0, **address: str) -> AppTest:
    app = open_app("steps", at=station, detail="exam", details="true", sentence=SENTENCE, t=str(row + 1), **address)
    assert not app.exception
    return app


def numbers(app: AppTest, place: int = 0) -> np.ndarray:
    """A table of the details without its first column, the names of the rows."""
    return app.dataframe[place].value.iloc[:, 1:].to_numpy()


class Truth:
    """What the model computes for the sentence, with a probe in one layer at a time, as on the page."""

    def __init__(self, path: Path):
        self.translator = Translator.load(path)
        self.translation = self.translator.translate(SENTENCE).sentences[0]

    def __getitem__(self, site: str) -> np.ndarray:
        pattern = ".".join(site.split(".")[:3]) + ".*" if ".layers." in site else site
        ids = self.translation.hypotheses[0].ids
        return trace(self.translator.model, self.translation.source_ids, ids, [pattern])[site]


@pytest.fixture
def truth(folder: Path) -> Truth:
    return Truth(folder / "en-de.safetensors")


@pytest.mark.parametrize(
    "station",
    [
        "encoder.embedding.positions",
        "encoder.layers.1.self_attention.output",
        "decoder.layers.2.feed_forward.residual_sum",
    ],
)
def test_the_table_of_a_stream_has_the_numbers_of_its_tensor(
    station: str, open_app: Callable[..., AppTest], truth: Truth
) -> None:
    np.testing.assert_array_equal(numbers(opened(open_app, station)), truth[station])


@pytest.mark.parametrize("name", ["query", "value", "context"])
def test_the_table_is_that_of_the_chosen_head(name: str, open_app: Callable[..., AppTest], truth: Truth) -> None:
    station = f"decoder.layers.1.cross_attention.{name}"
    np.testing.assert_array_equal(numbers(opened(open_app, station, head="3")), truth[station][2])


@pytest.mark.parametrize("name", ["products", "masked_scores", "weights"])
def test_the_table_of_queries_by_keys_is_that_of_the_chosen_head(
    name: str, open_app: Callable[..., AppTest], truth: Truth
) -> None:
    station = f"decoder.layers.0.self_attention.{name}"
    np.testing.assert_array_equal(numbers(opened(open_app, station, head="1")), truth[station][0])


def test_the_table_of_the_mask_says_who_may_attend_and_why_not(open_app: Callable[..., AppTest], truth: Truth) -> None:
    site = "decoder.layers.0.self_attention.mask"
    found = numbers(opened(open_app, site))
    np.testing.assert_array_equal(found == "may attend", truth[site][0])
    assert set(found[~truth[site][0]]) == {"C"}


def test_where_an_edit_has_changed_the_mask_the_words_and_the_table_say_so(open_app: Callable[..., AppTest]) -> None:
    site = "decoder.layers.0.self_attention.mask"
    assert set(numbers(opened(open_app, site, edits="mask=causal")).ravel()) == {"may attend", "allowed by an edit"}
    brought, _ = walked(open_app, site, edits="mask=causal", detail="exam")
    texts = {each["id"]: brought["texts"][each["text"]]["text"] for each in brought["stations"]}
    assert "An edit has changed this mask" in texts[site]
    assert "every row may attend to every key" in texts["encoder.layers.0.self_attention.mask"]


@pytest.mark.parametrize(
    ("station", "words"),
    [
        ("characters", "def normalise"),
        ("pieces", "def encode"),
        ("shifted", "(BOS, *target_ids[:-1])"),
        ("encoder.layers.0.self_attention.concatenated", "context.transpose(1, 2).flatten(-2)"),
        ("encoder.layers.0.self_attention.output", 'probe("output"'),
        ("encoder.embedding.positions", "angle.sin()"),
        ("encoder.layers.0.self_attention.mask", "ids != PAD"),
        ("decoder.layers.0.self_attention.mask", "position[None, :] <= position[:, None]"),
        ("decoder.layers.0.cross_attention.context", "@ value"),
        ("logits", "linear(states, self.output.weight, self.output_bias)"),
        ("chosen", "def advance"),
    ],
)
def test_each_station_shows_the_lines_that_make_it(station: str, words: str, open_app: Callable[..., AppTest]) -> None:
    assert words in opened(open_app, station).code[0].value


def test_heads_side_by_side_are_the_context_joined(open_app: Callable[..., AppTest], truth: Truth) -> None:
    base = "encoder.layers.0.self_attention"
    joined = numbers(opened(open_app, f"{base}.concatenated"))
    np.testing.assert_array_equal(joined, np.concatenate(list(truth[f"{base}.context"]), axis=-1))


def test_layer_norm_shows_mean_and_deviation_before_and_after(open_app: Callable[..., AppTest], truth: Truth) -> None:
    base = "encoder.layers.0.self_attention"
    table = opened(open_app, f"{base}.norm_out").dataframe[1].value
    for when, name in (("before", "residual_sum"), ("after", "norm_out")):
        values = truth[f"{base}.{name}"].astype(np.float64)
        np.testing.assert_allclose(table[f"mean {when}"], values.mean(-1), atol=1e-9)
        np.testing.assert_allclose(table[f"deviation {when}"], values.std(-1), rtol=1e-9)


def test_units_that_fire_are_counted(open_app: Callable[..., AppTest], truth: Truth) -> None:
    site = "decoder.layers.2.feed_forward.activated"
    app = opened(open_app, site, row=1)
    fires = (truth[site] > 0).sum(-1)
    assert any(f"({fires[1]:,})" in caption.value for caption in app.caption)
    np.testing.assert_array_equal(numbers(app), truth[site])
    assert list(app.dataframe[1].value["units above 0"]) == list(fires)


def test_the_parameters_of_feed_forward_networks_are_counted_where_the_box_opens(truth: Truth) -> None:
    model = truth.translator.model
    layers = model.config.encoder_layers + model.config.decoder_layers
    counted = sum(weight.numel() for name, weight in model.named_parameters() if ".feed_forward." in name)
    config = model.config
    sizes = f"W₁ ({config.d_model} × {config.d_ff}), b₁, W₂ ({config.d_ff} × {config.d_model}) and b₂"
    words = f"{sizes} are {counted // layers:,} parameters in each layer, {counted:,} in all {layers} layers."
    boxes = [[name.replace("*", "0") for name in box["stations"]] for box in model_map(model.config)["boxes"]]
    (at_box,) = (names for names in boxes if "encoder.layers.0.feed_forward.output" in names)
    for detail in get_args(Detail):
        texts = {each.id: each.text for each in stations(model.config, detail)}
        opened_first = next(name for name in at_box if name in texts)
        assert words in texts[opened_first], (detail, opened_first)
    assert words in texts["encoder.layers.0.feed_forward.output"]  # at every step


def test_numbers_are_in_the_cells_of_a_long_sentence_too() -> None:
    values = np.linspace(-20, 20, 1200).reshape(100, 12)
    rows = TokenAxis("English", "encoder", tuple("abcde" * 20))
    _, numbers = checked(tensor_heatmap(values, rows, title="t", row=0)).data
    assert len(numbers.text) == 1200
    assert numbers.meta["columns"] == 12


@pytest.mark.parametrize(
    ("value", "text", "short"),
    [(1.25, "1.25", "1.2"), (-13.46, "−13.5", "−13"), (0.0, "0", "0"), (-np.inf, "−∞", "−∞"), (-0.001, "0.00", "0.0")],
)
def test_a_number_has_one_digit_less_where_the_cell_is_narrow(value: float, text: str, short: str) -> None:
    assert (number_text(value), number_text(value, short=True)) == (text, short)


@pytest.mark.parametrize("station", ["logits", "probabilities"])
def test_the_table_of_the_next_tokens_has_the_best_of_the_row_and_the_chosen_one(
    station: str, open_app: Callable[..., AppTest], truth: Truth
) -> None:
    logits, chosen = truth["logits"][1], truth.translation.hypotheses[0].ids[1]
    table = opened(open_app, station, row=1).dataframe[0].value
    np.testing.assert_array_equal(table["logit"], logits[list(table["id"])].astype(np.float64))
    np.testing.assert_array_equal(table["logit"][:12], np.sort(logits)[::-1][:12])
    expected = torch.from_numpy(logits.copy()).double().softmax(-1)[list(table["id"])]
    np.testing.assert_allclose(table["probability"], expected, rtol=1e-9)
    assert list(table["id"][table["in the translation"] == "chosen"]) == [chosen]


@pytest.mark.parametrize("norm", ["pre", pytest.param("post", marks=pytest.mark.soak)])
def test_every_station_opens(norm: Any, tmp_path: Path, open_app: Callable[..., AppTest], monkeypatch: Any) -> None:
    """The whole walk over a small model of odd depth, at both levels of detail."""
    write_checkpoint(tmp_path / "odd.safetensors", Size(1, 2, 1), options={"norm": norm})
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
    app.query_params["detail"] = "exam"
    app.query_params["details"] = "true"
    app.run()
    switch_page(app, "steps").run()
    config = Translator.load(tmp_path / "odd.safetensors").model.config
    assert config.norm == norm
    layers = {None, 0, config.decoder_layers - 1}
    for station in stations(config):
        if station.layer in layers:
            app.session_state["at"] = station.id
            app.run()
            assert not app.exception, station.id
            assert app.header[0].value == station.title


def walked(open_app: Callable[..., AppTest], station: str, **address: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the browser gets of a walk that opens at a station: the tensors, and the state."""
    app = open_app("steps", at=station, sentence=SENTENCE, **address)
    assert not app.exception
    brought = held_by(app)
    (state,) = components(app, "model_walk")
    assert brought["scene"] == state["scene"]
    return brought, state


@pytest.mark.parametrize(
    ("station", "names"),
    [
        ("encoder.embedding.output", ("tokens", "scaled", "positions", "output")),
        (
            "encoder.layers.1.self_attention.query",
            ("query", "key", "value", "products", "scores", "weights", "context"),
        ),
        ("decoder.layers.2.cross_attention.residual_sum", ("residual_in", "output", "residual_sum", "norm_out")),
        ("decoder.layers.0.feed_forward.hidden", ("hidden", "activated", "output", "residual_sum")),
    ],
)
def test_the_browser_gets_the_very_tensors_of_a_part_of_the_model(
    station: str, names: tuple[str, ...], open_app: Callable[..., AppTest], truth: Truth
) -> None:
    brought, state = walked(open_app, station, detail="exam")
    assert state["at"] == station
    for name in names:
        site = f"{station.rpartition('.')[0]}.{name}"
        assert brought["pictures"][site]["site"] == site
        np.testing.assert_array_equal(brought["tensors"][site], truth[site])


@pytest.mark.parametrize("detail", ["lecture", "exam"])
def test_the_stations_around_one_are_in_the_browser_before_one_goes_there(
    detail: Any, open_app: Callable[..., AppTest], folder: Path
) -> None:
    walk = stations(Translator.load(folder / "en-de.safetensors").model.config, detail)
    for place in range(0, len(walk), 9):
        brought, _ = walked(open_app, walk[place].id, detail=detail)
        assert [station["id"] for station in brought["stations"]] == ids(walk)
        beside = [walk[i].id for i in (place - 1, place, place + 1) if 0 <= i < len(walk)]
        assert set(beside) <= set(brought["pictures"])
        needed = [picture.get("site") for picture in brought["pictures"].values()]
        needed += [part["site"] for picture in brought["pictures"].values() for part in picture.get("parts", [])]
        assert {site for site in needed if site} <= set(brought["tensors"])


def test_the_followed_step_is_the_one_that_attends_most_to_the_followed_word(
    open_app: Callable[..., AppTest], truth: Truth
) -> None:
    brought, state = walked(open_app, "characters", s="2")
    app = open_app("attention", sentence=SENTENCE, kind="cross")
    layer, head = app.session_state["layer"] - 1, app.session_state["head"] - 1  # the clearest
    weights = truth[f"decoder.layers.{layer}.cross_attention.weights"][head]  # (T, S)
    np.testing.assert_array_equal(brought["attending"], weights.argmax(axis=0))
    assert (state["s"], state["t"]) == (1, int(weights[:, 1].argmax()))
    _, chosen = walked(open_app, "characters", s="2", t="1")
    assert (chosen["s"], chosen["t"]) == (1, 0)


def test_each_attention_shows_its_clearest_head_until_one_is_chosen(open_app: Callable[..., AppTest]) -> None:
    _, state = walked(open_app, "characters")
    assert len(state["heads"]) == 2 + 2 * 3  # of two layers of the encoder, of three of the decoder
    app = open_app("attention", sentence=SENTENCE, kind="encoder", layer="2")
    assert state["heads"]["encoder.layers.1.self_attention"] == app.session_state["head"] - 1
    _, state = walked(open_app, "characters", head="2")
    assert state["heads"] == 1


def test_what_the_browser_sends_is_checked_and_walking_chooses_no_head(open_app: Callable[..., AppTest]) -> None:
    def script() -> None:
        import streamlit as st

        from app.compute.subject import Subject
        from app.library.checkpoints import checkpoints
        from app.stage.scene import Selection, scene_of
        from app.views.steps.page import take

        subject = Subject(checkpoints()["en-de"])
        scene = scene_of(subject, "the cat sat", subject.translator.settings, Selection())
        take(scene, st.session_state["told"])

    app = AppTest.from_function(script, default_timeout=PATIENCE)
    for told, expected in (
        ({"at": "decoder.layers.1.cross_attention.weights"}, {"at": "decoder.layers.1.cross_attention.weights"}),
        ({"at": "nonsense", "s": 99, "t": -1, "head": ["pieces", 0], "detail": 3}, {}),
        ({"s": 1, "t": 2, "detail": "exam"}, {"s": 1, "t": 2, "detail": "exam"}),
        (
            {"head": ["encoder.layers.1.self_attention.weights", 3]},
            {"kind": "encoder", "layer": 2, "head": 4},
        ),
    ):
        app.session_state["told"] = told
        for name in ("at", "s", "t", "kind", "layer", "head", "detail"):
            if name in app.session_state:
                del app.session_state[name]
        app.run()
        assert not app.exception
        names = [name for name in ("at", "s", "t", "kind", "layer", "head", "detail") if name in app.session_state]
        assert {name: app.session_state[name] for name in names} == expected


def test_between_decoder_and_encoder_the_head_is_the_one_that_attends_most_to_the_followed_word(
    open_app: Callable[..., AppTest], truth: Truth
) -> None:
    site = "decoder.layers.1.cross_attention.weights"
    app = opened(open_app, site, row=2, s="4")
    head = int(truth[site][:, 2, 3].argmax())
    np.testing.assert_array_equal(numbers(app), truth[site][head])


NUMBERS_IN: dict[Language, str] = {"en": ".", "de": ","}


def test_visitors_in_two_languages_share_no_written_numbers(open_app: Callable[..., AppTest]) -> None:
    for spoken, mark in NUMBERS_IN.items():
        with speaking(spoken):
            brought, _ = walked(open_app, "logits", lang=spoken)
        texts = [offer["probability_text"] for row in brought["pictures"]["logits"]["offers"] for offer in row]
        assert mark in "".join(texts)
        assert (set(".,") - {mark}).isdisjoint("".join(texts))


def test_the_tokens_that_may_come_next_are_sent_for_every_row(open_app: Callable[..., AppTest], truth: Truth) -> None:
    brought, _ = walked(open_app, "logits")
    rows = brought["pictures"]["logits"]["offers"]
    chosen = truth.translation.hypotheses[0].ids
    assert len(rows) == len(chosen)
    for row, logits, id in zip(rows, truth["logits"], chosen, strict=True):
        best = np.sort(logits)[::-1][:11]
        np.testing.assert_array_equal([offer["logit"] for offer in row[:11]], best.astype(np.float64))
        (marked,) = (offer for offer in row if offer["mark"] == "chosen")
        assert marked["logit"] == float(logits[id])
        exact = np.exp(logits.astype(np.float64) - logits.max())
        assert marked["probability"] == pytest.approx(float(exact[id] / exact.sum()))


def test_it_opens_with_the_longest_word_that_a_step_attends_to(open_app: Callable[..., AppTest], truth: Truth) -> None:
    brought, state = walked(open_app, "characters")
    app = open_app("attention", sentence=SENTENCE, kind="cross")
    layer, head = app.session_state["layer"] - 1, app.session_state["head"] - 1  # the clearest
    strongest = truth[f"decoder.layers.{layer}.cross_attention.weights"][head].max(axis=0)  # (S,)
    sure = min(0.5, strongest[:-1].max())
    letters = [
        len(token.strip("▁")) * (weight >= sure) for token, weight in zip(brought["source"], strongest, strict=True)
    ][:-1]  # without </s>
    assert letters[state["s"]] == max(letters)


def test_masks_that_differ_between_heads_are_all_sent() -> None:
    masks = np.ones((3, 2, 2), bool)
    assert _mask(masks).shape == (2, 2)
    masks[1, 0, 1] = False
    assert np.array_equal(_mask(masks), masks)
