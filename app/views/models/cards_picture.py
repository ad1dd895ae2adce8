"""The checkpoints as cards, each with its one score: data for the browser component `model_cards`."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.figures.tables import Table
from app.library.catalogue import Entry
from app.library.main_score import MainScore
from transformer.config import ModelConfig

Scores = Mapping[str, MainScore | None]  # by the name of the checkpoint


def cards_data(entries: Sequence[Entry], scores: Scores, opened: object) -> dict[str, Any]:
    """A card for each checkpoint."""
    return {"cards": [_card(one, scores.get(one.file.name), opened) for one in entries], "label": "Checkpoints"}


def _card(one: Entry, score: MainScore | None, opened: object) -> dict[str, Any]:
    config = one.header.config if one.header else None
    measured = f"on {score.measured_on}" if score else "Its file names no score."
    return {
        "name": one.file.name,
        "title": f"{one.task.source} → {one.task.target}" if config else "This file cannot be opened",
        "size": size_text(config, one.header.parameters) if one.header and config else "",
        "score": str(score) if score else "",
        "share": min(max(score.value, 0.0), 100.0) if score else 0.0,
        "measured": measured if config else one.problem,
        "open": one.file.name == opened,
    }


def size_text(config: ModelConfig, parameters: int) -> str:
    """How large a model is: parameters, layers, width, heads."""
    layers = f"{config.encoder_layers} + {config.decoder_layers} layers"
    heads = "1 head" if config.heads == 1 else f"{config.heads} heads"
    return f"{parameters / 1e6:.1f} M parameters, {layers} of width {config.d_model}, {heads}"


def cards_table(entries: Sequence[Entry], scores: Scores) -> Table:
    """A row a checkpoint."""
    found = [scores.get(one.file.name) for one in entries]
    return {
        "checkpoint": [one.file.name for one in entries],
        "task": [f"{one.task.source} → {one.task.target}" for one in entries],
        "parameters": [one.header.parameters if one.header else None for one in entries],
        "measure": [score.measure if score else None for score in found],
        "score": [score.value if score else None for score in found],
        "measured on": [score.measured_on if score else None for score in found],
        "signature": [score.signature if score else None for score in found],
    }
