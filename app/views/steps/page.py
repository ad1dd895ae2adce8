"""Step by step: a token travels through the map of the model, and at each station its tensor is shown.

Walking is done in the browser (app/components/model_walk), which sends its place to the server a moment later: for the
address, for the details, and for the tensors that come next. Walking changes nothing on other pages. A click on a token
or on a head does: other pages then open with that token or head.
"""

from typing import Any, cast

import numpy as np
import streamlit as st

from app import components
from app.figures.axes import in_words
from app.figures.tables import Table
from app.languages import _, gettext_noop, pgettext
from app.stage.followed import attending_steps, is_attended, opening_token
from app.stage.heads import clearest_of
from app.stage.question_card import predict
from app.stage.scene import Scene, scene_key
from app.stage.template import details, say
from app.state.choices import DETAIL, HEAD, KIND, SOURCE_TOKEN, STATION, STEP
from app.state.events import choose_head
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import download_and_table
from app.views.shared.triplet import code_card
from app.views.steps.edited_sites import edited_sites
from app.views.steps.station_code import code_at
from app.views.steps.station_tables import draw_station_tables
from app.views.steps.station_tensors import kind_at
from app.views.steps.stations import Detail, Station, nearest, stations, where
from app.views.steps.walk_pictures import walk_pictures
from transformer.model.attention_kinds import KINDS, SITES, depth

_DETAILS: tuple[Detail, ...] = ("lecture", "exam")


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    detail = cast(Detail, DETAIL.open(allowed=_DETAILS))
    edited = edited_sites(scene)
    walk = stations(scene.config, detail, STATION.value, edited)
    place = nearest(STATION.value, walk)
    here = walk[place]
    attending = attending_steps(scene)
    source = min(SOURCE_TOKEN.open(opening_token(scene)), len(scene.source) - 1)
    step = min(STEP.open(attending[source]), len(scene.target) - 1)
    shown = scene_key(scene)
    heads = _heads(scene)
    components.held_data("walk", walk_pictures(scene, walk, place) | {"attending": attending, "scene": shown})
    state = {"scene": shown, "at": here.id, "s": source, "t": step, "heads": heads, "detail": detail}
    with st.container(key="picture_map"):
        components.model_walk(state, key="walk", on_report=lambda report: take(scene, report))
    _say(scene, source, step, heads)
    predict(scene, "shape")
    details(lambda: _details(scene, walk, here, head_at(scene, here, heads, source, step)))


def _details(scene: Scene, walk: tuple[Station, ...], here: Station, head: int) -> None:
    """Formula, shape, code and all numbers of the station."""
    with st.container(key="station"):
        section = _("paper, {section}", section=here.section) if here.in_paper else here.section
        section = section.replace("equation ", "equation\u00a0")  # keeps "equation 1" in one line
        st.caption(f"{where(here)} · {section}")
        st.header(here.title, anchor=False)
        if here.formula:
            st.latex(here.formula)
        if here.letters:
            st.caption(shape_text(here.letters, scene.sizes))
        for sentence in filter(None, (here.training, here.edited)):
            st.caption(sentence)
    code_card(code_at(scene, here))
    draw_station_tables(scene, here, head)
    st.caption(_("The steps of the calculation, as in the map above:"))
    download_and_table(key="map", name=_("Map of the model"), table=lambda: _table(walk))


def _table(walk: tuple[Station, ...]) -> Table:
    """The walk as a table."""
    places = [where(station) for station in walk]
    titles = [station.title for station in walk]
    return {_("number"): np.arange(1, len(walk) + 1), pgettext("in the model", "place"): places, _("step"): titles}


def _heads(scene: Scene) -> int | dict[str, int]:
    """The chosen head, from 0; if none is chosen, the clearest head of each attention, by the site of the attention."""
    if HEAD.is_chosen and 0 < HEAD.value <= scene.config.heads:
        return HEAD.value - 1
    return {
        SITES[kind].format(layer): clearest_of(scene, kind, layer)[1]
        for kind in KINDS
        for layer in range(depth(scene.config, kind))
    }


def head_at(scene: Scene, here: Station, heads: int | dict[str, int], source: int, step: int) -> int:
    """The head that a station shows, from 0: the chosen one.

    If none is chosen: in encoder-decoder attention the head that attends most from the followed step to the followed
    token of the source, elsewhere the clearest head.
    """
    if isinstance(heads, int):
        return heads
    if here.part == "cross_attention" and here.layer is not None:
        return int(scene.attention("cross").weights[here.layer, :, step, source].argmax())
    return heads.get(here.id.rpartition(".")[0], 0)


def _say(scene: Scene, source: int, step: int, heads: int | dict[str, int]) -> None:
    """Which token is followed, and which heads are shown."""
    word, target = in_words(scene.source.tokens[source]), scene.target
    if step != attending_steps(scene)[source]:
        followed = gettext_noop(
            "The picture follows the token “{token}” through the encoder, and then step {step} of the decoder, which "
            "you chose."
        )
    elif is_attended(scene, source):
        followed = gettext_noop(
            "The picture follows the token “{token}” through the encoder, and then step {step} of the decoder, which "
            "attends to it most."
        )
    else:
        followed = gettext_noop(
            "The picture follows the token “{token}” through the encoder. No step of the decoder attends to it, so the "
            "picture continues with step {step}."
        )
    say(
        _(followed, token=word, step=step + 1),
        _(
            "That step reads “{read}” and predicts “{predicted}”.",
            read=in_words(target.tokens[step]),
            predicted=in_words(target.predicts[step]),
        ),
        _("All attention is that of head {head}, which you chose.", head=heads + 1)
        if isinstance(heads, int)
        else _(
            "Each layer shows its clearest head; encoder-decoder attention shows the head that attends most to this "
            "token."
        ),
    )


def take(scene: Scene, report: dict[str, Any]) -> None:
    """Takes over what was chosen in the browser."""
    known = {station.id: station for station in stations(scene.config)}
    if report.get("at") in known:
        STATION.choose(report["at"])
    if report.get("detail") in _DETAILS:
        DETAIL.choose(report["detail"])
    for choice, name, tokens in ((SOURCE_TOKEN, "s", scene.source), (STEP, "t", scene.target)):
        row = report.get(name)
        if isinstance(row, int) and 0 <= row < len(tokens) and row != choice.value:
            choice.choose(row)
    match report.get("head"):
        case [str(at), int(head)] if at in known and 0 <= head < scene.config.heads:
            layer = known[at].layer
            if layer is not None:
                KIND.choose(kind_at(known[at]))
                choose_head(layer, head)
