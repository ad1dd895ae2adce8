"""Sinusoidal positions, learned ones and none: models that were trained alike except for that, side by side."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from app.components import comparison
from app.components.comparison import Cell, Row
from app.compute import cached_results
from app.compute.small_models import usable
from app.compute.subject import Subject
from app.figures.family_plot import Place, family_alt, family_chart, family_table
from app.figures.theme import fixed, role_color
from app.languages import _, gettext_noop, with_label
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile, checkpoints
from app.library.families import Family, read_families, shipped_members
from app.stage import template
from app.stage.scene import Scene
from app.state.choices import CHECKPOINT
from app.state.events import open_checkpoint
from app.views.positions.likeness import BELOW, HEIGHT, likeness, likeness_chart, likeness_table
from app.views.positions.similarity import OverDistance
from app.views.shared.show_figure import show_figure
from transformer.errors import HeadlightError

OPTION = "model.positions"
NAMES = {
    "sinusoidal": gettext_noop("Sine and cosine"),
    "learned": gettext_noop("Learned"),
    "none": gettext_noop("None"),
}
ALIKE = {
    "sinusoidal": gettext_noop("sine and cosine {near} and {far}"),
    "learned": gettext_noop("learned {near} and {far}"),
}
SCORES = {"bleu": "BLEU", "exact_match": gettext_noop("Exact matches, %")}
SCORES_COMPARED = {
    "bleu": gettext_noop("{learned:.1f} against {sine:.1f} BLEU"),
    "exact_match": gettext_noop("{learned:.1f} against {sine:.1f}% exact matches"),
}
POSITIONS = 20  # of a table, at most: few sentences of the training text are longer, so later rows are hardly trained
CLEARLY = 0.25  # a cosine, or a difference of two
NEXT, FAR = 1, 10  # distances that the sentences name; of short tables the longest distance instead of FAR


def compared(scene: Scene) -> dict[str, CheckpointFile]:
    """The models that are compared, by the kind of their positions: those of the scene's task, if there are some."""
    found = shipped_members(OPTION, scene.task)
    return {kind: found[kind] for kind in NAMES if kind in found}


def prepare_kinds(scene: Scene, files: Mapping[str, CheckpointFile]) -> None:
    """Computes what `draw_kinds` shows, before it is opened."""
    members = usable(files)
    for kind, subject in members.items():
        if kind != "none":
            _table(subject)
        _written(subject, _source(scene, members))


def draw_kinds(scene: Scene, files: Mapping[str, CheckpointFile]) -> None:
    """Draws the scores of each family, how alike positions are, and the translations."""
    members = usable(files)
    families = [family for family in read_families(checkpoints()) if family.option == OPTION and family.scored]
    tables = {kind: _table(subject) for kind, subject in members.items() if kind != "none"}
    kinds = {kind: likeness(table) for kind, table in tables.items()}
    alike = _alike(kinds, min(map(len, tables.values()), default=0))
    named = {_(NAMES[kind]): found for kind, found in kinds.items()}
    with st.container(key="kinds_of_positions"):  # see positions.css
        columns = st.columns([2] * len(families) + [3], gap="medium")
    for family, column in zip(families, columns, strict=False):
        with column:
            _scores(family)
    with columns[-1]:
        title = _("How alike two positions are: the cosine of PE(p) and PE(p+k)")
        show_figure(
            likeness_chart(named, title=title),
            key="likeness",
            name=title,
            alt=with_label(title, alike),
            table=partial(likeness_table, named),
        )
    if members:
        _translations(scene, members)
    else:
        st.text(_("The small models cannot be opened. The page Models says why."))
    template.say(
        *[sentence for sentence in (_reason(kinds, alike), _ours(families), _what_the_paper_says(families)) if sentence]
    )


def _table(subject: Subject) -> np.ndarray:
    """The encoder's first positions, no more than the longest sentence that the recipe allows has: (P, D)."""
    longest = entry(subject.file).longest
    return cached_results.position_table(subject, "encoder", min(POSITIONS, (longest or POSITIONS) + 1))


def _scores(family: Family) -> None:
    name = _(SCORES[family.main])
    places = []
    for member in family.members:
        found, file = member.ours.get(family.main), member.file
        ends = (found.low, found.high) if found and found.runs > 1 else None
        places.append(
            Place(
                _(NAMES.get(str(member.value), member.label)), found.mean if found else None, ends,
                found.runs if found else 0, file is not None, file is not None and file.name == CHECKPOINT.value,
            )
        )  # fmt: skip

    def clicked(place: object) -> None:
        if isinstance(place, int) and (file := family.members[place].file):
            open_checkpoint(file.name)

    title = with_label(name, family.runs)
    figure = family_chart(
        places, title=title, varies=family.text.measured_on, unit=name, percent=family.main == "exact_match"
    )
    figure.layout |= {"height": HEIGHT, "margin": figure.layout["margin"] | {"b": BELOW}}
    show_figure(
        figure,
        key=f"positions_{family.main}",
        name=title,
        alt=family_alt(places, title),
        table=lambda: family_table(places, _("positions"), name),
        on_click=lambda point: clicked(point.customdata),
    )


def _translations(scene: Scene, members: Mapping[str, Subject]) -> None:
    task = next(iter(members.values())).task
    source = _source(scene, members)
    cells = tuple(Cell(*_written(subject, source)) for subject in members.values())
    comparison(
        [_(NAMES[kind]) for kind in members],
        [Row(_("“{sentence}”", sentence=source), cells)],
        title=_("What each of these small models writes"),
        key="kinds_translations",
        color=role_color("decoder"),
        language=task.target_code,
    )


def _source(scene: Scene, members: Mapping[str, Subject]) -> str:
    """The sentence that these models translate: that of the page; if it has another task, an example of theirs."""
    task = next(iter(members.values())).task
    if (task.source, task.target) != (scene.task.source, scene.task.target) and task.examples:
        return task.examples[0]
    return scene.translation.sentence


def _written(subject: Subject, source: str) -> tuple[str, str]:
    """A translation, or why there is none."""
    try:
        found = cached_results.translate_one(subject, source, subject.translator.settings)
    except HeadlightError as error:
        return "–", str(error)
    return found.hypotheses[0].text or _("(nothing)"), ""


def _ours(families: list[Family]) -> str:
    entries = []
    for family in families:
        scores = {member.value: number for member, number in family.scored}
        if not {"sinusoidal", "learned"} <= scores.keys():
            continue
        found = _(SCORES_COMPARED[family.main], learned=scores["learned"].mean, sine=scores["sinusoidal"].mean)
        entries.append(
            _("{scores} ({runs})", scores=found, runs=family.runs)
            if family.is_repeated
            else _("{scores} ({runs}: the difference may be chance)", scores=found, runs=family.runs)
        )
    if not entries:
        return ""
    return _("Trained alike, learned positions and sine reach {scores}.", scores=_(", and ").join(entries))


def _what_the_paper_says(families: list[Family]) -> str:
    """What section 3.5 and table 3 of the paper say."""
    members = [member for family in families for member in family.members if "bleu" in member.paper]
    found = {member.value: member.paper["bleu"] for member in members}
    if not {"sinusoidal", "learned"} <= found.keys():
        return ""
    return _(
        "The paper (section 3.5, table 3 row E) had “nearly identical results”, {learned} against {sine} BLEU, and "
        "chose sine because it “may allow the model to extrapolate” to longer sequences.",
        learned=found["learned"],
        sine=found["sinusoidal"],
    )


def _alike(kinds: Mapping[str, OverDistance], count: int) -> str:
    """The cosines of neighbouring positions and of positions that are far apart, in words; `count`: of how many
    positions."""
    far = min(FAR, *(len(found.mean) - 1 for found in kinds.values())) if kinds else 0
    if far <= NEXT:
        return ""
    entries = [
        _(ALIKE[kind], near=fixed(found.mean[NEXT], 2), far=fixed(found.mean[far], 2)) for kind, found in kinds.items()
    ]
    return _(
        "cosine at distance {near} and {far}, of the first {count} positions: {kinds}",
        near=NEXT,
        far=far,
        count=count,
        kinds="; ".join(entries),
    )


def _reason(kinds: Mapping[str, OverDistance], alike: str) -> str:
    """Why learned positions are not better; `alike`: what `_alike` gives."""
    both = _("Both give each position a vector of its own, and attention needs no more than that.")
    if not alike or "learned" not in kinds:
        text = _(
            "Sinusoidal positions that are near each other are alike before any training; learned positions begin at "
            "random."
        )
    elif _falls(kinds["learned"]):
        text = _(
            "Sinusoidal positions that are near each other are alike before any training; learned positions begin at "
            "random, and training has made near ones alike ({alike}).",
            alike=alike,
        )
    else:
        text = _(
            "Sinusoidal positions that are near each other are alike before any training; learned positions begin at "
            "random, and after this training near ones are hardly more alike than others ({alike}).",
            alike=alike,
        )
    return f"{both} {text}"


def _falls(found: OverDistance) -> bool:
    """Whether positions that are near each other are alike, and clearly more so than those that are far apart."""
    near, far = found.mean[NEXT], found.mean[min(FAR, len(found.mean) - 1)]
    return bool(near > CLEARLY and near - far > CLEARLY)
