"""A section of Models: all that is known of each checkpoint, as cards and in one table that can be sorted."""

from collections.abc import Sequence

import streamlit as st

from app.library.catalogue import Entry
from app.state.choices import CHECKPOINT, open_checkpoint
from app.views.models.cards_picture import Scores
from transformer.config import ModelConfig

LICENCES = ("Data", "Licence of the data", "Licence of the weights", "Licence")


def all_checkpoints(listed: Sequence[Entry], scores: Scores) -> None:
    """A card for each checkpoint, and all in one table that can be sorted."""
    if not listed:
        return
    st.header("All checkpoints", anchor=False)
    with st.container(key="cards"):  # see page.css
        for number, one in enumerate(listed):
            card(one, f"card_{number}")
    table = st.expander("All checkpoints in a table", key="all_checkpoints", on_change="rerun")
    if table.open:
        with table:
            st.caption("The title of a column sorts.")
            st.dataframe(
                _table(listed, scores),
                alt="All checkpoints with their sizes and scores",
                hide_index=True,
                placeholder="–",
            )


def card(one: Entry, key: str) -> None:
    """What a checkpoint is, and a button that opens it. Names come from files: text, never markdown."""
    with st.container(border=True, key=key, gap="xsmall"):
        with st.container(key=f"title_{key}"):  # see page.css
            st.text(one.file.name)
        if one.header is None:
            st.caption("This file cannot be opened.")
            st.text(one.problem)
            return
        config = one.header.config
        st.text(f"{one.task.source} → {one.task.target}")
        st.caption(_size(config, one.header.parameters, one.file.size))
        if options := _options(config):
            st.caption(options)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            is_open = CHECKPOINT.value == one.file.name
            st.button(
                "Is open" if is_open else "Open", key=f"open_{key}", on_click=open_checkpoint, args=(one.file.name,),
                disabled=is_open, help="Opens it on the sentence above.",
            )  # fmt: skip
            more = st.popover("More", key=f"more_{key}", on_change="rerun")
            if more.open:
                with more:
                    _more(one)


def _size(config: ModelConfig, parameters: int, size: int) -> str:
    layers = f"N = {config.encoder_layers}"
    if config.encoder_layers != config.decoder_layers:
        layers += f" + {config.decoder_layers}"
    return (
        f"{parameters / 1e6:.2f} M parameters, {layers}, d_model {config.d_model}, d_ff {config.d_ff:,}, "
        f"h\u00a0=\u00a0{config.heads}, {config.vocab_size:,} tokens, {size / 1e6:.1f} MB"
    )


def _options(config: ModelConfig) -> str:
    """How it differs from the paper's model."""
    said = []
    if config.norm != "post":
        said.append(f"{config.norm}-norm")
    if config.positions != "sinusoidal":
        said.append("no positions" if config.positions == "none" else f"{config.positions} positions")
    elif config.sinusoid_layout != "interleaved":
        said.append(f"{config.sinusoid_layout} sinusoids")
    if config.attention_window is not None:
        said.append(f"attention window r = {config.attention_window}")
    if not config.causal_training:
        said.append("trained without the causal mask")
    if config.activation != "relu":
        said.append(config.activation)
    if not config.shared_embeddings:
        said.append("three embeddings")
    return f"Unlike the paper's: {', '.join(said)}." if said else ""


def _more(one: Entry) -> None:
    """Data and licences from the card, all scores with their signatures."""
    for name in LICENCES:
        if name in one.facts:
            st.markdown(f"**{name}**: {one.facts[name]}")
    if one.scores:
        st.caption(
            "All that its files say. Scores on the validation text are of the training: a greedy search on the first "
            "sentences of it."
        )
        st.dataframe(
            {
                "text": [score.text for score in one.scores],
                "measure": [score.measure for score in one.scores],
                "score": [round(score.value, 2) for score in one.scores],
                "search": [score.search for score in one.scores],
                "sentences": [score.sentences or None for score in one.scores],
                "date": [score.date for score in one.scores],
                "signature": [score.signature for score in one.scores],
            },
            alt=f"Scores of {one.file.name}",
            hide_index=True,
        )
    if not one.facts:
        st.caption("It has no card.")


def _table(entries: Sequence[Entry], scores: Scores) -> dict[str, list[object]]:
    known = [(one, one.header) for one in entries if one.header is not None]
    found = [scores.get(one.file.name) for one, _ in known]
    return {
        "checkpoint": [one.file.name for one, _ in known],
        "task": [f"{one.task.source} → {one.task.target}" for one, _ in known],
        "parameters": [header.parameters for _, header in known],
        "N encoder": [header.config.encoder_layers for _, header in known],
        "N decoder": [header.config.decoder_layers for _, header in known],
        "d_model": [header.config.d_model for _, header in known],
        "d_ff": [header.config.d_ff for _, header in known],
        "h": [header.config.heads for _, header in known],
        "norm": [header.config.norm for _, header in known],
        "positions": [header.config.positions for _, header in known],
        "window r": [str(header.config.attention_window or "unlimited") for _, header in known],
        "tokens": [header.config.vocab_size for _, header in known],
        "measure": [score.measure if score else None for score in found],
        "score": [round(score.value, 1) if score else None for score in found],
        "measured on": [score.measured_on if score else None for score in found],
        "MB": [round(one.file.size / 1e6, 1) for one, _ in known],
    }
