"""Compare: the translation beside that of another sentence, checkpoint or search, or of the model without edits."""

import math
from functools import partial

import streamlit as st

from app import components
from app.components.outcome import OutcomeRow, OutcomeToken
from app.compute.compared import Compared
from app.figures.tables import Table
from app.figures.theme import fixed, role_color
from app.languages import _
from app.stage import template
from app.stage.scene import Scene
from app.stage.text_check import NoScene
from app.state.given_translation import is_of_search
from app.views.compare import torch_side
from app.views.compare.compared_heads import Heads, compared_heads
from app.views.compare.head_maps import draw_heads
from app.views.compare.other_side import Sides, chosen_sides
from app.views.compare.suggestions import suggest
from app.views.shared.show_figure import download_and_table
from app.views.shared.two_translations import summary
from transformer.decoding.translation import Hypothesis


def draw(scene: Scene) -> None:
    """Draws both translations and what changed, and, if the heads can be compared, how far each of them moved."""
    try:
        sides = chosen_sides(scene)
    except NoScene as problem:
        with st.container(key="text_nothing_to_compare"):
            st.text(str(problem))
        suggest(scene)
        return
    if sides.other is None:
        with st.spinner(_("torch.nn translates, without a cache …")):
            torch = torch_side.computed(sides.mine)
        found, heads = Compared(torch.written, sides.mine.hypothesis), Heads()
    else:
        torch, found = None, Compared(sides.other.hypothesis, sides.mine.hypothesis)
        heads = compared_heads(sides.other, sides.mine)
    gone, new = found.changed
    with st.container(key="both_translations" if heads.changes else "only_translations"):
        components.outcome(
            (
                _row(sides.names[0], found.one, gone, with_sum=not heads.changes),
                _row(sides.names[1], found.other, new, with_sum=not heads.changes),
            ),
            summary=summary(found, sides.names),
            color=role_color("decoder"),
            language=sides.language,
            key="compared",
        )
    if found.first_difference is None and not heads.changes and not torch:
        suggest(scene)
    if torch:
        torch_side.draw_stages(torch)
        sentences = torch_side.says(torch, found, scene.config)
    else:
        sentences = [_scores(found, sides), *heads.says]
    if heads.changes:
        draw_heads(heads, sides.names)
    template.say(*sentences)
    template.details(partial(_details, found, heads, bool(torch)))


def _row(label: str, hypothesis: Hypothesis, changed: tuple[bool, ...], *, with_sum: bool) -> OutcomeRow:
    tokens = [
        OutcomeToken(token, differs, _written(value), math.exp(value))
        for token, differs, value in zip(hypothesis.tokens, changed, hypothesis.log_probabilities, strict=True)
    ]
    total = _written(sum(hypothesis.log_probabilities))
    note = _("log-probability, sum {sum}", sum=total) if with_sum else _("log-probability")
    return OutcomeRow(label, note, tokens)


def _scores(found: Compared, sides: Sides) -> str:
    one, other = (_written(sum(each.log_probabilities)) for each in (found.one, found.other))
    values = {"first": sides.names[0], "one": one, "second": sides.names[1], "other": other}
    if sides.mine.is_given and not is_of_search():
        return _(
            "Sum of the log-probabilities: {first} {one}, {second} {other}. The second translation is your own; its "
            "sum is by the model that read it.",
            **values,
        )
    return _(
        "Sum of the log-probabilities: {first} {one}, {second} {other}; each is by the model that wrote it.", **values
    )


def _details(found: Compared, heads: Heads, torch: bool) -> None:
    if torch:
        st.markdown(_(torch_side.EXPLAINED))
    st.markdown(
        _(
            "A token is marked if it is in no part that both translations share. Below each token is the natural "
            "logarithm of its probability, given the tokens before it in its own translation."
        )
    )
    if heads.changes:
        st.markdown(
            _(
                "Both decoders read the same translation: that of the original model if the edited model is compared "
                "with it, otherwise yours. Two sentences can be compared where some tokens are replaced by equally "
                "many others. The change of a head is half the sum of the absolute differences of its weights, "
                "averaged over its rows: 0 is no change, 1 is other tokens only. Colours follow the square root, so "
                "that small weights are seen, too."
            )
        )
        st.markdown(
            _(
                "In one checkpoint a head is compared with itself. The heads of two checkpoints have no common order, "
                "so each is compared with the one of the other that is most like it: the pairs are the one-to-one "
                "assignment with the smallest sum of changes, found exactly (Hungarian method), for each kind of "
                "attention over all layers."
            )
        )
    name = _("Tokens of both translations")
    download_and_table(key="compared_numbers", name=name, table=lambda: tokens_table(found), drawn=False)


def tokens_table(found: Compared) -> Table:
    """One row per token, first those of the first translation."""
    both = [(number, each, changed) for number, (each, changed) in
            enumerate(zip((found.one, found.other), found.changed, strict=True), start=1)]  # fmt: skip
    return {
        _("translation"): [number for number, each, changed in both for token in each.tokens],
        _("token"): [token for number, each, changed in both for token in each.tokens],
        _("log-probability"): [value for number, each, changed in both for value in each.log_probabilities],
        _("changed"): [str(value) for number, each, changed in both for value in changed],
    }


def _written(value: float) -> str:
    return fixed(value, 2)
