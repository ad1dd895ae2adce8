"""Chooses the checkpoint that is open: in the list of all, among the snapshots of a run, or by uploading a file."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.compute.subject import Subject
from app.languages import _
from app.languages.numbers import formatted
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.names import display_name
from app.library.run_checkpoints import run_checkpoint
from app.library.snapshots import run_and_update, snapshot_name, snapshots
from app.library.uploads import MOST_UPLOADS, store_upload, upload_name, upload_path
from app.state import late_reports
from app.state.choices import CHECKPOINT, MISSING, UPLOAD_PROBLEM
from app.state.events import happened, open_checkpoint
from transformer.errors import HeadlightError

SNAPSHOT = "snapshot"  # the key of the slider over the snapshots of a run


def checkpoint_choice() -> CheckpointFile | None:
    """Draws the list of checkpoints; returns the chosen one, or None if there is none."""
    _take_upload()
    listed, own = checkpoints.checkpoints(), uploads() | _of_run()
    files = own | listed | own  # own ones first
    if not files:
        return None
    wanted = CHECKPOINT.value
    if wanted and wanted not in files:
        happened("checkpoint")
        MISSING.choose(wanted)
    CHECKPOINT.open(next(iter(listed or own)), files)
    st.selectbox(
        _("Checkpoint"),
        list(files),
        key=CHECKPOINT.key,
        persist_state="session",
        format_func=lambda name: display_name(files[name]) if name in files else name,
        on_change=_chosen,
        label_visibility="collapsed",
    )
    return files.get(CHECKPOINT.value)


def _chosen() -> None:
    if not late_reports.restored(CHECKPOINT):
        happened("checkpoint")


def uploads() -> dict[str, CheckpointFile]:
    """The checkpoints that this visitor uploaded; nobody else sees them."""
    kept: dict[str, CheckpointFile] = st.session_state.setdefault("uploads", {})
    return kept


def _of_run() -> dict[str, CheckpointFile]:
    """The chosen checkpoint by its name, if it is one of a training run; else {}. A button of the page Training or the
    address chooses such a checkpoint."""
    file = run_checkpoint(CHECKPOINT.value)
    return {file.name: file} if file else {}


def snapshot_slider() -> None:
    """If a snapshot is open, draws a slider for the snapshots of its training run. The sentence and the head stay."""
    found = run_and_update(CHECKPOINT.value)
    updates = list(snapshots(found[0])) if found else []
    if found is None or found[1] not in updates or len(updates) < 2:
        return
    run, st.session_state[SNAPSHOT] = found

    def take() -> None:
        CHECKPOINT.choose(snapshot_name(run, st.session_state[SNAPSHOT]))
        happened("sentence")

    st.select_slider(
        _("Snapshot after update"),
        updates,
        format_func=lambda update: formatted(update, ","),
        key=SNAPSHOT,
        on_change=take,
    )


def opened(file: CheckpointFile | None, progress: DeltaGenerator) -> Subject | None:
    """The model of a checkpoint, unedited. None: it cannot be opened, and the page says why. The spinner is drawn in
    `progress`."""
    _problems(file)
    if file is None:
        st.info(
            _(
                "There is no checkpoint yet. Train one (the recipe `reverse` takes a few minutes), put the "
                "`.safetensors` file into the folder `pretrained`, or open it in the menu."
            )
        )
        return None
    try:
        with progress, st.spinner(_("Loading the checkpoint …")):
            checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        message = str(error).replace(file.path, file.name) if file.name in uploads() else str(error)
        if file.name in uploads() and not file.is_there:
            message = _(
                "The newest {count} uploads are kept, and yours is older: open it again in the menu.",
                count=MOST_UPLOADS,
            )
        # The message names a file of the visitor, so it is shown as text, never as Markdown
        st.text(_("This checkpoint cannot be opened. {message}", message=message))
        return None
    return Subject(file)


def uploader() -> None:
    """Draws the upload field for a checkpoint file, and opens what was uploaded."""
    given = st.file_uploader(
        _("A .safetensors file"),
        type=["safetensors"],
        key="upload",
        on_change=UPLOAD_PROBLEM.forget,
        label_visibility="collapsed",
    )
    if given is None or st.session_state.get("taken_upload") == given.file_id:
        return
    st.session_state["taken_upload"] = given.file_id
    name = upload_name(given.name)
    try:
        file = CheckpointFile.at(store_upload(given.getvalue()), name)
        with st.spinner(_("Checking the file …")):
            checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        path = str(upload_path(given.getvalue()))
        UPLOAD_PROBLEM.choose(str(error).replace(path, given.name))
    else:
        uploads()[name] = file
        st.session_state["open_next"] = name
    st.rerun()


def _take_upload() -> None:
    """Chooses a checkpoint that has just been uploaded; to be called before the list is drawn."""
    chosen = st.session_state.pop("open_next", None)
    if chosen:
        open_checkpoint(chosen)


def _problems(file: CheckpointFile | None) -> None:
    """Sentences about the last upload, if it could not be opened, and about a checkpoint that is gone."""
    sentences = []
    if problem := UPLOAD_PROBLEM.value:
        sentences.append(_("Your file was not opened. {problem}", problem=problem))
    if file and (name := MISSING.value):
        words = _(
            "The checkpoint “{name}” is not here, so another one is open: {other}. If you have its file, open it in "
            "the menu.",
            name=name,
            other=display_name(file),
        )
        sentences.append(words)
    for sentence in sentences:
        with st.container(border=True):
            st.text(sentence)
