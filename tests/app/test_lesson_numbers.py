"""What the lessons state about en-de is what en-de computes: numbers, and words that it writes.

Each function below computes what one scene states, in the order of the scene. With other weights, a failing test names
the scene, in all its languages, and what has to stand there.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from app.compute.snapshot_results import SEARCH
from app.figures.softmax import softmax
from app.languages import LANGUAGES, Language, speaking
from app.languages.numbers import signs
from app.lessons.lesson_file import sentence_of
from app.library import lessons as library
from app.library.checkpoints import load_snapshot
from app.library.lessons import lessons
from app.library.snapshots import snapshots
from app.views.compare.other_side import SEARCHES
from app.views.scaling.large_scores import growing_products
from app.views.scaling.softmax_message import widths_of
from transformer.analysis.edits import HeadOff, model_edits, parse_edit
from transformer.analysis.trace import Trace, trace
from transformer.config import DecodingConfig
from transformer.decoding.translation import Hypothesis
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import KINDS, depth

PRETRAINED = library.SHIPPED.parents[1] / "pretrained"
GLASSES = "I was looking for my glasses all morning."
WALL = "He painted the wall last weekend."  # greedy and beam search differ
ANIMAL = "The animal didn't cross the street because it was too tired."
LONG, SHORT = "in-45-minutes", "in-ten-minutes"
MINUS = "\N{MINUS SIGN}"
LITTLE = 0.05  # nats


@cache
def translator(name: str = "en-de") -> Translator:
    return Translator.load(PRETRAINED / f"{name}.safetensors")


@cache
def traced() -> Trace:
    found: Trace = translator().trace(GLASSES)
    return found


def edited(*edits: str, name: str = "en-de") -> Translator:
    whole = translator(name)
    return whole.edited(model_edits([parse_edit(each) for each in edits], whole.model))


def best(sentence: str, by: Translator | None = None, settings: DecodingConfig | None = None) -> Hypothesis:
    (translation,) = (by or translator()).translate(sentence, settings).sentences
    return translation.hypotheses[0]


def forced(by: Translator | None = None) -> Hypothesis:
    """The translation of GLASSES by en-de, as another translator reads it."""
    return (by or translator()).score(GLASSES, best(GLASSES).ids[:-1])


def row_of(predicted: str) -> int:
    return next(row for row, token in enumerate(traced().predicts) if predicted in token)


def column_of(word: str) -> int:
    return next(column for column, token in enumerate(traced().source_tokens) if word in token)


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f}%"


def cross(what: str, predicted: str, read: str) -> float:
    """Of head 4.4 of encoder-decoder attention."""
    found = traced()[f"decoder.layers.3.cross_attention.{what}"]
    return float(found[3, row_of(predicted), column_of(read)])


def brille() -> list[str]:
    return ["Brille", percent(cross("weights", "Brille", "glasses"), 1)]


def brille_by_hand() -> list[str]:
    products, scores = cross("products", "Brille", "glasses"), cross("scores", "Brille", "glasses")
    weight = cross("weights", "Brille", "glasses")
    return [f"{weight:.3f}", f"{products:.2f}", f"{scores:.3f}", f"{weight:.3f}"]


def morgen() -> list[str]:
    weights = [cross("weights", "Morgen", read) for read in ("morning", "all")]
    products = [cross("products", "Morgen", read) for read in ("morning", "all")]
    scores = [cross("scores", "Morgen", read) for read in ("morning", "all")]
    numbers = [f"{each:.3f}" for each in (*weights, *scores)] + [f"{each:.2f}" for each in products]
    return [*numbers, f"{weights[0] / weights[1]:.2f}"]


def self_attention(layer: int, head: int, query: str, key: str) -> list[str]:
    weights = traced()[f"encoder.layers.{layer - 1}.self_attention.weights"][head - 1]
    return [percent(float(weights[column_of(query), column_of(key)]))]


def random_vectors() -> list[str]:
    """The largest of 16 weights at the width of the page's slider that is d_k, without the division and with it."""
    d_k = translator().model.config.d_k
    widths = widths_of(d_k)
    products = growing_products(widths)[widths.index(d_k)]
    return [f"{softmax(scores).max():.3f}" for scores in (products, products / math.sqrt(d_k))]


def without_a_head() -> list[str]:
    """What the page's bars say: the passes read the translation of the original model."""
    row = row_of("meine")
    found = [math.exp(forced(by).log_probabilities[row]) for by in (translator(), edited("off=encoder.1.2"))]
    return list(map(percent, found))


def without_a_sublayer() -> str:
    written = translator().tokenizer.decode(best(GLASSES, edited("off=cross.6.all")).ids)
    assert written != translator().tokenizer.decode(best(GLASSES).ids)
    return " ".join(written.rstrip(".").split()[-4:])


def heads_that_cost_little() -> list[str]:
    model, whole = translator().model, sum(forced().log_probabilities)
    every = [
        HeadOff(kind, layer, head)
        for kind in KINDS
        for layer in range(depth(model.config, kind))
        for head in range(model.config.heads)
    ]
    lost = [whole - sum(forced(translator().edited(model_edits([each], model))).log_probabilities) for each in every]
    return [str(len(every)), str(sum(each < LITTLE for each in lost))]


def without_the_mask() -> list[str]:
    """How many tokens the small model without the mask ranks first, how many of how many en-de does without its own
    mask, and the one word that the small model writes by itself, again and again."""
    right = translator().tokenizer.decode(best(GLASSES).ids)
    small, large = (ranked_first(edited("mask=causal", name=name), right) for name in ("family-no-mask", "en-de"))
    assert small[0] == small[1]
    alone = translator("family-no-mask").translate(GLASSES).text.split()
    assert len(set(alone)) == 1
    return [str(small[0]), alone[0], *map(str, large)]


def ranked_first(by: Translator, right: str) -> tuple[int, int]:
    """(tokens of a translation that are ranked first, all of its tokens), teacher-forced."""
    source, target = by.translate(GLASSES).sentences[0].source_ids, by.score(GLASSES, right).ids
    logits = trace(by.model, source, target, ["logits"])["logits"]  # (T, V)
    return int((logits.argmax(-1) == np.array(target)).sum()), len(target)


def swapped_positions() -> list[str]:
    swapped = f"positions=swap.{column_of('I') + 1}.{column_of('glasses') + 1}"
    shifted = sum(forced().log_probabilities) - sum(forced(edited("positions=shift.1")).log_probabilities)
    return [translator().tokenizer.decode(best(GLASSES, edited(swapped)).ids).rstrip("."), f"{abs(shifted):.2f}"]


def feed_forward() -> list[str]:
    activated = traced()["encoder.layers.0.feed_forward.activated"][column_of("looking")]
    return [percent(float((activated > 0).mean()))]


def after_brille() -> list[str]:
    row = traced()["probabilities"][row_of("Brille") + 1]
    first, second = np.argsort(-row)[:2]
    tokens = [translator().tokenizer.token(int(each)).strip("▁") for each in (first, second)]
    return [tokens[0], percent(float(row[first])), tokens[1], percent(float(row[second]), 1)]


def greedy_and_beam() -> list[str]:
    found = [best(WALL, settings=replace(translator().settings, method=method)) for method in ("beam", "greedy")]
    assert "hat das Mauer" in translator().tokenizer.decode(found[1].ids)
    return [f"{MINUS}{-sum(each.log_probabilities):.2f}" for each in found]


def without_animal() -> list[str]:
    return [" ".join(translator().translate(ANIMAL.replace("animal ", "")).text.split()[:2])]


def after_updates() -> list[str]:
    """What two snapshots of the run that the time machine shows write."""
    files = snapshots("en-de-small")
    return [
        load_snapshot(files[update]).translate_sentences([GLASSES], SEARCH)[0].text.rstrip(".")
        for update in (600, 3000)
    ]


STATED: dict[tuple[str, int], Callable[[], list[str]]] = {  # (lesson, scene from 1)
    (LONG, 4): lambda: self_attention(1, 4, "all", "morning"),
    (LONG, 5): lambda: self_attention(2, 4, "my", "glasses"),
    (LONG, 6): brille,
    (LONG, 7): brille_by_hand,
    (LONG, 8): morgen,
    (LONG, 9): random_vectors,
    (LONG, 10): without_a_head,
    (LONG, 11): lambda: [without_a_sublayer(), *heads_that_cost_little()],
    (LONG, 13): without_the_mask,
    (LONG, 16): swapped_positions,
    (LONG, 18): feed_forward,
    (LONG, 19): after_brille,
    (LONG, 21): greedy_and_beam,
    (LONG, 22): without_animal,
    (LONG, 23): after_updates,
    (SHORT, 2): brille,
    (SHORT, 3): brille_by_hand,
    (SHORT, 4): without_a_head,
    (SHORT, 5): lambda: without_the_mask()[:2],
    (SHORT, 8): after_updates,
}


# What the link of a scene chooses, because the scene names it: what a page shows first depends on the weights.
NAMED: dict[tuple[str, int], Callable[[], dict[str, str]]] = {
    (LONG, 2): lambda: {"s": str(column_of("looking") + 1)},
    (LONG, 3): lambda: {"s": str(column_of("looking") + 1)},
    (LONG, 7): lambda: {"t": str(row_of("Brille") + 1)},
    (LONG, 8): lambda: {"t": str(row_of("Morgen") + 1)},
    (LONG, 10): lambda: {"t": str(row_of("meine") + 1), "head": "2"},
    (LONG, 16): lambda: {"edits": f"positions=swap.{column_of('I') + 1}.{column_of('glasses') + 1}"},
    (LONG, 17): lambda: {"s": str(column_of("glasses") + 1)},
    (LONG, 18): lambda: {"s": str(column_of("looking") + 1)},
    (LONG, 19): lambda: {"t": str(row_of("Brille") + 2)},  # the row that reads it
    (SHORT, 4): lambda: {"t": str(row_of("meine") + 1), "head": "2"},
}


@pytest.mark.parametrize(("lesson", "scene"), NAMED)
def test_a_scene_shows_what_its_text_names(lesson: str, scene: int) -> None:
    for spoken in LANGUAGES:
        with speaking(spoken):
            found = lessons()[lesson].lesson
        assert found
        assert NAMED[lesson, scene]().items() <= found.scenes[scene - 1].link.items(), spoken


@pytest.mark.parametrize(("lesson", "scene"), STATED)
def test_a_scene_states_what_the_model_computes(lesson: str, scene: int) -> None:
    computed = STATED[lesson, scene]()
    wrong = {}
    for spoken in LANGUAGES:
        with speaking(spoken):
            found = lessons()[lesson].lesson
        assert found
        shown = found.scenes[scene - 1]
        text = " ".join(f"{shown.title} {shown.text} {shown.notes}".split())
        missing = [each for each in computed if not re.search(pattern(each, spoken), text)]
        if missing:
            wrong[f"{spoken}, line {shown.line}: {shown.title}"] = missing
    assert not wrong


def pattern(computed: str, spoken: Language) -> str:
    """Of a number or of words, as they stand in a text in this language."""
    number = re.fullmatch(rf"({MINUS}?[\d.]+)(%?)", computed)
    if number is None:
        return re.escape(computed)
    digits = re.escape(number[1].replace(".", signs(spoken).get(".", ".")))
    return rf"(?<![\d.,]){digits}(?![.,]?\d)" + (r"\s?%" if number[2] else "")


def test_two_searches_that_a_lesson_compares_find_different_translations() -> None:
    compared = 0
    for listed in lessons().values():
        assert listed.lesson
        scenes = listed.lesson.scenes
        for number, scene in enumerate(scenes):
            if (scene.page, scene.link.get("side")) != ("compare", "search"):
                continue
            other = replace(translator().settings, **SEARCHES[scene.link["compared_search"]][1])
            sentence = scene.sentence or sentence_of(scenes, number)
            assert best(sentence).ids != best(sentence, settings=other).ids, f"{listed.name}: {scene.title}"
            compared += 1
    assert compared >= 3
