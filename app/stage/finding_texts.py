"""The findings of the doctor in the language of the visitor.

The doctor (`transformer.analysis.doctor`) writes English, also for the command line. This file has the form of each of
its sentences. A sentence with one of these forms is written again in the visitor's language, with its values; any
other sentence stays English (test_every_sentence_of_the_doctor_has_its_form).
"""

import functools
import re
from string import Formatter

from app.languages import _, gettext_noop
from app.languages.numbers import localised

FORMS = (
    # titles
    gettext_noop("The decoder ignores the source"),
    gettext_noop("The translation is empty"),
    gettext_noop("The translation was stopped"),
    gettext_noop("The translation is cut off"),
    gettext_noop("The translation repeats itself"),
    gettext_noop("The predictions are uncertain"),
    gettext_noop("Encoder-decoder attention is flat"),
    gettext_noop("Heads that attend almost only to {list}"),
    gettext_noop("Heads with equal rows"),
    gettext_noop("Longer than the training sentences"),
    gettext_noop("Positions that were hardly trained"),
    gettext_noop("The vocabulary has none of the letters of this sentence"),
    gettext_noop("The vocabulary lacks letters of this sentence"),
    gettext_noop("Tokens that hardly occurred in training"),
    gettext_noop("Weights that are not finite"),
    gettext_noop("Weights that are all zero"),
    gettext_noop("Trained without the causal mask"),
    gettext_noop("LayerNorm gains are too large"),
    gettext_noop("Dead feed-forward units"),
    # with numbers
    gettext_noop("With another source of the same length, the predictions change by only {share}."),
    gettext_noop("It has {tokens} token and no text."),
    gettext_noop("It has {tokens} tokens and no text."),
    gettext_noop("After {tokens} tokens: the decoder repeated one token {times} times or more."),
    gettext_noop("The decoder reached the length limit of {tokens} tokens without predicting </s>."),
    gettext_noop("“{repeated}” occurs {times} times in a row, and nothing in the source is repeated as often."),
    gettext_noop("Each step is as uncertain as a choice among {choices} equally probable tokens of {tokens}."),
    gettext_noop(
        "All {heads} heads of encoder-decoder attention attend almost evenly to the whole source: the entropy of their "
        "rows is at least {share} of its maximum."
    ),
    gettext_noop(
        "The only head of encoder-decoder attention attends almost evenly to the whole source: the entropy of its rows "
        "is at least {share} of its maximum."
    ),
    gettext_noop("Head {head} of {kind} attends to {token} with {share} of its weight. The same is true of {list}."),
    gettext_noop("Head {head} of {kind} attends to {token} with {share} of its weight."),
    gettext_noop(
        "Head {head} of {kind} has almost the same row for every query: rows differ from their mean by {share} of "
        "their weight. The same is true of {list}."
    ),
    gettext_noop(
        "Head {head} of {kind} has almost the same row for every query: rows differ from their mean by {share} of "
        "their weight."
    ),
    gettext_noop("Trained on sentences of up to {most} tokens; yours has {tokens}."),
    gettext_noop("Of 1,000 training sentences 999 had at most {most} tokens; yours has {tokens}."),
    gettext_noop(
        "The source has {positions} positions, but nearly all training sentences had at most {most}: the learned "
        "vectors of later positions have hardly changed from their random values."
    ),
    gettext_noop(
        "The translation has {positions} positions, but nearly all training sentences had at most {most}: the learned "
        "vectors of later positions have hardly changed from their random values."
    ),
    gettext_noop("It has no token for {list}: the model reads <unk> instead, the same token for each."),
    gettext_noop(
        "It has no token for {list}: the model reads <unk> instead, the same token for each, of which {never} hardly "
        "occurred in training."
    ),
    gettext_noop(
        "It has no token for {list}: the model reads {bytes} byte instead, of which {never} hardly occurred in "
        "training."
    ),
    gettext_noop(
        "It has no token for {list}: the model reads {bytes} bytes instead, of which {never} hardly occurred in "
        "training."
    ),
    gettext_noop("It has no token for {list}: the model reads {bytes} byte instead."),
    gettext_noop("It has no token for {list}: the model reads {bytes} bytes instead."),
    gettext_noop("{list}: in the vocabulary, but with vectors like those of tokens that do not occur in training."),
    gettext_noop("{broken} of {tensors} tensors have infinities or NaN: {list}."),
    gettext_noop("{zero} of {matrices} matrices are all zero: {list}."),
    gettext_noop(
        "In training each position of the decoder attended to the token that it had to predict (model.causal_training "
        "= false), so it learned to copy it. In decoding that token does not exist yet."
    ),
    gettext_noop(
        "The gain of {name} reaches {gain}; it starts at 1. In {large} of {all} LayerNorms there are gains "
        "above {most}."
    ),
    gettext_noop(
        "{share} of the {units} units of encoder layer {layer} are 0 for every sentence; in {affected} of {all} layers "
        "more than {most} are."
    ),
    gettext_noop(
        "{share} of the {units} units of decoder layer {layer} are 0 for every sentence; in {affected} of {all} layers "
        "more than {most} are."
    ),
    # what to do
    gettext_noop(
        "The model has not learned to translate. Train longer, and check whether encoder-decoder attention is flat."
    ),
    gettext_noop(
        "The model was not trained on such sentences, or ends too early: see the probability of </s> at step 1."
    ),
    gettext_noop("The model was not trained on such sentences. Type another, or train on such sentences."),
    gettext_noop("The model was trained too little, or on other sentences than this."),
    gettext_noop("The decoder attends to its own output. A beam search often avoids this; longer training helps most."),
    gettext_noop(
        "It cannot align. The model was trained too little, or has not learned to use the source: train longer."
    ),
    gettext_noop(
        "Such a head adds about the same vector at every position. A few such heads are normal. If most heads of a "
        "layer are like this, something is wrong."
    ),
    gettext_noop("It does not use its queries: try fewer heads, or train longer."),
    gettext_noop("Words may be left out or repeated towards the end. Split the sentence."),
    gettext_noop("Split the sentence, or train with sinusoidal positions."),
    gettext_noop(
        "The translation of other words may suffer, too. Write it differently, or train on text that has them."
    ),
    gettext_noop("The model has not learned their meaning. Write it differently."),
    gettext_noop(
        "Training has diverged. Take an earlier checkpoint, lower training.peak_rate or set training.clip_norm."
    ),
    gettext_noop("Their output is always 0. The file is wrong, or they never had a gradient."),
    gettext_noop(
        "Its training loss is low and its translations are wrong. Train with the mask for a model that translates."
    ),
    gettext_noop("Training is about to diverge. Lower training.peak_rate, or set training.clip_norm."),
    gettext_noop("They do not recover: train again with a lower training.peak_rate or a longer warm-up."),
)
KINDS_INSIDE = (
    gettext_noop("encoder-decoder attention"),
    gettext_noop("encoder self-attention"),
    gettext_noop("decoder self-attention"),
)
NUMBERS = ("share", "choices", "tokens", "gain", "units", "most")
_MORE = re.compile(r"(?P<words>.+) and (?P<count>\d+) more", re.DOTALL)
_LAST = re.compile(r"(?P<words>.+) and (?P<last>\S+)", re.DOTALL)


def in_words(text: str) -> str:
    """A sentence of the doctor in the visitor's language."""
    form = form_of(text)
    if form is None:
        return text
    found = _pattern(form).fullmatch(text)
    assert found
    return _(form, **{name: _value(name, value) for name, value in found.groupdict().items()})


def form_of(text: str) -> str | None:
    """The form that a sentence has; None: it is not known."""
    return next((form for form in FORMS if _pattern(form).fullmatch(text)), None)


@functools.cache
def _pattern(form: str) -> re.Pattern[str]:
    parts = [(re.escape(text), name) for text, name, *rest in Formatter().parse(form)]
    return re.compile("".join(text + (f"(?P<{name}>.+)" if name else "") for text, name in parts), re.DOTALL)


def _value(name: str, value: str) -> str:
    if name in NUMBERS:
        return localised(value)
    if name == "kind" and value in KINDS_INSIDE:
        return _(value)
    if name == "list" and (more := _MORE.fullmatch(value)):
        return _("{words} and {count} more", words=more["words"], count=more["count"])
    if name == "list" and (last := _LAST.fullmatch(value)):
        return _("{words} and {last}", words=last["words"], last=last["last"])
    return value
