"""The numbers of a station, all of them and with all digits: the tables behind the picture of the walk."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from app.compute.edited_cells import edited_rows
from app.compute.layer_norms import norm_at
from app.figures.axes import visible
from app.figures.distribution import Mark, distribution_table, offers
from app.figures.mask_matrix import mask_table
from app.figures.matrix import matrix_table
from app.figures.row_statistics import moments_table
from app.figures.strips import of_norm, strips_table
from app.figures.tensor import tensor_table
from app.figures.token_strip import shifted_table, source_table, target_table
from app.languages import _
from app.stage.scene import Scene
from app.views.shared.number_tables import readable
from app.views.shared.search_code import about_probabilities
from app.views.steps.hidden_units import share_above_zero, units_table
from app.views.steps.station_tensors import before_norm, chosen_row, is_same, joined, kind_at, recorded, rows_of, tensor
from app.views.steps.stations import STACKS, Station

Rows = Mapping[str, Any] | list[dict[str, Any]]  # columns by name, or one dictionary per row


def draw_station_tables(scene: Scene, here: Station, head: int) -> None:
    """Draws the tables of a station, each with a caption; of a tensor with several heads, those of `head`, from 0."""
    place = [_(STACKS[here.stack])]
    if here.layer is not None:
        place.append(_("layer {layer}", layer=here.layer + 1))
    if here.shown_as in ("head", "scores", "weights"):
        place.append(_("head {head}", head=head + 1))
    for name, table, sentence in _tables(scene, here, head):
        st.caption(f"{name or here.title} · {', '.join(place)}. {sentence}")
        st.dataframe(**readable(table), hide_index=True, alt=name or here.title)


def _tables(scene: Scene, here: Station, head: int) -> list[tuple[str, Rows, str]]:
    """The tables of a station, each as (name, numbers, sentence). The name "" means that of the station."""
    match here.shown_as:
        case "characters" | "token_ids" | "shifted" | "logits" | "chosen":
            return [("", *_of_tokens(scene, here))]
        case "scores" | "mask" | "weights":
            return [("", *_of_keys(scene, here, head))]
    values, rows = joined(here, tensor(scene, here)), rows_of(scene, here)
    if here.shown_as == "head":
        values = values[head]
    tables: list[tuple[str, Rows, str]] = [
        ("", tensor_table(values, rows, _("unit")), _("One row per token, one column per unit."))
        if here.shown_as == "hidden"
        else ("", tensor_table(values, rows, _("dimension")), _("One row per token, one column per dimension."))
    ]
    if here.shown_as == "norm":
        row, before = chosen_row(scene, here), before_norm(scene, here)
        name = "x" if here.layer is None or scene.config.norm == "pre" else "z"  # as in the formula
        line = (
            _("Each line is the calculation of one dimension; an edit puts another number in place of its result.")
            if edited_rows(scene.subject, here.site or "", values.shape)[row]
            else _("Each line is the calculation of one dimension.")
        )
        steps = strips_table(of_norm(before[row], values[row], norm_at(scene.subject, here.site or ""), name))
        moments = moments_table(before, values, rows)
        tables += [
            (_("Mean and deviation of each row"), moments, _("Gain γ and shift β move them away from 0 and 1.")),
            (
                _("Row {row}, {token}", row=row + 1, token=visible(rows.tokens[row])),
                steps,
                line,
            ),
        ]
    if here.shown_as == "hidden":
        base = (here.site or "").rpartition(".")[0]
        before, after = (recorded(scene, here)[f"{base}.{name}"] for name in ("hidden", "activated"))
        units = units_table(before, after, rows)
        tables.append((_("Units above zero"), units, _above_zero_text(after, chosen_row(scene, here))))
    return tables


def _above_zero_text(after: np.ndarray, row: int) -> str:
    """How many of the units (R, F) are above zero, for the chosen token and on average."""
    share = share_above_zero(after)
    return _(
        "Of {units:,} units, {share:.0%} are above zero for the chosen token ({above:,}); {mean:.0%} on average over "
        "all tokens.",
        units=after.shape[1],
        share=share[row],
        above=int((after[row] > 0).sum()),
        mean=share.mean(),
    )


def _of_tokens(scene: Scene, here: Station) -> tuple[Rows, str]:
    """Text, tokens and their probabilities."""
    translation, hypothesis = scene.translation, scene.hypothesis
    if here.shown_as == "characters":
        text = translation.source
        rows = [
            {
                _("position"): i,
                _("character"): _("(space)") if ch == " " else visible(ch),
                _("code point"): f"U+{ord(ch):04X}",
            }
            for i, ch in enumerate(text, start=1)
        ]
        return rows, _("{count} characters. The tokens refer to these positions.", count=len(text))
    if here.shown_as == "token_ids":
        return source_table(translation.source_tokens, translation.source), _("▁ marks the start of a word.")
    if here.shown_as == "shifted":
        return shifted_table(scene.target.tokens, scene.target.predicts), _("What each row reads and predicts.")
    if here.shown_as == "chosen":
        probabilities = [float(np.exp(value)) for value in hypothesis.log_probabilities]
        return (
            target_table(hypothesis.tokens, hypothesis.ids, probabilities),
            f"{_who_chose(scene)} {about_probabilities(translation.settings, scene.is_given)}",
        )
    step = chosen_row(scene, here)
    mark: Mark = "given" if step in scene.given_steps else "chosen"
    logits, token_of = scene.record("logits")["logits"][step], scene.subject.translator.tokenizer.token
    found = offers(logits, hypothesis.ids[step], token_of, count=12, mark=mark)
    return distribution_table(found), _(
        "Row {row} of {rows}: the best of {tokens:,} tokens.", row=step + 1, rows=len(scene.target), tokens=len(logits)
    )


def _who_chose(scene: Scene) -> str:
    """Whether the tokens of the translation were predicted or given, and by which row."""
    given = len(scene.given_steps)
    if given == len(scene.target):
        return _("Each token was given, and scored by the row that reads the one before it; then it is read itself.")
    if given:
        return _(
            "You gave some of the tokens, and the model chose the others. Each was scored by the row that reads the "
            "one before it; then it is read itself."
        )
    return _("Each token was predicted by the row that reads the one before it; then it is read itself.")


def _of_keys(scene: Scene, here: Station, head: int) -> tuple[Rows, str]:
    """Queries by keys."""
    kind = kind_at(here)
    queries, keys = scene.axes(kind)
    if here.shown_as == "mask":
        parts = scene.mask_parts(kind)
        masks = tensor(scene, here).astype(bool)  # (H, Q, K)
        said = (
            _("The same for all heads. A masked key gets the score −∞.")
            if is_same(masks)
            else _("That of this head: an edit changes it for some heads. A masked key gets the score −∞.")
        )
        return mask_table(masks[head], parts, queries, keys), said
    found = tensor(scene, here)[head]
    if here.shown_as != "weights":
        said = _("Rows are queries, columns are keys.")
    elif found.any(axis=-1).all():
        said = _("Rows are queries, columns are keys. Each row sums to 1.")
    else:
        said = _("Rows are queries, columns are keys. Each row sums to 1, except fully masked rows.")
    return matrix_table(found, queries, keys), said
