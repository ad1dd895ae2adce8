"""How an exported model is made to translate as ours does: the README.md beside it, with code that is to be copied.

CTranslate2 searches by beams as we do, but ends and ranks by rules of its own. With `length_penalty = "none"`, and in
greedy decoding, they lead to the same; else two things differ:

- when it ends: we go on as long as a better translation can come, CTranslate2 until beam_size * patience have ended;
- the penalty: it knows l^a only. The paper's ((5 + l) / 6)^alpha grows like l^(0.75 alpha) at a length l of 15. So
  CTranslate2 searches with that, and the code then chooses among all that it found by the paper's.

Measured with the penalties that ship: of `fifty-sentences.tsv`, `en-de`, `de-en` and `en-fr` have the same 150
translations there (test_the_translators_that_ship_translate_the_same_there); of 1,000 sentences of their test text,
`en-de` 999, `de-en` 998, `en-fr` 1,000. If CTranslate2 chose: 149; 977, 984, 993. A model far from what it has learnt
finds many that are about equally bad: of `multi30k-en-de`'s fifty, which are no captions, 45 are the same.
"""

from typing import NamedTuple

from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.config import DecodingConfig

INSTALL = "pip install ctranslate2==4.8.5"
PATIENCE = 8  # so late, CTranslate2 has missed no better translation

README = """\
# {name} for CTranslate2

Weights: {quantization}. Code that translates (`{install} sentencepiece`), run in this folder:

```python
import ctranslate2
import sentencepiece

translator = ctranslate2.Translator(".", device="cpu")  # or "cuda"
tokenizer = sentencepiece.SentencePieceProcessor(model_file="tokenizer.model")


{best}

sentences = ["One sentence.", "And another one."]
pieces = tokenizer.encode(sentences, out_type=str)
found = translator.translate_batch(pieces, {arguments})
print([tokenizer.decode(best(one)) for one in found])
```

What differs from `python -m transformer translate`:

- Sentences come one by one, with plain quotes and dashes: texts are not cut into sentences, and curly quotes and long
  dashes are not made plain (`transformer/text/normalisation.py`).
- A sentence may have {longest} pieces. A translation has at most `max_decoding_length`, however long its source is.
{notes}
"""

FIRST = """\
def best(found):
    return found.hypotheses[0]
"""

BY_THE_PAPER = """\
def best(found):  # which CTranslate2 has divided by l^{power:g}: here by ((5 + l) / 6)^{alpha:g} instead
    lengths = [len(pieces) + 1 for pieces in found.hypotheses]  # </s> counts
    scores = [score * l**{power:g} / ((5 + l) / 6) ** {alpha:g} for score, l in zip(found.scores, lengths)]
    return found.hypotheses[scores.index(max(scores))]
"""


class Advice(NamedTuple):
    """How to search as some settings say."""

    arguments: list[str]  # of `translate_batch`
    remarks: list[str]  # on what is not the same there
    best: str = FIRST  # code that chooses among the hypotheses of a sentence


def readme(checkpoint: Checkpoint, settings: DecodingConfig, quantization: str) -> str:
    """Code that translates as `settings` say, and what is not the same there."""
    advised = advice(settings)
    return README.format(
        name=checkpoint.path.name,
        quantization=quantization,
        best=advised.best,
        arguments=", ".join([*advised.arguments, f"max_decoding_length={checkpoint.config.max_positions}"]),
        notes="\n".join(f"- {remark}" for remark in advised.remarks),
        longest=checkpoint.config.max_positions - 1,
        install=INSTALL,
    )


def advice(settings: DecodingConfig) -> Advice:
    """What to tell CTranslate2, so that it translates as `settings` say."""
    if settings.method == "sampling":
        arguments = ["beam_size=1", f"sampling_topk={settings.top_k}", f"sampling_topp={settings.top_p:g}"]
        arguments.append(f"sampling_temperature={settings.temperature:g}")
        return Advice(arguments, ["CTranslate2 draws from the same distribution, with random numbers of its own."])
    if settings.method == "greedy" or settings.beam == 1:
        return Advice(["beam_size=1"], [])
    beam = f"beam_size={settings.beam}"
    if settings.length_penalty == "none" or settings.alpha == 0:
        return Advice([beam, "length_penalty=0"], [])
    late = (
        "With a length penalty, the first translations that end need not be the best. We go on as long as a better one "
        f"can come; CTranslate2 until beam_size * patience have ended. Its default of 1 is faster than {PATIENCE}, and "
        "gives another translation now and then."
    )
    alpha, patience = settings.alpha, f"patience={PATIENCE}"
    if settings.length_penalty == "power":
        return Advice([beam, f"length_penalty={alpha:g}", patience], [late])
    power = 0.75 * alpha
    other = (
        f'The recipe divides by ((5 + l) / 6)^{alpha:g} (length_penalty = "paper"), which CTranslate2 has not. It '
        f"searches with l^{power:g}, which grows as fast at a length l of 15; `best` then chooses by the recipe's."
    )
    arguments = [beam, f"length_penalty={power:g}", patience, f"num_hypotheses={settings.beam}", "return_scores=True"]
    return Advice(arguments, [other, late], BY_THE_PAPER.format(power=power, alpha=alpha))
