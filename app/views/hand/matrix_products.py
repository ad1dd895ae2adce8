"""The matrix products of one head with their shapes: what is multiplied with what, and which sides are lengths of
sentences.

W^Q, W^K and W^V are D x E whatever is translated: no parameter has the length of a sentence in its shape (sections
3.2.2 and 3.2.3).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from app.languages import _
from app.views.shared.shapes import key_letter, query_letter
from transformer.model.attention_kinds import Kind


class Matrix(NamedTuple):
    """A matrix: what it is called, and the letters of its sides."""

    name: str
    rows: str
    columns: str

    @property
    def shape(self) -> str:
        return f"{self.rows} × {self.columns}"


@dataclass(frozen=True)
class Product:
    """a · b = c."""

    a: Matrix
    b: Matrix
    c: Matrix


def matrix_products(kind: Kind) -> list[Product]:
    """First the projections, then the scores and the context."""
    q, k = query_letter(kind), key_letter(kind)
    x = Matrix(_("encoder's x") if kind == "encoder" else _("decoder's x"), q, "D")
    memory = Matrix(_("encoder's output"), k, "D") if kind == "cross" else x
    query, key, value = Matrix("Q", q, "E"), Matrix("K", k, "E"), Matrix("V", k, "E")
    return [
        Product(x, Matrix("W^Q", "D", "E"), query),
        Product(memory, Matrix("W^K", "D", "E"), key),
        Product(memory, Matrix("W^V", "D", "E"), value),
        Product(query, Matrix("Kᵀ", "E", k), Matrix(_("scores"), q, k)),
        Product(Matrix(_("weights"), q, k), value, Matrix(_("context"), q, "E")),
    ]


def products_table(kind: Kind, sizes: Mapping[str, int]) -> dict[str, list[str]]:
    """One row per product: in words, in letters, and in numbers; `sizes` by letter."""
    rows = matrix_products(kind)

    def numbers(matrix: Matrix) -> str:
        return f"{sizes[matrix.rows]} × {sizes[matrix.columns]}"

    return {
        _("product"): [f"{each.a.name} · {each.b.name} = {each.c.name}" for each in rows],
        _("shapes"): [f"({each.a.shape}) · ({each.b.shape}) = {each.c.shape}" for each in rows],
        _("numbers"): [f"({numbers(each.a)}) · ({numbers(each.b)}) = {numbers(each.c)}" for each in rows],
    }
