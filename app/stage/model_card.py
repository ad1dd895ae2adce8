"""The card of the open checkpoint: what it is, what it learnt from, how good it is."""

import streamlit as st

from app.compute.subject import Subject
from app.languages import _, ngettext
from app.languages.numbers import formatted
from app.stage.checkpoint_choice import uploads


def model_card(subject: Subject) -> None:
    """A line about the checkpoint, and a button that opens its card."""
    config = subject.config
    st.caption(
        ngettext(
            "{encoder} + {decoder} layers, {count} head, d_model {width}, {parameters} parameters, "
            "vocabulary of {vocabulary:,} tokens",
            "{encoder} + {decoder} layers, {count} heads, d_model {width}, {parameters} parameters, "
            "vocabulary of {vocabulary:,} tokens",
            config.heads,
            encoder=config.encoder_layers,
            decoder=config.decoder_layers,
            width=config.d_model,
            parameters=_millions(subject.translator.model.parameter_count),
            vocabulary=config.vocab_size,
        )
    )
    if st.button(_("Model card"), key="model_card", icon=":material/description:", type="tertiary"):
        st.dialog(_("Model card"), width="large")(_card)(subject)


def _card(subject: Subject) -> None:
    config, checkpoint = subject.config, subject.translator.checkpoint
    card = subject.file.card if subject.file.name not in uploads() else None
    if card:
        st.markdown(card)
    else:
        st.text(_("This checkpoint has no card. What its file says:"))
    st.json(
        {
            "architecture": {name: getattr(config, name) for name in config.__dataclass_fields__},
            "metrics": checkpoint.metrics if checkpoint else {},
        },
        expanded=not card,
    )


def _millions(count: int) -> str:
    return _("{millions:.1f} M", millions=count / 1e6) if count >= 100_000 else formatted(count, ",")
