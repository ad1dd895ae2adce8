"""The contents of a checkpoint as plain dictionaries, for the command `inspect` and as JSON."""

import re
from collections import Counter
from dataclasses import asdict
from typing import Any

from transformer.analysis.alignment.alignment_map import read_map
from transformer.analysis.alignment.alignment_report import best_heads
from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.checkpoint.header import meta_model, read_header
from transformer.config import ModelConfig
from transformer.errors import CheckpointError
from transformer.files.untrusted_values import shown
from transformer.model import Transformer, census
from transformer.text.tokenizer import Tokenizer

# The part of the paper's figure 1 that a weight belongs to: the first one whose pattern its name begins with.
PARTS = (
    (r"(encoder|decoder)\.embedding\.tokens|output[._]", "embeddings and output projection"),
    (r"(encoder|decoder)\.embedding\.positions", "learned positions"),
    (r"encoder\..*norm\.", "encoder layer norms"),
    (r"encoder\..*self_attention\.", "encoder self-attention"),
    (r"encoder\..*feed_forward\.", "encoder feed-forward"),
    (r"decoder\..*norm\.", "decoder layer norms"),
    (r"decoder\..*self_attention\.", "decoder self-attention"),
    (r"decoder\..*cross_attention\.", "encoder-decoder attention"),
    (r"decoder\..*feed_forward\.", "decoder feed-forward"),
)


def describe(checkpoint: Checkpoint) -> dict[str, Any]:
    """Everything about a checkpoint except its weights, as JSON values.

    `sites` maps the name of each site of a probe to the letters of its axes, and `letters` has the lengths of the axes
    that depend on the model alone.
    """
    header = read_header(checkpoint.path)
    config = checkpoint.config
    return {
        "path": str(checkpoint.path),
        "file_size": header.file_size,
        "format_version": checkpoint.format_version,
        "stored_as": "float16" if header.half else "float32",
        "config": asdict(config),
        "parameters": {"total": header.parameters, **parameters_by_part(checkpoint.model)},
        "tokenizer": describe_tokenizer(checkpoint.tokenizer),
        "metrics": checkpoint.metrics,
        "recipe": checkpoint.recipe,
        "alignment": _alignment(checkpoint),
        "letters": {
            "H": config.heads,
            "D": config.d_model,
            "E": config.d_k,
            "F": config.d_ff,
            "V": config.vocab_size,
        },
        "sites": {name: list(letters) for name, letters in census(config).items()},
    }


def _alignment(checkpoint: Checkpoint) -> dict[str, Any] | str:
    """The map of the heads that align, as `align --store` wrote it, or the reason why there is none."""
    try:
        found = read_map(checkpoint.path, checkpoint.config)
    except CheckpointError as error:
        return str(error)
    if found is None:
        return "not measured: run `python -m transformer align CHECKPOINT --data FILE --store`"
    return asdict(found) | {"best_heads": best_heads(found)}


def parameters_by_part(model: Transformer) -> dict[str, int]:
    """The number of parameters of each part of the model. A shared matrix counts once."""
    counts: Counter[str] = Counter()
    for name, weight in model.named_parameters():
        counts[next(part for pattern, part in PARTS if re.match(pattern, name))] += weight.numel()
    return dict(counts)


def parameters_of(config: ModelConfig) -> dict[str, int]:
    """The number of parameters of each part of a model with this configuration, without memory for its weights."""
    return parameters_by_part(meta_model(config))


def describe_tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    """The number of tokens of each kind, and the first 20 ordinary ones."""
    kinds = Counter(tokenizer.kind(id) for id in range(tokenizer.vocab_size))
    first = [tokenizer.token(id) for id in tokenizer.ordinary_ids[:20]]
    return {"vocab_size": tokenizer.vocab_size, "kinds": dict(kinds), "first_tokens": first}


def collapse_layers(sites: dict[str, list[str]]) -> dict[str, list[str]]:
    """Sites with `*` for the number of the layer, as in the patterns of a probe."""
    return {re.sub(r"\.layers\.\d+\.", ".layers.*.", name): letters for name, letters in sites.items()}


def as_text(description: dict[str, Any]) -> str:
    """The description as text, a block for each part."""
    stored = f"format {description['format_version']}, {description['stored_as']}"
    blocks = [f"{description['path']}: {description['file_size']:,} bytes, {stored}"]
    blocks.append(_block("Configuration", {name: str(value) for name, value in description["config"].items()}))
    total = description["parameters"]["total"]
    shares = {name: f"{count:>13,}  {count / total:6.1%}" for name, count in description["parameters"].items()}
    blocks.append(_block("Parameters (a shared matrix counts once)", shares))
    tokenizer = description["tokenizer"]
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in tokenizer["kinds"].items())
    first = " ".join(token if token.isprintable() else shown(token) for token in tokenizer["first_tokens"])
    blocks.append(_block("Tokenizer", {"tokens": f"{tokenizer['vocab_size']:,} ({kinds})", "first": first}))
    metrics = {shown(name): shown(value, 100) for name, value in description["metrics"].items()}
    blocks.append(_block("Metrics", metrics or {"none": ""}))
    alignment = description["alignment"]
    if isinstance(alignment, str):
        lines = [shown(alignment, 400)]
    else:
        gold = alignment["gold"]
        lines = [f"on {gold['pairs']:,} pairs of {shown(gold['name'])}", *alignment["best_heads"]]
    blocks.append("\n".join(["Heads that align words", *(f"  {line}" for line in lines)]))
    letters = ", ".join(f"{letter} = {length:,}" for letter, length in description["letters"].items())
    sites = {name: f"({', '.join(axes)})" for name, axes in collapse_layers(description["sites"]).items()}
    blocks.append(_block(f"Sites (* any layer, from 0; B batch, S source length, T target length, {letters})", sites))
    return "\n\n".join(blocks)


def _block(title: str, rows: dict[str, str]) -> str:
    width = max(map(len, rows))
    return "\n".join([title, *(f"  {name:<{width}}  {value}".rstrip() for name, value in rows.items())])
