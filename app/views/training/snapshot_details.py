"""The snapshots of a run in full, in the details of Training.

There are the choice of a head and a sentence, the head and the loss of the sentence at every snapshot, and the matrix
of the head with its numbers at the chosen snapshot.
"""

import numpy as np
import streamlit as st

from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.languages import _, ngettext
from app.library import checkpoints
from app.library.runs import Run
from app.library.snapshots import snapshots
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.state.choices import AT_UPDATE, CLEAREST, RUN_HEAD, RUN_KIND, RUN_RIGHT, RUN_SENTENCE
from app.views.shared.show_figure import scrolling, show_figure
from app.views.training.known_pairs import right_translation
from app.views.training.snapshot_heads import snapshot_alt, snapshot_tiles
from app.views.training.snapshot_question import NothingToAsk, Question, question, usual_sentence
from app.views.training.snapshot_rows import rows_table
from app.views.training.snapshot_sweep import Sweep, head_choices, sweep
from transformer.model.attention_kinds import KINDS, depth

MOST_CHARACTERS = 300
NARROW = 204  # px: four controls fit in one line if the window is 1280 px wide


def snapshot_details(run: Run, scene: Scene | None) -> Sweep | None:
    """Draws the section. None: there is no snapshot that can be asked; the picture above says why."""
    try:
        asked = question(run, scene)
    except NothingToAsk:
        if snapshots(run.name):
            _sentence("", "")  # so that another sentence can be typed
        return None
    st.header(_("The snapshots in full"), anchor=False)
    _choices(run, asked, scene)
    try:
        seen = sweep(asked)
    except NothingToAsk:
        return None
    chosen = AT_UPDATE.value if AT_UPDATE.value in seen.results else max(seen.results)
    _tiles(seen, chosen)
    _matrix(seen, chosen)
    return seen


def _choices(run: Run, asked: Question, scene: Scene | None) -> None:
    newest = checkpoints.load_snapshot(list(asked.files.values())[-1])
    with st.container(key="run_choices", horizontal=True, vertical_alignment="bottom"):
        kind = RUN_KIND.open(allowed=KINDS)
        st.selectbox(
            _("Attention"),
            list(KINDS),
            format_func=lambda kind: _(SHORT[kind]),
            key=RUN_KIND.key,
            persist_state="session",
            width=NARROW,
        )
        usual = usual_sentence(run, newest, asked.task, scene)[0]
        _sentence(usual, right_translation(run, asked.sentence))
        every = head_choices(depth(asked.config, kind), asked.config.heads)
        RUN_HEAD.open(allowed=every)
        st.selectbox(
            _("Layer and head"),
            every,
            key=RUN_HEAD.key,
            persist_state="session",
            format_func=_head_name,
            width=NARROW,
            help=_(
                "The clearest head of the newest snapshot attends sharply to single words, and in different rows to "
                "different words."
            ),
        )


def _head_name(at: tuple[int, int]) -> str:
    if at == CLEAREST:
        return _("the clearest head")
    return _("layer {layer}, head {head}", layer=at[0] + 1, head=at[1] + 1)


def _sentence(usual: str, right: str) -> None:
    RUN_SENTENCE.open()
    st.text_input(
        _("Sentence for this run"), key=RUN_SENTENCE.key, placeholder=usual, max_chars=MOST_CHARACTERS,
        autocomplete="off", persist_state="session", width="stretch",
    )  # fmt: skip
    RUN_RIGHT.open()
    st.text_input(
        _("Its right translation"), key=RUN_RIGHT.key, placeholder=right or _("what the newest snapshot writes"),
        max_chars=MOST_CHARACTERS, autocomplete="off", persist_state="session", width="stretch",
    )  # fmt: skip


def _tiles(seen: Sweep, chosen: int) -> None:
    layer, head = seen.head
    results = list(seen.results.values())
    weights = np.stack([result.attention.weights[layer, head] for result in results])  # (R, Q, K)
    texts = [result.text for result in results]
    text = _(
        "{kind}, layer {layer}, head {head}, after the number of updates above each tile",
        kind=_(KINDS[seen.kind]),
        layer=layer + 1,
        head=head + 1,
    )
    show_figure(
        snapshot_tiles(weights, seen.updates, seen.losses, seen.updates.index(chosen), text=text),
        key="snapshots",
        name=f"{seen.question.run} - {text}",
        alt=snapshot_alt(seen.updates, seen.losses, texts, text),
        table=lambda: rows_table(seen),
    )


def _matrix(seen: Sweep, update: int) -> None:
    """Draws the head at the chosen snapshot, with its numbers."""
    layer, head = seen.head
    queries, keys = seen.axes
    attention = seen.results[update].attention
    title = ngettext(
        "{kind}, layer {layer}, head {head}, after {count:,} update",
        "{kind}, layer {layer}, head {head}, after {count:,} updates",
        update,
        kind=_(SHORT[seen.kind]),
        layer=layer + 1,
        head=head + 1,
    )
    weights, mask = attention.weights[layer, head], attention.masks[layer, head]
    key = "snapshot_matrix"
    with scrolling(key, matrix_width(queries, keys)):
        show_figure(
            attention_matrix(weights, queries, keys, title=title, mask=mask),
            key=key,
            name=f"{seen.question.run} - {title}",
            alt=matrix_alt(weights, queries, keys, title),
            table=lambda: matrix_table(weights, queries, keys),
        )
    st.caption(
        _("Each row sums to 1. The decoder reads the right translation: teacher forcing, as in training.")
        if seen.question.is_known
        else _("Each row sums to 1. The decoder reads what the newest snapshot writes (teacher forcing).")
    )
