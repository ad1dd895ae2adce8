"""The window in which a run is started: on text of one's own, or on a toy task."""

from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app.languages import _, gettext_noop
from app.library.checkpoints import CheckpointFile, checkpoints
from app.library.names import display_name
from app.library.names_of_languages import LONGEST, all_languages
from app.stage.checkpoint_choice import uploads
from app.state.choices import RUN
from app.views.training import launch_run, windows
from app.views.training.bad_lines import BadLines, label_of_start, show_bad_lines
from app.views.training.own_text import FEWEST_PAIRS, MOST_MEGABYTES, OwnText, read_own_text
from app.views.training.run_line import STOPPING
from app.views.training.run_permission import LaunchError, is_allowed
from app.views.training.run_plan import Plan, TextPlan, ToyPlan
from app.views.training.size_options import TOY_SIZE, asked_size, size_of_text, size_options, use_size
from app.views.training.text_sizes import FITS, sizes_for
from transformer.data.language_names import languages_of_columns
from transformer.data.toy_tasks import TOY_TASKS
from transformer.errors import HeadlightError

CORPUS, VALID = "corpus", "validation_text"
_READ = "own_texts_read"  # in the session: what was read of the uploaded files
_OPENED_FOR = "own_text_opened_for"  # in the session: the file that has set the languages and the size in the form
TEXT = "text"
WORDS: dict[str, str] = {
    TEXT: gettext_noop("your own text"),
    "reverse": gettext_noop("letters in reverse order"),
    "copy": gettext_noop("letters copied"),
    "sort": gettext_noop("letters sorted"),
    "numbers": gettext_noop("English number words to German"),
}


def start_window() -> None:
    """Opens the window. After a run was started in it, the page shows that run."""
    st.dialog(_("Train a model"), width="large", on_dismiss=windows.close)(_form)()


def _form() -> None:
    if not is_allowed():
        st.info(
            _(
                "Training from the browser is switched off here. Whoever runs this app can switch it on with "
                "HEADLIGHT_TRAINING=on. On the command line: `python -m transformer train reverse`."
            )
        )
        return
    task = st.segmented_control(
        _("What it should learn"), list(WORDS), default=TEXT, required=True,
        format_func=lambda name: _(WORDS[name]), key="start_task", on_change=_begin_task,
    )  # fmt: skip
    text = _text_options() if task == TEXT else None
    skipped = [text.bad] if text else []
    with st.expander(_("More options")):
        if task == TEXT:
            skipped.append(_further_options())
        size_options(_files().get(st.session_state["start_from"]) if task == TEXT else None)
    ready = task != TEXT or (text is not None and _languages_are_known())
    st.button(label_of_start(*skipped), key="start_run", type="primary", on_click=_start, disabled=not ready)
    windows.show_problem()
    if not windows.opened():
        st.rerun()


def _begin_task() -> None:
    """When another task is chosen: sets the size of a toy task. For a text that is still uploaded, `_text_options` then
    sets what suits it."""
    use_size(TOY_SIZE)
    st.session_state.pop(_OPENED_FOR, None)


def _text_options() -> OwnText | None:
    """Draws file and languages. Returns what is known of the file; None: there is none, or it cannot be trained on."""
    given = st.file_uploader(
        _(
            "Pairs of sentences: a .tsv or .tsv.gz file of at most {size} MB, on each line a sentence, a TAB, its "
            "translation",
            size=MOST_MEGABYTES,
        ),
        type=["tsv", "txt", "gz"],
        max_upload_size=MOST_MEGABYTES,
        key=CORPUS,
    )
    text = _shown(given, FEWEST_PAIRS)
    if given is not None and text is not None and st.session_state.get(_OPENED_FOR) != given.file_id:
        st.session_state[_OPENED_FOR] = given.file_id
        _begin_with(given.name, text)
    with st.container(horizontal=True):
        _language("start_source", _("Translates from"))
        _language("start_target", _("into"))
    if text is not None and not st.session_state.get("start_from"):
        size_of_text(text.facts)
    return text


def _languages_are_known() -> bool:
    return all(st.session_state.get(key) for key in ("start_source", "start_target"))


def _begin_with(name: str, text: OwnText) -> None:
    """Fills the form from an uploaded file: its languages, if its name has them, and the size that suits it."""
    found = languages_of_columns(name)
    if found:
        st.session_state["start_source"], st.session_state["start_target"] = found
    use_size(sizes_for(text.facts)[FITS])


def _language(key: str, label: str) -> None:
    names = all_languages()
    st.selectbox(
        label, list(names), index=None, key=key, accept_new_options=True, placeholder=_("Choose or type a language"),
        format_func=lambda tag: f"{names[tag]} ({tag})" if tag in names else tag,
    )  # fmt: skip


def _shown(given: UploadedFile | None, fewest: int) -> OwnText | None:
    """Draws a line about an uploaded file, and returns what is known of it. None: there is no file, or it cannot be
    trained on."""
    if given is None:
        return None
    try:
        text = _read(given, fewest)
    except HeadlightError as error:
        with st.container(border=True):
            st.text(str(error))
        return None
    source, target = (side if len(side) <= 60 else f"{side[:60]}…" for side in text.first)
    st.text(
        _("{count:,} pairs. The first: {source} → {target}", count=text.pairs, source=source, target=target),
    )
    show_bad_lines(given.name, text.bad)
    return text


def _read(given: UploadedFile, fewest: int) -> OwnText:
    """The file is read once, however often the window is drawn. Raises HeadlightError."""
    kept: dict[str, OwnText | HeadlightError] = st.session_state.setdefault(_READ, {})
    if given.file_id not in kept:
        while len(kept) > 3:  # results of earlier files
            del kept[next(iter(kept))]
        with st.spinner(_("Reading the text …")):
            try:
                kept[given.file_id] = read_own_text(given.name, given.getvalue(), fewest)
            except HeadlightError as error:
                kept[given.file_id] = error
    found = kept[given.file_id]
    if isinstance(found, HeadlightError):
        raise found
    return found


def _further_options() -> BadLines:
    """Draws validation text and first weights. Returns the lines of the validation text that cannot be read."""
    given = st.file_uploader(
        _("Text for validation, of the same kind. Without it, some of the pairs are set aside."),
        type=["tsv", "txt", "gz"],
        max_upload_size=MOST_MEGABYTES,
        key=VALID,
    )
    valid = _shown(given, 1)
    files = _files()
    st.selectbox(
        _("Start with the weights of"), list(files), index=None, key="start_from", placeholder=_("random weights"),
        format_func=lambda name: display_name(files[name]) if name in files else name,
        help=_(
            "The model then has the size of that checkpoint. It keeps its vocabulary if the languages are the same."
        ),
    )  # fmt: skip
    return valid.bad if valid else BadLines()


def _files() -> dict[str, CheckpointFile]:
    return checkpoints() | uploads()


def _start() -> None:
    name = windows.attempt(lambda: launch_run.start(_plan(st.session_state)))
    if name:
        RUN.choose(name)
        st.session_state.pop(STOPPING, None)
        windows.close()


def _plan(state: Any) -> Plan:
    """What the form asks for. Raises HeadlightError, ValidationError."""
    size, task = asked_size(state), str(state["start_task"])
    if task in TOY_TASKS:
        return ToyPlan(task, size)
    file, valid = state.get(CORPUS), state.get(VALID)
    if file is None:
        raise LaunchError(_("Choose a file first: a sentence, a TAB, its translation, one pair per line."))
    source, target = (str(state[key] or "").strip() for key in ("start_source", "start_target"))
    for tag in (source, target):
        if not 0 < len(tag) <= LONGEST or not tag.isprintable() or "/" in tag:
            raise LaunchError(_("Name both languages, in at most {most} characters and without “/”.", most=LONGEST))
    return TextPlan(
        _read(file, FEWEST_PAIRS), source, target, size, _read(valid, 1) if valid else None,
        first_weights(state.get("start_from")),
    )  # fmt: skip


def first_weights(name: str | None) -> CheckpointFile | None:
    """The checkpoint to start with; None: random weights. Raises LaunchError if it was deleted meanwhile."""
    if name is None:
        return None
    if found := _files().get(name):
        return found
    gone = _("The checkpoint “{name}” does not exist any more. Choose other weights to start with.", name=name)
    raise LaunchError(gone)
