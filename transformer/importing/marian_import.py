"""A MarianMT model (Junczys-Dowmunt et al. 2018; the opus-mt models of Tiedemann and Thottingal 2020) as a checkpoint.

It is the paper's Transformer, post-norm, with four differences:

- positions are sines in the first half of the vector and cosines in the second: `sinusoid_layout = "concatenated"`;
- the logits have a bias: `output_bias`;
- each language has a sentencepiece model of its own: PairTokenizer;
- </s>, <unk> and <pad> have other ids, and the decoder starts with <pad> instead of <s>. Here the rows of the
  embedding are in another order, and <s> is a copy of the row of <pad>. The copy would get the same logit as <pad>, so
  its bias is NEVER.

Logits and translations equal those of Hugging Face (tests/importing/test_marian_import.py).
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.checkpoint.header import meta_model
from transformer.config import BOS, DecodingConfig, ModelConfig
from transformer.errors import CheckpointError
from transformer.export.marian_names import NEVER, marian_names
from transformer.files.untrusted_values import shown, validate
from transformer.importing.marian_files import MarianFiles, read_marian
from transformer.model import Transformer
from transformer.model.positions import PositionalEncoding
from transformer.text.pair_tokenizer import SPECIAL, PairTokenizer

START = "decoder_start_token_id"
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
# MarianMT models have these values or do not state them. Other values mean a model of another kind.
REQUIRED = {
    "model_type": "marian",
    "scale_embedding": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
}
VOCABULARY_WEIGHTS = ("model.shared.weight", "final_logits_bias")  # their rows belong to tokens


def import_marian(folder: Path, out: Path, *, half: bool = True) -> TrainedModel:
    """Writes the checkpoint `out` from a folder of Hugging Face, and returns what is in it.

    Args:
        half: store float16, as such models are usually published.

    Raises:
        CheckpointError: a file is missing or damaged, the model is of another kind (everything is named at once), or
            `out` cannot be written.
    """
    files = read_marian(folder)
    config = model_config(files)
    tokenizer = PairTokenizer(files.source, files.target, vocabulary(files.ids))
    recipe = {"name": folder.resolve().name, "decoding": asdict(decoding_config(files.generation))}
    if all(files.languages):
        source, target = files.languages
        recipe["data"] = {"source_language": source, "target_language": target}
    trained = TrainedModel(filled_model(config, files), tokenizer, recipe, {"imported_from": "MarianMT"})
    save_checkpoint(out, trained, half=half)
    return trained


def model_config(files: MarianFiles) -> ModelConfig:
    """Our configuration for config.json. Raises CheckpointError, which names everything that does not fit."""
    given, problems = files.config, _contradictions(files)
    dropout = given.get("dropout", 0.1)
    tied = given.get("share_encoder_decoder_embeddings", True) and given.get("tie_word_embeddings", True)
    config, invalid = validate(
        ModelConfig,
        {
            "vocab_size": len(vocabulary(files.ids)),
            "encoder_layers": given.get("encoder_layers"),
            "decoder_layers": given.get("decoder_layers"),
            "d_model": given.get("d_model"),
            "d_ff": given.get("encoder_ffn_dim"),
            "heads": given.get("encoder_attention_heads"),
            "norm_epsilon": 1e-5,
            "sinusoid_layout": "concatenated",
            "max_positions": given.get("max_position_embeddings"),
            "shared_embeddings": tied,
            "output_bias": True,
            "activation": ACTIVATIONS.get(str(given.get("activation_function")), "relu"),
            "dropout": float(dropout) if type(dropout) is int else dropout,
        },
        prefix="",
    )
    if problems or invalid or config is None:
        listed = "; ".join(each.rstrip(".") for each in (*problems, *invalid))
        raise CheckpointError(f"{files.folder} has a model that cannot be imported: {listed}.")
    return config


def _contradictions(files: MarianFiles) -> list[str]:
    """What the config.json of the model states that our configuration cannot express."""
    given = files.config

    def differs(one: str, other: str) -> bool:
        return bool(given.get(one) != given.get(other))

    found = [
        f"{name} is {shown(given[name])} and should be {shown(value)}"
        for name, value in REQUIRED.items()
        if given.get(name, value) != value
    ]
    found += [f"the vocabulary has no {token}" for token in ("<pad>", "<unk>", "</s>") if token not in files.ids]
    if given.get("activation_function") not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        found.append(f"activation_function is {shown(given.get('activation_function'))} and should be one of {known}")
    if differs("encoder_attention_heads", "decoder_attention_heads"):
        found.append("encoder and decoder differ in their number of heads")
    if differs("encoder_ffn_dim", "decoder_ffn_dim"):
        found.append("encoder and decoder differ in the width of their feed-forward networks")
    if given.get("decoder_vocab_size") not in (None, given.get("vocab_size")):
        found.append("source and target have vocabularies of different sizes")
    if _start(files) is None:
        found.append("the decoder starts neither with <pad> nor with <s>")
    if len(files.ids) != given.get("vocab_size"):
        found.append(f"vocab.json has {len(files.ids):,} tokens and vocab_size is {shown(given.get('vocab_size'))}")
    return found


def vocabulary(ids: Mapping[str, int]) -> list[str]:
    """The tokens in our order: the special ones, then all others in the order of their ids in vocab.json."""
    return [*SPECIAL, *(token for token in sorted(ids, key=ids.__getitem__) if token not in SPECIAL)]


def decoding_config(given: Mapping[str, Any]) -> DecodingConfig:
    """The search that the settings of the model state, with the defaults of Hugging Face: greedy, and alpha = 1 in the
    length penalty l^alpha."""
    beam = given.get("num_beams", 1)
    alpha = given.get("length_penalty")
    return DecodingConfig(
        beam=beam if type(beam) is int and 1 <= beam <= 64 else 4,
        length_penalty="power",
        alpha=float(alpha) if isinstance(alpha, int | float) and 0 <= alpha <= 5 else 1.0,
    )


def filled_model(config: ModelConfig, files: MarianFiles) -> Transformer:
    """Our model with these weights. Raises CheckpointError for weights that are missing or have another shape."""
    start = _start(files) or "<pad>"
    model, rows = meta_model(config), _rows(files.ids, start)
    found, problems = {}, []
    for name, parameter in model.named_parameters():
        theirs = marian_names(name)
        weight = next((files.weights[each] for each in theirs if each in files.weights), None)
        if weight is None:
            problems.append(f"{theirs[0]} is missing")
            continue
        if name == "output_bias":
            weight = weight.flatten()  # (1, V) -> (V)
        if theirs[-1] in VOCABULARY_WEIGHTS and len(weight) == len(files.ids):
            weight = weight[rows]  # in our order
        if weight.shape != parameter.shape:
            problems.append(f"{theirs[0]} has the shape {tuple(weight.shape)} instead of {tuple(parameter.shape)}")
        found[name] = weight.to(torch.float32, copy=True)
    if problems:
        raise CheckpointError(f"{files.folder}: its weights do not fit its config.json: {'; '.join(problems)}.")
    if start == "<pad>":
        found["output_bias"][BOS] = NEVER
    model.load_state_dict(found, strict=False, assign=True)
    positions = PositionalEncoding(config)
    model.encoder.embedding.positions = model.decoder.embedding.positions = positions
    return model.eval()


def _start(files: MarianFiles) -> str | None:
    """The token that the decoder starts with."""
    start = files.config.get(START)
    return next((token for token in ("<pad>", "<s>") if start is not None and files.ids.get(token) == start), None)


def _rows(ids: Mapping[str, int], start: str) -> Tensor:
    """For each of our ids, the row of its token in the matrices of the files: (V)."""
    return torch.tensor([ids[start if token == SPECIAL[BOS] else token] for token in vocabulary(ids)])
