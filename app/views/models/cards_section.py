"""A section of Models: all that is known of each checkpoint, as cards and in one table that can be sorted."""

from collections.abc import Sequence

import streamlit as st

from app.languages import _, gettext_noop, pgettext
from app.languages.numbers import formatted
from app.library.catalogue import Entry
from app.library.main_score import search_words, text_words
from app.library.names import short_name
from app.state.choices import CHECKPOINT
from app.state.events import open_checkpoint
from app.views.models.cards_picture import Scores
from app.views.shared.number_tables import readable
from transformer.analysis.inspection import parameters_of
from transformer.config import ModelConfig

PARTS = (  # the names that `parameters_of` gives them, to be translated
    gettext_noop("embeddings and output projection"),
    gettext_noop("learned positions"),
    gettext_noop("encoder layer norms"),
    gettext_noop("encoder self-attention"),
    gettext_noop("encoder feed-forward"),
    gettext_noop("decoder layer norms"),
    gettext_noop("decoder self-attention"),
    gettext_noop("encoder-decoder attention"),
    gettext_noop("decoder feed-forward"),
)
LICENCES = (  # as model cards name them
    gettext_noop("Data"),
    gettext_noop("Licence of the data"),
    gettext_noop("Licence of the weights"),
    gettext_noop("Licence"),
)


def all_checkpoints(listed: Sequence[Entry], scores: Scores) -> None:
    """A card for each checkpoint, and all in one table that can be sorted."""
    if not listed:
        return
    st.header(_("All checkpoints"), anchor=False)
    with st.container(key="cards"):  # see page.css
        for number, one in enumerate(listed):
            card(one, f"card_{number}")
    table = st.expander(_("All checkpoints in a table"), key="all_checkpoints", on_change="rerun")
    if table.open:
        with table:
            st.caption(_("The title of a column sorts."))
            st.dataframe(
                **readable(_table(listed, scores)),
                alt=_("All checkpoints with their sizes and scores"),
                hide_index=True,
                placeholder="–",
            )


def card(one: Entry, key: str) -> None:
    """What a checkpoint is, and a button that opens it. Names come from files, so they are never markdown."""
    with st.container(border=True, key=key, gap="xsmall"):
        with st.container(key=f"title_{key}"):  # see page.css
            st.text(short_name(one.file))
        if one.header is None:
            st.caption(_("This file cannot be opened."))
            st.text(one.problem)
            return
        config = one.header.config
        named = "" if short_name(one.file) == one.file.name else f", {one.file.name}"
        st.text(f"{one.task.source} → {one.task.target}{named}")
        st.caption(_size(config, one.header.parameters, one.file.size))
        if options := _options(config):
            st.caption(options)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            is_open = CHECKPOINT.value == one.file.name
            st.button(
                _("Is open") if is_open else pgettext("a checkpoint", "Open"), key=f"open_{key}",
                on_click=open_checkpoint, args=(one.file.name,), disabled=is_open,
                help=_("Opens it on the sentence above."),
            )  # fmt: skip
            more = st.popover(_("More"), key=f"more_{key}", on_change="rerun")
            if more.open:
                with more:
                    _more(one)


def _size(config: ModelConfig, parameters: int, size: int) -> str:
    layers = f"N = {config.encoder_layers}"
    if config.encoder_layers != config.decoder_layers:
        layers += f" + {config.decoder_layers}"
    return _(
        "{millions:.2f} M parameters, {layers}, d_model {d_model}, d_ff {d_ff:,}, h\u00a0=\u00a0{heads}, {tokens:,} "
        "tokens, {megabytes:.1f} MB",
        millions=parameters / 1e6,
        layers=layers,
        d_model=config.d_model,
        d_ff=config.d_ff,
        heads=config.heads,
        tokens=config.vocab_size,
        megabytes=size / 1e6,
    )


def _options(config: ModelConfig) -> str:
    """How it differs from the paper's model."""
    options = []
    if config.norm != "post":
        options.append(_("pre-norm"))
    if config.positions != "sinusoidal":
        options.append(_("no positions") if config.positions == "none" else _("learned positions"))
    elif config.sinusoid_layout != "interleaved":
        options.append(_("concatenated sinusoids"))
    if config.attention_window is not None:
        options.append(_("attention window r = {window}", window=config.attention_window))
    if not config.causal_training:
        options.append(_("trained without the causal mask"))
    if config.activation != "relu":
        options.append(config.activation)
    if not config.shared_embeddings:
        options.append(_("three embeddings"))
    return _("Unlike the paper's: {options}.", options=", ".join(options)) if options else ""


def _more(one: Entry) -> None:
    """The parameters of each part, data and licences from the card, all scores with their signatures."""
    if one.header is not None:
        _parameters(one.file.name, one.header.config)
    for name in LICENCES:
        if name in one.facts:
            st.markdown(f"**{_(name)}**: {one.facts[name]}")
    if one.scores:
        st.caption(
            _(
                "All scores in its files. Scores on the validation text were measured in training, with greedy "
                "decoding on its first sentences."
            )
        )
        st.dataframe(
            **readable(
                {
                    _("text"): [text_words(score) for score in one.scores],
                    _("measure"): [_(score.measure) for score in one.scores],
                    _("score"): [round(score.value, 2) for score in one.scores],
                    _("search"): [search_words(score) for score in one.scores],
                    _("sentences"): [score.sentences or None for score in one.scores],
                    _("date"): [score.date for score in one.scores],
                    _("signature"): [score.signature for score in one.scores],
                }
            ),
            alt=_("Scores of {name}", name=one.file.name),
            hide_index=True,
        )
    if not one.facts:
        st.caption(_("It has no card."))


def _parameters(name: str, config: ModelConfig) -> None:
    counts = parameters_of(config)
    total = sum(counts.values())
    st.dataframe(
        **readable(
            {
                _("part"): [_(part) for part in counts],
                _("parameters"): list(counts.values()),
                _("share"): [formatted(count / total, ".1%") for count in counts.values()],
            }
        ),
        alt=_("Parameters of {name}, by part", name=name),
        hide_index=True,
    )


def _table(entries: Sequence[Entry], scores: Scores) -> dict[str, list[object]]:
    known = [one for one in entries if one.header is not None]
    headers = [one.header for one in known if one.header is not None]
    found = [scores.get(one.file.name) for one in known]
    return {
        _("checkpoint"): [one.file.name for one in known],
        _("task"): [f"{one.task.source} → {one.task.target}" for one in known],
        _("parameters"): [header.parameters for header in headers],
        _("N encoder"): [header.config.encoder_layers for header in headers],
        _("N decoder"): [header.config.decoder_layers for header in headers],
        "d_model": [header.config.d_model for header in headers],
        "d_ff": [header.config.d_ff for header in headers],
        "h": [header.config.heads for header in headers],
        _("LayerNorm"): [header.config.norm for header in headers],
        _("positions"): [header.config.positions for header in headers],
        _("window r"): [str(header.config.attention_window or _("unlimited")) for header in headers],
        _("tokens"): [header.config.vocab_size for header in headers],
        _("measure"): [_(score.measure) if score else None for score in found],
        _("score"): [round(score.value, 1) if score else None for score in found],
        _("measured on"): [score.measured_on if score else None for score in found],
        "MB": [round(one.file.size / 1e6, 1) for one in known],
    }
