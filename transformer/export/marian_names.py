"""What Hugging Face calls the parameters of a MarianMT or Pegasus model, by our names."""

NEVER = -1e4  # a bias of logits, for tokens that are never predicted; float16 can represent it

SUBLAYERS = {
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "self_attention_residual.norm": "self_attn_layer_norm",
    "cross_attention_residual.norm": "encoder_attn_layer_norm",
    "feed_forward.hidden": "fc1",
    "feed_forward.output": "fc2",
    "feed_forward_residual.norm": "final_layer_norm",
}
PROJECTIONS = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}


def marian_names(name: str) -> list[str]:
    """Hugging Face's names for one of our parameters; the first one that a model has is used."""
    match name.split("."):
        case ["output_bias"]:
            return ["final_logits_bias"]
        case [stack, "embedding", "tokens", "weight"]:
            return [f"model.{stack}.embed_tokens.weight", "model.shared.weight"]
        case ["output", "weight"]:
            return ["lm_head.weight", "model.decoder.embed_tokens.weight", "model.shared.weight"]
        case [stack, "norm", kind]:  # of Pegasus
            return [f"model.{stack}.layer_norm.{kind}"]
        case [stack, "layers", layer, "self_attention" | "cross_attention" as attention, projection, kind]:
            return [f"model.{stack}.layers.{layer}.{SUBLAYERS[attention]}.{PROJECTIONS[projection]}.{kind}"]
        case [stack, "layers", layer, *sublayer, kind]:
            return [f"model.{stack}.layers.{layer}.{SUBLAYERS['.'.join(sublayer)]}.{kind}"]
    raise ValueError(name)
