"""The libraries that training is compared with. Their models have the same sizes and the same dropout."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from transformer.config import BOS, EOS, PAD, ModelConfig, TrainingPrecision
from transformer.data.batches import Batch
from transformer.model.positions import sinusoids
from transformer.training.autocast import autocast


@dataclass(frozen=True)
class Size:
    """Of the model, its vocabulary, and a batch."""

    layers: int
    d_model: int
    d_ff: int
    vocab_size: int  # V
    tokens: int  # target tokens in a batch


SizeName = Literal["tiny", "toy", "small", "base", "paper-base"]
SIZES: dict[SizeName, Size] = {
    "tiny": Size(1, 16, 32, 100, 100),  # to see that it runs
    "toy": Size(2, 128, 128, 400, 1_500),  # as the recipe "reverse" has it
    "small": Size(3, 256, 1024, 8_000, 4_000),
    "base": Size(6, 512, 2048, 8_000, 4_000),
    "paper-base": Size(6, 512, 2048, 37_000, 25_000),  # section 5.1: for a GPU
}
RATE, SMOOTHING, DROPOUT, CLIP = 1e-4, 0.1, 0.1, 1.0
LENGTHS = (9, 14, 22, 35)  # of the sentences, in tokens: a batch each, and all of them in one turn

Update = Callable[[Batch], object]


def config_of(size: SizeName) -> ModelConfig:
    of = SIZES[size]
    return ModelConfig(
        vocab_size=of.vocab_size, encoder_layers=of.layers, decoder_layers=of.layers, d_model=of.d_model, d_ff=of.d_ff,
        heads=8, dropout=DROPOUT, embedding_dropout=DROPOUT,
    )  # fmt: skip


class Plain(nn.Module):
    """What a good tutorial builds of torch's own parts."""

    positions: Tensor

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.register_buffer("positions", sinusoids(config.max_positions, config.d_model, "interleaved"))
        self.dropout = nn.Dropout(DROPOUT)
        layers = config.encoder_layers, config.decoder_layers
        self.transformer = nn.Transformer(config.d_model, 8, *layers, config.d_ff, DROPOUT, batch_first=True)

    def embed(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, D)."""
        scaled = self.embedding(ids) * self.embedding.embedding_dim**0.5
        return self.dropout(scaled + self.positions[: ids.shape[1]])

    def forward(self, batch: Batch) -> Tensor:
        """The mean loss of the batch."""
        causal = nn.Transformer.generate_square_subsequent_mask(batch.target.shape[1], device=batch.target.device) < 0
        padding = batch.source == PAD
        states = self.transformer(
            self.embed(batch.source),
            self.embed(batch.target),
            tgt_mask=causal,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=batch.labels == PAD,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )  # (B, T, D)
        logits = linear(states, self.embedding.weight).float().flatten(0, 1)  # (B * T, V)
        return cross_entropy(logits, batch.labels.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING)


def trained(
    model: nn.Module, loss_of: Callable[[Batch], Tensor], precision: TrainingPrecision, device: torch.device
) -> Update:
    """A training step as it is commonly written."""
    model.to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9)
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "float16")

    def update(batch: Batch) -> None:
        with autocast(device, precision):
            loss = loss_of(batch.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    return update


def torch_transformer(config: ModelConfig, precision: TrainingPrecision, device: torch.device) -> Update:
    model = Plain(config)
    return trained(model, model, precision, device)


def marian(config: ModelConfig, precision: TrainingPrecision, device: torch.device) -> Update:
    """Its loss has no label smoothing, which saves it a little."""
    from transformers import MarianConfig, MarianMTModel

    settings: dict[str, Any] = {
        "vocab_size": config.vocab_size, "d_model": config.d_model, "dropout": DROPOUT, "scale_embedding": True,
        "encoder_layers": config.encoder_layers, "decoder_layers": config.decoder_layers,
        "encoder_ffn_dim": config.d_ff, "decoder_ffn_dim": config.d_ff, "activation_function": "relu",
        "encoder_attention_heads": 8, "decoder_attention_heads": 8, "attn_implementation": "sdpa",
        "pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS, "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }  # fmt: skip
    model = MarianMTModel(MarianConfig(**settings))

    def loss_of(batch: Batch) -> Tensor:
        labels = batch.labels.masked_fill(batch.labels == PAD, -100)
        found = model(
            input_ids=batch.source,
            attention_mask=(batch.source != PAD).long(),
            decoder_input_ids=batch.target,
            labels=labels,
            use_cache=False,
        )
        return found.loss

    return trained(model, loss_of, precision, device)


PEERS = {"torch.nn.Transformer": torch_transformer, "MarianMT": marian}
