"""The walk of Step by step visits the sites of a model in the order of the computation; a lecture is a part of it."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from app.views.steps.stations import Detail, nearest, stations
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from tests.support.steps_page import CONFIGS, ids
from transformer.config import ModelConfig
from transformer.decoding.translator import Translator
from transformer.model import census


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


def test_titles_begin_with_a_capital_and_hold_no_colon() -> None:
    for detail, config in product(get_args(Detail), CONFIGS):
        for station in stations(config, detail):
            assert station.title[0].isupper(), station.title
            assert ":" not in station.title


@pytest.mark.soak
@pytest.mark.parametrize("norm", ["pre", "post"])
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
