"""The picture of Masks: one head's attention on the translation with the causal mask and without it (section 3.2.3).

Both are teacher-forced passes of the open model. In the second pass an edit at the site `mask` removes the causal part
of the mask in every decoder layer; the window and the padding mask are kept.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.compute import cached_results
from app.compute.cached_results import Attention
from app.compute.row_predictions import Predictions, predictions
from app.figures.axes import TokenAxis, in_words
from app.figures.base64_numbers import in_base64
from app.figures.tables import Table
from app.figures.theme import CHOSEN, HATCH, HATCH_GROUND, faded, leak_scale, role_color, signed_scale, weight_scale
from app.languages import _, gettext_noop, with_label
from app.stage.scene import Scene
from transformer.analysis.edits import MaskOff
from transformer.model.attention_kinds import SITES

CAUSAL_MASK_OFF = MaskOff("causal")
# What the two passes are, until a page names them otherwise
ALTS = (
    gettext_noop("{place}, with the causal mask. {rows}"),
    gettext_noop("{place}, without the causal mask. {rows}"),
)
WEIGHTS = (gettext_noop("weight with the mask"), gettext_noop("weight without"))


@dataclass(frozen=True)
class Pass:
    """A pass over the translation: self-attention of all heads of the decoder, and what each row predicts."""

    attention: Attention
    predictions: Predictions

    def weights(self, layer: int, head: int) -> np.ndarray:
        """(T, T), rows are queries."""
        found: np.ndarray = self.attention.weights[layer, head]
        return found

    def mask(self, layer: int, head: int) -> np.ndarray:
        """(T, T), True = may attend."""
        found: np.ndarray = self.attention.masks[layer, head]
        return found

    @property
    def share_on_later(self) -> float:
        """The share of all attention that is on later tokens, over all layers and heads."""
        return float(np.triu(self.attention.weights, 1).sum(axis=-1, dtype=np.float64).mean())


def passes(scene: Scene) -> tuple[Pass, Pass]:
    """With the causal mask, and without."""
    masked, found = scene.subject.with_causal_mask, []
    for subject in (masked, masked.edited(CAUSAL_MASK_OFF)):
        one = cached_results.observed(subject, scene.translation.source_ids, scene.hypothesis.ids)
        found.append(Pass(one.attention["decoder"], predictions(one.trace["logits"], scene.hypothesis.ids)))
    return found[0], found[1]


def message(
    scene: Scene, masked: Pass, unmasked: Pass, layer: int, head: int, alts: tuple[str, str] = ALTS
) -> dict[str, Any]:
    """What `app.components.causal_matrix` draws. `alts` describe the two passes, for screen readers."""
    target = scene.target
    token_of = scene.subject.translator.tokenizer.token
    place = _("decoder self-attention, layer {layer}, head {head}", layer=layer + 1, head=head + 1)
    masked_rows, unmasked_rows = (_rows(each.mask(layer, head), target) for each in (masked, unmasked))

    def one(which: Pass, alt: str) -> dict[str, Any]:
        result = which.predictions
        return {
            "weights": in_base64(which.weights(layer, head)),
            "mask": in_base64(which.mask(layer, head), "u1"),
            "probabilities": np.exp(result.log_probabilities).tolist(),
            "right": result.right.tolist(),
            "first": [in_words(token_of(int(id))) for id in result.first],
            "score": result.score,
            "alt": alt,
        }

    return {
        "reads": [in_words(token) for token in target.tokens],
        "predicts": [in_words(token) for token in target.predicts],
        "masked": one(masked, _(alts[0], place=place, rows=masked_rows)),
        "free": one(unmasked, _(alts[1], place=place, rows=unmasked_rows)),
        "layer": layer,
        "head": head,
        "layers": len(masked.attention.weights),
        "heads": scene.config.heads,
        "window": scene.config.attention_window or len(target.tokens),
        "scale": weight_scale(),
        "leak": leak_scale(),
        "chosen": CHOSEN,
        "colors": {
            "decoder": role_color("decoder"),
            "faint": faded(role_color("decoder"), 0.16),
            "leak": leak_scale()[-1][1],
            "leak-ink": "light-dark(#ffffff, #000000)",
            "hatch": HATCH,
            "hatch-ground": HATCH_GROUND,
        },
    }


def scores_before(scene: Scene, layer: int, head: int) -> np.ndarray:
    """Q K^T / sqrt(d_k) of one head, (T, T): the scores to which the mask is applied."""
    site = f"{SITES['decoder'].format(layer)}.scores"
    found: np.ndarray = replace(scene, subject=scene.subject.with_causal_mask).record(site)[site][head]
    return found


def scores_message(scores: np.ndarray, layer: int, head: int) -> dict[str, Any]:
    """What `app.components.causal_matrix` draws of the scores before the mask."""
    alt = _(
        "decoder self-attention, layer {layer}, head {head}, scores before the mask, from {lowest:.2f} to "
        "{highest:.2f}; the table has every number.",
        layer=layer + 1,
        head=head + 1,
        lowest=scores.min(),
        highest=scores.max(),
    )
    return {"values": in_base64(scores), "scale": signed_scale(), "alt": alt}


def table(
    target: TokenAxis, masked: Pass, unmasked: Pass, layer: int, head: int, weights: tuple[str, str] = WEIGHTS
) -> Table:
    """All cells, one per line, row by row. `weights` are the names of the columns with the weights of both passes."""
    size = len(target)
    query, key = np.divmod(np.arange(size * size), size)
    names, keys = np.array(target.names, object), np.array(target.tokens, object)
    return {
        _("query"): names[query],
        _("key"): keys[key],
        _("may attend"): masked.mask(layer, head).ravel(),
        _(weights[0]): masked.weights(layer, head).ravel(),
        _(weights[1]): unmasked.weights(layer, head).ravel(),
    }


def _rows(mask: np.ndarray, target: TokenAxis) -> str:
    """How many keys each query may attend to, in words."""
    rows = zip(target.names[:40], mask.sum(axis=-1).tolist(), strict=False)
    counts = "; ".join(with_label(name, count) for name, count in rows)
    return _("Keys that each query may attend to: {counts}.", counts=counts)
