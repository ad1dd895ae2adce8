"""The controls that all pages share, in the same place on each: checkpoint, model card and decoding settings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from app.compute.limits import MOST_BEAM, bounded
from app.figures.theme import counted
from app.library import checkpoints
from app.library.checkpoints import CheckpointFile
from app.library.snapshots import ladder, place_of, rung, rung_name
from app.library.tasks import task_of
from app.state.session import CHECKPOINT, Opened, follow, forget_beyond, forget_choice, forget_head
from transformer.config import DecodingConfig
from transformer.errors import HeadlightError

RUNG = "rung"  # the update of the snapshot that is open
RECIPE_SAYS = "recipe_says"  # how to search, by the recipe of the checkpoint that was open last


def sidebar() -> Opened | None:
    """Draws the sidebar up to the checkpoint. None: nothing can be opened, and the page has said why."""
    with st.sidebar:
        with st.container(key="brand"):
            st.title("Headlight", anchor=False)
            st.caption("A Transformer that shows its work.")
        files = checkpoints.checkpoints() | uploads() | _rung()
        if files:
            st.selectbox(
                "Checkpoint",
                list(files),
                key=CHECKPOINT,
                bind="query-params",
                on_change=_changed,
                help="Files in the folder of checkpoints, and those you open yourself below.",
            )
            _rung_slider(st.session_state[CHECKPOINT])
        opened = _open(files.get(st.session_state.get(CHECKPOINT, "")))
        if opened:
            _card(opened)
        with st.expander("Open your own checkpoint", expanded=not files):
            _uploader()
    if not files:
        st.info(
            "There is no checkpoint yet. Train one (the recipe `reverse` takes a few minutes), put the `.safetensors` "
            "file into the folder `pretrained`, or open it in the sidebar."
        )
    return opened


def uploads() -> dict[str, CheckpointFile]:
    """What this visitor has opened; nobody else sees it."""
    kept: dict[str, CheckpointFile] = st.session_state.setdefault("uploads", {})
    return kept


def _rung() -> dict[str, CheckpointFile]:
    """The rung of a training run that is chosen, by a button of the page Training or in the address."""
    file = rung(str(st.session_state.get(CHECKPOINT) or st.query_params.get(CHECKPOINT) or ""))
    return {file.name: file} if file else {}


def _rung_slider(name: str) -> None:
    """Up and down the ladder of a training run, on every page; sentence and head stay the same."""
    place = place_of(name)
    updates = list(ladder(place[0])) if place else []
    if place is None or place[1] not in updates or len(updates) < 2:
        return
    st.session_state[RUNG] = place[1]
    st.select_slider(
        "Snapshot after update", updates, format_func="{:,}".format, key=RUNG, on_change=_climb, args=(place[0],)
    )


def _climb(run: str) -> None:
    st.session_state[CHECKPOINT] = rung_name(run, st.session_state[RUNG])
    forget_choice()


def _open(file: CheckpointFile | None) -> Opened | None:
    if file is None:
        return None
    try:
        with st.spinner("Loading the checkpoint …"):
            translator = checkpoints.load(file)
    except (HeadlightError, OSError) as error:
        said = str(error).replace(file.path, file.name) if file.name in uploads() else str(error)
        if file.name in uploads() and not file.is_there:
            said = f"The newest {checkpoints.MOST_UPLOADS} uploads are kept, and yours is older: open it again below."
        st.text(f"This checkpoint cannot be opened. {said}")  # names a file of the visitor: text, never markdown
        return None
    return Opened(file, translator, task_of(translator))


def _card(opened: Opened) -> None:
    config = opened.translator.model.config
    st.text(f"{opened.task.source} → {opened.task.target}")
    st.caption(
        f"{config.encoder_layers} + {config.decoder_layers} layers, {counted(config.heads, 'head')}, "
        f"d_model {config.d_model}, {_millions(opened.translator.model.parameter_count)} parameters, "
        f"{config.vocab_size:,} pieces"
    )
    with st.popover("Model card", width="stretch"):
        card = opened.file.card if opened.file.name not in uploads() else None
        if card:
            st.markdown(card)
        else:
            st.text("This checkpoint has no card. What its file says:")
        st.json(
            {
                "architecture": {name: getattr(config, name) for name in config.__dataclass_fields__},
                "metrics": opened.translator.checkpoint.metrics if opened.translator.checkpoint else {},
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
        st.session_state[CHECKPOINT] = chosen
        _changed()


def upload_problem() -> None:
    """A sentence about the last upload, if it could not be opened."""
    problem = st.session_state.get("upload_problem")
    if problem:
        with st.container(border=True):
            st.text(f"Your file was not opened. {problem}")


def decoding_settings(defaults: DecodingConfig) -> DecodingConfig:
    """Draws the folded decoding settings, `defaults` being those of the checkpoint's recipe; what they say now."""
    defaults = bounded(defaults)
    own = {
        "method": defaults.method,
        "beam": defaults.beam,
        "penalty": defaults.length_penalty,
        "alpha": min(defaults.alpha, 2.0),
    }
    follow(RECIPE_SAYS, own)
    chosen: dict[str, Any] = {"n_best": 1}
    with st.sidebar, st.expander("How to search for the translation"):
        method = st.segmented_control(
            "Method",
            ["beam", "greedy", "sampling"],
            default=own["method"],
            required=True,
            key="method",
            bind="query-params",
            on_change=forget_choice,
        )
        chosen["method"] = method
        if method == "beam":
            chosen |= _beam_settings(own)
        elif method == "sampling":
            chosen |= _sampling_settings()
        else:
            st.caption("At each step the most probable piece.")
    return replace(defaults, **chosen)


def _beam_settings(own: Mapping[str, Any]) -> dict[str, Any]:
    beam = st.slider("Beam size", 1, MOST_BEAM, own["beam"], key="beam", bind="query-params", on_change=forget_choice)
    most = min(beam, 8)
    n_best = 1
    if most > 1:
        forget_beyond("alternatives", 1, most)
        n_best = st.slider(
            "Translations to show",
            1,
            most,
            min(3, most),
            key="alternatives",
            bind="query-params",
            on_change=forget_choice,
        )
    penalty = st.selectbox(
        "Length penalty",
        ["paper", "power", "none"],
        index=["paper", "power", "none"].index(own["penalty"]),
        help="Scores are divided by it, else short translations would win. paper: ((5 + l) / 6)^α. power: l^α.",
        key="penalty",
        bind="query-params",
        on_change=forget_choice,
    )
    alpha = own["alpha"]
    if penalty != "none":
        alpha = st.slider("α", 0.0, 2.0, own["alpha"], 0.1, key="alpha", bind="query-params", on_change=forget_choice)
    return {"beam": beam, "n_best": n_best, "length_penalty": penalty, "alpha": alpha}


def _sampling_settings() -> dict[str, Any]:
    return {
        "temperature": st.slider(
            "Temperature", 0.1, 3.0, 1.0, 0.1, key="temperature", bind="query-params", on_change=forget_choice
        ),
        "top_k": st.number_input(
            "Top k (0 = all pieces)", 0, 1000, 0, key="top_k", bind="query-params", on_change=forget_choice
        ),
        "top_p": st.slider("Top p", 0.05, 1.0, 1.0, 0.05, key="top_p", bind="query-params", on_change=forget_choice),
        "n_best": st.slider("Translations to draw", 1, 8, 3, key="draws", bind="query-params", on_change=forget_choice),
        "seed": st.number_input("Seed", 0, 999_999, 0, key="seed", bind="query-params", on_change=forget_choice),
    }


def _changed() -> None:
    forget_head()
    forget_choice()
