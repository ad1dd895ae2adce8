"""The time machine: one sentence at every snapshot of a run, from the untrained model on.

Every snapshot reads the same right translation (teacher forcing, as in training), so that a cell is the same query and
key at each update, and losses can be compared. What the snapshot would write by itself stands beside it.
"""

from collections.abc import Callable

import numpy as np
import streamlit as st

from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.library.checkpoints import CheckpointFile
from app.library.runs import Run
from app.library.snapshots import snapshots
from app.pages import page_named
from app.stage.heads import SHORT
from app.stage.scene import Scene
from app.state.choices import AT_UPDATE, CHECKPOINT, PLAYS, open_checkpoint, take_sentence
from app.views.shared.placed import placed, scrolling
from app.views.training.snapshot_heads import snapshot_alt, snapshot_table, snapshot_tiles
from app.views.training.snapshot_sweep import Sweep, sweep
from transformer.model.attention_kinds import KINDS

# In the session: the run that is shown, the number of the next snapshot while it plays, the update that was drawn last,
# and how often the page itself has taken another snapshot.
RUN_SHOWN, NEXT, DRAWN, MOVES = "run_shown", "next_snapshot", "drawn_update", "run_moves"

Losses = Callable[[int | None, tuple[np.ndarray, np.ndarray] | None], None]


def time_machine(run: Run, scene: Scene | None, losses: Losses) -> None:
    """The loss beside the tiles of all snapshots; below, the slider and the chosen snapshot."""
    files = snapshots(run.name)
    if not files:
        losses(None, None)
        st.caption(
            "This run has no snapshots (yet). With `training.snapshots = [0, 50, 100, 200, 400]` in its recipe it "
            "stores a small checkpoint after each of these updates. A slider here then shows the same sentence at each "
            "of them."
        )
        return
    st.header("Time machine", anchor=False)
    seen = sweep(run, files, scene)
    if seen is None:
        losses(None, None)
        return
    chosen = _chosen(run, seen.updates)
    _tiles(seen, chosen)
    _slider(seen.updates)
    _written(seen, files[seen.updates[chosen]], chosen)
    with st.container(key="snapshot_duo"):  # see page.css
        left, right = st.columns(2, gap="medium")
        with left:
            _matrix(seen, chosen)
        with right:
            losses(seen.updates[chosen], (np.array(seen.updates), np.array(seen.losses)))


def _chosen(run: Run, updates: list[int]) -> int:
    """The chosen snapshot, from 0: the newest, also when newer ones come, until the reader takes another one.

    Trap: a browser that draws by itself may still send where its slider was before, which would look as if the reader
    had moved it back. So what the page moves is another slider (test_the_page_moves_another_slider_than_the_reader).
    """
    state = st.session_state
    if state.get(RUN_SHOWN, run.name) != run.name:
        AT_UPDATE.forget()
        PLAYS.forget()
    state[RUN_SHOWN] = run.name
    if PLAYS.value:
        AT_UPDATE.choose(updates[min(state[NEXT], len(updates) - 1)])
        state[NEXT] += 1
        if state[NEXT] >= len(updates):
            AT_UPDATE.forget()
            PLAYS.forget()
    update = AT_UPDATE.open(updates[-1], updates)
    if state.get(DRAWN, update) != update:
        state[MOVES] = state.get(MOVES, 0) + 1
    state[DRAWN] = update
    return updates.index(update)


def _tiles(seen: Sweep, chosen: int) -> None:
    layer, head = seen.head
    weights = np.stack([look.attention.weights[layer, head] for look in seen.looks])  # (R, Q, K)
    texts = [look.text for look in seen.looks]
    text = f"{KINDS[seen.kind]}, layer {layer + 1}, head {head + 1}, after so many updates"
    placed(
        snapshot_tiles(weights, seen.updates, seen.losses, chosen, text=text),
        key="snapshots",
        name=f"{seen.run} - {text}",
        alt=snapshot_alt(seen.updates, seen.losses, texts, text),
        table=lambda: snapshot_table(seen.updates, seen.losses, texts),
        on_click=lambda point: _take(seen.updates, point.customdata),
    )


def _take(updates: list[int], index: object) -> None:
    """The reader has taken a snapshot. If it is the newest, newer ones take its place."""
    if isinstance(index, int) and 0 <= index < len(updates):
        PLAYS.forget()
        AT_UPDATE.forget()
        if updates[index] != updates[-1]:
            AT_UPDATE.choose(updates[index])


def _slid(updates: list[int], key: str) -> None:
    st.session_state[DRAWN] = st.session_state[key]
    _take(updates, updates.index(st.session_state[key]))


def _slider(updates: list[int]) -> None:
    if len(updates) < 2:
        return
    with st.container(key="time_slider", horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.button("Pause" if PLAYS.value else "Play", key="play", on_click=_play)
        key = f"slider_{st.session_state.get(MOVES, 0)}"
        st.select_slider(
            "After update",
            updates,
            AT_UPDATE.value,
            format_func="{:,}".format,
            key=key,
            on_change=_slid,
            args=(updates, key),
            width="stretch",
        )


def _play() -> None:
    """From the untrained model to the newest, or stays where it is."""
    PLAYS.choose(not PLAYS.value)
    st.session_state[NEXT] = 0


def _written(seen: Sweep, file: CheckpointFile, chosen: int) -> None:
    """What the chosen snapshot writes, and what it thinks of the right translation."""
    look, update = seen.looks[chosen], seen.updates[chosen]
    with st.container(key="snapshot_says"):
        writes, right, loss, probability = st.columns([3, 3, 1.5, 1.5], gap="medium")
    with writes:
        st.subheader(f"After {update:,} updates it writes" if update else "The untrained model writes", anchor=False)
        with st.container(key="headline"):
            st.text((look.text or "(nothing)") + (" …" if look.cut else ""))
    with right:
        st.subheader("Right would be" if seen.is_known else "The newest snapshot writes", anchor=False)
        with st.container(key="said_right"):
            st.text(seen.right)
    loss.metric(
        "Loss", f"{look.loss:.3f}", help=f"Of the {seen.says}, teacher-forced, without smoothing: nats per token."
    )
    probability.metric("Probability", f"{np.exp(-look.loss):.1%}", help="Of a token of it: their geometric mean.")
    if CHECKPOINT.value == file.name:
        st.page_link(page_named("attention"), label="It is open: see all its heads", icon=":material/arrow_forward:")
    else:
        st.button(
            "Open this snapshot on the other pages", key="open_snapshot", on_click=_open, args=(file, seen.sentence)
        )


def _matrix(seen: Sweep, chosen: int) -> None:
    """The head of the chosen snapshot in full."""
    layer, head = seen.head
    queries, keys = seen.axes
    attention = seen.looks[chosen].attention
    title = f"{SHORT[seen.kind]}, layer {layer + 1}, head {head + 1}, after {seen.updates[chosen]:,} updates"
    weights, mask = attention.weights[layer, head], attention.mask
    key = "snapshot_matrix"
    with scrolling(key, matrix_width(queries, keys)):
        placed(
            attention_matrix(weights, queries, keys, title=title, mask=mask),
            key=key,
            name=f"{seen.run} - {title}",
            alt=matrix_alt(weights, queries, keys, title),
            table=lambda: matrix_table(weights, queries, keys),
        )
    st.caption(f"Each row sums to 1. The decoder reads the {seen.says} here: teacher forcing, as in training.")


def _open(file: CheckpointFile, sentence: str) -> None:
    open_checkpoint(file.name)
    take_sentence(sentence)
