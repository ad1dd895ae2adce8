"""How much worse is the translation of a sentence that is not typed as the training text has it?

    python -m tests.benchmarks.typed_otherwise pretrained/en-de.safetensors --data test.tsv.gz

The same sentences are translated as they are, all in capitals, without capitals, without the mark at their end, with
one typo, and two in one line. The references stay the same. It prints BLEU, and how far it is below that of the
sentences as they are. Spelling is corrected, as in the app; in the last row it is not. No time is measured, so other
programs may run.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from transformer.data.augmentation.source_noise import mistyped, without_final_mark
from transformer.data.corpus import Pair, read_pairs
from transformer.decoding.translator import Translator
from transformer.evaluation import group_by_source, score

SEED = 1  # of the typos
Scores = tuple[float, float]  # BLEU of the changed sentences, and of the same sentences as they are


def changes(rng: random.Random) -> Mapping[str, Callable[[str], str]]:
    """The ways to type a sentence, by name."""
    return {
        "all in capitals": str.upper,
        "without capitals": str.lower,
        "without a final mark": without_final_mark,
        "with one typo": lambda sentence: mistyped(sentence, rng),
    }


def measured(translator: Translator, pairs: Sequence[Pair], most: int) -> dict[str, Scores]:
    """The scores by name of the change, on at most so many different sentences."""
    grouped = dict(list(group_by_source(pairs).items())[:most])
    sources, references = list(grouped), list(grouped.values())

    correcting = translator.correcting_spelling()

    def translated(lines: Sequence[str], by: Translator = correcting) -> list[str]:
        return [each.text for each in by.translate(lines)]

    def bleu(written: Sequence[str], right: Sequence[Sequence[str]]) -> float:
        return float(score(written, right)["bleu"])

    plain = translated(sources)
    found = {
        name: (bleu(translated(list(map(change, sources))), references), bleu(plain, references))
        for name, change in changes(random.Random(SEED)).items()
    }
    first = [each[0] for each in references]
    right = [[reference] for reference in in_twos(first)]
    found["two in one line"] = bleu(translated(in_twos(sources)), right), bleu(in_twos(plain), right)
    typos = random.Random(SEED)
    mistyped_sources = [mistyped(source, typos) for source in sources]
    found["with one typo, spelling not corrected"] = (
        bleu(translated(mistyped_sources, translator), references),
        bleu(translated(sources, translator), references),
    )
    return found


def in_twos(lines: Sequence[str]) -> list[str]:
    """Two lines in each; the last one is left out if it is alone."""
    return [f"{one} {other}" for one, other in zip(lines[::2], lines[1::2], strict=False)]


def main(
    checkpoint: Annotated[Path, typer.Argument(help="A translation model.")],
    data: Annotated[Path, typer.Option(metavar="FILE", help="Sentences and their translations.")],
    source_column: Annotated[int, typer.Option(min=1)] = 1,
    target_column: Annotated[int, typer.Option(min=1)] = 2,
    sentences: Annotated[int, typer.Option(min=2, help="How many are translated.")] = 500,
) -> None:
    """Score a model on sentences that are typed otherwise."""
    found = measured(Translator.load(checkpoint), read_pairs(data, source_column, target_column), sentences)
    table = Table("the sentences", "BLEU", "as they are", "difference")
    for name, (changed, plain) in found.items():
        table.add_row(name, f"{changed:.1f}", f"{plain:.1f}", f"{changed - plain:+.1f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
