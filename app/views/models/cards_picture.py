"""The checkpoints as cards, each with its main score: data for the browser component `model_cards`."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.figures.station_texts import feed_forward_parameters
from app.figures.tables import Table
from app.languages import _, ngettext
from app.library.catalogue import Entry
from app.library.main_score import MainScore
from app.library.names import short_name
from transformer.analysis.inspection import parameters_of
from transformer.config import ModelConfig

Scores = Mapping[str, MainScore | None]  # by the name of the checkpoint


def cards_data(entries: Sequence[Entry], scores: Scores, opened: object) -> dict[str, Any]:
    """A card for each checkpoint."""
    return {"cards": [_card(one, scores.get(one.file.name), opened) for one in entries], "label": _("Checkpoints")}


def _card(one: Entry, score: MainScore | None, opened: object) -> dict[str, Any]:
    config = one.header.config if one.header else None
    is_open = one.file.name == opened
    measured = _("on {text}", text=score.measured_on) if score else _("Its file names no score.")
    return {
        "name": one.file.name,
        "called": short_name(one.file),
        "title": f"{one.task.source} → {one.task.target}" if config else _("This file cannot be opened"),
        "size": size_text(config, one.header.parameters) if one.header and config else "",
        "score": str(score) if score else "",
        "share": min(max(score.value, 0.0), 100.0) if score else 0.0,
        "measured": measured if config else one.problem,
        "parts": parts_text(config) if config and is_open else "",
        "open": is_open,
    }


def size_text(config: ModelConfig, parameters: int) -> str:
    """How large a model is: parameters, layers, width, heads."""
    return _(
        "{millions:.1f} M parameters, {encoder} + {decoder} layers of width {width}, {heads}",
        millions=parameters / 1e6,
        encoder=config.encoder_layers,
        decoder=config.decoder_layers,
        width=config.d_model,
        heads=ngettext("{count} head", "{count} heads", config.heads),
    )


def parts_text(config: ModelConfig) -> str:
    """The shares of the parameters that feed-forward networks, attentions and embeddings have, and how many parameters
    one feed-forward network and one attention have."""
    counts = parameters_of(config)
    total = sum(counts.values())
    feed_forward = sum(count for part, count in counts.items() if "feed-forward" in part)
    attention = sum(count for part, count in counts.items() if "attention" in part)
    return _(
        "feed-forward {feed_forward:.0%} ({of_network:,} a network), attention {attention:.0%} ({of_attention:,} "
        "each), embeddings {embeddings:.0%}",
        feed_forward=feed_forward / total,
        of_network=feed_forward_parameters(config),
        attention=attention / total,
        of_attention=attention // (config.encoder_layers + 2 * config.decoder_layers),
        embeddings=counts["embeddings and output projection"] / total,
    )


def cards_table(entries: Sequence[Entry], scores: Scores) -> Table:
    """One row per checkpoint."""
    found = [scores.get(one.file.name) for one in entries]
    return {
        _("checkpoint"): [one.file.name for one in entries],
        _("task"): [f"{one.task.source} → {one.task.target}" for one in entries],
        _("parameters"): [one.header.parameters if one.header else None for one in entries],
        _("measure"): [_(score.measure) if score else None for score in found],
        _("score"): [score.value if score else None for score in found],
        _("measured on"): [score.measured_on if score else None for score in found],
        _("signature"): [score.signature if score else None for score in found],
    }
