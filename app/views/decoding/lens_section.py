"""The logit lens: what the decoder would predict if it ended after an earlier layer."""

import streamlit as st

from app.components.chart import Point
from app.compute import cached_results
from app.library.source_code import lines_between
from app.stage.scene import Scene
from app.state.choices import STEP
from app.views.decoding.lens_figures import Seen, lens_alt, lens_bars, lens_table, lens_wall, lens_width
from app.views.shared.placed import placed, scrolling
from app.views.shared.triplet import shape_text, triplet

CELLS = {"rank": "Rank of the translation's token", "piece": "Most probable token there"}
_TITLES = {
    "rank": "After each layer: rank of the translation's token, 1 to {}",
    "piece": "After each layer: the most probable token",
}


def lens_part(scene: Scene, step: int) -> None:
    """All layers and steps at a glance; the chosen step layer by layer; the code."""
    seen = _seen(scene)
    shown = st.segmented_control(
        "In the cells",
        list(CELLS),
        format_func=CELLS.__getitem__,
        default="rank",
        required=True,
        key="lens_cells",
        label_visibility="collapsed",
    )
    title = _TITLES[shown].format(f"{seen.vocabulary:,}")
    with scrolling("lens", lens_width(seen, shown == "piece")):
        placed(
            lens_wall(seen, step=step, title=title, show_pieces=shown == "piece"),
            key="lens",
            name="Logit lens",
            alt=lens_alt(seen, title),
            table=lambda: lens_table(seen),
            on_click=_clicked,
        )
    title = f"Step {step + 1}, layer by layer"
    placed(
        lens_bars(seen, step, title=title),
        key="lens_step",
        name=f"Logit lens, step {step + 1}",
        alt=f"{title}: " + "; ".join(seen.told(i, step).replace("<br>", ", ") for i in range(len(seen.ranks))),
        table=lambda: lens_table(seen, step),
    )
    does = "add to" if scene.config.norm == "pre" else "add to and normalise"
    st.caption(
        f"All layers {does} one residual stream; the output projection reads it after the last. Read earlier, it shows "
        "what the decoder would have said. Nobody trained the earlier layers to be read: a token that ranks far down "
        "there is no mistake. Click a column to choose its step."
    )
    triplet(
        "the residual stream (section 3.1) seen through the output projection (section 3.4)",
        r"\mathrm{logits}_i = W\,\mathrm{Norm}(x_i)",
        "The same matrix that makes logits of the last layer's output, applied after each layer i; Norm is the "
        "decoder's last LayerNorm in pre-norm, and nothing in post-norm. The top row is the model itself.",
        lines_between("analysis/logit_lens.py", "project_early"),
        shape="x: " + shape_text("TD", scene.sizes) + ". logits: " + shape_text("TV", scene.sizes),
        in_paper=False,
    )


def _clicked(cell: Point) -> None:
    STEP.choose(int(cell.x))


def _seen(scene: Scene) -> Seen:
    found = cached_results.logit_lens(scene.subject, scene.translation.source_ids, scene.hypothesis.ids)
    piece = scene.subject.translator.tokenizer.piece
    tops = [[piece(int(id)) for id in row] for row in found.top_ids]
    return Seen(found.ranks, found.probabilities, tops, found.top_probabilities, scene.target, scene.config.vocab_size)
