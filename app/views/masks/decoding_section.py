"""A section of Masks, for the decoder: what the causal mask does while the model translates, token by token."""

import streamlit as st

from app.compute import cached_results
from app.figures.attention_stages import plain
from app.library.source_code import lines_between
from app.views.masks.decoding_rows import apart, steps_figure, steps_table
from app.views.masks.mask_parts_section import Sentence
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet

Ids = tuple[tuple[int, ...], ...]


def while_translating(this: Sentence, query: int, sources: Ids, targets: Ids) -> None:
    """A row of the pass over the whole translation beside the step that computed it with the cache; `query` from 0."""
    st.header("Why mask while translating, too?", anchor=False)
    window = this.scene.config.attention_window
    row = "only the attention window is left to mask" if window else "there is nothing to mask"
    allowed = r"[\,t - k \leq r\,]" if window else r"[\,k \leq t\,] = \text{true}"
    allowed += r" \quad \text{for the keys } k = 1 \dots t \text{ that there are}"
    step = min(query, len(targets[this.number]) - 1)
    triplet(
        "section 3.1; the cache is not in it",
        r"\text{mask}_{tk} = " + allowed,
        "“At each step the model is auto-regressive, consuming the previously generated symbols as additional input.” "
        f"Step t computes row t alone; its keys are those in the cache and its own, so {row}: the future does not "
        "exist yet. The causal mask makes training match decoding. In training, all rows are computed at once, and "
        "because no row attends to later tokens, no row changes when a token is added: so keys and values can be kept.",
        lines_between("model/masks.py", "step_mask"),
        shape=shape_text(("1", "1", "1", "K"), (1, 1, 1, step + 1)) + ("" if window else ", or None: no mask at all"),
    )
    if step != query:
        st.markdown(
            f"Row {query + 1} is padding, which no step computes: here is the last row of the sentence, {step + 1}."
        )
    weights, mask = f"{this.site}.weights", f"{this.site}.mask"
    steps = cached_results.record_steps(
        this.scene.subject,
        sources[this.number],
        targets[this.number],
        ("decoder.layers.*.self_attention.weights", "decoder.layers.*.self_attention.mask"),
    )
    rows = (
        this.trace[mask][this.head][step],
        this.trace[weights][this.head][step],
        steps[step][mask][this.head][0],
        steps[step][weights][this.head][0],
    )
    name = f"Decoder self-attention, layer {this.layer + 1}, head {this.head + 1}, sentence {this.number + 1}: "
    name += f"row {step + 1} of the whole pass and step {step + 1}"
    difference = apart(rows[1], rows[3])
    said = f"Largest difference between row {step + 1} of the whole pass and step {step + 1}: " + (
        f"{plain(difference)}, which is rounding" if difference else "none"
    )
    placed(
        steps_figure(*rows, this.keys, step, title=name),
        key="mask_steps",
        name=name,
        alt=f"{name}. Row {step + 1} with the causal mask may attend to {int(rows[0].sum())} of {len(rows[0])} keys; "
        f"the step has {len(rows[2])} keys and may attend to {int(rows[2].sum())}. {said}.",
        table=lambda: steps_table(*rows, this.keys),
    )
    st.caption(f"{said}. Empty cells: keys that do not exist yet. Choose another row above.")
