"""Step by step: the model as a map, and at each station the very tensor, from the characters to the chosen piece."""

import re
import time
from functools import partial

import streamlit as st

from app import components
from app.stage.controls import bar, stands_in
from app.stage.sentence import Scene, stage
from app.state import playback
from app.state.session import KIND, LAYER, is_dark
from app.state.url import linked, named
from app.views.shared.choose import buttons
from app.views.shared.triplet import code_card, shape_text
from app.views.steps.model_map import model_map
from app.views.steps.station import draw
from app.views.steps.station_code import code_at
from app.views.steps.station_tensors import kind_at
from app.views.steps.stations import Detail, Station, nearest, stations
from transformer.model.attention_kinds import KINDS, SITES, Kind

STATION = "at"  # the id of the station, in the session and in the address
DETAIL = "detail"
OF_A_HEAD = ("head", "scores", "weights")  # pictures of one head
WITHOUT_ROW = ("characters", "pieces", "shifted", "chosen")  # pictures in which no row is marked
PACE = 3.0  # seconds at each station while playing
_LEFT = "left_at"  # kind and layer as the walk has left them
_IN_A_LAYER = re.compile(r"(encoder|decoder)\.layers\.\d+\.(\w+)\.(\w+)")
_DETAILS: dict[Detail, str] = {"lecture": "First lecture", "exam": "Every step"}


def page() -> None:
    """Draws the page from top to bottom."""
    scene = stage()
    if scene is None:
        return
    every: float | None = PACE if st.session_state.get(playback.STEPS) else None
    # A fragment is made anew for each pace: only a playing walk runs by itself.
    st.fragment(_walk, run_every=every)(scene)


def _walk(scene: Scene) -> None:
    detail = named(DETAIL, _DETAILS, "lecture")
    wanted = _followed(st.session_state.get(STATION) or st.query_params.get(STATION, "encoder.embedding.output"))
    walk = stations(scene.config, detail, wanted)
    place = nearest(wanted, walk)
    if st.session_state.get(playback.STEPS) and time.monotonic() - st.session_state.get("moved", 0.0) > 0.8 * PACE:
        place = _play_on(place, len(walk))
    here = walk[place]
    _remember(here)
    head = _choices(scene, here)
    left, right = st.columns([5, 9], gap="medium")
    with right, st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(key="walk_buttons", horizontal=True, vertical_alignment="center", gap="small"):
            _buttons(walk, place)
        buttons(DETAIL, _DETAILS, "Detail", says=False)
    with left, st.container(key="map"):
        with st.container(key="picture_map"):
            components.model_map(model_map(scene.config, here, walk, dark=is_dark()), key="model_map", on_choose=_go)
        components.export("picture_map", "Map of the model", key="export_map")
    with right:
        _heading(here, scene, f"{place + 1} of {len(walk)}")
        draw(scene, here, head)
        code_card(code_at(scene, here))


def _buttons(walk: tuple[Station, ...], place: int) -> None:
    last = len(walk) - 1
    before, after = walk[max(place - 1, 0)], walk[min(place + 1, last)]
    st.button("Previous", shortcut="Left", on_click=_go, args=(before.id,), disabled=place == 0, key="previous")
    plays = bool(st.session_state.get(playback.STEPS))
    if st.button("Pause" if plays else "Play", key="play"):
        st.session_state[playback.STEPS] = not plays
        st.session_state["moved"] = time.monotonic()
        if not plays and place == last:
            _go(walk[0].id)
        st.rerun()
    st.button("Next", shortcut="Right", on_click=_go, args=(after.id,), disabled=place == last, key="next")


def _heading(here: Station, scene: Scene, count: str) -> None:
    """Where one is, what this is, and what the paper says of it."""
    place = {"input": f"{here.stack}, input", "top": here.stack}.get(here.part, "")
    if here.layer is not None:
        part = here.part.replace("cross", "encoder-decoder").replace("_", " " if "cross" in here.part else "-")
        place = f"{here.stack}, layer {here.layer + 1}, {part}"
    with st.container(key="station"):
        section = here.section if here.section.startswith("not") else f"paper, {here.section}"
        section = section.replace("equation ", "equation\u00a0")  # else the 1 may stand alone on a line
        st.caption(f"**{count}** · {place} · {section}")
        st.header(here.title, anchor=False)
        st.markdown(here.text)
        if here.formula:
            st.latex(here.formula)
        if here.letters:
            st.caption(shape_text(here.letters, scene.sizes))


def _choices(scene: Scene, here: Station) -> int:
    """Layer, head and row, grey where the station has none. Another layer is the same station in that layer. Gives the
    head, from 0."""
    kind = kind_at(here) if here.layer is not None else linked(KIND, tuple(KINDS), "cross")
    chooses = bar(scene)
    _, head = chooses.layer_and_head(
        kind, on_layer=partial(_to_layer, here), layers=here.layer is not None, heads=here.look in OF_A_HEAD
    )
    chooses.row(here.rows, disabled=here.look in WITHOUT_ROW)
    return head


def _to_layer(here: Station) -> None:
    _go(here.id.replace(f".layers.{here.layer}.", f".layers.{st.session_state[LAYER] - 1}."))


def _go(station: str) -> None:
    st.session_state[STATION] = station
    st.session_state["moved"] = time.monotonic()


def _play_on(place: int, count: int) -> int:
    st.session_state["moved"] = time.monotonic()
    if place + 1 < count:
        return place + 1
    st.session_state[playback.STEPS] = False
    st.rerun()  # as a fragment that no longer runs by itself
    return place


def _followed(station: str) -> str:
    """The same station in the layer, or the attention of the kind, that was chosen on another page since."""
    inside = _IN_A_LAYER.fullmatch(station)
    left, now = st.session_state.get(_LEFT), _kind_and_layer()
    if inside is None or left is None or now is None or now == left:
        return station
    stack, part, name = inside.groups()
    kind, layer = now
    site = SITES[kind].format(layer - 1)
    if part.endswith("attention"):
        if kind != left[0]:
            return f"{site}.{name}"
    elif not site.startswith(stack):
        return f"{site}.weights"
    return station if stands_in(layer) else f"{stack}.layers.{layer - 1}.{part}.{name}"


def _kind_and_layer() -> tuple[Kind, int] | None:
    """What is chosen on all pages, the layer from 1; None before both are."""
    kind, layer = st.session_state.get(KIND), st.session_state.get(LAYER)
    return (kind, layer) if kind in KINDS and isinstance(layer, int) else None


def _remember(here: Station) -> None:
    """The station is in the address; its layer and its kind of attention are what other pages show too."""
    st.session_state[STATION] = here.id
    if st.query_params.get(STATION) != here.id:
        st.query_params[STATION] = here.id
    if here.layer is not None:
        st.session_state[LAYER] = here.layer + 1
        if here.part.endswith("attention"):
            st.session_state[KIND] = kind_at(here)
    st.session_state[_LEFT] = _kind_and_layer()


page()
