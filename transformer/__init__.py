"""The Transformer of "Attention Is All You Need", written to be read: translate, look inside, train.

Translate a text, or many:

    from transformer import Translator

    translator = Translator.load("pretrained/en-de.safetensors")
    print(translator.translate("Where is the nearest train station?").text)
    for translation in translator.translate(["I am hungry.", "The train is late."], beam=8):
        print(translation.text, translation.sentences[0].hypotheses[0].log_probabilities)

Ask how probable a given translation is, token by token:

    given = translator.score("I am hungry.", "Ich habe Hunger.")
    print(given.score, list(zip(given.tokens, given.log_probabilities)))

Record what the model computes, by the names that `python -m transformer inspect CHECKPOINT` prints:

    traced = translator.trace("Where is the station?", "*.cross_attention.weights")
    traced["decoder.layers.3.cross_attention.weights"]  # a NumPy array, (H, T, S)
    traced.to_frame("*.cross_attention.weights")        # a pandas.DataFrame
    traced.save("station.npz")                          # Trace.load("station.npz") reads it

Train a model by a recipe, whose values can be changed, and translate with it:

    from transformer import load_recipe, train

    recipe = load_recipe("reverse", ["training.updates=500"])
    translator = Translator.load(train(recipe, "runs/reverse"))

Errors that you can correct are `HeadlightError`; their messages say what to do.

README.md in this folder says more. The parts, in the order in which data flow through them:

    text         normalisation, sentences, tokens
    data         corpora and batches
    model        the paper: one file for each idea, and the probe, which records and edits what it computes
    decoding     greedy decoding, beam search, sampling
    checkpoint   one file with weights, vocabulary, settings and scores
    training     the training loop and its parts
    analysis     traces, edits, word alignment, the doctor
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformer.analysis.trace import Trace
    from transformer.decoding.translator import Translator
    from transformer.errors import HeadlightError
    from transformer.recipe import load_recipe
    from transformer.training.trainer import train

__all__ = ["HeadlightError", "Trace", "Translator", "load_recipe", "train"]

_MODULES = {
    "HeadlightError": "transformer.errors",
    "Trace": "transformer.analysis.trace",
    "Translator": "transformer.decoding.translator",
    "load_recipe": "transformer.recipe",
    "train": "transformer.training.trainer",
}


def __getattr__(name: str) -> object:
    """Each name is imported when it is first used, so that `python -m transformer --help` need not load torch."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, also those that are imported later: `help` and completion with the Tab key use them."""
    return sorted({*globals(), *__all__})
