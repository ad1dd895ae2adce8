"""The words and formulas of the walk that depend on the checkpoint: the place of its norms, its positions, its mask.

Where a checkpoint differs from the paper, they say what the checkpoint does, and that the paper does not.
"""

from app.figures.layouts import layout_formula
from transformer.config import ModelConfig


def words_for(config: ModelConfig, stack: str, part: str) -> dict[str, str]:
    """The values of the $words in stations.toml, by name, for a part of a stack. Formulas are LaTeX."""
    pre, shared = config.norm == "pre", config.shared_embeddings
    activation = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[config.activation]
    relu, inner = activation == "ReLU", "x W_1 + b_1"
    normed = r"\gamma\,\frac{%s-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta"
    last_norm = rf"\mathrm{{LayerNorm}}(x)={normed % 'x'}"
    after_sum = rf"\mathrm{{LayerNorm}}(z)={normed % 'z'},\quad z=x+\mathrm{{Sublayer}}(x)"
    return _positions(config) | _mask(config, stack, part) | dropped(config) | {
        "input": "source" if stack == "encoder" else "output so far, with `<s>` before it",
        "matrix": "the matrix that source, output and logits share" if shared else f"the {stack}'s own matrix",
        "memory": "the encoder's output" if part == "cross_attention" else "the same rows",
        "activation": activation,
        "activation_formula": rf"\max(0,\,{inner})" if relu else rf"\mathrm{{{activation}}}({inner})",
        "activation_section": "" if relu else ", where it is the ReLU",
        "activated": (
            "Units below zero become 0; which ones stay" if relu
            else "Units far below zero become nearly 0; which ones stay"
        ),
        "sublayer_input": r"\mathrm{LayerNorm}(x)" if pre else "x",
        "norm_section": "not in the paper" if pre else "section 3.1 (Ba et al. 2016)",
        "norm_formula": last_norm if pre else after_sum,
        "last_norm_formula": last_norm,
        "norm": (
            "This checkpoint normalises before the sub-layer (pre-norm, later work); the paper does it after the sum. "
            if pre else ""
        ) + "Each row to mean 0 and deviation 1, then a learned gain γ and shift β for each dimension.",
        "output_matrix": "W_{emb}" if shared else "W_{out}",
        "output_text": (
            "The vectors are those of the embedding." if shared
            else "The vectors are a matrix of their own; the paper takes the embedding's."
        ),
    }  # fmt: skip


def _positions(config: ModelConfig) -> dict[str, str]:
    interleaved = config.sinusoid_layout == "interleaved"
    sinusoidal, none = config.positions == "sinusoidal", config.positions == "none"
    return {
        "beside_positions": ", about as large as the positions that are added next" if sinusoidal else "",
        "positions": {
            "sinusoidal": "Sines and cosines of the position, a wavelength for each pair of dimensions."
            + ("" if interleaved else " Here all sines come first, then all cosines; in the paper they alternate."),
            "learned": "This checkpoint learned a vector for each position; the paper tried that too (Table 3, row E).",
            "none": "This checkpoint has no positions: zeros are added.",
        }[config.positions],
        "positions_formula": layout_formula(config.sinusoid_layout) if sinusoidal else "",
        "entering": "Embedding without position" if none else "Embedding + position",
        "entering_formula": r"\sqrt{d_{model}}\,x_t" + ("" if none else " + PE_t"),
        "entering_text": (
            "This enters the first layer: the token, without its position." if none
            else "The sum is what enters the first layer: token and position in one vector."
        ),
    }  # fmt: skip


def _mask(config: ModelConfig, stack: str, part: str) -> dict[str, str]:
    window = None if part == "cross_attention" else config.attention_window
    causal = stack == "decoder" and part == "self_attention"
    alone = "Padding would be masked; one sentence alone has none"
    later = "What comes later in the output is masked"
    if window is None:
        unmasked = "" if causal else " Here none is: the scores stay as they were."
        said = f"{later}: row t may attend to rows 1 to t." if causal else f"{alone}, so every position may be seen."
        if causal and not config.causal_training:
            said += " This checkpoint was trained without this mask; here, as whenever it translates, it has it."
        return {"masked": said, "mask_section": "section 3.2.3", "none_masked": unmasked}
    reach = f"rows t − {window} to t" + ("" if causal else f" + {window}")
    said = f"{later if causal else alone}. This checkpoint has a window, too: row t may attend to {reach}."
    return {"masked": said, "mask_section": "sections 3.2.3 and 4", "none_masked": ""}


def dropped(config: ModelConfig) -> dict[str, str]:
    """What training does at the dropouts in the code (section 5.4), and no picture shows."""

    def said(what: str, rate: float, *, in_paper: bool = True) -> str:
        if rate:
            where = "section 5.4" if in_paper else "not in the paper"
            return (
                f" In training alone, dropout makes {what} 0 with chance {rate:g} ({where}); here nothing is dropped."
            )
        return " The dropout of section 5.4 has rate 0 in this checkpoint." if in_paper else (
            " The dropout in the code has rate 0, as in the paper."
        )  # fmt: skip

    return {
        "dropped_sum": said("each of these numbers", config.embedding_dropout),
        "dropped": said("each number of the sub-layer's output, before the sum,", config.dropout),
        "dropped_weights": said("each weight", config.attention_dropout, in_paper=False),
        "dropped_units": said("each unit", config.activation_dropout, in_paper=False),
    }
