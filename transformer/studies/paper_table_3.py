"""Table 3 of the paper (section 6.2, v7 of arXiv:1706.03762): variations on the base model, English to German.

Perplexities are per token, BLEU is with beam 4 and alpha 0.6, both on newstest2013; the models were trained on 4.5
million pairs for 100,000 updates, the big one for 300,000. For small models on another text only the order can be
compared, not the numbers.

Options are named as in our recipes. Rows (B) change d_k alone and leave d_v at 64, which our recipes do not support.
"""

from dataclasses import dataclass, field

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Row:
    """One line of the table: what differs from the base, and the numbers."""

    group: str  # "(A)", or "base", "big"
    perplexity: float
    bleu: float
    millions: int | None = None  # of parameters; None: as the base
    differs: dict[str, Value] = field(default_factory=dict)  # "section.key" of a recipe: value


BASE: dict[str, Value] = {
    "model.encoder_layers": 6,
    "model.d_model": 512,
    "model.d_ff": 2048,
    "model.heads": 8,
    "model.d_k": 64,
    "model.dropout": 0.1,
    "training.label_smoothing": 0.1,
    "training.updates": 100_000,
    "model.positions": "sinusoidal",
}
BIG: dict[str, Value] = {
    "model.d_model": 1024,
    "model.d_ff": 4096,
    "model.heads": 16,
    "model.dropout": 0.3,
    "training.updates": 300_000,
}

TABLE_3 = (
    Row("base", 4.92, 25.8, 65),
    Row("(A)", 5.29, 24.9, None, {"model.heads": 1, "model.d_k": 512}),
    Row("(A)", 5.00, 25.5, None, {"model.heads": 4, "model.d_k": 128}),
    Row("(A)", 4.91, 25.8, None, {"model.heads": 16, "model.d_k": 32}),
    Row("(A)", 5.01, 25.4, None, {"model.heads": 32, "model.d_k": 16}),
    Row("(B)", 5.16, 25.1, 58, {"model.d_k": 16}),
    Row("(B)", 5.01, 25.4, 60, {"model.d_k": 32}),
    Row("(C)", 6.11, 23.7, 36, {"model.encoder_layers": 2}),
    Row("(C)", 5.19, 25.3, 50, {"model.encoder_layers": 4}),
    Row("(C)", 4.88, 25.5, 80, {"model.encoder_layers": 8}),
    Row("(C)", 5.75, 24.5, 28, {"model.d_model": 256, "model.d_k": 32}),
    Row("(C)", 4.66, 26.0, 168, {"model.d_model": 1024, "model.d_k": 128}),
    Row("(C)", 5.12, 25.4, 53, {"model.d_ff": 1024}),
    Row("(C)", 4.75, 26.2, 90, {"model.d_ff": 4096}),
    Row("(D)", 5.77, 24.6, None, {"model.dropout": 0.0}),
    Row("(D)", 4.95, 25.5, None, {"model.dropout": 0.2}),
    Row("(D)", 4.67, 25.3, None, {"training.label_smoothing": 0.0}),
    Row("(D)", 5.47, 25.7, None, {"training.label_smoothing": 0.2}),
    Row("(E)", 4.92, 25.7, None, {"model.positions": "learned"}),
    Row("big", 4.33, 26.4, 213, BIG),
)


def row_of(option: str, value: Value) -> Row | None:
    """The row that differs from the base only in this option (and in d_k, if it follows from this option).

    The base itself, if the base has this value; None, if the paper has no such row.
    """
    if BASE.get(option, ...) == value:
        return TABLE_3[0]
    for row in TABLE_3:
        changed = row.differs.keys() - ({"model.d_k"} if option != "model.d_k" else set())
        if changed == {option} and row.differs[option] == value:
            return row
    return None
