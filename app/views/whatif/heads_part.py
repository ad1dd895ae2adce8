"""Which heads matter? Switches of all heads; the translation follows."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.library.source_code import lines_between
from app.stage import template
from app.stage.edit_words import edit_words
from app.stage.scene import Scene
from app.state.choices import EDITS, RANKED
from app.state.edit_choices import add
from app.views.shared.placed import belongings
from app.views.shared.triplet import triplet
from app.views.whatif.before_and_after import before_and_after
from app.views.whatif.part_ranking import LITTLE, Ranking, is_quick, lost_together, rank, ranking_table
from app.views.whatif.switch_data import edits_with, off_parts, switch_data
from transformer.analysis.edits import edit_text


def draw(scene: Scene) -> None:
    """Draws the switches, both translations, and what the ranking of all heads says."""
    line = st.container(key="whatif_ranking", horizontal=True, vertical_alignment="center", gap="small")
    place = st.container(gap=None)
    before_and_after(scene, key="whatif_outcome")
    ranking = _ranked(scene, line)
    with line:
        _strongest(scene, ranking)
    with place:
        with st.container(key="picture_head_switches"):
            components.head_switches(
                switch_data(scene.config, ranking), key="head_switches", on_change=partial(_change, scene)
            )
        if ranking:
            belongings(key="head_switches", name="What each head costs", table=partial(ranking_table, ranking))
    if ranking:
        template.say(*_sentences(scene, ranking))
    template.details(partial(_details, ranking))


def _change(scene: Scene, texts: Sequence[str]) -> None:
    """The parts that are off now; other edits stay."""
    EDITS.choose(edits_with(scene.config, texts))


def _ranked(scene: Scene, line: DeltaGenerator) -> Ranking | None:
    if not RANKED.open(is_quick(scene)):
        return None
    bar = line.empty()

    def progress(done: int, of: int) -> None:
        bar.progress(done / of, f"Ranking all heads: layer {done + 1} of {of}")

    ranking = rank(scene, progress)
    bar.empty()
    return ranking


def _strongest(scene: Scene, ranking: Ranking | None) -> None:
    """Which head matters most, and a button that switches it off; or one that ranks all heads."""
    if ranking is None:
        st.button("Rank all heads", on_click=RANKED.choose, args=(True,))
        return
    head, lost = ranking.heads[0]
    name = edit_words(head).removesuffix(" off")
    with st.container(key="said_strongest", width="content"):
        st.text(f"Most important for this sentence: {name}. Without it the translation loses {lost:.2f} nats.")
    st.button("Switch it off", on_click=add, args=([head],), disabled=edit_text(head) in off_parts(scene.config))


def _sentences(scene: Scene, ranking: Ranking) -> list[str]:
    heads, cheap = ranking.heads, ranking.cheap
    total = sum(max(lost, 0) for _, lost in heads)
    few = heads[: max(len(heads) // 10, 1)]
    share = sum(max(lost, 0) for _, lost in few) / total if total else 0.0
    said = [
        f"Of {len(heads)} heads, {len(cheap)} cost less than {LITTLE} nats when one is off; all of them off together "
        f"cost {lost_together(scene, cheap):.2f}."
        if cheap
        else f"Each of the {len(heads)} heads costs at least {LITTLE} nats.",
        "Michel et al. (2019) removed most heads of larger models, one at a time, without a significant loss.",
    ]
    if len(heads) > 1:
        said.append(
            f"Voita et al. (2019) found that few, specialised heads do most of the work (38 of 48 encoder heads pruned "
            f"for 0.15 BLEU, with training); here the {len(few)} strongest carry {share:.0%} of all losses."
        )
    return said


def _details(ranking: Ranking | None) -> None:
    if ranking:
        st.header("All parts, ranked", anchor=False)
        st.dataframe(
            dict(ranking_table(ranking)),
            hide_index=True,
            column_config={"nats lost": st.column_config.NumberColumn(format="%.3f")},
        )
    triplet(
        "what a head costs",
        r"\Delta_h = \log p(y \mid x) - \log p(y \mid x; W^O_h = 0)",
        "y is the translation by the original model, which the decoder reads (teacher forcing). A head that is off "
        "writes nothing, as if its rows of W^O were 0; the bias of W^O stays. A sub-layer that is off adds nothing to "
        "the residual stream. The ranking is of the original model, one part at a time. Losses of single heads do not "
        "add up: other heads may do the same work. One sentence says little about a head in general.",
        lines_between("analysis/each_edit.py", "log_probabilities_with_each"),
        in_paper=False,
    )
