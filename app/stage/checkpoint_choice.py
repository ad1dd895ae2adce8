"""Which checkpoint is open: the list of all, the snapshots of a run, and those that a visitor opens."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.compute.subject import Subject
from app.library import checkpoints
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile
from app.library.snapshots import place_of, snapshot, snapshot_name, snapshots
from app.state.choices import CHECKPOINT, happened, open_checkpoint
from transformer.errors import HeadlightError

SNAPSHOT = "snapshot"  # the key of the slider over the snapshots of a run


def checkpoint_choice() -> CheckpointFile | None:
    """Draws the list of checkpoints; returns the chosen one. None: there is none."""
    _take_upload()
    files = checkpoints.checkpoints() | uploads() | _snapshot()
    if not files:
        return None
    CHECKPOINT.open(next(iter(files)), files)
    st.selectbox(
        "Checkpoint",
        list(files),
        key=CHECKPOINT.key,
        persist_state="session",
        format_func=lambda name: display_name(files[name]) if name in files else name,
        on_change=happened,
        args=("checkpoint",),
        label_visibility="collapsed",
    )
    return files.get(CHECKPOINT.value)


def display_name(file: CheckpointFile) -> str:
    """How the list names a checkpoint: its languages, and its file name where that says more."""
    found = entry(file)
    source, target = found.languages
    if not source or not target or source == target:
        return file.name
    languages = f"{found.task.source} → {found.task.target}"
    return languages if file.name == f"{source}-{target}" else f"{languages} ({file.name})"


def uploads() -> dict[str, CheckpointFile]:
    """What this visitor has opened; nobody else sees it."""
    kept: dict[str, CheckpointFile] = st.session_state.setdefault("uploads", {})
    return kept


def _snapshot() -> dict[str, CheckpointFile]:
    """The snapshot of a training run that is chosen, by a button of the page Training or in the address."""
    file = snapshot(CHECKPOINT.value)
    return {file.name: file} if file else {}


def snapshot_slider() -> None:
    """Another snapshot of the same training run, on every page; sentence and head stay the same."""
    place = place_of(CHECKPOINT.value)
    updates = list(snapshots(place[0])) if place else []
    if place is None or place[1] not in updates or len(updates) < 2:
        return
    run, st.session_state[SNAPSHOT] = place

    def take() -> None:
        CHECKPOINT.choose(snapshot_name(run, st.session_state[SNAPSHOT]))
        happened("sentence")

    st.select_slider("Snapshot after update", updates, format_func="{:,}".format, key=SNAPSHOT, on_change=take)


def opened(file: CheckpointFile | None, progress: DeltaGenerator) -> Subject | None:
    """The model of a checkpoint. None: it cannot be opened, and the page says why. `progress`: where it says that it
    loads."""
    _upload_problem()
    if file is None:
        st.info(
            "There is no checkpoint yet. Train one (the recipe `reverse` takes a few minutes), put the `.safetensors` "
            "file into the folder `pretrained`, or open it in the menu."
        )
        return None
    try:
        with progress, st.spinner("Loading the checkpoint …"):
            checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        message = str(error).replace(file.path, file.name) if file.name in uploads() else str(error)
        if file.name in uploads() and not file.is_there:
            most = checkpoints.MOST_UPLOADS
            message = f"The newest {most} uploads are kept, and yours is older: open it again in the menu."
        st.text(f"This checkpoint cannot be opened. {message}")  # names a file of the visitor: text, never markdown
        return None
    return Subject(file)


def uploader() -> None:
    """A place for a checkpoint file of the visitor's own."""
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


def _take_upload() -> None:
    """Chooses a checkpoint that has just been uploaded, before the picker is drawn; says it if there was a problem."""
    chosen = st.session_state.pop("open_next", None)
    if chosen:
        open_checkpoint(chosen)


def _upload_problem() -> None:
    """A sentence about the last upload, if it could not be opened."""
    problem = st.session_state.get("upload_problem")
    if problem:
        with st.container(border=True):
            st.text(f"Your file was not opened. {problem}")
