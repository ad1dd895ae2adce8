"""Heads that do not attend by meaning on this sentence, and the paper's example of one that does (its figure 4)."""

import streamlit as st

from app.compute.subject import Subject
from app.figures.head_numbers import MUCH, fixed_places
from app.figures.shares import Share
from app.languages import _, ngettext
from app.languages.names_of_the_model import KINDS_INSIDE
from app.library.tasks import PAPERS_EXAMPLE
from app.pages import go_to
from app.stage.scene import Scene
from app.state.choices import KIND
from app.state.events import take_sentence
from app.state.pinned_words import pin
from transformer.model.attention_kinds import Kind

NAMED = 3  # how many heads of the layer the sentence names
UP_TO_ITS, UP_TO_LAW = "The Law will never be perfect, but its", "The Law"  # the sentence up to “its”, and up to “Law”


def fixed_attention(scene: Scene, kind: Kind, layer: int) -> str:
    """Says how many heads of a kind give much of their weight to one place, whatever the words are, and which heads of
    this layer do."""
    keys = scene.axes(kind)[1]
    found = fixed_places(scene.attention(kind).weights, keys.tokens, itself=kind != "cross")
    count, heads = sum(place[0] >= MUCH for row in found for place in row), sum(map(len, found))
    of_kind = ngettext("{count} head of {kind}", "{count} heads of {kind}", heads, kind=_(KINDS_INSIDE[kind]))
    if not count:
        return _(
            "On this sentence none of {heads} gives {share:.0%} or more of its weight to one place.",
            heads=of_kind,
            share=MUCH,
        )
    here = sorted(((*place, head) for head, place in enumerate(found[layer]) if place[0] >= MUCH), reverse=True)
    named = [
        _("head {head} {share:.0%} to {place}", head=head + 1, share=Share(share), place=where)
        for share, where, head in here[:NAMED]
    ]
    if not named:
        those = _("in this layer none")
    elif len(here) > NAMED:
        those = _("in this layer {heads} and others", heads=", ".join(named))
    else:
        those = _("in this layer {heads}", heads=", ".join(named))
    return ngettext(
        "On this sentence {count} of {heads} gives at least {share:.0%} of the weight to one place, whatever the words "
        "are; {those}.",
        "On this sentence {count} of {heads} give at least {share:.0%} of the weight to one place, whatever the words "
        "are; {those}.",
        count,
        heads=of_kind,
        share=MUCH,
        those=those,
    )


def papers_example(scene: Scene) -> None:
    """A button that opens the example of the paper, if this checkpoint translates from English."""
    if PAPERS_EXAMPLE not in scene.task.examples:
        return
    words = _("The paper's example: which heads link “its” to “Law”?")
    with st.container(key="papers_example"):
        if st.button(
            words, type="tertiary", icon=":material/link:", key="open_papers_example", on_click=_choose,
            args=(scene.subject,),
        ):  # fmt: skip
            go_to("attention")


def _choose(subject: Subject) -> None:
    """Chooses the example, and pins the first token of “its” and the last of “Law”."""
    encode = subject.translator.tokenizer.encode
    take_sentence(PAPERS_EXAMPLE)
    KIND.choose("encoder")
    before = UP_TO_ITS.rpartition(" ")[0]
    pin("encoder", len(encode(before)), len(encode(UP_TO_LAW)) - 1)
