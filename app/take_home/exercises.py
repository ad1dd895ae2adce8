"""Exercises with paper and pencil, computed from the tensors of what was shown, each with its answer.

In "one weight by hand" the query and the keys are cut to three dimensions and rounded, so that a weight can be computed
with a pocket calculator. The answer is the result for these small numbers; it also says what the model computes from
the whole vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from app.figures.axes import TokenAxis, in_words
from app.figures.mask_reasons import combined_mask
from app.figures.shares import Share, decimal_text
from app.figures.softmax import softmax
from app.figures.tables import Table
from app.languages import _, ngettext
from app.languages.numbers import formatted, localised
from app.questions.most_attended import LEAST_MARGIN
from app.questions.question import token_name
from app.stage.heads import opening_head
from app.stage.scene import Scene
from transformer.model.attention_kinds import KINDS, SITES

DIMENSIONS = 3  # of the vectors that are multiplied by hand
MOST_KEYS = 4
MODERATE = 0.6  # a largest weight that leaves something to the other keys
MOST_DIMENSIONS = 24  # of the query that are tried, the largest ones
LARGEST_SCORE = 4.0
ROUNDING = 1e-3  # a larger difference of a weight is not the rounding of float32


@dataclass(frozen=True)
class Exercise:
    """A task, the numbers that it needs, its answer, and the numbers of the answer."""

    title: str
    task: str
    answer: str
    given: Table = field(default_factory=dict)
    solution: Table = field(default_factory=dict)


def exercises(scenes: Sequence[Scene]) -> list[Exercise]:
    """Two for each of the first four different translations, and two on the shapes and the mask of the first one."""
    different = {(scene.subject, scene.translation.source, scene.hypothesis.ids): scene for scene in scenes}
    found: list[Exercise | None] = []
    for scene in list(different.values())[:4]:
        found += [by_hand(scene), most_attended(scene)]
    if scenes:
        found += [shapes(scenes[0]), masked_cells(scenes[0])]
    return [each for each in found if each]


def by_hand(scene: Scene) -> Exercise | None:
    """One row of weights, from a query and keys of three dimensions. None: an edit sets the weights, not q·k."""
    layer, head, weights = _head(scene)
    row = int(np.abs(weights.max(axis=-1) - MODERATE)[: max(len(weights) - 1, 1)].argmin())
    site = SITES["cross"].format(layer)
    found = scene.record(f"{site}.query", f"{site}.key")
    scores = found[f"{site}.key"][head] @ found[f"{site}.query"][head][row] / np.sqrt(scene.config.d_k)  # (S)
    if np.abs(softmax(scores) - weights[row]).max() > ROUNDING:
        return None
    places = sorted(np.argsort(-weights[row])[:MOST_KEYS].tolist())
    query, keys = found[f"{site}.query"][head][row], found[f"{site}.key"][head][places]
    best = clearest_dimensions(query, keys, weights[row][places])
    small, small_keys = np.round(query[best], 1), np.round(keys[:, best], 1)  # (3), (K, 3)
    products = small_keys @ small
    scores = np.round(products / np.sqrt(len(best)), 2)
    powers = np.exp(scores)
    names = [_name(scene.source.tokens, place) for place in places]
    strongest = int(weights[row].argmax())
    token = _predicted(scene, row)
    where = (
        _("The decoder reads a translation whose next token is {token}.", token=token)
        if row in scene.given_steps
        else _("The decoder writes {token}.", token=token)
    )
    task = _(
        "{count} dimensions of its query in layer {layer}, head {head} are q = ({query}). The same dimensions of "
        "{keys} keys are in the table. Compute q·k for each key, divide it by √{count}, and turn the scores into "
        "weights by the softmax.",
        count=len(best),
        layer=layer + 1,
        head=head + 1,
        query="; ".join(_signed(value, 1) for value in small),
        keys=len(places),
    )
    answer = _(
        "In the model the vectors have {dimensions} dimensions, and there are {keys} keys: the weight of {token} is "
        "{weight:.3f}.",
        dimensions=len(query),
        keys=len(scene.source),
        token=token_name(scene.source, strongest),
        weight=Share(weights[row, strongest]),
    )
    return Exercise(
        _("One weight by hand"),
        f"{where} {task}",
        answer,
        {_("key"): names} | {f"k{i + 1}": [_signed(value, 1) for value in small_keys[:, i]] for i in range(len(best))},
        {
            _("key"): names,
            "q·k": [_signed(value, 2) for value in products],
            f"q·k / √{len(best)}": [_signed(value, 2) for value in scores],
            _("e to the score"): [formatted(value, ".3f") for value in powers],
            _("weight"): [decimal_text(value, 3) for value in powers / powers.sum()],
        },
    )


def clearest_dimensions(query: np.ndarray, keys: np.ndarray, weights: np.ndarray) -> list[int]:
    """Three dimensions with small scores, whose weights are nearest to the model's.

    Args:
        query: (E). keys: (K, E). weights: (K), of these keys.
    """
    wide = np.argsort(-np.abs(query))[:MOST_DIMENSIONS]
    among = np.array(list(combinations(wide, min(DIMENSIONS, len(wide)))))  # (N, 3)
    products = np.einsum("nd,knd->nk", np.round(query[among], 1), np.round(keys[:, among], 1))
    scores = products / np.sqrt(among.shape[1])  # (N, K)
    distance = np.abs(softmax(scores) - weights / weights.sum()).sum(axis=-1)  # (N)
    distance += 10 * (np.abs(scores).max(axis=-1) > LARGEST_SCORE)
    return [int(place) for place in among[distance.argmin()]]


def most_attended(scene: Scene) -> Exercise | None:
    """The token with the largest weight in a row; None if it is clear in no row."""
    layer, head, weights = _head(scene)
    ascending = np.sort(weights, axis=-1)
    clear = ascending[:, -1] - (ascending[:, -2] if weights.shape[1] > 1 else 0)
    row = int(clear[:-1].argmax()) if len(clear) > 1 else 0
    if clear[row] < LEAST_MARGIN:
        return None
    best, tokens = int(weights[row].argmax()), [in_words(token) for token in scene.source.tokens]
    place = {"kind": _(KINDS["cross"]), "layer": layer + 1, "head": head + 1}
    named = {"token": _predicted(scene, row), "tokens": ", ".join(tokens)}
    task = (
        _(
            "{kind}, layer {layer}, head {head}. To which source token do you expect the decoder to attend most while "
            "it reads a translation whose next token is {token}? Say why before you look at the picture. The tokens: "
            "{tokens}.",
            **place,
            **named,
        )
        if row in scene.given_steps
        else _(
            "{kind}, layer {layer}, head {head}. To which source token do you expect the decoder to attend most while "
            "it writes {token}? Say why before you look at the picture. The tokens: {tokens}.",
            **place,
            **named,
        )
    )
    return Exercise(
        _("The attended token"),
        task,
        _(
            "{token}, with a weight of {weight:.3f}.",
            token=token_name(scene.source, best),
            weight=Share(weights[row, best]),
        ),
        {_("position"): list(range(1, len(tokens) + 1)), _("token"): tokens},
        {_("token"): tokens, _("weight"): [decimal_text(float(value), 3) for value in weights[row]]},
    )


def shapes(scene: Scene) -> Exercise:
    """The shapes of tensors, from the sizes of the model and of the sentence."""
    sizes = {letter: scene.sizes[letter] for letter in "STDHE"}
    site = SITES["cross"].format(0)
    names = ("query", "key", "weights", "context")
    found = scene.record(*(f"{site}.{name}" for name in names))
    return Exercise(
        _("Shapes"),
        _(
            "The source has S = {S} tokens and the translation T = {T}. The model has d_model = {D} and H = {H} heads. "
            "Which shapes have query, key, weights and context of all heads in a layer of encoder-decoder attention?",
            **sizes,
        ),
        _("Each head has d_k = {D} / {H} = {E} dimensions.", **sizes),
        solution={
            _("tensor"): list(names),
            _("in letters"): ["(H, T, d_k)", "(H, S, d_k)", "(H, T, S)", "(H, T, d_k)"],
            _("in numbers"): [str(found[f"{site}.{name}"].shape) for name in names],
        },
    )


def masked_cells(scene: Scene) -> Exercise | None:
    """How many cells the mask of decoder self-attention removes, counted in the mask of the model. None: it removes
    none, or not what the task says, because it was edited."""
    masks = scene.attention("decoder").masks  # (L, H, T, T)
    mask = masks[0, 0]  # (T, T)
    rows, window = len(mask), scene.config.attention_window
    parts = scene.mask_parts("decoder")
    if mask.all() or np.any(masks != combined_mask(parts)):
        return None
    removed = int((~mask).sum())
    found = formatted(removed, ",")
    return Exercise(
        _("The causal mask"),
        _(
            "In decoder self-attention each of {rows} rows may attend to itself and to earlier tokens. How many of the "
            "{rows} × {rows} cells does the mask remove?",
            rows=rows,
        )
        if window is None
        else ngettext(
            "In decoder self-attention each of {rows} rows may attend to itself and to the token before it. How many "
            "of the {rows} × {rows} cells does the mask remove?",
            "In decoder self-attention each of {rows} rows may attend to itself and to at most {count} tokens before "
            "it. How many of the {rows} × {rows} cells does the mask remove?",
            window,
            rows=rows,
        ),
        f"{found}." + (f" {rows}·({rows} − 1) / 2 = {found}." if removed == rows * (rows - 1) // 2 else ""),
    )


def _head(scene: Scene) -> tuple[int, int, np.ndarray]:
    """(layer, head, weights (T, S)) of the head that is shown first."""
    layer, head = opening_head(scene, "cross")[0]
    return layer, head, scene.attention("cross").weights[layer, head]


def _signed(value: float, digits: int) -> str:
    return localised(f"{value:z.{digits}f}".replace("-", "−"))


def _predicted(scene: Scene, row: int) -> str:
    """The token that a row of the decoder predicts, in quotation marks."""
    return token_name(TokenAxis("", "decoder", scene.target.predicts), row)


def _name(tokens: Sequence[str], place: int) -> str:
    """A token, with its position if it occurs several times."""
    names = [in_words(token) for token in tokens]
    return f"{names[place]} ({place + 1})" if names.count(names[place]) > 1 else names[place]
