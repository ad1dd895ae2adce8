"""Export: a checkpoint as a model of CTranslate2, which translates fast without torch.

CTranslate2 (https://github.com/OpenNMT/CTranslate2) has classes that describe a model and write its files. Here they
are filled with our weights. Its conventions:

- W^Q, W^K and W^V of self-attention are one matrix, concatenated along the output, and so are W^K and W^V of
  cross-attention;
- the table of positions is stored, so both layouts, learned positions, and none (zeros) have the same form;
- PAD, UNK and <s>, which our searches never predict, get a negative bias on their logits (NEVER).

Its numbers equal ours up to rounding. With the settings of ctranslate2_readme.py its translations are the same, or
nearly all of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.config import BOS, EOS, PAD, UNK, DecodingConfig
from transformer.errors import HeadlightError
from transformer.export.ctranslate2_readme import INSTALL, readme
from transformer.export.marian_names import NEVER
from transformer.files.atomic_write import new_folder
from transformer.model import Transformer
from transformer.model.layers import DecoderLayer, EncoderLayer
from transformer.model.transformer import Decoder, Encoder
from transformer.text.pair_tokenizer import PairTokenizer

if TYPE_CHECKING:
    from ctranslate2.specs import TransformerSpec

Quantization = Literal["float32", "float16", "bfloat16", "int8"]


def export_ctranslate2(
    checkpoint: Checkpoint, folder: Path, settings: DecodingConfig, quantization: Quantization = "float32"
) -> None:
    """Writes the folder that `ctranslate2.Translator` loads, completely or not at all.

    The folder also has the sentencepiece model (`tokenizer.model`) and a README.md with code that translates.

    Args:
        settings: of the search in that code, as far as CTranslate2 supports them.
        quantization: how the weights are stored. The checkpoint is not changed.

    Raises:
        HeadlightError: the folder exists, CTranslate2 is not installed, or does not support this model.
    """
    if folder.exists():
        raise HeadlightError(f"{folder} exists already. Name a new folder, or remove that one.")
    if checkpoint.config.attention_window is not None:
        raise HeadlightError(
            f"{checkpoint.path} cannot be exported: CTranslate2 does not support its attention_window = "
            f"{checkpoint.config.attention_window}. Train a model without attention_window."
        )
    if isinstance(checkpoint.tokenizer, PairTokenizer):
        raise HeadlightError(
            f"{checkpoint.path} cannot be exported: it has a tokenizer for each language. CTranslate2 converts the "
            "MarianMT folder from which it was imported: ct2-transformers-converter --model DIR --output_dir NEW."
        )
    vocabulary = [checkpoint.tokenizer.token(id) for id in range(checkpoint.config.vocab_size)]
    spec = specification(checkpoint.model, vocabulary)
    spec.validate()
    spec.optimize(quantization)

    with new_folder(folder) as temporary:
        spec.save(str(temporary))
        (temporary / "tokenizer.model").write_bytes(checkpoint.tokenizer.to_bytes())
        (temporary / "README.md").write_text(readme(checkpoint, settings, quantization), encoding="utf-8")


def specification(model: Transformer, vocabulary: list[str]) -> "TransformerSpec":
    """The model in the classes of CTranslate2, with copies of the weights.

    Raises:
        HeadlightError: CTranslate2 is not installed.
    """
    try:
        from ctranslate2.specs import Activation, TransformerSpec
    except ImportError:
        raise HeadlightError(f"Exporting needs the package CTranslate2. Install it: {INSTALL}") from None

    config = model.config
    activations = {"relu": Activation.RELU, "gelu": Activation.GELU, "silu": Activation.SWISH}
    spec = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.heads,
        pre_norm=config.norm == "pre",
        activation=activations[config.activation],
    )
    _fill_stack(spec.encoder, spec.encoder.embeddings[0], model.encoder, config.max_positions)
    _fill_stack(spec.decoder, spec.decoder.embeddings, model.decoder, config.max_positions)
    spec.decoder.projection.weight = _copy(model.output.weight)  # (V, D)
    bias = torch.zeros(config.vocab_size) if model.output_bias is None else _copy(model.output_bias)  # (V)
    bias[[PAD, UNK, BOS]] = NEVER
    spec.decoder.projection.bias = bias
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.config.unk_token, spec.config.eos_token = vocabulary[UNK], vocabulary[EOS]
    spec.config.bos_token = spec.config.decoder_start_token = vocabulary[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = config.norm_epsilon
    return spec


def _fill_stack(spec: Any, embedding: Any, stack: Encoder | Decoder, max_positions: int) -> None:
    tokens, positions = stack.embedding.tokens, stack.embedding.positions
    embedding.weight = _copy(tokens.weight)  # (V, D); CTranslate2 scales it by sqrt(D), too
    table = positions(max_positions)  # (P, D), or (P, 1) of zeros
    spec.position_encodings.encodings = _copy(table.expand(-1, tokens.embedding_dim))  # (P, D)
    if stack.norm is not None:
        _fill_norm(spec.layer_norm, stack.norm)
    layers: Sequence[EncoderLayer | DecoderLayer] = stack.layers
    for there, layer in zip(spec.layer, layers, strict=True):
        _fill_norm(there.self_attention.layer_norm, layer.self_attention_residual.norm)
        past = layer.self_attention
        _fill_linears(there.self_attention.linear, [past.query, past.key, past.value], [past.output])
        if isinstance(layer, DecoderLayer):
            _fill_norm(there.attention.layer_norm, layer.cross_attention_residual.norm)
            source = layer.cross_attention
            _fill_linears(there.attention.linear, [source.query], [source.key, source.value], [source.output])
        _fill_norm(there.ffn.layer_norm, layer.feed_forward_residual.norm)
        _fill_linears(
            [there.ffn.linear_0, there.ffn.linear_1], [layer.feed_forward.hidden], [layer.feed_forward.output]
        )


def _fill_linears(specs: Sequence[Any], *groups: list[nn.Linear]) -> None:
    """Concatenates the matrices of each group along the output."""
    for spec, group in zip(specs, groups, strict=True):
        spec.weight = torch.cat([linear.weight.detach() for linear in group]).float()  # (out, in)
        spec.bias = torch.cat([linear.bias.detach() for linear in group]).float()  # (out)


def _fill_norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _copy(norm.weight), _copy(norm.bias)  # (D) each


def _copy(weight: Tensor) -> Tensor:
    """Trap: int8 quantization is in place, so without copies the checkpoint would change
    (test_exporting_does_not_change_the_model)."""
    return weight.detach().float().clone()
