"""The words and formulas of the page Step by step that depend on the checkpoint: its norms, its positions, its mask.

Where a checkpoint differs from the paper, they say what the checkpoint does, and that the paper does not do so.
"""

from collections.abc import Collection

from app.figures.layouts import layout_formula
from app.languages import _, gettext_noop
from transformer.config import ModelConfig


def words_for(
    config: ModelConfig, stack: str, part: str, edited: Collection[str] = (), *, has_positions: bool = True
) -> dict[str, str]:
    """The values of the $words in stations.toml, by name, for a part of a stack. Formulas are LaTeX.

    Args:
        edited: the names of the sites of this part that an edit changes.
        has_positions: whether positions are added in this stack. An edit may set them to 0.
    """
    pre, shared = config.norm == "pre", config.shared_embeddings
    layers = config.encoder_layers + config.decoder_layers
    activation = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[config.activation]
    relu, inner = activation == "ReLU", "x W_1 + b_1"
    normed = r"\gamma\,\frac{%s-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta"
    last_norm = rf"\mathrm{{LayerNorm}}(x)={normed % 'x'}"
    kept = "" if "residual_connection" in edited else "x + "
    after_sum = rf"\mathrm{{LayerNorm}}(z)={normed % 'z'},\quad z={kept.replace(' ', '')}\mathrm{{Sublayer}}(x)"
    mask = _edited_mask(config, part) if "mask" in edited else _mask(config, stack, part)
    if "masked_scores" in edited:
        mask["none_masked"] = ""
    positions = _positions(config, "positions" in edited, has_positions)
    return positions | mask | _inputs(config, stack, part) | dropped(config) | {
        "activation": activation,
        "activation_formula": rf"\max(0,\,{inner})" if relu else rf"\mathrm{{{activation}}}({inner})",
        "activation_section": "" if relu else _(", where it is the ReLU"),
        "activated": (
            _("Units below zero become 0; which ones stay") if relu
            else _("Units far below zero become nearly 0; which ones stay")
        ),
        "feed_forward_parameters": _(
            "W₁ ({d_model:,} × {d_ff:,}), b₁, W₂ ({d_ff:,} × {d_model:,}) and b₂ are {of_layer:,} parameters in each "
            "layer, {of_all:,} in all {layers} layers.",
            d_model=config.d_model,
            d_ff=config.d_ff,
            of_layer=feed_forward_parameters(config),
            of_all=layers * feed_forward_parameters(config),
            layers=layers,
        ),
        "kept": kept,
        "sublayer_input": r"\mathrm{LayerNorm}(x)" if pre else "x",
        "sum_section": _("not in the paper, which normalises the sum") if pre else _("section 3.1"),
        "norm_section": _("not in the paper") if pre else _("section 3.1 (Ba et al. 2016)"),
        "norm_formula": last_norm if pre else after_sum,
        "last_norm_formula": last_norm,
        "norm": " ".join([
            *([_(
                "This checkpoint normalises before the sub-layer (pre-norm, later work); the paper does it after the "
                "sum."
            )] if pre else []),
            _(
                "Each row is scaled to mean 0 and standard deviation 1; then each dimension is multiplied by its "
                "learned gain γ, and its learned shift β is added."
            ),
        ]),
        "output_matrix": "W_{emb}" if shared else "W_{out}",
        "output_bias": r"\;+\;b_{out}" if config.output_bias else "",
        "output_text": " ".join([
            _("The vectors are those of the embedding.") if shared
            else _("The vectors are a matrix of their own; the paper takes the embedding's."),
            *([_("Each token has a bias besides, which the paper does not have.")] if config.output_bias else []),
        ]),
    }  # fmt: skip


def feed_forward_parameters(config: ModelConfig) -> int:
    """The numbers in the matrices and biases of one layer's network (equation 2)."""
    return 2 * config.d_model * config.d_ff + config.d_ff + config.d_model


def _inputs(config: ModelConfig, stack: str, part: str) -> dict[str, str]:
    """What a stack reads, and where its vectors and the keys and values of an attention come from."""
    own = _("the encoder's own matrix") if stack == "encoder" else _("the decoder's own matrix")
    return {
        "input": _("source") if stack == "encoder" else _("output so far, with `<s>` before it"),
        "matrix": _("the matrix that source, output and logits share") if config.shared_embeddings else own,
        "memory": _("the encoder's output") if part == "cross_attention" else _("the same rows"),
    }


def _positions(config: ModelConfig, are_edited: bool, has_positions: bool) -> dict[str, str]:
    sinusoidal, none = config.positions == "sinusoidal", config.positions == "none" or not has_positions
    return {
        "beside_positions": (
            _(", about as large as the positions that are added next") if sinusoidal and not are_edited else ""
        ),
        "positions": _position_text(config),
        "positions_formula": layout_formula(config.sinusoid_layout) if sinusoidal else "",
        "entering": _("Embedding without position") if none else _("Embedding + position"),
        "entering_formula": r"\sqrt{d_{model}}\,x_t" + ("" if none else " + PE_t"),
        "entering_text": (
            _("This enters the first layer: the token, without its position.") if none
            else _("The sum is what enters the first layer: token and position in one vector.")
        ),
    }  # fmt: skip


def _position_text(config: ModelConfig) -> str:
    if config.positions == "learned":
        return _("This checkpoint learned a vector for each position; the paper tried that too (Table 3, row E).")
    if config.positions == "none":
        return _("This checkpoint has no positions: zeros are added.")
    text = _("Sines and cosines of the position, a wavelength for each pair of dimensions.")
    if config.sinusoid_layout == "interleaved":
        return text
    return text + " " + _("Here all sines come first, then all cosines; in the paper they alternate.")


def _mask(config: ModelConfig, stack: str, part: str) -> dict[str, str]:
    window = None if part == "cross_attention" else config.attention_window
    causal = stack == "decoder" and part == "self_attention"
    if window is None:
        return {
            "masked": _masked(config, causal),
            "mask_section": _mask_section(config, part),
            "none_masked": "" if causal else " " + _("Here no cell is masked, so the scores do not change."),
        }
    text = (
        _(
            "What comes later in the output is masked. This checkpoint has a window, too: row t may attend to rows "
            "t − {window} to t.",
            window=window,
        )
        if causal
        else _(
            "Padding would be masked; one sentence alone has none. This checkpoint has a window, too: row t may attend "
            "to rows t − {window} to t + {window}.",
            window=window,
        )
    )
    return {"masked": text, "mask_section": _mask_section(config, part), "none_masked": ""}


def _edited_mask(config: ModelConfig, part: str) -> dict[str, str]:
    return {
        "masked": _("An edit has changed this mask: the picture shows which keys each row may attend to now."),
        "mask_section": _mask_section(config, part),
        "none_masked": "",
    }


def _mask_section(config: ModelConfig, part: str) -> str:
    windowed = part != "cross_attention" and config.attention_window is not None
    return _("sections 3.2.3 and 4") if windowed else _("section 3.2.3")


def _masked(config: ModelConfig, causal: bool) -> str:
    """What the mask of an attention without a window does."""
    if not causal:
        return _("Padding would be masked; one sentence alone has none, so every row may attend to every key.")
    text = _("What comes later in the output is masked: row t may attend to rows 1 to t.")
    if config.causal_training:
        return text
    return f"{text} " + _(
        "This checkpoint was trained without this mask; here the mask is applied, as in every translation."
    )


def dropped(config: ModelConfig) -> dict[str, str]:
    """What the dropouts in the code do in training (section 5.4); no picture shows them."""

    def sentence(text: str, rate: float, none: str) -> str:
        return " " + (_(text, rate=rate) if rate else _(none))

    of_paper = gettext_noop("The dropout of section 5.4 has rate 0 in this checkpoint.")
    not_in_paper = gettext_noop("The code has a dropout here (not in the paper); in this checkpoint its rate is 0.")
    return {
        "dropped_sum": sentence(
            gettext_noop(
                "Only in training, dropout sets each of these numbers to 0 with probability {rate:g} (section 5.4); "
                "here nothing is dropped."
            ),
            config.embedding_dropout,
            of_paper,
        ),
        "dropped": sentence(
            gettext_noop(
                "Only in training, dropout sets each number of the sub-layer's output, before the sum, to 0 with "
                "probability {rate:g} (section 5.4); here nothing is dropped."
            ),
            config.dropout,
            of_paper,
        ),
        "dropped_weights": sentence(
            gettext_noop(
                "Only in training, dropout sets each weight to 0 with probability {rate:g} (not in the paper); here "
                "nothing is dropped."
            ),
            config.attention_dropout,
            not_in_paper,
        ),
        "dropped_units": sentence(
            gettext_noop(
                "Only in training, dropout sets each unit to 0 with probability {rate:g} (not in the paper); here "
                "nothing is dropped."
            ),
            config.activation_dropout,
            not_in_paper,
        ),
    }
