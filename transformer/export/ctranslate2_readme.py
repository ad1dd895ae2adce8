"""The README.md of an exported model, with code that translates as Headlight does.

Greedy decoding, and beam search with `length_penalty = "none"`, give the same translations in CTranslate2. Otherwise:

- the search of CTranslate2 ends when beam_size * patience hypotheses have ended, ours when no better one is possible;
- its penalty is l^a. The paper's ((5 + l) / 6)^alpha grows like l^(0.75 alpha) at a length l of 15. So CTranslate2
  searches with the power 0.75 alpha, and the code then chooses among all its hypotheses by the paper's penalty.

Measured with the penalties of the included checkpoints: all 150 translations of `fifty-sentences.tsv` by `en-de`,
`de-en` and `en-fr` are the same (test_included_translators_give_the_same_in_ctranslate2). Of 1,000 sentences of their
test text, earlier releases of them translated 1,000, 996 and 1,000 the same. With the first hypothesis of
CTranslate2, instead of the choice by the paper's penalty, it would be 975, 980 and 993. Fewer are the same if the text
is unlike the training text: of `fifty-sentences.tsv`, which are not captions, `multi30k-en-de` translates 45 the same.
"""

from typing import NamedTuple

from transformer.checkpoint.checkpoint_file import Checkpoint
from transformer.config import DecodingConfig

INSTALL = "pip install ctranslate2==4.8.5"
PAPER_POWER = 0.75  # ((5 + l) / 6)^alpha grows like l^(0.75 alpha) at a length l of 15
PATIENCE = 8  # with it, CTranslate2 has missed no better translation

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
tokens = tokenizer.encode(sentences, out_type=str)
found = translator.translate_batch(tokens, {arguments})
print([tokenizer.decode(best(one)) for one in found])
```

What differs from `python -m transformer translate`:

- The input is single sentences with plain quotes and dashes: texts are not split into sentences, and curly quotes, long
  dashes, ellipses, special spaces and invisible characters are not normalised (`transformer/text/normalisation.py`).
- Sentences all in capitals, or without any capital, are not changed to their usual letter case, and no first word to
  lower case (`transformer/text/recasing.py`).
- A search that repeats one token again and again continues to the length limit (`transformer/decoding/repetition.py`).
- A sentence may have {longest} tokens. A translation has at most `max_decoding_length`, however long its source is.
{notes}
"""

FIRST = """\
def best(found):
    return found.hypotheses[0]
"""

BY_THE_PAPER = """\
def best(found):  # which CTranslate2 has divided by l^{power:g}: here by ((5 + l) / 6)^{alpha:g} instead
    lengths = [len(tokens) + 1 for tokens in found.hypotheses]  # </s> counts
    scores = [score * l**{power:g} / ((5 + l) / 6) ** {alpha:g} for score, l in zip(found.scores, lengths)]
    return found.hypotheses[scores.index(max(scores))]
"""


class Advice(NamedTuple):
    """How to search with some settings."""

    arguments: list[str]  # of `translate_batch`
    remarks: list[str]  # on differences
    best: str = FIRST  # code that chooses among the hypotheses of a sentence


def readme(checkpoint: Checkpoint, settings: DecodingConfig, quantization: str) -> str:
    """The README.md: code that translates with these settings, and how its translations differ from ours."""
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
    """The arguments of CTranslate2 for some settings."""
    if settings.method == "sampling":
        arguments = ["beam_size=1", f"sampling_topk={settings.top_k}", f"sampling_topp={settings.top_p:g}"]
        arguments.append(f"sampling_temperature={settings.temperature:g}")
        return Advice(arguments, ["CTranslate2 draws from the same distribution with other random numbers."])
    if settings.method == "greedy" or settings.beam == 1:
        return Advice(["beam_size=1"], [])
    beam = f"beam_size={settings.beam}"
    if settings.length_penalty == "none" or settings.alpha == 0:
        return Advice([beam, "length_penalty=0"], [])
    late = (
        "With a length penalty, the first translations that end are not always the best. Headlight searches as long as "
        "a better one is possible, CTranslate2 until beam_size * patience have ended. Its default patience of 1 is "
        f"faster than {PATIENCE}, and sometimes gives another translation."
    )
    alpha, patience = settings.alpha, f"patience={PATIENCE}"
    if settings.length_penalty == "power":
        return Advice([beam, f"length_penalty={alpha:g}", patience], [late])
    power = PAPER_POWER * alpha
    other = (
        f'The recipe divides by ((5 + l) / 6)^{alpha:g} (length_penalty = "paper"), which CTranslate2 has not. It '
        f"searches with l^{power:g}, which grows as fast at a length l of 15; `best` then chooses by the recipe's."
    )
    arguments = [beam, f"length_penalty={power:g}", patience, f"num_hypotheses={settings.beam}", "return_scores=True"]
    return Advice(arguments, [other, late], BY_THE_PAPER.format(power=power, alpha=alpha))
