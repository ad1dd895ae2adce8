"""The length penalty: the hypotheses that finished, ranked again with another strength, without a new search."""

from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st

from app.library.source_code import lines_between, lines_from
from app.stage.scene import Scene
from app.views.decoding.penalty_chart import (
    letters,
    penalty_alt,
    penalty_curves,
    penalty_lines,
    penalty_table,
    worth_showing,
)
from app.views.shared.placed import placed
from app.views.shared.triplet import shape_text, triplet
from transformer.decoding.finished_search import finished, path_to, rescored
from transformer.decoding.length_penalty import length_penalty

Form = Literal["paper", "power"]
MOST = 8  # hypotheses in the picture
ALPHAS = [i / 20 for i in range(41)]  # 0 to 2
FORMS: dict[Form, str] = {"paper": "((5 + l) / 6)^α, as in Wu et al.", "power": "l^α"}


def penalty_part(scene: Scene) -> None:
    """Both forms of the penalty beside each other, each with its slider."""
    found = scene.translation
    if scene.is_given:
        st.caption("Your own translation was not searched for: these are the hypotheses of the model's search.")
    nodes = list(finished(found.tree))
    if not nodes:
        st.info("No hypothesis finished, so there is nothing to rank.")
        return
    if len(nodes) == 1:
        st.info(
            "This search finished one hypothesis, so there is nothing to rank. "
            "Choose beam search with a beam of 2 or more."
        )
        _paper(1)
        return
    forms = [replace(found.settings, length_penalty=form) for form in FORMS]
    shown = worth_showing([rescored(nodes, form, ALPHAS) for form in forms], MOST)
    everyone, nodes = len(nodes), [nodes[i] for i in shown]
    names = letters(len(nodes))
    decode = scene.subject.translator.tokenizer.decode
    texts = [decode([each.token for each in path_to(found.tree, node.id)]) for node in nodes]
    columns = {}
    for place, form in zip(st.columns(2, gap="large"), FORMS, strict=True):
        with place:
            settings = replace(found.settings, length_penalty=form)
            usual = found.settings.alpha if found.settings.length_penalty == form else 0.6
            alpha = st.slider(
                f"α of {FORMS[form]}", 0.0, 2.0, min(round(usual * 20) / 20, 2.0), 0.05, key=f"alpha_{form}"
            )
            scores = rescored(nodes, settings, ALPHAS)  # (hypotheses, alphas)
            at = min(range(len(ALPHAS)), key=lambda i: abs(ALPHAS[i] - alpha))
            columns[f"{form}, α {ALPHAS[at]:g}"] = scores[:, at]
            title = f"Who wins: {FORMS[form]}"
            placed(
                penalty_lines(scores, ALPHAS, names, at, title=title),
                key=f"penalty_{form}",
                name=title,
                alt=penalty_alt(scores[:, at], names, f"{title}; at α {ALPHAS[at]:g}"),
                table=partial(penalty_curves, scores, ALPHAS, names),
            )
    st.dataframe(
        dict(penalty_table(names, texts, [node.step for node in nodes], [node.sum for node in nodes], columns)),
        alt="The hypotheses that finished, with their lengths, sums and scores",
        column_config={name: st.column_config.NumberColumn(format="%.4f") for name in ("sum", *columns)},
        hide_index=True,
    )
    st.caption(
        f"l counts the tokens with the end sign. Of the {everyone} hypotheses that this search finished, these are all "
        "that win for some α, and the best of the others."
        + (
            " A search with another α may find others: the penalty also decides when it stops."
            if found.settings.method == "beam"
            else ""
        )
    )
    _paper(everyone)


def _paper(hypotheses: int) -> None:
    triplet(
        "section 6.1, which takes it from Wu et al. 2016 (equation 14)",
        r"s(y, x) = \frac{\log p(y \mid x)}{lp(l)} \quad lp(l) = \left(\frac{5 + l}{6}\right)^{\alpha}",
        "A sum of log-probabilities falls with every token, so without a penalty the short hypotheses win. The paper's "
        "α is 0.6.",
        lines_from(length_penalty, 'length_penalty == "paper"', "((5 + length)"),
        whole=lines_between("decoding/length_penalty.py", "length_penalty"),
        shape="scores: " + shape_text(("W",), (hypotheses,)),
    )
