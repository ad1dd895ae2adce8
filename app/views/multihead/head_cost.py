"""What h heads cost at equal d_model (paper, section 3.2.2): the same as one, because each is d_model / h wide.

    parameters       W^Q, W^K, W^V: D x hE, and hE each for biases;  W^O: hE x D, and D for biases
    multiplications  Q and the output: Q.D.hE each;  K and V: K.D.hE each;  q.k and weights.v: h.Q.K.E each

With E = D / h every hE is D, whatever h is. With E = D, not split, all these numbers are h times as large (except the
biases of W^O). Multiplications are multiply-adds: each is followed by an addition. The products of all cells are
computed; masked cells are filled afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.languages import _
from app.languages.numbers import formatted

CHOICES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Cost:
    """The cost of one attention with `heads` heads, for one sentence."""

    heads: int
    d_k: int
    parameters: int
    projections: int  # multiplications in W^Q, W^K, W^V and W^O
    products: int  # in q.k
    weighted: int  # in weights times v
    rows: int  # softmaxes
    scores: int  # comparisons

    @property
    def multiplications(self) -> int:
        return self.projections + self.products + self.weighted


def cost(heads: int, d_model: int, queries: int, keys: int, *, split: bool = True) -> Cost:
    """The cost of an attention. With `split` its heads share d_model; without, each head is as wide as d_model."""
    width = d_model // heads if split else d_model
    inner = heads * width  # hE
    return Cost(
        heads,
        width,
        parameters=3 * (d_model * inner + inner) + inner * d_model + d_model,
        projections=2 * queries * d_model * inner + 2 * keys * d_model * inner,
        products=heads * queries * keys * width,
        weighted=heads * queries * keys * width,
        rows=heads * queries,
        scores=heads * queries * keys,
    )


def choices(d_model: int, own: int) -> list[int]:
    """Numbers of heads to compare: those of 1, 2, 4, 8 and 16 that divide d_model, and the model's own."""
    return sorted({heads for heads in CHOICES if d_model % heads == 0} | {own})


def cost_text(counts: Sequence[int], own: int, sizes: tuple[int, int, int]) -> dict[str, list[str]]:
    """As `cost_table`, with numbers as text (1,000,000); the model's own number of heads is bold (Markdown)."""
    columns = cost_table(counts, sizes)
    names = [f"**{heads}**" if heads == own else str(heads) for heads in counts]
    return {name: [formatted(number, ",") for number in column] for name, column in columns.items()} | {"h": names}


def cost_table(counts: Sequence[int], sizes: tuple[int, int, int]) -> dict[str, list[int]]:
    """One row per number of heads, as numbers."""
    split = [cost(heads, *sizes) for heads in counts]
    unsplit = [cost(heads, *sizes, split=False) for heads in counts]
    return {
        "h": list(counts),
        "d_k": [found.d_k for found in split],
        _("parameters"): [found.parameters for found in split],
        _("projections"): [found.projections for found in split],
        "q · k": [found.products for found in split],
        _("weights · v"): [found.weighted for found in split],
        _("multiplications"): [found.multiplications for found in split],
        _("softmax rows"): [found.rows for found in split],
        _("scores"): [found.scores for found in split],
        _("not split: parameters"): [found.parameters for found in unsplit],
        _("not split: multiplications"): [found.multiplications for found in unsplit],
    }
