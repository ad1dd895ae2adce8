"""In the details of Models: the paper's plot; for each family, buttons that open its members, and all its scores."""

from collections.abc import Sequence

import streamlit as st

from app.figures.family_plot import NOT_RUN, Place, family_alt, family_chart, family_table
from app.languages import _
from app.languages.numbers import formatted
from app.library.families import Family, Measure, Member
from app.state.choices import CHECKPOINT
from app.state.events import open_checkpoint
from app.views.models.families_section import chosen_family, plotted
from app.views.models.family_names import TITLES, UNITS, family_heading, family_name, member_label
from app.views.shared.show_figure import show_figure


def family_details(found: Sequence[Family]) -> None:
    """Draws the paper's plot of the chosen family, if it has one, with buttons and a table; then buttons and a table
    for each family that cannot be chosen and has at least two members with scores."""
    if not found:
        return
    family, measure = chosen_family(found)
    st.header(family_heading(family.name), anchor=False)
    _of_the_paper(family, measure)
    _table(family, found.index(family))
    for number, other in enumerate(found):
        if other not in plotted(found) and len(other.scored) > 1:
            named = {"family": family_name(other.name)[1], "runs": other.runs}
            title = (
                _("{family}, {task}: {runs}", **named, task=other.text.toy_task)
                if other.text.is_toy
                else _("{family}, translating: {runs}", **named)
            )
            st.header(title, anchor=False)
            _table(other, number)


def _table(family: Family, number: int) -> None:
    """Buttons that open the members, also with the keyboard, and a table of all scores. `number` tells families of one
    name apart."""
    _members(family, number)
    st.table(_rows(family))
    ours = {"text": family.text.measured_on, "runs": family.runs}
    has_brackets = any(score.runs > 1 for member in family.members for score in member.ours.values())
    sentences = [
        _("Ours: {text}; {runs}, in brackets the lowest and the highest.", **ours)
        if has_brackets
        else _("Ours: {text}; {runs}.", **ours)
    ]
    if any(score.runs == 1 for unused, score in family.scored):
        sentences.append(_("Differences may be chance."))
    sentences.append(
        _(
            "Validation during training uses fewer sentences, so its scores differ from these. The paper's "
            "numbers are of newstest2013, after 100,000 updates on 4.5 million pairs: only the order can be compared, "
            "never the numbers."
        )
    )
    st.caption(" ".join(sentences))
    if family.remarks:
        with st.expander(
            _("Results in another order than the paper's"), key=f"text_disagreements_{number}_{family.name}"
        ):
            for remark in family.remarks:
                st.text(remark)


def _of_the_paper(family: Family, measure: Measure) -> None:
    measure = "bleu" if measure == "exact_match" else measure
    theirs = [Place(member_label(member), member.paper.get(measure)) for member in family.members]
    if all(place.score is None for place in theirs):
        return
    title = _("The paper, table 3: {measure}", measure=_(TITLES[measure]))
    show_figure(
        family_chart(
            theirs,
            title=title,
            varies=family.varies,
            unit=_(UNITS[measure]),
            from_paper=True,
        ),
        key="family_paper",
        name=f"{family.name} - {title}",
        alt=family_alt(theirs, title, from_paper=True),
        table=lambda: family_table(theirs, family.varies, _(UNITS[measure]), from_paper=True),
    )


def _members(family: Family, number: int) -> None:
    with st.container(key=f"family_members_{number}_{family.name}", horizontal=True, gap="small"):
        for member in family.members:
            if member.file:
                is_open = CHECKPOINT.value == member.file.name
                name = member_label(member)
                label = _("Is open: {member}", member=name) if is_open else _("Open: {member}", member=name)
                st.button(
                    label, key=f"open_{number}_{family.name}_{member.stem}",
                    on_click=open_checkpoint, args=(member.file.name,), disabled=is_open,
                )  # fmt: skip


def _rows(family: Family) -> dict[str, list[str]]:
    """One row per member, in the form of the paper's table 3."""

    def ours(member: Member, measure: Measure, digits: int) -> str:
        found = member.ours.get(measure)
        if found is None:
            return _(NOT_RUN)
        mean, low, high = (formatted(value, f",.{digits}f") for value in (found.mean, found.low, found.high))
        return _("{mean} ({low} to {high})", mean=mean, low=low, high=high) if found.runs > 1 else mean

    def of_the_paper(member: Member, measure: Measure, digits: int) -> str:
        return formatted(member.paper[measure], f".{digits}f") if measure in member.paper else "–"

    exact = {_("exact match, %"): [ours(member, "exact_match", 1) for member in family.members]}
    return {
        family.varies: [member_label(member) for member in family.members],
        **(exact if family.text.is_toy else {}),
        "PPL": [ours(member, "perplexity", 2) for member in family.members],
        "BLEU": [ours(member, "bleu", 1) for member in family.members],
        "chrF": [ours(member, "chrf", 1) for member in family.members],
        _("runs"): [str(max((n.runs for n in member.ours.values()), default=0)) for member in family.members],
        _("params ×10⁶"): [
            formatted(member.parameters / 1e6, ".2f") if member.parameters else "" for member in family.members
        ],
        _("PPL, the paper"): [of_the_paper(member, "perplexity", 2) for member in family.members],
        _("BLEU, the paper"): [of_the_paper(member, "bleu", 1) for member in family.members],
    }
