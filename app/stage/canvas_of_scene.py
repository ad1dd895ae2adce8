"""The message of the canvas for a scene: see `app.figures.canvas_message`."""

import math

from app.compute import cached_results
from app.figures.canvas_message import KindOfAttention, Side, Written, canvas_message
from app.figures.head_numbers import head_roles
from app.figures.runners_up import runners_up
from app.figures.theme import kind_color, role_color
from app.languages import _
from app.stage.heads import SHORT, opening_head
from app.stage.scene import Scene
from transformer.model.attention_kinds import KINDS, Kind


def message_of(scene: Scene) -> bytes:
    """The message of the translation that is shown."""
    hypothesis, subject = scene.hypothesis, scene.subject.as_in_steps
    logits = cached_results.observed(subject, scene.translation.source_ids, hypothesis.ids).trace["logits"]
    target = scene.target
    kinds: dict[Kind, KindOfAttention] = {}
    for kind in KINDS:
        opening, why = opening_head(scene, kind)
        found, keys = scene.attention(kind), scene.axes(kind)[1]
        roles = head_roles(found.weights, keys.tokens, itself=kind != "cross")
        kinds[kind] = KindOfAttention(
            _(KINDS[kind]), _(SHORT[kind]), kind_color(kind), found.weights, found.masks, opening, why, roles
        )
    return canvas_message(
        Side(scene.task.source, scene.source.tokens, scene.task.source_code),
        Written(
            Side(scene.task.target, target.predicts, scene.task.target_code),
            target.tokens,
            [math.exp(value) for value in hypothesis.log_probabilities],
            runners_up(logits, hypothesis.ids, scene.subject.translator.tokenizer.token),
        ),
        kinds,
        {"encoder": role_color("encoder"), "decoder": role_color("decoder")},
    )
