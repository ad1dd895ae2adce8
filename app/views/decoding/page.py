"""Decoding: the loop and the distribution of each step; below, the search, its methods, the lens and a reference.

The first picture shows one hypothesis, the same as on all other pages; the search tree in the details shows all.
"""

from dataclasses import replace

from app.compute import cached_results, sampling_results
from app.languages import _, gettext_noop
from app.stage.controls import controls
from app.stage.heads import chosen_head, opening_head
from app.stage.question_card import predict
from app.stage.scene import Scene
from app.stage.search_method import Method, method_of
from app.stage.template import details, say
from app.state.choices import PART, STEP
from app.views.decoding.continue_section import other_line
from app.views.decoding.frame_section import frame_part
from app.views.decoding.lens_section import lens_part
from app.views.decoding.loop_section import loop_part
from app.views.decoding.methods_section import greedy_hypothesis, methods_part
from app.views.decoding.penalty_section import penalty_part
from app.views.decoding.reference_section import reference_part
from app.views.decoding.tree_section import tree_part
from app.views.shared.buttons import buttons

PARTS = {
    "loop": gettext_noop("Cache and temperature"),
    "tree": gettext_noop("Search tree"),
    "methods": gettext_noop("Greedy or beam"),
    "penalty": gettext_noop("Length penalty"),
    "lens": gettext_noop("Logit lens"),
    "reference": gettext_noop("Reference"),
}
WITH_STEPS = ("loop", "tree", "lens")
WITH_HEAD = ("loop", "tree")

_CHOOSES: dict[Method, str] = {  # the sentence about beam search is in `_chooses`
    "greedy": gettext_noop("Greedy decoding takes the most probable token at each step and never changes it later."),
    "sampling": gettext_noop(
        "Sampling draws the token at random: a token with a probability of 30% is drawn 3 times in 10."
    ),
    "given": gettext_noop("The decoder reads this translation; it does not choose the tokens."),
}


def draw(scene: Scene) -> None:
    """Draws the page from top to bottom."""
    scene = with_tree(scene)
    step = min(max(STEP.open(0), 0), len(scene.target) - 1)
    frame_part(scene, step, *chosen_head(scene, "cross", opening_head(scene, "cross")[0]))
    other_line(scene)
    say(
        _(
            "The decoder reads the source and all tokens written so far, and gives each token of its vocabulary a "
            "probability."
        ),
        _chooses(scene),
        _("Click a written token to see its distribution, or another token of the list to continue with it."),
    )
    predict(scene, "next-word")
    details(lambda: _details(scene, step))


def _chooses(scene: Scene) -> str:
    """How the shown translation was chosen; of beam search also what greedy decoding writes instead."""
    if (method := method_of(scene)) != "beam":
        return _(_CHOOSES[method])
    greedy = greedy_hypothesis(scene)
    if greedy.ids == scene.hypothesis.ids:
        return _(
            "Beam search compares sums of log-probabilities, so a chosen token is not always the most probable one of "
            "its step; here greedy decoding writes the same."
        )
    return _(
        "Beam search compares sums of log-probabilities, so a chosen token is not always the most probable one of its "
        "step; greedy decoding writes “{text}”.",
        text=greedy.text,
    )


def _details(scene: Scene, step: int) -> None:
    chosen, part = controls(scene), PART.open(allowed=PARTS)
    with_head = part in WITH_HEAD
    layer, head = chosen.layer_and_head("cross", enabled=with_head)
    chosen.row("decoder", disabled=part not in WITH_STEPS)
    buttons(PART, {name: _(title) for name, title in PARTS.items()}, _("Part"), says=False)
    if part == "loop":
        loop_part(scene, step, layer, head)
    elif part == "tree":
        tree_part(scene, step, layer, head)
    elif part == "methods":
        methods_part(scene)
    elif part == "penalty":
        penalty_part(scene)
    elif part == "lens":
        lens_part(scene, step)
    else:
        reference_part(scene)


def with_tree(scene: Scene) -> Scene:
    """The same scene, with the search tree in its translation."""
    found = cached_results.translate_one(
        scene.subject, scene.translation.source, scene.translation.settings, keep_tree=True
    )
    if found.settings.method == "sampling":
        ids = tuple(hypothesis.ids for hypothesis in found.hypotheses)
        marked = sampling_results.mark_truncated(scene.subject, found.source_ids, ids, found.settings, found.tree)
        found = replace(found, tree=marked)
    if scene.given:
        found = replace(found, hypotheses=(*found.hypotheses, scene.given))
    return replace(scene, translation=found)
