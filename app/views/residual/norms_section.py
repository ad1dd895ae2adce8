"""Section of the page Residual stream: what every LayerNorm of a stack does to the shown token."""

from functools import partial

import numpy as np
import streamlit as st

from app.compute.layer_norms import norm_at
from app.figures.axes import TokenAxis
from app.figures.row_statistics import before_and_after, moments_table
from app.figures.strips import of_norm
from app.languages import _
from app.stage.scene import Scene
from app.views.residual.sentences import replaced_norms
from app.views.residual.stream import Stream
from app.views.shared.shapes import length_letter, shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from app.views.shared.vector_strips import placed_strips


def norms(scene: Scene, one: Stream, row: int, which: str) -> None:
    """Draws mean and deviation before and after each LayerNorm, and all numbers of the last LayerNorm.

    `which` is the shown token, in words.
    """
    st.header(_("LayerNorm, sub-layer by sub-layer"), anchor=False)
    stack, names = one.subs[0].stack, [sub.name for sub in one.subs]
    sites = [f"{sub.site}.norm_out" for sub in one.subs]
    before, after = one.to_norm, one.normed  # (U, D)
    if scene.config.norm == "pre":  # a pre-norm stack has one more LayerNorm at its end
        top = scene.record(f"{stack}.norm_out")[f"{stack}.norm_out"][row]  # (D)
        before, after = np.vstack([before, one.after[-1]]), np.vstack([after, top])  # (U + 1, D)
        names.append(_("the last"))
        sites.append(f"{stack}.norm_out")
    learned = [norm_at(scene.subject, site) for site in sites]
    axis = TokenAxis(_("sub-layers"), stack, tuple(names))
    title = _("Before and after each LayerNorm, {token}", token=which)
    show_figure(
        before_and_after(before, after, axis, title=title),
        key="moments",
        name=title,
        alt=_("{title}: mean and deviation, each at its own scale; the table has the numbers.", title=title),
        table=partial(moments_table, before, after, axis, learned),
    )
    placed_strips(
        of_norm(before[-1], after[-1], learned[-1]),
        key="last_norm",
        title=_("The last of them, number by number, {token}", token=which),
    )
    st.caption(
        _(
            "The colours of each strip end at its largest number, or at three times its root mean square if that is "
            "smaller. Step by step has these numbers for every LayerNorm."
        )
    )
    if scene.config.norm == "post" and (replaced := replaced_norms(one)):
        st.caption(" ".join(replaced))
    triplet(
        _("section 3.1 (Ba et al. 2016)"),
        r"\mathrm{LayerNorm}(x) = \gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
        _(
            "However long the stream has become, every row gets mean 0 and deviation 1, so the length √d_model; then "
            "the learned gain γ and shift β stretch and move it."
        ),
        f"{one.subs[0].site}.norm_out",
        shape=shape_text((length_letter(stack), "D"), scene.sizes),
        pre_norm=scene.config.norm == "pre",
    )
