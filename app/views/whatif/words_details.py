"""Below "Change a word": the formulas, what each method needs and leaves out, and all numbers."""

import numpy as np
import streamlit as st

from app.figures.tables import Table
from app.figures.theme import fixed
from app.languages import _
from app.library.source_code import lines_of_definition
from app.views.shared.number_tables import readable
from app.views.shared.triplet import triplet
from app.views.whatif.words_data import NAMES, Words
from transformer.analysis.attribution import STEPS


def details(words: Words) -> None:
    """Draws the formulas, a sentence or two about each method, and the numbers."""
    triplet(
        _("what a word counts"),
        r"f_t(x) - f_t(x_{\setminus w}), \qquad \sum_d x_{sd} \frac{\partial f_t}{\partial x_{sd}}, \qquad "
        r"\sum_d (x - x')_{sd} \int_0^1 \frac{\partial f_t}{\partial x_{sd}}\big(x' + a (x - x')\big)\, da",
        _(
            "$f_t$ is the log-probability of token $t$ of the translation by the original model, after the tokens "
            "before it (teacher forcing); $x$ are the scaled embeddings of the source, $x'$ is 0 for each token but "
            "</s>. The values of a word's tokens are added; </s> is left out."
        ),
        lines_of_definition("analysis/attribution.py", "occlusion"),
        origin="elsewhere",
    )
    st.markdown("\n".join(f"- {sentence}" for sentence in _methods(words)))
    st.dataframe(**readable(dict(table(words))), hide_index=True)


def _methods(words: Words) -> list[str]:
    """What each method needs, and what it leaves out."""
    tokens = len(words.own.ids)
    gap = (
        _(
            "Here a sum is wrong by at most {gap}; the differences are up to {difference}.",
            gap=fixed(words.integrated.gap, 2),
            difference=fixed(float(np.abs(words.integrated.difference).max()), 1),
        )
        if words.integrated
        else ""
    )
    return [
        _(
            "**Occlusion** (Zeiler and Fergus, 2014) is the only one that is an experiment, with {passes} passes. But "
            "a sentence without a word is another sentence, and if two words have the same meaning, leaving out one of "
            "them changes little.",
            passes=len(words.positions) + 1,
        ),
        _(
            "**Gradient × input** (Shrikumar et al., 2016) needs one pass forward and {tokens} back. It is exact only "
            "for very small changes, and leaving a word out is a large one.",
            tokens=tokens,
        ),
        _(
            "**Integrated gradients** (Sundararajan et al., 2017) need {steps} passes forward and, for each, {tokens} "
            "back. They sum to what the whole sentence counts against an empty one, to the error of the integral. "
            "{gap} They depend on what is taken as empty.",
            steps=STEPS,
            tokens=tokens,
            gap=gap,
        ),
        _(
            "**Attention**, the mean over layers and heads of encoder-decoder attention, needs no further pass. It "
            "says which tokens a row attends to, not what it does with them."
        ),
        _(
            "**Rollout** (Abnar and Zuidema, 2020) follows attention through all layers, and assumes that the residual "
            "connection carries half. Both are shares, never below 0, so they cannot show that a word makes a token "
            "less probable."
        ),
    ]


def table(words: Words) -> Table:
    """One row for each pair of a token and a word, one column per method."""
    cells = [(token, word) for token in words.own.tokens for word in words.names]
    return {
        _("token"): [token for token, word in cells],
        _("word"): [word for token, word in cells],
        **{_(NAMES[method]): values.ravel().tolist() for method, values in words.values.items()},
    }
