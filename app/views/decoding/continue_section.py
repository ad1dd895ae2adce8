"""Continue a translation by hand from a node of the search: with another token, own words, or the end. The section
shows the result, and the tree of the search that continued there.
"""

import streamlit as st

from app import components
from app.compute import cached_results
from app.figures.distribution import offers
from app.figures.shares import probability_text
from app.figures.theme import score_text
from app.languages import _, ngettext
from app.stage.scene import Scene
from app.state.choices import CONTINUED_NODE, PREFIX, STEP
from app.state.given_translation import show_instead, take_back
from app.views.decoding.frame_data import as_word
from app.views.decoding.methods_section import strip_of
from app.views.decoding.node import node_numbers
from app.views.decoding.search_tree_figure import draw_search_tree
from app.views.shared.continued_translation import continued_translation
from app.views.shared.text_difference import difference_data
from transformer.config import EOS
from transformer.decoding.finished_search import path_to
from transformer.decoding.translation import Hypothesis, SearchNode
from transformer.errors import HeadlightError
from transformer.text.normalisation import clean

OFFERED = 6  # tokens to continue with


def found_by_model(scene: Scene) -> Hypothesis:
    """The model's own translation: the shown hypothesis, or the best one where the shown one is the visitor's."""
    return scene.translation.hypotheses[0] if scene.is_given else scene.hypothesis


def go_on(scene: Scene, path: tuple[SearchNode, ...]) -> None:
    """Draws what a translation can continue with: tokens, the most probable first; </s>; or typed words."""
    st.subheader(_("Continue from here with another token"), anchor=False)
    ids = tuple(node.token_id for node in path)
    if ids and ids[-1] == EOS:
        st.caption(_("This hypothesis has ended. Choose a node before its end."))
        return
    if len(ids) >= scene.config.max_positions:
        st.caption(_("This hypothesis fills all positions that this model has. Choose an earlier node."))
        return
    asked = scene.subject.as_in_steps, scene.translation.source_ids, (*ids, EOS), ("logits",)
    logits = cached_results.record(*asked)["logits"][-1]  # (V)
    token_of = scene.subject.translator.tokenizer.token
    known = offers(logits, EOS, token_of, count=OFFERED + 4)
    found = [offer for offer in known if offer.id > EOS][:OFFERED]
    if ids:  # the first token cannot be </s>: the translation would be empty
        found = sorted([*found, *(offer for offer in known if offer.id == EOS)], key=lambda offer: offer.rank)
    components.choice_list(
        [
            {"text": offer.token, "detail": probability_text(offer.probability)}
            | ({"second": _("end here")} if offer.id == EOS else {})
            for offer in found
        ],
        -1,
        _("Tokens that may come next, the most probable first"),
        key="next_tokens",
        on_choose=lambda index: _force((*ids, found[index].id)),
    )
    st.text_input(
        _("or your own words, then Enter"),
        key="own_words",
        max_chars=200,
        on_change=_force_words,
        args=(scene, ids),
        autocomplete="off",
    )


def _force_words(scene: Scene, ids: tuple[int, ...]) -> None:
    words = clean(st.session_state.get("own_words", ""))
    st.session_state["own_words"] = ""
    if words:
        _force((*ids, *scene.subject.translator.tokenizer.target.encode(words)))


def _force(prefix: tuple[int, ...]) -> None:
    PREFIX.choose(prefix)
    CONTINUED_NODE.forget()


def other_line(scene: Scene) -> None:
    """One line: what the model writes after the visitor's prefix, if there is one. The details compare both
    translations."""
    prefix, ids = PREFIX.value, scene.hypothesis.ids
    if not prefix:
        return
    instead, is_shown = prefix[:-1] == ids[: len(prefix) - 1], False
    with st.container(key="text_other", horizontal=True, vertical_alignment="center", gap="small"):
        try:
            new = continued_translation(scene, prefix, keep_tree=True)[0]
        except HeadlightError as error:
            st.text(str(error), width="content")
        else:
            is_shown = scene.is_given and ids[: len(new.ids)] == new.ids
            st.text(_written(scene, prefix, new, instead), width="content")
            if not is_shown:
                _show_button(prefix, ids, new)
        st.button(_("Take it back"), on_click=_take_back, args=(is_shown, instead), key="take_back", type="tertiary")


def _written(scene: Scene, prefix: tuple[int, ...], new: Hypothesis, instead: bool) -> str:
    """What the model writes after the prefix. `instead`: only the last token of the prefix is the visitor's."""
    tokenizer, translation = scene.subject.translator.tokenizer, new.text or _("(nothing)")
    if not instead:
        return _("With the beginning “{words}”: {translation}", words=tokenizer.decode(prefix), translation=translation)
    return _(
        "With “{token}” at step {step} instead: {translation}",
        token=as_word(tokenizer.token(prefix[-1])),
        step=len(prefix),
        translation=translation,
    )


def _show_button(prefix: tuple[int, ...], ids: tuple[int, ...], new: Hypothesis) -> None:
    st.button(
        _("Show it on every page"),
        key="show_continued",
        type="tertiary",
        on_click=show_instead,
        args=(new.text, new.ids_without_end, _chosen(prefix, ids)),
        disabled=not new.text.strip(),
        help=_(
            "All pages then show the attention of this translation, until you take it back or choose another "
            "translation."
        ),
    )


def _chosen(prefix: tuple[int, ...], ids: tuple[int, ...]) -> tuple[int, ...]:
    """The steps of the prefix, beginning with the first whose token differs from that of the shown translation; only
    the last step if no earlier token differs."""
    last = len(prefix) - 1
    first = next((step for step, token in enumerate(prefix[:last]) if ids[step : step + 1] != (token,)), last)
    return tuple(range(first, len(prefix)))


def _take_back(is_shown: bool, instead: bool) -> None:
    """Restores the translation and the step that were shown before the reader chose another token."""
    if is_shown:
        take_back()
    elif instead:
        STEP.choose(len(PREFIX.value) - 1)
    PREFIX.forget()
    CONTINUED_NODE.forget()


def continued(scene: Scene, pruned: bool) -> None:
    """Draws the translation with the forced prefix beside the model's own, and the search that continued the prefix.
    `pruned`: whether pruned nodes are shown."""
    prefix = PREFIX.value
    if not prefix:
        return
    st.header(_("With your beginning"), anchor=False)
    try:
        new, searched = continued_translation(scene, prefix, keep_tree=True)
    except HeadlightError as error:
        st.text(str(error))
        return
    old = found_by_model(scene)
    left, right = st.columns([1, 1], gap="large")
    with left:
        st.subheader(_("The model alone"), anchor=False)
        components.token_strip(strip_of(scene, old), key="alone")
        st.caption(_sums(old))
    with right:
        if prefix[-1] == EOS:
            heading = ngettext(
                "Ended by you after {count:,} token", "Ended by you after {count:,} tokens", len(prefix) - 1
            )
        else:
            heading = ngettext(
                "Beginning with {count:,} token of yours", "Beginning with {count:,} tokens of yours", len(prefix)
            )
        st.subheader(heading, anchor=False)
        components.token_strip(strip_of(scene, new), key="continued")
        st.caption(_sums(new))
    components.difference(difference_data(old.text, new.text, label=_("What your beginning changed")), key="changed")
    if searched:
        _search(scene, prefix, searched, path_to(searched, new.node or 0), pruned)


def _sums(found: Hypothesis) -> str:
    return _("Sum {sum}, score {score}", sum=score_text(found.score), score=score_text(found.normalised_score))


def _search(
    scene: Scene,
    prefix: tuple[int, ...],
    nodes: tuple[SearchNode, ...],
    path: tuple[SearchNode, ...],
    pruned: bool,
) -> None:
    """Draws the tree of the search from these tokens on, and the numbers of one node: on opening, those of the first
    token that the model wrote itself."""
    chosen = CONTINUED_NODE.value
    node = nodes[chosen] if 0 <= chosen < len(nodes) else path[min(len(prefix), len(path) - 1)]
    count = len(nodes) - 1
    title = (
        _("The search from your beginning: {count} candidates; the pruned ones are at the bottom", count=count)
        if pruned
        else _("The search from your beginning: {count} candidates; the pruned ones are not shown", count=count)
    )
    draw_search_tree(
        nodes,
        path,
        node,
        title=title,
        pruned=pruned,
        key="continued_tree",
        name=_("Search from your beginning"),
        on_choose=CONTINUED_NODE.choose,
    )
    node_numbers(scene, node, path_to(nodes, node.id))
