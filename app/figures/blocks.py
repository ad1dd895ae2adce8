"""The shapes of one head as blocks: who brings the queries, who the keys and values, and what is multiplied with what.

Lengths of sentences are sides of some blocks and of no parameter: W^Q, W^K and W^V are D x E whatever is translated
(sections 3.2.2 and 3.2.3). A side of n is drawn with a length that grows with log n, or 14 would vanish beside 512.
"""

from dataclasses import dataclass
from math import log2
from typing import Literal

import plotly.graph_objects as go

from app.figures.charts import settle
from app.theme import Role, ink, role_color

Kind = Literal["cross", "encoder", "decoder"]


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


def blocks_figure(kind: Kind, sizes: Sizes, *, title: str, dark: bool = False) -> go.Figure:
    """All equations, in two lines."""
    figure = go.Figure()
    lines = blocks(kind, sizes)
    tall = [max(side(block.sides[0]) for equation in line for block in equation) for line in lines]
    widths = [sum(_width(equation) for equation in line) for line in lines]
    whole = max(widths) + 80
    y = 0.0
    for line, height, width in zip(lines, tall, widths, strict=True):
        gap = (whole - width) / len(line)
        x = gap / 2
        for equation in line:
            for block, sign in zip(equation, ("·", "=", ""), strict=True):
                x = _draw(figure, block, x, y + height / 2, sign, dark)
            x += gap
        y += height + 62
    bare = {"visible": False, "fixedrange": True}
    figure.update_layout(xaxis=bare | {"range": [0, whole]}, yaxis=bare | {"range": [y - 20, -24]}, showlegend=False)
    return settle(figure, title, int(60 + 1.15 * y), top=46, bottom=6)


SIGN = 26.0


def _width(equation: list[Block]) -> float:
    return sum(side(block.sides[1]) for block in equation) + 2 * SIGN


def _draw(figure: go.Figure, block: Block, x: float, middle: float, sign: str, dark: bool) -> float:
    """A block with its name above and its shape below; returns where the next begins."""
    height, width = side(block.sides[0]), side(block.sides[1])
    color = role_color(block.role, dark) if block.role else ink(dark)
    top, bottom = middle - height / 2, middle + height / 2
    dash = "dot" if block.learned else "solid"
    figure.add_shape(
        type="rect", x0=x, x1=x + width, y0=top, y1=bottom, fillcolor=color, opacity=0.42 if block.learned else 0.18,
        line={"color": color, "width": 2, "dash": dash},
    )  # fmt: skip
    center = x + width / 2
    numbers = f"{block.letters[0]} × {block.letters[1]}<br>{block.sides[0]} × {block.sides[1]}"
    for text, at, anchor in ((f"<b>{block.name}</b>", top, "bottom"), (numbers, bottom, "top")):
        figure.add_annotation(
            x=center, y=at, text=text, showarrow=False, yanchor=anchor, font={"size": 14, "color": color}
        )
    if sign:
        figure.add_annotation(
            x=x + width + SIGN / 2, y=middle, text=sign, showarrow=False, font={"size": 20, "color": ink(dark)}
        )
    return x + width + (SIGN if sign else 0)


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
