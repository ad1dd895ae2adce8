"""The canvas in a Jupyter notebook: how a sentence is translated, in the output of a cell.

    from transformer import Translator
    from app.notebook import Canvas

    translator = Translator.load("pretrained/en-de.safetensors")
    Canvas(translator, "I was looking for my glasses all morning.")
    Canvas(translator, "I was looking for my glasses all morning.").save("glasses.html")  # the same as a file

There is no server and no network: the output is one HTML page in a frame, with all weights of all heads as bytes and
the exact numbers of one head. app/notebook.ipynb shows the canvas, and BertViz with the same arrays.
"""

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from app.components.bundles import style_bundle
from app.components.canvas import Head
from app.components.recording import Drawn
from app.figures.axes import TokenAxis
from app.figures.canvas_message import KindOfAttention, Side, Written, canvas_message, message_id
from app.figures.head_numbers import head_roles
from app.figures.head_sharpness import clearest_head
from app.figures.matrix import matrix_alt
from app.figures.runners_up import runners_up
from app.figures.softmax import softmax
from app.figures.theme import kind_color, role_color
from app.languages import Language, _, speaking
from app.take_home.exact_numbers import ALONE, EXACT, exact_numbers
from app.take_home.packed_pictures import Picture
from app.take_home.picture_page import picture_page
from transformer.analysis.trace import Trace
from transformer.decoding.translator import Translator
from transformer.errors import HeadlightError
from transformer.files.atomic_write import replacing
from transformer.model.attention_kinds import KINDS, SITES, Kind, depth

STATE = {"canvas": "canvas", "received": 0, "shown": 0, "form": "arcs", "formName": "form", "pinned": [-1, -1]}


@dataclass(frozen=True)
class Canvas:
    """A translation of one sentence as a picture. `bertviz` gives the arrays that BertViz draws.

    Attributes:
        kind: the attention that is shown first.
        layer, head: the head that is shown first, both counted from 1. Without them it is the clearest head of all
            layers (for encoder-decoder attention: of all layers but the first).
        height: of the picture, in px.
        language: of its texts, "en", "de" or "fr".

    Raises:
        HeadlightError: there is no such head, or only one of `layer` and `head` was given.
    """

    translator: Translator
    sentence: str
    kind: Kind = "cross"
    layer: int = 0
    head: int = 0
    height: int = 620
    language: Language = "en"

    def __post_init__(self) -> None:
        config = self.translator.model.config
        layers, heads = depth(config, self.kind), config.heads
        if self.layer == self.head == 0 or (1 <= self.layer <= layers and 1 <= self.head <= heads):
            return
        with speaking(self.language):
            raise HeadlightError(
                _(
                    "{kind} has layers 1 to {layers} and heads 1 to {heads}: give both a layer and a head, or neither.",
                    kind=_(KINDS[self.kind]),
                    layers=layers,
                    heads=heads,
                )
            )

    @cached_property
    def trace(self) -> Trace:
        """All attention and the logits of the best translation.

        Raises:
            TranslationError: the sentence cannot be translated.
        """
        return self.translator.trace(self.sentence, ("logits", *(f"*_attention.{name}" for name in (*EXACT, "mask"))))

    def weights(self, kind: Kind) -> np.ndarray:
        """(L, H, Q, K) of one kind of attention."""
        layers = range(depth(self.translator.model.config, kind))
        return np.stack([self.trace[f"{SITES[kind].format(layer)}.weights"] for layer in layers])

    def bertviz(self, kind: Kind = "cross") -> tuple[list[np.ndarray], list[str], list[str]]:
        """What `bertviz.head_view` takes: for each layer (1, H, Q, K), and the tokens of the queries and of the keys.

        A query of the decoder is named after the token that it reads.
        """
        queries, keys = self._tokens(kind)
        return [layer[None] for layer in self.weights(kind)], list(queries), list(keys)

    def to_html(self) -> str:
        """The picture as a whole page, which needs neither a server nor a network.

        Raises:
            TranslationError: the sentence cannot be translated.
        """
        with speaking(self.language):
            return picture_page(self._picture(), self.sentence)

    def save(self, path: str | Path) -> None:
        """Writes the page to a file, completely or not at all. Raises what `to_html` raises, and OSError."""
        with replacing(Path(path)) as temporary:
            temporary.write_text(self.to_html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        with speaking(self.language):
            title = _("How a sentence is translated")
        return f'<iframe title="{title}" srcdoc="{html.escape(self.to_html())}" {self._style}></iframe>'

    @property
    def _style(self) -> str:
        return f'style="width:100%;height:{self.height}px;border:0"'

    def _tokens(self, kind: Kind) -> tuple[Sequence[str], Sequence[str]]:
        source, target = self.trace.source_tokens, self.trace.target_tokens
        return {"cross": (target, source), "encoder": (source, source), "decoder": (target, target)}[kind]

    def _opening(self, kind: Kind) -> Head:
        """The head that is shown first: the clearest one, unless one was given."""
        if kind == self.kind and self.layer:
            return Head(kind, self.layer - 1, self.head - 1)
        return self._clearest(kind)

    def _clearest(self, kind: Kind) -> Head:
        queries, keys = self._tokens(kind)
        names = queries if kind == "encoder" else self.trace.predicts
        weights = self.weights(kind)
        first = int(kind == "cross" and len(weights) > 1)  # see app.stage.heads.clearest_of
        layer, head = clearest_head(weights[first:], tuple(names), tuple(keys))
        return Head(kind, first + layer, head)

    def _picture(self) -> Picture:
        chosen, message = self._opening(self.kind), self._message()
        arrays = {site: array for site, array in self.trace.arrays.items() if site != "logits"}
        state = STATE | ALONE | {"message": message_id(message), "chosen": asdict(chosen)}
        css = style_bundle("canvas")
        drawn = (
            Drawn("canvas", "canvas", "<div class='root'></div>", css, message),
            Drawn("canvas_channel", "channel", "", None, state),
        )
        queries, keys = self._tokens(chosen.kind)
        axes = TokenAxis(_("queries"), "decoder", tuple(queries)), TokenAxis(_("keys"), "encoder", tuple(keys))
        place = {"kind": _(KINDS[chosen.kind]), "layer": chosen.layer + 1, "head": chosen.head + 1}
        name = _("{kind}, layer {layer}, head {head}", **place)
        alt = matrix_alt(self.weights(chosen.kind)[chosen.layer, chosen.head], *axes, name)
        return Picture(drawn, exact_numbers(arrays, chosen), alt)

    def _message(self) -> bytes:
        shown = self.trace
        kinds = {kind: self._of_kind(kind) for kind in KINDS}
        written = Written(
            Side(_("Translation"), shown.predicts),
            shown.target_tokens,
            [float(softmax(row)[id]) for row, id in zip(shown["logits"], shown.predicted_ids, strict=True)],
            runners_up(shown["logits"], shown.predicted_ids, self.translator.tokenizer.token),
        )
        colors = {"encoder": role_color("encoder"), "decoder": role_color("decoder")}
        return canvas_message(Side(_("Source"), shown.source_tokens), written, kinds, colors)

    def _of_kind(self, kind: Kind) -> KindOfAttention:
        head, weights = self._clearest(kind), self.weights(kind)
        masks = np.stack([self.trace[f"{SITES[kind].format(layer)}.mask"] for layer in range(len(weights))])
        return KindOfAttention(
            _(KINDS[kind]),
            _(KINDS[kind].removesuffix("attention").rstrip(" -")),  # those of app/stage/heads.py
            kind_color(kind),
            weights,
            masks,
            (head.layer, head.head),
            _("Shown first: it attends sharply to words, and to different words in different rows."),
            head_roles(weights, tuple(self._tokens(kind)[1]), itself=kind != "cross"),
        )
