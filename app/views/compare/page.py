"""Compare: the translation beside that of another sentence, checkpoint or search, or of the model without edits."""

import math
from functools import partial

import streamlit as st

from app import components
from app.components.outcome import OutcomeRow, OutcomeToken
from app.compute.against_torch import AgainstTorch
from app.compute.compared import Compared, HeadChange, head_changes
from app.figures.axes import in_words
from app.figures.tables import Table
from app.figures.theme import role_color
from app.stage import template
from app.stage.heads import SHORT
from app.stage.scene import NoScene, Scene
from app.state.choices import SIDE
from app.views.compare import torch_side
from app.views.compare.other_side import chosen_sides
from app.views.shared.placed import belongings
from transformer.decoding.translation import Hypothesis


def draw(scene: Scene) -> None:
    """Draws both translations, what changed, and with edits how far each head moved."""
    try:
        sides = chosen_sides(scene)
    except NoScene as problem:
        st.text(str(problem))
        return
    if sides.other is None:
        torch = torch_side.computed(sides.mine)
        found = Compared(torch.written, sides.mine.hypothesis)
    else:
        torch, found = None, Compared(sides.other.hypothesis, sides.mine.hypothesis)
    gone, new = found.changed
    with st.container(key="both_translations"):
        components.outcome(
            (_row(sides.names[0], found.one, gone), _row(sides.names[1], found.other, new)),
            summary=summary(found),
            color=role_color("decoder"),
            language=sides.language,
            key="compared",
        )
    changes: list[HeadChange] = []
    if torch:
        torch_side.draw_stages(torch)
        sentences = torch_side.says(torch, found, scene.config)
    else:
        sentences = _scores(found)
    if SIDE.value == "edits":
        changes = head_changes(scene.subject.original, scene.subject, scene.translation.source_ids, found.one.ids)
        sentences.append(_most(changes[0]))
    template.say(*sentences)
    template.details(partial(_details, found, changes, torch))


def _row(label: str, hypothesis: Hypothesis, changed: tuple[bool, ...]) -> OutcomeRow:
    tokens = [
        OutcomeToken(piece, differs, _written(value), math.exp(value))
        for piece, differs, value in zip(hypothesis.pieces, changed, hypothesis.log_probabilities, strict=True)
    ]
    return OutcomeRow(label, "log-probability", tokens)


def summary(found: Compared) -> str:
    """Where the two part, in one sentence."""
    if found.parts_at is None:
        return "The two translations are the same."
    pieces = [each.pieces[found.parts_at : found.parts_at + 1] for each in (found.one, found.other)]
    one, other = (f"“{in_words(piece[0])}”" if piece else "nothing more" for piece in pieces)
    return f"The two part at token {found.parts_at + 1}: {one} in the first, {other} in the second."


def _scores(found: Compared) -> list[str]:
    one, other = (_written(sum(each.log_probabilities)) for each in (found.one, found.other))
    return [
        f"The log-probability of the first is {one}, that of the second {other}; each is by the model that wrote it."
    ]


def _most(change: HeadChange) -> str:
    if change.moved < 0.0005:
        return "Over the same tokens, no head attends to other tokens than in the original model."
    where = f"head {change.head + 1} of layer {change.layer + 1} ({SHORT[change.kind]})"
    return f"Over the same tokens {where} changes most: {change.moved:.0%} of its weight is on other tokens."


def _details(found: Compared, changes: list[HeadChange], torch: AgainstTorch | None) -> None:
    if torch:
        torch_side.draw_details(torch)
    st.markdown(
        "A token is marked if the longest common parts of the two translations leave it out. Below each token is the "
        "natural logarithm of its probability, given the tokens before it in its own translation."
    )
    if changes:
        st.markdown(
            "Both models read the translation by the original one. The change of a head is half the sum of the "
            "differences of its weights, averaged over its rows: 0 is no change, 1 is other tokens only."
        )
    belongings(key="compared_numbers", name="Heads, the one that changes most first" if changes else "Tokens",
               table=lambda: heads_table(changes) if changes else tokens_table(found), drawn=False)  # fmt: skip


def heads_table(changes: list[HeadChange]) -> Table:
    """A row a head."""
    return {
        "attention": [SHORT[change.kind] for change in changes],
        "layer": [change.layer + 1 for change in changes],
        "head": [change.head + 1 for change in changes],
        "weight moved": [change.moved for change in changes],
    }


def tokens_table(found: Compared) -> Table:
    """A row a token, first those of the first translation."""
    both = [(number, each, changed) for number, (each, changed) in
            enumerate(zip((found.one, found.other), found.changed, strict=True), start=1)]  # fmt: skip
    return {
        "translation": [number for number, each, _ in both for _ in each.pieces],
        "token": [piece for _, each, _ in both for piece in each.pieces],
        "log-probability": [value for _, each, _ in both for value in each.log_probabilities],
        "changed": [str(value) for _, _, changed in both for value in changed],
    }


def _written(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
