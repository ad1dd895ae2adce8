"""What the browser gets of the walk: the map, the stations, and the tensors of the stations that are near.

All numbers of a station are sent (of the logits, only those of the most probable tokens and the chosen one). So the
browser shows another token, another head, the cell under the pointer or a near station without asking the server. A
station is near if it is in the same part of the model, in the part before it or in the part after it. When the
visitor goes on to another station, the server sends the stations that are near that one.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import streamlit as st

from app.compute.cached_results import CACHE_LIFETIME
from app.compute.edited_cells import edited_rows
from app.figures.axes import visible
from app.figures.distribution import Mark, offers
from app.figures.shares import probability_text
from app.figures.theme import CHOSEN, MASKED, color_limit, role_color, signed_scale, weight_scale
from app.figures.token_strip import source_strip
from app.languages import Language, _, language
from app.stage.scene import Scene, scene_key
from app.views.steps.model_map import ACTIVATIONS, box_of, model_map
from app.views.steps.station_tensors import before_norm, is_same, joined, recorded, tensor
from app.views.steps.stations import Station, part_of, where
from transformer.config import ModelConfig

Picture = dict[str, Any]
MOST_OFFERS = 11  # how many of the most probable tokens are shown at the logits


def walk_pictures(scene: Scene, walk: tuple[Station, ...], place: int) -> dict[str, Any]:
    """Data of the component `model_walk` that is the same at all stations of a part of the model.

    Args:
        place: of the station in the walk, from 0.
    """
    tensors: dict[str, np.ndarray] = {}
    pictures = {walk[i].id: _picture(scene, walk[i], tensors) for i in near(walk, place)}
    return _route(scene.config, walk, scene.subject.has_causal_mask, language()) | {
        "source": [visible(token) for token in scene.source.tokens],
        "target": [visible(token) for token in scene.target.tokens],
        "predicts": [visible(token) for token in scene.target.predicts],
        "encoder": role_color("encoder"),
        "decoder": role_color("decoder"),
        "chosen": CHOSEN,
        "masked": MASKED,
        "scales": {"signed": signed_scale(), "weights": weight_scale()},
        "headCount": scene.config.heads,
        "pictures": pictures,
        "tensors": tensors,
    }


@lru_cache(maxsize=16)
def near(walk: tuple[Station, ...], place: int) -> list[int]:
    """The places of the stations in the same part of the model, in the one before and in the one after."""
    parts = [list(found) for unused, found in groupby(range(len(walk)), lambda i: walk[i].block)]
    here = next(number for number, part in enumerate(parts) if place in part)
    return [i for part in parts[max(here - 1, 0) : here + 2] for i in part]


@lru_cache(maxsize=16)
def _route(config: ModelConfig, walk: tuple[Station, ...], has_causal_mask: bool, _spoken: Language) -> dict[str, Any]:
    """The map, and the stations in their order, in one language; a text that several stations have is sent once."""
    drawn = model_map(config, has_causal_mask)
    shared = [_shared(station) for station in walk]
    texts = list({str(each): each for each in shared}.values())
    stations = [
        {"id": station.id, "text": texts.index(words), "box": box_of(drawn["boxes"], station), "layer": station.layer}
        for station, words in zip(walk, shared, strict=True)
    ]
    return {"map": drawn, "texts": texts, "stations": stations}


def _shared(station: Station) -> dict[str, Any]:
    """What is the same for this station in every layer."""
    return {
        "title": station.title,
        "text": f"{station.text} {station.edited}".strip(),
        "shown_as": station.shown_as,
        "name": station.name,
        "stack": station.stack,
        "rows": station.rows,
        "part": station.part,
        "place": where(station) if station.layer is None else part_of(station),
    }


def _picture(scene: Scene, here: Station, tensors: dict[str, np.ndarray]) -> Picture:
    """What is drawn at a station; its tensors are put into `tensors`, each once."""
    match here.shown_as:
        case "characters":
            return {"text": scene.translation.source}
        case "token_ids":
            return source_strip(scene.translation.source_tokens)
        case "shifted":
            return {}
        case "logits":
            return {"offers": _offers(scene_key(scene), scene.given_steps, language(), scene)}
        case "chosen":
            shares = [float(np.exp(value)) for value in scene.hypothesis.log_probabilities]
            return {"shares": shares, "share_texts": [probability_text(share) for share in shares]}
        case "scores" | "mask" | "weights":
            return _of_keys(scene, here, tensors)
    values = tensors[here.id] = joined(here, tensor(scene, here)).astype(np.float32)
    limits = [color_limit(part) for part in (values if here.shown_as == "head" else [values])]
    return {"site": here.id, "limit": limits} | {"parts": _parts(scene, here, tensors)}


def _of_keys(scene: Scene, here: Station, tensors: dict[str, np.ndarray]) -> Picture:
    """Queries by keys: scores, weights or the mask."""
    found, base = recorded(scene, here), (here.site or "").rpartition(".")[0]
    if here.shown_as == "mask":
        tensors[here.id] = _mask(found[here.site or ""])
        return {"site": here.id, "limit": [1.0]}
    tensors[here.id] = found[here.site or ""].astype(np.float32)  # (H, Q, K)
    if here.shown_as == "weights":
        tensors[f"{base}.mask"] = _mask(found[f"{base}.mask"])
        return {"site": here.id, "limit": [1.0], "mask": f"{base}.mask"}
    like = here.name if here.name == "products" else "scores"  # the same colours before and after the mask
    return {"site": here.id, "limit": [float(np.abs(head).max()) or 1.0 for head in found[f"{base}.{like}"]]}


def _mask(masks: np.ndarray) -> np.ndarray:
    """(H, Q, K) -> (Q, K), the same for all heads; (H, Q, K) if an edit changes the mask of some of them."""
    return (masks[0] if is_same(masks) else masks).astype(np.uint8)


def _parts(scene: Scene, here: Station, tensors: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """What the chosen row is computed from, as strips below each other; empty where only the row itself is shown."""
    base = (here.site or "").rpartition(".")[0]
    if here.shown_as == "sum":
        first, second = ("residual_connection", "output") if here.name == "residual_sum" else ("scaled", "positions")
        if scene.config.positions == "none" and here.name == "output":
            return []
        names = {
            "residual_connection": "x",
            "output": _("+ added"),
            "scaled": _("embedding"),
            "positions": _("+ position"),
        }
        sites = {f"{base}.{first}": names[first], f"{base}.{second}": names[second], here.id: _("= the sum")}
        found = recorded(scene, here)
    elif here.shown_as == "norm":
        sites, found = (
            {f"{here.id} before": _("before"), here.id: _("after")},
            {f"{here.id} before": before_norm(scene, here)},
        )
    elif here.shown_as == "hidden":
        activation = ACTIVATIONS[scene.config.activation]
        sites = {
            f"{base}.hidden": _("before {activation}", activation=activation),
            f"{base}.activated": _("after {activation}", activation=activation),
        }
        found = recorded(scene, here)
    else:
        return []
    for site in sites:
        if site not in tensors:
            tensors[site] = found[site].astype(np.float32)
    limits = [color_limit(tensors[site]) for site in sites]
    same = here.shown_as != "norm"  # one scale of colours, because x and what is added are compared with their sum
    parts: list[dict[str, Any]] = [
        {"site": site, "name": name, "limit": max(limits) if same else limit}
        for (site, name), limit in zip(sites.items(), limits, strict=True)
    ]
    replaced = edited_rows(scene.subject, here.id, tensors[here.id].shape)  # (R,)
    parts[-1]["replaced"] = np.flatnonzero(replaced).tolist()
    return parts


@st.cache_data(max_entries=32, ttl=CACHE_LIFETIME, show_spinner=False)
def _offers(key: str, given_steps: tuple[int, ...], spoken: Language, _scene: Scene) -> list[list[dict[str, Any]]]:
    """For each row of the decoder its most probable tokens, and the one that was chosen, or given by the visitor.

    They take 10 ms per row, so they are cached by the key of the scene, and by the language of their numbers.
    """
    scene = _scene
    logits: Mapping[str, np.ndarray] = scene.record("logits")
    token_of = scene.subject.translator.tokenizer.token
    marks: list[Mark] = ["given" if row in given_steps else "chosen" for row in range(len(scene.target))]
    return [
        [
            {
                "token": visible(offer.token),
                "logit": offer.logit,
                "probability": offer.probability,
                "probability_text": probability_text(offer.probability),
                "rank": offer.rank,
                "mark": offer.mark,
            }
            for offer in offers(
                logits["logits"][row], scene.hypothesis.ids[row], token_of, count=MOST_OFFERS, mark=mark
            )
        ]
        for row, mark in enumerate(marks)
    ]
