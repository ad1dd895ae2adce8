"""The figures of Training's details that a lecture can show alone."""

from collections.abc import Callable

import streamlit as st

from app.languages import _
from app.library.runs import Run, read_run
from app.library.snapshots import run_names
from app.stage.scene import Scene
from app.state.choices import RUN
from app.views.training.loss_section import smoothed_target
from app.views.training.page import opening_run
from app.views.training.run_charts import loss_chart, rate_chart


def _loss(scene: Scene | None) -> None:
    if run := _run(scene):
        loss_chart([run], None, None)


def _rate(scene: Scene | None) -> None:
    if run := _run(scene):
        rate_chart([run], scene)


def _smoothing(scene: Scene | None) -> None:
    if scene:
        st.fragment(smoothed_target)(scene)


def _run(scene: Scene | None) -> Run | None:
    names = run_names()
    run = read_run(RUN.open(opening_run(names, scene), names)) if names else None
    if run is None:
        st.info(_("There is no run whose curves can be shown."))
    return run


FIGURES: dict[str, Callable[[Scene | None], None]] = {
    "label-smoothing": _smoothing,
    "learning-rate": _rate,
    "loss": _loss,
}
