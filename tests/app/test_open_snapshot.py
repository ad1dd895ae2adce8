"""A snapshot of a run opens on every page, with a slider to the other snapshots."""

from pathlib import Path

from tests.support.drawn import open_view
from tests.support.training_page import opened


def test_a_snapshot_opens_on_every_page_by_its_name_in_the_address(toy: Path) -> None:
    app = open_view("attention", checkpoint="toy, update 3")
    assert app.selectbox(key="checkpoint").value == "toy, update 3"
    for name in ("toy, update 4", "../toy, update 3", "none, update 3"):
        assert open_view("attention", checkpoint=name).selectbox(key="checkpoint").value == "en-de"


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
