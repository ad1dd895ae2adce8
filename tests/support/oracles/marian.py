"""Hugging Face's MarianMT with our weights: the same model, written by others, with a decoder of its own.

MarianMT is the Transformer of the paper (post-norm) with sines and cosines in two halves instead of alternating. Its
defaults are others (it starts with PAD, does not scale embeddings, forces the last token): all are set here.
"""

from typing import Any

import torch
from torch import Tensor

from transformer.config import BOS, EOS, PAD, UNK, ModelConfig
from transformer.model import Transformer
from transformer.model.attention import MultiHeadAttention
from transformer.model.layers import DecoderLayer, Residual


def comparable(**changes: Any) -> ModelConfig:
    """A configuration that MarianMT can express."""
    return ModelConfig(**{"norm": "post", "norm_epsilon": 1e-5, "sinusoid_layout": "concatenated", **changes})


def marian_like(model: Transformer, attention: str = "sdpa") -> Any:
    """MarianMT in eval mode, in the precision of `model`, with its weights."""
    from transformers import MarianConfig, MarianMTModel  # takes seconds, and most who import this file need it not

    ours = model.config
    marian: Any = MarianConfig  # its type hints know only a part of what it takes
    config = marian(
        vocab_size=ours.vocab_size,
        max_position_embeddings=ours.max_positions,
        d_model=ours.d_model,
        encoder_layers=ours.encoder_layers,
        decoder_layers=ours.decoder_layers,
        encoder_ffn_dim=ours.d_ff,
        decoder_ffn_dim=ours.d_ff,
        encoder_attention_heads=ours.heads,
        decoder_attention_heads=ours.heads,
        activation_function=ours.activation,
        scale_embedding=True,
        share_encoder_decoder_embeddings=ours.shared_embeddings,
        tie_word_embeddings=ours.shared_embeddings,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
        attn_implementation=attention,
    )
    theirs: Any = MarianMTModel(config)
    theirs = theirs.to(model.output.weight.dtype).eval()
    with torch.no_grad():
        _copy_stack(model.encoder, theirs.model.encoder)
        _copy_stack(model.decoder, theirs.model.decoder)
        theirs.lm_head.weight.copy_(model.output.weight)
    return theirs


def generate(theirs: Any, source: Tensor, **settings: Any) -> list[list[int]]:
    """What MarianMT finds for source (B, S): ids without <s>, up to </s>.

    PAD, UNK and BOS are forbidden, as they are with us.
    """
    with torch.inference_mode():
        found: Any = theirs.generate(
            input_ids=source, attention_mask=(source != PAD).long(), suppress_tokens=[PAD, UNK, BOS], **settings
        )
    return [up_to_end(row[1:]) for row in found.tolist()]


def up_to_end(ids: list[int]) -> list[int]:
    ids = ids[: ids.index(EOS) + 1] if EOS in ids else ids
    return [id for id in ids if id != PAD]


def _copy_stack(ours: Any, theirs: Any) -> None:
    theirs.embed_tokens.weight.copy_(ours.embedding.tokens.weight)
    for one, other in zip(ours.layers, theirs.layers, strict=True):
        _copy_attention(one.self_attention, other.self_attn)
        _copy_norm(one.self_attention_residual, other.self_attn_layer_norm)
        if isinstance(one, DecoderLayer):
            _copy_attention(one.cross_attention, other.encoder_attn)
            _copy_norm(one.cross_attention_residual, other.encoder_attn_layer_norm)
        other.fc1.load_state_dict(one.feed_forward.hidden.state_dict())
        other.fc2.load_state_dict(one.feed_forward.output.state_dict())
        _copy_norm(one.feed_forward_residual, other.final_layer_norm)


def _copy_attention(ours: MultiHeadAttention, theirs: Any) -> None:
    for name, part in {"q": ours.query, "k": ours.key, "v": ours.value, "out": ours.output}.items():
        getattr(theirs, f"{name}_proj").load_state_dict(part.state_dict())


def _copy_norm(ours: Residual, theirs: Any) -> None:
    theirs.load_state_dict(ours.norm.state_dict())
