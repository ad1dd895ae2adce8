"""The search settings open with those of the checkpoint's recipe."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from app.stage.search_settings import SHOWN, usual_settings
from tests.support.app_checkpoints import write_checkpoint
from transformer.config import DecodingConfig

SAMPLING = {"method": "sampling", "beam": 1, "n_best": 1, "temperature": 0.7, "top_k": 10, "top_p": 0.9, "seed": 5}


def test_sampling_opens_with_the_values_of_the_recipe(open_app: Callable[..., AppTest], folder: Path) -> None:
    path = write_checkpoint(folder / "drawn.safetensors", search=SAMPLING)
    try:
        app = open_app("translate", checkpoint="drawn", sentence="the cat sat")
        assert not app.exception
        shown = [app.slider(key=key).value for key in ("temperature", "top_p", "draws")]
        assert shown == [0.7, 0.9, SHOWN]
        assert [app.number_input(key=key).value for key in ("top_k", "seed")] == [10, 5]
    finally:
        path.unlink()


def test_the_usual_settings_are_those_that_the_menu_can_show() -> None:
    usual = usual_settings(
        DecodingConfig(method="sampling", beam=1, n_best=1, temperature=50.0, top_k=5000, seed=10**8)
    )
    assert (usual.temperature, usual.top_k, usual.n_best, usual.seed) == (3.0, 1000, SHOWN, 999_999)
    assert usual_settings(DecodingConfig(beam=4, alpha=2.5)).alpha == 2.0
    assert usual_settings(DecodingConfig(beam=2)).n_best == 2
    assert usual_settings(DecodingConfig(method="greedy")).n_best == 1
