"""Adam is Adam, each parameter is in it once, and decay falls on matrices only."""

import copy
from dataclasses import replace

import torch
from torch.optim import Adam

from tests.support.small_training import MODEL, TRAINING
from transformer.config import ModelConfig
from transformer.data.batches import collate
from transformer.model import Transformer
from transformer.training.loss import summed_loss
from transformer.training.optimizer import make_optimizer, parameter_groups

BATCH = collate([[5, 6, 7], [8]], [[9, 10], [11, 12, 13]])


def test_decay_falls_on_the_matrices_of_attention_and_feed_forward_alone() -> None:
    decayed, plain = parameter_groups(Transformer(replace(MODEL, positions="learned", norm="pre")))
    attention = [f"self_attention.{part}.weight" for part in ("query", "key", "value", "output")]
    cross = [name.replace("self", "cross") for name in attention]
    for stack, blocks in (("encoder", attention), ("decoder", attention + cross)):
        inner = {name.removeprefix(f"{stack}.layers.0.") for name in decayed if name.startswith(stack)}
        feed_forward = {name for name in inner if name.startswith("feed_forward.")}
        assert inner - feed_forward == set(blocks)
        assert len(feed_forward) == 2
        assert all(name.endswith(".weight") for name in feed_forward)
    assert all("norm" in name or name.endswith(".bias") or "embedding" in name for name in plain)
    assert any("positions" in name for name in plain)


def test_every_parameter_is_optimized_once_and_shared_embeddings_are_one() -> None:
    for shared, matrices in ((True, 1), (False, 3)):
        model = Transformer(replace(MODEL, shared_embeddings=shared))
        optimizer = make_optimizer(model, TRAINING)
        listed = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
        assert sorted(listed) == sorted({id(parameter) for parameter in model.parameters()})
        assert sum(p.shape[0] == MODEL.vocab_size for g in optimizer.param_groups for p in g["params"]) == matrices


def test_the_recipes_numbers_reach_the_optimizer() -> None:
    config = replace(TRAINING, beta1=0.8, beta2=0.9, adam_epsilon=1e-5, weight_decay=0.3)
    optimizer = make_optimizer(Transformer(MODEL), config)
    decayed, plain = optimizer.param_groups
    assert (decayed["weight_decay"], plain["weight_decay"]) == (0.3, 0.0)
    assert all((group["betas"], group["eps"]) == ((0.8, 0.9), 1e-5) for group in optimizer.param_groups)
    paper = make_optimizer(Transformer(MODEL), TRAINING).param_groups[0]
    assert (paper["betas"], paper["eps"], paper["weight_decay"]) == ((0.9, 0.98), 1e-9, 0.0)


def test_without_weight_decay_adamw_is_adam_to_the_bit() -> None:
    ours = Transformer(replace(MODEL, dropout=0.0, embedding_dropout=0.0))
    theirs = copy.deepcopy(ours)
    adamw = make_optimizer(ours, TRAINING)
    adam = Adam(theirs.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9, fused=True)
    for group in adamw.param_groups:
        group["lr"] = 0.01
    for _ in range(5):
        for model, optimizer in ((ours, adamw), (theirs, adam)):
            summed_loss(model, BATCH, 0.1).backward()
            optimizer.step()
            optimizer.zero_grad()
    for name, parameter in ours.named_parameters():
        assert torch.equal(parameter, dict(theirs.named_parameters())[name]), name


def test_weight_decay_shrinks_what_it_falls_on_and_nothing_else() -> None:
    model = Transformer(ModelConfig(**{**vars(MODEL), "dropout": 0.0}))
    optimizer = make_optimizer(model, replace(TRAINING, weight_decay=0.5))
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    decayed, plain = parameter_groups(model)
    for name, matrix in decayed.items():
        torch.testing.assert_close(matrix, before[name] * 0.95)
    for name, tensor in plain.items():
        assert torch.equal(tensor, before[name]), name
