"""A model for Multi30k, English to German, scored twice: on plain text, and as the literature does.

    python -m tests.benchmarks.multi30k pretrained/NAME.safetensors --data FOLDER > pretrained/NAME.scores.jsonl

FOLDER holds test_2016_flickr.tsv.gz and test_2017_flickr.tsv.gz: English, TAB, German. Papers on Multi30k report BLEU
on lower-cased, Moses-tokenized text: they score against the files in data/task1/tok of github.com/multi30k/dataset,
which its scripts/task1-tokenize.sh makes by lowercase.perl, normalize-punctuation.perl -l de, tokenizer.perl -l de.
Here the same is done in Python (sacremoses), to references and outputs alike. It gives the references as many words as
that repository states, and as Wu et al. 2021 print beside their 41.02 ("reflen=12103").

It prints lines as `python -m transformer evaluate --json` does, two per test set; beside the checkpoint, in
NAME.scores.jsonl, the page Models reads them.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import sacremoses
from sacrebleu.metrics.bleu import BLEU

from transformer.data.corpus import read_pairs
from transformer.decoding.translator import Translator
from transformer.evaluation import score

# Test set -> words of its German side, as https://github.com/multi30k/dataset states them.
WORDS = {"test_2016_flickr": 12_103, "test_2017_flickr": 10_758}
HOW = f"lower-cased, normalize-punctuation and tokenizer -l de of Moses (sacremoses {sacremoses.__version__})"


def as_in_the_literature(lines: Sequence[str]) -> list[str]:
    """German lines, lower-cased and tokenized, words separated by a space."""
    punctuation = sacremoses.MosesPunctNormalizer("de")
    tokenizer = sacremoses.MosesTokenizer("de")
    return [tokenizer.tokenize(punctuation.normalize(line.lower()), return_str=True) for line in lines]


def tokenized_bleu(outputs: Sequence[str], references: Sequence[str]) -> dict[str, float | str | int]:
    """BLEU on text tokenized in this way, its signature, and the number of words in the references."""
    cut = as_in_the_literature(references)
    metric = BLEU(tokenize="none", force=True)  # force: no warning that the text is tokenized already
    value = metric.corpus_score(as_in_the_literature(outputs), [cut]).score
    words = sum(len(line.split()) for line in cut)
    return {"bleu": value, "bleu_signature": f"{metric.get_signature()}; {HOW}", "reference_words": words}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--beam", type=int, help="default: the recipe's")
    given = parser.parse_args()
    translator = Translator.load(given.checkpoint)
    settings = replace(translator.settings, n_best=1)
    if given.beam is not None:
        settings = replace(settings, method="beam", beam=given.beam)
    how = {"checkpoint": str(given.checkpoint), "decoding": asdict(settings), "date": date.today().isoformat()}
    for name, words in WORDS.items():
        pairs = read_pairs(given.data / f"{name}.tsv.gz")
        outputs = [output.text for output in translator.translate_sentences([source for source, _ in pairs], settings)]
        references = [target for _, target in pairs]
        plain = score(outputs, [[reference] for reference in references])
        print(json.dumps({"data": f"{name}.tsv.gz", **plain, **how}))
        tokenized = tokenized_bleu(outputs, references)
        if tokenized["reference_words"] != words:
            sys.exit(
                f"Not comparable: the references have {tokenized['reference_words']} words and should have {words}."
            )
        print(json.dumps({"data": f"{name}, tokenized", **tokenized, **how}))


if __name__ == "__main__":
    main()
