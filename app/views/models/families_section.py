"""Models: a family as a plot, a click on which opens that member; in the details the paper's numbers beside it."""

from typing import cast

import streamlit as st

from app.library.families import Families, Family, Measure, Member
from app.state.choices import CHECKPOINT, FAMILY, MEASURE, open_checkpoint
from app.views.models.family_plot import NOT_RUN, Place, family_alt, family_chart, family_table
from app.views.shared.buttons import buttons
from app.views.shared.placed import placed

TITLES: dict[Measure, str] = {"bleu": "BLEU", "chrf": "chrF", "perplexity": "Perplexity"}
UNITS: dict[Measure, str] = {"bleu": "BLEU", "chrf": "chrF", "perplexity": "perplexity of a token"}


def family_picture(found: Families) -> None:
    """The chosen family as a plot, with the choice of the family and of the score above it."""
    if not found.families:
        st.caption(
            "Not run. `python -m transformer queue families` trains small models that differ in one thing (heads, "
            "positions, layers, the mask), and its `--report` writes `families.json`. Put that file beside the "
            "checkpoints to see the scores here."
        )
        return
    family, measure = _chosen(found)
    with st.container(key="choose_family", horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "What differs", [one.name for one in found.families],
            format_func=lambda name: f"What differs: {_name(name)}", key=FAMILY.key, persist_state="session", width=270,
            label_visibility="collapsed",
        )  # fmt: skip
        buttons(MEASURE, TITLES, "Score", says=False)
    ours = [_place(member, measure, CHECKPOINT.value) for member in family.members]
    title = f"{TITLES[measure]} over {family.varies}"
    placed(
        family_chart(ours, title=title, varies=family.varies, unit=UNITS[measure]),
        key="family_ours",
        name=f"{family.name} - {title}",
        alt=family_alt(ours, title),
        table=lambda: family_table(ours, family.varies, UNITS[measure]),
        on_click=lambda point: _clicked(family, point.customdata),
    )


def _chosen(found: Families) -> tuple[Family, Measure]:
    name = FAMILY.open(found.clearest.name, [one.name for one in found.families])
    measure = cast(Measure, MEASURE.open(allowed=TITLES))
    return next(one for one in found.families if one.name == name), measure


def says(found: Families) -> list[str]:
    """What the plot shows; at first, also why this family."""
    if not found.families:
        return []
    said = [
        f"The plot compares small models that differ in one thing, measured on {found.measured_on}; click a filled "
        "point to open that model."
    ]
    family = found.clearest
    if family.ends and FAMILY.value == family.name:
        low, high = (f"{member.label}: {member.ours['bleu'].mean:.1f}" for member in family.ends)
        seeds = max(member.ours["bleu"].seeds for member in family.ends)
        runs = "one run each" if seeds == 1 else f"means of up to {seeds} runs"
        said.append(f"Shown first is what changes BLEU most: {family.varies} ({high}, {low}; {runs}).")
    return said


def _name(family: str) -> str:
    return family.replace("-", " ")


def families_in_full(found: Families) -> None:
    """The chosen family beside the paper's, as buttons and as a table."""
    if not found.families:
        return
    family, measure = _chosen(found)
    st.header(f"What differs: {_name(family.name)}", anchor=False)
    _papers(family, measure)
    _members(family)
    st.table(_rows(family))
    st.caption(
        f"Ours: BLEU and chrF on {found.measured_on}; perplexity of a token of the same text. While it is trained, a "
        "member is validated with a greedy search on fewer sentences, so those scores differ. The spread is the "
        "standard deviation over the seeds; one seed has none. The paper's numbers are of newstest2013, after 100,000 "
        "updates on 4.5 million pairs: only the order can be compared, never the numbers."
    )
    if found.remarks:
        with st.expander("Where the order is not the paper's", key="said_disagreements"):
            for remark in found.remarks:
                st.text(remark)


def _papers(family: Family, measure: Measure) -> None:
    theirs = [Place(member.label, member.paper.get(measure)) for member in family.members]
    if all(place.score is None for place in theirs):
        return
    papers = f"The paper, table 3: {TITLES[measure]}"
    placed(
        family_chart(theirs, title=papers, varies=family.varies, unit=UNITS[measure], papers=True),
        key="family_paper",
        name=f"{family.name} - {papers}",
        alt=family_alt(theirs, papers, papers=True),
        table=lambda: family_table(theirs, family.varies, UNITS[measure], papers=True),
    )


def _place(member: Member, measure: Measure, opened: object) -> Place:
    found = member.ours.get(measure)
    ships = member.file is not None
    is_open = member.file is not None and member.file.name == opened
    if found is None:
        return Place(member.label, None, opens=ships, is_open=is_open)
    return Place(member.label, found.mean, found.spread, found.seeds, ships, is_open)


def _clicked(family: Family, place: object) -> None:
    if isinstance(place, int) and 0 <= place < len(family.members):
        file = family.members[place].file
        if file:
            open_checkpoint(file.name)


def _members(family: Family) -> None:
    """The same as buttons, for whoever has no mouse."""
    with st.container(key="family_members", horizontal=True, gap="small"):
        for member in family.members:
            if member.file:
                is_open = CHECKPOINT.value == member.file.name
                st.button(
                    f"{'Is open' if is_open else 'Open'}: {member.label}", key=f"open_{family.name}_{member.name}",
                    on_click=open_checkpoint, args=(member.file.name,), disabled=is_open,
                )  # fmt: skip


def _rows(family: Family) -> dict[str, list[str]]:
    """A row a member, in the form of the paper's table 3."""

    def ours(member: Member, measure: Measure, digits: int) -> str:
        found = member.ours.get(measure)
        if found is None:
            return NOT_RUN
        spread = "" if found.spread is None else f" ± {found.spread:.{digits}f}"
        return f"{found.mean:,.{digits}f}{spread}"

    def papers(member: Member, measure: Measure, digits: int) -> str:
        return f"{member.paper[measure]:.{digits}f}" if measure in member.paper else "–"

    return {
        family.varies: [member.label for member in family.members],
        "PPL": [ours(member, "perplexity", 2) for member in family.members],
        "BLEU": [ours(member, "bleu", 1) for member in family.members],
        "chrF": [ours(member, "chrf", 1) for member in family.members],
        "seeds": [str(max((n.seeds for n in member.ours.values()), default=0)) for member in family.members],
        "params ×10⁶": [f"{member.parameters / 1e6:.2f}" if member.parameters else "" for member in family.members],
        "PPL, the paper": [papers(member, "perplexity", 2) for member in family.members],
        "BLEU, the paper": [papers(member, "bleu", 1) for member in family.members],
    }
