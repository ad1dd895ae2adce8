"""Models: the plot of a family. A click on a point opens that model. family_details.py draws the paper's numbers."""

from collections.abc import Sequence
from typing import cast

import streamlit as st

from app.figures.family_plot import Place, family_alt, family_chart, family_table
from app.languages import _
from app.languages.numbers import formatted
from app.library.families import Family, Measure, Member
from app.library.names import member_name
from app.state.choices import CHECKPOINT, FAMILY, MEASURE
from app.state.events import open_checkpoint
from app.views.models.family_names import TITLES, UNITS, family_heading, member_label
from app.views.shared.buttons import buttons
from app.views.shared.show_figure import show_figure

TRANSLATION_MEASURES: tuple[Measure, ...] = ("bleu", "chrf", "perplexity")


def family_picture(found: Sequence[Family]) -> None:
    """The chosen family as a plot, with the choice of the family and of the score above it."""
    if not found:
        st.caption(
            _(
                "Not trained here. `python -m transformer queue families` trains small models that differ in one thing "
                "(heads, positions, layers, the mask), and its `--report` writes `families.json`. Put that file beside "
                "the checkpoints to see the scores here."
            )
        )
        return
    family, measure = chosen_family(found)
    with st.container(key="choose_family", horizontal=True, vertical_alignment="bottom", gap="small"):
        names = [one.name for one in plotted(found)]
        st.selectbox(
            _("What differs"), names, format_func=family_heading, key=FAMILY.key,
            persist_state="session", width=270, label_visibility="collapsed",
        )  # fmt: skip
        if not family.text.is_toy:
            buttons(MEASURE, {each: _(TITLES[each]) for each in TRANSLATION_MEASURES}, _("Score"), says=False)
    measured = {"text": family.text.measured_on, "runs": family.runs}
    st.caption(
        _("{text}; {runs}: the bar goes from the lowest to the highest", **measured)
        if family.is_repeated
        else _("{text}; {runs}: differences may be chance", **measured)
    )
    ours = [_place(member, measure, CHECKPOINT.value) for member in family.members]
    title = _("{measure}, by {varies}", measure=_(TITLES[measure]), varies=family.varies)
    show_figure(
        family_chart(ours, title=title, varies=family.varies, unit=_(UNITS[measure]), percent=measure == "exact_match"),
        key="family_ours",
        name=f"{family.name} - {title}",
        alt=family_alt(ours, title),
        table=lambda: family_table(ours, family.varies, _(UNITS[measure])),
        on_click=lambda point: _clicked(family, point.customdata),
    )


def plotted(found: Sequence[Family]) -> list[Family]:
    """Families with several runs per member, or all if there are none; for each name only the first."""
    first: dict[str, Family] = {}
    for family in [family for family in found if family.is_repeated] or found:
        first.setdefault(family.name, family)
    return list(first.values())


def chosen_family(found: Sequence[Family]) -> tuple[Family, Measure]:
    """The family and the measure that the plot shows."""
    offered = plotted(found)
    clearest = max(offered, key=lambda family: family.effect)
    name = FAMILY.open(clearest.name, [one.name for one in offered])
    family = next(one for one in offered if one.name == name)
    return family, "exact_match" if family.text.is_toy else cast(Measure, MEASURE.open(allowed=TRANSLATION_MEASURES))


def drawn_members(found: Sequence[Family]) -> set[str]:
    """Names of the checkpoints whose points can be clicked in the plot."""
    return {member.file.name for member in chosen_family(found)[0].members if member.file} if found else set()


def says(found: Sequence[Family]) -> list[str]:
    """What the plot compares, and whether the order is the paper's."""
    if not found:
        return []
    family = chosen_family(found)[0]
    sentences = [
        _(
            "The plot compares small models that differ in one thing; their task is {task}.",
            task=family.text.toy_task,
        )
        if family.text.is_toy
        else _("The plot compares small models that translate and differ in one thing.")
    ]
    if drawn_members(found):
        sentences.append(_("Click a filled point to open that model."))
    papers = [member for member in family.members if "bleu" in member.paper]
    if len(papers) < 2:
        return sentences
    theirs = ", ".join(f"{formatted(member.paper['bleu'], '.1f')} ({member_label(member)})" for member in papers)
    if not family.unlike_paper:
        return [*sentences, _("The order does not contradict the paper's, whose BLEU is {theirs}.", theirs=theirs)]
    better, worse = family.unlike_paper[0]
    named = {
        "theirs": theirs,
        "measure": _(TITLES[family.main]),
        "better": member_name(family, better),
        "worse": member_name(family, worse),
    }
    unlike = (
        _(
            "The paper's BLEU: {theirs}. Here the order differs ({measure}): the mean of {better} is above that of "
            "{worse}.",
            **named,
        )
        if _is_apart(better, worse, family.main)
        else _(
            "The paper's BLEU: {theirs}. Here the order differs ({measure}): the mean of {better} is above that of "
            "{worse}, which may be chance.",
            **named,
        )
    )
    return [*sentences, unlike]


def _is_apart(better: Member, worse: Member, measure: Measure) -> bool:
    above, below = better.ours[measure], worse.ours[measure]
    return min(above.runs, below.runs) > 1 and above.low > below.high


def _place(member: Member, measure: Measure, opened: object) -> Place:
    found = member.ours.get(measure)
    ships = member.file is not None
    is_open = member.file is not None and member.file.name == opened
    if found is None:
        return Place(member_label(member), None, opens=ships, is_open=is_open)
    ends = (found.low, found.high) if found.runs > 1 else None
    return Place(member_label(member), found.mean, ends, found.runs, ships, is_open)


def _clicked(family: Family, place: object) -> None:
    if isinstance(place, int) and 0 <= place < len(family.members):
        file = family.members[place].file
        if file:
            open_checkpoint(file.name)
