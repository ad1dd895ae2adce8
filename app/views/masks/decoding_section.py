"""A section of Masks, for the decoder: what the causal mask does while the model translates, token by token."""

import streamlit as st

from app.compute import cached_results
from app.figures.attention_stages import plain
from app.languages import _
from app.library.source_code import lines_of_definition
from app.views.masks.decoding_rows import Row, largest_difference, steps_figure, steps_table
from app.views.masks.mask_parts_section import HeadOfBatchSentence
from app.views.shared.rounding import ROUNDING
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet

Ids = tuple[tuple[int, ...], ...]


def while_translating(this: HeadOfBatchSentence, query: int, sources: Ids, targets: Ids) -> None:
    """Compares a row (from 0) of the pass over the whole translation with the cached decoding step of that row."""
    st.header(_("Why is the mask used in decoding, too?"), anchor=False)
    step = min(query, len(targets[this.number]) - 1)
    _explanation(this.scene.subject.window, step)
    if step != query:
        st.markdown(
            _(
                "Row {row} is padding, which no step computes: here is the last row of the sentence, {last}.",
                row=query + 1,
                last=step + 1,
            )
        )
    _draw_rows(this, step, *_rows(this, step, sources[this.number], targets[this.number]))


def _explanation(window: int | None, step: int) -> None:
    row = (
        _(
            "Step t computes only row t. Its keys are those in the cache and its own. Later tokens do not exist yet, "
            "so only the attention window is left to mask."
        )
        if window
        else _(
            "Step t computes only row t. Its keys are those in the cache and its own. Later tokens do not exist yet, "
            "so there is nothing to mask."
        )
    )
    allowed = r"[\,t - k \leq r\,]" if window else r"[\,k \leq t\,] = \text{true}"
    shape = shape_text(("1", "1", "1", "K"), (1, 1, 1, step + 1))
    triplet(
        _("section 3; the cache is not in it"),
        r"\text{mask}_{tk} = " + allowed + r" \qquad k = 1 \dots t",
        _(
            "“At each step the model is auto-regressive, consuming the previously generated symbols as additional "
            "input when generating the next.” {row} The causal mask makes training match decoding. In training, all "
            "rows are computed at once, and because no row attends to later tokens, no row changes when a token is "
            "added: so keys and values can be kept.",
            row=row,
        ),
        lines_of_definition("model/masks.py", "step_mask"),
        shape=shape if window else _("{shape}, or None: no mask at all", shape=shape),
    )


def _rows(this: HeadOfBatchSentence, step: int, source: tuple[int, ...], target: tuple[int, ...]) -> tuple[Row, Row]:
    """The row of this step: of the pass over the whole translation, and of the step."""
    weights, mask = f"{this.site}.weights", f"{this.site}.mask"
    sites = ("decoder.layers.*.self_attention.weights", "decoder.layers.*.self_attention.mask")
    alone = cached_results.record_steps(this.scene.subject, source, target, sites)[step]
    return (
        Row(this.trace[mask][this.head][step], this.trace[weights][this.head][step]),
        Row(alone[mask][this.head][0], alone[weights][this.head][0]),
    )


def _draw_rows(this: HeadOfBatchSentence, step: int, whole: Row, alone: Row) -> None:
    name = _(
        "Decoder self-attention, layer {layer}, head {head}, sentence {sentence}: row {step} of the whole pass and "
        "step {step}",
        layer=this.layer + 1,
        head=this.head + 1,
        sentence=this.number + 1,
        step=step + 1,
    )
    said = _difference_text(step, largest_difference(whole, alone))
    show_figure(
        steps_figure(whole, alone, this.keys, step, window=this.scene.subject.window, title=name),
        key="mask_steps",
        name=name,
        alt=_(
            "{name}. Row {step} with the causal mask may attend to {allowed} of {keys} keys; the step has {kept} keys "
            "and may attend to {kept_allowed}. {said}",
            name=name,
            step=step + 1,
            allowed=int(whole.mask.sum()),
            keys=len(whole.mask),
            kept=len(alone.mask),
            kept_allowed=int(alone.mask.sum()),
            said=said,
        ),
        table=lambda: steps_table(whole, alone, this.keys),
    )
    st.caption(said + " " + _("Empty cells: keys that do not exist yet. Choose another row above."))


def _difference_text(step: int, difference: float) -> str:
    if not difference:
        return _("Largest difference between row {step} of the whole pass and step {step}: none.", step=step + 1)
    if difference < ROUNDING:
        return _(
            "Largest difference between row {step} of the whole pass and step {step}: {difference}, which is rounding.",
            step=step + 1,
            difference=plain(difference),
        )
    return _(
        "Largest difference between row {step} of the whole pass and step {step}: {difference}, because an edit "
        "changes the mask.",
        step=step + 1,
        difference=plain(difference),
    )
