"""A `families.json` as the queue's report writes it, of three families: one run, one run in part, one not at all."""

import json
from pathlib import Path
from typing import Any


def _run(seed: int, bleu: float) -> dict[str, Any]:
    return {"seed": seed, "parameters": 2_500_000, "beam_4": {"bleu": bleu}, "perplexity": 60 / bleu}


def _member(*bleus: float) -> dict[str, Any]:
    runs = [_run(seed, bleu) for seed, bleu in enumerate(bleus, start=1)]
    mean = sum(bleus) / max(len(bleus), 1)
    spread = (sum((bleu - mean) ** 2 for bleu in bleus) / max(len(bleus) - 1, 1)) ** 0.5
    return {
        "runs": runs,
        "mean": {"bleu": mean, "perplexity": 60 / mean} if runs else {},
        "spread": {"bleu": spread, "perplexity": 0.1} if len(runs) > 1 else {},
        "seeds_planned": [1, 2, 3],
    }


REPORT: dict[str, Any] = {
    "queue": "families",
    "scored_on": "valid.tsv.gz",
    "members": {
        "base": _member(31.0, 31.6, 31.9),
        "heads-1": _member(29.2, 29.8, 29.5),
        "heads-4": _member(31.2),
        "heads-16": _member(),
        "positions-none": _member(),
    },
    "families": [
        {
            "name": "heads",
            "option": "model.heads",
            "members": [
                {"member": "heads-1", "value": 1, "paper": {"perplexity": 5.29, "bleu": 24.9}},
                {"member": "heads-4", "value": 4, "paper": {"perplexity": 5.0, "bleu": 25.5}},
                {"member": "base", "value": 8, "paper": {"perplexity": 4.92, "bleu": 25.8}},
                {"member": "heads-16", "value": 16, "paper": {"perplexity": 4.91, "bleu": 25.8}},
            ],
        },
        {
            "name": "positions",
            "option": "model.positions",
            "members": [
                {"member": "base", "value": "sinusoidal", "paper": {"perplexity": 4.92, "bleu": 25.8}},
                {"member": "positions-none", "value": "none", "paper": None},
            ],
        },
        {
            "name": "window",
            "option": "model.attention_window",
            "members": [
                {"member": "window-1", "value": 1, "paper": None},
                {"member": "base", "value": None, "paper": {"perplexity": 4.92, "bleu": 25.8}},
            ],
        },
    ],
    "disagreements": ["heads: heads-4 against base has BLEU 31.2 against 31.5; in the paper <b>25.5</b> against 25.8."],
}


def write_families(folder: Path) -> Path:
    """Writes the report beside the checkpoints of a folder."""
    path = folder / "families.json"
    path.write_text(json.dumps(REPORT), encoding="utf-8")
    return path
