"""What the paper and the code say about the search as a whole: which hypotheses are kept at each step, and when the
search ends."""

from app.languages import _
from app.library.source_code import lines_from, lines_of_definition
from app.stage.scene import Scene
from app.views.shared.shapes import shape_text
from app.views.shared.triplet import triplet
from transformer.config import DecodingConfig
from transformer.decoding.beam import Beam
from transformer.decoding.search import rounds

PAPER_ALPHA = 0.6


def search_paper(scene: Scene) -> None:
    """For beam search two cards: the choice at a step, and the end of the search; for other methods one card."""
    settings = scene.translation.settings
    if settings.method == "beam" and settings.beam > 1:
        _beam(scene)
        return
    rows = settings.n_best if settings.method == "sampling" else 1
    if rows == 1:
        text = _(
            "One path through the tree. A candidate that is not taken is not considered again. The candidates beside "
            "it are shown for comparison; the search never follows them."
        )
    else:
        text = _(
            "{count} paths through the tree, each drawn independently. A candidate that a path does not take is not "
            "considered again. The candidates beside each path are shown for comparison; that path never follows them.",
            count=rows,
        )
    triplet(
        _("greedy decoding") if settings.method != "sampling" else _("sampling"),
        r"y_t = \arg\max_y\; p(y \mid y_{<t}, x)" if settings.method != "sampling" else r"y_t \sim p(y \mid y_{<t}, x)",
        text,
        lines_from(rounds, "while True:", "tokens = step.tokens"),
        whole=lines_of_definition("decoding/search.py", "rounds"),
        shape=_("logits: {shape}", shape=shape_text(("B", "W", "V"), (1, rows, scene.config.vocab_size))),
        origin="elsewhere",
    )


def _length_penalty(settings: DecodingConfig) -> list[str]:
    """The sentence about the length penalty of this search, if it is not that of the paper."""
    match settings.length_penalty:
        case "none":
            return [_("Here there is no length penalty.")]
        case "power":
            return [_("Here the length penalty is a power of the length, with α = {alpha:g}.", alpha=settings.alpha)]
        case "paper":
            return [] if settings.alpha == PAPER_ALPHA else [_("Here α = {alpha:g}.", alpha=settings.alpha)]


def _beam(scene: Scene) -> None:
    settings, vocabulary = scene.translation.settings, scene.config.vocab_size
    sentences = [
        _("“We used beam search with a beam size of 4 and length penalty α = 0.6.”"),
        *_length_penalty(settings),
        _(
            "At each step every hypothesis of the beam is extended by every token, and the k best sums are kept, here "
            "k = {beam}. The code takes the 2k best: up to k of them may end at this step, so at least k remain that "
            "go on.",
            beam=settings.beam,
        ),
    ]
    triplet(
        _("section 6.1"),
        r"H_t = \operatorname{top}_k\,\{\,\log p(h \mid x) + \log p(y \mid h, x) : h \in H_{t-1},\; y \in V\,\}",
        " ".join(sentences),
        lines_from(Beam.advance, "sums = (self.sums", "self.sums, kept ="),
        whole=lines_of_definition("decoding/beam.py", "Beam.advance"),
        shape=_("logits: {shape}", shape=shape_text(("W", "V"), (settings.beam, vocabulary))),
    )
    over, worst = _("ends as soon as"), _("the lowest score that is returned")
    triplet(
        _("section 6.1"),
        rf"\text{{{over}}}\quad s(\text{{{worst}}}) \geq \max_h\, \frac{{\log p(h \mid x)}}{{lp(l_{{max}})}}",
        _(
            "“We set the maximum output length during inference to input length + 50, but terminate early when "
            "possible.” A sum only falls, so the highest score that an unfinished hypothesis can still reach is known: "
            "its sum now, with the penalty of the longest output."
        ),
        lines_from(Beam.done, "attainable =", "return"),
        whole=lines_of_definition("decoding/search.py", "rounds"),
        shape=_("sums: {shape}", shape=shape_text(("B", "W"), (1, settings.beam))),
        origin="derived",
    )
