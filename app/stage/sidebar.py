"""The sidebar of every page: the checkpoint, its model card, and the upload of a checkpoint."""

import streamlit as st

from app.compute.subject import Subject
from app.figures.theme import counted
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.snapshots import ladder, place_of, rung, rung_name
from app.state.choices import CHECKPOINT, happened, open_checkpoint
from transformer.errors import HeadlightError

RUNG = "rung"  # the key of the slider over the snapshots of a run


def sidebar() -> Subject | None:
    """Draws the sidebar up to the checkpoint. None: nothing can be opened, and the page has said why."""
    with st.sidebar:
        with st.container(key="brand"):
            st.title("Headlight", anchor=False)
            st.caption("A Transformer that shows its work.")
        files = checkpoints.checkpoints() | uploads() | _snapshot()
        if files:
            CHECKPOINT.open(next(iter(files)), files)
            st.selectbox(
                "Checkpoint",
                list(files),
                key=CHECKPOINT.key,
                persist_state="session",
                on_change=happened,
                args=("checkpoint",),
                help="Files in the folder of checkpoints, and those you open yourself below.",
            )
            _snapshot_slider(CHECKPOINT.value)
        subject = _open(files.get(CHECKPOINT.value))
        if subject:
            _card(subject)
        with st.expander("Open your own checkpoint", expanded=not files):
            _uploader()
    if not files:
        st.info(
            "There is no checkpoint yet. Train one (the recipe `reverse` takes a few minutes), put the `.safetensors` "
            "file into the folder `pretrained`, or open it in the sidebar."
        )
    return subject


def uploads() -> dict[str, CheckpointFile]:
    """What this visitor has opened; nobody else sees it."""
    kept: dict[str, CheckpointFile] = st.session_state.setdefault("uploads", {})
    return kept


def _snapshot() -> dict[str, CheckpointFile]:
    """The snapshot of a training run that is chosen, by a button of the page Training or in the address."""
    file = rung(CHECKPOINT.value)
    return {file.name: file} if file else {}


def _snapshot_slider(name: str) -> None:
    """Another snapshot of the same training run, on every page; sentence and head stay the same."""
    place = place_of(name)
    updates = list(ladder(place[0])) if place else []
    if place is None or place[1] not in updates or len(updates) < 2:
        return
    run, st.session_state[RUNG] = place

    def take() -> None:
        CHECKPOINT.choose(rung_name(run, st.session_state[RUNG]))
        happened("sentence")

    st.select_slider("Snapshot after update", updates, format_func="{:,}".format, key=RUNG, on_change=take)


def _open(file: CheckpointFile | None) -> Subject | None:
    if file is None:
        return None
    try:
        with st.spinner("Loading the checkpoint …"):
            checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        said = str(error).replace(file.path, file.name) if file.name in uploads() else str(error)
        if file.name in uploads() and not file.is_there:
            said = f"The newest {checkpoints.MOST_UPLOADS} uploads are kept, and yours is older: open it again below."
        st.text(f"This checkpoint cannot be opened. {said}")  # names a file of the visitor: text, never markdown
        return None
    return Subject(file)


def _card(subject: Subject) -> None:
    config, checkpoint = subject.config, subject.translator.checkpoint
    st.text(f"{subject.task.source} → {subject.task.target}")
    st.caption(
        f"{config.encoder_layers} + {config.decoder_layers} layers, {counted(config.heads, 'head')}, "
        f"d_model {config.d_model}, {_millions(subject.translator.model.parameter_count)} parameters, "
        f"vocabulary of {config.vocab_size:,} tokens"
    )
    with st.popover("Model card", width="stretch"):
        card = subject.file.card if subject.file.name not in uploads() else None
        if card:
            st.markdown(card)
        else:
            st.text("This checkpoint has no card. What its file says:")
        st.json(
            {
                "architecture": {name: getattr(config, name) for name in config.__dataclass_fields__},
                "metrics": checkpoint.metrics if checkpoint else {},
            },
            expanded=not card,
        )


def _millions(count: int) -> str:
    return f"{count / 1e6:.1f} M" if count >= 100_000 else f"{count:,}"


def _uploader() -> None:
    given = st.file_uploader("A .safetensors file", type=["safetensors"], key="upload", label_visibility="collapsed")
    if given is None or st.session_state.get("taken_upload") == given.file_id:
        return
    st.session_state["taken_upload"] = given.file_id
    name = f"{given.name.removesuffix('.safetensors')[:40]} (yours)"
    try:
        file = checkpoints.keep_upload(name, given.getvalue())
        with st.spinner("Checking the file …"):
            checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        path = str(checkpoints.upload_path(given.getvalue()))
        st.session_state["upload_problem"] = str(error).replace(path, given.name)
    else:
        st.session_state["upload_problem"] = None
        uploads()[name] = file
        st.session_state["open_next"] = name
    st.rerun()


def take_upload() -> None:
    """Chooses a checkpoint that has just been uploaded, before the picker is drawn; says it if there was a problem."""
    chosen = st.session_state.pop("open_next", None)
    if chosen:
        open_checkpoint(chosen)


def upload_problem() -> None:
    """A sentence about the last upload, if it could not be opened."""
    problem = st.session_state.get("upload_problem")
    if problem:
        with st.container(border=True):
            st.text(f"Your file was not opened. {problem}")
