"""The map of Step by step: each station is in one box, and the boxes say what the checkpoint has."""

from itertools import pairwise
from typing import Any, get_args

import pytest

from app.views.steps.model_map import box_of, model_map
from app.views.steps.stations import Detail, stations
from tests.support.steps_page import CONFIGS, Truth
from transformer.config import ModelConfig


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
