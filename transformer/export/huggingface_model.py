"""Export: a checkpoint as a model of Hugging Face's library `transformers`, with the same tokens and logits.

    from transformers import AutoModelForSeq2SeqLM, MarianTokenizer
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(DIR), MarianTokenizer.from_pretrained(DIR)
    tokenizer.batch_decode(model.generate(**tokenizer(["A sentence."], return_tensors="pt")), skip_special_tokens=True)

Two architectures of that library are the paper's. MarianMT has LayerNorm after the residual sum, as the paper; Pegasus
has it before the sub-layer, and one more at the top of each stack, as models with `norm = "pre"`.

MarianMT has the sines of the positions in the first half of the vector and the cosines in the second. If they alternate
in our model, the dimensions of the residual stream are put into MarianMT's order, in every weight that reads from the
stream or writes to it: the computation stays the same, because nothing else depends on the order.

Pegasus stores its table of positions, so our model may have any kind of positions.

Two things cannot be expressed. Their LayerNorm has an epsilon of 1e-5, ours of 1e-6 if the recipe does not say
otherwise, which changes logits in the fifth digit; a much larger one is refused. Their length penalty is l^a, which
approximates the paper's (see ctranslate2_readme.py).
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.config import BOS, EOS, PAD, UNK, DecodingConfig, ModelConfig
from transformer.decoding.language_pair import languages_of
from transformer.errors import HeadlightError
from transformer.export.ctranslate2_readme import PAPER_POWER
from transformer.export.marian_names import marian_names
from transformer.files.atomic_write import new_folder
from transformer.model import Transformer
from transformer.text.pair_tokenizer import PairTokenizer
from transformer.text.tokenizer import Tokenizer

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "swish"}
# Weights whose columns are the dimensions of the residual stream.
READS_THE_STREAM = ("query.weight", "key.weight", "value.weight", "hidden.weight", "tokens.weight")
LARGEST_EPSILON = 1e-4  # of LayerNorm: with their 1e-5 in its place, the model would be another one
_ARCHITECTURES = {"post": ("marian", "MarianMTModel"), "pre": ("pegasus", "PegasusForConditionalGeneration")}


def export_huggingface(checkpoint: Checkpoint, folder: Path, settings: DecodingConfig) -> str:
    """Writes the folder that `from_pretrained` loads, completely or not at all.

    Args:
        settings: of the search, as far as Hugging Face has them.

    Returns:
        The name of the class that `from_pretrained` loads.

    Raises:
        HeadlightError: the folder exists, or there is no such architecture.
    """
    if folder.exists():
        raise HeadlightError(f"{folder} exists already. Name a new folder, or remove that one.")
    if problems := _problems(checkpoint.config):
        raise HeadlightError(
            f"{checkpoint.path} cannot be exported: Hugging Face has no such model with {' and '.join(problems)}."
        )
    source, target = languages_of(checkpoint.recipe) or ("", "")
    longest = checkpoint.config.max_positions
    files = {
        "config.json": _config(checkpoint.config),
        "generation_config.json": _generation(settings, longest),
        "tokenizer_config.json": {
            "tokenizer_class": "MarianTokenizer",
            "model_max_length": longest,
            "source_lang": source,
            "target_lang": target,
        },
        "vocab.json": {checkpoint.tokenizer.token(id): id for id in range(checkpoint.config.vocab_size)},
    }
    with new_folder(folder) as temporary:
        for name, content in files.items():
            (temporary / name).write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
        for name, model in zip(("source.spm", "target.spm"), _sentencepiece(checkpoint.tokenizer), strict=True):
            (temporary / name).write_bytes(model)
        save_file(weights(checkpoint.model), temporary / "model.safetensors", {"format": "pt"})
    return _ARCHITECTURES[checkpoint.config.norm][1]


def _problems(config: ModelConfig) -> list[str]:
    is_post = config.norm == "post"
    found = {
        f"attention_window = {config.attention_window}": config.attention_window is not None,
        f'norm = "post", positions = "{config.positions}"': is_post and config.positions != "sinusoidal",
        f"norm_epsilon = {config.norm_epsilon:g}": config.norm_epsilon > LARGEST_EPSILON,
        'norm = "pre", shared_embeddings = false': not is_post and not config.shared_embeddings,
    }
    return [problem for problem, is_there in found.items() if is_there]


def weights(model: Transformer) -> dict[str, Tensor]:
    """The weights by Hugging Face's names, in float32."""
    config, made = model.config, {}
    order = torch.arange(config.d_model)  # (D)
    if config.norm == "post" and config.sinusoid_layout == "interleaved":
        order = torch.cat([order[::2], order[1::2]])  # the sines, then the cosines
    for name, parameter in model.named_parameters():
        if ".positions." in name:
            continue  # learned positions: stored as a table, below
        weight = parameter.detach().to("cpu", torch.float32)
        if name == "output.weight" or name.endswith(READS_THE_STREAM):
            weight = weight[:, order]
        elif name != "output_bias" and not name.endswith(("query.bias", "key.bias", "value.bias", "hidden.bias")):
            weight = weight[order]
        made[_stored_as(name, config)] = weight.contiguous()
    if config.norm == "pre":
        for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
            table = stack.embedding.positions(config.max_positions).detach().float()  # (P, D), or (P, 1) of zeros
            made[f"model.{name}.embed_positions.weight"] = table.expand(-1, config.d_model).clone()
    bias = model.output_bias
    made["final_logits_bias"] = torch.zeros(1, config.vocab_size) if bias is None else bias.detach().float()[None]
    return made


def _stored_as(name: str, config: ModelConfig) -> str:
    """Hugging Face's name for one of our parameters."""
    first, *others = marian_names(name)
    return others[-1] if config.shared_embeddings and "tokens.weight" in name else first


def _config(config: ModelConfig) -> dict[str, Any]:
    stacks = {
        f"{stack}_{name}": value
        for stack in ("encoder", "decoder")
        for name, value in {"ffn_dim": config.d_ff, "attention_heads": config.heads}.items()
    }
    return stacks | {
        "model_type": _ARCHITECTURES[config.norm][0],
        "architectures": [_ARCHITECTURES[config.norm][1]],
        "vocab_size": config.vocab_size,
        "decoder_vocab_size": config.vocab_size,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "d_model": config.d_model,
        "max_position_embeddings": config.max_positions,
        "activation_function": ACTIVATIONS[config.activation],
        "dropout": config.dropout,
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": config.shared_embeddings,
        "tie_word_embeddings": config.shared_embeddings,
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }


def _generation(settings: DecodingConfig, longest: int) -> dict[str, Any]:
    power = {"paper": PAPER_POWER * settings.alpha, "power": settings.alpha, "none": 0.0}[settings.length_penalty]
    sampling = {"temperature": settings.temperature, "top_k": settings.top_k, "top_p": settings.top_p}
    return {
        "num_beams": settings.beam if settings.method == "beam" else 1,
        "do_sample": settings.method == "sampling",
        **(sampling if settings.method == "sampling" else {}),
        "length_penalty": power,
        "early_stopping": "never" if settings.method == "beam" and settings.beam > 1 else False,
        "max_length": longest,
        "suppress_tokens": [PAD, UNK, BOS],
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
    }


def _sentencepiece(tokenizer: Tokenizer) -> tuple[bytes, bytes]:
    return tokenizer.models if isinstance(tokenizer, PairTokenizer) else (tokenizer.to_bytes(), tokenizer.to_bytes())
