"""A tab of the Attention page: cross-attention of chosen heads read as an alignment of words."""

from functools import partial
from typing import cast

import numpy as np
import streamlit as st

from app import components
from app.figures.attention_lines import attention_lines
from app.figures.axes import TokenAxis
from app.figures.head_sharpness import clarity
from app.figures.matrix import matrix_alt, matrix_table
from app.languages import _, gettext_noop, ngettext, pgettext
from app.languages.numbers import widget_format
from app.library.source_code import lines_from
from app.stage.scene import Scene
from app.state.choice import Between
from app.state.choices import ALIGNMENT_HEADS, SHIFT, THRESHOLD
from app.state.events import choose_head
from app.views.attention.alignment_map_section import drawn_map, measured
from app.views.attention.head_pictures import Chosen
from app.views.attention.soft_alignment import Alignment, Shift, links, pharaoh, word_alignment
from app.views.shared.buttons import buttons
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from transformer.analysis.alignment.alignment_map import Head
from transformer.analysis.alignment.alignment_report import named as head_name

SHIFTS: dict[Shift, str] = {
    "predicts": gettext_noop("rows that predict it"),
    "reads": gettext_noop("rows that read it"),
}
LOWEST, HIGHEST = 0.05, 0.95  # of the threshold
FIRST_HEADS = 3  # how many of the clearest heads are chosen when the tab opens, if no head was measured


def alignment(scene: Scene, chosen: Chosen) -> None:
    """Draws controls for heads, threshold and shift; then the links as a picture, and as text to copy."""
    weights = scene.attention("cross").weights  # (L, H, T, S)
    st.caption(
        _("The encoder-decoder attention of the chosen heads, between words. The computation is explained below.")
    )
    found = measured(scene.subject.file)
    opening: Shift = found.best_shift if found else "predicts"
    shift = cast(Shift, SHIFT.open(opening, SHIFTS))
    heads = _heads(scene, weights, chosen, found.heads_shown_first(shift) if found else None)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        THRESHOLD.open(allowed=Between(LOWEST, HIGHEST))
        threshold = st.slider(
            _("Threshold"),
            LOWEST,
            HIGHEST,
            step=0.05,
            format=widget_format(),
            key=THRESHOLD.key,
            persist_state="session",
            width=340,
            help=_("The smallest weight that counts as a link."),
        )
        buttons(
            SHIFT,
            {each: _(words) for each, words in SHIFTS.items()},
            _("A word is aligned by the"),
            help=_(
                "Row t reads token t and predicts token t + 1. One row predicts a word; the next row reads it, and its "
                "attention often aligns better (Chen et al., 2020)."
            ),
            opening=opening,
        )
    if found:
        drawn_map(found, shift, heads, partial(_choose_heads, chosen))
    _draw_alignment(scene, weights, heads, threshold, shift)
    _formula_and_code(len(scene.target), len(scene.source))


def _choose_heads(chosen: Chosen, heads: list[Head]) -> None:
    """Chooses the heads that were clicked on the map. A single head is chosen for the whole page, too, if the page
    shows cross-attention."""
    ALIGNMENT_HEADS.choose(heads)
    if len(heads) == 1 and chosen.kind == "cross":
        choose_head(*heads[0])


def _draw_alignment(scene: Scene, weights: np.ndarray, heads: list[Head], threshold: float, shift: Shift) -> None:
    """The links of the chosen heads, or a sentence that says why there are none."""
    if not heads:
        st.info(_("Choose at least one head."))
        return
    found = word_alignment(
        np.stack([weights[i, j] for i, j in heads]), scene.source.tokens, scene.target.predicts, shift
    )
    if not found.source or not found.target:
        st.info(_("One side has no words, so there is nothing to align."))
        return
    _links(scene, found, threshold, heads)


def _formula_and_code(target: int, source: int) -> None:
    where = pgettext("in a formula", "link where")
    triplet(
        _("attention as a soft alignment, Bahdanau et al. (2015); from which rows, Chen et al. (2020)"),
        r"A_{ts} = \frac{1}{|\mathcal{H}|}\sum_{h \in \mathcal{H}}\;\frac{1}{|t|}\sum_{i \in t}\,\sum_{j \in s} "
        rf"\alpha^{{h}}_{{ij}} \qquad \text{{{where} }} A_{{ts}} \geq \theta",
        _(
            "The encoder-decoder attention α of the chosen heads, averaged; tokens put together into words (rows "
            "averaged, columns summed); a link where the weight reaches the threshold θ. Special tokens are removed, "
            "and the rows are not normalised again: if most of the weight of a row is on `</s>`, its links stay weak."
        ),
        lines_from(word_alignment, "mean =", "drawn[present]"),
        shape=_("mean: {shape}", shape=shape_text(("T", "S"), (target, source))),
        origin="elsewhere",
    )


def _heads(scene: Scene, weights: np.ndarray, chosen: Chosen, best: list[Head] | None) -> list[Head]:
    """The chosen heads of encoder-decoder attention, (layer, head) from 0. Opens with the best, if they are known."""
    layers, heads = weights.shape[:2]
    every = [(i, j) for i in range(layers) for j in range(heads)]
    clear = clarity(weights, scene.target.predicts, scene.source.tokens)
    clearest = sorted(sorted(every, key=lambda head: -clear[head])[:FIRST_HEADS])
    opening = best or clearest
    if not set(ALIGNMENT_HEADS.open(opening)) <= set(every):
        ALIGNMENT_HEADS.forget()
        ALIGNMENT_HEADS.open(opening)
    found: list[Head] = st.multiselect(
        _("Heads (layer.head)"),
        every,
        format_func=head_name,
        key=ALIGNMENT_HEADS.key,
        persist_state="session",
    )
    presets = {_("The best measured"): best} if best else {}
    presets |= {
        ngettext("The clearest", "The {count} clearest", len(clearest)): clearest,
        _("All"): every,
        **{_("Layer {layer}", layer=i + 1): [(i, j) for j in range(heads)] for i in range(layers)},
    }
    if chosen.kind == "cross":
        presets[_("The head above")] = [(chosen.layer, chosen.head)]
    with st.container(horizontal=True, gap="small"):
        for number, (label, wanted) in enumerate(presets.items()):
            st.button(label, key=f"alignment_preset_{number}", on_click=ALIGNMENT_HEADS.choose, args=(wanted,))
    return found


def _links(scene: Scene, found: Alignment, threshold: float, heads: list[Head]) -> None:
    task = scene.task
    target = TokenAxis(_("{language} (translation), words", language=task.target), "decoder", found.target)
    source = TokenAxis(_("{language} (source), words", language=task.source), "encoder", found.source)
    pairs = links(found.weights, threshold)
    drawn = np.where(found.weights >= threshold, found.weights, 0)  # (T', S')
    title = _("Soft alignment of words, threshold {threshold:.2f}", threshold=threshold)
    with st.container(key="picture_alignment"):
        data = attention_lines(drawn, target, source, title=title, alt=matrix_alt(drawn, target, source, title))
        components.attention_lines(data, key="alignment_lines")
    text = pharaoh(pairs)
    counted = ngettext(
        "{count} link from {source} to {target} words.",
        "{count} links from {source} to {target} words.",
        len(pairs),
        source=len(found.source),
        target=len(found.target),
    )
    names = ", ".join(map(head_name, heads))
    named = ngettext("Head {heads}.", "Heads {heads}.", len(heads), heads=names)
    st.caption(f"{counted} {named}")
    if found.without_row:
        st.caption(_("The translation was cut off, so no row reads its last word: it has no links."))
    st.text(_("Pharaoh format: source-target, counted from 0"))
    st.code(text or _("(no link)"), language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.download_button("Pharaoh", f"{text}\n", "alignment.txt", "text/plain", key="pharaoh", on_click="ignore")
        st.download_button(
            _("The words"),
            f"{' '.join(found.source)} ||| {' '.join(found.target)}\n",
            "words.txt",
            "text/plain",
            key="pharaoh_words",
            on_click="ignore",
            help=_("Both sentences, cut into the words that the numbers count, as for fast_align: source ||| target."),
        )
        download_and_table(key="alignment", name=title, table=lambda: matrix_table(found.weights, target, source))
