"""The shapes of one head as blocks: who brings the queries, who the keys and values, and what is multiplied with what.

Lengths of sentences are sides of some blocks and of no parameter: W^Q, W^K and W^V are D x E whatever is translated
(sections 3.2.2 and 3.2.3). A side of n is drawn with a length that grows with log n, or 14 would vanish beside 512.
"""

from dataclasses import dataclass
from math import log2

import numpy as np

from app.figures.charts import Figure, settled
from app.figures.panels import BARE, words
from app.figures.theme import INK, Role, role_color
from transformer.model.attention_kinds import Kind


@dataclass(frozen=True)
class Sizes:
    """The numbers behind the letters: queries, keys, d_model, d_k."""

    queries: int
    keys: int
    d_model: int
    d_k: int


@dataclass(frozen=True)
class Block:
    """A matrix: what it is called, its sides in letters and numbers, whose it is; a parameter if `learned`."""

    name: str
    letters: tuple[str, str]
    sides: tuple[int, int]
    role: Role | None
    learned: bool = False


def blocks(kind: Kind, sizes: Sizes) -> list[list[list[Block]]]:
    """Lines of equations a · b = c: first the projections, then the scores and the context."""
    asks: Role = "encoder" if kind == "encoder" else "decoder"
    answers: Role = "decoder" if kind == "decoder" else "encoder"
    q, k, d, e = sizes.queries, sizes.keys, sizes.d_model, sizes.d_k
    q_letter = "S" if kind == "encoder" else "T"
    k_letter = "T" if kind == "decoder" else "S"
    x = Block(f"{asks} x", (q_letter, "D"), (q, d), asks)
    memory = Block("encoder's output" if kind == "cross" else f"{answers} x", (k_letter, "D"), (k, d), answers)
    query = Block("Q", (q_letter, "E"), (q, e), "query")
    scores = Block("scores", (q_letter, k_letter), (q, k), None)
    weights = Block("weights", (q_letter, k_letter), (q, k), None)
    value = Block("V", (k_letter, "E"), (k, e), "value")

    def learned(name: str, role: Role) -> Block:
        return Block(f"W<sup>{name}</sup>", ("D", "E"), (d, e), role, learned=True)

    return [
        [
            [x, learned("Q", "query"), query],
            [memory, learned("K", "key"), Block("K", (k_letter, "E"), (k, e), "key")],
            [memory, learned("V", "value"), value],
        ],
        [
            [query, Block("K<sup>T</sup>", ("E", k_letter), (e, k), "key"), scores],
            [weights, value, Block("context", (q_letter, "E"), (q, e), None)],
        ],
    ]  # fmt: skip


def side(n: int) -> float:
    """The drawn length of a side."""
    return 14 + 9 * log2(n + 1)


SIGN = 26.0
GAP = 62.0  # between the lines


@dataclass(frozen=True)
class Placed:
    """A block in the picture: its left edge and the middle of its height, and the sign that follows it."""

    block: Block
    left: float
    middle: float
    sign: str

    @property
    def height(self) -> float:
        return side(self.block.sides[0])

    @property
    def width(self) -> float:
        return side(self.block.sides[1])


def blocks_figure(kind: Kind, sizes: Sizes, *, title: str) -> Figure:
    """All equations, in two lines: each block with its name above and its shape below."""
    placed, width, height = _layout(blocks(kind, sizes))
    colors = [role_color(p.block.role) if p.block.role else INK for p in placed]
    centers = np.array([p.left + p.width / 2 for p in placed])
    tops, bottoms = (np.array([p.middle + sign * (p.height / 2 + 4) for p in placed]) for sign in (-1, 1))
    names = [f"<b>{p.block.name}</b>" for p in placed]
    shapes = [" × ".join(p.block.letters) + "<br>" + " × ".join(str(n) for n in p.block.sides) for p in placed]
    signed = [p for p in placed if p.sign]
    data = [
        words(centers, tops, names, colors, 14, textposition="top center"),
        words(centers, bottoms, shapes, colors, 14, textposition="bottom center"),
        words(
            np.array([p.left + p.width + SIGN / 2 for p in signed]), np.array([p.middle for p in signed]),
            [p.sign for p in signed], INK, 20,
        ),
    ]  # fmt: skip
    boxes = [
        {
            "type": "rect", "x0": p.left, "x1": p.left + p.width, "y0": p.middle - p.height / 2,
            "y1": p.middle + p.height / 2, "fillcolor": color, "opacity": 0.42 if p.block.learned else 0.18,
            "line": {"color": color, "width": 2, "dash": "dot" if p.block.learned else "solid"},
        }
        for p, color in zip(placed, colors, strict=True)
    ]  # fmt: skip
    layout = settled(title, int(60 + 1.15 * height), top=46, bottom=6) | {
        "xaxis": BARE | {"visible": False, "range": [0, width]},
        "yaxis": BARE | {"visible": False, "range": [height - 20, -24]},
        "shapes": boxes,
    }
    return Figure(data, layout)


def _layout(lines: list[list[list[Block]]]) -> tuple[list[Placed], float, float]:
    """Where everything stands, and the width and height of it all."""
    placed: list[Placed] = []
    widths = [sum(sum(side(b.sides[1]) for b in equation) + 2 * SIGN for equation in line) for line in lines]
    whole, y = max(widths) + 80, 0.0
    for line, width in zip(lines, widths, strict=True):
        tall = max(side(block.sides[0]) for equation in line for block in equation)
        gap = (whole - width) / len(line)
        x = gap / 2
        for equation in line:
            for block, sign in zip(equation, ("·", "=", ""), strict=True):
                placed.append(Placed(block, x, y + tall / 2, sign))
                x += side(block.sides[1]) + (SIGN if sign else 0)
            x += gap
        y += tall + GAP
    return placed, whole, y


def blocks_table(kind: Kind, sizes: Sizes) -> dict[str, list[str]]:
    """The same as columns of a table: what it is, its shape, and whether it depends on the length of a sentence."""
    rows: dict[str, dict[str, str]] = {}
    for line in blocks(kind, sizes):
        for equation in line:
            for block in equation:
                name = block.name.replace("<sup>", "^").replace("</sup>", "")
                rows[name] = {
                    "matrix": name,
                    "shape": f"{block.letters[0]} × {block.letters[1]}",
                    "numbers": f"{block.sides[0]} × {block.sides[1]}",
                    "depends on the sentence's length": "no, a parameter" if block.learned else "yes",
                    "from": block.role if block.role in ("encoder", "decoder") else "",
                }
    return {column: [row[column] for row in rows.values()] for column in next(iter(rows.values()))}


def blocks_alt(kind: Kind, sizes: Sizes, title: str) -> str:
    """What the picture says, in words."""
    said = []
    for line in blocks(kind, sizes):
        for equation in line:
            a, b, c = (f"{block.name} ({block.sides[0]} by {block.sides[1]})" for block in equation)
            said.append(f"{a} times {b} is {c}".replace("<sup>", "^").replace("</sup>", ""))
    return f"{title}. " + "; ".join(said) + "."
