"""Change a word: which word of the source does each token of the translation need? Five methods, and the proof."""

from functools import partial

import numpy as np
import streamlit as st

from app.components import cell_grid
from app.components.cell_grid import Axis, View
from app.figures.axes import in_words, visible
from app.figures.tables import Table
from app.figures.theme import counted, fixed, role_color, signed_scale, weight_scale
from app.library.source_code import lines_between
from app.stage import template
from app.stage.scene import Scene
from app.state.choices import CHANGED_WORD, INTEGRATED, LONGEST_WORD, NEW_WORD, WORDS_ASKED
from app.views.shared import two_translations
from app.views.shared.placed import belongings
from app.views.shared.triplet import triplet
from app.views.whatif.before_and_after import goes, two_rows
from app.views.whatif.words_data import Words, translated, words_of_sentence, work_of
from transformer.analysis.attribution import STEPS
from transformer.errors import HeadlightError

QUICK = 1e10  # rows of the grid x tokens x parameters: up to here the grid is computed when the page opens, in 1.5 s
LONGEST = 5e9  # and up to here integrated gradients are offered: 16 s
MEANS = {
    "Occlusion": ("Without {column}, {row} loses {value} of its log-probability.", "Measured: the word is left out."),
    "Gradient × input": ("{column} counts {value} for {row}.", "A straight line drawn from this sentence."),
    "Integrated gradients": ("{column} counts {value} for {row}.", "The slope, all the way from an empty sentence."),
    "Attention": ("{row} gives {value} of its attention to {column}.", "A mean over layers and heads; the rest: </s>."),
    "Rollout": ("{value} of {row} comes from {column}.", "Attention followed through all layers."),
}


def draw(scene: Scene) -> None:
    """Draws the grid, the chosen word with what stands in its place, and both translations."""
    words = _words(scene)
    if not words:
        return
    word = CHANGED_WORD.open(words.dearest, range(len(words.positions)))
    with st.container(gap=None):
        new = _replacement(words, word)
        _picture(words, word)
    try:
        found = words.changed(word, new)
    except HeadlightError as problem:
        st.text(str(problem))
        return
    name = visible(words.names[word])
    two_rows(
        found,
        ("Your sentence", f"“{visible(new)}” for “{name}”" if new else f"Without “{name}”"),
        f"{two_translations.summary(found.compared)} With the changed sentence, the log-probability of the first "
        f"{goes(sum(found.lost))}.",
        language=scene.task.target_code,
        key="words_outcome",
    )
    template.say(*_sentences(words))
    template.details(partial(_details, words))


def _words(scene: Scene) -> Words | None:
    """All methods; None if they take long and nobody has asked for them."""
    found = translated(scene)
    work = work_of(scene, found)
    if not WORDS_ASKED.open(work <= QUICK):
        name = f"Compute what each of {len(found.source_ids):,} tokens of this long sentence counts"
        st.button(name, on_click=WORDS_ASKED.choose, args=(True,))
        return None
    if not INTEGRATED.open(False, (False, work <= LONGEST)):
        return words_of_sentence(scene, integrate=False)
    with st.spinner("Integrating gradients"):
        return words_of_sentence(scene, integrate=True)


def _picture(words: Words, word: int) -> None:
    names = list(map(visible, words.names))
    signed = {name: name not in ("Attention", "Rollout") for name in words.values}
    views = [
        View(name, words.values[name].tolist(), signed_scale() if signed[name] else weight_scale(), signed[name],
             says, means, digits=1 if signed[name] else 2)
        for name, (says, means) in MEANS.items() if name in words.values
    ]  # fmt: skip
    row = int(words.values["Occlusion"][:, word].argmax())
    with st.container(key="picture_words"):
        cell_grid(
            views,
            Axis("predicts", list(map(visible, words.own.pieces)), role_color("decoder")),
            Axis("word", names, role_color("encoder"), [at == word for at in range(len(names))]),
            key="words",
            alt=f"What each of {counted(len(names), 'word')} counts for each of {counted(len(words.own.ids), 'token')}"
            " of the translation. Enter leaves the word of a cell out.",
            chosen=(row, word),
            frame="nothing",
            on_choose=_choose,
            height=205,
        )
    belongings(key="words", name="What each word counts for each token", table=partial(table, words))


def _choose(_: int, word: int) -> None:
    CHANGED_WORD.choose(word)
    NEW_WORD.choose("")


def _replacement(words: Words, word: int) -> str:
    """The line above the grid: what stands in the place of the word; and the method that takes seconds."""
    with st.container(key="words_new", horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"In place of “{visible(words.names[word])}”", width="content")
        NEW_WORD.open()
        st.text_input("Another word", key=NEW_WORD.key, persist_state="session", max_chars=LONGEST_WORD,
                      label_visibility="collapsed", autocomplete="off", placeholder="nothing")  # fmt: skip
        if not words.integrated and words.work <= LONGEST:
            st.button("Add integrated gradients", key="integrate", on_click=INTEGRATED.choose, args=(True,),
                      help=f"{STEPS} passes forward and, for each token, back: takes seconds.")  # fmt: skip
    return NEW_WORD.value.strip()


def _sentences(words: Words) -> list[str]:
    """What the grid says, with its numbers."""
    lost, word = words.values["Occlusion"], words.dearest
    row, rows = int(lost[:, word].argmax()), len(lost)
    return [
        f"Of all words, “{visible(words.names[word])}” costs most: without it the translation loses "
        f"{fixed(lost[:, word].sum(), 1)} of log-probability, “{in_words(words.own.pieces[row])}” alone "
        f"{fixed(lost[row, word], 1)}.",
        f"For {words.agreed or 'none'} of {counted(rows, 'token')} all {len(words.values)} methods name the same "
        f"word first; with occlusion, the gradient agrees for {words.same_first('Gradient × input')}, attention for "
        f"{words.same_first('Attention')}, rollout for {words.same_first('Rollout')}.",
        "Click a word to leave it out, or type another in its place.",
    ]


def _details(words: Words) -> None:
    triplet(
        "what a word counts",
        r"f_t(x) - f_t(x_{\setminus w}), \qquad \sum_d x_{sd} \frac{\partial f_t}{\partial x_{sd}}, \qquad "
        r"\sum_d (x - x')_{sd} \int_0^1 \frac{\partial f_t}{\partial x_{sd}}\big(x' + a (x - x')\big)\, da",
        "$f_t$ is the log-probability of token $t$ of the translation by the original model, after the tokens before "
        "it (teacher forcing); $x$ are the scaled embeddings of the source, $x'$ is 0 for each token but </s>. The "
        "values of a word's tokens are added; </s> is left out.",
        lines_between("analysis/attribution.py", "occlusion"),
        in_paper=False,
    )
    tokens = len(words.own.ids)
    gap = (
        f"Here a sum misses by {fixed(words.integrated.gap, 2)} at most, of differences up to "
        f"{fixed(float(np.abs(words.integrated.difference).max()), 1)}."
        if words.integrated
        else ""
    )
    st.markdown(
        f"- **Occlusion** (Zeiler and Fergus, 2014) is the only one that is an experiment, with "
        f"{len(words.positions) + 1} passes. But a sentence without a word is another sentence, "
        "and where two words say the same, neither costs much.\n"
        f"- **Gradient × input** (Shrikumar et al., 2016) needs one pass forward and {tokens} back. It is exact only "
        "for changes that are very small; leaving a word out is none.\n"
        f"- **Integrated gradients** (Sundararajan et al., 2017) need {STEPS} passes forward and, for each, {tokens} "
        "back. They sum to what the whole sentence counts against an empty one, to the error of the integral. "
        f"{gap} They depend on what is taken as empty.\n"
        "- **Attention**, the mean over layers and heads of encoder-decoder attention, costs nothing, and says where a "
        "row looks, not what it does with it.\n"
        "- **Rollout** (Abnar and Zuidema, 2020) follows attention through all layers, and assumes that the residual "
        "connection carries half. Both are shares, never below 0, so they cannot say that a word is in the way."
    )
    st.dataframe(dict(table(words)), hide_index=True)


def table(words: Words) -> Table:
    """A row a token and a word, a column a method."""
    cells = [(token, word) for token in words.own.pieces for word in words.names]
    return {
        "token": [token for token, _ in cells],
        "word": [word for _, word in cells],
        **{name: values.ravel().tolist() for name, values in words.values.items()},
    }
