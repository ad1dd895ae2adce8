"""The tensor of a station, the tokens of its rows, and its chosen row."""

from collections.abc import Mapping

import numpy as np

from app.figures.axes import TokenAxis
from app.stage.scene import Scene
from app.state.choices import SOURCE_TOKEN, STEP
from app.views.steps.stations import Station
from transformer.model.attention_kinds import Kind, depth


def tensor(scene: Scene, here: Station) -> np.ndarray:
    """The tensor of the station."""
    return recorded(scene, here)[here.site or ""]


def is_same(masks: np.ndarray) -> bool:
    """Whether all heads have the same mask (H, Q, K); an edit may change that of one."""
    return bool((masks == masks[:1]).all())


def joined(here: Station, values: np.ndarray) -> np.ndarray:
    """The tensor as it is shown. At `concatenated` the heads are put side by side: (H, Q, E) -> (Q, D)."""
    return values.transpose(1, 0, 2).reshape(values.shape[1], -1) if here.name == "concatenated" else values


def recorded(scene: Scene, here: Station) -> Mapping[str, np.ndarray]:
    """The tensors of the station and of its neighbours. A whole layer is recorded at once, so that the next stations
    need no further pass."""
    if here.layer is not None:
        return scene.record(f"{here.stack}.layers.{here.layer}.*")
    return scene.record(f"{here.stack}.embedding.*" if here.part == "input" else here.site or "")


def rows_of(scene: Scene, here: Station) -> TokenAxis:
    """The tokens of the rows."""
    return scene.source if here.rows == "encoder" else scene.target


def chosen_row(scene: Scene, here: Station) -> int:
    """The chosen row of the station, from 0."""
    place = SOURCE_TOKEN if here.rows == "encoder" else STEP
    return min(max(place.value, 0), len(rows_of(scene, here)) - 1)


def kind_at(here: Station) -> Kind:
    """The kind of attention at this station of a layer."""
    if here.part == "cross_attention":
        return "cross"
    return "encoder" if here.stack == "encoder" else "decoder"


def before_norm(scene: Scene, here: Station) -> np.ndarray:
    """(R, D): what the LayerNorm of this station reads."""
    if here.layer is None:  # the last LayerNorm of a pre-norm stack
        layers = depth(scene.config, here.stack)
        site = f"{here.stack}.layers.{layers - 1}.feed_forward.residual_sum"
        return scene.record(site)[site]
    base = (here.site or "").rsplit(".", 1)[0]
    name = "residual_in" if scene.config.norm == "pre" else "residual_sum"
    return recorded(scene, here)[f"{base}.{name}"]
