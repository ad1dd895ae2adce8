"""The words that a reader may not know, with their explanations: the same ones on every page."""

from typing import NamedTuple

from app.languages import _, gettext_noop


class Word(NamedTuple):
    """A word to be explained: the forms in which it is written, the first of which names it, and its explanation."""

    forms: tuple[str, ...]
    explanation: str


# Forms, separated by "; ", and the explanation.
_WORDS = (
    (
        gettext_noop("token; tokens"),
        gettext_noop("What the model reads and writes at once: a word, a part of a word, a mark, or a byte."),
    ),
    (
        gettext_noop("head; heads"),
        gettext_noop(
            "One of several attentions that a layer computes side by side. Each has its own matrices for queries, keys "
            "and values, and may attend to other tokens."
        ),
    ),
    (
        gettext_noop("query; queries"),
        gettext_noop(
            "The vector of a token that attends. Its dot products with the keys of all tokens decide how much it "
            "attends to each; with these weights, the values of the tokens are added up."
        ),
    ),
    (
        gettext_noop("encoder"),
        gettext_noop("The half of the model that reads the source, once, and gives a vector for each of its tokens."),
    ),
    (
        gettext_noop("decoder"),
        gettext_noop(
            "The half of the model that writes: at each step it reads the source's vectors and what is written so far, "
            "and gives each token of the vocabulary a probability."
        ),
    ),
    (
        gettext_noop("layer; layers"),
        gettext_noop("One of several equal parts in a row, each with attention and a feed-forward network."),
    ),
    (
        gettext_noop("feed-forward network; feed-forward"),
        gettext_noop("A sub-layer that changes the vector of each token by itself: two matrices with a ReLU between."),
    ),
    (
        gettext_noop("residual connection; residual connections"),
        gettext_noop("It adds the input x of a sub-layer to its output, so the sub-layer only computes a change of x."),
    ),
    (
        gettext_noop("gradient; gradients"),
        gettext_noop(
            "How much a result changes if a number changes a little. Training changes each parameter against the "
            "gradient of the loss, so that the loss falls."
        ),
    ),
    (
        gettext_noop("encoder-decoder attention; cross-attention"),
        gettext_noop(
            "The attention by which the decoder reads the source: its queries come from the decoder, its keys and "
            "values from the encoder's output."
        ),
    ),
    (
        gettext_noop("causal mask"),
        gettext_noop(
            "It takes the later tokens away from the self-attention of the decoder: when a token is written, these do "
            "not exist yet (section 3.2.3)."
        ),
    ),
    (
        gettext_noop("attention sink; sink; sinks"),
        gettext_noop(
            "A token that gets much attention although it tells little, such as </s> or a full stop. Heads attend to "
            "it when no other token is of use to them."
        ),
    ),
    (
        gettext_noop("softmax"),
        gettext_noop(
            "Turns numbers into shares that are above 0 and add up to 1: e to the power of each, divided by the sum of "
            "all these."
        ),
    ),
    (
        gettext_noop("logit; logits"),
        gettext_noop(
            "The number that the model computes for each token of the vocabulary, before softmax turns these numbers "
            "into probabilities."
        ),
    ),
    (
        gettext_noop("logit lens"),
        gettext_noop(
            "The vector of a token after any layer, turned into probabilities as if it were that after the last layer."
        ),
    ),
    (
        gettext_noop("attention rollout; rollout"),
        gettext_noop("The attention of several layers multiplied, as an estimate of what flows through all of them."),
    ),
    (
        gettext_noop("log-probability; log-probabilities"),
        gettext_noop(
            "The natural logarithm of a probability: 0 for a probability of 1, and the lower, the less probable. Those "
            "of the tokens add up to that of the translation."
        ),
    ),
    (
        gettext_noop("nat; nats"),
        gettext_noop(
            "The unit of natural logarithms of probabilities. 0.69 nats less is half the probability, 2.3 nats less a "
            "tenth. A nat is 1.44 bits."
        ),
    ),
    (
        gettext_noop("entropy"),
        gettext_noop(
            "How spread out probabilities are: 0 if one token has a probability of 1, highest if all have the same."
        ),
    ),
    (
        gettext_noop("perplexity"),
        gettext_noop(
            "e to the power of the loss without label smoothing. The model is as uncertain as if it had to choose "
            "among so many equally probable tokens."
        ),
    ),
    (
        gettext_noop("teacher forcing; teacher-forced"),
        gettext_noop(
            "The decoder reads a given translation instead of its own tokens, and predicts each token of it from those "
            "before. Training works in this way."
        ),
    ),
    (
        gettext_noop("greedy decoding; greedy search; greedy"),
        gettext_noop("A search that takes the most probable token in each step, and never takes one back."),
    ),
    (
        gettext_noop("beam search"),
        gettext_noop("A search that keeps several beginnings of a translation in each step: the most probable ones."),
    ),
    (
        gettext_noop("length penalty"),
        gettext_noop(
            "With each token the log-probability of a translation falls, so short ones would win. The search divides "
            "it by a number that grows with the length."
        ),
    ),
    (
        gettext_noop("residual stream"),
        gettext_noop("The vector of a token on its way through the layers: each sub-layer adds its output to it."),
    ),
    (
        gettext_noop("sub-layer; sub-layers"),
        gettext_noop("A part of a layer: self-attention, encoder-decoder attention or the feed-forward network."),
    ),
    (
        gettext_noop("embedding; embeddings"),
        gettext_noop("The learned vector of a token of the vocabulary, with which it enters the model."),
    ),
    (
        gettext_noop("LayerNorm"),
        gettext_noop(
            "Shifts and scales the numbers of a vector to mean 0 and variance 1; then each is multiplied by a learned "
            "number, and another is added."
        ),
    ),
    (
        gettext_noop("post-norm"),
        gettext_noop("LayerNorm after the output of a sub-layer is added to the residual stream, as in the paper."),
    ),
    (
        gettext_noop("pre-norm"),
        gettext_noop("LayerNorm before a sub-layer, on what it reads: most later models have that."),
    ),
    (
        gettext_noop("padding"),
        gettext_noop("Tokens without meaning that make the sentences of a batch equally long. A mask hides them."),
    ),
    (
        gettext_noop("batch; batches"),
        gettext_noop("Several sentences that the model reads at once, which is faster."),
    ),
    (
        gettext_noop("d_k"),
        gettext_noop("How many numbers a query or a key of one head has."),
    ),
    (
        gettext_noop("d_model"),
        gettext_noop("How many numbers the vector of a token has between the layers."),
    ),
    (
        gettext_noop("label smoothing"),
        gettext_noop(
            "In training, the target of the right token is 1 − ε instead of 1, and ε is spread over all tokens of the "
            "vocabulary (section 5.4). The paper has ε = 0.1."
        ),
    ),
    (
        gettext_noop("dropout"),
        gettext_noop(
            "In training, some numbers are set to 0 at random, so that the model does not rely on single ones."
        ),
    ),
    (
        gettext_noop("warm-up"),
        gettext_noop("The first updates of a training, in which the learning rate rises from 0 (section 5.3)."),
    ),
    (
        gettext_noop("checkpoint; checkpoints"),
        gettext_noop("A file with a trained model: its weights, its vocabulary, and how it was trained."),
    ),
    (
        gettext_noop("BLEU"),
        gettext_noop(
            "A score from 0 to 100: how many groups of one to four words a translation shares with those of people. It "
            "is meant for whole texts."
        ),
    ),
    (
        gettext_noop("chrF"),
        gettext_noop(
            "A score from 0 to 100, like BLEU but of groups of one to six characters: a word in a wrong form counts in "
            "part."
        ),
    ),
)


def glossary() -> list[Word]:
    """All words, in the language of the interface."""
    return [Word(tuple(_(forms).split("; ")), _(explanation)) for forms, explanation in _WORDS]
