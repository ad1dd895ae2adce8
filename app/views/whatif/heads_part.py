"""Which heads matter? Switches of all heads; the translation follows."""

from collections.abc import Hashable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.figures.shares import Share
from app.figures.theme import fixed
from app.languages import _, gettext_noop, ngettext
from app.library.source_code import lines_of_definition
from app.stage import template
from app.stage.question_card import predict
from app.stage.scene import Scene
from app.state.choices import EDITS, RANKED, TAKEN
from app.state.edit_choices import add
from app.views.shared.buttons import buttons
from app.views.shared.number_tables import readable
from app.views.shared.parts_off import edits_with, off_parts
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import triplet
from app.views.whatif.before_and_after import before_and_after
from app.views.whatif.part_names import HEADS_IN_SENTENCE, SUBLAYERS_IN_SENTENCE, part_name
from app.views.whatif.part_ranking import LITTLE, Ranking, changing, is_quick, lost_together, rank, ranking_table, tried
from app.views.whatif.switch_data import switch_data
from transformer.analysis.edits import HeadOff, SublayerOff, edit_text

TAKEN_NAMES = {
    "sublayer": gettext_noop("Oval: sub-layer off"),
    "residual": gettext_noop("Oval: residual connection off"),
}
# In the session, each with what it depends on: the last ranking; the part without which the translation changes
_LAST, _CHANGING = "whatif last ranking", "whatif last changing part"


def draw(scene: Scene) -> None:
    """Draws the switches, both translations, and what the ranking of all heads says.

    There are three stages, and each is drawn in the place of the one before: the switches in plain colours and the
    translations; what each part costs, once all are ranked; whether the translation changes without the most important
    parts.
    """
    names = {taken: _(name) for taken, name in TAKEN_NAMES.items()}
    buttons(TAKEN, names, _("What the oval switches take away"), says=False)
    line = st.container(key="whatif_ranking", horizontal=True, vertical_alignment="center", gap="small")
    is_wanted = RANKED.open(is_quick(scene))
    ranking = _kept(scene) if is_wanted else None
    if not is_wanted:
        line.button(_("Rank all heads"), on_click=RANKED.choose, args=(True,))
    bar = _bar(line) if is_wanted and not ranking else None
    with st.container(gap=None):
        with st.container(key="picture_head_switches"):
            components.head_switches(
                switch_data(scene, ranking), key="head_switches", on_change=partial(_change, scene)
            )
        if ranking:
            download_and_table(
                key="head_switches", name=_("What each head costs"), table=partial(ranking_table, ranking)
            )
    before_and_after(scene, key="whatif_outcome")
    if is_wanted:
        template.say(*(_sentences(scene, ranking) if ranking else ()))
    predict(scene, "head-off")
    template.details(partial(_details, ranking))
    if ranking:
        with line:
            _suggestion(scene, ranking)
    if bar is not None:
        st.session_state[_LAST] = _asked(scene), rank(scene, partial(_show_progress, bar))
        st.rerun()


def prepare(scene: Scene) -> None:
    """Computes what each part costs, before the experiment is opened."""
    if RANKED.open(is_quick(scene)):
        st.session_state[_LAST] = _asked(scene), rank(scene, lambda done, layers: None)


def _change(scene: Scene, texts: Sequence[str]) -> None:
    """Takes over which parts are off now; other edits stay."""
    EDITS.choose(edits_with(scene.config, texts))


def _asked(scene: Scene) -> Hashable:
    """What a ranking depends on."""
    return scene.subject.original, scene.translation.source_ids, scene.translation.settings


def _kept(scene: Scene) -> Ranking | None:
    """The ranking that this visitor has seen last, if it is of this sentence."""
    asked, ranking = st.session_state.get(_LAST, (None, None))
    return ranking if asked == _asked(scene) else None


def _bar(line: DeltaGenerator) -> DeltaGenerator:
    """A bar that shows how far the ranking is, in place of everything that the line said of an earlier sentence."""
    places = [line.empty() for place in ("what it says", "its first button", "its second")]
    return places[0].progress(0.0, _("Computing what each part costs"))


def _show_progress(bar: DeltaGenerator, done: int, of: int) -> None:
    text = _("Computing what each part costs: layer {layer} of {layers}", layer=done + 1, layers=of)
    bar.progress(done / of, text)


def _suggestion(scene: Scene, ranking: Ranking) -> None:
    """Whether the translation changes without the head that matters most; if not, a part without which it does. Each
    has a button that switches it off."""
    asked, part = st.session_state.get(_CHANGING, (None, None))
    if asked != _asked(scene):
        part = changing(scene, ranking)
        st.session_state[_CHANGING] = _asked(scene), part
    head = ranking.heads[0][0]
    name = _name(ranking, head)
    if part == head:
        message = _("The translation changes without the most important head, {head}.", head=name)
    else:
        message = _("The translation stays the same without the most important head, {head}.", head=name)
    if part is None:
        count = len(tried(ranking))
        none = _("None of the {count} parts that were tried changes it when it alone is off.", count=count)
        message = f"{message}\n{none}"
    elif part != head:
        changing_part = _("It changes without {part}.", part=_name(ranking, part))
        message = f"{message}\n{changing_part}"
    with st.container(key="text_strongest", width="content"):
        st.text(message)
    off = off_parts(scene.config)
    for each in dict.fromkeys((head, part or head)):
        text = edit_text(each)
        st.button(_button(each), key=f"switch {text}", on_click=add, args=([each],), disabled=text in off)


def _name(ranking: Ranking, part: HeadOff | SublayerOff) -> str:
    """The part, named as in the middle of a sentence, with what the translation loses without it."""
    name = part_name(part, HEADS_IN_SENTENCE, SUBLAYERS_IN_SENTENCE)
    return _("{part} ({lost} nats)", part=name, lost=fixed(ranking.lost[part], 2))


def _button(part: HeadOff | SublayerOff) -> str:
    """The label of a button for a part that the sentence beside the button names."""
    if isinstance(part, HeadOff):
        return _("Switch head {head} off", head=edit_text(part).split(".", 1)[1])
    if part.sublayer == "feed_forward":
        return _("Switch feed-forward {layer} off", layer=part.layer + 1)
    return _("Switch all of layer {layer} off", layer=part.layer + 1)


def _sentences(scene: Scene, ranking: Ranking) -> list[str]:
    heads, cheap = ranking.heads, ranking.cheap
    total = sum(max(lost, 0) for head, lost in heads)
    few = heads[: max(len(heads) // 10, 1)]
    sentences = [
        ngettext(
            "Of {heads} heads, {count} costs less than {little} nats when it is off: {together} nats.",
            "Of {heads} heads, {count} cost less than {little} nats when one is off; these {count} off together cost "
            "{together} nats.",
            len(cheap),
            heads=len(heads),
            little=LITTLE,
            together=fixed(lost_together(scene, cheap), 2),
        )
        if cheap
        else _("Each of the {heads} heads costs at least {little} nats.", heads=len(heads), little=LITTLE),
        _(
            "Michel et al. (2019) found that most single heads of larger models can be removed without a significant "
            "loss, one head at a time."
        ),
    ]
    if total:
        sentences.append(
            ngettext(
                "Voita et al. (2019) found that few, specialised heads do most of the work (38 of 48 encoder heads "
                "pruned for 0.15 BLEU, with training); here the strongest one carries {share:.0%} of all losses.",
                "Voita et al. (2019) found that few, specialised heads do most of the work (38 of 48 encoder heads "
                "pruned for 0.15 BLEU, with training); here the {count} strongest carry {share:.0%} of all losses.",
                len(few),
                share=Share(sum(max(lost, 0) for head, lost in few) / total),
            )
        )
    return sentences


def _details(ranking: Ranking | None) -> None:
    if ranking:
        st.header(_("All parts, ranked"), anchor=False)
        digits = {_("nats lost"): 3}
        st.dataframe(
            **readable(dict(ranking_table(ranking)), digits),
            hide_index=True,
        )
    triplet(
        _("what a head costs"),
        r"\Delta_h = \log p(y \mid x) - \log p(y \mid x; W^O_h = 0)",
        _(
            "y is the translation by the original model, which the decoder reads (teacher forcing). A head that is off "
            "writes nothing, as if its rows of W^O were 0; the bias of W^O stays. A sub-layer that is off adds nothing "
            "to the residual stream; without the residual connection around it, its output alone goes on. The ranking "
            "is of the original model, one part at a time. Losses of single heads do not add up: other heads may do "
            "the same work. One sentence says little about a head in general."
        ),
        lines_of_definition("analysis/each_edit.py", "log_probabilities_with_each"),
        origin="elsewhere",
    )
