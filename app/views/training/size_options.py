"""The part of the window of Training that asks how large the model is and how long it is trained."""

from typing import Any, get_args

import streamlit as st

from app.languages import _
from app.library.catalogue import entry
from app.library.checkpoints import CheckpointFile
from app.views.training.run_plan import FEWEST_UPDATES, MOST_LAYERS, MOST_UPDATES, Heads, Size, Width
from app.views.training.run_words import about
from app.views.training.text_sizes import NAMES, expected_seconds, sizes_for
from transformer.data.corpus_facts import CorpusFacts

TOY_SIZE = Size(1200, 2, 1, 4, 128)
KEYS = {
    "start_updates": "updates",
    "start_encoder": "encoder_layers",
    "start_decoder": "decoder_layers",
    "start_heads": "heads",
    "start_width": "width",
}
PRESET = "start_preset"


def use_size(size: Size) -> None:
    """Puts this size into the controls. It is called before they are drawn."""
    for key, name in KEYS.items():
        st.session_state[key] = getattr(size, name)


def asked_size(state: Any) -> Size:
    """The size that is set in the controls. Raises ValidationError."""
    return Size(**{name: state.get(key, getattr(TOY_SIZE, name)) for key, name in KEYS.items()})


def size_of_text(facts: CorpusFacts) -> None:
    """Draws a choice of a size that suits the text, a smaller or a larger one, and how long the training takes here."""
    sizes = sizes_for(facts)
    size = asked_size(st.session_state)
    st.session_state[PRESET] = next((name for name in sizes if sizes[name] == size), None)
    st.segmented_control(
        _("Size of the model"), list(sizes), format_func=lambda name: _(NAMES[name]), key=PRESET, on_change=_take,
        args=(sizes,),
    )  # fmt: skip
    with st.spinner(_("Measuring how fast this machine trains it …")):
        time = about(expected_seconds(facts, size))
    st.caption(
        _(
            "{encoder} + {decoder} layers, d_model {width}, {updates:,} updates: {time} on this machine, by timing a "
            "few updates of such a model. It ends earlier if it no longer improves.",
            encoder=size.encoder_layers,
            decoder=size.decoder_layers,
            width=size.width,
            updates=size.updates,
            time=time,
        )
    )


def _take(sizes: dict[str, Size]) -> None:
    chosen = st.session_state[PRESET]
    if chosen:
        use_size(sizes[chosen])


def size_options(start_from: CheckpointFile | None) -> None:
    """Draws a control for each number of the size. If the run starts from a checkpoint, only the updates have one."""
    for key, name in KEYS.items():
        st.session_state.setdefault(key, getattr(TOY_SIZE, name))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(_("Updates"), FEWEST_UPDATES, MOST_UPDATES, step=50, key="start_updates", width=140)
        if start_from is None:
            st.number_input(_("Encoder layers"), 1, MOST_LAYERS, key="start_encoder", width=140)
            st.number_input(_("Decoder layers"), 1, MOST_LAYERS, key="start_decoder", width=140)
            st.segmented_control(_("Heads"), list(get_args(Heads)), required=True, key="start_heads")
            st.segmented_control("d_model", list(get_args(Width)), required=True, key="start_width")
    if start_from is not None:
        _size_of_checkpoint(start_from)
    st.caption(
        _(
            "It runs as a process of its own, also when this page is closed, one run at a time; its folder is in "
            "the folder of runs. `reverse` without changes takes two to three minutes on two processor cores."
        )
    )


def _size_of_checkpoint(start_from: CheckpointFile) -> None:
    """Draws the size of the model, which is that of the checkpoint, in place of the controls."""
    for key in KEYS.keys() - {"start_updates"}:
        st.session_state[key] = st.session_state[key]  # Streamlit forgets the value of a widget that is not drawn
    found = entry(start_from)
    if found.header is None:
        st.text(found.problem)
        return
    config = found.header.config
    st.text(
        _(
            "The model has the size of the checkpoint: {encoder} + {decoder} layers, heads: {heads}, d_model {width}.",
            encoder=config.encoder_layers,
            decoder=config.decoder_layers,
            heads=config.heads,
            width=config.d_model,
        )
    )
