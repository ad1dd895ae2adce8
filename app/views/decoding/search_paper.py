"""What the paper and the code say of the search as a whole: who goes on at each step, and when it is over."""

from app.library.source_code import lines_between, lines_from
from app.stage.scene import Scene
from app.views.shared.triplet import shape_text, triplet
from transformer.decoding.beam import Beam
from transformer.decoding.search import rounds


def search_paper(scene: Scene) -> None:
    """Two cards: the choice of a step, and the loop with its end."""
    settings = scene.translation.settings
    if settings.method == "beam" and settings.beam > 1:
        _beam(scene)
        return
    rows = settings.n_best if settings.method == "sampling" else 1
    triplet(
        "greedy decoding" if settings.method != "sampling" else "sampling",
        r"y_t = \arg\max_y\; p(y \mid y_{<t}, x)" if settings.method != "sampling" else r"y_t \sim p(y \mid y_{<t}, x)",
        ("One way" if rows == 1 else f"{rows} ways, each drawn by itself,")
        + " through the tree, without a way back: what is not taken is gone. The candidates beside "
        + (
            "it are shown for comparison; the search never follows them."
            if rows == 1
            else "them are shown for comparison; no way follows another's."
        ),
        lines_from(rounds, "while True:", "tokens = step.tokens"),
        whole=lines_between("decoding/search.py", "rounds"),
        shape="logits: " + shape_text(("B", "W", "V"), (1, rows, scene.config.vocab_size)),
        in_paper=False,
    )


def _beam(scene: Scene) -> None:
    size, pieces = scene.translation.settings.beam, scene.config.vocab_size
    triplet(
        "section 6.1",
        r"H_t = \operatorname{top}_k\,\{\,\log p(h \mid x) + \log p(y \mid h, x) : h \in H_{t-1},\; y \in V\,\}",
        "“We used beam search with a beam size of 4 and length penalty α = 0.6.” At each step every hypothesis of the "
        f"beam is lengthened by every token, and the k best sums go on, here k = {size}. The code compares 2k of them: "
        "up to k may end here.",
        lines_from(Beam.advance, "sums = (self.sums", "self.sums, kept ="),
        whole=lines_between("decoding/beam.py", "Beam.advance"),
        shape="logits: " + shape_text(("W", "V"), (size, pieces)),
    )
    triplet(
        "section 6.1",
        r"\text{over once}\quad s(\text{the worst that is shown}) \geq \max_h\, \frac{\log p(h \mid x)}{lp(l_{max})}",
        "“We set the maximum output length during inference to input length + 50, but terminate early when possible.” "
        "A sum only falls, so what a live hypothesis can still reach is known: its sum now, with the penalty of the "
        "longest output.",
        lines_from(Beam.done, "attainable =", "return"),
        whole=lines_between("decoding/search.py", "rounds"),
        shape="sums: " + shape_text(("B", "W"), (1, size)),
    )
