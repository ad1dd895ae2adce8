"""The logit lens: what the decoder would predict if it ended after an earlier layer."""

import streamlit as st

from app.components.chart import Point
from app.compute import cached_results
from app.languages import _, gettext_noop
from app.library.source_code import lines_of_definition
from app.stage.scene import Scene
from app.state.choices import STEP
from app.state.detail_choices import LENS_CELLS
from app.views.decoding.lens_figures import LensResult, lens_alt, lens_heatmap, lens_table, lens_width
from app.views.shared.buttons import buttons
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import scrolling, show_figure
from app.views.shared.triplet import triplet

CELLS = {
    "rank": gettext_noop("Rank of the translation's token"),
    "token": gettext_noop("Most probable token there"),
}


def lens_part(scene: Scene, step: int) -> None:
    """All layers and steps at a glance, the chosen step framed; the code."""
    lens_picture(scene, step)
    if scene.config.norm == "pre":
        does = _("All layers add to one residual stream; the output projection reads it after the last.")
    else:
        does = _("All layers add to and normalise one residual stream; the output projection reads it after the last.")
    about = _(
        "Applied after an earlier layer, it shows which token would be predicted from there. The earlier layers were "
        "not trained for this: if the token is not at the top there, that is not an error. Click a column to choose "
        "its step."
    )
    st.caption(f"{does} {about}")
    triplet(
        _("the logit lens (nostalgebraist 2020): the output projection applied to every layer"),
        r"\mathrm{logits}_i = W\,\mathrm{Norm}(x_i)",
        _(
            "The same matrix that makes logits of the last layer's output, applied after each layer i; Norm is the "
            "decoder's last LayerNorm in pre-norm, and nothing in post-norm. The top row is the model itself."
        ),
        lines_of_definition("analysis/logit_lens.py", "project_early"),
        shape=_("x: {x}. logits: {y}", x=shape_text("TD", scene.sizes), y=shape_text("TV", scene.sizes)),
        origin="elsewhere",
    )


def lens_picture(scene: Scene, step: int) -> None:
    """The picture alone, with the choice of what is in its cells."""
    seen = _lens_result(scene)
    shown = buttons(LENS_CELLS, {name: _(title) for name, title in CELLS.items()}, _("In the cells"), says=False)
    if shown == "rank":
        title = _("After each layer: rank of the translation's token, 1 to {count:,}", count=seen.vocabulary)
    else:
        title = _("After each layer: the most probable token")
    with scrolling("lens", lens_width(seen, shown == "token")):
        show_figure(
            lens_heatmap(seen, step=step, title=title, show_tokens=shown == "token"),
            key="lens",
            name=_("Logit lens"),
            alt=lens_alt(seen, title),
            table=lambda: lens_table(seen),
            on_click=_clicked,
        )


def _clicked(cell: Point) -> None:
    STEP.choose(int(cell.x))


def _lens_result(scene: Scene) -> LensResult:
    found = cached_results.logit_lens(scene.subject.as_in_steps, scene.translation.source_ids, scene.hypothesis.ids)
    token_of = scene.subject.translator.tokenizer.token
    tops = [[token_of(int(id)) for id in row] for row in found.top_ids]
    return LensResult(
        found.ranks, found.probabilities, tops, found.top_probabilities, scene.target, scene.config.vocab_size
    )
