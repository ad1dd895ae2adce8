"""Which shape has this tensor, with the S, T, H, E, D, F and V of this sentence and this checkpoint?

Margin: 1. The shapes among the answers are different as tuples of numbers, whatever their letters.
"""

import re
from random import Random

from app.languages import _, gettext_noop
from app.languages.numbers import formatted
from app.questions.question import MOST_ANSWERS, Place, Question
from app.stage.scene import Scene
from transformer.model import census

Letters = tuple[str, ...]

WORDS = {  # names of tensors, by the end of their sites
    "embedding.output": gettext_noop("vectors that enter the layers"),
    "attention.query": gettext_noop("queries of all heads"),
    "attention.key": gettext_noop("keys of all heads"),
    "attention.value": gettext_noop("values of all heads"),
    "attention.scores": gettext_noop("scores of all heads"),
    "attention.weights": gettext_noop("attention weights of all heads"),
    "attention.context": gettext_noop("weighted sums of the values, of all heads"),
    "attention.output": gettext_noop("output of the attention"),
    "feed_forward.activated": gettext_noop("activations of the feed-forward network"),
    "feed_forward.output": gettext_noop("output of the feed-forward network"),
    "feed_forward.residual_sum": gettext_noop("output of the layer"),  # pre-norm
    "feed_forward.norm_out": gettext_noop("output of the layer"),  # post-norm
    "logits": gettext_noop("logits"),
}
MEANINGS = {
    "S": gettext_noop("source tokens"),
    "T": gettext_noop("target tokens"),
    "H": gettext_noop("heads"),
    "E": gettext_noop("numbers per head"),
    "D": gettext_noop("numbers per token"),
    "F": gettext_noop("hidden units"),
    "V": gettext_noop("tokens in the vocabulary"),
}
POOL = ("SD", "TD", "SF", "TF", "SV", "TV", "SS", "TS", "TT", "SE", "TE", "HSE", "HTE", "HSS", "HTT", "HTS", "HST",
        "HSD", "HTD", "SHE", "DS", "DT", "DF", "VD", "DD")  # fmt: skip


def tensor_shape(scene: Scene, place: Place, draw: Random) -> Question | None:
    """A question about the tensor `place.site` if it is one of `WORDS`, else about any of them."""
    letters = census(scene.config)
    not_output = "feed_forward.norm_out" if scene.config.norm == "pre" else "feed_forward.residual_sum"
    sites = [site for site in letters if _words(site) and not site.endswith(not_output)]
    site = place.site if place.site in sites else draw.choice(sites)
    shape = tuple(scene.record(site)[site].shape)
    right = letters[site][1:]  # without B
    sizes = scene.sizes
    found = {shape: right}
    alike = sorted(POOL, key=lambda other: (_distance(right, tuple(other)), draw.random()))
    for other in map(tuple, alike):
        found.setdefault(tuple(sizes[letter] for letter in other), other)
        if len(found) == MOST_ANSWERS:
            break
    answers = sorted(found.items(), key=lambda item: (len(item[0]), item[0]))
    meaning = ", ".join(
        f"{letter} = {formatted(sizes[letter], ',')} {_(MEANINGS[letter])}" for letter in dict.fromkeys(right)
    )
    return Question(
        "shape",
        _asked(site),
        tuple(_written(letters, numbers) for numbers, letters in answers),
        list(dict(answers)).index(shape),
        _("The shape is {shape}: {meaning}.", shape=_written(right, shape), meaning=meaning),
        1.0,
        Place("steps", site=site),
    )


def _words(site: str) -> str:
    return next((words for end, words in WORDS.items() if site.endswith(end)), "")


def _asked(site: str) -> str:
    """The question, with the place of the tensor in words."""
    tensor = _(_words(site))
    found = re.fullmatch(r"(\w+)\.layers\.(\d+)\.(\w+)\.\w+", site)
    if not found:
        match site.partition(".")[0]:
            case "encoder":
                return _("What is the shape of the {tensor} of the encoder?", tensor=tensor)
            case "decoder":
                return _("What is the shape of the {tensor} of the decoder?", tensor=tensor)
        return _("What is the shape of the {tensor} of the translation?", tensor=tensor)
    stack, layer, part = found.groups()
    attention = {"self_attention": _("self-attention"), "cross_attention": _("encoder-decoder attention")}.get(part)
    in_layer = _("encoder, layer {layer}") if stack == "encoder" else _("decoder, layer {layer}")
    place = ", ".join(filter(None, (in_layer.format(layer=int(layer) + 1), attention)))
    return _("What is the shape of the {tensor} ({place})?", tensor=tensor, place=place)


def _distance(one: Letters, other: Letters) -> tuple[int, int]:
    """How different two shapes look: in the number of axes, then in the letters."""
    return abs(len(one) - len(other)), sum(a != b for a, b in zip(one, other, strict=False))


def _written(letters: Letters, numbers: tuple[int, ...]) -> str:
    """For example "H × T × S = 4 × 12 × 9"."""
    return f"{' × '.join(letters)} = {' × '.join(formatted(number, ',') for number in numbers)}"
