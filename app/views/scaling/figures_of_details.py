"""The figures of Scaling's details that a lecture can show alone."""

from collections.abc import Callable

from app.figures.head_names import head_name
from app.stage.heads import chosen_head
from app.stage.scene import Scene
from app.stage.section import section
from app.state.choices import KIND
from app.views.scaling.additive_section import HeadScores, additive_pictures
from app.views.scaling.comparisons_section import counted_cells, table_1
from transformer.model.attention_kinds import KINDS, SITES


def _additive(scene: Scene) -> None:
    kind = KIND.open("cross", KINDS)
    layer, head = chosen_head(scene, kind)
    site = SITES[kind].format(layer)
    found = scene.record(*(f"{site}.{name}" for name in ("query", "key", "scores", "mask", "weights")))
    query, key, scores, mask, weights = (
        found[f"{site}.{name}"][head] for name in ("query", "key", "scores", "mask", "weights")
    )
    where = head_name(kind, layer, head)
    additive_pictures(HeadScores(where, scene.axes(kind), query, key, scores, mask, weights))


@section
def _comparisons(scene: Scene) -> None:
    counted_cells(scene)


FIGURES: dict[str, Callable[[Scene], None]] = {
    "additive": _additive,
    "comparisons": _comparisons,
    "table-1": table_1,
}
