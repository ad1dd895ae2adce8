"""Heads and cells: the clearest head of a kind of attention, and how a picture chooses another head or cell."""

from app.components.chart import Point
from app.figures.heads import clearest_head
from app.stage.scene import Scene
from app.state.choice import Choice
from app.state.choices import OTHER_TOKEN, SOURCE_TOKEN, STEP
from transformer.model.attention_kinds import Kind

QUERIES: dict[Kind, Choice[int]] = {"cross": STEP, "encoder": SOURCE_TOKEN, "decoder": STEP}
KEYS: dict[Kind, Choice[int]] = {"cross": SOURCE_TOKEN, "encoder": OTHER_TOKEN, "decoder": OTHER_TOKEN}
SHORT: dict[Kind, str] = {"cross": "Encoder-decoder", "encoder": "Encoder self", "decoder": "Decoder self"}


def clearest_of(scene: Scene, kind: Kind, layer: int | None = None) -> tuple[int, int]:
    """(layer, head), from 0, of the clearest head of a kind; or of one layer of it.

    For encoder-decoder attention the decoder's first layer is left out where there are others: its sharpest heads may
    align the token that is read, not the one that is predicted (in `en-de` one head of it does, and no head above).
    """
    weights = scene.attention(kind).weights  # (L, H, Q, K)
    queries, keys = scene.axes(kind)
    least = layer if layer is not None else int(kind == "cross" and len(weights) > 1)
    among = weights[least:] if layer is None else weights[layer : layer + 1]
    found, head = clearest_head(among, queries.predicts or queries.tokens, keys.tokens)
    return least + found, head


def choose_cell(kind: Kind, cell: Point) -> None:
    """Chooses the query and the key of a cell: its row and its column, from 0."""
    QUERIES[kind].choose(int(cell.y))
    KEYS[kind].choose(int(cell.x))
