"""Two sections of Positions: the paper's layout and the other one (all sines, then all cosines), and the rotation from
PE(p) to PE(p + k)."""

import numpy as np
import streamlit as st

from app.compute import cached_results
from app.figures.layouts import LAYOUT_NAMES, layout_table, layouts_figure, same_numbers
from app.figures.sinusoids import Layout, best_rotations, pairs, rotation_error, rotations, turns
from app.figures.theme import number
from app.languages import _
from app.library.catalogue import entry
from app.library.source_code import SourceLines, joined_lines, lines_from
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choice import Between, Choice
from app.state.choices import FROM_POSITION, LAYOUT_WIDTH, OFFSET
from app.views.positions.rotation import rotation_circles, rotation_table
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.analysis.edits.checks import Stack
from transformer.model.positions import sinusoids

FARTHEST = 1024  # the most positions of a table that are used, however many it has


def layout_of(scene: Scene) -> Layout | None:
    """The layout of the sinusoids. None: the table was learned, or there is none."""
    return scene.config.sinusoid_layout if scene.config.positions == "sinusoidal" else None


def table_of(scene: Scene, stack: Stack, count: int = FARTHEST) -> np.ndarray:
    """The first positions of the checkpoint's own table: (P, D)."""
    return cached_results.position_table(scene.subject, stack, count)


def trained_of(scene: Scene) -> int | None:
    """How many learned positions training can have reached: those of the tokens of its longest sentence, and one for
    </s> (in the decoder, for <s>). Positions beyond still have their random initial values. None: positions were not
    learned, or the recipe has no longest sentence."""
    longest = entry(scene.subject.file).longest if scene.config.positions == "learned" else None
    return min(longest + 1, scene.config.max_positions) if longest else None


def untrained_text(scene: Scene, what: str) -> str:
    """A sentence about the positions that no training sentence had; "" where there are none.

    Args:
        what: what is done with them, in the visitor's language: "are left out".
    """
    trained = trained_of(scene)
    if trained is None or trained >= scene.config.max_positions:
        return ""
    return " " + _(
        "No sentence of its training had more than {count} positions. Positions beyond still have their random initial "
        "values, and {what}.",
        count=trained,
        what=what,
    )


@section
def layouts(scene: Scene) -> None:
    """Draws both layouts and the permutation between them, which are the same for all checkpoints with this d_model."""
    own = layout_of(scene)
    st.header(_("Sines left and cosines right, or 2i and 2i+1?"), anchor=False)
    if scene.config.positions == "none":  # then it is the first picture of the details, and is above its explanation
        _layouts_picture(scene, own)
        _layouts_explained(scene, own)
    else:
        _layouts_explained(scene, own)
        _layouts_picture(scene, own)


def _layouts_explained(scene: Scene, own: Layout | None) -> None:
    even = scene.config.d_model + scene.config.d_model % 2
    uses = (
        _("This checkpoint uses **{layout}**.", layout=_(LAYOUT_NAMES[own]))
        if own
        else _("This checkpoint uses neither.")
    )
    triplet(
        _("section 3.5"),
        r"\begin{gathered}PE_{(pos,\,2i)}=\sin(\dots)\\ PE_{(pos,\,2i+1)}=\cos(\dots)\end{gathered}",
        _(
            "The formula puts sine and cosine of a pair side by side. Many pictures, and much code (MarianMT's), have "
            "all sines left and all cosines right. Both are right: they are **the same numbers in another order**, and "
            "the weight matrices behind them learn one order as easily as the other."
        )
        + f" {uses}",
        lines_from(sinusoids, "pair = torch.stack", "return"),
        shape="pair: " + shape_text(("P", "D/2", "2"), (scene.config.max_positions, even // 2, 2)),
    )


def _layouts_picture(scene: Scene, own: Layout | None) -> None:
    even = scene.config.d_model + scene.config.d_model % 2
    choices = sorted({n for n in (8, 16, 32, even) if n <= even})
    LAYOUT_WIDTH.open(16 if even >= 16 else even, choices)
    label = _("d_model of the picture (this checkpoint: {d_model})", d_model=scene.config.d_model)
    st.segmented_control(label, choices, required=True, key=LAYOUT_WIDTH.key, persist_state="session")
    d_model = LAYOUT_WIDTH.value
    show_figure(
        layouts_figure(d_model, own),
        key="layouts",
        name=_("Two layouts of the same numbers, d_model {d_model}", d_model=d_model),
        alt=_(
            "Above, the paper's layout: sine and cosine of each pair side by side. Below, half and half: all sines, "
            "then all cosines. Lines join the places of the same number: even dimensions go left, odd ones right."
        ),
        table=lambda: layout_table(d_model),
    )
    st.caption(
        _(
            "Dimension j of the lower picture is dimension 2j of the upper one in its left half, and 2(j − d/2) + 1 in "
            "its right half. Largest difference after the permutation: **{largest}**.",
            largest=number(same_numbers(d_model), 2),
        )
    )


@section
def rotation(scene: Scene, stack: Stack) -> None:
    """The rotation from PE(p) to PE(p + k), checked against the checkpoint's own table."""
    layout = layout_of(scene)
    table = table_of(scene, stack, trained_of(scene) or FARTHEST)
    if table.shape[1] < 2:
        return
    st.header(_("From one position to another: a rotation"), anchor=False)
    hand = _(
        "“For any fixed offset k, PE(pos+k) can be represented as a linear function of PE(pos).” Each pair is a point "
        "on a circle: k positions later, pair i is rotated by the angle k·ωᵢ, ωᵢ = 10000^(−2i/d), at every position."
    )
    if not layout:
        no_rule = _("Learned positions follow no such rule: the picture shows the rotation that fits each pair best.")
        hand = f"{hand} {no_rule}"
    triplet(
        _("section 3.5"),
        r"\begin{gathered}\begin{pmatrix}\sin((p+k)\,\omega_i)\\\cos((p+k)\,\omega_i)\end{pmatrix}=M_i(k)"
        r"\begin{pmatrix}\sin p\,\omega_i\\\cos p\,\omega_i\end{pmatrix}\\[4pt]"
        r"M_i(k)=\begin{pmatrix}\cos k\omega_i&\sin k\omega_i\\-\sin k\omega_i&\cos k\omega_i\end{pmatrix}"
        r"\end{gathered}",
        hand,
        _code(layout),
        shape="all M: " + shape_text(("D/2", "2", "2"), (table.shape[1] // 2, 2, 2)),
        origin="derived",
    )
    available = len(table)
    farthest = min(64, (available - 1) // 2)
    most = min(64, available - 1 - farthest)
    with st.container(key="rotation_controls", horizontal=True):
        p = _slider(_("Position p"), FROM_POSITION, farthest)
        k = _slider(_("Offset k"), OFFSET, most)
    points = pairs(table, layout or "interleaved")
    matrices = rotations(k, table.shape[1]) if layout else best_rotations(points, k)
    error, share = rotation_error(points, matrices, k)
    title = (
        _("From PE({start}) to PE({end}): each pair turns by its own angle", start=p, end=p + k)
        if layout
        else _("From PE({start}) to PE({end}): the best rotation", start=p, end=p + k)
    )
    show_figure(
        rotation_circles(points, matrices, p, k, title=title, formula=bool(layout)),
        key="rotation",
        name=title,
        alt=_rotation_alt(layout, title=title, k=k, error=number(error, 2)),
        table=lambda: rotation_table(matrices, bool(layout)),
    )
    counts = {"k": k, "positions": available - k, "pairs": len(matrices)}
    checked = (
        _("Rotation · PE(p) against PE(p+{k}), all {positions:,} positions and {pairs:,} pairs of the table:", **counts)
        if available == scene.config.max_positions
        else _(
            "Rotation · PE(p) against PE(p+{k}), the first {positions:,} positions and {pairs:,} pairs of the table:",
            **counts,
        )
    )
    differs = (
        _("largest difference **{error}**, which is the rounding of float32.", error=number(error, 2))
        if layout
        else _(
            "largest difference **{error}**. The root-mean-square error is {share:.0%} of what should come out.",
            error=number(error, 2),
            share=share,
        )
    )
    st.markdown(f"{checked} {differs}" + untrained_text(scene, _("are left out")))


def _rotation_alt(layout: Layout | None, *, title: str, k: int, error: str) -> str:
    values = {"title": title, "k": k, "error": error}
    if layout:
        return _(
            "{title}. Some pairs, drawn as arrows in a circle, from the shortest wavelength to the longest, with the "
            "2 × 2 matrix of each below. Largest difference between what the rotation gives and PE(p+{k}): {error}.",
            **values,
        )
    return _(
        "{title}. Some pairs of dimensions, drawn as arrows in a circle, with the 2 × 2 matrix of each below. Largest "
        "difference between what the rotation gives and PE(p+{k}): {error}.",
        **values,
    )


def _slider(label: str, choice: Choice[int], most: int) -> int:
    choice.open(min(choice.default, most), Between(0, most))
    return st.slider(label, 0, most, key=choice.key, persist_state="session") if most else 0


def _code(layout: Layout | None) -> SourceLines:
    """The code that makes the matrices of the picture: from the formula, or those that fit learned positions best."""
    turned = lines_from(turns, "cos, sin", "return")
    if layout:
        return joined_lines(lines_from(rotations, "return"), turned)
    return joined_lines(lines_from(best_rotations, "before, after", "return"), turned)
