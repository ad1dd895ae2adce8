"""Section of Training: label smoothing, on one token of the sentence (paper, section 5.4)."""

import math

import streamlit as st

from app.figures.distribution import offers
from app.figures.theme import number
from app.languages import _
from app.languages.numbers import formatted, widget_format
from app.library.catalogue import entry
from app.library.source_code import lines_from
from app.stage.controls import row_of_tokens
from app.stage.scene import Scene
from app.state.choice import Between
from app.state.choices import EPSILON, STEP
from app.views.shared.show_figure import show_figure
from app.views.shared.triplet import triplet
from app.views.training.label_smoothing import loss, smoothed, target_bars, target_table
from transformer.kernels.cross_entropy import LinearCrossEntropy

SHOWN = 6  # tokens


@st.fragment
def loss_section(scene: Scene) -> None:
    """Draws the target distribution of a token of the translation, and what this checkpoint predicts there."""
    st.header(_("Label smoothing: what the loss compares"), anchor=False)
    triplet(
        _("section 5.4; the formula: Szegedy et al. (2016)"),
        r"{q'(k) = (1-\epsilon_{ls})\,[k = y] + \frac{\epsilon_{ls}}{V}} \qquad \allowbreak "
        r"{\mathrm{loss} = -\sum_k q'(k)\log p(k)}",
        _(
            "“During training, we employed label smoothing of value ε_ls = 0.1. This hurts perplexity, as the model "
            "learns to be more unsure, but improves accuracy and BLEU score.” The right token gets 1 − ε, and ε is "
            "spread over all V tokens, the right one included."
        ),
        lines_from(LinearCrossEntropy.forward, "normaliser = ", "loss +="),
    )
    smoothed_target(scene)
    st.caption(
        _(
            "In nats. With smoothing the loss cannot become 0: it is least, the entropy of q′, where p equals q′. So "
            "losses of runs with another ε or another V cannot be compared; the validation loss is without smoothing."
        )
    )


def smoothed_target(scene: Scene) -> None:
    """Draws a choice of ε and a token, the token's target distribution, and the loss of the checkpoint's prediction."""
    vocabulary = scene.config.vocab_size
    EPSILON.open(_usual(scene), Between(0.0, 0.3))
    epsilon = st.slider(
        _("ε, how much is smoothed"),
        0.0,
        0.3,
        step=0.01,
        key=EPSILON.key,
        persist_state="session",
        format=widget_format(),
    )
    step = row_of_tokens(scene.target, STEP, _("The right token"), key="pick_smoothed")
    logits = scene.record("logits")["logits"][step]  # (V)
    gold = scene.hypothesis.ids[step]
    target = smoothed(gold, vocabulary, epsilon)  # (V)
    found = offers(logits, gold, scene.subject.translator.tokenizer.token, count=SHOWN)
    found.sort(key=lambda offer: not offer.chosen)
    text = _(
        "Target distribution of step {step}, V = {vocabulary:,}, ε = {epsilon:g}",
        step=step + 1,
        vocabulary=vocabulary,
        epsilon=epsilon,
    )
    now, plain = loss(target, logits), loss(smoothed(gold, vocabulary, 0.0), logits)
    show_figure(
        target_bars(found, target, text=text, edited=bool(scene.subject.edits)),
        key="smoothing",
        name=text,
        alt=_(
            "{text}. The right token gets {right}, each other token {other}. The model gives it {given}.",
            text=text,
            right=number(float(target[gold])),
            other=number(epsilon / vocabulary),
            given=number(math.exp(-plain)),
        ),
        table=lambda: target_table(found, target),
    )
    least = -sum(q * math.log(q) * n for q, n in ((target[gold], 1), (epsilon / vocabulary, vocabulary - 1)) if q > 0)
    with st.container(horizontal=True, gap="large"):
        st.metric(_("Loss with smoothing"), formatted(now, ".3f"))
        st.metric(_("Without, −log p(right)"), formatted(plain, ".3f"))
        st.metric(_("Least possible with smoothing"), formatted(least, "z.3f"))


def _usual(scene: Scene) -> float:
    """The ε that the checkpoint was trained with, or the paper's."""
    found = entry(scene.subject.file).recipe("training").get("label_smoothing")
    usable = isinstance(found, float) and 0 < found <= 0.3
    return round(found, 2) if usable and isinstance(found, float) else 0.1
