"""A translation that the reader trusts, beside the model's: scores of the sentence, and the difference word by word."""

import streamlit as st

from app import components
from app.languages import _, gettext_noop, pgettext
from app.languages.numbers import formatted
from app.library.source_code import lines_from, lines_of_definition
from app.stage.scene import Scene
from app.state.choices import LONGEST_REFERENCE, REFERENCE
from app.views.shared.show_figure import download_and_table
from app.views.shared.text_difference import difference as words_compared
from app.views.shared.text_difference import difference_data, difference_table
from app.views.shared.triplet import triplet
from transformer.evaluation import sentence_score
from transformer.text.normalisation import clean

NAMES = (gettext_noop("reference"), gettext_noop("translation"))


def reference_part(scene: Scene) -> None:
    """Asks for the reference; with one, shows scores of all alternatives and the difference of the shown one."""
    REFERENCE.open()
    typed = st.text_input(
        _("Your reference translation"),
        key=REFERENCE.key,
        persist_state="session",
        max_chars=LONGEST_REFERENCE,
        placeholder=_("Type how you would translate the sentence, and press Enter"),
        autocomplete="off",
    )
    reference = clean(typed or "")
    if reference:
        _compared(scene, reference)
    else:
        st.info(_("Type a translation of your own above: it will be compared with the model's, word by word."))
    _sources()


def _compared(scene: Scene, reference: str) -> None:
    hypotheses = scene.translation.hypotheses
    scores = [sentence_score(hypothesis.text, [reference]) for hypothesis in hypotheses]
    shown = scene.shown
    bleu, chrf = st.columns([1, 1, 3])[:2]
    bleu.metric(_("BLEU of this sentence"), formatted(scores[shown]["bleu"], ".1f"))
    chrf.metric(_("chrF of this sentence"), formatted(scores[shown]["chrf"], ".1f"))
    st.subheader(_("Word by word"), anchor=False)
    text = scene.hypothesis.text
    with st.container(key="picture_difference"):
        components.difference(
            difference_data(reference, text, label=_("The translation beside the reference")),
            key="difference",
        )
    download_and_table(
        key="difference",
        name=pgettext("of two texts", "Difference"),
        table=lambda: difference_table(reference, text, (_(NAMES[0]), _(NAMES[1]))),
        drawn=False,
    )
    if len(scene.listed) > 1:
        st.subheader(_("The alternatives"), anchor=False)
        listed = [(hypotheses[i], scores[i]) for i in scene.listed]
        components.choice_list(
            [
                {
                    "text": other.text or _("(nothing)"),
                    "detail": f"BLEU {formatted(score['bleu'], '.1f')} · chrF {formatted(score['chrf'], '.1f')}",
                }
                for other, score in listed
            ],
            scene.shown_in_list,
            _("Alternative translations"),
            key="alternatives_scored",
            on_choose=lambda place: scene.show(scene.listed[place]),
        )
    st.caption(
        _(
            "0 to 100. BLEU counts shared runs of one to four words, chrF shared runs of one to six characters. Of a "
            "single sentence both are rough; a good translation may share few words with a good reference."
        )
    )
    st.text(f"BLEU {scores[0]['bleu_signature']}\nchrF {scores[0]['chrf_signature']}")


def _sources() -> None:
    """Where the scores and the comparison come from: the paper reports BLEU, and takes it as known."""
    triplet(
        _("BLEU, Papineni et al. (2002); chrF, Popović (2015); both as sacrebleu computes them, Post (2018)"),
        r"\begin{gathered}\mathrm{BLEU} = \min(1,\,e^{1 - r/c})\cdot"
        r"\exp\left(\tfrac{1}{4}\textstyle\sum_{n=1}^{4}\log p_n\right)"
        r"\\[4pt] \mathrm{chrF}_2 = \frac{5\,P\,R}{4P + R}\end{gathered}",
        _(
            "pₙ is the share of the translation's runs of n words that the reference has, r and c are the lengths of "
            "reference and translation in words. P and R are precision and recall of runs of characters, recall "
            "counting twice as much. The paper's Table 2 has the BLEU of a whole test set; for one sentence, runs "
            "longer than the sentence are not counted."
        ),
        lines_from(sentence_score, "for name, metric", "get_signature"),
        whole=lines_of_definition("evaluation.py", "sentence_score"),
        origin="elsewhere",
    )
    triplet(
        _("the difference by words, from Python's difflib (after Ratcliff and Obershelp, 1988)"),
        "",
        _(
            "The longest run of words that both texts share is kept, then the same is done to the left and to the "
            "right of it. What is left over is changed, missing or added."
        ),
        lines_from(words_compared, "matcher =", "found.append"),
        origin="elsewhere",
    )
