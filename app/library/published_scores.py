"""Scores that others have published on test sets on which our models may be measured too, each with its source.

Numbers are compared only where they mean the same: the same text, and BLEU computed the same way. Papers on
Multi30k give BLEU of tokenized text; ours is sacrebleu's of plain text, with its signature, and also that of tokenized
text where it was measured. The WMT numbers of the paper are of tokenized text with German compounds taken apart: about
0.7 more than sacrebleu gives for the same output (fairseq's README of scaling_nmt: 29.3 and 28.6).
"""

from dataclasses import dataclass

from app.languages import gettext_noop


@dataclass(frozen=True)
class Published:
    """One published number. Texts are English here, and translated where they are drawn."""

    system: str
    bleu: float
    source: str


@dataclass(frozen=True)
class TestSet:
    """A text with published scores.

    Attributes:
        languages: codes of source and target.
        file: a part of the name of its file. It is also in `Score.text` of our scores on this text.
        remark: how the published numbers differ from ours.
    """

    __test__ = False  # for pytest: not a class of tests

    title: str
    languages: tuple[str, str]
    file: str
    remark: str
    published: tuple[Published, ...]


_TOKENIZED = gettext_noop(
    "Published: BLEU of tokenized text. sacrebleu of plain text is usually a little lower for the same translations."
)
_REVISIT = gettext_noop("README of LividWo/Revisit-MMT")
_EMNLP = gettext_noop("reported for a paper of EMNLP 2023; not checked against the paper")
_PAPER = gettext_noop("Vaswani et al. 2017, table 2")

TEST_SETS = (
    TestSet(
        gettext_noop("Multi30k, test_2016_flickr"),
        ("en", "de"),
        "test_2016_flickr",
        _TOKENIZED,
        (
            Published(
                gettext_noop("Best system that also sees the image (2023)"),
                42.5,
                _EMNLP,
            ),
            Published(gettext_noop("Transformer-tiny, 4 + 4 layers, d_model 128, text only"), 41.0, _REVISIT),
            Published(
                gettext_noop("A base-sized Transformer, 55 M parameters, overfitting"),
                26.4,
                gettext_noop("README of hyunwoongko/transformer"),
            ),
        ),
    ),
    TestSet(
        gettext_noop("Multi30k, test_2017_flickr"),
        ("en", "de"),
        "test_2017_flickr",
        _TOKENIZED,
        (
            Published(
                gettext_noop("Best system that also sees the image (2023)"),
                36.0,
                _EMNLP,
            ),
        ),
    ),
    TestSet(
        gettext_noop("WMT, newstest2014, English to German"),
        ("en", "de"),
        "newstest2014",
        gettext_noop(
            "Published: BLEU of tokenized text with German compounds split; trained on 4.5 million pairs from news and "
            "parliament. A model of everyday sentences is out of its domain here, so the numbers are not a ranking."
        ),
        (
            Published(gettext_noop("The paper's big model"), 28.4, _PAPER),
            Published(gettext_noop("The paper's base model"), 27.3, _PAPER),
        ),
    ),
    TestSet(
        gettext_noop("WMT, newstest2013, English to German"),
        ("en", "de"),
        "newstest2013",
        gettext_noop("As for newstest2014, the text is from another domain than the training data here."),
        (
            Published(gettext_noop("The paper's big model"), 26.4, gettext_noop("Vaswani et al. 2017, table 3")),
            Published(gettext_noop("The paper's base model"), 25.8, gettext_noop("Vaswani et al. 2017, table 3")),
        ),
    ),
    TestSet(
        gettext_noop("WMT, newstest2014, English to French"),
        ("en", "fr"),
        "newstest2014",
        gettext_noop(
            "Published: BLEU of tokenized text; trained on 36 million pairs. The text is from another domain than the "
            "training data here."
        ),
        (
            Published(gettext_noop("The paper's big model"), 41.8, _PAPER),
            Published(gettext_noop("The paper's base model"), 38.1, _PAPER),
        ),
    ),
)
