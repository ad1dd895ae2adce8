"""The picture of the page Heads as data for the browser: the heads of one layer, and every step of the translation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.compute import cached_results
from app.figures.axes import in_words
from app.figures.base64_numbers import weights_in_base64
from app.figures.shares import probability_text
from app.figures.tables import Table
from app.figures.theme import kind_color, role_color
from app.languages import _
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.state.detail_choices import MODES_OF_HEADS, HeadsLeft
from transformer.analysis.head_removal import Predictions
from transformer.model.attention_kinds import KINDS, SITES, Kind


@dataclass(frozen=True)
class LayerHeads:
    """The heads of one layer of a kind of attention, on the sentence of the page.

    Attributes:
        weights, masks: (H, Q, K); in a mask, True = may attend.
        lengths: (H, T), of the vector that each head writes: in the decoder for each step; in the encoder the mean over
            all source tokens, the same for every step.
        predictions: with all heads, without each, and with each alone.
    """

    scene: Scene
    kind: Kind
    layer: int
    weights: np.ndarray
    masks: np.ndarray
    lengths: np.ndarray
    predictions: Predictions

    @property
    def opening_step(self) -> int:
        """The step, from 0, at which one head makes the largest difference."""
        probability = self.predictions.probability
        return int((probability[0] - probability[1 : 1 + len(self.weights)].min(axis=0)).argmax())


def layer_of(scene: Scene, kind: Kind, layer: int) -> LayerHeads:
    """Computes the data of a layer with the model."""
    site = SITES[kind].format(layer)
    attention = scene.attention(kind)
    written = scene.record(f"{site}.head_outputs")[f"{site}.head_outputs"]  # (H, Q, D)
    lengths = np.linalg.norm(written.astype(np.float64), axis=-1)  # (H, Q)
    ids = scene.hypothesis.ids
    if kind == "encoder":
        lengths = np.repeat(lengths.mean(axis=1, keepdims=True), len(ids), axis=1)  # (H, T)
    predictions = cached_results.with_other_heads(scene.subject, scene.translation.source_ids, ids, site)
    return LayerHeads(scene, kind, layer, attention.weights[layer], attention.masks[layer], lengths, predictions)


def grid_data(found: LayerHeads, step: int, head: int, left: HeadsLeft = "without") -> dict[str, Any]:
    """The data of `app.components.head_grid`; step and head from 0. `left`: which heads are left."""
    queries, keys = found.scene.axes(found.kind)
    hypothesis = found.scene.hypothesis
    return {
        "subject": f"{found.scene.subject.file.name} {found.scene.translation.source} {hypothesis.ids}",
        "layer": f"{found.kind} {found.layer}",
        "heads": [_head(found, head) for head in range(len(found.weights))],
        "steps": _steps(found),
        "step": step,
        "head": head,
        "mode": MODES_OF_HEADS.index(left),
        "rows": [in_words(token) for token in queries.predicts or queries.tokens],
        "columns": [in_words(token) for token in keys.tokens],
        "allowed": _allowed(found.masks),
        "isEncoder": found.kind == "encoder",
        "isEdited": bool(found.scene.subject.edits),
        "framed": found.kind != "encoder",  # the row of the map is the step
        "color": kind_color(found.kind),
        "decoder": role_color("decoder"),
        "alt": grid_alt(found, step),
    }


def _allowed(masks: np.ndarray) -> list[str]:
    """The cells of each head's mask as "1" and "0"; of the first head alone if all heads have the same."""
    different = masks if (masks != masks[:1]).any() else masks[:1]
    return ["".join("1" if cell else "0" for cell in mask.ravel()) for mask in different]


def _steps(found: LayerHeads) -> list[dict[str, Any]]:
    whole = found.predictions
    return [
        {
            "predicts": in_words(token),
            "probability": probability_text(float(whole.probability[0, t])),
            "top": _token(found, int(whole.top[0, t])),
            "topProbability": probability_text(float(whole.top_probability[0, t])),
            "none": probability_text(float(whole.probability[-1, t])),
            "isNeeded": bool(
                whole.probability[-1, t] < whole.probability[0, t]
            ),  # whether it is lower without all heads
            # in the row of the step, how many tokens are the one to which some head attends most
            "attended": 0 if found.kind == "encoder" else len(set(found.weights[:, t].argmax(axis=-1).tolist())),
        }
        for t, token in enumerate(found.scene.hypothesis.tokens)
    ]


def _head(found: LayerHeads, head: int) -> dict[str, Any]:
    queries, keys = found.scene.axes(found.kind)
    title = _(
        "{kind} attention, layer {layer}, head {head}", kind=_(SHORT[found.kind]), layer=found.layer + 1, head=head + 1
    )
    return {
        "title": title,
        "about": _(
            "{head}. Rows: {rows}. Columns: {columns}. Each row sums to 1.",
            head=title,
            rows=queries.title,
            columns=keys.title,
        ),
        "weights": weights_in_base64(found.weights[head]),
        "lengths": found.lengths[head].round(4).tolist(),
        "without": _predicted(found, found.predictions.without(head)),
        "alone": _predicted(found, found.predictions.alone(head)),
    }


def _predicted(found: LayerHeads, row: int) -> list[dict[str, Any]]:
    """A row of the predictions, step by step: the top token, and the probability of the translation's token."""
    predictions = found.predictions
    return [
        {
            "token": _token(found, int(top)),
            "probability": probability_text(float(top_probability)),
            "kept": float(probability),
            "keptText": probability_text(float(probability)),
        }
        for top, top_probability, probability in zip(
            predictions.top[row], predictions.top_probability[row], predictions.probability[row], strict=True
        )
    ]


def _token(found: LayerHeads, id: int) -> str:
    return in_words(found.scene.subject.translator.tokenizer.token(id))


def grid_table(found: LayerHeads) -> Table:
    """One row per step and head."""
    tokens, heads, predictions = found.scene.hypothesis.tokens, range(len(found.weights)), found.predictions
    places = [(t, head) for t in range(len(tokens)) for head in heads]
    table: dict[str, list[Any]] = {
        _("step"): [t + 1 for t, head in places],
        _("token of the translation"): [tokens[t] for t, head in places],
        _("head"): [head + 1 for t, head in places],
        _("length of what it writes"): [float(found.lengths[head, t]) for t, head in places],
        _("probability with all heads"): [float(predictions.probability[0, t]) for t, head in places],
    }
    for probability, predicted, row in (
        (_("probability without it"), _("predicted without it"), predictions.without),
        (_("probability with it alone"), _("predicted with it alone"), predictions.alone),
    ):
        table[probability] = [float(predictions.probability[row(head), t]) for t, head in places]
        table[predicted] = [_token(found, int(predictions.top[row(head), t])) for t, head in places]
    return table


def grid_alt(found: LayerHeads, step: int) -> str:
    """What the picture says at a step, in words."""
    predictions = found.predictions

    def prediction(row: int) -> str:
        probability = probability_text(float(predictions.top_probability[row, step]))
        return f"{_token(found, int(predictions.top[row, step]))} {probability}"

    heads = [
        _(
            "head {head} writes {length:.2f}, without it {prediction}",
            head=head + 1,
            length=found.lengths[head, step],
            prediction=prediction(predictions.without(head)),
        )
        for head in range(min(len(found.weights), 16))
    ]
    values = {"kind": _(KINDS[found.kind]), "layer": found.layer + 1, "step": step + 1}
    values |= {"prediction": prediction(0), "heads": "; ".join(heads)}
    if found.scene.subject.edits:
        return _("{kind}, layer {layer}, step {step}: as the model is edited {prediction}; {heads}.", **values)
    return _("{kind}, layer {layer}, step {step}: with all heads {prediction}; {heads}.", **values)
