"""The length penalty: the hypotheses that finished, ranked again with another strength, without a new search."""

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import streamlit as st

from app.languages import _, gettext_noop
from app.languages.numbers import formatted, widget_format
from app.library.source_code import lines_from, lines_of_definition
from app.stage.scene import Scene
from app.state.choice import Between, Choice
from app.state.detail_choices import PAPER_ALPHA, POWER_ALPHA
from app.state.given_translation import is_of_search
from app.views.decoding.penalty_chart import (
    letters,
    penalty_alt,
    penalty_curves,
    penalty_lines,
    penalty_table,
    worth_showing,
)
from app.views.shared.number_tables import readable
from app.views.shared.shapes import shape_text
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from transformer.decoding.finished_search import finished, path_to, rescored
from transformer.decoding.length_penalty import length_penalty
from transformer.decoding.translation import SearchNode

Form = Literal["paper", "power"]
MOST = 8  # hypotheses in the picture
ALPHAS = [i / 20 for i in range(41)]  # 0 to 2
FORMS: dict[Form, str] = {"paper": gettext_noop("((5 + l) / 6)^α, as in Wu et al."), "power": gettext_noop("l^α")}
CHOSEN: dict[Form, Choice[float]] = {"paper": PAPER_ALPHA, "power": POWER_ALPHA}
NAMES: dict[Form, str] = {"paper": gettext_noop("paper"), "power": gettext_noop("power")}


def penalty_part(scene: Scene) -> None:
    """Both forms of the penalty beside each other, each with its slider."""
    found = scene.translation
    if scene.is_given and not is_of_search():
        st.caption(_("Your own translation was not searched for: these are the hypotheses of the model's search."))
    nodes = list(finished(found.tree))
    if not nodes:
        st.info(_("No hypothesis finished, so there is nothing to rank."))
        return
    if len(nodes) == 1:
        sentences = [_("This search finished one hypothesis, so there is nothing to rank.")]
        if found.settings.method != "beam" or found.settings.beam == 1:
            sentences.append(_("Choose beam search with a beam of 2 or more."))
        st.info(" ".join(sentences))
        _paper(1)
        return
    everyone, nodes = len(nodes), _shown(scene)
    names = letters(len(nodes))
    decode = scene.subject.translator.tokenizer.decode
    texts = [decode([each.token_id for each in path_to(found.tree, node.id)]) for node in nodes]
    columns = penalty_charts(scene)
    table = penalty_table(names, texts, [node.step for node in nodes], [node.sum for node in nodes], columns)
    digits = dict.fromkeys((_("sum"), *columns), 4)
    st.dataframe(
        **readable(dict(table), digits),
        alt=_("The hypotheses that finished, with their lengths, sums and scores"),
        hide_index=True,
    )
    caption = _(
        "l is the number of tokens, the end token included. Of the {count} hypotheses that this search finished, "
        "these are all that have the highest score for some α, and the best of the others.",
        count=everyone,
    )
    if found.settings.method == "beam":
        caption += " " + _("A search with another α may find others: the penalty also decides when it stops.")
    st.caption(caption)
    _paper(everyone)


def penalty_charts(scene: Scene) -> dict[str, np.ndarray]:
    """Draws both forms of the penalty, each with its slider and the places over α. Returns the scores (hypotheses) at
    the chosen α of each form. The search must have finished two hypotheses or more."""
    found, nodes, columns = scene.translation, _shown(scene), {}
    names = letters(len(nodes))
    for place, form in zip(st.columns(2, gap="large"), FORMS, strict=True):
        with place:
            settings = replace(found.settings, length_penalty=form)
            usual = found.settings.alpha if found.settings.length_penalty == form else 0.6
            alpha = CHOSEN[form].open(min(round(usual * 20) / 20, 2.0), Between(0.0, 2.0))
            st.slider(
                _("α of {form}", form=_(FORMS[form])),
                0.0,
                2.0,
                step=0.05,
                key=CHOSEN[form].key,
                persist_state="session",
                format=widget_format(),
            )
            scores = rescored(nodes, settings, ALPHAS)  # (hypotheses, alphas)
            at = min(range(len(ALPHAS)), key=lambda i: abs(ALPHAS[i] - alpha))
            columns[f"{_(NAMES[form])}, α {formatted(ALPHAS[at], 'g')}"] = scores[:, at]
            title = _("Rank of each translation: {form}", form=_(FORMS[form]))
            show_figure(
                penalty_lines(scores, ALPHAS, names, at, title=title),
                key=f"penalty_{form}",
                name=title,
                alt=penalty_alt(scores[:, at], names, _("{title}; at α {alpha:g}", title=title, alpha=ALPHAS[at])),
                table=partial(penalty_curves, scores, ALPHAS, names),
            )
    return columns


def _shown(scene: Scene) -> list[SearchNode]:
    """The finished hypotheses that are worth showing."""
    found = scene.translation
    nodes = list(finished(found.tree))
    forms = [replace(found.settings, length_penalty=form) for form in FORMS]
    return [nodes[i] for i in worth_showing([rescored(nodes, form, ALPHAS) for form in forms], MOST)]


def _paper(hypotheses: int) -> None:
    triplet(
        _("section 6.1, which takes it from Wu et al. 2016 (equation 14)"),
        r"s(y, x) = \frac{\log p(y \mid x)}{lp(l)} \quad lp(l) = \left(\frac{5 + l}{6}\right)^{\alpha}",
        _(
            "A sum of log-probabilities falls with every token, so without a penalty the short hypotheses win. The "
            "paper's α is 0.6."
        ),
        lines_from(length_penalty, 'length_penalty == "paper"', "((5 + length)"),
        whole=lines_of_definition("decoding/length_penalty.py", "length_penalty"),
        shape=_("scores: {shape}", shape=shape_text(("W",), (hypotheses,))),
    )
