"""The card of the open checkpoint: what it is, what it learnt from, how good it is."""

import streamlit as st

from app.compute.subject import Subject
from app.figures.theme import counted
from app.stage.checkpoint_choice import uploads


def model_card(subject: Subject) -> None:
    """A line about the checkpoint, and a button that opens its card."""
    config = subject.config
    st.caption(
        f"{config.encoder_layers} + {config.decoder_layers} layers, {counted(config.heads, 'head')}, "
        f"d_model {config.d_model}, {_millions(subject.translator.model.parameter_count)} parameters, "
        f"vocabulary of {config.vocab_size:,} tokens"
    )
    if st.button("Model card", key="model_card", icon=":material/description:", type="tertiary"):
        _card(subject)


@st.dialog("Model card", width="large")
def _card(subject: Subject) -> None:
    config, checkpoint = subject.config, subject.translator.checkpoint
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
