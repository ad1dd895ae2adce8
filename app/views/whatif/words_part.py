"""Change a word: which word of the source does each token of the translation need? Five methods answer, and the
translation of the changed sentence shows whether they are right."""

from functools import partial

import streamlit as st

from app.components import cell_grid
from app.components.cell_grid import Axis, View
from app.figures.axes import in_words
from app.figures.theme import fixed, role_color, signed_scale, weight_scale
from app.languages import _, gettext_noop, ngettext, pgettext
from app.stage import template
from app.stage.scene import Scene
from app.state.choices import CHANGED_WORD, INTEGRATED, LONGEST_WORD, NEW_WORD, WORDS_ASKED
from app.views.shared import two_translations
from app.views.shared.show_figure import download_and_table
from app.views.whatif.before_and_after import change_of_score, note_of_original_model, two_rows
from app.views.whatif.words_data import NAMES, Method, Words, translated, words_of_sentence, work_of
from app.views.whatif.words_details import details, table
from transformer.analysis.attribution import STEPS
from transformer.errors import HeadlightError
from transformer.text.normalisation import normalise

QUICK = 1e10  # `work_of` up to which the grid is computed when the page opens (1.5 s)
LITTLE = 0.05  # a smaller loss is written as 0.0
LONGEST = 5e9  # `work_of` up to which integrated gradients are offered (16 s)
MEANS: dict[Method, tuple[str, str]] = {  # a sentence about a cell, and one about the whole grid
    "occlusion": (
        gettext_noop("Without {column}, {row} loses {value} of its log-probability."),
        gettext_noop("Measured: the word is left out."),
    ),
    "gradient": (
        gettext_noop("{column} counts {value} for {row}."),
        gettext_noop("A linear approximation at this sentence."),
    ),
    "integrated": (
        gettext_noop("{column} counts {value} for {row}."),
        gettext_noop("The mean gradient on the line from an empty sentence to this one."),
    ),
    "attention": (
        gettext_noop("{row} gives {value} of its attention to {column}."),
        gettext_noop("A mean over layers and heads; the rest: </s>."),
    ),
    "rollout": (
        gettext_noop("Rollout attributes {value} of {row} to {column}."),
        gettext_noop("Attention followed through all layers."),
    ),
}
WITH_THE_CHANGED_SENTENCE = (
    gettext_noop("With the changed sentence, the log-probability of the original translation stays the same."),
    gettext_noop("With the changed sentence, the log-probability of the original translation is {change:.2f} lower."),
    gettext_noop("With the changed sentence, the log-probability of the original translation is {change:.2f} higher."),
)


def draw(scene: Scene) -> None:
    """Draws the grid, the chosen word with its replacement, and both translations."""
    words = _words(scene)
    if not words:
        return
    word = _chosen(words)
    with st.container(gap=None):
        new = _replacement(words, word)
        _picture(words, word, note_of_original_model(scene))
    try:
        found = words.changed(word, new)
    except HeadlightError as problem:
        st.text(str(problem))
        return
    name = in_words(words.names[word])
    label = _("“{new}” for “{word}”", new=in_words(new), word=name) if new else _("Without “{word}”", word=name)
    labels = _("Your sentence"), label
    changed = change_of_score(sum(found.lost), WITH_THE_CHANGED_SENTENCE)
    two_rows(
        found,
        labels,
        f"{two_translations.summary(found.compared, labels)} {changed}",
        language=scene.task.target_code,
        key="words_outcome",
    )
    template.say(*_sentences(words))
    template.details(partial(details, words))


def prepare(scene: Scene) -> None:
    """Computes what each word counts, and the translation of the changed sentence, before the experiment is opened."""
    if work_of(scene, translated(scene)) <= QUICK:
        words = words_of_sentence(scene, integrate=False)
        words.changed(_chosen(words), normalise(NEW_WORD.value))


def _chosen(words: Words) -> int:
    """The word that is left out or replaced, from 0."""
    return CHANGED_WORD.open(words.most_needed, range(len(words.positions)))


def _words(scene: Scene) -> Words | None:
    """The results of all methods; None if they take long and were not requested."""
    found = translated(scene)
    work = work_of(scene, found)
    if not WORDS_ASKED.open(work <= QUICK):
        name = _("Compute what each of {count:,} tokens of this long sentence counts", count=len(found.source_ids))
        st.button(name, on_click=WORDS_ASKED.choose, args=(True,))
        return None
    if not INTEGRATED.open(False, (False, work <= LONGEST)):
        return words_of_sentence(scene, integrate=False)
    with st.spinner(_("Integrating gradients")):
        return words_of_sentence(scene, integrate=True)


def _picture(words: Words, word: int, of_model: str) -> None:
    names = list(map(in_words, words.names))
    signed = {method: method not in ("attention", "rollout") for method in words.values}
    views = [
        View(_(NAMES[method]), words.values[method].tolist(), signed_scale() if signed[method] else weight_scale(),
             signed[method], _(says), _(means) + of_model, digits=1 if signed[method] else 2)
        for method, (says, means) in MEANS.items() if method in words.values
    ]  # fmt: skip
    of_words = ngettext("What each of {count} word counts", "What each of {count} words counts", len(names))
    for_tokens = ngettext(
        "for each of {count} token of the translation",
        "for each of {count} tokens of the translation",
        len(words.own.ids),
    )
    row = int(words.values["occlusion"][:, word].argmax())
    with st.container(key="picture_words"):
        cell_grid(
            views,
            Axis(
                pgettext("title of an axis", "predicts"),
                list(map(in_words, words.own.tokens)),
                role_color("decoder"),
            ),
            Axis(
                pgettext("title of an axis", "word"),
                names,
                role_color("encoder"),
                [at == word for at in range(len(names))],
            ),
            key="counted_words",
            alt=_("{words} {tokens}. Enter leaves the word of a cell out.", words=of_words, tokens=for_tokens),
            chosen=(row, word),
            framed=False,
            on_choose=_choose,
            height=205,
        )
    download_and_table(key="words", name=_("What each word counts for each token"), table=partial(table, words))


def _choose(row: int, word: int) -> None:
    CHANGED_WORD.choose(word)
    NEW_WORD.choose("")


def _replacement(words: Words, word: int) -> str:
    """Draws the line above the grid: the replacement of the word, and a button for the method that takes seconds.

    Returns the replacement.
    """
    with st.container(key="words_new", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(_("In place of “{word}”", word=in_words(words.names[word])), width="content")
        NEW_WORD.open()
        st.text_input(_("Another word"), key=NEW_WORD.key, persist_state="session", max_chars=LONGEST_WORD,
                      label_visibility="collapsed", autocomplete="off", on_change=CHANGED_WORD.mark_as_chosen,
                      placeholder=pgettext("in place of a word", "nothing"))  # fmt: skip
        if not words.integrated and words.work <= LONGEST:
            takes = _("{steps} forward passes, each with a backward pass per token. This takes seconds.", steps=STEPS)
            st.button(_("Add integrated gradients"), key="integrate", on_click=INTEGRATED.choose, args=(True,),
                      help=takes)  # fmt: skip
    return normalise(NEW_WORD.value)


def _sentences(words: Words) -> list[str]:
    """What the grid says, with its numbers."""
    lost, word = words.values["occlusion"], words.most_needed
    row, rows = int(lost[:, word].argmax()), len(lost)
    agreement = ngettext(
        "For {agreed} of {count} token all {methods} methods have the same most important word. Tokens with the same "
        "most important word as in occlusion: gradient {gradient}, attention {attention}, rollout {rollout}.",
        "For {agreed} of {count} tokens all {methods} methods have the same most important word. Tokens with the same "
        "most important word as in occlusion: gradient {gradient}, attention {attention}, rollout {rollout}.",
        rows,
        agreed=words.agreed or pgettext("of tokens", "none"),
        methods=len(words.values),
        gradient=words.agreeing_with_occlusion("gradient"),
        attention=words.agreeing_with_occlusion("attention"),
        rollout=words.agreeing_with_occlusion("rollout"),
    )
    most_important = _(
        "“{word}” matters most: without it the log-probability of the translation falls by {lost} nats, that of "
        "“{token}” alone by {most} nats.",
        word=in_words(words.names[word]),
        lost=fixed(lost[:, word].sum(), 1),
        token=in_words(words.own.tokens[row]),
        most=fixed(lost[row, word], 1),
    )
    if lost[:, word].sum() <= 0:
        most_important = _("Whichever word is left out, the log-probability of the translation does not fall.")
    elif lost[:, word].sum() < LITTLE:
        most_important = _(
            "Whichever word is left out, the log-probability of the translation falls by less than {little}.",
            little=LITTLE,
        )
    return [
        most_important,
        agreement,
        _("Click a word to leave it out, or type another in its place."),
    ]
