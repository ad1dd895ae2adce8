"""The card of the open checkpoint: what it is, what it learnt from, how good it is."""

from pathlib import Path

import streamlit as st

from app.compute.subject import Subject
from app.languages import _, ngettext
from app.languages.numbers import formatted
from app.library.catalogue import entry
from app.library.header_facts import header_facts
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
    card = None if _is_upload(subject) else subject.file.card
    if card:
        st.markdown(card)
    else:
        with st.container(key="text_header_facts", gap="xsmall"):
            for fact in header_facts(entry(subject.file)):
                st.text(fact)
        st.caption(
            _("This checkpoint has no card. The facts above are from its file.")
            if _is_upload(subject)
            else _(
                "This checkpoint has no card. The facts above are from its file. To write one, put a Markdown file "
                "named {name} beside it.",
                name=Path(subject.file.path).with_suffix(".md").name,
            )
        )
    st.json(
        {
            "architecture": {name: getattr(config, name) for name in config.__dataclass_fields__},
            "recipe": checkpoint.recipe if checkpoint else None,
            "metrics": checkpoint.metrics if checkpoint else {},
        },
        expanded=1,
    )


def _is_upload(subject: Subject) -> bool:
    return subject.file.name in uploads()


def _millions(count: int) -> str:
    return _("{millions:.1f} M", millions=count / 1e6) if count >= 100_000 else formatted(count, ",")
