"""Step by step: the model as a map, and at each station the very tensor, from the characters to the chosen token."""

import re
from typing import cast

import streamlit as st

from app import components
from app.stage.controls import Controls
from app.stage.playback import moved, play_buttons, play_on
from app.stage.scene import Scene
from app.state.choices import DETAIL, KIND, LAYER, STATION
from app.views.shared.buttons import buttons
from app.views.shared.triplet import code_card, shape_text
from app.views.steps.model_map import model_map
from app.views.steps.station import draw as draw_station
from app.views.steps.station_code import code_at
from app.views.steps.station_tensors import kind_at
from app.views.steps.stations import Detail, Station, nearest, stations
from transformer.config import ModelConfig
from transformer.model.attention_kinds import KINDS, SITES

OF_A_HEAD = ("head", "scores", "weights")  # pictures of one head
WITHOUT_ROW = ("characters", "pieces", "shifted", "chosen")  # pictures in which no row is marked
_IN_A_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.(\w+)\.(\w+)")
_DETAILS: dict[Detail, str] = {"lecture": "First lecture", "exam": "Every step"}


def draw(scene: Scene, controls: Controls) -> None:
    """Draws the page from top to bottom."""
    detail = cast(Detail, DETAIL.open(allowed=_DETAILS))
    wanted = _followed(scene.config, STATION.value)
    walk = stations(scene.config, detail, wanted)
    place = nearest(wanted, walk)
    if (played := play_on("steps", place, len(walk))) != place:
        place = played
        _go(walk[place].id)
    here = walk[place]
    if STATION.value != here.id:
        STATION.choose(here.id)
    head = _choices(scene, controls, here)
    left, right = st.columns([5, 9], gap="medium")
    with right, st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(key="walk_buttons", horizontal=True, vertical_alignment="center", gap="small"):
            play_buttons(place, len(walk), lambda step: _go(walk[step].id))
        buttons(DETAIL, _DETAILS, "Detail", says=False)
    with left, st.container(key="map"):
        with st.container(key="picture_map"):
            components.model_map(model_map(scene.config, here, walk), key="model_map", on_choose=_go)
        components.export("picture_map", "Map of the model", key="export_map")
    with right:
        _heading(here, scene, f"{place + 1} of {len(walk)}")
        draw_station(scene, here, head)
        code_card(code_at(scene, here))


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


def _choices(scene: Scene, controls: Controls, here: Station) -> int:
    """Layer, head and row, grey where the station has none. Another layer is the same station in that layer. Returns
    the head, from 0."""
    kind = kind_at(here) if here.layer is not None else KIND.open("cross", KINDS)
    if here.layer is not None:
        LAYER.open(here.layer + 1)
    _, head = controls.layer_and_head(kind, layers=here.layer is not None, heads=here.look in OF_A_HEAD)
    controls.row(here.rows, disabled=here.look in WITHOUT_ROW)
    return head


def _go(station: str) -> None:
    """Chooses a station. Its layer and its kind of attention are what the other pages show too."""
    STATION.choose(station)
    moved()
    inside = _IN_A_LAYER.fullmatch(station)
    if inside:
        stack, layer, part, _ = inside.groups()
        LAYER.choose(int(layer) + 1)
        if stack == "encoder":
            KIND.choose("encoder")
        elif part.endswith("attention"):
            KIND.choose("cross" if part.startswith("cross") else "decoder")
        elif KIND.value == "encoder":
            KIND.choose("cross")


def _followed(config: ModelConfig, station: str) -> str:
    """The same station in the layer, or the attention of the kind, that was chosen in the controls or on another page
    since."""
    inside = _IN_A_LAYER.fullmatch(station)
    if inside is None:
        return station
    stack, layer, part, name = inside.groups()
    site = f"{stack}.layers.{{}}.{part}"
    if KIND.is_chosen and part.endswith("attention"):
        site = SITES[KIND.value]
    elif KIND.is_chosen and not SITES[KIND.value].startswith(stack):
        site, name = SITES[KIND.value], "weights"
    deepest = config.encoder_layers if site.startswith("encoder") else config.decoder_layers
    if LAYER.is_chosen and LAYER.value <= deepest:
        layer = str(LAYER.value - 1)
    return f"{site.format(layer)}.{name}"
