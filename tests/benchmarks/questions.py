"""Ten thousand questions about the shipped checkpoints; each answer is computed again by the layers of torch.nn in
float64 (tests/support/recomputed_answers.py).

    python -m tests.benchmarks.questions --questions 10000 --sentences 200
"""

import logging
import random
from collections import Counter
from pathlib import Path
from typing import Any

import typer

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.library.tasks import CAPTIONS, EXAMPLES
from app.questions import KINDS_OF_QUESTIONS, ask
from app.stage.scene import Selection, scene_of
from tests.support.recomputed_answers import Recomputed, in_float64
from transformer.checkpoint.header import read_header
from transformer.config import DecodingConfig
from transformer.data.toy_tasks import toy_pairs

PRETRAINED = Path(__file__).parents[2] / "pretrained"
PARTS = {  # sentences are drawn from these
    "en": (
        ("The dog", "My sister", "An old man", "The teacher", "A woman in a red coat", "Nobody", "</script>"),
        ("saw", "bought", "forgot", "is looking for", "gave me", "cannot find", "has read"),
        ("the book", "a new bicycle", "the dog", "my glasses", "two tickets", "the same letter", "<b>it</b>"),
        ("yesterday.", "in the park.", "because it was late.", "again and again.", "at home?", "near the station."),
    ),
    "de": (
        ("Der Hund", "Meine Schwester", "Ein alter Mann", "Die Lehrerin", "Niemand", "Das Kind", "</script>"),
        ("sah", "kaufte", "vergaß", "sucht", "braucht", "findet", "malt"),
        ("das Buch", "ein neues Fahrrad", "den Hund", "meine Brille", "zwei Karten", "denselben Brief", "<b>es</b>"),
        ("gestern.", "im Park.", "am Abend.", "immer wieder.", "zu Hause?", "in der Nähe des Bahnhofs."),
    ),
}


def sentences(path: Path, count: int, seed: int) -> list[str]:
    """Different sentences of the language or the task of a checkpoint: those of this repository, then drawn ones."""
    draw, recipe = random.Random(seed), read_header(path).recipe
    data: Any = recipe.get("data", {}) if isinstance(recipe, dict) else {}
    if data.get("toy"):
        found = [source for source, _ in toy_pairs(data["toy"], seed, 20 * count)]
    else:
        language = data["source_language"]
        column = ("en", "de").index(language)
        lines = (PRETRAINED / "fifty-sentences.tsv").read_text(encoding="utf-8").splitlines()
        found = [*EXAMPLES[language], *(EXAMPLES[CAPTIONS] if language == "en" else ())]
        found += [line.split("\t")[column] for line in lines]
        drawn = [" ".join(map(draw.choice, PARTS[language])) for _ in range(20 * count)]
        found = [*dict.fromkeys(found)][: count // 2] + drawn
    return list(dict.fromkeys(found))[:count]


def check(path: Path, texts: list[str], each: int, seed: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Asks about each sentence, up to `each` questions of different kinds: how many by kind and mistake, and what was
    wrong."""
    subject, (translator, model) = Subject(CheckpointFile.at(path)), in_float64(path)
    count: Counter[tuple[str, str]] = Counter()
    wrong, kinds = [], list(KINDS_OF_QUESTIONS)
    for i, text in enumerate(texts):
        scene = scene_of(subject, text, DecodingConfig(), Selection())
        again = Recomputed.of(translator, model, scene.translation.source_ids, scene.hypothesis.ids)
        asked = 0
        for kind in kinds[i % len(kinds) :] + kinds[: i % len(kinds)]:
            question = ask(kind, scene, seed=seed + i) if asked < each else None
            if question is None:
                continue
            asked += 1
            mistake = again.mistake(question)
            count[kind, mistake] += 1
            if mistake:
                wrong.append(f"{path.stem}, {text!r}, seed {seed + i}: {mistake}: {question}")
    return count, wrong


def main(questions: int = 10_000, sentences_each: int = typer.Option(200, "--sentences"), seed: int = 1) -> None:
    """Prints, for each checkpoint, how many questions there were of each kind, and every mistake."""
    logging.disable(logging.WARNING)  # Streamlit's, about running without its server
    paths = sorted(PRETRAINED.glob("*.safetensors"))
    each = -(-questions // (len(paths) * sentences_each))
    total: Counter[tuple[str, str]] = Counter()
    for path in paths:
        count, wrong = check(path, sentences(path, sentences_each, seed), each, seed)
        total += count
        counts = ", ".join(
            f"{kind} {sum(n for (k, _), n in count.items() if k == kind)}" for kind in KINDS_OF_QUESTIONS
        )
        print(
            f"{path.stem}: {sum(count.values())} questions ({counts}), {len(wrong)} mistakes",
            *wrong,
            sep="\n",
            flush=True,
        )
    mistakes = {name: sum(n for (_, found), n in total.items() if found == name) for name in ("wrong", "ambiguous")}
    print(f"{sum(total.values())} questions, {sum(n for (_, found), n in total.items() if found)} mistakes: {mistakes}")


if __name__ == "__main__":
    typer.run(main)
