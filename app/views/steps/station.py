"""The picture at each station of the walk. Text and vocabulary are drawn here, tensors and attention beside."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from app import components
from app.figures.axes import visible
from app.figures.distribution import Mark, distribution_bars, distribution_table, offers
from app.figures.token_strip import shifted_table, source_strip, source_table, target_strip, target_table
from app.stage.scene import Scene
from app.views.shared.placed import placed
from app.views.shared.search_code import about_probabilities
from app.views.steps.logits import logit_bars
from app.views.steps.station_attention import mask, scores, weights
from app.views.steps.station_tensors import chosen_row, head, hidden, norm, places, stream, total
from app.views.steps.stations import Station


def draw(scene: Scene, here: Station, chosen: int) -> None:
    """The picture of this station; of the chosen head, from 0, where it is of one."""
    at = places()
    pictures: dict[str, Callable[[Scene, Station], None]] = {
        "characters": _characters,
        "pieces": _pieces,
        "shifted": _shifted,
        "stream": partial(stream, at=at),
        "sum": partial(total, at=at),
        "head": partial(head, at=at, chosen=chosen),
        "scores": partial(scores, head=chosen),
        "mask": mask,
        "weights": partial(weights, head=chosen),
        "norm": partial(norm, at=at),
        "hidden": partial(hidden, at=at),
        "logits": _logits,
        "chosen": _chosen,
    }
    with at.first:
        pictures[here.look](scene, here)


def _characters(scene: Scene, here: Station) -> None:
    text = scene.translation.source
    st.text(text)
    found = [
        {"place": i, "character": "(space)" if ch == " " else visible(ch), "code point": f"U+{ord(ch):04X}"}
        for i, ch in enumerate(text)
    ]
    st.caption(f"{len(text)} characters. The tokens refer to these positions, which count from 0.")
    st.dataframe(found, hide_index=True, height=330, alt="Characters of the sentence with place and code point")


def _pieces(scene: Scene, here: Station) -> None:
    pieces = scene.translation.source_pieces
    _strip(source_strip(pieces), "Tokens of the source")
    st.caption(
        "Below each token: its id, and the positions of its characters in the sentence. ▁ marks the start of a word."
    )
    st.dataframe(source_table(pieces, scene.translation.source), hide_index=True, alt="Tokens of the source")


def _strip(chips: dict[str, Any], name: str) -> None:
    with st.container(key="picture_pieces"):
        components.token_strip(chips, key="walk_pieces")
    components.save_picture("picture_pieces", name, key="export_pieces")


def _shifted(scene: Scene, here: Station) -> None:
    table = shifted_table(scene.target.tokens, scene.target.predicts)
    st.dataframe(table, hide_index=True, alt="Rows of the decoder: what each reads and predicts")


def _logits(scene: Scene, here: Station) -> None:
    step, size = chosen_row(scene, here), scene.config.vocab_size
    logits = scene.record("logits")["logits"][step]
    piece = scene.subject.translator.tokenizer.piece
    mark: Mark = "given" if scene.is_given else "chosen"
    found = offers(logits, scene.hypothesis.ids[step], piece, count=12, mark=mark)
    title = f"{here.title}, row {step + 1} of {len(scene.target)}"
    is_logits = here.name == "logits"
    figure = logit_bars(found, title=title) if is_logits else distribution_bars(found, size, title=title)
    alt = f"{title}: the best next tokens; the table has the numbers."
    placed(figure, key="ranking", name=title, alt=alt, table=lambda: distribution_table(found))
    st.caption(f"The most probable of {size:,} tokens. The coloured token was {mark}.")


def _chosen(scene: Scene, here: Station) -> None:
    hypothesis = scene.hypothesis
    probabilities = [float(np.exp(value)) for value in hypothesis.log_probabilities]
    strip = target_strip(hypothesis.pieces, hypothesis.ids, probabilities)
    _strip(strip, "Tokens of the translation")
    did = "was given, and scored" if scene.is_given else "was predicted"
    st.caption(
        f"Each token {did} by the row that reads the one before it; then it is read itself. "
        + about_probabilities(scene.translation.settings, scene.is_given)
    )
    table = target_table(hypothesis.pieces, hypothesis.ids, probabilities)
    digits = {"probability": st.column_config.NumberColumn(format="%.4f")}
    st.dataframe(table, hide_index=True, column_config=digits, alt="The tokens of the translation")
