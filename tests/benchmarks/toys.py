"""How well the shipped toy models solve their tasks, and what their heads attend to: the numbers in their model cards.

    python -m tests.benchmarks.toys pretrained/reverse.safetensors

Everything is measured on held-out pairs (a tenth of all sources, told by a hash of their text, is never trained on; see
transformer/data/toy_tasks.py), drawn with a seed that no recipe has.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from pydantic import TypeAdapter

from transformer.analysis.trace import trace
from transformer.config import EOS, DecodingConfig
from transformer.data.data_options import DataConfig
from transformer.data.pair_sources import toy
from transformer.decoding.translator import Translator
from transformer.evaluation import score

Pair = tuple[str, str]
Cells = list[tuple[int, int]]  # (t, s): the row that predicts target token t, the source token it should attend to
FRESH = 170_612  # the day of arXiv:1706.03762v1
TENS = dict(
    zip(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"],
        ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"],
        strict=True,
    )
)


def fresh_pairs(data: DataConfig, count: int) -> list[Pair]:
    """Held-out pairs of a toy task, each source once."""
    drawn = toy(replace(data, valid_size=20 * count), FRESH, epoch=0, held_out=True)
    return list(dict(drawn).items())[:count]


def exact_match(translator: Translator, pairs: Sequence[Pair], settings: DecodingConfig | None = None) -> float:
    """The share of outputs that are right from the first token to the last."""
    outputs = translator.translate_sentences([source for source, _ in pairs], settings)
    return sum(output.text == target for output, (_, target) in zip(outputs, pairs, strict=True)) / len(pairs)


def mirrored(source: list[str], target: list[str]) -> Cells:
    """Of n letters in reverse order, letter t of the target is letter n - 1 - t of the source."""
    return [(t, len(source) - 1 - t) for t in range(len(target))]


def swapped(source: list[str], target: list[str]) -> Cells:
    """ "forty-two" is "zweiundvierzig": units attend after the hyphen, "und" is between, tens attend before it."""
    if "-" not in source or "und" not in target:
        return []
    hyphen, und = source.index("-"), target.index("und")
    assert TENS[source[hyphen - 1].lstrip("▁")] == target[und + 1]
    return [(und - 1, hyphen + 1), (und + 1, hyphen - 1)]


def mass(translator: Translator, pairs: Sequence[Pair], cells: Callable[[list[str], list[str]], Cells]) -> np.ndarray:
    """How much of its attention each cross-attention head puts where it should: the mean over all cells of all pairs,
    (decoder layers, H).

    The pass is teacher-forced with the right target. The weights are those of the row that predicts target token t,
    over the whole source, </s> included; the row that predicts </s> does not count.
    """
    token_of, encode = translator.tokenizer.token, translator.tokenizer.encode
    found = []
    for source, target in pairs:
        ids = encode(source), encode(target)
        wanted = cells([token_of(id) for id in ids[0]], [token_of(id) for id in ids[1]])
        if wanted:
            seen = trace(translator.model, [*ids[0], EOS], [*ids[1], EOS], ["decoder.layers.*.cross_attention.weights"])
            weights = np.stack(list(seen.arrays.values()))  # (L, H, T, S)
            found += [weights[:, :, t, s] for t, s in wanted]
    mean: np.ndarray = np.mean(found, axis=0)  # (L, H)
    return mean


def main(path: str) -> None:
    translator = Translator.load(path)
    assert translator.checkpoint is not None
    assert translator.checkpoint.recipe is not None
    data = TypeAdapter(DataConfig).validate_python(translator.checkpoint.recipe["data"])
    pairs = fresh_pairs(data, 1000)
    print(f"{len(pairs)} fresh held-out pairs, seed {FRESH}")
    for settings in (DecodingConfig(method="greedy"), translator.settings):
        began = time.perf_counter()
        share = exact_match(translator, pairs, settings)
        print(f"exact match, {settings.method} {share:.2%} ({time.perf_counter() - began:.1f} s)")
    outputs = translator.translate_sentences([source for source, _ in pairs])
    for name, value in score([output.text for output in outputs], [[target] for _, target in pairs]).items():
        print(f"{name} {value}")
    wrong = [(s, t, o.text) for (s, t), o in zip(pairs, outputs, strict=True) if o.text != t]
    for source, target, output in wrong[:10]:
        print(f"  {source} -> {output}, not {target}")
    masses = mass(translator, pairs, mirrored if data.toy == "reverse" else swapped)
    layer, head = np.unravel_index(masses.argmax(), masses.shape)
    print(f"mass where it should be, by layer and head:\n{masses.round(3)}")
    print(f"best: layer {layer + 1}, head {head + 1}, {masses.max():.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
