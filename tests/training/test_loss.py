"""The loss is torch's; each target token counts once, with the same weight; padding has no gradient."""

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from tests.support.small_training import MODEL, toy_recipe, training_of
from transformer.config import PAD, ModelConfig, TrainingPrecision
from transformer.data.batches import Batch, collate
from transformer.data.training_data import Position
from transformer.model import Transformer
from transformer.training.autocast import autocast
from transformer.training.distributed import Ranks
from transformer.training.loss import negative_log_likelihood, summed_loss
from transformer.training.optimizer import make_optimizer
from transformer.training.random_state import dropout_seed

V = 50


def model(output_bias: bool = False) -> Transformer:
    """In float64 and without dropout, so that equal means equal."""
    config = replace(MODEL, vocab_size=V, dropout=0.0, embedding_dropout=0.0, output_bias=output_bias)
    made = Transformer(config).double()
    if made.output_bias is not None:
        nn.init.normal_(made.output_bias)
    return made


def random_batch(lengths: list[int], low: int = 4, high: int = V) -> Batch:
    sources = [torch.randint(low, high, (length,)).tolist() for length in lengths]
    targets = [torch.randint(low, high, (length + 1,)).tolist() for length in lengths]
    return collate(sources, targets)


@pytest.mark.parametrize("output_bias", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_that_of_torch_with_label_smoothing_and_without_padding(
    smoothing: float, output_bias: bool
) -> None:
    net, batch = model(output_bias), random_batch([2, 7, 4])
    oracle = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=smoothing, reduction="sum")
    expected = oracle(net(batch.source, batch.target).flatten(0, 1), batch.labels.flatten())
    torch.testing.assert_close(summed_loss(net, batch, smoothing), expected, rtol=1e-13, atol=0)
    mean = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=smoothing)
    expected = mean(net(batch.source, batch.target).flatten(0, 1), batch.labels.flatten())
    torch.testing.assert_close(summed_loss(net, batch, smoothing) / batch.target_tokens, expected, rtol=1e-13, atol=0)


def test_fairseqs_smoothing_is_ours_at_another_epsilon_as_the_docstring_says() -> None:
    logits, epsilon = torch.randn(V, dtype=torch.float64), 0.1
    log_p = logits.log_softmax(0)
    fairseq = -(1 - epsilon) * log_p[7] - epsilon / (V - 1) * (log_p.sum() - log_p[7])
    ours = nn.CrossEntropyLoss(label_smoothing=epsilon * V / (V - 1))(logits, torch.tensor(7))
    torch.testing.assert_close(ours, fairseq, rtol=1e-13, atol=0)


@pytest.mark.parametrize("output_bias", [False, True])
def test_no_gradient_comes_from_positions_that_are_padding(output_bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    net, batch = model(output_bias), random_batch([1, 6])
    states = net.decoder_output(batch.source, batch.target).detach().requires_grad_()
    monkeypatch.setattr(net, "decoder_output", lambda source, target: states)
    summed_loss(net, batch, 0.1).backward()
    assert states.grad is not None
    padding = batch.labels == PAD
    assert padding.any()
    assert (states.grad[padding] == 0).all()
    assert (states.grad[~padding].abs().sum(-1) > 0).all()


@pytest.mark.parametrize("output_bias", [False, True])
def test_the_validation_loss_is_unsmoothed_and_counts_the_tokens_ranked_first(output_bias: bool) -> None:
    net, batch = model(output_bias), random_batch([3, 5])
    logits = net(batch.source, batch.target).detach()
    expected = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")(logits.flatten(0, 1), batch.labels.flatten())
    right = (logits.argmax(-1) == batch.labels) & (batch.labels != PAD)
    loss, count = negative_log_likelihood(net, batch)
    assert loss == pytest.approx(float(expected), rel=1e-6)
    assert count == int(right.sum())


# Accumulation


def gradients_of_one_update(
    net: Transformer, batches: list[Batch], monkeypatch: pytest.MonkeyPatch, clip_norm: float = 0.0
) -> tuple[dict[str, Tensor], float]:
    """What the optimizer is given, and the norm that is reported, if `batches` make one update."""
    recipe = toy_recipe(accumulate=len(batches), precision="float32", clip_norm=clip_norm)
    optimizer = make_optimizer(net, recipe.training)
    seen: dict[str, Tensor] = {}

    def step() -> None:
        seen.update({name: parameter.grad.clone() for name, parameter in net.named_parameters()})  # type: ignore[union-attr]

    monkeypatch.setattr(optimizer, "step", step)
    stream: Iterator[tuple[Batch, Position]] = iter([(batch, Position(0, i + 1)) for i, batch in enumerate(batches)])
    training = training_of(net, recipe, stream, optimizer=optimizer)
    (made,), progress = training.update(), training.progress
    assert made.tokens == progress.tokens == sum(batch.target_tokens for batch in batches)
    assert progress.batch == len(batches)
    return seen, made.gradient_norm


def test_four_small_batches_of_unequal_length_give_the_gradient_of_one_large_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = model()
    lengths = [[1, 2], [9, 8], [3, 3], [5, 17]]
    sources = [[torch.randint(4, V, (n,)).tolist() for n in group] for group in lengths]
    targets = [[torch.randint(4, V, (n,)).tolist() for n in group] for group in lengths]
    small = [collate(s, t) for s, t in zip(sources, targets, strict=True)]
    large = collate([s for group in sources for s in group], [t for group in targets for t in group])
    accumulated, _ = gradients_of_one_update(net, small, monkeypatch)
    at_once, _ = gradients_of_one_update(net, [large], monkeypatch)
    for name, gradient in at_once.items():
        torch.testing.assert_close(accumulated[name], gradient, rtol=1e-9, atol=1e-12)


def test_clipping_bounds_the_gradient_and_reports_the_norm_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    net, batch = model(), random_batch([4, 4])
    free, norm = gradients_of_one_update(net, [batch], monkeypatch)
    clipped, reported = gradients_of_one_update(net, [batch], monkeypatch, clip_norm=norm / 10)
    assert reported == pytest.approx(norm)
    total = math.sqrt(sum(float(gradient.square().sum()) for gradient in clipped.values()))
    assert total == pytest.approx(norm / 10, rel=1e-4)
    for name, gradient in free.items():
        torch.testing.assert_close(clipped[name], gradient / 10, rtol=1e-4, atol=1e-12)


# What a loss has to be


@pytest.mark.parametrize("shared", [True, False])
def test_the_loss_of_an_untrained_model_is_about_ln_of_the_vocabulary(shared: bool) -> None:
    vocabulary = 8000
    config = ModelConfig(vocab_size=vocabulary, d_model=64, d_ff=128, heads=4, shared_embeddings=shared)
    batch = random_batch([9] * 16, high=vocabulary)
    loss, _ = negative_log_likelihood(Transformer(config).eval(), batch)
    assert loss / batch.target_tokens == pytest.approx(math.log(vocabulary), rel=0.1)


@pytest.mark.parametrize("leaks", [False, True])
def test_on_random_targets_the_loss_does_not_fall_below_what_chance_allows(leaks: bool) -> None:
    """New, uniform targets cannot be predicted, unless the decoder reads the token that it must predict: then the loss
    falls below chance."""
    letters, length = 8, 6
    chance = length * math.log(letters) / (length + 1)  # the </s> after them can be known
    config = replace(MODEL, vocab_size=letters + 4, dropout=0.0, embedding_dropout=0.0)
    net = Transformer(config)
    recipe = toy_recipe(label_smoothing=0.0, precision="float32", schedule="constant", warmup=1, peak_rate=0.01)

    def stream() -> Iterator[tuple[Batch, Position]]:
        while True:
            tokens = torch.randint(4, letters + 4, (2, 12, length)).tolist()
            batch = collate(*tokens)
            yield replace(batch, target=batch.labels) if leaks else batch, Position()

    training, losses = training_of(net, recipe, stream()), []
    for _ in range(120):
        (made,) = training.update()
        losses.append(made.loss / made.tokens)
    last = sum(losses[-30:]) / 30
    assert last < 0.5 * chance if leaks else 0.97 * chance < last < 1.15 * chance


def test_dropout_of_each_update_and_each_rank_has_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    net, batch = model(), random_batch([2, 4])
    recipe, ranks = toy_recipe(precision="float32"), Ranks()
    ranks.rank = 1
    seeds: list[int] = []
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    stream = iter([(batch, Position(0, number)) for number in (1, 2)])
    training = training_of(net, recipe, stream, ranks=ranks)
    for _ in range(2):
        training.update()
    assert seeds == [dropout_seed(recipe.training.seed, update, 1) for update in (0, 1)]


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [
        ("float32", torch.float32),
        ("bfloat16", torch.bfloat16),
        ("float16", torch.float16),
        ("auto", torch.float32),
    ],
)
def test_matrix_products_are_in_the_precision_of_the_recipe(precision: TrainingPrecision, dtype: torch.dtype) -> None:
    with autocast(torch.device("cpu"), precision):
        product = torch.ones(2, 2) @ torch.ones(2, 2)
    assert product.dtype == dtype
