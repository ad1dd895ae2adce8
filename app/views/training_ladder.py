"""The time machine: one sentence at every rung of a run's ladder, from the untrained model on.

Every rung reads the same right translation (teacher forcing, as in training), so that a cell is the same query and key
at each update, and losses can be compared. What the rung would write by itself stands beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app import computed, models
from app.computed import Look
from app.figures.axes import TokenAxis
from app.figures.heads import clearest_head
from app.figures.ladder import ladder_alt, ladder_table, ladder_tiles
from app.figures.matrix import attention_matrix, matrix_alt, matrix_table, matrix_width
from app.ladders import ladder
from app.models import CheckpointFile, Kind
from app.runs import Run
from app.session import CHECKPOINT, Opened, Task, forget_choice, forget_head, is_dark, linked, take_sentence, task_of
from app.views.choose import KINDS, SHORT
from app.views.placed import placed, scrolling
from transformer.decoding.translation import Translation
from transformer.errors import HeadlightError
from transformer.text.normalise import normalise
from transformer.text.toy import toy_answer

AT, KIND, HEAD = "at_update", "run_attention", "run_head"
SHOWN, FOLLOWS, PLAYS, AGAIN = "run_shown", "run_follows", "run_plays", "run_again"
SENTENCE, RIGHT = "run_sentence", "run_right"
CLEAREST = (-1, -1)  # in place of a layer and a head: whichever is the clearest at the newest rung
MOST_CHARACTERS = 300
CONTROL = 270  # px

Losses = Callable[[int | None, tuple[np.ndarray, np.ndarray] | None], None]


@dataclass(frozen=True)
class Sweep:
    """What every rung that can be read makes of the sentence."""

    run: str
    task: Task
    sentence: str
    right: str
    kind: Kind
    chosen_head: tuple[int, int] | None  # None: the clearest one
    updates: list[int]
    looks: list[Look]

    @property
    def losses(self) -> list[float]:
        return [look.loss for look in self.looks]

    @property
    def axes(self) -> tuple[TokenAxis, TokenAxis]:
        """(queries, keys)."""
        look = self.looks[-1]
        source = TokenAxis(f"{self.task.source} (source)", "encoder", look.source)
        target = TokenAxis(f"{self.task.target} (right translation)", "decoder", look.reads, look.predicts)
        if self.kind == "encoder":
            return source, source
        return target, source if self.kind == "cross" else TokenAxis(f"{target.title}, as read", "decoder", look.reads)

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head, from 0."""
        queries, keys = self.axes
        weights = self.looks[-1].attention.weights
        return self.chosen_head or clearest_head(weights, queries.predicts or queries.tokens, keys.tokens)


def is_playing() -> bool:
    """Whether the slider moves by itself."""
    return st.session_state.get(PLAYS) is not None


def time_machine(run: Run, found: tuple[Opened, Translation] | None, losses: Losses) -> None:
    """The loss beside the tiles of all rungs; below, the slider and the chosen rung."""
    if st.session_state.pop(AGAIN, False):
        st.rerun()  # the whole page: it shall draw by itself, or no longer; or the sidebar has another checkpoint
    files = ladder(run.name)
    if not files:
        losses(None, None)
        st.caption(
            "This run keeps no ladder (yet). With `training.ladder = [0, 50, 100, 200, 400]` in its recipe it keeps a "
            "small checkpoint after each of these updates, and a slider here shows the same sentence at each of them."
        )
        return
    st.header("Time machine", anchor=False)
    sweep = _sweep(run, files, found)
    if sweep is None:
        losses(None, None)
        return
    chosen = _chosen(run, sweep.updates)
    _tiles(sweep, chosen)
    _slider(sweep.updates)
    _written(sweep, files[sweep.updates[chosen]], chosen)
    with st.container(key="rung_duo"):  # see page.css
        left, right = st.columns(2, gap="medium")
        with left:
            _matrix(sweep, chosen)
        with right:
            losses(sweep.updates[chosen], (np.array(sweep.updates), np.array(sweep.losses)))


def _sweep(run: Run, files: dict[int, CheckpointFile], found: tuple[Opened, Translation] | None) -> Sweep | None:
    """Asks for sentence and kind, and looks at all rungs. None: nothing can be shown, and the page has said why."""
    try:
        newest = models.load_rung(list(files.values())[-1])
    except (HeadlightError, OSError) as error:
        st.text(f"The newest snapshot cannot be opened. {error}")
        return None
    task = task_of(newest)
    usual = _usual_sentence(task, found)
    with st.container(key="run_choices", horizontal=True, vertical_alignment="bottom"):
        kind = linked(KIND, tuple(KINDS), "cross")
        st.selectbox("Attention", list(KINDS), format_func=KINDS.__getitem__, key=KIND, width=CONTROL)
        typed = st.text_input(
            "Sentence for this run", key=SENTENCE, placeholder=usual, max_chars=MOST_CHARACTERS, autocomplete="off",
            persist_state="session", width=CONTROL,
        )  # fmt: skip
        sentence = normalise(typed or "") or usual
        answer = _answer(run, sentence)
        given = st.text_input(
            "Its right translation", key=RIGHT, placeholder=answer or "what the newest snapshot writes",
            max_chars=MOST_CHARACTERS, autocomplete="off", persist_state="session", width=CONTROL,
        )  # fmt: skip
        config = newest.model.config
        head = _choose_head(config.encoder_layers if kind == "encoder" else config.decoder_layers, config.heads)
    if not sentence:
        st.info("Type a sentence for this run.")
        return None
    pieces, limit = len(newest.tokenizer.encode(sentence)), models.most_pieces(newest)
    if pieces > limit:
        st.warning(f"This sentence has {pieces:,} pieces; the page shows up to {limit:,} of this run. Shorten it.")
        return None
    looks: dict[int, Look] = {}
    try:
        right = (given or "").strip() or answer or computed.written_by(list(files.values())[-1], sentence)
        if not right:
            st.info("The newest snapshot writes nothing for this sentence. Type its right translation above.")
            return None
        for update, file in files.items():
            try:
                looks[update] = computed.look(file, sentence, right, kind)
            except OSError:  # a run that is resumed has just taken it away
                continue
    except HeadlightError as error:
        with st.container(border=True):
            st.text(str(error))
        return None
    return Sweep(run.name, task, sentence, right, kind, head, list(looks), list(looks.values())) if looks else None


def _usual_sentence(task: Task, found: tuple[Opened, Translation] | None) -> str:
    """The sentence of the page, if the run reads such sentences; else an example of its own."""
    if (found and found[0].task == task) or not task.examples:
        return normalise(found[1].source) if found else ""
    return task.examples[0]


def _answer(run: Run, sentence: str) -> str:
    """The right translation, where it is known."""
    toy = run.recipe.data.toy if run.recipe else None
    return (toy_answer(toy, sentence) or "") if toy else ""


def _choose_head(layers: int, heads: int) -> tuple[int, int] | None:
    """Layer and head, from 0; None: the clearest one."""
    every = [CLEAREST, *((layer, head) for layer in range(layers) for head in range(heads))]
    if st.session_state.get(HEAD) not in every:
        st.session_state[HEAD] = CLEAREST
    chosen: tuple[int, int] = st.selectbox(
        "Layer and head",
        every,
        key=HEAD,
        format_func=lambda at: "the clearest head" if at == CLEAREST else f"layer {at[0] + 1}, head {at[1] + 1}",
        width=CONTROL,
        help="The clearest head of the newest snapshot looks most sharply at words, and at another from row to row.",
    )
    return None if chosen == CLEAREST else chosen


def _chosen(run: Run, updates: list[int]) -> int:
    """The chosen rung, from 0: the newest, also when newer ones come, until the reader takes another one."""
    state = st.session_state
    if state.get(SHOWN) != run.name:
        state[FOLLOWS] = SHOWN in state or AT not in st.query_params
        state[SHOWN], state[PLAYS] = run.name, None
    if is_playing():
        state[AT] = updates[min(state[PLAYS], len(updates) - 1)]
        state[PLAYS] += 1
        if state[PLAYS] >= len(updates):
            state[PLAYS], state[AGAIN] = None, True
    elif state[FOLLOWS]:
        state[AT] = updates[-1]
    return updates.index(linked(AT, updates, updates[-1]))


def _tiles(sweep: Sweep, chosen: int) -> None:
    layer, head = sweep.head
    weights = np.stack([look.attention.weights[layer, head] for look in sweep.looks])  # (R, Q, K)
    texts = [look.text for look in sweep.looks]
    text = f"{KINDS[sweep.kind]}, layer {layer + 1}, head {head + 1}, after so many updates"
    placed(
        ladder_tiles(weights, sweep.updates, sweep.losses, chosen, text=text, dark=is_dark()),
        key="ladder",
        name=f"{sweep.run} - {text}",
        alt=ladder_alt(sweep.updates, sweep.losses, texts, text),
        table=lambda: ladder_table(sweep.updates, sweep.losses, texts),
        on_click=lambda point: _take(sweep.updates, point.customdata),
    )


def _take(updates: list[int], index: object) -> None:
    if isinstance(index, int) and 0 <= index < len(updates):
        st.session_state[AT] = updates[index]
        _taken(updates)


def _taken(updates: list[int]) -> None:
    """The reader has taken a rung: no newer one takes its place, unless it was the newest."""
    st.session_state[FOLLOWS] = st.session_state[AT] == updates[-1]
    _play(None)


def _slider(updates: list[int]) -> None:
    if len(updates) < 2:
        return
    with st.container(key="time_slider", horizontal=True, vertical_alignment="bottom", gap="medium"):
        playing = is_playing()
        st.button("Pause" if playing else "Play", key="play", on_click=_play, args=(None if playing else 0,))
        st.select_slider("After update", updates, key=AT, on_change=_taken, args=(updates,), width="stretch")


def _play(rung: int | None) -> None:
    """Goes from this rung, from 0, to the newest; None: stays where it is."""
    st.session_state[AGAIN] = is_playing() != (rung is not None)
    st.session_state[PLAYS] = rung
    if rung is not None:
        st.session_state[FOLLOWS] = False


def _written(sweep: Sweep, file: CheckpointFile, chosen: int) -> None:
    """What the chosen rung writes, and what it thinks of the right translation."""
    look, update = sweep.looks[chosen], sweep.updates[chosen]
    with st.container(key="rung_says"):
        writes, right, loss, probability = st.columns([3, 3, 1.5, 1.5], gap="medium")
    with writes:
        st.subheader(f"After {update:,} updates it writes" if update else "The untrained model writes", anchor=False)
        with st.container(key="headline"):
            st.text((look.text or "(nothing)") + (" …" if look.cut else ""))
    with right:
        st.subheader("Right would be", anchor=False)
        with st.container(key="said_right"):
            st.text(sweep.right)
    loss.metric(
        "Loss", f"{look.loss:.3f}", help="Of the right translation, teacher-forced, without smoothing: nats a piece."
    )
    probability.metric("Probability", f"{np.exp(-look.loss):.1%}", help="Of a right piece: their geometric mean.")
    if st.session_state.get(CHECKPOINT) == file.name:
        st.page_link("views/attention.py", label="It is open: see all its heads", icon=":material/arrow_forward:")
    else:
        st.button("Open this snapshot on the other pages", key="open_rung", on_click=_open, args=(file, sweep.sentence))


def _matrix(sweep: Sweep, chosen: int) -> None:
    """The head of the chosen rung in full."""
    layer, head = sweep.head
    queries, keys = sweep.axes
    attention = sweep.looks[chosen].attention
    title = f"{SHORT[sweep.kind]}, layer {layer + 1}, head {head + 1}, after {sweep.updates[chosen]:,} updates"
    weights, mask = attention.weights[layer, head], attention.mask
    key = "rung_matrix"
    with scrolling(key, matrix_width(bool(queries.predicts), len(keys))):
        placed(
            attention_matrix(weights, queries, keys, title=title, mask=mask, dark=is_dark()),
            key=key,
            name=f"{sweep.run} - {title}",
            alt=matrix_alt(weights, queries, keys, title),
            table=lambda: matrix_table(weights, queries, keys),
        )
    st.caption("Each row sums to 1. The decoder reads the right translation here, as in training.")


def _open(file: CheckpointFile, sentence: str) -> None:
    st.session_state[CHECKPOINT], st.session_state[AGAIN] = file.name, True
    forget_head()
    forget_choice()
    take_sentence(sentence)
