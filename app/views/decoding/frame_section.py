"""The picture of the page: the loop and the distribution in one frame. The browser draws all its steps."""

from typing import Any

import numpy as np
import streamlit as st

from app import components
from app.compute import sampling_results
from app.figures.axes import visible
from app.figures.theme import kind_color, role_color
from app.languages import _, gettext_noop, ngettext
from app.stage.scene import Scene, scene_key
from app.stage.search_method import Method, method_of, temperature_of
from app.state.choices import CONTINUED_NODE, NODE, PREFIX, STEP
from app.state.given_translation import is_of_search
from app.views.decoding.frame_data import MARKS, Step, beams_data, end_data, frame_table, least_certain, step_data
from app.views.decoding.reasons import reason_text
from app.views.shared.show_figure import download_and_table
from transformer.decoding.finished_sampling import may_be_drawn
from transformer.decoding.finished_search import path_to

OF_SEARCH = gettext_noop("The search found this translation, too; it is shown in place of the best one.")
GIVEN = gettext_noop(
    "You gave this token; the model did not choose it. The tokens that it finds most probable are at the top."
)


def frame_part(scene: Scene, step: int, layer: int, head: int) -> None:
    """Draws the frame at this step; layer and head are those whose attention to the source is shown. All from 0."""

    def stop(at: int) -> None:
        STEP.choose(at)
        NODE.forget()

    def other(at: int, token: int) -> None:
        PREFIX.choose((*scene.hypothesis.ids[:at], token))
        CONTINUED_NODE.forget()

    frame, shown = frame_of(scene, layer, head), scene_key(scene)
    components.held_data("loop", frame | {"scene": shown})
    with st.container(key="next_token_place"):
        with st.container(key="picture_next_token"):
            components.next_token(
                {"scene": shown, "step": step}, len(frame["steps"]), key="next_token", on_step=stop, on_other=other
            )
        download_and_table(
            key="next_token", name=_("Decoding, step {step}", step=step + 1), table=lambda: frame_table(frame)
        )


def frame_of(scene: Scene, layer: int, head: int) -> dict[str, Any]:
    """The data of the component, for all steps."""
    method, config, settings = method_of(scene), scene.config, scene.translation.settings
    weights = scene.as_in_steps.attention("cross").weights[layer, head]  # (T, S)
    source, target = scene.source, scene.target
    steps = _steps(scene, method)
    whose = _("layer {layer}, head {head}", layer=layer + 1, head=head + 1)
    temperature = temperature_of(scene)
    two_numbers = method == "sampling" and bool(settings.top_k or settings.top_p < 1)
    title = (
        _("Next token, of {count:,}: probability → share", count=config.vocab_size)
        if two_numbers
        else _("Probability of the next token, of {count:,}", count=config.vocab_size)
    )
    if temperature != 1:
        title += _(", at temperature {temperature:g}", temperature=temperature)
    return {
        "colors": {
            "encoder": role_color("encoder"),
            "decoder": role_color("decoder"),
            "attention": kind_color("cross"),
        },
        "title": title,
        "source": {
            "title": ngettext(
                "{language}: {count:,} token, read once",
                "{language}: {count:,} tokens, read once",
                len(source),
                language=scene.task.source,
            ),
            "more": _("bars: attention of {head}", head=whose),
            "head": whose,
            "tokens": [visible(token) for token in source.tokens],
        },
        "written": {
            "title": _("{language}: written so far", language=scene.task.target),
            "more": _("read again at each step"),
            "tokens": [visible(token) for token in (target.tokens[0], *target.predicts)],
        },
        "encoderLayers": config.encoder_layers,
        "decoderLayers": config.decoder_layers,
        "twoNumbers": two_numbers,
        "twoLines": method == "sampling",
        "ends": _("</s> ends the loop") if scene.hypothesis.finished else _("it is cut off here"),
        "steps": [
            data | {"weights": [round(float(weight), 4) for weight in row]}
            for data, row in zip(steps, weights, strict=True)
        ],
        "least": least_certain(steps, is_given=method == "given"),
        "beams": _beams(scene, method),
    }


def _by_the_model(step: int, given: tuple[int, ...]) -> str:
    """Why a token that the visitor did not choose is in a translation of which they chose others."""
    before = [each for each in given if each < step]
    if not before:
        return _("The model wrote it by itself.")
    return _("The model wrote it by itself, after the token that you chose at step {step}.", step=max(before) + 1)


def _steps(scene: Scene, method: Method) -> list[dict[str, Any]]:
    logits, ids = scene.step_logits, scene.hypothesis.ids  # (T, V)
    token_of, settings = scene.subject.translator.tokenizer.token, scene.translation.settings
    tree, node = scene.translation.tree, scene.hypothesis.node
    path = path_to(tree, node) if node is not None else ()
    goes_on: dict[int | None, set[int]] = {}
    for each in tree:
        if each.outcome != "pruned":
            goes_on.setdefault(each.parent, set()).add(each.token_id)
    drawn = (
        sampling_results.drawn(scene.subject, scene.translation.source_ids, ids, settings)
        if method == "sampling"
        else ()
    )
    found, given_steps = [], scene.given_steps
    for t, (row, chosen) in enumerate(zip(logits, ids, strict=True)):
        is_given = t in given_steps
        given = _(OF_SEARCH) if is_of_search() else _(GIVEN) if is_given else _by_the_model(t, given_steps)
        why = reason_text(path[t].reason) if path else given
        if drawn:
            why += " " + _(
                "The random number {number:.5f} is in the interval of this token, {begin:.5f} to {end:.5f}: each token "
                "that may be drawn has an interval as long as its share.",
                number=drawn[t].number,
                begin=drawn[t].begin,
                end=drawn[t].end,
            )
        others = goes_on.get(path[t].parent, set()) if path else set[int]()
        allowed = may_be_drawn(row, settings) if method == "sampling" else None
        found.append(
            step_data(
                Step(np.asarray(row), chosen, why, others, allowed),
                token_of,
                temperature=temperature_of(scene),
                mark="given" if is_given else "chosen",
                other_mark=_(MARKS[method]) if method in MARKS else "",
            )
        )
    return found


def _beams(scene: Scene, method: Method) -> dict[str, Any]:
    settings, hypothesis = scene.translation.settings, scene.hypothesis
    beam, draws = settings.beam, settings.n_best
    rows, title = {
        "beam": (
            beam,
            _("Beam search: the {count} best hypotheses are kept, each with its sum of log p", count=beam),
        ),
        "greedy": (0, _("Greedy decoding: one hypothesis, which continues with the most probable token")),
        "sampling": (
            draws,
            ngettext(
                "Sampling: {count:,} draw side by side, each with its sum of log p",
                "Sampling: {count:,} draws side by side, each with its sum of log p",
                draws,
            ),
        ),
        "given": (
            0,
            _(
                "The search found this translation, too; the decoder only reads it here (teacher forcing); to return "
                "to the best one, click “another translation ×”"
            )
            if is_of_search()
            else _(
                "The decoder reads your translation; there is no search (teacher forcing). To see the model's own "
                "translation, click “your translation ×”"
            ),
        ),
    }[method]
    if temperature_of(scene) != 1:  # hypotheses are compared by what the model computes, not by what is drawn from
        title += " " + _("(at temperature 1)")
    tree = scene.translation.tree if rows else ()
    best = {0, *(node.id for node in path_to(tree, hypothesis.node))} if tree and hypothesis.node is not None else {0}
    end = {
        "title": _(
            "At the end of the search: finished hypotheses, sorted by score (sum of log p ÷ length penalty), then "
            "unfinished ones, by sum of log p"
        ),
        "rows": end_data(tree, rows) if method == "beam" else [],
    }
    return beams_data(tree, best, len(hypothesis.ids), title, rows) | {"end": end}
