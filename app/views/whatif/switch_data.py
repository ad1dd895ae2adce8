"""All heads and sub-layers as data for the browser component `head_switches`."""

from typing import Any

import numpy as np

from app.compute import cached_results
from app.figures.head_numbers import head_roles
from app.figures.theme import INK, NATS, kind_color, role_color, signed_scale
from app.languages import _, gettext_noop
from app.stage.heads import chosen_head
from app.stage.scene import Scene
from app.state.choices import HEAD, KIND, LAYER, TAKEN
from app.views.shared.parts_off import off_parts
from app.views.whatif.part_names import CONNECTIONS, SWITCHES, part_name
from app.views.whatif.part_ranking import Ranking
from transformer.analysis.edits import HeadOff, ResidualOff, SublayerOff, edit_text
from transformer.analysis.edits.checks import Stack, Sublayer
from transformer.config import BOS, ModelConfig
from transformer.model.attention_kinds import IN_ORDER, KINDS, Kind, depth

RESIDUAL_MARK = "↷"  # on a switch whose residual connection is off
MARKED = 3  # heads that are marked: those that cost most
ALL_OF: dict[Kind, str] = {
    "encoder": gettext_noop("All of encoder self-attention"),
    "decoder": gettext_noop("All of decoder self-attention"),
    "cross": gettext_noop("All of encoder-decoder attention"),
}


def switch_data(scene: Scene, ranking: Ranking | None) -> dict[str, Any]:
    """What is on and off, which head is chosen, what each head attends to, and, once all are ranked, what each part
    costs."""
    config = scene.config
    data: dict[str, Any] = {
        "panels": [*(_panel(config, kind) for kind in IN_ORDER), _feed_forward(config)],
        "off": off_parts(config),
        "chosen": _chosen(scene),
        "alt": _("Switches of all heads and sub-layers: layers down, heads across."),
        "whole": _("residual connection") if TAKEN.value == "residual" else _("whole sub-layer"),
        "roles": _roles(scene),
        "nats": _(NATS),
        "strongest": [],
    }
    if ranking:
        data["change"] = {edit_text(part): round(-lost, 5) for part, lost in ranking.lost.items()}
        round_parts = ResidualOff if TAKEN.value == "residual" else SublayerOff
        data["largest"] = {"head": ranking.largest(HeadOff), "whole": ranking.largest(round_parts)}
        data["strongest"] = [edit_text(head) for head, lost in ranking.heads[:MARKED] if lost > 0]
        data["scale"] = [list(stop) for stop in signed_scale()]
    return data


def _chosen(scene: Scene) -> str:
    """The switch of the head that was chosen on another page or by the address; "" if none was."""
    if not (LAYER.is_chosen or HEAD.is_chosen):
        return ""
    return edit_text(HeadOff(KIND.value, *chosen_head(scene, KIND.value)))


def _roles(scene: Scene) -> dict[str, str]:
    """What each head of the original model attends to most on this sentence."""
    original = scene.subject.original
    best = scene.best(original)
    found = cached_results.observed(original, scene.translation.source_ids, best.ids).attention
    read = (original.translator.tokenizer.token(BOS), *best.tokens[:-1])
    roles = {}
    for kind in IN_ORDER:
        weights = found[kind].weights
        of_kind = head_roles(weights, read if kind == "decoder" else scene.source.tokens, itself=kind != "cross")
        for layer, head in np.ndindex(weights.shape[:2]):
            roles[edit_text(HeadOff(kind, layer, head))] = of_kind[layer][head]
    return roles


def _panel(config: ModelConfig, kind: Kind) -> dict[str, Any]:
    return {
        "title": _(KINDS[kind]),
        "all": _(ALL_OF[kind]),
        "columns": [*map(str, range(1, config.heads + 1)), _("all")],
        "color": kind_color(kind),
        "heads": config.heads,
        "rows": [_row(config, kind, layer) for layer in range(depth(config, kind))],
    }


def _row(config: ModelConfig, kind: Kind, layer: int) -> list[dict[str, str]]:
    heads = [HeadOff(kind, layer, head) for head in range(config.heads)]
    stack: Stack = "encoder" if kind == "encoder" else "decoder"
    return [
        *({"edit": edit_text(head), "name": part_name(head)} for head in heads),
        _whole(stack, layer, "cross_attention" if kind == "cross" else "self_attention"),
    ]


def _feed_forward(config: ModelConfig) -> dict[str, Any]:
    """The feed-forward networks of both stacks; a stack with fewer layers has none in the last rows."""
    stacks: dict[Stack, int] = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    rows = [
        [
            _whole(stack, layer, "feed_forward") | {"color": role_color(stack)} if layer < depth else None
            for stack, depth in stacks.items()
        ]
        for layer in range(max(stacks.values()))
    ]
    return {
        "title": _("Feed-forward"),
        "all": _("All feed-forward networks"),
        "columns": [_("Enc."), _("Dec.")],
        "color": INK,
        "heads": 0,
        "rows": rows,
    }


def _whole(stack: Stack, layer: int, sublayer: Sublayer) -> dict[str, str]:
    """The switch of a sub-layer, or of the residual connection around it; `other` is the edit of the one not shown."""
    off, without = SublayerOff(stack, layer, sublayer), ResidualOff(stack, layer, sublayer)
    output, connection = edit_text(off), edit_text(without)
    if TAKEN.value == "residual":
        return {
            "edit": connection,
            "mark": RESIDUAL_MARK,
            "name": part_name(without, sublayers=CONNECTIONS),
            "other": output,
            "otherMark": "×",
        }
    return {"edit": output, "name": part_name(off, sublayers=SWITCHES), "other": connection, "otherMark": RESIDUAL_MARK}
