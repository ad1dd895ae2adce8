"""The Transformer (paper, figure 1): an encoder reads the source, a decoder writes the target and attends to it.

`forward` is the teacher-forced pass: all target positions at once, each attending only to the positions before it.
`start` and `step` are the same computation one position at a time, for decoding.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from transformer.config import ModelConfig
from transformer.model import masks
from transformer.model.cache import DecoderState, LayerCache
from transformer.model.embedding import InputEmbedding, token_embedding
from transformer.model.layers import DecoderLayer, EncoderLayer
from transformer.model.positions import PositionalEncoding
from transformer.model.probe import NULL_PROBE, BaseProbe


class Encoder(nn.Module):
    """N layers over the source (section 3.1)."""

    layers: Sequence[EncoderLayer]

    def __init__(self, config: ModelConfig, tokens: nn.Embedding, positions: PositionalEncoding):
        super().__init__()
        self.window = config.attention_window
        self.embedding = InputEmbedding(config, tokens, positions)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))  # type: ignore[assignment]
        self.norm = final_norm(config)

    def forward(self, source: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """source (B, S) ids -> (B, S, D)."""
        mask = masks.source_mask(source, self.window)
        x = self.embedding(source, probe.at("embedding"))  # (B, S, D)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, probe.at("layers", i))
        return x if self.norm is None else probe("norm_out", self.norm(x))


class Decoder(nn.Module):
    """N layers over the target, each attending to the encoder's output too (section 3.1)."""

    layers: Sequence[DecoderLayer]

    def __init__(self, config: ModelConfig, tokens: nn.Embedding, positions: PositionalEncoding):
        super().__init__()
        self.window = config.attention_window
        self.causal_training = config.causal_training
        self.embedding = InputEmbedding(config, tokens, positions)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))  # type: ignore[assignment]
        self.norm = final_norm(config)

    def forward(self, target: Tensor, memory: Tensor, source_mask: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """target (B, T) ids, memory (B, S, D), source_mask (B, 1, 1, S) -> (B, T, D)."""
        # A model may be trained without the causal mask, to show what the mask is for. Validation and traces always use
        # it, as decoding does.
        causal = self.causal_training or not self.training
        mask = masks.target_mask(target, self.window, causal)
        x = self.embedding(target, probe.at("embedding"))  # (B, T, D)
        for i, layer in enumerate(self.layers):
            x = layer(x, memory, mask, source_mask, probe.at("layers", i))
        return x if self.norm is None else probe("norm_out", self.norm(x))

    def step(self, tokens: Tensor, state: DecoderState, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """The newest token of each row, tokens (R) -> (R, D); the state grows by one position."""
        x = self.embedding(tokens[:, None], probe.at("embedding"), start=state.length)  # (R, 1, D)
        state.length += 1
        mask = masks.step_mask(state.length, self.window, tokens.device)
        for i, (layer, cache) in enumerate(zip(self.layers, state.layers, strict=True)):
            x = layer.step(x, cache, mask, state.source_mask, probe.at("layers", i))
        if self.norm is not None:
            x = probe("norm_out", self.norm(x))
        return x.squeeze(1)  # (R, D)


class Transformer(nn.Module):
    """Encoder, decoder, and the projection to the vocabulary.

    With `shared_embeddings` the source embedding, the target embedding and the output projection are one matrix
    (section 3.4); it is one parameter, counted, saved and optimized once.

    Attributes:
        depends_on_padding: whether a sentence may have another result in a padded batch than alone, because of an edit.
    """

    depends_on_padding = False

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        source_tokens = token_embedding(config)
        target_tokens = source_tokens if config.shared_embeddings else token_embedding(config)
        positions = PositionalEncoding(config)
        self.encoder = Encoder(config, source_tokens, positions)
        # Learned positions are weights, and each stack has its own. Other positions are shared by both stacks.
        positions = PositionalEncoding(config) if config.positions == "learned" else positions
        self.decoder = Decoder(config, target_tokens, positions)
        self.output = target_tokens if config.shared_embeddings else token_embedding(config)  # (V, D)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None  # (V)
        self.apply(_initialise)

    @property
    def parameter_count(self) -> int:
        """The number of trained parameters; a shared matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, source: Tensor, target: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """Teacher-forced pass.

        Args:
            source: (B, S) ids, tokens and </s>, padded on the right with PAD; no row may be all padding.
            target: (B, T) ids, <s> and tokens, padded likewise. Row t reads token t and predicts token t + 1.

        Returns:
            Logits (B, T, V).
        """
        return self.predict(self.decoder_output(source, target, probe), probe)  # (B, T, V)

    def decoder_output(self, source: Tensor, target: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """`forward` without the projection: (B, T, D). A loss then projects only positions that are not padding."""
        memory = self.encoder(source, probe.at("encoder"))  # (B, S, D)
        return self.decoder(target, memory, masks.padding_mask(source), probe.at("decoder"))  # (B, T, D)

    def predict(self, decoder_output: Tensor, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """The decoder's output (..., D) -> logits (..., V); the softmax is computed only if the
        site `probabilities` is probed.

        The probabilities are not used further, so an edit of them changes only what is recorded. To change which token
        a model chooses, edit the logits.
        """
        logits = probe("logits", self.project(decoder_output))  # (..., V)
        if probe.is_probed("probabilities"):
            probe("probabilities", logits.softmax(dim=-1))  # (..., V)
        return logits

    def project(self, decoder_output: Tensor) -> Tensor:
        """(..., D) -> logits (..., V), "the pre-softmax linear transformation" (section 3.4); the paper has no bias."""
        return linear(decoder_output, self.output.weight, self.output_bias)  # (..., V)

    def start(self, source: Tensor, probe: BaseProbe = NULL_PROBE) -> DecoderState:
        """Reads the source (B, S) once, and stores what every decoding step needs of it.

        The probe has the sites of the encoder, and `key` and `value` of cross-attention.
        """
        memory = self.encoder(source, probe.at("encoder"))  # (B, S, D)
        state = DecoderState([], masks.padding_mask(source))
        for i, layer in enumerate(self.decoder.layers):
            below = probe.at("decoder", "layers", i, "cross_attention")
            key, value = layer.cross_attention.keys_and_values(memory, below)  # (B, H, S, E) each
            # Contiguous, or every step would copy them.
            state.layers.append(LayerCache(key.contiguous(), value.contiguous()))
        return state

    def step(self, tokens: Tensor, state: DecoderState, probe: BaseProbe = NULL_PROBE) -> Tensor:
        """One decoding step: the newest token of each row, tokens (R) -> logits (R, V) of the next."""
        probe = probe.in_step(state.length)
        return self.predict(self.decoder.step(tokens, state, probe.at("decoder")), probe)  # (R, V)


def final_norm(config: ModelConfig) -> nn.LayerNorm | None:
    """Pre-norm leaves the top of a stack unnormalised, so one more LayerNorm is added. Post-norm needs none (Trap:
    `torch.nn.Transformer` adds one in post-norm, too. Test: test_logits_equal_those_of_torch_nn_transformer)."""
    return nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if config.norm == "pre" else None


def _initialise(module: nn.Module) -> None:
    """Glorot's uniform for matrices, zero for biases. The paper states no initialisation; its authors'
    code used this one. Embeddings and learned positions are not changed: they were drawn where they were made."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
